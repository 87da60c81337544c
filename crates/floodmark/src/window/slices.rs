//! The sliced form: a ring of `N + 1` counters, in constant memory.
//!
//! ```text
//! e(t)   = floor(t / s)                        the slice of a time, aligned to the epoch
//! lo(t)  = slices e(t)-N+1 ..= e(t)            the current partial slice and the N-1 before it
//! hi(t)  = lo(t) + slice e(t)-N                one more, of which some part may have left the window
//! ```
//! The window `(t - W, t]` begins somewhere inside slice `e(t) - N`, so the true count lies between. Keeping that
//! one more slice is what makes the upper bound, and with it a limit that holds, free.

use super::{Count, Placed, Recorded, Shape};

/// One key's ring. A counter that would exceed `u64::MAX` reports the rest as saturated.
#[derive(Clone, Debug)]
pub(crate) struct SliceRing {
    /// The units of slice `e`, for `e(newest) - N <= e <= e(newest)`, at `e % (N + 1)`.
    words: Box<[u64]>,
    /// The sum of all words, so that no bound of theirs can overflow.
    sum: u64,
    newest: u64,
}

impl SliceRing {
    pub(crate) fn new(shape: &Shape) -> Self {
        Self { words: vec![0; shape.slices as usize + 1].into(), sum: 0, newest: 0 }
    }

    pub(crate) fn newest(&self) -> u64 {
        self.newest
    }

    fn newest_slice(&self, shape: &Shape) -> u64 {
        self.newest / shape.slice
    }

    fn place(&self, slice: u64) -> usize {
        (slice % self.words.len() as u64) as usize
    }

    fn word(&self, slice: u64) -> u64 {
        self.words.get(self.place(slice)).copied().unwrap_or_default()
    }

    /// What slices `now - N ..= now` hold, for a slice `now` at or after the newest.
    fn upper(&self, shape: &Shape, now: u64) -> u64 {
        let newest = self.newest_slice(shape);
        let first = now.saturating_sub(shape.slices);
        (first..=newest).map(|slice| self.word(slice)).sum()
    }

    /// What the slice holds that leaves the upper count when slice `now` begins.
    fn leaving(&self, shape: &Shape, now: u64) -> u64 {
        match now.checked_sub(shape.slices + 1) {
            Some(slice) if slice <= self.newest_slice(shape) => self.word(slice),
            _ => 0,
        }
    }

    pub(crate) fn count(&self, shape: &Shape, now: u64) -> Count {
        let now = now.max(self.newest) / shape.slice;
        let hi = self.upper(shape, now);
        Count { lo: hi - self.leaving(shape, now + 1), hi }
    }

    pub(crate) fn record(&mut self, shape: &Shape, at: u64, n: u64, mark: u64) -> Recorded {
        let slice = at / shape.slice;
        if self.newest_slice(shape).saturating_sub(slice) > shape.slices {
            return Recorded { placed: Placed::TooLate, saturated: 0, fell: None };
        }
        let fell = self.advance(shape, at, mark);
        let placed = if at < self.newest { Placed::Late } else { Placed::OnTime };
        Recorded { placed, saturated: self.add(slice, n), fell }
    }

    pub(crate) fn fits_at(&self, shape: &Shape, at: u64, n: u64, limit: u64) -> Option<u64> {
        let now = at.max(self.newest) / shape.slice;
        // Not left + n against the limit: that can exceed the range.
        let room = limit.saturating_sub(n);
        let mut left = self.upper(shape, now);
        let mut next = now;
        while left > room && next <= now + shape.slices {
            next += 1;
            left -= self.leaving(shape, next);
        }
        (next > now).then(|| next.saturating_mul(shape.slice))
    }

    pub(crate) fn take(&mut self, shape: &Shape, at: u64, n: u64) {
        let now = at.max(self.newest);
        self.advance(shape, now, 0);
        self.add(now / shape.slice, n);
    }

    pub(crate) fn clears_at(&self, shape: &Shape) -> u64 {
        let newest = self.newest_slice(shape);
        let first = newest.saturating_sub(shape.slices);
        let last = (first..=newest).rev().find(|&slice| self.word(slice) > 0);
        last.map_or(0, |slice| (slice + shape.slices + 1).saturating_mul(shape.slice))
    }

