//! Bugs of other limiters and detectors, as sequences of events, through the command: written as lines of
//! `time key [n]`, some time after the epoch.
//!
//! What only a library can be asked (when to retry, and whether never) is tested beside the engine, on the same
//! sequences; so is bucket4j's, which gives no events, and which is made up here.

use crate::common::{Folder, Run, data_json, jsonl};
use serde_json::Value;
use std::fmt::Write;
use std::fs::File;
use std::time::{Duration, SystemTime};

/// The sequences that are tested here, each by one test.
const TESTED: [(&str, fn()); 17] = [
    ("fail2ban/fail2ban#1877", bursts_further_apart_than_the_window_do_not_add_up),
    ("alisaifee/limits#200", the_third_within_a_window_for_two_is_rejected),
    ("alisaifee/limits#151/#152", a_cost_above_the_limit_is_rejected_whole),
    ("alisaifee/limits#28", a_caller_within_the_limit_is_never_rejected),
    ("upstash/ratelimit-js#39", a_limit_of_one_admits_again_after_one_window),
    ("tower-rs/tower#842", a_burst_across_a_boundary_gets_the_limit_once),
    ("ELares/IronTraffic#212", the_first_batch_leaves_after_exactly_one_window),
    ("mokies/ratelimitj#24", the_window_slides),
    ("apache/shenyu#6754", expired_events_need_no_cleaning),
    ("mailgun/gubernator#118", a_steady_flood_gets_the_limit_in_every_window),
    ("jd hotkey SlidingWindow.java (read + simulated)", a_long_window_is_not_cut_short),
    ("bucket4j/bucket4j#51", all_room_is_back_after_a_long_idle_gap),
    ("crowdsecurity/crowdsec#2172", a_span_is_that_of_the_log),
    ("fail2ban/fail2ban#2149", a_time_without_a_year_is_of_the_latest_that_is_not_in_the_future),
    ("fail2ban/fail2ban#2566", an_hour_that_comes_twice_is_counted_twice),
    ("express-rate-limit#667", a_prefix_is_that_of_the_address_that_is_meant),
    ("Flowfin/jellyfin-plugin-sso#194", addresses_behind_nat64_are_two_keys),
];

/// The sequences that belong to later issues, and why.
const LATER: [(&str, &str); 3] = [
    ("mailgun/gubernator#77", "a leaking bucket: the form Gcra"),
    ("zeromicro/go-zero#340", "sums per slice of a weighted window: the form Weighted"),
    ("brandur/redis-cell#50", "the form Gcra"),
];

/// 2023-11-14T22:13:20Z, in seconds.
const START: u64 = 1_700_000_000;

/// The unit of a sequence's times.
#[derive(Clone, Copy)]
enum Unit {
    Secs,
    Millis,
    Nanos,
}

impl Unit {
    fn per_second(self) -> u64 {
        match self {
            Self::Secs => 1,
            Self::Millis => 1_000,
            Self::Nanos => 1_000_000_000,
        }
    }

    /// A time of a sequence as the output shows it.
    fn shown(self, time: u64) -> String {
        let nanos = 1_000_000_000 / self.per_second();
        let at = floodmark::Timestamp::from_nanos(START * 1_000_000_000 + time * nanos);
        floodmark_log::format_time(at, self.per_second().ilog10() as u8)
    }
}

/// The events of a sequence as a stream of keys; with some of ours behind them.
fn lines(reference: &str, unit: Unit, more: &[(&str, u64, u64)]) -> Option<String> {
    let sequences = data_json("cases/sequences.json")?;
    let sequence =
        sequences.as_array().unwrap().iter().find(|sequence| sequence["ref"] == reference).unwrap();
    let mut lines = String::new();
    let mut add = |key: &str, time: u64, n: Option<u64>| {
        let time = START * unit.per_second() + time;
        match n {
            Some(n) => writeln!(lines, "{time} {key} {n}").unwrap(),
            None => writeln!(lines, "{time} {key}").unwrap(),
        }
    };
    for event in sequence["events"].as_array().into_iter().flatten() {
        add(event[0].as_str().unwrap(), event[1].as_u64().unwrap(), event[2].as_u64());
    }
    more.iter().for_each(|&(key, time, n)| add(key, time, Some(n)));
    Some(lines)
}

fn run_on(lines: &str, args: &[&str]) -> Run {
    let folder = Folder::new();
    jsonl(&[args, &[&folder.file("keys.txt", lines)]].concat())
}

/// What a limit did to a key: how much it asked for and how much it got, and when it was first and last rejected.
struct Expected {
    asked: u64,
    admitted: u64,
    rejected_at: Option<(u64, u64)>,
}

