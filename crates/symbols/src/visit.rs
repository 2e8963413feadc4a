//! Files to printed definitions, in path order.

use std::ops::ControlFlow;
use std::path::Path;

use finecomb_scan::{Block, Output, Source, Visit, Wants};

use crate::language::Language;
use crate::parser::{Parser, TIME_LIMIT};
use crate::print::{File, Tags};
use crate::query::{Format, Query};
use crate::symbol::{Symbol, symbols};

/// Largest file that is parsed, in bytes.
const SIZE_LIMIT: usize = 64 << 20;

/// Worker that parses and prints files.
pub(crate) struct Lister<'q> {
    query: &'q Query,
    parser: Parser,
    pub(crate) sums: Sums,
}

/// Results of a worker over all its files.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pub(crate) definitions: u64,
    /// Files that do not follow their grammar everywhere.
    pub(crate) with_errors: u64,
    /// Path and reason of each file that was not parsed.
    pub(crate) failures: Vec<(String, String)>,
    /// Lines of a tags file.
    pub(crate) tags: Tags,
}

impl Sums {
    pub(crate) fn add(&mut self, other: Self) {
        self.definitions += other.definitions;
        self.with_errors += other.with_errors;
        self.failures.extend(other.failures);
        self.tags.add(other.tags);
    }
}

impl<'q> Lister<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        Self { query, parser: Parser::default(), sums: Sums::default() }
    }

    fn fail(&mut self, source: &Source, reason: String) {
        self.sums.failures.push((source.to_string(), reason));
    }

    /// Definitions of a file that the query asks for.
    fn list(&mut self, source: &Source, language: Language, text: &[u8]) -> Vec<Symbol> {
        if text.len() > SIZE_LIMIT {
            self.fail(source, format!("larger than {} MiB; skipped", SIZE_LIMIT >> 20));
            return Vec::new();
        }
        let parsed = self.parser.parse(language, text, self.query);
        if parsed.timed_out {
            self.fail(source, format!("took longer than {} s to parse; skipped", TIME_LIMIT.as_secs()));
        }
        self.sums.with_errors += u64::from(parsed.has_errors);
        let mut symbols = symbols(text, language, &parsed.definitions);
        symbols.retain(|symbol| self.query.wants(symbol.kind, &text[symbol.name.clone()]));
        symbols
    }
}

/// Path of a file as it is printed.
fn path_of(source: &Source) -> &Path {
    source.path().unwrap_or(Path::new("<stdin>"))
}

impl Visit for Lister<'_> {
    type Found = Vec<Symbol>;
    type State = Option<Language>;
    type Tally = ();

    fn wants(&self) -> Wants {
        Wants::Whole
    }

    fn begin(&mut self, source: &Source, start: &[u8]) -> Option<Language> {
        let language = self.query.language_of(path_of(source), start);
        if language.is_none() && source.is_named() {
            self.fail(source, "unknown language; --lang names it".to_owned());
        }
        language
    }

    fn is_over(&self, state: &Option<Language>) -> bool {
        state.is_none()
    }

    fn search(&mut self, block: &mut Block<'_>) -> Vec<Symbol> {
        let text: &[u8] = block.bytes;
        let source = block.source;
        match self.query.language_of(path_of(source), text) {
            Some(language) if self.query.may_be_in(text) => self.list(source, language, text),
            _ => Vec::new(),
        }
    }

    fn advance(&mut self, _: &Block<'_>, _: &Vec<Symbol>, _: &mut Option<Language>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn print(&mut self, block: &Block<'_>, found: Vec<Symbol>, state: &Option<Language>, _: &mut (), out: &mut Output<'_>) {
        let Some(language) = *state else { return };
        if found.is_empty() {
            return;
        }
        self.sums.definitions += found.len() as u64;
        let file = File { path: path_of(block.source), text: block.bytes, language, symbols: &found };
        match self.query.format {
            Format::Ctags => self.sums.tags.add_file(&file),
            _ => {
                out.begin_group();
                file.print(self.query, out.bytes());
                out.flush_if_full();
            }
        }
    }
}
