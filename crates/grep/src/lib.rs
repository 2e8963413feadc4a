//! Parallel line search with output in path order, identical at any number of threads.
//!
//! [`Query::new`] compiles the patterns; [`grep`] searches the inputs and prints the results. The crate opens no file and starts no
//! thread: [`finecomb_scan`] hands it blocks.
//!
//! ```
//! use finecomb_grep::{GrepOptions, PatternOptions, Query, grep};
//! use finecomb_scan::{Inputs, OrderedOptions};
//!
//! let directory = tempfile::tempdir()?;
//! std::fs::write(directory.path().join("a.txt"), "one\ntwo\nthree\n")?;
//! std::fs::write(directory.path().join("b.txt"), "three\n")?;
//! let pattern = PatternOptions::default().patterns(["^t".to_owned()].into());
//! let query = Query::new(&GrepOptions::default().pattern(pattern).line_number(true))?;
//! let inputs = Inputs::new([directory.path()]);
//! let mut out = Vec::new();
//! let outcome = grep(&inputs, &OrderedOptions::default(), &query, &mut out);
//! assert_eq!(out, b"2:two\n3:three\n1:three\n");
//! assert!(outcome.any);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Matches and output equal those of ripgrep, whose crates compile the patterns. Searches work on blocks, so that one large file
//! keeps every core busy: `find` finds the matching lines of a block, `file_state` selects the lines and context to print, and
//! `print` prints them. For matches across lines, a file is one block, whose parts are searched first (`ahead`).
#![warn(rustdoc::private_intra_doc_links)]

mod ahead;
mod any_matcher;
mod binary;
mod condition;
#[cfg(test)]
mod differential;
mod enclosing;
mod file_state;
mod find;
mod line_matcher;
mod matcher;
mod names;
mod options;
mod print;
pub mod records;
#[cfg(feature = "pcre2")]
mod required;
mod search;
mod tail;
mod units;
mod which;

use std::io::Write;
use std::time::Duration;

use finecomb_scan::{
    Checks, Inputs, Omitted, Ordered, OrderedOptions, Problem, Records, Report, Source, in_order,
};
pub use grep_printer::{ColorSpecs, HyperlinkConfig, Stats};
pub use print::CUT;
pub use print::excerpt::excerpt;
pub use print::link::Hyperlink;
pub use regex_syntax::hir::Hir;

use crate::ahead::Ahead;
use crate::any_matcher::AnyMatcher;
pub use crate::enclosing::{NewScopeFinder, Scope, ScopeFinder};
use crate::find::{Finder, RecordSearch};
pub use crate::matcher::Error;
pub use crate::names::list;
pub use crate::options::{Binary, Boundary, Case, Engine, GrepOptions, LineEnd, Mode, PatternOptions};
use crate::print::lines::Style;
use crate::search::{Searcher, Totals};
use crate::which::Which;

/// Compiled patterns and output options of a search.
#[derive(Clone, Debug)]
pub struct Query {
    matcher: AnyMatcher,
    style: Style,
    matches_every_line: bool,
    /// How parts of large files are searched before the whole, if a match may span lines.
    ahead: Option<Ahead>,
    /// How records are found, if whole records are.
    records: Option<RecordSearch<AnyMatcher>>,
}

/// Result of a search.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// Whether anything was found.
    pub any: bool,
    /// Number of files searched.
    pub files: u64,
    /// Statistics, if they were requested.
    pub stats: Stats,
    /// Files that indexes spared and did not spare, if there were any.
    pub checks: Option<Checks>,
    /// Problems with inputs, in the order of the inputs.
    pub problems: Vec<Problem>,
    /// Files on which the regex engine failed: path and message.
    pub failures: Vec<(String, String)>,
    /// Results that were not printed because of the limit, if the search continued.
    pub omitted: Omitted,
    /// Error that ended the output, if any.
    pub output_error: Option<std::io::Error>,
    /// Time that each worker spent per phase, if it was measured.
    pub report: Option<Report>,
}

impl Query {
    /// Compiles the patterns.
    ///
    /// # Errors
    /// Returns an error if a pattern is invalid or too large.
    pub fn new(options: &GrepOptions) -> Result<Self, Error> {
        let options = options.clone().normalized();
        let pattern = &options.pattern;
        let matches_every_line = pattern.boundary.is_none()
            && pattern.patterns.iter().any(String::is_empty)
            && !pattern.has_conditions();
        let matcher = AnyMatcher::new(&options)?;
        let mut style = Style::new(&options);
        style.which = Which::new(&options, &matcher)?;
        let ahead = ahead(&matcher, &options);
        let records = RecordSearch::new(&options)?;
        Ok(Self { matcher, style, matches_every_line, ahead, records })
    }

    /// Returns the byte that ends a line.
    pub fn line_end(&self) -> u8 {
        self.style.options.line_end.terminator().as_byte()
    }

    /// Returns `false` if no line can match, so that there is nothing to search.
    pub fn can_match(&self) -> bool {
        let options = &self.style.options;
        let GrepOptions { pattern, invert, max_count, .. } = options;
        (!pattern.patterns.is_empty() || *invert) && *max_count != Some(0) && !options.prints_no_results()
    }

    /// Returns expressions: if the result for a file depends on more than the absence of a match, the file holds a match of one of
    /// them. `None` if there are no such expressions. With [`Boundary::Word`], such a match begins and ends at borders of words.
    pub fn expressions(&self) -> Option<Vec<Hir>> {
        let GrepOptions { pattern, invert, passthru, .. } = &self.style.options;
        let any_line = *invert || *passthru || self.matches_every_line;
        if any_line { None } else { matcher::expressions(&self.matcher, pattern) }
    }

