//! Perl: packages, subroutines, constants and package variables, by the words that begin a line.
//!
//! No grammar of Perl is complete, since a text can change what follows it. Bodies end where perltidy puts their brace: at the
//! indentation of the line that they begin in.

use std::ops::Range;

use memchr::memmem::find;

use super::{Lexed, line, trimmed};
use crate::kind::Kind;

/// Documents that do not end, at most: what looks like one may be a shift.
const MAX_OPEN: usize = 64;

/// Longest list of parameters and attributes, in bytes.
const MAX_SIGNATURE: usize = 4096;

struct Perl<'t> {
    text: &'t [u8],
    lexed: Lexed,
    package: Option<usize>,
    /// Definitions whose body ends at their indentation, the innermost one last.
    bodies: Vec<(usize, usize)>,
    /// Number of documents that do not end.
    open_documents: usize,
}

pub(crate) fn lex(text: &[u8]) -> Lexed {
    let mut perl =
        Perl { text, lexed: Lexed::default(), package: None, bodies: Vec::new(), open_documents: 0 };
    let mut at = 0;
    while at < text.len() {
        let (range, next) = line(text, at);
        at = match &text[range.clone()] {
            [b'=', letter, ..] if letter.is_ascii_alphabetic() => perl.pod(range.start),
            b"__END__" | b"__DATA__" => {
                perl.lexed.no_code.push(range.end..text.len());
                text.len()
            }
            _ => perl.code(range, next),
        };
    }
    let end = text.trim_ascii_end().len();
    perl.close(0, end);
    perl.end_package(end);
    perl.lexed
}

