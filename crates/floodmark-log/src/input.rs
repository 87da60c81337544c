//! Names to inputs: files, which are looked over and put in order, and streams, which are read as they come.

use crate::detect::detect;
use crate::error::Error;
use crate::event::Tally;
use crate::feed::{Consumer, Watch};
use crate::files;
use crate::options::Options;
use crate::order::FileInput;
use crate::parser::Parser;
use crate::source::{Fault, Guess, Packing, Source};
use crate::stream::{self, Stream};
use floodmark::{Clock, SystemClock, Timestamp};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// A file's format is told from so many of its first bytes, unpacked.
const SAMPLE: u64 = 256 << 10;
/// Clocks are wrong and time zones differ, but not by more than this.
const DAY: Duration = Duration::from_secs(86_400);

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
    digits: Option<u8>,
}

impl Inputs {
    /// Opens every path; `-` is standard input.
    #[must_use]
    pub fn open(paths: &[PathBuf], options: Options) -> Self {
        let mut inputs = Self {
            options,
            files: Vec::new(),
            streams: Vec::new(),
            problems: Vec::new(),
            notes: Vec::new(),
            digits: None,
        };
        let mut seen: Vec<(same_file::Handle, &Path)> = Vec::new();
        for path in paths {
            let handle = if path.as_os_str() == "-" {
                same_file::Handle::stdin().ok()
            } else {
                // Only a file: opening a pipe twice would wait for a second writer.
                let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
                is_file.then(|| same_file::Handle::from_path(path).ok()).flatten()
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
        let metadata = file.metadata().map_err(io_error)?;
        let length = metadata.len().saturating_sub(start);
        let (packing, mut sample, fault) = first_bytes(&mut file, start, length).map_err(io_error)?;
        if sample.is_empty() && fault.is_none_or(|fault| fault == Fault::Trailing) {
            self.notes.push(format!("{path} is empty: there is nothing to count in it"));
            return Ok(());
        }
        if sample.len() as u64 >= SAMPLE {
            sample.truncate(memchr::memrchr(b'\n', &sample).unwrap_or(sample.len()));
        }
        let newest = self.options.newest.or_else(|| Some(latest(&metadata)));
        let options = Options { newest, ..self.options.clone() };
        let parser = detect(&sample, &path, &options).map_err(|error| match (fault, packing) {
            // It is no wonder that half a line is none.
            (Some(fault), Some(packing)) if fault != Fault::Trailing && !sample.contains(&b'\n') => {
                Error::packed(&path, fault, packing, 0)
            }
            _ => error,
        })?;
        self.digits = self.digits.max(digits_of(&sample, &parser));
        self.files.push(FileInput { path, file: Arc::new(file), packing, parser, start, length });
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

    /// The most digits of a second that a time has among the files' first lines; `None` if there was none.
    #[must_use]
    pub fn digits(&self) -> Option<u8> {
        self.digits
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
        let examples = self.options.examples;
        let mut tally = files::read(self.files, examples, &mut self.problems, consumer, watch)?;
        consumer.release()?;
        if !self.streams.is_empty() && !watch.should_stop() {
            let newest = self.options.newest.or_else(|| Some(SystemClock.now().saturating_add(DAY)));
            let options = Options { newest, ..self.options.clone() };
            let streamed = stream::read(self.streams, &options, consumer, watch);
            tally.add(streamed.tally, examples);
            self.problems.extend(streamed.problems);
            if let Some(error) = streamed.error {
                return Err(error);
            }
        }
        Ok((tally, self.problems))
    }
}

/// How a file is compressed, its first plain bytes, and what is wrong with them.
fn first_bytes(
    file: &mut File,
    start: u64,
    length: u64,
) -> io::Result<(Option<Packing>, Vec<u8>, Option<Fault>)> {
    let (mut head, mut sample) = (Vec::new(), Vec::new());
    file.by_ref().take(length.min(16)).read_to_end(&mut head)?;
    let packing = match Packing::of(&head) {
        Guess::Packed(packing) => Some(packing),
        Guess::Unsure | Guess::Plain => None,
    };
    file.seek(SeekFrom::Start(start))?;
    let mut source = Source::new(file.take(length), packing);
    source.by_ref().take(SAMPLE).read_to_end(&mut sample)?;
    Ok((packing, sample, source.fault().map(|(fault, _)| fault)))
}

/// No line of a file is later than this.
fn latest(metadata: &Metadata) -> Timestamp {
    let since_epoch = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since_epoch
        .map_or_else(|| SystemClock.now(), |at| Timestamp::EPOCH.saturating_add(at))
        .saturating_add(DAY)
}

/// The most digits of a second among the times of some lines.
fn digits_of(sample: &[u8], parser: &Parser) -> Option<u8> {
    let mut parser = parser.clone();
    sample.split(|&b| b == b'\n').filter_map(|line| parser.stamp(line)).map(|stamp| stamp.digits).max()
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
