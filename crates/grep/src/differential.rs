//! Differential tests of the search in blocks, at any block boundaries, against ripgrep's own search and printers.

mod by_record;
mod whole;

use std::ops::{ControlFlow, Range};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bstr::BStr;
use finecomb_scan::{
    Block, Encoding, FindNul, HEAD_SIZE, Inputs, LONG_LINE, Lookahead, Meter, Output, Print, ScanOptions,
    Search, Select, Source, Wants,
};
use grep_printer::{ColorSpecs, SummaryBuilder, SummaryKind, default_color_specs};
use grep_searcher::{BinaryDetection, SearcherBuilder};
use proptest::prelude::*;
use serde_json::Value;

use crate::Query;
use crate::any_matcher::AnyMatcher;
use crate::enclosing::tests::Braces;
use crate::find::{Finder, without_terminator};
use crate::options::{Binary, Boundary, Case, Engine, GrepOptions, LineEnd, Mode, PatternOptions};
use crate::print::Tally;
use crate::print::lines::Style;
use crate::print::link::Hyperlink;
use crate::records::{FoundText, Record, Records};
use crate::search::Searcher;
use crate::which::Which;
use whole::WholeSearcher;

/// A file that exists, as hyperlinks are only to such files.
const PATH: &str = "src/lib.rs";

/// Source of bytes to read ahead.
struct Text(Vec<u8>);

impl FindNul for Text {
    fn first_nul(&self, range: Range<u64>) -> Option<u64> {
        let end = self.0.len().min(range.end as usize);
        self.0[range.start as usize..end].iter().position(|&byte| byte == 0).map(|at| range.start + at as u64)
    }
}

/// A search for a pattern.
pub(crate) fn searching(pattern: &str) -> GrepOptions {
    let pattern = PatternOptions { patterns: [pattern.to_owned()].into(), ..PatternOptions::default() };
    GrepOptions { pattern, ..GrepOptions::default() }
}

/// A file that is named, or found in a directory.
fn source(named: bool) -> Source {
    if named { Source::named(0, Some(PATH.into())) } else { Source::found(0, PATH.into()) }
}

/// Visits a file in blocks. Each block ends at the first line terminator at or after one of `cuts`. Returns the output, and whether
/// the visitor ended the job.
fn visit(
    visitor: &mut Searcher<'_>,
    named: bool,
    bytes: &[u8],
    line_end: u8,
    cuts: &[usize],
) -> (Vec<u8>, bool) {
    let end_from = |cut: &usize| {
        let cut = bytes.len().min(*cut);
        memchr::memchr(line_end, &bytes[cut..]).map_or(bytes.len(), |length| cut + length + 1)
    };
    visit_blocks(visitor, named, bytes, cuts.iter().map(end_from).chain([bytes.len()]).collect())
}

/// Visits a file in the blocks with these ends.
fn visit_blocks(
    visitor: &mut Searcher<'_>,
    named: bool,
    bytes: &[u8],
    mut ends: Vec<usize>,
) -> (Vec<u8>, bool) {
    let source = source(named);
    ends.sort_unstable();
    ends.dedup();
    let is_whole = ends.len() == 1;
    let text = Text(bytes.to_vec());
    let mut bytes = bytes.to_vec();
    let known = if is_whole { Vec::new() } else { bytes[..bytes.len().min(HEAD_SIZE)].to_vec() };
    let mut state = visitor.begin(&source, &known);
    let mut tally = Tally::default();
    let mut out = Output::new(None);
    let mut start = 0;
    for end in ends {
        let bytes = &mut bytes[start..end];
        let lookahead = if is_whole { Lookahead::default() } else { Lookahead::in_file(&text) };
        let mut block = Block { is_whole, lookahead, ..Block::new(&source, start as u64, bytes) };
        start = end;
        let found = visitor.search(&mut block);
        let before = state.clone();
        let passed = visitor.advance(&block, &found, &mut state);
        let mut more = Tally::default();
        visitor.print(&block, found, &before, &mut more, &mut out, &mut Meter::off());
        Searcher::add(&mut tally, more);
        if passed.is_break() {
            break;
        }
    }
    let ended: ControlFlow<()> = visitor.end(&source, state, tally, &mut out);
    (std::mem::take(out.bytes()), ended.is_break())
}

/// Output of the search in blocks, and whether anything was found.
fn in_blocks(options: &GrepOptions, named: bool, bytes: &[u8], cuts: &[usize]) -> (String, bool) {
    let options = options.clone().normalized();
    let matcher = AnyMatcher::new(&options).unwrap();
    let mut style = Style::new(&options);
    style.which = Which::new(&options, &matcher).unwrap();
    let ahead = crate::ahead(&matcher, &options);
    let mut searcher = Searcher::new(&style, Finder::new(matcher, style.terminator, false));
    searcher.ahead = ahead;
    let line_end = style.terminator.as_byte();
    if searcher.wants() != Wants::Blocks && searcher.searches_parts() {
        let mut ends = [cuts, &[bytes.len()]].concat();
        ends.iter_mut().for_each(|end| *end = bytes.len().min(*end));
        ends.sort_unstable();
        let starts = [0].into_iter().chain(ends.iter().copied());
        let parts = starts.zip(&ends).map(|(start, &end)| searcher.search_part(bytes, start..end)).collect();
        searcher.receive_parts(parts);
    }
    let cuts = if searcher.wants() == Wants::Blocks { cuts } else { &[] };
    let (printed, _) = visit(&mut searcher, named, bytes, line_end, cuts);
    assert!(searcher.totals.errors.is_empty());
    (shown(&printed, &options), searcher.totals.any)
}

/// Output of ripgrep's own crates, and whether anything was found.
fn at_once(options: &GrepOptions, bytes: &[u8]) -> (String, bool) {
    by_ripgrep(options, true, bytes)
}

/// The same for a file that is named, or found in a directory.
fn by_ripgrep(options: &GrepOptions, named: bool, bytes: &[u8]) -> (String, bool) {
    let options = options.clone().normalized();
    let matcher = AnyMatcher::new(&options).unwrap();
    let which = Which::new(&options, &matcher).unwrap();
    let mut searcher = WholeSearcher::new(&options, matcher);
    searcher.which = which.as_ref();
    let printed = searcher.print(&source(named), bytes);
    (shown(&printed, &options), searcher.totals.any)
}

