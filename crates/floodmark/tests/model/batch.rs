//! A batch is what its events are one by one.

use crate::scenario::{Clock, Event, Weight, config, events, shape};
use floodmark::{Batch, Change, Detector, Limiter, Placed, Rate, Step, Timestamp};
use proptest::prelude::*;
use std::time::Duration;

fn batch(events: &[Event]) -> Batch {
    let mut batch = Batch::default();
    events.iter().for_each(|event| batch.push(event.key(), event.n, event.time()));
    batch
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_detector_finds_in_batches_what_it_finds_one_by_one(
        (shape, events) in events(shape(), Clock::Steps, Weight::Any, 50),
        mark in 1..8u64,
        size in 1..20usize,
    ) {
        let rate = Rate::new(mark, Duration::from_nanos(shape.window_ns)).unwrap();
        let detector = || Detector::builder(rate).form(shape.form).build().unwrap();
        let (single, batched) = (detector(), detector());
        let mut changes = Vec::new();
        for events in events.chunks(size) {
            let expected = events.iter().filter_map(|event| {
                let hit = single.hit_at(event.key(), event.n, event.time());
                let is_change = hit.placed == Placed::Healed || !matches!(hit.step, Step::Cold | Step::Still);
                is_change.then(|| (event.key().to_vec(), event.time(), hit.count, hit.placed, hit.step))
            });
            let expected: Vec<_> = expected.collect();
            batched.hit_many(&batch(events), &mut changes);
            let found = changes.iter().map(|Change { key, at, hit }| (key.to_vec(), *at, hit.count, hit.placed, hit.step));
            prop_assert_eq!(found.collect::<Vec<_>>(), expected);
            let now = batch(events).newest();
            prop_assert_eq!(batched.poll(now), single.poll(now));
        }
        prop_assert_eq!(batched.stats(), single.stats());
        prop_assert_eq!(batched.top(5), single.top(5));
        prop_assert_eq!(batched.finish(), single.finish());
    }

    #[test]
    fn a_limiter_decides_in_batches_as_it_does_one_by_one(
        (shape, events) in events(shape(), Clock::Steps, Weight::Any, 50),
        limit in 1..8u64,
        size in 1..20usize,
    ) {
        let rate = Rate::new(limit, Duration::from_nanos(shape.window_ns)).unwrap();
        let limiter = || Limiter::builder().limit(rate).form(shape.form).build().unwrap();
        let (single, batched) = (limiter(), limiter());
        let mut decisions = Vec::new();
        for events in events.chunks(size) {
            batched.check_many(&batch(events), &mut decisions);
            let expected = events.iter().map(|event| single.check_at(event.key(), event.n, event.time()));
            prop_assert_eq!(&decisions, &expected.collect::<Vec<_>>());
        }
        prop_assert_eq!(batched.stats(), single.stats());
        prop_assert_eq!(batched.len(), single.len());
    }
}

#[test]
fn an_empty_batch_changes_nothing() {
    let detector = Detector::new(Rate::per_second(1)).unwrap();
    let mut changes = vec![];
    assert!(!detector.hit_many(&Batch::default(), &mut changes));
    assert!(changes.is_empty() && detector.is_empty());
    assert_eq!(Batch::default().newest(), Timestamp::EPOCH);
}
