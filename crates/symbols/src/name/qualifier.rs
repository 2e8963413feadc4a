//! The qualifier that is written before a use: `a::Foo` of `a::Foo::new`.

use crate::language::Language;

/// Number of bytes before a use that are looked at, so that many uses on one line take no more time than on many.
const WINDOW: usize = 512;

/// Words before `::` or `.` that stand for an object, a module or a type that is not known.
const RELATIVE: [&[u8]; 8] = [b"self", b"this", b"cls", b"super", b"base", b"static", b"parent", b"crate"];

/// Relation of a use to the qualifier that is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Agreement {
    Agrees,
    /// It is written with another qualifier.
    Differs,
    /// It agrees if a definition around it does: `Self::name`.
    OfScope,
}

/// Qualifier that is written before a use.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Qualifier<'t> {
    /// Its parts, the innermost one first. They end at an expression, such as a call.
    parts: Vec<&'t [u8]>,
    /// Joint of the innermost part and the use; none without a qualifier.
    joint: Option<Joint>,
}

/// Token between a qualifier and a name.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Joint {
    /// `::` or `\`, after a type or a module.
    Scope,
    /// `->`, after an object.
    Arrow,
    /// `.`, after any of them.
    Dot,
}

impl<'t> Qualifier<'t> {
    /// The innermost parts of the qualifier before a place, at most `max`.
    pub(super) fn before(text: &'t [u8], place: usize, max: usize) -> Self {
        let mut rest = text[place.saturating_sub(WINDOW)..place].trim_ascii_end();
        let mut qualifier = Self::default();
        while let Some((before, joint)) = joint(rest).filter(|_| qualifier.parts.len() < max) {
            qualifier.joint.get_or_insert(joint);
            let (before, part) = split_last_word(before.trim_ascii_end());
            if part.is_empty() {
                break;
            }
            qualifier.parts.push(part);
            rest = before.trim_ascii_end();
        }
        qualifier
    }

    /// Compares the qualifier with the one that is asked for, whose innermost part is the last.
    pub(super) fn agreement(&self, wanted: &[Vec<u8>], language: Language) -> Agreement {
        let (Some(joint), Some(&inner), Some(wanted_inner)) = (self.joint, self.parts.first(), wanted.last())
        else {
            return Agreement::Agrees;
        };
        if inner == b"Self" {
            return Agreement::OfScope;
        }
        let is_same = wanted.iter().rev().zip(&self.parts).all(|(wanted, part)| wanted == part);
        let is_capital = |name: &[u8]| name.first().is_some_and(u8::is_ascii_uppercase);
        let is_object = match joint {
            Joint::Scope => false,
            Joint::Arrow => true,
            // Types have capital letters where they are written before '.', objects have none.
            Joint::Dot => has_scope_operator(language) || is_capital(wanted_inner) && !is_capital(inner),
        };
        let agrees = is_same || is_object || RELATIVE.contains(&inner);
        if agrees { Agreement::Agrees } else { Agreement::Differs }
    }
}

/// Returns `true` for languages in which `.` or `->` is written only after objects.
fn has_scope_operator(language: Language) -> bool {
    matches!(language.name(), "c" | "cpp" | "php" | "rust")
}

/// The joint that a text ends with, and the text before it.
fn joint(text: &[u8]) -> Option<(&[u8], Joint)> {
    let (before, joint) = match text {
        [before @ .., b':', b':'] | [before @ .., b'\\'] => (before, Joint::Scope),
        [before @ .., b'-', b'>'] => (before, Joint::Arrow),
        [.., b'.', b'.'] => return None,
        [before @ .., b'.'] => (before, Joint::Dot),
        _ => return None,
    };
    let before = before.strip_suffix(b"!!").or_else(|| before.strip_suffix(b"?")).unwrap_or(before);
    Some((before, joint))
}

