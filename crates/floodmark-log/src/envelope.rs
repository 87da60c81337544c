//! What a container's runtime puts around a line, in whatever format that is.
//!
//! ```text
//! {"log":"the line\n","stream":"stdout","time":"2016-10-06T00:17:09.669794202Z"}     Docker
//! 2016-10-06T00:17:09.669794202Z stdout F the line                                   Kubernetes
//! caddy-1  | the line                                                                docker compose
//! ```
//! Long lines are split: Kubernetes marks all parts but the last with `P`, Docker leaves out their line ends.

use crate::event::Skip;
use crate::lines::MAX_LINE;
use crate::time::{self, Stamp};
use memchr::{memchr, memmem};
use serde::Deserialize;
use std::borrow::Cow;
use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct Envelope {
    kind: Kind,
    /// Standard output and standard error, whose parts come in any order.
    streams: [Stream; 2],
    /// Where the line is.
    inner: Inner,
    came_at: Option<Stamp>,
}

/// The parts of a stream's line so far, and at its end all of it.
#[derive(Clone, Debug, Default)]
struct Stream {
    joined: Vec<u8>,
    is_joining: bool,
}

#[derive(Clone, Debug)]
enum Inner {
    /// In the line around it.
    Around(Range<usize>),
    Joined(Source),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Stdout,
    Stderr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Docker,
    Kubernetes,
    Compose,
}

#[derive(Deserialize)]
struct DockerLine<'a> {
    #[serde(borrow)]
    log: Cow<'a, str>,
    #[serde(borrow, default)]
    stream: Cow<'a, str>,
    time: &'a str,
}

/// Docker splits lines longer than this.
const DOCKER_PART: usize = 16 << 10;

impl Envelope {
    /// What is around an input's first lines, if nearly all of them have it.
    pub(crate) fn of(lines: &[&[u8]]) -> Option<Self> {
        let kinds = [Kind::Docker, Kind::Kubernetes, Kind::Compose];
        let kind = kinds.into_iter().find(|kind| {
            let with = lines.iter().filter(|line| kind.is_around(line)).count();
            with > 0 && with * 10 >= lines.len() * 9
        })?;
        Some(Self { kind, streams: Default::default(), inner: Inner::Around(0..0), came_at: None })
    }

    /// Opens a line, which [`line`](Self::line) then gives.
    pub(crate) fn open(&mut self, around: &[u8]) -> Result<(), Skip> {
        self.came_at = None;
        match self.kind {
            Kind::Compose => {
                let start = compose(around).unwrap_or(0);
                self.inner = Inner::Around(start..around.len());
                Ok(())
            }
            Kind::Kubernetes => {
                let Some((stamp, source, is_part, start)) = kubernetes(around) else {
                    self.inner = Inner::Around(0..around.len());
                    return Ok(());
                };
                self.came_at = Some(stamp);
                let text = around.get(start..).unwrap_or_default();
                if !is_part && !self.stream(source).is_joining {
                    self.inner = Inner::Around(start..around.len());
                    return Ok(());
                }
                self.join(source, text, is_part)
            }
            Kind::Docker => {
                let Ok(DockerLine { log, stream, time }) = serde_json::from_slice(around) else {
                    self.inner = Inner::Around(0..around.len());
                    return Ok(());
                };
                self.came_at = time::read_any(time.as_bytes(), crate::options::TimeUnit::Auto);
                let (text, is_part) = match log.strip_suffix('\n') {
                    Some(line) => (line.strip_suffix('\r').unwrap_or(line), false),
                    None => (&*log, log.len() >= DOCKER_PART),
                };
                let source = if stream == "stderr" { Source::Stderr } else { Source::Stdout };
                self.join(source, text.as_bytes(), is_part)
            }
        }
    }

    fn stream(&mut self, source: Source) -> &mut Stream {
        let [stdout, stderr] = &mut self.streams;
        match source {
            Source::Stdout => stdout,
            Source::Stderr => stderr,
        }
    }

    /// Adds a part to the line of its stream; all of it is there with the last one.
    fn join(&mut self, source: Source, text: &[u8], is_part: bool) -> Result<(), Skip> {
        self.inner = Inner::Joined(source);
        let stream = self.stream(source);
        if !stream.is_joining {
            stream.joined.clear();
        }
        stream.is_joining = is_part;
        let room = MAX_LINE.saturating_sub(stream.joined.len());
        stream.joined.extend_from_slice(text.get(..room).unwrap_or(text));
        if is_part { Err(Skip::Partial) } else { Ok(()) }
    }

    /// The line that was opened last.
    pub(crate) fn line<'a>(&'a self, around: &'a [u8]) -> &'a [u8] {
        let [stdout, stderr] = &self.streams;
        match &self.inner {
            Inner::Around(inner) => around.get(inner.clone()).unwrap_or_default(),
            Inner::Joined(Source::Stdout) => &stdout.joined,
            Inner::Joined(Source::Stderr) => &stderr.joined,
        }
    }

