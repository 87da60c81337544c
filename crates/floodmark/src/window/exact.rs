//! The exact form: a log of `(time, units)` runs, the oldest first.
//!
//! ```text
//! count(now)   sum of the runs with time > now - W
//! record(at)   drop the runs with time <= at - W; append, or merge into the run of the same time
//! late         the same, at the place of its time; cost: the distance from the end
//! ```
//! In order an event costs amortised O(1): each run is appended once and dropped once.

use super::{Count, Placed, Recorded, Shape};
use smallvec::SmallVec;

/// Units counted at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    at: u64,
    n: u64,
}

/// Past this many runs neighbours are merged, so that one key holds at most some 32 MiB: as many again may have left and not been dropped yet.
const MAX_RUNS: usize = 1 << 20;

/// One key's log. The sum never exceeds `u64::MAX`: what would is reported as saturated.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExactLog {
    /// Runs in order of time, one per distinct time. Those before `start` have left the window.
    runs: SmallVec<[Run; 2]>,
    start: u32,
    /// Neighbours were merged: a live run may hold units older than its time.
    merged: bool,
    /// The units of the live runs.
    sum: u64,
    newest: u64,
}

impl ExactLog {
    pub(crate) fn newest(&self) -> u64 {
        self.newest
    }

    fn live(&self) -> &[Run] {
        self.runs.get(self.start as usize..).unwrap_or_default()
    }

    /// The live runs that `now` has left behind, and the units they hold.
    fn expired(&self, shape: &Shape, now: u64) -> (usize, u64) {
        let gone = self.live().iter().take_while(|run| has_left(shape, run.at, now));
        gone.fold((0, 0), |(runs, units), run| (runs + 1, units + run.n))
    }

    #[inline]
    pub(crate) fn count(&self, shape: &Shape, now: u64) -> Count {
        // What is kept is what is live at the newest time.
        let (gone, units) = if now <= self.newest { (0, 0) } else { self.expired(shape, now) };
        let hi = self.sum - units;
        let vague = if self.merged { self.live().get(gone).map_or(0, |oldest| oldest.n) } else { 0 };
        Count { lo: hi - vague, hi }
    }

    #[inline]
    pub(crate) fn record(&mut self, shape: &Shape, at: u64, n: u64, mark: u64) -> Recorded {
        if has_left(shape, at, self.newest) {
            return Recorded { placed: Placed::TooLate, saturated: 0, fell: None };
        }
        let fell = self.advance(shape, at, mark);
        let placed = if at < self.newest { Placed::Late } else { Placed::OnTime };
        Recorded { placed, saturated: self.add(at, n), fell }
    }

    pub(crate) fn fits_at(&self, shape: &Shape, at: u64, n: u64, limit: u64) -> Option<u64> {
        let (gone, units) = self.expired(shape, at.max(self.newest));
        // Not sum + n against the limit: that can exceed the range.
        let mut excess = (self.sum - units).saturating_sub(limit.saturating_sub(n));
        let mut fits_at = None;
        for run in self.live().iter().skip(gone) {
            if excess == 0 {
                break;
            }
            excess = excess.saturating_sub(run.n);
            fits_at = Some(run.at.saturating_add(shape.window));
        }
        fits_at
    }

    pub(crate) fn take(&mut self, shape: &Shape, at: u64, n: u64) {
        let now = at.max(self.newest);
        self.advance(shape, now, 0);
        self.add(now, n);
    }

    pub(crate) fn clears_at(&self, shape: &Shape) -> u64 {
        self.live().last().map_or(0, |run| run.at.saturating_add(shape.window))
    }

    pub(crate) fn falls_below(&self, shape: &Shape, mark: u64) -> u64 {
        let mut left = self.sum;
        for run in self.live() {
            left -= run.n;
            if left < mark {
                return run.at.saturating_add(shape.window);
            }
        }
        self.newest
    }

    pub(crate) fn move_all_to(&mut self, _shape: &Shape, at: u64) {
        self.runs.clear();
        self.start = 0;
        self.newest = at;
        if self.sum > 0 {
            self.runs.push(Run { at, n: self.sum });
        }
    }

    /// Moves to `now`, dropping what has left, and tells when the count fell below `mark` on the way.
    #[inline]
    fn advance(&mut self, shape: &Shape, now: u64, mark: u64) -> Option<u64> {
        if now <= self.newest {
            return None;
        }
        self.newest = now;
        let mut fell = None;
        let mut start = self.start as usize;
        while let Some(run) = self.runs.get(start).filter(|run| has_left(shape, run.at, now)) {
            let before = self.sum;
            self.sum -= run.n;
            if self.sum < mark && mark <= before {
                fell = Some(run.at.saturating_add(shape.window));
            }
            start += 1;
        }
        self.merged &= start < self.runs.len();
        // At most as many runs are moved as have been dropped since the last time, so this is amortised O(1).
        if start * 2 >= self.runs.len() {
            self.runs.drain(..start);
            start = 0;
        }
        self.start = start as u32;
        fell
    }

