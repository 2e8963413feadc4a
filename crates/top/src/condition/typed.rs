//! Conditions that are being typed: where a field begins, and how it is written.

use super::token::{is_in_step, starts_step};
use crate::field::Field;

impl Field {
    /// A text that a condition reads as this field: `$7`, `status`, `` request.`user agent` ``.
    pub fn in_condition(&self) -> String {
        match self {
            Self::Position(number) => format!("${number}"),
            Self::Named(name) => match name.written_with(push_key) {
                written if is_word(&written) => format!("`{written}`"),
                written => written,
            },
        }
    }
}

/// Whether a name has a meaning of its own in a condition.
fn is_word(name: &str) -> bool {
    matches!(name, "and" | "or" | "not" | "true" | "false")
}

/// Appends a key, in backquotes if it would be something else without.
fn push_key(key: &str, out: &mut String) {
    let begins = !out.is_empty() || key.starts_with(starts_step);
    if begins && !key.is_empty() && key.chars().all(is_in_step) {
        out.push_str(key);
    } else {
        out.push('`');
        out.push_str(&key.replace('`', "``"));
        out.push('`');
    }
}

/// Returns the offset of the name of a field at the end of an unfinished condition, which is its length if a name may begin there. Returns
/// `None` within a string, a number or a position, where no name can be.
pub fn field_start(condition: &str) -> Option<usize> {
    let mut start = None;
    let mut chars = condition.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' | '\'' => {
                start = None;
                skip_string(&mut chars, char)?;
            }
            '`' => {
                start = start.or(Some(at));
                // Without an end, this is the key that is being typed.
                chars.find(|&(_, char)| char == '`');
            }
            '$' => start = start.or(Some(at)),
            _ if is_in_step(char) || matches!(char, '.' | '[' | ']') => start = start.or(Some(at)),
            _ => start = None,
        }
    }
    let Some(start) = start else { return Some(condition.len()) };
    let name = &condition[start..];
    let name = name.strip_prefix('.').unwrap_or(name);
    (name.is_empty() || name.starts_with(starts_step) || name.starts_with('`')).then_some(start)
}

/// Skips the rest of a string; `None` if it has no end.
fn skip_string(chars: &mut std::str::CharIndices<'_>, quote: char) -> Option<()> {
    loop {
        match chars.next()?.1 {
            '\\' => drop(chars.next()),
            char if char == quote => return Some(()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::condition::Condition;
    use crate::field::{Name, Step};
    use crate::pattern::Case;

    fn start(condition: &str) -> Option<&str> {
        field_start(condition).map(|start| &condition[start..])
    }

    #[test]
    fn names_are_in_backquotes_where_they_need_them() {
        let written = |name| Field::named(name).in_condition();
        for plain in ["status", "@t", "u:v", "a/b", "x-1", "größe", "android"] {
            assert_eq!(written(plain), plain);
        }
        for (name, expected) in [("a.b", "`a.b`"), ("0x", "`0x`"), ("-a", "`-a`"), ("a`b", "`a``b`")] {
            assert_eq!(written(name), expected);
        }
        assert_eq!(written("and"), "`and`");
        assert_eq!(Field::Position(-1).in_condition(), "$-1");
        assert_eq!(Field::parse("a.7[01].\"b c\".and").expect("a field").in_condition(), "a.7[01].`b c`.and");
    }

    #[test]
    fn the_name_at_the_end_is_found() {
        assert_eq!(start(""), Some(""));
        assert_eq!(start("sta"), Some("sta"));
        assert_eq!(start("status >= 500 && !(.pa"), Some(".pa"));
        assert_eq!(start("a.`b c`.d"), Some("a.`b c`.d"));
        assert_eq!(start("x == 1 or `c "), Some("`c "));
        assert_eq!(start("x == 'it' && u:"), Some("u:"));
        for other in ["x == 50", "user ~ \"pa", "user ~ 'a\\'b", "$7", "x > -1"] {
            assert_eq!(start(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn a_condition_reads_the_same_field(
            keys in prop::collection::vec(r#"(and|or|not|true|false|[a-c.0-2@_:/"'` ~-]|ä){1,5}"#, 1..4),
            before in "(a == 1 && |!|x ~ '`' or \\()?",
        ) {
            let path = keys.iter().cloned().map(Step::Key).collect();
            let field = Field::Named(Name { text: keys.join("."), path });
            let written = field.in_condition();
            let condition = Condition::new(&format!("{written} == 1"), Case::Distinct).expect("a condition");
            prop_assert_eq!(condition.fields(), [field]);
            let typed = format!("{before}{written}");
            prop_assert_eq!(field_start(&typed), Some(before.len()));
            for (end, _) in written.char_indices() {
                prop_assert_eq!(field_start(&typed[..before.len() + end]), Some(before.len()));
            }
        }
    }
}
