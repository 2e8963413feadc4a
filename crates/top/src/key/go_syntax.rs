//! Translates regular expressions from the syntax of Go, which topfew uses, into that of the `regex-syntax` crate.
//!
//! Most expressions are the same in both. An expression that is valid in Go keeps its meaning: in brackets, `[`, `&&`,
//! `--` and `~~` are literal, braces without counts are literal, `\d`, `\s`, `\w` and `\b` are ASCII, and `\Q…\E`
//! quotes. Syntax that Go rejects is left unchanged, so that the `regex` crate either gives it a meaning, as to `(?x)`
//! and `(?-u)`, or rejects it. `(?u)` makes `\d`, `\s`, `\w` and `\b` Unicode-aware. `\b{start}` and similar assertions
//! are boundaries, although the braces would be literal in Go.

use std::ops::Range;

use regex_syntax::is_meta_character;

/// An expression in the syntax of `regex-syntax`, with the origin of its parts in the given expression.
#[derive(Debug)]
pub(crate) struct Translation {
    pub(crate) text: String,
    /// Start of each part in `text` and its origin, in order.
    parts: Vec<(usize, Range<usize>)>,
    /// Length of the given expression.
    given: usize,
}

/// A syntax error with its place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) span: Range<usize>,
    pub(crate) reason: &'static str,
}

/// Translates an expression. Errors that `regex-syntax` also detects are left to it.
pub(crate) fn translate(pattern: &str) -> Result<Translation, Mistake> {
    let mut translator = Translator {
        pattern,
        at: 0,
        out: Translation {
            text: String::with_capacity(pattern.len()),
            parts: Vec::new(),
            given: pattern.len(),
        },
        mode: Mode { classes: Classes::Go, verbose: false },
        outer: Vec::new(),
    };
    while translator.at < pattern.len() {
        translator.item()?;
    }
    Ok(translator.out)
}

impl Translation {
    /// Maps a span of the translation to the given expression.
    pub(crate) fn origin(&self, span: Range<usize>) -> Range<usize> {
        let start = self.origin_of(span.start).start;
        let end = if span.is_empty() { start } else { self.origin_of(span.end - 1).end };
        start..end.max(start)
    }

    /// Origin of a byte of the translation: one byte if it was copied, else all bytes that its part replaces.
    fn origin_of(&self, at: usize) -> Range<usize> {
        let next = self.parts.partition_point(|&(begin, _)| begin <= at);
        let part = next.checked_sub(1).map(|index| &self.parts[index]);
        let Some((begin, part)) = part.filter(|_| at < self.text.len()) else {
            return self.given..self.given;
        };
        let end = self.parts.get(next).map_or(self.text.len(), |&(begin, _)| begin);
        let copied = part.start + (at - begin);
        if end - begin == part.len() { copied..copied + 1 } else { part.clone() }
    }
}

/// Meaning of `\d`, `\s`, `\w` and `\b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Classes {
    /// ASCII characters among all characters.
    Go,
    /// Unicode characters: after `(?u)`.
    Unicode,
    /// ASCII characters among all bytes: after `(?-u)`.
    Bytes,
}

/// Active flags.
#[derive(Clone, Copy, Debug)]
struct Mode {
    classes: Classes,
    /// Whether white space and comments are ignored: after `(?x)`.
    verbose: bool,
}

struct Translator<'p> {
    pattern: &'p str,
    at: usize,
    out: Translation,
    mode: Mode,
    /// Modes outside of the open groups.
    outer: Vec<Mode>,
}

/// Names of classes, as in `[[:alpha:]]`.
const NAMES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
    "upper", "word", "xdigit",
];

/// Sides of a word, as in `\b{start}`.
const SIDES: [&str; 4] = ["{start}", "{end}", "{start-half}", "{end-half}"];