/// The last word of a text, without the arguments of a type after it, and the text before the word. It is empty after an expression.
fn split_last_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = trim_type_arguments(text);
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'_' | b'$' | 128..);
    let length = text.iter().rev().take_while(is_word).count();
    text.split_at(text.len() - length)
}

/// A text without the arguments of a type at its end: `Foo<T>`, `Foo::<T>`.
fn trim_type_arguments(text: &[u8]) -> &[u8] {
    if !text.ends_with(b">") {
        return text;
    }
    let mut depth = 0usize;
    for (at, byte) in text.iter().enumerate().rev() {
        match byte {
            b'>' => depth += 1,
            b'<' => depth -= 1,
            b';' | b'{' | b'}' => break,
            _ => {}
        }
        if depth == 0 {
            let before = text[..at].trim_ascii_end();
            return before.strip_suffix(b"::").unwrap_or(before).trim_ascii_end();
        }
    }
    b""
}

#[cfg(all(test, feature = "python", feature = "rust"))]
mod tests {
    use super::*;

    #[test]
    fn the_qualifier_of_a_use_is_read_backwards() {
        for (text, joint, parts) in [
            ("a::Foo::", Some(Joint::Scope), "Foo a"),
            ("a :: Foo ::\n  ", Some(Joint::Scope), "Foo a"),
            ("Vec<Vec<u8>>::", Some(Joint::Scope), "Vec"),
            ("x = a::Foo::<T>::", Some(Joint::Scope), "Foo a"),
            ("<T as Foo>::", Some(Joint::Scope), ""),
            ("::", Some(Joint::Scope), ""),
            ("f(a.b.", Some(Joint::Dot), "b a"),
            ("a?.b!!.", Some(Joint::Dot), "b a"),
            ("f()\n    .", Some(Joint::Dot), ""),
            ("p->q->", Some(Joint::Arrow), "q p"),
            ("f(x).y->", Some(Joint::Arrow), "y"),
            (r"App\Models\", Some(Joint::Scope), "Models App"),
            ("a > ", None, ""),
            ("0..", None, ""),
            ("", None, ""),
        ] {
            let found = Qualifier::before(text.as_bytes(), text.len(), 2);
            assert_eq!(
                (found.joint, String::from_utf8_lossy(&found.parts.join(&b' ')).as_ref()),
                (joint, parts),
                "{text}"
            );
        }
    }

    #[test]
    fn a_use_that_is_written_with_another_qualifier_is_left_out() {
        let agreement = |wanted: &str, text: &str, language| {
            let wanted: Vec<Vec<u8>> = wanted.split(' ').map(|part| part.as_bytes().to_vec()).collect();
            Qualifier::before(text.as_bytes(), text.len(), 2).agreement(&wanted, language)
        };
        let (rust, python) = (Language::Rust, Language::Python);
        for (wanted, text, language, expected) in [
            ("Foo", "", rust, Agreement::Agrees),
            ("Foo", "Foo::", rust, Agreement::Agrees),
            ("a Foo", "Foo::", rust, Agreement::Agrees),
            ("Foo", "a::Foo::", rust, Agreement::Agrees),
            ("a Foo", "b::Foo::", rust, Agreement::Differs),
            ("Foo", "Bar::", rust, Agreement::Differs),
            ("Foo", "Self::", rust, Agreement::OfScope),
            ("Foo", "super::", rust, Agreement::Agrees),
            ("Foo", "BAR.", rust, Agreement::Agrees),
            ("Foo", "f(bar).", rust, Agreement::Agrees),
            ("Foo", "foo.", python, Agreement::Agrees),
            ("Foo", "self.", python, Agreement::Agrees),
            ("Foo", "Bar.", python, Agreement::Differs),
            ("json", "json.", python, Agreement::Agrees),
            ("json", "pickle.", python, Agreement::Differs),
        ] {
            assert_eq!(agreement(wanted, text, language), expected, "{wanted}: {text}");
        }
    }
}
