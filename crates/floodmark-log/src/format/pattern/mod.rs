//! Formats of the user's own: a regular expression, or what stands in the configuration of nginx or Apache.
//!
//! A format of a server is no regular expression here: its variables are found one after the other, which is faster,
//! and tells a line that is cut from one of another kind.

mod log_format;
mod names;
mod scan;
mod when;

use super::{Field, Found, Lines, Place};
use crate::address;
use crate::error::Error;
use crate::event::Skip;
use crate::options::Options;
use log_format::Variable;
use names::{Name, Part};
use regex::bytes::{CaptureLocations, Regex, RegexBuilder};
use scan::{Reach, Scanner};
use std::ops::Range;
use std::str::FromStr;
use when::When;

/// How lines are written, in the user's own words.
///
/// In text one of three, told apart by what they look like: a regular expression with named groups
/// (`(?<ip>\S+) \[(?<time>[^\]]+)\]`), nginx's `log_format` (`$remote_addr - [$time_local]`), or Apache's `LogFormat`
/// (`%h %l %u %t`); the last two with or without the directive around them.
#[derive(Clone, Debug)]
pub struct Pattern {
    kind: Kind,
    variables: Vec<Variable>,
}

#[derive(Clone, Debug)]
enum Kind {
    Scan(Scanner),
    /// The expression, and the number of the group that is each variable's.
    Regex(Regex, Vec<usize>),
}

/// A compiled expression takes no more memory than this.
const REGEX_BYTES: usize = 4 << 20;
/// So often is the variable before a time read anew where the time cannot be read.
const EXTRA: usize = 4;

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains("(?<") || text.contains("(?P<") {
            return Self::regex(text);
        }
        let server = log_format::server(text).ok_or_else(|| {
            "it has no fields: say a regular expression with groups as (?<ip>\\S+) and (?<time>...), or a format as it \
             stands in the configuration of nginx ($remote_addr [$time_local]) or Apache (%h %t)"
                .to_string()
        })?;
        let parts = log_format::parts(text, server)?;
        let scanner = Scanner::new(&parts)?;
        let variables = parts.into_iter().filter_map(|part| match part {
            log_format::Part::Literal(_) => None,
            log_format::Part::Variable(variable) => Some(variable),
        });
        Ok(Self { kind: Kind::Scan(scanner), variables: variables.collect() })
    }
}

impl Pattern {
    fn regex(text: &str) -> Result<Self, String> {
        let build = |is_unicode| {
            RegexBuilder::new(text)
                .unicode(is_unicode)
                .size_limit(REGEX_BYTES)
                .dfa_size_limit(REGEX_BYTES)
                .build()
        };
        // Bytes are faster than letters; an expression may need letters all the same.
        let regex = build(false).or_else(|_| build(true)).map_err(|error| error.to_string())?;
        let (mut groups, mut variables) = (Vec::new(), Vec::new());
        for (group, name) in regex.capture_names().enumerate() {
            let Some(name) = name else { continue };
            groups.push(group);
            variables.push(Variable { name: name.into(), typed: name.into(), time: None });
        }
        if groups.is_empty() {
            return Err(
                "the expression has no named groups: name its fields as (?<ip>\\S+) and (?<time>...)".into(),
            );
        }
        Ok(Self { kind: Kind::Regex(regex, groups), variables })
    }
}

/// A pattern, set up for one input.
#[derive(Clone, Debug)]
pub(crate) struct Patterned {
    kind: Kind,
    captures: Option<CaptureLocations>,
    variables: Vec<Variable>,
    names: Vec<Name>,
    usual_key: String,
    when: When,
    weight: Option<usize>,
    /// Of the line that was read last, the place of each variable; an empty one is none.
    places: Vec<Range<usize>>,
    scratch: Vec<u8>,
}

impl Patterned {
    /// `lines` are the input's first ones: if the pattern fits none of them, it is the wrong one.
    pub(crate) fn new(lines: &[&[u8]], path: &str, options: &Options) -> Result<Self, Error> {
        let Some(Pattern { kind, variables }) = options.pattern.clone() else { return Err(Error::NoPattern) };
        let names = names::names(variables.iter().map(|variable| variable.name.as_str()));
        let when = When::new(&variables, options).map_err(|why| Error::BadPattern { why })?;
        let known = || names.iter().map(|name| name.name.as_str()).collect::<Vec<_>>().join(", ");
        let weight = options.weight.as_deref().unwrap_or("n");
        let weight = variables.iter().position(|variable| variable.name == weight);
        if let (Some(name), None) = (&options.weight, weight) {
            let path = format!("{path} (pattern)");
            return Err(Error::UnknownField { path, name: name.clone(), known: known() });
        }
        let first = variables.iter().enumerate().find(|(slot, _)| !when.has(*slot));
        let usual = ["ip", "key"].into_iter().find(|usual| names.iter().any(|name| name.name == *usual));
        let usual_key =
            usual.or(first.map(|(_, variable)| variable.name.as_str())).unwrap_or_default().to_string();
        let captures = match &kind {
            Kind::Scan(_) => None,
            Kind::Regex(regex, _) => Some(regex.capture_locations()),
        };
        let (places, scratch) = (vec![0..0; variables.len()], Vec::new());
        let patterned = Self { kind, captures, variables, names, usual_key, when, weight, places, scratch };
        patterned.clone().check(lines, path)?;
        Ok(patterned)
    }

