//! The time of a line, from one field of it or from several.

use super::log_format::{Variable, Written};
use crate::options::{Options, TimeUnit};
use crate::time::{self, AccessTime, Stamp};
use crate::zone::YearlessTime;
use floodmark::{Clock, SystemClock, Timestamp};
use jiff::fmt::strtime::{self, BrokenDownTime};
use std::io::Write;
use std::ops::Range;
use std::time::Duration;

/// What a time may be called, where nothing else tells; the likeliest first.
const NAMES: [&str; 12] = [
    "time",
    "timestamp",
    "datetime",
    "date_time",
    "time_local",
    "time_iso8601",
    "msec",
    "ts",
    "epoch",
    "unix",
    "unixtime",
    "date",
];

/// Reads the time of a line.
#[derive(Clone, Debug)]
pub(super) struct When {
    /// The places that make it up, which are read with a blank between.
    slots: Vec<usize>,
    written: Written,
    unit: TimeUnit,
    /// Times without a zone are not UTC.
    has_zones: bool,
    access: AccessTime,
    local: YearlessTime,
    /// The last time that was read, as it was written, and what it says.
    last: Vec<u8>,
    last_stamp: Option<Stamp>,
    text: Vec<u8>,
}

impl When {
    /// Which of the variables are the time; the error says what is missing.
    pub(super) fn new(variables: &[Variable], options: &Options) -> Result<Self, String> {
        let (slots, written) = choose(variables, options)?;
        let written = match (&options.time_format, written) {
            (Some(letters), Written::Usual) => Written::Letters(letters.clone()),
            (_, written) => written,
        };
        if let Written::Letters(letters) = &written {
            sample(letters).map_err(|error| {
                format!("\"{letters}\" is no way to write a time ({error}): say one as '%Y-%m-%d %H:%M:%S'")
            })?;
        }
        let bound =
            options.newest.unwrap_or_else(|| SystemClock.now().saturating_add(Duration::from_secs(86_400)));
        Ok(Self {
            slots,
            written,
            unit: options.time_unit,
            has_zones: !options.zones.is_empty(),
            access: AccessTime::default(),
            local: YearlessTime::new(&options.zones, options.year, bound),
            last: Vec::new(),
            last_stamp: None,
            text: Vec::new(),
        })
    }

    pub(super) fn has(&self, slot: usize) -> bool {
        self.slots.contains(&slot)
    }

    /// The places of the time in a line.
    pub(super) fn is_in(&self, places: &[Range<usize>]) -> bool {
        self.slots.iter().all(|&slot| places.get(slot).is_some_and(|place| !place.is_empty()))
    }

    /// The time as the line has it, for people.
    pub(super) fn shown(&self, line: &[u8], places: &[Range<usize>]) -> String {
        let mut text = Vec::new();
        self.join(line, places, &mut text);
        format!("{:?}", String::from_utf8_lossy(&text).chars().take(80).collect::<String>())
    }

    fn join(&self, line: &[u8], places: &[Range<usize>], text: &mut Vec<u8>) {
        text.clear();
        for (number, &slot) in self.slots.iter().enumerate() {
            if number > 0 {
                text.push(b' ');
            }
            text.extend_from_slice(
                places.get(slot).and_then(|place| line.get(place.clone())).unwrap_or_default(),
            );
        }
    }

    #[inline]
    pub(super) fn read(&mut self, line: &[u8], places: &[Range<usize>]) -> Option<Stamp> {
        if let [slot] = self.slots[..] {
            return self.read_one(line.get(places.get(slot)?.clone())?);
        }
        let mut text = std::mem::take(&mut self.text);
        self.join(line, places, &mut text);
        let stamp = self.read_one(&text);
        self.text = text;
        stamp
    }

    #[inline]
    fn read_one(&mut self, text: &[u8]) -> Option<Stamp> {
        if self.written == Written::Usual
            && let Some(stamp) = self.access.read_alone(text)
        {
            return Some(stamp);
        }
        if self.last_stamp.is_none() || self.last != text {
            self.last_stamp = self.read_anew(text);
            self.last.clear();
            self.last.extend_from_slice(text);
        }
        self.last_stamp
    }

