//! The search for definitions in code: what is in brackets can be left out if there are none.

use std::ops::Range;

use super::lexer::{BRACKET, Holds, Lexer, STOP, WORD, Word, class};

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

/// Parts of the text that can be left out.
#[derive(Debug, Default)]
pub(super) struct Holes {
    pub(super) found: Vec<Range<usize>>,
    /// A comma is outside of brackets.
    pub(super) has_comma: bool,
    open: Vec<Open>,
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
    word: Word,
}

impl Lexer<'_> {
    /// Skips code. Returns `true` if definitions are in it, fails if brackets do not balance.
    pub(super) fn scan(&mut self, until: Until, holes: &mut Holes) -> Option<bool> {
        let Holes { found, open, has_comma } = holes;
        found.clear();
        open.clear();
        *has_comma = false;
        let stop = if until == Until::Brace { STOP } else { STOP | BRACKET };
        // The last definition, and the word whose braces are to come.
        let (mut definition, mut word) = (None, Word::Plain);
        while let Some(byte) = self.byte() {
            let class = class(byte);
            if class & WORD != 0 {
                let start = self.at;
                let text = self.word();
                if text.len() < 32 && self.dialect.lengths & 1 << text.len() != 0 {
                    match (self.dialect.word)(self, text) {
                        Word::Plain => {}
                        meaning => {
                            word = meaning;
                            if meaning != Word::Creates {
                                definition = Some(start);
                            }
                        }
                    }
                }
                continue;
            }
            if class & stop == 0 {
                self.at += 1;
                continue;
            }
            match byte {
                b'{' | b'(' | b'[' => {
                    let around = open.last().map_or(Holds::Code, |outer: &Open| outer.holds);
                    let holds = if byte == b'{' { self.holds(word, around) } else { around };
                    if byte == b'{' && word == Word::Creates && holds == Holds::Members {
                        definition = Some(self.at);
                    }
                    let close = if byte == b'(' { b')' } else { byte + 2 };
                    open.push(Open { at: self.at, close, holes: found.len(), holds, word });
                    if byte == b'{' {
                        word = Word::Plain;
                    }
                    self.at += 1;
                }
                b'}' | b')' | b']' => {
                    let Open { at, close, holes, holds, word: outer } = open.pop()?;
                    if byte != close {
                        return None;
                    }
                    if byte == b'}' {
                        if holds == Holds::Code && definition.is_none_or(|definition| definition < at) {
                            found.truncate(holes);
                            if at + 1 < self.at {
                                found.push(at + 1..self.at);
                            }
                        }
                        // Code among the arguments of an object does not end its declaration.
                        let is_argument = outer == Word::Creates && holds == Holds::Code;
                        word = if is_argument { outer } else { Word::Plain };
                    }
                    self.at += 1;
                    if open.is_empty() && until != Until::Semicolon {
                        return Some(definition.is_some());
                    }
                }
                b';' => {
                    if open.is_empty() {
                        return (until == Until::Semicolon).then_some(definition.is_some());
                    }
                    word = Word::Plain;
                    self.at += 1;
                }
                b',' => {
                    *has_comma |= open.is_empty();
                    self.at += 1;
                }
                b'/' => {
                    let start = self.at;
                    match self.comment()? {
                        true => found.push(start..self.at),
                        false => self.at += 1,
                    }
                }
                _ => self.literal()?,
            }
        }
        None
    }

    /// Meaning of the braces that begin here.
    fn holds(&self, word: Word, around: Holds) -> Holds {
        let follows_group = || self.before(self.at) == Some(b')');
        match (word, around) {
            (Word::Defines(holds), _) => holds,
            (Word::Creates, _) if follows_group() => Holds::Members,
            (_, Holds::Members) if follows_group() => Holds::Code,
            (_, Holds::Code) => Holds::Code,
            _ => Holds::Definitions,
        }
    }
}