/// Converts output to text without the times in it. With a match limit, the number of bytes that ripgrep reports as searched
/// depends on the next matching line with `-v`, and on the context in binary files: in these cases it is removed as well.
fn shown(printed: &[u8], options: &GrepOptions) -> String {
    if options.mode == Mode::Records {
        return shown_records(printed).join("\n");
    }
    let text = String::from_utf8_lossy(printed);
    let mut shown = String::new();
    for line in text.split_inclusive('\n') {
        let line = without(line, r#""elapsed":{"#, r#","searches":"#);
        let blank = (options.invert || options.binary != Binary::Text) && options.max_count.is_some();
        shown += &if blank { without(&line, r#""bytes_searched":"#, r#","bytes_printed""#) } else { line };
    }
    shown
}

/// Records without positions in memory and without paths that are repeated.
fn shown_records(printed: &[u8]) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for record in Records::new(printed) {
        match record {
            Record::Path(path) if !shown.is_empty() => assert_eq!(path, PATH.as_bytes()),
            Record::Path(path) => shown.push(String::from_utf8_lossy(path).into_owned()),
            Record::Line(FoundText { number, offset, text, spans, .. }) => {
                let spans = spans.map(|spans| spans.map(|span| (span.start, span.end)).collect::<Vec<_>>());
                shown.push(format!("{number:?} {offset} {:?} {spans:?}", BStr::new(text)));
            }
            Record::Binary { offset, is_end } => shown.push(format!("binary at {offset}, is_end={is_end}")),
        }
    }
    shown
}

/// Text of a JSON message.
fn bytes(data: &Value) -> Vec<u8> {
    match (&data["text"], &data["bytes"]) {
        (Value::String(text), _) => text.clone().into_bytes(),
        (_, Value::String(encoded)) => STANDARD.decode(encoded).unwrap(),
        _ => panic!("{data}"),
    }
}

/// JSON messages in the form of [`shown_records`].
fn shown_messages(printed: &str, options: &GrepOptions) -> Vec<String> {
    let mut shown = Vec::new();
    // Messages at the end of a file lack their times.
    for line in printed.lines().filter(|line| !line.starts_with(r#"{"type":"end""#)) {
        let message: Value = serde_json::from_str(line).unwrap();
        let (kind, data) = (message["type"].as_str().unwrap(), &message["data"]);
        if kind == "begin" {
            shown.push(String::from_utf8(bytes(&data["path"])).unwrap());
        } else {
            let lines = bytes(&data["lines"]);
            let text = without_terminator(&lines, options.line_end.terminator());
            let end = |span: &Value, name| (span[name].as_u64().unwrap() as u32).min(text.len() as u32);
            let spans = data["submatches"].as_array().unwrap().iter();
            let spans = spans.map(|span| (end(span, "start"), end(span, "end"))).collect::<Vec<_>>();
            let spans = (kind == "match").then_some(spans);
            let (number, offset) = (data["line_number"].as_u64(), &data["absolute_offset"]);
            shown.push(format!("{number:?} {offset} {:?} {spans:?}", BStr::new(text)));
        }
    }
    shown
}

/// Removes the text between `from` and `to`, if a line contains both.
fn without(line: &str, from: &str, to: &str) -> String {
    match (line.find(from), line.find(to)) {
        (Some(start), Some(end)) => format!("{}{}", &line[..start + from.len()], &line[end..]),
        _ => line.to_owned(),
    }
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let tokens: Vec<&[u8]> = vec![b"a", b"b", b" ", b" ", b"c", "é".as_bytes(), b"\xFF"];
    let line = prop::collection::vec(prop::sample::select(tokens), 0..12);
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n"]);
    (prop::collection::vec((line, end), 0..40), any::<bool>()).prop_map(|(lines, ended)| {
        let mut text = Vec::new();
        for (line, end) in lines {
            text.extend(line.concat());
            text.extend(end.as_bytes());
        }
        if !ended {
            text.pop();
        }
        text
    })
}

fn pattern() -> impl Strategy<Value = PatternOptions> {
    let pattern = prop::sample::select(vec![
        "a", "b+", "^a", "b$", "^$", "", "a*", "ab|c", r"\w+", r"(a)(b)?", "c c", r"[^a]", "zzz", "é",
    ]);
    let boundary = prop::sample::select(vec![None, None, None, Some(Boundary::Word), Some(Boundary::Line)]);
    let case = prop::sample::select(vec![Case::Sensitive, Case::Insensitive]);
    let condition = prop::sample::select(vec!["a", "b", "^a", "c$", "^$", "", r"\w", "é"]);
    let conditions = prop::collection::vec(condition.prop_map(str::to_owned), 0..3);
    let conditions = |weight| prop::option::weighted(weight, (conditions.clone(), conditions.clone()));
    let conditions = (conditions(0.3), conditions(0.1));
    (prop::collection::vec(pattern, 1..3), conditions, boundary, case).prop_map(
        |(patterns, (lines, files), boundary, case)| {
            let (and, not) = lines.unwrap_or_default();
            let (file_and, file_not) = files.unwrap_or_default();
            PatternOptions {
                patterns: patterns.into_iter().map(str::to_owned).collect(),
                and,
                not,
                file_and,
                file_not,
                boundary,
                case,
                ..PatternOptions::default()
            }
        },
    )
}

/// Formats of hyperlinks, often none.
fn hyperlink() -> impl Strategy<Value = Option<Hyperlink>> {
    let urls = [
        None,
        None,
        None,
        Some("file://{host}{path}"),
        Some("x:{path}:{line}:{column}"),
        Some("x:{line}{path}"),
    ];
    let link = |url: &str| Hyperlink::new(&url.parse().unwrap(), Some("host"), None);
    prop::sample::select(urls.map(|url| url.map(link)).to_vec())
}

fn colors() -> Option<ColorSpecs> {
    let mut specs = default_color_specs();
    specs.extend(["highlight:fg:yellow", "column:fg:blue"].map(|spec| spec.parse().unwrap()));
    Some(ColorSpecs::new(&specs))
}

prop_compose! {
    fn options()(
        pattern in pattern(),
        mode in prop::sample::select(vec![
            Mode::Lines, Mode::Lines, Mode::Lines, Mode::Lines, Mode::Json, Mode::Count, Mode::CountMatches,
            Mode::FilesWithMatches, Mode::FilesWithoutMatch, Mode::Records,
        ]),
        flags in prop::array::uniform16(prop::bool::weighted(0.3)),
        max_count in prop::sample::select(vec![None, None, Some(1), Some(2), Some(5)]),
        (before, after) in (prop::sample::select(vec![0, 0, 1, 2, 7]), prop::sample::select(vec![0, 0, 1, 3, 9])),
        max_columns in prop::sample::select(vec![None, None, None, Some(0), Some(4), Some(9)]),
        replace in prop::sample::select(vec![None, None, None, Some("[$0]"), Some("$1"), Some("")]),
        colored in prop::bool::weighted(0.3),
        hyperlink in hyperlink(),
        stop_on_nonmatch in prop::bool::weighted(0.2),
    ) -> GrepOptions {
        let prints = matches!(mode, Mode::Lines | Mode::Json | Mode::Records);
        let passthru = prints && flags[1] && flags[2];
        GrepOptions {
            pattern,
            mode,
            line_end: if flags[0] { LineEnd::Crlf } else { LineEnd::Lf },
            invert: flags[3],
            max_count,
            // With a limit, ripgrep also counts the matches in the context, which is a flaw.
            before_context: if prints && !passthru { before } else { 0 },
            after_context: if prints && !passthru { after } else { 0 },
            passthru,
            with_filename: flags[4] || mode == Mode::FilesWithMatches || mode == Mode::FilesWithoutMatch,
            heading: flags[5],
            line_number: flags[6] || mode == Mode::Json,
            column: flags[7],
            byte_offset: flags[8],
            only_matching: flags[9] && mode == Mode::Lines,
            vimgrep: flags[10] && mode == Mode::Lines,
            replace: replace.map(|text| text.as_bytes().to_vec()),
            max_columns,
            max_columns_preview: flags[11],
            trim: flags[12],
            include_zero: flags[13],
            null_after_path: flags[14],
            path_separator: if flags[15] { Some(b'%') } else { None },
            colors: if colored { colors() } else { None },
            hyperlink,
            stop_on_nonmatch,
            binary: Binary::Text,
            ..GrepOptions::default()
        }
    }
}

/// The options of compact output.
fn compact(options: GrepOptions) -> GrepOptions {
    let (mode, colors, context_separator) = (Mode::Lines, None, None);
    GrepOptions { compact: true, mode, colors, vimgrep: false, heading: true, context_separator, ..options }
}

/// Returns `true` if ripgrep finds the same in each line as in the line by itself. It does not in these cases:
/// - Word boundaries in text that is not UTF-8: the engine looks at the bytes before the line.
/// - Lines that end with a line feed alone among CRLF lines: in a line-by-line search, ripgrep includes the line feed in
///   the searched text.
/// - `passthru` and `invert` with a match limit: once it is reached, all following lines count as non-matching.
/// - `invert` and `stop_on_nonmatch`: the first line that does not count may be skipped.
fn is_comparable(options: &GrepOptions, text: &[u8]) -> bool {
    let depends_on_before =
        options.pattern.boundary == Some(Boundary::Word) && std::str::from_utf8(text).is_err();
    let in_context = options.max_count.is_some() && options.after_context > 0;
    let is_by_line = options.passthru || options.stop_on_nonmatch || in_context;
    let keeps_end = is_by_line && options.line_end == LineEnd::Crlf;
    let never_ends = options.passthru && options.invert && options.max_count.is_some();
    let skips_line = options.invert && options.stop_on_nonmatch;
    !depends_on_before && !keeps_end && !never_ends && !skips_line
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16 * ProptestConfig::default().cases, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn search_in_blocks_equals_search_of_the_whole_file(
        options in options(),
        text in text(),
        cuts in prop::collection::vec(0_usize..400, 0..6),
    ) {
        prop_assume!(is_comparable(&options, &text));
        let expected = at_once(&options, &text);
        prop_assert_eq!(&in_blocks(&options, true, &text, &[]), &expected);
        prop_assert_eq!(&in_blocks(&options, true, &text, &cuts), &expected);
    }

    #[test]
    fn records_are_the_lines_of_the_messages(
        options in options(),
        text in text(),
        cuts in prop::collection::vec(0_usize..400, 0..6),
    ) {
        let with = |mode| GrepOptions { mode, ..options.clone() };
        let (records, any) = in_blocks(&with(Mode::Records), true, &text, &cuts);
        let (messages, expected) = in_blocks(&with(Mode::Json), true, &text, &cuts);
        prop_assert_eq!((records, any), (shown_messages(&messages, &options).join("\n"), expected));
    }

    #[test]
    fn compact_output_does_not_depend_on_blocks(
        options in options(),
        text in text(),
        cuts in prop::collection::vec(0_usize..400, 0..6),
    ) {
        let options = compact(options);
        prop_assume!(is_comparable(&options, &text));
        prop_assert_eq!(in_blocks(&options, true, &text, &cuts), at_once(&options, &text));
    }

    #[test]
    fn lines_with_conditions_are_those_that_each_pattern_selects(
        pattern in pattern(),
        invert in any::<bool>(),
        text in "([abc ]{0,6}\n){0,30}",
        cuts in prop::collection::vec(0_usize..200, 0..4),
    ) {
        let pattern = PatternOptions { file_and: Vec::new(), file_not: Vec::new(), ..pattern };
        let matches = |wanted: &[String], line: &str| {
            let none = PatternOptions::default;
            let pattern = PatternOptions { patterns: wanted.into(), and: none().and, not: none().not, ..pattern.clone() };
            let options = GrepOptions { pattern, mode: Mode::Count, ..GrepOptions::default() };
            in_blocks(&options, true, line.as_bytes(), &[]).1
        };
        let selects = |line: &&str| {
            let each = |patterns: &[String]| {
                patterns.iter().map(|pattern| matches(std::slice::from_ref(pattern), line)).collect::<Vec<bool>>()
            };
            let all = matches(&pattern.patterns, line) && each(&pattern.and).iter().all(|&is| is);
            invert != (all && !each(&pattern.not).iter().any(|&is| is))
        };
        let expected: String = text.split_inclusive('\n').filter(selects).collect();
        let options = GrepOptions { pattern: pattern.clone(), invert, ..GrepOptions::default() };
        prop_assert_eq!(&in_blocks(&options, true, text.as_bytes(), &cuts).0, &expected);
        prop_assert_eq!(&at_once(&options, text.as_bytes()).0, &expected);
    }

    #[cfg(feature = "pcre2")]
    #[test]
    fn pcre2_search_in_blocks_equals_search_of_the_whole_file(
        mut options in options(),
        text in "[ab \n]{0,60}",
        cuts in prop::collection::vec(0_usize..60, 0..4),
    ) {
        options.pattern.engine = Engine::Pcre2;
        options.line_end = LineEnd::Lf;
        // With both, ripgrep prints every line after the last counted match as a match.
        prop_assume!(!options.invert || options.max_count.is_none());
        let text = text.into_bytes();
        prop_assume!(is_comparable(&options, &text));
        let expected = at_once(&options, &text);
        prop_assert_eq!(&in_blocks(&options, true, &text, &[]), &expected);
        prop_assert_eq!(&in_blocks(&options, true, &text, &cuts), &expected);
    }

    #[test]
    fn named_binary_files_are_searched_as_ripgrep_searches_memory_maps(
        mut options in options(),
        mut text in text(),
        nul in 0_usize..400,
        cuts in prop::collection::vec(0_usize..400, 0..6),
    ) {
        options.binary = Binary::Auto;
        // ripgrep omits the binary notice if the first line that it suppresses is context.
        options.before_context = 0;
        options.passthru = false;
        let nul = nul.min(text.len());
        text.insert(nul, 0);
        prop_assume!(is_comparable(&options, &text));
        let expected = at_once(&options, &text);
        prop_assert_eq!(&in_blocks(&options, true, &text, &[]), &expected);
        prop_assert_eq!(&in_blocks(&options, true, &text, &cuts), &expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8 * ProptestConfig::default().cases, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn definitions_are_printed_alike_by_the_search_in_blocks_and_in_the_output_of_ripgreps_printers(
        mut options in options(),
        text in "([ab{} ]{0,5}\n){0,30}",
    ) {
        options.enclosing = Some(Braces::finder);
        prop_assume!(is_comparable(&options, text.as_bytes()));
        prop_assert_eq!(in_blocks(&options, true, text.as_bytes(), &[]), at_once(&options, text.as_bytes()));
    }
}

/// Patterns whose matches may span lines, or that ask what is around.
fn spans() -> impl Strategy<Value = PatternOptions> {
    // With two spaces between them.
    const PATTERNS: &str = concat!(
        r"a\nb  a\s+b  [^c]+c  \n  \n?  a*\n*  ^b\n|a  (?s)a.*b  (?s)a.*?c  b$\n^a  \Aa  c\z  \z  \bb\s  ",
        r"\Bb\n  (a)\n(b)?  (?:a\n){1,2}  \na    a\n\b  ^\s*$  [^a]+  é\n  b|\n\n  (?-u:\xFF)\n  .\n.",
    );
    let pattern = prop::sample::select(PATTERNS.split("  ").collect::<Vec<_>>());
    let condition = prop::sample::select(vec!["a", "b\\n", "^c", r"\w\s\w"]).prop_map(str::to_owned);
    let conditions = |weight| prop::option::weighted(weight, prop::collection::vec(condition.clone(), 0..2));
    let conditions = (conditions(0.1), conditions(0.1), conditions(0.1), conditions(0.1));
    let boundary = prop::sample::select(vec![None, None, None, Some(Boundary::Word), Some(Boundary::Line)]);
    (prop::collection::vec(pattern, 1..3), conditions, boundary, any::<bool>(), any::<bool>()).prop_map(
        |(patterns, (and, not, file_and, file_not), boundary, ignores_case, multiline_dotall)| {
            PatternOptions {
                patterns: patterns.into_iter().map(str::to_owned).collect(),
                and: and.unwrap_or_default(),
                not: not.unwrap_or_default(),
                file_and: file_and.unwrap_or_default(),
                file_not: file_not.unwrap_or_default(),
                boundary,
                case: if ignores_case { Case::Insensitive } else { Case::Sensitive },
                multiline: true,
                multiline_dotall,
                ..PatternOptions::default()
            }
        },
    )
}

/// Returns `true` if matches may span lines, and ripgrep searches for them in a way that can be compared. With a limit on them and `invert`,
/// it goes back where context follows, and prints lines twice. With CRLF, it searches lines in that context with a lone line feed at their end.
/// If the limit is reached by an empty match at the end of the text, it counts the bytes before that line as searched, comb all.
fn is_comparable_across_lines(options: &GrepOptions) -> bool {
    let finder = Finder::new(AnyMatcher::new(options).unwrap(), options.line_end.terminator(), false);
    let in_context = options.max_count.is_some() && options.after_context > 0;
    let ends_text = options.pattern.patterns.iter().any(|pattern| pattern.contains(r"\z"));
    let is_exact = !(in_context && (options.invert || ends_text || options.line_end == LineEnd::Crlf));
    finder.across_lines(true).spans_lines() && is_exact
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32 * ProptestConfig::default().cases, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn matches_across_lines_are_printed_as_by_ripgrep(
        options in options(),
        pattern in spans(),
        (stats, which_pattern, quiet) in (prop::bool::weighted(0.2), any::<bool>(), prop::bool::weighted(0.1)),
        text in text(),
        nul in prop::option::weighted(0.3, 0_usize..400),
        (named, binary) in (any::<bool>(), prop::sample::select(vec![Binary::Auto, Binary::Suppress, Binary::Text])),
        parts in prop::collection::vec(0_usize..400, 0..6),
        (null_data, is_pcre2, has_head) in (prop::bool::weighted(0.1), prop::bool::weighted(0.2), prop::bool::weighted(0.05)),
    ) {
        let engine = if is_pcre2 && cfg!(feature = "pcre2") { Engine::Pcre2 } else { Engine::Rust };
        let pattern = PatternOptions { engine, ..pattern };
        let line_end = if null_data { LineEnd::Nul } else { options.line_end };
        // Without that, text that is not UTF-8 is an error.
        prop_assume!(!is_pcre2 || !pattern.patterns.iter().any(|pattern| pattern.contains("-u")));
        let options = GrepOptions { pattern, stats, which_pattern, quiet, binary, line_end, stop_on_nonmatch: false, ..options };
        prop_assume!(is_comparable_across_lines(&options));
        let mut text = text;
        if let Some(nul) = nul {
            text.insert(nul.min(text.len()), 0);
            // ripgrep omits the binary notice if the first line that it suppresses is context.
            let suppresses = binary == Binary::Suppress || named && binary == Binary::Auto;
            prop_assume!(!suppresses || options.before_context == 0 && !options.passthru);
        }
        if has_head {
            // Only in the first bytes is a NUL looked for in any case.
            text.splice(..0, [&[b'-'; HEAD_SIZE][..], b"\n"].concat());
        }
        let found = in_blocks(&options, named, &text, &parts);
        // ripgrep's JSON printer panics if a match that does not count ends after the printed lines.
        let expected = std::panic::catch_unwind(|| by_ripgrep(&options, named, &text));
        prop_assert!(expected.is_ok() || options.mode == Mode::Json);
        prop_assume!(expected.is_ok());
        prop_assert_eq!(found, expected.unwrap());
    }

    #[test]
    fn matches_across_lines_have_the_same_definitions_and_excerpts_as_in_the_output_of_ripgreps_printers(
        options in options(),
        pattern in spans(),
        is_compact: bool,
        text in "([abc{} ]{0,9}\n){0,30}",
        parts in prop::collection::vec(0_usize..200, 0..4),
    ) {
        let options = GrepOptions { pattern, stop_on_nonmatch: false, ..options };
        let options = match is_compact {
            // Where it finds matches, ripgrep's printer ends all lines in the same way. Its output does not show whether a selected line
            // of `invert` has a column, and blanks are trimmed afterwards.
            true => compact(GrepOptions {
                line_end: LineEnd::Lf,
                column: options.column && !options.invert,
                trim: options.trim && !options.only_matching,
                ..options
            }),
            false => GrepOptions { enclosing: Some(Braces::finder), ..options },
        };
        prop_assume!(is_comparable_across_lines(&options));
        // To find the place of an excerpt, the lines of a match are searched without what is around them.
        let looks_around = |pattern: &String| ["^", "$", r"\b", r"\B", r"\A", r"\z"].iter().any(|look| pattern.contains(look));
        let PatternOptions { boundary, patterns, .. } = &options.pattern;
        prop_assume!(!is_compact || boundary.is_none() && !patterns.iter().any(looks_around));
        let expected = std::panic::catch_unwind(|| at_once(&options, text.as_bytes()));
        prop_assume!(expected.is_ok());
        let expected = expected.unwrap();
        // `vimgrep` and `only_matching` print nothing for an empty match at the beginning of a line, nor does an empty replacement of all
        // lines, and so no definition is added.
        let may_print_nothing = options.vimgrep || options.only_matching || options.replace.is_some();
        prop_assume!(!expected.0.is_empty() || !may_print_nothing);
        prop_assert_eq!(in_blocks(&options, true, text.as_bytes(), &parts), expected);
    }
}

/// Output of ripgrep for a file that it reads piece by piece, without context.
fn read_by_ripgrep(options: &GrepOptions, bytes: &[u8], detection: BinaryDetection) -> String {
    let mut searcher = SearcherBuilder::new();
    searcher.binary_detection(detection).line_number(true).max_matches(options.max_count);
    read_with(searcher.build(), options, bytes)
}

fn read_with(mut searcher: grep_searcher::Searcher, options: &GrepOptions, bytes: &[u8]) -> String {
    let AnyMatcher::Rust(matcher) = AnyMatcher::new(options).unwrap() else { unreachable!() };
    let kind = match options.mode {
        Mode::Count => SummaryKind::Count,
        Mode::CountMatches => SummaryKind::CountMatches,
        Mode::FilesWithMatches => SummaryKind::PathWithMatch,
        _ => {
            let mut printer = grep_printer::StandardBuilder::new().build_no_color(Vec::new());
            searcher.search_reader(&matcher, bytes, printer.sink_with_path(&matcher, PATH)).unwrap();
            return String::from_utf8_lossy(printer.get_mut().get_ref()).into_owned();
        }
    };
    let mut printer = SummaryBuilder::new().kind(kind).exclude_zero(true).build_no_color(Vec::new());
    searcher.search_reader(&matcher, bytes, printer.sink_with_path(&matcher, PATH)).unwrap();
    String::from_utf8_lossy(printer.get_mut().get_ref()).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 3))]

    #[test]
    fn binary_files_are_searched_as_far_as_ripgrep_searches_them(
        lines in prop::collection::vec((1_usize..3000, any::<bool>()), 0..200),
        nul in prop_oneof![0_usize..3000, 0_usize..300_000],
        max_count in prop::sample::select(vec![None, Some(1), Some(30)]),
        mode in prop::sample::select(vec![
            Mode::Lines, Mode::Lines, Mode::Count, Mode::CountMatches, Mode::FilesWithMatches,
        ]),
        suppress: bool,
        cuts in prop::collection::vec(0_usize..300_000, 0..6),
    ) {
        let mut text: Vec<u8> = Vec::new();
        for (length, matches) in lines {
            text.extend(std::iter::repeat_n(if matches { b'x' } else { b'-' }, length));
            text.push(b'\n');
        }
        let nul = nul.min(text.len());
        text.insert(nul, 0);
        // Another test covers a shorter first line.
        prop_assume!(text.iter().position(|&byte| byte == b'\n').is_none_or(|end| end >= 3));
        let binary = if suppress { Binary::Suppress } else { Binary::Auto };
        let options =
            GrepOptions { mode, binary, max_count, with_filename: true, line_number: true, ..searching("x") };
        let detection = if suppress { BinaryDetection::convert(0) } else { BinaryDetection::quit(0) };
        let expected = read_by_ripgrep(&options, &text, detection);
        prop_assert_eq!(&in_blocks(&options, false, &text, &[]).0, &expected);
        prop_assert_eq!(&in_blocks(&options, false, &text, &cuts).0, &expected);
    }
}

/// Output of comb for a file in a directory.
fn found_by_comb(options: &GrepOptions, bytes: &[u8], encoding: Encoding, block_size: usize) -> String {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("file"), bytes).unwrap();
    let inputs = Inputs { encoding, ..Inputs::new([directory.path()]) };
    let scan = ScanOptions::default().block_size(block_size).into();
    let mut out = Vec::new();
    let outcome = crate::grep(&inputs, &scan, &Query::new(options).unwrap(), &mut out);
    assert!(outcome.problems.is_empty());
    let path = directory.path().join("file").display().to_string();
    String::from_utf8(out).unwrap().replace(&path, PATH)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 8))]

    #[test]
    fn decoded_binary_files_are_searched_as_far_as_ripgrep_searches_them(
        lines in prop::collection::vec((3_usize..900, any::<bool>()), 1..200),
        nul in 3_usize..100_000,
        label in prop::sample::select(vec!["latin1", "utf-16le", "utf-16be", "shift_jis", "utf-8", "marked"]),
        block_size in prop::sample::select(vec![100, 7000, 1 << 20]),
    ) {
        let mut text = String::new();
        for (length, matches) in lines {
            text.extend(std::iter::repeat_n(if matches { 'x' } else { '-' }, length));
            text.push('\n');
        }
        text.insert(nul.min(text.len()), '\0');
        let utf_16 = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        let bytes = match label {
            "utf-16le" => utf_16(u16::to_le_bytes),
            "utf-16be" => utf_16(u16::to_be_bytes),
            "marked" => [b"\xFF\xFE".to_vec(), utf_16(u16::to_le_bytes)].concat(),
            _ => text.clone().into_bytes(),
        };
        let options =
            GrepOptions {  with_filename: true, line_number: true, ..searching("x") };
        let name = if label == "marked" { "auto" } else { label };
        let mut builder = SearcherBuilder::new();
        builder.binary_detection(BinaryDetection::quit(0)).line_number(true);
        if label != "marked" {
            builder.encoding(Some(grep_searcher::Encoding::new(label).unwrap()));
        }
        let expected = read_with(builder.build(), &options, &bytes);
        let encoding = Encoding::parse(name).unwrap();
        prop_assert_eq!(found_by_comb(&options, &bytes, encoding, block_size), expected);
    }
}

