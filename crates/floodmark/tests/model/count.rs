//! Counting: the bracket, gaps, and that every unit is somewhere.

use crate::scenario::{Clock, Event, Shape, Weight, config, events, held_up, shape, slices};
use floodmark::{Count, Detector, Form, Limiter, Placed, Timestamp};
use proptest::prelude::*;

/// A detector whose mark is out of reach.
fn counter(shape: Shape) -> Detector {
    Detector::builder(shape.rate(u64::MAX)).form(shape.form).build().unwrap()
}

fn counted(shape: Shape, events: &[Event]) -> Detector {
    let detector = counter(shape);
    for event in events {
        detector.hit_at(event.key(), event.n, event.time());
    }
    detector
}

/// The units of a key whose time is wanted.
fn units(events: &[Event], key: u8, is_wanted: impl Fn(u64) -> bool) -> u64 {
    events.iter().filter(|event| event.key == key && is_wanted(event.at)).map(|event| event.n).sum()
}

fn newest(events: &[Event], key: u8) -> u64 {
    events.iter().filter(|event| event.key == key).map(|event| event.at).max().unwrap_or(0)
}

/// Instants worth a look after the last event: each grain for three windows, and beside it.
fn instants(shape: Shape, after: u64) -> impl Iterator<Item = u64> {
    let edge = after / shape.grain() * shape.grain();
    let around = move |parts| {
        let at = edge.saturating_add(shape.grain() * parts);
        [at.saturating_sub(1), at, at.saturating_add(1)]
    };
    (0..3 * shape.parts() + 2).flat_map(around).filter(move |&at| at >= after)
}

proptest! {
    #![proptest_config(config())]

    // I1
    #[test]
    fn the_bracket_holds_and_is_as_wide_as_the_oldest_slice(
        (shape, events) in events(shape(), Clock::Forwards, Weight::Small, 40),
        late in prop::collection::vec(any::<u8>(), 8),
    ) {
        let events = held_up(&events, &late, shape.window());
        let detector = counted(shape, &events);
        for key in 0..2 {
            for now in instants(shape, newest(&events, key)) {
                let Count { lo, hi } = detector.count_at([key], Timestamp::from_nanos(now));
                let exact = units(&events, key, |at| now - at < shape.window());
                prop_assert!(lo <= exact && exact <= hi, "{} <= {} <= {} at {}", lo, exact, hi, now);
                let oldest = match shape.form {
                    Form::Slices(n) => units(&events, key, |at| {
                        now / shape.slice() - at / shape.slice() == u64::from(n)
                    }),
                    _ => 0,
                };
                prop_assert_eq!(hi - lo, oldest, "at {}", now);
            }
        }
    }

    // I6
    #[test]
    fn units_counted_in_two_parts_are_as_those_counted_at_once(
        (shape, events) in events(shape(), Clock::Steps, Weight::Any, 40),
    ) {
        let (whole, parts) = (counter(shape), counter(shape));
        for event in events.iter().filter(|event| event.n > 1) {
            let hit = whole.hit_at(event.key(), event.n, event.time());
            let first = parts.hit_at(event.key(), event.n / 3, event.time());
            let both = parts.hit_at(event.key(), event.n - event.n / 3, event.time());
            if hit.placed == Placed::TooLate || first.placed == Placed::TooLate {
                break; // two in a row that are far behind heal, so that two parts can be counted where one is not
            }
            prop_assert_eq!(hit.count, both.count, "{:?}", event);
        }
    }

    // I7
    #[test]
    fn every_unit_is_counted_or_too_late_or_saturated(
        (shape, events) in events(shape(), Clock::Steps, Weight::Any, 40),
        late in prop_oneof![Just(None), (0..5u64).prop_map(Some)],
    ) {
        let mut builder = Detector::builder(shape.rate(3)).form(shape.form);
        if let Some(grains) = late {
            builder = builder.late(std::time::Duration::from_nanos(shape.grain() * grains));
        }
        let detector = builder.build().unwrap();
        for event in &events {
            detector.hit_at(event.key(), event.n, event.time());
        }
        let stats = detector.stats();
        let found = [stats.counted, stats.too_late, stats.saturated].map(u128::from).iter().sum::<u128>();
        let submitted = events.iter().map(|event| u128::from(event.n)).sum::<u128>();
        // Beyond the range of a number the sums themselves saturate.
        let most = u128::from(u64::MAX);
        prop_assert_eq!(found.min(most), submitted.min(most));
    }

    // I12: the times of events that change places differ by less than a window, which is more than (N-1)s.
    #[test]
    fn the_order_of_arrival_within_a_window_changes_no_final_count(
        (shape, events) in events(shape(), Clock::Forwards, Weight::Small, 40),
        late in prop::collection::vec(any::<u8>(), 8),
    ) {
        let (in_order, mixed) = (counted(shape, &events), counter(shape));
        for event in held_up(&events, &late, shape.window()) {
            let hit = mixed.hit_at(event.key(), event.n, event.time());
            prop_assert!(matches!(hit.placed, Placed::OnTime | Placed::Late), "{:?}: {:?}", event, hit);
        }
        for key in 0..2 {
            for now in instants(shape, newest(&events, key)).map(Timestamp::from_nanos) {
                prop_assert_eq!(in_order.count_at([key], now), mixed.count_at([key], now), "at {:?}", now);
            }
        }
    }

    // I2
    #[test]
    fn after_any_idle_gap_the_count_is_right_without_a_call_in_between(
        shape in slices(),
        part in 0..u64::MAX,
    ) {
        const HOUR: u64 = 3_600_000_000_000;
        let (n, s) = (shape.parts(), shape.slice());
        let start = 946_684_800_000_000_000 + part % s;
        let last = start + n * s;
        let long = [8 * HOUR, 365 * 24 * HOUR, 500 * 365 * 24 * HOUR];
        for gap in [n - 1, n, n + 1, 2 * n, 2 * n + 1].map(|slices| slices * s).into_iter().chain(long) {
            let (detector, limiter) = (counter(shape), full_limiter(shape, start, last));
            for slice in 0..=n {
                detector.hit_at("k", 1, Timestamp::from_nanos(start + slice * s));
            }
            let now = Timestamp::from_nanos(last + gap);
            let slices_left = (n + 1).saturating_sub(gap / s);
            prop_assert_eq!(detector.count_at("k", now).hi, slices_left, "after {}", gap);
            prop_assert_eq!(detector.hit_at("k", 1, now).count.hi, slices_left + 1, "after {}", gap);
            let room = n + 1 - slices_left;
            prop_assert!(room == 0 || limiter.check_at("k", room, now).is_allowed(), "after {}", gap);
            prop_assert!(!limiter.check_at("k", 1, now).is_allowed(), "after {}", gap);
        }
    }
}

