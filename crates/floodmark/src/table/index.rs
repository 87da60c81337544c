//! From a hash to the place of its entry.
//!
//! A power of two of words, searched from the hash's low bits on, one after another; each holds the hash's high half
//! as a tag, and a place. At most three quarters are in use, so a search ends after a word or two, in one cache line.

use super::prefetch::prefetch;

#[derive(Debug, Default)]
pub(super) struct Index {
    /// `tag << 32 | place + 1`; 0: free.
    words: Vec<u64>,
    used: usize,
}

const START: usize = 64;

impl Index {
    /// Asks for the memory that a search for this hash will read.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        if let Some(word) = self.words.get(self.first(hash)) {
            prefetch(word);
        }
    }

    #[inline]
    fn first(&self, hash: u64) -> usize {
        hash as usize & self.words.len().wrapping_sub(1)
    }

    /// The first place whose tag is that of the hash and that `is_it` agrees to.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let mut at = self.first(hash);
        loop {
            let word = *self.words.get(at)?;
            if word == 0 {
                return None;
            }
            let place = (word as u32 - 1) as usize;
            if word >> 32 == hash >> 32 && is_it(place) {
                return Some(place);
            }
            at = (at + 1) & (self.words.len() - 1);
        }
    }

    /// Adds a place that is not there yet. `hashes` are those of all places so far, should it have to grow.
    pub(super) fn insert(&mut self, hash: u64, place: usize, hashes: impl Iterator<Item = u64>) {
        if (self.used + 1) * 4 > self.words.len() * 3 {
            self.words = vec![0; (self.words.len() * 2).max(START)];
            for (place, hash) in hashes.enumerate() {
                self.put(hash, place);
            }
        }
        self.put(hash, place);
        self.used += 1;
    }

    fn put(&mut self, hash: u64, place: usize) {
        let mut at = self.first(hash);
        while self.words.get(at).is_some_and(|&word| word != 0) {
            at = (at + 1) & (self.words.len() - 1);
        }
        let place = u32::try_from(place + 1).expect("2^32 keys of 128 bytes do not fit into a machine");
        if let Some(word) = self.words.get_mut(at) {
            *word = hash >> 32 << 32 | u64::from(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hash_is_found_again_and_no_other_although_many_begin_alike() {
        // All hashes begin their search at a few words and share a few tags.
        let hashes: Vec<u64> = (0..5_000u64).map(|n| (n % 7) | ((n % 3) << 32) | (n << 34)).collect();
        let mut index = Index::default();
        for (place, &hash) in hashes.iter().enumerate() {
            assert_eq!(index.find(hash, |at| hashes[at] == hash), None);
            index.insert(hash, place, hashes[..place].iter().copied());
        }
        for (place, &hash) in hashes.iter().enumerate() {
            assert_eq!(index.find(hash, |at| hashes[at] == hash), Some(place));
        }
        assert_eq!(index.find(u64::MAX, |_| true), None);
    }
}