#[test]
fn each_line_of_a_replacement_in_context_is_cut_by_itself() {
    let pattern =
        PatternOptions { patterns: [r"a\n".to_owned()].into(), multiline: true, ..PatternOptions::default() };
    let replace = Some(b"[$0]".to_vec());
    let options = GrepOptions {
        pattern,
        replace,
        invert: true,
        after_context: 1,
        compact: true,
        max_columns: Some(1),
        heading: true,
        ..GrepOptions::default()
    };
    assert_eq!(in_blocks(&options, true, b"\na\n", &[]).0, "\n[…\n]\n");
    assert_eq!(at_once(&options, b"\na\n").0, "\n[…\n]\n");
}

/// The NUL is after the bytes that are checked before a search.
#[test]
fn a_gap_is_printed_before_the_notice_of_a_binary_file() {
    let text = "hay\n".repeat(HEAD_SIZE / 4) + "needle\na\nb\nneedle\0\n";
    let options = GrepOptions { after_context: 1, ..searching("needle") };
    let expected = at_once(&options, text.as_bytes());
    assert!(expected.0.starts_with("needle\na\n--\nbinary file matches"), "{expected:?}");
    for cuts in [&[][..], &[HEAD_SIZE], &[HEAD_SIZE + 9]] {
        assert_eq!(in_blocks(&options, true, text.as_bytes(), cuts), expected);
    }
}

