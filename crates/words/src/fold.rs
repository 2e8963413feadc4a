//! Simple case folding of texts, with the equivalences of regular expressions that ignore case.

use std::iter;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// Number of characters in a page of [`Folding`].
const PAGE: usize = 256;

/// Maps each character to one that stands for all that it equals if case is ignored: a lower-case letter, if it is in ASCII.
#[derive(Clone, Debug)]
pub(crate) struct Folding {
    /// For each page of characters, its number in `pages` plus one, or 0 if all are mapped to themselves. Empty if only ASCII
    /// is folded.
    page_of: Vec<u8>,
    pages: Vec<[char; PAGE]>,
}

impl Folding {
    /// Folds ASCII only, or all of Unicode.
    pub(crate) fn new(unicode: bool) -> Self {
        let mut folding = Self { page_of: Vec::new(), pages: Vec::new() };
        if unicode {
            folding.page_of = vec![0; (char::MAX as usize + 1) / PAGE];
            cased_letters().for_each(|char| folding.add(char, representative(char)));
        }
        folding
    }

    fn add(&mut self, char: char, folded: char) {
        let (page, at) = (char as usize / PAGE, char as usize % PAGE);
        if self.page_of[page] == 0 {
            let first = (page * PAGE) as u32;
            self.pages.push(std::array::from_fn(|at| char::from_u32(first + at as u32).unwrap_or_default()));
            self.page_of[page] = self.pages.len() as u8;
        }
        self.pages[usize::from(self.page_of[page]) - 1][at] = folded;
    }

    /// Folds a character.
    #[inline(always)]
    pub(crate) fn fold(&self, char: char) -> char {
        if char.is_ascii() {
            return char.to_ascii_lowercase();
        }
        let page = self.page_of.get(char as usize / PAGE).copied().unwrap_or_default();
        match usize::from(page).checked_sub(1).and_then(|page| self.pages.get(page)) {
            Some(page) => page[char as usize % PAGE],
            None => char,
        }
    }

    /// Appends a folded text. Bytes that are not valid UTF-8 are unchanged.
    pub(crate) fn fold_into(&self, text: &[u8], out: &mut Vec<u8>) {
        if self.page_of.is_empty() || text.is_ascii() {
            let start = out.len();
            out.extend_from_slice(text);
            out[start..].make_ascii_lowercase();
            return;
        }
        for chunk in text.utf8_chunks() {
            for char in chunk.valid().chars() {
                out.extend_from_slice(self.fold(char).encode_utf8(&mut [0; 4]).as_bytes());
            }
            out.extend_from_slice(chunk.invalid());
        }
    }

    /// Returns the length of the shortest beginning of `text` that has `folded` bytes when it is folded.
    pub(crate) fn unfolded_length(&self, text: &[u8], folded: usize) -> usize {
        if self.page_of.is_empty() || text.get(..folded).is_some_and(<[u8]>::is_ascii) {
            return folded;
        }
        let (mut at, mut rest) = (0, folded);
        for chunk in text.utf8_chunks() {
            for char in chunk.valid().chars() {
                if rest == 0 {
                    return at;
                }
                rest = rest.saturating_sub(self.fold(char).len_utf8());
                at += char.len_utf8();
            }
            let invalid = rest.min(chunk.invalid().len());
            (at, rest) = (at + invalid, rest - invalid);
        }
        at
    }
}

/// The characters that may equal others if case is ignored.
fn cased_letters() -> impl Iterator<Item = char> {
    // All of them change in some case mapping, which a test proves.
    let parsed = regex_syntax::parse(r"\p{Changes_When_Casemapped}").ok();
    let ranges = parsed.map_or_else(Vec::new, |hir| match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => class.ranges().to_vec(),
        _ => Vec::new(),
    });
    ranges.into_iter().flat_map(|range| range.start()..=range.end())
}

fn representative(char: char) -> char {
    let all = equivalents(char);
    let all = || all.iter().flat_map(|range| range.start()..=range.end());
    let letter = all().find(char::is_ascii_lowercase);
    letter.or_else(|| all().min()).unwrap_or(char)
}

/// The characters that equal `char` if case is ignored, itself included.
fn equivalents(char: char) -> ClassUnicodeRanges {
    let mut class = ClassUnicode::new(iter::once(ClassUnicodeRange::new(char, char)));
    // Without data for Unicode, there would be no folding at all.
    let _ = class.try_case_fold_simple();
    class.ranges().to_vec()
}

type ClassUnicodeRanges = Vec<ClassUnicodeRange>;

#[cfg(test)]
mod tests {
    use regex_syntax::is_word_character;

    use super::*;

    #[test]
    fn characters_fold_to_the_same_if_they_are_equal_without_case() {
        let folding = Folding::new(true);
        for char in '\0'..=char::MAX {
            let folded = folding.fold(char);
            for range in equivalents(char) {
                for other in range.start()..=range.end() {
                    assert_eq!(folding.fold(other), folded, "{char:?} {other:?}");
                }
            }
            let is_equivalent = |range: &ClassUnicodeRange| (range.start()..=range.end()).contains(&folded);
            assert!(equivalents(char).iter().any(is_equivalent), "{char:?} {folded:?}");
            // Boundaries of words can be found in the folded text.
            assert_eq!(is_word_character(char), is_word_character(folded), "{char:?} {folded:?}");
            assert!(
                char == folded || is_word_character(char) && folded.len_utf8() <= char.len_utf8(),
                "{char:?}"
            );
        }
    }

    #[test]
    fn lengths_are_those_of_the_text() {
        let folding = Folding::new(true);
        let text = "aK\u{17F}\u{212B}É".as_bytes();
        let text = [text, b"\xFF\xC3", "ſ".as_bytes()].concat();
        let mut folded = Vec::new();
        folding.fold_into(&text, &mut folded);
        assert_eq!(folded, ["aksÅÉ".as_bytes(), b"\xFF\xC3s"].concat());
        let lengths: Vec<usize> =
            [0, 1, 2, 3, 5, 7, 8, 9, 10].map(|length| folding.unfolded_length(&text, length)).into();
        assert_eq!(lengths, [0, 1, 2, 4, 7, 9, 10, 11, 13]);
    }
}
