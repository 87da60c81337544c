//! Hot episodes of one key: every moment of its past is kept, and read anew at each event.

use super::answer::{SlowCooled, SlowHit, SlowPeak, SlowPlaced, SlowStats, SlowStep};
use super::window::{SlowCount, SlowForm, SlowWindow};

/// A mark, and how its detector is set.
#[derive(Clone, Copy, Debug)]
pub struct SlowMark {
    /// `T`.
    pub mark: u64,
    /// `W` as asked for.
    pub window_ns: u64,
    /// How the window counts.
    pub form: SlowForm,
    /// How long below the mark ends an episode; one window, where it is left out. At least one tick.
    pub cool_ns: Option<u64>,
    /// How far behind an event may be and still count; the window, where it is left out.
    pub late_ns: Option<u64>,
}

/// The key as one counted event left it.
#[derive(Clone, Copy, Debug)]
struct Moment {
    /// The newest time.
    now: u64,
    units: u64,
    count: SlowCount,
    /// The first instant since the moment before at which the count was below the mark, if it was above then.
    fell: Option<u64>,
}

/// One key.
#[derive(Clone, Debug)]
pub struct SlowDetector {
    set: SlowMark,
    cool: u64,
    window: SlowWindow,
    /// Since the last episode ended.
    moments: Vec<Moment>,
    /// `(newest time, count)` after every counted event.
    counts: Vec<(u64, SlowCount)>,
    /// The last event was too late by more than a window and a slice.
    is_suspect: bool,
    stats: SlowStats,
}

impl SlowDetector {
    /// A key without events.
    #[must_use]
    pub fn new(set: SlowMark) -> Self {
        let window = SlowWindow::new(set.form, set.window_ns);
        let cool = set.cool_ns.unwrap_or(window.window_ns()).max(1);
        let stats = SlowStats::default();
        Self { set, cool, window, moments: Vec::new(), counts: Vec::new(), is_suspect: false, stats }
    }

    /// One event of `n` units; 0 is a read.
    pub fn hit(&mut self, n: u64, at: u64) -> SlowHit {
        if n == 0 {
            let count = self.window.count(at);
            return SlowHit { count, placed: SlowPlaced::OnTime, step: SlowStep::Cold };
        }
        let placed = self.place(at);
        self.is_suspect = placed == SlowPlaced::TooLate && self.window.is_far_ahead_of(at);
        if placed == SlowPlaced::TooLate {
            self.stats.too_late = self.stats.too_late.saturating_add(n);
            let step = if self.opened().is_some() { SlowStep::Still } else { SlowStep::Cold };
            return SlowHit { count: self.count_at(0), placed, step };
        }
        if placed == SlowPlaced::Healed {
            self.set_clock_right(at);
        }
        let fell = self.falls_on_the_way_to(at);
        let saturated = self.window.add(at, n);
        let (units, count, now) = (n - saturated, self.count_at(0), self.window.newest());
        self.note(placed, units, saturated);
        self.moments.push(Moment { now, units, count, fell });
        self.counts.push((now, count));
        SlowHit { count, placed, step: self.step() }
    }

    /// The episode that is over by `now` although no event has shown it.
    pub fn poll(&mut self, now: u64) -> Option<SlowCooled> {
        let cooled = self.over_by(now)?;
        self.moments.clear();
        Some(cooled)
    }

    /// The same without ending it: when, if nothing comes, the open episode is over.
    #[must_use]
    pub fn over_by(&self, now: u64) -> Option<SlowCooled> {
        let first = self.opened()?;
        let until = self
            .below_since()
            .or_else(|| self.window.first_instant(self.window.newest(), |hi| hi < self.set.mark));
        let until = until.unwrap_or(u64::MAX);
        (until.saturating_add(self.cool) <= now).then(|| self.episode(first, until))
    }

    /// The bracket at `now`.
    #[must_use]
    pub fn count_at(&self, now: u64) -> SlowCount {
        self.window.count(now)
    }

    /// The true count at `now`.
    #[must_use]
    pub fn true_count_at(&self, now: u64) -> u64 {
        self.window.true_count(now)
    }

    /// The newest time of the key.
    #[must_use]
    pub fn newest(&self) -> u64 {
        self.window.newest()
    }

    /// The sums so far.
    #[must_use]
    pub fn stats(&self) -> SlowStats {
        self.stats
    }

