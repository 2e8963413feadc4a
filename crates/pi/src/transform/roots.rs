//! Tables of roots of unity.

use pulp::{Simd, WithSimd};

use super::field::{Field, run};
use super::prime::{PRIMES, Prime};

/// Roots of the nodes of a transform, for one prime.
///
/// A transform is a tree of remainders. Its root is z^N - 1. A node z^(2m) - t^2 with number j has the children z^m - t
/// and z^m + t, with the numbers 2j and 2j + 1. The t of node j is the same on all levels and for all N: with i the
/// root of order 4, t(0) = 1, t(2j) is a square root of t(j), and t(2j + 1) = i t(2j). So one table, in bit-reversed
/// order, covers all transforms up to a length. (Daniel Bernstein, "Multidigit multiplication for mathematicians",
/// 2001.)
pub(super) type Roots = Vec<f64>;

/// Returns the t of the first 2^`bits` nodes modulo `prime`.
fn table(prime: &Prime, bits: u32) -> Roots {
    let mut roots = Vec::with_capacity(1 << bits);
    roots.push(1.0);
    for bit in 0..bits {
        // Number 2^bit + j has the reversed bits of j, followed by one more bit.
        let root = prime.balanced(prime.root(bit + 2));
        roots.extend_from_within(..);
        run(Multiply { prime, roots: &mut roots[1 << bit..], root });
    }
    roots
}

/// Multiplies all `roots` by `root`.
struct Multiply<'t> {
    prime: &'t Prime,
    roots: &'t mut [f64],
    root: f64,
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let field = Field::new(simd, self.prime);
        let (vectors, rest) = S::as_mut_simd_f64s(self.roots);
        for roots in vectors {
            // A product may be slightly more than half of the prime; the bounds of the butterflies need less.
            *roots = field.reduce(field.multiply(*roots, field.splat(self.root)));
        }
        for root in rest {
            *root = self.prime.balanced(self.prime.product(*root, self.root));
        }
    }
}

/// The tables of all primes.
pub(crate) struct Tables {
    /// Number of roots per prime, as a power of two.
    bits: u32,
    roots: [Roots; PRIMES.len()],
}

impl Tables {
    /// Tables for transforms of up to 2^`length_bits` residues: see [`super::length::Length`].
    pub(crate) fn new(length_bits: u32) -> Self {
        // The lowest nodes with children have 8 residues.
        let bits = length_bits.saturating_sub(3);
        Self { bits, roots: PRIMES.each_ref().map(|prime| table(prime, bits)) }
    }

    pub(crate) fn cover(&self, length_bits: u32) -> bool {
        length_bits <= self.bits + 3
    }

    pub(super) fn of(&self, prime: usize) -> &Roots {
        &self.roots[prime]
    }
}

/// Returns the inverse of t(`node`).
///
/// 1 / t(2^k + m) = -t(2^(k + 1) - 1 - m): the other bits of its exponent are complemented, and the sign accounts for
/// the difference of 1.
#[inline(always)]
pub(super) fn inverse_root(roots: &[f64], node: usize) -> f64 {
    if node == 0 {
        return 1.0;
    }
    let below = 1 << node.ilog2();
    -roots[3 * below - 1 - node]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn residue(prime: &Prime, balanced: f64) -> u64 {
        (balanced as i64).rem_euclid(prime.value as i64) as u64
    }

    #[test]
    fn each_root_squared_is_its_parents() {
        for prime in &PRIMES {
            let roots = table(prime, 8);
            let i = residue(prime, roots[1]);
            assert_eq!(prime.multiply(i, i), prime.value - 1);
            for node in 1..256 {
                let root = residue(prime, roots[node]);
                let parent = residue(prime, roots[node / 2]);
                let square = if node % 2 == 0 { parent } else { prime.value - parent };
                assert_eq!(prime.multiply(root, root), square, "node {node}");
                let inverse = residue(prime, inverse_root(&roots, node));
                assert_eq!(prime.multiply(root, inverse), 1, "node {node}");
            }
        }
    }
}
