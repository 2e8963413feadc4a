//! Definitions in source code: source text to symbols, in the order of paths and the same at any number of threads.
//!
//! [`Query::new`] says which definitions are asked for; [`symbols`] reads the inputs and prints them.
//!
//! ```
//! use finecomb_scan::{Inputs, ScanOptions};
//! use finecomb_symbols::{Query, SymbolsOptions, symbols};
//!
//! # let directory = tempfile::tempdir()?;
//! let file = directory.path().join("a.c");
//! std::fs::write(&file, "int answer(void) { return 42; }\n")?;
//! let mut out = Vec::new();
//! let outcome = symbols(&Inputs::new([&file]), &ScanOptions::default(), &Query::new(&SymbolsOptions::default())?, &mut out);
//! assert_eq!(outcome.definitions, 1);
//! assert!(String::from_utf8(out)?.ends_with(":1:5\tfunction\tanswer\tint answer(void)\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A file goes through three steps. A lexer skims it ([`skim`]): it leaves out bodies and comments, which are most of the bytes and hold
//! no definitions. Tree-sitter parses the rest ([`parser`]). Rules for each language find the definitions in the tree ([`rules`],
//! [`extract`]). Languages without a lexer are parsed in full, and so is every file if that is asked for: the full parse is the
//! reference for the lexer.

#![forbid(unsafe_code)]

mod enclosing;
mod extract;
mod kind;
mod language;
mod parser;
mod print;
mod query;
mod rules;
mod skim;
mod symbol;
mod visit;

use std::io::{self, Write};

use finecomb_scan::{Inputs, Problem, Report, ScanOptions, in_order};

pub use crate::enclosing::{NotParsed, Scope, ScopeParser};
pub use crate::kind::{Kind, UnknownKind};
pub use crate::language::{Language, UnknownLanguage};
pub use crate::query::{Error, Format, Query, SymbolsOptions};
use crate::visit::{Lister, Sums};

/// Result of a list.
#[derive(Debug)]
pub struct Outcome {
    /// Number of definitions printed.
    pub definitions: u64,
    /// Number of files read.
    pub files: u64,
    /// Number of files that do not follow their grammar everywhere.
    pub with_errors: u64,
    /// Problems with inputs, in their order.
    pub problems: Vec<Problem>,
    /// Path and reason of each file that was not parsed, by path.
    pub failures: Vec<(String, String)>,
    /// Error that ended the output.
    pub output_error: Option<io::Error>,
    /// Time of each worker by phase, if it was measured.
    pub report: Option<Report>,
}

/// Lists definitions, and prints them to `out` as they are found. A tags file is printed at the end.
pub fn symbols(
    inputs: &Inputs,
    options: &ScanOptions<'_>,
    query: &Query,
    out: &mut (dyn Write + Send),
) -> Outcome {
    let separator = (query.options.format == Format::Outline).then(|| b"\n".to_vec());
    let done = in_order(inputs, options, separator, out, || Lister::new(query));
    let mut sums = Sums::default();
    for lister in done.visits {
        sums.add(lister.sums);
    }
    sums.failures.sort();
    let mut output_error = done.output_error;
    if query.options.format == Format::Ctags && output_error.is_none() {
        output_error = sums.tags.write(out).err();
    }
    Outcome {
        definitions: sums.definitions,
        files: done.files,
        with_errors: sums.with_errors,
        problems: done.problems,
        failures: sums.failures,
        output_error,
        report: done.report,
    }
}
