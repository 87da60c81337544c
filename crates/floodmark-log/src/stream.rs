//! Streams: pipes and standard input, read as they come, one thread for each.
//!
//! A stream cannot be looked over, and it is never held back: its events are handed on in the order of its lines.

use crate::decoder::Decoder;
use crate::detect::detect;
use crate::error::Error;
use crate::event::Tally;
use crate::feed::{Consumer, Watch};
use crate::options::Options;
use crate::source::{Fault, Packing, Source};
use floodmark::{Clock, SystemClock, Timestamp};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// An input that can be read once, forwards.
pub(crate) struct Stream {
    pub(crate) path: String,
    pub(crate) reader: Box<dyn Read + Send>,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("path", &self.path).finish_non_exhaustive()
    }
}

/// What came of all streams.
pub(crate) struct Streamed<E> {
    pub(crate) tally: Tally,
    pub(crate) problems: Vec<Error>,
    /// The consumer's error that ended it.
    pub(crate) error: Option<E>,
}

/// A stream is live while its times are this close to the clock on the wall.
const LIVE: Duration = Duration::from_secs(60);
/// How often an idle stream is looked at.
const TICK: Duration = Duration::from_millis(100);
/// So much is waited for before a format that cannot be told is an error.
const SAMPLE: usize = 64 << 10;

struct Chunk {
    lane: usize,
    news: News,
}

/// What a stream's thread has to say.
enum News {
    /// More of its bytes, unpacked; some at least.
    Bytes(Vec<u8>),
    /// It is over, and what was wrong with its compressed data.
    Over(Option<(Fault, Packing)>),
    Failed(io::Error),
}

/// One stream on the reading side.
struct Lane {
    path: String,
    state: State,
}

enum State {
    /// Its first bytes, while they do not tell the format.
    Unknown(Vec<u8>),
    Known(Box<Decoder>),
    Over(Tally),
}

/// Reads all streams to their ends, or until `watch` stops it.
pub(crate) fn read<C: Consumer>(
    streams: Vec<Stream>,
    options: &Options,
    consumer: &mut C,
    watch: &mut dyn Watch,
) -> Streamed<C::Error> {
    let (sender, receiver) = sync_channel(16);
    let mut lanes = Vec::new();
    let mut problems = Vec::new();
    for Stream { path, reader } in streams {
        let (lane, sender) = (lanes.len(), sender.clone());
        let started = std::thread::Builder::new()
            .name(format!("read {path}"))
            .spawn(move || pump(reader, lane, &sender));
        let state = match started {
            Ok(_) => State::Unknown(Vec::new()),
            Err(source) => {
                problems.push(Error::Io { path: PathBuf::from(&path), source });
                State::Over(Tally::default())
            }
        };
        lanes.push(Lane { path, state });
    }
    drop(sender);
    let mut reading = Reading { lanes, options, problems, latest: None };
    let error = reading.run(&receiver, consumer, watch).err();
    let mut tally = Tally::default();
    for lane in reading.lanes {
        match lane.state {
            State::Known(decoder) => tally.add(decoder.tally, options.examples),
            State::Over(of_lane) => tally.add(of_lane, options.examples),
            State::Unknown(_) => {}
        }
    }
    Streamed { tally, problems: reading.problems, error }
}

/// Sends whatever a read returns, at once.
fn pump(reader: Box<dyn Read + Send>, lane: usize, sender: &SyncSender<Chunk>) {
    let mut source = match Source::of_stream(reader) {
        Ok(source) => source,
        Err(error) => {
            // Nobody listens any more, or it is told.
            let _ = sender.send(Chunk { lane, news: News::Failed(error) });
            return;
        }
    };
    loop {
        let mut bytes = vec![0; 64 << 10];
        let news = match source.read(&mut bytes) {
            Ok(0) => News::Over(source.fault()),
            Ok(n) => {
                bytes.truncate(n);
                News::Bytes(bytes)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => News::Failed(error),
        };
        let is_over = !matches!(news, News::Bytes(_));
        if sender.send(Chunk { lane, news }).is_err() || is_over {
            return;
        }
    }
}

struct Reading<'a> {
    lanes: Vec<Lane>,
    options: &'a Options,
    problems: Vec<Error>,
    /// The newest event's time and when it came, if it came from a live stream.
    latest: Option<(Timestamp, Instant)>,
}

