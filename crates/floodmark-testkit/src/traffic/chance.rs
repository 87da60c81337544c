//! Integer randomness: a generator and a Zipf draw without a single float.

/// A stream of reproducible random numbers: SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable
/// pseudorandom number generators").
///
/// Not for secrets. Good enough for traffic, and short enough to stay the same for ever:
///
/// ```text
/// state += 0x9e3779b97f4a7c15             the golden ratio, odd
/// return mix(state)                       two xor-shift-multiply rounds and a xor-shift
/// ```
#[derive(Clone, Debug)]
pub struct Chance {
    state: u64,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of SplitMix64: a bijection on 64 bits whose output looks random.
pub(super) fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

impl Chance {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: mix(seed) }
    }

    /// One of many streams of the same seed; they do not run into each other in practice.
    #[must_use]
    pub fn of_stream(seed: u64, stream: u64) -> Self {
        Self { state: mix(mix(seed) ^ mix(stream)) }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A number in `0..bound`; 0 if `bound` is 0. The bias is below `bound / 2^64`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// One of the choices.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Puts the items in a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Ranks drawn by Zipf's law with exponent 1: rank `k` (from 1) has weight `1/k`.
///
/// Other exponents need `powf`, whose last bits differ between C libraries, and one different bit is a
/// different log. Here the weights are whole numbers, `floor(2^40 / k)`, exact to 10^-6 up to a million ranks.
/// Cost: 8 bytes per rank and one binary search per draw.
#[derive(Clone, Debug)]
pub struct Zipf {
    sums: Vec<u64>,
}

impl Zipf {
    /// Ranks `0..ranks`, the first the most frequent.
    ///
    /// # Panics
    /// If there are no ranks.
    #[must_use]
    pub fn new(ranks: u64) -> Self {
        assert!(ranks > 0, "a Zipf draw needs at least one rank");
        let sums = (1..=ranks)
            .scan(0, |sum, rank| {
                *sum += (1 << 40) / rank;
                Some(*sum)
            })
            .collect();
        Self { sums }
    }

    /// A rank, counted from 0.
    pub fn draw(&self, chance: &mut Chance) -> u64 {
        let total = self.sums.last().copied().unwrap_or(0);
        let at = chance.below(total);
        self.sums.partition_point(|&sum| sum <= at) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_never_changes() {
        let mut chance = Chance { state: 0 };
        // The first outputs of SplitMix64 for state 0, as its authors' reference code prints them.
        assert_eq!([chance.bits(), chance.bits()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn the_first_rank_comes_twice_as_often_as_the_second() {
        let (zipf, mut chance) = (Zipf::new(1_000), Chance::new(1));
        let mut seen = [0_u32; 1_000];
        for _ in 0..200_000 {
            seen[zipf.draw(&mut chance) as usize] += 1;
        }
        // 1/H(1000) = 13.36 % of the draws, then half of it.
        assert!((26_000..27_500).contains(&seen[0]), "{}", seen[0]);
        assert!((12_800..13_900).contains(&seen[1]), "{}", seen[1]);
        assert!(seen[999] > 0);
    }
}
