//! The end of a qualified name, with any separators: `Foo::new`, `My.App`, `A#b`, `a/b`.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::Finder;
use regex_syntax::hir::Hir;

use super::boundary;
use crate::language::Language;
use crate::skim::is_word;

/// Separators of the parts of a name. `\` separates only parts of names that begin with a capital letter, as in PHP: `\w` and `a\d` are
/// expressions.
const SEPARATORS: [&str; 6] = ["::", ":", ".", "#", "/", "\\"];

/// Characters of operators.
const OPERATORS: &str = "+-*/%^&|~!=<>[],";

/// Parts of a name, which the last parts of qualified names are compared with.
#[derive(Clone, Debug)]
pub(crate) struct QualifiedName {
    parts: Vec<Vec<u8>>,
    /// Nothing is around the first part: `::name`.
    is_absolute: bool,
    /// Finds the word, or the operator, that every use has.
    finder: Finder<'static>,
}

impl QualifiedName {
    /// Divides a name into its parts. `None` if it is a regular expression.
    pub(super) fn new(name: &str) -> Option<Self> {
        let (is_absolute, mut rest) = match name.strip_prefix("::") {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let mut parts = Vec::new();
        let mut before = "";
        let last = loop {
            let (part, after) = rest.split_at(part_length(rest, before)?);
            parts.push(without_space(part.as_bytes()).into_owned());
            rest = after;
            if rest.is_empty() {
                break part;
            }
            before = SEPARATORS.into_iter().find(|&separator| rest.starts_with(separator))?;
            if before == "\\" && !name.starts_with(char::is_uppercase) {
                return None;
            }
            rest = &rest[before.len()..];
        };
        let finder = Finder::new(search_word(last.as_bytes())).into_owned();
        Some(Self { parts, is_absolute, finder })
    }

    /// The last part.
    pub(super) fn last(&self) -> &[u8] {
        self.parts.last().map(Vec::as_slice).unwrap_or_default()
    }

    /// The parts before the last one.
    pub(super) fn qualifier(&self) -> &[Vec<u8>] {
        &self.parts[..self.parts.len() - 1]
    }

    /// Returns `true` if a name ends with the last part.
    pub(super) fn ends(&self, name: &[u8]) -> bool {
        // A generated header has thousands of names: most of them differ at their end, where no white space has to be left out.
        let mut ends = self.last().iter().rev().zip(name.iter().rev());
        let different = ends.find(|(one, other)| one != other);
        if different.is_some_and(|(_, other)| !other.is_ascii_whitespace()) {
            return false;
        }
        let name = without_space(name);
        is_same(self.last(), &name) || is_same(self.last(), last_part(&name))
    }

    /// The last part of a name, without the white space that does not matter.
    pub(super) fn last_of(name: &[u8]) -> Cow<'_, [u8]> {
        match without_space(name) {
            Cow::Borrowed(name) => Cow::Borrowed(last_part(name)),
            Cow::Owned(name) => Cow::Owned(last_part(&name).to_owned()),
        }
    }

    /// Returns `true` if the qualified name of a name that ends with the last part ends with all parts.
    pub(super) fn ends_in(&self, scope: &[u8], name: &[u8]) -> bool {
        if self.parts.len() == 1 && !self.is_absolute {
            return true;
        }
        let name = without_space(name);
        let outer = if is_same(self.last(), &name) { 0 } else { name.len() - last_part(&name).len() };
        let scope = without_arguments(scope);
        let mut around = parts(&scope).chain(parts(&name[..outer])).rev();
        self.qualifier().iter().rev().all(|wanted| around.next().is_some_and(|part| is_same(wanted, part)))
            && (!self.is_absolute || around.next().is_none())
    }

    /// Returns `false` if a name in a text lacks the sigil that is asked for, in a language whose names have sigils.
    pub(super) fn has_sigil(&self, text: &[u8], language: Language) -> bool {
        let sigil = self.last().first().filter(|byte| is_sigil(**byte) && language.name() == "ruby");
        sigil.is_none() || text.first() == sigil
    }

    /// Returns `true` if the innermost part of the qualifier is one of the parts of a scope.
    pub(super) fn is_in_scope(&self, scope: &[u8]) -> bool {
        let scope = without_arguments(scope);
        self.qualifier().last().is_none_or(|wanted| parts(&scope).any(|part| is_same(wanted, part)))
    }

