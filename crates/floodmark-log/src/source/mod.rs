//! A file's or a stream's bytes, unpacked where they are compressed.
//!
//! What people get wrong: compressed logs are seldom one clean member. `cat a.gz b.gz` is a gzip file, parallel
//! compressors write a member per block, tapes pad with zeros, and a file that is copied while it is written ends
//! early. So members are unpacked one after another until something else follows, and what came before a damage is
//! handed on before the damage is told.

mod codec;
mod zstd;

use codec::{Codec, Step};
use std::io::{self, Chain, Cursor, Read};

/// A decoder that needs more memory than this for what it may refer back to is refused.
pub(crate) const MAX_WINDOW: u64 = 128 << 20;
/// What a decoder is handed at once; a zstd block, at most 128 KiB, has to fit as a whole.
const INPUT: usize = 256 << 10;

/// A compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
}

/// What first bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guess {
    Packed(Packing),
    /// They are too few to tell.
    Unsure,
    Plain,
}

/// Which first bytes a compression has, each from the first to the second of these.
type Magic = &'static [(u8, u8)];

const MAGICS: [(Packing, Magic); 6] = [
    (Packing::Gzip, &[(0x1f, 0x1f), (0x8b, 0x8b), (8, 8)]),
    (Packing::Zstd, &[(0x28, 0x28), (0xb5, 0xb5), (0x2f, 0x2f), (0xfd, 0xfd)]),
    // A frame to be skipped.
    (Packing::Zstd, &[(0x50, 0x5f), (0x2a, 0x2a), (0x4d, 0x4d), (0x18, 0x18)]),
    // "BZh" and a digit could be text: a first block follows, which begins with the digits of pi, or the end with
    // those of its square root.
    (
        Packing::Bzip2,
        &[
            (b'B', b'B'),
            (b'Z', b'Z'),
            (b'h', b'h'),
            (b'1', b'9'),
            (0x31, 0x31),
            (0x41, 0x41),
            (0x59, 0x59),
            (0x26, 0x26),
            (0x53, 0x53),
            (0x59, 0x59),
        ],
    ),
    (
        Packing::Bzip2,
        &[
            (b'B', b'B'),
            (b'Z', b'Z'),
            (b'h', b'h'),
            (b'1', b'9'),
            (0x17, 0x17),
            (0x72, 0x72),
            (0x45, 0x45),
            (0x38, 0x38),
            (0x50, 0x50),
            (0x90, 0x90),
        ],
    ),
    (Packing::Xz, &[(0xfd, 0xfd), (b'7', b'7'), (b'z', b'z'), (b'X', b'X'), (b'Z', b'Z'), (0, 0)]),
];

impl Packing {
    /// Tells it from first bytes.
    pub(crate) fn of(head: &[u8]) -> Guess {
        let mut guess = Guess::Plain;
        for (packing, magic) in MAGICS {
            if head.iter().zip(magic).all(|(byte, (from, to))| (from..=to).contains(&byte)) {
                if head.len() >= magic.len() {
                    return Guess::Packed(packing);
                }
                guess = Guess::Unsure;
            }
        }
        guess
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }

    /// The command that unpacks it, however large its window is.
    pub(crate) fn tool(self) -> &'static str {
        match self {
            Self::Gzip => "zcat",
            Self::Zstd => "zstd -dc --long=31",
            Self::Bzip2 => "bzcat",
            Self::Xz => "xzcat",
        }
    }
}

/// Why unpacking ended where it did, if not at an end that is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The data ends in the middle of a member.
    Cut,
    /// It says what cannot be.
    Corrupt,
    /// It refers back further than [`MAX_WINDOW`].
    Window,
    /// It needs a dictionary.
    Dictionary,
    /// Something else follows a whole member.
    Trailing,
}

/// Plain bytes out of a reader. A fault in compressed data ends them; `fault` tells it then.
#[derive(Debug)]
pub(crate) enum Source<R> {
    /// With the bytes read so far.
    Plain(R, u64),
    Packed(Box<Unpacker<R>>),
}

impl<R: Read> Source<R> {
    pub(crate) fn new(reader: R, packing: Option<Packing>) -> Self {
        match packing {
            None => Self::Plain(reader, 0),
            Some(packing) => Self::Packed(Box::new(Unpacker::new(reader, packing))),
        }
    }

    /// Bytes taken from the reader, as they are there.
    pub(crate) fn taken_in(&self) -> u64 {
        match self {
            Self::Plain(_, bytes) => *bytes,
            Self::Packed(unpacker) => unpacker.taken_in,
        }
    }

