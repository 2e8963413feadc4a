//! Definitions in source code: source text to symbols, in the order of paths and the same at any number of threads.
//!
//! [`SymbolsQuery::new`] says which definitions are asked for; [`symbols`] reads the inputs and prints them. The crate opens no file
//! and starts no thread: [`finecomb_scan`] hands it texts.
//!
//! ```
//! use finecomb_scan::{Inputs, OrderedOptions};
//! use finecomb_symbols::{SymbolsOptions, SymbolsQuery, symbols};
//!
//! let directory = tempfile::tempdir()?;
//! let file = directory.path().join("a.c");
//! std::fs::write(&file, "int answer(void) { return 42; }\n")?;
//! let mut out = Vec::new();
//! let query = SymbolsQuery::new(&SymbolsOptions::default())?;
//! let outcome = symbols(&Inputs::new([&file]), &OrderedOptions::default(), &query, &mut out);
//! assert_eq!(outcome.stats.total().symbols, 1);
//! assert!(String::from_utf8(out)?.ends_with(":1:5\tfunction\tanswer\tint answer(void)\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A file goes through three steps. A lexer skims it (`skim`): it leaves out bodies and comments, which are most of the bytes and hold
//! no definitions. Tree-sitter parses the rest (`parser`). Rules for each language find the definitions in the tree (`rules`,
//! `extract`). Languages of lines, such as Makefiles, have a lexer that does all of it (`lines`), and a lexer separates the parts of
//! files in two languages (`mixed`). Languages without a lexer are parsed in full, and so is every file if that is asked for: the full
//! parse is the reference for the lexer.
#![warn(rustdoc::private_intra_doc_links)]

mod definition;
mod enclosing;
mod extract;
mod kind;
mod language;
// The first build has neither languages of lines nor mixed ones.
#[cfg_attr(not(feature = "all-languages"), allow(dead_code))]
mod lines;
mod memory;
mod mend;
#[cfg_attr(not(feature = "all-languages"), allow(dead_code))]
mod mixed;
mod name;
mod parser;
mod print;
mod query;
pub mod records;
mod recovery;
mod reference;
mod rules;
mod skim;
mod stats;
mod stored;
mod symbol;
mod terms;
mod update;
mod visit;

use std::io::{self, Write};
use std::time::Duration;

use finecomb_scan::{Checks, Inputs, OrderedOptions, Problem, Report, in_order};

pub use crate::enclosing::{EnclosingScope, NotParsed, ScopeParser};
pub use crate::kind::{Kind, UnknownKind};
pub use crate::language::{Language, UnknownLanguage};
pub use crate::memory::TextParser;
pub use crate::name::InvalidName;
pub use crate::query::{SymbolsFormat, SymbolsOptions, SymbolsQuery};
pub use crate::stats::{Stats, Sums, SyntaxError};
pub use crate::stored::ParseStore;
pub use crate::terms::terms;
pub use crate::update::OldTags;
pub use crate::visit::UNKNOWN_LANGUAGE;
use crate::visit::{Lister, ListerResults};
pub use regex_syntax::hir::Hir;

/// Result of a list.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SymbolsOutcome {
    /// Sums over the files. Without [`SymbolsOptions::stats`], only files that contain the name are counted.
    pub stats: Stats,
    /// Number of files whose lines in a tags file were kept.
    pub unchanged: u64,
    /// Files that snapshots spared and did not spare, if there were any.
    pub checks: Option<Checks>,
    /// Problems with inputs, in their order.
    pub problems: Vec<Problem>,
    /// Path and reason of each file that was not parsed as a whole, by path.
    pub failures: Vec<(String, String)>,
    /// First syntax error of each file that was parsed, by path.
    pub syntax_errors: Vec<SyntaxError>,
    /// Error that ended the output.
    pub output_error: Option<io::Error>,
    /// Time in which workers parsed texts that a [`ParseStore`] could have had, and had not; of all workers together.
    pub parsing: Duration,
    /// Time of each worker by phase, if it was measured.
    pub report: Option<Report>,
}

/// Lists what is asked for, and prints them to `out` as they are found. A tags file is printed at the end, and so are values such as
/// fields and variables if definitions of a name are asked for.
pub fn symbols(
    inputs: &Inputs,
    options: &OrderedOptions<'_>,
    query: &SymbolsQuery,
    out: &mut (dyn Write + Send),
) -> SymbolsOutcome {
    let separator = (query.options.format == SymbolsFormat::Outline).then(|| b"\n".to_vec());
    let done = in_order(inputs, options, separator, out, || Lister::new(query, options.scan.stop.clone()));
    let mut results = ListerResults::default();
    for lister in done.visits {
        results.add(lister.results);
    }
    results.failures.sort();
    results.syntax_errors.sort();
    let mut output_error = done.output_error;
    let is_stopped = options.scan.stop.as_ref().is_some_and(|stop| stop.is_raised());
    if output_error.is_none() && !is_stopped {
        output_error = results.write_values(out).err();
    }
    let unchanged = results.unchanged.len() as u64;
    if query.options.format == SymbolsFormat::Ctags && !query.options.quiet && output_error.is_none() {
        let kept = query.old_tags().into_iter().flat_map(|old| old.kept(&results.unchanged, inputs));
        output_error = results.tags.write(kept, out).err();
    }
    SymbolsOutcome {
        stats: results.stats,
        unchanged,
        checks: done.checks,
        problems: done.problems,
        failures: results.failures,
        syntax_errors: results.syntax_errors,
        output_error,
        parsing: results.parsing,
        report: done.report,
    }
}