    /// Adds units at the place of their time; returns those that did not fit into the sum.
    #[inline]
    fn add(&mut self, at: u64, n: u64) -> u64 {
        let fits = n.min(u64::MAX - self.sum);
        if fits > 0 {
            self.sum += fits;
            match self.runs.last_mut() {
                Some(run) if run.at == at => run.n += fits,
                Some(run) if run.at > at => self.add_late(at, fits),
                _ => self.insert(self.runs.len(), Run { at, n: fits }),
            }
        }
        n - fits
    }

    fn add_late(&mut self, at: u64, n: u64) {
        let later = self.live().iter().rev().take_while(|run| run.at > at).count();
        let place = self.runs.len() - later;
        match self.runs.get_mut(self.start as usize..place).and_then(<[Run]>::last_mut) {
            Some(run) if run.at == at => run.n += n,
            _ => self.insert(place, Run { at, n }),
        }
    }

    fn insert(&mut self, place: usize, run: Run) {
        self.runs.insert(place, run);
        if self.runs.len() - self.start as usize > MAX_RUNS {
            let pairs: SmallVec<[Run; 2]> = self.live().chunks(2).filter_map(merge).collect();
            self.runs = pairs;
            self.start = 0;
            self.merged = true;
        }
    }
}

/// Half-open: what happened exactly one window ago has left.
fn has_left(shape: &Shape, at: u64, now: u64) -> bool {
    now.saturating_sub(at) >= shape.window
}

/// Towards the later time: the older units stay in the window for longer than they should, never shorter.
fn merge(pair: &[Run]) -> Option<Run> {
    pair.last().map(|last| Run { at: last.at, n: pair.iter().map(|run| run.n).sum() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Form;

    fn shape(window: u64) -> Shape {
        Shape { window, slice: 1, slices: 0 }
    }

    #[test]
    fn an_event_leaves_exactly_one_window_after_it_came() {
        let shape = shape(10);
        let mut log = ExactLog::default();
        log.record(&shape, 100, 1, 1);
        assert_eq!(log.count(&shape, 109), Count { lo: 1, hi: 1 });
        assert_eq!(log.count(&shape, 110), Count { lo: 0, hi: 0 });
    }

    #[test]
    fn events_of_one_time_share_a_run_and_two_runs_need_no_allocation() {
        let shape = shape(1_000);
        let mut log = ExactLog::default();
        for i in 0..500 {
            log.record(&shape, 5 + (i % 2), 1, u64::MAX);
        }
        assert_eq!(log.runs.len(), 2);
        assert!(!log.runs.spilled());
    }

    #[test]
    fn a_key_with_too_many_times_is_bounded_and_only_over_counted() {
        let shape = Shape::new(crate::Rate::new(1, std::time::Duration::from_secs(1)).unwrap(), Form::Exact);
        let shape = shape.unwrap();
        let mut log = ExactLog::default();
        let events = MAX_RUNS as u64 * 3;
        for at in 0..events {
            log.record(&shape, at, 1, u64::MAX);
        }
        assert!(log.runs.len() <= MAX_RUNS + 1);
        // Some 3 ms of events, all within the second: the bracket holds them.
        assert!(log.count(&shape, events).lo <= events && events <= log.count(&shape, events).hi);
        // One window after the middle, half of them are left: the bracket still holds, and is narrow.
        let count = log.count(&shape, shape.window + events / 2);
        assert!(count.lo < events / 2 && events / 2 <= count.hi, "{count:?}");
        assert!(count.hi - count.lo <= 8, "{count:?}");
        log.record(&shape, 10 * shape.window, 1, 1);
        assert_eq!(log.count(&shape, 10 * shape.window), Count { lo: 1, hi: 1 });
    }

    #[test]
    fn a_sum_at_its_end_saturates_and_says_so() {
        let shape = shape(10);
        let mut log = ExactLog::default();
        assert_eq!(log.record(&shape, 1, u64::MAX - 1, 1).saturated, 0);
        assert_eq!(log.record(&shape, 2, 5, 1).saturated, 4);
        assert_eq!(log.count(&shape, 2).hi, u64::MAX);
        assert_eq!(log.count(&shape, 11).hi, 1);
    }
}
