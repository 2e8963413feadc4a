//! Annotations of declarations of C++ by macros: `EXPORT void f() NOEXCEPT {`. No grammar knows them. They are recognised by their form: a
//! name in capitals at a place where a declaration needs no name.

use std::ops::Range;

use super::ahead::Next;
use super::lexer::CLexer;
use super::macros::{is_attribute, is_macro, takes_arguments};
use super::words::{Class, Place};

/// Maximum number of consecutive macros to look past.
const MAX_CHAIN: usize = 8;

/// End of the macro whose name is `word`, with its arguments, if it can be left out. `class` is the name of the class around it.
pub(super) fn end_of_macro<'s>(
    source: &'s [u8],
    word: Range<usize>,
    place: Place,
    class: Option<&'s [u8]>,
) -> Option<usize> {
    let name = &source[word.clone()];
    if !may_be_left_out(name) || class == Some(name) {
        return None;
    }
    let mut ahead = CLexer::ahead(source, word.end);
    // `MACRO::name` is qualified, `MACRO ::name` is not.
    if source[word.end..].starts_with(b"::") {
        return None;
    }
    ahead.blanks();
    let has_arguments = ahead.byte() == Some(b'(');
    if has_arguments {
        ahead.group()?;
    } else {
        ahead.at = word.end;
    }
    let end = ahead.at;
    let next = ahead.next();
    let after_next = ahead.at;
    let is_line = place == Place::Start
        && CLexer { source, at: word.start }.begins_line()
        && CLexer { source, at: end }.ends_line();
    let mut form = Form { ahead, next, has_arguments, is_line, class };
    let is_left_out = match place {
        Place::Start => form.at_start(),
        Place::AfterSpecifiers => form.before_type(),
        Place::AfterKeyword => form.before_scope_name(),
        Place::AfterScopeName => {
            matches!(next, Next::Byte(b'{' | b':') | Next::Attribute)
                || matches!(next, Next::Word(word) if Class::of(word) == Class::Ending || is_macro(word))
        }
        // `int COUNT GUARDED_BY(lock)` has a name.
        Place::AfterType => {
            let is_type = matches!(next, Next::Word(_) | Next::Byte(b'*' | b'&'));
            let is_annotated =
                matches!(next, Next::Word(word) if is_macro(word)) && form.ahead.byte() == Some(b'(');
            // `LRESULT CALLBACK NAME(…) {`
            !has_arguments && is_type && (!is_annotated || form.defines_function())
        }
        Place::AfterName => matches!(next, Next::Byte(b';' | b'=' | b'{' | b',') | Next::Word(_)),
        Place::AfterParameters => true,
        Place::Elsewhere => false,
    };
    // A macro that stands for an access specifier has its colon.
    let is_label = place == Place::Start && next == Next::Byte(b':');
    is_left_out.then_some(if is_label { after_next } else { end })
}

/// Names in capitals, and those of Qt and of the C++ library that have other forms.
fn may_be_left_out(name: &[u8]) -> bool {
    is_macro(name)
        || matches!(
            name,
            b"slots"
                | b"signals"
                | b"__cdecl"
                | b"__fastcall"
                | b"__stdcall"
                | b"__thiscall"
                | b"__vectorcall"
        )
        || name.starts_with(b"__glibcxx_")
}

/// A macro and what follows it.
struct Form<'s> {
    /// After the first token that follows.
    ahead: CLexer<'s>,
    next: Next<'s>,
    has_arguments: bool,
    /// It is alone on its line.
    is_line: bool,
    class: Option<&'s [u8]>,
}

impl<'s> Form<'s> {
    /// At the beginning of a declaration.
    fn at_start(&mut self) -> bool {
        match self.next {
            Next::End | Next::Byte(b'}' | b'#') => true,
            Next::Byte(b':') => self.class.is_some() && !self.has_arguments,
            Next::Byte(b';') => self.class.is_some() && self.has_arguments,
            Next::Word(word) if self.has_arguments => Class::of(word) != Class::Ending,
            Next::Word(word) if self.is_line && is_macro(word) => !self.defines_function(),
            _ => self.before_type(),
        }
    }

    /// Returns `true` if arguments and a body follow the next macro: this one is the type of a result.
    fn defines_function(&mut self) -> bool {
        self.ahead.blanks();
        self.ahead.byte() == Some(b'(')
            && self.ahead.group().is_some()
            && self.ahead.next() == Next::Byte(b'{')
    }

