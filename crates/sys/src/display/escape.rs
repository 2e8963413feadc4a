//! Characters that a terminal obeys, or does not draw, as escapes.

use std::io::{self, Write};

/// Whether a character is no text to see: a control character, or one that changes the order in which others are drawn, ends a
/// line, or is invisible (`Default_Ignorable_Code_Point` of Unicode). Joiners and variation selectors are text, as emoji and some
/// scripts need them.
fn is_control(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
                | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}'
        )
}

/// Replaces control characters by escapes such as `\n` and `\u{1b}`, so that a text is one line, and safe for a terminal. These
/// include characters that change the direction of text or are invisible.
pub fn escaped(text: impl IntoIterator<Item = char>) -> String {
    let mut escaped = String::new();
    text.into_iter().for_each(|char| push(char, &mut escaped));
    escaped
}

/// The same for a text of several lines: line feeds and tabs stay.
pub fn escaped_lines(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        if matches!(char, '\n' | '\t') { escaped.push(char) } else { push(char, &mut escaped) }
    }
    escaped
}

/// The same for bytes. Those that are not UTF-8 become escapes such as `\xff`, and backslashes before such an escape, or a text that
/// looks like one, are doubled, so that different bytes look different.
pub fn escaped_bytes(text: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    push_bytes(text, EscapeForm::Distinct, &[], &mut escaped);
    escaped
}

fn push(char: char, escaped: &mut String) {
    if is_control(char) { escaped.extend(char.escape_default()) } else { escaped.push(char) }
}

/// Appends bytes with the control characters escaped that are not `kept`.
fn push_bytes(text: &[u8], form: EscapeForm, kept: &[char], escaped: &mut String) {
    let is_escaped = |char: char| is_control(char) && !kept.contains(&char);
    for chunk in text.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some(at) = rest.find(|char| char == '\\' || is_escaped(char)) {
            let (plain, special) = rest.split_at(at);
            escaped.push_str(plain);
            rest = special.trim_start_matches('\\');
            let backslashes = &special[..special.len() - rest.len()];
            escaped.push_str(backslashes);
            let next = rest.chars().next();
            let is_before_escape = next.map_or(!chunk.invalid().is_empty(), is_escaped);
            if form == EscapeForm::Distinct && (is_before_escape || looks_like_escape(rest)) {
                escaped.push_str(backslashes);
            }
            if let Some(char) = next.filter(|char| is_escaped(*char)) {
                push_escape(char, form, escaped);
                rest = &rest[char.len_utf8()..];
            }
        }
        escaped.push_str(rest);
        chunk.invalid().iter().for_each(|byte| escaped.push_str(&format!("\\x{byte:02x}")));
    }
}

/// Whether a text after a backslash looks like the rest of an escape.
fn looks_like_escape(text: &str) -> bool {
    text.starts_with(['n', 'r', 't', 'x']) || text.starts_with("u{")
}

fn push_escape(char: char, form: EscapeForm, escaped: &mut String) {
    match form {
        EscapeForm::Text | EscapeForm::Distinct => escaped.extend(char.escape_default()),
        EscapeForm::Json => {
            let mut units = [0; 2];
            let units = char.encode_utf16(&mut units).iter();
            units.for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
        }
    }
}

/// Maximum number of characters of an excerpt.
const MAX_EXCERPT: usize = 100;

/// The beginning of a text, with control characters escaped.
pub fn excerpt(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut shown = escaped(text.chars().take(MAX_EXCERPT));
    if text.chars().nth(MAX_EXCERPT).is_some() {
        shown.push('…');
    }
    shown
}

/// How [`EscapingWriter`] writes a control character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeForm {
    /// `\u{1b}`.
    Text,
    /// The same, and backslashes are doubled before an escape or a text that looks like one, so that different texts look different.
    Distinct,
    /// `\u001b`, which means the same in a string of JSON.
    Json,
}

/// Writer to a terminal. Control characters but line feeds and tabs, and invalid UTF-8, are escaped. The rest of the last line
/// is written by [`flush`](Write::flush).
pub struct EscapingWriter<W: Write> {
    out: W,
    form: EscapeForm,
    /// The beginning of a line. A character is not divided by the end of a line, but by that of a write.
    line: Vec<u8>,
}

impl<W: Write> EscapingWriter<W> {
    /// A writer to `out`.
    pub fn new(out: W, form: EscapeForm) -> Self {
        Self { out, form, line: Vec::new() }
    }