    /// When the runtime got the line that was opened last, if it says so.
    pub(crate) fn came_at(&self) -> Option<Stamp> {
        self.came_at
    }
}

impl Kind {
    fn is_around(self, line: &[u8]) -> bool {
        match self {
            Self::Docker => {
                line.starts_with(b"{\"log\":\"") && serde_json::from_slice::<DockerLine<'_>>(line).is_ok()
            }
            Self::Kubernetes => kubernetes(line).is_some(),
            Self::Compose => compose(line).is_some(),
        }
    }
}

/// The time of a line, its stream, whether it is a part of one, and where its text begins.
fn kubernetes(line: &[u8]) -> Option<(Stamp, Source, bool, usize)> {
    let time = memchr(b' ', line.get(..40).unwrap_or(line))?;
    let rest = line.get(time + 1..)?;
    let (source, rest) = match rest.split_first_chunk::<7>()? {
        (b"stdout ", rest) => (Source::Stdout, rest),
        (b"stderr ", rest) => (Source::Stderr, rest),
        _ => return None,
    };
    // Tags have colons between; the first tells whether the line is whole.
    let is_part = match rest.first()? {
        b'F' => false,
        b'P' => true,
        _ => return None,
    };
    let tags = memchr(b' ', rest).filter(|tags| *tags == 1 || rest.get(1) == Some(&b':'))?;
    let stamp = time::read_zoned(line.get(..time)?)?;
    Some((stamp, source, is_part, line.len() - rest.len() + tags + 1))
}

/// Where the text begins after the name of a service.
fn compose(line: &[u8]) -> Option<usize> {
    let bar = memmem::find(line.get(..80).unwrap_or(line), b" | ")?;
    let name = line.get(..bar)?.trim_ascii_end();
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    (!name.is_empty() && name.iter().all(is_name)).then_some(bar + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(lines: &[&str]) -> Vec<String> {
        let bytes: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        let mut envelope = Envelope::of(&bytes).unwrap();
        bytes
            .iter()
            .map(|line| match envelope.open(line) {
                Ok(()) => String::from_utf8_lossy(envelope.line(line)).into_owned(),
                Err(skip) => format!("({skip})"),
            })
            .collect()
    }

    #[test]
    fn what_is_around_a_line_is_taken_off() {
        let docker =
            |log: &str| format!("{{\"log\":{log},\"stream\":\"stdout\",\"time\":\"2016-10-06T00:17:09Z\"}}");
        assert_eq!(
            opened(&[&docker("\"a \\\"b\\\"\\n\""), &docker("\"c\\r\\n\""), &docker("\"d\"")]),
            ["a \"b\"", "c", "d"]
        );
        let kubernetes = "2016-10-06T00:17:09.669794202Z stdout F a b";
        assert_eq!(opened(&[kubernetes, "2016-10-06T00:17:09+02:00 stderr F:x "]), ["a b", ""]);
        assert_eq!(opened(&["caddy-1  | a | b", "db | c"]), ["a | b", "c"]);
    }

    #[test]
    fn the_parts_of_a_long_line_are_joined() {
        let lines = ["P a", "P b", "F c", "F d"].map(|line| format!("2016-10-06T00:17:09Z stdout {line}"));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(opened(&lines), ["(partial)", "(partial)", "abc", "d"]);
        let long = "x".repeat(DOCKER_PART);
        let lines = [long.as_str(), "y\\n"]
            .map(|log| format!("{{\"log\":\"{log}\",\"time\":\"2016-10-06T00:17:09Z\"}}"));
        assert_eq!(opened(&[&lines[0], &lines[1]]), ["(partial)".to_string(), format!("{long}y")]);
    }

    #[test]
    fn other_lines_are_left_as_they_are() {
        for line in [
            "a b c",
            "{\"log\":1}",
            "2016-10-06T00:17:09Z stdout x",
            "a | ",
            "192.0.2.1 - - [x] \"GET / | \"",
            "",
        ] {
            assert!(Envelope::of(&[line.as_bytes()]).is_none_or(|_| line == "a | "), "{line}");
        }
        assert!(Envelope::of(&[]).is_none());
    }

    #[test]
    fn a_line_without_end_is_held_to_its_bound() {
        let part = format!("2016-10-06T00:17:09Z stdout P {}", "x".repeat(MAX_LINE / 2 + 1));
        let mut envelope = Envelope::of(&[part.as_bytes()]).unwrap();
        for _ in 0..5 {
            assert_eq!(envelope.open(part.as_bytes()), Err(Skip::Partial));
        }
        assert_eq!(envelope.streams[0].joined.len(), MAX_LINE);
    }
}
