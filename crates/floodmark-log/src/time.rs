//! The times of log lines, read and written.

use crate::options::TimeUnit;
use floodmark::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use std::fmt::Write;

/// A time as a line has it: nanoseconds since the epoch, and the digits of a second it was written with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) at: Timestamp,
    pub(crate) digits: u8,
}

/// Reads `17/May/2015:10:05:03 +0000`, the time of access logs.
///
/// A line of the same second as the one before it is not read again. The calendar is asked once per day and zone;
/// else only the six digits of the clock are read. `day` and `zone` are those last asked for, as they were written.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessTime {
    /// The last time that was read, as it was written, and what it says.
    last: [u8; LENGTH],
    last_at: Option<Timestamp>,
    day: [u8; 12],
    zone: [u8; 6],
    /// Nanoseconds from the epoch to that day's 00:00:00 in that zone; `None` before the first.
    midnight: Option<i64>,
}

/// `17/May/2015:10:05:03 +0000`
const LENGTH: usize = 26;

impl AccessTime {
    /// Finds the bracketed time in a line: the place of its `[`, the place after its `]`, and the time.
    pub(crate) fn find(&mut self, line: &[u8]) -> Option<(usize, usize, Stamp)> {
        // A user name, which a client chooses, may hold brackets, but no quote: the time is the last bracket before
        // the request.
        let head = line.get(..memchr::memmem::find(line, b"] \"").unwrap_or(0)).unwrap_or_default();
        let last = memchr::memrchr(b'[', head);
        last.into_iter().chain(memchr::memchr_iter(b'[', line).take(4)).find_map(|open| {
            let (after, stamp) = self.read_at(line, open)?;
            Some((open, after, stamp))
        })
    }

    /// Reads the time whose `[` stands at `open`: the place after its `]`, and the time.
    pub(crate) fn read_at(&mut self, line: &[u8], open: usize) -> Option<(usize, Stamp)> {
        let text = line.get(open + 1..)?;
        if let Some((usual, [b']', ..])) = text.split_first_chunk::<LENGTH>() {
            if *usual != self.last || self.last_at.is_none() {
                self.last_at = self.read(usual);
                self.last = *usual;
            }
            if let Some(at) = self.last_at {
                return Some((open + LENGTH + 2, Stamp { at, digits: 0 }));
            }
        }
        let length = memchr::memchr(b']', text.get(..48).unwrap_or(text))?;
        let text = text.get(..length)?;
        let stamp = read_access(text).or_else(|| read_iso(text))?;
        Some((open + length + 2, stamp))
    }

    /// Reads a time that stands alone and is written in the usual form.
    pub(crate) fn read_alone(&mut self, text: &[u8]) -> Option<Stamp> {
        let usual: &[u8; LENGTH] = text.try_into().ok()?;
        if *usual != self.last || self.last_at.is_none() {
            self.last_at = self.read(usual);
            self.last = *usual;
        }
        Some(Stamp { at: self.last_at?, digits: 0 })
    }

    /// The usual form, from the day that is known.
    fn read(&mut self, text: &[u8]) -> Option<Timestamp> {
        let (day, rest) = text.split_first_chunk::<12>()?;
        let (&[h1, h0, b':', m1, m0, b':', s1, s0], rest) = rest.split_first_chunk::<8>()? else {
            return None;
        };
        let zone = rest.first_chunk::<6>()?;
        if self.midnight.is_none() || *day != self.day || *zone != self.zone {
            let (date, zone_secs) = (read_day(day)?, read_zone(zone)?);
            self.midnight = Some(nanos(date.to_datetime(Time::midnight()), zone_secs)?);
            (self.day, self.zone) = (*day, *zone);
        }
        let (hour, minute, second) = (two(h1, h0)?, two(m1, m0)?, two(s1, s0)?);
        // 60 is a leap second.
        if hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let clock = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
        Some(timestamp(self.midnight?.checked_add(clock * 1_000_000_000)?))
    }
}

pub(crate) fn two(tens: u8, ones: u8) -> Option<u8> {
    (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| (tens - b'0') * 10 + (ones - b'0'))
}

