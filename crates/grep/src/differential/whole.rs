//! Search of whole files by ripgrep's own crates, the reference for the search of comb. What ripgrep does not print is added to the
//! output of its printers.

mod compact;
mod definitions;
mod patterns;
mod records;

use std::ops::Range;

use finecomb_scan::Source;
use grep_matcher::{Match, Matcher, NoCaptures, NoError};
use grep_printer::{
    ColorSpecs, JSON, JSONBuilder, Standard, StandardBuilder, Stats, Summary, SummaryBuilder, SummaryKind,
};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use memchr::memchr;
use termcolor::{Ansi, NoColor, WriteColor};

use crate::any_matcher::AnyMatcher;
use crate::enclosing::{Enclosing, ScopeFinder};
use crate::find::without_terminator;
use crate::options::{Binary, GrepOptions, LineEnd, Mode};
use crate::print::lines::Style;
use crate::search::Totals;
use crate::which::Which;
use compact::compact;
use definitions::{Inserter, Piece, Recorder, SharedBuffer, insert_into_json};
use patterns::insert_patterns;
use records::{RecordSink, Recorded};

/// Whole-file search of one worker.
pub(crate) struct WholeSearcher<'q> {
    options: &'q GrepOptions,
    matcher: AnyMatcher,
    searcher: Searcher,
    printer: Printer,
    /// Finds definitions around matches, if they are printed.
    scope_finder: Option<Box<dyn ScopeFinder>>,
    /// Names the patterns of matches, if they are printed.
    pub(crate) which: Option<&'q Which>,
    pub(crate) totals: Totals,
}

enum Printer {
    Lines(Standard<NoColor<Vec<u8>>>),
    ColoredLines(Standard<Ansi<Vec<u8>>>),
    RecordedLines(Box<Recording>),
    Summary(Summary<NoColor<Vec<u8>>>),
    ColoredSummary(Summary<Ansi<Vec<u8>>>),
    Json(JSON<Vec<u8>>),
    Records,
}

/// Printer of lines that records which part of the output is which line.
struct Recording {
    printer: Standard<Box<dyn WriteColor + Send>>,
    buffer: SharedBuffer,
    style: Style,
    /// Parts of the output of the current file.
    pieces: Vec<Piece>,
}

impl<'q> WholeSearcher<'q> {
    pub(crate) fn new(options: &'q GrepOptions, matcher: AnyMatcher) -> Self {
        let mut builder = SearcherBuilder::new();
        builder
            .max_matches(options.max_count)
            .line_terminator(options.line_end.terminator())
            .invert_match(options.invert)
            .line_number(options.line_number)
            .multi_line(options.pattern.multiline)
            .stop_on_nonmatch(options.stop_on_nonmatch)
            .bom_sniffing(false);
        if options.passthru {
            builder.passthru(true);
        } else {
            builder.before_context(options.before_context).after_context(options.after_context);
        }
        let printer = Printer::new(options);
        let (scope_finder, totals) = (options.scope_finder(), Totals::default());
        Self { options, matcher, searcher: builder.build(), printer, scope_finder, which: None, totals }
    }

    /// Adds definitions and patterns to the output of a file.
    fn finish_output(&mut self, source: &Source, text: &[u8], printed: Vec<u8>) -> Vec<u8> {
        let is_text = self.options.binary == Binary::Text || self.options.line_end == LineEnd::Nul;
        // Elsewhere nothing depends on whether the file is binary, and to tell that takes a search of all of it.
        let may_show = self.scope_finder.is_some() && !printed.is_empty();
        let is_shown = may_show && (is_text || memchr(0, text).is_none());
        let (path, line_end) = (source.display_path(), self.options.line_end.terminator().as_byte());
        let text = if is_shown { text } else { b"" };
        let mut errors = Vec::new();
        let enclosing = self.scope_finder.as_deref_mut().map(|finder| {
            let errors = &mut errors;
            Enclosing { finder, path, text, line_end, scopes: None, errors }
        });
        let finished = match (&self.printer, enclosing) {
            (Printer::RecordedLines(printer), Some(enclosing)) if is_shown => {
                let path = path.as_os_str().as_encoded_bytes();
                let path = self.options.with_filename.then_some(path);
                Inserter::new(&printer.style, path, enclosing, &printed).insert(&printer.pieces)
            }
            (Printer::Json(_), enclosing) => finish_messages(self.which, printed, enclosing),
            _ => printed,
        };
        self.totals.errors.extend(errors.into_iter().map(|error| (source.clone(), error)));
        finished
    }

    fn print_records(&mut self, source: &Source, bytes: &[u8]) -> Vec<u8> {
        let path = source.display_path().as_os_str().as_encoded_bytes();
        let mut sink = RecordSink::new(&self.matcher, self.options, path);
        if let Err(error) = self.searcher.search_slice(&self.matcher, bytes, &mut sink) {
            self.totals.errors.push((source.clone(), error.to_string()));
        }
        let Recorded { bytes, any } = sink.finish();
        self.totals.any |= any;
        bytes
    }