impl Reading<'_> {
    fn run<C: Consumer>(
        &mut self,
        receiver: &Receiver<Chunk>,
        consumer: &mut C,
        watch: &mut dyn Watch,
    ) -> Result<(), C::Error> {
        let is_open = |lane: &Lane| !matches!(lane.state, State::Over(_));
        while self.lanes.iter().any(is_open) && !watch.should_stop() {
            match receiver.recv_timeout(TICK) {
                Ok(Chunk { lane, news: News::Bytes(bytes) }) => self.take(lane, &bytes, consumer)?,
                Ok(Chunk { lane, news: News::Over(fault) }) => self.end(lane, fault, consumer)?,
                Ok(Chunk { lane, news: News::Failed(source) }) => {
                    if let Some(lane) = self.lanes.get(lane) {
                        self.problems.push(Error::Io { path: PathBuf::from(&lane.path), source });
                    }
                    self.take(lane, &[], consumer)?;
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Some((at, came)) = self.latest {
                        consumer.idle(at.saturating_add(came.elapsed()))?;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(())
    }

    /// Takes what is left of a stream that is over.
    fn end<C: Consumer>(
        &mut self,
        lane: usize,
        fault: Option<(Fault, Packing)>,
        consumer: &mut C,
    ) -> Result<(), C::Error> {
        let state = self.lanes.get(lane).map(|lane| &lane.state);
        let was_given_up = state.is_none_or(|state| matches!(state, State::Over(_)));
        let is_half_a_line = matches!(state, Some(State::Unknown(sample)) if !sample.contains(&b'\n'));
        let told = self.problems.len();
        self.take(lane, &[], consumer)?;
        if let Some((fault, packing)) = fault.filter(|_| !was_given_up)
            && let Some(Lane { path, state: State::Over(tally) }) = self.lanes.get(lane)
        {
            if is_half_a_line && fault != Fault::Trailing {
                // It is no wonder that half a line is none.
                self.problems.truncate(told);
            }
            self.problems.push(Error::packed(path, fault, packing, tally.lines));
        }
        Ok(())
    }

    /// Takes more bytes of a stream; none at its end.
    fn take<C: Consumer>(&mut self, lane: usize, bytes: &[u8], consumer: &mut C) -> Result<(), C::Error> {
        let Some(lane) = self.lanes.get_mut(lane) else { return Ok(()) };
        let is_last = bytes.is_empty();
        if let State::Unknown(sample) = &mut lane.state {
            sample.extend_from_slice(bytes);
            match begin(&lane.path, sample, is_last, self.options) {
                Some(Ok(decoder)) => lane.state = State::Known(Box::new(decoder)),
                Some(Err(problem)) => {
                    self.problems.push(problem);
                    lane.state = State::Over(Tally::default());
                }
                None if is_last => lane.state = State::Over(Tally::default()),
                None => {}
            }
        } else if let State::Known(decoder) = &mut lane.state {
            decoder.buffer.push(bytes);
        }
        let State::Known(decoder) = &mut lane.state else { return Ok(()) };
        let mut newest = None;
        while let Some(at) = decoder.advance(is_last) {
            newest = Some(at);
            consumer.event(&decoder.event())?;
        }
        consumer.pause()?;
        if is_last {
            lane.state = State::Over(std::mem::take(&mut decoder.tally));
        }
        if let Some(at) = newest {
            let now = SystemClock.now();
            let apart = now.saturating_since(at).max(at.saturating_since(now));
            self.latest = (apart < LIVE).then(|| (at, Instant::now()));
        }
        Ok(())
    }
}

/// Tells the format from a stream's first bytes; `None`: more of them are needed.
fn begin(path: &str, sample: &[u8], is_last: bool, options: &Options) -> Option<Result<Decoder, Error>> {
    let whole = if is_last { sample.len() } else { memchr::memrchr(b'\n', sample).map_or(0, |end| end + 1) };
    let lines = sample.get(..whole).filter(|lines| !lines.trim_ascii().is_empty());
    let may_wait = !is_last && sample.len() < SAMPLE;
    let lines = match lines {
        Some(lines) => lines,
        None if may_wait || sample.is_empty() => return None,
        None => sample,
    };
    match detect(lines, path, options) {
        Ok(parser) => {
            let mut decoder = Decoder::new(path.to_string(), parser, options.examples);
            decoder.buffer.push(sample);
            Some(Ok(decoder))
        }
        Err(Error::UnknownFormat { .. } | Error::NoColumn { .. } | Error::Unmatched { .. }) if may_wait => {
            None
        }
        Err(error) => Some(Err(error)),
    }
}
