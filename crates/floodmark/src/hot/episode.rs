//! Episodes: a key is hot from the event that reaches the mark until it has stayed below it for the cool time.
//!
//! ```text
//!            E >= mark                      below for the cool time
//!   cold ───────────────► hot ─┐ still ──────────────────────────────► cooled (until = first instant below)
//!                          ▲   │
//!                          └───┘ back at the mark before that: the same episode goes on
//! ```

use crate::clock::Timestamp;
use crate::window::Count;

/// What an event, or the passing of time, did to a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// The key is not hot.
    #[default]
    Cold,
    /// The key has just reached its mark: an episode begins. If the one before ended only now, it is here too.
    Hot {
        /// The count at this moment; with slices, certain where `lo` has reached the mark as well.
        count: Count,
        /// The time of this moment: of the event, or of the key's newest where the event is late.
        at: Timestamp,
        /// The episode before, where this event is the first to show that it was over.
        cooled: Option<Cooled>,
    },
    /// The key is hot and goes on being so.
    Still,
    /// The key's episode is over.
    Cooled(Cooled),
}

/// A whole episode, from the event that reached the mark to the first instant below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cooled {
    /// The time of the event that reached the mark.
    pub from: Timestamp,
    /// The first instant at which the count was below the mark, to stay there for the cool time.
    pub until: Timestamp,
    /// The highest count; with slices, its upper bound.
    pub peak: u64,
    /// The first time the peak was reached.
    pub peak_at: Timestamp,
    /// Units counted from `from` up to `until`; those before the mark was reached are not among them.
    pub total: u64,
}

/// An open episode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Episode {
    from: u64,
    peak: u64,
    peak_at: u64,
    total: u64,
    below: Option<Below>,
    /// When the list of open episodes will look at this one: the one entry of that list that is valid.
    pub(super) due_at: u64,
}

/// The count has fallen below the mark, and the cool time is running.
#[derive(Clone, Copy, Debug)]
struct Below {
    since: u64,
    /// The total at that time.
    total: u64,
}

/// What an event did to its key's window.
pub(super) struct Seen {
    /// The key's newest time.
    pub(super) now: u64,
    pub(super) units: u64,
    pub(super) count: Count,
    /// When the count fell below the mark on the way to `now`, if it did.
    pub(super) fell: Option<u64>,
}

/// Takes a key's episode one event further.
pub(super) fn step(open: &mut Option<Box<Episode>>, seen: &Seen, mark: u64, cool: u64) -> Step {
    let is_at_mark = seen.count.hi >= mark;
    let Some(episode) = open else {
        return if is_at_mark { begin(open, seen, None) } else { Step::Cold };
    };
    episode.note_fall(seen.fell);
    if let Some(cooled) = episode.cooled_by(seen.now, cool) {
        *open = None;
        return if is_at_mark { begin(open, seen, Some(cooled)) } else { Step::Cooled(cooled) };
    }
    if is_at_mark {
        episode.below = None;
    }
    episode.total = episode.total.saturating_add(seen.units);
    if seen.count.hi > episode.peak {
        (episode.peak, episode.peak_at) = (seen.count.hi, seen.now);
    }
    Step::Still
}

fn begin(open: &mut Option<Box<Episode>>, seen: &Seen, cooled: Option<Cooled>) -> Step {
    let (now, peak) = (seen.now, seen.count.hi);
    *open = Some(Box::new(Episode {
        from: now,
        peak,
        peak_at: now,
        total: seen.units,
        below: None,
        due_at: u64::MAX,
    }));
    Step::Hot { count: seen.count, at: Timestamp::from_nanos(now), cooled }
}

impl Episode {
    /// Notes when the count fell below the mark, unless it was below already.
    pub(super) fn note_fall(&mut self, fell: Option<u64>) {
        if let (Some(since), None) = (fell, self.below) {
            self.below = Some(Below { since, total: self.total });
        }
    }

    /// Whether the count is below the mark as far as is known.
    pub(super) fn is_below(&self) -> bool {
        self.below.is_some()
    }

    /// When the episode is over if nothing else comes; `None` while the count is at the mark.
    pub(super) fn over_at(&self, cool: u64) -> Option<u64> {
        self.below.map(|below| below.since.saturating_add(cool))
    }

    /// The finished episode, if it was over by `now`.
    pub(super) fn cooled_by(&self, now: u64, cool: u64) -> Option<Cooled> {
        let below = self.below.filter(|below| now >= below.since.saturating_add(cool))?;
        Some(Cooled {
            from: Timestamp::from_nanos(self.from),
            until: Timestamp::from_nanos(below.since),
            peak: self.peak,
            peak_at: Timestamp::from_nanos(self.peak_at),
            total: below.total,
        })
    }

    /// The clock was set right, to `at`: nothing of this episode can have been later.
    pub(super) fn heal(&mut self, at: u64) {
        self.from = self.from.min(at);
        self.peak_at = self.peak_at.min(at);
        if let Some(below) = &mut self.below {
            below.since = below.since.min(at);
        }
    }
}
