//! Line and column of byte offsets, from a sample per 4 KiB: the number of lines before it, and the start of its line.

use memchr::{memchr_iter, memrchr};

/// Bytes of text per sample.
const STRIDE: usize = 4096;

/// Bytes per sample: the number of line feeds before it and the offset of its line, eight bytes each.
const SAMPLE: usize = 16;

/// Line and column of a byte, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// Line.
    pub line: u64,
    /// Byte in the line.
    pub column: u64,
}

/// Size of the samples of a text in bytes.
pub(crate) fn len(symbols: u64) -> u64 {
    symbols.div_ceil(STRIDE as u64) * SAMPLE as u64
}

/// Builds the samples of a text.
pub(crate) fn build(text: &[u8]) -> Vec<u8> {
    let mut samples = Vec::with_capacity(len(text.len() as u64) as usize);
    let (mut feeds, mut begin) = (0_u64, 0_u64);
    for (number, chunk) in text.chunks(STRIDE).enumerate() {
        samples.extend(feeds.to_le_bytes());
        samples.extend(begin.to_le_bytes());
        feeds += memchr_iter(b'\n', chunk).count() as u64;
        if let Some(feed) = memrchr(b'\n', chunk) {
            begin = (number * STRIDE + feed + 1) as u64;
        }
    }
    samples
}

/// Returns the place of a byte of the text, or `None` if it is past the end, or if the sample contradicts the text before it:
/// the line must begin after a line feed, unless it is the first.
pub(crate) fn place(samples: &[u8], text: &[u8], offset: u64) -> Option<LineColumn> {
    let number = (offset / STRIDE as u64) as usize;
    let before = text.get(number * STRIDE..offset as usize)?;
    let (numbers, _) = samples.get(number * SAMPLE..)?.as_chunks();
    let (feeds, begin) = (u64::from_le_bytes(*numbers.first()?), u64::from_le_bytes(*numbers.get(1)?));
    let feed = begin.checked_sub(1);
    let is_line_start = feed.is_none_or(|feed| text.get(feed as usize) == Some(&b'\n'));
    if !is_line_start || feed.is_none() != (feeds == 0) || begin > (number * STRIDE) as u64 {
        return None;
    }
    let begin = memrchr(b'\n', before).map_or(begin, |feed| (number * STRIDE + feed + 1) as u64);
    let line = feeds.checked_add(memchr_iter(b'\n', before).count() as u64 + 1)?;
    Some(LineColumn { line, column: offset.checked_sub(begin)? + 1 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn places_equal_those_from_counting_line_feeds(
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
            prop_assert_eq!(place(&samples, &text, offset as u64), Some(LineColumn { line, column }));
        }
    }
}
