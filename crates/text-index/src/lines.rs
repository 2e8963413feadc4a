//! From byte offsets to lines and columns: how many lines begin before every 4 KiB, and where the one begins that is under way.

use memchr::{memchr_iter, memrchr};

/// Bytes of text for one sample.
const STRIDE: usize = 4096;

/// Bytes of a sample: how many line feeds are before it, and where the line begins that it lies in, eight each.
const SAMPLE: usize = 16;

/// Where in its line a byte is. Both count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u64,
    /// The byte in the line.
    pub column: u64,
}

/// How many bytes the samples of a text take.
pub(crate) fn len(symbols: u64) -> u64 {
    symbols.div_ceil(STRIDE as u64) * SAMPLE as u64
}

/// Makes the samples of a text.
pub(crate) fn build(text: &[u8]) -> Vec<u8> {
    let mut samples = Vec::with_capacity(len(text.len() as u64) as usize);
    let (mut feeds, mut begin) = (0_u64, 0_u64);
    for (number, stretch) in text.chunks(STRIDE).enumerate() {
        samples.extend(feeds.to_le_bytes());
        samples.extend(begin.to_le_bytes());
        feeds += memchr_iter(b'\n', stretch).count() as u64;
        if let Some(feed) = memrchr(b'\n', stretch) {
            begin = (number * STRIDE + feed + 1) as u64;
        }
    }
    samples
}

/// The place of a byte of the text. None if it is not in the text, or if the samples are damaged.
pub(crate) fn place(samples: &[u8], text: &[u8], offset: u64) -> Option<Place> {
    let number = (offset / STRIDE as u64) as usize;
    let before = text.get(number * STRIDE..offset as usize)?;
    let (numbers, _) = samples.get(number * SAMPLE..)?.as_chunks();
    let (feeds, begin) = (u64::from_le_bytes(*numbers.first()?), u64::from_le_bytes(*numbers.get(1)?));
    let begin = memrchr(b'\n', before).map_or(begin, |feed| (number * STRIDE + feed + 1) as u64);
    let line = feeds.checked_add(memchr_iter(b'\n', before).count() as u64 + 1)?;
    Some(Place { line, column: offset.checked_sub(begin)? + 1 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn places_are_those_that_counting_gives(
            lines in prop::collection::vec(prop_oneof![0..40_usize, 3000..9000_usize], 0..30),
            offset in any::<prop::sample::Index>(),
        ) {
            let mut text = Vec::new();
            for length in lines {
                text.extend(vec![b'x'; length]);
                text.push(b'\n');
            }
            text.extend(b"the end");
            let samples = build(&text);
            prop_assert_eq!(samples.len() as u64, len(text.len() as u64));
            let offset = offset.index(text.len());
            let line = text[..offset].iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
            let begin = text[..offset].iter().rposition(|&byte| byte == b'\n').map_or(0, |feed| feed + 1);
            let column = (offset - begin) as u64 + 1;
            prop_assert_eq!(place(&samples, &text, offset as u64), Some(Place { line, column }));
        }
    }
}
