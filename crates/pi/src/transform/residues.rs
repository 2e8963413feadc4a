//! Conversion from limbs to residues and back.

use pulp::{Simd, WithSimd};

use super::field::{Field, run};
use super::prime::{PRIMES, Prime};
use crate::team::Team;

/// Number of residues converted at a time, which fit the L1 cache.
const CHUNK: usize = 64;

/// Maximum number of limbs that one thread converts at a time.
const SHARED: usize = 1 << 14;

/// 2^52, whose last bit has the value 1: integers below it can be inserted and extracted as bits.
const UNITS: f64 = (1u64 << 52) as f64;

/// 1.5 * 2^52, the same for signed integers.
const SIGNED_UNITS: f64 = 1.5 * UNITS;

/// Writes the limbs modulo a prime, followed by zeros. Residues are at most 1/2.
pub(super) fn load(team: &Team<'_>, prime: &Prime, limbs: &[u64], residues: &mut [f64]) {
    let length = residues.len();
    if length <= SHARED {
        return run(Load { prime, limbs, residues });
    }
    let (low, high) = residues.split_at_mut((length / 2).next_multiple_of(CHUNK));
    let (low_limbs, high_limbs) = limbs.split_at(low.len().min(limbs.len()));
    team.join(|| load(team, prime, low_limbs, low), || load(team, prime, high_limbs, high));
}

struct Load<'t> {
    prime: &'t Prime,
    limbs: &'t [u64],
    residues: &'t mut [f64],
}

impl WithSimd for Load<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let field = Field::new(simd, self.prime);
        let (residues, zeros) = self.residues.split_at_mut(self.limbs.len().min(self.residues.len()));
        zeros.fill(0.0);
        let (mut high, mut low) = ([0.0; CHUNK], [0.0; CHUNK]);
        for (limbs, residues) in self.limbs.chunks(CHUNK).zip(residues.chunks_mut(CHUNK)) {
            for ((limb, high), low) in limbs.iter().zip(&mut high).zip(&mut low) {
                *high = (f64::from_bits((limb >> 32) | UNITS.to_bits()) - UNITS) * (1u64 << 32) as f64;
                *low = f64::from_bits((limb & 0xffff_ffff) | UNITS.to_bits()) - UNITS;
            }
            let (high_vectors, low_vectors) = (S::as_mut_simd_f64s(&mut high).0, S::as_simd_f64s(&low).0);
            for (high, low) in high_vectors.iter_mut().zip(low_vectors) {
                *high = field.reduce(field.add(field.reduce(*high), *low));
            }
            residues.copy_from_slice(&high[..residues.len()]);
        }
    }
}

/// Reconstruction of numbers from their residues modulo the first K primes, by the Chinese remainder theorem: x = sum
/// of (x(i) / (P / p(i)) mod p(i)) P / p(i), minus a small multiple of P, the product of all p.
pub(super) struct Remainders<const K: usize> {
    /// Inverses of P / p(i) and of the excess factor of the residues, modulo p(i).
    scales: [f64; K],
    /// P / p(i).
    cofactors: [[u64; 3]; K],
    /// 1 / p(i).
    inverses: [f64; K],
    /// Multiples of P, modulo 2^192.
    multiples: [[u64; 3]; 4],
}

impl<const K: usize> Remainders<K> {
    /// Inverses of P / p(i) modulo p(i).
    const INVERSE_COFACTORS: [u64; K] = {
        let mut inverses = [1; K];
        let mut number = 0;
        while number < K {
            let (prime, mut other) = (&PRIMES[number], 0);
            while other < K {
                if other != number {
                    inverses[number] = prime.multiply(inverses[number], PRIMES[other].value % prime.value);
                }
                other += 1;
            }
            inverses[number] = prime.inverse(inverses[number]);
            number += 1;
        }
        inverses
    };

    /// For residues with an excess factor of 2^`excess`.
    pub(super) fn new(excess: u32) -> Self {
        let product_without = |left_out: usize| {
            let others = PRIMES[..K].iter().enumerate().filter(|&(number, _)| number != left_out);
            others.fold([1, 0, 0], |product, (_, prime)| times(product, prime.value))
        };
        let scale = |number: usize| {
            let prime = &PRIMES[number];
            let inverse = prime.inverse_power_of_2(excess);
            prime.balanced(prime.multiply(Self::INVERSE_COFACTORS[number], inverse))
        };
        Self {
            scales: std::array::from_fn(scale),
            cofactors: std::array::from_fn(product_without),
            inverses: std::array::from_fn(|number| 1.0 / PRIMES[number].value as f64),
            multiples: std::array::from_fn(|multiple| times(product_without(K), multiple as u64)),
        }
    }

