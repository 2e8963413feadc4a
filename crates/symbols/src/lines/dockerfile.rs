//! Dockerfiles: named stages, and the variables of `ARG` and `ENV` in them.

use std::ops::Range;

use memchr::memchr_iter;

use super::{Lexed, line, trimmed, word};
use crate::kind::Kind;

#[derive(Default)]
struct Dockerfile {
    lexed: Lexed,
    /// Byte that continues a line at its end.
    escape: u8,
    /// The stage around an instruction, if it has a name.
    stage: Option<usize>,
}

pub(crate) fn lex(text: &[u8]) -> Lexed {
    let mut file = Dockerfile { escape: b'\\', ..Dockerfile::default() };
    let (mut at, mut is_first) = (0, true);
    while at < text.len() {
        let (range, next) = line(text, at);
        let content = trimmed(text, range);
        at = match &text[content.clone()] {
            [] => next,
            [b'#', directive @ ..] => {
                if is_first && let Some(escape) = escape(directive) {
                    file.escape = escape;
                }
                file.lexed.no_code.push(content);
                next
            }
            _ => {
                is_first = false;
                let (instruction, next) = file.instruction(text, content.start);
                file.add(text, instruction.clone());
                file.after_documents(text, instruction, next)
            }
        };
    }
    let end = text.trim_ascii_end().len();
    file.lexed.end(file.stage, end);
    file.lexed
}

/// The byte that the directive `# escape=` names.
fn escape(directive: &[u8]) -> Option<u8> {
    let (name, value) = directive.split_at(directive.iter().position(|&byte| byte == b'=')?);
    let value = value[1..].trim_ascii();
    (name.trim_ascii().eq_ignore_ascii_case(b"escape") && value.len() == 1).then(|| value[0])
}

impl Dockerfile {
    /// The lines of an instruction, and the offset of the next one. Comments and empty lines may stand between them.
    fn instruction(&mut self, text: &[u8], start: usize) -> (Range<usize>, usize) {
        let (mut end, mut at) = (start, start);
        while at < text.len() {
            let (range, next) = line(text, at);
            let content = trimmed(text, range);
            at = next;
            match text[content.clone()] {
                [] => (),
                [b'#', ..] => self.lexed.no_code.push(content),
                [.., last] => {
                    end = content.end;
                    if last != self.escape {
                        break;
                    }
                }
            }
        }
        (start..end, at)
    }

    fn add(&mut self, text: &[u8], instruction: Range<usize>) {
        let first = word(text, instruction.clone());
        let arguments = trimmed(text, first.end..instruction.end);
        match text[first].to_ascii_uppercase().as_slice() {
            b"FROM" => self.from(text, arguments, instruction),
            b"ARG" => self.variables(text, arguments, instruction, false),
            b"ENV" => self.variables(text, arguments, instruction, true),
            _ => (),
        }
    }

    /// `FROM image AS name`
    fn from(&mut self, text: &[u8], arguments: Range<usize>, instruction: Range<usize>) {
        let end = text[..instruction.start].trim_ascii_end().len();
        self.lexed.end(self.stage.take(), end);
        let mut rest = arguments;
        let mut next = || {
            let word = word(text, rest.clone());
            rest.start = word.end;
            word
        };
        let mut image = next();
        while text[image.clone()].starts_with(b"--") {
            image = next();
        }
        if text[next()].eq_ignore_ascii_case(b"as") {
            self.stage = self.lexed.add(text, (Kind::Target, next()), instruction, None);
        }
    }

    /// `NAME=value OTHER="other value"`; with a value that needs no `=`, `NAME value`; without one, `NAME OTHER`.
    fn variables(
        &mut self,
        text: &[u8],
        arguments: Range<usize>,
        instruction: Range<usize>,
        needs_value: bool,
    ) {
        let mut at = arguments.start;
        let mut is_first = true;
        while at < arguments.end {
            let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
            let end = at + text[at..arguments.end].iter().take_while(is_word).count();
            let has_value = text[..arguments.end].get(end) == Some(&b'=');
            let value_end = self.value_end(text, end..arguments.end);
            if has_value || !needs_value || at == arguments.start {
                // Only the first one has the instruction for its head, so that many take no more time than in instructions of their own.
                let head = if is_first { instruction.clone() } else { at..value_end };
                is_first = false;
                self.lexed.add(text, (Kind::Variable, at..end), head, self.stage);
            }
            if needs_value && !has_value && end > at && at == arguments.start {
                return;
            }
            at = value_end;
            let is_blank = |byte: &&u8| byte.is_ascii_whitespace() || **byte == self.escape;
            at += text[at..arguments.end].iter().take_while(is_blank).count();
        }
    }

    /// End of a value, whose quotes and escaped bytes may be white space.
    fn value_end(&self, text: &[u8], range: Range<usize>) -> usize {
        let (mut quote, mut at) = (None, range.start);
        while at < range.end {
            let byte = text[at];
            match quote {
                _ if byte == self.escape
                    && text.get(at + 1).is_some_and(|next| !next.is_ascii_whitespace()) =>
                {
                    at += 1
                }
                Some(open) if byte == open => quote = None,
                Some(_) => (),
                None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
                None if byte == self.escape && text[at + 1..].starts_with(b" ") => at += 1,
                None if byte.is_ascii_whitespace() || byte == self.escape => break,
                None => (),
            }
            at += 1;
        }
        at.min(range.end)
    }

    /// The offset after the documents that an instruction begins with `<<NAME`.
    fn after_documents(&mut self, text: &[u8], instruction: Range<usize>, next: usize) -> usize {
        let name = &text[word(text, instruction.clone())];
        if ![&b"RUN"[..], b"COPY", b"ADD"].iter().any(|known| name.eq_ignore_ascii_case(known)) {
            return next;
        }
        let mut at = next;
        for start in memchr_iter(b'<', &text[instruction.clone()]) {
            let Some(delimiter) = delimiter(text, instruction.start + start, instruction.end) else {
                continue;
            };
            let begin = at;
            let mut has_end = false;
            while at < text.len() && !has_end {
                let (range, next) = line(text, at);
                has_end = text[range.clone()].trim_ascii_start() == delimiter;
                at = next;
            }
            if !has_end {
                self.lexed.fail(instruction.start + start);
            }
            self.lexed.no_code.push(begin..at);
        }
        at
    }
}

/// The name that ends a document, at its `<<`.
fn delimiter(text: &[u8], at: usize, end: usize) -> Option<&[u8]> {
    let begins_word = at
        .checked_sub(1)
        .is_none_or(|before| text[before].is_ascii_whitespace() || text[before].is_ascii_digit());
    let rest = text[at..end].strip_prefix(b"<<").filter(|_| begins_word)?;
    let rest = rest.strip_prefix(b"-").unwrap_or(rest);
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    (length > 0 && !rest[0].is_ascii_digit()).then_some(&rest[..length])
}