    /// Places in a text at which the last part may be.
    pub(super) fn places<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = Range<usize>> + 't {
        let length = self.finder.needle().len();
        let found = self.finder.find_iter(text).map(move |start| start..start + length);
        let is_whole = |place: &Range<usize>| {
            let around = [place.start.checked_sub(1), Some(place.end)];
            !around.into_iter().flatten().any(|at| text.get(at).is_some_and(is_word))
        };
        found.filter(move |place| !self.finds_word() || is_whole(place))
    }

    /// Returns `true` if a word is searched for, not an operator.
    fn finds_word(&self) -> bool {
        let needle = self.finder.needle();
        [needle.first(), needle.last()].into_iter().all(|byte| byte.is_some_and(is_word))
    }

    /// Returns `true` if a text has the parts before the last one.
    pub(super) fn has_qualifier(&self, text: &[u8]) -> bool {
        self.qualifier().iter().all(|part| memchr::memmem::find(text, search_word(part)).is_some())
    }

    /// Expression that matches at all places.
    pub(super) fn in_text(&self) -> Hir {
        let literal = Hir::literal(self.finder.needle());
        if self.finds_word() { Hir::concat(vec![boundary(), literal, boundary()]) } else { literal }
    }
}

/// Length of the part that a text begins with, after a separator. `None` if no part does.
fn part_length(text: &str, before: &str) -> Option<usize> {
    let sigil = ["~", "@@", "@", "$", "%", "#"].into_iter().find(|&sigil| text.starts_with(sigil));
    let sigil = sigil.map_or(0, str::len);
    let is_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '$');
    let word = text[sigil..].find(|char| !is_word(char)).unwrap_or(text.len() - sigil);
    let (end, rest) = (sigil + word, &text[sigil + word..]);
    if word == 0 {
        // Methods of Ruby may be named as operators. After '.', they are those of expressions.
        let is_operator = matches!(before, "#" | "::") && !text.is_empty();
        return (is_operator && text.chars().all(|char| OPERATORS.contains(char))).then_some(text.len());
    }
    if before == "\\" && word == 1 || text[sigil..end].ends_with('$') {
        return None;
    }
    let is_operator = &text[..end] == "operator" && is_operator(rest);
    let is_method = matches!(rest, "?" | "!" | "=");
    Some(if is_operator || is_method { text.len() } else { end })
}

/// Returns `true` if a text names an operator of C++ after the word `operator`.
fn is_operator(text: &str) -> bool {
    let symbol = text.strip_prefix(' ').unwrap_or(text);
    let is_symbol = |char: char| OPERATORS.contains(char) && !matches!(char, '[' | ']');
    let is_type = |char: char| char.is_alphanumeric() || " _*&:<>[],\"".contains(char);
    match symbol {
        "" => false,
        "()" | "[]" => true,
        _ if symbol.chars().all(is_symbol) => symbol.len() <= 3,
        _ => (text.starts_with(' ') || text.starts_with('"')) && symbol.chars().all(is_type),
    }
}

/// The longest word of a part, or all of it if it has none.
fn search_word(part: &[u8]) -> &[u8] {
    let words = part.split(|byte| !is_word(byte) && *byte < 128);
    words.max_by_key(|word| word.len()).filter(|word| !word.is_empty()).unwrap_or(part)
}

/// Returns `true` if a part is the one that is asked for. Variables of PHP and Perl are listed without their sigils.
fn is_same(wanted: &[u8], part: &[u8]) -> bool {
    wanted == part
        || matches!(wanted, [sigil, wanted @ ..] if is_sigil(*sigil) && wanted == part && !part.starts_with(b"@"))
}

fn is_sigil(byte: u8) -> bool {
    matches!(byte, b'$' | b'@' | b'%')
}

fn is_separator(byte: &u8) -> bool {
    matches!(byte, b':' | b'.' | b'#' | b'/' | b'\\')
}

/// The part of a name after its last separator.
fn last_part(name: &[u8]) -> &[u8] {
    name.rsplit(is_separator).next().unwrap_or_default()
}

/// The parts of a qualified name, from the outermost on.
fn parts(name: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    name.split(is_separator).map(<[u8]>::trim_ascii).filter(|part| !part.is_empty())
}

/// A name without white space around separators and in operators of C++: `operator []`. A heading keeps that between its words.
fn without_space(name: &[u8]) -> Cow<'_, [u8]> {
    if !name.iter().any(u8::is_ascii_whitespace) {
        return Cow::Borrowed(name);
    }
    let is_joint = |byte: &u8| is_separator(byte) || *byte == b'~';
    let begins_operator = |rest: &[u8]| {
        rest.strip_prefix(b"operator").is_some_and(|rest| rest.first().is_none_or(|byte| !is_word(byte)))
    };
    let mut joined = Vec::with_capacity(name.len());
    let (mut end, mut is_operator) = (0, false);
    for (at, byte) in name.iter().enumerate().filter(|(_, byte)| !byte.is_ascii_whitespace()) {
        is_operator |= joined.last().is_none_or(is_separator) && begins_operator(&name[at..]);
        if !is_operator && !is_separator(byte) && !joined.last().is_none_or(is_joint) {
            joined.extend_from_slice(&name[end..at]);
        }
        joined.push(*byte);
        end = at + 1;
    }
    Cow::Owned(joined)
}