    fn read_anew(&mut self, text: &[u8]) -> Option<Stamp> {
        match &self.written {
            Written::Usual => self.read_usual(text),
            Written::Number(unit) => time::read_any(text, *unit),
            Written::Letters(letters) => {
                let broken = strtime::parse(letters, text.trim_ascii()).ok()?;
                self.read_broken(&broken, text)
            }
        }
    }

    fn read_usual(&mut self, text: &[u8]) -> Option<Stamp> {
        let text = text.trim_ascii();
        let text = text.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(text);
        if let Ok(yearless) = text.try_into()
            && let Some(at) = self.local.read(yearless, b"")
        {
            return Some(Stamp { at, digits: 0 });
        }
        let mut other = Vec::new();
        let text = if rewrite(text, &mut other).is_some() { &other[..] } else { text };
        let stamp = time::read_any(text, self.unit)?;
        // A second zone behind the first could not be read.
        let has_no_zone = || time::read_any(&[text, b" +0000"].concat(), self.unit).is_some();
        if self.has_zones && has_no_zone() { self.in_zone(stamp) } else { Some(stamp) }
    }

    /// What was read as UTC is the time on a clock in the zone that was told.
    fn in_zone(&self, stamp: Stamp) -> Option<Stamp> {
        let utc = jiff::Timestamp::from_nanosecond(i128::from(stamp.at.as_nanos())).ok()?;
        let civil = jiff::tz::TimeZone::UTC.to_datetime(utc);
        Some(Stamp { at: self.local.local(civil, b"")?, digits: stamp.digits })
    }

    fn read_broken(&mut self, broken: &BrokenDownTime, text: &[u8]) -> Option<Stamp> {
        let nanos = broken.subsec_nanosecond();
        let digits = nanos.map_or(0, |_| fraction_digits(text));
        let after = Duration::from_nanos(nanos.and_then(|nanos| u64::try_from(nanos).ok()).unwrap_or(0));
        let exact =
            |at: jiff::Timestamp| Timestamp::from_nanos(u64::try_from(at.as_nanosecond()).unwrap_or(0));
        let at = if let Some(at) = broken.timestamp() {
            exact(at).saturating_add(after)
        } else if broken.offset().is_some() || broken.iana_time_zone().is_some() {
            exact(broken.to_timestamp().ok()?)
        } else if let (None, Some(month), Some(day)) = (broken.year(), broken.month(), broken.day()) {
            const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
            let month = usize::try_from(month).ok()?.checked_sub(1)?;
            let month = MONTHS.get(month * 3..month * 3 + 3)?;
            let clock = broken.to_time().ok()?;
            let mut text = [0; 15];
            let (hour, minute, second) = (clock.hour(), clock.minute(), clock.second());
            write!(&mut text[..], "{month} {day:2} {hour:02}:{minute:02}:{second:02}").ok()?;
            self.local.read(&text, b"")?.saturating_add(after)
        } else {
            self.local.local(broken.to_datetime().ok()?, b"")?
        };
        Some(Stamp { at, digits })
    }
}

/// How a time would look that is written like this.
pub(super) fn sample(letters: &str) -> Result<String, jiff::Error> {
    BrokenDownTime::from(&jiff::Timestamp::UNIX_EPOCH.to_zoned_datetime(jiff::tz::TimeZone::UTC))
        .to_string(letters)
}

/// The digits of a second in a text: those behind the seconds of a clock, or else the last number among its words.
fn fraction_digits(text: &[u8]) -> u8 {
    let count = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let behind_clock = |part: &[u8]| match part {
        [b'0'..=b'6', b'0'..=b'9', b'.' | b',', rest @ ..] => Some(count(rest)).filter(|&n| n > 0),
        _ => None,
    };
    let last_number = || {
        text.rsplit(|&b| b == b' ').find_map(|word| Some(word.len()).filter(|&n| n > 0 && count(word) == n))
    };
    let digits = text.rsplit(|&b| b == b':').find_map(behind_clock).or_else(last_number);
    digits.map_or(9, |digits| digits.min(9) as u8)
}

