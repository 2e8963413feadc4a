//! Macros and attributes that are sprinkled over the declarations of C++: `EXPORT void f() NOEXCEPT {`. No grammar knows them. They are
//! recognised by their form: a name in capitals at a place where a declaration needs no name.

use std::ops::Range;

use super::ahead::Next;
use super::lexer::{CLexer, WORD, is};
use super::macros::{is_attribute, is_macro, takes_arguments};

/// Maximum number of consecutive macros to look past.
const MAX_CHAIN: usize = 8;

/// Where the next word of a declaration stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Place {
    #[default]
    Start,
    /// After `static` and the like alone.
    AfterSpecifiers,
    /// Right after `class`, `struct`, `union`, `enum` or `namespace`.
    AfterKeyword,
    /// After the name of a class or a namespace, before its body or its bases.
    AfterScopeName,
    AfterType,
    /// After the name of a function or a variable.
    AfterName,
    AfterParameters,
    /// In a list of bases, an initialiser or a further declarator.
    Elsewhere,
}

impl Place {
    /// The place after a word. `is_qualified` if it continues the name before it: `std::vector`.
    pub(super) fn after(self, word: &[u8], is_qualified: bool) -> Self {
        match (self, Class::of(word)) {
            _ if word == b"operator" => Self::Elsewhere,
            _ if word.starts_with(b"operator") && !word.iter().all(|&byte| is(byte, WORD)) => Self::AfterName,
            (Self::AfterParameters | Self::Elsewhere, _) => self,
            (_, Class::Scope) => Self::AfterKeyword,
            (Self::Start, Class::Specifier | Class::Qualifier) => Self::AfterSpecifiers,
            (_, Class::Specifier | Class::Qualifier | Class::Ending) => self,
            (_, Class::Type) => Self::AfterType,
            _ if is_qualified => self,
            (Self::Start | Self::AfterSpecifiers, Class::Name) => Self::AfterType,
            (Self::AfterKeyword, Class::Name) => Self::AfterScopeName,
            (Self::AfterScopeName | Self::AfterType | Self::AfterName, Class::Name) => Self::AfterName,
        }
    }
}

/// Role of a word in a declaration.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    /// `class`, and other words before the name of a scope.
    Scope,
    /// A word before a type.
    Specifier,
    /// `const`, before or after a type.
    Qualifier,
    /// A type.
    Type,
    /// A word after the parameters or the name of a class.
    Ending,
    Name,
}

impl Class {
    fn of(word: &[u8]) -> Self {
        match word {
            b"class" | b"enum" | b"namespace" | b"struct" | b"union" => Self::Scope,
            b"const" | b"volatile" => Self::Qualifier,
            b"consteval" | b"constexpr" | b"constinit" | b"explicit" | b"export" | b"extern" | b"friend"
            | b"inline" | b"mutable" | b"private" | b"protected" | b"public" | b"register" | b"static"
            | b"static_assert" | b"template" | b"thread_local" | b"typedef" | b"typename" | b"using"
            | b"virtual" | b"concept" | b"module" | b"import" | b"__extension__" | b"__inline"
            | b"__inline__" => Self::Specifier,
            b"auto" | b"bool" | b"char" | b"char16_t" | b"char32_t" | b"char8_t" | b"decltype"
            | b"double" | b"float" | b"int" | b"long" | b"short" | b"signed" | b"unsigned" | b"void"
            | b"wchar_t" => Self::Type,
            b"final" | b"noexcept" | b"override" | b"requires" | b"throw" | b"try" => Self::Ending,
            _ => Self::Name,
        }
    }
}

/// Returns `true` for words that may be the name of a function.
pub(super) fn is_name(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"~").unwrap_or(word);
    Class::of(word) == Class::Name
}

/// Returns `true` for words that may begin the declaration of a function.
pub(super) fn may_begin_function(word: &[u8]) -> bool {
    !matches!(word, b"class" | b"friend" | b"namespace" | b"template" | b"typedef" | b"using")
        && Class::of(word) != Class::Ending
}

/// Returns `true` for words that begin a declaration after an invocation of a macro without a semicolon. In C, the parameters of a
/// function may be declared there.
pub(super) fn begins_declaration(word: &[u8], is_cplusplus: bool, begins_line: bool) -> bool {
    match Class::of(word) {
        _ if !is_cplusplus => matches!(word, b"extern" | b"inline" | b"static" | b"typedef"),
        Class::Scope | Class::Specifier => true,
        Class::Type => begins_line,
        Class::Name => begins_line && !is_macro(word),
        Class::Ending | Class::Qualifier => false,
    }
}

/// Returns `true` for words after the parameters of a function that do not change its signature.
pub(super) fn may_follow_parameters(word: &[u8]) -> bool {
    matches!(word, b"const" | b"volatile" | b"final" | b"override" | b"noexcept")
}

/// Returns `true` if a group begins with a parameter. Others may be values: `Type name(a, b)`.
pub(super) fn has_parameters(group: &[u8]) -> bool {
    let mut lexer = CLexer::ahead(group, 0);
    match lexer.next() {
        Next::End => true,
        Next::Word(
            b"alignof" | b"co_await" | b"compl" | b"delete" | b"new" | b"not" | b"sizeof" | b"throw",
        ) => false,
        Next::Word(word) => match Class::of(word) {
            Class::Type => !matches!(lexer.next(), Next::Byte(b'(' | b'{')),
            Class::Qualifier | Class::Scope => true,
            _ => matches!(lexer.next(), Next::Word(_)),
        },
        _ => false,
    }
}

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
