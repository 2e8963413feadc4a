//! Products by the faster of two methods, with progress.

use crate::Error;
use crate::natural::Natural;
use crate::team::Team;
use crate::transform;

/// Minimum number of limbs of a product that counts as progress, and before which the stop flag is checked.
const MIN_TRACKED_PRODUCT: usize = 100;

/// Minimum number of limbs of the shorter factor from which transforms are faster than Karatsuba's method.
const MIN_TRANSFORM: usize = 100;

impl Team<'_> {
    /// Returns a product.
    pub(crate) fn multiply(&self, left: &Natural, right: &Natural) -> Result<Natural, Error> {
        let short = left.limbs().len().min(right.limbs().len());
        self.product(left.limbs().len() + right.limbs().len(), || {
            if short < MIN_TRANSFORM {
                return Ok(left * right);
            }
            transform::multiply(self, left.limbs(), Some(right.limbs())).map(Natural::from_limbs)
        })
    }

    /// Returns a square.
    pub(crate) fn square(&self, root: &Natural) -> Result<Natural, Error> {
        self.product(2 * root.limbs().len(), || {
            if root.limbs().len() < MIN_TRANSFORM {
                return Ok(root * root);
            }
            transform::multiply(self, root.limbs(), None).map(Natural::from_limbs)
        })
    }

    /// Computes a product of this number of `limbs` and records it as progress.
    fn product(
        &self,
        limbs: usize,
        compute: impl FnOnce() -> Result<Natural, Error>,
    ) -> Result<Natural, Error> {
        if limbs < MIN_TRACKED_PRODUCT {
            return compute();
        }
        self.check_stop()?;
        let product = compute()?;
        self.add_work(work_of_product(limbs));
        Ok(product)
    }
}

/// Work of a product of this number of limbs: about the number of operations of its transform.
fn work_of_product(limbs: usize) -> u64 {
    limbs as u64 * u64::from(limbs.ilog2())
}
