//! The primes of the transforms.

/// Roots of unity have orders up to 2^32.
const ORDER_BITS: u32 = 32;

/// A prime just under 2^50 that is 1 modulo 2^32.
///
/// Residues are integers in `f64`: a fused multiply-add makes their products exact, and every processor of the last ten
/// years computes four at a time.
pub(super) struct Prime {
    pub(super) value: u64,
    /// A quadratic nonresidue modulo the prime.
    nonsquare: u64,
}

/// The largest primes of this form. Products use the first three, or all four if both factors are long.
pub(super) const PRIMES: [Prime; 4] = [
    Prime { value: 0x3_fff3_0000_0001, nonsquare: 5 },
    Prime { value: 0x3_ffed_0000_0001, nonsquare: 7 },
    Prime { value: 0x3_ffeb_0000_0001, nonsquare: 3 },
    Prime { value: 0x3_ffc1_0000_0001, nonsquare: 3 },
];

impl Prime {
    pub(super) const fn multiply(&self, left: u64, right: u64) -> u64 {
        (left as u128 * right as u128 % self.value as u128) as u64
    }

    /// Returns the product of two balanced residues.
    pub(super) fn product(&self, left: f64, right: f64) -> u64 {
        let canonical =
            |balanced: f64| (balanced as i64).rem_euclid(self.value.cast_signed()).cast_unsigned();
        self.multiply(canonical(left), canonical(right))
    }

    pub(super) const fn power(&self, mut base: u64, mut exponent: u64) -> u64 {
        let mut power = 1;
        while exponent > 0 {
            if exponent % 2 == 1 {
                power = self.multiply(power, base);
            }
            base = self.multiply(base, base);
            exponent /= 2;
        }
        power
    }

    pub(super) const fn inverse(&self, number: u64) -> u64 {
        self.power(number % self.value, self.value - 2)
    }

    /// Returns the inverse of 2^`exponent`, for exponents up to 32: as p = c 2^32 + 1, it is -c 2^(32 - exponent).
    pub(super) fn inverse_power_of_2(&self, exponent: u32) -> u64 {
        self.value - ((self.value - 1) >> exponent)
    }

    /// Returns a root of unity of order 2^`bits`. The root of each order is the square of that of the next one.
    pub(super) fn root(&self, bits: u32) -> u64 {
        let root = self.power(self.nonsquare, (self.value - 1) >> ORDER_BITS);
        self.power(root, 1 << (ORDER_BITS - bits))
    }

    /// Returns the residue of minimum magnitude, the form of constants in the transforms.
    pub(super) fn balanced(&self, residue: u64) -> f64 {
        if residue > self.value / 2 { -((self.value - residue) as f64) } else { residue as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the Miller-Rabin test, which is exact for all numbers below 2^64 with these bases.
    fn is_prime(number: u64) -> bool {
        let arithmetic = Prime { value: number, nonsquare: 0 };
        let twos = (number - 1).trailing_zeros();
        [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37].into_iter().all(|base| {
            let mut power = arithmetic.power(base, (number - 1) >> twos);
            power == 1
                || (0..twos).any(|_| {
                    let found = power == number - 1;
                    power = arithmetic.multiply(power, power);
                    found
                })
        })
    }

    #[test]
    fn primes_are_prime_and_have_roots() {
        for prime in &PRIMES {
            assert!(is_prime(prime.value) && prime.value < 1 << 50);
            assert_eq!(prime.value % (1 << ORDER_BITS), 1);
            assert_eq!(prime.root(0), 1);
            assert_eq!(prime.root(1), prime.value - 1);
            assert_eq!(prime.power(prime.root(ORDER_BITS), 1 << (ORDER_BITS - 1)), prime.value - 1);
            assert_eq!(prime.multiply(prime.inverse(12_345), 12_345), 1);
            for exponent in 0..=ORDER_BITS {
                assert_eq!(prime.multiply(prime.inverse_power_of_2(exponent), 1 << exponent), 1);
            }
        }
    }
}
