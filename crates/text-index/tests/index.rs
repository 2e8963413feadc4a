//! Differential tests of indexes against scans of their texts.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use finecomb_text_index::{
    Alphabet, BuildOptions, Damage, Error, Index, LoadedText, Pattern, import_pisearch,
};
use proptest::prelude::*;
use tempfile::{TempDir, tempdir, tempdir_in};

use crate::support::{RandomNumbers, scan};

fn options(threads: usize) -> BuildOptions<'static> {
    BuildOptions::default().threads(NonZeroUsize::new(threads).expect("threads"))
}

struct Built {
    directory: TempDir,
    output: PathBuf,
}

fn build(text: &[u8], alphabet: Option<Alphabet>, threads: usize) -> Built {
    // In memory if possible, as each build syncs its file.
    let directory = tempdir_in("/dev/shm").or_else(|_| tempdir()).expect("a directory");
    let output = directory.path().join("text.comb");
    let text = LoadedText::new(Path::new("text"), text.to_vec(), alphabet).expect("a text");
    text.build(&output, &options(threads)).expect("an index");
    Built { directory, output }
}

fn check(index: &Index, text: &[u8], pattern: &[u8], from: u64) -> Result<(), TestCaseError> {
    let wanted = scan(text, pattern);
    let pattern = index.pattern(pattern).expect("a pattern of the alphabet");
    let found = index.occurrences(&pattern).expect("an answer");
    prop_assert_eq!(found.count(), wanted.len() as u64);
    let slow = index.occurrences_by_binary_search(&pattern).expect("an answer");
    prop_assert_eq!(slow.count(), wanted.len() as u64);
    let next = wanted.iter().copied().find(|&at| at >= from);
    prop_assert_eq!(found.first_from(from).expect("an answer"), next);
    let previous = wanted.iter().copied().rfind(|&at| at < from);
    prop_assert_eq!(found.last_before(from).expect("an answer"), previous);
    let all: Vec<u64> = found.positions_from(from).map(|at| at.expect("an answer")).collect();
    prop_assert_eq!(&all, &wanted.into_iter().filter(|&at| at >= from).collect::<Vec<_>>());
    prop_assert_eq!(in_parts(index, &pattern, from, 3), all);
    Ok(())
}

/// Lists all occurrences, with the range in the suffix array found again for each part.
fn in_parts(index: &Index, pattern: &Pattern, from: u64, limit: usize) -> Vec<u64> {
    let occurrences = || index.occurrences(pattern).expect("an answer");
    let mut cursor = occurrences().cursor(from);
    let mut all = Vec::new();
    loop {
        let part = occurrences().next_positions(&mut cursor, limit).expect("an answer");
        if part.is_empty() {
            return all;
        }
        assert!(part.len() <= limit);
        all.extend(part);
    }
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[0-9]{0,300}".prop_map(String::into_bytes),
        "[01]{0,60}".prop_map(String::into_bytes),
        "[ACGT]{0,300}".prop_map(String::into_bytes),
        "[ab\n]{0,60}".prop_map(String::into_bytes),
        "a{0,60}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..200),
    ]
}

