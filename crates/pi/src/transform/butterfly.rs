//! Butterflies: one or two levels of the remainder tree at once.
//!
//! Bounds are in units of the prime. The product of x and a root of at most 1/2 is at most 1/2 + x / 8.

use pulp::Simd;

use super::field::Field;
use super::roots::inverse_root;

/// The roots of a node and its two children.
#[derive(Clone, Copy)]
pub(super) struct Twiddles {
    parent: f64,
    low: f64,
    high: f64,
}

impl Twiddles {
    #[inline(always)]
    pub(super) fn forward(roots: &[f64], node: usize) -> Self {
        Self { parent: roots[node], low: roots[2 * node], high: roots[2 * node + 1] }
    }

    #[inline(always)]
    pub(super) fn inverse(roots: &[f64], node: usize) -> Self {
        Self {
            parent: inverse_root(roots, node),
            low: inverse_root(roots, 2 * node),
            high: inverse_root(roots, 2 * node + 1),
        }
    }
}

/// The four quarters of a node.
#[inline(always)]
pub(super) fn quarters<T>(node: &mut [T]) -> [&mut [T]; 4] {
    let (low, high) = node.split_at_mut(node.len() / 2);
    let (first, second) = low.split_at_mut(low.len() / 2);
    let (third, fourth) = high.split_at_mut(high.len() / 2);
    [first, second, third, fourth]
}

/// Replaces a node by its remainders modulo its two children. Bounds: input up to 3, output up to 3.
#[inline(always)]
pub(super) fn forward2<S: Simd>(field: Field<S>, node: &mut [S::f64s], root: f64) {
    let root = field.splat(root);
    let (low, high) = node.split_at_mut(node.len() / 2);
    for (low, high) in low.iter_mut().zip(high) {
        let (first, product) = (field.reduce(*low), field.multiply(*high, root));
        (*low, *high) = (field.add(first, product), field.subtract(first, product));
    }
}

/// Replaces a node by its remainders modulo its four grandchildren. Bounds: input up to 3, output up to 3. The first
/// quarter is reduced to 1/2 and grows to at most 1/2 + 7/8; the second one grows to at most 3 + 7/8, so its product
/// with a root is less than 1.
#[inline(always)]
pub(super) fn forward4<S: Simd>(field: Field<S>, node: [&mut [S::f64s]; 4], twiddles: Twiddles) {
    let [x0, x1, x2, x3] = node;
    let (parent, low, high) =
        (field.splat(twiddles.parent), field.splat(twiddles.low), field.splat(twiddles.high));
    for (((x0, x1), x2), x3) in x0.iter_mut().zip(x1).zip(x2).zip(x3) {
        let first = field.reduce(*x0);
        let (third, fourth) = (field.multiply(*x2, parent), field.multiply(*x3, parent));
        let (y0, y2) = (field.add(first, third), field.subtract(first, third));
        let (y1, y3) = (field.add(*x1, fourth), field.subtract(*x1, fourth));
        let (y1, y3) = (field.multiply(y1, low), field.multiply(y3, high));
        (*x0, *x1) = (field.add(y0, y1), field.subtract(y0, y1));
        (*x2, *x3) = (field.add(y2, y3), field.subtract(y2, y3));
    }
}

/// Computes twice a node from its remainders modulo its children. Bounds: input up to 1, output up to 1.
#[inline(always)]
pub(super) fn inverse2<S: Simd>(field: Field<S>, node: &mut [S::f64s], inverse_root: f64) {
    let root = field.splat(inverse_root);
    let (low, high) = node.split_at_mut(node.len() / 2);
    for (low, high) in low.iter_mut().zip(high) {
        let difference = field.subtract(*low, *high);
        (*low, *high) = (field.reduce(field.add(*low, *high)), field.multiply(difference, root));
    }
}

/// Computes four times a node from its remainders modulo its grandchildren. Bounds: input up to 1, output up to 1.
#[inline(always)]
pub(super) fn inverse4<S: Simd>(field: Field<S>, node: [&mut [S::f64s]; 4], twiddles: Twiddles) {
    let [x0, x1, x2, x3] = node;
    let (parent, low, high) =
        (field.splat(twiddles.parent), field.splat(twiddles.low), field.splat(twiddles.high));
    for (((x0, x1), x2), x3) in x0.iter_mut().zip(x1).zip(x2).zip(x3) {
        // Bounds: 1/2, and 1/2 + 2/8.
        let (y0, y1) = (field.reduce(field.add(*x0, *x1)), field.multiply(field.subtract(*x0, *x1), low));
        let (y2, y3) = (field.reduce(field.add(*x2, *x3)), field.multiply(field.subtract(*x2, *x3), high));
        *x0 = field.add(y0, y2);
        *x1 = field.reduce(field.add(y1, y3));
        *x2 = field.multiply(field.subtract(y0, y2), parent);
        *x3 = field.multiply(field.subtract(y1, y3), parent);
    }
}
