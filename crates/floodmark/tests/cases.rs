//! Bugs of other limiters and detectors, as sequences of events on which this engine must be right.
//!
//! The events are read from `cases/sequences.json` in the folder that `FLOODMARK_DATA` names; each test says what is
//! asked of them. Where the promise holds for slices too, both forms are held to it.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use floodmark::{Clock, Decision, Detector, Form, Limiter, ManualClock, Step, Timestamp};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The sequences that are tested here, each by one test.
const TESTED: [(&str, fn()); 13] = [
    ("fail2ban/fail2ban#1877", bursts_further_apart_than_the_window_do_not_add_up),
    ("alisaifee/limits#200", retry_after_counts_from_the_oldest_event),
    ("alisaifee/limits#151/#152", a_cost_above_the_limit_is_never_allowed),
    ("alisaifee/limits#28", a_caller_within_the_limit_is_never_denied),
    ("upstash/ratelimit-js#39", a_limit_of_one_admits_again_after_one_window),
    ("tower-rs/tower#842", a_burst_across_a_boundary_gets_the_limit_once),
    ("ELares/IronTraffic#212", the_first_batch_leaves_after_exactly_one_window),
    ("mokies/ratelimitj#24", the_window_slides),
    ("apache/shenyu#6754", expired_events_need_no_cleaning),
    ("mailgun/gubernator#118", a_steady_flood_gets_the_limit_in_every_window),
    ("jd hotkey SlidingWindow.java (read + simulated)", a_long_window_is_not_cut_short),
    ("bucket4j/bucket4j#51", all_room_is_back_after_a_long_idle_gap),
    ("crowdsecurity/crowdsec#2172", an_episode_has_the_times_of_the_log),
];

/// The sequences that belong to later issues, and why.
const LATER: [(&str, &str); 7] = [
    ("mailgun/gubernator#77", "a leaking bucket: the form Gcra"),
    ("zeromicro/go-zero#340", "sums per slice of a weighted window: the form Weighted"),
    ("brandur/redis-cell#50", "the form Gcra"),
    ("fail2ban/fail2ban#2149", "the year of a syslog line: a parser"),
    ("fail2ban/fail2ban#2566", "local time without a zone: a parser"),
    ("express-rate-limit#667", "keys that are address prefixes"),
    ("Flowfin/jellyfin-plugin-sso#194", "keys that are address prefixes, NAT64"),
];

const BOTH: [Form; 2] = [Form::Exact, Form::Slices(10)];
const SECS: u64 = 1_000_000_000;
const MILLIS: u64 = 1_000_000;
const NANOS: u64 = 1;

struct Event {
    key: String,
    at: Timestamp,
    n: u64,
}

/// The sequences; `None`, and one line that says so, where there is no data.
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tested")]
fn sequences() -> Option<Vec<Value>> {
    let folder = std::env::var_os("FLOODMARK_DATA").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    let path = folder.join("cases/sequences.json");
    let Ok(text) = std::fs::read(&path) else {
        eprintln!("skipped: there is no {} (FLOODMARK_DATA names the folder)", path.display());
        return None;
    };
    Some(serde_json::from_slice(&text).unwrap())
}

fn events(reference: &str, unit: u64) -> Option<Vec<Event>> {
    let sequences = sequences()?;
    let sequence = sequences.iter().find(|sequence| sequence["ref"] == reference).unwrap();
    let event = |event: &Value| Event {
        key: event[0].as_str().unwrap().into(),
        at: Timestamp::from_nanos(event[1].as_u64().unwrap() * unit),
        n: event[2].as_u64().unwrap_or(1),
    };
    Some(sequence["events"].as_array().unwrap().iter().map(event).collect())
}

fn limiter(limit: &str, form: Form) -> (Limiter, ManualClock) {
    let clock = ManualClock::default();
    let builder = Limiter::builder().limit(limit.parse().unwrap()).form(form).clock(clock.clone());
    (builder.build().unwrap(), clock)
}