proptest! {
    /// 200 texts with 50 patterns each: 10,000.
    #[test]
    fn answers_are_those_of_a_scan(
        text in texts(), threads in 1..5_usize,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 1..9_usize, 0..400_u64, any::<bool>()), 50),
    ) {
        let built = build(&text, Some(Alphabet::Bytes), threads);
        let index = Index::open(&built.output).expect("an index");
        let wide = built.directory.path().join("wide.comb");
        let text_again = LoadedText::new(Path::new("text"), text.clone(), None).expect("a text");
        text_again.with_wide_entries().build(&wide, &options(threads)).expect("an index");
        let wide = Index::open(&wide).expect("an index");
        prop_assert_eq!(wide.entry_bits(), 40);
        wide.verify_fully(threads).expect("a right index");
        let narrow = build(&text, None, threads);
        let narrow = Index::open(&narrow.output).expect("an index");
        narrow.verify_fully(threads).expect("a right index");
        // An index of digits or DNA drops a final line terminator; these texts have none.
        prop_assert_eq!(narrow.symbols(), text.len() as u64);
        for (cut, length, from, is_changed) in cuts {
            let start = if text.is_empty() { 0 } else { cut.index(text.len()) };
            let mut pattern = text[start..text.len().min(start + length)].to_vec();
            if is_changed {
                pattern.extend(text.first());
            }
            if pattern.is_empty() {
                continue;
            }
            check(&index, &text, &pattern, from)?;
            check(&narrow, &text, &pattern, from)?;
            check(&wide, &text, &pattern, from)?;
        }
    }

    #[test]
    fn the_index_has_the_same_bytes_at_any_number_of_threads(text in texts()) {
        let first = fs::read(build(&text, None, 1).output).expect("an index");
        for threads in [2, 3, 8, 64] {
            prop_assert!(fs::read(build(&text, None, threads).output).expect("an index") == first);
        }
    }

    #[test]
    fn places_are_those_of_the_text(text in "[a\n]{1,200}", at in any::<prop::sample::Index>()) {
        let built = build(text.as_bytes(), None, 2);
        let index = Index::open(&built.output).expect("an index");
        let at = at.index(text.len());
        let place = index.place(at as u64).expect("an answer").expect("in the text");
        prop_assert_eq!(place.line, text[..at].matches('\n').count() as u64 + 1);
        prop_assert_eq!(place.column, (at - text[..at].rfind('\n').map_or(0, |feed| feed + 1)) as u64 + 1);
        prop_assert_eq!(index.place(text.len() as u64).expect("an answer"), None);
    }
}

/// Patterns with many occurrences, in texts that have them everywhere, in one half only, and in a few places only.
#[test]
fn frequent_patterns_are_found_in_all_distributions() {
    let mut numbers = RandomNumbers(1);
    let length = 40_000;
    let half = length / 2;
    let everywhere: Vec<u8> = (0..length).map(|_| b'0' + numbers.below(10) as u8).collect();
    let in_the_first_half: Vec<u8> =
        (0..length).map(|at| if at < half { b'1' } else { b'0' + 2 * numbers.below(2) as u8 }).collect();
    let in_the_last_half: Vec<u8> = in_the_first_half.iter().rev().copied().collect();
    let islands: Vec<u8> = (0..length).map(|at| if at % 9000 < 1500 { b'7' } else { b'3' }).collect();
    for text in [everywhere, in_the_first_half, in_the_last_half, islands, vec![b'5'; 5_000]] {
        for alphabet in [Alphabet::Digits, Alphabet::Bytes] {
            let built = build(&text, Some(alphabet), 2);
            let index = Index::open(&built.output).expect("an index");
            index.verify_fully(2).expect("a right index");
            for pattern in ["1", "7", "0", "3", "11", "77", "02", "5", "12", "21", "333", "37"] {
                let wanted = scan(&text, pattern.as_bytes());
                let pattern = index.pattern(pattern.as_bytes()).expect("digits");
                let found = index.occurrences(&pattern).expect("an answer");
                assert_eq!(found.count(), wanted.len() as u64);
                let froms = (0..20).map(|_| numbers.below(length + 10)).chain([
                    0,
                    1,
                    half,
                    half - 1,
                    length - 1,
                    length,
                    u64::MAX,
                ]);
                for from in froms {
                    let at = wanted.partition_point(|&position| position < from);
                    assert_eq!(found.first_from(from).expect("an answer"), wanted.get(at).copied());
                    assert_eq!(
                        found.last_before(from).expect("an answer"),
                        at.checked_sub(1).map(|at| wanted[at])
                    );
                }
                let all: Vec<u64> = found.positions_from(half).map(|at| at.expect("an answer")).collect();
                assert_eq!(all, wanted[wanted.partition_point(|&position| position < half)..]);
            }
        }
    }
}

/// The pattern has more occurrences than are collected and sorted.
#[test]
fn all_positions_of_a_very_frequent_pattern_are_listed() {
    let text: Vec<u8> = b"aab".repeat(60_000);
    let built = build(&text, None, 2);
    let index = Index::open(&built.output).expect("an index");
    for pattern in ["a", "aa", "aba"] {
        let wanted = scan(&text, pattern.as_bytes());
        let pattern = index.pattern(pattern.as_bytes()).expect("a pattern");
        let occurrences = index.occurrences(&pattern).expect("an answer");
        let found: Vec<u64> = occurrences.positions_from(7).map(|at| at.expect("an answer")).collect();
        assert_eq!(found, wanted[wanted.partition_point(|&position| position < 7)..]);
        assert_eq!(in_parts(&index, &pattern, 0, 1000), wanted);
    }
}