    /// Returns `true` if matches begin and end at borders of words.
    pub fn has_word_borders(&self) -> bool {
        self.style.options.pattern.boundary == Some(Boundary::Word)
    }

    /// Returns `true` if a match may hold a line feed.
    pub fn may_span_lines(&self) -> bool {
        let GrepOptions { pattern, line_end, .. } = &self.style.options;
        pattern.multiline || *line_end == LineEnd::Nul
    }

    /// Returns `true` if files without a match show up in the output.
    pub fn counts_absent(&self) -> bool {
        self.style.options.counts_absent()
    }

    /// Separator between the output of two files, if there is one.
    fn separator(&self) -> Option<Vec<u8>> {
        let options = &self.style.options;
        let has_context = options.before_context > 0 || options.after_context > 0;
        let mut separator = match options.mode {
            Mode::Lines if options.quiet || options.compact => return None,
            Mode::Lines if options.heading => Vec::new(),
            Mode::Lines if has_context && !options.passthru => options.context_separator.clone()?,
            _ => return None,
        };
        separator.extend_from_slice(self.style.terminator.as_bytes());
        Some(separator)
    }
}

/// Version of the PCRE2 library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pcre2Version {
    /// Major version.
    pub major: u32,
    /// Minor version.
    pub minor: u32,
    /// Whether patterns are compiled to machine code.
    pub has_jit: bool,
}

/// Returns the version of PCRE2; `None` in a build without it.
pub fn pcre2_version() -> Option<Pcre2Version> {
    #[cfg(feature = "pcre2")]
    {
        let (major, minor) = grep_pcre2::version();
        Some(Pcre2Version { major, minor, has_jit: grep_pcre2::is_jit_available() })
    }
    #[cfg(not(feature = "pcre2"))]
    None
}

/// Searches the inputs and prints to `out` during the search. Ignores `options.scan.line_end` and `options.scan.records` in favour of the query's.
///
/// With [`Mode::Records`], each write consists of whole [`records`].
pub fn grep(
    inputs: &Inputs,
    options: &OrderedOptions<'_>,
    query: &Query,
    out: &mut (dyn Write + Send),
) -> Outcome {
    let limit = query.style.options.scan_limit();
    let records = query.style.options.record.clone().map_or(Records::Lines, Records::Started);
    let scan = options.scan.clone().line_end(query.line_end()).records(records);
    let options = options.clone().scan(scan).limit(limit);
    if !query.can_match() {
        return Outcome::of(Ordered::<()>::default(), Totals::default());
    }
    let (style, separator) = (&query.style, query.separator());
    let finder = Finder::new(query.matcher.clone(), style.terminator, query.matches_every_line);
    let finder = finder.by_records(query.records.clone());
    let make = || {
        let mut searcher = Searcher::new(style, finder.clone());
        searcher.ahead = query.ahead;
        searcher
    };
    let done = in_order(inputs, &options, separator, out, make);
    Outcome::sum(done, query, |search| search.totals)
}

/// How parts of large files are searched before the whole, if that is possible. The other engine and conditions may look at more of the
/// text.
fn ahead(matcher: &AnyMatcher, GrepOptions { pattern, line_end, record, .. }: &GrepOptions) -> Option<Ahead> {
    if !pattern.multiline || record.is_some() || !matches!(matcher, AnyMatcher::Rust(_)) {
        return None;
    }
    // The end of a line before a line feed alone depends on the byte before it.
    let looks_behind = pattern.boundary.is_some() || *line_end == LineEnd::Crlf;
    Ahead::new(&matcher::expressions(matcher, pattern)?, looks_behind)
}

/// The statistics with another number of bytes printed.
fn with_bytes_printed(stats: &Stats, bytes: u64) -> Stats {
    let mut changed = Stats::new();
    changed.add_elapsed(stats.elapsed());
    changed.add_searches(stats.searches());
    changed.add_searches_with_match(stats.searches_with_match());
    changed.add_bytes_searched(stats.bytes_searched());
    changed.add_bytes_printed(bytes);
    changed.add_matched_lines(stats.matched_lines());
    changed.add_matches(stats.matches());
    changed
}

impl Outcome {
    fn sum<V>(mut done: Ordered<V>, query: &Query, totals: impl Fn(V) -> Totals) -> Self {
        let mut sum = Totals::default();
        for visit in std::mem::take(&mut done.visits) {
            sum.add(totals(visit));
        }
        if query.style.options.mode == Mode::Lines {
            // These include the separators between files, and not what a limit left out.
            sum.stats = with_bytes_printed(&sum.stats, done.bytes.saturating_sub(sum.color_bytes));
        }
        Self::of(done, sum)
    }

    fn of<V>(done: Ordered<V>, totals: Totals) -> Self {
        // Which files after the end were read depends on the number of threads.
        let is_reached = |source: &Source| done.end.as_ref().is_none_or(|end| end.includes(source));
        let errors = totals.errors.into_iter().filter(|(source, _)| is_reached(source));
        let mut failures: Vec<(String, String)> =
            errors.map(|(source, error)| (source.display_path().display().to_string(), error)).collect();
        failures.sort();
        Self {
            // The file in which a limit ends the job is not visited to its end.
            any: totals.any || done.printed > 0,
            files: done.files,
            stats: totals.stats,
            checks: done.checks,
            problems: done.problems,
            failures,
            omitted: done.omitted,
            output_error: done.output_error,
            report: done.report,
        }
    }

    /// Returns the statistics as the final message of JSON output, including the omitted results if there was a limit.
    pub fn json_summary(&self, elapsed: Duration, options: &GrepOptions) -> Vec<u8> {
        print::json::summary(&self.stats, elapsed, options.limit.map(|_| self.omitted))
    }
}
