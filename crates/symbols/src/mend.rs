//! Mending: the parts of a text that do not follow its grammar, found so that the rest can be parsed without them.
//!
//! A parser may recover from an error only at the end of the file: half a function, or a missing brace, costs all definitions after it.
//! Indentation says where declarations begin if something is wrong within them. So a text with errors is cut before lines in its first
//! column, each part is judged alone, and only those that fail are left out. Where a class or a namespace fails, its members are judged
//! in the same way, between its first and its last line.
//!
//! All of this happens after a parse that has failed: texts without errors take no more time. Each byte is judged a bounded number of
//! times.

use std::iter::once;
use std::ops::Range;
use std::rc::Rc;

use crate::skim::is_word;

/// Parts of this size are judged together first, in bytes.
const GROUP: usize = 4 << 10;

/// Maximum number of parts that may be one declaration.
const MAX_JOINED: usize = 4;

/// Maximum depth of types and namespaces whose members are judged alone.
const MAX_DEPTH: usize = 3;

/// Longest first or last line of a type whose members are judged alone, in bytes: they are judged with it.
const MAX_HEAD: usize = 256;

/// Number of containers among which the one that a comment names is searched for.
const MAX_CONTAINERS: usize = 32;

/// Number of times that each byte of a text may be judged, and further bytes: with short lines, most of what is judged is around them.
const MAX_PASSES: usize = 16;
const FREE_BYTES: usize = 64 << 10;

/// Words that begin a line in the middle of a declaration or statement.
const CONTINUATIONS: &[&[u8]] = &[
    b"and",
    b"case",
    b"catch",
    b"default",
    b"do",
    b"done",
    b"elif",
    b"else",
    b"elseif",
    b"elsif",
    b"end",
    b"ensure",
    b"esac",
    b"except",
    b"extends",
    b"fi",
    b"finally",
    b"implements",
    b"in",
    b"or",
    b"rescue",
    b"then",
    b"until",
    b"when",
    b"where",
    b"with",
];

/// Words of the preprocessor that stand between declarations and in them.
const CONDITIONS: &[&[u8]] =
    &[b"if", b"ifdef", b"ifndef", b"else", b"elif", b"elifdef", b"elifndef", b"endif", b"elseif"];

/// Words that begin braces whose contents are not indented.
const CONTAINERS: &[&[u8]] = &[b"namespace", b"extern", b"module", b"mod", b"package"];

/// Part of a text that does not follow the grammar.
#[derive(Debug)]
pub(crate) struct BrokenPart {
    pub(crate) range: Range<usize>,
    around: Rc<Around>,
}

/// Text that a part is judged in: the first and the last lines of the types around it.
#[derive(Debug, Default)]
struct Around {
    /// Ranges of the text.
    heads: Vec<Range<usize>>,
    ends: Vec<u8>,
}

impl Around {
    /// A part of a text, followed by `end`, with what is around it.
    fn wrap(&self, text: &[u8], part: Range<usize>, end: &[u8]) -> Vec<u8> {
        let mut wrapped = Vec::with_capacity(part.len() + MAX_DEPTH * 2 * MAX_HEAD);
        self.heads.iter().chain([&part]).for_each(|range| wrapped.extend_from_slice(&text[range.clone()]));
        wrapped.extend_from_slice(end);
        wrapped.extend_from_slice(&self.ends);
        wrapped
    }
}

impl BrokenPart {
    /// The part, followed by `end`, with the first and the last lines of the types around it.
    pub(crate) fn wrapped(&self, text: &[u8], end: &[u8]) -> Vec<u8> {
        self.around.wrap(text, self.range.clone(), end)
    }

    /// The offset in the text of an offset in the wrapped part.
    pub(crate) fn source(&self, mut offset: usize) -> usize {
        for head in &self.around.heads {
            if offset < head.len() {
                return head.start + offset;
            }
            offset -= head.len();
        }
        self.range.start + offset.min(self.range.len())
    }
}

