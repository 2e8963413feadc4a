//! Parsing one file: skim, parse, extract.

use std::collections::HashSet;
use std::iter::once;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, ParseState, Tree};

use crate::extract::{Definition, definitions};
use crate::language::Language;
use crate::query::Query;
use crate::rules::Rules;
use crate::skim::{self, Hidden, Skimmed};

/// Longest time that one file may take.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Parser of one thread. Grammars are loaded as they are needed.
#[derive(Default)]
pub(crate) struct Parser {
    grammars: Grammars,
    skimmed: Skimmed,
}

/// Result for a file.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// Definitions, with ranges of the source.
    pub(crate) definitions: Vec<Definition>,
    /// The text does not follow the grammar everywhere.
    pub(crate) has_errors: bool,
    /// The time limit was reached; there are no definitions then.
    pub(crate) timed_out: bool,
}

impl Parser {
    /// Parses a text. It is skimmed first: the parser gets what is left, a piece at a time, unless `query` asks for all, and definitions
    /// by macros, which no grammar knows, come from there in any case.
    pub(crate) fn parse(&mut self, language: Language, source: &[u8], query: &Query) -> Parsed {
        self.skimmed.clear();
        let is_skimmed = skim::skim(language, source, &mut self.skimmed) && !query.options.thorough;
        let mut hidden = std::mem::take(&mut self.skimmed.hidden);
        if is_skimmed {
            hidden.append(&mut self.skimmed.plain);
        }
        let (text, pieces): (_, Vec<Range<usize>>) = match is_skimmed {
            true => (self.skimmed.text(), self.skimmed.pieces().collect()),
            false => (source, once(0..source.len()).collect()),
        };
        let (mut found, mut has_errors) = (Vec::new(), false);
        let start = Instant::now();
        for piece in pieces {
            let at = piece.start;
            let text = &text[piece];
            // Calls are in bodies: few texts that name a function have its definition.
            if !query.may_be_in(text) {
                continue;
            }
            let Grammar { parser, rules, .. } = self.grammars.get(language);
            let Some(tree) = parse(parser, text, start) else {
                return Parsed { timed_out: true, ..Parsed::default() };
            };
            has_errors |= tree.root_node().has_error();
            let before = found.len();
            found.extend(definitions(&tree, text, rules).into_iter().map(|mut definition| {
                definition.scope = definition.scope.map(|scope| before + scope);
                if is_skimmed {
                    definition.map(|range| self.skimmed.source_range(at + range.start..at + range.end));
                }
                definition
            }));
        }
        Parsed { definitions: merge(found, hidden), has_errors, timed_out: false }
    }
}

/// Grammars that were needed so far.
#[derive(Default)]
struct Grammars(Vec<Grammar>);

struct Grammar {
    language: Language,
    parser: tree_sitter::Parser,
    rules: Rules,
}

impl Grammars {
    fn get(&mut self, language: Language) -> &mut Grammar {
        let known = self.0.iter().position(|grammar| grammar.language == language);
        let index = known.unwrap_or_else(|| {
            self.0.push(Grammar::new(language));
            self.0.len() - 1
        });
        &mut self.0[index]
    }
}

impl Grammar {
    fn new(language: Language) -> Self {
        let grammar = language.grammar();
        let mut parser = tree_sitter::Parser::new();
        // Grammars and parser are of one build; a test loads all of them.
        parser.set_language(&grammar).expect("a grammar for this version of tree-sitter");
        Self { language, parser, rules: Rules::new(language, &grammar) }
    }
}

impl Definition {
    fn map(&mut self, map: impl Fn(Range<usize>) -> Range<usize>) {
        self.name = map(self.name.clone());
        self.extent = map(self.extent.clone());
        self.head = map(self.head.clone());
        self.parameters = self.parameters.take().map(&map);
        self.qualifier = self.qualifier.take().map(&map);
    }
}

/// Parses a text, unless it takes too long since `start`.
fn parse(parser: &mut tree_sitter::Parser, text: &[u8], start: Instant) -> Option<Tree> {
    let mut progress = |_: &ParseState| match start.elapsed() > TIME_LIMIT {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree =
        parser.parse_with_options(&mut |at, _| text.get(at..).unwrap_or_default(), None, Some(options));
    if tree.is_none() {
        parser.reset();
    }
    tree
}

/// Adds what macros hide, unless the parser saw the same name.
fn merge(mut found: Vec<Definition>, hidden: Vec<Hidden>) -> Vec<Definition> {
    let names: HashSet<usize> = found.iter().map(|definition| definition.name.start).collect();
    for Hidden { kind, name, head, extent, parameters } in hidden {
        if !names.contains(&name.start) {
            found.push(Definition { kind, name, extent, head, parameters, qualifier: None, scope: None });
        }
    }
    found
}
