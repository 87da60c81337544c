//! Many threads at one key. (The interleavings themselves are a model checker's work, where atomics decide.)

use floodmark::{Detector, Form, Limiter, Timestamp};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const THREADS: u64 = 8;

/// Runs the same on all threads, started together.
fn at_once(work: impl Fn(u64) + Sync) {
    let start = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(thread);
            });
        }
    });
}

#[test]
fn threads_together_are_admitted_exactly_the_limit() {
    for form in [Form::Exact, Form::Slices(10)] {
        let limiter = Limiter::builder().limit("1000/1s".parse().unwrap()).form(form).build().unwrap();
        let admitted = AtomicU64::new(0);
        at_once(|_| {
            for _ in 0..500 {
                if limiter.check_at("k", 1, Timestamp::from_secs(1)).is_allowed() {
                    admitted.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        assert_eq!(admitted.into_inner(), 1_000, "{form:?}");
        assert_eq!((limiter.stats().allowed, limiter.stats().denied), (1_000, THREADS * 500 - 1_000));
    }
}

#[test]
fn as_many_first_events_at_once_are_as_many_events() {
    for form in [Form::Exact, Form::Slices(10)] {
        let detector = Detector::builder("1000/1s".parse().unwrap()).form(form).build().unwrap();
        let rounds: Vec<_> = (0..200).map(|key: u64| key.to_le_bytes()).collect();
        at_once(|_| {
            for key in &rounds {
                detector.hit_at(key, 1, Timestamp::from_secs(1));
            }
        });
        // And the same on keys that have expired.
        at_once(|_| {
            for key in &rounds {
                detector.hit_at(key, 1, Timestamp::from_secs(100));
            }
        });
        for key in &rounds {
            assert_eq!(detector.count_at(key, Timestamp::from_secs(100)).hi, THREADS, "{form:?}");
            assert_eq!(detector.peak(key).unwrap().hi, THREADS, "{form:?}");
        }
    }
}

#[test]
fn an_episode_is_reported_by_one_thread() {
    let detector = Detector::new("100/1s".parse().unwrap()).unwrap();
    let hot = AtomicU64::new(0);
    at_once(|thread| {
        for i in 0..100 {
            let at = Timestamp::from_millis(1_000 + i + thread);
            if matches!(detector.hit_at("k", 1, at).step, floodmark::Step::Hot { .. }) {
                hot.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    assert_eq!(hot.into_inner(), 1);
    assert_eq!(detector.finish().len(), 1);
}
