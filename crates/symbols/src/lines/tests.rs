//! Tests of the lexers of lines, and of those that read a part of a file.

use std::fs;
use std::path::Path;

use super::*;
use crate::language::{Language, Syntax};

/// Texts that begin a literal, a name in quotes or a comment, or end one.
const ENDS: [&str; 10] = ["", "\"", "`", "'", "[", "(", "$", "\\", "/*", "<<"];

/// All ranges of a result; an error is an empty one.
fn ranges(lexed: Lexed) -> impl Iterator<Item = Range<usize>> {
    let of_definition = |definition: Definition| {
        let Definition { name, extent, head, parameters, qualifier, .. } = definition;
        [Some(name), Some(extent), Some(head), parameters, qualifier].into_iter().flatten()
    };
    let error = lexed.error.map(|start| start..start);
    lexed.definitions.into_iter().flat_map(of_definition).chain(lexed.no_code).chain(error)
}

#[test]
fn ranges_are_within_a_text_that_ends_anywhere() {
    for &language in Language::ALL {
        let lex = |text: &[u8]| match language.syntax() {
            Syntax::Lexer(lex) => Some(lex(text)),
            Syntax::Mixed(_, split) => Some(split(text).lexed),
            Syntax::Grammar(_) => None,
        };
        if lex(b"").is_none() {
            continue;
        }
        let file = Path::new("tests/languages").join(language.name());
        let sample = fs::read(file.with_extension(language.extensions()[0])).expect("a sample");
        for length in 0..=sample.len() {
            for end in ENDS {
                let text = [&sample[..length], end.as_bytes()].concat();
                let is_outside = |range: &Range<usize>| range.start > range.end || range.end > text.len();
                let outside = lex(&text).and_then(|lexed| ranges(lexed).find(is_outside));
                assert_eq!(outside, None, "{}, {length} bytes and {end}", language.name());
            }
        }
    }
}
