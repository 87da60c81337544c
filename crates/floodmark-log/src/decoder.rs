//! The bytes of one input to its events.

use crate::event::{Event, Tally};
use crate::lines::{Line, LineBuffer};
use crate::parser::{Parsed, Parser};
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
        if self.parsed.has_more
            && let Some(at) = self.advance_in_line()
        {
            return Some(at);
        }
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

    /// Goes to the next event of the same line.
    #[inline(never)]
    fn advance_in_line(&mut self) -> Option<Timestamp> {
        while self.parsed.has_more {
            match self.parser.parse_next(self.buffer.line(&self.line)) {
                Ok(parsed) => {
                    let at = parsed.stamp.at;
                    self.tally.count_more(parsed.n, at);
                    self.parsed = parsed;
                    return Some(at);
                }
                // A line that is an event cannot be a skipped one too.
                Err(_) => self.parsed.has_more = self.parser.has_more(),
            }
        }
        None
    }

    /// The event that the last `advance` went to.
    #[inline]
    pub(crate) fn event(&self) -> Event<'_> {
        let Parsed { key, n, stamp, .. } = &self.parsed;
        let key = self.parser.key(key, self.buffer.line(&self.line));
        Event { key, n: *n, at: stamp.at, digits: stamp.digits, details: self.parser.details() }
    }
}