#[test]
fn alphabets_are_detected_and_a_final_line_terminator_is_ignored() {
    let alphabet = |text: &[u8]| {
        let text = LoadedText::new(Path::new("text"), text.to_vec(), None).expect("a text");
        (text.alphabet(), text.symbols())
    };
    assert_eq!(alphabet(b"314\n"), (Alphabet::Digits, 3));
    assert_eq!(alphabet(b"314\r\n"), (Alphabet::Digits, 3));
    assert_eq!(alphabet(b"ACGT\n"), (Alphabet::Dna, 4));
    assert_eq!(alphabet(b"3.14\n"), (Alphabet::Bytes, 5));
    assert_eq!(alphabet(b"314\n\n"), (Alphabet::Bytes, 5));
    assert_eq!(alphabet(b"314\r"), (Alphabet::Bytes, 4));
    assert_eq!(alphabet(b"\n"), (Alphabet::Bytes, 1));
    assert_eq!(alphabet(b""), (Alphabet::Bytes, 0));
}

#[test]
fn the_size_of_an_index_is_that_of_its_file() {
    let built = build(b"31415926", None, 1);
    let index = Index::open(&built.output).expect("an index");
    assert_eq!(index.size(), fs::metadata(&built.output).expect("a file").len());
}

#[test]
fn bytes_outside_the_alphabet_are_errors() {
    let text =
        |text: &[u8], alphabet| LoadedText::new(Path::new("pi.txt"), text.to_vec(), Some(alphabet)).map(drop);
    let said = |result: Result<(), Error>| result.expect_err("an error").to_string();
    assert_eq!(
        said(text(b"3.14", Alphabet::Digits)),
        "pi.txt: invalid '.' at byte 1 for the alphabet digits"
    );
    assert_eq!(said(text(b"ACGN", Alphabet::Dna)), "pi.txt: invalid 'N' at byte 3 for the alphabet dna");
    let built = build(b"314", None, 1);
    let index = Index::open(&built.output).expect("an index");
    let pattern = |pattern: &[u8]| index.pattern(pattern).map(drop).expect_err("an error").to_string();
    assert_eq!(pattern(b"3x"), "invalid 'x' at position 2: the index contains only digits");
    assert_eq!(pattern(b""), "the pattern is empty");
    assert_eq!(
        pattern(&vec![b'1'; 1 << 25]),
        "the pattern is 33,554,432 symbols long; the limit is 16,777,216"
    );
}

/// Changes every byte of a small index and truncates it at many lengths: opening or verifying fails, and no query panics.
#[test]
fn damage_is_an_error_and_never_a_panic() {
    let text: Vec<u8> = b"mississippi, ".repeat(40);
    let built = build(&text, None, 1);
    let bytes = fs::read(&built.output).expect("an index");
    let ask = |index: &Index| {
        for pattern in [&b"ss"[..], b"i", b"ppi, miss", b"x"] {
            let Ok(pattern) = index.pattern(pattern) else { continue };
            let Ok(found) = index.occurrences(&pattern) else { continue };
            let _ = (found.first_from(5), found.last_before(300));
            found.positions_from(0).take(2000).for_each(drop);
        }
        let _ = (index.text(0, 1000), index.place(77));
    };
    let whole = Index::from_bytes(Path::new("whole"), bytes.clone()).expect("an index");
    // The header is one page, and every section begins at a page.
    let mut start = 0;
    for length in [4096].into_iter().chain(whole.sections().map(|(_, length)| length as usize)) {
        for at in start..start + length {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            let Ok(index) = Index::from_bytes(Path::new("changed"), changed) else { continue };
            ask(&index);
            assert!(index.verify(1).is_err(), "byte {at} was changed unnoticed");
        }
        start = (start + length).next_multiple_of(4096);
    }
    assert!(start >= bytes.len());
    for cut in (0..bytes.len()).step_by(511) {
        let error = Index::from_bytes(Path::new("cut"), bytes[..cut].to_vec()).expect_err("cut off");
        assert!(
            matches!(error, Error::Damaged { damage: Damage::Truncated { .. } | Damage::NotAnIndex, .. }),
            "{error}"
        );
    }
}

