//! Literals and comments of Kotlin.

use memchr::{memchr, memchr3, memmem};

use super::{Bracket, KotlinLexer};

impl KotlinLexer<'_, '_> {
    /// Skips the comment that begins here, with the comments in it.
    pub(super) fn comment(&mut self) {
        let mut depth = 0usize;
        loop {
            depth = match &self.source[self.at..] {
                [b'/', b'*', ..] => depth + 1,
                [b'*', b'/', ..] => depth - 1,
                rest => {
                    let next = memchr3(b'/', b'*', b'\n', &rest[1.min(rest.len())..]);
                    let Some(next) = next else {
                        self.at = self.source.len();
                        return;
                    };
                    self.at += next + 1;
                    if rest[next + 1] == b'\n' {
                        self.line = self.at + 1;
                    }
                    continue;
                }
            };
            self.at += 2;
            if depth == 0 || self.at >= self.source.len() {
                self.at = self.at.min(self.source.len());
                return;
            }
        }
    }

    /// End of the comment that begins at an offset; the offset if none does.
    pub(super) fn comment_end(&self, at: usize) -> usize {
        let rest = &self.source[at..];
        let length = match rest {
            [b'/', b'/', ..] => memchr(b'\n', rest).unwrap_or(rest.len()),
            [b'/', b'*', ..] => memmem::find(rest, b"*/").map_or(rest.len(), |length| length + 2),
            _ => 0,
        };
        at + length
    }

    /// Skips a string, up to its first template.
    pub(super) fn string(&mut self) {
        let is_raw = self.source[self.at..].starts_with(b"\"\"");
        if is_raw {
            self.at += 2;
        }
        self.string_rest(is_raw);
    }

    pub(super) fn string_rest(&mut self, is_raw: bool) {
        while let Some(byte) = self.byte(0) {
            self.at += 1;
            match byte {
                b'\\' if !is_raw => self.at += 1,
                b'\n' if !is_raw => {
                    self.at -= 1;
                    return;
                }
                b'\n' => self.line = self.at,
                b'$' if self.byte(0) == Some(b'{') => {
                    self.at += 1;
                    self.open.push(Bracket::Template { is_raw });
                    return;
                }
                b'"' if !is_raw => return,
                b'"' if self.source[self.at..].starts_with(b"\"\"") => {
                    self.at += 2;
                    while self.byte(0) == Some(b'"') {
                        self.at += 1;
                    }
                    return;
                }
                _ => {}
            }
        }
        self.at = self.source.len();
    }

    /// Skips a character; an apostrophe without a counterpart is alone.
    pub(super) fn character(&mut self) {
        let is_escaped = self.byte(0) == Some(b'\\');
        let start = self.at + usize::from(is_escaped) + 1;
        let rest = self.source.get(start..).unwrap_or_default();
        let length = rest.iter().take(8).position(|&byte| byte == b'\'' || byte == b'\n');
        if let Some(length) = length.filter(|&length| rest[length] == b'\'') {
            self.at = start + length + 1;
        }
    }

    /// Leaves out the contents of a string in which templates begin with several dollars.
    pub(super) fn dollars(&mut self, at: usize) {
        self.at += self.source[self.at..].iter().take_while(|&&byte| byte == b'$').count();
        if self.byte(0) != Some(b'"') {
            return;
        }
        self.out.left_out.push(at..self.at);
        let quote: &[u8] = if self.source[self.at..].starts_with(b"\"\"\"") { b"\"\"\"" } else { b"\"" };
        let start = self.at + quote.len();
        let mut end = match quote.len() {
            1 => self.quoted_end(start),
            _ => {
                memmem::find(&self.source[start..], quote).map_or(self.source.len(), |length| start + length)
            }
        };
        // Quotes at the end belong to the string.
        while self.source[end..].starts_with(quote) && self.source.get(end + quote.len()) == Some(&b'"') {
            end += 1;
        }
        self.out.left_out.push(start..end);
        self.at = (end + quote.len()).min(self.source.len());
    }

    /// Offset of the quote that ends a string on its line, or of the end of the line.
    fn quoted_end(&self, start: usize) -> usize {
        let mut at = start;
        loop {
            match self.source.get(at) {
                None => return self.source.len(),
                Some(b'"' | b'\n') => return at,
                Some(b'\\') => at += 2,
                _ => at += 1,
            }
        }
    }
}
