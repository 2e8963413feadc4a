//! Runs of bytes that words of a text consist of.

/// Number of bytes that are classified at once.
const BLOCK: usize = 64;

/// The maximal runs of bytes in a class, from a place on.
pub(crate) struct Runs<'t> {
    text: &'t [u8],
    class: &'t [bool; 256],
    at: usize,
    /// Start of the block that `members` stands for.
    block: usize,
    /// One bit for each byte of the block, the lowest for the first.
    members: u64,
}

impl<'t> Runs<'t> {
    pub(crate) fn new(text: &'t [u8], class: &'t [bool; 256], from: usize) -> Self {
        let mut runs = Self { text, class, at: from, block: from, members: 0 };
        runs.members = runs.classify();
        runs
    }

    #[inline(always)]
    fn classify(&self) -> u64 {
        match self.text.get(self.block..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
            Some(block) => bits(block, self.class),
            None => bits(self.text.get(self.block..).unwrap_or_default(), self.class),
        }
    }

    /// Moves to the first place from the present one on that is in the class, or is not.
    #[inline(always)]
    fn skip_to(&mut self, member: bool) {
        while self.at < self.text.len() {
            let members = if member { self.members } else { !self.members };
            let rest = members.checked_shr((self.at - self.block) as u32).unwrap_or(0);
            if rest != 0 {
                self.at = (self.at + rest.trailing_zeros() as usize).min(self.text.len());
                return;
            }
            self.block += BLOCK;
            self.at = self.block.min(self.text.len());
            self.members = self.classify();
        }
    }
}

impl Iterator for Runs<'_> {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        self.skip_to(true);
        let start = self.at;
        if start >= self.text.len() {
            return None;
        }
        self.skip_to(false);
        Some((start, self.at))
    }
}

#[inline(always)]
fn bits(block: &[u8], class: &[bool; 256]) -> u64 {
    let bits = block.iter().zip(0..);
    bits.fold(0, |bits, (&byte, index): (_, u32)| bits | u64::from(class[usize::from(byte)]) << index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_across_blocks_are_one() {
        let class = std::array::from_fn(|byte| byte as u8 == b'a');
        for (before, length, after) in
            [(0, 0, 0), (0, 64, 0), (3, 61, 0), (60, 9, 3), (63, 130, 70), (64, 64, 64), (0, 1, 200)]
        {
            let text = [vec![b' '; before], vec![b'a'; length], vec![b' '; after]].concat();
            for from in 0..=text.len() {
                let run = (from.max(before), before + length);
                let expected = (run.0 < run.1).then_some(run);
                assert_eq!(
                    Runs::new(&text, &class, from).collect::<Vec<_>>(),
                    Vec::from_iter(expected),
                    "{from}"
                );
            }
        }
    }
}
