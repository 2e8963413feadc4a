//! Terms of a text: hashes of the names that it defines and of the words that its code uses. An index of terms shows which files a
//! list for a name need not read.
//!
//! A text may have more terms than names and uses, but never fewer.

use twox_hash::XxHash3_64;

use crate::definition::Parsed;
use crate::language::Language;
use crate::name::last_part;
use crate::query::SymbolsQuery;
use crate::skim::{self, is_word};
use crate::stored::decode;

/// Seeds of the hashes.
const DEFINITION: u64 = 1;
const USE: u64 = 2;

impl SymbolsQuery {
    /// Terms: every text with a definition or use that is asked for has at least one of them. `None` if there are none, as for a regular
    /// expression.
    pub fn terms(&self) -> Option<Vec<u64>> {
        // A list with `thorough` has other definitions and uses.
        if self.options.thorough || self.lists_all() {
            return None;
        }
        // Numbers are words as well, but not terms.
        let is_number = |word: &&[u8]| word.first().is_some_and(u8::is_ascii_digit);
        let defined = self.definition().map(|name| Some(term(DEFINITION, name.word()?)));
        let used = self.reference().map(|name| Some(term(USE, name.word().filter(|word| !is_number(word))?)));
        defined.into_iter().chain(used).collect()
    }
}

/// The terms of a text, given its [stored](crate::ParseStore) definitions; `None` if a list for a name may report something else than
/// definitions and uses.
pub fn terms(text: &[u8], stored: &[u8]) -> Option<Vec<u64>> {
    let (language, parsed) = decode(stored, text.len())?;
    if parsed.gave_up || parsed.too_deep || parsed.error.is_some() {
        return None;
    }
    let names = parsed.definitions.iter().map(|definition| last_part(&text[definition.name.clone()]));
    let mut terms: Vec<u64> = names.map(|name| term(DEFINITION, &name)).collect();
    add_uses(language, text, &parsed, &mut terms);
    Some(terms)
}

/// Adds the words that may be uses. The lexer is the one that a list asks before it parses a text.
fn add_uses(language: Language, text: &[u8], parsed: &Parsed, terms: &mut Vec<u64>) {
    // A word in a longer name, such as `operator==`, is a use of the word.
    let names = parsed.definitions.iter().map(|definition| &definition.name);
    let words = names.filter(|name| text[(*name).clone()].iter().all(is_word));
    let mut defined: Vec<usize> = words.map(|name| name.start).collect();
    defined.sort_unstable();
    let mut defined = defined.into_iter().peekable();
    // In other languages, the syntax tree decides what is a use.
    let leaves_out_defined = skim::has_preprocessor(language);
    let mut may_be_use = skim::possible_uses(language, text);
    let mut at = 0;
    while let Some(start) = text[at..].iter().position(is_word).map(|next| at + next) {
        let length = text[start..].iter().take_while(|byte| is_word(byte)).count();
        at = start + length;
        while defined.next_if(|&name| name < start).is_some() {}
        let is_defined = leaves_out_defined && defined.peek() == Some(&start);
        if !is_defined && !text[start].is_ascii_digit() && may_be_use(start) {
            terms.push(term(USE, &text[start..at]));
        }
    }
}