#[track_caller]
fn check_limit(lines: Option<String>, unit: Unit, limit: &str, expected: &Expected) {
    let Some(lines) = lines else { return };
    let run = run_on(&lines, &["replay", "--all", "--limit", limit]);
    let record = run.record("replay");
    let &Expected { asked, admitted, rejected_at } = expected;
    assert_eq!(record["asked"], asked, "{record}");
    assert_eq!(record["admitted"], admitted, "{record}");
    assert_eq!(record["rejected"], asked - admitted, "{record}");
    let shown = |time: Option<u64>| time.map_or(Value::Null, |time| unit.shown(time).into());
    assert_eq!(record["first_rejected"], shown(rejected_at.map(|(first, _)| first)), "{record}");
    assert_eq!(record["last_rejected"], shown(rejected_at.map(|(_, last)| last)), "{record}");
    let most: u64 = limit.split_once('/').unwrap().0.parse().unwrap();
    assert!(record["worst"].as_u64().unwrap() <= most, "{record}");
    let total = run.record("replay_total");
    assert_eq!((&total["asked"], &total["rejected"]), (&asked.into(), &(asked - admitted).into()));
}

/// The keys that become hot, and when.
#[track_caller]
fn check_mark(lines: Option<String>, mark: &str, expected: &[(&str, u64)]) -> Option<Run> {
    let run = run_on(&lines?, &["hot", "--mark", mark]);
    let hot = run.records("hot");
    let hot: Vec<_> =
        hot.iter().map(|hot| (hot["key"].as_str().unwrap(), hot["at"].as_str().unwrap())).collect();
    let expected: Vec<_> = expected.iter().map(|&(key, at)| (key, Unit::Secs.shown(at))).collect();
    assert_eq!(hot, expected.iter().map(|(key, at)| (*key, at.as_str())).collect::<Vec<_>>());
    Some(run)
}

#[test]
fn bursts_further_apart_than_the_window_do_not_add_up() {
    let lines = lines("fail2ban/fail2ban#1877", Unit::Secs, &[]);
    let Some(run) = check_mark(lines.clone(), "4/900s", &[("125.215.251.164", 13_466)]) else { return };
    assert_eq!(run.records("cooled").len(), 1);
    let top = run_on(&lines.unwrap(), &["hot", "--mark", "4/900s", "--top", "2"]).records("top");
    assert_eq!((&top[1]["key"], &top[1]["max"]), (&"112.175.39.139".into(), &3.into()));
}

#[test]
fn a_long_window_is_not_cut_short() {
    let lines = lines("jd hotkey SlidingWindow.java (read + simulated)", Unit::Secs, &[]);
    check_mark(lines, "100/3600s", &[("k", 3_564)]);
}

/// Its wait of 40 s, seen from the outside: 39 s later it is rejected once more, and after 40 s it passes.
#[test]
fn the_third_within_a_window_for_two_is_rejected() {
    let lines = lines("alisaifee/limits#200", Unit::Secs, &[("k", 59, 1), ("k", 60, 1)]);
    check_limit(lines, Unit::Secs, "2/60s", &Expected { asked: 5, admitted: 3, rejected_at: Some((20, 59)) });
}

#[test]
fn a_cost_above_the_limit_is_rejected_whole() {
    let lines = lines("alisaifee/limits#151/#152", Unit::Secs, &[("k", 1, 10)]);
    check_limit(
        lines,
        Unit::Secs,
        "10/60s",
        &Expected { asked: 21, admitted: 10, rejected_at: Some((0, 0)) },
    );
}

#[test]
fn a_caller_within_the_limit_is_never_rejected() {
    let lines = lines("alisaifee/limits#28", Unit::Secs, &[]);
    check_limit(lines, Unit::Secs, "2/6s", &Expected { asked: 10, admitted: 10, rejected_at: None });
}

#[test]
fn a_limit_of_one_admits_again_after_one_window() {
    let lines = lines("upstash/ratelimit-js#39", Unit::Secs, &[]);
    check_limit(lines, Unit::Secs, "1/10s", &Expected { asked: 3, admitted: 2, rejected_at: Some((5, 5)) });
}

#[test]
fn a_burst_across_a_boundary_gets_the_limit_once() {
    let lines = lines("tower-rs/tower#842", Unit::Millis, &[]);
    let expected = Expected { asked: 200, admitted: 100, rejected_at: Some((1_100, 1_100)) };
    check_limit(lines, Unit::Millis, "100/1000ms", &expected);
}

#[test]
fn the_first_batch_leaves_after_exactly_one_window() {
    let at = 1_999_999_998;
    let more = lines("ELares/IronTraffic#212", Unit::Nanos, &[("k", at + 1, 100)]);
    let expected = Expected { asked: 400, admitted: 200, rejected_at: Some((at, at)) };
    check_limit(more, Unit::Nanos, "100/1000000000ns", &expected);
}

#[test]
fn the_window_slides() {
    let lines = lines("mokies/ratelimitj#24", Unit::Secs, &[]);
    check_limit(lines, Unit::Secs, "2/60s", &Expected { asked: 3, admitted: 3, rejected_at: None });
}

#[test]
fn expired_events_need_no_cleaning() {
    let lines = lines("apache/shenyu#6754", Unit::Secs, &[]);
    check_limit(lines, Unit::Secs, "2/60s", &Expected { asked: 3, admitted: 3, rejected_at: None });
}