/// The broken parts of a text, in order. `is_suspect` says which parts are judged at all, and `is_sound` judges a text; `None` if it
/// does not judge any more.
pub(crate) fn broken_parts(
    text: &[u8],
    is_suspect: impl Fn(&Range<usize>) -> bool,
    is_sound: impl FnMut(&[u8]) -> Option<bool>,
) -> Option<Vec<BrokenPart>> {
    let budget = FREE_BYTES + MAX_PASSES * text.len();
    let mut search = Search { text, is_sound, budget, broken: Vec::new(), around: Rc::default() };
    search.parts(cut(text, 0..text.len(), 0).into_iter().filter(|part| is_suspect(&part.range)).collect())?;
    search.broken.sort_by_key(|part| part.range.start);
    Some(search.broken)
}

/// A text with spaces in place of some parts. Offsets and lines stay as they are.
pub(crate) fn without(text: &[u8], parts: &[BrokenPart]) -> Vec<u8> {
    let mut text = text.to_vec();
    for part in parts {
        let bytes = text[part.range.clone()].iter_mut();
        bytes.filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = b' ');
    }
    text
}

struct Search<'t, F> {
    text: &'t [u8],
    is_sound: F,
    /// Number of bytes that may still be judged.
    budget: usize,
    broken: Vec<BrokenPart>,
    around: Rc<Around>,
}

impl<F: FnMut(&[u8]) -> Option<bool>> Search<'_, F> {
    fn is_sound(&mut self, range: &Range<usize>) -> Option<bool> {
        self.judge(Rc::clone(&self.around), range)
    }

    /// Judges a part of the text with what is around it.
    fn judge(&mut self, around: Rc<Around>, range: &Range<usize>) -> Option<bool> {
        if around.heads.is_empty() {
            self.budget = self.budget.checked_sub(range.len())?;
            return (self.is_sound)(&self.text[range.clone()]);
        }
        let wrapped = around.wrap(self.text, range.clone(), b"");
        self.budget = self.budget.checked_sub(wrapped.len())?;
        (self.is_sound)(&wrapped)
    }

    fn push(&mut self, range: Range<usize>) {
        self.broken.push(BrokenPart { range, around: Rc::clone(&self.around) });
    }

    /// Judges consecutive parts.
    fn parts(&mut self, parts: Vec<Part>) -> Option<()> {
        let mut containers = Containers::default();
        let mut code = Vec::new();
        for part in parts {
            match part.role {
                Role::Code => code.push(part.range),
                Role::Opens => containers.open.push(part.range),
                Role::Closes => containers.close(self.text, part.range),
            }
        }
        containers.unpaired().into_iter().for_each(|range| self.push(range));
        let unsound = self.unsound(code)?;
        let mut rest = &unsound[..];
        while let Some(first) = rest.first() {
            let adjacent =
                1 + rest.windows(2).take(MAX_JOINED).take_while(|pair| pair[0].end == pair[1].start).count();
            // A line in the column may be in the middle of a declaration.
            let mut joined = None;
            for count in 2..=adjacent.min(MAX_JOINED) {
                if self.is_sound(&(first.start..rest[count - 1].end))? {
                    joined = Some(count);
                    break;
                }
            }
            if joined.is_none() {
                self.divide(first.clone())?;
            }
            rest = &rest[joined.unwrap_or(1)..];
        }
        Some(())
    }

    /// The parts that fail alone.
    fn unsound(&mut self, parts: Vec<Range<usize>>) -> Option<Vec<Range<usize>>> {
        let mut unsound = Vec::new();
        let mut rest = &parts[..];
        while let Some(first) = rest.first() {
            let is_near = |part: &Range<usize>, before: &Range<usize>| {
                part.start == before.end && part.end - first.start <= GROUP
            };
            let count = 1 + rest.windows(2).take_while(|pair| is_near(&pair[1], &pair[0])).count();
            let (group, others) = rest.split_at(count);
            rest = others;
            if self.is_sound(&(first.start..group[count - 1].end))? {
                continue;
            }
            for part in group {
                if count == 1 || !self.is_sound(part)? {
                    unsound.push(part.clone());
                }
            }
        }
        Some(unsound)
    }

    /// Finds what is broken in a part that fails: some of its lines, or some members.
    fn divide(&mut self, part: Range<usize>) -> Option<()> {
        let column = column(&self.text[part.clone()]);
        let lines = ranges(self.text, part.clone(), |_, _, line| begins(line, column));
        let mut broken = Vec::new();
        if lines.len() > 1 {
            for line in &lines {
                if !self.is_sound(line)? {
                    broken.push(line.clone());
                }
            }
        }
        if broken.len() == lines.len() || lines.len() < 2 {
            broken = vec![part];
        }
        broken.into_iter().try_for_each(|part| self.members(part))
    }

    /// Judges the members of a type alone.
    fn members(&mut self, part: Range<usize>) -> Option<()> {
        let depth = self.around.heads.len();
        let Some(Frame { head, members, end }) = frame(self.text, part.clone()).filter(|_| depth < MAX_DEPTH)
        else {
            self.push(part);
            return Some(());
        };
        let heads = self.around.heads.iter().cloned().chain([head]).collect();
        let around = Rc::new(Around { heads, ends: [end, &self.around.ends].concat() });
        let parts = cut(self.text, members.clone(), column(&self.text[members.clone()]));
        if parts.len() < 2 || !self.judge(Rc::clone(&around), &(members.start..members.start))? {
            self.push(part);
            return Some(());
        }
        let found = self.broken.len();
        let outer = std::mem::replace(&mut self.around, around);
        self.parts(parts)?;
        self.around = outer;
        if self.broken.len() == found {
            self.push(part);
        }
        Some(())
    }
}

