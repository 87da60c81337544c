//! A stream of keys: `time key [n]`, or keys alone.

use super::{Field, Found, Lines, Place};
use crate::event::Skip;
use crate::options::{Options, TimeUnit};
use crate::time::{self, Stamp};
use floodmark::{Clock, SystemClock, Timestamp};
use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// Lines are keys alone and are stamped as they come, to the millisecond.
    is_bare: bool,
    unit: TimeUnit,
    key: Range<usize>,
}

impl Keys {
    /// Whether lines have a time is told from the first one; where the format was asked for, from whichever has one:
    /// a stream that was cut into may begin with the rest of a line.
    pub(crate) fn new(lines: &[&[u8]], options: &Options) -> Self {
        let mut keys = Self { is_bare: false, unit: options.time_unit, key: 0..0 };
        let asked = if options.format.is_some() { lines.len() } else { 1 };
        keys.is_bare = !lines.iter().take(asked).any(|line| keys.find(line, false).is_ok());
        keys
    }

    pub(crate) fn is_bare(&self) -> bool {
        self.is_bare
    }
}

impl Lines for Keys {
    fn field(&mut self, name: &str) -> Option<Field> {
        (name == "key").then_some(Field(0))
    }

    fn known(&self) -> String {
        "key".into()
    }

    fn usual_key(&self) -> &str {
        "key"
    }

    fn usual_details(&self) -> &'static [&'static str] {
        &[]
    }

    fn find(&mut self, line: &[u8], is_cut: bool) -> Result<Found, Skip> {
        if is_cut {
            return Err(Skip::TooLong);
        }
        if self.is_bare {
            let start = line.len() - line.trim_ascii_start().len();
            self.key = start..start + line.trim_ascii().len();
            let millis = SystemClock.now().as_nanos() / 1_000_000;
            let stamp = Stamp { at: Timestamp::from_millis(millis), digits: 3 };
            return Ok(Found { n: 1, stamp, ..Found::default() });
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
        self.key = key;
        Ok(Found { n, stamp, ..Found::default() })
    }

    fn place(&mut self, _key: Field, _line: &[u8]) -> Option<Place> {
        Some(Place::Line(self.key.clone()))
    }

    fn scratch(&self) -> &[u8] {
        &[]
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
        let mut keys = Keys::new(&[first.as_bytes()], &Options::default());
        let read = keys.find(line.as_bytes(), false).map(|found| (&line[keys.key.clone()], found.n));
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