fn timestamp(nanos: i64) -> Timestamp {
    Timestamp::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

/// Nanoseconds since the epoch of a civil time in a zone.
fn nanos(civil: DateTime, zone_secs: i64) -> Option<i64> {
    let utc = jiff::tz::TimeZone::UTC.to_timestamp(civil).ok()?;
    i64::try_from(utc.as_nanosecond()).ok()?.checked_sub(zone_secs * 1_000_000_000)
}

/// ` +0330`, ` -400`, `+03:30`, `Z`, or nothing, which is UTC.
pub(crate) fn read_zone(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii();
    let (sign, digits) = match text.split_first() {
        None => return Some(0),
        Some((b'Z' | b'z', [])) => return Some(0),
        Some((b'+', digits)) => (1, digits),
        Some((b'-', digits)) => (-1, digits),
        Some(_) => return None,
    };
    let (hours, minutes) = match *digits {
        [h1, h0, b':', m1, m0] | [h1, h0, m1, m0] => (two(h1, h0)?, two(m1, m0)?),
        [h0, m1, m0] => (two(b'0', h0)?, two(m1, m0)?),
        [h1, h0] => (two(h1, h0)?, 0),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then(|| sign * (i64::from(hours) * 3600 + i64::from(minutes) * 60))
}

/// `17/May/2015:`
fn read_day(text: &[u8; 12]) -> Option<Date> {
    let &[d1, d0, b'/', m0, m1, m2, b'/', y3, y2, y1, y0, b':'] = text else { return None };
    let year = i16::from(two(y3, y2)?) * 100 + i16::from(two(y1, y0)?);
    Date::new(year, read_month([m0, m1, m2])?, two(d1, d0)? as i8).ok()
}

/// The number of a month, from the first three letters of its English name.
pub(crate) fn read_month(name: [u8; 3]) -> Option<i8> {
    const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let month = MONTHS.chunks(3).position(|month| month.eq_ignore_ascii_case(&name))?;
    Some(month as i8 + 1)
}

/// The unusual forms of an access log's time: a fraction, a zone of three digits or none at all.
fn read_access(text: &[u8]) -> Option<Stamp> {
    let (day, rest) = text.split_first_chunk::<12>()?;
    let (clock, rest) = rest.split_first_chunk::<8>()?;
    let &[h1, h0, b':', m1, m0, b':', s1, s0] = clock else { return None };
    let (fraction, digits, zone) = read_fraction(rest)?;
    let time = Time::new(two(h1, h0)? as i8, two(m1, m0)? as i8, two(s1, s0)? as i8, 0).ok()?;
    let whole = nanos(read_day(day)?.to_datetime(time), read_zone(zone)?)?;
    Some(Stamp { at: timestamp(whole.checked_add(fraction)?), digits })
}

/// `.123` and what follows: nanoseconds, digits, the rest.
fn read_fraction(text: &[u8]) -> Option<(i64, u8, &[u8])> {
    let Some(text) = text.strip_prefix(b".").or_else(|| text.strip_prefix(b",")) else {
        return Some((0, 0, text));
    };
    let length = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    let mut nanos = 0;
    for place in 0..9 {
        nanos = nanos * 10 + digits.get(place).map_or(0, |digit| i64::from(digit - b'0'));
    }
    (length > 0).then_some((nanos, length.min(9) as u8, rest))
}

/// RFC 3339, with a blank for the `T` and no zone (UTC) allowed.
fn read_iso(text: &[u8]) -> Option<Stamp> {
    let (civil, fraction, digits, zone) = read_date_time(text)?;
    let whole = nanos(civil, read_zone(zone)?)?;
    Some(Stamp { at: timestamp(whole.checked_add(fraction)?), digits })
}

/// RFC 3339 with its zone.
pub(crate) fn read_zoned(text: &[u8]) -> Option<Stamp> {
    let (.., zone) = read_date_time(text)?;
    if zone.is_empty() { None } else { read_iso(text) }
}

/// RFC 3339 without a zone: the time on the clock, nanoseconds after it, and the digits of those.
pub(crate) fn read_civil(text: &[u8]) -> Option<(DateTime, u64, u8)> {
    let (civil, fraction, digits, zone) = read_date_time(text)?;
    zone.is_empty().then_some((civil, fraction.unsigned_abs(), digits))
}

/// A date and a time of RFC 3339, the nanoseconds after it and their digits, and what follows.
fn read_date_time(text: &[u8]) -> Option<(DateTime, i64, u8, &[u8])> {
    let (civil, rest) = text.split_first_chunk::<19>()?;
    let &[y3, y2, y1, y0, b'-', m1, m0, b'-', d1, d0, b'T' | b't' | b' ', ref clock @ ..] = civil else {
        return None;
    };
    let &[h1, h0, b':', n1, n0, b':', s1, s0] = clock else { return None };
    let (fraction, digits, zone) = read_fraction(rest)?;
    let year = i16::from(two(y3, y2)?) * 100 + i16::from(two(y1, y0)?);
    let date = Date::new(year, two(m1, m0)? as i8, two(d1, d0)? as i8).ok()?;
    let time = Time::new(two(h1, h0)? as i8, two(n1, n0)? as i8, two(s1, s0)?.min(59) as i8, 0).ok()?;
    Some((date.to_datetime(time), fraction, digits, zone))
}

/// A number since the epoch, in the unit that is told or that its size suggests: seconds below 10^11 (the year
/// 5138), then milliseconds, microseconds, nanoseconds.
fn read_number(text: &[u8], unit: TimeUnit) -> Option<Stamp> {
    let length = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (whole, rest) = text.split_at(length);
    let whole: u64 = std::str::from_utf8(whole).ok()?.parse().ok()?;
    let (fraction, digits, rest) = read_fraction(rest)?;
    if !rest.is_empty() {
        return None;
    }
    let (scale, unit_digits) = match (unit, whole) {
        (TimeUnit::Seconds, _) | (TimeUnit::Auto, 0..100_000_000_000) => (1_000_000_000, 0),
        (TimeUnit::Millis, _) | (TimeUnit::Auto, 0..100_000_000_000_000) => (1_000_000, 3),
        (TimeUnit::Micros, _) | (TimeUnit::Auto, 0..100_000_000_000_000_000) => (1_000, 6),
        (TimeUnit::Nanos | TimeUnit::Auto, _) => (1, 9),
    };
    let fraction = fraction as u64 / (1_000_000_000 / scale);
    let at = Timestamp::from_nanos(whole.saturating_mul(scale).saturating_add(fraction));
    Some(Stamp { at, digits: (unit_digits + digits).min(9) })
}

/// A time in a column or before a key: a number since the epoch, RFC 3339, or an access log's time.
pub(crate) fn read_any(text: &[u8], unit: TimeUnit) -> Option<Stamp> {
    let text = text.trim_ascii();
    let bare = text.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(text);
    read_number(bare, unit).or_else(|| read_iso(bare)).or_else(|| read_access(bare))
}

/// RFC 3339 in UTC, with `digits` of a second or as many more as the time needs.
#[must_use]
pub fn format_time(at: Timestamp, digits: u8) -> String {
    let nanos = at.as_nanos();
    let mut text = jiff::Timestamp::from_second((nanos / 1_000_000_000) as i64)
        .map_or_else(|_| String::new(), |second| second.strftime("%Y-%m-%dT%H:%M:%S").to_string());
    let digits = usize::from(digits.max(digits_of(at)));
    if digits > 0 {
        let fraction = format!("{:09}", nanos % 1_000_000_000);
        text.push('.');
        text.push_str(fraction.get(..digits.min(9)).unwrap_or(&fraction));
    }
    let _ = text.write_char('Z');
    text
}

/// How many digits of a second a time needs, 0 to 9.
#[must_use]
pub fn digits_of(at: Timestamp) -> u8 {
    let mut fraction = at.as_nanos() % 1_000_000_000;
    let mut digits = 9;
    while digits > 0 && fraction.is_multiple_of(10) {
        fraction /= 10;
        digits -= 1;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let stamp = read_any(text.as_bytes(), TimeUnit::Auto);
        assert_eq!(stamp.map(|s| format_time(s.at, s.digits)).as_deref(), Some(expected), "{text}");
    }

    fn check_access(line: &str, expected: Option<&str>) {
        let mut time = AccessTime::default();
        for round in ["first", "cached"] {
            let found = time.find(line.as_bytes()).map(|(_, _, stamp)| format_time(stamp.at, stamp.digits));
            assert_eq!(found.as_deref(), expected, "{round}: {line}");
        }
    }

    #[test]
    fn times_of_access_logs_are_read_in_every_spelling() {
        check_access("h - - [17/May/2015:10:05:03 +0000] x", Some("2015-05-17T10:05:03Z"));
        check_access("h - - [22/Jan/2019:03:56:14 +0330] x", Some("2019-01-22T00:26:14Z"));
        check_access("h - - [01/Aug/1995:00:00:02 -400] x", Some("1995-08-01T04:00:02Z"));
        check_access("h - a[b] [17/May/2015:10:05:03 +0000] x", Some("2015-05-17T10:05:03Z"));
        check_access("h - - [17/May/2015:10:05:03.25 +0000] x", Some("2015-05-17T10:05:03.25Z"));
        check_access("h - - [2015-05-17T10:05:03+02:00] x", Some("2015-05-17T08:05:03Z"));
        check_access("h - - [31/Dec/2016:23:59:60 +0000] x", Some("2017-01-01T00:00:00Z"));
        check_access("h - - [29/Feb/2015:10:05:03 +0000] x", None);
        check_access("h - - [17/Mai/2015:10:05:03 +0000] x", None);
        check_access("h - - [17/May/2015:24:05:03 +0000] x", None);
        check_access("h - - [17/May/2015:10:0", None);
        check_access("h - - []", None);
    }

    #[test]
    fn a_day_that_is_remembered_is_not_taken_for_another() {
        let mut time = AccessTime::default();
        let mut at = |text: &str| {
            let line = format!("h - - [{text}] x");
            time.find(line.as_bytes()).map(|(_, _, stamp)| stamp.at.as_nanos() / 1_000_000_000)
        };
        assert_eq!(at("01/Jan/1970:00:00:01 +0000"), Some(1));
        assert_eq!(at("02/Jan/1970:00:00:01 +0000"), Some(86_401));
        assert_eq!(at("02/Jan/1970:01:00:01 +0100"), Some(86_401));
        assert_eq!(at("99/Jan/1970:00:00:01 +0000"), None);
        assert_eq!(at("01/Jan/1970:00:00:01 +0000"), Some(1));
    }

    #[test]
    fn numbers_are_taken_in_the_unit_their_size_suggests() {
        check("804571201", "1995-07-01T04:00:01Z");
        check("1700000000.5", "2023-11-14T22:13:20.5Z");
        check("1700000000123", "2023-11-14T22:13:20.123Z");
        check("1700000000123456", "2023-11-14T22:13:20.123456Z");
        check("1700000000123456789", "2023-11-14T22:13:20.123456789Z");
        check("0", "1970-01-01T00:00:00Z");
        let millis = read_any(b"5000", TimeUnit::Millis).unwrap();
        assert_eq!((millis.at, millis.digits), (Timestamp::from_secs(5), 3));
    }

    #[test]
    fn written_times_are_read_as_rfc_3339_or_as_a_log_has_them() {
        check("2015-05-17T10:05:03Z", "2015-05-17T10:05:03Z");
        check("2015-05-17 10:05:03.120", "2015-05-17T10:05:03.120Z");
        check("2015-05-17T10:05:03,5-02:00", "2015-05-17T12:05:03.5Z");
        check("[17/May/2015:10:05:03 +0000]", "2015-05-17T10:05:03Z");
        for text in ["", "-", "yesterday", "12:30:00", "2015-05-17", "1.2.3", "2015-13-17T10:05:03Z", "-5"] {
            assert_eq!(read_any(text.as_bytes(), TimeUnit::Auto), None, "{text}");
        }
    }

    #[test]
    fn a_time_is_shown_with_the_digits_it_needs() {
        assert_eq!(format_time(Timestamp::from_millis(1_500), 0), "1970-01-01T00:00:01.5Z");
        assert_eq!(format_time(Timestamp::from_millis(1_500), 3), "1970-01-01T00:00:01.500Z");
        assert_eq!(format_time(Timestamp::MAX, 0), "2554-07-21T23:34:33.709551615Z");
    }
}
