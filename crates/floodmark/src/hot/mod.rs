//! Hot keys: which key has reached its mark, since when, how hard, and until when?

mod episode;
mod heavy;
mod open;
mod peak;
mod recent;

pub use episode::{Cooled, Step};
pub use heavy::{Heavy, Share};
pub use peak::{KeyPeak, Peak};
pub use recent::Recent;

use crate::clock::{Timestamp, nanos};
use crate::error::Error;
use crate::rate::Rate;
use crate::table::{Batch, Hashed, Shard, Table};
use crate::window::{Count, Form, Placed, Shape, Window};
use episode::{Episode, Seen, step};
use open::OpenList;
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::Duration;

/// Finds the keys that reach a mark: `T` units or more within `W`, in any window, wherever its edges fall.
///
/// What people get wrong: a counter per minute misses every burst across the minute's edge, and a ring of slices
/// that sums only the slices of one window is shorter than the window by up to a slice, so it misses bursts too.
/// This one never misses: if the count reaches the mark at any event, that event reports the key. With slices it
/// reports the bracket, so that the reader sees whether it is certain.
///
/// A hot key is reported in episodes: once when it begins ([`Step::Hot`]), once when it is over
/// ([`Step::Cooled`], from [`hit_at`](Self::hit_at) or [`poll`](Self::poll)).
///
/// An event older than the newest of its key is counted in its own place while the window reaches that far, and
/// is too late after that, which is counted and reported. Two in a row that are more than a window (and a slice)
/// behind show that it was the newest time that was wrong: then the key's sum moves to them. One alone does not,
/// because a straggler must not wipe out what a hot key has counted.
///
/// Clones share their counts.
///
/// # Accuracy
/// [`Form::Exact`]: none missed, none invented. [`Form::Slices`]: none missed; reported too early by at most what
/// the oldest slice holds.
///
/// # Cost
/// One hash and one lookup under a short lock. Memory: a key's bytes and about 200 more; the exact form adds 16
/// per distinct time in the window beyond two.
#[derive(Clone, Debug)]
pub struct Detector {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    mark: Rate,
    shape: Shape,
    cool: u64,
    late: Option<u64>,
    table: Table<KeyState, DetectorStats>,
    open: OpenList,
}

#[derive(Debug)]
struct KeyState {
    window: Window,
    /// The last event of this key was more than a window behind and not counted.
    suspect: bool,
    peak: Peak,
    episode: Option<Box<Episode>>,
}

/// What became of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The count at the newest time of the key.
    pub count: Count,
    /// Where the event was counted, if it was.
    pub placed: Placed,
    /// What it did to the key's episode.
    pub step: Step,
    /// Episodes of other keys may be over by now: [`Detector::poll`] tells.
    pub is_due: bool,
}

/// An event of a batch that changed an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its key.
    pub key: Box<[u8]>,
    /// Its time.
    pub at: Timestamp,
    /// What became of it.
    pub hit: Hit,
}

/// What a detector has counted so far, in units: `counted + too_late + saturated` is what it was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DetectorStats {
    /// Units counted, the late ones among them.
    pub counted: u64,
    /// Units counted although they came after a newer one of their key.
    pub late_counted: u64,
    /// Units that were older than the window or the bound, and not counted.
    pub too_late: u64,
    /// Units that did not fit into a counter.
    pub saturated: u64,
    /// Times that a key's newest time lay in the far future and its sum was moved back.
    pub healed: u64,
}

/// Makes a [`Detector`]. See [`Detector::builder`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing until build()"]
pub struct DetectorBuilder {
    mark: Rate,
    form: Form,
    cool: Option<Duration>,
    late: Option<Duration>,
}

impl DetectorBuilder {
    /// How the windows are kept. Left out: [`Form::Auto`].
    pub fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// How long a key must stay below its mark for its episode to be over. Left out: one window.
    pub fn cool(mut self, cool: Duration) -> Self {
        self.cool = Some(cool);
        self
    }

    /// How far behind its key's newest time an event may be and still count. Left out: the window.
    pub fn late(mut self, late: Duration) -> Self {
        self.late = Some(late);
        self
    }

    /// The detector.
    ///
    /// # Errors
    /// [`Error::ZeroMark`]; [`Error::Slices`] and [`Error::SliceTooFine`] where the form does not suit the window.
    pub fn build(self) -> Result<Detector, Error> {
        if self.mark.limit() == 0 {
            return Err(Error::ZeroMark);
        }
        let shape = Shape::new(self.mark, self.form)?;
        // One tick at least: two events of one instant, of which only the second reaches the mark again, are no
        // pause between two episodes.
        let cool = self.cool.map_or(shape.window, nanos).max(1);
        let (late, table, open) = (self.late.map(nanos), Table::default(), OpenList::default());
        Ok(Detector { shared: Arc::new(Shared { mark: self.mark, shape, cool, late, table, open }) })
    }
}

