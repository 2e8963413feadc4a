//! Records of the rest of a text that ends in an object which is never closed.

use std::ops::ControlFlow;

use memchr::{memchr, memrchr};

use super::{Mark, MemberPath, ObjectState, Objects, Span, trimmed};

/// Divides a part of a text with one record, which is never closed and begins at `first`. The next record is taken to begin with
/// the next line that has an opening brace, indented no further than that of the last: so only this record is lost if the text is
/// written in lines.
pub(super) fn divide(text: &[u8], (begin, end): Span, first: usize, spans: &mut Vec<Span>) {
    let line_end = |from: usize| memchr(b'\n', &text[from..end]).map_or(end, |length| from + length);
    let line = memrchr(b'\n', &text[begin..first]).map_or(begin, |line_end| begin + line_end + 1);
    let widest = first - line;
    let (mut start, mut line) = (first, line_end(first) + 1);
    while line < end {
        let next = line_end(line);
        let is_before = |byte: &u8| b" \t,".contains(byte);
        let indent = text[line..next].iter().take_while(|&byte| is_before(byte)).count();
        if indent <= widest && text[line..next].get(indent) == Some(&b'{') {
            spans.push(record(text, (start, line)));
            start = line + indent;
        }
        line = next + 1;
    }
    spans.push(record(text, (start, end)));
}

/// Divides a text whose last record is never closed.
pub(super) fn divide_last(text: &[u8], array: MemberPath, spans: &mut Vec<Span>) {
    spans.clear();
    if let Some(first) = record_start(text, array, spans) {
        divide(text, (0, text.len()), first, spans);
    }
}

/// The position of the record. Text before it that is no object is added to `spans`.
fn record_start(text: &[u8], array: MemberPath, spans: &mut Vec<Span>) -> Option<usize> {
    let (mut record, mut other) = (None, None);
    Objects::new(array).visit(text, &mut ObjectState::default(), |mark| {
        match mark {
            Mark::Record(at) => record = Some(at),
            Mark::Other(at) => other = Some(at),
            Mark::EndOfOther(end) => spans.extend(other.take().map(|at| trimmed(text, (at, end)))),
            Mark::Document(_) | Mark::Array | Mark::End(_) => {}
        }
        ControlFlow::Continue(())
    });
    record
}

/// The record in a part of a text: its object, or all of it if the object is not closed by a brace.
fn record(text: &[u8], (start, end): Span) -> Span {
    match Objects::new(MemberPath::default()).first_end(&text[start..end], ObjectState::default()) {
        Ok(last) if text[start + last] == b'}' => (start, start + last + 1),
        _ => trimmed(text, (start, end)),
    }
}
