//! Lexing Python: strings, comments, groups in brackets, logical lines.

use memchr::{memchr, memchr2};

use super::super::bytes::{STOP, WORD, classes};

/// Stops are bytes that mean something within a line whose tokens do not matter.
static CLASSES: [u8; 256] = classes(&[(STOP, b"()[]{}\"'#\\\n")]);

fn is(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// Deepest nesting of expressions in f-strings. Python allows fewer.
const MAX_NESTING: usize = 200;

/// Kind of a token outside of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// End of the logical line, or a comment.
    End,
    Semicolon,
    Colon,
    /// A plain `=`.
    Assign,
    Lambda,
    /// Anything else, such as a group in brackets.
    Other,
}

/// Position in a source text. Methods return `None` for text that they do not understand.
#[derive(Clone, Copy)]
pub(in super::super) struct PythonLexer<'s> {
    pub(super) source: &'s [u8],
    pub(super) at: usize,
    /// Number of f-strings around this place.
    nesting: usize,
    /// The last string or comment that [`Self::is_code`] skipped has no code.
    is_text: bool,
}

impl<'s> PythonLexer<'s> {
    pub(in super::super) fn new(source: &'s [u8]) -> Self {
        Self { source, at: 0, nesting: 0, is_text: false }
    }

    /// Returns `true` if the byte at an offset is code, or in a string with expressions. Offsets must not go back. Fails if a string before
    /// it does not end.
    pub(in super::super) fn is_code(&mut self, offset: usize) -> Option<bool> {
        while self.at <= offset {
            let Some(next) =
                self.source.get(self.at..=offset)?.iter().position(|byte| b"\"'#".contains(byte))
            else {
                self.at = offset;
                return Some(true);
            };
            self.at += next;
            self.is_text = self.byte()? == b'#' || !self.has_format_prefix();
            if self.byte()? == b'#' { self.comment() } else { self.string()? }
        }
        Some(!self.is_text)
    }

    pub(super) fn byte(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }

    fn starts_with(&self, bytes: &[u8]) -> bool {
        self.source.get(self.at..).is_some_and(|rest| rest.starts_with(bytes))
    }