impl Detector {
    /// A detector in the default form, whose episodes are over after one window below the mark.
    ///
    /// # Errors
    /// [`Error::ZeroMark`].
    pub fn new(mark: Rate) -> Result<Self, Error> {
        Self::builder(mark).build()
    }

    /// Another form, cool time or bound for late events.
    pub fn builder(mark: Rate) -> DetectorBuilder {
        DetectorBuilder { mark, form: Form::default(), cool: None, late: None }
    }

    /// Counts `n` units of `key` at a time, and tells what that did. An `n` of 0 changes nothing.
    pub fn hit_at(&self, key: impl AsRef<[u8]>, n: u64, at: Timestamp) -> Hit {
        let key = self.shared.table.hash(key.as_ref());
        let mut shard = self.shared.table.shard(key);
        let hit = self.shared.hit(&mut shard, key, n, at);
        drop(shard);
        self.shared.settle(key, at, hit)
    }

    /// Counts a batch of events, as [`hit_at`](Self::hit_at) would one after another, and puts those that changed an
    /// episode into `changes`, in their order. Returns whether episodes of other keys may be over by now.
    ///
    /// Cost: where the keys do not fit into the caches, about half the time of single hits.
    pub fn hit_many(&self, batch: &Batch, changes: &mut Vec<Change>) -> bool {
        changes.clear();
        let shared = &*self.shared;
        let mut keys: SmallVec<[_; 64]> = batch.iter().map(|(key, ..)| shared.table.hash(key)).collect();
        let Some(&first) = keys.first() else { return false };
        let mut shard = shared.table.shard(first);
        shard.fetch(&mut keys);
        for ((_, n, at), &key) in batch.iter().zip(&keys) {
            let hit = shared.hit(&mut shard, key, n, at);
            if hit.placed == Placed::Healed || !matches!(hit.step, Step::Cold | Step::Still) {
                changes.push(Change { key: key.key.into(), at, hit });
            }
        }
        drop(shard);
        for Change { key, at, hit } in changes {
            *hit = shared.settle(shared.table.hash(key), *at, *hit);
        }
        shared.open.is_due(batch.newest().as_nanos())
    }

    /// The episodes that are over by `now`, the earliest first, without an event to show it.
    ///
    /// Call it when a [`Hit`] says that something is due, and now and then while no events come.
    #[must_use = "these episodes are reported once"]
    pub fn poll(&self, now: Timestamp) -> Vec<(Vec<u8>, Cooled)> {
        let now = now.as_nanos();
        let mut over = Vec::new();
        while let Some((due_at, key)) = self.shared.open.pop_due(now) {
            match self.shared.look_at(&key, due_at, now) {
                Some(Due::Over(cooled)) => over.push((key.to_vec(), cooled)),
                Some(Due::Later(due_at)) => self.shared.open.push(due_at, &key),
                None => {}
            }
        }
        // The list gives them by the time they were expected to be over, which further events may have put off.
        over.sort_by(|(a, x), (b, y)| (x.until, a).cmp(&(y.until, b)));
        over
    }

    /// Ends every open episode, at the time it is over if nothing else comes: for the end of the input.
    #[must_use = "these episodes are reported once"]
    pub fn finish(&self) -> Vec<(Vec<u8>, Cooled)> {
        self.poll(Timestamp::MAX)
    }

    /// The count of `key` in the window that ends at `now`; at its newest time, where that is later.
    #[must_use]
    pub fn count_at(&self, key: impl AsRef<[u8]>, now: Timestamp) -> Count {
        let key = self.shared.table.hash(key.as_ref());
        let count = |state: &KeyState| state.window.count(&self.shared.shape, now.as_nanos());
        self.shared.table.shard(key).get(key).map_or(Count::default(), count)
    }

    /// The highest count of `key` in any window so far.
    #[must_use]
    pub fn peak(&self, key: impl AsRef<[u8]>) -> Option<Peak> {
        let key = self.shared.table.hash(key.as_ref());
        self.shared.table.shard(key).get(key).map(|state| state.peak)
    }

    /// The `k` keys with the highest count in any window so far, the highest first, ties by key.
    #[must_use]
    pub fn top(&self, k: usize) -> Vec<KeyPeak> {
        let mut top = peak::Top::new(k);
        for shard in self.shared.table.shards() {
            shard.iter().for_each(|(key, state)| top.offer(key, state.peak));
        }
        top.into_sorted()
    }

    /// The mark, as it was asked for.
    #[must_use]
    pub fn mark(&self) -> Rate {
        self.shared.mark
    }

    /// The window as it is kept: what was asked for, rounded up to a multiple of its slices.
    #[must_use]
    pub fn window(&self) -> Duration {
        Duration::from_nanos(self.shared.shape.window)
    }

    /// How many keys are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.table.len()
    }

    /// No key has been hit yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What has been counted so far. Consistency: each shard's numbers are from one moment.
    #[must_use]
    pub fn stats(&self) -> DetectorStats {
        self.shared.table.shards().fold(DetectorStats::default(), |sum, shard| sum.plus(&shard.tally))
    }
}

/// What the list of open episodes finds when it looks at one.
enum Due {
    Over(Cooled),
    Later(u64),
}

