//! Detection of JSON whose records are not its lines.

use finecomb_scan::{MemberPath, ObjectSpans};
use memchr::{memchr, memmem};

use super::{first_lines, is_format, is_json};

/// Whether the records of a text of JSON are not its lines: it begins with an array of objects, an object over several lines, or
/// two objects in a line. `None` if more of the text is needed.
pub(crate) fn detect_documents(head: &[u8], is_all: bool) -> Option<bool> {
    let text = without_empty(head);
    match text.first() {
        Some(b'[') => {
            return after_brackets(text).map(|inner| inner[0] == b'{').or(is_all.then_some(true));
        }
        Some(b'{') => {}
        Some(_) => return Some(false),
        None => return is_all.then_some(false),
    }
    let line = match memchr(b'\n', text) {
        Some(end) => &text[..end],
        None if is_all => text,
        None => return None,
    };
    if is_json(line) {
        return Some(has_documents(line));
    }
    let (lines, length) = first_lines(head, is_all)?;
    Some(!is_format(&lines, is_json) && has_documents(&head[..length]))
}

/// A text without its first lines that are blank or empty objects: these are a line each in all texts.
fn without_empty(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        match text.strip_prefix(b"{}").map(|rest| (rest, rest.trim_ascii_start())) {
            Some((rest, next)) if rest.len() > next.len() => text = next,
            _ => return text,
        }
    }
}

/// The text after the brackets of the arrays at its beginning, which may be empty. `None` if nothing follows.
fn after_brackets(text: &[u8]) -> Option<&[u8]> {
    let is_inner = |byte: &u8| !byte.is_ascii_whitespace() && !b"[],".contains(byte);
    text.iter().position(is_inner).map(|inner| &text[inner..])
}

/// Whether a text begins with an array of objects, an object over several lines, or two objects in a line.
pub(super) fn has_documents(text: &[u8]) -> bool {
    let text = without_empty(text);
    let is_array = text.first() == Some(&b'[');
    let object = if is_array { after_brackets(text) } else { Some(text) };
    let Some(object) = object else { return true };
    let Some(inner) = object.strip_prefix(b"{") else { return false };
    if !matches!(inner.trim_ascii_start().first(), Some(b'"' | b'}')) {
        return false;
    }
    is_array || has_several(text)
}

/// Whether the first object of a text spans lines, or another one is in its line.
fn has_several(text: &[u8]) -> bool {
    let mut spans = ObjectSpans::default();
    let found = spans.find(text, MemberPath::default());
    let has_line_end = |(start, end): (usize, usize)| memchr(b'\n', &text[start..end]).is_some();
    // An object that is cut off before the next line is none. One over several lines without indents has its bracket alone in a line.
    let is_cut_off = |(start, end): (usize, usize)| {
        let object = &text[start..end];
        let is_alone = matches!(object, [b'{', b'\n', ..] | [b'{', b'\r', b'\n', ..]);
        !is_alone && memmem::find(object, b"\n{").is_some()
    };
    found.first().is_some_and(|&span| has_line_end(span) && !is_cut_off(span))
        || found.get(1).is_some_and(|&(start, _)| text[start] == b'{' && !has_line_end((0, start)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::format::detect::{Detected, detect};

    #[test]
    fn arrays_and_objects_over_several_lines_are_documents() {
        let cases = [
            ("[{\"a\":1}]", true),
            ("[\n  {\n    \"a\": 1\n  }\n]\n", true),
            ("{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n", true),
            ("{\"a\":1}{\"a\":2}{\"a\":3}\n", true),
            ("{\"a\":[{\n}]}", true),
            ("{}\n{}\n{\n  \"a\": 1\n}\n", true),
            ("{\"a\":1}\n{\"a\":2}\n", false),
            ("{\"a\":1}\n", false),
            ("{\"a\":1} {\"a\"", true),
            ("{\"a\": \"b\"\n{\"a\": \"c\"}x\n{\"a\": \"d\"}\n}\n", false),
            ("{\n\"a\": [\n{\n\"b\": 1\n}\n]\n}\n", true),
            ("[]", true),
            ("[]\n[{\"a\":1}]\n", true),
            ("[\n]\n[\n  [{\"a\":1}]\n]\n", true),
            ("[1]\n{\"a\":1}\n", false),
            ("[1, 2]\n", false),
            ("[] done\n", false),
            ("[{name}]\n", false),
            ("[info] {\"a\":1}\n", false),
            ("{name}\n{other}\n", false),
            ("{\n", false),
            ("function() {\n  \"use strict\";\n}\n", false),
        ];
        for (text, is_detected) in cases {
            let detected = detect(text.as_bytes(), true, &[]);
            assert_eq!(detected == Some(Detected::Documents), is_detected, "{text}");
        }
        // If the format is known, the first line decides as soon as possible.
        for (head, decision) in [
            ("", None),
            ("[", None),
            ("[\n[],", None),
            ("[[{", Some(true)),
            ("[1", Some(false)),
            ("[]\nx", Some(false)),
            ("{\"a\":1}\n", Some(false)),
            ("{\"a\":1}{}\n", Some(true)),
            ("{\"a\":1", None),
            ("{\n\"a\":1", None),
            ("text", Some(false)),
        ] {
            assert_eq!(detect_documents(head.as_bytes(), false), decision, "{head}");
        }
        assert_eq!(detect_documents(b"[]", true), Some(true));
        assert_eq!(detect_documents(b"{\n\"a\":1", true), Some(true));
        assert_eq!(detect_documents(b"{\"a\":\n{\"a\":1}\n{\"a\":2}\n", true), Some(false));
    }
}