#[test]
fn a_steady_flood_gets_the_limit_in_every_window() {
    let lines = lines("mailgun/gubernator#118", Unit::Millis, &[]);
    let expected = Expected { asked: 30, admitted: 9, rejected_at: Some((300, 2_900)) };
    check_limit(lines, Unit::Millis, "3/1000ms", &expected);
}

#[test]
fn all_room_is_back_after_a_long_idle_gap() {
    let half_a_day = 12 * 3600;
    for (limit, most) in [("1/1s", 1), ("100/1m", 100), ("1000/1h", 1000)] {
        let lines = lines("bucket4j/bucket4j#51", Unit::Secs, &[("k", 0, most), ("k", half_a_day, most)]);
        let all = Expected { asked: 2 * most, admitted: 2 * most, rejected_at: None };
        check_limit(lines, Unit::Secs, limit, &all);
    }
}

#[test]
fn a_span_is_that_of_the_log() {
    let lines = lines("crowdsecurity/crowdsec#2172", Unit::Secs, &[]);
    let Some(run) = check_mark(lines, "2/3h", &[("root", 7_200)]) else { return };
    let (summary, cooled) = (run.summary(), run.record("cooled"));
    assert_eq!(summary["first"], Unit::Secs.shown(0));
    assert_eq!(summary["last"], Unit::Secs.shown(7_200));
    assert_eq!(
        (&cooled["from"], &cooled["until"]),
        (&Unit::Secs.shown(7_200).into(), &Unit::Secs.shown(10_800).into())
    );
}

/// The file was last written when the line was, on a host two hours east; so it is of 2018, not of the year before.
#[test]
fn a_time_without_a_year_is_of_the_latest_that_is_not_in_the_future() {
    let folder = Folder::new();
    let line = "Jun  6 12:57:29 host sshd[1]: Failed password for root from 192.0.2.1 port 5 ssh2\n";
    let path = folder.file("auth.log", line);
    let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1_528_282_649);
    File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
    let run = jsonl(&["hot", "--time-zone", "+02:00", &path]);
    assert_eq!(run.summary()["first"], "2018-06-06T10:57:29Z");
    let run = jsonl(&["hot", "--time-zone", "host=+02:00", "--year", "2017", &path]);
    assert_eq!(run.summary()["first"], "2017-06-06T10:57:29Z");
}

/// 01:08:49 after 01:59: the clocks of the host have been set back by an hour.
#[test]
fn an_hour_that_comes_twice_is_counted_twice() {
    let folder = Folder::new();
    let times = ["00:30:00", "01:08:49", "01:59:10", "01:08:49", "01:59:59", "02:10:00"];
    let line =
        |time: &str| format!("Nov  3 {time} host sshd[1]: Failed none for a from 192.0.2.1 port 5 ssh2\n");
    let path = folder.file("auth.log", times.map(line).concat());
    let run = jsonl(&["hot", "--year", "2019", "--time-zone", "America/New_York", "--mark", "1/1s", &path]);
    let at: Vec<String> =
        run.records("hot").iter().map(|hot| hot["at"].as_str().unwrap()[11..19].into()).collect();
    assert_eq!(at, ["04:30:00", "05:08:49", "05:59:10", "06:08:49", "06:59:59", "07:10:00"]);
    // Without a zone the log goes back by an hour. It is put in order, and nothing is left out either.
    let run = jsonl(&["hot", "--year", "2019", &path]);
    assert_eq!(run.summary()["events"], 6);
}

/// The keys of a sequence by their networks.
fn networks(reference: &str, prefix: &str) -> Option<Vec<String>> {
    let folder = Folder::new();
    let path = folder.file("keys.txt", lines(reference, Unit::Secs, &[])?);
    let run = jsonl(&["hot", "--mark", "1000/1h", "--key", &format!("key/{prefix}"), "--top", "9", &path]);
    Some(run.records("top").iter().map(|top| top["key"].as_str().unwrap().to_string()).collect())
}

#[test]
fn a_prefix_is_that_of_the_address_that_is_meant() {
    let Some(keys) = networks("express-rate-limit#667", "32,56") else { return };
    assert_eq!(keys, ["1.2.3.4", "2001:db8:1234:5600::/56", "64:ff9b::/56"]);
}

/// They are IPv6 addresses like others: two, and of one /64, as docs/formats.md says.
#[test]
fn addresses_behind_nat64_are_two_keys() {
    let reference = "Flowfin/jellyfin-plugin-sso#194";
    let Some(keys) = networks(reference, "32,128") else { return };
    assert_eq!(keys, ["64:ff9b::808:808", "64:ff9b::909:909"]);
    assert_eq!(networks(reference, "32,64").unwrap(), ["64:ff9b::/64"]);
}

#[test]
fn every_sequence_is_tested_or_listed() {
    let Some(sequences) = data_json("cases/sequences.json") else { return };
    let tested = TESTED.iter().map(|(reference, _)| *reference);
    let mut known: Vec<&str> = tested.chain(LATER.iter().map(|(reference, _)| *reference)).collect();
    let mut all: Vec<&str> =
        sequences.as_array().unwrap().iter().map(|s| s["ref"].as_str().unwrap()).collect();
    known.sort_unstable();
    all.sort_unstable();
    assert_eq!(known, all);
}
