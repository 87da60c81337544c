//! An event, and the account of the lines that became none.

use crate::format::redacted;
use floodmark::Timestamp;
use std::collections::BTreeMap;
use std::fmt;

/// `n` units on `key` at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The key's bytes; any bytes, not only UTF-8.
    pub key: &'a [u8],
    /// Units; 1 where the format has no weight.
    pub n: u64,
    /// When, by the line itself; for bare keys, when the line came.
    pub at: Timestamp,
    /// How many digits of a second the line's time has, 0 to 9.
    pub digits: u8,
    /// Who is behind it, as far as that was asked for.
    pub details: Details<'a>,
}

/// The fields of an event that tell who is behind its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Details<'a>(&'a [u8]);

impl<'a> Details<'a> {
    /// From what [`text`](Self::text) gave.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self(text)
    }

    /// All of them as bytes, to be kept: the names and values, each after its length.
    #[must_use]
    pub fn text(self) -> &'a [u8] {
        self.0
    }

    /// Appends a field to a text.
    pub(crate) fn push(name: &str, value: &[u8], text: &mut Vec<u8>) {
        for part in [name.as_bytes(), value] {
            text.extend_from_slice(&(part.len() as u32).to_le_bytes());
            text.extend_from_slice(part);
        }
    }
}

/// The names and values of the fields that the line has.
impl<'a> Iterator for Details<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let mut part = || {
            let (length, rest) = self.0.split_first_chunk()?;
            let (part, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            self.0 = rest;
            Some(part)
        };
        Some((part()?, part()?))
    }
}

/// Why a line is no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Skip {
    /// Nothing but white space.
    Blank,
    /// The names of the columns.
    Header,
    /// Not of the format.
    Malformed,
    /// Its time cannot be read.
    BadTime,
    /// It lacks the key: the client is `-`, or the field is empty.
    NoKey,
    /// Its weight is not a whole number.
    BadNumber,
    /// Longer than 1 MiB, in a format whose end matters.
    TooLong,
    /// A command that is not known, so neither are its keys.
    UnknownCommand,
    /// The first part of a line that a container's runtime has split; its last part has it all.
    Partial,
    /// Of its nature it has no key: a command without one, a message that names no client.
    Keyless,
    /// A command that a script called.
    Lua,
    /// Of another program.
    OtherProgram,
    /// Not what a condition asks for.
    Filtered,
    /// Before or after the time that is asked for.
    Outside,
}

impl Skip {
    /// The reason's name, as it stands in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blank => "blank",
            Self::Header => "header",
            Self::Malformed => "malformed",
            Self::BadTime => "bad_time",
            Self::NoKey => "no_key",
            Self::BadNumber => "bad_number",
            Self::TooLong => "too_long",
            Self::UnknownCommand => "unknown_command",
            Self::Partial => "partial",
            Self::Keyless => "keyless",
            Self::Lua => "lua",
            Self::OtherProgram => "other_program",
            Self::Filtered => "filtered",
            Self::Outside => "outside",
        }
    }

    /// A sound input has such lines too, or they were not asked for.
    #[must_use]
    pub const fn is_harmless(self) -> bool {
        !matches!(
            self,
            Self::Malformed
                | Self::BadTime
                | Self::NoKey
                | Self::BadNumber
                | Self::TooLong
                | Self::UnknownCommand
        )
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A line that was skipped, or read although it is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The input's name.
    pub path: String,
    /// Its number in the input, from 1.
    pub line: u64,
    /// Why.
    pub skip: Skip,
    /// The line, at most its first 400 bytes.
    pub text: Vec<u8>,
}

/// The account of all lines: `lines = matched + the sum of skipped`.
///
/// `events` equals `matched` in all formats but Redis MONITOR, where a command with several keys is as many events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Lines read.
    pub lines: u64,
    /// Lines that became events.
    pub matched: u64,
    /// Events.
    pub events: u64,
    /// The sum of the events' units.
    pub units: u64,
    /// Events whose line is cut or otherwise broken after its time.
    pub damaged: u64,
    /// Lines that became no events, by reason.
    pub skipped: BTreeMap<Skip, u64>,
    /// The first few of them, as many as were asked for.
    pub examples: Vec<Example>,
    /// The earliest time of an event.
    pub first: Option<Timestamp>,
    /// The latest time of an event.
    pub last: Option<Timestamp>,
}

impl Tally {
    /// Counts a line and its first event.
    #[inline]
    pub(crate) fn count(&mut self, n: u64, at: Timestamp, is_damaged: bool) {
        self.matched += 1;
        self.damaged += u64::from(is_damaged);
        self.count_more(n, at);
    }

    /// Counts a further event of the same line.
    #[inline]
    pub(crate) fn count_more(&mut self, n: u64, at: Timestamp) {
        self.events += 1;
        self.units = self.units.saturating_add(n);
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
    }

    pub(crate) fn skip(&mut self, skip: Skip, path: &str, line: &[u8], examples: usize) {
        *self.skipped.entry(skip).or_default() += 1;
        if self.examples.len() < examples && !skip.is_harmless() {
            let text = redacted(line.get(..400).unwrap_or(line)).into_owned();
            self.examples.push(Example { path: path.into(), line: self.lines, skip, text });
        }
    }

    /// Lines that became no events and should have.
    #[must_use]
    pub fn faulty(&self) -> u64 {
        self.skipped.iter().filter(|(skip, _)| !skip.is_harmless()).map(|(_, n)| n).sum()
    }

    pub(crate) fn add(&mut self, other: Self, examples: usize) {
        self.lines += other.lines;
        self.matched += other.matched;
        self.events += other.events;
        self.units = self.units.saturating_add(other.units);
        self.damaged += other.damaged;
        for (skip, n) in other.skipped {
            *self.skipped.entry(skip).or_default() += n;
        }
        self.examples.extend(other.examples);
        self.examples.truncate(examples);
        self.first = [self.first, other.first].into_iter().flatten().min();
        self.last = [self.last, other.last].into_iter().flatten().max();
    }
}
