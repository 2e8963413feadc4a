//! Records of several lines against a plain implementation: a loop that divides the text, an expression for each record, and a loop that
//! prints them.

use std::ops::Range;

use finecomb_scan::{HEAD_SIZE, Inputs, LineRole, RecordStart, ScanOptions, Select, Wants, Width};
use proptest::prelude::*;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

use super::{PATH, searching, shown, visit_blocks};
use crate::any_matcher::AnyMatcher;
use crate::find::{Finder, RecordSearch};
use crate::options::{Binary, Boundary, Engine, GrepOptions, LineEnd, Mode, PatternOptions};
use crate::print::lines::Style;
use crate::search::Searcher;
use crate::{Query, grep};

/// Divides a text line by line.
fn records(text: &[u8], start: &RecordStart) -> Vec<Range<usize>> {
    let (mut records, mut at, mut is_open) = (Vec::<Range<usize>>::new(), 0, false);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let role = start.role(line.strip_suffix(b"\n").unwrap_or(line));
        let begins = role == LineRole::Begins && !is_open;
        is_open = if role == LineRole::Continues { is_open } else { role == LineRole::Opens };
        match records.last_mut().filter(|_| !begins) {
            Some(record) => record.end += line.len(),
            None => records.push(at..at + line.len()),
        }
        at += line.len();
    }
    records
}

/// Output of the search in blocks of whole records, which end at or after `cuts`, and whether anything was found.
fn in_blocks(options: &GrepOptions, named: bool, bytes: &[u8], cuts: &[usize]) -> (String, bool) {
    let options = options.clone().normalized();
    let style = Style::new(&options);
    let search = RecordSearch::new(&options).unwrap();
    let finder = Finder::new(AnyMatcher::new(&options).unwrap(), style.terminator, false).by_records(search);
    let mut searcher = Searcher::new(&style, finder);
    let records = records(bytes, options.record.as_ref().unwrap());
    let cuts = if searcher.wants() == Wants::Blocks { cuts } else { &[] };
    let end_from = |&cut: &usize| records.iter().map(|record| record.end).find(|&end| end >= cut);
    let ends = cuts.iter().filter_map(end_from).chain([bytes.len()]).collect();
    let (printed, _) = visit_blocks(&mut searcher, named, bytes, ends);
    assert!(searcher.totals.errors.is_empty());
    (shown(&printed, &options), searcher.totals.any)
}

/// The plain implementation.
struct Plain<'a> {
    options: &'a GrepOptions,
    text: &'a [u8],
    regex: Regex,
    and: Vec<Regex>,
    not: Vec<Regex>,
    out: String,
}

impl<'a> Plain<'a> {
    fn new(options: &'a GrepOptions, text: &'a [u8]) -> Self {
        let PatternOptions { patterns, and, not, .. } = &options.pattern;
        let each = |patterns: &[String]| {
            patterns.iter().map(|pattern| Self::regex(options, std::slice::from_ref(pattern))).collect()
        };
        let (regex, and, not) = (Self::regex(options, patterns), each(and), each(not));
        Self { options, text, regex, and, not, out: String::new() }
    }

    fn regex(options: &GrepOptions, patterns: &[String]) -> Regex {
        let PatternOptions { multiline, multiline_dotall, .. } = options.pattern;
        let syntax = syntax::Config::new()
            .utf8(false)
            .multi_line(true)
            .dot_matches_new_line(multiline && multiline_dotall);
        let config = Regex::config().utf8_empty(false);
        Regex::builder().configure(config).syntax(syntax).build_many(patterns).unwrap()
    }

    /// The lines of a range, terminators included.
    fn lines(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut at = range.start;
        let line = |line: &[u8]| {
            at += line.len();
            at - line.len()..at
        };
        self.text[range].split_inclusive(|&byte| byte == b'\n').map(line).collect()
    }

    fn without_end(&self, line: Range<usize>) -> Range<usize> {
        line.start..line.end - usize::from(self.text[line].ends_with(b"\n"))
    }

    /// All matches in a record, as ranges of the text, with an empty one at its very end.
    fn matches(&self, regex: &Regex, record: Range<usize>) -> Vec<Range<usize>> {
        let texts = match self.options.pattern.multiline {
            true => vec![record.clone()],
            false => self.lines(record.clone()).into_iter().map(|line| self.without_end(line)).collect(),
        };
        let found = texts.into_iter().flat_map(|text| {
            let found = regex.find_iter(&self.text[text.clone()]).map(|found| found.range());
            found.map(|found| text.start + found.start..text.start + found.end).collect::<Vec<_>>()
        });
        let is_ended = self.text[record.clone()].ends_with(b"\n");
        found.filter(|found| found.start < record.end || !is_ended).collect()
    }