    fn write_line(&mut self) -> io::Result<()> {
        let mut escaped = String::with_capacity(self.line.len());
        push_bytes(&self.line, self.form, &['\n', '\t'], &mut escaped);
        self.line.clear();
        self.out.write_all(escaped.as_bytes())
    }
}

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.write_line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_line()?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_text_without_control_characters_is_one_line() {
        assert_eq!(escaped("a\n\x1b[31mü\"".chars()), "a\\n\\u{1b}[31mü\"");
        assert_eq!(escaped_lines("a\tb\n\x1b[31m\r"), "a\tb\n\\u{1b}[31m\\r");
    }

    #[test]
    fn characters_that_are_not_drawn_or_move_others_are_escaped() {
        for (text, expected) in [
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\u{202e}b\u{2066}", "a\\u{202e}b\\u{2066}"),
            ("a\u{200b}\u{feff}", "a\\u{200b}\\u{feff}"),
            ("👩\u{200d}🔬 e\u{301} שלום", "👩\u{200d}🔬 e\u{301} שלום"),
        ] {
            assert_eq!(escaped(text.chars()), expected, "{text:?}");
        }
    }

    #[test]
    fn different_bytes_that_are_not_utf_8_look_different() {
        assert_eq!(escaped_bytes(b"a\xff\xe2\x82b\x9b\x7f"), "a\\xff\\xe2\\x82b\\x9b\\u{7f}");
    }

    #[test]
    fn escapes_differ_from_texts_that_look_like_them() {
        for (text, expected) in [
            (&b"\x1b"[..], r"\u{1b}"),
            (br"\u{1b}", r"\\u{1b}"),
            (b"\\\x1b", r"\\\u{1b}"),
            (br"\\u{1b}", r"\\\\u{1b}"),
            (b"\\\xff", r"\\\xff"),
            (br"C:\temp \\host\d+\", r"C:\\temp \\host\d+\"),
        ] {
            assert_eq!(escaped_bytes(text), expected, "{text:?}");
        }
        let parts: [&[u8]; 8] = [b"\\", b"n", b"\n", b"u{1b}", b"\x1b", b"xff", b"\xff", b"a"];
        let mut texts = vec![Vec::new()];
        for _ in 0..5 {
            texts = texts.iter().flat_map(|text| parts.map(|part| [text, part].concat())).collect();
        }
        let shown: HashSet<String> = texts.iter().map(|text| escaped_bytes(text)).collect();
        assert_eq!(shown.len(), texts.len());
    }

    #[test]
    fn invisible_characters_are_escaped_but_not_joiners_and_variation_selectors() {
        let invisible = "\u{34f}\u{3164}\u{115f}\u{180e}\u{ffa0}\u{1d173}\u{e0041}";
        assert!(escaped(invisible.chars()).is_ascii());
        let text = "\u{2764}\u{fe0f}\u{200d}\u{1f525} \u{645}\u{6cc}\u{200c}\u{62e}";
        assert_eq!(escaped(text.chars()), text);
        let mut out = Vec::new();
        let mut writer = EscapingWriter::new(&mut out, EscapeForm::Json);
        writer.write_all("\u{e0041}\\n".as_bytes()).expect("writing to memory");
        writer.flush().expect("writing to memory");
        assert_eq!(String::from_utf8_lossy(&out), r"\udb40\udc41\n");
    }

    #[test]
    fn excerpts_are_short_and_escaped() {
        assert_eq!(excerpt(b"a \"\x1b[31mb\"\xFF"), "a \"\\u{1b}[31mb\"\u{FFFD}");
        assert_eq!(excerpt(&[b'x'; 100]), "x".repeat(100));
        assert_eq!(excerpt(&[b'x'; 101]), format!("{}…", "x".repeat(100)));
    }

    #[test]
    fn a_writer_escapes_the_same_however_the_text_is_divided() {
        let text = "ä,\t\x1b[2J日\u{9b}\r\n\u{202e}x\\n".as_bytes();
        for (form, expected) in [
            (EscapeForm::Text, "ä,\t\\u{1b}[2J日\\u{9b}\\r\n\\u{202e}x\\n"),
            (EscapeForm::Distinct, "ä,\t\\u{1b}[2J日\\u{9b}\\r\n\\u{202e}x\\\\n"),
            (EscapeForm::Json, "ä,\t\\u001b[2J日\\u009b\\u000d\n\\u202ex\\n"),
        ] {
            for size in 1..=text.len() {
                let mut out = Vec::new();
                let mut writer = EscapingWriter::new(&mut out, form);
                text.chunks(size).for_each(|part| writer.write_all(part).expect("writing to memory"));
                writer.flush().expect("writing to memory");
                assert_eq!(String::from_utf8_lossy(&out), expected, "{size}");
            }
        }
    }
}