    /// Reconstructs the numbers with these residues, one for each of `limbs`, and adds them up, each shifted by one
    /// limb. The numbers are less than 3/4 of the product of the primes, and than 2^191. Returns the carry out of the
    /// last limb.
    pub(super) fn add_up(&self, team: &Team<'_>, residues: [&[f64]; K], limbs: &mut [u64]) -> u128 {
        if limbs.len() <= SHARED {
            return run(AddUp { remainders: self, residues, limbs });
        }
        let middle = (limbs.len() / 2).next_multiple_of(CHUNK);
        let (low, high) = limbs.split_at_mut(middle);
        let (low_carry, high_carry) = team.join(
            || self.add_up(team, residues.map(|residues| &residues[..middle]), low),
            || self.add_up(team, residues.map(|residues| &residues[middle..]), high),
        );
        high_carry + add_carry(high, low_carry)
    }

    /// Reconstructs a number from its scaled residues.
    #[inline(always)]
    fn number(&self, residues: [u64; K]) -> [u64; 3] {
        // Residues have 50 bits, so the sum of four of these products fits.
        let (mut low, mut middle, mut high) = (0u128, 0u128, 0u64);
        let mut quotient = -0.375;
        for (i, residue) in residues.into_iter().enumerate() {
            low += u128::from(residue) * u128::from(self.cofactors[i][0]);
            middle += u128::from(residue) * u128::from(self.cofactors[i][1]);
            if K > 3 {
                high = high.wrapping_add(residue.wrapping_mul(self.cofactors[i][2]));
            }
            quotient += residue.cast_signed() as f64 * self.inverses[i];
        }
        middle += low >> 64;
        high = high.wrapping_add((middle >> 64) as u64);
        // The sum is x + kP with x / P < 3/4, so its quotient minus 3/8 is not near a half-integer, and adding a large
        // number rounds it to k.
        let excess = self.multiples[(quotient + SIGNED_UNITS).to_bits() as usize % 4];
        let (low, borrow) = (low as u64).overflowing_sub(excess[0]);
        let (middle, borrow) = (middle as u64).borrowing_sub(excess[1], borrow);
        [low, middle, high.borrowing_sub(excess[2], borrow).0]
    }
}

/// Returns a multiple of a number, modulo 2^192.
fn times(number: [u64; 3], factor: u64) -> [u64; 3] {
    let mut carry = 0;
    number.map(|limb| {
        let product = u128::from(limb) * u128::from(factor) + carry;
        carry = product >> 64;
        product as u64
    })
}

/// Adds `carry` to `limbs` and returns the carry out of the last one.
fn add_carry(limbs: &mut [u64], mut carry: u128) -> u128 {
    for limb in limbs {
        if carry == 0 {
            break;
        }
        let sum = u128::from(*limb) + u128::from(carry as u64);
        *limb = sum as u64;
        carry = (carry >> 64) + (sum >> 64);
    }
    carry
}

struct AddUp<'t, const K: usize> {
    remainders: &'t Remainders<K>,
    residues: [&'t [f64]; K],
    limbs: &'t mut [u64],
}

impl<const K: usize> WithSimd for AddUp<'_, K> {
    type Output = u128;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u128 {
        let Self { remainders, residues, limbs } = self;
        let mut scaled = [[0.0; CHUNK]; K];
        let mut carry = 0u128;
        for (number, limbs) in limbs.chunks_mut(CHUNK).enumerate() {
            for i in 0..K {
                let from = &residues[i][number * CHUNK..];
                let from = &from[..from.len().min(CHUNK)];
                let field = Field::new(simd, &PRIMES[i]);
                let scale = field.splat(remainders.scales[i]);
                let to = S::as_mut_simd_f64s(&mut scaled[i]).0;
                for (to, from) in to.iter_mut().zip(S::as_simd_f64s(from).0) {
                    *to = field.add(field.multiply(*from, scale), field.splat(SIGNED_UNITS));
                }
            }
            for (place, limb) in limbs.iter_mut().enumerate() {
                let canonical = |i: usize| {
                    let signed = scaled[i][place].to_bits().wrapping_sub(SIGNED_UNITS.to_bits());
                    let negative = signed.cast_signed() >> 63;
                    signed.wrapping_add(negative.cast_unsigned() & PRIMES[i].value)
                };
                let [low, middle, high] = remainders.number(std::array::from_fn(canonical));
                let sum = u128::from(low) + u128::from(carry as u64);
                *limb = sum as u64;
                carry = (carry >> 64) + (sum >> 64) + u128::from(middle) + (u128::from(high) << 64);
            }
        }
        carry
    }
}
