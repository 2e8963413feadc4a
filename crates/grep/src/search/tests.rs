//! Searches of blocks with long lines, and of what need not be printed.

use finecomb_scan::{Block, LONG_LINE, Meter, NulEnds, Output, Print, Search, Select, Source};

use super::*;
use crate::any_matcher::AnyMatcher;
use crate::differential::searching;
use crate::options::GrepOptions;

/// A block, and whether it begins within a long line.
type Part<'a> = (&'a [u8], bool);

fn options(mode: Mode) -> GrepOptions {
    GrepOptions { mode, include_zero: true, ..searching("needle") }
}

fn searcher<'a>(style: &'a Style, options: &GrepOptions) -> Searcher<'a> {
    let matcher = AnyMatcher::new(options).expect("a valid pattern");
    Searcher::new(style, Finder::new(matcher, style.terminator, false))
}

/// Output for a named file in these blocks.
fn printed(options: &GrepOptions, parts: &[Part<'_>]) -> String {
    let style = Style::new(options);
    let mut searcher = searcher(&style, options);
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
    let begin = long("needle", "");
    for (rest, mode, count) in [
        ("rest needle\nneedle\n", Mode::Count, "3\n"),
        // A long line after the rest of one that matched counts as well.
        ("rest\nneedle\n", Mode::Count, "3\n"),
        ("rest\n", Mode::Count, "2\n"),
        // Matches in lines between long ones are counted where they are.
        ("the rest of it\nneedle\nneedle needle\n", Mode::CountMatches, "5\n"),
    ] {
        let last = long(rest, "needle\n");
        assert_eq!(printed(&options(mode), &[(&begin, false), (&last, true)]), count, "{rest}");
    }
    let whole = [begin, long("rest needle\nneedle\n", "needle\n")].concat();
    assert_eq!(printed(&options(Mode::Count), &[(&whole, false)]), "3\n");
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
        let mut searcher = searcher(&style, options);
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
