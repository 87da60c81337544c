//! Names to inputs: files, which are looked over and put in order, and streams, which are read as they come.

use crate::detect::detect;
use crate::error::Error;
use crate::event::Tally;
use crate::feed::{Consumer, Phase, Progress, Watch};
use crate::format::{Options, Parser};
use crate::lines::LineBuffer;
use crate::order::{Decoder, FileEvents, Ordered, Overlook, look_over};
use crate::stream::{self, Stream};
use floodmark::Timestamp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Several files and streams as one input.
///
/// One that cannot be read is a problem, kept here to be told, and no reason not to read the others.
#[derive(Debug)]
pub struct Inputs {
    options: Options,
    files: Vec<FileInput>,
    streams: Vec<Stream>,
    problems: Vec<Error>,
    notes: Vec<String>,
}

#[derive(Debug)]
struct FileInput {
    path: String,
    file: File,
    parser: Parser,
    start: u64,
    length: u64,
    over: Overlook,
}

/// What the files hold, before their events are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// Lines of all files.
    pub lines: u64,
    /// The most digits of a second that a time has, of all files; `None` if there was no time.
    pub digits: Option<u8>,
    /// The furthest that a line's time lies behind an earlier line's of the same file.
    pub lag: Duration,
}

impl Inputs {
    /// Opens every path; `-` is standard input.
    #[must_use]
    pub fn open(paths: &[PathBuf], options: Options) -> Self {
        let mut inputs =
            Self { options, files: Vec::new(), streams: Vec::new(), problems: Vec::new(), notes: Vec::new() };
        let mut seen: Vec<(same_file::Handle, &Path)> = Vec::new();
        for path in paths {
            let handle = if path.as_os_str() == "-" {
                same_file::Handle::stdin().ok()
            } else {
                same_file::Handle::from_path(path).ok()
            };
            let first = handle.as_ref().and_then(|handle| seen.iter().find(|(seen, _)| seen == handle));
            if let Some((_, first)) = first
                && (!inputs.options.count_twice || path.as_os_str() == "-")
            {
                let (path, first) = (path.display(), first.display());
                let note =
                    format!("{path} is the same file as {first} and is counted once (--count-twice: twice)");
                inputs.notes.push(note);
                continue;
            }
            seen.extend(handle.map(|handle| (handle, path.as_path())));
            if let Err(problem) = inputs.open_one(path) {
                inputs.problems.push(problem);
            }
        }
        inputs
    }

    fn open_one(&mut self, path: &Path) -> Result<(), Error> {
        let io_error = |source| Error::Io { path: path.into(), source };
        let name = path.display().to_string();
        if path.as_os_str() == "-" {
            return match stdin_as_file() {
                Some(file) => self.open_file("standard input".into(), file),
                None => {
                    self.streams
                        .push(Stream { path: "standard input".into(), reader: Box::new(io::stdin()) });
                    Ok(())
                }
            };
        }
        let metadata = path.metadata().map_err(io_error)?;
        if metadata.is_dir() {
            return Err(Error::Directory(name));
        }
        let file = File::open(path).map_err(io_error)?;
        if !metadata.is_file() {
            self.streams.push(Stream { path: name, reader: Box::new(file) });
            return Ok(());
        }
        self.open_file(name, file)
    }

    fn open_file(&mut self, path: String, mut file: File) -> Result<(), Error> {
        let io_error = |source| Error::Io { path: PathBuf::from(&path), source };
        let start = file.stream_position().map_err(io_error)?;
        let length = file.metadata().map_err(io_error)?.len().saturating_sub(start);
        if length == 0 {
            self.notes.push(format!("{path} is empty: there is nothing to count in it"));
            return Ok(());
        }
        let mut sample = Vec::new();
        file.by_ref().take(256 << 10).read_to_end(&mut sample).map_err(io_error)?;
        if (sample.len() as u64) < length {
            sample.truncate(memchr::memrchr(b'\n', &sample).unwrap_or(sample.len()));
        }
        let parser = detect(&sample, &path, &self.options)?;
        self.files.push(FileInput { path, file, parser, start, length, over: Overlook::default() });
        Ok(())
    }

    /// Inputs that could not be read, so far.
    #[must_use]
    pub fn problems(&self) -> &[Error] {
        &self.problems
    }

    /// What a user should know of the inputs that is no problem.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The inputs that can be read, with what is known of their formats.
    pub fn names(&self) -> impl Iterator<Item = (&str, Option<crate::Format>)> {
        let files = self.files.iter().map(|file| (file.path.as_str(), Some(file.parser.format())));
        files.chain(self.streams.iter().map(|stream| (stream.path.as_str(), None)))
    }

    /// There are streams, whose times and end are not known yet.
    #[must_use]
    pub fn has_streams(&self) -> bool {
        !self.streams.is_empty()
    }

