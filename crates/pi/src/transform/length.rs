//! Lengths of transforms between powers of two.
//!
//! A polynomial of 5, 6 or 7 eighths of N residues is determined by its remainders modulo some factors of z^N - 1 of
//! the same total degree (Joris van der Hoeven, "The truncated Fourier transform and applications", 2004). With m = N /
//! 8 these are
//!
//! ```text
//! the half       z^4m - 1                        node 0
//! the quarter    z^2m - i                        node 2, for 6 and 7 eighths
//! the eighth     z^m - t(2) or z^m - t(3)        node 4 for 5 eighths, node 6 for 7 eighths
//! ```

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::field::{Field, run};
use super::prime::Prime;
use crate::team::Team;

/// Minimum number of residues of an eighth: leaves are processed four at a time.
const MIN_EIGHTH: usize = 16;

/// Maximum number of residues that one thread divides at a time.
const SHARED: usize = 1 << 14;

/// A number of residues, as eighths of a power of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    /// Number of eighths, 4 to 7.
    eighths: usize,
    /// Residues of an eighth, a power of two.
    eighth: usize,
}

impl Length {
    /// Returns the minimum length of at least this number of residues.
    pub(super) fn of(residues: usize) -> Self {
        let eighth = (residues.div_ceil(7)).next_power_of_two().max(MIN_EIGHTH);
        Self { eighths: residues.div_ceil(eighth).max(4), eighth }
    }

    pub(super) fn residues(self) -> usize {
        self.eighths * self.eighth
    }

    /// Binary logarithm of N.
    pub(super) fn bits(self) -> u32 {
        self.eighth.ilog2() + 3
    }

    /// The parts of a polynomial that are transformed separately, and the numbers of their nodes.
    pub(super) fn parts(self) -> impl Iterator<Item = (Range<usize>, usize)> {
        let parts: &[(Range<usize>, usize)] = match self.eighths {
            4 => &[(0..4, 0)],
            5 => &[(0..4, 0), (4..5, 4)],
            6 => &[(0..4, 0), (4..6, 2)],
            _ => &[(0..4, 0), (4..6, 2), (6..7, 6)],
        };
        parts.iter().map(move |(part, node)| (part.start * self.eighth..part.end * self.eighth, *node))
    }

    /// Replaces a polynomial by its remainders. Bounds: input up to 1/2, output up to 3.
    pub(super) fn divide(self, team: &Team<'_>, prime: &Prime, roots: &[f64], residues: &mut [f64]) {
        if self.eighths > 4 {
            let columns = columns(residues, self.eighth);
            work(team, &ColumnWork { prime, roots, direction: ColumnPass::Divide }, columns);
        }
    }

    /// Computes the polynomial with these remainders, as left by
    /// [`Transform::inverse`](super::tree::Transform::inverse), times 2 to the power of [`excess`](Self::excess).
    pub(super) fn combine(self, team: &Team<'_>, prime: &Prime, roots: &[f64], residues: &mut [f64]) {
        if self.eighths > 4 {
            let columns = columns(residues, self.eighth);
            work(team, &ColumnWork { prime, roots, direction: ColumnPass::Combine }, columns);
        }
    }

    /// Binary logarithm of the excess factor in the results of inverse transforms.
    pub(super) fn excess(self) -> u32 {
        let doubled = u32::from(self.eighths > 4);
        self.eighth.ilog2() + doubled
    }
}

/// Splits a polynomial into eighths; missing ones are empty.
fn columns(residues: &mut [f64], eighth: usize) -> [&mut [f64]; 7] {
    let mut eighths = residues.chunks_exact_mut(eighth);
    std::array::from_fn(|_| eighths.next().unwrap_or_default())
}

