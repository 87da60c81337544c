//! A stream of keys: `time key [n]`, or keys alone.

use super::{Options, Parsed, Place};
use crate::TimeUnit;
use crate::error::Error;
use crate::event::Skip;
use crate::time::{self, Stamp};
use floodmark::{Clock, SystemClock, Timestamp};
use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// Lines are keys alone and are stamped as they come, to the millisecond.
    is_bare: bool,
    unit: TimeUnit,
}

impl Keys {
    /// Whether lines have a time is told from the first one.
    pub(crate) fn new(first: &[u8], path: &str, options: &Options) -> Result<Self, Error> {
        if let Some(name) = options.key.as_ref().filter(|name| *name != "key") {
            return Err(Error::UnknownField {
                path: format!("{path} (keys)"),
                what: "key",
                name: name.clone(),
                known: "key".into(),
            });
        }
        let unit = options.time_unit;
        let is_bare = Self { is_bare: false, unit }.parse(first).is_err();
        Ok(Self { is_bare, unit })
    }

    pub(crate) fn is_bare(&self) -> bool {
        self.is_bare
    }

    pub(crate) fn parse(&self, line: &[u8]) -> Result<Parsed, Skip> {
        if self.is_bare {
            let start = line.len() - line.trim_ascii_start().len();
            let key = Place::Line(start..start + line.trim_ascii().len());
            let millis = SystemClock.now().as_nanos() / 1_000_000;
            let stamp = Stamp { at: Timestamp::from_millis(millis), digits: 3 };
            return Ok(Parsed { key, n: 1, stamp, is_damaged: false });
        }
        let mut rest = 0;
        let (Some(time), Some(key)) = (word(line, &mut rest), word(line, &mut rest)) else {
            return Err(Skip::Malformed);
        };
        let (n, more) = (word(line, &mut rest), word(line, &mut rest));
        if more.is_some() {
            return Err(Skip::Malformed);
        }
        let text = |place: Range<usize>| line.get(place).unwrap_or_default();
        let stamp = time::read_any(text(time), self.unit).ok_or(Skip::BadTime)?;
        let n = match n {
            None => 1,
            Some(n) => {
                std::str::from_utf8(text(n)).ok().and_then(|n| n.parse().ok()).ok_or(Skip::BadNumber)?
            }
        };
        Ok(Parsed { key: Place::Line(key), n, stamp, is_damaged: false })
    }
}

/// The next word between blanks and tabs, from `start` on.
fn word(line: &[u8], start: &mut usize) -> Option<Range<usize>> {
    let is_blank = |b: &u8| matches!(b, b' ' | b'\t');
    let text = line.get(*start..)?;
    let from = *start + text.iter().position(|b| !is_blank(b))?;
    let length = line.get(from..)?.iter().position(is_blank).unwrap_or(line.len() - from);
    *start = from + length;
    Some(from..from + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(first: &str, line: &str, expected: Result<(&str, u64), Skip>) {
        let keys = Keys::new(first.as_bytes(), "test", &Options::default()).unwrap();
        let read = keys.parse(line.as_bytes()).map(|parsed| match parsed.key {
            Place::Line(range) => (line.get(range).unwrap(), parsed.n),
            Place::Scratch => panic!("a key of a stream is in its line"),
        });
        assert_eq!(read, expected, "{line}");
    }

    #[test]
    fn a_time_a_key_and_a_weight_are_words() {
        check("1 a", "5 user:7", Ok(("user:7", 1)));
        check("1 a", "5\tuser:7\t3", Ok(("user:7", 3)));
        check("1 a", "  5  a  0 ", Ok(("a", 0)));
        check("1 a", "2015-05-17T10:05:03Z a", Ok(("a", 1)));
    }

    #[test]
    fn a_line_that_lacks_something_is_skipped_with_its_reason() {
        check("1 a", "5", Err(Skip::Malformed));
        check("1 a", "5 a 1 x", Err(Skip::Malformed));
        check("1 a", "soon a", Err(Skip::BadTime));
        check("1 a", "5 a many", Err(Skip::BadNumber));
        check("1 a", "5 a -1", Err(Skip::BadNumber));
    }

    #[test]
    fn keys_alone_are_whole_lines() {
        check("user:7", "user:7", Ok(("user:7", 1)));
        check("user 7", " user 7 ", Ok(("user 7", 1)));
    }
}
