//! Which share of bursts is found, by how far they are spread?
//!
//! `cargo run --release -p floodmark-bench --bin seed_curve`
//!
//! **Input.** Under 100/5s, a burst of exactly 100 events on one key that had a few events before (so that a ring
//! aligned to a key's first event has some phase, but is not started anew), among 20 background keys of 5 events
//! each. Seeded: the table is the same each time. No time is measured.
//!
//! **Contenders.** The first seed's window, modelled in the testkit; floodmark's exact form; its 10 slices, and of
//! those the share in which one of the burst's events was certain (`lo` at the mark as well). `lo` is all that a
//! usual sliding counter has, aligned to the clock instead of to a key.
//!
//! **Accuracy.** The bench fails if floodmark misses a burst or reports a background key.

#![expect(clippy::print_stdout, reason = "a bench reports on its terminal")]

use anyhow::{Result, ensure};
use floodmark::{Detector, Form, Step, Timestamp};
use floodmark_bench::table::markdown;
use floodmark_testkit::seed::{Burst, SeedWindow, Spread};
use floodmark_testkit::traffic::Chance;

const TRIALS: u64 = 10_000;
const SPANS_MS: [u64; 6] = [1_000, 2_000, 3_000, 4_000, 4_500, 4_900];
const BACKGROUND_KEYS: u64 = 20;
const BACKGROUND_EVENTS: u64 = 5;
/// The key of the burst; the background has the ones after it.
const BURST: u64 = 0;

/// How often each contender found its burst.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    seed: u64,
    exact: u64,
    sliced: u64,
    certain: u64,
}

/// What a detector made of one trial.
#[derive(Clone, Copy, Debug, Default)]
struct Verdict {
    is_found: bool,
    is_certain: bool,
    is_background_hot: bool,
}

/// Keys and their times in milliseconds, in order.
fn traffic(burst: Burst, chance: &mut Chance) -> Vec<(u64, u64)> {
    let times = burst.times_ms(chance);
    let (first, last) = (times[0], times[times.len() - 1]);
    let mut traffic: Vec<_> = times.into_iter().map(|ms| (ms, BURST)).collect();
    let background = (1..=BACKGROUND_KEYS).flat_map(|key| (0..BACKGROUND_EVENTS).map(move |_| key));
    traffic.extend(background.map(|key| (first + chance.below(last - first + 1), key)));
    traffic.sort_unstable();
    traffic
}

fn judge(form: Form, traffic: &[(u64, u64)]) -> Result<Verdict> {
    let detector = Detector::builder("100/5s".parse()?).form(form).build()?;
    let mut verdict = Verdict::default();
    for &(ms, key) in traffic {
        let hit = detector.hit_at(key.to_le_bytes(), 1, Timestamp::from_millis(ms));
        let is_hot = matches!(hit.step, Step::Hot { .. });
        verdict.is_found |= is_hot && key == BURST;
        verdict.is_background_hot |= is_hot && key != BURST;
        verdict.is_certain |= hit.count.lo >= 100;
    }
    Ok(verdict)
}

fn trials(burst: Burst) -> Result<Found> {
    let mut chance = Chance::of_stream(2, burst.span_ms + u64::from(burst.spread == Spread::Even));
    let mut found = Found::default();
    for _ in 0..TRIALS {
        let traffic = traffic(burst, &mut chance);
        let (exact, sliced) = (judge(Form::Exact, &traffic)?, judge(Form::Slices(10), &traffic)?);
        ensure!(exact.is_found && sliced.is_found, "missed: {burst:?}");
        ensure!(!exact.is_background_hot && !sliced.is_background_hot, "invented: {burst:?}");
        let mut window = SeedWindow::of_seconds(5, 100);
        let of_burst = traffic.iter().filter(|(_, key)| *key == BURST);
        found.seed += u64::from(of_burst.filter(|(ms, _)| window.add(*ms, 1)).count() > 0);
        found.exact += u64::from(exact.is_found);
        found.sliced += u64::from(sliced.is_found);
        found.certain += u64::from(sliced.is_certain);
    }
    Ok(found)
}

fn percent(found: u64) -> String {
    format!("{:.1} %", 100.0 * found as f64 / TRIALS as f64)
}

fn main() -> Result<()> {
    let head = ["100 events over", "spread", "first seed", "exact", "10 slices", "of those certain"];
    let mut rows = Vec::new();
    for span_ms in SPANS_MS {
        for (spread, name) in [(Spread::Even, "even"), (Spread::Random, "random")] {
            let found = trials(Burst { span_ms, spread })?;
            let span = format!("{:.1} s", span_ms as f64 / 1_000.0);
            let shares = [found.seed, found.exact, found.sliced, found.certain].map(percent);
            rows.push([span, name.into()].into_iter().chain(shares).collect());
        }
    }
    println!("Share of bursts found under 100/5s, {TRIALS} trials each:\n");
    println!("{}", markdown(&head, &rows));
    Ok(())
}