/// Lines that open and close containers.
#[derive(Default)]
struct Containers {
    open: Vec<Range<usize>>,
    closed: Vec<Range<usize>>,
    unpaired: Vec<Range<usize>>,
}

impl Containers {
    /// Closes the innermost container, or the one whose name a comment after the brace has.
    fn close(&mut self, text: &[u8], range: Range<usize>) {
        let line = text[range.clone()].split(|&byte| byte == b'\n').next().unwrap_or_default();
        let name = line.trim_ascii_end().rsplit(|byte| !is_word(byte)).next().filter(|name| !name.is_empty());
        let has_name = |open: &Range<usize>| {
            let mut words = text[open.clone()].split(|byte| !is_word(byte)).filter(|word| !word.is_empty());
            name.is_some() && words.next_back() == name
        };
        let near = self.open.len().saturating_sub(MAX_CONTAINERS);
        if let Some(index) = self.open[near..].iter().rposition(has_name).map(|index| near + index) {
            self.unpaired.extend(self.open.drain(index + 1..));
        }
        match self.open.pop() {
            Some(open) => self.closed.push(open),
            None => self.unpaired.push(range),
        }
    }

    /// Lines without a counterpart. Where a brace is missing, an inner container was more likely begun just now than an outer one.
    fn unpaired(mut self) -> Vec<Range<usize>> {
        let count = self.open.len();
        let inner = self.open.into_iter().chain(self.closed);
        self.unpaired.extend(inner.collect::<Vec<_>>().into_iter().rev().take(count));
        self.unpaired
    }
}

/// Part of a text, from the start of a line to that of another.
struct Part {
    range: Range<usize>,
    role: Role,
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Code,
    /// Opens braces whose contents are not indented, and nothing else.
    Opens,
    Closes,
}

/// First and last line of a type, and its members between them.
struct Frame<'t> {
    head: Range<usize>,
    members: Range<usize>,
    end: &'t [u8],
}