    /// What was wrong, once all bytes have been read; and with which compression.
    pub(crate) fn fault(&self) -> Option<(Fault, Packing)> {
        match self {
            Self::Plain(..) => None,
            Self::Packed(unpacker) => unpacker.end?.map(|fault| (fault, unpacker.packing)),
        }
    }
}

impl<R: Read> Source<Chain<Cursor<Vec<u8>>, R>> {
    /// A reader that tells its compression when it is read.
    pub(crate) fn of_stream(mut reader: R) -> io::Result<Self> {
        let mut head = Vec::new();
        let mut bytes = vec![0; 64 << 10];
        while Packing::of(&head) == Guess::Unsure {
            match reader.read(&mut bytes) {
                Ok(0) => break,
                Ok(n) => head.extend_from_slice(bytes.get(..n).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let packing = match Packing::of(&head) {
            Guess::Packed(packing) => Some(packing),
            Guess::Unsure | Guess::Plain => None,
        };
        Ok(Self::new(Cursor::new(head).chain(reader), packing))
    }
}

impl<R: Read> Read for Source<R> {
    #[inline]
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(reader, bytes) => {
                let n = reader.read(out)?;
                *bytes += n as u64;
                Ok(n)
            }
            Self::Packed(unpacker) => unpacker.read(out),
        }
    }
}

/// Unpacks members one after another, until the reader's end or a fault.
#[derive(Debug)]
pub(crate) struct Unpacker<R> {
    reader: R,
    /// What was read and not yet unpacked is at `start..filled`.
    input: Vec<u8>,
    start: usize,
    filled: usize,
    is_at_end: bool,
    taken_in: u64,
    /// None: between two members.
    member: Option<Codec>,
    /// Of this member, or of the last.
    packing: Packing,
    /// It is over, with or without a fault.
    end: Option<Option<Fault>>,
}

impl<R: Read> Unpacker<R> {
    fn new(reader: R, packing: Packing) -> Self {
        let (start, filled, taken_in) = Default::default();
        let member = Some(Codec::new(packing));
        Self {
            reader,
            input: vec![0; INPUT],
            start,
            filled,
            is_at_end: false,
            taken_in,
            member,
            packing,
            end: None,
        }
    }

    /// Goes one step; without effect if there is too little input for it.
    fn step(&mut self, out: &mut [u8]) -> Step {
        let input = self.input.get(self.start..self.filled).unwrap_or_default();
        let step = match &mut self.member {
            Some(member) => member.step(input, out, self.is_at_end),
            None => self.begin(),
        };
        self.start += step.taken;
        step
    }

    /// Begins the next member, if there is one.
    fn begin(&mut self) -> Step {
        let input = self.input.get(self.start..self.filled).unwrap_or_default();
        let zeros = input.iter().take_while(|&&b| b == 0).count();
        let head = input.get(zeros..).unwrap_or_default();
        let mut step = Step { taken: zeros, ..Step::default() };
        match Packing::of(head) {
            Guess::Packed(packing) => {
                self.member = Some(Codec::new(packing));
                self.packing = packing;
                // What it takes is taken by its own steps; this one did something all the same.
                step.has_moved = true;
            }
            Guess::Unsure if self.is_at_end && head.is_empty() => step.end = Some(None),
            Guess::Unsure => {}
            Guess::Plain => step.end = Some(Some(Fault::Trailing)),
        }
        step
    }

    fn refill(&mut self) -> io::Result<()> {
        self.input.copy_within(self.start..self.filled, 0);
        (self.start, self.filled) = (0, self.filled - self.start);
        let n = self.reader.read(self.input.get_mut(self.filled..).unwrap_or_default())?;
        self.filled += n;
        self.taken_in += n as u64;
        self.is_at_end = n == 0;
        Ok(())
    }
}

impl<R: Read> Read for Unpacker<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut given = 0;
        while given < out.len() && self.end.is_none() {
            let step = self.step(out.get_mut(given..).unwrap_or_default());
            given += step.given;
            match step.end {
                Some(None) if self.member.is_some() => self.member = None,
                Some(fault) => self.end = Some(fault),
                None if step.has_moved || step.taken + step.given > 0 => {}
                // What there is is handed on before more is waited for.
                None if given > 0 => break,
                None if self.is_at_end => self.end = Some(Some(Fault::Cut)),
                None => self.refill()?,
            }
        }
        Ok(given)
    }
}

#[cfg(test)]
mod tests;