impl Perl<'_> {
    /// The offset after a documentation.
    fn pod(&mut self, start: usize) -> usize {
        let rest = &self.text[start..];
        let end = if rest.starts_with(b"=cut") { Some(0) } else { find(rest, b"\n=cut").map(|at| at + 1) };
        let end = end.map_or(self.text.len(), |end| line(self.text, start + end).1);
        self.lexed.no_code.push(start..end);
        end
    }

    /// A line of code. Returns the offset of the next one.
    fn code(&mut self, range: Range<usize>, next: usize) -> usize {
        let content = trimmed(self.text, range.clone());
        let indentation = content.start - range.start;
        if self.text[content.clone()].starts_with(b"}") {
            self.close(indentation, content.start + 1);
        }
        let word = self.word(content.start, content.end);
        let after = self.skip_blanks(word.end, content.end);
        let next = match &self.text[word] {
            b"sub" => self.routine(Kind::Function, indentation, content.start, after).unwrap_or(next),
            b"method" => self.routine(Kind::Method, indentation, content.start, after).unwrap_or(next),
            b"package" => self.package_from(Kind::Module, indentation, &content, after).unwrap_or(next),
            b"class" => self.package_from(Kind::Class, indentation, &content, after).unwrap_or(next),
            b"use" => self.constants(&content, after, next),
            b"our" if self.bodies.iter().all(|&(index, _)| !self.is_routine(index)) => {
                self.variables(&content, after);
                next
            }
            _ => next,
        };
        // The head of a subroutine may have taken several lines.
        let end = if next > 0 && self.text[next - 1] == b'\n' { next - 1 } else { next };
        self.literals(range.start..end, next)
    }

    fn is_routine(&self, index: usize) -> bool {
        matches!(self.lexed.definitions[index].kind, Kind::Function | Kind::Method)
    }

    /// A word, of letters, digits and `_`.
    fn word(&self, start: usize, end: usize) -> Range<usize> {
        start..start + self.text[start..end].iter().take_while(|&&byte| is_word(byte)).count()
    }

    /// A name with the packages before it, and the name alone.
    fn name(&self, start: usize, end: usize) -> (Range<usize>, Range<usize>) {
        let mut name = self.word(start, end);
        while self.text[name.end..end].starts_with(b"::") {
            name = self.word(name.end + 2, end);
        }
        (start..name.end, name)
    }

    fn skip_blanks(&self, start: usize, end: usize) -> usize {
        start + self.text[start..end].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
    }

    /// Ends the bodies that are indented as a line or more.
    fn close(&mut self, indentation: usize, end: usize) {
        while let Some((index, indented)) = self.bodies.pop_if(|&mut (_, indented)| indented >= indentation) {
            // A deeper one has no end of its own.
            let end =
                if indented == indentation { end } else { self.lexed.definitions[index].extent.end.max(end) };
            self.lexed.end([index], end);
            if self.package == Some(index) {
                self.package = None;
            }
        }
    }

    fn end_package(&mut self, end: usize) {
        self.lexed.end(self.package.take(), end);
    }

    /// Adds a subroutine whose name is at an offset, unless it has no body. Returns the offset of the line after its head.
    fn routine(&mut self, kind: Kind, indentation: usize, start: usize, name: usize) -> Option<usize> {
        let limit = self.text.len().min(name + MAX_SIGNATURE);
        let (qualified, name) = self.name(name, limit);
        let mut at = self.skip_blanks(qualified.end, limit);
        let mut parameters = None;
        if self.text.get(at) == Some(&b'(') {
            let end = self.parenthesis_end(at, limit)?;
            parameters = Some(at..end);
            at = self.skip_blanks(end, limit);
        }
        let body = at + self.text[at..limit].iter().position(|byte| matches!(byte, b'{' | b';'))?;
        let between = self.text[at..body].trim_ascii();
        let is_body = self.text[body] == b'{' && matches!(between, [] | [b':' | b'#' | b'(', ..]);
        if !is_body {
            return None;
        }
        if name.is_empty() {
            return None;
        }
        self.close_deeper(indentation, start);
        let index = self.lexed.add(self.text, (kind, name.clone()), start..body, self.package)?;
        let definition = &mut self.lexed.definitions[index];
        definition.parameters = parameters;
        definition.qualifier = (name.start > qualified.start + 2).then(|| qualified.start..name.start - 2);
        let (rest, next) = line(self.text, body);
        match one_line(&self.text[rest.clone()]) {
            Some(length) => self.lexed.end([index], body + length),
            None => {
                self.lexed.end([index], rest.end);
                self.bodies.push((index, indentation));
            }
        }
        Some(next)
    }

    /// Ends bodies that should have ended before a definition of their indentation or less.
    fn close_deeper(&mut self, indentation: usize, start: usize) {
        let end = self.text[..start].trim_ascii_end().len();
        self.close(indentation, end);
    }

    /// End of what a parenthesis begins.
    fn parenthesis_end(&self, start: usize, limit: usize) -> Option<usize> {
        let mut depth = 0_usize;
        let closes = |&byte: &u8| {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => (),
            }
            depth == 0
        };
        Some(start + self.text[start..limit].iter().position(closes)? + 1)
    }

    /// Offset of the name of a package, end of its line and, if that is not the line of its keyword, the offset of the next one.
    fn name_start(&self, start: usize, end: usize) -> (usize, usize, Option<usize>) {
        let mut at = start;
        loop {
            at = self.skip_blanks(at, self.text.len());
            let (range, next) = line(self.text, at);
            match self.text.get(at) {
                Some(b'#') => at = next,
                _ if at >= end => return (at, range.end, Some(next)),
                _ => return (at, end, None),
            }
        }
    }

    /// `package Name;` holds the rest of the file, `package Name {` its block.
    fn package_from(
        &mut self,
        kind: Kind,
        indentation: usize,
        content: &Range<usize>,
        start: usize,
    ) -> Option<usize> {
        let (start, line_end, mut next) = self.name_start(start, content.end);
        let (name, _) = self.name(start, line_end);
        let rest = &self.text[name.end..line_end];
        let end = rest.iter().position(|byte| matches!(byte, b'{' | b';')).map(|at| name.end + at);
        let is_word =
            !name.is_empty() && !rest.first().is_some_and(|byte| matches!(byte, b'-' | b'=' | b'('));
        let mut body = end.unwrap_or(line_end);
        if end.is_none() {
            // The brace may stand in the next line.
            let (range, after) = line(self.text, line(self.text, line_end).1);
            body = trimmed(self.text, range).start;
            next = Some(after).filter(|_| self.text[body..].starts_with(b"{"));
        }
        if !is_word || (end.is_none() && next.is_none()) {
            return None;
        }
        self.close_deeper(indentation, content.start);
        self.end_package(self.text[..content.start].trim_ascii_end().len());
        let index = self.lexed.add(self.text, (kind, name), content.start..body, None)?;
        let rest = &self.text[body..line_end.max(body)];
        self.package = Some(index);
        if rest.first() != Some(&b';') {
            match one_line(rest) {
                Some(length) => self.end_package(body + length),
                None => self.bodies.push((index, indentation)),
            }
        }
        next
    }

    /// `use constant NAME => 1;` and `use constant { A => 1, B => 2 };`. Returns the offset of the next line.
    fn constants(&mut self, content: &Range<usize>, start: usize, next: usize) -> usize {
        if self.text[start..content.end].strip_prefix(b"constant").is_none_or(|rest| !rest.starts_with(b" "))
        {
            return next;
        }
        let at = self.skip_blanks(start + b"constant".len(), content.end);
        if self.text.get(at) != Some(&b'{') {
            let quote = usize::from(matches!(self.text.get(at), Some(b'\'' | b'"')));
            let name = self.word(at + quote, content.end.max(at + quote));
            if !self.text.get(name.start).is_some_and(u8::is_ascii_digit) {
                self.lexed.add(self.text, (Kind::Constant, name), content.clone(), self.package);
            }
            return next;
        }
        let mut at = at + 1;
        let mut depth = 1;
        while at < self.text.len() && depth > 0 {
            match self.text[at] {
                b'{' | b'[' | b'(' => depth += 1,
                b'}' | b']' | b')' => depth -= 1,
                b'#' => at = line(self.text, at).0.end.max(at + 1) - 1,
                quote @ (b'\'' | b'"') => {
                    let end = self.text[at + 1..].iter().position(|&byte| byte == quote || byte == b'\n');
                    at += 1 + end.unwrap_or(0);
                }
                byte if is_word(byte) => {
                    let name = self.word(at, self.text.len());
                    let arrow = self.skip_blanks(name.end, self.text.len());
                    if depth == 1 && self.text[arrow..].starts_with(b"=>") {
                        let extent = name.start..arrow + 2;
                        self.lexed.add(self.text, (Kind::Constant, name), extent, self.package);
                    }
                    at = arrow - 1;
                }
                _ => (),
            }
            at += 1;
        }
        if depth > 0 {
            self.lexed.fail(start);
        }
        line(self.text, at.min(self.text.len())).1
    }

    /// `our $name` and `our ($name, @other)`.
    fn variables(&mut self, content: &Range<usize>, start: usize) {
        let mut at = start + usize::from(self.text.get(start) == Some(&b'('));
        let mut is_first = true;
        while at < content.end && matches!(self.text[at], b'$' | b'@' | b'%') {
            let name = self.word(at + 1, content.end);
            // Only the first one has the line for its head, so that many take no more time than on lines of their own.
            let head = if is_first { content.clone() } else { at..name.end };
            is_first = false;
            let after = name.end;
            self.lexed.add(self.text, (Kind::Variable, name), head, self.package);
            at = self.skip_blanks(after, content.end);
            if self.text.get(at) != Some(&b',') {
                return;
            }
            at = self.skip_blanks(at + 1, content.end);
        }
    }

    /// Finds the comments, strings and documents of some lines. Returns the offset after the documents that they begin.
    fn literals(&mut self, lines: Range<usize>, next: usize) -> usize {
        let (mut at, mut after) = (lines.start, next);
        while at < lines.end {
            let before = at.checked_sub(1).map_or(b' ', |before| self.text[before]);
            let end = match self.text[at] {
                b'#' if before.is_ascii_whitespace() => line(self.text, at).0.end,
                quote @ (b'\'' | b'"') if !is_word(before) && !matches!(before, b'$' | b'\\') => {
                    let Some(end) = string_end(&self.text[at + 1..lines.end], quote) else { break };
                    at + end + 2
                }
                b'<' if !is_word(before) && !matches!(before, b'<' | b')' | b'}' | b']') => {
                    after = self.document(at, lines.end, after).unwrap_or(after);
                    at
                }
                _ => at,
            };
            if end > at {
                self.lexed.no_code.push(at..end);
            }
            at = end.max(at + 1);
        }
        if after > next {
            self.lexed.no_code.push(next..after);
        }
        after
    }

    /// End of a document that `<<NAME`, `<<"NAME"` or `<<~NAME` begins and whose lines begin at an offset.
    fn document(&mut self, at: usize, end: usize, lines: usize) -> Option<usize> {
        let rest = self.text[at..end].strip_prefix(b"<<")?;
        let is_indented = rest.starts_with(b"~");
        let rest = &rest[usize::from(is_indented)..];
        let quote = rest.first().filter(|byte| matches!(byte, b'"' | b'\''));
        let name = match quote {
            Some(&quote) => &rest[1..1 + rest[1..].iter().position(|&byte| byte == quote)?],
            None => &rest[..rest.iter().take_while(|&&byte| is_word(byte)).count()],
        };
        if name.is_empty() && quote.is_none() || name.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let mut at = lines;
        while at < self.text.len() && self.open_documents < MAX_OPEN {
            let (range, next) = line(self.text, at);
            let content = &self.text[range];
            if content == name || is_indented && content.trim_ascii_start() == name {
                return Some(next);
            }
            at = next;
        }
        self.open_documents += 1;
        None
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | 128..)
}

/// Length of a string up to its quote, in the same line.
fn string_end(text: &[u8], quote: u8) -> Option<usize> {
    let mut is_escaped = false;
    let end = text.iter().position(|&byte| {
        let ends = byte == b'\n' || byte == quote && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })?;
    (text[end] == quote).then_some(end)
}

/// Length of a body that ends in its line.
fn one_line(body: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let ends = |&byte: &u8| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => return false,
        }
        depth == 0
    };
    body.iter().position(ends).map(|end| end + 1)
}
