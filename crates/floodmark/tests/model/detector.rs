//! What a detector promises: it never misses, and one episode is one report.

use crate::scenario::{Clock, Event, Shape, Weight, config, events, held_up, shape};
use floodmark::{Cooled, Detector, Form, Hit, Placed, Step, Timestamp};
use proptest::prelude::*;
use std::time::Duration;

fn detector(shape: Shape, mark: u64) -> Detector {
    Detector::builder(shape.rate(mark)).form(shape.form).build().unwrap()
}

/// A hit as it would be this much earlier.
fn earlier(hit: Hit, by: u64) -> Hit {
    let time = |at: Timestamp| Timestamp::from_nanos(at.as_nanos() - by);
    let cooled = |cooled: Cooled| Cooled {
        from: time(cooled.from),
        until: time(cooled.until),
        peak_at: time(cooled.peak_at),
        ..cooled
    };
    let step = match hit.step {
        Step::Hot { count, at, cooled: before } => {
            Step::Hot { count, at: time(at), cooled: before.map(cooled) }
        }
        Step::Cooled(episode) => Step::Cooled(cooled(episode)),
        other => other,
    };
    Hit { step, ..hit }
}

/// Everything that may be read, at a time that may be anything.
fn read(detector: &Detector, event: &Event) {
    let _ = detector.count_at(event.key(), event.time());
    let _ = detector.hit_at(event.key(), 0, event.time());
    let _ = detector.hit_at("nobody", 0, event.time());
    let _ = (detector.peak(event.key()), detector.top(3), detector.stats(), detector.len());
}

proptest! {
    #![proptest_config(config())]

    // Promise 2
    #[test]
    fn the_mark_is_never_missed_and_exact_reports_nothing_else(
        (shape, events) in events(shape(), Clock::Forwards, Weight::Small, 50),
        late in prop::collection::vec(any::<u8>(), 8),
        mark in 1..8u64,
    ) {
        let detector = detector(shape, mark);
        let mut events = held_up(&events, &late, shape.window());
        events.retain(|event| event.n > 0); // reads are no events, and set no newest time
        for (i, event) in events.iter().enumerate() {
            let so_far = || events[..=i].iter().filter(|earlier| earlier.key == event.key);
            let newest = so_far().map(|event| event.at).max().unwrap_or(0);
            let exact: u64 =
                so_far().filter(|event| newest - event.at < shape.window()).map(|event| event.n).sum();
            let step = detector.hit_at(event.key(), event.n, event.time()).step;
            if exact >= mark {
                prop_assert!(matches!(step, Step::Hot { .. } | Step::Still), "missed: {:?} at {:?}", step, event);
            } else if shape.form == Form::Exact {
                prop_assert!(!matches!(step, Step::Hot { .. }), "invented: {:?} at {:?}", step, event);
            }
        }
    }

    #[test]
    fn an_episode_begins_once_and_ends_once(
        (shape, events) in events(shape(), Clock::Steps, Weight::Any, 50),
        mark in 1..8u64,
        polls in prop::collection::vec(prop::bool::weighted(0.2), 16),
    ) {
        let detector = detector(shape, mark);
        let mut open = [false; 2];
        let (mut began, mut ended) = (0, 0);
        for (event, poll) in events.iter().zip(polls.iter().cycle()).filter(|(event, _)| event.n > 0) {
            let was_open = &mut open[usize::from(event.key)];
            let is_open = match detector.hit_at(event.key(), event.n, event.time()).step {
                Step::Hot { cooled, .. } => {
                    prop_assert_eq!(cooled.is_some(), *was_open);
                    began += 1;
                    ended += usize::from(cooled.is_some());
                    true
                }
                Step::Still => { prop_assert!(*was_open); true }
                Step::Cooled(_) => { prop_assert!(*was_open); ended += 1; false }
                _ => { prop_assert!(!*was_open); false }
            };
            *was_open = is_open;
            let over = if *poll { detector.poll(event.time()) } else { Vec::new() };
            ended += over.len();
            over.iter().for_each(|(key, _)| open[usize::from(key[0])] = false);
        }
        prop_assert_eq!(began, ended + detector.finish().len());
    }

    // I4
    #[test]
    fn reads_anywhere_change_nothing(
        (shape, events) in events(shape(), Clock::Steps, Weight::Any, 40),
        mark in 1..8u64,
    ) {
        let (quiet, watched) = (detector(shape, mark), detector(shape, mark));
        for (i, event) in events.iter().enumerate().filter(|(_, event)| event.n > 0) {
            // Each event is preceded by reads at the times of two others, which may be far away.
            read(&watched, &events[i * 7 % events.len()]);
            read(&watched, &events[i * 11 % events.len()]);
            let expected = quiet.hit_at(event.key(), event.n, event.time());
            prop_assert_eq!(watched.hit_at(event.key(), event.n, event.time()), expected);
        }
        prop_assert_eq!(quiet.len(), watched.len(), "a read makes no key");
        prop_assert_eq!(quiet.stats(), watched.stats());
        prop_assert_eq!(quiet.finish(), watched.finish());
    }

    // I5
    #[test]
    fn shifting_all_times_by_slices_shifts_nothing_else(
        (shape, events) in events(shape(), Clock::Steps, Weight::Any, 40),
        mark in 1..8u64,
        slices in 1..1_000_000u64,
    ) {
        prop_assume!(events.iter().all(|event| event.at < u64::MAX / 2));
        let by = slices * shape.slice();
        let (here, there) = (detector(shape, mark), detector(shape, mark));
        for event in &events {
            let later = Timestamp::from_nanos(event.at + by);
            let expected = here.hit_at(event.key(), event.n, event.time());
            prop_assert_eq!(earlier(there.hit_at(event.key(), event.n, later), by), expected);
        }
    }
}