    /// Reads the times of all files, so that [`read`](Self::read) knows what it must hold to put them in order.
    ///
    /// Cost: one pass over the files, about a third of the time that reading them takes.
    pub fn look_over(&mut self, watch: &mut dyn Watch) -> Overview {
        let total = self.files.iter().map(|file| file.length).sum();
        let mut bytes = 0;
        let mut overview = Overview::default();
        for mut input in std::mem::take(&mut self.files) {
            match input.look_over(|read| {
                bytes += read;
                watch.progress(Progress { phase: Phase::LookingOver, bytes, total });
                !watch.should_stop()
            }) {
                Ok(()) => {
                    overview.lines += input.over.lines;
                    overview.digits = overview.digits.max(input.over.digits);
                    overview.lag = overview.lag.max(input.over.lag);
                    self.files.push(input);
                }
                Err(source) => self.problems.push(Error::Io { path: input.path.into(), source }),
            }
        }
        overview
    }

    /// Hands every event to `consumer`: first those of all files, merged in the order of their times, then those of
    /// the streams as they come. Returns the account of all lines, and the inputs that could not be read to their
    /// end.
    ///
    /// # Errors
    /// The consumer's.
    pub fn read<C: Consumer>(
        mut self,
        consumer: &mut C,
        watch: &mut dyn Watch,
    ) -> Result<(Tally, Vec<Error>), C::Error> {
        let mut tally = self.read_files(consumer, watch)?;
        if !self.streams.is_empty() && !watch.should_stop() {
            let streams = std::mem::take(&mut self.streams);
            let streamed = stream::read(streams, &self.options, consumer, watch);
            tally.add(streamed.tally, self.options.examples);
            self.problems.extend(streamed.problems);
            if let Some(error) = streamed.error {
                return Err(error);
            }
        }
        Ok((tally, self.problems))
    }

    fn read_files<C: Consumer>(
        &mut self,
        consumer: &mut C,
        watch: &mut dyn Watch,
    ) -> Result<Tally, C::Error> {
        let total = self.files.iter().map(|file| file.length).sum();
        let mut sources = Vec::new();
        for input in std::mem::take(&mut self.files) {
            let path = PathBuf::from(&input.path);
            match input.into_events(self.options.examples) {
                Ok(events) => sources.push(events),
                Err(source) => self.problems.push(Error::Io { path, source }),
            }
        }
        let mut problems = Vec::new();
        let mut advance = |sources: &mut Vec<Ordered>, index: usize| {
            let source = sources.get_mut(index)?;
            source.advance().unwrap_or_else(|error| {
                problems.push(Error::Io { path: PathBuf::from(&source.decoder().path), source: error });
                None
            })
        };
        let mut next: BinaryHeap<Reverse<(Timestamp, usize)>> = BinaryHeap::new();
        for index in 0..sources.len() {
            next.extend(advance(&mut sources, index).map(|at| Reverse((at, index))));
        }
        let mut events = 0u64;
        while let Some(Reverse((_, index))) = next.pop() {
            // This source's events are next as long as no other's are earlier.
            let until = next.peek().map(|Reverse(next)| *next);
            loop {
                if let Some(event) = sources.get(index).and_then(Ordered::event) {
                    consumer.event(&event)?;
                }
                events += 1;
                if events.is_multiple_of(4096) {
                    let bytes = sources.iter().map(|source| source.decoder().buffer.taken_in()).sum();
                    watch.progress(Progress { phase: Phase::Reading, bytes, total });
                    if watch.should_stop() {
                        next.clear();
                        break;
                    }
                }
                match advance(&mut sources, index) {
                    Some(at) if until.is_none_or(|until| (at, index) <= until) => {}
                    Some(at) => {
                        next.push(Reverse((at, index)));
                        break;
                    }
                    None => break,
                }
            }
        }
        self.problems.extend(problems);
        let mut tally = Tally::default();
        for source in sources {
            tally.add(source.into_tally(), self.options.examples);
        }
        Ok(tally)
    }
}

impl FileInput {
    fn look_over(&mut self, on_read: impl FnMut(u64) -> bool) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.start))?;
        let reader = self.file.by_ref().take(self.length);
        self.over = look_over(reader, &mut self.parser, on_read)?;
        Ok(())
    }

    fn into_events(self, examples: usize) -> io::Result<Ordered> {
        let (path, parser) = (self.path, self.parser);
        let decoder =
            Decoder { path, parser, buffer: LineBuffer::default(), tally: Tally::default(), examples };
        let events = FileEvents::new(decoder, self.file, self.start, self.length)?;
        Ok(Ordered::new(events, &self.over))
    }
}

/// Standard input, where it is a file that was redirected.
#[cfg(unix)]
fn stdin_as_file() -> Option<File> {
    use std::os::fd::AsFd;
    let file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    file.metadata().is_ok_and(|metadata| metadata.is_file()).then_some(file)
}

#[cfg(not(unix))]
fn stdin_as_file() -> Option<File> {
    None
}
