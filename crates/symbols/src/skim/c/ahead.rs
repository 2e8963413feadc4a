//! Looking ahead in C++: brackets, types and values that are skipped as a whole. Each returns `None` if its end is missing.

use super::lexer::{CLexer, SPACE, WORD, is};

/// The next token.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Next<'s> {
    Word(&'s [u8]),
    Byte(u8),
    /// `::`
    Path,
    /// `[[`
    Attribute,
    End,
}

/// Length of the text that is looked at to find the end of something. It bounds the time for texts in which nothing ends.
const WINDOW: usize = 4096;

impl<'s> CLexer<'s> {
    /// A lexer that looks ahead from an offset.
    pub(super) fn ahead(source: &'s [u8], at: usize) -> Self {
        Self { source: &source[..source.len().min(at.saturating_add(WINDOW))], at }
    }

    /// Skips white space and comments, and the token that follows.
    pub(super) fn next(&mut self) -> Next<'s> {
        self.space();
        let Some(byte) = self.byte() else { return Next::End };
        if is(byte, WORD) {
            return Next::Word(self.word());
        }
        let rest = &self.source[self.at..];
        self.at += 1;
        match rest {
            [b':', b':', ..] => {
                self.at += 1;
                Next::Path
            }
            [b'[', b'[', ..] => {
                self.at += 1;
                Next::Attribute
            }
            _ => Next::Byte(byte),
        }
    }

    /// Skips the symbol after `operator`. Returns `false` if there is none: a conversion has a type.
    pub(super) fn operator(&mut self) -> bool {
        let start = self.at;
        self.blanks();
        let rest = &self.source[self.at..];
        let symbol = |at: usize| !matches!(rest[at..], [b'/', b'/' | b'*', ..]);
        let length = match rest {
            [b'(', b')', ..] | [b'[', b']', ..] => 2,
            _ => {
                let bytes = rest.iter().enumerate();
                bytes.take_while(|&(at, byte)| b"+-*/%^&|~!=<>,".contains(byte) && symbol(at)).count()
            }
        };
        self.at = if length > 0 { self.at + length } else { start };
        length > 0
    }

    /// Skips white space and comments.
    pub(super) fn space(&mut self) {
        while let Some(byte) = self.byte() {
            match byte {
                _ if is(byte, SPACE) => self.at += 1,
                b'/' if self.comment() => {}
                _ => return,
            }
        }
    }

    /// Skips a list in angle brackets, which is here. `None` if it does not end before the declaration does.
    pub(super) fn angles(&mut self) -> Option<()> {
        if matches!(self.source.get(self.at + 1), Some(b'=' | b'<')) {
            return None;
        }
        let mut open = 0usize;
        while let Some(byte) = self.byte() {
            match byte {
                b'<' if matches!(self.source.get(self.at + 1), Some(b'=' | b'<')) => self.at += 1,
                b'<' => open += 1,
                b'>' if self.source[self.at - 1] == b'-' => {}
                b'>' if open == 1 => {
                    self.at += 1;
                    return Some(());
                }
                b'>' => open -= 1,
                b'(' => {
                    self.group()?;
                    continue;
                }
                _ if self.text() => continue,
                b'{' => {
                    self.braces()?;
                    continue;
                }
                b'#' if self.begins_line() => {
                    self.directive_line();
                    continue;
                }
                b';' | b'}' | b')' => return None,
                _ => {}
            }
            self.at += 1;
        }
        None
    }

    /// Skips the constraint after `requires`.
    pub(super) fn constraint(&mut self) -> Option<()> {
        loop {
            self.space();
            match self.byte()? {
                b'(' => self.group()?,
                b'!' => {
                    self.at += 1;
                    continue;
                }
                byte if is(byte, WORD) => {
                    if self.word() == b"requires" {
                        self.space();
                        if self.byte() == Some(b'(') {
                            self.group()?;
                        }
                        self.space();
                        self.braces()?;
                    } else {
                        self.rest_of_name()?;
                        if self.byte() == Some(b'(') {
                            self.group()?;
                        }
                    }
                }
                b':' => self.rest_of_name()?,
                _ => return None,
            }
            let end = self.at;
            self.space();
            match self.source.get(self.at..self.at + 2) {
                Some(b"&&" | b"||") => self.at += 2,
                _ => {
                    self.at = end;
                    return Some(());
                }
            }
        }
    }

    /// Skips the rest of a qualified name with arguments of templates, after its first word.
    fn rest_of_name(&mut self) -> Option<()> {
        loop {
            let end = self.at;
            match self.next() {
                Next::Path => {
                    self.space();
                    self.word();
                }
                Next::Byte(b'<') => {
                    self.at -= 1;
                    self.angles()?;
                }
                _ => {
                    self.at = end;
                    return Some(());
                }
            }
        }
    }

    /// Skips something in braces, which begins here.
    fn braces(&mut self) -> Option<()> {
        self.balanced(b'{', b'}', b"")
    }

    /// Skips a type or a value up to the first of `ends` that is in no bracket.
    pub(super) fn operand(&mut self, ends: &[u8]) -> Option<()> {
        // Brackets are looked for once in each part of the text.
        let (mut is_name, mut failed) = (false, 0);
        while let Some(byte) = self.byte() {
            if ends.contains(&byte) {
                return Some(());
            }
            match byte {
                b'(' => self.group()?,
                b'{' => self.braces()?,
                b'<' if is_name && self.at >= failed => {
                    let start = self.at;
                    if self.angles().is_none() {
                        failed = self.at;
                        self.at = start + 1;
                    }
                }
                _ if self.text() => {}
                b')' | b'}' | b';' | b'#' => return None,
                _ => self.at += 1,
            }
            is_name = is(byte, WORD) || is_name && is(byte, SPACE);
        }
        None
    }

    /// Skips the colon that is here, and the initialisers of a constructor after it, if its body follows.
    pub(super) fn initializers(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.next() {
                Next::Word(_) | Next::Path | Next::Byte(b'.' | b',') => {}
                Next::Byte(b'<') => {
                    self.at -= 1;
                    self.angles()?;
                }
                Next::Byte(b'(') => {
                    self.at -= 1;
                    self.group()?;
                }
                Next::Byte(b'{') => {
                    self.at -= 1;
                    // A brace after a name holds a value, and that after a value is the body.
                    let before = self.source[..self.at].trim_ascii_end();
                    if before.last().is_none_or(|&byte| !is(byte, WORD) && byte != b'>') {
                        return Some(());
                    }
                    self.braces()?;
                }
                _ => return None,
            }
        }
    }

    /// Skips the attribute `[[…]]` that begins here.
    pub(super) fn attribute(&mut self) -> Option<()> {
        self.balanced(b'[', b']', b";{}")
    }

    /// Skips `module;` and `module name;` up to the semicolon, from the end of its first word.
    pub(super) fn module(&mut self) -> Option<()> {
        self.unit(|first| matches!(first, Next::Byte(b';' | b':') | Next::Word(_)))
    }

    /// Skips `import name;` up to the semicolon, from the end of its first word.
    pub(super) fn import(&mut self) -> Option<()> {
        self.unit(|first| matches!(first, Next::Byte(b':' | b'<' | b'"') | Next::Word(_)))
    }

    /// Skips the name of a module or a header up to the semicolon, if it may begin with its first token.
    fn unit(&mut self, may_begin: fn(Next<'s>) -> bool) -> Option<()> {
        let start = self.at;
        if !may_begin(self.next()) {
            return None;
        }
        self.at = start;
        loop {
            match self.next() {
                Next::Word(_) | Next::Byte(b'.' | b':' | b'<' | b'>' | b'/' | b'-') => {}
                Next::Byte(b'"') => {
                    self.at -= 1;
                    self.literal();
                }
                Next::Byte(b';') => return Some(()),
                _ => return None,
            }
        }
    }
}