/// Processes all columns on all threads.
fn work(team: &Team<'_>, kernel: &ColumnWork<'_>, columns: [&mut [f64]; 7]) {
    let length = columns[0].len();
    if length <= SHARED {
        return run(Kernel { kernel, columns });
    }
    let halves = columns.map(|eighth| eighth.split_at_mut(eighth.len() / 2));
    let (mut low, mut high): ([&mut [f64]; 7], [&mut [f64]; 7]) = Default::default();
    for (number, (first, second)) in halves.into_iter().enumerate() {
        (low[number], high[number]) = (first, second);
    }
    team.join(|| work(team, kernel, low), || work(team, kernel, high));
}

enum ColumnPass {
    Divide,
    Combine,
}

struct ColumnWork<'t> {
    prime: &'t Prime,
    roots: &'t [f64],
    direction: ColumnPass,
}

struct Kernel<'t> {
    kernel: &'t ColumnWork<'t>,
    columns: [&'t mut [f64]; 7],
}

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ColumnWork { prime, roots, direction } = self.kernel;
        let field = Field::new(simd, prime);
        let [x0, x1, x2, x3, x4, x5, x6] = self.columns;
        let view = |eighth| S::as_mut_simd_f64s(eighth).0;
        let low = [view(x0), view(x1), view(x2), view(x3)];
        let columns = Eighths { field, low, i: field.splat(roots[1]) };
        let half = field.splat(prime.balanced(prime.inverse_power_of_2(1)));
        match (direction, x5.is_empty(), x6.is_empty()) {
            (ColumnPass::Divide, true, _) => columns.divide5(view(x4), field.splat(roots[2])),
            (ColumnPass::Divide, _, true) => columns.divide6(view(x4), view(x5)),
            (ColumnPass::Divide, ..) => columns.divide7(view(x4), view(x5), view(x6), field.splat(roots[3])),
            (ColumnPass::Combine, true, _) => columns.combine5(view(x4), field.splat(roots[2])),
            (ColumnPass::Combine, _, true) => columns.combine6(view(x4), view(x5)),
            (ColumnPass::Combine, ..) => {
                columns.combine7(view(x4), view(x5), view(x6), field.splat(roots[3]), half);
            }
        }
    }
}

/// The eighths x0 to x3. The coefficients of the remainder modulo z^4m + 1 are d(k) = x(k) - x(k + 4).
struct Eighths<'t, S: Simd> {
    field: Field<S>,
    low: [&'t mut [S::f64s]; 4],
    i: S::f64s,
}

