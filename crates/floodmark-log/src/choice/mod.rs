//! Which lines are events, and what their key is.

mod condition;
mod forwarded;
mod span;
mod template;

pub use condition::Condition;
pub(crate) use forwarded::Forwarded;
pub use forwarded::private_networks;
pub use span::read_moment;

use crate::error::Error;
use crate::event::{Details, Skip};
use crate::format::{AnyLines, Field, Found, Lines, Place};
use crate::options::Options;
use condition::Check;
use floodmark::Timestamp;
use template::Template;

/// The parts of [`Options`] that are the same for all formats, set up for one input.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    template: Template,
    checks: Vec<(Field, Check)>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    details: Vec<(String, Field)>,
    /// The key that was put together last.
    key: Vec<u8>,
    /// The details that were put together last.
    text: Vec<u8>,
}

impl Choice {
    pub(crate) fn new(lines: &mut AnyLines, path: &str, options: &Options) -> Result<Self, Error> {
        let named = |lines: &mut AnyLines, name: &str| {
            lines.field(name).ok_or_else(|| Error::UnknownField {
                path: match lines.format() {
                    format if format.is_table() => path.into(),
                    format => format!("{path} ({format})"),
                },
                name: name.into(),
                known: lines.known(),
            })
        };
        let usual = lines.usual_key().to_string();
        let key = match &options.key {
            Some(key) => key,
            None if usual.is_empty() => {
                return Err(Error::NoColumn { path: path.into(), what: "key", known: lines.known() });
            }
            None => &usual,
        };
        let template = Template::new(key, &options.trusted, &mut |name| named(lines, name))?;
        let mut checks = Vec::new();
        for condition in &options.conditions {
            checks.push((named(lines, condition.field())?, condition.check()));
        }
        for condition in lines.usual_conditions() {
            if !options.conditions.iter().any(|asked| asked.field() == condition.field()) {
                checks.push((named(lines, condition.field())?, condition.check()));
            }
        }
        let mut details = Vec::new();
        match options.details.as_deref() {
            None => {}
            // What is the same for all events of a key tells nothing.
            Some([]) => {
                let usual = lines.usual_details().iter().filter(|name| !template.has(name));
                details.extend(usual.filter_map(|name| Some(((*name).to_string(), lines.field(name)?))));
            }
            Some(asked) => {
                for name in asked {
                    let field = named(lines, name)?;
                    // What is asked for twice is not there twice.
                    if !details.iter().any(|(known, _)| known == name) {
                        details.push((name.clone(), field));
                    }
                }
            }
        }
        let (since, until) = (options.since, options.until);
        let (key, text) = Default::default();
        Ok(Self { template, checks, since, until, details, key, text })
    }

    /// The field that is the key, where nothing else is to be looked at.
    pub(crate) fn plain(&self) -> Option<Field> {
        let is_plain =
            self.checks.is_empty() && self.since.is_none() && self.until.is_none() && self.details.is_empty();
        self.template.plain().filter(|_| is_plain)
    }

    /// Whether the line that was read last is an event, and its key.
    pub(crate) fn choose(
        &mut self,
        lines: &mut AnyLines,
        line: &[u8],
        found: &Found,
    ) -> Result<Chosen, Skip> {
        let at = found.stamp.at;
        if self.since.is_some_and(|since| at < since) || self.until.is_some_and(|until| at >= until) {
            return Err(Skip::Outside);
        }
        for (field, check) in &self.checks {
            let place = lines.place(*field, line);
            if !check.holds(place.map(|place| lines.bytes(&place, line))) {
                return Err(Skip::Filtered);
            }
        }
        self.text.clear();
        for (name, field) in &self.details {
            if let Some(place) = lines.place(*field, line) {
                Details::push(name, beginning(lines.bytes(&place, line)), &mut self.text);
            }
        }
        match self.template.plain() {
            Some(field) => lines.place(field, line).map(Chosen::Field).ok_or(Skip::NoKey),
            None if self.template.write(lines, line, &mut self.key) => Ok(Chosen::Assembled),
            None => Err(Skip::NoKey),
        }
    }

    /// The key that was put together last.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    /// The details of the event that was chosen last.
    pub(crate) fn details(&self) -> Details<'_> {
        Details::new(&self.text)
    }
}

/// So much of a detail is kept: many are, of many keys.
const DETAIL: usize = 1024;

/// What is kept of a detail; a character of UTF-8 is kept or left out as a whole.
fn beginning(value: &[u8]) -> &[u8] {
    let Some((start, rest)) = value.split_at_checked(DETAIL) else { return value };
    let is_inside = |byte: Option<&u8>| byte.is_some_and(|byte| byte & 0xc0 == 0x80);
    if !is_inside(rest.first()) {
        return start;
    }
    let inside = start.iter().rev().take(3).take_while(|byte| is_inside(Some(byte))).count();
    start.get(..start.len() - inside - 1).unwrap_or(start)
}

/// Where the key of an event is.
#[derive(Clone, Debug)]
pub(crate) enum Chosen {
    Field(Place),
    /// Put together from several.
    Assembled,
}
