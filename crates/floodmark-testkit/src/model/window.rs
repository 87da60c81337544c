//! One key's window, by definition: a list of all events, and questions that go through all of it.

/// How the window counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowForm {
    /// The events with `t - W < time <= t`.
    Exact,
    /// `N` slices: the bracket around that number.
    Slices(u64),
}

/// A bracket `lo <= E <= hi`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlowCount {
    /// The current partial slice and the `N - 1` before it.
    pub lo: u64,
    /// And one slice more.
    pub hi: u64,
}

/// Units that were counted at a time.
#[derive(Clone, Copy, Debug)]
struct Kept {
    at: u64,
    n: u64,
}

/// All that was ever counted for one key; nothing is dropped.
#[derive(Clone, Debug)]
pub struct SlowWindow {
    form: SlowForm,
    slice: u64,
    kept: Vec<Kept>,
    newest: u64,
}

impl SlowWindow {
    /// An empty window of at least `asked_ns`: a multiple of its slices.
    #[must_use]
    pub fn new(form: SlowForm, asked_ns: u64) -> Self {
        let slice = match form {
            SlowForm::Exact => asked_ns,
            SlowForm::Slices(slices) => asked_ns.div_ceil(slices),
        };
        Self { form, slice, kept: Vec::new(), newest: 0 }
    }

    /// `W`.
    #[must_use]
    pub fn window_ns(&self) -> u64 {
        match self.form {
            SlowForm::Exact => self.slice,
            SlowForm::Slices(slices) => self.slice.saturating_mul(slices),
        }
    }

    /// `s`; for the exact form one tick.
    #[must_use]
    pub fn slice_ns(&self) -> u64 {
        match self.form {
            SlowForm::Exact => 1,
            SlowForm::Slices(_) => self.slice,
        }
    }

    /// The newest time that was counted or moved to.
    #[must_use]
    pub fn newest(&self) -> u64 {
        self.newest
    }

    /// The newest time lies beyond `at + W + s`.
    #[must_use]
    pub fn is_far_ahead_of(&self, at: u64) -> bool {
        u128::from(self.newest) > u128::from(at) + u128::from(self.window_ns()) + u128::from(self.slice_ns())
    }

    /// Whether the upper count at `now` holds what happened at `at`.
    #[must_use]
    pub fn holds(&self, at: u64, now: u64) -> bool {
        match self.form {
            SlowForm::Exact => is_within(at, now, self.slice),
            SlowForm::Slices(slices) => now / self.slice - at / self.slice <= slices,
        }
    }

    /// Whether the lower count at `now` holds it too.
    fn surely_holds(&self, at: u64, now: u64) -> bool {
        match self.form {
            SlowForm::Exact => is_within(at, now, self.slice),
            SlowForm::Slices(slices) => now / self.slice - at / self.slice < slices,
        }
    }

    /// The first instant at which the upper count no longer holds what happened at `at`.
    fn leaves_at(&self, at: u64) -> u64 {
        match self.form {
            SlowForm::Exact => at.saturating_add(self.slice),
            SlowForm::Slices(slices) => (at / self.slice + slices + 1).saturating_mul(self.slice),
        }
    }

    /// The bracket at `now`, or at the newest time where that is later.
    #[must_use]
    pub fn count(&self, now: u64) -> SlowCount {
        let now = now.max(self.newest);
        SlowCount {
            lo: self.sum(|kept| self.surely_holds(kept.at, now)),
            hi: self.sum(|kept| self.holds(kept.at, now)),
        }
    }

    /// The true count of `(now - W, now]`, for a `now` not before the newest time.
    #[must_use]
    pub fn true_count(&self, now: u64) -> u64 {
        self.sum(|kept| is_within(kept.at, now, self.window_ns()))
    }

    fn sum(&self, is_wanted: impl Fn(&Kept) -> bool) -> u64 {
        self.kept.iter().filter(|kept| is_wanted(kept)).map(|kept| kept.n).sum()
    }

    /// Counts units at their time, as far as the upper count can take them; returns those that did not fit.
    pub fn add(&mut self, at: u64, n: u64) -> u64 {
        self.newest = self.newest.max(at);
        let fits = n.min(u64::MAX - self.count(self.newest).hi);
        self.kept.push(Kept { at, n: fits });
        n - fits
    }

    /// Everything that still counts now happened at `at`, and that is the newest time.
    pub fn move_all_to(&mut self, at: u64) {
        let n = self.count(self.newest).hi;
        self.kept = vec![Kept { at, n }];
        self.newest = at;
    }

    /// The first instant, from `from` on, at which the upper count is as wanted if nothing else comes.
    ///
    /// The count changes only where something leaves, so those instants are all there is to try.
    #[must_use]
    pub fn first_instant(&self, from: u64, is_wanted: impl Fn(u64) -> bool) -> Option<u64> {
        let leaving = self.kept.iter().map(|kept| self.leaves_at(kept.at)).filter(|&at| at >= from);
        let mut instants: Vec<u64> = std::iter::once(from).chain(leaving).collect();
        instants.sort_unstable();
        instants.into_iter().find(|&at| is_wanted(self.count(at).hi))
    }

    /// When all that counts at `now` will have left; `None` if nothing does.
    #[must_use]
    pub fn empty_at(&self, now: u64) -> Option<u64> {
        let now = now.max(self.newest);
        let held = self.kept.iter().filter(|kept| kept.n > 0 && self.holds(kept.at, now));
        held.map(|kept| self.leaves_at(kept.at)).max()
    }
}

/// `now - window < at <= now`.
fn is_within(at: u64, now: u64, window: u64) -> bool {
    at <= now && now - at < window
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_half_open() {
        let mut window = SlowWindow::new(SlowForm::Exact, 10);
        window.add(100, 3);
        assert_eq!(window.count(109), SlowCount { lo: 3, hi: 3 });
        assert_eq!(window.count(110), SlowCount { lo: 0, hi: 0 });
        assert_eq!(window.first_instant(100, |hi| hi < 3), Some(110));
    }

    #[test]
    fn slices_give_a_bracket() {
        let mut window = SlowWindow::new(SlowForm::Slices(3), 30);
        for (at, n) in [(105, 1), (115, 2), (125, 4), (135, 8)] {
            window.add(at, n);
        }
        assert_eq!(window.count(135), SlowCount { lo: 14, hi: 15 });
        assert_eq!(window.true_count(135), 14, "the first has left (105, 135]");
        assert_eq!((window.count(140).lo, window.count(140).hi), (12, 14));
        assert_eq!(window.empty_at(135), Some(170));
    }
}
