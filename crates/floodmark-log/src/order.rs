//! A file's events in the order of their times.
//!
//! ```text
//! read          in the hope that the file is in order; one that is takes no more than this
//! out of order  start again:
//!   look over   how far back do the times go?   lag = max over lines of (newest before it - its time)
//!   sort        hold events; whatever is at or before newest - lag can't be preceded any more: hand it on
//! ```
//! So a file in order is read once and costs no memory, one that is out of order by seconds holds seconds of it, and
//! one that was shuffled is held as a whole, at 24 bytes per event and its distinct keys once.
//!
//! A compressed file is unpacked anew each time.

use crate::decoder::Decoder;
use crate::error::Error;
use crate::event::{Details, Event};
use crate::lines::LineBuffer;
use crate::parser::Parser;
use crate::source::{Packing, Source};
use floodmark::Timestamp;
use indexmap::{Equivalent, IndexSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::sync::Arc;

/// A file that can be read more than once.
#[derive(Debug)]
pub(crate) struct FileInput {
    pub(crate) path: String,
    /// Shared with the source that reads it.
    pub(crate) file: Arc<File>,
    pub(crate) packing: Option<Packing>,
    /// As it was set up: each pass over the file has a clone, since a format may remember what it has read.
    pub(crate) parser: Parser,
    pub(crate) start: u64,
    /// What there was when it was opened, even if the file grows.
    pub(crate) length: u64,
}

impl FileInput {
    /// How far its times go back, in nanoseconds.
    pub(crate) fn look_over(&self, on_read: impl FnMut(u64) -> bool) -> io::Result<u64> {
        lag(self.source()?, self.parser.clone(), Timestamp::EPOCH, on_read)
    }

    /// Its plain bytes from the start.
    fn source(&self) -> io::Result<FileSource> {
        (&*self.file).seek(SeekFrom::Start(self.start))?;
        Ok(Source::new(Arc::clone(&self.file).take(self.length), self.packing))
    }

    /// Its plain bytes without the first `skipped` of them; `on_read` as in [`lag`]. `None`: it was stopped.
    fn rest(&self, skipped: u64, on_read: &mut impl FnMut(u64) -> bool) -> io::Result<Option<FileSource>> {
        if self.packing.is_none() {
            (&*self.file).seek(SeekFrom::Start(self.start + skipped))?;
            let rest = Arc::clone(&self.file).take(self.length.saturating_sub(skipped));
            return Ok(Some(Source::new(rest, None)));
        }
        let mut source = self.source()?;
        let mut left = skipped;
        let mut bytes = vec![0; 64 << 10];
        while left > 0 && on_read(0) {
            let wanted = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            match source.read(bytes.get_mut(..wanted).unwrap_or_default()) {
                Ok(0) => left = 0,
                Ok(n) => left -= n as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok((left == 0).then_some(source))
    }
}

/// The bytes of a file.
type FileSource = Source<Take<Arc<File>>>;

/// How far the times of lines lie behind earlier ones, and behind `newest`; `on_read` is told of the bytes as they lie
/// on disk, and says whether to go on.
fn lag(
    mut source: FileSource,
    mut parser: Parser,
    newest: Timestamp,
    mut on_read: impl FnMut(u64) -> bool,
) -> io::Result<u64> {
    let mut buffer = LineBuffer::default();
    let (mut newest, mut lag) = (newest.as_nanos(), 0);
    let (mut is_first, mut is_last) = (true, false);
    while !is_last {
        let before = source.taken_in();
        is_last = !buffer.fill(&mut source)?;
        if !on_read(source.taken_in() - before) {
            break;
        }
        while let Some(line) = buffer.next_line().or_else(|| if is_last { buffer.last_line() } else { None })
        {
            let line = if is_first { buffer.without_mark(line) } else { line };
            is_first = false;
            let Some(stamp) = parser.stamp(buffer.line(&line)) else { continue };
            let at = stamp.at.as_nanos();
            lag = lag.max(newest.saturating_sub(at));
            newest = newest.max(at);
        }
    }
    Ok(lag)
}

/// Why a source has no next event although it is not at its end.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// It is at its next event, whose time is this and earlier than one before it.
    OutOfOrder(Timestamp),
    Io(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A file's events in the order of its lines.
#[derive(Debug)]
pub(crate) struct FileEvents {
    pub(crate) decoder: Decoder,
    source: FileSource,
    input: FileInput,
    is_at_end: bool,
    is_stopped: bool,
}

impl FileEvents {
    pub(crate) fn new(input: FileInput, examples: usize) -> io::Result<Self> {
        let source = input.source()?;
        let decoder = Decoder::new(input.path.clone(), input.parser.clone(), examples);
        Ok(Self { decoder, source, input, is_at_end: false, is_stopped: false })
    }

    /// `on_read` is told of the bytes read, as they lie on disk, and says whether to go on. If not, no event follows;
    /// lines that are not whole are not read.
    #[inline]
    fn advance(&mut self, on_read: &mut dyn FnMut(u64) -> bool) -> io::Result<Option<Timestamp>> {
        loop {
            if let Some(at) = self.decoder.advance(self.is_at_end) {
                return Ok(Some(at));
            }
            if self.is_at_end || self.is_stopped {
                return Ok(None);
            }
            let before = self.source.taken_in();
            self.is_at_end = !self.decoder.buffer.fill(&mut self.source)?;
            if !on_read(self.source.taken_in() - before) {
                (self.is_at_end, self.is_stopped) = (false, true);
            }
        }
    }
}

/// An event that is held back: 24 bytes.
#[derive(Clone, Copy, Debug)]
struct Held {
    at: Timestamp,
    n: u64,
    /// In `texts`.
    text: u32,
    /// Its place among the held ones, so that events of one time stay in the order of their lines.
    place: u32,
}

const _: () = assert!(size_of::<Held>() == 24, "docs/performance.md states 24 bytes per event");

/// What is said of an event, its time and units apart.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Text {
    key: Box<[u8]>,
    details: Box<[u8]>,
}

impl Equivalent<Text> for (&[u8], &[u8]) {
    fn equivalent(&self, text: &Text) -> bool {
        (self.0, self.1) == (&*text.key, &*text.details)
    }
}

/// A file's events in the order of their times.
#[derive(Debug)]
pub(crate) struct Reordered {
    events: FileEvents,
    lag: u64,
    /// The most digits of a second so far.
    digits: u8,
    /// The distinct keys and their details.
    texts: IndexSet<Text>,
    /// Sorted up to `ready`; handed on up to `next`.
    held: Vec<Held>,
    next: usize,
    ready: usize,
    /// Sort when this many are held.
    enough: usize,
    newest: u64,
    /// What ended the reading before the file's end; told when all that is held has been handed on.
    error: Option<io::Error>,
}

/// So many at least are held before they are sorted, so that sorting is amortised over many.
const ENOUGH: usize = 1 << 14;

impl Reordered {
    fn new(events: FileEvents, lag: u64) -> Self {
        let (texts, held) = (IndexSet::new(), Vec::new());
        Self {
            events,
            lag,
            digits: 0,
            texts,
            held,
            next: 0,
            ready: 0,
            enough: ENOUGH,
            newest: 0,
            error: None,
        }
    }

    fn advance(&mut self, on_read: &mut dyn FnMut(u64) -> bool) -> io::Result<Option<Timestamp>> {
        self.next += 1;
        if self.next >= self.ready {
            self.refill(on_read);
        }
        if self.ready == 0
            && let Some(error) = self.error.take()
        {
            return Err(error);
        }
        Ok(self.held.get(self.next).filter(|_| self.next < self.ready).map(|held| held.at))
    }

    fn refill(&mut self, on_read: &mut dyn FnMut(u64) -> bool) {
        self.held.drain(..self.ready);
        (self.next, self.ready) = (0, 0);
        let mut is_end = false;
        while self.ready == 0 && !is_end && self.error.is_none() {
            is_end = !self.read_enough(on_read);
            for (place, held) in self.held.iter_mut().enumerate() {
                held.place = place as u32;
            }
            self.held.sort_unstable_by_key(|held| (held.at, held.place));
            let safe = Timestamp::from_nanos(self.newest.saturating_sub(self.lag));
            self.ready =
                if is_end { self.held.len() } else { self.held.partition_point(|held| held.at <= safe) };
            // Twice what has to stay: so every event is sorted a few times at most.
            self.enough = ENOUGH.max((self.held.len() - self.ready) * 2);
        }
    }

    /// Reads until enough is held; `false` at the end.
    fn read_enough(&mut self, on_read: &mut dyn FnMut(u64) -> bool) -> bool {
        while self.held.len() < self.enough {
            match self.events.advance(on_read) {
                Ok(Some(_)) => {}
                Ok(None) => return false,
                Err(error) => {
                    self.error = Some(error);
                    return false;
                }
            }
            let Event { key, n, at, digits, details } = self.events.decoder.event();
            let borrowed = (key, details.text());
            let text = match self.texts.get_index_of(&borrowed) {
                Some(text) => text,
                None => self.texts.insert_full(Text { key: key.into(), details: details.text().into() }).0,
            };
            self.digits = self.digits.max(digits);
            self.newest = self.newest.max(at.as_nanos());
            self.held.push(Held { at, n, text: text as u32, place: 0 });
        }
        true
    }

    fn event(&self) -> Option<Event<'_>> {
        let held = self.held.get(self.next)?;
        let Text { key, details } = self.texts.get_index(held.text as usize)?;
        let details = Details::new(details);
        Some(Event { key, n: held.n, at: held.at, digits: self.digits, details })
    }
}

/// A file's events in the order of their times, whichever way that takes.
#[derive(Debug)]
pub(crate) enum Ordered {
    /// As it is read; the time is that of the newest event, which the next must not precede.
    AsIs(Box<FileEvents>, Timestamp),
    Sorted(Box<Reordered>),
}

impl Ordered {
    pub(crate) fn as_is(events: FileEvents) -> Self {
        Self::AsIs(Box::new(events), Timestamp::EPOCH)
    }

    pub(crate) fn sorted(events: FileEvents, lag: u64) -> Self {
        Self::Sorted(Box::new(Reordered::new(events, lag)))
    }

    /// Goes to the next event and tells its time. `on_read` is told of the bytes read, and says whether to go on: if
    /// not, what has been read is all there is.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        on_read: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<Timestamp>, Stopped> {
        match self {
            Self::AsIs(events, newest) => {
                let next = events.advance(on_read)?;
                if let Some(at) = next {
                    if at < *newest {
                        return Err(Stopped::OutOfOrder(at));
                    }
                    *newest = at;
                }
                Ok(next)
            }
            Self::Sorted(events) => Ok(events.advance(on_read)?),
        }
    }

    /// The event that the last `advance` went to.
    #[inline]
    pub(crate) fn event(&self) -> Option<Event<'_>> {
        match self {
            Self::AsIs(events, _) => Some(events.decoder.event()),
            Self::Sorted(events) => events.event(),
        }
    }

    pub(crate) fn decoder(&self) -> &Decoder {
        &self.events().decoder
    }

    fn events(&self) -> &FileEvents {
        match self {
            Self::AsIs(events, _) => events,
            Self::Sorted(events) => &events.events,
        }
    }

    fn into_events(self) -> FileEvents {
        match self {
            Self::AsIs(events, _) => *events,
            Self::Sorted(events) => events.events,
        }
    }

    pub(crate) fn into_decoder(self) -> Decoder {
        self.into_events().decoder
    }

    /// The file, to be read again.
    pub(crate) fn rewind(self) -> FileInput {
        self.into_events().input
    }

    /// Bytes of the file that have been read, as they lie on disk.
    pub(crate) fn taken_in(&self) -> u64 {
        self.events().source.taken_in()
    }

    /// What was wrong with the file, once it has been read to its end.
    pub(crate) fn problem(&self) -> Option<Error> {
        let FileEvents { source, decoder, .. } = self.events();
        source
            .fault()
            .map(|(fault, packing)| Error::packed(&decoder.path, fault, packing, decoder.tally.lines))
    }

    /// Whether the rest of the file is in order too.
    pub(crate) fn is_in_order_to_its_end(
        &mut self,
        mut on_read: impl FnMut(u64) -> bool,
    ) -> io::Result<bool> {
        let Self::AsIs(events, newest) = self else { return Ok(true) };
        let FileEvents { decoder, input, .. } = &**events;
        // The position belongs to the source in use.
        let mut file = &*input.file;
        let here = file.stream_position()?;
        let lag = match input.rest(decoder.buffer.given_out(), &mut on_read) {
            Ok(Some(rest)) => lag(rest, decoder.parser.clone(), *newest, on_read),
            Ok(None) => Ok(0),
            Err(error) => Err(error),
        };
        file.seek(SeekFrom::Start(here))?;
        Ok(lag? == 0)
    }
}
