//! Makefiles: targets of rules, variables, and macros of `define`.

use std::ops::Range;

use memchr::memchr;

use super::{Lexed, line, trimmed, word};
use crate::kind::Kind;

/// Words that may stand before an assignment.
const MODIFIERS: [&[u8]; 4] = [b"export", b"override", b"private", b"unexport"];

/// Words that begin a line without a definition.
const DIRECTIVES: [&[u8]; 12] = [
    b"ifeq",
    b"ifneq",
    b"ifdef",
    b"ifndef",
    b"else",
    b"endif",
    b"include",
    b"-include",
    b"sinclude",
    b"vpath",
    b"undefine",
    b"load",
];

/// Operator that a line is about, outside of references such as `$(a:b=c)`.
enum Operator {
    /// Any of `=`, `:=`, `::=`, `:::=`, `?=` and `!=`.
    Assign,
    /// `+=`, which defines nothing.
    Append,
    /// `:`, `::` and `&:`.
    Rule,
}

#[derive(Default)]
struct Makefile {
    lexed: Lexed,
    /// Targets of the rule whose recipe may follow.
    targets: Vec<usize>,
    /// The recipe of a rule may follow, whether it has targets that are listed or not.
    in_rule: bool,
}

pub(crate) fn lex(text: &[u8]) -> Lexed {
    let mut makefile = Makefile::default();
    let mut at = 0;
    while at < text.len() {
        let (range, next) = logical_line(text, at);
        at = if makefile.in_rule && text[at] == b'\t' {
            makefile.lexed.end(makefile.targets.iter().copied(), range.end);
            next
        } else {
            makefile.add(text, range, next)
        };
    }
    makefile.lexed
}

/// A line with those that continue it, without the end of the last one, and the offset of the next one.
fn logical_line(text: &[u8], start: usize) -> (Range<usize>, usize) {
    let (mut range, mut next) = line(text, start);
    while next < text.len() && is_escaped(text, range.start, range.end) {
        (range, next) = line(text, next);
    }
    (start..range.end, next)
}

/// Returns `true` if an odd number of backslashes stands before an offset.
fn is_escaped(text: &[u8], start: usize, end: usize) -> bool {
    text[start..end].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

impl Makefile {
    /// Adds what a line defines. Returns the offset of the next one.
    fn add(&mut self, text: &[u8], range: Range<usize>, next: usize) -> usize {
        let mut content = trimmed(text, self.uncommented(text, range));
        let mut first = word(text, content.clone());
        while MODIFIERS.contains(&&text[first.clone()]) {
            content = trimmed(text, first.end..content.end);
            first = word(text, content.clone());
        }
        let name = &text[first.clone()];
        if name.is_empty() || DIRECTIVES.contains(&name) {
            return next;
        }
        self.in_rule = false;
        if name == b"define" {
            return self.macro_from(text, trimmed(text, first.end..content.end), (content.start, next));
        }
        match operator(text, content.clone()) {
            Some((Operator::Assign, names, _)) if word(text, names.clone()) == names => {
                self.lexed.add(text, (Kind::Variable, names), content, None);
            }
            Some((Operator::Rule, names, after)) => self.rule(text, names, after, content),
            _ => (),
        }
        next
    }

    /// The line up to its comment.
    fn uncommented(&mut self, text: &[u8], range: Range<usize>) -> Range<usize> {
        let mut at = range.start;
        while let Some(found) = memchr(b'#', &text[at..range.end]) {
            let hash = at + found;
            if !is_escaped(text, at, hash) {
                self.lexed.no_code.push(hash..range.end);
                return range.start..hash;
            }
            at = hash + 1;
        }
        range
    }

    /// Adds a macro, which begins with a line, and returns the offset after it.
    fn macro_from(&mut self, text: &[u8], head: Range<usize>, (start, next): (usize, usize)) -> usize {
        let name = operator(text, head.clone()).map_or(head.clone(), |(_, name, _)| name);
        let added = self.lexed.add(text, (Kind::Macro, name), start..head.end.max(start), None);
        let (mut at, mut depth, mut end) = (next, 1, next);
        while at < text.len() && depth > 0 {
            let (range, next) = line(text, at);
            match &text[word(text, range.clone())] {
                b"define" => depth += 1,
                b"endef" => depth -= 1,
                _ => (),
            }
            (at, end) = (next, range.end);
        }
        if depth > 0 {
            self.lexed.fail(start);
        }
        self.lexed.end(added, end);
        at
    }

    /// Adds the targets of a rule. Values of variables for a target alone define neither.
    fn rule(&mut self, text: &[u8], names: Range<usize>, after: usize, content: Range<usize>) {
        let prerequisites = after..content.end;
        let inline = memchr(b';', &text[prerequisites.clone()]).map_or(content.end, |at| after + at);
        if matches!(operator(text, after..inline), Some((Operator::Assign | Operator::Append, ..))) {
            return;
        }
        self.in_rule = true;
        self.targets.clear();
        let mut at = names.start;
        while at < names.end {
            let end = name_end(text, at..names.end);
            let name = at..end;
            if !matches!(&text[name.clone()], b"" | b"\\" | b"&") && !is_special(&text[name.clone()]) {
                // Only the first one has the line for its head, so that many take no more time than on lines of their own.
                let head = if self.targets.is_empty() { content.clone() } else { name.clone() };
                self.targets.extend(self.lexed.add(text, (Kind::Target, name), head, None));
            }
            at = end + 1;
        }
        self.lexed.end(self.targets.iter().copied(), content.end);
    }
}

/// Returns `true` for targets such as `.PHONY`.
fn is_special(name: &[u8]) -> bool {
    name.starts_with(b".")
        && name.len() > 1
        && name[1..].iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'_'))
}

