//! The trigrams of a text: all runs of three bytes.
//!
//! A name is in 28 % of the files of Linux that hold all its trigrams in one document: for the median of 200 names 8 files and 6 of them, for one in
//! ten more than 358. Alternatives: 44 % with a bit for each run of four bytes in addition (33 MB more), 56 % with 1.5 bits for each run of six (71 MB), 74 % with
//! eight bits for the bytes after each trigram (181 MB), 83 % with all runs of four. Most of the time of a search is elsewhere, so none of them is used.

/// Number of possible trigrams.
const ALL: usize = 1 << 24;

/// Three bytes as a number, the first byte highest, so that numbers have the order of the bytes.
pub(crate) type Trigram = u32;

/// The number of a trigram.
pub(crate) fn trigram(bytes: [u8; 3]) -> Trigram {
    u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]])
}

/// The trigrams of a text, each once, in the order of their first occurrence.
///
/// A text is padded with a line feed at both ends. So every byte of it is the first of a trigram with the bytes after it, and the
/// last of one with the bytes before it: words at both ends of the text, and literals of two bytes, can be found.
pub(crate) struct Trigrams {
    /// A bit for each trigram that was seen.
    seen: Vec<u64>,
    found: Vec<Trigram>,
}

impl Default for Trigrams {
    fn default() -> Self {
        Self { seen: vec![0; ALL / 64], found: Vec::new() }
    }
}

impl Trigrams {
    /// Finds the trigrams of a text; `None` if there are more than `limit`.
    pub(crate) fn of(&mut self, text: &[u8], limit: usize) -> Option<&[Trigram]> {
        for trigram in self.found.drain(..) {
            self.seen[trigram as usize / 64] = 0;
        }
        let Some((&first, rest)) = text.split_first() else { return Some(&[]) };
        let Self { seen, found } = self;
        let mut last = trigram([0, b'\n', first]);
        for bytes in rest.chunks(CHUNK) {
            for &byte in bytes {
                last = next(last, byte);
                add(seen, found, last);
            }
            if found.len() > limit {
                return None;
            }
        }
        add(seen, found, next(last, b'\n'));
        Some(found)
    }
}

/// The trigram one byte further.
fn next(last: Trigram, byte: u8) -> Trigram {
    (last << 8 | u32::from(byte)) & (ALL as u32 - 1)
}

/// Bytes between two looks at the limit.
const CHUNK: usize = 64 << 10;

fn add(seen: &mut [u64], found: &mut Vec<Trigram>, trigram: Trigram) {
    let (word, bit) = (&mut seen[trigram as usize / 64], 1 << (trigram % 64));
    if *word & bit == 0 {
        *word |= bit;
        found.push(trigram);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_its_trigrams_once_and_those_with_its_ends() {
        let mut trigrams = Trigrams::default();
        let mut of = |text: &str| {
            let found = trigrams.of(text.as_bytes(), usize::MAX).unwrap();
            found
                .iter()
                .map(|trigram| String::from_utf8(trigram.to_be_bytes()[1..].to_vec()).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(of("abab"), ["\nab", "aba", "bab", "ab\n"]);
        assert_eq!(of("a"), ["\na\n"]);
        assert_eq!(of(""), [""; 0]);
        assert_eq!(of("ab"), ["\nab", "ab\n"]);
    }

    #[test]
    fn a_text_with_too_many_trigrams_has_none() {
        let text: Vec<u8> = (0..CHUNK as u32).flat_map(u32::to_be_bytes).collect();
        let mut trigrams = Trigrams::default();
        assert!(trigrams.of(&text, 1000).is_none());
        assert!(trigrams.of(&text, text.len()).is_some_and(|found| found.len() > 1000));
    }
}
