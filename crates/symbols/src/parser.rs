//! Parsing one file: skim, parse, extract.

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, ParseState, Tree};

use crate::extract::{Definition, definitions};
use crate::language::Language;
use crate::rules::Rules;
use crate::skim::{self, Hidden, Skimmed};

/// Parser of one thread. Languages are loaded as they are met.
#[derive(Default)]
pub(crate) struct Parser {
    languages: Vec<(Language, tree_sitter::Parser, Rules)>,
    skimmed: Skimmed,
}

/// What is known of a file.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// Definitions, with ranges of the source, ordered by name.
    pub(crate) definitions: Vec<Definition>,
    /// The text does not follow the grammar everywhere.
    pub(crate) has_errors: bool,
    /// The time limit was reached; there are no definitions then.
    pub(crate) timed_out: bool,
}

impl Parser {
    /// Parses a text. `thorough` parses every byte.
    pub(crate) fn parse(&mut self, id: Language, source: &[u8], thorough: bool, limit: Duration) -> Parsed {
        let mut skimmed = std::mem::take(&mut self.skimmed);
        skimmed.clear();
        let is_skimmed = skim::skim(id, source, &mut skimmed);
        let hidden = std::mem::take(&mut skimmed.hidden);
        let quick = is_skimmed && !thorough;
        let text = if quick { skimmed.text() } else { source };
        let parser = self.language(id);
        let Some(tree) = parse(&mut parser.1, text, limit) else {
            parser.1.reset();
            self.skimmed = skimmed;
            return Parsed { timed_out: true, ..Parsed::default() };
        };
        let mut found = definitions(&tree, text, &parser.2);
        if quick {
            for definition in &mut found {
                definition.map(|range| skimmed.source_range(range));
            }
        }
        self.skimmed = skimmed;
        Parsed { definitions: merge(found, hidden), has_errors: tree.root_node().has_error(), timed_out: false }
    }

    fn language(&mut self, id: Language) -> &mut (Language, tree_sitter::Parser, Rules) {
        let index = self.languages.iter().position(|(known, ..)| *known == id).unwrap_or_else(|| {
            let grammar = id.grammar();
            let mut parser = tree_sitter::Parser::new();
            parser.set_language(&grammar).expect("a grammar for this version of tree-sitter");
            self.languages.push((id, parser, Rules::new(id, &grammar)));
            self.languages.len() - 1
        });
        &mut self.languages[index]
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

fn parse(parser: &mut tree_sitter::Parser, text: &[u8], limit: Duration) -> Option<Tree> {
    let start = Instant::now();
    let mut progress = |_: &ParseState| if start.elapsed() > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(&mut |at, _| text.get(at..).unwrap_or_default(), None, Some(options))
}

/// Adds what macros hide, unless the parser saw the same name.
fn merge(mut found: Vec<Definition>, hidden: Vec<Hidden>) -> Vec<Definition> {
    for hidden in hidden {
        if !found.iter().any(|definition| definition.name == hidden.name) {
            let Hidden { kind, name, head, extent, parameters } = hidden;
            found.push(Definition { kind, name, extent, head, parameters, qualifier: None, scope: None });
        }
    }
    found
}
