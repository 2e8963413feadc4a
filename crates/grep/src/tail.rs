//! The last lines before a block, which may become leading context.

use std::collections::VecDeque;
use std::sync::Arc;

use memchr::memrchr_iter;

use crate::units::Units;

/// The last lines before a block that are not printed yet. Stored as one part or more per block and shared between states, as
/// they may be large and are rarely needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    parts: VecDeque<Arc<Part>>,
}

/// Lines of a tail.
#[derive(Debug)]
pub(crate) enum Part {
    /// Whole lines without a gap.
    Lines { offset: u64, bytes: Vec<u8>, count: usize },
    /// A long line that NULs split. It is never printed, so that its first NUL suffices.
    LongLine { offset: u64, nul: u64 },
}

impl Part {
    fn count(&self) -> usize {
        match self {
            Self::Lines { count, .. } => *count,
            Self::LongLine { .. } => 1,
        }
    }

    /// Number of lines in the last `count` units.
    pub(crate) fn lines_in_last(&self, count: usize, units: &Units) -> u64 {
        match self {
            Self::Lines { bytes, .. } if units.are_records() => {
                units.lines_in(&bytes[units.last(bytes, count).0..])
            }
            _ => count as u64,
        }
    }
}

impl Tail {
    pub(crate) fn clear(&mut self) {
        self.parts.clear();
    }

    /// Adds the last `wanted` of some lines, and drops parts that `wanted` or more lines follow.
    pub(crate) fn push_lines(&mut self, bytes: &[u8], offset: u64, wanted: usize, units: &Units) {
        let (first, count) = units.last(bytes, wanted);
        if count > 0 {
            let (bytes, offset) = (bytes[first..].to_vec(), offset + first as u64);
            self.push(Part::Lines { offset, bytes, count }, wanted);
        }
    }

    /// Adds a long line that NULs split, and drops parts that `wanted` or more lines follow.
    pub(crate) fn push_long_line(&mut self, offset: u64, nul: u64, wanted: usize) {
        self.push(Part::LongLine { offset, nul }, wanted);
    }

    fn push(&mut self, part: Part, wanted: usize) {
        self.parts.push_back(Arc::new(part));
        let mut all = self.count();
        while let Some(front) = self.parts.front().filter(|front| all - front.count() >= wanted) {
            all -= front.count();
            self.parts.pop_front();
        }
    }

    fn count(&self) -> usize {
        self.parts.iter().map(|part| part.count()).sum()
    }

    /// Returns the parts with the last `wanted` lines, each with the number of lines in it that are wanted.
    pub(crate) fn last(&self, wanted: usize) -> impl Iterator<Item = (&Part, usize)> {
        let mut unwanted = self.count().saturating_sub(wanted);
        self.parts.iter().filter_map(move |part| {
            let skipped = unwanted.min(part.count());
            unwanted -= skipped;
            (skipped < part.count()).then(|| (&**part, part.count() - skipped))
        })
    }
}

/// Returns the offset of the last lines of `bytes`, at most `wanted`, and their number.
pub(crate) fn last_lines(bytes: &[u8], wanted: usize, line_end: u8) -> (usize, usize) {
    if bytes.is_empty() || wanted == 0 {
        return (bytes.len(), 0);
    }
    let ended = bytes.strip_suffix(&[line_end]).unwrap_or(bytes);
    let mut lines = 0;
    for end in memrchr_iter(line_end, ended) {
        lines += 1;
        if lines == wanted {
            return (end + 1, lines);
        }
    }
    (0, lines + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_counts_as_one_line_of_context() {
        let mut tail = Tail::default();
        let lines = &Units::lines(b'\n');
        tail.push_lines(b"1\n2\n3\n", 0, 3, lines);
        tail.push_long_line(6, 9, 3);
        let counts =
            |tail: &Tail, wanted| -> Vec<usize> { tail.last(wanted).map(|(_, count)| count).collect() };
        assert_eq!([counts(&tail, 3), counts(&tail, 2), counts(&tail, 1)], [vec![2, 1], vec![1, 1], vec![1]]);
        tail.push_lines(b"5\n6\n", 100, 3, lines);
        assert_eq!([counts(&tail, 3), counts(&tail, 2)], [vec![1, 2], vec![2]]);
        tail.push_lines(b"7\n8\n", 104, 3, lines);
        assert_eq!(counts(&tail, 3), [1, 2]);
    }
}
