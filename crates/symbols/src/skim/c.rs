//! Skimming C and C++: bodies of functions, initialisers, comments, replacement lists of macros and preprocessor conditions are left out.
//! The lexer runs at 0.7 GB/s a core, tree-sitter at 6 MB/s.
//!
//! A condition that splits a declaration (`#if` between a function's head and its body) is resolved in favour of its first branch, as in
//! Universal Ctags. Invocations of macros at file scope are left out too, since they are not in the grammar; if they define something, they
//! are recorded ([`LexedDefinition`](super::LexedDefinition)). So are macros, and functions and objects whose declaration has a plain form:
//! the parser takes most of the time, and most definitions are of these. Prototypes define nothing.

mod ahead;
mod annotations;
mod assembler;
mod cplusplus;
mod declaration;
mod directives;
mod functions;
mod groups;
mod lexer;
mod macros;
mod objects;
mod skimmer;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;

use memchr::{memchr, memmem};

pub(crate) use self::lexer::Code;
use self::lexer::{CLexer, SPACE, WORD, is};
pub(crate) use self::macros::is_macro;
use self::skimmer::CSkimmer;
use super::Skimmed;

/// Skims a source text. Returns `false` if its braces do not balance, so that all of it has to be parsed.
pub(crate) fn skim(source: &[u8], is_cplusplus: bool, out: &mut Skimmed) -> bool {
    CSkimmer::new(source, is_cplusplus, out).run().is_some()
}

/// Returns `true` if a text has declarations that only C++ has. Decides what a `.h` file is. Lines in comments do not count.
pub(crate) fn is_cplusplus(source: &[u8]) -> bool {
    let mut rest = source;
    let mut is_comment = false;
    while let Some(end) = memchr(b'\n', rest) {
        let line = rest[..end].trim_ascii();
        rest = &rest[end + 1..];
        let was_comment = is_comment;
        if memchr(b'*', line).is_some() {
            let (open, close) = (memmem::rfind(line, b"/*"), memmem::rfind(line, b"*/"));
            is_comment = open > close || is_comment && close.is_none();
        }
        // Generated headers consist of thousands of directives.
        if was_comment || line.starts_with(b"#") {
            continue;
        }
        let starts = |word: &[u8]| {
            line.strip_prefix(word).is_some_and(|rest| rest.first().is_some_and(|&b| !is(b, WORD)))
        };
        // A name in a scope; text and comments may have colons, too.
        let colons = memmem::find(line, b"::").filter(|_| !matches!(line, [b'/' | b'*', ..]));
        if colons.is_some_and(|at| {
            !line[..at].iter().any(|&byte| matches!(byte, b'"' | b'\'' | b'/'))
                && line.get(at + 2).is_some_and(|&byte| is(byte, WORD))
        }) {
            return true;
        }
        if starts(b"namespace") || starts(b"template") || starts(b"using") || starts(b"constexpr") {
            return true;
        }
        if starts(b"class")
            && (!line.ends_with(b";") || line.contains(&b'{'))
            && !line.contains(&b'=')
            && !line.contains(&b'(')
            && !line.ends_with(b",")
        {
            return true;
        }
        if matches!(line, b"public:" | b"private:" | b"protected:") {
            return true;
        }
    }
    false
}

/// Returns `true` for words that only macros can have as names, in C and C++, and that are no types.
pub(super) fn is_keyword(word: &[u8]) -> bool {
    let keywords: &[&[u8]] = match word.len() {
        2 => &[b"do", b"if"],
        3 => &[b"for"],
        4 => &[b"case", b"else", b"enum", b"goto", b"long"],
        5 => &[b"break", b"const", b"short", b"union", b"while"],
        6 => &[b"extern", b"return", b"signed", b"sizeof", b"static", b"struct", b"switch"],
        7 => &[b"default", b"typedef"],
        8 => &[b"continue", b"unsigned", b"volatile"],
        _ => &[],
    };
    keywords.contains(&word)
}

/// Returns `true` for keywords that C++ has beside those of C. Words that are keywords only in some places are not among them.
pub(super) fn is_keyword_of_cplusplus(word: &[u8]) -> bool {
    const KEYWORDS: &[&str] = &[
        "alignas",
        "alignof",
        "and",
        "and_eq",
        "asm",
        "bitand",
        "bitor",
        "catch",
        "class",
        "compl",
        "concept",
        "const_cast",
        "consteval",
        "constexpr",
        "constinit",
        "co_await",
        "co_return",
        "co_yield",
        "decltype",
        "delete",
        "dynamic_cast",
        "explicit",
        "export",
        "false",
        "friend",
        "inline",
        "mutable",
        "namespace",
        "new",
        "noexcept",
        "not",
        "not_eq",
        "nullptr",
        "or",
        "or_eq",
        "private",
        "protected",
        "public",
        "reinterpret_cast",
        "requires",
        "static_assert",
        "static_cast",
        "template",
        "this",
        "thread_local",
        "throw",
        "true",
        "try",
        "typeid",
        "typename",
        "using",
        "virtual",
        "xor",
        "xor_eq",
    ];
    KEYWORDS.iter().any(|keyword| keyword.as_bytes() == word)
}

fn is_type(word: &[u8]) -> bool {
    matches!(word, b"char" | b"double" | b"float" | b"int" | b"void")
}

/// Returns `false` if a place is a keyword, or the name of a type that is mentioned and not defined: `struct page *`.
pub(super) fn may_define(source: &[u8], place: &Range<usize>) -> bool {
    if is_keyword(&source[place.clone()]) || is_type(&source[place.clone()]) {
        let line = source[..place.start].trim_ascii_end();
        return line.ends_with(b"define");
    }
    let next = source[place.end..].iter().find(|&&byte| !is(byte, SPACE));
    if !matches!(next, Some(b'*' | b'&' | b';' | b',' | b')' | b'>')) {
        return true;
    }
    let before = source[..place.start].trim_ascii_end();
    let is_tag = |tag: &[u8]| {
        before.strip_suffix(tag).is_some_and(|rest| rest.last().is_none_or(|&byte| !is(byte, WORD)))
    };
    before.len() == place.start || ![&b"struct"[..], b"union", b"enum", b"class"].into_iter().any(is_tag)
}

/// End of the preprocessor line that begins at an offset.
pub(super) fn directive_end(source: &[u8], start: usize) -> usize {
    let mut lexer = CLexer { source, at: start };
    lexer.directive_line();
    lexer.at
}
