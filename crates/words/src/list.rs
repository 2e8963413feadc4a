//! Lists of words, and the texts that are searched for them.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use memchr::memchr;

use crate::boundary::Boundary;
use crate::fold::Folding;
use crate::index::{WordCounts, WordIndex};
use crate::search::{SearchKind, WordSearch};

/// Where in a text words are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WordPlace {
    /// Anywhere.
    #[default]
    Anywhere,
    /// Between word boundaries: `\b{start-half}` and `\b{end-half}`.
    Words,
    /// As whole lines, which line feeds end.
    Lines,
}

/// How words are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Where in a text.
    pub place: WordPlace,
    /// Ignore case.
    pub ignore_case: bool,
    /// Ignore case, and find word boundaries, by Unicode; otherwise by ASCII.
    pub unicode: bool,
    /// Expect calls of [`WordList::find_line`] only. For others, a second index is made when it is needed.
    pub only_lines: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { place: WordPlace::Anywhere, ignore_case: false, unicode: true, only_lines: false }
    }
}

impl Options {
    /// Sets where in a text words are found.
    pub fn place(self, place: WordPlace) -> Self {
        Self { place, ..self }
    }

    /// Sets whether case is ignored.
    pub fn ignore_case(self, ignore_case: bool) -> Self {
        Self { ignore_case, ..self }
    }

    /// Sets whether case and word boundaries follow Unicode.
    pub fn unicode(self, unicode: bool) -> Self {
        Self { unicode, ..self }
    }

    /// Sets whether only lines are wanted.
    pub fn only_lines(self, only_lines: bool) -> Self {
        Self { only_lines, ..self }
    }
}

/// A list of words to search for.
#[derive(Clone, Debug)]
pub struct WordList {
    words: Arc<[String]>,
    search: WordSearch,
    folding: Option<Folding>,
    /// Enough words to find all lines.
    lines: Option<WordIndex>,
    /// All words.
    all: OnceLock<WordIndex>,
}

/// Minimum length of the text that is folded at once.
const WINDOW: usize = 256;
const MAX_WINDOW: usize = 64 << 10;
/// Number of bytes around a match that word boundaries may depend on.
const CONTEXT: usize = 8;