/// The frame of the type or namespace that a part is, if it has that form.
fn frame(text: &[u8], part: Range<usize>) -> Option<Frame<'_>> {
    let column = column(&text[part.clone()]);
    let line = |line: &Range<usize>| &text[line.clone()];
    let mut rest = lines(text, part.clone()).filter(|range| !line(range).trim_ascii().is_empty());
    // The head may take several lines.
    let mut head = rest.by_ref().find(|range| begins(line(range), column))?;
    let mut first = None;
    for range in rest {
        let is_open = line(&head).trim_ascii_end().ends_with(b"{");
        if indentation(line(&range)) > column && (is_open || !line(&range).trim_ascii_end().ends_with(b"{")) {
            first = Some(range.start);
            break;
        }
        head.end = range.end;
    }
    head.end = first?;
    let members = head.end..part.end;
    let closes = |range: &Range<usize>| indentation(line(range)) <= column && is_end(line(range));
    let last = lines(text, members.clone()).filter(closes).last();
    let (members, end) = match (last, line(&head).trim_ascii_end().last()) {
        (Some(last), _) => (members.start..last.start, &text[last.start..part.end]),
        (None, Some(b':')) => (members, &b""[..]),
        (None, Some(b'{')) => (members, &b"}\n"[..]),
        (None, _) => (members, &b"end\n"[..]),
    };
    (head.len() <= MAX_HEAD && end.len() <= MAX_HEAD).then_some(Frame { head, members, end })
}

/// Cuts a range of a text before declarations in a column.
fn cut(text: &[u8], range: Range<usize>, column: usize) -> Vec<Part> {
    let may_begin = |before: &[u8], is_next: bool, line: &[u8]| {
        let is_after_inner = indentation(before) > column;
        match line.trim_ascii_start().first() {
            _ if indentation(line) > column => false,
            // Closes a container if nothing that is indented is before it.
            Some(b'}') => {
                let opens = before.trim_ascii_end().ends_with(b"{");
                !is_after_inner && (is_end(before) || begins(before, column) && !opens)
            }
            Some(&byte) if is_start(byte) && !is_continuation(line) => {
                !is_next
                    || is_after_inner
                    || is_end(before)
                    || is_container(before)
                    || is_container(line)
                    || matches!(before.trim_ascii_end().last(), Some(b';' | b'}'))
            }
            _ => false,
        }
    };
    let role = |range: Range<usize>| {
        let part = text[range.clone()].trim_ascii();
        let role = match part {
            [b'}', ..] => Role::Closes,
            _ if is_container(part) => Role::Opens,
            _ => Role::Code,
        };
        Part { range, role }
    };
    ranges(text, range, may_begin).into_iter().map(role).collect()
}

/// Cuts a range of a text before lines, by the last line before with anything on it, whether that is the one right before, and the line.
fn ranges(
    text: &[u8],
    range: Range<usize>,
    is_cut: impl Fn(&[u8], bool, &[u8]) -> bool,
) -> Vec<Range<usize>> {
    let mut before = range.start..range.start;
    let mut cuts = vec![range.start];
    for line in lines(text, range.clone()).filter(|line| !text[line.clone()].trim_ascii().is_empty()) {
        let is_next = before.end == line.start;
        if line.start > range.start && is_cut(&text[before], is_next, &text[line.clone()]) {
            cuts.push(line.start);
        }
        before = line;
    }
    let ends = cuts[1..].iter().copied().chain(once(range.end));
    cuts.iter().copied().zip(ends).map(|(start, end)| start..end).filter(|part| !part.is_empty()).collect()
}

/// The lines of a range of a text, with their line feeds.
fn lines(text: &[u8], range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = range.start;
    text[range].split_inclusive(|&byte| byte == b'\n').map(move |line| {
        let start = at;
        at += line.len();
        start..at
    })
}

fn indentation(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Column of the first line that is not empty.
fn column(text: &[u8]) -> usize {
    let first = text.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    first.map_or(0, indentation)
}

/// The word at the start of a text.
fn word(text: &[u8]) -> &[u8] {
    let length = text.iter().take_while(|byte| is_word(byte)).count();
    &text[..length]
}

/// Returns `true` for a byte with which a declaration, a comment or an attribute may begin.
fn is_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || !byte.is_ascii() || b"_$@#/[\"'<~:-(!".contains(&byte)
}