fn term(seed: u64, name: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::parser::Parser;
    use crate::query::SymbolsOptions;
    use crate::stored::encode;

    fn query(name: Option<&str>, reference: Option<&str>) -> SymbolsQuery {
        let owned = |name: Option<&str>| name.map(str::to_owned);
        let options =
            SymbolsOptions { name: owned(name), reference: owned(reference), ..SymbolsOptions::default() };
        SymbolsQuery::new(&options).expect("valid")
    }

    fn terms_of(path: &str, text: &str) -> Option<Vec<u64>> {
        let language = Language::of(Path::new(path), text.as_bytes()).expect("known");
        let parsed = Parser::default().parse(language, text.as_bytes(), &SymbolsQuery::default());
        terms(text.as_bytes(), &encode(language, text.as_bytes(), &parsed))
    }

    #[test]
    fn only_names_of_words_have_terms() {
        for (name, reference, count) in [
            (Some("page"), None, 1),
            (None, Some("_a1"), 1),
            (Some("1"), Some("a"), 2),
            (None, Some("1"), 0),
            (Some("^a"), None, 0),
            (Some("a"), Some("a.b"), 2),
            (Some("A::~A"), None, 0),
            (Some("operator=="), Some("a"), 0),
            (Some("é"), None, 0),
            (None, None, 0),
        ] {
            let terms = query(name, reference).terms().unwrap_or_default();
            assert_eq!(terms.len(), count, "{name:?} {reference:?}");
        }
        let options =
            SymbolsOptions { name: Some("a".to_owned()), thorough: true, ..SymbolsOptions::default() };
        assert_eq!(SymbolsQuery::new(&options).expect("valid").terms(), None);
    }

    #[test]
    #[cfg(feature = "cpp")]
    fn a_word_in_a_longer_name_is_a_use() {
        let found = terms_of("a.cc", "bool operator==(A a, B b) { return true; }\n").expect("terms");
        let terms = query(None, Some("operator")).terms().expect("terms");
        assert!(found.contains(&terms[0]));
    }

    #[test]
    #[cfg(feature = "c")]
    fn code_of_c_has_terms_and_its_comments_have_none() {
        let text = "/* one */\nint two(int three) { return four(\"five\", 6, 0x7) /* eight */; }\n#define nine two\n#include <ten>\n";
        let found = terms_of("a.c", text).expect("terms");
        let has =
            |query: &SymbolsQuery| query.terms().expect("terms").iter().all(|term| found.contains(term));
        let names = "one two three four five 6 eight nine ten return".split(' ');
        let defined: Vec<&str> = names.clone().filter(|&name| has(&query(Some(name), None))).collect();
        assert_eq!(defined, ["two", "nine"]);
        let used: Vec<&str> = names.filter(|name| *name != "6" && has(&query(None, Some(name)))).collect();
        assert_eq!(used, ["two", "three", "four", "return"]);
    }

    #[test]
    #[cfg(all(feature = "go", feature = "java", feature = "kotlin", feature = "python", feature = "rust"))]
    fn words_of_comments_and_literals_have_no_terms_and_code_around_them_has() {
        let names = ["one", "two", "three", "four"];
        for (path, text, expected) in [
            ("a.py", "x = 1 # one\n  # two, three\ndef four(): pass\n", "four"),
            ("a.py", "\n# one two\nx = 'two three'\n\n#\n#three\n\nfour\n", "four"),
            ("a.py", "x = f\"\"\"\n# {one}\n\"\"\" + two\n", "one two"),
            ("a.py", "x = f'\\\n# {one} \\\r\n# {two}' + three\n# four\n", "one two three"),
            ("a.py", "x = \"\"\"\n# one\n\"\"\" + two\n", "two"),
            ("a.py", "x = \"\"\"\n# \"\"\" + two\n", "two"),
            ("a.py", "x = fR'''\n# {one}\n''' + two\n", "one two"),
            ("a.py", "x = '\\\n# one' + two\n", "two"),
            ("a.rs", "fn one() {\n    //! two\n    three() // four\n}\n", "one three"),
            ("a.rs", "fn one() {\n/*\n// */ two();\n}\n", "one two"),
            ("a.rs", "fn one() { let s = format!(\"\n// {}\", two); }\n", "one two"),
            ("a.go", "package a\nvar one = `\n// three` + two\n", "one two"),
            ("a.java", "class A { String one = \"\"\"\n  // three\"\"\" + two; }\n", "one two"),
            ("a.kt", "// one\nval two = three // four\n", "two three four"),
            ("a.kt", "val s = \"\"\"\n// $one\n\"\"\".trim(two)\n", "one two"),
        ] {
            let found = terms_of(path, text).unwrap_or_else(|| panic!("terms of {text}"));
            let has = |name: &&str| found.contains(&query(None, Some(name)).terms().expect("terms")[0]);
            let used: Vec<&str> = names.into_iter().filter(has).collect();
            assert_eq!(used.join(" "), expected, "{text}");
        }
        // Each list says that a file has a syntax error.
        assert_eq!(terms_of("a.py", "x = (\n# one\n"), None);
    }
}
