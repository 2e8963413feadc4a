//! Searches of blocks with long lines, and of what need not be printed.

use finecomb_scan::{Block, LONG_LINE, Meter, NulEnds, Output, Print, Search, Select, Source};

use super::*;
use crate::any_matcher::AnyMatcher;
use crate::options::{GrepOptions, PatternOptions};

/// A block, and whether it begins within a long line.
type Part<'a> = (&'a [u8], bool);

fn options(mode: Mode) -> GrepOptions {
    let pattern = PatternOptions { patterns: ["needle".to_owned()].into(), ..PatternOptions::default() };
    GrepOptions { pattern, mode, include_zero: true, ..GrepOptions::default() }
}

fn matcher(options: &GrepOptions) -> AnyMatcher {
    AnyMatcher::new(options).expect("a valid pattern")
}

/// Output for a named file in these blocks.
fn printed(options: &GrepOptions, parts: &[Part<'_>]) -> String {
    let style = Style::new(options);
    let mut searcher = Searcher::new(&style, Finder::new(matcher(options), style.terminator, false));
    let source = Source::named(0, Some("file".into()));
    assert_eq!(searcher.nul_ends(&source), NulEnds::LongLines);
    let mut state = searcher.begin(&source, b"");
    let (mut tally, mut out, mut offset) = (Tally::default(), Output::new(None), 0);
    for &(bytes, in_long_line) in parts {
        let mut bytes = bytes.to_vec();
        let length = bytes.len() as u64;
        let is_whole = parts.len() == 1;
        let mut block = Block { in_long_line, is_whole, ..Block::new(&source, offset, &mut bytes) };
        offset += length;
        let found = searcher.search(&mut block);
        let before = state.clone();
        let _ = searcher.advance(&block, &found, &mut state);
        let mut more = Tally::default();
        searcher.print(&block, found, &before, &mut more, &mut out, &mut Meter::off());
        Searcher::add(&mut tally, more);
    }
    let _ = searcher.end(&source, state, tally, &mut out);
    String::from_utf8_lossy(out.bytes()).into_owned()
}

/// Text with `x` for a long line up to its first NUL.
fn long(before: &str, after: &str) -> Vec<u8> {
    [before.as_bytes(), &[b'x'; LONG_LINE], b"\0", after.as_bytes()].concat()
}

#[test]
fn a_long_line_that_nuls_cut_counts_once_however_many_of_its_parts_match() {
    let (begin, rest) = (long("needle", ""), long("rest needle\nneedle\n", "needle\n"));
    assert_eq!(printed(&options(Mode::Count), &[(&begin, false), (&rest, true)]), "3\n");
    assert_eq!(printed(&options(Mode::Count), &[(&[begin, rest].concat(), false)]), "3\n");
}

#[test]
fn a_long_line_behind_the_rest_of_one_that_matched_counts_as_well() {
    let (begin, rest) = (long("needle", ""), long("rest\nneedle\n", "needle\n"));
    assert_eq!(printed(&options(Mode::Count), &[(&begin, false), (&rest, true)]), "3\n");
    let rest = long("rest\n", "needle\n");
    assert_eq!(printed(&options(Mode::Count), &[(&begin, false), (&rest, true)]), "2\n");
}

#[test]
fn matches_in_lines_between_long_ones_are_counted_where_they_are() {
    let begin = long("needle", "");
    let rest = long("the rest of it\nneedle\nneedle needle\n", "needle\n");
    assert_eq!(printed(&options(Mode::CountMatches), &[(&begin, false), (&rest, true)]), "5\n");
}

#[test]
fn a_long_line_that_does_not_match_up_to_the_end_of_the_file_is_one_of_those_that_do_not() {
    let options = GrepOptions { invert: true, ..options(Mode::Count) };
    let (begin, rest) = (long("", ""), b"rest".as_slice());
    assert_eq!(printed(&options, &[(&begin, false), (rest, true)]), "1\n");
    assert_eq!(printed(&options, &[(&long("", "needle"), false)]), "0\n");
}

#[test]
fn a_long_line_that_nuls_cut_is_one_line_of_context_of_a_match_in_the_next_block() {
    let before = long("", "rest\nhay\n");
    let text = |before_context| {
        let options = GrepOptions { before_context, ..options(Mode::Lines) };
        printed(&options, &[(&before, false), (b"needle\n", false)])
    };
    assert_eq!(text(1), "hay\nneedle\n");
    let notice = format!("binary file matches (found \"\\0\" byte around offset {LONG_LINE})\n");
    assert_eq!([text(2), text(3)], [notice.clone(), notice]);
}

#[test]
fn a_block_is_passed_over_only_if_nothing_is_to_be_said_of_its_lines() {
    let is_skippable = |options: &GrepOptions, bytes: &[u8], in_long_line| {
        let style = Style::new(options);
        let mut searcher = Searcher::new(&style, Finder::new(matcher(options), style.terminator, false));
        let source = Source::named(0, Some("file".into()));
        let mut bytes = bytes.to_vec();
        searcher.is_skippable(&Block { in_long_line, ..Block::new(&source, 0, &mut bytes) })
    };
    let lines = GrepOptions { include_zero: false, ..options(Mode::Lines) };
    assert!(is_skippable(&lines, b"hay\n", false));
    assert!(!is_skippable(&lines, b"needle\n", false));
    assert!(!is_skippable(&lines, b"hay\n", true));
    assert!(!is_skippable(&lines, &[b'x'; LONG_LINE + 1], false));
    assert!(!is_skippable(&options(Mode::Lines), b"hay\n", false));
    let without = GrepOptions { mode: Mode::FilesWithoutMatch, ..lines };
    assert!(!is_skippable(&without, b"hay\n", false));
}