    fn binary_detection(&self, source: &Source) -> BinaryDetection {
        match self.options.binary {
            _ if self.options.line_end == LineEnd::Nul => BinaryDetection::none(),
            Binary::Text => BinaryDetection::none(),
            Binary::Auto if !self.options.is_named(source) => BinaryDetection::quit(0),
            _ => BinaryDetection::convert(0),
        }
    }
}

/// Adds definitions and patterns to JSON messages.
fn finish_messages(which: Option<&Which>, printed: Vec<u8>, enclosing: Option<Enclosing<'_>>) -> Vec<u8> {
    let bytes = match enclosing {
        Some(enclosing) => insert_into_json(&printed, enclosing),
        None => printed,
    };
    match which {
        Some(which) => insert_patterns(&bytes, which),
        None => bytes,
    }
}

impl Printer {
    fn new(options: &GrepOptions) -> Self {
        let colors = options.colors.clone();
        let summary = match options.mode {
            Mode::FilesWithoutMatch if options.quiet => SummaryKind::QuietWithoutMatch,
            _ if options.quiet => SummaryKind::QuietWithMatch,
            Mode::Count => SummaryKind::Count,
            Mode::CountMatches => SummaryKind::CountMatches,
            Mode::FilesWithMatches => SummaryKind::PathWithMatch,
            Mode::FilesWithoutMatch => SummaryKind::PathWithoutMatch,
            Mode::Json => {
                let mut builder = JSONBuilder::new();
                return Self::Json(builder.replacement(options.replace.clone()).build(Vec::new()));
            }
            Mode::Records => return Self::Records,
            Mode::Lines => {
                let builder = standard_builder(options);
                if options.enclosing.is_some() || options.compact {
                    return Self::RecordedLines(Box::new(Recording::new(options, &builder)));
                }
                return match colors {
                    None => Self::Lines(builder.build(NoColor::new(Vec::new()))),
                    Some(_) => Self::ColoredLines(builder.build(Ansi::new(Vec::new()))),
                };
            }
        };
        let builder = summary_builder(options, summary);
        match colors {
            None => Self::Summary(builder.build(NoColor::new(Vec::new()))),
            Some(_) => Self::ColoredSummary(builder.build(Ansi::new(Vec::new()))),
        }
    }
}

impl Recording {
    fn new(options: &GrepOptions, builder: &StandardBuilder) -> Self {
        let buffer = SharedBuffer::default();
        let out: Box<dyn WriteColor + Send> = match options.colors {
            None => Box::new(NoColor::new(buffer.clone())),
            Some(_) => Box::new(Ansi::new(buffer.clone())),
        };
        Self { printer: builder.build(out), buffer, style: Style::new(options), pieces: Vec::new() }
    }

    fn search(&mut self, (searcher, matcher, text): Search<'_>, source: &Source) -> Outcome {
        let Self { printer, buffer, pieces, .. } = self;
        pieces.clear();
        let mut sink = printer.sink_with_path(matcher, source.display_path());
        let recorder = Recorder { sink: &mut sink, buffer: buffer.clone(), pieces };
        let error = searcher.search_slice(matcher, text, recorder).err();
        Outcome {
            any: sink.has_match(),
            stats: sink.stats().cloned(),
            error: error.map(|error| error.to_string()),
        }
    }

    /// Takes what was printed.
    fn take(&mut self, matcher: &AnyMatcher, text: &[u8]) -> Vec<u8> {
        let printed = self.buffer.take();
        if !self.style.options.compact {
            return printed;
        }
        let find = |lines: Range<usize>| {
            // As in the search in blocks, they are searched without what is before them.
            let lines = &text[lines];
            let begin = |text| matcher.find(text).ok().flatten().map(|found| found.start());
            // Only a match across lines includes the end of the last one.
            let begin = begin(without_terminator(lines, self.style.terminator)).or_else(|| begin(lines));
            // An empty match at the very end of the file is in no line.
            begin.filter(|&begin| begin < lines.len())
        };
        compact(&self.style, &printed, &mut self.pieces, find)
    }
}

fn colors(options: &GrepOptions) -> ColorSpecs {
    options.colors.clone().unwrap_or_default()
}

fn standard_builder(options: &GrepOptions) -> StandardBuilder {
    let mut builder = StandardBuilder::new();
    builder
        .byte_offset(options.byte_offset)
        .color_specs(colors(options))
        .column(options.column)
        .heading(options.heading)
        .max_columns(options.max_columns.filter(|_| !options.compact))
        .max_columns_preview(options.max_columns_preview)
        .only_matching(options.only_matching)
        .path(options.with_filename)
        .path_terminator(options.null_after_path.then_some(0))
        .per_match(options.vimgrep)
        .per_match_one_line(true)
        .replacement(options.replace.clone())
        .separator_context(options.context_separator.clone())
        .separator_field_context(options.field_context_separator.clone())
        .separator_field_match(options.field_match_separator.clone())
        .separator_path(options.path_separator)
        .stats(options.stats)
        // Lines are cut first.
        .trim_ascii(options.trim && !options.compact);
    builder.hyperlink(options.hyperlink.as_ref().map(|link| link.config()).unwrap_or_default());
    builder
}

