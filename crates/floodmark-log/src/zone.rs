//! Times that lack something: a zone, or a zone and the year.

use floodmark::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use std::str::FromStr;

/// The zones of times that have none.
///
/// In text: a name of the time zone database (`Europe/Berlin`), an offset (`+02:00`), `UTC` or `local`; after `HOST=`,
/// that of one host's lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    host: Option<String>,
    zone: TimeZone,
}

impl FromStr for Zone {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (host, name) = match text.split_once('=') {
            Some((host, name)) => (Some(host.to_string()), name),
            None => (None, text),
        };
        let offset = || {
            let secs = crate::time::read_zone(name.as_bytes()).filter(|_| !name.is_empty())?;
            Some(TimeZone::fixed(jiff::tz::Offset::from_seconds(i32::try_from(secs).ok()?).ok()?))
        };
        let zone = match name {
            "local" => Some(TimeZone::system()),
            _ => offset().or_else(|| TimeZone::get(name).ok()),
        };
        let say = || format!("\"{name}\" is no time zone: say one as Europe/Berlin, +02:00, UTC or local");
        Ok(Self { host, zone: zone.ok_or_else(say)? })
    }
}

/// How far a line may lie behind the newest one and still be of the same year.
const HALF_A_YEAR: i64 = 183 * 86_400 * SECOND;
/// How far a line of December may lie behind one of January.
const A_MONTH: i64 = 31 * 86_400 * SECOND;
/// How far a line goes back at least when clocks are set back.
const A_MINUTE: i64 = 60 * SECOND;
const SECOND: i64 = 1_000_000_000;

/// Reads times without a year, `Dec 10 06:55:46`, and without a zone.
///
/// ```text
/// the first line     the year that is given, or the latest that is not after `newest`
/// the others         the year of the newest line so far; the year after if that would be half a year behind it (New
///                    Year), the year before if it would be half a year ahead and that is a month behind at most
/// an hour twice      the first, unless the newest line was a minute later than that: clocks have been set back
/// ```
#[derive(Clone, Debug)]
pub(crate) struct YearlessTime {
    zones: Vec<Zone>,
    year: Option<i16>,
    /// No line is later.
    bound: Timestamp,
    /// Of the lines so far: the latest time, in nanoseconds, and its year.
    newest: Option<(i64, i16)>,
    /// The last hour, as it was written, its zone, and its beginning; an hour of one length and one offset.
    hour: [u8; 9],
    zone: usize,
    begins_at: Option<i64>,
}

impl YearlessTime {
    pub(crate) fn new(zones: &[Zone], year: Option<i16>, bound: Timestamp) -> Self {
        let mut zones = zones.to_vec();
        // The last that was said of all hosts goes before the earlier ones; UTC is there for whoever has none.
        zones.insert(0, Zone { host: None, zone: TimeZone::UTC });
        Self { zones, year, bound, newest: None, hour: [0; 9], zone: 0, begins_at: None }
    }

    /// Reads the first 15 bytes of a line: the month's name, the day, and the time of day on `host`.
    pub(crate) fn read(&mut self, text: &[u8; 15], host: &[u8]) -> Option<Timestamp> {
        let (hour, rest) = text.split_first_chunk::<9>()?;
        let &[b':', m1, m0, b':', s1, s0] = rest else { return None };
        let two = crate::time::two;
        let (minute, second) = (two(m1, m0)?, two(s1, s0)?);
        if minute > 59 || second > 60 {
            return None;
        }
        let after = (i64::from(minute) * 60 + i64::from(second)) * SECOND;
        let zone = if self.zones.len() == 1 { 0 } else { self.zone_of(host) };
        if let Some(begins_at) = self.begins_at.filter(|_| *hour == self.hour && zone == self.zone) {
            return Some(self.note(begins_at + after, None));
        }
        let (date, hour_of_day) = read_hour(hour)?;
        let clock = Time::new(hour_of_day, minute as i8, (second as i8).min(59), 0).ok()?;
        let (at, year) = self.place(date, clock, zone)?;
        let at = at + if second == 60 { SECOND } else { 0 };
        // All of this hour is as far from its beginning as it says, if its ends are.
        let ends =
            [0, 59].map(|minute| self.at(date, year, Time::new(hour_of_day, minute, 59, 0).ok()?, zone));
        self.begins_at = match ends {
            [Some((first, 1)), Some((last, 1))] if last - first == 59 * 60 * SECOND => {
                Some(first - 59 * SECOND)
            }
            _ => None,
        };
        (self.hour, self.zone) = (*hour, zone);
        Some(self.note(at, Some(year)))
    }

