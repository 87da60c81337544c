//! One file per family of formats; each finds the fields of a line.

mod access;
mod json;
mod keys;
mod monitor;
mod pattern;
mod sshd;
mod table;

use crate::choice::Condition;
use crate::error::Error;
use crate::event::Skip;
use crate::options::Options;
use crate::time::Stamp;
use access::Access;
use json::Json;
use keys::Keys;
use monitor::Monitor;
pub(crate) use monitor::redacted;
pub use pattern::Pattern;
use pattern::Patterned;
use sshd::Sshd;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use table::Table;

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
    /// What Redis prints to those who MONITOR it.
    Monitor,
    /// What sshd writes to syslog.
    Sshd,
    /// One JSON object per line.
    Json,
    /// Values with commas between, under a first line of names.
    Csv,
    /// Values with tabs between, under a first line of names.
    Tsv,
    /// As [`Options::pattern`] says; never told from the lines.
    Pattern,
    /// `time key [n]`, or keys alone, which are stamped as they come.
    Keys,
}

impl Format {
    /// Every format, in the order in which they are tried.
    pub const ALL: [Self; 10] = [
        Self::Combined,
        Self::Common,
        Self::Vhost,
        Self::Monitor,
        Self::Sshd,
        Self::Json,
        Self::Tsv,
        Self::Csv,
        Self::Pattern,
        Self::Keys,
    ];

    /// Its name, as it is typed and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Common => "common",
            Self::Combined => "combined",
            Self::Vhost => "vhost",
            Self::Monitor => "monitor",
            Self::Sshd => "sshd",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Pattern => "pattern",
            Self::Keys => "keys",
        }
    }

    /// Its first line names its columns.
    pub(crate) const fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv)
    }

    /// Its lines can be told from those of other formats: any line can be a key.
    pub(crate) const fn has_own_lines(self) -> bool {
        !matches!(self, Self::Keys)
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

/// A field of a format, by its place in a list that the format keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field(pub(crate) usize);

/// What a line says, its fields apart.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    pub(crate) n: u64,
    pub(crate) stamp: Stamp,
    pub(crate) is_damaged: bool,
    /// So many events more than one are in this line.
    pub(crate) more: usize,
}

/// Where a field's bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the line itself.
    Line(Range<usize>),
    /// In the format's own buffer, because they had to be rewritten.
    Scratch,
}

/// A way to write lines. Every format is one file, or folder, with these functions.
pub(crate) trait Lines {
    /// The field of that name, if the format has one. Asked when an input is set up, so a format knows from then on
    /// what it will be asked for.
    fn field(&mut self, name: &str) -> Option<Field>;

    /// The names of its fields, for people.
    fn known(&self) -> String;

    /// The field that is the key unless another is asked for; empty if there is none.
    fn usual_key(&self) -> &str;

    /// What a line must say unless other values of that field are asked for.
    fn usual_conditions(&self) -> Vec<Condition> {
        Vec::new()
    }

    /// The fields that tell who is behind a key, the most telling first.
    fn usual_details(&self) -> &'static [&'static str];

    /// When the next line came, by whatever brought it: the time of a line that has none.
    fn came_at(&mut self, _at: Option<Stamp>) {}

    /// Reads one line that is not blank. `is_cut`: its end is missing.
    fn find(&mut self, line: &[u8], is_cut: bool) -> Result<Found, Skip>;

    /// Goes to the next event of the line, of those that [`Found::more`] announced.
    fn next(&mut self, _line: &[u8]) {}

    /// The time alone; of some lines that are no events too.
    fn stamp(&mut self, line: &[u8]) -> Option<Stamp> {
        self.find(line, false).ok().map(|found| found.stamp)
    }

    /// A field of the line that was read last; `None` if the line lacks it. The scratch is valid until the next call.
    fn place(&mut self, field: Field, line: &[u8]) -> Option<Place>;

    /// What the last `place` had to rewrite.
    fn scratch(&self) -> &[u8];
}

