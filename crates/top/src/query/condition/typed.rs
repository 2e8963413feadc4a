//! Conditions that are being typed: where a field begins, and how it is written.

use super::parse::{OPERATORS, Operator};
use super::token::{WORD_OPERATORS, WORD_STRINGS, is_in_step, starts_step};
use crate::query::field::Field;

impl Field {
    /// A text that a condition reads as this field: `$7`, `status`, `` request.`user agent` ``.
    pub fn in_condition(&self) -> String {
        match self {
            Self::Position(number) => format!("${number}"),
            Self::Named(_) if self.is_input() => Self::INPUT.to_owned(),
            Self::Named(name) => match name.written_with(push_key) {
                written if written == Self::INPUT => format!("`{written}`"),
                written if WORD_OPERATORS.into_iter().chain(WORD_STRINGS).any(|word| word == written) => {
                    format!("`{written}`")
                }
                written => written,
            },
        }
    }
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

/// The next part of a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextPart {
    Operand,
    /// A regular expression.
    Pattern,
    Operator,
}

/// The symbol at the beginning of a text, and the rest of the text.
fn symbol(text: &str) -> Option<(&'static str, NextPart)> {
    let operators = OPERATORS.into_iter().map(|(name, operator)| match operator {
        Operator::Compare(_) => (name, NextPart::Operand),
        Operator::Match(_) => (name, NextPart::Pattern),
    });
    // `!` after the operators that start with it.
    let others = ["&&", "||", "!", "("].map(|name| (name, NextPart::Operand));
    let mut symbols = operators.chain(others).chain([(")", NextPart::Operator)]);
    symbols.find(|(name, _)| text.starts_with(name))
}

/// Returns the offset of the name of a field at the end of an unfinished condition, which is its length if a name may begin there.
/// Returns `None` where no name is allowed, as within a string or after a comparison.
pub fn field_start(condition: &str) -> Option<usize> {
    let mut expected = NextPart::Operand;
    let mut rest = condition.trim_start();
    while !rest.is_empty() {
        let word = &rest[..word_length(rest)];
        if let Some((symbol, then)) = symbol(rest) {
            (rest, expected) = (&rest[symbol.len()..], then);
        } else if rest.starts_with(['"', '\'']) {
            (rest, expected) = (&rest[string_length(rest)?..], NextPart::Operator);
        } else if word.is_empty() {
            return None;
        } else if word.len() == rest.len() {
            let name = word.strip_prefix('.').unwrap_or(word);
            let is_name = name.is_empty() || name.starts_with(starts_step) || name.starts_with('`');
            return (expected == NextPart::Operand && is_name).then_some(condition.len() - word.len());
        } else {
            rest = &rest[word.len()..];
            expected = match word {
                "not" if expected == NextPart::Operand => NextPart::Operand,
                "and" | "or" if expected == NextPart::Operator => NextPart::Operand,
                _ => NextPart::Operator,
            };
        }
        rest = rest.trim_start();
    }
    (expected == NextPart::Operand).then_some(condition.len())
}

/// The length of the name, number or position at the beginning of a text. A backquote that is not closed takes in the rest. After a
/// closed one, and after an index, only another step continues a name: `` `a b`and `` is a name and an operator.
fn word_length(text: &str) -> usize {
    let mut chars = text.char_indices();
    let mut is_closed = false;
    while let Some((at, char)) = chars.next() {
        match char {
            '`' => is_closed = chars.any(|(_, char)| char == '`'),
            '.' | '[' => is_closed = false,
            ']' => is_closed = true,
            _ if is_closed => return at,
            '$' | '+' => {}
            char if is_in_step(char) => {}
            _ => return at,
        }
    }
    text.len()
}

/// The length of the string at the beginning of a text; `None` if it is not closed.
fn string_length(text: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    let (_, quote) = chars.next()?;
    loop {
        match chars.next()? {
            (_, '\\') => drop(chars.next()),
            (at, char) if char == quote => return Some(at + 1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::key::expression::Case;
    use crate::query::condition::Condition;
    use crate::query::field::{Name, Step};

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
        assert_eq!(Field::input().in_condition(), "@file");
        assert_eq!(written("@file"), "`@file`");
        assert_eq!(Field::parse("a.7[01].\"b c\".and").expect("a field").in_condition(), "a.7[01].`b c`.and");
    }

    #[test]
    fn the_name_at_the_end_is_found() {
        assert_eq!(start(""), Some(""));
        assert_eq!(start("sta"), Some("sta"));
        assert_eq!(start("status >= 500 && !(.pa"), Some(".pa"));
        assert_eq!(start("a.`b c`.d"), Some("a.`b c`.d"));
        assert_eq!(start("x == 1 or `c "), Some("`c "));
        assert_eq!(start("`b c`and "), Some(""));
        assert_eq!(start("a[0]or x"), Some("x"));
        assert_eq!(start("`b``c`.d"), Some("`b``c`.d"));
        assert_eq!(start("x == 'it' && u:"), Some("u:"));
        assert_eq!(start("not (x = "), Some(""));
        assert_eq!(start("x == 1 and"), None);
        for other in
            ["x == 50", "user ~ \"pa", "user ~ 'a\\'b", "$7", "x > -1", "x == 1 an", "x ", "x ~ ", "(x) "]
        {
            assert_eq!(start(other), None, "{other}");
        }
    }

    /// Whether a condition is one, if all its parentheses are closed.
    fn is_condition(text: &str) -> bool {
        let closed = |depth| Condition::new(&format!("{text}{}", ")".repeat(depth)), Case::Distinct).is_ok();
        (0..6).any(closed)
    }

    proptest! {
        #[test]
        fn a_name_is_expected_where_the_parser_takes_one(
            tokens in prop::collection::vec("a|`b c`|[.]d|1|-2k|[$]1|'x'|\"\"|true|==|=|!=|~|!~|<|>=|&&|[|][|]|and|or|not|!|[(]|[)]", 0..6),
            blank in " ?",
        ) {
            let condition = format!("{} ", tokens.join(&blank));
            if is_condition(&format!("{condition}zz")) || is_condition(&format!("{condition}zz == 1")) {
                prop_assert_eq!(field_start(&condition), Some(condition.len()));
                prop_assert_eq!(field_start(&format!("{condition}z")), Some(condition.len()));
            }
            if is_condition(&condition) {
                prop_assert_eq!(field_start(&condition), None);
                prop_assert_eq!(field_start(&format!("{condition}z")), None);
            }
        }

        #[test]
        fn a_condition_reads_the_same_field(
            keys in prop::collection::vec(r#"(and|or|not|true|false|[a-c.0-2@_:/"'` ~-]|ä){1,5}"#, 1..4),
            before in "(a == 1 && |!|x ~ '`' or \\(|x<=)?",
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
