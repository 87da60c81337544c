//! One zstd frame, block by block.
//!
//! The decoder holds back a window's worth of what it decoded, megabytes, until the frame's last block has come. So
//! that a frame that is cut short still gives all that came before, it is handed a last block without content.

use super::codec::Step;
use super::{Fault, MAX_WINDOW};
use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::Read;

/// A frame's header is not longer than this, its magic number with it.
const MAX_HEADER: usize = 18;
const MAX_BLOCK: usize = 128 << 10;
/// The last one, of raw bytes, of which there are none; and a checksum, which is asked for where a frame has one.
const NO_MORE_BLOCKS: &[u8] = &[1, 0, 0, 0, 0, 0, 0];

/// Unpacks one frame.
#[derive(Default)]
pub(super) struct Zstd {
    decoder: FrameDecoder,
    state: State,
    has_checksum: bool,
}

#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Header,
    /// The frame is to be skipped; so many bytes of it are left.
    Skipping(u64),
    Blocks,
    /// All blocks are decoded, but not all bytes of them are given out.
    Draining(Option<Fault>),
}

impl Zstd {
    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Step {
        match self.state {
            State::Header => self.begin(input, is_last),
            State::Skipping(left) => {
                let taken = input.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                let left = left - taken as u64;
                self.state = State::Skipping(left);
                Step { taken, end: (left == 0).then_some(None), ..Step::default() }
            }
            State::Blocks => self.blocks(input, out, is_last),
            State::Draining(fault) => {
                let given = self.decoder.read(out).unwrap_or(0);
                let is_over = self.decoder.can_collect() == 0;
                Step { given, end: is_over.then(|| fault.or_else(|| self.wrong_sum())), ..Step::default() }
            }
        }
    }

    fn begin(&mut self, input: &[u8], is_last: bool) -> Step {
        if let Some([0x50..=0x5f, 0x2a, 0x4d, 0x18, length @ ..]) = input.first_chunk::<8>() {
            self.state = State::Skipping(u32::from_le_bytes(*length).into());
            return Step { taken: 8, has_moved: true, ..Step::default() };
        }
        if input.len() < MAX_HEADER && !is_last {
            return Step::default();
        }
        self.has_checksum = input.get(4).is_some_and(|descriptor| descriptor & 4 != 0);
        self.decoder.set_max_window_size(MAX_WINDOW);
        let mut rest = input;
        let fault = match self.decoder.init(&mut rest) {
            Ok(()) => {
                self.state = State::Blocks;
                return Step { taken: input.len() - rest.len(), has_moved: true, ..Step::default() };
            }
            // Nothing is taken: the end will tell that it is cut.
            Err(_) if is_last && rest.is_empty() => return Step::default(),
            Err(FrameDecoderError::WindowSizeTooBig { .. } | FrameDecoderError::FrameHeaderError(_)) => {
                Fault::Window
            }
            Err(FrameDecoderError::DictNotProvided { .. }) => Fault::Dictionary,
            Err(_) => Fault::Corrupt,
        };
        Step { end: Some(Some(fault)), ..Step::default() }
    }

    /// Gives out what is ready; decodes a block if nothing is.
    fn blocks(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Step {
        let given = self.decoder.read(out).unwrap_or(0);
        if given > 0 {
            return Step { given, ..Step::default() };
        }
        let length = self.block_length(input);
        if length.is_none_or(|length| input.len() < length) && !is_last {
            return Step::default();
        }
        let mut rest = input;
        let whole = length.filter(|&length| length <= input.len());
        let decoded =
            whole.map(|_| self.decoder.decode_blocks(&mut rest, BlockDecodingStrategy::UptoBlocks(1)));
        match decoded {
            Some(Ok(is_over)) => {
                if is_over {
                    self.state = State::Draining(None);
                }
            }
            Some(Err(_)) => self.give_up(Fault::Corrupt),
            None => {
                rest = &[];
                self.give_up(Fault::Cut);
            }
        }
        Step { taken: input.len() - rest.len(), has_moved: true, ..Step::default() }
    }

    /// How long the next block is, with its header and with what follows the last one; too long if it can't be.
    fn block_length(&self, input: &[u8]) -> Option<usize> {
        let [a, b, c] = *input.first_chunk()?;
        let header = u32::from_le_bytes([a, b, c, 0]);
        let content = match header >> 1 & 3 {
            1 => 1,
            _ => (header >> 3) as usize,
        };
        // The decoder refuses a longer one at its header.
        let content = if content > MAX_BLOCK { 0 } else { content };
        let sum = if header & 1 == 1 && self.has_checksum { 4 } else { 0 };
        Some(3 + content + sum)
    }

    /// No more blocks come, but all that came is given out.
    fn give_up(&mut self, fault: Fault) {
        // What can't be finished gives out no more; the fault is told either way.
        let _ = self.decoder.decode_blocks(NO_MORE_BLOCKS, BlockDecodingStrategy::UptoBlocks(1));
        self.state = State::Draining(Some(fault));
    }

    fn wrong_sum(&self) -> Option<Fault> {
        let stated = self.decoder.get_checksum_from_data();
        (stated.is_some() && stated != self.decoder.get_calculated_checksum()).then_some(Fault::Corrupt)
    }
}
