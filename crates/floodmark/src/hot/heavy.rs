//! The largest of many items in constant memory: Space-Saving, by Metwally, Agrawal and El Abbadi, "Efficient
//! Computation of Frequent and Top-k Elements in Data Streams" (2005).
//!
//! ```text
//! an item that has a counter:     count += n
//! one that has none, room left:   a counter, count = n, error = 0
//! one that has none, all taken:   it takes the smallest counter over: error = its count, count += n
//! ```

use std::hash::{BuildHasher, RandomState};

/// The items with the most units, of any number of items, in a fixed number of counters.
///
/// What people get wrong: an item that took a counter over also took its count, so a count alone may be far too
/// high. Each comes with its error here.
///
/// # Accuracy
/// For each item that is listed, its true units are at most `count` and at least `count - error`. With `k` counters
/// an error is at most a `k`-th of all units, and every item with more than that is listed. While there were no more
/// than `k` items, all is exact.
///
/// # Cost
/// A comparison of eight bytes per counter and hit; the items' bytes and 40 more per counter.
///
/// # Examples
/// ```
/// use floodmark::Heavy;
///
/// let mut paths = Heavy::new(16);
/// paths.add(b"/login", 40);
/// paths.add(b"/", 2);
/// let top = paths.top(1);
/// assert_eq!((&*top[0].item, top[0].count, top[0].error), (&b"/login"[..], 40, 0));
/// ```
#[derive(Clone, Debug)]
pub struct Heavy {
    hashes: Vec<u64>,
    shares: Vec<Share>,
    capacity: usize,
    total: u64,
    hasher: RandomState,
}

/// One item and what it has of the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The item's bytes.
    pub item: Box<[u8]>,
    /// Its units; at most this many.
    pub count: u64,
    /// So many of them may be those of other items.
    pub error: u64,
}

impl Heavy {
    /// With so many counters; one at least.
    #[must_use]
    pub fn new(counters: usize) -> Self {
        let (hashes, shares, hasher) = Default::default();
        Self { hashes, shares, capacity: counters.max(1), total: 0, hasher }
    }

    /// Counts `n` units of an item.
    pub fn add(&mut self, item: &[u8], n: u64) {
        if n == 0 {
            return;
        }
        self.total = self.total.saturating_add(n);
        let hash = self.hasher.hash_one(item);
        let known = self.hashes.iter().zip(&mut self.shares);
        let known = known.filter(|(known, _)| **known == hash).map(|(_, share)| share);
        if let Some(share) = known.into_iter().find(|share| *share.item == *item) {
            share.count = share.count.saturating_add(n);
            return;
        }
        if self.shares.len() < self.capacity {
            self.hashes.push(hash);
            self.shares.push(Share { item: item.into(), count: n, error: 0 });
            return;
        }
        let smallest = self.shares.iter_mut().zip(&mut self.hashes).min_by_key(|(share, _)| share.count);
        if let Some((share, known)) = smallest {
            *known = hash;
            *share = Share { item: item.into(), count: share.count.saturating_add(n), error: share.count };
        }
    }

    /// The units of all items, those that are not listed among them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The `k` items with the highest counts, the highest first, ties by item.
    #[must_use]
    pub fn top(&self, k: usize) -> Vec<Share> {
        let mut top = self.shares.clone();
        top.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.item.cmp(&b.item)));
        top.truncate(k);
        top
    }
}
