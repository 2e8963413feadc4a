//! Products of short numbers, as limbs with the least significant first.

/// Minimum number of limbs of the shorter factor from which Karatsuba's method is faster than the schoolbook method.
const KARATSUBA: usize = 32;

/// Writes the product of two numbers. It has as many limbs as both together.
pub(crate) fn multiply(product: &mut [u64], left: &[u64], right: &[u64]) {
    let (short, long) = if left.len() < right.len() { (left, right) } else { (right, left) };
    if short.len() < KARATSUBA {
        return schoolbook(product, long, short);
    }
    let mut scratch = vec![0; 4 * short.len() + 128];
    if short.len() == long.len() {
        return karatsuba(product, long, short, &mut scratch);
    }
    // The longer factor is split into pieces of the length of the shorter one.
    product.fill(0);
    let mut partial = vec![0; 2 * short.len()];
    for (number, piece) in long.chunks(short.len()).enumerate() {
        let partial = &mut partial[..piece.len() + short.len()];
        if piece.len() == short.len() {
            karatsuba(partial, piece, short, &mut scratch);
        } else {
            multiply(partial, piece, short);
        }
        add(&mut product[number * short.len()..], partial);
    }
}

/// Writes the product, multiplying each limb by each.
pub(crate) fn schoolbook(product: &mut [u64], left: &[u64], right: &[u64]) {
    let Some((&first, others)) = right.split_first() else { return product.fill(0) };
    let (row, rest) = product.split_at_mut(left.len());
    row.copy_from_slice(left);
    rest[0] = multiply_by_word(row, first, 0);
    for (place, &limb) in (1..).zip(others) {
        let (row, rest) = product[place..].split_at_mut(left.len());
        rest[0] = add_multiple(row, left, limb);
    }
}

/// Writes the product of two numbers of the same length, from three products of half the length: with a = a0 + a1 x and
/// b = b0 + b1 x, ab = a0 b0 + (a0 b0 + a1 b1 - (a0 - a1) (b0 - b1)) x + a1 b1 x^2.
///
/// Anatoly Karatsuba and Yuri Ofman, "Multiplication of many-digital numbers by automatic computers" (1962). `scratch`
/// must have at least 4 times the length plus 128 limbs.
fn karatsuba(product: &mut [u64], left: &[u64], right: &[u64], scratch: &mut [u64]) {
    if left.len() < KARATSUBA {
        return schoolbook(product, left, right);
    }
    // The lower half is longer if the length is odd.
    let half = left.len().div_ceil(2);
    let ((left_low, left_high), (right_low, right_high)) = (left.split_at(half), right.split_at(half));
    let (middle, scratch) = scratch.split_at_mut(2 * half + 1);
    let (low, high) = product.split_at_mut(2 * half);
    let left_is_negative = difference(&mut low[..half], left_low, left_high);
    let right_is_negative = difference(&mut low[half..], right_low, right_high);
    let (left_difference, right_difference) = low.split_at(half);
    karatsuba(&mut middle[..2 * half], left_difference, right_difference, scratch);
    middle[2 * half] = 0;
    karatsuba(low, left_low, right_low, scratch);
    karatsuba(high, left_high, right_high, scratch);
    if left_is_negative == right_is_negative {
        // The middle product is subtracted from the sum of the outer ones: negated here, modulo a power of 2^64.
        negate(middle);
    }
    add_wrapping(middle, low);
    add_wrapping(middle, high);
    let middle_length = middle.len().min(product.len() - half);
    add(&mut product[half..], &middle[..middle_length]);
}

/// Writes the absolute difference of two numbers, and returns `true` if it is negative. `right` is at most one limb
/// shorter than `left`.
fn difference(difference: &mut [u64], left: &[u64], right: &[u64]) -> bool {
    let top = left.len() > right.len() && left[right.len()] > 0;
    let is_negative = !top && left[..right.len()].iter().rev().lt(right.iter().rev());
    if is_negative {
        difference[..right.len()].copy_from_slice(right);
        difference[right.len()..].fill(0);
        subtract(difference, &left[..right.len()]);
    } else {
        difference.copy_from_slice(left);
        subtract(difference, right);
    }
    is_negative
}