    /// Before a type: the declaration has one without the macro.
    fn before_type(&mut self) -> bool {
        // A chain of macros is judged by what follows it. Its length is bounded, as each macro looks ahead.
        for _ in 0..MAX_CHAIN {
            let Next::Word(word) = self.next else { break };
            if !is_macro(word) {
                break;
            }
            self.ahead.blanks();
            if self.ahead.byte() == Some(b'(') {
                let mut group = CLexer { ..self.ahead };
                if group.group().is_none() || !matches!(group.next(), Next::Word(_)) {
                    return false;
                }
                self.ahead.group();
            }
            self.next = self.ahead.next();
            if matches!(self.next, Next::End | Next::Byte(b'}' | b'#')) {
                return true;
            }
        }
        match self.next {
            Next::Attribute | Next::Byte(b'~' | b':') => true,
            // A constructor.
            Next::Word(word) if self.class == Some(word) => true,
            Next::Word(word) if is_attribute(word) || takes_arguments(word) => true,
            Next::Word(b"operator") => {
                // `MACRO operator bool()`, but `TYPE operator+()`.
                matches!(self.ahead.next(), Next::Word(word) if !matches!(word, b"new" | b"delete"))
            }
            Next::Word(word) => match Class::of(word) {
                Class::Scope | Class::Specifier | Class::Type => true,
                Class::Ending => false,
                // `EXPORT const int f()`, but `DWORD const x`.
                Class::Qualifier => match self.ahead.next() {
                    Next::Word(word) if Class::of(word) == Class::Name => self.is_type_next(word),
                    next => matches!(next, Next::Word(_)),
                },
                Class::Name => self.is_type_next(word),
            },
            Next::Path => self.is_type_next(b""),
            _ => false,
        }
    }

    /// Returns `true` if the name that begins with a word is a type, as a name follows it, or that of a constructor: the macro is not
    /// needed as a type.
    fn is_type_next(&mut self, mut word: &'s [u8]) -> bool {
        loop {
            match self.ahead.next() {
                Next::Path => match self.ahead.next() {
                    Next::Byte(b'~') => return true,
                    Next::Word(b"operator") => return false,
                    Next::Word(name) if name == word => return true,
                    Next::Word(name) => word = name,
                    _ => return false,
                },
                Next::Byte(b'<') => {
                    self.ahead.at -= 1;
                    if self.ahead.angles().is_none() {
                        return false;
                    }
                }
                Next::Word(word) => return Class::of(word) != Class::Ending,
                Next::Byte(byte) => return matches!(byte, b'*' | b'&' | b'#'),
                Next::Attribute | Next::End => return false,
            }
        }
    }

    /// After `class` and the like: a name and the body of the class follow, its bases, or the rest of its name.
    fn before_scope_name(&mut self) -> bool {
        // The end of a condition may be between them.
        while self.next == Next::Byte(b'#') {
            self.ahead.directive_line();
            self.next = self.ahead.next();
        }
        match self.next {
            Next::Attribute => true,
            Next::Word(_) | Next::Path if self.has_arguments => true,
            Next::Word(word) if Class::of(word) == Class::Name => {
                match self.ahead.next() {
                    // The width of a field is a number.
                    Next::Byte(b':') => !matches!(self.ahead.next(), Next::Word([b'0'..=b'9', ..])),
                    next => {
                        matches!(next, Next::Byte(b'{' | b'<') | Next::Path | Next::Word(_) | Next::Attribute)
                    }
                }
            }
            _ => false,
        }
    }
}

/// The part at a word that is left out of a parameter: a macro after its name, the arguments of a macro for its type, or the class of a
/// pointer to a member.
pub(super) fn end_in_parameters(source: &[u8], word: Range<usize>, before: &[u8]) -> Option<Range<usize>> {
    let name = &source[word.clone()];
    let is_first = || source[..word.start].trim_ascii_end().ends_with(b"(");
    let mut ahead = CLexer::ahead(source, word.end);
    let next = ahead.next();
    match next {
        Next::Path => {
            let end = ahead.at;
            (ahead.next() == Next::Byte(b'*')).then_some(word.start..end)
        }
        Next::Byte(b'(') if is_macro(name) => {
            ahead.at -= 1;
            ahead.group()?;
            Some(word.end..ahead.at)
        }
        // `typedef void (CALLBACK *name)(int)`
        Next::Byte(b'*') | Next::Word(_) if is_macro(name) && is_first() => {
            if next == Next::Byte(b'*') {
                ahead.next();
            }
            (ahead.next() == Next::Byte(b')') && ahead.next() == Next::Byte(b'(')).then_some(word)
        }
        Next::Byte(b',' | b')' | b'=') if is_macro(name) => {
            (!before.is_empty() && Class::of(before) == Class::Name).then_some(word)
        }
        _ => None,
    }
}
