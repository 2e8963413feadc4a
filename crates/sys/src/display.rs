//! Text on a terminal: the columns that it takes, and control characters in it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Number of columns that a text takes: two for a wide character such as those of Chinese, none for a combining one, and one for any other.
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// The longest beginning of a text that takes at most this many columns.
pub fn beginning(text: &str, columns: usize) -> &str {
    let mut left = columns;
    let is_too_wide = |char: char| {
        let own = char.width().unwrap_or(1);
        let is_too_wide = own > left;
        left = left.saturating_sub(own);
        is_too_wide
    };
    text.split(is_too_wide).next().unwrap_or_default()
}

/// Replaces control characters by escapes such as `\n`, so that a text is one line, and safe for a terminal.
pub fn escaped(text: impl IntoIterator<Item = char>) -> String {
    let mut escaped = String::new();
    for char in text {
        if char.is_control() { escaped.extend(char.escape_default()) } else { escaped.push(char) }
    }
    escaped
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns_and_combining_ones_none() {
        for (text, columns) in
            [("", 0), ("key", 3), ("größer", 6), ("日本", 4), ("e\u{301}", 1), ("\t", 1), ("ü\n", 2)]
        {
            assert_eq!(width(text), columns, "{text:?}");
        }
    }

    #[test]
    fn a_beginning_has_no_half_of_a_character() {
        let text = "a日e\u{301}b";
        let beginnings = ["", "a", "a", "a日", "a日e\u{301}", text, text];
        for (columns, expected) in beginnings.into_iter().enumerate() {
            assert_eq!(beginning(text, columns), expected, "{columns}");
        }
    }

    #[test]
    fn a_text_without_control_characters_is_one_line() {
        assert_eq!(escaped("a\n\x1b[31mü\"".chars()), "a\\n\\u{1b}[31mü\"");
    }

    #[test]
    fn excerpts_are_short_and_escaped() {
        assert_eq!(excerpt(b"a \"\x1b[31mb\"\xFF"), "a \"\\u{1b}[31mb\"\u{FFFD}");
        assert_eq!(excerpt(&[b'x'; 100]), "x".repeat(100));
        assert_eq!(excerpt(&[b'x'; 101]), format!("{}…", "x".repeat(100)));
    }
}
