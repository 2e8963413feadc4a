//! Products of leaves: polynomials of four residues modulo z^4 - c.
//!
//! Two more levels of the transforms would need about as many multiplications, more roots, and shuffles within vectors.

use pulp::{Simd, WithSimd};

use super::field::{Field, run};
use super::prime::Prime;
use super::tree::LEAF;
use crate::team::Team;

/// Maximum number of residues that one thread multiplies at a time.
const SHARED: usize = 1 << 14;

/// Multiplies the leaves of a node by the leaves of `right`, or squares them. The results are at most half of the prime.
pub(super) fn multiply_leaves(
    team: &Team<'_>,
    prime: &Prime,
    roots: &[f64],
    left: &mut [f64],
    right: Option<&[f64]>,
    first: usize,
) {
    if left.len() <= SHARED {
        return run(Leaves { prime, roots, left, right, first });
    }
    let middle = left.len() / 2;
    let (low, high) = left.split_at_mut(middle);
    let right = right.map(|right| right.split_at(middle));
    team.join(
        || multiply_leaves(team, prime, roots, low, right.map(|halves| halves.0), first),
        || multiply_leaves(team, prime, roots, high, right.map(|halves| halves.1), first + middle / LEAF),
    );
}

struct Leaves<'t> {
    prime: &'t Prime,
    roots: &'t [f64],
    left: &'t mut [f64],
    right: Option<&'t [f64]>,
    /// The number of the first leaf: a multiple of 4.
    first: usize,
}

impl WithSimd for Leaves<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { prime, roots, left, right, first } = self;
        let field = Field::new(simd, prime);
        let (left, _) = S::as_mut_simd_f64s(left);
        let mut right = right.map(|right| S::as_simd_f64s(right).0.as_chunks::<LEAF>().0.iter());
        // Four vectors hold as many leaves as a vector has residues.
        for (number, left) in left.as_chunks_mut::<LEAF>().0.iter_mut().enumerate() {
            let first = first + number * S::F64_LANES;
            // Transposed like the leaves, so that each constant is in the lane of its leaf, in any order.
            let [constants, ..] = simd.deinterleave_shfl_f64s([
                constant(field, roots, first),
                constant(field, roots, first + S::F64_LANES / 4),
                constant(field, roots, first + S::F64_LANES / 2),
                constant(field, roots, first + 3 * S::F64_LANES / 4),
            ]);
            let a = transposed(simd, field, *left);
            let b = match right.as_mut().and_then(Iterator::next) {
                Some(right) => transposed(simd, field, *right),
                None => a,
            };
            *left = simd.interleave_shfl_f64s(multiply(field, a, b, constants));
        }
    }
}

/// Returns the product of a and b modulo z^4 - c, for residues of at most half of the prime.
#[inline(always)]
fn multiply<S: Simd>(field: Field<S>, a: [S::f64s; 4], b: [S::f64s; 4], c: S::f64s) -> [S::f64s; 4] {
    let [b0, b1, b2, b3] = b;
    let (c1, c2, c3) = (field.multiply(b1, c), field.multiply(b2, c), field.multiply(b3, c));
    [
        coefficient(field, a, [b0, c3, c2, c1]),
        coefficient(field, a, [b1, b0, c3, c2]),
        coefficient(field, a, [b2, b1, b0, c3]),
        coefficient(field, a, [b3, b2, b1, b0]),
    ]
}

/// Returns the sum of four products.
#[inline(always)]
fn coefficient<S: Simd>(field: Field<S>, a: [S::f64s; 4], b: [S::f64s; 4]) -> S::f64s {
    let low = field.add(field.multiply(a[0], b[0]), field.multiply(a[1], b[1]));
    let high = field.add(field.multiply(a[2], b[2]), field.multiply(a[3], b[3]));
    field.reduce(field.add(low, high))
}

/// Transposes the residues of as many leaves as a vector holds: the first residues of all leaves, the second ones, and
/// so on.
#[inline(always)]
fn transposed<S: Simd>(simd: S, field: Field<S>, leaves: [S::f64s; 4]) -> [S::f64s; 4] {
    let [x0, x1, x2, x3] = simd.deinterleave_shfl_f64s(leaves);
    [field.reduce(x0), field.reduce(x1), field.reduce(x2), field.reduce(x3)]
}

/// Returns the c of the leaf that begins in a vector, in all lanes. An even leaf belongs to z^4 - t, the leaf after it
/// to z^4 + t.
#[inline(always)]
fn constant<S: Simd>(field: Field<S>, roots: &[f64], leaf: usize) -> S::f64s {
    let root = roots[leaf / 2];
    field.splat(if leaf.is_multiple_of(2) { root } else { -root })
}
