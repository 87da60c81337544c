//! A text in memory to events.

use crate::decoder::Decoder;
use crate::detect::detect;
use crate::error::Error;
use crate::event::{Event, Tally};
use crate::options::Options;

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
