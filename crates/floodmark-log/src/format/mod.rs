//! One file per family of formats; each turns a line into the place of its key, its units and its time.

mod access;
mod keys;
mod table;

use crate::error::Error;
use crate::event::Skip;
use crate::time::Stamp;
pub(crate) use access::Access;
pub(crate) use keys::Keys;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
pub(crate) use table::Table;

/// How the lines of an input are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// The Common Log Format of Apache, nginx and others: `client ident user [time] "request" status bytes`.
    Common,
    /// Common, and after it the referer and the user agent, in quotes.
    Combined,
    /// Common or combined after the name of the virtual host.
    Vhost,
    /// Values with commas between, under a first line of names.
    Csv,
    /// Values with tabs between, under a first line of names.
    Tsv,
    /// `time key [n]`, or keys alone, which are stamped as they come.
    Keys,
}

impl Format {
    /// Every format, in the order in which they are tried.
    pub const ALL: [Self; 6] = [Self::Combined, Self::Common, Self::Vhost, Self::Tsv, Self::Csv, Self::Keys];

    /// Its name, as it is typed and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Common => "common",
            Self::Combined => "combined",
            Self::Vhost => "vhost",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Keys => "keys",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            format!("\"{name}\" is not a format: they are {}", Self::ALL.map(Self::name).join(", "))
        })
    }
}

/// The unit of times that are plain numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// By size: seconds below 10^11, then milliseconds, microseconds, nanoseconds.
    #[default]
    Auto,
    /// Seconds since the epoch.
    Seconds,
    /// Milliseconds since the epoch.
    Millis,
    /// Microseconds since the epoch.
    Micros,
    /// Nanoseconds since the epoch.
    Nanos,
}

/// How to read inputs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Left out: told from the first lines.
    pub format: Option<Format>,
    /// Which field is the key. Left out: the client's address of a log, the key of a stream, the column of a table
    /// that is named like one.
    pub key: Option<String>,
    /// The time column of a table. Left out: told from the names.
    pub time: Option<String>,
    /// The column of a table that holds an event's units. Left out: every event is one unit.
    pub weight: Option<String>,
    /// The unit of times that are plain numbers.
    pub time_unit: TimeUnit,
    /// Count a file that is named twice twice.
    pub count_twice: bool,
    /// How many skipped lines to keep as examples.
    pub examples: usize,
}

/// A line that is an event.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) key: Place,
    pub(crate) n: u64,
    pub(crate) stamp: Stamp,
    pub(crate) is_damaged: bool,
}

/// Where a key's bytes are.
#[derive(Clone, Debug, Default)]
pub(crate) enum Place {
    /// In the line itself.
    Line(Range<usize>),
    /// In the parser, because they had to be rewritten.
    #[default]
    Scratch,
}

/// A format, set up for one input.
#[derive(Clone, Debug)]
pub(crate) enum Parser {
    Access(Access),
    Table(Table),
    Keys(Keys),
}

impl Parser {
    /// `first` is the input's first line that is not blank; `path` is its name in errors.
    pub(crate) fn new(format: Format, first: &[u8], path: &str, options: &Options) -> Result<Self, Error> {
        match format {
            Format::Common | Format::Combined | Format::Vhost => {
                Access::new(format, path, options).map(Self::Access)
            }
            Format::Csv => Table::new(b',', first, path, options).map(Self::Table),
            Format::Tsv => Table::new(b'\t', first, path, options).map(Self::Table),
            Format::Keys => Keys::new(first, path, options).map(Self::Keys),
        }
    }

    pub(crate) fn format(&self) -> Format {
        match self {
            Self::Access(access) => access.format(),
            Self::Table(table) => table.format(),
            Self::Keys(_) => Format::Keys,
        }
    }

    /// Reads one line. `is_cut`: its end is missing.
    pub(crate) fn parse(&mut self, line: &[u8], is_cut: bool) -> Result<Parsed, Skip> {
        if line.first().is_none_or(u8::is_ascii_whitespace) && line.trim_ascii().is_empty() {
            return Err(Skip::Blank);
        }
        match self {
            Self::Access(access) => access.parse(line, is_cut),
            _ if is_cut => Err(Skip::TooLong),
            Self::Table(table) => table.parse(line),
            Self::Keys(keys) => keys.parse(line),
        }
    }

    /// Reads the time alone; of some lines that are no events too.
    pub(crate) fn stamp(&mut self, line: &[u8]) -> Option<Stamp> {
        match self {
            Self::Access(access) => access.stamp(line),
            Self::Table(table) => table.parse(line).ok().map(|parsed| parsed.stamp),
            Self::Keys(keys) => keys.parse(line).ok().map(|parsed| parsed.stamp),
        }
    }

    /// The bytes of the key that the last [`parse`](Self::parse) found.
    pub(crate) fn key<'a>(&'a self, place: &Place, line: &'a [u8]) -> &'a [u8] {
        match place {
            Place::Line(range) => line.get(range.clone()).unwrap_or_default(),
            Place::Scratch => match self {
                Self::Access(access) => access.scratch(),
                Self::Table(table) => table.scratch(),
                Self::Keys(_) => &[],
            },
        }
    }
}
