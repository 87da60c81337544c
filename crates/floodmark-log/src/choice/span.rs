//! `--since` and `--until`: a moment, as people type it.

use crate::options::TimeUnit;
use crate::time;
use floodmark::{Timestamp, parse_duration};

/// Reads a time (`2015-05-17T10:05:03Z`, `2015-05-17 10:05`), a day (`2015-05-17`, its beginning in UTC), a number since
/// the epoch, or a duration before `now` (`2h`).
///
/// # Errors
/// What to type instead.
pub fn read_moment(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    let text = text.trim();
    if let Ok(ago) = parse_duration(text) {
        return Ok(Timestamp::from_nanos(now.as_nanos().saturating_sub(ago.as_nanos() as u64)));
    }
    // A year, surely: no log is of the first hours of 1970.
    if text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("\"{text}\" is a year: say a day of it, as {text}-01-01"));
    }
    let spellings = [text.to_string(), format!("{text}:00"), format!("{text}T00:00:00")];
    let read = spellings.iter().find_map(|text| time::read_any(text.as_bytes(), TimeUnit::Auto));
    read.map(|stamp| stamp.at).ok_or_else(|| {
        format!(
            "\"{text}\" is no time: say one as 2026-05-17T10:05:03Z or 2026-05-17, or a duration ago as 2h"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let now = Timestamp::from_secs(1_700_000_000);
        let read = read_moment(text, now).map(|at| time::format_time(at, 0));
        assert_eq!(read.as_deref().unwrap_or("none"), expected, "{text}");
    }

    #[test]
    fn a_moment_is_a_time_a_day_or_a_while_ago() {
        check("2023-11-14T22:13:20Z", "2023-11-14T22:13:20Z");
        check("2023-11-14T22:13:20+02:00", "2023-11-14T20:13:20Z");
        check("2023-11-14 22:13", "2023-11-14T22:13:00Z");
        check("2023-11-14", "2023-11-14T00:00:00Z");
        check("1700000000", "2023-11-14T22:13:20Z");
        check("2h", "2023-11-14T20:13:20Z");
        check("17/May/2015:10:05:03 +0000", "2015-05-17T10:05:03Z");
        check("yesterday", "none");
        check("2023", "none");
        check("", "none");
    }
}
