//! Text within HTML and SVG.

use std::borrow::Cow;

/// Escapes text for use in elements and attributes.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            char => escaped.push(char),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn text_is_never_markup() {
        assert_eq!(escaped("<b title='\"'>&amp;"), "&lt;b title=&#39;&quot;&#39;&gt;&amp;amp;");
        assert_eq!(escaped("plain"), "plain");
    }
}
