//! I10: the clock steps back, jumps ahead, and is set right again.

use crate::scenario::{Clock, Event, Shape, Weight, config, events, shape, slices};
use floodmark::{Decision, Detector, Form, Limiter, Placed, Step, Timestamp};
use proptest::prelude::*;
use std::time::Duration;

fn detector(shape: Shape, mark: u64) -> Detector {
    Detector::builder(shape.rate(mark)).form(shape.form).build().unwrap()
}

fn limiter(shape: Shape, limit: u64) -> Limiter {
    Limiter::builder().limit(shape.rate(limit)).form(shape.form).build().unwrap()
}

/// The events, moved so that the first of them is at `start`.
fn moved_to(start: u64, events: &[Event]) -> Vec<Event> {
    let first = events.first().map_or(0, |event| event.at);
    events.iter().map(|event| Event { at: start + (event.at - first), ..*event }).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_window_and_a_slice_after_the_newest_time_everything_is_as_without_the_past(
        (shape, past) in events(shape(), Clock::Steps, Weight::Any, 40),
        (_, future) in events(shape(), Clock::Forwards, Weight::Any, 20),
        limit in 1..8u64,
    ) {
        let newest = past.iter().map(|event| event.at).max().unwrap_or(0);
        prop_assume!(newest < u64::MAX / 2);
        let (old, new) = (detector(shape, limit), detector(shape, limit));
        let (old_limiter, new_limiter) = (limiter(shape, limit), limiter(shape, limit));
        for event in &past {
            old.hit_at(event.key(), event.n, event.time());
            old_limiter.check_at(event.key(), event.n, event.time());
        }
        for event in moved_to(newest + shape.window() + shape.slice(), &future) {
            let (seen, expected) =
                (old.hit_at(event.key(), event.n, event.time()), new.hit_at(event.key(), event.n, event.time()));
            prop_assert_eq!((seen.count, seen.placed), (expected.count, expected.placed), "{:?}", event);
            prop_assert_eq!(
                old_limiter.check_at(event.key(), event.n, event.time()),
                new_limiter.check_at(event.key(), event.n, event.time())
            );
        }
    }

    #[test]
    fn a_far_future_reading_gives_no_amnesty_and_is_gone_within_a_window_and_a_slice(
        shape in prop_oneof![Just(Shape { form: Form::Exact, window_ns: 10_000_000 }), slices()],
        part in 0..u64::MAX,
        beyond in 1..1_000_000_000_000u64,
        limit in 1..8u64,
    ) {
        let limiter = limiter(shape, limit);
        let now = 1_700_000_000_000_000_000 + part % shape.window();
        let wait = shape.window() + shape.slice();
        prop_assert!(limiter.check_at("k", limit, Timestamp::from_nanos(now + wait + beyond)).is_allowed());
        let Decision::Denied { retry_after, .. } = limiter.check_at("k", 1, Timestamp::from_nanos(now)) else {
            return Err(TestCaseError::fail("amnesty"));
        };
        prop_assert!(retry_after <= Duration::from_nanos(wait));
        prop_assert_eq!(limiter.stats().healed, 1);
        prop_assert!(limiter.check_at("k", limit, Timestamp::from_nanos(now + wait)).is_allowed());
    }
}

#[test]
fn one_straggler_does_not_wipe_out_a_hot_key_and_two_set_its_clock_right() {
    let detector = Detector::builder("3/1s".parse().unwrap()).form(Form::Exact).build().unwrap();
    let (now, future) = (Timestamp::from_secs(1_000), Timestamp::from_secs(9_000));
    assert!(matches!(detector.hit_at("k", 3, future).step, Step::Hot { .. }));
    let straggler = detector.hit_at("k", 1, now);
    assert_eq!((straggler.placed, straggler.count.hi), (Placed::TooLate, 3));
    assert_eq!(detector.hit_at("k", 1, future).placed, Placed::OnTime, "between them: no two in a row");
    assert_eq!(detector.hit_at("k", 1, now).placed, Placed::TooLate);
    let healed = detector.hit_at("k", 1, now);
    assert_eq!((healed.placed, healed.count.hi, healed.step), (Placed::Healed, 5, Step::Still));
    assert_eq!(detector.count_at("k", Timestamp::from_secs(1_001)).hi, 0);
    let over = detector.poll(Timestamp::from_secs(1_002));
    let times: Vec<_> = over.iter().map(|(_, cooled)| (cooled.from, cooled.until)).collect();
    assert_eq!(times, [(now, Timestamp::from_secs(1_001))], "nothing of it was later than the right time");
}

#[test]
fn a_late_request_is_judged_at_the_newest_time() {
    let limiter = Limiter::builder().limit("2/1s".parse().unwrap()).form(Form::Exact).build().unwrap();
    let at = Timestamp::from_millis;
    assert!(limiter.check_at("k", 2, at(10_000)).is_allowed());
    // In its own past there was room.
    match limiter.check_at("k", 1, at(9_500)) {
        Decision::Denied { retry_after, .. } => assert_eq!(retry_after, Duration::from_millis(1_500)),
        other => panic!("{other:?}"),
    }
}