impl<'p> Translator<'p> {
    fn rest(&self) -> &'p str {
        &self.pattern[self.at..]
    }

    /// Replaces the next `length` bytes with `text`.
    fn put(&mut self, length: usize, text: &str) {
        self.out.parts.push((self.out.text.len(), self.at..self.at + length));
        self.out.text.push_str(text);
        self.at += length;
    }

    fn copy(&mut self, length: usize) {
        let text = &self.rest()[..length];
        self.put(length, text);
    }

    /// Replaces the next `length` bytes with a literal character.
    fn put_literal(&mut self, length: usize, char: char) {
        match char {
            char if is_meta_character(char) => self.put(length, &format!("\\{char}")),
            char if self.mode.verbose && char.is_whitespace() => {
                self.put(length, &format!("\\x{{{:X}}}", u32::from(char)));
            }
            char => self.put(length, char.encode_utf8(&mut [0; 4])),
        }
    }

    /// Translates the next item outside of brackets.
    fn item(&mut self) -> Result<(), Mistake> {
        let rest = self.rest();
        let Some(char) = rest.chars().next() else { return Ok(()) };
        match char {
            '\\' => self.escape(),
            '[' => self.class()?,
            '(' => self.group(),
            ')' => {
                self.mode = self.outer.pop().unwrap_or(self.mode);
                self.copy(1);
            }
            '{' => match repetition(rest) {
                Some(length) => self.copy(length),
                None => self.put_literal(1, char),
            },
            ']' | '}' => self.put_literal(1, char),
            '#' if self.mode.verbose => self.copy(rest.find('\n').unwrap_or(rest.len())),
            '#' => self.put_literal(1, char),
            char => self.copy(char.len_utf8()),
        }
        Ok(())
    }

    fn escape(&mut self) {
        let rest = self.rest();
        let mut chars = rest[1..].chars();
        match chars.next() {
            Some('Q') => self.quote(),
            Some(name @ ('b' | 'B')) => {
                let side = SIDES.into_iter().find(|side| name == 'b' && chars.as_str().starts_with(side));
                let length = 2 + side.map_or(0, str::len);
                match self.mode.classes {
                    Classes::Go => self.put(length, &format!("(?-u:{})", &rest[..length])),
                    Classes::Unicode | Classes::Bytes => self.copy(length),
                }
            }
            Some('A' | 'z') => self.copy(2),
            // An escape of the `regex` crate.
            Some('u' | 'U') => {
                let braces = rest[2..].starts_with('{').then(|| rest.find('}')).flatten();
                self.copy(braces.map_or(2, |end| end + 1));
            }
            _ if self.named_class() => {}
            _ => match number(rest) {
                Some((length, code)) => self.put(length, &coded(code)),
                None => match escaped(rest) {
                    Some(char) => self.put_literal(2, char),
                    None => self.copy(rest.chars().take(2).map(char::len_utf8).sum()),
                },
            },
        }
    }

    /// Translates `\Q…\E`.
    fn quote(&mut self) {
        self.at += 2;
        let end = self.rest().find("\\E");
        for char in self.rest()[..end.unwrap_or(self.rest().len())].chars() {
            self.put_literal(char.len_utf8(), char);
        }
        self.at += if end.is_some() { 2 } else { 0 };
    }

    /// Translates a class such as `\d`, in brackets or not. Returns `false` if there is none.
    fn named_class(&mut self) -> bool {
        let rest = self.rest();
        let Some(name) = rest.strip_prefix('\\').and_then(|rest| rest.chars().next()) else { return false };
        let ascii = match name {
            'd' => "[0-9]",
            'D' => "[^0-9]",
            's' => r"[\t\n\x0C\r\x20]",
            'S' => r"[^\t\n\x0C\r\x20]",
            'w' => "[0-9A-Za-z_]",
            'W' => "[^0-9A-Za-z_]",
            'p' | 'P' => {
                self.property(name);
                return true;
            }
            _ => return false,
        };
        if self.mode.classes == Classes::Go {
            self.put(2, ascii)
        } else {
            self.copy(2)
        }
        true
    }

    /// Translates `\pL`, `\p{Greek}` or `\p{^Greek}`.
    fn property(&mut self, name: char) {
        let rest = &self.rest()[2..];
        let length = match rest.chars().next() {
            Some('{') => rest.find('}').map_or(rest.len(), |end| end + 1),
            Some(char) => char.len_utf8(),
            None => 0,
        };
        match rest[..length].strip_prefix("{^") {
            Some(property) => {
                let opposite = if name == 'p' { 'P' } else { 'p' };
                self.put(2 + length, &format!("\\{opposite}{{{property}"));
            }
            None => self.copy(2 + length),
        }
    }

    /// Translates the start of a group, or flags.
    fn group(&mut self) {
        let rest = self.rest();
        let length = match rest.strip_prefix("(?") {
            None => 1,
            Some(inner) => {
                let name = ["P<", "<"].into_iter().find_map(|open| inner.strip_prefix(open));
                match name.and_then(|name| name.find('>')) {
                    Some(_) => rest.find('>').map_or(2, |end| end + 1),
                    None => return self.flags(inner),
                }
            }
        };
        self.outer.push(self.mode);
        self.copy(length);
    }

    /// Translates `(?flags)` or `(?flags:`. Go allows repeated flags.
    fn flags(&mut self, inner: &str) {
        let Some(end) = inner.find([':', ')']) else { return self.copy(2) };
        let (flags, outer) = (&inner[..end], self.mode);
        let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
        let is_flag = |flag: char| "imsUuxR".contains(flag);
        if flags.ends_with('-') || !on.chars().all(is_flag) || !off.chars().all(is_flag) {
            return self.copy(2);
        }
        let set: String = each_once(on).filter(|&flag| !off.contains(flag)).collect();
        let unset: String = each_once(off).collect();
        let dash = if unset.is_empty() { "" } else { "-" };
        for (flags, value) in [(&set, true), (&unset, false)] {
            if flags.contains('u') {
                self.mode.classes = if value { Classes::Unicode } else { Classes::Bytes };
            }
            if flags.contains('x') {
                self.mode.verbose = value;
            }
        }
        let length = 2 + end + 1;
        if inner[end..].starts_with(':') {
            self.outer.push(outer);
            self.put(length, &format!("(?{set}{dash}{unset}:"));
        } else if flags.is_empty() {
            self.put(length, "(?:)");
        } else {
            self.put(length, &format!("(?{set}{dash}{unset})"));
        }
    }

    /// Translates a class in brackets. An unclosed class is left unclosed.
    fn class(&mut self) -> Result<(), Mistake> {
        self.copy(if self.rest().starts_with("[^") { 2 } else { 1 });
        let mut first = true;
        while !self.rest().is_empty() && (first || !self.rest().starts_with(']')) {
            first = false;
            if !self.posix_class()? && !self.named_class() {
                self.range();
            }
        }
        if !self.rest().is_empty() {
            self.copy(1);
        }
        Ok(())
    }

    /// Translates `[:alpha:]` within brackets. Returns `false` if there is none.
    fn posix_class(&mut self) -> Result<bool, Mistake> {
        let rest = self.rest();
        let Some(end) = rest.strip_prefix("[:").and_then(|name| name.find(":]")) else { return Ok(false) };
        let name = &rest[2..2 + end];
        if !NAMES.contains(&name.strip_prefix('^').unwrap_or(name)) {
            let span = self.at..self.at + end + 4;
            return Err(Mistake { span, reason: "unknown class name" });
        }
        self.copy(end + 4);
        Ok(true)
    }

    /// Translates a character or a range of characters within brackets.
    fn range(&mut self) {
        self.member();
        let rest = self.rest();
        // A hyphen before the closing bracket is literal.
        if rest.len() >= 2 && rest.starts_with('-') && !rest.starts_with("-]") {
            self.copy(1);
            self.member();
        }
    }

    fn member(&mut self) {
        let rest = self.rest();
        match (number(rest), escaped(rest), rest.chars().next()) {
            (Some((length, code)), ..) => self.put(length, &coded(code)),
            (_, Some(char), _) => self.put_literal(2, char),
            (.., Some('\\')) => {
                let braces = ["\\u{", "\\U{"].into_iter().any(|start| rest.starts_with(start));
                let end = rest.find('}').filter(|_| braces);
                let plain = || rest.chars().take(2).map(char::len_utf8).sum();
                self.copy(end.map_or_else(plain, |end| end + 1));
            }
            (.., Some(char)) if self.mode.verbose && char.is_whitespace() => self.copy(char.len_utf8()),
            (.., Some(char)) => self.put_literal(char.len_utf8(), char),
            (.., None) => {}
        }
    }
}

