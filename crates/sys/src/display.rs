//! Text on a terminal: the columns that it takes, and control characters in it.

mod escape;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub use escape::{EscapeForm, EscapingWriter, escaped, escaped_bytes, escaped_lines, excerpt};

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

/// The longest end of a text that takes at most this many columns.
pub fn ending(text: &str, columns: usize) -> &str {
    let mut left = columns;
    let mut start = text.len();
    for (at, char) in text.char_indices().rev() {
        let own = char.width().unwrap_or(1);
        if own > left {
            break;
        }
        left -= own;
        // A combining mark belongs to the character before it.
        if own > 0 {
            start = at;
        }
    }
    &text[start..]
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
    fn an_ending_has_no_half_of_a_character() {
        let text = "be\u{301}日a";
        let endings = ["", "a", "a", "日a", "e\u{301}日a", text, text];
        for (columns, expected) in endings.into_iter().enumerate() {
            assert_eq!(ending(text, columns), expected, "{columns}");
        }
    }
}
