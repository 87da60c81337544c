//! The first seed's own case: a burst of exactly 100 under 100 per 5 s, on a key that was there before.

use crate::traffic::Chance;

/// How the events of a burst lie in its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// At equal distances, from the first to the last instant.
    Even,
    /// Each at a random instant.
    Random,
}

/// A burst, and a few events of the same key before it.
///
/// What comes before is what gives a ring of the seed's kind its phase: each earlier event follows the one before
/// after 1 to 5 s, so the ring is never started anew, and the burst begins anywhere in a slice.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// From the first event to the last, at most.
    pub span_ms: u64,
    /// How they lie in it.
    pub spread: Spread,
}

impl Burst {
    /// As many as the threshold.
    pub const EVENTS: u64 = 100;
    const BEFORE: u64 = 3;

    /// The times of all events in order, in milliseconds since the epoch: the last [`EVENTS`](Self::EVENTS) of
    /// them are the burst.
    pub fn times_ms(&self, chance: &mut Chance) -> Vec<u64> {
        let mut now = 1_700_000_000_000 + chance.below(5_000);
        let mut times = Vec::new();
        for _ in 0..Self::BEFORE {
            times.push(now);
            now += 1_000 + chance.below(4_000);
        }
        let mut burst: Vec<u64> = (0..Self::EVENTS).map(|i| now + self.place(i, chance)).collect();
        burst.sort_unstable();
        times.append(&mut burst);
        times
    }

    fn place(&self, i: u64, chance: &mut Chance) -> u64 {
        match self.spread {
            Spread::Even => i * self.span_ms / (Self::EVENTS - 1),
            Spread::Random => chance.below(self.span_ms + 1),
        }
    }
}
