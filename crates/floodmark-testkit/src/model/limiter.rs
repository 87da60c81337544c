//! Several limits on one key, judged one request at a time.

use super::window::{SlowForm, SlowWindow};

/// One limit.
#[derive(Clone, Copy, Debug)]
pub struct SlowLimit {
    /// `L`.
    pub limit: u64,
    /// `W` as asked for.
    pub window_ns: u64,
    /// How its window counts.
    pub form: SlowForm,
}

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowVerdict {
    /// Counted, in every limit.
    Allowed,
    /// Not now, and counted in none.
    Denied {
        /// The wait of the limit that has the longest one.
        retry_after_ns: u64,
        /// Which that is; the first of equals.
        by: usize,
    },
    /// Larger than a limit.
    Never {
        /// The first such limit.
        by: usize,
    },
}

/// A verdict, and what is left after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowDecision {
    /// Whether it may pass.
    pub verdict: SlowVerdict,
    /// The least that any limit has left.
    pub remaining: u64,
    /// The limit that has the least left; the first of equals.
    pub least: usize,
    /// When all limits are whole again if nobody comes.
    pub reset_after_ns: u64,
}

/// The limits of one key.
#[derive(Clone, Debug)]
pub struct SlowLimiter {
    limits: Vec<(u64, SlowWindow)>,
    healed: u64,
}

impl SlowLimiter {
    /// A key that has asked for nothing yet.
    #[must_use]
    pub fn new(limits: &[SlowLimit]) -> Self {
        let window = |limit: &SlowLimit| (limit.limit, SlowWindow::new(limit.form, limit.window_ns));
        Self { limits: limits.iter().map(window).collect(), healed: 0 }
    }

    /// May the key do `n` more at `at`? If so they are counted, in every limit, at the newest time.
    pub fn check(&mut self, n: u64, at: u64) -> SlowDecision {
        if n == 0 {
            return self.peek(0, at);
        }
        self.heal(at);
        let verdict = self.judge(n, at);
        if verdict == SlowVerdict::Allowed {
            for (_, window) in &mut self.limits {
                window.add(at.max(window.newest()), n);
            }
        }
        self.decision(verdict, at)
    }

    /// The same question, asked of a copy.
    #[must_use]
    pub fn peek(&self, n: u64, at: u64) -> SlowDecision {
        let mut copy = self.clone();
        copy.heal(at);
        copy.decision(copy.judge(n, at), at)
    }

    /// How often a limit's newest time lay in the far future.
    #[must_use]
    pub fn healed(&self) -> u64 {
        self.healed
    }

    fn heal(&mut self, at: u64) {
        for (_, window) in &mut self.limits {
            if window.is_far_ahead_of(at) {
                window.move_all_to(at);
                self.healed += 1;
            }
        }
    }

    fn judge(&self, n: u64, at: u64) -> SlowVerdict {
        if let Some(by) = self.limits.iter().position(|(limit, _)| n > *limit) {
            return SlowVerdict::Never { by };
        }
        let mut verdict = SlowVerdict::Allowed;
        let mut longest = 0;
        for (by, (limit, window)) in self.limits.iter().enumerate() {
            let now = at.max(window.newest());
            let fits_at = window.first_instant(now, |hi| hi <= limit - n);
            if fits_at == Some(now) {
                continue;
            }
            let fits_at = fits_at.unwrap_or(u64::MAX);
            if verdict == SlowVerdict::Allowed || fits_at > longest {
                longest = fits_at;
                verdict = SlowVerdict::Denied { retry_after_ns: fits_at - at, by };
            }
        }
        verdict
    }

    fn decision(&self, verdict: SlowVerdict, at: u64) -> SlowDecision {
        let left = self.limits.iter().map(|(limit, window)| limit.saturating_sub(window.count(at).hi));
        let left: Vec<u64> = left.collect();
        let remaining = left.iter().copied().min().unwrap_or(0);
        let least = left.iter().position(|&left| left == remaining).unwrap_or(0);
        let empty_at = self.limits.iter().filter_map(|(_, window)| window.empty_at(at)).max();
        let reset_after_ns = empty_at.map_or(0, |empty_at| empty_at.saturating_sub(at));
        SlowDecision { verdict, remaining, least, reset_after_ns }
    }
}
