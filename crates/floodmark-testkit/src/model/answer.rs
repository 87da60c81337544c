//! What the slow detector answers.

use super::window::SlowCount;

/// Where an event found its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowPlaced {
    /// At or after the newest time.
    OnTime,
    /// Before it, and counted in its own place.
    Late,
    /// Not counted.
    TooLate,
    /// Counted, after the whole sum was moved to its time.
    Healed,
}

/// A whole episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowCooled {
    /// The newest time when the mark was reached.
    pub from: u64,
    /// The first instant below the mark.
    pub until: u64,
    /// The highest upper count.
    pub peak: u64,
    /// When that was first reached.
    pub peak_at: u64,
    /// Units counted from `from` up to `until`.
    pub total: u64,
}

/// What an event did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStep {
    /// Not hot.
    Cold,
    /// Hot from now on; the episode before may have ended only now.
    Hot(Option<SlowCooled>),
    /// Hot as before.
    Still,
    /// No longer hot.
    Cooled(SlowCooled),
}

/// What became of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowHit {
    /// At the newest time.
    pub count: SlowCount,
    /// Where it was counted.
    pub placed: SlowPlaced,
    /// What it did.
    pub step: SlowStep,
}

/// Sums of units; `healed` is a number of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlowStats {
    /// Counted, late ones among them.
    pub counted: u64,
    /// Counted behind the newest time.
    pub late_counted: u64,
    /// Not counted.
    pub too_late: u64,
    /// Did not fit into the count.
    pub saturated: u64,
    /// Sums moved.
    pub healed: u64,
}

/// The highest counts ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlowPeak {
    /// The highest lower count.
    pub lo: u64,
    /// The highest upper count.
    pub hi: u64,
    /// When that was first reached.
    pub at: u64,
}