/// Two more ways to write a time: `Sun Dec 04 04:47:44.123 2005` of Apache's error log, `2005/12/04 04:47:44` of nginx's.
fn rewrite(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if let Some((&[y3, y2, y1, y0, b'/', m1, m0, b'/', d1, d0], rest)) = text.split_first_chunk::<10>() {
        out.extend([y3, y2, y1, y0, b'-', m1, m0, b'-', d1, d0]);
        out.extend_from_slice(rest);
        return Some(());
    }
    let (&[_, _, _, b' ', m0, m1, m2, b' ', d1, d0, b' '], rest) = text.split_first_chunk::<11>()? else {
        return None;
    };
    let (clock, &[b' ', y3, y2, y1, y0]) = rest.split_last_chunk::<5>()? else { return None };
    let month = time::read_month([m0, m1, m2])?;
    let d1 = if d1 == b' ' { b'0' } else { d1 };
    write!(
        out,
        "{}-{month:02}-{}T",
        String::from_utf8_lossy(&[y3, y2, y1, y0]),
        String::from_utf8_lossy(&[d1, d0])
    )
    .ok()?;
    out.extend_from_slice(clock);
    Some(())
}

/// The variables that are the time, and how it is written.
fn choose(variables: &[Variable], options: &Options) -> Result<(Vec<usize>, Written), String> {
    let named = |name: &str| variables.iter().position(|variable| variable.name == name);
    let written = |slot: usize| {
        variables.get(slot).and_then(|variable| variable.time.clone()).unwrap_or(Written::Usual)
    };
    if let Some(name) = &options.time {
        let slot =
            named(name).ok_or_else(|| format!("the pattern has no field \"{name}\" to be the time"))?;
        return Ok((vec![slot], written(slot)));
    }
    let times: Vec<(usize, &Written)> = variables
        .iter()
        .enumerate()
        .filter_map(|(slot, variable)| Some((slot, variable.time.as_ref()?)))
        .collect();
    let is_fraction = |written: &Written| matches!(written, Written::Letters(letters) if letters == "%f");
    let has_fraction = times.iter().any(|(_, written)| is_fraction(written));
    let number = times.iter().filter_map(|(slot, written)| match written {
        Written::Number(unit) => Some((*slot, *unit)),
        _ => None,
    });
    // The finest.
    if let Some((slot, unit)) = number.max_by_key(|(_, unit)| match unit {
        TimeUnit::Auto | TimeUnit::Seconds => 0,
        TimeUnit::Millis => 3,
        TimeUnit::Micros => 6,
        TimeUnit::Nanos => 9,
    }) {
        if unit == TimeUnit::Seconds
            && let Some((fraction, _)) = times.iter().find(|(_, written)| is_fraction(written))
        {
            return Ok((vec![slot, *fraction], Written::Letters("%s %f".into())));
        }
        return Ok((vec![slot], Written::Number(unit)));
    }
    let letters: Vec<(usize, &str)> = times
        .iter()
        .filter_map(|(slot, written)| match written {
            Written::Letters(letters) => Some((*slot, letters.as_str())),
            _ => None,
        })
        .collect();
    if letters.len() > usize::from(has_fraction) {
        let slots = letters.iter().map(|(slot, _)| *slot).collect();
        let joined: Vec<&str> = letters.into_iter().map(|(_, letters)| letters).collect();
        return Ok((slots, Written::Letters(joined.join(" "))));
    }
    if let Some((slot, _)) = times.iter().find(|(_, written)| **written == Written::Usual) {
        return Ok((vec![*slot], Written::Usual));
    }
    if let (Some(date), Some(time)) = (named("date"), named("time")) {
        return Ok((vec![date, time], Written::Usual));
    }
    NAMES.into_iter().find_map(named).map(|slot| (vec![slot], Written::Usual)).ok_or_else(|| {
        "the pattern has no time: name its field time, or say which one it is with --time NAME".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::format_time;

    fn variable(name: &str) -> Variable {
        Variable { name: name.into(), typed: name.into(), time: None }
    }

    fn read(options: &Options, text: &str) -> Option<String> {
        let mut when = When::new(&[variable("time")], options).unwrap();
        let stamp = when.read(text.as_bytes(), std::slice::from_ref(&(0..text.len())))?;
        Some(format_time(stamp.at, stamp.digits))
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(read(&Options::default(), text).as_deref(), Some(expected), "{text}");
    }

    fn check_letters(letters: &str, zone: &str, text: &str, expected: &str) {
        let options = Options {
            time_format: Some(letters.into()),
            zones: vec![zone.parse().unwrap()],
            year: Some(2015),
            ..Options::default()
        };
        assert_eq!(read(&options, text).as_deref(), Some(expected), "{letters}: {text}");
    }

    #[test]
    fn the_usual_ways_to_write_a_time_need_no_telling() {
        check("17/May/2015:10:05:03 +0000", "2015-05-17T10:05:03Z");
        check("[17/May/2015:10:05:03 +0200]", "2015-05-17T08:05:03Z");
        check("17/May/2015:10:05:03.25", "2015-05-17T10:05:03.25Z");
        check("2012-07-02 10:22:40,672", "2012-07-02T10:22:40.672Z");
        check("Sun Dec 04 04:47:44 2005", "2005-12-04T04:47:44Z");
        check("Sun Dec  4 04:47:44.123456 2005", "2005-12-04T04:47:44.123456Z");
        check("2005/12/04 04:47:44", "2005-12-04T04:47:44Z");
        check("1431857103.5", "2015-05-17T10:05:03.5Z");
        for text in ["", "yesterday", "Sun Dic 04 04:47:44 2005", "Sun Dec xx 04:47:44 2005", "2005/12/04"] {
            assert_eq!(read(&Options::default(), text), None, "{text}");
        }
    }

    #[test]
    fn a_time_without_a_zone_is_in_the_one_that_is_told() {
        let options = Options { zones: vec!["+02:00".parse().unwrap()], ..Options::default() };
        for (text, expected) in [
            ("2015-05-17 10:05:03", "2015-05-17T08:05:03Z"),
            ("17/May/2015:10:05:03.25", "2015-05-17T08:05:03.25Z"),
            ("Sun Dec 04 04:47:44 2005", "2005-12-04T02:47:44Z"),
            ("17/May/2015:10:05:03 +0000", "2015-05-17T10:05:03Z"),
            ("2015-05-17T10:05:03Z", "2015-05-17T10:05:03Z"),
            ("1431857103", "2015-05-17T10:05:03Z"),
        ] {
            assert_eq!(read(&options, text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_time_may_be_written_in_any_letters() {
        check_letters("%B - %d, %Y:%H:%M:%S", "UTC", "February - 10, 2012:16:42:07", "2012-02-10T16:42:07Z");
        check_letters("%d.%m.%Y %H:%M:%S", "+02:00", "17.05.2015 10:05:03", "2015-05-17T08:05:03Z");
        check_letters(
            "%d.%m.%Y %H:%M:%S%.f %z",
            "+02:00",
            "17.05.2015 10:05:03.120 +0000",
            "2015-05-17T10:05:03.120Z",
        );
        check_letters("%b %d %H:%M:%S", "+02:00", "May  7 10:05:03", "2015-05-07T08:05:03Z");
        check_letters("%b %d %H:%M:%S %Y %f", "UTC", "May  7 10:05:03 2015 025", "2015-05-07T10:05:03.025Z");
        check_letters("%s", "+02:00", "1431857103", "2015-05-17T10:05:03Z");
        let options = Options { time_format: Some("%Y %!".into()), ..Options::default() };
        let error = When::new(&[variable("time")], &options).unwrap_err();
        assert!(error.starts_with("\"%Y %!\" is no way to write a time"), "{error}");
    }

    #[test]
    fn a_date_and_a_time_apart_are_one() {
        let mut when =
            When::new(&[variable("date"), variable("ip"), variable("time")], &Options::default()).unwrap();
        let line = b"2015-05-17 192.0.2.1 10:05:03";
        let stamp = when.read(line, &[0..10, 11..20, 21..29]).unwrap();
        assert_eq!(format_time(stamp.at, stamp.digits), "2015-05-17T10:05:03Z");
    }

    #[test]
    fn a_pattern_without_a_time_is_told() {
        let error = When::new(&[variable("ip")], &Options::default()).unwrap_err();
        assert!(error.contains("--time NAME"), "{error}");
        let options = Options { time: Some("at".into()), ..Options::default() };
        assert!(When::new(&[variable("time")], &options).unwrap_err().contains("no field \"at\""));
        assert!(When::new(&[variable("at")], &options).is_ok());
    }
}
