//! `100/5s`: how many, per how long.

use crate::clock::nanos;
use crate::error::Error;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A number of units per window, written `100/5s`, `10/1m`, `5/s` or `1000/1h30m`.
///
/// It is a limit (at most that many in any window) or a mark (hot from that many on), as its user says. It says
/// nothing about slices: `60/1m` and `1/1s` are different rates, the second is far stricter.
///
/// # Examples
/// ```
/// use floodmark::Rate;
/// let rate: Rate = "1000/1h30m".parse()?;
/// assert_eq!((rate.limit(), rate.window().as_secs()), (1000, 5400));
/// assert_eq!(rate.to_string(), "1000/1h30m");
/// assert!("100/5".parse::<Rate>().is_err()); // 5 of what?
/// # Ok::<(), floodmark::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    limit: u64,
    /// Never 0.
    window_ns: u64,
}

impl Rate {
    /// `limit` units per `window`.
    ///
    /// # Errors
    /// [`Error::Window`] for a window of 0 or of more than 584 years.
    pub fn new(limit: u64, window: Duration) -> Result<Self, Error> {
        match u64::try_from(window.as_nanos()) {
            Ok(window_ns) if window_ns > 0 => Ok(Self { limit, window_ns }),
            _ => Err(Error::Window),
        }
    }

    /// `limit` units in any second.
    #[must_use]
    pub const fn per_second(limit: u64) -> Self {
        Self { limit, window_ns: 1_000_000_000 }
    }

    /// `limit` units in any minute.
    #[must_use]
    pub const fn per_minute(limit: u64) -> Self {
        Self { limit, window_ns: 60_000_000_000 }
    }

    /// `limit` units in any hour.
    #[must_use]
    pub const fn per_hour(limit: u64) -> Self {
        Self { limit, window_ns: 3_600_000_000_000 }
    }

    /// How many units.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// Per how long.
    #[must_use]
    pub const fn window(&self) -> Duration {
        Duration::from_nanos(self.window_ns)
    }

    pub(crate) const fn window_ns(&self) -> u64 {
        self.window_ns
    }
}

const RATE_HELP: &str =
    "write N/TIME, such as 100/5s, 5/s, 10/1m or 1000/1h30m (units ns, us, ms, s, m, h, d)";
const TIME_HELP: &str = "write a time such as 5s, 500ms, 10m or 1h30m (units ns, us, ms, s, m, h, d)";

impl FromStr for Rate {
    type Err = Error;

    fn from_str(input: &str) -> Result<Self, Error> {
        let error = |reason: String| Error::Parse {
            input: input.into(),
            what: "rate",
            reason: reason + "; " + RATE_HELP,
        };
        let (limit, window) = input.split_once('/').ok_or_else(|| error("there is no \"/\" in it".into()))?;
        let limit = number(limit).map_err(|reason| error(format!("its number {reason}")))?;
        let window_ns = if UNITS.iter().any(|(unit, _)| *unit == window) {
            parse_ns(&format!("1{window}"))
        } else {
            parse_ns(window)
        }
        .map_err(|reason| error(format!("its time {reason}")))?;
        if window_ns == 0 {
            return Err(error("a window of no length holds nothing".into()));
        }
        Ok(Self { limit, window_ns })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.limit, format_ns(self.window_ns))
    }
}

/// Reads `5s`, `500ms` or `1h30m`; `0s` is zero.
///
/// # Errors
/// [`Error::Parse`] with what is allowed.
pub fn parse_duration(input: &str) -> Result<Duration, Error> {
    parse_ns(input).map(Duration::from_nanos).map_err(|reason| Error::Parse {
        input: input.into(),
        what: "time",
        reason: reason + "; " + TIME_HELP,
    })
}

/// Writes a duration the way [`parse_duration`] reads it, from days down to nanoseconds.
#[must_use]
pub fn format_duration(span: Duration) -> String {
    format_ns(nanos(span))
}

const UNITS: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

