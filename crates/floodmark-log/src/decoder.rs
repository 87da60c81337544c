//! The bytes of one input to its events.

use crate::event::{Event, Tally};
use crate::format::{Parsed, Parser};
use crate::lines::{Line, LineBuffer};
use floodmark::Timestamp;

#[derive(Debug)]
pub(crate) struct Decoder {
    pub(crate) path: String,
    pub(crate) parser: Parser,
    pub(crate) buffer: LineBuffer,
    pub(crate) tally: Tally,
    /// How many skipped lines to keep.
    examples: usize,
    line: Line,
    parsed: Parsed,
}

impl Decoder {
    pub(crate) fn new(path: String, parser: Parser, examples: usize) -> Self {
        let (buffer, tally, line, parsed) = Default::default();
        Self { path, parser, buffer, tally, examples, line, parsed }
    }

    /// Goes to the next event of the lines that are in the buffer; with `is_last`, of an unfinished last line too.
    /// `None`: there is none.
    #[inline]
    pub(crate) fn advance(&mut self, is_last: bool) -> Option<Timestamp> {
        loop {
            let line = match self.buffer.next_line() {
                Some(line) => line,
                None if is_last => self.buffer.last_line()?,
                None => return None,
            };
            self.tally.lines += 1;
            self.line = if self.tally.lines == 1 { self.buffer.without_mark(line) } else { line };
            match self.parser.parse(self.buffer.line(&self.line), self.line.is_cut) {
                Ok(parsed) => {
                    let at = parsed.stamp.at;
                    self.tally.count(parsed.n, at, parsed.is_damaged);
                    self.parsed = parsed;
                    return Some(at);
                }
                Err(skip) => {
                    self.tally.skip(skip, &self.path, self.buffer.line(&self.line), self.examples);
                }
            }
        }
    }

    /// The event that the last `advance` went to.
    pub(crate) fn event(&self) -> Event<'_> {
        let Parsed { key, n, stamp, .. } = &self.parsed;
        let key = self.parser.key(key, self.buffer.line(&self.line));
        Event { key, n: *n, at: stamp.at, digits: stamp.digits }
    }
}