/// What a limit answers to each event of a sequence, in one form; the limiter and its clock are left as they are then.
fn decide(
    reference: &str,
    unit: u64,
    limit: &str,
    form: Form,
) -> Option<(Vec<Decision>, Limiter, ManualClock)> {
    let (limiter, clock) = limiter(limit, form);
    let decide = |event: &Event| {
        clock.set(event.at);
        limiter.check_n(&event.key, event.n)
    };
    let decisions = events(reference, unit)?.iter().map(decide).collect();
    Some((decisions, limiter, clock))
}

/// Holds a limit, in each form, to the places of the events that it allows.
#[track_caller]
fn check_limit(
    reference: &str,
    unit: u64,
    limit: &str,
    forms: &[Form],
    allowed: impl IntoIterator<Item = usize>,
) {
    let allowed: Vec<usize> = allowed.into_iter().collect();
    for &form in forms {
        let Some((decisions, ..)) = decide(reference, unit, limit, form) else { return };
        let places = (0..decisions.len()).filter(|&i| decisions[i].is_allowed());
        assert_eq!(places.collect::<Vec<_>>(), allowed, "{form:?}");
    }
}

/// Holds a mark, in both forms, to the keys that become hot, and when.
#[track_caller]
fn check_mark(reference: &str, mark: &str, expected: &[(&str, u64)]) {
    for form in BOTH {
        let Some(events) = events(reference, SECS) else { return };
        let detector = Detector::builder(mark.parse().unwrap()).form(form).build().unwrap();
        let mut hot = Vec::new();
        for Event { key, at, n } in &events {
            if let Step::Hot { .. } = detector.hit_at(key, *n, *at).step {
                hot.push((key.as_str(), at.as_nanos() / SECS));
            }
        }
        assert_eq!(hot, expected, "{form:?}");
    }
}

#[test]
fn bursts_further_apart_than_the_window_do_not_add_up() {
    check_mark("fail2ban/fail2ban#1877", "4/900s", &[("125.215.251.164", 13_466)]);
}

#[test]
fn a_long_window_is_not_cut_short() {
    check_mark("jd hotkey SlidingWindow.java (read + simulated)", "100/3600s", &[("k", 3_564)]);
}

#[test]
fn retry_after_counts_from_the_oldest_event() {
    let Some((decisions, limiter, clock)) = decide("alisaifee/limits#200", SECS, "2/60s", Form::Exact) else {
        return;
    };
    assert_eq!(decisions.iter().map(Decision::is_allowed).collect::<Vec<_>>(), [true, true, false]);
    let wait = decisions[2].retry_after().unwrap();
    assert_eq!(wait, Duration::from_secs(40));
    let one_tick = Duration::from_nanos(1);
    clock.advance(wait - one_tick);
    assert_eq!(limiter.check("k").retry_after(), Some(one_tick));
    clock.advance(one_tick);
    assert!(limiter.check("k").is_allowed());
}

#[test]
fn a_cost_above_the_limit_is_never_allowed() {
    for form in BOTH {
        let Some((decisions, limiter, clock)) = decide("alisaifee/limits#151/#152", SECS, "10/60s", form)
        else {
            return;
        };
        assert!(matches!(decisions[..], [Decision::Never { by: 0, .. }]), "{decisions:?}");
        assert_eq!(decisions[0].retry_after(), None);
        clock.advance(Duration::from_secs(1_000_000));
        assert!(matches!(limiter.check_n("k", 11), Decision::Never { .. }));
        assert!(limiter.check_n("k", 10).is_allowed(), "what was never allowed consumed nothing");
    }
}

#[test]
fn a_caller_within_the_limit_is_never_denied() {
    check_limit("alisaifee/limits#28", SECS, "2/6s", &BOTH, 0..10);
}

/// Slices of a second admit again within a window and a slice, as they promise, which is after the last event here.
#[test]
fn a_limit_of_one_admits_again_after_one_window() {
    check_limit("upstash/ratelimit-js#39", SECS, "1/10s", &[Form::Exact], [0, 2]);
    check_limit("upstash/ratelimit-js#39", SECS, "1/10s", &[Form::Slices(10)], [0]);
}

