//! How a pattern of ag is searched for: ag matches across lines, which takes whole files in memory, and by PCRE, but most
//! patterns need neither.

/// Whether a pattern has no special characters.
pub(super) fn is_literal(pattern: &str) -> bool {
    !pattern.contains(|char: char| r"\.+*?()|[]{}^$".contains(char))
        && !pattern.contains(|char: char| char.is_control())
}

/// Whether a match may hold a line feed, or depends on where a text begins and ends. If in doubt, `true`.
pub(super) fn may_span_lines(pattern: &str, is_literal: bool) -> bool {
    if is_literal {
        return pattern.contains('\n');
    }
    // A range that begins at a character before the line feed may hold it, such as [\t- ].
    if pattern.contains(|char: char| char.is_control())
        || ["[^", "[:", r"\t-"].iter().any(|part| pattern.contains(part))
    {
        return true;
    }
    let mut chars = pattern.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('\\', Some(&escaped)) => {
                if escaped.is_ascii_alphanumeric() && !"wdbBSt".contains(escaped) {
                    return true;
                }
                chars.next();
            }
            ('\\', None) => return true,
            ('(', Some('?' | '*')) => {
                let inside: String = chars.clone().take(3).collect();
                let is_known =
                    ["?:", "?=", "?!", "?<=", "?<!", "?i)"].iter().any(|known| inside.starts_with(known));
                if !is_known {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{is_literal, may_span_lines};

    #[test]
    fn special_characters_are_not_literal() {
        assert!(is_literal("foo-bar /baz_1"));
        for pattern in ["a.b", "a+", "^a", "a$", r"\d", "(a", "[a]", "a{2}", "a|b", "a\nb"] {
            assert!(!is_literal(pattern), "{pattern}");
        }
    }

    #[test]
    fn patterns_without_a_line_feed_in_reach_are_searched_for_line_by_line() {
        for pattern in ["foo.*bar", r"\bfoo\(", r"(?:a|b)+c{2}", "(?<!x)y", r"[a-z]\w*", r"^\S+$", "a(?i)b"] {
            assert!(!may_span_lines(pattern, false), "{pattern}");
        }
        let spanning =
            "a\\s+b  a\\nb  a\nb  [^x]  \\W  (?s)a.b  \\x0a  [[:space:]]  [\\t-z]  \\Aa  (*LF)a  \\1";
        for pattern in spanning.split("  ") {
            assert!(may_span_lines(pattern, false), "{pattern}");
        }
        assert!(!may_span_lines(r"a\nb", true));
        assert!(may_span_lines("a\nb", true));
    }
}
