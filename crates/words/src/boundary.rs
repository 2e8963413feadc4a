//! Word boundaries, as a regular expression has them in `\b{start-half}` and `\b{end-half}`.

use memchr::memrchr;
use regex_automata::util::look::LookMatcher;
use regex_syntax::is_word_character;

/// Which characters are in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Boundary {
    /// Whether they are Unicode word boundaries, not ASCII ones.
    unicode: bool,
}

impl Boundary {
    pub(crate) fn new(unicode: bool) -> Self {
        Self { unicode }
    }

    /// Returns `true` for a character of a word.
    pub(crate) fn is_in_word(self, char: char) -> bool {
        char.is_ascii() && is_word_byte(char as u8) || self.unicode && is_word_character(char)
    }

    /// Returns `true` for a byte that a character of a word may have.
    #[inline(always)]
    pub(crate) fn may_be_in_word(self, byte: u8) -> bool {
        is_word_byte(byte) || self.unicode && !byte.is_ascii()
    }

    /// Returns `true` if a word may begin at `at`. Next to invalid UTF-8, none does.
    #[inline(always)]
    pub(crate) fn is_start(self, text: &[u8], at: usize) -> bool {
        match at.checked_sub(1).and_then(|before| text.get(before)) {
            None => true,
            Some(&before) if before.is_ascii() => !is_word_byte(before),
            Some(_) => !self.unicode || is_unicode_start(text, at),
        }
    }

    /// Returns `true` if a word may end at `at`.
    #[inline(always)]
    pub(crate) fn is_end(self, text: &[u8], at: usize) -> bool {
        match text.get(at) {
            None => true,
            Some(&after) if after.is_ascii() => !is_word_byte(after),
            Some(_) => !self.unicode || is_unicode_end(text, at),
        }
    }
}

#[inline(always)]
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Looks back no farther than to the start of the line: at a UTF-8 continuation byte, the engine would take the line feed before
/// it for the character there, and a line would match after another one but not by itself.
#[cold]
fn is_unicode_start(text: &[u8], at: usize) -> bool {
    let character = &text[at.saturating_sub(char::MAX_LEN_UTF8)..at];
    let line_start = memrchr(b'\n', character).map_or(0, |feed| feed + 1);
    let from = at - character.len() + line_start;
    LookMatcher::new().is_word_start_half_unicode(&text[from..], at - from).unwrap_or(false)
}

#[cold]
fn is_unicode_end(text: &[u8], at: usize) -> bool {
    LookMatcher::new().is_word_end_half_unicode(text, at).unwrap_or(false)
}
