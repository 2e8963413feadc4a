//! Search: patterns to matches to printed lines, in the order of paths and the same at any number of threads.
//!
//! [`Query::new`] compiles what is looked for; [`grep`] goes through the inputs and prints.
//!
//! ```
//! use finecomb_grep::{GrepOptions, PatternOptions, Query, grep};
//! use finecomb_scan::{Inputs, ScanOptions};
//!
//! # let directory = tempfile::tempdir()?;
//! std::fs::write(directory.path().join("a.txt"), "one\ntwo\nthree\n")?;
//! std::fs::write(directory.path().join("b.txt"), "three\n")?;
//! let pattern = PatternOptions { patterns: vec!["^t".to_owned()], ..PatternOptions::default() };
//! let query = Query::new(&GrepOptions { pattern, line_number: true, ..GrepOptions::default() })?;
//! let inputs = Inputs::new([directory.path()]);
//! let mut out = Vec::new();
//! let outcome = grep(&inputs, &ScanOptions::default(), &query, &mut out);
//! assert_eq!(out, b"2:two\n3:three\n1:three\n");
//! assert!(outcome.any);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is found and how it is printed is what ripgrep finds and prints. Its own crates serve where they can: for the
//! patterns, and, for matches across lines, for the whole of the search ([`whole`]). All else is searched in blocks,
//! so that one large file keeps every core busy: [`find`] says which lines of a block match, [`file_state`] which of them
//! are printed and with what around them, [`print`] how.

#![forbid(unsafe_code)]

mod binary;
#[cfg(test)]
mod differential;
mod file_state;
mod find;
mod matcher;
mod names;
mod options;
mod print;
mod search;
mod whole;

use std::io::Write;
use std::time::Duration;

use finecomb_scan::{Inputs, Ordered, Problem, Report, ScanOptions, Visit, in_order};
use grep_matcher::Matcher;
pub use grep_printer::Stats;

use crate::find::Finder;
use crate::matcher::AnyMatcher;
pub use crate::matcher::Error;
pub use crate::names::list;
pub use crate::options::{Binary, Boundary, Case, Engine, GrepOptions, LineEnd, Mode, PatternOptions};
use crate::print::lines::Style;
use crate::search::{Searcher, Sums};
use crate::whole::WholeSearcher;

/// What to look for and what to print, ready for use.
#[derive(Clone, Debug)]
pub struct Query {
    matcher: AnyMatcher,
    style: Style,
    everything: bool,
}

/// What came of a search.
#[derive(Debug)]
pub struct Outcome {
    /// Whether anything was found.
    pub any: bool,
    /// How many files were searched.
    pub files: u64,
    /// What was counted, if that was asked for.
    pub stats: Stats,
    /// What went wrong, in the order of the inputs.
    pub problems: Vec<Problem>,
    /// Where the engine gave up on a file, and what it said.
    pub failures: Vec<(String, String)>,
    /// Why nothing could be printed any more, if so.
    pub output_error: Option<std::io::Error>,
    /// Where the time of each worker went, if it was measured.
    pub report: Option<Report>,
}

impl Query {
    /// Compiles the patterns.
    ///
    /// # Errors
    /// When one of them is wrong or too large.
    pub fn new(options: &GrepOptions) -> Result<Self, Error> {
        let options = options.clone().settled();
        let pattern = &options.pattern;
        let everything = pattern.boundary.is_none() && pattern.patterns.iter().any(String::is_empty);
        Ok(Self { matcher: AnyMatcher::new(&options)?, style: Style::new(&options), everything })
    }

    /// The bytes that end a line.
    pub fn line_end(&self) -> u8 {
        self.style.options.line_end.terminator().as_byte()
    }

    /// Whether anything can match at all.
    pub fn can_match(&self) -> bool {
        let GrepOptions { pattern, invert, max_count, .. } = &self.style.options;
        (!pattern.patterns.is_empty() || *invert) && *max_count != Some(0)
    }

    /// What is between what is printed of two files.
    fn separator(&self) -> Option<Vec<u8>> {
        let options = &self.style.options;
        let has_context = options.before_context > 0 || options.after_context > 0;
        let mut separator = match options.mode {
            Mode::Lines if options.quiet => return None,
            Mode::Lines if options.heading => Vec::new(),
            Mode::Lines if has_context && !options.passthru => options.context_separator.clone()?,
            _ => return None,
        };
        separator.extend_from_slice(self.style.terminator.as_bytes());
        Some(separator)
    }
}

/// Searches, and prints to `out` as it goes. `options.line_end` is of no account: the query has it.
pub fn grep(
    inputs: &Inputs,
    options: &ScanOptions<'_>,
    query: &Query,
    out: &mut (dyn Write + Send),
) -> Outcome {
    match &query.matcher {
        AnyMatcher::Rust(matcher) => with_matcher(inputs, options, query, matcher, out),
        #[cfg(feature = "pcre2")]
        AnyMatcher::Pcre2(matcher) => with_matcher(inputs, options, query, matcher, out),
    }
}

fn with_matcher<M: Matcher<Captures: Send> + Clone + Send + Sync>(
    inputs: &Inputs,
    options: &ScanOptions<'_>,
    query: &Query,
    matcher: &M,
    out: &mut (dyn Write + Send),
) -> Outcome {
    let options = ScanOptions { line_end: query.line_end(), ..options.clone() };
    if !query.can_match() {
        return Outcome::of(Ordered::<()>::default(), Sums::default());
    }
    let (style, separator) = (&query.style, query.separator());
    if query.needs_whole_files(matcher) {
        let make = || WholeSearcher::new(&style.options, matcher.clone());
        let done = in_order(inputs, &options, separator, out, make);
        return Outcome::sum(done, query, |search| search.sums);
    }
    let finder = Finder::new(matcher.clone(), style.terminator, query.everything);
    let make = || Searcher::new(style, finder.clone());
    let done = in_order(inputs, &options, separator, out, make);
    Outcome::sum(done, query, |search| search.sums)
}

impl Query {
    /// Whether what is looked for cannot be found block by block.
    fn needs_whole_files(&self, matcher: &impl Matcher) -> bool {
        let GrepOptions { pattern, stop_on_nonmatch, hyperlink, .. } = &self.style.options;
        let terminator = self.style.terminator;
        let stays_in_line = matcher.line_terminator() == Some(terminator)
            || matcher.non_matching_bytes().is_some_and(|bytes| bytes.contains(terminator.as_byte()));
        *stop_on_nonmatch || hyperlink.is_some() || pattern.multiline && !stays_in_line
    }
}

impl Outcome {
    fn sum<V: Visit>(mut done: Ordered<V>, query: &Query, sums: impl Fn(V) -> Sums) -> Self {
        let mut sum = Sums::default();
        for visit in std::mem::take(&mut done.visits) {
            sum.add(sums(visit));
        }
        sum.errors.sort();
        if query.style.options.mode == Mode::Lines {
            // With what is between files.
            let counted = sum.colors + sum.stats.bytes_printed();
            sum.stats.add_bytes_printed(done.bytes.saturating_sub(counted));
        }
        Self::of(done, sum)
    }

    fn of<V>(done: Ordered<V>, sums: Sums) -> Self {
        Self {
            any: sums.any,
            files: done.files,
            stats: sums.stats,
            problems: done.problems,
            failures: sums.errors,
            output_error: done.output_error,
            report: done.report,
        }
    }

    /// What was counted, as the last message of a JSON output.
    pub fn json_summary(&self, elapsed: Duration) -> Vec<u8> {
        print::json::summary(&self.stats, elapsed)
    }
}