#[test]
fn a_burst_across_a_boundary_gets_the_limit_once() {
    check_limit("tower-rs/tower#842", MILLIS, "100/1000ms", &BOTH, 0..100);
}

#[test]
fn the_first_batch_leaves_after_exactly_one_window() {
    let reference = "ELares/IronTraffic#212";
    check_limit(reference, NANOS, "100/1s", &BOTH, 0..100);
    let Some((_, limiter, clock)) = decide(reference, NANOS, "100/1s", Form::Exact) else { return };
    assert_eq!(clock.now(), Timestamp::from_nanos(1_999_999_998));
    assert!(!limiter.check_n("k", 1).is_allowed());
    clock.advance(Duration::from_nanos(1));
    assert!(limiter.check_n("k", 100).is_allowed());
}

/// Sixty slices are fine enough for these times; ten hold the first event for a slice longer.
#[test]
fn the_window_slides() {
    check_limit("mokies/ratelimitj#24", SECS, "2/60s", &[Form::Exact, Form::Slices(60)], 0..3);
}

#[test]
fn expired_events_need_no_cleaning() {
    check_limit("apache/shenyu#6754", SECS, "2/60s", &BOTH, 0..3);
}

/// An event each 100 ms: three pass in each second, at its start. (The other half of the case is Gcra's.) Slices
/// admit no more, but later.
#[test]
fn a_steady_flood_gets_the_limit_in_every_window() {
    let first_three = (0..30).filter(|i| i % 10 < 3);
    check_limit("mailgun/gubernator#118", MILLIS, "3/1000ms", &[Form::Exact], first_three);
    let each_eleven = (0..30).filter(|i| i % 11 < 3);
    check_limit("mailgun/gubernator#118", MILLIS, "3/1000ms", &[Form::Slices(10)], each_eleven);
}

/// No events are given: any rate will do.
#[test]
fn all_room_is_back_after_a_long_idle_gap() {
    for (limit, most) in [("1/1s", 1), ("10/1s", 10), ("1000/1h", 1000)] {
        for form in [Form::Auto, Form::Exact, Form::Slices(10), Form::Slices(1)] {
            let (limiter, clock) = limiter(limit, form);
            clock.set(Timestamp::from_secs(1_700_000_000));
            assert!(limiter.check_n("k", most).is_allowed());
            assert!(!limiter.check("k").is_allowed());
            clock.advance(Duration::from_secs(12 * 3600));
            assert_eq!(limiter.peek_at("k", 0, clock.now()).quota().remaining, most, "{limit}, {form:?}");
            assert!(limiter.check_n("k", most).is_allowed(), "{limit}, {form:?}");
        }
    }
}

#[test]
fn an_episode_has_the_times_of_the_log() {
    let reference = "crowdsecurity/crowdsec#2172";
    check_mark(reference, "2/3h", &[("root", 7_200)]);
    let Some(events) = events(reference, SECS) else { return };
    let detector = Detector::builder("2/3h".parse().unwrap()).form(Form::Exact).build().unwrap();
    for Event { key, at, n } in &events {
        detector.hit_at(key, *n, *at);
    }
    let episodes = detector.finish();
    let [(_, cooled)] = episodes.as_slice() else { panic!("{episodes:?}") };
    assert_eq!(cooled.peak_at.saturating_since(events[0].at), Duration::from_secs(7_200));
    // The first event leaves the window, and the log's own time is all that was asked.
    assert_eq!((cooled.from, cooled.until), (Timestamp::from_secs(7_200), Timestamp::from_secs(3 * 3600)));
}

#[test]
fn every_sequence_is_tested_or_listed() {
    let Some(sequences) = sequences() else { return };
    let tested = TESTED.iter().map(|(reference, _)| *reference);
    let mut known: Vec<&str> = tested.chain(LATER.iter().map(|(reference, _)| *reference)).collect();
    let mut all: Vec<&str> = sequences.iter().map(|sequence| sequence["ref"].as_str().unwrap()).collect();
    known.sort_unstable();
    all.sort_unstable();
    assert_eq!(known, all);
}