/// Nesting of references such as `$(a:b=c)`.
#[derive(Default)]
struct Nesting {
    depth: usize,
    before: u8,
}

impl Nesting {
    /// Returns `true` if the next byte is outside of references.
    fn is_outside(&mut self, byte: u8) -> bool {
        match byte {
            b'(' | b'{' if self.depth > 0 || self.before == b'$' => self.depth += 1,
            b')' | b'}' if self.depth > 0 => self.depth -= 1,
            _ => {
                self.before = byte;
                return self.depth == 0;
            }
        }
        self.before = byte;
        false
    }
}

/// End of the name of a target at the beginning of a range.
fn name_end(text: &[u8], range: Range<usize>) -> usize {
    let mut nesting = Nesting::default();
    let is_end = |&byte: &u8| nesting.is_outside(byte) && byte.is_ascii_whitespace();
    range.start + text[range.clone()].iter().position(is_end).unwrap_or(range.len())
}

/// The first operator of a line, the names before it, and the offset after it.
fn operator(text: &[u8], range: Range<usize>) -> Option<(Operator, Range<usize>, usize)> {
    let mut nesting = Nesting::default();
    let is_operator = |&byte: &u8| nesting.is_outside(byte) && matches!(byte, b'=' | b':');
    let at = range.start + text[range.clone()].iter().position(is_operator)?;
    let before = &text[range.start..at];
    let colons = text[at..range.end].iter().take_while(|&&byte| byte == b':').count();
    let is_assignment = text[..range.end].get(at + colons) == Some(&b'=');
    let operator = match before.last() {
        _ if !is_assignment => Operator::Rule,
        Some(b'+') => Operator::Append,
        _ => Operator::Assign,
    };
    let is_suffix = |&byte: &u8| match operator {
        Operator::Rule => byte == b'&',
        _ => matches!(byte, b'?' | b'!' | b'+'),
    };
    let names = range.start..at - usize::from(colons < 2 && before.last().is_some_and(is_suffix));
    let after = at + colons + usize::from(is_assignment);
    Some((operator, trimmed(text, names), after))
}