    pub(crate) fn falls_below(&self, shape: &Shape, mark: u64) -> u64 {
        let newest = self.newest_slice(shape);
        let below = (newest + 1..newest + shape.slices + 2).find(|&now| self.upper(shape, now) < mark);
        below.unwrap_or(newest + shape.slices + 1).saturating_mul(shape.slice)
    }

    pub(crate) fn move_all_to(&mut self, shape: &Shape, at: u64) {
        self.words.fill(0);
        let place = self.place(at / shape.slice);
        if let Some(word) = self.words.get_mut(place) {
            *word = self.sum;
        }
        self.newest = at;
    }

    /// Moves to `now`, clearing each slice that takes the place of one that has left, and tells when the upper
    /// count fell below `mark` on the way. At most `N + 1` steps, however long the gap.
    fn advance(&mut self, shape: &Shape, now: u64, mark: u64) -> Option<u64> {
        if now <= self.newest {
            return None;
        }
        let (from, to) = (self.newest_slice(shape), now / shape.slice);
        self.newest = now;
        let mut fell = None;
        for slice in from + 1..=to.min(from + shape.slices + 1) {
            let place = self.place(slice);
            let Some(word) = self.words.get_mut(place) else { continue };
            let left = std::mem::take(word);
            let before = self.sum;
            self.sum -= left;
            if self.sum < mark && mark <= before {
                fell = Some(slice.saturating_mul(shape.slice));
            }
        }
        fell
    }

    /// Adds to a slice of the ring; returns the units that did not fit.
    fn add(&mut self, slice: u64, n: u64) -> u64 {
        let fits = n.min(u64::MAX - self.sum);
        let place = self.place(slice);
        if let Some(word) = self.words.get_mut(place) {
            *word += fits;
            self.sum += fits;
        }
        n - fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slices of 10 ns, which no user can ask for, keep the numbers small.
    const SHAPE: Shape = Shape { window: 30, slice: 10, slices: 3 };

    #[test]
    fn the_bracket_is_one_slice_wide() {
        let mut ring = SliceRing::new(&SHAPE);
        for (at, n) in [(105, 1), (115, 2), (125, 4), (135, 8)] {
            ring.record(&SHAPE, at, n, u64::MAX);
        }
        // (105, 135] has lost the first event, but the ring cannot know.
        assert_eq!(ring.count(&SHAPE, 135), Count { lo: 14, hi: 15 });
        assert_eq!(ring.count(&SHAPE, 140), Count { lo: 12, hi: 14 });
        assert_eq!(ring.count(&SHAPE, 169), Count { lo: 0, hi: 8 });
        assert_eq!(ring.count(&SHAPE, 170), Count { lo: 0, hi: 0 });
    }

    #[test]
    fn an_idle_gap_of_any_length_empties_the_ring_in_a_bounded_number_of_steps() {
        for gap in [2, 3, 4, 6, 7, 1 << 40, u64::MAX / 10] {
            let mut ring = SliceRing::new(&SHAPE);
            ring.record(&SHAPE, 5, 7, u64::MAX);
            let now = 5u64.saturating_add(gap * 10);
            let expected = if gap <= 3 { 7 } else { 0 };
            assert_eq!(ring.count(&SHAPE, now).hi, expected, "read after {gap} slices");
            ring.record(&SHAPE, now, 1, u64::MAX);
            assert_eq!(ring.count(&SHAPE, now).hi, expected + 1, "counted after {gap} slices");
        }
    }

    #[test]
    fn an_old_slice_never_returns_although_others_are_skipped_for_thousands_of_rounds() {
        let mut ring = SliceRing::new(&SHAPE);
        for round in 0..10_000u64 {
            // The place of slice 3 is never used: whatever was there must be gone, not merely old.
            for slice in [0, 1, 2] {
                let at = (round * 4 + slice) * 10;
                ring.record(&SHAPE, at, 1, u64::MAX);
                assert!(ring.count(&SHAPE, at).hi <= 3);
            }
        }
    }
}
