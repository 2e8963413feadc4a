//! Prime numbers.

/// Returns all odd primes up to `limit`, which must be less than 2^32, by the sieve of Eratosthenes.
pub(crate) fn odd_primes(limit: u64) -> Vec<u32> {
    // Index i stands for 2i + 1.
    let places = limit.div_ceil(2) as usize;
    let mut composite = vec![false; places];
    let mut primes = Vec::new();
    for place in 1..places {
        if composite[place] {
            continue;
        }
        let prime = 2 * place + 1;
        primes.push(prime as u32);
        // Starts at the index of the prime's square: lower odd multiples have a smaller factor.
        for multiple in (2 * place * (place + 1)..places).step_by(prime) {
            composite[multiple] = true;
        }
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_those_without_divisors() {
        for limit in 0..300u64 {
            let plain: Vec<u32> =
                (3..=limit as u32).filter(|&n| (2..n).all(|divisor| n % divisor != 0)).collect();
            assert_eq!(odd_primes(limit), plain, "up to {limit}");
        }
        assert_eq!(odd_primes(1_000_000).len(), 78_497);
    }
}
