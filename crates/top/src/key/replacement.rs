//! Replacement of a match, in the syntax of Go's `Regexp.Expand`.

use regex_automata::Match;
use regex_automata::util::captures::{Captures, GroupInfo};

/// A parsed replacement.
#[derive(Clone, Debug)]
pub(crate) struct Replacement {
    parts: Vec<Part>,
    /// References to groups that do not exist in the expression.
    unknown: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Group(usize),
}

impl Replacement {
    /// Parses a replacement for the matches of an expression with these groups. `$1`, `$name`, `${1}` and `${name}`
    /// refer to groups, and `$$` is a dollar sign. A name is as long as possible. A reference to a group that does not
    /// exist is empty; any other dollar sign is literal.
    pub(crate) fn new(text: &str, groups: &GroupInfo) -> Self {
        let mut replacement = Self { parts: Vec::new(), unknown: Vec::new() };
        let mut rest = text;
        while let Some(dollar) = rest.find('$') {
            replacement.add_text(&rest[..dollar]);
            let after = &rest[dollar + 1..];
            rest = if let Some(after) = after.strip_prefix('$') {
                replacement.add_text("$");
                after
            } else if let Some((name, after)) = reference(after) {
                replacement.add_group(name, groups);
                after
            } else {
                replacement.add_text("$");
                after
            };
        }
        replacement.add_text(rest);
        replacement
    }

    fn add_text(&mut self, text: &str) {
        for digit in text.match_indices('\\').filter_map(|(at, _)| text[at + 1..].chars().next()) {
            if digit.is_ascii_digit() {
                self.unknown.push(format!("\\{digit}"));
            }
        }
        match self.parts.last_mut() {
            Some(Part::Text(before)) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    fn add_group(&mut self, name: &str, groups: &GroupInfo) {
        let pattern = regex_automata::PatternID::ZERO;
        let is_number =
            name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
        let index = if is_number { name.parse().ok() } else { groups.to_index(pattern, name) };
        match index.filter(|&index| index < groups.group_len(pattern)) {
            Some(index) => self.parts.push(Part::Group(index)),
            None => self.unknown.push(format!("${name}")),
        }
    }

    /// Returns the replacement if it is the same for all matches.
    pub(crate) fn constant(&self) -> Option<&[u8]> {
        match &self.parts[..] {
            [] => Some(b""),
            [Part::Text(text)] => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// Returns the references to groups that do not exist in the expression, as written.
    pub(crate) fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// Appends the replacement of a match in `text` to `out`. `captures` has the groups of the match.
    #[inline]
    pub(crate) fn append(&self, found: Match, captures: &Captures, text: &[u8], out: &mut Vec<u8>) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.extend_from_slice(text.as_bytes()),
                Part::Group(0) => out.extend_from_slice(&text[found.range()]),
                Part::Group(index) => {
                    if let Some(span) = captures.get_group(*index) {
                        out.extend_from_slice(&text[span]);
                    }
                }
            }
        }
    }
}

/// Splits the text after a dollar sign into the name or number of a group and the rest.
fn reference(text: &str) -> Option<(&str, &str)> {
    let (braced, text) = text.strip_prefix('{').map_or((false, text), |text| (true, text));
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    let (name, rest) = text.split_at(text.find(|char| !is_part(char)).unwrap_or(text.len()));
    let rest = if braced { rest.strip_prefix('}')? } else { rest };
    (!name.is_empty()).then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use regex_automata::meta::Regex;

    use super::*;

    fn replaced(pattern: &str, replacement: &str, text: &str) -> String {
        let regex = Regex::new(pattern).expect("a valid pattern");
        let mut captures = regex.create_captures();
        regex.captures(text, &mut captures);
        let (found, mut out) = (captures.get_match().expect("a match"), Vec::new());
        Replacement::new(replacement, regex.group_info()).append(found, &captures, text.as_bytes(), &mut out);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn references_have_the_syntax_of_go() {
        let replaced = |replacement| replaced("(a)(?<word>b)(c)?", replacement, "ab");
        for (replacement, expected) in [
            ("$1-$word-$2", "a-b-b"),
            ("${1}x${word}x", "axbx"),
            ("$1x", ""),
            ("$1é", ""),
            ("[$01]", "[]"),
            ("$0$$", "ab$"),
            ("$", "$"),
            ("$-$", "$-$"),
            ("${}${1", "${}${1"),
            ("${a-b}", "${a-b}"),
            ("$3|$4|$99999999999999999999", "||"),
            (r"\1", r"\1"),
        ] {
            assert_eq!(replaced(replacement), expected, "{replacement}");
        }
    }

    #[test]
    fn references_to_missing_groups_are_reported() {
        let regex = Regex::new("(a)(?<word>b)").expect("a valid pattern");
        let unknown = |text| Replacement::new(text, regex.group_info()).unknown;
        assert_eq!(unknown("$1 $3 $word $$ ${wort} $1x $0"), ["$3", "$wort", "$1x"]);
        assert_eq!(unknown(r"\1 \n \\"), [r"\1"]);
    }

    #[test]
    fn a_replacement_without_groups_is_constant() {
        let regex = Regex::new("(a)").expect("a valid pattern");
        let constant = |text| Replacement::new(text, regex.group_info()).constant().map(<[u8]>::to_vec);
        assert_eq!(constant("$$x$"), Some(b"$x$".to_vec()));
        assert_eq!(constant("$9"), Some(vec![]));
        assert_eq!(constant("x$1"), None);
    }
}
