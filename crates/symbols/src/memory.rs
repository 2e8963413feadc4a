//! Definitions in texts in memory.

use std::path::Path;

use crate::language::Language;
use crate::parser::Parser;
use crate::query::SymbolsQuery;

/// Lexer and parser without reading, order and output: a lower bound for the time of a list. One for each thread.
pub struct TextParser<'q> {
    query: &'q SymbolsQuery,
    parser: Parser,
}

impl<'q> TextParser<'q> {
    /// Creates a parser for a query. Only its languages, names and `thorough` matter.
    pub fn new(query: &'q SymbolsQuery) -> Self {
        Self { query, parser: Parser::default() }
    }

    /// Number of definitions in a text. Its language is that of the path; 0 if it is unknown.
    pub fn count(&mut self, path: &Path, text: &[u8]) -> usize {
        // Files are read without it.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        match Language::of(path, text).filter(|&language| self.query.wants_language(language)) {
            Some(language) if self.query.may_be_in(text) && self.query.may_be_in_code(path, text) => {
                self.parser.parse(language, text, self.query).definitions.len()
            }
            _ => 0,
        }
    }
}

#[cfg(all(test, feature = "c"))]
mod tests {
    use finecomb_scan::{Inputs, OrderedOptions};

    use super::*;
    use crate::{SymbolsOptions, symbols};

    #[test]
    fn as_many_definitions_are_counted_as_are_listed() {
        let directory = tempfile::tempdir().expect("a directory");
        let text = b"static DEFINE_MUTEX(lock);\nstruct s { int a; };\nint f(void) { return 42; }\n";
        let path = directory.path().join("a.c");
        std::fs::write(&path, text).expect("a file");
        let query = SymbolsQuery::new(&SymbolsOptions::default()).expect("a query");
        let listed = symbols(&Inputs::new([&path]), &OrderedOptions::default(), &query, &mut Vec::new());
        let mut parser = TextParser::new(&query);
        assert_eq!(parser.count(&path, text) as u64, listed.stats.total().symbols);
        assert_eq!(listed.stats.total().symbols, 4);
        assert_eq!(parser.count(Path::new("README"), text), 0);
    }
}