fn number(digits: &str) -> Result<u64, String> {
    if digits.is_empty() {
        return Err("is missing".into());
    }
    if !digits.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return Err(format!("\"{digits}\" is not a whole number"));
    }
    digits.replace('_', "").parse().map_err(|_| format!("\"{digits}\" is out of range"))
}

fn parse_ns(input: &str) -> Result<u64, String> {
    if input.is_empty() {
        return Err("is missing".into());
    }
    let mut rest = input;
    let mut total = 0u64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(rest.len());
        let (value, after) = rest.split_at(digits);
        let letters = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        if after.starts_with('.') {
            return Err(format!("\"{input}\" has a fraction: use a smaller unit, such as 1500ms"));
        }
        if unit.is_empty() {
            return Err(format!("\"{input}\" lacks a unit"));
        }
        let value = number(value)?;
        let &(_, scale) = UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(|| format!("has \"{unit}\", which is not a unit"))?;
        total = value
            .checked_mul(scale)
            .and_then(|ns| total.checked_add(ns))
            .ok_or_else(|| format!("\"{input}\" is longer than 584 years"))?;
        rest = after;
    }
    Ok(total)
}

pub(crate) fn format_ns(mut ns: u64) -> String {
    if ns == 0 {
        return "0s".into();
    }
    let mut text = String::new();
    for (unit, scale) in UNITS {
        if ns >= scale {
            text += &format!("{}{unit}", ns / scale);
            ns %= scale;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, limit: u64, window_ms: u64, shown: &str) {
        let rate: Rate = input.parse().unwrap();
        assert_eq!(rate, Rate::new(limit, Duration::from_millis(window_ms)).unwrap(), "{input}");
        assert_eq!(rate.to_string(), shown);
        assert_eq!(shown.parse::<Rate>().unwrap(), rate, "what is shown can be read again");
    }

    #[test]
    fn rates_read_as_people_write_them() {
        check("100/5s", 100, 5_000, "100/5s");
        check("10/1m", 10, 60_000, "10/1m");
        check("5/s", 5, 1_000, "5/1s");
        check("1000/1h30m", 1000, 5_400_000, "1000/1h30m");
        check("1_000_000/1d", 1_000_000, 86_400_000, "1000000/1d");
        check("30/60s", 30, 60_000, "30/1m");
        check("7/1500ms", 7, 1_500, "7/1s500ms");
        check("0/h", 0, 3_600_000, "0/1h");
    }

    #[test]
    fn a_wrong_rate_says_what_is_allowed() {
        for (input, part) in [
            ("100", "there is no \"/\""),
            ("/5s", "its number is missing"),
            ("-1/5s", "\"-1\" is not a whole number"),
            ("ten/5s", "\"ten\" is not a whole number"),
            ("99999999999999999999/5s", "out of range"),
            ("100/", "its time is missing"),
            ("100/5", "lacks a unit"),
            ("100/5x", "\"x\", which is not a unit"),
            ("100/1.5s", "use a smaller unit, such as 1500ms"),
            ("100/0s", "a window of no length"),
            ("100/0ns", "a window of no length"),
            ("100/9999999d", "longer than 584 years"),
            ("100/5 s", "lacks a unit"),
            ("100/5s/2", "lacks a unit"),
            ("", "there is no \"/\""),
        ] {
            let message = input.parse::<Rate>().unwrap_err().to_string();
            assert!(message.contains(part), "{input}: {message}");
            assert!(message.contains("100/5s, 5/s"), "{input}: {message}");
        }
    }

    #[test]
    fn durations_round_trip() {
        for text in ["5s", "500ms", "1h30m", "1d2h3m4s5ms6us7ns", "0s"] {
            assert_eq!(format_duration(parse_duration(text).unwrap()), text);
        }
        assert!(parse_duration("5").unwrap_err().to_string().contains("\"5\" is not a time"));
    }

    #[test]
    fn a_rate_has_a_window_that_can_be_measured() {
        assert_eq!(Rate::new(1, Duration::ZERO), Err(Error::Window));
        assert_eq!(Rate::new(1, Duration::MAX), Err(Error::Window));
    }
}
