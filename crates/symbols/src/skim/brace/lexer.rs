//! Lexing languages with braces: literals, comments and words.

use memchr::{memchr, memchr2, memchr3, memmem};

use super::super::bytes::classes;
pub(super) use super::super::bytes::{SPACE, STOP, WORD};

/// Brackets that are no braces. They mean something in groups only.
pub(super) const BRACKET: u8 = 8;

static CLASSES: [u8; 256] =
    classes(&[(WORD, b"$"), (SPACE, b" \t\n\r\x0c"), (STOP, b"{}\"'`/;"), (BRACKET, b"()[],")]);

pub(super) fn class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

pub(super) fn is(byte: u8, wanted: u8) -> bool {
    class(byte) & wanted != 0
}

/// Meaning of a word in code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Word {
    Plain,
    /// It begins a definition, whose braces hold this.
    Defines(Holds),
    /// It creates an object: braces after its arguments hold members.
    Creates,
}

/// Meaning of the contents of braces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Holds {
    /// Code, in which only words that begin a definition matter.
    Code,
    /// Members of a type; some of them have code in braces.
    Members,
    /// Definitions, in inner braces too.
    Definitions,
}

/// The syntax of a language that the lexer needs to know.
pub(super) struct Dialect {
    /// Comments in comments.
    pub(super) nested_comments: bool,
    /// `'a` without a second quote is a lifetime.
    pub(super) lifetimes: bool,
    /// `r#"…"#`.
    pub(super) raw_strings: bool,
    /// Strings in `"""`.
    pub(super) text_blocks: bool,
    /// Strings in backticks, without escapes.
    pub(super) backticks: bool,
    /// Strings in `"` may continue in the next line.
    pub(super) multiline_strings: bool,
    /// Lengths of the words that mean something in code, as bits.
    pub(super) lengths: u32,
    /// Meaning of a word in code. The lexer stands after the word.
    pub(super) word: fn(&BraceLexer<'_>, &[u8]) -> Word,
}

/// Position in a source text.
#[derive(Clone)]
pub(in super::super) struct BraceLexer<'s> {
    pub(super) source: &'s [u8],
    pub(super) at: usize,
    pub(super) dialect: &'static Dialect,
}

impl<'s> BraceLexer<'s> {
    pub(super) fn byte(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }

    fn rest(&self) -> &'s [u8] {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// Returns `true` if the byte at an offset is code. Offsets must not go back. Fails if a literal or comment before it does not end.
    pub(in super::super) fn is_code(&mut self, offset: usize) -> Option<bool> {
        while self.at <= offset {
            let Some(next) = self.source.get(self.at..=offset)?.iter().position(|&byte| is(byte, STOP))
            else {
                self.at = offset;
                return Some(true);
            };
            self.at += next;
            match self.byte()? {
                b'"' | b'\'' | b'`' => self.literal()?,
                b'/' if self.comment()? => {}
                _ => self.at += 1,
            }
        }
        Some(false)
    }

    /// Skips the literal or the lifetime whose quote is here. Fails if it does not end.
    pub(super) fn literal(&mut self) -> Option<()> {
        match self.byte()? {
            b'`' if !self.dialect.backticks => self.at += 1,
            b'`' => self.at += memchr(b'`', self.rest().get(1..)?)? + 2,
            b'\'' => self.apostrophe()?,
            _ if self.dialect.raw_strings && self.raw_string()? => {}
            _ if self.dialect.text_blocks && self.rest().starts_with(b"\"\"\"") => self.text_block()?,
            _ => self.quoted(self.dialect.multiline_strings)?,
        }
        Some(())
    }

    /// Skips a literal with escapes.
    fn quoted(&mut self, is_multiline: bool) -> Option<()> {
        let quote = self.byte()?;
        self.at += 1;
        loop {
            let rest = self.rest();
            let length = match is_multiline {
                true => memchr2(quote, b'\\', rest)?,
                false => memchr3(quote, b'\\', b'\n', rest)?,
            };
            self.at += length + 1;
            match rest[length] {
                b'\\' => self.at += 1,
                b'\n' => return None,
                _ => return Some(()),
            }
        }
    }

    fn apostrophe(&mut self) -> Option<()> {
        if !self.dialect.lifetimes || self.source.get(self.at + 1) == Some(&b'\\') {
            return self.quoted(false);
        }
        let length = match *self.source.get(self.at + 1)? {
            0..128 => 1,
            128..224 => 2,
            224..240 => 3,
            _ => 4,
        };
        let is_character = self.source.get(self.at + 1 + length) == Some(&b'\'');
        self.at += if is_character { length + 2 } else { 1 };
        Some(())
    }

    /// Skips a raw string whose quote is here. Returns `false` if it is none.
    fn raw_string(&mut self) -> Option<bool> {
        let before = &self.source[..self.at];
        let hashes = before.iter().rev().take_while(|&&byte| byte == b'#').count();
        let Some(prefix) = before[..before.len() - hashes].strip_suffix(b"r") else { return Some(false) };
        let prefix = prefix.strip_suffix(b"b").or_else(|| prefix.strip_suffix(b"c")).unwrap_or(prefix);
        if prefix.last().is_some_and(|&byte| is(byte, WORD)) {
            return Some(false);
        }
        self.at += 1;
        loop {
            self.at += memchr(b'"', self.rest())? + 1;
            let rest = self.rest();
            if rest.len() >= hashes && rest[..hashes].iter().all(|&byte| byte == b'#') {
                self.at += hashes;
                return Some(true);
            }
        }
    }

    fn text_block(&mut self) -> Option<()> {
        self.at += 3;
        loop {
            self.at += memchr2(b'"', b'\\', self.rest())?;
            if self.rest().starts_with(b"\"\"\"") {
                self.at += 3;
                return Some(());
            }
            self.at += if self.byte()? == b'\\' { 2 } else { 1 };
        }
    }

    /// Skips the comment that begins here; a line comment up to its line feed. Returns `false` if none does, fails if it does not end.
    pub(super) fn comment(&mut self) -> Option<bool> {
        match self.source.get(self.at + 1) {
            Some(b'/') => self.line(),
            Some(b'*') if self.dialect.nested_comments => self.nested_comment()?,
            Some(b'*') => self.at += memmem::find(self.rest().get(2..)?, b"*/")? + 4,
            _ => return Some(false),
        }
        Some(true)
    }

    fn nested_comment(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            self.at += memchr2(b'/', b'*', self.rest())?;
            match self.rest() {
                [b'/', b'*', ..] => depth += 1,
                [b'*', b'/', ..] => depth -= 1,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            self.at += 2;
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Skips to the line feed that ends the line.
    pub(super) fn line(&mut self) {
        self.at += memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
    }

    pub(super) fn spaces(&mut self) {
        while self.byte().is_some_and(|byte| is(byte, SPACE)) {
            self.at += 1;
        }
    }

    pub(super) fn word(&mut self) -> &'s [u8] {
        let start = self.at;
        while self.byte().is_some_and(|byte| is(byte, WORD)) {
            self.at += 1;
        }
        &self.source[start..self.at]
    }

    /// The next byte that is no white space, without moving.
    pub(super) fn next(&self) -> Option<u8> {
        self.rest().iter().copied().find(|&byte| !is(byte, SPACE))
    }

    /// The last byte before an offset that is no white space.
    pub(super) fn before(&self, offset: usize) -> Option<u8> {
        self.source[..offset].iter().rev().copied().find(|&byte| !is(byte, SPACE))
    }
}
