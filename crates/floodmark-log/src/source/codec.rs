//! One member of each compression, a step at a time: bytes in, bytes out.

use super::zstd::Zstd;
use super::{Fault, MAX_WINDOW, Packing};
use flate2::FlushDecompress;
use lzma_rust2::{Action, Status, XzStream};

/// What a step did.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// So much of the input is done with.
    pub(super) taken: usize,
    /// So much of the output is filled, whatever else happened.
    pub(super) given: usize,
    /// It did something although it neither took nor gave.
    pub(super) has_moved: bool,
    /// It is over, with or without a fault.
    pub(super) end: Option<Option<Fault>>,
}

/// Unpacks one member.
pub(super) enum Codec {
    Gzip(flate2::Decompress),
    Zstd(Box<Zstd>),
    Bzip2(bzip2::Decompress),
    Xz(Box<XzStream>),
}

impl std::fmt::Debug for Codec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Gzip(_) => "Gzip",
            Self::Zstd(_) => "Zstd",
            Self::Bzip2(_) => "Bzip2",
            Self::Xz(_) => "Xz",
        })
    }
}

/// The decoder keeps what it decoded in a call that fails to itself: so little at most is lost to a fault.
const XZ_STEP: usize = 4 << 10;

impl Codec {
    pub(super) fn new(packing: Packing) -> Self {
        match packing {
            Packing::Gzip => Self::Gzip(flate2::Decompress::new_gzip(15)),
            Packing::Zstd => Self::Zstd(Box::default()),
            Packing::Bzip2 => Self::Bzip2(bzip2::Decompress::new(false)),
            // The decoder wants some more for itself than what it may refer back to.
            Packing::Xz => {
                let kib = (MAX_WINDOW >> 10) as u32 + 1024;
                Self::Xz(Box::new(XzStream::new_mem_limit(false, kib)))
            }
        }
    }

    /// `is_last`: no more input comes. Not to be called once it is over.
    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Step {
        match self {
            Self::Gzip(gzip) => step_gzip(gzip, input, out),
            Self::Zstd(zstd) => zstd.step(input, out, is_last),
            Self::Bzip2(bzip2) => step_bzip2(bzip2, input, out),
            Self::Xz(xz) => step_xz(xz, input, out),
        }
    }
}

fn step_gzip(gzip: &mut flate2::Decompress, input: &[u8], out: &mut [u8]) -> Step {
    let before = (gzip.total_in(), gzip.total_out());
    let end = match gzip.decompress(input, out, FlushDecompress::None) {
        Ok(flate2::Status::Ok | flate2::Status::BufError) => None,
        Ok(flate2::Status::StreamEnd) => Some(None),
        Err(_) => Some(Some(Fault::Corrupt)),
    };
    let (taken, given) = ((gzip.total_in() - before.0) as usize, (gzip.total_out() - before.1) as usize);
    Step { taken, given, end, ..Step::default() }
}

fn step_bzip2(bzip2: &mut bzip2::Decompress, input: &[u8], out: &mut [u8]) -> Step {
    let before = (bzip2.total_in(), bzip2.total_out());
    let end = match bzip2.decompress(input, out) {
        Ok(bzip2::Status::StreamEnd) => Some(None),
        Ok(bzip2::Status::MemNeeded) | Err(_) => Some(Some(Fault::Corrupt)),
        Ok(_) => None,
    };
    let (taken, given) = ((bzip2.total_in() - before.0) as usize, (bzip2.total_out() - before.1) as usize);
    Step { taken, given, end, ..Step::default() }
}

fn step_xz(xz: &mut XzStream, input: &[u8], out: &mut [u8]) -> Step {
    let mut step = Step::default();
    while step.end.is_none() {
        let input = input.get(step.taken..).unwrap_or_default();
        let until = out.len().min(step.given + XZ_STEP);
        let out = out.get_mut(step.given..until).unwrap_or_default();
        match xz.process(input, out, Action::Run) {
            Ok(result) => {
                step.taken += result.bytes_consumed;
                step.given += result.bytes_produced;
                if result.status == Status::StreamEnd {
                    step.end = Some(None);
                } else if out.is_empty() || result.bytes_consumed + result.bytes_produced == 0 {
                    break;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::OutOfMemory => {
                step.end = Some(Some(Fault::Window));
            }
            Err(_) => step.end = Some(Some(Fault::Corrupt)),
        }
    }
    step
}