#[test]
fn valid_positions_range_from_the_first_symbol_to_the_end_of_the_text() {
    let offset = |alphabet, position| {
        let built = build(b"314", Some(alphabet), 1);
        Index::open(&built.output).expect("an index").offset(position).map_err(|error| error.to_string())
    };
    let past_the_end = |position, last| {
        Err(format!("position {position} is past the end of the text; the last position is {last}"))
    };
    assert_eq!([1, 3, 4].map(|position| offset(Alphabet::Digits, position)), [Ok(0), Ok(2), Ok(3)]);
    assert_eq!(offset(Alphabet::Digits, 5), past_the_end(5, 3));
    assert!(offset(Alphabet::Digits, 0).is_err());
    assert_eq!([0, 2, 3].map(|position| offset(Alphabet::Bytes, position)), [Ok(0), Ok(2), Ok(3)]);
    assert_eq!(offset(Alphabet::Bytes, 4), past_the_end(4, 2));
}

#[test]
fn an_index_that_is_truncated_while_open_gives_errors() {
    let text: Vec<u8> = b"0123456789".repeat(50_000);
    let built = build(&text, None, 1);
    let index = Index::open(&built.output).expect("an index");
    fs::OpenOptions::new().write(true).open(&built.output).expect("the file").set_len(4096).expect("cut off");
    let pattern = index.pattern(b"90").expect("digits");
    let answer = index.occurrences(&pattern).and_then(|found| found.first_from(0));
    let error = answer.expect_err("a part is missing").to_string();
    assert!(
        error.ends_with("text.comb: index truncated or unreadable while in use; build it again"),
        "{error}"
    );
}

#[test]
fn a_replaced_index_still_reads_the_previous_file() {
    let built = build(b"111222", None, 1);
    let index = Index::open(&built.output).expect("an index");
    let version = index.version();
    let text = LoadedText::new(Path::new("text"), b"333".to_vec(), None).expect("a text");
    text.build(&built.output, &options(1)).expect("an index");
    assert_eq!(index.text(0, 9).expect("the old text"), b"111222");
    let new = Index::open(&built.output).expect("an index");
    assert_eq!(new.text(0, 9).expect("the new text"), b"333");
    assert_ne!(new.version(), version);
}

#[test]
fn pi_searcher_files_are_imported_and_exported() {
    let digits = b"14159265358979323846264338327950288419716939937510";
    let built = build(digits, None, 2);
    let index = Index::open(&built.output).expect("an index");
    let base = built.directory.path().join("pi50");
    let [packed, suffixes] = index.export_pisearch(&base).expect("exported");
    assert_eq!(fs::read(&packed).expect("a file")[..4], [0x14, 0x15, 0x92, 0x65]);
    let suffixes_were = fs::read(&suffixes).expect("a file");
    // The smallest suffix is the last digit, 0; the next is the 02 of "9502".
    assert_eq!(suffixes_were[..8], [49, 0, 0, 0, 31, 0, 0, 0]);
    let again = built.directory.path().join("again.comb");
    import_pisearch(&base, &again, &options(2)).expect("imported");
    assert!(fs::read(&again).expect("an index") == fs::read(&built.output).expect("an index"));
    // A suffix array of different digits and invalid digits are rejected.
    let import = || import_pisearch(&base, &again, &options(1)).expect_err("refused").to_string();
    let mut swapped = suffixes_were.clone();
    swapped.swap(0, 4);
    fs::write(&suffixes, &swapped).expect("written");
    assert!(import().ends_with("pi50.4.idx: index corrupt: the suffixes are not sorted"), "{}", import());
    fs::write(&suffixes, &suffixes_were[..100]).expect("written");
    assert!(import().ends_with("pi50.4.idx: 100 bytes instead of 200 for 50 digits"), "{}", import());
    fs::write(&suffixes, &suffixes_were).expect("written");
    fs::write(&packed, [0x1a; 25]).expect("written");
    assert!(import().ends_with("pi50.4.bin: byte 0 (0x1a) is not two digits"), "{}", import());
    let odd = build(b"141", None, 1);
    let error =
        Index::open(&odd.output).expect("an index").export_pisearch(&base).expect_err("refused").to_string();
    assert!(error.contains("requires an even number of digits"), "{error}");
}