/// One unit in each slice from `start` to `last`, which is the limit.
fn full_limiter(shape: Shape, start: u64, last: u64) -> Limiter {
    let limiter = Limiter::builder().limit(shape.rate(shape.parts() + 1)).form(shape.form).build().unwrap();
    for at in (start..=last).step_by(shape.slice() as usize) {
        assert!(limiter.check_at("k", 1, Timestamp::from_nanos(at)).is_allowed());
    }
    limiter
}

// I3
#[test]
fn an_expired_event_never_returns_although_a_slice_is_skipped_for_thousands_of_rounds() {
    const N: u64 = 3;
    let shape = Shape { form: Form::Slices(N as u32), window_ns: N * 1_000_000 };
    for skipped in 0..=N {
        let detector = counter(shape);
        // One event in the place that is skipped from then on.
        detector.hit_at("k", 1, Timestamp::from_millis(skipped));
        for slice in (N + 1..4_000 * (N + 1)).filter(|slice| slice % (N + 1) != skipped) {
            let at = Timestamp::from_millis(slice);
            detector.hit_at("k", 1, at);
            let first = u64::from(slice <= skipped + N);
            assert!(detector.count_at("k", at).hi <= N + first, "slice {slice}, {skipped} skipped");
        }
    }
}

// I9
#[test]
fn the_largest_count_in_one_slice_leaves_its_neighbours_alone() {
    const N: u64 = 5;
    let shape = Shape { form: Form::Slices(N as u32), window_ns: N * 1_000_000 };
    for large in 0..=N {
        let detector = counter(shape);
        for slice in 0..=N {
            let n = if slice == large { u64::MAX - N } else { 1 };
            detector.hit_at("k", n, Timestamp::from_millis(100 + slice));
        }
        // What is more than the largest number stays outside, wherever it comes.
        for slice in 0..=N {
            detector.hit_at("k", u64::MAX, Timestamp::from_millis(100 + slice));
        }
        assert_eq!(detector.stats().saturated, u64::MAX);
        for later in 0..=N + 1 {
            let left = (later..=N).map(|slice| if slice == large { u64::MAX - N } else { 1 });
            let count = detector.count_at("k", Timestamp::from_millis(100 + N + later));
            assert_eq!(count.hi, left.sum(), "{later} slices after the last, {large} is large");
        }
    }
}
