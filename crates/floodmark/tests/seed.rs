//! Row "threshold window" of the seeds: a key hit 100 times within 5 s is found, however the hits are spread.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use floodmark::{Detector, Form, Step, Timestamp};
use floodmark_testkit::seed::{Burst, SeedWindow, Spread};
use floodmark_testkit::traffic::Chance;

const TRIALS: usize = 250;

fn finds(form: Form, times_ms: &[u64]) -> bool {
    let detector = Detector::builder("100/5s".parse().unwrap()).form(form).build().unwrap();
    let mut steps = times_ms.iter().map(|&ms| detector.hit_at("k", 1, Timestamp::from_millis(ms)).step);
    steps.any(|step| matches!(step, Step::Hot { .. }))
}

fn seed_finds(times_ms: &[u64]) -> bool {
    let mut window = SeedWindow::of_seconds(5, 100);
    times_ms.iter().any(|&ms| window.add(ms, 1))
}

/// How many per cent of such bursts the first seed's window misses; the engine must find all of them.
fn missed_by_the_seed(burst: Burst) -> usize {
    let mut chance = Chance::new(1);
    let bursts: Vec<_> = (0..TRIALS).map(|_| burst.times_ms(&mut chance)).collect();
    for form in [Form::Exact, Form::Slices(10), Form::Slices(5)] {
        assert!(bursts.iter().all(|times| finds(form, times)), "{form:?} misses one of {burst:?}");
    }
    let missed = bursts.iter().filter(|times| !seed_finds(times)).count();
    (100 * missed) / TRIALS
}

#[test]
fn finds_the_seeds_burst_at_every_spread() {
    for spread in [Spread::Even, Spread::Random] {
        for span_ms in [1_000, 2_000, 3_000, 4_000] {
            assert_eq!(missed_by_the_seed(Burst { span_ms, spread }), 0);
        }
    }
    let missed = |span_ms, spread| missed_by_the_seed(Burst { span_ms, spread });
    for (share, expected) in [
        (missed(4_500, Spread::Even), 42..58),
        (missed(4_500, Spread::Random), 32..49),
        (missed(4_900, Spread::Even), 84..96),
        (missed(4_900, Spread::Random), 72..87),
    ] {
        assert!(expected.contains(&share), "the seed misses {share} %, expected {expected:?}");
    }
}
