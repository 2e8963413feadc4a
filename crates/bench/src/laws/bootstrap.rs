//! The bootstrap: estimates the variation of a result over repeated measurements.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::least_squares::NormalEquations;

/// Number of resamples: enough for the outer percentiles.
const RESAMPLES: usize = 2000;
/// Fixed seed, so that the same measurements always give the same intervals.
const SEED: u64 = 0x636f_6d62;

/// Solutions for resampled groups, each drawn with replacement and as large as the original. Empty if all groups have only one
/// observation, which gives no information about variation.
pub(super) fn resampled<L, const P: usize>(
    groups: &[Vec<NormalEquations<P>>],
    solve: impl Fn(NormalEquations<P>) -> Option<L>,
) -> Vec<L> {
    if groups.iter().all(|group| group.len() < 2) {
        return Vec::new();
    }
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut draw = |group: &[NormalEquations<P>]| group[below(&mut random, group.len())];
    let resample = |_| {
        let mut total: NormalEquations<P> = [].iter().sum();
        for group in groups {
            group.iter().for_each(|_| total.add(&draw(group)));
        }
        solve(total)
    };
    (0..RESAMPLES).filter_map(resample).collect()
}

/// Random number from 0 to `bound` - 1, uniform except for a relative bias of `bound` / 2^32.
pub(crate) fn below(random: &mut ChaCha8Rng, bound: usize) -> usize {
    ((u64::from(random.next_u32()) * bound as u64) >> 32) as usize
}
