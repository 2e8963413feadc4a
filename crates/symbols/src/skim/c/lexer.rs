//! Lexing C and C++: literals, comments, words, and lines of the preprocessor.

use memchr::{memchr, memchr3, memmem};

use super::super::bytes::classes;
pub(super) use super::super::bytes::{SPACE, STOP, WORD};

static CLASSES: [u8; 256] = classes(&[(WORD, b"$"), (SPACE, b" \t\n\r\x0b\x0c"), (STOP, b"{}\"'/#")]);

pub(super) fn is(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// Separates code from literals, comments and the names of headers, for offsets that do not go back.
pub(crate) struct Code<'s> {
    lexer: CLexer<'s>,
    /// The next byte that may begin a literal or a comment, and the next one that may begin a directive. They are searched for once they
    /// are before the lexer, so that all of the code between them costs a search only.
    text: usize,
    directive: usize,
    /// A literal or comment so far does not end.
    is_broken: bool,
}

impl<'s> Code<'s> {
    pub(crate) fn new(source: &'s [u8]) -> Self {
        let mut code = Self { lexer: CLexer { source, at: 0 }, text: 0, directive: 0, is_broken: false };
        code.search();
        code
    }

    /// Returns `true` if the byte at an offset is code, or may be for a parser, since a literal or comment before it does not end.
    pub(crate) fn may_contain(&mut self, offset: usize) -> bool {
        self.contains(offset) || self.is_broken
    }

    /// Returns `true` if the byte at an offset is code.
    pub(crate) fn contains(&mut self, offset: usize) -> bool {
        while self.lexer.at <= offset && offset < self.lexer.source.len() {
            let next = self.text.min(self.directive);
            if next > offset {
                return true;
            }
            self.lexer.at = next;
            self.skip();
            self.search();
        }
        false
    }

    /// Skips the literal, comment or directive that begins here, or a byte.
    fn skip(&mut self) {
        let lexer = &mut self.lexer;
        let byte = lexer.source[lexer.at];
        match byte {
            b'"' | b'\'' | b'/' => {
                let start = lexer.at;
                if lexer.text() {
                    self.is_broken |= !lexer.has_ended(start);
                } else {
                    lexer.at += 1;
                }
            }
            b'#' if lexer.begins_line() => {
                lexer.at += 1;
                lexer.blanks();
                if matches!(lexer.word(), b"include" | b"include_next" | b"import" | b"error" | b"warning") {
                    lexer.directive_line();
                }
            }
            _ => lexer.at += 1,
        }
    }

    fn search(&mut self) {
        let CLexer { source, at } = self.lexer;
        let rest = source.get(at..).unwrap_or_default();
        let from_here = |found: Option<usize>| found.map_or(source.len(), |next| at + next);
        if self.text <= at {
            self.text = from_here(memchr3(b'"', b'\'', b'/', rest));
        }
        if self.directive <= at {
            self.directive = from_here(memchr(b'#', rest));
        }
    }
}

/// Position in a source text.
pub(super) struct CLexer<'s> {
    pub(super) source: &'s [u8],
    pub(super) at: usize,
}

impl<'s> CLexer<'s> {
    pub(super) fn byte(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }

    /// Skips a string or character literal, at most to the end of its line.
    pub(super) fn literal(&mut self) {
        let quote = self.source[self.at];
        if quote == b'"' && self.at > 0 && self.source[self.at - 1] == b'R' && self.raw_string() {
            return;
        }
        self.at += 1;
        while let Some(byte) = self.byte() {
            match byte {
                b'\\' => self.at += 2,
                b'\n' => return,
                _ => self.at += 1,
            }
            if byte == quote {
                return;
            }
        }
        self.at = self.source.len();
    }

    /// Skips a raw string of C++ whose quote is here. Returns `false` if it is none.
    fn raw_string(&mut self) -> bool {
        let rest = &self.source[self.at + 1..];
        let Some(open) = rest.iter().take(17).position(|&b| b == b'(') else { return false };
        let mut close = vec![b')'];
        close.extend_from_slice(&rest[..open]);
        close.push(b'"');
        self.at = match memmem::find(&rest[open..], &close) {
            Some(end) => self.at + 1 + open + end + close.len(),
            None => self.source.len(),
        };
        true
    }

    /// Skips a `'` that separates digits, or a character literal.
    pub(super) fn apostrophe(&mut self) {
        let hexadecimal = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
        let before = self.at.checked_sub(1).and_then(|at| self.source.get(at));
        if hexadecimal(before) && hexadecimal(self.source.get(self.at + 1)) {
            self.at += 1;
        } else {
            self.literal();
        }
    }

    /// Skips the comment that begins here. Returns `false` if none does.
    pub(super) fn comment(&mut self) -> bool {
        match self.source.get(self.at + 1) {
            Some(b'*') => {
                let end = memmem::find(&self.source[self.at + 2..], b"*/");
                self.at = end.map_or(self.source.len(), |end| self.at + 2 + end + 2);
                true
            }
            Some(b'/') => {
                self.line();
                true
            }
            _ => false,
        }
    }

    /// Skips the literal or comment that begins here. Returns `false` if none does.
    pub(super) fn text(&mut self) -> bool {
        match self.byte() {
            Some(b'"') => self.literal(),
            Some(b'\'') => self.apostrophe(),
            Some(b'/') => return self.comment(),
            _ => return false,
        }
        true
    }