    /// Whether any of the lines can be read; what is wrong with the first, if none can.
    fn check(&mut self, lines: &[&[u8]], path: &str) -> Result<(), Error> {
        if lines.is_empty() || lines.iter().any(|line| self.find(line, false).is_ok()) {
            return Ok(());
        }
        let error = |why| Error::Unmatched { path: path.into(), why };
        for line in lines {
            if matches!(self.find(line, false), Err(Skip::BadTime)) {
                let time = self.when.shown(line, &self.places);
                return Err(error(format!(
                    "it cannot be read when a line was written, such as {time}: say how that is written, as \
                     --time-format '%Y-%m-%d %H:%M:%S'"
                )));
            }
        }
        let first = lines.first().copied().unwrap_or_default();
        let shown =
            |text: &[u8]| format!("{:?}", String::from_utf8_lossy(text).chars().take(80).collect::<String>());
        let Reach::Until(variable, at) = self.locate(first, 0) else {
            return Err(error(format!(
                "it has no lines with units, such as {}: --weight is a whole number",
                shown(first)
            )));
        };
        let whole = shown(first);
        if matches!(self.kind, Kind::Regex(..)) {
            return Err(error(format!(
                "the pattern fits none of its first lines, such as {whole}: make it fit that one"
            )));
        }
        let wanted = self.variables.get(variable).map_or("", |variable| &variable.typed);
        let (reached, rest) = first.split_at_checked(at).unwrap_or((first, &[]));
        let reached = if reached.is_empty() {
            format!("it begins otherwise than the pattern, which wanted {wanted}")
        } else {
            // The end tells where.
            let tail = reached.len().saturating_sub(60);
            let reached = shown(reached.get(tail..).unwrap_or_default());
            format!(
                "matched up to {reached}, then wanted {wanted} and what follows it, and there is {}",
                shown(rest)
            )
        };
        Err(error(format!("the pattern fits none of its first lines, such as {whole}: {reached}")))
    }

    /// Finds the places of the variables.
    #[inline]
    fn locate(&mut self, line: &[u8], extra: usize) -> Reach {
        // A line may be wrapped in quotes as a whole.
        let starts_with_quote = match &self.kind {
            Kind::Scan(scanner) => scanner.starts_with_quote(),
            Kind::Regex(..) => true,
        };
        if !starts_with_quote && line.len() > 1 && line.starts_with(b"\"") && line.ends_with(b"\"") {
            let reach = self.locate_in(line, 1..line.len() - 1, extra);
            if reach == Reach::Whole {
                return reach;
            }
        }
        self.locate_in(line, 0..line.len(), extra)
    }

    #[inline]
    fn locate_in(&mut self, line: &[u8], range: Range<usize>, extra: usize) -> Reach {
        match (&self.kind, &mut self.captures) {
            (Kind::Scan(scanner), _) => scanner.scan(line, range, extra, &mut self.places),
            (Kind::Regex(regex, groups), Some(captures)) => {
                if regex.captures_read(captures, line).is_none() {
                    self.places.fill(0..0);
                    return Reach::Until(0, 0);
                }
                for (place, group) in self.places.iter_mut().zip(groups) {
                    *place = captures.get(*group).map_or(0..0, |(start, end)| start..end);
                }
                Reach::Whole
            }
            (Kind::Regex(..), None) => Reach::Until(0, 0),
        }
    }
}

impl Lines for Patterned {
    fn field(&mut self, name: &str) -> Option<Field> {
        self.names.iter().position(|known| known.name == name).map(Field)
    }

    fn known(&self) -> String {
        self.names.iter().map(|name| name.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn usual_key(&self) -> &str {
        &self.usual_key
    }

    fn usual_details(&self) -> &'static [&'static str] {
        &["ip", "path", "agent"]
    }

    #[inline]
    fn find(&mut self, line: &[u8], is_cut: bool) -> Result<Found, Skip> {
        if is_cut && self.captures.is_some() {
            return Err(Skip::TooLong);
        }
        let mut reach = self.locate(line, 0);
        if !self.when.is_in(&self.places) {
            return Err(if reach == Reach::Whole { Skip::BadTime } else { Skip::Malformed });
        }
        let mut stamp = self.when.read(line, &self.places);
        // What a client can choose, its user name for one, may hold what ends it.
        let mut extra = 0;
        while stamp.is_none() && extra < EXTRA && self.captures.is_none() {
            extra += 1;
            reach = self.locate(line, extra);
            if !self.when.is_in(&self.places) {
                break;
            }
            stamp = self.when.read(line, &self.places);
        }
        let Some(stamp) = stamp else {
            // For whoever is told of it.
            self.locate(line, 0);
            return Err(Skip::BadTime);
        };
        let n = match self.weight {
            None => 1,
            Some(slot) => {
                let place = self.places.get(slot).cloned().unwrap_or_default();
                match line.get(place).unwrap_or_default().trim_ascii() {
                    // No bytes were sent, says Apache.
                    b"-" => 0,
                    text => {
                        let text = std::str::from_utf8(text).ok();
                        text.and_then(|text| text.parse().ok()).ok_or(Skip::BadNumber)?
                    }
                }
            }
        };
        if is_cut && let Some(last) = self.places.last_mut() {
            // Nobody knows where it would have ended.
            *last = 0..0;
        }
        Ok(Found { n, stamp, is_damaged: is_cut || reach != Reach::Whole, more: 0 })
    }

    #[inline]
    fn place(&mut self, field: Field, line: &[u8]) -> Option<Place> {
        let name = self.names.get(field.0)?;
        let place = name.part.of(line, self.places.get(name.slot)?.clone())?;
        let text = line.get(place.clone())?;
        if matches!(text, b"" | b"-") {
            return None;
        }
        let is_rewritten = name.part == Part::Address
            && memchr::memchr(b':', text).is_some()
            && address::normalize(text, &mut self.scratch);
        Some(if is_rewritten { Place::Scratch } else { Place::Line(place) })
    }

    fn scratch(&self) -> &[u8] {
        &self.scratch
    }
}

#[cfg(test)]
mod tests;
