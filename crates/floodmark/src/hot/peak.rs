//! The highest counts: per key, and the few highest of all keys.

use crate::clock::Timestamp;
use crate::window::Count;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The highest count of one key in any window so far.
///
/// The true maximum lies between `lo` and `hi`; for the exact form they are equal. They may be from different
/// moments: `lo` is the highest lower bound, `hi` the highest upper bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// The maximum is at least this.
    pub lo: u64,
    /// The maximum is at most this.
    pub hi: u64,
    /// The time of the first event at which `hi` was reached.
    pub at: Timestamp,
}

impl Peak {
    pub(super) fn note(&mut self, count: Count, now: u64) {
        self.lo = self.lo.max(count.lo);
        if count.hi > self.hi {
            self.hi = count.hi;
            self.at = Timestamp::from_nanos(now);
        }
    }
}

/// A key and its [`Peak`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPeak {
    /// The key's bytes.
    pub key: Vec<u8>,
    /// Its highest count.
    pub peak: Peak,
}

impl Ord for KeyPeak {
    /// By the upper bound; of equal ones, the key that sorts first is the greater.
    fn cmp(&self, other: &Self) -> Ordering {
        self.peak.hi.cmp(&other.peak.hi).then_with(|| other.key.cmp(&self.key))
    }
}

impl PartialOrd for KeyPeak {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The `k` greatest of what it is offered.
pub(super) struct Top {
    k: usize,
    /// The least of the kept on top.
    kept: BinaryHeap<Reverse<KeyPeak>>,
}

impl Top {
    pub(super) fn new(k: usize) -> Self {
        Self { k, kept: BinaryHeap::new() }
    }

    pub(super) fn offer(&mut self, key: &[u8], peak: Peak) {
        let is_full = self.kept.len() >= self.k;
        if is_full && self.kept.peek().is_none_or(|Reverse(least)| peak.hi < least.peak.hi) {
            return;
        }
        self.kept.push(Reverse(KeyPeak { key: key.to_vec(), peak }));
        if is_full {
            self.kept.pop();
        }
    }

    pub(super) fn into_sorted(self) -> Vec<KeyPeak> {
        self.kept.into_sorted_vec().into_iter().map(|Reverse(key_peak)| key_peak).collect()
    }
}