/// A format, set up for one input.
#[derive(Clone, Debug)]
pub(crate) enum AnyLines {
    Access(Access),
    Monitor(Monitor),
    Sshd(Sshd),
    Json(Json),
    Table(Table),
    /// It is twice as large as the next.
    Patterned(Box<Patterned>),
    Keys(Keys),
}

/// Calls the same function of whichever format it is.
macro_rules! each {
    ($any:expr, $lines:ident => $call:expr) => {
        match $any {
            AnyLines::Access($lines) => $call,
            AnyLines::Monitor($lines) => $call,
            AnyLines::Sshd($lines) => $call,
            AnyLines::Json($lines) => $call,
            AnyLines::Table($lines) => $call,
            AnyLines::Patterned($lines) => $call,
            AnyLines::Keys($lines) => $call,
        }
    };
}

impl AnyLines {
    /// `lines` are the input's first ones, without blank ones; `path` is its name in errors.
    pub(crate) fn new(format: Format, lines: &[&[u8]], path: &str, options: &Options) -> Result<Self, Error> {
        let first = lines.first().copied().unwrap_or_default();
        match format {
            Format::Common | Format::Combined | Format::Vhost => {
                Ok(Self::Access(Access::new(format, options)))
            }
            Format::Monitor => Ok(Self::Monitor(Monitor::new(options))),
            Format::Sshd => Ok(Self::Sshd(Sshd::new(options))),
            Format::Json => Json::new(lines, path, options).map(Self::Json),
            Format::Csv => Table::new(b',', first, path, options).map(Self::Table),
            Format::Tsv => Table::new(b'\t', first, path, options).map(Self::Table),
            Format::Pattern => {
                Patterned::new(lines, path, options).map(|lines| Self::Patterned(Box::new(lines)))
            }
            Format::Keys => Ok(Self::Keys(Keys::new(lines, options))),
        }
    }

    pub(crate) fn format(&self) -> Format {
        match self {
            Self::Access(access) => access.format(),
            Self::Monitor(_) => Format::Monitor,
            Self::Sshd(_) => Format::Sshd,
            Self::Json(_) => Format::Json,
            Self::Table(table) => table.format(),
            Self::Patterned(_) => Format::Pattern,
            Self::Keys(_) => Format::Keys,
        }
    }

    /// Lines are keys alone.
    pub(crate) fn is_bare(&self) -> bool {
        matches!(self, Self::Keys(keys) if keys.is_bare())
    }

    pub(crate) fn bytes<'a>(&'a self, place: &Place, line: &'a [u8]) -> &'a [u8] {
        match place {
            Place::Line(range) => line.get(range.clone()).unwrap_or_default(),
            Place::Scratch => self.scratch(),
        }
    }
}

impl Lines for AnyLines {
    fn field(&mut self, name: &str) -> Option<Field> {
        each!(self, lines => lines.field(name))
    }

    fn known(&self) -> String {
        each!(self, lines => lines.known())
    }

    fn usual_key(&self) -> &str {
        each!(self, lines => lines.usual_key())
    }

    fn usual_conditions(&self) -> Vec<Condition> {
        each!(self, lines => lines.usual_conditions())
    }

    fn usual_details(&self) -> &'static [&'static str] {
        each!(self, lines => lines.usual_details())
    }

    fn came_at(&mut self, at: Option<Stamp>) {
        each!(self, lines => lines.came_at(at));
    }

    #[inline]
    fn find(&mut self, line: &[u8], is_cut: bool) -> Result<Found, Skip> {
        each!(self, lines => lines.find(line, is_cut))
    }

    fn next(&mut self, line: &[u8]) {
        each!(self, lines => lines.next(line));
    }

    fn stamp(&mut self, line: &[u8]) -> Option<Stamp> {
        each!(self, lines => lines.stamp(line))
    }

    #[inline]
    fn place(&mut self, field: Field, line: &[u8]) -> Option<Place> {
        each!(self, lines => lines.place(field, line))
    }

    #[inline]
    fn scratch(&self) -> &[u8] {
        each!(self, lines => lines.scratch())
    }
}
