//! Products of long numbers by number-theoretic transforms.
//!
//! The limbs of a factor are the coefficients of a polynomial. The product of two polynomials is computed modulo three
//! primes of 50 bits (four, if both are very long), and reconstructed by the Chinese remainder theorem. Modulo a prime
//! the polynomials are replaced by their remainders modulo small factors of z^N - 1, where products are cheap: that is
//! the transform. (John Pollard, "The fast Fourier transform in a finite field", 1971; David Harvey, "Faster arithmetic
//! for number-theoretic transforms", 2014; and FLINT's `fft_small` for the arithmetic.)

mod butterfly;
mod field;
mod leaf;
mod length;
mod prime;
mod residues;
mod roots;
mod tree;

use crate::Error;
use crate::team::Team;

use leaf::multiply_leaves;
use length::Length;
use prime::PRIMES;
use residues::{Remainders, load};
pub(crate) use roots::Tables;
use tree::{LEAF, Transform};

/// Maximum number of limbs of the shorter factor for which three primes are enough: sums of this many products of limbs
/// are less than 3/4 of the product of the primes.
const THREE_PRIMES: usize = 3_000_000;

/// Minimum length of a transform that is split between threads.
const SHARED: usize = 1 << 13;

/// Minimum length from which all threads work on one prime at a time, which needs less memory.
const PRIME_BY_PRIME: usize = 1 << 17;

/// Returns the product of two numbers, or the square of one.
pub(crate) fn multiply(team: &Team<'_>, left: &[u64], right: Option<&[u64]>) -> Result<Vec<u64>, Error> {
    let short = left.len().min(right.map_or(usize::MAX, <[u64]>::len));
    if short <= THREE_PRIMES {
        multiply_modulo::<3>(team, left, right)
    } else {
        multiply_modulo::<{ PRIMES.len() }>(team, left, right)
    }
}

fn multiply_modulo<const K: usize>(
    team: &Team<'_>,
    left: &[u64],
    right: Option<&[u64]>,
) -> Result<Vec<u64>, Error> {
    let limbs = left.len() + right.unwrap_or(left).len();
    let length = Length::of(limbs - 1);
    let tables = team.tables(length.bits());
    let product = |number: usize| {
        team.check_stop()?;
        let transform = Transform { team, prime: &PRIMES[number], roots: tables.of(number) };
        Ok(multiply_polynomials(&transform, length, left, right))
    };
    let mut residues: [Vec<f64>; K] = std::array::from_fn(|_| Vec::new());
    if length.residues() >= PRIME_BY_PRIME {
        for (number, residues) in residues.iter_mut().enumerate() {
            *residues = product(number)?;
        }
    } else {
        fill(team, length.residues() >= SHARED, &mut residues, 0, &product)?;
    }
    let mut product = vec![0; limbs];
    let coefficients = &mut product[..limbs - 1];
    let residues = residues.each_ref().map(Vec::as_slice);
    let carry = Remainders::<K>::new(length.excess()).add_up(team, residues, coefficients);
    product[limbs - 1] = carry as u64;
    Ok(product)
}

/// Computes the products modulo the primes from number `first` on, in parallel if `shared`.
fn fill(
    team: &Team<'_>,
    shared: bool,
    products: &mut [Vec<f64>],
    first: usize,
    product: &(impl Fn(usize) -> Result<Vec<f64>, Error> + Sync),
) -> Result<(), Error> {
    if let [only] = products {
        *only = product(first)?;
        return Ok(());
    }
    let (low, high) = products.split_at_mut(products.len() / 2);
    let second = first + low.len();
    team.try_join(
        shared,
        || fill(team, shared, low, first, product),
        || fill(team, shared, high, second, product),
    )?;
    Ok(())
}

