//! Reference search, and pseudo-random numbers for long texts.

/// Positions of the pattern in the text, found by comparison at every position.
pub(crate) fn scan(text: &[u8], pattern: &[u8]) -> Vec<u64> {
    (0..text.len()).filter(|&at| text[at..].starts_with(pattern)).map(|at| at as u64).collect()
}

/// Deterministic source of numbers for texts that are too long for proptest to generate.
pub(crate) struct RandomNumbers(pub(crate) u64);

impl RandomNumbers {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // Steele, Lea and Flood's SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut number = self.0;
        number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (number ^ number >> 31) % bound
    }
}
