//! Many keys: from a key to its state, under a short lock.
//!
//! Its users see shards: they lock the one a key belongs to, and never two at once. That there is a single shard
//! with a plain map in it, which only grows, is nobody's business but this file's.

use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;
use std::collections::HashMap;

/// A key's bytes, inside its entry while they are few: an address or a short name costs no allocation.
pub(crate) type Key = SmallVec<[u8; 24]>;

/// States by key, each shard with a tally `T` under the same lock.
///
/// Keys are hashed with SipHash-1-3 under a random seed per table, so that nobody can choose keys that collide.
#[derive(Debug)]
pub(crate) struct Table<S, T> {
    shard: Mutex<Shard<S, T>>,
}

#[derive(Debug)]
pub(crate) struct Shard<S, T> {
    states: HashMap<Key, S>,
    pub(crate) tally: T,
}

impl<S, T: Default> Default for Table<S, T> {
    fn default() -> Self {
        Self { shard: Mutex::new(Shard { states: HashMap::new(), tally: T::default() }) }
    }
}

impl<S, T> Table<S, T> {
    /// The shard of `key`, locked. Nothing slow and nothing foreign runs while it is held.
    pub(crate) fn shard(&self, _key: &[u8]) -> MutexGuard<'_, Shard<S, T>> {
        self.shard.lock()
    }

    /// Every shard in turn, each locked only for its turn.
    pub(crate) fn shards(&self) -> impl Iterator<Item = MutexGuard<'_, Shard<S, T>>> {
        std::iter::once_with(|| self.shard.lock())
    }

    pub(crate) fn len(&self) -> usize {
        self.shards().map(|shard| shard.states.len()).sum()
    }
}

impl<S, T> Shard<S, T> {
    pub(crate) fn get(&self, key: &[u8]) -> Option<&S> {
        self.states.get(key)
    }

    pub(crate) fn get_mut(&mut self, key: &[u8]) -> Option<&mut S> {
        self.states.get_mut(key)
    }

    /// Runs `update` on the state of `key`, made if it is absent, and on the shard's tally.
    pub(crate) fn update<R>(
        &mut self,
        key: &[u8],
        new: impl FnOnce() -> S,
        update: impl FnOnce(&mut S, &mut T) -> R,
    ) -> R {
        match self.states.get_mut(key) {
            Some(state) => update(state, &mut self.tally),
            None => update(self.states.entry(Key::from_slice(key)).or_insert_with(new), &mut self.tally),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key, &S)> {
        self.states.iter()
    }
}