/// A scope without what is in brackets, such as the arguments of a template.
fn without_arguments(scope: &[u8]) -> Cow<'_, [u8]> {
    if !scope.iter().any(|byte| matches!(byte, b'<' | b'(' | b'[')) {
        return Cow::Borrowed(scope);
    }
    let mut depth = 0usize;
    let mut outer = Vec::new();
    for &byte in scope {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' | b')' | b']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outer.push(byte),
            _ => {}
        }
    }
    // An operator, not a bracket.
    if depth > 0 { Cow::Borrowed(scope) } else { Cow::Owned(outer) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_consist_of_words_separators_and_the_forms_of_languages() {
        for (name, parts) in [
            ("page", "page"),
            ("Foo::new", "Foo new"),
            ("::a::b", "a b"),
            ("My.App", "My App"),
            ("A#b", "A b"),
            ("a/b:c", "a b c"),
            (r"App\Models\User", "App Models User"),
            ("Foo::operator==", "Foo operator=="),
            ("operator []", "operator[]"),
            ("Foo.operator +", "Foo operator+"),
            ("operator()", "operator()"),
            ("A::operator const char *", "A operatorconstchar*"),
            ("operator array<T, N>", "operatorarray<T,N>"),
            ("operator\"\" _km", "operator\"\"_km"),
            ("Foo::~Foo", "Foo ~Foo"),
            ("save!", "save!"),
            ("Order#empty?", "Order empty?"),
            ("A::name=", "A name="),
            ("Order#==", "Order =="),
            ("A::[]", "A []"),
            ("$x", "$x"),
            ("%x", "%x"),
            ("A#%", "A %"),
            ("A.#secret", "A #secret"),
            ("@@made", "@@made"),
            ("\u{dc}ber::name", "\u{dc}ber name"),
        ] {
            let found = QualifiedName::new(name).map(|name| name.parts.join(&b' '));
            assert_eq!(
                found.map(|found| String::from_utf8(found).expect("UTF-8")).as_deref(),
                Some(parts),
                "{name}"
            );
        }
    }

    #[test]
    fn everything_else_is_an_expression() {
        for name in [
            "",
            "^kmalloc",
            "l.ck$",
            "foo$",
            "kmem_.*_alloc",
            "a.",
            ".a",
            "a|b",
            "colou?r",
            "(",
            "a.*",
            "a.+",
            "a+",
            r"\bfoo",
            r"foo\b",
            r"foo\dx",
            r"Foo\b",
            r"\w+",
            "foo[0-9]",
            "operator.*",
            "operator(==|!=)",
            "a::",
            "::",
            "with-dash",
        ] {
            assert!(QualifiedName::new(name).is_none(), "{name}");
        }
    }

    #[test]
    fn the_end_of_a_qualified_name_is_compared_part_by_part() {
        for (wanted, scope, name, expected) in [
            ("new", "Foo", "new", true),
            ("Foo::new", "a::Foo", "new", true),
            ("Foo.new", "a::Foo", "new", true),
            ("oo::new", "Foo", "new", false),
            ("a::new", "a::Foo", "new", false),
            ("a::Foo::new", "Foo", "new", false),
            ("::new", "", "new", true),
            ("::new", "Foo", "new", false),
            ("::Foo::new", "Foo", "new", true),
            ("Foo::Bar::f", "Foo<std::pair<A, B>>::Bar<int>", "f", true),
            ("impl", "a", "detail::impl", true),
            ("a::detail::impl", "a", "detail::impl", true),
            ("a::impl", "a", "detail::impl", false),
            ("log::debug", "", "log::debug", true),
            ("Foo::operator[]", "Foo", "operator []", true),
            ("f::Local", "operator<::f", "Local", true),
            ("$x", "A", "x", true),
            ("$x", "A", "$x", true),
            ("x", "A", "$x", false),
            ("@x", "A", "x", true),
            ("%x", "A", "x", true),
            ("@x", "A", "@x", true),
            ("@@x", "A", "@@x", true),
            ("@@x", "A", "@x", false),
            ("@x", "A", "@@x", false),
            ("A#/", "A", "/", true),
            ("FooBar", "", "Foo Bar", false),
            ("Foo", "", "Foo Bar", false),
            ("Bar", "", "Foo: Bar", true),
            ("a::impl", "", "a :: impl", true),
            ("~A", "A", "~ A", true),
            ("A::operator const char*", "", "A :: operator const char *", true),
        ] {
            let wanted = QualifiedName::new(wanted).unwrap_or_else(|| panic!("{wanted} is a name"));
            let (scope, name) = (scope.as_bytes(), name.as_bytes());
            assert_eq!(wanted.ends(name) && wanted.ends_in(scope, name), expected, "{wanted:?}");
        }
    }
}
