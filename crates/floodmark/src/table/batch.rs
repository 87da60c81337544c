//! Events that are counted together, so that the memory they need is fetched together.

use crate::clock::Timestamp;

/// A few events in the order in which they are to be counted.
///
/// One event at a time, a table of a million keys waits for memory at each; of a batch, it asks for all at once and
/// waits about as long as for one. Some 32 to 256 events are a good batch. Its room is used again after
/// [`clear`](Self::clear), so that filling it allocates nothing.
///
/// # Examples
/// ```
/// use floodmark::{Batch, Detector, Timestamp};
///
/// let detector = Detector::new("2/1s".parse()?)?;
/// let mut batch = Batch::default();
/// batch.push("ann", 1, Timestamp::from_secs(5));
/// batch.push("ann", 1, Timestamp::from_secs(5));
/// let mut changes = Vec::new();
/// detector.hit_many(&batch, &mut changes);
/// assert!(matches!(&changes[..], [change] if change.hit.count.hi == 2)); // the second one made it hot
/// # Ok::<(), floodmark::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The keys, one after another.
    keys: Vec<u8>,
    items: Vec<Item>,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    /// Where its key ends in `keys`; it begins where the one before ends.
    key_end: usize,
    n: u64,
    at: Timestamp,
}

impl Batch {
    /// One more event, after those that are there.
    pub fn push(&mut self, key: impl AsRef<[u8]>, n: u64, at: Timestamp) {
        self.keys.extend_from_slice(key.as_ref());
        self.items.push(Item { key_end: self.keys.len(), n, at });
    }

    /// How many events there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The newest time of its events; the epoch for none.
    #[must_use]
    pub fn newest(&self) -> Timestamp {
        self.items.iter().map(|item| item.at).max().unwrap_or_default()
    }

    /// Takes all out; the room stays.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.items.clear();
    }

    /// The events: key, units, time.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64, Timestamp)> {
        let mut start = 0;
        self.items.iter().map(move |item| {
            let key = self.keys.get(start..item.key_end).unwrap_or_default();
            start = item.key_end;
            (key, item.n, item.at)
        })
    }
}