    fn is_selected(&self, record: &Range<usize>) -> bool {
        let matches = |regex: &Regex| !self.matches(regex, record.clone()).is_empty();
        let is_met = self.and.iter().all(matches) && !self.not.iter().any(matches);
        (is_met && matches(&self.regex)) != self.options.invert
    }

    /// Matches that are shown in a record.
    fn shown_matches(&self, record: &Range<usize>) -> Vec<Range<usize>> {
        if self.is_selected(record) == self.options.invert {
            return Vec::new();
        }
        let found = self.matches(&self.regex, record.clone()).into_iter();
        found.filter(|found| found.start < record.end).collect()
    }

    fn print(&mut self, record: &Range<usize>, is_match: bool) {
        let GrepOptions { invert, only_matching, column, byte_offset, line_number, with_filename, .. } =
            *self.options;
        let any = is_match || invert;
        let found = if any { self.shown_matches(record) } else { Vec::new() };
        let first = self.text[..record.start].iter().filter(|&&byte| byte == b'\n').count() + 1;
        for (number, line) in (first..).zip(self.lines(record.clone())) {
            let text = self.without_end(line.clone());
            let within = |at: usize| at.clamp(text.start, text.end);
            let here = found.iter().filter(|found| {
                let is_in_line = found.start < line.end && found.end >= line.start;
                let is_empty = within(found.start) == within(found.end);
                is_in_line && (!is_empty || found.is_empty() && found.start >= line.start)
            });
            let here: Vec<_> = here.map(|found| within(found.start)..within(found.end)).collect();
            let is_first = line.start == record.start || only_matching && !found.is_empty();
            let separator = if is_match && is_first { ":" } else { "-" };
            let mut write = |at: usize, of: Option<&Range<usize>>, text: Range<usize>| {
                let mut fields = Vec::new();
                fields.extend(with_filename.then(|| PATH.to_owned()));
                fields.extend(line_number.then(|| number.to_string()));
                fields.extend(of.filter(|_| column).map(|of| (of.start - line.start + 1).to_string()));
                fields.extend(byte_offset.then(|| at.to_string()));
                let fields: String = fields.iter().flat_map(|field| [field, separator]).collect();
                self.out += &format!("{fields}{}\n", String::from_utf8_lossy(&self.text[text]));
            };
            if only_matching && !found.is_empty() {
                here.iter().for_each(|found| write(found.start, Some(found), found.clone()));
            } else {
                write(line.start, here.first(), text);
            }
        }
    }

    /// Prints the selected records and their context.
    fn run(&mut self, records: &[Range<usize>]) -> bool {
        let GrepOptions { before_context, after_context, passthru, mode, stop_on_nonmatch, .. } =
            *self.options;
        let max = self.options.max_count.unwrap_or(u64::MAX) as usize;
        let selected: Vec<bool> = records.iter().map(|record| self.is_selected(record)).collect();
        let mut counted: Vec<usize> = (0..records.len()).filter(|&at| selected[at]).take(max).collect();
        let mut end = records.len();
        if stop_on_nonmatch
            && let Some(last) = counted.iter().copied().find(|&at| !counted.contains(&(at + 1)))
        {
            end = end.min(last + 2);
            counted.retain(|&at| at < end);
        }
        let matches = |at: &usize| self.shown_matches(&records[*at]).len().max(1);
        let count = match mode {
            Mode::Count => counted.len(),
            Mode::CountMatches => counted.iter().map(matches).sum(),
            _ => 0,
        };
        match mode {
            Mode::Count | Mode::CountMatches if count > 0 => self.out = format!("{count}\n"),
            Mode::FilesWithMatches if !counted.is_empty() => self.out = format!("{PATH}\n"),
            Mode::FilesWithoutMatch if counted.is_empty() => self.out = format!("{PATH}\n"),
            _ => {}
        }
        if mode != Mode::Lines {
            return if mode == Mode::FilesWithoutMatch { counted.is_empty() } else { !counted.is_empty() };
        }
        let (mut printed_to, mut after_left, mut seen) = (None, 0, 0);
        for at in 0..end {
            let is_counted = counted.contains(&at);
            seen += usize::from(is_counted);
            let past_limit = seen == max && !is_counted;
            if !is_counted && after_left == 0 && !passthru {
                continue;
            }
            let first = if is_counted && !passthru {
                at.saturating_sub(before_context).max(printed_to.map_or(0, |last: usize| last + 1))
            } else {
                at
            };
            let has_gap = before_context + after_context > 0 && !passthru;
            if has_gap && printed_to.is_some_and(|last| last + 1 < first) {
                self.out += "--\n";
            }
            (first..at).for_each(|context| self.print(&records[context], false));
            let shows_match = past_limit && selected[at] && !stop_on_nonmatch && !passthru;
            self.print(&records[at], is_counted || shows_match);
            printed_to = Some(at);
            after_left = if is_counted { after_context } else { after_left.saturating_sub(1) };
        }
        !counted.is_empty()
    }
}

