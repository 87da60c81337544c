//! The last events, so that when a key turns hot it can be told what made it so.
//!
//! Two generations, each of at most [`EVENTS`] events and [`BYTES`]; when the younger is full, or is a window old, it
//! becomes the older and the older goes. So what is kept is at least the last generation, and at most two.

use crate::clock::{Timestamp, nanos};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// So many events at most in a generation.
const EVENTS: usize = 1 << 16;
/// So many bytes of texts at most in a generation.
const BYTES: usize = 8 << 20;

/// Remembers the events of the last window, each with a text of the caller's, in bounded memory.
///
/// # Cost
/// Two hash lookups per event. At most about 24 MB: the texts, and 64 bytes per event.
#[derive(Debug)]
pub struct Recent {
    window: u64,
    hasher: RandomState,
    /// The newest time so far.
    newest: u64,
    older: Generation,
    younger: Generation,
}

#[derive(Debug, Default)]
struct Generation {
    /// The newest time when it began: that of its first event, unless that was late.
    begun_at: u64,
    /// The last event of each key, by its hash.
    last: HashMap<u64, usize>,
    events: Vec<Kept>,
    texts: Vec<u8>,
}

#[derive(Debug)]
struct Kept {
    at: u64,
    n: u64,
    /// The one before it of the same key.
    before: Option<usize>,
    text: std::ops::Range<usize>,
}

impl Recent {
    /// Of the last `window`.
    #[must_use]
    pub fn new(window: Duration) -> Self {
        let (hasher, newest, older, younger) = Default::default();
        Self { window: nanos(window), hasher, newest, older, younger }
    }

    /// Remembers an event. A text that does not fit into a generation is not remembered.
    pub fn push(&mut self, key: &[u8], n: u64, at: Timestamp, text: &[u8]) {
        let at = at.as_nanos();
        let is_full = self.younger.events.len() >= EVENTS
            || self.younger.texts.len().saturating_add(text.len()) > BYTES;
        let is_old = at.saturating_sub(self.younger.begun_at) > self.window;
        if (is_full || is_old) && !self.younger.events.is_empty() {
            std::mem::swap(&mut self.older, &mut self.younger);
            self.younger.clear();
        }
        self.newest = self.newest.max(at);
        if self.younger.events.is_empty() {
            self.younger.begun_at = self.newest;
        }
        if text.len() <= BYTES {
            let key = self.hasher.hash_one(key);
            self.younger.push(key, n, at, text);
        }
    }

    /// Hands on the units and texts of what is remembered of a key's events in the window that ends at `at`, the
    /// latest first.
    pub fn each(&self, key: &[u8], at: Timestamp, mut tell: impl FnMut(u64, &[u8])) {
        let key = self.hasher.hash_one(key);
        let at = at.as_nanos();
        for generation in [&self.younger, &self.older] {
            let mut next = generation.last.get(&key).copied();
            while let Some(event) = next.and_then(|index| generation.events.get(index)) {
                if event.at <= at && at - event.at < self.window {
                    tell(event.n, generation.texts.get(event.text.clone()).unwrap_or_default());
                }
                next = event.before;
            }
        }
    }
}

impl Generation {
    fn clear(&mut self) {
        self.last.clear();
        self.events.clear();
        self.texts.clear();
    }

    fn push(&mut self, key: u64, n: u64, at: u64, text: &[u8]) {
        let start = self.texts.len();
        self.texts.extend_from_slice(text);
        let before = self.last.insert(key, self.events.len());
        self.events.push(Kept { at, n, before, text: start..self.texts.len() });
    }
}