/// Adds a multiple of `addend` to a number of the same length, and returns the carry.
pub(crate) fn add_multiple(sum: &mut [u64], addend: &[u64], factor: u64) -> u64 {
    let mut carry = 0;
    for (sum, &limb) in sum.iter_mut().zip(addend) {
        let total = u128::from(limb) * u128::from(factor) + u128::from(*sum) + u128::from(carry);
        *sum = total as u64;
        carry = (total >> 64) as u64;
    }
    carry
}

/// Multiplies a number by a word, adds `carry`, and returns the carry.
pub(crate) fn multiply_by_word(limbs: &mut [u64], word: u64, mut carry: u64) -> u64 {
    for limb in limbs {
        let product = u128::from(*limb) * u128::from(word) + u128::from(carry);
        *limb = product as u64;
        carry = (product >> 64) as u64;
    }
    carry
}

/// Adds a number that is not longer. The sum must fit.
fn add(sum: &mut [u64], addend: &[u64]) {
    let carried = add_wrapping(sum, addend);
    debug_assert!(!carried, "the sum has one limb more");
}

/// Adds a number that is not longer, and returns `true` if the sum overflows.
pub(crate) fn add_wrapping(sum: &mut [u64], addend: &[u64]) -> bool {
    let (low, high) = sum.split_at_mut(addend.len());
    let mut carry = false;
    for (sum, &limb) in low.iter_mut().zip(addend) {
        (*sum, carry) = sum.carrying_add(limb, carry);
    }
    for sum in high {
        if !carry {
            break;
        }
        (*sum, carry) = sum.overflowing_add(1);
    }
    carry
}

/// Subtracts a number that is not longer, and returns `true` if the difference is negative.
pub(crate) fn subtract(difference: &mut [u64], subtrahend: &[u64]) -> bool {
    let (low, high) = difference.split_at_mut(subtrahend.len());
    let mut borrow = false;
    for (difference, &limb) in low.iter_mut().zip(subtrahend) {
        (*difference, borrow) = difference.borrowing_sub(limb, borrow);
    }
    for difference in high {
        if !borrow {
            break;
        }
        (*difference, borrow) = difference.overflowing_sub(1);
    }
    borrow
}

/// Negates a number modulo a power of 2^64.
fn negate(limbs: &mut [u64]) {
    let mut carry = true;
    for limb in limbs {
        (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;

    fn number(limbs: &[u64]) -> BigUint {
        BigUint::from_bytes_le(&limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>())
    }

    /// Limbs, many of them 0 or the maximum, so that carries propagate far.
    fn limbs(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(prop_oneof![Just(0), Just(u64::MAX), any::<u64>()], count)
    }

    proptest! {
        #[test]
        fn products_equal_those_of_another_library(left in limbs(1..300), right in limbs(1..300)) {
            let mut product = vec![7; left.len() + right.len()];
            multiply(&mut product, &left, &right);
            prop_assert_eq!(number(&product), number(&left) * number(&right));
        }

        #[test]
        fn schoolbook_products_equal_those_of_another_library(left in limbs(1..40), right in limbs(1..40)) {
            let mut product = vec![7; left.len() + right.len()];
            schoolbook(&mut product, &left, &right);
            prop_assert_eq!(number(&product), number(&left) * number(&right));
        }
    }

    #[test]
    fn products_of_the_largest_numbers_of_each_length() {
        for length in 1..260 {
            let largest = vec![u64::MAX; length];
            let mut product = vec![7; 2 * length];
            multiply(&mut product, &largest, &largest);
            assert_eq!(number(&product), number(&largest).pow(2), "{length} limbs");
        }
    }
}