/// Output of the plain implementation, and whether anything was found.
fn plain(options: &GrepOptions, text: &[u8]) -> (String, bool) {
    let options = options.clone().normalized();
    let mut plain = Plain::new(&options, text);
    let any = plain.run(&records(text, options.record.as_ref().unwrap()));
    (plain.out, any)
}

fn text() -> impl Strategy<Value = String> {
    let lines = [
        "a",
        "a b",
        "b a",
        "  a",
        "\tc",
        "",
        "Caused by: a",
        "... 3 more",
        "... a more",
        "b",
        "c b",
        "Traceback (most recent call last):",
        "Traceback (most recent call last):",
        "aé",
        " é",
    ];
    let lines = prop::collection::vec(prop::sample::select(lines.to_vec()), 0..25);
    (lines, any::<bool>()).prop_map(|(lines, is_ended)| {
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        if is_ended { text } else { text.trim_end_matches('\n').to_owned() }
    })
}

fn rule() -> impl Strategy<Value = RecordStart> {
    let regex = |expression| RecordStart::regex(expression).unwrap();
    prop::sample::select(vec![
        RecordStart::indent(),
        RecordStart::indent(),
        regex("^a"),
        regex("b"),
        regex("zzz"),
        regex(""),
    ])
}

prop_compose! {
    fn options()(
        patterns in prop::collection::vec(prop::sample::select(vec![
            "a", "b+", "^a", "b$", "^$", "", "a*", r"\w+", "a b|c", "zzz", "é", r"\Aa", r"b\z", "more", "(?-u:\\xA9)", r"\bb\b",
        ]), 1..3),
        spanning in prop::collection::vec(prop::sample::select(vec![
            r"a\n", r"a\s+a", r"\n", r"(?s)a.*b", r"^b\n  a", r"\n\n", r"b$\n", r"\Aa", r"a\z", r"\n\z", r"[^a]+", "a.b", "",
        ]), 1..3),
        conditions in prop::collection::vec((prop::sample::select(vec!["a", "b", "^$", "c", "é"]), any::<bool>()), 0..3),
        record in rule(),
        mode in prop::sample::select(vec![
            Mode::Lines, Mode::Lines, Mode::Lines, Mode::Lines, Mode::Count, Mode::CountMatches, Mode::FilesWithMatches, Mode::FilesWithoutMatch,
        ]),
        flags in prop::array::uniform8(prop::bool::weighted(0.3)),
        max_count in prop::sample::select(vec![None, None, Some(1), Some(2), Some(5)]),
        (before_context, after_context) in (prop::sample::select(vec![0, 0, 1, 2, 7]), prop::sample::select(vec![0, 0, 1, 3, 9])),
        (passthru, stop_on_nonmatch) in (prop::bool::weighted(0.1), prop::bool::weighted(0.2)),
        is_pcre2 in prop::bool::weighted(0.1),
    ) -> GrepOptions {
        let multiline = flags[0];
        let named = |wanted: bool| {
            let conditions = conditions.iter().filter(|&&(_, is_and)| is_and == wanted);
            conditions.map(|(pattern, _)| (*pattern).to_owned()).collect::<Vec<_>>()
        };
        let chosen = if multiline { &spanning } else { &patterns };
        let is_pcre2 = is_pcre2 && cfg!(feature = "pcre2") && !multiline && chosen.iter().all(|pattern| !pattern.contains("-u"));
        let pattern = PatternOptions {
            patterns: chosen.iter().map(|&pattern| pattern.to_owned()).collect(),
            and: named(true),
            not: named(false),
            multiline,
            multiline_dotall: flags[1],
            engine: if is_pcre2 { Engine::Pcre2 } else { Engine::Rust },
            ..PatternOptions::default()
        };
        GrepOptions {
            pattern,
            record: Some(record),
            mode,
            invert: flags[2],
            only_matching: flags[3],
            column: flags[4],
            byte_offset: flags[5],
            line_number: flags[6],
            with_filename: flags[7] && mode == Mode::Lines || matches!(mode, Mode::FilesWithMatches | Mode::FilesWithoutMatch),
            max_count,
            before_context: if passthru { 0 } else { before_context },
            after_context: if passthru { 0 } else { after_context },
            passthru,
            stop_on_nonmatch,
            binary: Binary::Text,
            ..GrepOptions::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4 * ProptestConfig::default().cases, ..ProptestConfig::default() })]

    #[test]
    fn records_are_searched_and_printed_as_by_the_plain_implementation(
        options in options(),
        text in text(),
        cuts in prop::collection::vec(0_usize..200, 0..5),
    ) {
        let expected = plain(&options, text.as_bytes());
        prop_assert_eq!(&in_blocks(&options, true, text.as_bytes(), &[]), &expected);
        prop_assert_eq!(&in_blocks(&options, true, text.as_bytes(), &cuts), &expected);
    }

    #[test]
    fn records_of_one_line_are_searched_and_printed_as_lines(
        options in super::options(),
        text in super::text(),
        cuts in prop::collection::vec(0_usize..400, 0..6),
    ) {
        let expected = super::in_blocks(&options, true, &text, &cuts);
        let options = GrepOptions { record: Some(RecordStart::regex("").unwrap()), ..options };
        prop_assert_eq!(in_blocks(&options, true, &text, &cuts), expected);
    }

    #[test]
    fn output_of_records_does_not_depend_on_blocks(
        options in super::options(),
        record in rule(),
        multiline in any::<bool>(),
        text in text(),
        nul in prop::option::weighted(0.5, 0_usize..200),
        (named, binary, has_head) in (any::<bool>(), any::<bool>(), prop::bool::weighted(0.02)),
        cuts in prop::collection::vec(0_usize..200, 1..5),
    ) {
        let binary = if binary { Binary::Suppress } else { Binary::Auto };
        let pattern = PatternOptions { multiline, ..options.pattern };
        let options = GrepOptions { record: Some(record), pattern, binary, ..options };
        let mut text = text.into_bytes();
        if let Some(nul) = nul {
            text.insert(nul.min(text.len()), 0);
        }
        if has_head {
            // Only in the first bytes is a NUL looked for in any case.
            text.splice(..0, [&[b'-'; HEAD_SIZE][..], b"\n"].concat());
        }
        prop_assert_eq!(in_blocks(&options, named, &text, &cuts), in_blocks(&options, named, &text, &[]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn files_are_searched_as_by_the_plain_implementation_at_any_width_and_size_of_blocks(
        options in options(),
        text in text(),
        count in 1_usize..60,
        block_size in prop::sample::select(vec![1, 13, 100, 1000]),
    ) {
        let files = matches!(options.mode, Mode::FilesWithMatches | Mode::FilesWithoutMatch);
        let mode = if files { Mode::Lines } else { options.mode };
        let options = GrepOptions { mode, with_filename: false, ..options };
        let text = (text + "\n").repeat(count);
        let (expected, any) = plain(&options, text.as_bytes());
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("file"), &text).unwrap();
        let query = Query::new(&options).unwrap();
        for width in [1, 2, 3, 8] {
            let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
            let mut out = Vec::new();
            let outcome = grep(&Inputs::new([directory.path()]), &scan.into(), &query, &mut out);
            prop_assert!(outcome.problems.is_empty());
            prop_assert_eq!((String::from_utf8_lossy(&out).into_owned(), outcome.any), (expected.clone(), any));
        }
    }
}

#[test]
fn each_line_of_a_record_is_printed_as_a_line_with_its_own_matches() {
    let text = "one a\n  two a a\n  three\nfour\n  a five\n";
    let options = |change: &dyn Fn(&mut GrepOptions)| {
        let record = Some(RecordStart::indent());
        let mut options = GrepOptions { record, line_number: true, ..searching("a") };
        change(&mut options);
        in_blocks(&options, true, text.as_bytes(), &[]).0
    };
    for (expected, printed) in [
        ("1:one a\n2-  two a a\n3-  three\n4:four\n5-  a five\n", options(&|_| {})),
        (
            "1:one X\n2-  two X X\n3-  three\n4:four\n5-  X five\n",
            options(&|options| options.replace = Some(b"X".into())),
        ),
        (
            "1:5:one a\n2-7-  two a a\n3-  three\n4:four\n5-3-  a five\n",
            options(&|options| options.column = true),
        ),
        (
            "1:5:a\n2:7:a\n2:9:a\n5:3:a\n",
            options(&|options| (options.column, options.only_matching) = (true, true)),
        ),
        ("1:one a\n2-two a a\n3-three\n4:four\n5-a five\n", options(&|options| options.trim = true)),
        (
            "1:5:one a\n2-7-[Omitted long line with 2 matches]\n3-  three\n4:four\n5-3-  a five\n",
            options(&|options| (options.max_columns, options.column) = (Some(9), true)),
        ),
        ("2\n", options(&|options| options.mode = Mode::Count)),
        ("4\n", options(&|options| options.mode = Mode::CountMatches)),
    ] {
        assert_eq!(printed, expected);
    }
    let json = options(&|options| options.mode = Mode::Json);
    let messages: Vec<&str> = json.lines().collect();
    assert_eq!(messages.len(), 4, "{json}");
    assert!(
        messages[1].contains(
            r#""lines":{"text":"one a\n  two a a\n  three\n"},"line_number":1,"absolute_offset":0"#
        ),
        "{json}"
    );
    assert!(messages[1].contains(r#"{"match":{"text":"a"},"start":14,"end":15}]"#), "{json}");
    assert!(messages[3].contains(r#""matched_lines":2,"matches":4"#), "{json}");
}

#[test]
fn a_nul_matters_in_the_head_of_a_file_and_in_records_that_are_printed() {
    let head = "-".repeat(HEAD_SIZE) + "\n";
    let printed = |text: &str, named| {
        let options = GrepOptions { record: Some(RecordStart::indent()), ..searching("a") };
        in_blocks(&options, named, text.as_bytes(), &[]).0
    };
    let notice = "binary file matches (found \"\\0\" byte around offset";
    assert_eq!(printed("a\n\0\n", false), "");
    assert!(printed("a\n\0\n", true).starts_with(notice));
    let (before, after) = (head.clone() + "a\n b\n\0\n c\na\n", head.clone() + "a\n b\0\nb\na\n");
    assert_eq!([printed(&before, false), printed(&before, true)], ["a\n b\na\n", "a\n b\na\n"]);
    assert_eq!(printed(&after, false), "");
    assert!(printed(&after, true).starts_with(notice));
}

#[test]
fn after_the_first_match_in_a_file_that_is_listed_a_nul_does_not_matter() {
    let head = "-".repeat(HEAD_SIZE) + "\n";
    let options = |mode| GrepOptions { record: Some(RecordStart::indent()), mode, ..searching("a") };
    let text = head + "a\n\0\na\n";
    for (mode, after, expected) in [
        (Mode::FilesWithMatches, "a\0\n", "file\n"),
        (Mode::FilesWithMatches, "b\0\n", "file\n"),
        (Mode::Count, "a\n", "3\n"),
        (Mode::Count, "b\0\n", "2\n"),
        (Mode::Count, "a\0\n", ""),
        (Mode::FilesWithoutMatch, "a\n", ""),
    ] {
        let text = text.clone() + after;
        let expected = expected.replace("file", PATH);
        for cuts in [vec![], vec![HEAD_SIZE + 3], (HEAD_SIZE..text.len()).collect()] {
            let printed = in_blocks(&options(mode), false, text.as_bytes(), &cuts).0;
            assert_eq!(printed, expected, "{mode:?} {after:?} {cuts:?}");
        }
    }
}

#[test]
fn conditions_on_records_see_the_same_ends_of_lines_as_conditions_on_lines() {
    let pattern =
        PatternOptions { boundary: Some(Boundary::Word), not: vec![String::new()], ..searching("a").pattern };
    let options = GrepOptions { pattern, line_end: LineEnd::Crlf, ..searching("a") };
    for text in ["a\r\n", "a\r\n b\r\n", "a\r\n\r\n", "a \r\n"] {
        let records = GrepOptions { record: Some(RecordStart::regex("").unwrap()), ..options.clone() };
        let printed = in_blocks(&records, true, text.as_bytes(), &[]);
        assert_eq!(printed, super::in_blocks(&options, true, text.as_bytes(), &[]), "{text:?}");
    }
}
