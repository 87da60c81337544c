//! Many keys: from a key to its state, under a short lock.
//!
//! Its users see shards: they lock the one a key belongs to, and never two at once. That there is a single shard
//! with a plain map in it, which only grows, is nobody's business but this file's.

mod batch;
mod index;
mod prefetch;

pub use batch::Batch;

use index::Index;
use parking_lot::{Mutex, MutexGuard};
use prefetch::prefetch;
use std::hash::{BuildHasher, Hasher, RandomState};

/// States by key, each shard with a tally `T` under the same lock.
///
/// A key is known by its hash: SipHash-1-3 to 64 bits, under a random seed per table, so that nobody can choose keys
/// that collide. Two of a million keys do with odds of 1 to 37 million; they are then counted as one, which can only
/// over-count.
#[derive(Debug)]
pub(crate) struct Table<S, T> {
    seed: RandomState,
    shard: Mutex<Shard<S, T>>,
}

/// Entries stand in the order in which their keys came, with an index beside them: keys that come often come early,
/// so the busy ones share pages and cache lines instead of being strewn over all of the table.
#[derive(Debug)]
pub(crate) struct Shard<S, T> {
    /// Places in `entries`.
    index: Index,
    entries: Vec<Entry<S>>,
    names: Names,
    pub(crate) tally: T,
}

/// Whole cache lines, so that an entry is never spread over one more than it needs.
#[derive(Debug)]
#[repr(align(64))]
struct Entry<S> {
    hash: u64,
    state: S,
}

/// A key and its hash, so that it is hashed once however often it is looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hashed<'a> {
    pub(crate) key: &'a [u8],
    hash: u64,
    /// Where its entry most likely is, if [`Shard::fetch`] has looked.
    near: usize,
}

impl<S, T: Default> Default for Table<S, T> {
    fn default() -> Self {
        let (index, entries, names, tally) = Default::default();
        Self { seed: RandomState::new(), shard: Mutex::new(Shard { index, entries, names, tally }) }
    }
}

impl<S, T> Table<S, T> {
    #[inline]
    pub(crate) fn hash<'a>(&self, key: &'a [u8]) -> Hashed<'a> {
        let mut hasher = self.seed.build_hasher();
        hasher.write(key);
        Hashed { key, hash: hasher.finish(), near: usize::MAX }
    }

    /// The shard of a key, locked. Nothing slow and nothing foreign runs while it is held.
    pub(crate) fn shard(&self, _key: Hashed<'_>) -> MutexGuard<'_, Shard<S, T>> {
        self.shard.lock()
    }

    /// Every shard in turn, each locked only for its turn.
    pub(crate) fn shards(&self) -> impl Iterator<Item = MutexGuard<'_, Shard<S, T>>> {
        std::iter::once_with(|| self.shard.lock())
    }

    pub(crate) fn len(&self) -> usize {
        self.shards().map(|shard| shard.entries.len()).sum()
    }
}

impl<S, T> Shard<S, T> {
    #[inline]
    fn place(&self, key: Hashed<'_>) -> Option<usize> {
        if self.entries.get(key.near).is_some_and(|entry| entry.hash == key.hash) {
            return Some(key.near);
        }
        self.index.find(key.hash, |place| self.entries.get(place).is_some_and(|entry| entry.hash == key.hash))
    }

    pub(crate) fn get(&self, key: Hashed<'_>) -> Option<&S> {
        self.entries.get(self.place(key)?).map(|entry| &entry.state)
    }

    pub(crate) fn get_mut(&mut self, key: Hashed<'_>) -> Option<&mut S> {
        let place = self.place(key)?;
        self.entries.get_mut(place).map(|entry| &mut entry.state)
    }

    /// Runs `update` on the state of `key`, made if it is absent, and on the shard's tally.
    #[inline]
    pub(crate) fn update<R>(
        &mut self,
        key: Hashed<'_>,
        new: impl FnOnce() -> S,
        update: impl FnOnce(&mut S, &mut T) -> R,
    ) -> R {
        let place = self.place(key).unwrap_or_else(|| self.insert(key, new()));
        let entry = self.entries.get_mut(place).expect("the index holds places of entries only");
        update(&mut entry.state, &mut self.tally)
    }

    fn insert(&mut self, key: Hashed<'_>, state: S) -> usize {
        let place = self.entries.len();
        self.index.insert(key.hash, place, self.entries.iter().map(|entry| entry.hash));
        self.entries.push(Entry { hash: key.hash, state });
        self.names.push(key.key);
        place
    }

    /// Brings the entries of many keys into the cache, waiting about as long as for one: first all their words of the
    /// index, then all their entries.
    pub(crate) fn fetch(&self, keys: &mut [Hashed<'_>]) {
        keys.iter().for_each(|key| self.index.prefetch(key.hash));
        for key in keys {
            // The first place whose tag fits is nearly always the right one, and its entry is not looked at here.
            key.near = self.index.find(key.hash, |_| true).unwrap_or(usize::MAX);
            if let Some(entry) = self.entries.get(key.near) {
                prefetch(entry);
            }
        }
    }

    /// Every key with its state.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &S)> {
        self.entries.iter().enumerate().map(|(place, entry)| (self.names.get(place), &entry.state))
    }
}

/// The keys' bytes, which only reports read: one after another, by place.
#[derive(Debug, Default)]
struct Names {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Names {
    fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
    }

    fn get(&self, place: usize) -> &[u8] {
        let start = place.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(place).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or_default()
    }
}