thread_local! {
    /// The folded part of a text.
    static FOLDED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl WordList {
    /// Makes a list. `None` if a word contains a line feed, if a whole word is empty, or if the words exceed 4 GiB.
    pub fn new(words: Arc<[String]>, options: Options) -> Option<Self> {
        let has_empty = words.iter().any(String::is_empty);
        let has_line_feed = words.iter().any(|word| memchr(b'\n', word.as_bytes()).is_some());
        if has_line_feed || has_empty && options.place == WordPlace::Words {
            return None;
        }
        let kind = kind(&words, options);
        let search = WordSearch::new(kind, Boundary::new(options.unicode));
        let folding = options.ignore_case.then(|| Folding::new(options.unicode));
        let mut list = Self { words, search, folding, lines: None, all: OnceLock::new() };
        let counts = list.counts();
        if !counts.fit() {
            return None;
        }
        if options.only_lines && kind == SearchKind::Anywhere {
            list.lines = Some(list.index_of_lines(&counts));
        } else {
            list.all = OnceLock::from(list.index_of_all(&counts));
        }
        Some(list)
    }

    fn counts(&self) -> WordCounts {
        let mut counts = WordCounts::default();
        self.folded_words(self.words.iter(), |word| counts.add(word));
        counts
    }

    /// Calls `each` with some of the words, folded if case is ignored.
    fn folded_words<'a>(&'a self, words: impl Iterator<Item = &'a String>, mut each: impl FnMut(&[u8])) {
        let mut folded = Vec::new();
        for word in words {
            match &self.folding {
                None => each(word.as_bytes()),
                Some(folding) => {
                    folded.clear();
                    folding.fold_into(word.as_bytes(), &mut folded);
                    each(&folded);
                }
            }
        }
    }

    fn index_of_all(&self, counts: &WordCounts) -> WordIndex {
        let mut index = WordIndex::new(counts);
        // Words after an empty one are never found.
        let is_last = |word: &&String| self.search.kind() == SearchKind::AnywhereOrEmpty && word.is_empty();
        let words = self.words.iter().take_while(|word| !is_last(word));
        let is_anywhere = matches!(self.search.kind(), SearchKind::Anywhere | SearchKind::AnywhereOrEmpty);
        self.folded_words(words, |word| {
            // The earlier word is found in its place.
            let begins_with_earlier = is_anywhere && index.has_word_at(word, 0);
            if !begins_with_earlier {
                index.insert(word);
            }
        });
        index.shrink();
        index
    }

    /// An index without words that contain another word.
    fn index_of_lines(&self, counts: &WordCounts) -> WordIndex {
        let mut index = WordIndex::new(counts);
        let (mut kept, mut words) = (WordCounts::default(), 0);
        self.folded_words(by_length(&self.words), |word| {
            words += 1;
            if self.search.any(&index, word, 0).is_none() {
                index.insert(word);
                kept.add(word);
            }
        });
        if kept.words() > words / 2 {
            index.shrink();
            return index;
        }
        let mut smaller = WordIndex::new(&kept);
        for word in index.words() {
            smaller.insert(word);
        }
        smaller
    }

    fn all(&self) -> &WordIndex {
        self.all.get_or_init(|| self.index_of_all(&self.counts()))
    }

    /// Returns the first match at or after `at`. Among words at the same place, it is the first in the list.
    pub fn find_at(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        match &self.folding {
            None => self.search.first(self.all(), text, at),
            Some(folding) => with_scratch(|folded| self.find_folded(folding, text, at, folded)),
        }
    }

    /// Returns a place in the first line that has a match.
    pub fn find_line(&self, text: &[u8]) -> Option<usize> {
        let index = self.lines.as_ref().unwrap_or_else(|| self.all());
        match &self.folding {
            None => self.search.any(index, text, 0),
            Some(folding) => with_scratch(|folded| self.find_folded_line((index, folding), text, folded)),
        }
    }

    /// Folds growing parts of the text until more text cannot change the match.
    fn find_folded(
        &self,
        folding: &Folding,
        text: &[u8],
        at: usize,
        folded: &mut Vec<u8>,
    ) -> Option<Range<usize>> {
        let index = self.all();
        let mut size = WINDOW;
        loop {
            let end = char_end(text, at.saturating_add(size).min(text.len()));
            folded.clear();
            folding.fold_into(&text[at.saturating_sub(CONTEXT)..at], folded);
            let from = folded.len();
            folding.fold_into(&text[at..end], folded);
            let found = self.search.first(index, folded, from);
            let is_settled = |start: usize| start + index.longest() + CONTEXT <= folded.len();
            if end == text.len() || found.as_ref().is_some_and(|found| is_settled(found.start)) {
                let found = found?;
                let start = at + folding.unfolded_length(&text[at..end], found.start - from);
                let length = folding.unfolded_length(&text[start..end], found.end - found.start);
                return Some(start..start + length);
            }
            size *= 2;
        }
    }

    /// Folds the text in growing windows of whole lines.
    fn find_folded_line(
        &self,
        (index, folding): (&WordIndex, &Folding),
        text: &[u8],
        folded: &mut Vec<u8>,
    ) -> Option<usize> {
        let (mut start, mut size) = (0, WINDOW);
        loop {
            let line_end = text.get(start + size..).and_then(|rest| memchr(b'\n', rest));
            let end = line_end.map_or(text.len(), |length| start + size + length);
            folded.clear();
            folding.fold_into(&text[start..end], folded);
            if let Some(at) = self.search.any(index, folded, 0) {
                return Some(start + folding.unfolded_length(&text[start..end], at));
            }
            line_end?;
            (start, size) = (end + 1, MAX_WINDOW.min(2 * size));
        }
    }
}

/// The words in the order of their lengths.
fn by_length(words: &[String]) -> impl Iterator<Item = &String> {
    let mut order: Vec<u32> = (0..words.len() as u32).collect();
    order.sort_by_key(|&index| words[index as usize].len());
    order.into_iter().map(|index| &words[index as usize])
}

fn kind(words: &[String], options: Options) -> SearchKind {
    let boundary = Boundary::new(options.unicode);
    match options.place {
        WordPlace::Anywhere if words.iter().any(String::is_empty) => SearchKind::AnywhereOrEmpty,
        WordPlace::Anywhere => SearchKind::Anywhere,
        WordPlace::Lines => SearchKind::Lines,
        WordPlace::Words if words.iter().all(|word| word.chars().all(|char| boundary.is_in_word(char))) => {
            SearchKind::Runs
        }
        WordPlace::Words if words.iter().all(|word| word.starts_with(|char| boundary.is_in_word(char))) => {
            SearchKind::WordsFromRuns
        }
        WordPlace::Words => SearchKind::Words,
    }
}

/// Returns the last place up to `end` where no character is cut.
fn char_end(text: &[u8], end: usize) -> usize {
    let is_cut = |&end: &usize| text.get(end).is_some_and(|&next| next & 0b1100_0000 == 0b1000_0000);
    (end.saturating_sub(3)..=end).rev().find(|end| !is_cut(end)).unwrap_or(end)
}

fn with_scratch<T>(run: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    FOLDED.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => run(&mut scratch),
        Err(_) => run(&mut Vec::new()),
    })
}