impl Shared {
    /// One event, in its key's locked shard.
    #[inline]
    fn hit(&self, shard: &mut Shard<KeyState, DetectorStats>, key: Hashed<'_>, n: u64, at: Timestamp) -> Hit {
        let at = at.as_nanos();
        if n == 0 {
            let count = shard.get(key).map_or(Count::default(), |state| state.window.count(&self.shape, at));
            return Hit { count, placed: Placed::OnTime, step: Step::Cold, is_due: false };
        }
        let new = || KeyState {
            window: Window::new(&self.shape),
            suspect: false,
            peak: Peak::default(),
            episode: None,
        };
        shard.update(key, new, |state, stats| self.count(state, stats, n, at))
    }

    /// What is left to do for an event when no lock is held any more.
    fn settle(&self, key: Hashed<'_>, at: Timestamp, hit: Hit) -> Hit {
        if matches!(hit.step, Step::Hot { .. }) || hit.placed == Placed::Healed {
            self.list_open(key);
        }
        Hit { is_due: self.open.is_due(at.as_nanos()), ..hit }
    }

    /// One event of one key, under its shard's lock.
    #[inline]
    fn count(&self, state: &mut KeyState, stats: &mut DetectorStats, n: u64, at: u64) -> Hit {
        let mark = self.mark.limit();
        let behind = state.window.newest().saturating_sub(at);
        let mut placed = Placed::TooLate;
        let mut saturated = 0;
        let mut fell = None;
        if self.late.is_none_or(|bound| behind <= bound) {
            let recorded = state.window.record(&self.shape, at, n, mark);
            (placed, saturated, fell) = (recorded.placed, recorded.saturated, recorded.fell);
        }
        if placed == Placed::TooLate {
            let is_far = self.shape.is_far_ahead(state.window.newest(), at);
            if is_far && state.suspect {
                state.window.heal(&self.shape, at);
                if let Some(episode) = &mut state.episode {
                    episode.heal(at);
                }
                saturated = state.window.record(&self.shape, at, n, mark).saturated;
                placed = Placed::Healed;
            }
            state.suspect = is_far && placed == Placed::TooLate;
        } else {
            state.suspect = false;
        }
        stats.note(placed, n, saturated);
        let now = state.window.newest();
        let count = state.window.count(&self.shape, now);
        if placed == Placed::TooLate {
            let step = if state.episode.is_some() { Step::Still } else { Step::Cold };
            return Hit { count, placed, step, is_due: false };
        }
        state.peak.note(count, now);
        let seen = Seen { now, units: n - saturated, count, fell };
        let step = step(&mut state.episode, &seen, mark, self.cool);
        Hit { count, placed, step, is_due: false }
    }

    /// Puts a key's episode on the list of open ones, for the earliest time it can be over.
    fn list_open(&self, key: Hashed<'_>) {
        let mut shard = self.table.shard(key);
        let Some(state) = shard.get_mut(key) else { return };
        let Some(episode) = &mut state.episode else { return };
        let over_at = episode.over_at(self.cool);
        let due_at = over_at.unwrap_or_else(|| {
            state.window.falls_below(&self.shape, self.mark.limit()).saturating_add(self.cool)
        });
        episode.due_at = due_at;
        drop(shard);
        self.open.push(due_at, key.key);
    }

    /// Looks at the open episode that an entry of the list stood for; `None`: it has ended, or another entry
    /// stands for it.
    fn look_at(&self, key: &[u8], due_at: u64, now: u64) -> Option<Due> {
        let key = self.table.hash(key);
        let mut shard = self.table.shard(key);
        let state = shard.get_mut(key)?;
        let episode = state.episode.as_mut().filter(|episode| episode.due_at == due_at)?;
        let mut seen_until = **episode;
        if !seen_until.is_below() {
            seen_until.note_fall(Some(state.window.falls_below(&self.shape, self.mark.limit())));
        }
        if let Some(cooled) = seen_until.cooled_by(now, self.cool) {
            state.episode = None;
            return Some(Due::Over(cooled));
        }
        episode.due_at = seen_until.over_at(self.cool)?;
        Some(Due::Later(episode.due_at))
    }
}

impl DetectorStats {
    fn note(&mut self, placed: Placed, n: u64, saturated: u64) {
        if placed == Placed::TooLate {
            self.too_late = self.too_late.saturating_add(n);
            return;
        }
        let counted = n - saturated;
        self.counted = self.counted.saturating_add(counted);
        self.saturated = self.saturated.saturating_add(saturated);
        match placed {
            Placed::Late => self.late_counted = self.late_counted.saturating_add(counted),
            Placed::Healed => self.healed += 1,
            _ => {}
        }
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            counted: self.counted.saturating_add(other.counted),
            late_counted: self.late_counted.saturating_add(other.late_counted),
            too_late: self.too_late.saturating_add(other.too_late),
            saturated: self.saturated.saturating_add(other.saturated),
            healed: self.healed.saturating_add(other.healed),
        }
    }
}
