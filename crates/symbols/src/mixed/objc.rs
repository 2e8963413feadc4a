//! Objective-C: classes, categories and protocols with their methods, properties and variables. The rest is C or C++.

use std::ops::Range;

use memchr::memchr;
use memchr::memmem::find;

use super::Split;
use crate::kind::Kind;

/// Returns `true` for a header with a class or a protocol.
pub(crate) fn is_header(text: &[u8]) -> bool {
    find(text, b"\n@end").is_some()
}

/// Returns `true` for a text in MATLAB, whose files have the same extension.
pub(crate) fn is_matlab(text: &[u8]) -> bool {
    let first = text.trim_ascii_start();
    [&b"%"[..], b"function ", b"classdef "].iter().any(|begin| first.starts_with(begin))
}

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    split: Split,
    /// The class, category or protocol up to `@end`.
    class: Option<usize>,
}

pub(crate) fn split(source: &[u8]) -> Split {
    let mut scanner = Scanner { text: source, at: 0, split: Split::new(source), class: None };
    while let Some(&byte) = source.get(scanner.at) {
        match byte {
            b'@' => scanner.directive(),
            b'-' | b'+' if scanner.class.is_some() && scanner.begins_line() => scanner.method(),
            b'{' => scanner.skip_braces(),
            b'A'..=b'Z' => scanner.capitals(),
            b'^' if scanner.text[..scanner.at].ends_with(b"(") => {
                // A block is a pointer to a function.
                scanner.split.text[scanner.at] = b'*';
                scanner.at += 1;
            }
            _ => scanner.skip_token(),
        }
    }
    scanner.end_class(source.trim_ascii_end().len());
    scanner.split
}

impl<'t> Scanner<'t> {
    /// Returns `true` if only blanks stand before the place in its line.
    fn begins_line(&self) -> bool {
        let before = self.text[..self.at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
        before.is_none_or(|&byte| byte == b'\n')
    }

    fn word(&self, start: usize) -> Range<usize> {
        start..start + self.text[start..].iter().take_while(|&&byte| is_word(byte)).count()
    }

    fn skip_blanks(&mut self) {
        self.at += self.text[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }

    /// Leaves out a macro alone in its line, such as `NS_ASSUME_NONNULL_BEGIN`. Makes an enumeration of `typedef NS_ENUM(type, name) {`.
    fn capitals(&mut self) {
        let word = self.word(self.at);
        let name = &self.text[word.clone()];
        if self.text[word.end..].starts_with(b"(")
            && (name.ends_with(b"_ENUM") || name.ends_with(b"_OPTIONS"))
        {
            self.at = word.end;
            return self.enumeration(word);
        }
        let is_macro = self.text[word.clone()].contains(&b'_')
            && !self.text[word.clone()].iter().any(u8::is_ascii_lowercase);
        if is_macro && self.begins_line() && matches!(self.text.get(word.end), None | Some(b'\n' | b'\r')) {
            self.split.leave_out(word.clone());
        }
        self.at = word.end;
    }

    fn enumeration(&mut self, word: Range<usize>) {
        const KEYWORD: &[u8] = b"enum";
        let rest = &self.text[word.end..];
        let end = rest.iter().position(|byte| matches!(byte, b')' | b';' | b'{')).unwrap_or(rest.len());
        let is_body =
            rest[end..].strip_prefix(b")").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"{"));
        if !is_body {
            return;
        }
        self.at = word.end + end + 1;
        let before = self.text[..word.start].trim_ascii_end();
        let start = before.strip_suffix(b"typedef").map_or(word.start, <[u8]>::len);
        let comma = rest[..end].iter().rposition(|&byte| byte == b',').unwrap_or(end);
        self.split.leave_out(start..(word.end + comma + 1).min(self.at));
        self.split.leave_out(self.at - 1..self.at);
        self.split.text[start..start + KEYWORD.len()].copy_from_slice(KEYWORD);
    }

    /// Skips a comment, a literal, a line of the preprocessor, a word or a byte.
    fn skip_token(&mut self) {
        let rest = &self.text[self.at..];
        let length = match rest[0] {
            b'/' if rest.starts_with(b"//") => memchr(b'\n', rest),
            b'/' if rest.starts_with(b"/*") => find(&rest[2..], b"*/").map(|end| end + 4),
            quote @ (b'"' | b'\'') => Some(literal_length(rest, quote)),
            b'#' if self.begins_line() => Some(directive_length(rest)),
            byte if is_word(byte) => Some(self.word(self.at).len()),
            _ => Some(1),
        };
        if length.is_none() && rest.starts_with(b"/*") {
            self.split.lexed.fail(self.at);
        }
        self.at += length.unwrap_or(rest.len());
    }

