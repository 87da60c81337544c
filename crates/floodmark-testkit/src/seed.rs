//! The window this project began with, as a rival to be measured against: a ring of slices of the usual kind.
//!
//! It is a model of that window's behaviour with one thread, faults of its own included. What they are:
//!
//! ```text
//! slice(t)   = floor((t - first event) / s)     every key has its own phase
//! sum(t)     = slice(t) and the N-1 before it   the current slice is partial, so this is W - s to W long
//! reached    = sum(t) >= threshold
//! idle > W   : starts over, with the next event as its first
//! ```
//! The sum is what [`lo`](crate::model::SlowCount::lo) is in the model: a burst that fits into `W` but not into
//! the sum's shorter stretch is missed. (With several threads it loses events as well, when two of them start
//! over or move on at once; that is not modelled.)
//!
//! [`Burst`] is the case to measure it by.

mod burst;

pub use burst::{Burst, Spread};

/// One key's window of the first seed. Times are milliseconds.
#[derive(Clone, Debug)]
pub struct SeedWindow {
    slice_ms: u64,
    slices: usize,
    threshold: u64,
    /// Twice as many as a sum needs, as in the original.
    ring: Vec<u64>,
    first_ms: u64,
    last: Option<Last>,
}

/// The event before.
#[derive(Clone, Copy, Debug)]
struct Last {
    at_ms: u64,
    slice: u64,
}

impl SeedWindow {
    /// `slices` slices of `slice_ms` each.
    #[must_use]
    pub fn new(slice_ms: u64, slices: usize, threshold: u64) -> Self {
        let ring = vec![0; 2 * slices];
        Self { slice_ms, slices, threshold, ring, first_ms: 0, last: None }
    }

    /// 5 slices up to 5 s, else 10; more than 600 s are cut to 600 s without a word.
    #[must_use]
    pub fn of_seconds(seconds: u64, threshold: u64) -> Self {
        let seconds = seconds.min(600);
        let slices = if seconds <= 5 { 5 } else { 10 };
        Self::new(seconds * 1_000 / slices, slices as usize, threshold)
    }

    /// Counts `n` at a time not before the last one; whether the sum has reached the threshold.
    pub fn add(&mut self, at_ms: u64, n: u64) -> bool {
        let slice = self.move_to(at_ms);
        *self.word(slice) += n;
        let oldest = slice.saturating_sub(self.slices as u64 - 1);
        let sum: u64 = (oldest..=slice).map(|slice| *self.word(slice)).sum();
        sum >= self.threshold
    }

    fn move_to(&mut self, at_ms: u64) -> u64 {
        let window_ms = self.slice_ms * self.slices as u64;
        let last = self.last.filter(|last| at_ms.saturating_sub(last.at_ms) <= window_ms);
        let slice = match last {
            Some(last) => {
                let slice = at_ms.saturating_sub(self.first_ms) / self.slice_ms;
                (last.slice + 1..=slice).for_each(|fresh| *self.word(fresh) = 0);
                slice
            }
            None => {
                self.ring.fill(0);
                self.first_ms = at_ms;
                0
            }
        };
        self.last = Some(Last { at_ms, slice });
        slice
    }

    fn word(&mut self, slice: u64) -> &mut u64 {
        let place = (slice % self.ring.len() as u64) as usize;
        &mut self.ring[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each of these times reports, for a window of 100 in 5 s.
    fn reports(times_ms: impl IntoIterator<Item = u64>) -> usize {
        let mut window = SeedWindow::of_seconds(5, 100);
        times_ms.into_iter().filter(|&at| window.add(at, 1)).count()
    }

    #[test]
    fn a_burst_that_starts_the_ring_is_found() {
        assert_eq!(reports((0..100).map(|i| 1_000_000 + i * 49)), 1);
    }

    #[test]
    fn the_same_burst_is_missed_after_one_early_event() {
        let burst = (0..100).map(|i| 1_000_500 + i * 49);
        assert_eq!(reports(std::iter::once(1_000_000 - 4_000).chain(burst)), 0);
    }

    #[test]
    fn it_reports_at_the_threshold_and_again_and_again() {
        assert_eq!(reports((0..110).map(|i| 1_000_000 + i)), 11);
    }

    #[test]
    fn it_starts_over_after_more_than_a_window_of_silence() {
        assert_eq!(reports((0..99).map(|_| 1_000).chain([6_000])), 0, "the sum has moved on by five slices");
        assert_eq!(reports((0..99).map(|_| 1_000).chain([6_001, 6_001])), 0);
        assert_eq!(reports((0..99).map(|_| 1_000).chain([5_999])), 1);
    }
}
