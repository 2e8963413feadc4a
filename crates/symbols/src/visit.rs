//! Files to printed definitions, in path order.

use std::ops::ControlFlow;

use finecomb_scan::{Block, Output, Source, Visit, Wants};

use crate::language::Language;
use crate::parser::{Parser, TIME_LIMIT};
use crate::print::{File, Tags};
use crate::query::{Format, Query};
use crate::symbol::{Symbol, symbols};

/// Largest file that is parsed, in bytes.
pub(crate) const SIZE_LIMIT: usize = 64 << 20;

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
        symbols(text, language, &parsed.definitions, |kind, name| self.query.wants(kind, name))
    }
}

impl Visit for Lister<'_> {
    /// The language of the file, if it is one that is asked for, and its definitions.
    type Found = Option<(Language, Vec<Symbol>)>;
    /// The file is not wanted.
    type State = bool;
    type Tally = ();

    fn wants(&self) -> Wants {
        Wants::Whole
    }

    fn begin(&mut self, source: &Source, _start: &[u8]) -> bool {
        let is_known = self.query.may_know(source.display_path());
        if !is_known && source.is_named() {
            self.fail(source, "unknown language; use --lang to name it".to_owned());
        }
        !is_known
    }

    fn is_over(&self, unwanted: &bool) -> bool {
        *unwanted
    }

    fn search(&mut self, block: &mut Block<'_>) -> Self::Found {
        let text: &[u8] = block.bytes;
        let language = self.query.language_of(block.source.display_path(), text)?;
        let symbols =
            if self.query.may_be_in(text) { self.list(block.source, language, text) } else { Vec::new() };
        Some((language, symbols))
    }

    fn advance(&mut self, _: &Block<'_>, _: &Self::Found, _: &mut bool) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn print(&mut self, block: &Block<'_>, found: Self::Found, _: &bool, _: &mut (), out: &mut Output<'_>) {
        let Some((language, found)) = found.filter(|(_, found)| !found.is_empty()) else { return };
        self.sums.definitions += found.len() as u64;
        let file = File { path: block.source.display_path(), text: block.bytes, language, symbols: &found };
        match self.query.options.format {
            Format::Ctags => self.sums.tags.add_file(&file),
            _ => {
                out.begin_group();
                file.print(self.query, out.bytes());
                out.flush_if_full();
            }
        }
    }
}
