//! Searches a text for the words of an index.

use std::ops::Range;

use memchr::memchr;

use crate::boundary::Boundary;
use crate::index::{Word, WordIndex};
use crate::runs::Runs;

/// Which matches there can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchKind {
    /// Words anywhere.
    Anywhere,
    /// Words anywhere, or an empty match.
    AnywhereOrEmpty,
    /// Whole words, each a run of characters of words.
    Runs,
    /// Whole words that begin with a character of words.
    WordsFromRuns,
    /// Whole words of any characters.
    Words,
    /// Whole lines.
    Lines,
}

/// A kind of search.
#[derive(Clone, Debug)]
pub(crate) struct WordSearch {
    kind: SearchKind,
    boundary: Boundary,
    /// The bytes that are in runs.
    class: Box<[bool; 256]>,
}

impl WordSearch {
    pub(crate) fn new(kind: SearchKind, boundary: Boundary) -> Self {
        let class = Box::new(std::array::from_fn(|byte| boundary.may_be_in_word(byte as u8)));
        Self { kind, boundary, class }
    }

    pub(crate) fn kind(&self) -> SearchKind {
        self.kind
    }

    /// Returns the first match at or after `from`.
    pub(crate) fn first(&self, index: &WordIndex, text: &[u8], from: usize) -> Option<Range<usize>> {
        if self.kind == SearchKind::AnywhereOrEmpty {
            let length = self.word_at::<false>(index, text, from).unwrap_or(0);
            return Some(from..from + length);
        }
        self.find::<false>(index, text, from)
    }

    /// Returns a place in the first line that has a match.
    pub(crate) fn any(&self, index: &WordIndex, text: &[u8], from: usize) -> Option<usize> {
        if self.kind == SearchKind::AnywhereOrEmpty {
            return Some(from);
        }
        self.find::<true>(index, text, from).map(|found| found.start)
    }

    /// Returns the first match, or, with `ANY`, one that begins at the same place.
    #[inline(always)]
    fn find<const ANY: bool>(&self, index: &WordIndex, text: &[u8], from: usize) -> Option<Range<usize>> {
        let word_at = |at| self.word_at::<ANY>(index, text, at).map(|length| at..at + length);
        match self.kind {
            SearchKind::Anywhere | SearchKind::AnywhereOrEmpty => index.first_place(text, from, word_at),
            SearchKind::Words => {
                index.first_place(text, from, |at| self.boundary.is_start(text, at).then(|| word_at(at))?)
            }
            SearchKind::Runs => self.in_runs(text, from, |start, end, is_plain| {
                if is_plain { index.get_at(text, start, end).map(|_| start..end) } else { word_at(start) }
            }),
            SearchKind::WordsFromRuns => self.in_runs(text, from, |start, _, _| word_at(start)),
            SearchKind::Lines => first_line(index, text, from),
        }
    }

    /// Returns the length of the first word in the list at a place.
    #[inline(always)]
    fn word_at<const ANY: bool>(&self, index: &WordIndex, text: &[u8], at: usize) -> Option<usize> {
        if matches!(self.kind, SearchKind::Anywhere | SearchKind::AnywhereOrEmpty) {
            // A word that begins with another one is in the index only if it is before that one in the list.
            return index.longest_at(text, at);
        }
        let mut best: Option<Word> = None;
        index.words_at(text, at, |word| {
            let is_better = best.is_none_or(|best| word.rank < best.rank);
            if is_better && self.boundary.is_end(text, at + word.length) {
                best = Some(word);
            }
            ANY && best.is_some()
        });
        best.map(|word| word.length)
    }

    /// Returns the first result of `check` for a place in a run where a word may begin. It is given the place, the end of the run,
    /// and whether only the whole run can be a word of word characters.
    #[inline(always)]
    fn in_runs<T>(
        &self,
        text: &[u8],
        from: usize,
        mut check: impl FnMut(usize, usize, bool) -> Option<T>,
    ) -> Option<T> {
        let has_begun =
            |at: usize| at.checked_sub(1).is_some_and(|before| self.class[usize::from(text[before])]);
        for (start, end) in Runs::new(text, &self.class, from) {
            let is_cut = start == from && has_begun(from);
            let found = if !is_cut && text[start..end].is_ascii() {
                check(start, end, true)
            } else {
                // There may be boundaries between characters that are not in ASCII, and next to invalid UTF-8.
                (start..end)
                    .filter(|&at| self.boundary.is_start(text, at))
                    .find_map(|at| check(at, end, false))
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// Returns the first line that is a word and begins at or after `from`.
fn first_line(index: &WordIndex, text: &[u8], from: usize) -> Option<Range<usize>> {
    let is_start = from == 0 || text.get(from - 1) == Some(&b'\n');
    let mut start = if is_start { from } else { from + memchr(b'\n', text.get(from..)?)? + 1 };
    loop {
        let length = memchr(b'\n', text.get(start..)?);
        let end = length.map_or(text.len(), |length| start + length);
        if index.get_at(text, start, end).is_some() {
            return Some(start..end);
        }
        start = end + usize::from(length.is_some());
        length?;
    }
}