    pub(super) fn word(&mut self) -> &'s [u8] {
        let start = self.at;
        while self.byte().is_some_and(|byte| is(byte, WORD)) {
            self.at += 1;
        }
        &self.source[start..self.at]
    }

    /// Skips blanks and backslashes at the ends of lines.
    pub(super) fn blanks(&mut self) -> Option<()> {
        loop {
            match self.byte() {
                Some(b' ' | b'\t' | b'\r' | b'\x0c') => self.at += 1,
                Some(b'\\') => self.continuation()?,
                _ => return Some(()),
            }
        }
    }

    /// Skips a backslash and the line ending after it.
    fn continuation(&mut self) -> Option<()> {
        self.at += if self.starts_with(b"\\\r\n") { 3 } else { 2 };
        (self.source.get(self.at - 1) == Some(&b'\n')).then_some(())
    }

    /// Skips the comment that begins here, up to the line feed.
    pub(super) fn comment(&mut self) {
        let rest = &self.source[self.at..];
        self.at += memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// Returns `true` if nothing is between this place and the end of its logical line but a comment.
    pub(super) fn ends_line(&self) -> bool {
        matches!(self.byte(), None | Some(b'\n' | b'#'))
    }

    /// Skips the next token and the blanks before it; the end of a line is not skipped.
    pub(super) fn token(&mut self) -> Option<Token> {
        self.blanks()?;
        let Some(byte) = self.byte().filter(|_| !self.ends_line()) else { return Some(Token::End) };
        let followed_by = |next| self.source.get(self.at + 1) == Some(&next);
        match byte {
            b'"' | b'\'' => self.string()?,
            b'(' | b'[' | b'{' => self.group()?,
            b')' | b']' | b'}' => return None,
            _ if is(byte, WORD) => {
                let is_lambda = self.word() == b"lambda";
                return Some(if is_lambda { Token::Lambda } else { Token::Other });
            }
            b'=' | b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^'
            | b':'
                if followed_by(b'=') =>
            {
                self.at += 2;
            }
            b'=' | b':' | b';' => {
                self.at += 1;
                return Some(match byte {
                    b'=' => Token::Assign,
                    b':' => Token::Colon,
                    _ => Token::Semicolon,
                });
            }
            _ => self.at += 1,
        }
        Some(Token::Other)
    }

    /// Skips past the colon that ends the head of a compound statement.
    pub(super) fn head(&mut self) -> Option<()> {
        let mut lambdas = 0usize;
        loop {
            match self.token()? {
                Token::Lambda => lambdas += 1,
                Token::Colon if lambdas == 0 => return Some(()),
                Token::Colon => lambdas -= 1,
                Token::End | Token::Semicolon => return None,
                Token::Assign | Token::Other => {}
            }
        }
    }

    /// Skips to the end of the logical line, or to the comment there. Returns the end of the last token.
    pub(super) fn line(&mut self) -> Option<usize> {
        while let Some(byte) = self.byte() {
            if !is(byte, STOP) {
                self.at += 1;
                continue;
            }
            match byte {
                b'\n' | b'#' => break,
                b'"' | b'\'' => self.string()?,
                b'(' | b'[' | b'{' => self.group()?,
                b'\\' => self.continuation()?,
                _ => return None,
            }
        }
        Some(self.source[..self.at].trim_ascii_end().len())
    }

    /// Skips a group in brackets.
    pub(super) fn group(&mut self) -> Option<()> {
        let mut open = 0usize;
        loop {
            let byte = self.byte()?;
            if !is(byte, STOP) {
                self.at += 1;
                continue;
            }
            match byte {
                b'"' | b'\'' => {
                    self.string()?;
                    continue;
                }
                b'#' => self.comment(),
                b'(' | b'[' | b'{' => open += 1,
                b')' | b']' | b'}' => {
                    open -= 1;
                    if open == 0 {
                        self.at += 1;
                        return Some(());
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Skips a string whose quote is here.
    fn string(&mut self) -> Option<()> {
        let quote = self.byte()?;
        let is_format = self.has_format_prefix();
        let is_triple = self.starts_with(&[quote; 3]);
        self.at += if is_triple { 3 } else { 1 };
        match (is_format, is_triple) {
            (true, _) => self.format_string(quote, is_triple),
            (false, true) => self.triple_quoted(quote),
            (false, false) => self.single_quoted(quote),
        }
    }

    /// Returns `true` if a prefix such as `f` or `Rt` is before this place: the string may hold expressions.
    fn has_format_prefix(&self) -> bool {
        let is_format = |byte: u8| matches!(byte, b'f' | b'F' | b't' | b'T');
        let is_raw = |byte: u8| matches!(byte, b'r' | b'R');
        let is_word = |byte: &u8| is(*byte, WORD);
        match &self.source[..self.at] {
            [rest @ .., a, b] if is_format(*a) && is_raw(*b) || is_raw(*a) && is_format(*b) => {
                !rest.last().is_some_and(is_word)
            }
            [rest @ .., a] if is_format(*a) => !rest.last().is_some_and(is_word),
            _ => false,
        }
    }

    /// Skips a backslash and what it escapes.
    fn escape(&mut self) {
        self.at += if self.starts_with(b"\\\r\n") { 3 } else { 2 };
    }

    fn single_quoted(&mut self, quote: u8) -> Option<()> {
        loop {
            match self.byte()? {
                b'\\' => self.escape(),
                b'\n' => return None,
                byte => {
                    self.at += 1;
                    if byte == quote {
                        return Some(());
                    }
                }
            }
        }
    }

    fn triple_quoted(&mut self, quote: u8) -> Option<()> {
        loop {
            self.at += memchr2(quote, b'\\', self.source.get(self.at..)?)?;
            if self.byte() == Some(b'\\') {
                self.escape();
            } else if self.ends_string(quote, true) {
                return Some(());
            }
        }
    }

    /// Skips the quote that is here. Returns `true` if it ends the string.
    fn ends_string(&mut self, quote: u8, is_triple: bool) -> bool {
        let ends = !is_triple || self.starts_with(&[quote; 3]);
        self.at += if is_triple && ends { 3 } else { 1 };
        ends
    }

    /// Skips a string with expressions in braces.
    fn format_string(&mut self, quote: u8, is_triple: bool) -> Option<()> {
        loop {
            match self.byte()? {
                // A backslash does not escape a brace.
                b'\\' if self.starts_with(b"\\{") || self.starts_with(b"\\}") => self.at += 1,
                b'\\' => self.escape(),
                b'{' if self.starts_with(b"{{") => self.at += 2,
                b'{' => self.interpolation(quote, is_triple)?,
                b'\n' if !is_triple => return None,
                byte if byte == quote => {
                    if self.ends_string(quote, is_triple) {
                        return Some(());
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    /// Skips an expression in braces in a string, and its format.
    fn interpolation(&mut self, quote: u8, is_triple: bool) -> Option<()> {
        if self.nesting == MAX_NESTING {
            return None;
        }
        self.nesting += 1;
        self.at += 1;
        let mut is_format = false;
        loop {
            match self.byte()? {
                b'}' => break,
                b'{' if is_format => {
                    self.interpolation(quote, is_triple)?;
                    continue;
                }
                b'\\' if is_format => self.at += 1,
                b'\n' if is_format && !is_triple => return None,
                byte if is_format && byte == quote && !is_triple => return None,
                _ if is_format => {}
                b'"' | b'\'' => {
                    self.string()?;
                    continue;
                }
                b'(' | b'[' | b'{' => {
                    self.group()?;
                    continue;
                }
                b')' | b']' | b'#' => return None,
                b':' => is_format = true,
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
        self.nesting -= 1;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rest of a text after its first logical line.
    fn behind_line(source: &str) -> Option<&str> {
        let mut lexer = PythonLexer::new(source.as_bytes());
        lexer.line()?;
        source.get(lexer.at..)
    }

    #[test]
    fn strings_end_at_their_quotes() {
        for line in [
            r#"'a"b' "c'd""#,
            r"'\'' r'\'' b'\\'",
            "'a\\\nb'",
            "'''a\n'b'\\''' \n''' \"\"\"\n\"\" \"\"\"",
            "'' \"\" ''''''",
            r#"f'{a["b"]}' f"{a["b"]}" rf'{{' Rb'{' fr"\{x}" f'\N{DASH}'"#,
            "f'{x!r:>{width}}' f'{a:%H\"%M}' f'''{\n'}'\n}'''",
            "f\"{f'{f\"{1}\"}'}\" f'{ {1: 2}[1] }'",
            "if'{'",
            "(a, # )\n b)",
            "a \\\n b",
            "a \\\r\n b",
        ] {
            assert_eq!(behind_line(&format!("{line}\nrest")), Some("\nrest"), "{line}");
        }
    }

    #[test]
    fn what_does_not_end_or_begin_is_not_understood() {
        for line in ["'a", "'''a'", "(a", "a)", "f'{a'", "f'{a", "a \\ b", "{'a': (1}"] {
            assert_eq!(behind_line(&format!("{line}\n")), None, "{line}");
        }
        let nested = "f'{".repeat(1_000_000);
        assert_eq!(behind_line(&nested), None);
    }

    #[test]
    fn only_a_plain_sign_assigns() {
        let mut lexer = PythonLexer::new(b"a == b <= c += d := e = f: lambda ** g;");
        let tokens: Vec<Token> =
            std::iter::from_fn(|| lexer.token().filter(|&token| token != Token::End)).collect();
        assert_eq!(
            tokens.into_iter().filter(|&token| token != Token::Other).collect::<Vec<_>>(),
            [Token::Assign, Token::Colon, Token::Lambda, Token::Semicolon]
        );
    }
}
