//! Markdown: headings of CommonMark, each the scope of those below it.

use std::ops::Range;

use memchr::memmem::find;

use super::{Lexed, line, trimmed};
use crate::kind::Kind;

/// Beginnings of blocks of HTML, and their ends.
const HTML: [(&[u8], &[u8]); 4] =
    [(b"<!--", b"-->"), (b"<pre", b"</pre>"), (b"<script", b"</script>"), (b"<style", b"</style>")];

/// Spaces before a line of code.
const CODE: usize = 4;

/// State between lines.
#[derive(Default)]
struct Lines {
    lexed: Lexed,
    /// Level and index of the headings around the line.
    sections: Vec<(usize, usize)>,
    /// The line before, if an underline makes it a heading.
    paragraph: Option<Range<usize>>,
    /// The line continues an item of a list or a quotation: it is no paragraph of its own.
    is_continued: bool,
}

pub(crate) fn lex(text: &[u8]) -> Lexed {
    let mut lines = Lines::default();
    let mut at = front_matter(text);
    while at < text.len() {
        let (range, next) = line(text, at);
        at = fenced(text, &range, next).or_else(|| html(text, &range)).unwrap_or(next);
        match at == next {
            true => lines.add(text, range),
            false => lines.paragraph = None,
        }
    }
    lines.close(text, 0, text.len());
    // Prose has no identifiers.
    lines.lexed.no_code.push(0..text.len());
    lines.lexed
}

impl Lines {
    fn add(&mut self, text: &[u8], range: Range<usize>) {
        let content = trimmed(text, range.clone());
        let before = self.paragraph.take();
        let is_code = is_indented(&text[range.start..content.start]);
        match &text[content.clone()] {
            [] => self.is_continued = false,
            _ if is_code => self.paragraph = before.map(|_| content),
            [b'#', ..] if self.heading(text, &range, &content) => self.is_continued = false,
            [b'=', ..] | [b'-', ..] if is_underline(&text[content.clone()]) => {
                if let Some(name) = before {
                    let level = if text[content.start] == b'=' { 1 } else { 2 };
                    self.section(text, level, name.clone(), name.start..content.end);
                }
            }
            part if is_break(part) => (),
            [b'>', ..] => self.is_continued = true,
            part if marker(part) > 0 => self.is_continued = true,
            _ if self.is_continued => (),
            _ => self.paragraph = Some(content),
        }
    }

    /// `# Name` and `## Name ##`. Returns `false` if it is none.
    fn heading(&mut self, text: &[u8], range: &Range<usize>, content: &Range<usize>) -> bool {
        let part = &text[content.clone()];
        let level = part.iter().take_while(|&&byte| byte == b'#').count();
        if level > 6 || !matches!(part.get(level), None | Some(b' ' | b'\t')) {
            return false;
        }
        let mut name = trimmed(text, content.start + level..content.end);
        let closing = text[name.clone()].iter().rev().take_while(|&&byte| byte == b'#').count();
        let before = name.end - closing;
        if before == name.start || matches!(text[before - 1], b' ' | b'\t') {
            name = trimmed(text, name.start..before);
        }
        self.section(text, level, name, range.start..content.end);
        true
    }

    fn section(&mut self, text: &[u8], level: usize, name: Range<usize>, head: Range<usize>) {
        self.close(text, level, head.start);
        let scope = self.sections.last().map(|&(_, index)| index);
        let added = self.lexed.add(text, (Kind::Heading, name), head, scope);
        self.sections.extend(added.map(|index| (level, index)));
    }

    /// Ends the sections of a level and those below it.
    fn close(&mut self, text: &[u8], level: usize, end: usize) {
        let mut end = end;
        while let Some((_, index)) = self.sections.pop_if(|&mut (open, _)| open >= level) {
            end = trimmed(text, self.lexed.definitions[index].head.end..end).end;
            self.lexed.end([index], end);
        }
    }
}

/// Returns `true` for the spaces before a line of code.
fn is_indented(spaces: &[u8]) -> bool {
    spaces.len() >= CODE || spaces.contains(&b'\t')
}

/// Returns `true` for a line of `=` or of `-`.
fn is_underline(part: &[u8]) -> bool {
    part.iter().all(|&byte| byte == part[0])
}

/// Returns `true` for a line such as `* * *`.
fn is_break(part: &[u8]) -> bool {
    let count = part.iter().filter(|&&byte| byte == part[0]).count();
    matches!(part[0], b'*' | b'-' | b'_')
        && count >= 3
        && part.iter().all(|&byte| byte == part[0] || byte.is_ascii_whitespace())
}

/// Length of the marker of an item of a list, such as `- ` and `12. `; 0 if there is none.
fn marker(part: &[u8]) -> usize {
    let digits = part.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    let length = match part.get(digits) {
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        Some(b'.' | b')') if digits > 0 => digits + 1,
        _ => return 0,
    };
    if matches!(part.get(length), None | Some(b' ' | b'\t')) { length } else { 0 }
}

/// End of the metadata at the beginning of a text, between lines of `---`.
fn front_matter(text: &[u8]) -> usize {
    let (first, mut at) = line(text, 0);
    if &text[first] != b"---" {
        return 0;
    }
    while at < text.len() {
        let (range, next) = line(text, at);
        at = next;
        if matches!(&text[range], b"---" | b"...") {
            return at;
        }
    }
    0
}

/// Byte and length of the fence that a line is, and the offset after it.
fn fence(text: &[u8], range: &Range<usize>) -> Option<(u8, usize, usize)> {
    let Range { mut start, end } = trimmed(text, range.clone());
    // In quotations and in lists.
    loop {
        let part = &text[start..end];
        let length = if part.starts_with(b">") { 1 } else { marker(part) };
        if length == 0 {
            break;
        }
        start = trimmed(text, start + length..end).start;
    }
    let part = &text[start..end];
    let byte = *part.first().filter(|&byte| matches!(byte, b'`' | b'~'))?;
    let length = part.iter().take_while(|&&other| other == byte).count();
    (length >= 3).then_some((byte, length, start + length))
}

/// The offset after code that a fence begins in a line.
fn fenced(text: &[u8], range: &Range<usize>, next: usize) -> Option<usize> {
    let (byte, length, after) = fence(text, range)?;
    if byte == b'`' && text[after..range.end].contains(&b'`') {
        return None;
    }
    let is_quoted = text[trimmed(text, range.clone())].starts_with(b">");
    let mut at = next;
    while at < text.len() {
        let (range, next) = line(text, at);
        if is_quoted && !text[trimmed(text, range.clone())].starts_with(b">") {
            return Some(at);
        }
        at = next;
        let is_end = fence(text, &range).is_some_and(|(other, count, after)| {
            other == byte && count >= length && trimmed(text, after..range.end).is_empty()
        });
        if is_end {
            break;
        }
    }
    Some(at)
}

/// The offset of the line after a comment or another block of HTML in which headings are text.
fn html(text: &[u8], range: &Range<usize>) -> Option<usize> {
    let content = trimmed(text, range.clone());
    if is_indented(&text[range.start..content.start]) {
        return None;
    }
    let (begin, end) = HTML.iter().find(|(begin, _)| text[content.clone()].starts_with(begin))?;
    let after = content.start + begin.len();
    let end = find(&text[after..], end).map_or(text.len(), |at| after + at + end.len());
    Some(line(text, end).1)
}