/// ripgrep stops at the first line of context with a NUL, or at any if it has seen a NUL in the first bytes, and reports no match.
#[test]
fn a_match_whose_context_has_a_nul_is_reported() {
    let text = "hay\n".repeat(HEAD_SIZE / 4) + "a\n\0\nneedle\n";
    let options = GrepOptions { before_context: 2, ..searching("needle") };
    assert_eq!(at_once(&options, text.as_bytes()), ("a\n".to_owned(), false));
    let expected = format!("a\nbinary file matches (found \"\\0\" byte around offset {})\n", HEAD_SIZE + 2);
    for cuts in [&[][..], &[HEAD_SIZE], &[HEAD_SIZE + 3]] {
        assert_eq!(in_blocks(&options, true, text.as_bytes(), cuts), (expected.clone(), true));
    }
    let text = b"hay\nneedle\nx\0\n";
    assert_eq!(at_once(&options, text), (String::new(), false));
    let notice = "binary file matches (found \"\\0\" byte around offset 12)\n";
    assert_eq!(in_blocks(&options, true, text, &[]), (notice.to_owned(), true));
}

/// ripgrep first reads three bytes, for a byte order mark, and searches the lines in them before it sees a NUL after them.
/// comb treats such a file as binary like any other.
#[test]
fn a_first_line_that_ends_before_byte_3_does_not_hide_a_nul() {
    let options = GrepOptions { with_filename: true, line_number: true, ..searching("x") };
    for (text, theirs) in [(&b"xx\n\0"[..], true), (b"xxx\n\0", false)] {
        assert_eq!(in_blocks(&options, false, text, &[]).0, "");
        let printed = read_by_ripgrep(&options, text, BinaryDetection::quit(0));
        assert_eq!(printed.contains("stopped searching binary file after match"), theirs, "{printed}");
    }
}