/// Returns `true` for a line in a column that begins with a word, with which a declaration may begin.
fn begins(line: &[u8], column: usize) -> bool {
    let first = line.trim_ascii_start().first();
    indentation(line) == column
        && first.is_some_and(|&byte| byte.is_ascii_alphabetic() || b"_$@".contains(&byte) || !byte.is_ascii())
        && !is_continuation(line)
}

fn is_continuation(line: &[u8]) -> bool {
    match line.trim_ascii_start() {
        [b'#', rest @ ..] => CONDITIONS.contains(&word(rest.trim_ascii_start())),
        line => {
            let (word, line) = (word(line), line.trim_ascii_end());
            let is_label = line.len() == word.len() + 1 && line.ends_with(b":");
            is_label || CONTINUATIONS.contains(&word)
        }
    }
}

/// Returns `true` for a line that ends a declaration.
fn is_end(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    matches!(line.first(), Some(b'}' | b')' | b']'))
        || matches!(word(line), b"end" | b"fi" | b"done" | b"esac")
}

/// Returns `true` for a line that opens the braces of a container, and nothing else.
fn is_container(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let mut words = line.split(|byte| !byte.is_ascii_alphanumeric()).take(3);
    line.ends_with(b"{") && !line.contains(&b'\n') && words.any(|word| CONTAINERS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `true` if all braces are closed.
    fn balances(text: &[u8]) -> bool {
        let step = |open: isize, byte: &u8| match byte {
            b'{' => Some(open + 1),
            b'}' => (open > 0).then(|| open - 1),
            _ => Some(open),
        };
        text.iter().try_fold(0, step) == Some(0)
    }

    fn broken(text: &str) -> Vec<&str> {
        let parts = broken_parts(text.as_bytes(), |_| true, |part| Some(balances(part)));
        parts.expect("a short text").iter().map(|part| text[part.range.clone()].trim()).collect()
    }

    #[test]
    fn only_what_is_unfinished_is_broken() {
        let cases: [(&str, &[&str]); 10] = [
            ("a {\n}\n\nb {\n}\n", &[]),
            ("a {\n}\nx {\nb {\n}\n", &["x {"]),
            ("a {\n  1\n\nb {\n}\n", &["a {\n  1"]),
            ("a {\n}\n}\n\nb {\n}\n", &["}"]),
            ("namespace n {\na {\n}\nx {\nb {\n}\n}\n", &["x {"]),
            ("namespace n {\na {\n}\nnamespace m {\nb {\n}\n}  // n\n", &["namespace m {"]),
            ("class a {\n  b {\n    1\n  }\n\n  x {\n\n  c {\n  }\n}\nd {\n}\n", &["x {"]),
            ("class a {\n  b {\n  }\n\n  c {\n    1\n}\nd {\n}\n", &["c {\n    1"]),
            // A line in the first column that does not begin anything.
            ("x = 1;\na {\n\nout:\n  1\n}\n\nb {\n", &["b {"]),
            ("a {\n  s = \"\n\nword\n\";\n}\n\nx {\n", &["x {"]),
        ];
        for (text, expected) in cases {
            assert_eq!(broken(text), expected, "{text}");
        }
    }

    #[test]
    fn bytes_are_judged_a_bounded_number_of_times() {
        let patterns = [
            "x {\n",
            " };\n",
            "namespace a {\n",
            "}  // a\n",
            "class a {\n  b {\n",
            "{\n\nx\n",
            "a {\n  }\n",
        ];
        for pattern in patterns {
            for length in [10_000, 100_000] {
                let text = pattern.repeat(length / pattern.len());
                let mut judged = 0;
                let is_sound = |part: &[u8]| {
                    judged += part.len();
                    Some(balances(part))
                };
                let _ = broken_parts(text.as_bytes(), |_| true, is_sound);
                assert!(judged <= FREE_BYTES + MAX_PASSES * text.len(), "{pattern:?}: {judged}");
            }
        }
    }
}
