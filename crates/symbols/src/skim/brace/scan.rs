//! The search for definitions in code: what is in brackets can be left out if there are none.

use std::ops::Range;

use super::lexer::{BRACKET, BraceLexer, Holds, STOP, WORD, Word, class};

/// End of a scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Until {
    /// The `}` that closes the `{` here. Other brackets are not looked at.
    Brace,
    /// The bracket that closes the one here.
    Bracket,
    /// A semicolon outside of brackets, which is not skipped.
    Semicolon,
}

/// Parts of the text that can be left out, and the state of the scan that finds them.
#[derive(Debug, Default)]
pub(super) struct Holes {
    pub(super) found: Vec<Range<usize>>,
    /// A comma is outside of brackets.
    pub(super) has_comma: bool,
    open: Vec<Open>,
    /// Offset of the last definition.
    definition: Option<usize>,
    /// Word whose braces are to come.
    word: Option<Word>,
}

/// Bracket that is open.
#[derive(Debug)]
struct Open {
    at: usize,
    close: u8,
    /// Number of holes before it.
    holes: usize,
    holds: Holds,
    /// The word that was under way.
    word: Option<Word>,
}

impl Holes {
    fn clear(&mut self) {
        self.found.clear();
        self.open.clear();
        (self.has_comma, self.definition, self.word) = (false, None, None);
    }

    /// Enters the bracket that `lexer` is at.
    fn enter(&mut self, lexer: &BraceLexer<'_>, bracket: u8) {
        let around = self.open.last().map_or(Holds::Code, |outer| outer.holds);
        let (close, holds) = match bracket {
            b'{' => (b'}', lexer.holds(self.word, around)),
            b'(' => (b')', around),
            _ => (b']', around),
        };
        self.open.push(Open { at: lexer.at, close, holes: self.found.len(), holds, word: self.word });
        if bracket == b'{' {
            if self.word == Some(Word::Creates) && holds == Holds::Members {
                self.definition = Some(lexer.at);
            }
            self.word = None;
        }
    }

    /// Leaves the innermost bracket. Fails if another one closes it.
    fn leave(&mut self, end: usize, bracket: u8) -> Option<()> {
        let Open { at, close, holes, holds, word } = self.open.pop()?;
        if bracket == b'}' {
            if holds == Holds::Code && self.definition.is_none_or(|definition| definition < at) {
                self.found.truncate(holes);
                if at + 1 < end {
                    self.found.push(at + 1..end);
                }
            }
            // Code among the arguments of an object does not end its declaration.
            self.word = word.filter(|&word| word == Word::Creates && holds == Holds::Code);
        }
        (bracket == close).then_some(())
    }
}

impl BraceLexer<'_> {
    /// Skips code. Returns `true` if definitions are in it, fails if brackets do not balance.
    pub(super) fn scan(&mut self, until: Until, holes: &mut Holes) -> Option<bool> {
        holes.clear();
        let stop = if until == Until::Brace { STOP } else { STOP | BRACKET };
        while let Some(byte) = self.byte() {
            let class = class(byte);
            if class & WORD != 0 {
                self.word_in_code(holes);
                continue;
            }
            if class & stop == 0 {
                self.at += 1;
                continue;
            }
            match byte {
                b'{' | b'(' | b'[' => holes.enter(self, byte),
                b'}' | b')' | b']' => {
                    holes.leave(self.at, byte)?;
                    if holes.open.is_empty() && until != Until::Semicolon {
                        self.at += 1;
                        return Some(holes.definition.is_some());
                    }
                }
                b';' if holes.open.is_empty() => {
                    return (until == Until::Semicolon).then_some(holes.definition.is_some());
                }
                b';' => holes.word = None,
                b',' => holes.has_comma |= holes.open.is_empty(),
                b'/' => {
                    let start = self.at;
                    if self.comment()? {
                        holes.found.push(start..self.at);
                        continue;
                    }
                }
                _ => {
                    self.literal()?;
                    continue;
                }
            }
            self.at += 1;
        }
        None
    }

    /// Skips a word, which may begin a definition.
    fn word_in_code(&mut self, holes: &mut Holes) {
        let start = self.at;
        let text = self.word();
        if text.len() < 32 && self.dialect.lengths & 1 << text.len() != 0 {
            let meaning = (self.dialect.word)(self, text);
            if meaning != Word::Plain {
                holes.word = Some(meaning);
            }
            if matches!(meaning, Word::Defines(_)) {
                holes.definition = Some(start);
            }
        }
    }

    /// Meaning of the braces that begin here.
    fn holds(&self, word: Option<Word>, around: Holds) -> Holds {
        let follows_group = || self.before(self.at) == Some(b')');
        match (word, around) {
            (Some(Word::Defines(holds)), _) => holds,
            (Some(Word::Creates), _) if follows_group() => Holds::Members,
            (_, Holds::Members) if follows_group() => Holds::Code,
            (_, Holds::Code) => Holds::Code,
            _ => Holds::Definitions,
        }
    }
}