/// Returns the distinct characters of a text.
fn each_once(text: &str) -> impl Iterator<Item = char> + '_ {
    text.char_indices().filter(|&(index, char)| !text[..index].contains(char)).map(|(_, char)| char)
}

/// Length of the counts in braces at the start of a text: `{2}`, `{2,}` or `{2,3}`.
fn repetition(text: &str) -> Option<usize> {
    let rest = without_count(text.strip_prefix('{')?)?;
    let rest = match rest.strip_prefix(',') {
        Some(rest) if rest.starts_with('}') => rest,
        Some(rest) => without_count(rest)?,
        None => rest,
    };
    Some(text.len() - rest.strip_prefix('}')?.len())
}

/// Strips the count at the start of a text. Go rejects leading zeros.
fn without_count(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (digits == 1 || digits > 1 && !text.starts_with('0')).then(|| &text[digits..])
}

/// Parses a numeric escape at the start of a text: `\0`, `\12`, `\x7F` or `\x{1F600}`. Returns its length and the
/// number of the character.
fn number(text: &str) -> Option<(usize, u32)> {
    let rest = text.strip_prefix('\\')?;
    let octal = rest.bytes().take(3).take_while(|byte| (b'0'..b'8').contains(byte)).count();
    if octal > 1 || rest.starts_with('0') {
        return Some((1 + octal, u32::from_str_radix(&rest[..octal], 8).ok()?));
    }
    let rest = rest.strip_prefix('x')?;
    let (digits, braces) = match rest.strip_prefix('{') {
        Some(rest) => (&rest[..rest.find('}')?], 2),
        None => (rest.get(..2)?, 0),
    };
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok().filter(|_| are_digits)?;
    // A surrogate is rejected, as `regex-syntax` rejects it.
    char::from_u32(code).map(|_| (2 + digits.len() + braces, code))
}

