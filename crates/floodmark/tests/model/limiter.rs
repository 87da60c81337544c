//! What a limiter promises, checked from its answers alone.

use crate::scenario::{Clock, Event, Shape, Weight, config, events, held_up, shape};
use floodmark::{Decision, Form, Limiter, Timestamp};
use proptest::prelude::*;
use std::time::Duration;

/// Limits over the shape's window and over multiples of it.
fn limiter(shape: Shape, limits: &[(u64, u64)]) -> Limiter {
    let mut builder = Limiter::builder().form(shape.form);
    for &(limit, windows) in limits {
        builder = builder.limit(Shape { window_ns: shape.window_ns * windows, ..shape }.rate(limit));
    }
    builder.build().unwrap()
}

fn limits() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((1..8u64, prop_oneof![Just(1u64), Just(3), Just(10)]), 1..4)
}

fn check(limiter: &Limiter, event: &Event) -> Decision {
    limiter.check_at(event.key(), event.n, event.time())
}

/// Units and the time at which they were counted.
#[derive(Clone, Copy, Debug)]
struct Admitted {
    at: u64,
    n: u64,
}

/// The most that lies in any window that ends at one of the times, which is the most in any.
fn most_in_a_window(admitted: &[Admitted], window: u64) -> u64 {
    let in_window = |end: u64| {
        admitted.iter().filter(|one| one.at <= end && end - one.at < window).map(|one| one.n).sum()
    };
    admitted.iter().map(|one| in_window(one.at)).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(config())]

    // Promise 1
    #[test]
    fn no_window_holds_more_than_its_limit(
        (shape, events) in events(shape(), Clock::Forwards, Weight::Small, 60),
        late in prop::collection::vec(any::<u8>(), 8),
        limits in limits(),
    ) {
        let limiter = limiter(shape, &limits);
        let mut admitted = [Vec::new(), Vec::new()];
        let mut newest = [0; 2];
        for event in held_up(&events, &late, shape.window()).iter().filter(|event| event.n > 0) {
            if check(&limiter, event).is_allowed() {
                let newest = &mut newest[usize::from(event.key)];
                *newest = event.at.max(*newest);
                admitted[usize::from(event.key)].push(Admitted { at: *newest, n: event.n });
            }
        }
        for (window, (limit, _)) in limiter.windows().zip(limits) {
            for admitted in &admitted {
                prop_assert!(most_in_a_window(admitted, window.as_nanos() as u64) <= limit, "{:?}", admitted);
            }
        }
    }

    // Promise 1 and I10: where the newest time was wrong, what it had counted counts at the right one.
    #[test]
    fn no_window_holds_more_than_its_limit_although_the_clock_steps(
        (shape, events) in events(shape(), Clock::Steps, Weight::Small, 60),
        limit in 1..8u64,
    ) {
        let limiter = limiter(shape, &[(limit, 1)]);
        let (mut admitted, mut newest, mut healed) = (Vec::<Admitted>::new(), 0, 0);
        for event in events.iter().filter(|event| event.key == 0 && event.n > 0) {
            let decision = check(&limiter, event);
            if limiter.stats().healed > healed {
                healed += 1;
                let held = admitted.iter().filter(|one| newest - one.at < shape.window());
                let n = held.map(|one| one.n).sum();
                prop_assert!(n + decision.quota().remaining <= limit, "no amnesty");
                (admitted, newest) = (vec![Admitted { at: event.at, n }], event.at);
            }
            if decision.is_allowed() {
                newest = event.at.max(newest);
                admitted.push(Admitted { at: newest, n: event.n });
            }
            prop_assert!(most_in_a_window(&admitted, shape.window()) <= limit, "{:?}", admitted);
        }
    }

    // Promise 3
    #[test]
    fn retry_after_is_tight(
        (shape, events) in events(shape(), Clock::Steps, Weight::Small, 50),
        limits in limits(),
    ) {
        let limiter = limiter(shape, &limits);
        for event in &events {
            let Decision::Denied { retry_after, .. } = check(&limiter, event) else { continue };
            let then = event.time().saturating_add(retry_after);
            if then == Timestamp::MAX {
                continue; // there is no later
            }
            let before = Timestamp::from_nanos(then.as_nanos() - 1);
            prop_assert!(!limiter.peek_at(event.key(), event.n, before).is_allowed(), "early, {:?}", event);
            prop_assert!(limiter.peek_at(event.key(), event.n, then).is_allowed(), "late, {:?}", event);
        }
    }

    // Promise 3
    #[test]
    fn a_wait_is_at_most_a_window_and_a_slice(
        (shape, events) in events(shape(), Clock::Forwards, Weight::Small, 50),
        limit in 1..8u64,
    ) {
        let limiter = limiter(shape, &[(limit, 1)]);
        let most = Duration::from_nanos(shape.window() + shape.slice());
        for event in &events {
            let decision = check(&limiter, event);
            prop_assert!(decision.retry_after().is_none_or(|wait| wait <= most), "{:?}", decision);
            prop_assert!(decision.quota().reset_after <= most, "{:?}", decision);
        }
    }

    // Promise 4
    #[test]
    fn a_denied_request_consumes_nothing_in_none_of_the_limits(
        (shape, events) in events(shape(), Clock::Forwards, Weight::Small, 60),
        late in prop::collection::vec(any::<u8>(), 8),
        limits in limits(),
    ) {
        let (tried, spared) = (limiter(shape, &limits), limiter(shape, &limits));
        for event in held_up(&events, &late, shape.window()) {
            let decision = check(&tried, &event);
            if decision.is_allowed() {
                prop_assert_eq!(check(&spared, &event), decision, "{:?}", event);
            }
        }
    }

    // I4
    #[test]
    fn reads_anywhere_change_nothing(
        (shape, events) in events(shape(), Clock::Steps, Weight::Any, 40),
        limits in limits(),
    ) {
        let (quiet, watched) = (limiter(shape, &limits), limiter(shape, &limits));
        for (i, event) in events.iter().enumerate().filter(|(_, event)| event.n > 0) {
            let other = events[i * 7 % events.len()];
            let _ = watched.peek_at(other.key(), other.n, other.time());
            let _ = watched.check_at(other.key(), 0, other.time());
            let _ = watched.check_at("nobody", 0, other.time());
            prop_assert_eq!(check(&watched, event), check(&quiet, event), "{:?}", event);
        }
        prop_assert_eq!(quiet.len(), watched.len(), "a read makes no key");
    }

    // I5
    #[test]
    fn shifting_all_times_by_slices_shifts_nothing(
        (shape, events) in events(shape(), Clock::Steps, Weight::Small, 40),
        limit in 1..8u64,
        slices in 1..1_000_000u64,
    ) {
        prop_assume!(events.iter().all(|event| event.at < u64::MAX / 2));
        let (here, there) = (limiter(shape, &[(limit, 1)]), limiter(shape, &[(limit, 1)]));
        for event in &events {
            let later = Event { at: event.at + slices * shape.slice(), ..*event };
            prop_assert_eq!(check(&there, &later), check(&here, event), "{:?}", event);
        }
    }
}

#[test]
fn a_limit_of_the_largest_number_is_a_limit_too() {
    for form in [Form::Exact, Form::Slices(10)] {
        let limiter = Limiter::builder().limit(format!("{}/1s", u64::MAX).parse().unwrap()).form(form);
        let limiter = limiter.build().unwrap();
        let now = Timestamp::from_secs(100);
        assert!(limiter.check_at("k", u64::MAX, now).is_allowed());
        assert!(!limiter.check_at("k", 1, now).is_allowed(), "{form:?}");
    }
}

#[test]
fn a_request_that_is_never_allowed_makes_no_key() {
    let limiter = Limiter::new("5/1s".parse().unwrap()).unwrap();
    assert!(matches!(limiter.check_at("k", 6, Timestamp::from_secs(1)), Decision::Never { by: 0, .. }));
    assert!(limiter.is_empty());
}