#[test]
fn poll_gives_the_earliest_first_although_one_was_put_off() {
    let detector = Detector::builder("1/10ms".parse().unwrap()).form(Form::Exact).build().unwrap();
    let [put_off, silent] = [b"a".to_vec(), b"b".to_vec()];
    detector.hit_at(&put_off, 1, Timestamp::from_millis(100));
    detector.hit_at(&silent, 1, Timestamp::from_millis(101));
    detector.hit_at(&put_off, 1, Timestamp::from_millis(105));
    let over = detector.poll(Timestamp::from_millis(500));
    let until: Vec<_> = over.into_iter().map(|(key, cooled)| (key, cooled.until)).collect();
    assert_eq!(until, [(silent, Timestamp::from_millis(111)), (put_off, Timestamp::from_millis(115))]);
}

#[test]
fn a_burst_around_the_edge_of_a_second_is_one_episode_with_its_true_numbers() {
    let detector = Detector::builder("100/5s".parse().unwrap()).form(Form::Exact).build().unwrap();
    // Nothing for 4.99 s, then 100 in the last 10 ms, and 100 more just after.
    let times = (0..200).map(|i| Timestamp::from_nanos(4_990_000_000 + i * 100_000));
    let hot: Vec<_> =
        times.filter(|&at| matches!(detector.hit_at("k", 1, at).step, Step::Hot { .. })).collect();
    assert_eq!(hot, [Timestamp::from_nanos(4_990_000_000 + 99 * 100_000)]);
    let over = detector.poll(Timestamp::from_secs(60));
    let expected = Cooled {
        from: hot[0],
        // The hundredth from the end leaves: 99 are left.
        until: Timestamp::from_nanos(4_990_000_000 + 100 * 100_000).saturating_add(Duration::from_secs(5)),
        peak: 200,
        peak_at: Timestamp::from_nanos(4_990_000_000 + 199 * 100_000),
        total: 101,
    };
    assert_eq!(over, [(b"k".to_vec(), expected)]);
}

#[test]
fn an_event_on_the_edge_of_the_window_is_too_late() {
    let detector = Detector::builder("2/10ms".parse().unwrap()).form(Form::Exact).build().unwrap();
    detector.hit_at("k", 1, Timestamp::from_millis(20));
    assert_eq!(detector.hit_at("k", 1, Timestamp::from_millis(10)).placed, Placed::TooLate);
    assert_eq!(detector.hit_at("k", 1, Timestamp::from_nanos(10_000_001)).placed, Placed::Late);
    assert_eq!(detector.count_at("k", Timestamp::from_millis(20)).hi, 2);
}
