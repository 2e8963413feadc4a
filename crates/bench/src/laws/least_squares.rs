//! Linear least squares with a few non-negative coefficients.

use std::iter::Sum;

/// Pivots smaller than this, relative to the largest number of the system, are rounding errors.
const SMALLEST_PIVOT: f64 = 1e-13;

/// Sums of the normal equations, where the expected value of every observation is 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct NormalEquations<const P: usize> {
    /// Sums of the products of terms.
    products: [[f64; P]; P],
    /// Sums of the terms.
    terms: [f64; P],
    /// Number of observations.
    count: f64,
}

impl<const P: usize> NormalEquations<P> {
    /// The sums of one observation.
    pub(super) fn of(terms: [f64; P]) -> Self {
        Self { products: terms.map(|left| terms.map(|right| left * right)), terms, count: 1.0 }
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (row, more) in self.products.iter_mut().zip(&other.products) {
            row.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        self.terms.iter_mut().zip(&other.terms).for_each(|(sum, more)| *sum += more);
        self.count += other.count;
    }

    /// The non-negative coefficients with the smallest sum of squared errors, and the root mean squared error. `None` without
    /// observations.
    ///
    /// Tries all subsets of terms: as the sum of squares is convex, the optimum is the best of the unconstrained solutions
    /// that have no negative coefficient. (More than a few coefficients would need the algorithm of Charles Lawson and
    /// Richard Hanson.)
    pub(super) fn solve(&self) -> Option<([f64; P], f64)> {
        let solutions = (1..1_u32 << P).filter_map(|chosen| self.solve_with(chosen));
        let allowed = solutions.filter(|solution| solution.iter().all(|&coefficient| coefficient >= 0.0));
        let rated = allowed.map(|solution| (solution, self.squared_error(&solution)));
        rated
            .min_by(|(_, left), (_, right)| left.total_cmp(right))
            .map(|(solution, squared)| (solution, (squared / self.count).sqrt()))
    }

    /// The solution with all coefficients zero except the chosen ones; `None` if the chosen terms are linearly dependent.
    fn solve_with(&self, chosen: u32) -> Option<[f64; P]> {
        let is_chosen = |index: usize| chosen & 1 << index != 0;
        let mut matrix = self.products;
        let mut right = self.terms;
        let largest =
            matrix.as_flattened().iter().fold(0.0, |largest: f64, number| largest.max(number.abs()));
        for index in (0..P).filter(|&index| !is_chosen(index)) {
            matrix[index] = [0.0; P];
            matrix.iter_mut().for_each(|row| row[index] = 0.0);
            matrix[index][index] = largest;
            right[index] = 0.0;
        }
        solve(matrix, right, largest * SMALLEST_PIVOT)
    }

    fn squared_error(&self, solution: &[f64; P]) -> f64 {
        let product = |row: &[f64; P]| -> f64 { row.iter().zip(solution).map(|(a, b)| a * b).sum() };
        let both: f64 =
            self.products.iter().zip(solution).map(|(row, coefficient)| product(row) * coefficient).sum();
        (both - 2.0 * product(&self.terms) + self.count).max(0.0)
    }
}

/// Solves linear equations by Gaussian elimination with partial pivoting; `None` if a pivot is at most `negligible`.
fn solve<const P: usize>(
    mut matrix: [[f64; P]; P],
    mut right: [f64; P],
    negligible: f64,
) -> Option<[f64; P]> {
    for column in 0..P {
        let size = |row: &usize| matrix[*row][column].abs();
        let pivot = (column..P).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let above = matrix[column];
        if above[column].is_nan() || above[column].abs() <= negligible {
            return None;
        }
        for row in column + 1..P {
            let factor = matrix[row][column] / above[column];
            matrix[row].iter_mut().zip(above).for_each(|(number, above)| *number -= factor * above);
            right[row] -= factor * right[column];
        }
    }
    let mut solution = [0.0; P];
    for row in (0..P).rev() {
        let known: f64 = (row + 1..P).map(|column| matrix[row][column] * solution[column]).sum();
        solution[row] = (right[row] - known) / matrix[row][row];
    }
    Some(solution)
}

impl<'a, const P: usize> Sum<&'a Self> for NormalEquations<P> {
    fn sum<I: Iterator<Item = &'a Self>>(sums: I) -> Self {
        let mut total = Self { products: [[0.0; P]; P], terms: [0.0; P], count: 0.0 };
        sums.for_each(|sums| total.add(sums));
        total
    }
}
