//! What the engine answers is what the slow model answers, word for word (I8 and I10 included: the traffic has
//! all sizes of windows and numbers, and a clock that steps).

use crate::scenario::{Clock, Event, Shape, Weight, config, events, shape};
use floodmark::{
    Cooled, Count, Decision, Detector, Form, Hit, Limiter, Peak, Placed, Quota, Rate, Step, Timestamp,
};
use floodmark_testkit::model::{
    SlowCooled, SlowCount, SlowDecision, SlowDetector, SlowForm, SlowHit, SlowLimit, SlowLimiter, SlowMark,
    SlowPeak, SlowPlaced, SlowStats, SlowStep, SlowVerdict,
};
use proptest::prelude::*;
use std::time::Duration;

/// The model's words in the engine's.
fn decision(slow: SlowDecision, rates: &[Rate]) -> Decision {
    let quota = Quota {
        limit: rates[slow.least],
        remaining: slow.remaining,
        reset_after: Duration::from_nanos(slow.reset_after_ns),
    };
    match slow.verdict {
        SlowVerdict::Allowed => Decision::Allowed { quota },
        SlowVerdict::Denied { retry_after_ns, by } => {
            Decision::Denied { quota, retry_after: Duration::from_nanos(retry_after_ns), by }
        }
        SlowVerdict::Never { by } => Decision::Never { quota, by },
    }
}

fn count(slow: SlowCount) -> Count {
    Count { lo: slow.lo, hi: slow.hi }
}

fn cooled(slow: SlowCooled) -> Cooled {
    let SlowCooled { from, until, peak, peak_at, total } = slow;
    let [from, until, peak_at] = [from, until, peak_at].map(Timestamp::from_nanos);
    Cooled { from, until, peak, peak_at, total }
}

fn hit(slow: SlowHit, newest: u64, is_due: bool) -> Hit {
    let placed = match slow.placed {
        SlowPlaced::OnTime => Placed::OnTime,
        SlowPlaced::Late => Placed::Late,
        SlowPlaced::TooLate => Placed::TooLate,
        SlowPlaced::Healed => Placed::Healed,
    };
    let step = match slow.step {
        SlowStep::Cold => Step::Cold,
        SlowStep::Hot(before) => {
            let at = Timestamp::from_nanos(newest);
            Step::Hot { count: count(slow.count), at, cooled: before.map(cooled) }
        }
        SlowStep::Still => Step::Still,
        SlowStep::Cooled(episode) => Step::Cooled(cooled(episode)),
    };
    Hit { count: count(slow.count), placed, step, is_due }
}

fn peak(slow: SlowPeak) -> Peak {
    Peak { lo: slow.lo, hi: slow.hi, at: Timestamp::from_nanos(slow.at) }
}

/// Asks engine and model the same, in turn, and looks before each question.
fn limiters_agree(form: Form, limits: &[SlowLimit], events: &[Event]) -> Result<(), TestCaseError> {
    let rate = |limit: &SlowLimit| Rate::new(limit.limit, Duration::from_nanos(limit.window_ns)).unwrap();
    let rates: Vec<Rate> = limits.iter().map(rate).collect();
    let builder = rates.iter().fold(Limiter::builder().form(form), |builder, &rate| builder.limit(rate));
    let limiter = builder.build().unwrap();
    let mut slow = [(); 2].map(|()| SlowLimiter::new(limits));
    let mut asked = 0u64;
    for event in events {
        let slow = &mut slow[usize::from(event.key)];
        let seen = limiter.peek_at(event.key(), event.n, event.time());
        prop_assert_eq!(seen, decision(slow.peek(event.n, event.at), &rates), "seen, {:?}", event);
        let decided = limiter.check_at(event.key(), event.n, event.time());
        prop_assert_eq!(decided, decision(slow.check(event.n, event.at), &rates), "decided, {:?}", event);
        asked = asked.saturating_add(event.n);
    }
    let stats = limiter.stats();
    prop_assert_eq!(stats.healed, slow.iter().map(SlowLimiter::healed).sum::<u64>());
    let decided = stats.allowed.saturating_add(stats.denied).saturating_add(stats.never);
    prop_assert_eq!(decided, asked);
    Ok(())
}

/// One key's model for each of the two keys of the traffic.
struct SlowKeys([SlowDetector; 2]);

impl SlowKeys {
    /// What is over by `now`, the earliest first.
    fn poll(&mut self, now: Timestamp) -> Vec<(Vec<u8>, Cooled)> {
        let keys = self.0.iter_mut().zip(0u8..);
        let over = keys.filter_map(|(slow, key)| Some((vec![key], cooled(slow.poll(now.as_nanos())?))));
        let mut over: Vec<_> = over.collect();
        over.sort_by_key(|(_, cooled)| cooled.until);
        over
    }

    fn is_due(&self, now: u64) -> bool {
        self.0.iter().any(|slow| slow.over_by(now).is_some())
    }

    fn stats(&self) -> SlowStats {
        self.0.iter().map(SlowDetector::stats).fold(SlowStats::default(), |sum, one| SlowStats {
            counted: sum.counted.saturating_add(one.counted),
            late_counted: sum.late_counted.saturating_add(one.late_counted),
            too_late: sum.too_late.saturating_add(one.too_late),
            saturated: sum.saturated.saturating_add(one.saturated),
            healed: sum.healed + one.healed,
        })
    }
}