/// Writes a character as a numeric escape. With two digits, it is a byte where the expression matches bytes.
fn coded(code: u32) -> String {
    if code <= 0xFF { format!("\\x{code:02X}") } else { format!("\\x{{{code:X}}}") }
}

/// Character of an escape at the start of a text that stands for itself, such as `\.`. Escapes with letters, such as `\n`, mean the same in
/// Go and in `regex-syntax`.
fn escaped(text: &str) -> Option<char> {
    let char = text.strip_prefix('\\')?.chars().next()?;
    (char.is_ascii() && !char.is_ascii_alphanumeric()).then_some(char)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(pattern: &str) -> String {
        translate(pattern).expect("a translation").text
    }

    /// Returns the texts that an expression matches as a whole.
    fn matches<'t>(pattern: &str, texts: &[&'t str]) -> Vec<&'t str> {
        let regex =
            regex::Regex::new(&format!("^(?:{})$", translated(pattern))).expect("a valid translation");
        texts.iter().copied().filter(|text| regex.is_match(text)).collect()
    }

    #[test]
    fn special_characters_in_brackets_are_literal() {
        assert_eq!(matches("[][ ]+", &["[ ]", "]", "a", ""]), ["[ ]", "]"]);
        assert_eq!(matches("[[]", &["[", "]"]), ["["]);
        assert_eq!(matches("[^][]", &["[", "]", "a"]), ["a"]);
        assert_eq!(matches("[a&&b]", &["a", "&", "b", "a&&b"]), ["a", "&", "b"]);
        assert_eq!(matches("[~~]", &["~", "-"]), ["~"]);
        assert_eq!(matches("[a-c-e]", &["b", "-", "d", "e"]), ["b", "-", "e"]);
        assert_eq!(matches("[[a]]", &["[]", "a]", "a"]), ["[]", "a]"]);
        assert_eq!(matches("(?x)[a b]", &["a", " ", "b"]), ["a", "b"]);
        assert_eq!(matches(r"[\d-z]", &["5", "-", "z", "y"]), ["5", "-", "z"]);
        assert_eq!(matches(r"[[:^alpha:][:digit:]é]", &["a", "1", "é", ":"]), ["1", "é", ":"]);
        assert_eq!(matches(r"[[:a]", &["[", ":", "a", "b"]), ["[", ":", "a"]);
        assert_eq!(matches(r"[+--]", &["+", ",", "-", "."]), ["+", ",", "-"]);
        assert_eq!(
            matches(r"[\101\x42\x{43}\.\]]", &["A", "B", "C", ".", "]", "\\"]),
            ["A", "B", "C", ".", "]"]
        );
    }

    #[test]
    fn braces_without_counts_are_literal() {
        for text in ["foo{", "{bar}", "a{,3}", "a{x}", "a{1,2", "a{01}", "a{ 2}", "}", "a{}", "{{{"] {
            assert_eq!(matches(text, &[text, "aaa"]), [text], "{text}");
        }
        assert_eq!(matches("a{2,3}", &["a", "aa", "aaa", "aaaa"]), ["aa", "aaa"]);
        assert_eq!(matches("a{2}{,3}", &["aa{,3}"]), ["aa{,3}"]);
    }

    #[test]
    fn quoted_text_is_literal() {
        assert_eq!(matches(r"\Qa.b\E+", &["a.b", "a.bbb", "axb"]), ["a.b", "a.bbb"]);
        assert_eq!(matches(r"\Q[x", &["[x"]), ["[x"]);
        assert_eq!(matches(r"a\Q\E*", &["", "aa"]), ["", "aa"]);
        assert_eq!(matches("(?x)a b \\Q c#\\E # end\n", &["ab c#"]), ["ab c#"]);
    }

    #[test]
    fn classes_and_boundaries_are_ascii_by_default() {
        assert_eq!(matches(r"\d", &["1", "١"]), ["1"]);
        assert_eq!(matches(r"(?u)\d", &["1", "١"]), ["1", "١"]);
        assert_eq!(matches(r"\D", &["1", "١"]), ["١"]);
        assert_eq!(matches(r"[\s]", &[" ", "\u{b}", "\u{a0}", "\u{c}"]), [" ", "\u{c}"]);
        assert_eq!(matches(r"\w+", &["a_1", "é"]), ["a_1"]);
        assert_eq!(matches(r"(?i)\w", &["k", "\u{212a}"]), ["k", "\u{212a}"]);
        assert_eq!(matches(r"(?i)\W", &["k", "\u{212a}", "-"]), ["-"]);
        assert_eq!(matches(r"e\bé", &["eé"]), ["eé"]);
        assert_eq!(matches(r"(?u:e\bé)", &["eé"]), [""; 0]);
        assert_eq!(matches(r"((?u)\d)\d", &["١1", "١١"]), ["١1"]);
        assert_eq!(matches(r"\pL\p{^Greek}", &["aa", "aα"]), ["aa"]);
        assert_eq!(matches(r"\p{^Greek}b", &["ab", "a", "αb"]), ["ab"]);
    }

    #[test]
    fn flags_may_be_repeated_and_escapes_may_be_octal() {
        assert_eq!(matches("(?ii-i:a)(?)(?i)a", &["aA", "AA"]), ["aA"]);
        assert_eq!(matches(r"\101\0\<\_\/", &["A\0<_/"]), ["A\0<_/"]);
        let controls = "\x07\x0C\n\r\t\x0B";
        for pattern in [r"\a\f\n\r\t\v", r"[\a][\f][\n][\r][\t][\v]", r"(?x)\a\f[\n] \r[\t]\v", r"[\a-\r]{6}"]
        {
            assert_eq!(matches(pattern, &[controls, "afnrtv"]), [controls], "{pattern}");
        }
        assert_eq!(matches(r"\b{start}a\b{end}", &["a", "b"]), ["a"]);
        assert_eq!(matches(r"\u{61}\u0062[\u{63}]", &["abc"]), ["abc"]);
    }

    #[test]
    fn names_of_groups_are_copied() {
        assert_eq!(matches("(?P<a[0]>b)(?<c.d>e)", &["be"]), ["be"]);
    }

    #[test]
    fn expressions_that_go_rejects_are_rejected() {
        let rejected = |pattern: &str| match translate(pattern) {
            Err(_) => true,
            Ok(translation) => regex::Regex::new(&translation.text).is_err(),
        };
        for pattern in [
            "[a--b]",
            "[z-a]",
            "[",
            "[]",
            "[^]",
            "[a",
            "a(b",
            "a)",
            "*",
            r"\",
            r"\8",
            r"\1",
            r"\y",
            "(?=a)",
            "(?",
            "(?i",
            "(?-)",
            "(?i-)",
            "{2}",
            "[[:nope:]]",
            r"\p{Nope}",
            r"[a-\d]",
            r"\x{zz}",
            r"\xg",
            r"\E",
            "a{2,1}",
            r"\x{110000}",
        ] {
            assert!(rejected(pattern), "{pattern}");
        }
    }

    #[test]
    fn a_span_of_the_translation_has_its_origin() {
        let origin = |pattern: &str, part: &str| {
            let translation = translate(pattern).expect("a translation");
            let at = translation.text.find(part).expect("part of it");
            let origin = translation.origin(at..at + part.len());
            pattern[origin].to_owned()
        };
        assert_eq!(origin(r"\d\w(", "("), "(");
        assert_eq!(origin(r"\dx{,2}(?P<a-b>c)", "a-b"), "a-b");
        assert_eq!([origin("(?z)", "z"), origin("(?i-z)", "z")], ["z", "z"]);
        // Repeated flags are left as they are beside an unknown one.
        assert_eq!([origin("(?iiz)", "z"), origin("(?i-zss)", "z")], ["z", "z"]);
        assert_eq!(origin(r"a\db", "[0-9]b"), r"\db");
        assert_eq!(origin(r"a\db", "a[0-9]"), r"a\d");
        let translation = translate(r"\d").expect("a translation");
        assert_eq!(translation.origin(5..5), 2..2);
    }
}
