//! Transforms of a node of the tree: down to its leaves and back up.
//!
//! A leaf is a remainder of [`LEAF`] residues modulo z^4 - c. Nodes that do not fit the L1 cache are divided level by
//! level, and their descendants are processed one after another, so that each is in the cache while it is needed.

use pulp::{Simd, WithSimd};

use super::butterfly::{Twiddles, forward2, forward4, inverse2, inverse4, quarters};
use super::field::{Field, run};
use super::prime::Prime;
use super::roots::inverse_root;
use crate::team::Team;

/// Residues per leaf.
pub(super) const LEAF: usize = 4;

/// Maximum number of residues of a node that is transformed in one go: 32 KiB, the L1 cache of most processors.
const BLOCK: usize = 1 << 12;

/// Minimum number of residues of a node that is split between threads: starting a thread takes as long as transforming
/// a few thousand residues.
const SHARED: usize = 1 << 16;

/// Settings of a transform.
#[derive(Clone, Copy)]
pub(super) struct Transform<'t, 'a> {
    pub(super) team: &'t Team<'a>,
    pub(super) prime: &'t Prime,
    pub(super) roots: &'t [f64],
}

/// Direction of a transform.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Direction {
    Forward,
    Inverse,
}

impl Transform<'_, '_> {
    /// Replaces node number `node` by its remainders modulo its leaves.
    pub(super) fn forward(&self, residues: &mut [f64], node: usize) {
        if residues.len() <= BLOCK {
            return run(Block { transform: self, residues, node, direction: Direction::Forward });
        }
        self.pass(quarters(residues), Twiddles::forward(self.roots, node), Direction::Forward);
        self.children(residues, node, Direction::Forward);
    }

    /// Computes a node from its remainders modulo its leaves, times a quarter of its length.
    pub(super) fn inverse(&self, residues: &mut [f64], node: usize) {
        if residues.len() <= BLOCK {
            return run(Block { transform: self, residues, node, direction: Direction::Inverse });
        }
        self.children(residues, node, Direction::Inverse);
        self.pass(quarters(residues), Twiddles::inverse(self.roots, node), Direction::Inverse);
    }

    fn children(&self, residues: &mut [f64], node: usize, direction: Direction) {
        let shared = residues.len() >= SHARED;
        let [first, second, third, fourth] = quarters(residues);
        let child = |residues: &mut [f64], number: usize| match direction {
            Direction::Forward => self.forward(residues, 4 * node + number),
            Direction::Inverse => self.inverse(residues, 4 * node + number),
        };
        self.team.join_if(
            shared,
            || self.team.join_if(shared, || child(first, 0), || child(second, 1)),
            || self.team.join_if(shared, || child(third, 2), || child(fourth, 3)),
        );
    }

    /// Transforms two levels of a node on all threads.
    fn pass(&self, node: [&mut [f64]; 4], twiddles: Twiddles, direction: Direction) {
        let columns = node[0].len();
        if columns < SHARED / 2 {
            return run(Pass { prime: self.prime, node, twiddles, direction });
        }
        let [x0, x1, x2, x3] = node.map(|quarter| quarter.split_at_mut(columns / 2));
        self.team.join(
            || self.pass([x0.0, x1.0, x2.0, x3.0], twiddles, direction),
            || self.pass([x0.1, x1.1, x2.1, x3.1], twiddles, direction),
        );
    }
}

/// Two levels of a large node.
struct Pass<'t> {
    prime: &'t Prime,
    node: [&'t mut [f64]; 4],
    twiddles: Twiddles,
    direction: Direction,
}

impl WithSimd for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let field = Field::new(simd, self.prime);
        let [x0, x1, x2, x3] = self.node;
        let node = [
            S::as_mut_simd_f64s(x0).0,
            S::as_mut_simd_f64s(x1).0,
            S::as_mut_simd_f64s(x2).0,
            S::as_mut_simd_f64s(x3).0,
        ];
        match self.direction {
            Direction::Forward => forward4(field, node, self.twiddles),
            Direction::Inverse => inverse4(field, node, self.twiddles),
        }
    }
}

/// All levels of a node that fits the L1 cache.
struct Block<'t, 'a> {
    transform: &'t Transform<'t, 'a>,
    residues: &'t mut [f64],
    node: usize,
    direction: Direction,
}

impl WithSimd for Block<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let field = Field::new(simd, self.transform.prime);
        let (residues, _) = S::as_mut_simd_f64s(self.residues);
        match self.direction {
            Direction::Forward => forward_block(field, residues, self.transform.roots, self.node),
            Direction::Inverse => inverse_block(field, residues, self.transform.roots, self.node),
        }
    }
}

/// Returns the quarters of four vectors.
#[inline(always)]
fn single<T>(node: &mut [T; 4]) -> [&mut [T]; 4] {
    node.each_mut().map(std::slice::from_mut)
}

#[inline(always)]
fn forward_block<S: Simd>(field: Field<S>, residues: &mut [S::f64s], roots: &[f64], node: usize) {
    let leaf = LEAF / S::F64_LANES;
    let (mut length, mut first) = (residues.len(), node);
    if !(length / leaf).ilog2().is_multiple_of(2) {
        forward2(field, residues, roots[node]);
        (length, first) = (length / 2, 2 * first);
    }
    while length > leaf.max(4) {
        for (number, node) in residues.chunks_exact_mut(length).enumerate() {
            forward4(field, quarters(node), Twiddles::forward(roots, first + number));
        }
        (length, first) = (length / 4, 4 * first);
    }
    // The same again for a leaf of one vector: here the compiler knows that each quarter has one vector.
    if length > leaf {
        for (number, node) in residues.as_chunks_mut().0.iter_mut().enumerate() {
            forward4(field, single(node), Twiddles::forward(roots, first + number));
        }
    }
}

#[inline(always)]
fn inverse_block<S: Simd>(field: Field<S>, residues: &mut [S::f64s], roots: &[f64], node: usize) {
    let leaf = LEAF / S::F64_LANES;
    let levels = (residues.len() / leaf).ilog2();
    for pair in (0..levels / 2).rev() {
        let above = levels % 2 + 2 * pair;
        let (length, first) = (residues.len() >> above, node << above);
        if length == 4 {
            for (number, node) in residues.as_chunks_mut().0.iter_mut().enumerate() {
                inverse4(field, single(node), Twiddles::inverse(roots, first + number));
            }
            continue;
        }
        for (number, node) in residues.chunks_exact_mut(length).enumerate() {
            inverse4(field, quarters(node), Twiddles::inverse(roots, first + number));
        }
    }
    if levels % 2 == 1 {
        inverse2(field, residues, inverse_root(roots, node));
    }
}
