//! A file's events in the order of their times.
//!
//! ```text
//! look over    how far back do the times go?             lag = max over lines of (newest before it - its time)
//! lag = 0      hand each event on as it is read
//! lag > 0      hold events; whatever is at or before newest - lag can't be preceded any more: sort, hand on
//! ```
//! So a file in order costs no memory, one that is out of order by seconds holds seconds of it, and one that was
//! shuffled is held as a whole, at 24 bytes per event and its distinct keys once.

use crate::event::{Event, Tally};
use crate::format::{Parsed, Parser};
use crate::lines::{Line, LineBuffer};
use floodmark::Timestamp;
use indexmap::IndexSet;
use std::fs::File;
use std::io::{self, Read, Seek, Take};
use std::time::Duration;

/// Turns the bytes of one input into events.
#[derive(Debug)]
pub(crate) struct Decoder {
    pub(crate) path: String,
    pub(crate) parser: Parser,
    pub(crate) buffer: LineBuffer,
    pub(crate) tally: Tally,
    pub(crate) examples: usize,
}

impl Decoder {
    /// The next event of the lines that are in the buffer; with `is_last`, of an unfinished last line too.
    pub(crate) fn next_event(&mut self, is_last: bool) -> Option<(Line, Parsed)> {
        loop {
            let line = match self.buffer.next_line() {
                Some(line) => line,
                None if is_last => self.buffer.last_line()?,
                None => return None,
            };
            self.tally.lines += 1;
            let line = if self.tally.lines == 1 { self.buffer.without_mark(line) } else { line };
            match self.parser.parse(self.buffer.line(&line), line.is_cut) {
                Ok(parsed) => {
                    self.tally.count(parsed.n, parsed.stamp.at, parsed.is_damaged);
                    return Some((line, parsed));
                }
                Err(skip) => self.tally.skip(skip, &self.path, self.buffer.line(&line), self.examples),
            }
        }
    }

    pub(crate) fn event<'a>(&'a self, (line, parsed): &(Line, Parsed)) -> Event<'a> {
        let key = self.parser.key(&parsed.key, self.buffer.line(line));
        Event { key, n: parsed.n, at: parsed.stamp.at, digits: parsed.stamp.digits }
    }
}

/// What looking a file over told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overlook {
    pub(crate) lines: u64,
    /// The most digits of a second that a time has; `None` if there was none.
    pub(crate) digits: Option<u8>,
    /// The furthest that a time lies behind an earlier line's.
    pub(crate) lag: Duration,
}

/// Reads the times of a file; `on_read` is told of the bytes and says whether to go on.
pub(crate) fn look_over(
    mut reader: impl Read,
    parser: &mut Parser,
    mut on_read: impl FnMut(u64) -> bool,
) -> io::Result<Overlook> {
    let mut buffer = LineBuffer::default();
    let mut found = Overlook::default();
    let mut newest = Timestamp::EPOCH;
    let mut is_last = false;
    while !is_last {
        let before = buffer.taken_in();
        is_last = !buffer.fill(&mut reader)?;
        if !on_read(buffer.taken_in() - before) {
            break;
        }
        while let Some(line) = buffer.next_line().or_else(|| if is_last { buffer.last_line() } else { None })
        {
            found.lines += 1;
            let Some(stamp) = parser.stamp(buffer.line(&line)) else { continue };
            found.digits = found.digits.max(Some(stamp.digits));
            found.lag = found.lag.max(newest.saturating_since(stamp.at));
            newest = newest.max(stamp.at);
        }
    }
    Ok(found)
}

/// A file's events in the order of its lines.
#[derive(Debug)]
pub(crate) struct FileEvents {
    pub(crate) decoder: Decoder,
    reader: Take<File>,
    current: Option<(Line, Parsed)>,
    is_at_end: bool,
}

impl FileEvents {
    /// Reads `length` bytes from `start` on: what was looked over, even if the file has grown since.
    pub(crate) fn new(decoder: Decoder, mut file: File, start: u64, length: u64) -> io::Result<Self> {
        file.seek(io::SeekFrom::Start(start))?;
        Ok(Self { decoder, reader: file.take(length), current: None, is_at_end: false })
    }

    fn advance(&mut self) -> io::Result<Option<Timestamp>> {
        loop {
            self.current = self.decoder.next_event(self.is_at_end);
            if let Some((_, parsed)) = &self.current {
                return Ok(Some(parsed.stamp.at));
            }
            if self.is_at_end {
                return Ok(None);
            }
            self.is_at_end = !self.decoder.buffer.fill(&mut self.reader)?;
        }
    }