#[cfg(feature = "pcre2")]
#[test]
fn with_pcre2_lines_after_the_last_counted_match_are_context() {
    let options = |pattern: &str| {
        let mut options = GrepOptions { line_number: true, ..searching(pattern) };
        options.pattern.engine = Engine::Pcre2;
        options
    };
    let limited = GrepOptions { max_count: Some(1), after_context: 2, ..options("foo") };
    let empty = GrepOptions { vimgrep: true, column: true, ..options("^$") };
    for cuts in [&[][..], &[1]] {
        let printed = |options, text| in_blocks(options, true, text, cuts).0;
        assert_eq!(printed(&limited, b"foo\nfoo\nfoo\n"), "1:foo\n2-foo\n3-foo\n");
        let inverted = GrepOptions { invert: true, max_count: Some(1), after_context: 1, ..options("a") };
        assert_eq!(printed(&inverted, b"b\nb\na\na\n"), "1:b\n2:b\n");
        assert_eq!(at_once(&inverted, b"b\nb\na\na\n").0, "1:b\n2:b\n3:a\n4:a\n");
        // An empty line has no match, and so no column.
        assert_eq!(printed(&empty, b"a\n\n\nb\n"), "2:\n3:\n");
        // Matches are looked for in the line of context alone, without the text before it.
        let around = GrepOptions { invert: true, column: true, before_context: 1, ..options("^$") };
        assert_eq!(printed(&around, b"a\n\na\n"), at_once(&around, b"a\n\na\n").0);
    }
}

