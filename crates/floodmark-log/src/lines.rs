//! Bytes to lines, out of one reused buffer.

use memchr::memchr;
use std::io::{self, Read};
use std::ops::Range;

/// Small enough that lines are still in the cache when they are read, large enough for some hundreds of them.
const START_BYTES: usize = 64 << 10;
/// A longer line is cut here and the rest of it passed over, so that one line cannot take all memory.
pub(crate) const MAX_LINE: usize = 1 << 20;

/// A line's place in the buffer, without its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    pub(crate) range: Range<usize>,
    /// It was longer than [`MAX_LINE`].
    pub(crate) is_cut: bool,
}

/// Takes bytes in, gives lines out. A line's place is valid until the next call of `fill` or `push`.
#[derive(Debug)]
pub(crate) struct LineBuffer {
    bytes: Vec<u8>,
    /// The first byte that was not given out yet.
    start: usize,
    /// No line end lies between `start` and here.
    scanned: usize,
    /// The end of what was taken in.
    end: usize,
    /// The rest of a line that was cut is being passed over.
    is_discarding: bool,
    /// All bytes ever taken in.
    taken_in: u64,
}

impl Default for LineBuffer {
    fn default() -> Self {
        Self { bytes: vec![0; START_BYTES], start: 0, scanned: 0, end: 0, is_discarding: false, taken_in: 0 }
    }
}

impl LineBuffer {
    #[inline]
    pub(crate) fn line(&self, line: &Line) -> &[u8] {
        self.bytes.get(line.range.clone()).unwrap_or_default()
    }

    /// All bytes that were given out as lines, with their ends.
    pub(crate) fn given_out(&self) -> u64 {
        self.taken_in - (self.end - self.start) as u64
    }

    /// A first line without the byte order mark that some editors put there.
    pub(crate) fn without_mark(&self, mut line: Line) -> Line {
        if self.line(&line).starts_with(b"\xef\xbb\xbf") {
            line.range.start += 3;
        }
        line
    }

    /// The next whole line, if there is one.
    #[inline]
    pub(crate) fn next_line(&mut self) -> Option<Line> {
        loop {
            match memchr(b'\n', self.bytes.get(self.scanned..self.end)?) {
                Some(length) => {
                    let range = self.start..self.scanned + length;
                    self.start = range.end + 1;
                    self.scanned = self.start;
                    if std::mem::take(&mut self.is_discarding) {
                        continue;
                    }
                    return Some(self.trimmed(range, false));
                }
                None => {
                    self.scanned = self.end;
                    if self.is_discarding {
                        self.start = self.end;
                    } else if self.end - self.start >= MAX_LINE {
                        self.is_discarding = true;
                        let range = self.start..self.start + MAX_LINE;
                        self.start = self.end;
                        return Some(self.trimmed(range, true));
                    }
                    return None;
                }
            }
        }
    }

    /// What is left when no more bytes come: a last line without an end.
    pub(crate) fn last_line(&mut self) -> Option<Line> {
        let range = self.start..self.end;
        self.start = self.end;
        (!range.is_empty() && !self.is_discarding).then(|| self.trimmed(range, false))
    }

    /// Reads once; `false` at the end of the reader.
    pub(crate) fn fill(&mut self, reader: &mut impl Read) -> io::Result<bool> {
        self.make_room(1);
        loop {
            match reader.read(self.bytes.get_mut(self.end..).unwrap_or_default()) {
                Ok(n) => {
                    self.end += n;
                    self.taken_in += n as u64;
                    return Ok(n > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.make_room(bytes.len());
        if let Some(room) = self.bytes.get_mut(self.end..self.end + bytes.len()) {
            room.copy_from_slice(bytes);
            self.end += bytes.len();
            self.taken_in += bytes.len() as u64;
        }
    }

    /// Moves the unfinished line to the front, and grows where that is not enough.
    fn make_room(&mut self, wanted: usize) {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.end + wanted > self.bytes.len() {
            self.bytes.resize((self.end + wanted).max(self.bytes.len() * 2), 0);
        }
    }

    fn trimmed(&self, mut range: Range<usize>, is_cut: bool) -> Line {
        if self.bytes.get(range.clone()).is_some_and(|line| line.ends_with(b"\r")) {
            range.end -= 1;
        }
        Line { range, is_cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lines, read `step` bytes at a time.
    fn lines(input: &[u8], step: usize) -> Vec<(Vec<u8>, bool)> {
        let mut buffer = LineBuffer::default();
        let mut lines = Vec::new();
        for bytes in input.chunks(step) {
            buffer.push(bytes);
            while let Some(line) = buffer.next_line() {
                lines.push((buffer.line(&line).to_vec(), line.is_cut));
            }
        }
        lines.extend(buffer.last_line().map(|line| (buffer.line(&line).to_vec(), line.is_cut)));
        lines
    }

    #[test]
    fn lines_are_the_same_however_the_bytes_come() {
        let input = b"one\r\n\ntwo \xff\0\nthree";
        let expected = [&b"one"[..], b"", b"two \xff\0", b"three"].map(|line| (line.to_vec(), false));
        for step in [1, 2, 3, 5, 100] {
            assert_eq!(lines(input, step), expected, "{step}");
        }
    }

    #[test]
    fn a_line_beyond_all_bounds_is_cut_and_the_next_one_is_whole() {
        let mut input = vec![b'x'; 10 << 20];
        input.extend_from_slice(b"\nnext\n");
        let lines = lines(&input, 64 << 10);
        assert_eq!(lines.len(), 2);
        assert_eq!((lines[0].0.len(), lines[0].1), (MAX_LINE, true));
        assert_eq!(lines[1], (b"next".to_vec(), false));
    }

    #[test]
    fn a_long_last_line_is_cut_once() {
        let lines = lines(&vec![b'x'; 3 << 20], 64 << 10);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].1);
    }
}
