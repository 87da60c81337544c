//! A format, set up for one input, and what of its lines is asked for.

use crate::choice::{Choice, Chosen};
use crate::envelope::Envelope;
use crate::error::Error;
use crate::event::{Details, Skip};
use crate::format::{AnyLines, Field, Format, Found, Lines, Place};
use crate::options::Options;
use crate::time::Stamp;

/// Lines to events, of one input.
#[derive(Clone, Debug)]
pub(crate) struct Parser {
    /// What is around every line.
    envelope: Option<Box<Envelope>>,
    lines: AnyLines,
    choice: Choice,
    /// The key, where nothing else of a line is to be looked at.
    plain: Option<Field>,
    found: Found,
}

/// A line that is an event.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) key: Chosen,
    pub(crate) n: u64,
    pub(crate) stamp: Stamp,
    pub(crate) is_damaged: bool,
    /// The line has further events.
    pub(crate) has_more: bool,
}

impl Default for Parsed {
    fn default() -> Self {
        let (n, stamp) = Default::default();
        Self { key: Chosen::Assembled, n, stamp, is_damaged: false, has_more: false }
    }
}

impl Parser {
    /// `lines` are the input's first ones, without blank ones; `path` is its name in errors.
    pub(crate) fn new(format: Format, lines: &[&[u8]], path: &str, options: &Options) -> Result<Self, Error> {
        let mut lines = AnyLines::new(format, lines, path, options)?;
        let choice = Choice::new(&mut lines, path, options)?;
        let plain = choice.plain();
        Ok(Self { envelope: None, lines, choice, plain, found: Found::default() })
    }

    /// The same, of lines that are inside something.
    pub(crate) fn within(self, envelope: Envelope) -> Self {
        Self { envelope: Some(Box::new(envelope)), ..self }
    }

    /// What to say where no line has the usual key.
    pub(crate) fn without_key(&self, path: &str) -> Error {
        Error::NoColumn { path: path.into(), what: "key", known: self.lines.known() }
    }

    pub(crate) fn format(&self) -> Format {
        self.lines.format()
    }

    /// Lines are keys alone.
    pub(crate) fn is_bare(&self) -> bool {
        self.lines.is_bare()
    }

    /// Reads one line, up to its first event. `is_cut`: its end is missing.
    #[inline]
    pub(crate) fn parse(&mut self, line: &[u8], is_cut: bool) -> Result<Parsed, Skip> {
        if line.first().is_none_or(u8::is_ascii_whitespace) && line.trim_ascii().is_empty() {
            return Err(Skip::Blank);
        }
        if self.envelope.is_some() {
            return self.parse_inner(line, is_cut);
        }
        let found = self.lines.find(line, is_cut)?;
        let Some(field) = self.plain.filter(|_| found.more == 0) else {
            self.found = found;
            return choose_first(&mut self.choice, &mut self.lines, line, &mut self.found);
        };
        let key = Chosen::Field(self.lines.place(field, line).ok_or(Skip::NoKey)?);
        Ok(Parsed { key, n: found.n, stamp: found.stamp, is_damaged: found.is_damaged, has_more: false })
    }

    #[inline(never)]
    fn parse_inner(&mut self, around: &[u8], is_cut: bool) -> Result<Parsed, Skip> {
        let Some(envelope) = &mut self.envelope else { return Err(Skip::Malformed) };
        envelope.open(around)?;
        let line = envelope.line(around);
        if line.trim_ascii().is_empty() {
            return Err(Skip::Blank);
        }
        self.lines.came_at(envelope.came_at());
        self.found = self.lines.find(line, is_cut)?;
        choose_first(&mut self.choice, &mut self.lines, line, &mut self.found)
    }

    /// Reads the next event of the same line; what is wrong with it is wrong with the line.
    pub(crate) fn parse_next(&mut self, line: &[u8]) -> Result<Parsed, Skip> {
        self.found.more = self.found.more.saturating_sub(1);
        let line = inner(&self.envelope, line);
        self.lines.next(line);
        choose(&mut self.choice, &mut self.lines, line, &self.found)
    }

    /// The line that was read last has further events.
    pub(crate) fn has_more(&self) -> bool {
        self.found.more > 0
    }

    /// Reads the time alone; of some lines that are no events too.
    pub(crate) fn stamp(&mut self, line: &[u8]) -> Option<Stamp> {
        if let Some(envelope) = &mut self.envelope {
            envelope.open(line).ok()?;
            self.lines.came_at(envelope.came_at());
        }
        let line = inner(&self.envelope, line);
        if line.is_empty() { None } else { self.lines.stamp(line) }
    }

    /// The bytes of the key that was found last.
    #[inline]
    pub(crate) fn key<'a>(&'a self, key: &Chosen, line: &'a [u8]) -> &'a [u8] {
        let line = inner(&self.envelope, line);
        match key {
            Chosen::Field(Place::Line(range)) => line.get(range.clone()).unwrap_or_default(),
            Chosen::Field(Place::Scratch) => self.lines.scratch(),
            Chosen::Assembled => self.choice.key(),
        }
    }

    /// The details of the event that was found last.
    #[inline]
    pub(crate) fn details(&self) -> Details<'_> {
        self.choice.details()
    }
}

/// A line without what is around it.
#[inline]
fn inner<'a>(envelope: &'a Option<Box<Envelope>>, line: &'a [u8]) -> &'a [u8] {
    envelope.as_ref().map_or(line, |envelope| envelope.line(line))
}

/// The first event of a line that is chosen; why the last was not, if none is.
#[inline(never)]
fn choose_first(
    choice: &mut Choice,
    lines: &mut AnyLines,
    line: &[u8],
    found: &mut Found,
) -> Result<Parsed, Skip> {
    loop {
        let chosen = choose(choice, lines, line, found);
        if chosen.is_ok() || found.more == 0 {
            return chosen;
        }
        found.more -= 1;
        lines.next(line);
    }
}

fn choose(choice: &mut Choice, lines: &mut AnyLines, line: &[u8], found: &Found) -> Result<Parsed, Skip> {
    let key = choice.choose(lines, line, found)?;
    let Found { n, stamp, is_damaged, more } = *found;
    Ok(Parsed { key, n, stamp, is_damaged, has_more: more > 0 })
}
