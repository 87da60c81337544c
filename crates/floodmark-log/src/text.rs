//! A text in memory to events, and packed bytes to plain ones.

use crate::decoder::Decoder;
use crate::detect::detect;
use crate::error::Error;
use crate::event::{Event, Tally};
use crate::options::Options;
use crate::source::{Fault, Source};
use std::io::{self, Read};

/// Reads a text that is in memory, in the order of its lines; `name` is its name in errors.
///
/// # Errors
/// The format cannot be told, or it lacks what the options ask for.
///
/// # Examples
/// ```
/// use floodmark_log::{Options, read_text};
///
/// let mut keys = Vec::new();
/// let text = b"time,key\n1700000000,a\n1700000001,b\n";
/// let tally = read_text(text, "example", &Options::default(), |event| keys.push(event.key.to_vec()))?;
/// assert_eq!((keys, tally.lines, tally.events), (vec![b"a".to_vec(), b"b".to_vec()], 3, 2));
/// # Ok::<(), floodmark_log::Error>(())
/// ```
pub fn read_text(
    text: &[u8],
    name: &str,
    options: &Options,
    mut event: impl FnMut(&Event<'_>),
) -> Result<Tally, Error> {
    let mut decoder = Decoder::new(name.into(), detect(text, name, options)?, options.examples);
    decoder.buffer.push(text);
    while decoder.advance(true).is_some() {
        event(&decoder.event());
    }
    Ok(decoder.tally)
}

/// A reader's bytes, unpacked where they are compressed (gzip, zstd, bzip2, xz), which their first bytes tell.
///
/// Data that is broken gives what comes before the damage, and then an error of kind
/// [`InvalidData`](io::ErrorKind::InvalidData). Other bytes behind compressed data are passed over.
///
/// # Errors
/// Those of the reader, while the first bytes are read.
pub fn unpacked(reader: impl Read) -> io::Result<impl Read> {
    Source::of_stream(reader).map(Unpacked)
}

struct Unpacked<R>(Source<R>);

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(out)?;
        match self.0.fault() {
            Some((fault, packing)) if n == 0 && !out.is_empty() && fault != Fault::Trailing => {
                let broken = format!("the {} data is broken: {fault:?}", packing.name());
                Err(io::Error::new(io::ErrorKind::InvalidData, broken))
            }
            _ => Ok(n),
        }
    }
}