/// ripgrep skips the line that ends the first run of lines, if that ends in the part of the file that was read with its first line.
#[test]
fn an_inverted_search_ends_at_the_first_line_that_is_not_selected() {
    let options = GrepOptions { invert: true, stop_on_nonmatch: true, after_context: 2, ..searching("a") };
    let text = b"a\nb\nc\na\na\nd\n";
    for cuts in [&[][..], &[1, 3], &[5], &[0, 7]] {
        assert_eq!(in_blocks(&options, true, text, cuts).0, "b\nc\na\n", "{cuts:?}");
    }
    assert_eq!(at_once(&options, text).0, "b\nc\na\n");
    assert_eq!(at_once(&options, b"b\na\nd\n").0, "b\n--\nd\n");
}

/// With CRLF, ripgrep includes a lone line feed in the text it searches, and `\z` does not match before it.
#[test]
fn end_of_text_matches_at_the_end_of_a_line_with_crlf() {
    let crlf = GrepOptions { line_end: LineEnd::Crlf, ..searching(r"foo\z") };
    assert_eq!(in_blocks(&crlf, true, b"foo\r\nbar\nfoo\n", &[]).0, "foo\r\nfoo\n");
    assert_eq!(at_once(&crlf, b"foo\r\nbar\nfoo\n").0, "foo\r\n");
    let options = GrepOptions { line_end: LineEnd::Lf, ..crlf };
    assert_eq!(in_blocks(&options, true, b"foo\nbar\n", &[]), at_once(&options, b"foo\nbar\n"));
}