fn detectors_agree(
    form: Form,
    mark: SlowMark,
    events: &[Event],
    polls: &[bool],
) -> Result<(), TestCaseError> {
    let rate = Rate::new(mark.mark, Duration::from_nanos(mark.window_ns)).unwrap();
    let mut builder = Detector::builder(rate).form(form);
    if let Some(cool) = mark.cool_ns {
        builder = builder.cool(Duration::from_nanos(cool));
    }
    if let Some(late) = mark.late_ns {
        builder = builder.late(Duration::from_nanos(late));
    }
    let detector = builder.build().unwrap();
    let mut slow = SlowKeys([(); 2].map(|()| SlowDetector::new(mark)));
    for (event, poll) in events.iter().zip(polls.iter().cycle()) {
        let slow_key = &mut slow.0[usize::from(event.key)];
        let slow_hit = slow_key.hit(event.n, event.at);
        let newest = slow_key.newest();
        let found = detector.hit_at(event.key(), event.n, event.time());
        prop_assert_eq!(found, hit(slow_hit, newest, found.is_due), "{:?}", event);
        prop_assert!(found.is_due || !slow.is_due(event.at), "something is due at {}", event.at);
        let read = detector.count_at(event.key(), event.time());
        prop_assert_eq!(read, count(slow.0[usize::from(event.key)].count_at(event.at)));
        if *poll {
            prop_assert_eq!(detector.poll(event.time()), slow.poll(event.time()), "poll({})", event.at);
        }
    }
    for (key, slow) in (0u8..).zip(&slow.0) {
        prop_assert_eq!(detector.peak([key]), slow.peak().map(peak));
    }
    let (stats, expected) = (detector.stats(), slow.stats());
    let seen = (stats.counted, stats.late_counted, stats.too_late, stats.saturated, stats.healed);
    let SlowStats { counted, late_counted, too_late, saturated, healed } = expected;
    prop_assert_eq!(seen, (counted, late_counted, too_late, saturated, healed));
    prop_assert_eq!(detector.finish(), slow.poll(Timestamp::MAX));
    prop_assert_eq!(detector.finish(), [], "each is reported once");
    Ok(())
}

/// One to three limits, the first of them over the shape's own window.
fn limits() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((1..8u64, prop_oneof![Just(1u64), Just(3), Just(10)]), 1..4)
}

/// Nothing, nil, one tick, half a window or three.
fn span() -> impl Strategy<Value = Option<(u64, u64)>> {
    prop_oneof![3 => Just(None), 1 => Just(Some((0, 0))), 1 => Just(Some((0, 1))), 1 => Just(Some((1, 0))), 1 => Just(Some((6, 0)))]
}

fn span_ns(span: Option<(u64, u64)>, shape: Shape) -> Option<u64> {
    span.map(|(halves, ticks)| shape.window() / 2 * halves + ticks)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_limiter_decides_as_the_slow_model_does(
        (shape, events) in events(shape(), Clock::Steps, Weight::Any, 40),
        limits in limits(),
    ) {
        let slow = |&(limit, windows): &(u64, u64)| {
            SlowLimit { limit, window_ns: shape.window_ns * windows, form: shape.slow() }
        };
        limiters_agree(shape.form, &limits.iter().map(slow).collect::<Vec<_>>(), &events)?;
    }

    #[test]
    fn a_limiter_of_the_largest_limit_decides_as_the_slow_model_does(
        (shape, events) in events(shape(), Clock::Steps, Weight::Any, 20),
        limit in prop_oneof![Just(u64::MAX), Just(u64::MAX - 1), Just(0)],
    ) {
        let slow = SlowLimit { limit, window_ns: shape.window_ns, form: shape.slow() };
        limiters_agree(shape.form, &[slow], &events)?;
    }

    #[test]
    fn the_automatic_form_is_exact_for_small_limits_and_ten_slices_for_others(
        (shape, events) in events(Just(Shape { form: Form::Slices(10), window_ns: 1_000_000_000 }), Clock::Steps, Weight::Small, 60),
    ) {
        let exact = SlowLimit { limit: 5, window_ns: shape.window_ns, form: SlowForm::Exact };
        let sliced = SlowLimit { limit: 11, window_ns: 4 * shape.window_ns, form: SlowForm::Slices(10) };
        limiters_agree(Form::Auto, &[exact, sliced], &events)?;
    }

    #[test]
    fn a_detector_finds_what_the_slow_model_finds(
        (shape, events) in events(shape(), Clock::Steps, Weight::Any, 50),
        mark in prop_oneof![8 => 1..8u64, 1 => Just(u64::MAX)],
        cool in span(),
        late in span(),
        polls in prop::collection::vec(prop::bool::weighted(0.2), 16),
    ) {
        let (cool_ns, late_ns) = (span_ns(cool, shape), span_ns(late, shape));
        let mark = SlowMark { mark, window_ns: shape.window_ns, form: shape.slow(), cool_ns, late_ns };
        detectors_agree(shape.form, mark, &events, &polls)?;
    }
}