    /// Skips what braces enclose, up to the next class or method if they do not end.
    fn skip_braces(&mut self) {
        let mut depth = 0_usize;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b'@' | b'-' | b'+' if self.ends_bodies() => {
                    self.split.lexed.fail(self.at);
                    return;
                }
                _ => {
                    self.skip_token();
                    continue;
                }
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Returns `true` for a word or sign at the beginning of a line that no body has.
    fn ends_bodies(&self) -> bool {
        let begins_line = self.at.checked_sub(1).is_none_or(|before| self.text[before] == b'\n');
        let words: [&[u8]; 8] =
            [b"@end", b"@implementation", b"@interface", b"@protocol ", b"- (", b"-(", b"+ (", b"+("];
        begins_line && words.iter().any(|word| self.text[self.at..].starts_with(word))
    }

    /// The offset of the first byte of some after the place, or the end of the text. Comments, literals and parentheses are skipped.
    fn skip_to(&mut self, ends: &[u8]) {
        let mut depth = 0_usize;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'@' if self.ends_bodies() => return,
                byte if depth == 0 && ends.contains(&byte) => return,
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                _ => {
                    self.skip_token();
                    continue;
                }
            }
            self.at += 1;
        }
    }

    /// A word after `@`, with what belongs to it.
    fn directive(&mut self) {
        let start = self.at;
        let word = self.word(start + 1);
        self.at = word.end;
        match &self.text[word] {
            b"interface" | b"implementation" => self.class(start, Kind::Class),
            b"protocol" => self.class(start, Kind::Interface),
            b"property" => self.property(start),
            b"end" => self.end_class(self.at),
            b"class" | b"import" | b"synthesize" | b"dynamic" | b"compatibility_alias" => self.skip_to(b";"),
            _ => (),
        }
        let is_terminated = self.at > start && self.text.get(self.at) == Some(&b';');
        self.at += usize::from(is_terminated);
        self.split.leave_out(start..self.at);
    }

    fn end_class(&mut self, end: usize) {
        self.split.lexed.end(self.class.take(), end);
    }

    /// `Name : Super <Protocols>`, `Name (Category)` or a declaration such as `Name, Other;`.
    fn class(&mut self, start: usize, kind: Kind) {
        self.skip_blanks();
        let name = self.word(self.at);
        self.at = name.end;
        self.skip_blanks();
        if kind == Kind::Interface && matches!(self.text.get(self.at), Some(b';' | b',')) {
            return self.skip_to(b";");
        }
        self.end_class(self.text[..start].trim_ascii_end().len());
        self.skip_angles();
        let mut category = None;
        if self.text.get(self.at) == Some(&b'(') {
            let begin = self.at;
            self.at = memchr(b')', &self.text[begin..]).map_or(self.text.len(), |end| begin + end + 1);
            category = Some(begin..self.at);
        }
        let mut head = self.at;
        self.skip_blanks();
        if self.text.get(self.at) == Some(&b':') {
            self.at += 1;
            self.skip_blanks();
            self.at = self.word(self.at).end;
            head = self.at;
            self.skip_blanks();
        }
        let before = self.at;
        self.skip_angles();
        if self.at > before {
            head = self.text[..self.at].trim_ascii_end().len();
        }
        self.class = self.split.lexed.add(self.text, (kind, name), start..head, None);
        if let Some(index) = self.class {
            self.split.lexed.definitions[index].parameters = category;
        }
        match self.text.get(self.at) {
            Some(b'{') => self.variables(),
            _ => self.at = head,
        }
    }

    /// Skips `<A, B<C>>` and the blanks after it.
    fn skip_angles(&mut self) {
        let mut depth = 0_usize;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'<' => depth += 1,
                b'>' => depth = depth.saturating_sub(1),
                _ if depth == 0 => break,
                b';' | b'{' | b'}' | b'@' | b'#' => break,
                _ => (),
            }
            self.at += 1;
        }
        self.skip_blanks();
    }

    /// Variables of a class, in braces.
    fn variables(&mut self) {
        self.at += 1;
        loop {
            self.skip_blanks();
            let start = self.at;
            match self.text.get(start) {
                Some(b'}') => self.at += 1,
                Some(b'@') if !self.ends_bodies() => {
                    self.at = self.word(start + 1).end;
                    continue;
                }
                Some(b'#' | b'/') => {
                    self.skip_token();
                    continue;
                }
                Some(byte) if *byte != b'@' => {
                    self.skip_to(b";}");
                    self.names(start..self.at, Kind::Field);
                    self.at += usize::from(self.text.get(self.at) == Some(&b';'));
                    continue;
                }
                _ => (),
            }
            return;
        }
    }

    fn property(&mut self, start: usize) {
        self.skip_blanks();
        if self.text.get(self.at) == Some(&b'(') {
            self.at += 1;
            self.skip_to(b")");
            self.at = (self.at + 1).min(self.text.len());
        }
        let declaration = self.at;
        self.skip_to(b";");
        let end = self.at;
        if self.names(declaration..end, Kind::Property) {
            let last = self.split.lexed.definitions.len() - 1;
            let definition = &mut self.split.lexed.definitions[last];
            definition.head.start = start;
            definition.extent.start = start;
        }
    }

    /// Adds the names that a declaration of variables ends with. Returns `true` if it has one.
    fn names(&mut self, declaration: Range<usize>, kind: Kind) -> bool {
        let trimmed =
            declaration.start..declaration.start + self.text[declaration.clone()].trim_ascii_end().len();
        let (mut depth, mut at, mut name) = (0_usize, trimmed.start, None);
        let before = self.split.lexed.definitions.len();
        let mut is_first = true;
        while at < trimmed.end {
            let word = self.word(at);
            let is_block = self.text[..at].ends_with(b"(^");
            match self.text[at] {
                b'(' | b'<' | b'[' => depth += 1,
                b')' | b'>' | b']' => depth = depth.saturating_sub(1),
                b':' if depth == 0 => break,
                b',' if depth == 0 => {
                    let name = name.take().unwrap_or(at..at);
                    // Only the first one has the type in its head, so that many take no more time than on lines of their own.
                    let head = if is_first { trimmed.start..name.end } else { name.clone() };
                    is_first = false;
                    self.split.lexed.add(self.text, (kind, name), head, self.class);
                }
                byte if is_word(byte) => {
                    let is_macro = self.text[word.clone()].contains(&b'_')
                        && !self.text[word.clone()].iter().any(u8::is_ascii_lowercase);
                    let is_called = self.text[word.end..].first() == Some(&b'(');
                    if is_block || depth == 0 && name.as_ref().is_none_or(|_| !is_macro) && !is_called {
                        name = Some(word.clone());
                    }
                    if is_block {
                        break;
                    }
                    at = word.end - 1;
                }
                _ => (),
            }
            at += 1;
        }
        if let Some(name) = name {
            let head = if is_first { trimmed } else { name.clone() };
            self.split.lexed.add(self.text, (kind, name), head, self.class);
        }
        self.split.lexed.definitions.len() > before
    }

    /// `- (type)name`, `+ (type)name:(type)a other:(type)b`, declared or with a body.
    fn method(&mut self) {
        let start = self.at;
        self.at += 1;
        self.skip_blanks();
        if self.text.get(self.at) == Some(&b'(') {
            self.at += 1;
            self.skip_to(b");{");
            if self.text.get(self.at) != Some(&b')') {
                return;
            }
            self.at += 1;
            self.skip_blanks();
        }
        let name = self.word(self.at);
        if name.is_empty() {
            return;
        }
        self.at = name.end;
        self.skip_to(b";{");
        let head = start..self.text[..self.at].trim_ascii_end().len();
        let parameters = name.end..head.end;
        let added = self.split.lexed.add(self.text, (Kind::Method, name), head, self.class);
        if let Some(index) = added {
            let is_keyword = self.text[parameters.clone()].starts_with(b":");
            self.split.lexed.definitions[index].parameters = Some(parameters).filter(|_| is_keyword);
        }
        match self.text.get(self.at) {
            Some(b'{') => self.skip_braces(),
            Some(b';') => self.at += 1,
            _ => (),
        }
        self.split.lexed.end(added, self.at);
        self.split.leave_out(start..self.at);
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 128..)
}

/// Length of a literal, which ends in its line.
fn literal_length(text: &[u8], quote: u8) -> usize {
    let mut is_escaped = true;
    let end = text.iter().position(|&byte| {
        let ends = (byte == b'\n' || byte == quote) && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + usize::from(text[end] == quote))
}

/// Length of a line of the preprocessor, with those that continue it.
fn directive_length(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(end) = memchr(b'\n', &text[at..]) {
        at += end;
        let line = &text[..at];
        if !line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\") {
            return at;
        }
        at += 1;
    }
    text.len()
}
