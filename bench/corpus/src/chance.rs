//! Reproducible random choices: uniform, weighted and Zipf-like.
//!
//! Only integer arithmetic is used, so a seed gives the same choices on every platform.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded stream of random choices. ChaCha8 is guaranteed to give the same stream in every release.
pub(crate) struct Chance(ChaCha8Rng);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number in `0..bound`, uniform except for a bias below `bound / 2^64`. `bound` must not be 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(bound);
        (wide >> 64) as u64
    }

    /// 64 uniform bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Puts `items` into a random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// `true` with a probability of `per_mille` / 1000.
    pub(crate) fn in_1000(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// One of `choices`, with equal probability. `choices` must not be empty.
    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }
}

/// Weighted random ranks `0..n`, drawn by binary search in the running sums of the weights.
pub(crate) struct Weighted {
    running_sums: Vec<u64>,
}

impl Weighted {
    pub(crate) fn new(weights: impl IntoIterator<Item = u64>) -> Self {
        let running_sums = weights
            .into_iter()
            .scan(0, |sum, weight| {
                *sum += weight;
                Some(*sum)
            })
            .collect();
        Self { running_sums }
    }

    /// Zipf–Mandelbrot distribution with exponent 1: rank `k` has the weight `1 / (k + 1 + flatten)`.
    pub(crate) fn zipf(ranks: u64, flatten: u64) -> Self {
        Self::new((0..ranks).map(|rank| (1 << 40) / (rank + 1 + flatten)))
    }

    pub(crate) fn draw(&self, chance: &mut Chance) -> usize {
        let total = self.running_sums.last().copied().unwrap_or(1);
        let at = chance.below(total);
        self.running_sums.partition_point(|&sum| sum <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_choices() {
        let draw = |seed| {
            let mut chance = Chance::new(seed);
            (0..8).map(|_| chance.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn shuffled_items_are_the_same_in_another_order() {
        let mut items: Vec<u32> = (0..50).collect();
        Chance::new(4).shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn frequencies_follow_the_zipf_distribution() {
        let zipf = Weighted::zipf(1000, 0);
        let mut chance = Chance::new(7);
        let mut seen = [0_u32; 1000];
        for _ in 0..100_000 {
            seen[zipf.draw(&mut chance)] += 1;
        }
        // With exponent 1 the second rank is half as frequent as the first, the tenth a tenth as frequent.
        assert!(seen[0].abs_diff(2 * seen[1]) < seen[0] / 10, "{:?}", &seen[..2]);
        assert!(seen[0].abs_diff(10 * seen[9]) < seen[0] / 5, "{:?}", &seen[..10]);
    }

    #[test]
    fn ranks_of_weight_zero_are_never_drawn() {
        let weighted = Weighted::new([0, 3, 0, 1, 0]);
        let mut chance = Chance::new(3);
        for _ in 0..1000 {
            assert!([1, 3].contains(&weighted.draw(&mut chance)));
        }
    }
}