    fn event(&self) -> Option<Event<'_>> {
        self.current.as_ref().map(|current| self.decoder.event(current))
    }
}

/// An event that is held back: 24 bytes.
#[derive(Clone, Copy, Debug)]
struct Held {
    at: Timestamp,
    n: u64,
    /// In `keys`.
    key: u32,
    /// Its place among the held ones, so that events of one time stay in the order of their lines.
    place: u32,
}

const _: () = assert!(size_of::<Held>() == 24, "docs/performance.md states 24 bytes per event");

/// A file's events in the order of their times.
#[derive(Debug)]
pub(crate) struct Reordered {
    events: FileEvents,
    lag: Duration,
    digits: u8,
    keys: IndexSet<Box<[u8]>>,
    /// Sorted up to `ready`; handed on up to `next`.
    held: Vec<Held>,
    next: usize,
    ready: usize,
    /// Sort when this many are held.
    enough: usize,
    newest: Timestamp,
}

/// So many at least are held before they are sorted, so that sorting is amortised over many.
const ENOUGH: usize = 1 << 14;

impl Reordered {
    fn advance(&mut self) -> io::Result<Option<Timestamp>> {
        self.next += 1;
        if self.next >= self.ready {
            self.refill()?;
        }
        Ok(self.held.get(self.next).filter(|_| self.next < self.ready).map(|held| held.at))
    }

    fn refill(&mut self) -> io::Result<()> {
        self.held.drain(..self.ready);
        (self.next, self.ready) = (0, 0);
        while self.ready == 0 {
            let is_end = !self.read_enough()?;
            for (place, held) in self.held.iter_mut().enumerate() {
                held.place = place as u32;
            }
            self.held.sort_unstable_by_key(|held| (held.at, held.place));
            let safe = Timestamp::from_nanos(
                self.newest.as_nanos().saturating_sub(self.lag.as_nanos().try_into().unwrap_or(u64::MAX)),
            );
            self.ready =
                if is_end { self.held.len() } else { self.held.partition_point(|held| held.at <= safe) };
            // Twice what has to stay: so every event is sorted a few times at most.
            self.enough = ENOUGH.max((self.held.len() - self.ready) * 2);
            if is_end {
                break;
            }
        }
        Ok(())
    }

    /// Reads until enough is held; `false` at the end.
    fn read_enough(&mut self) -> io::Result<bool> {
        while self.held.len() < self.enough {
            if self.events.advance()?.is_none() {
                return Ok(false);
            }
            let Some(Event { key, n, at, .. }) = self.events.event() else { return Ok(false) };
            let key = match self.keys.get_index_of(key) {
                Some(key) => key,
                None => self.keys.insert_full(key.into()).0,
            };
            self.newest = self.newest.max(at);
            self.held.push(Held { at, n, key: key as u32, place: 0 });
        }
        Ok(true)
    }

    fn event(&self) -> Option<Event<'_>> {
        let held = self.held.get(self.next)?;
        let key = self.keys.get_index(held.key as usize)?;
        Some(Event { key, n: held.n, at: held.at, digits: self.digits })
    }
}

/// A file's events, in order either way.
#[derive(Debug)]
pub(crate) enum Ordered {
    AsIs(Box<FileEvents>),
    Sorted(Box<Reordered>),
}

impl Ordered {
    pub(crate) fn new(events: FileEvents, over: &Overlook) -> Self {
        if over.lag.is_zero() {
            return Self::AsIs(Box::new(events));
        }
        Self::Sorted(Box::new(Reordered {
            events,
            lag: over.lag,
            digits: over.digits.unwrap_or(0),
            keys: IndexSet::new(),
            held: Vec::new(),
            next: 0,
            ready: 0,
            enough: ENOUGH,
            newest: Timestamp::EPOCH,
        }))
    }

    /// Goes to the next event and tells its time.
    pub(crate) fn advance(&mut self) -> io::Result<Option<Timestamp>> {
        match self {
            Self::AsIs(events) => events.advance(),
            Self::Sorted(events) => events.advance(),
        }
    }

    /// The event that the last `advance` went to.
    pub(crate) fn event(&self) -> Option<Event<'_>> {
        match self {
            Self::AsIs(events) => events.event(),
            Self::Sorted(events) => events.event(),
        }
    }

    pub(crate) fn decoder(&self) -> &Decoder {
        match self {
            Self::AsIs(events) => &events.decoder,
            Self::Sorted(events) => &events.events.decoder,
        }
    }

    pub(crate) fn into_tally(self) -> Tally {
        match self {
            Self::AsIs(events) => events.decoder.tally,
            Self::Sorted(events) => events.events.decoder.tally,
        }
    }
}