    /// Reads a civil time that has no zone.
    pub(crate) fn local(&self, civil: jiff::civil::DateTime, host: &[u8]) -> Option<Timestamp> {
        let zone = &self.zones.get(self.zone_of(host))?.zone;
        let at = zone.to_ambiguous_timestamp(civil).compatible().ok()?;
        u64::try_from(at.as_nanosecond()).ok().map(Timestamp::from_nanos)
    }

    fn zone_of(&self, host: &[u8]) -> usize {
        let of_host = |zone: &Zone| zone.host.as_ref().is_some_and(|known| known.as_bytes() == host);
        let of_all = |zone: &Zone| zone.host.is_none();
        self.zones.iter().rposition(of_host).or_else(|| self.zones.iter().rposition(of_all)).unwrap_or(0)
    }

    fn note(&mut self, at: i64, year: Option<i16>) -> Timestamp {
        let known = self.newest.map(|(_, year)| year);
        if self.newest.is_none_or(|(newest, _)| at > newest)
            && let Some(year) = year.or(known)
        {
            self.newest = Some((at, year));
        }
        Timestamp::from_nanos(u64::try_from(at).unwrap_or(0))
    }

    /// The time of a line, and its year.
    fn place(&self, date: (i8, i8), clock: Time, zone: usize) -> Option<(i64, i16)> {
        let at = |year| self.at(date, year, clock, zone).map(|(at, _)| (at, year));
        let Some((newest, year)) = self.newest else {
            if let Some(year) = self.year {
                return at(year);
            }
            let bound = i64::try_from(self.bound.as_nanos()).unwrap_or(i64::MAX);
            let last = 1970 + (bound / (365 * 86_400 * SECOND)) as i16;
            return (last - 9..=last).rev().find_map(|year| at(year).filter(|(at, _)| *at <= bound));
        };
        match at(year) {
            Some((same, _)) if same < newest - HALF_A_YEAR => at(year + 1).or(at(year)),
            Some((same, _)) if same > newest + HALF_A_YEAR => {
                at(year - 1).filter(|(before, _)| *before >= newest - A_MONTH).or(at(year))
            }
            // The 29th of February.
            None => at(year + 1).or_else(|| at(year - 1)),
            same => same,
        }
    }

    /// A civil time in nanoseconds, and how many times there are that it can mean.
    fn at(&self, (month, day): (i8, i8), year: i16, clock: Time, zone: usize) -> Option<(i64, usize)> {
        let civil = Date::new(year, month, day).ok()?.to_datetime(clock);
        let ambiguous = self.zones.get(zone)?.zone.to_ambiguous_timestamp(civil);
        let nanos = |at: jiff::Timestamp| i64::try_from(at.as_nanosecond()).ok();
        match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { .. } => Some((nanos(ambiguous.compatible().ok()?)?, 1)),
            AmbiguousOffset::Gap { .. } => Some((nanos(ambiguous.compatible().ok()?)?, 0)),
            AmbiguousOffset::Fold { .. } => {
                let first = nanos(ambiguous.earlier().ok()?)?;
                let is_second = self.newest.is_some_and(|(newest, _)| newest > first + A_MINUTE);
                Some((if is_second { nanos(ambiguous.later().ok()?)? } else { first }, 2))
            }
        }
    }
}