    /// The highest counts so far; `None` before the first event.
    #[must_use]
    pub fn peak(&self) -> Option<SlowPeak> {
        let hi = self.counts.iter().map(|(_, count)| count.hi).max()?;
        let lo = self.counts.iter().map(|(_, count)| count.lo).max()?;
        let (at, _) = self.counts.iter().find(|(_, count)| count.hi == hi)?;
        Some(SlowPeak { lo, hi, at: *at })
    }

    fn place(&self, at: u64) -> SlowPlaced {
        let newest = self.window.newest();
        if at >= newest {
            return SlowPlaced::OnTime;
        }
        let is_in_time = self.set.late_ns.is_none_or(|bound| newest - at <= bound);
        if is_in_time && self.window.holds(at, newest) {
            return SlowPlaced::Late;
        }
        // One may be a straggler; two in a row show that it was the newest time that was wrong.
        if self.is_suspect && self.window.is_far_ahead_of(at) {
            SlowPlaced::Healed
        } else {
            SlowPlaced::TooLate
        }
    }

    /// Nothing can have happened after `at`, so whatever was thought to have, happened at `at`.
    fn set_clock_right(&mut self, at: u64) {
        self.window.move_all_to(at);
        for moment in &mut self.moments {
            moment.now = moment.now.min(at);
            moment.fell = moment.fell.map(|fell| fell.min(at));
        }
    }

    fn falls_on_the_way_to(&self, at: u64) -> Option<u64> {
        let newest = self.window.newest();
        if at <= newest || self.count_at(newest).hi < self.set.mark {
            return None;
        }
        self.window.first_instant(newest, |hi| hi < self.set.mark).filter(|&fell| fell <= at)
    }

    fn is_at_mark(&self, moment: &Moment) -> bool {
        moment.count.hi >= self.set.mark
    }

    /// The moment at which the open episode began.
    fn opened(&self) -> Option<usize> {
        self.moments.iter().position(|moment| self.is_at_mark(moment))
    }

    /// The last moment at the mark.
    fn last_at_mark(&self) -> Option<usize> {
        self.moments.iter().rposition(|moment| self.is_at_mark(moment))
    }

    /// The instant below the mark that came after the last moment at it.
    fn below_since(&self) -> Option<u64> {
        self.moments[self.last_at_mark()? + 1..].iter().find_map(|moment| moment.fell)
    }

    /// Looks at the moment that was noted last.
    fn step(&mut self) -> SlowStep {
        let Some(moment) = self.moments.pop() else { return SlowStep::Cold };
        let was_open = self.opened();
        let until = self.below_since().or(moment.fell);
        let cooled = match (was_open, until) {
            (Some(first), Some(until)) if moment.now >= until.saturating_add(self.cool) => {
                let cooled = self.episode(first, until);
                self.moments.clear();
                Some(cooled)
            }
            _ => None,
        };
        self.moments.push(moment);
        match (self.is_at_mark(&moment), was_open, cooled) {
            (true, None, _) | (true, _, Some(_)) => SlowStep::Hot(cooled),
            (false, _, Some(cooled)) => SlowStep::Cooled(cooled),
            (_, Some(_), None) => SlowStep::Still,
            (false, None, None) => SlowStep::Cold,
        }
    }

    /// The episode that began at a moment and fell below the mark, after its last moment at it, at `until`.
    fn episode(&self, first: usize, until: u64) -> SlowCooled {
        let hot = &self.moments[first..=self.last_at_mark().unwrap_or(first)];
        let peak = hot.iter().map(|moment| moment.count.hi).max().unwrap_or(0);
        let peak_at = hot.iter().find(|moment| moment.count.hi == peak).map_or(0, |moment| moment.now);
        let total = hot.iter().fold(0u64, |sum, moment| sum.saturating_add(moment.units));
        SlowCooled { from: self.moments[first].now, until, peak, peak_at, total }
    }

    fn note(&mut self, placed: SlowPlaced, units: u64, saturated: u64) {
        self.stats.counted = self.stats.counted.saturating_add(units);
        self.stats.saturated = self.stats.saturated.saturating_add(saturated);
        match placed {
            SlowPlaced::Late => {
                self.stats.late_counted = self.stats.late_counted.saturating_add(units);
            }
            SlowPlaced::Healed => self.stats.healed += 1,
            SlowPlaced::OnTime | SlowPlaced::TooLate => {}
        }
    }
}