/// Returns the product of two polynomials modulo one prime, times 2 to the power of [`Length::excess`].
fn multiply_polynomials(
    transform: &Transform<'_, '_>,
    length: Length,
    left: &[u64],
    right: Option<&[u64]>,
) -> Vec<f64> {
    let Transform { team, prime, roots } = *transform;
    let remainders = |limbs: &[u64]| {
        let mut residues = vec![0.0; length.residues()];
        load(team, prime, limbs, &mut residues);
        length.divide(team, prime, roots, &mut residues);
        for (part, node) in length.parts() {
            transform.forward(&mut residues[part], node);
        }
        residues
    };
    let shared = length.residues() >= SHARED;
    let (mut product, right) = team.join_if(shared, || remainders(left), || right.map(remainders));
    for (part, node) in length.parts() {
        let leaves = node * (part.len() / LEAF);
        let right = right.as_ref().map(|right| &right[part.clone()]);
        multiply_leaves(team, prime, roots, &mut product[part.clone()], right, leaves);
        transform.inverse(&mut product[part], node);
    }
    length.combine(team, prime, roots, &mut product);
    product
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::multiply::schoolbook;
    use crate::team::tests::team_of;

    fn check(left: &[u64], right: &[u64]) {
        let mut expected = vec![0; left.len() + right.len()];
        schoolbook(&mut expected, left, right);
        for threads in [1, 3] {
            let team = team_of(threads);
            assert!(multiply(&team, left, Some(right)).unwrap() == expected);
            assert!(multiply_modulo::<4>(&team, left, Some(right)).unwrap() == expected);
        }
    }

    #[test]
    fn lengths_suffice_with_little_padding() {
        for residues in 1..10_000 {
            let length = Length::of(residues);
            assert!(length.residues() >= residues);
            assert!(length.residues() <= (residues * 5 / 4 + 4).max(64), "{length:?} for {residues}");
            let parts: usize = length.parts().map(|(part, _)| part.len()).sum();
            assert_eq!(parts, length.residues());
        }
    }

    #[test]
    fn products_of_the_largest_limbs_at_many_lengths() {
        for length in (1..400).chain([511, 512, 513, 1_000, 2_559, 2_561, 4_096, 7_000]) {
            let largest = vec![u64::MAX; length];
            check(&largest, &largest);
        }
    }

    #[test]
    fn a_long_product_on_many_threads() {
        let limbs = |count: u64, seed: u64| -> Vec<u64> {
            (1..=count).map(|i| i.wrapping_mul(seed | 1).wrapping_mul(i)).collect()
        };
        // Lengths of 4, 5, 6 and 7 eighths; checked modulo 2^61 - 1.
        for count in [131_000u64, 160_000, 190_000, 220_000] {
            let (left, right) =
                (limbs(count, 0x9e37_79b9_7f4a_7c15), limbs(count / 3, 0xd1b5_4a32_d192_ed03));
            let product = multiply(&team_of(3), &left, Some(&right)).unwrap();
            let modulo = |limbs: &[u64]| {
                let modulus = (1u128 << 61) - 1;
                limbs.iter().rev().fold(0, |rest, &limb| ((rest << 64) + u128::from(limb)) % modulus)
            };
            assert_eq!(modulo(&product), modulo(&left) * modulo(&right) % ((1 << 61) - 1), "{count} limbs");
            assert_eq!(product, multiply(&team_of(1), &left, Some(&right)).unwrap());
        }
    }

    proptest! {
        #[test]
        fn products_equal_those_of_schoolbook_multiplication(
            left in prop::collection::vec(any::<u64>(), 1..1_500),
            right in prop::collection::vec(any::<u64>(), 1..1_500),
        ) {
            check(&left, &right);
        }

        #[test]
        fn squares_are_products(root in prop::collection::vec(any::<u64>(), 1..1_500)) {
            let team = team_of(2);
            prop_assert!(multiply(&team, &root, None).unwrap() == multiply(&team, &root, Some(&root)).unwrap());
        }
    }
}