impl<S: Simd> Eighths<'_, S> {
    #[inline(always)]
    fn divide5(self, x4: &mut [S::f64s], root: S::f64s) {
        let Self { field, low: [x0, x1, x2, x3], i } = self;
        for ((((x0, x1), x2), x3), x4) in x0.iter_mut().zip(x1).zip(x2).zip(x3).zip(x4) {
            let quarter0 = field.add(field.subtract(*x0, *x4), field.multiply(*x2, i));
            let quarter1 = field.add(*x1, field.multiply(*x3, i));
            *x0 = field.add(*x0, *x4);
            *x4 = field.add(quarter0, field.multiply(quarter1, root));
        }
    }

    #[inline(always)]
    fn divide6(self, x4: &mut [S::f64s], x5: &mut [S::f64s]) {
        let Self { field, low: [x0, x1, x2, x3], i } = self;
        for (((((x0, x1), x2), x3), x4), x5) in x0.iter_mut().zip(x1).zip(x2).zip(x3).zip(x4).zip(x5) {
            let quarter0 = field.add(field.subtract(*x0, *x4), field.multiply(*x2, i));
            let quarter1 = field.add(field.subtract(*x1, *x5), field.multiply(*x3, i));
            (*x0, *x1) = (field.add(*x0, *x4), field.add(*x1, *x5));
            (*x4, *x5) = (quarter0, quarter1);
        }
    }

    #[inline(always)]
    fn divide7(self, x4: &mut [S::f64s], x5: &mut [S::f64s], x6: &mut [S::f64s], root: S::f64s) {
        let Self { field, low: [x0, x1, x2, x3], i } = self;
        let high = x4.iter_mut().zip(x5).zip(x6);
        for ((((x0, x1), x2), x3), ((x4, x5), x6)) in x0.iter_mut().zip(x1).zip(x2).zip(x3).zip(high) {
            let (d0, d1) = (field.subtract(*x0, *x4), field.subtract(*x1, *x5));
            let (i2, i3) = (field.multiply(field.subtract(*x2, *x6), i), field.multiply(*x3, i));
            (*x0, *x1, *x2) = (field.add(*x0, *x4), field.add(*x1, *x5), field.add(*x2, *x6));
            (*x4, *x5) = (field.add(d0, i2), field.add(d1, i3));
            *x6 = field.add(field.subtract(d0, i2), field.multiply(field.subtract(d1, i3), root));
        }
    }

    // The remainders are multiplied by m times 1, 1/2 and 1/4. All results are doubled.

    #[inline(always)]
    fn combine5(self, x4: &mut [S::f64s], root: S::f64s) {
        let Self { field, low: [x0, x1, x2, x3], i } = self;
        for ((((x0, x1), x2), x3), x4) in x0.iter_mut().zip(x1).zip(x2).zip(x3).zip(x4) {
            let quarter1 = field.add(*x1, field.multiply(*x3, i));
            let others = field.add(field.multiply(*x2, i), field.multiply(quarter1, root));
            let d0 = field.reduce(field.subtract(field.times4(*x4), others));
            (*x0, *x4) = (field.add(*x0, d0), field.subtract(*x0, d0));
            (*x1, *x2, *x3) = (field.times2(*x1), field.times2(*x2), field.times2(*x3));
        }
    }

    #[inline(always)]
    fn combine6(self, x4: &mut [S::f64s], x5: &mut [S::f64s]) {
        let Self { field, low: [x0, x1, x2, x3], i } = self;
        for (((((x0, x1), x2), x3), x4), x5) in x0.iter_mut().zip(x1).zip(x2).zip(x3).zip(x4).zip(x5) {
            let d0 = field.reduce(field.subtract(field.times2(*x4), field.multiply(*x2, i)));
            let d1 = field.reduce(field.subtract(field.times2(*x5), field.multiply(*x3, i)));
            (*x0, *x4) = (field.add(*x0, d0), field.subtract(*x0, d0));
            (*x1, *x5) = (field.add(*x1, d1), field.subtract(*x1, d1));
            (*x2, *x3) = (field.times2(*x2), field.times2(*x3));
        }
    }

    #[inline(always)]
    fn combine7(
        self,
        x4: &mut [S::f64s],
        x5: &mut [S::f64s],
        x6: &mut [S::f64s],
        root: S::f64s,
        half: S::f64s,
    ) {
        let Self { field, low: [x0, x1, x2, x3], i } = self;
        let high = x4.iter_mut().zip(x5).zip(x6);
        for ((((x0, x1), x2), x3), ((x4, x5), x6)) in x0.iter_mut().zip(x1).zip(x2).zip(x3).zip(high) {
            let i3 = field.multiply(*x3, i);
            let d1 = field.reduce(field.subtract(field.times2(*x5), i3));
            // d0 + i d2 and d0 - i d2.
            let sum = field.times2(*x4);
            let eighth = field.multiply(field.subtract(d1, i3), root);
            let difference = field.reduce(field.subtract(field.times4(*x6), eighth));
            let d0 = field.multiply(field.add(sum, difference), half);
            // 1 / i = -i
            let d2 = field.multiply(field.multiply(field.subtract(difference, sum), half), i);
            (*x0, *x4) = (field.add(*x0, d0), field.subtract(*x0, d0));
            (*x1, *x5) = (field.add(*x1, d1), field.subtract(*x1, d1));
            (*x2, *x6) = (field.add(*x2, d2), field.subtract(*x2, d2));
            *x3 = field.times2(*x3);
        }
    }
}