fn summary_builder(options: &GrepOptions, kind: SummaryKind) -> SummaryBuilder {
    let mut builder = SummaryBuilder::new();
    builder
        .color_specs(colors(options))
        .exclude_zero(!options.include_zero)
        .kind(kind)
        .path(options.with_filename)
        .path_terminator(options.null_after_path.then_some(0))
        .separator_field(b":".to_vec())
        .separator_path(options.path_separator)
        .stats(options.stats);
    builder.hyperlink(options.hyperlink.as_ref().map(|link| link.config()).unwrap_or_default());
    builder
}

/// A search of a text.
type Search<'a> = (&'a mut Searcher, &'a AnyMatcher, &'a [u8]);

/// Result of searching one file.
struct Outcome {
    any: bool,
    stats: Option<Stats>,
    error: Option<String>,
}

fn search_lines<W: WriteColor>(
    (searcher, matcher, text): Search<'_>,
    printer: &mut Standard<W>,
    source: &Source,
) -> Outcome {
    let mut sink = printer.sink_with_path(matcher, source.display_path());
    let error = searcher.search_slice(matcher, text, &mut sink).err();
    Outcome {
        any: sink.has_match(),
        stats: sink.stats().cloned(),
        error: error.map(|error| error.to_string()),
    }
}

fn search_counts<W: WriteColor>(
    (searcher, matcher, text): Search<'_>,
    printer: &mut Summary<W>,
    source: &Source,
) -> Outcome {
    let mut sink = printer.sink_with_path(matcher, source.display_path());
    let error = searcher.search_slice(matcher, text, &mut sink).err();
    Outcome {
        any: sink.has_match(),
        stats: sink.stats().cloned(),
        error: error.map(|error| error.to_string()),
    }
}

/// Matcher that finds nothing: after the last counted line that does not match, all lines are printed as such, and ripgrep's JSON printer
/// panics if a match begins in one of them.
struct NoMatches;

impl Matcher for NoMatches {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_at(&self, _text: &[u8], _at: usize) -> Result<Option<Match>, NoError> {
        Ok(None)
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }
}

/// Searches, and prints the lines with what `shown` finds in them.
fn search_json(
    (searcher, matcher, text): Search<'_>,
    shown: &impl Matcher,
    printer: &mut JSON<Vec<u8>>,
    source: &Source,
) -> Outcome {
    let mut sink = printer.sink_with_path(shown, source.display_path());
    let error = searcher.search_slice(matcher, text, &mut sink).err();
    let stats = Some(sink.stats().clone());
    Outcome { any: sink.has_match(), stats, error: error.map(|error| error.to_string()) }
}

impl WholeSearcher<'_> {
    /// Searches a file, and returns what is printed.
    pub(crate) fn print(&mut self, source: &Source, bytes: &[u8]) -> Vec<u8> {
        self.searcher.set_binary_detection(self.binary_detection(source));
        if let Err(error) = self.matcher.begin_file(bytes) {
            self.totals.errors.push((source.clone(), error.to_string()));
            return Vec::new();
        }
        let with = (&mut self.searcher, &self.matcher, bytes);
        let (outcome, printed) = match &mut self.printer {
            Printer::Records => return self.print_records(source, bytes),
            Printer::Lines(printer) => {
                (search_lines(with, printer, source), std::mem::take(printer.get_mut().get_mut()))
            }
            Printer::ColoredLines(printer) => {
                (search_lines(with, printer, source), std::mem::take(printer.get_mut().get_mut()))
            }
            Printer::RecordedLines(printer) => {
                let outcome = printer.search(with, source);
                (outcome, printer.take(&self.matcher, bytes))
            }
            Printer::Summary(printer) => {
                (search_counts(with, printer, source), std::mem::take(printer.get_mut().get_mut()))
            }
            Printer::ColoredSummary(printer) => {
                (search_counts(with, printer, source), std::mem::take(printer.get_mut().get_mut()))
            }
            Printer::Json(printer) => {
                let GrepOptions { pattern, invert, max_count, .. } = self.options;
                let outcome = match pattern.multiline && *invert && max_count.is_some() {
                    true => search_json(with, &NoMatches, printer, source),
                    false => search_json(with, &self.matcher, printer, source),
                };
                (outcome, std::mem::take(printer.get_mut()))
            }
        };
        let printed = self.finish_output(source, bytes, printed);
        self.totals.any |= outcome.any;
        if let Some(stats) = outcome.stats {
            self.totals.stats += &stats;
        }
        if let Some(error) = outcome.error {
            self.totals.errors.push((source.clone(), error));
        }
        printed
    }
}
