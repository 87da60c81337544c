//! Many keys: from a key to its state, under a short lock.
//!
//! Its users see shards: they lock the one a key belongs to, and never two at once. That there is a single shard
//! with a plain map in it, which only grows, is nobody's business but this file's.

mod batch;

pub use batch::Batch;

use hashbrown::HashTable;
use parking_lot::{Mutex, MutexGuard};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::hint::black_box;

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
    index: HashTable<u32>,
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
    /// Where [`Shard::fetch`] has seen its entry, most likely.
    near: usize,
}

impl<S, T: Default> Default for Table<S, T> {
    fn default() -> Self {
        let (index, entries, names, tally) = Default::default();
        Self { seed: RandomState::new(), shard: Mutex::new(Shard { index, entries, names, tally }) }
    }
}

impl<S, T> Table<S, T> {
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
    fn place(&self, key: Hashed<'_>) -> Option<usize> {
        if self.entries.get(key.near).is_some_and(|entry| entry.hash == key.hash) {
            return Some(key.near);
        }
        let is_it =
            |&place: &u32| self.entries.get(place as usize).is_some_and(|entry| entry.hash == key.hash);
        self.index.find(key.hash, is_it).map(|&place| place as usize)
    }

    pub(crate) fn get(&self, key: Hashed<'_>) -> Option<&S> {
        self.entries.get(self.place(key)?).map(|entry| &entry.state)
    }

    pub(crate) fn get_mut(&mut self, key: Hashed<'_>) -> Option<&mut S> {
        let place = self.place(key)?;
        self.entries.get_mut(place).map(|entry| &mut entry.state)
    }

    /// Runs `update` on the state of `key`, made if it is absent, and on the shard's tally.
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
        let narrow = u32::try_from(place).expect("2^32 keys of 128 bytes do not fit into a machine");
        self.entries.push(Entry { hash: key.hash, state });
        self.names.push(key.key);
        let hash_of = |&place: &u32| self.entries.get(place as usize).map_or(0, |entry| entry.hash);
        self.index.insert_unique(key.hash, narrow, hash_of);
        place
    }

    /// Brings the entries of many keys into the cache, waiting about as long as for one: first all their index
    /// places, then all their entries. `touch` reads from each cache line of a state.
    pub(crate) fn fetch(&self, keys: &mut [Hashed<'_>], touch: impl Fn(&S) -> u64) {
        for key in &mut *keys {
            // The first place whose tag fits is nearly always the right one, and nothing depends on it here.
            key.near = self.index.find(key.hash, |_| true).map_or(usize::MAX, |&place| place as usize);
        }
        let read =
            |key: &Hashed<'_>| self.entries.get(key.near).map_or(0, |entry| entry.hash ^ touch(&entry.state));
        black_box(keys.iter().map(read).fold(0, |sum, word| sum ^ word));
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
