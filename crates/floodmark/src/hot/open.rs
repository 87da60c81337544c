//! The side list of open episodes, by the time each must be looked at again.
//!
//! A hot key that falls silent has no event of its own to end its episode. Its entry here ends it: the earliest
//! time at which the episode can be over. Further events of the key move that time; the entry is not moved with
//! them but found early when its time comes, and set anew. So a hot key costs one look per cool time, a cold one
//! nothing.

use crate::sync::{AtomicU64, Ordering};
use parking_lot::Mutex;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The least time on top, each with its key.
type Entries = BinaryHeap<Reverse<(u64, Box<[u8]>)>>;

#[derive(Debug)]
pub(super) struct OpenList {
    entries: Mutex<Entries>,
    /// The least time in `entries`, `u64::MAX` for none. Written under the lock, read by every hit without it: a
    /// hint, so `Relaxed`; a hit that reads it too late leaves the work to the next one.
    next: AtomicU64,
}

impl Default for OpenList {
    fn default() -> Self {
        Self { entries: Mutex::default(), next: AtomicU64::new(u64::MAX) }
    }
}

impl OpenList {
    pub(super) fn push(&self, due_at: u64, key: &[u8]) {
        let mut entries = self.entries.lock();
        entries.push(Reverse((due_at, key.into())));
        self.remember_next(&entries);
    }

    /// Something is due by `now`.
    pub(super) fn is_due(&self, now: u64) -> bool {
        self.next.load(Ordering::Relaxed) <= now
    }

    /// Takes out the earliest entry that is due by `now`.
    pub(super) fn pop_due(&self, now: u64) -> Option<(u64, Box<[u8]>)> {
        let mut entries = self.entries.lock();
        let is_due = entries.peek().is_some_and(|Reverse((due_at, _))| *due_at <= now);
        let entry = if is_due { entries.pop() } else { None };
        self.remember_next(&entries);
        entry.map(|Reverse(entry)| entry)
    }

    fn remember_next(&self, entries: &Entries) {
        let next = entries.peek().map_or(u64::MAX, |Reverse((due_at, _))| *due_at);
        self.next.store(next, Ordering::Relaxed);
    }
}