/// Where it searches line by line, ripgrep includes a lone line feed in the text, and `^` and `$` match after it.
#[test]
fn with_crlf_nothing_matches_after_the_line_feed_of_a_line() {
    let pattern = PatternOptions { patterns: ["^$".to_owned()].into(), ..PatternOptions::default() };
    let all = GrepOptions { pattern, line_end: LineEnd::Crlf, ..GrepOptions::default() };
    let stops = GrepOptions { stop_on_nonmatch: true, ..all.clone() };
    for (options, ours, theirs) in [(all, "\n\n", "\n\n"), (stops, "\n", "\nfoo\n\n")] {
        assert_eq!(in_blocks(&options, true, b"\nfoo\n\n", &[]).0, ours);
        assert_eq!(at_once(&options, b"\nfoo\n\n").0, theirs);
    }
}

/// ripgrep selects a record by its own text, but finds matches in the text around it: `^` does not match after a NUL.
#[test]
fn the_start_of_a_line_after_a_nul_is_a_match_with_null_data() {
    let pattern = PatternOptions { patterns: ["^".to_owned()].into(), ..PatternOptions::default() };
    let options = GrepOptions {
        pattern,
        line_end: LineEnd::Nul,
        only_matching: true,
        column: true,
        ..GrepOptions::default()
    };
    assert_eq!(in_blocks(&options, true, b"a\0b\0", &[]).0, "1:\x001:\0");
    assert_eq!(at_once(&options, b"a\0b\0").0, "1:\0b\0");
}

/// Once the limit is reached, ripgrep inverts the marks of the lines after it.
#[test]
fn an_inverted_search_prints_all_lines_after_its_limit_as_context() {
    let pattern = PatternOptions { patterns: ["a".to_owned()].into(), ..PatternOptions::default() };
    let options = GrepOptions {
        pattern,
        invert: true,
        passthru: true,
        max_count: Some(1),
        line_number: true,
        ..GrepOptions::default()
    };
    assert_eq!(in_blocks(&options, true, b"a\nb\na\nc\n", &[]).0, "1-a\n2:b\n3-a\n4-c\n");
    assert_eq!(at_once(&options, b"a\nb\na\nc\n").0, "1-a\n2:b\n3:a\n4:c\n");
}

/// ripgrep stops at the match that settles the result, before it reads the NUL.
#[test]
fn a_file_with_a_nul_after_its_first_matches_is_listed_but_not_counted() {
    let text = ["foo\n".repeat(50_000).as_str(), "\0\n"].concat();
    let printed = |mode, max_count| {
        let options =
            GrepOptions { mode, max_count, include_zero: true, with_filename: true, ..searching("foo") };
        found_by_comb(&options, text.as_bytes(), Encoding::parse("auto").unwrap(), 1 << 20)
    };
    assert_eq!(printed(Mode::FilesWithMatches, None), format!("{PATH}\n"));
    assert_eq!(printed(Mode::Count, Some(3)), format!("{PATH}:3\n"));
    assert_eq!(printed(Mode::Count, None), "");
}

#[test]
fn a_nul_in_what_is_read_with_the_last_counted_match_hides_the_counts_of_lines_and_of_matches() {
    let text = ["foo foo\n".repeat(4).as_str(), "\0\n", &"hay\n".repeat(50_000)].concat();
    for mode in [Mode::Count, Mode::CountMatches] {
        for max_count in [None, Some(1), Some(4), Some(5)] {
            let options = GrepOptions { mode, max_count, with_filename: true, ..searching("foo") };
            assert_eq!(read_by_ripgrep(&options, text.as_bytes(), BinaryDetection::quit(0)), "");
            for cuts in [&[][..], &[8], &[HEAD_SIZE]] {
                let found = in_blocks(&options, false, text.as_bytes(), cuts);
                assert_eq!(found, (String::new(), false), "{mode:?} {max_count:?} {cuts:?}");
            }
        }
    }
}

#[test]
fn files_with_context_are_separated_but_not_with_passthru() {
    let separator = |after_context, passthru| {
        let options = GrepOptions {
            after_context,
            passthru,
            context_separator: Some(b"--".to_vec()),
            ..searching("foo")
        };
        Query::new(&options).unwrap().separator()
    };
    assert_eq!(separator(1, false), Some(b"--\n".to_vec()));
    assert_eq!([separator(0, false), separator(1, true)], [None, None]);
}