    /// Returns `false` if the literal or comment that begins at an offset and ends here lacks its end.
    fn has_ended(&self, start: usize) -> bool {
        let skipped = &self.source[start..self.at.min(self.source.len())];
        match skipped {
            [b'/', b'*', ..] => skipped.len() >= 4 && skipped.ends_with(b"*/"),
            [quote @ (b'"' | b'\''), ..] => skipped.ends_with(&[*quote]),
            _ => true,
        }
    }

    /// Skips to the line feed that ends the logical line. A line that ends with a backslash continues in the next one.
    pub(super) fn line(&mut self) {
        while let Some(end) = self.source.get(self.at..).and_then(|rest| memchr(b'\n', rest)) {
            self.at += end;
            if !self.is_continued() {
                return;
            }
            self.at += 1;
        }
        self.at = self.source.len();
    }

    /// Skips to the line feed that ends a preprocessor line. A comment in it may span further lines.
    pub(super) fn directive_line(&mut self) {
        while let Some(next) = self.source.get(self.at..).and_then(|rest| memchr3(b'\n', b'"', b'/', rest)) {
            self.at += next;
            match self.source[self.at] {
                b'\n' if !self.is_continued() => return,
                b'"' => self.literal(),
                b'/' => {
                    if !self.comment() {
                        self.at += 1;
                    }
                }
                _ => self.at += 1,
            }
        }
        self.at = self.source.len();
    }

    /// Returns `true` if a backslash is before the line feed here.
    fn is_continued(&self) -> bool {
        let before = &self.source[..self.at];
        before.strip_suffix(b"\r").unwrap_or(before).ends_with(b"\\")
    }

    pub(super) fn blanks(&mut self) {
        while self.byte().is_some_and(|byte| byte == b' ' || byte == b'\t') {
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

    /// Skips a group in parentheses.
    pub(super) fn group(&mut self) -> Option<()> {
        self.balanced(b'(', b')', b"")
    }

    /// Skips something in brackets, which begins here. `None` if it does not end, or has one of `stops` in it.
    pub(super) fn balanced(&mut self, open: u8, close: u8, stops: &[u8]) -> Option<()> {
        let mut depth = 0usize;
        while let Some(byte) = self.byte() {
            match byte {
                _ if byte == open => depth += 1,
                _ if byte == close => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        self.at += 1;
                        return Some(());
                    }
                }
                _ if self.text() => continue,
                _ if depth == 0 || stops.contains(&byte) => return None,
                _ => {}
            }
            self.at += 1;
        }
        None
    }

    /// Returns `true` if only blanks are before this place in its line.
    pub(super) fn begins_line(&self) -> bool {
        let before = self.source[..self.at].iter().rev().find(|&&byte| byte != b' ' && byte != b'\t');
        before.is_none_or(|&byte| byte == b'\n')
    }

    /// Returns `true` if only blanks follow in this line.
    pub(super) fn ends_line(&self) -> bool {
        let rest = self.source.get(self.at..).unwrap_or_default();
        let next = rest.iter().find(|&&byte| !matches!(byte, b' ' | b'\t' | b'\r'));
        next.is_none_or(|&byte| byte == b'\n')
    }

    /// Returns the next byte that is no white space, without moving.
    pub(super) fn next_significant(&self) -> Option<u8> {
        self.source[self.at.min(self.source.len())..].iter().copied().find(|&byte| !is(byte, SPACE))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The reference implementation: a byte at a time.
    fn is_code(source: &[u8]) -> Vec<bool> {
        let mut lexer = CLexer { source, at: 0 };
        let mut code = vec![false; source.len()];
        while lexer.at < source.len() {
            let at = lexer.at;
            let byte = source[at];
            match byte {
                b'"' => lexer.literal(),
                b'\'' => lexer.apostrophe(),
                b'/' if lexer.comment() => {}
                b'#' if lexer.begins_line() => {
                    lexer.at += 1;
                    lexer.blanks();
                    if matches!(
                        lexer.word(),
                        b"include" | b"include_next" | b"import" | b"error" | b"warning"
                    ) {
                        lexer.directive_line();
                    }
                }
                _ => {
                    code[at] = !matches!(byte, b'/' | b'#');
                    lexer.at += 1;
                }
            }
        }
        code
    }

    proptest! {
        #[test]
        fn code_is_that_of_the_reference(
            parts in prop::collection::vec(prop::sample::select(vec![
                "a", "1", " ", "\n", "\\\n", "\\", "\"", "'", "R\"(", ")\"", "/", "//", "/*", "*/", "#", "#include <b>", "# error c",
                "#define d ", "{", "}",
            ]), 0..40),
            step in 1..4_usize,
        ) {
            let source = parts.concat().into_bytes();
            let expected = is_code(&source);
            let mut code = Code::new(&source);
            let is_word = |&at: &usize| source[at].is_ascii_alphanumeric();
            for at in (0..source.len()).step_by(step).filter(is_word) {
                prop_assert_eq!(code.contains(at), expected[at], "{} in {:?}", at, String::from_utf8_lossy(&source));
            }
            prop_assert!(!code.contains(source.len()));
        }
    }
}
