//! Words of C and C++, by their roles in declarations.

use super::ahead::Next;
use super::lexer::{CLexer, WORD, is};
use super::macros::is_macro;

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
pub(super) enum Class {
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
    pub(super) fn of(word: &[u8]) -> Self {
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