#[test]
fn a_long_line_without_a_nul_is_printed_as_a_match_and_as_context() {
    let long = "x".repeat(LONG_LINE + 5);
    let text = format!("first\n{long}\nneedle\n{long} needle\nlast");
    for mode in [Mode::Lines, Mode::Json, Mode::Count] {
        let options = GrepOptions {
            mode,
            before_context: 2,
            after_context: 1,
            line_number: true,
            ..searching("needle")
        };
        let expected = at_once(&options, text.as_bytes());
        for cuts in [&[][..], &[7], &[0, LONG_LINE + 12], &[LONG_LINE + 12, LONG_LINE + 20]] {
            // A text of a mebibyte is too long to be shown.
            assert!(in_blocks(&options, true, text.as_bytes(), cuts) == expected, "{mode:?} {cuts:?}");
        }
    }
}

#[test]
fn how_far_a_limited_search_goes_does_not_depend_on_lines_of_context() {
    let options = GrepOptions {
        mode: Mode::Json,
        max_count: Some(1),
        after_context: 1,
        binary: Binary::Text,
        ..searching("a")
    };
    let printed = in_blocks(&options, true, b"a\nb\nc\n", &[]);
    assert!(printed.0.contains(r#""bytes_searched":2,"#), "{}", printed.0);
    assert_eq!(printed, at_once(&options, b"a\nb\nc\n"));
}

#[test]
fn the_preview_of_a_long_line_has_no_colours_if_matches_have_none() {
    let mut specs = default_color_specs();
    specs.push("match:none".parse().unwrap());
    let options = GrepOptions {
        column: true,
        max_columns: Some(4),
        max_columns_preview: true,
        colors: Some(ColorSpecs::new(&specs)),
        ..searching("a")
    };
    let (printed, _) = in_blocks(&options, true, b"baaaaaaa\n", &[]);
    assert!(printed.ends_with(":baaa [... 4 more matches]\n"), "{printed:?}");
}

/// ripgrep panics there, in its JSON printer.
#[test]
fn lines_after_the_last_counted_one_that_does_not_match_have_no_matches() {
    for (mode, expected) in [(Mode::Json, r#""submatches":[]"#), (Mode::Records, r#""z" Some([])"#)] {
        let mut options = GrepOptions { mode, invert: true, max_count: Some(1), ..searching("a\\nb") };
        options.pattern.multiline = true;
        let text = b"z\na\nb\na\nb\n";
        let (printed, any) = in_blocks(&options, true, text, &[]);
        assert!(any && printed.contains(expected), "{printed}");
        assert_eq!(at_once(&options, text), (printed, any));
    }
}

/// The line before that of the NUL is a whole one.
#[test]
fn a_match_before_the_piece_with_a_nul_has_no_context_in_it() {
    let matching = "x".repeat(99);
    let text = ["-".repeat(99).as_str(), "\n"].concat().repeat(654) + &matching + "\n";
    let text = text + &"-".repeat(50) + "\0" + &"-".repeat(50) + "\n";
    let options = GrepOptions { after_context: 1, ..searching("x") };
    let (printed, _) = in_blocks(&options, false, text.as_bytes(), &[]);
    let warning =
        "WARNING: stopped searching binary file after match (found \"\\0\" byte around offset 65550)";
    assert_eq!(printed, format!("{matching}\n{warning}\n"));
}

/// The piece with the NUL begins in the first block, which has no match, and continues in the second one.
#[test]
fn a_piece_with_a_nul_is_not_searched_where_a_block_ends_in_it() {
    let line = "-".repeat(99) + "\n";
    let text = line.repeat(800) + "\0" + &line.repeat(200);
    let begin = 655 * line.len();
    let options = searching("x");
    for cuts in [&[][..], &[70_000], &[66_000, 75_000]] {
        let passthru = GrepOptions { passthru: true, ..options.clone() };
        assert!(
            in_blocks(&passthru, false, text.as_bytes(), cuts).0 == text[..begin],
            "printed with {cuts:?}"
        );
        // ripgrep does not count lines that it keeps for context.
        let counted = GrepOptions { stats: true, after_context: 2, ..options.clone() };
        let style = Style::new(&counted);
        let matcher = AnyMatcher::new(&counted).unwrap();
        let mut searcher = Searcher::new(&style, Finder::new(matcher, style.terminator, false));
        visit(&mut searcher, false, text.as_bytes(), b'\n', cuts);
        assert_eq!(searcher.totals.stats.bytes_searched(), begin as u64, "{cuts:?}");
    }
}

#[test]
fn a_search_that_stops_before_the_piece_with_a_nul_knows_nothing_of_it() {
    let text = format!("-\nx\n-\n-{}\0x\n", "-".repeat(200_000));
    for binary in [Binary::Auto, Binary::Suppress] {
        let options = GrepOptions { stop_on_nonmatch: true, binary, ..searching("x") };
        for cuts in [&[][..], &[1], &[1, 3], &[4]] {
            assert_eq!(in_blocks(&options, false, text.as_bytes(), cuts).0, "x\n", "{binary:?}, {cuts:?}");
        }
    }
}

#[test]
fn lines_that_end_with_nul_are_text_also_in_a_search_across_lines() {
    let options = GrepOptions { line_end: LineEnd::Nul, ..searching("b") };
    let multiline =
        PatternOptions { multiline: true, patterns: ["b\n?".to_owned()].into(), ..options.pattern.clone() };
    for options in [options.clone(), GrepOptions { pattern: multiline, ..options }] {
        let mut searcher = WholeSearcher::new(&options, AnyMatcher::new(&options).unwrap());
        assert_eq!(searcher.print(&source(true), b"a\0b\0a"), b"b\0");
        assert_eq!(in_blocks(&options, true, b"a\0b\0a", &[]).0, "b\0");
    }
}

#[test]
fn blocks_end_where_lines_end() {
    let record = "-\n---------- x ----------\n-\0";
    let options = GrepOptions { line_end: LineEnd::Nul, ..searching("x") };
    let text = record.repeat(50);
    for block_size in [10, 100, 1000] {
        let auto = Encoding::parse("auto").unwrap();
        assert_eq!(found_by_comb(&options, text.as_bytes(), auto, block_size), text);
    }
}