/// `Dec 10 06`, `Dec  1 06`: month and day, and the hour.
fn read_hour(text: &[u8; 9]) -> Option<((i8, i8), i8)> {
    let &[m0, m1, m2, b' ', d1, d0, b' ', h1, h0] = text else { return None };
    let day = crate::time::two(if d1 == b' ' { b'0' } else { d1 }, d0)?;
    let hour = crate::time::two(h1, h0).filter(|hour| *hour < 24)?;
    Some(((crate::time::read_month([m0, m1, m2])?, day as i8), hour as i8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::format_time;

    fn times(zones: &[&str], year: Option<i16>, bound: u64) -> YearlessTime {
        let zones: Vec<Zone> = zones.iter().map(|zone| zone.parse().unwrap()).collect();
        YearlessTime::new(&zones, year, Timestamp::from_secs(bound))
    }

    #[track_caller]
    fn check(times: &mut YearlessTime, lines: &[(&str, &str)]) {
        for (line, expected) in lines {
            let read = times.read(line.as_bytes().first_chunk().unwrap(), b"host");
            assert_eq!(read.map(|at| format_time(at, 0)).as_deref(), Some(*expected), "{line}");
        }
    }

    /// 2026-01-05.
    const JANUARY: u64 = 1_767_571_200;

    #[test]
    fn a_log_across_new_year_has_two_years() {
        let lines = [
            ("Dec 30 06:55:46", "2025-12-30T06:55:46Z"),
            ("Dec 31 23:59:60", "2026-01-01T00:00:00Z"),
            ("Jan  1 00:00:02", "2026-01-01T00:00:02Z"),
            ("Dec 31 23:59:59", "2025-12-31T23:59:59Z"),
            ("Jan 04 01:00:00", "2026-01-04T01:00:00Z"),
        ];
        check(&mut times(&[], None, JANUARY), &lines);
        check(&mut times(&[], Some(2025), 0), &lines);
    }

    #[test]
    fn a_log_that_goes_back_by_weeks_stays_in_its_year() {
        check(
            &mut times(&[], Some(2024), 0),
            &[
                ("Mar 10 00:00:00", "2024-03-10T00:00:00Z"),
                ("Jan 20 00:00:00", "2024-01-20T00:00:00Z"),
                ("Feb 29 00:00:00", "2024-02-29T00:00:00Z"),
                ("Aug  1 00:00:00", "2024-08-01T00:00:00Z"),
            ],
        );
    }

    #[test]
    fn the_first_line_is_of_the_latest_year_that_is_not_in_the_future() {
        check(&mut times(&[], None, JANUARY), &[("Jan  4 00:00:00", "2026-01-04T00:00:00Z")]);
        check(&mut times(&[], None, JANUARY), &[("Jan  6 00:00:00", "2025-01-06T00:00:00Z")]);
        check(&mut times(&[], None, JANUARY), &[("Feb 29 00:00:00", "2024-02-29T00:00:00Z")]);
    }

    #[test]
    fn an_hour_that_comes_twice_is_read_twice() {
        // Clocks in Berlin go from 03:00 back to 02:00.
        check(
            &mut times(&["Europe/Berlin"], Some(2023), 0),
            &[
                ("Oct 29 01:59:59", "2023-10-28T23:59:59Z"),
                ("Oct 29 02:08:49", "2023-10-29T00:08:49Z"),
                ("Oct 29 02:59:30", "2023-10-29T00:59:30Z"),
                ("Oct 29 02:59:29", "2023-10-29T00:59:29Z"),
                ("Oct 29 02:08:49", "2023-10-29T01:08:49Z"),
                ("Oct 29 02:08:50", "2023-10-29T01:08:50Z"),
                ("Oct 29 03:00:00", "2023-10-29T02:00:00Z"),
            ],
        );
    }

    #[test]
    fn a_host_may_have_a_zone_of_its_own() {
        let zones = ["+02:00", "host=America/New_York", "other=UTC"];
        check(&mut times(&zones, Some(2023), 0), &[("Jul  1 12:00:00", "2023-07-01T16:00:00Z")]);
        let mut all = times(&["+02:00"], Some(2023), 0);
        check(
            &mut all,
            &[("Jul  1 12:00:00", "2023-07-01T10:00:00Z"), ("Jul  1 12:59:59", "2023-07-01T10:59:59Z")],
        );
    }

    #[test]
    fn what_is_no_time_or_no_zone_is_told() {
        for text in
            ["Foo 10 06:55:46", "Dec 32 06:55:46", "Dec 10 24:55:46", "Dec 10 06-55-46", "Dec 10 06:61:46"]
        {
            assert_eq!(
                times(&[], Some(2023), 0).read(text.as_bytes().first_chunk().unwrap(), b""),
                None,
                "{text}"
            );
        }
        for text in ["Europe/Nowhere", "", "host=", "+99:00"] {
            assert!(text.parse::<Zone>().unwrap_err().contains("is no time zone: say one as"), "{text}");
        }
    }
}
