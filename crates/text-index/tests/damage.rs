//! Tests of damaged and crafted index files: every answer is correct or an error, and nothing panics.

use std::fs;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;

use finecomb_text_index::{Alphabet, BuildOptions, Error, Index, LoadedText};
use proptest::prelude::*;
use tempfile::{tempdir, tempdir_in};
use twox_hash::XxHash3_64;

use crate::support::{RandomNumbers, scan};

/// Returns the bytes of the index of a text.
fn build(text: &[u8], alphabet: Alphabet) -> Vec<u8> {
    let directory = tempdir_in("/dev/shm").or_else(|_| tempdir()).expect("a directory");
    let output = directory.path().join("text.comb");
    let text = LoadedText::new(Path::new("text"), text.to_vec(), Some(alphabet)).expect("a text");
    let options = BuildOptions::default().threads(NonZeroUsize::MIN);
    text.build(&output, &options).expect("an index");
    fs::read(&output).expect("an index")
}

fn open(bytes: Vec<u8>) -> Result<Index, Error> {
    Index::from_bytes(Path::new("damaged"), bytes)
}

const HEADER: usize = 4096;
/// Offset of the section table, and the length of a row.
const TABLE: usize = 128;
const ROW: usize = 24;
const CHECKSUM: usize = HEADER - 8;

const TEXT: usize = 0;
const SUFFIXES: usize = 1;

fn number(file: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes"))
}

/// Ranges of the sections of a file, according to its header.
fn sections(file: &[u8]) -> [Range<usize>; 5] {
    std::array::from_fn(|section| {
        let start = number(file, TABLE + section * ROW) as usize;
        start..start + number(file, TABLE + section * ROW + 8) as usize
    })
}

/// Recomputes all checksums as described in `docs/index-format.md`. Each section here is shorter than a piece.
fn recompute_checksums(file: &mut [u8], sections: &[Range<usize>; 5]) {
    for (section, range) in sections.iter().enumerate() {
        let hash = XxHash3_64::oneshot(&file[range.clone()]).to_le_bytes();
        let pieces = if range.is_empty() { &[][..] } else { &hash };
        let at = TABLE + section * ROW + 16;
        file[at..at + 8].copy_from_slice(&XxHash3_64::oneshot(pieces).to_le_bytes());
    }
    let checksum = XxHash3_64::oneshot(&file[..CHECKSUM]);
    file[CHECKSUM..HEADER].copy_from_slice(&checksum.to_le_bytes());
}

/// Checks that each answer of an index about a pattern is correct or an error.
fn check(index: &Index, wanted: &[u64], pattern: &[u8], from: u64) -> Result<(), TestCaseError> {
    let pattern = index.pattern(pattern).expect("a pattern of the alphabet");
    let Ok(found) = index.occurrences(&pattern) else { return Ok(()) };
    prop_assert_eq!(found.count(), wanted.len() as u64, "count of {:?}", pattern);
    let at = wanted.partition_point(|&position| position < from);
    if let Ok(next) = found.first_from(from) {
        prop_assert_eq!(next, wanted.get(at).copied(), "{:?} from {}", pattern, from);
    }
    if let Ok(previous) = found.last_before(from) {
        prop_assert_eq!(previous, wanted[..at].last().copied(), "{:?} before {}", pattern, from);
    }
    let all: Result<Vec<u64>, _> = found.positions_from(from).collect();
    if let Ok(all) = all {
        prop_assert!(all == wanted[at..], "all of {:?} from {}", pattern, from);
    }
    Ok(())
}

/// Damage of a suffix array.
#[derive(Clone, Debug)]
enum Damage {
    /// A part is overwritten with zeros.
    Zeros,
    /// A part is overwritten with values past the end of the text.
    PastTheEnd,
    /// One entry has a wrong position.
    One(u32),
}

fn damage_suffixes(file: &mut [u8], symbols: usize, part: Range<usize>, damage: &Damage) {
    let suffixes = sections(file)[SUFFIXES].clone();
    let (entries, _) = file[suffixes].as_chunks_mut::<4>();
    match damage {
        Damage::Zeros => entries[part].fill([0; 4]),
        Damage::PastTheEnd => {
            for (number, entry) in entries[part].iter_mut().enumerate() {
                *entry = (symbols as u32 + number as u32 * 77).to_le_bytes();
            }
        }
        Damage::One(position) => {
            entries[part.start.min(symbols - 1)] = (position % symbols as u32).to_le_bytes();
        }
    }
}

fn damages() -> impl Strategy<Value = Damage> {
    prop_oneof![Just(Damage::Zeros), Just(Damage::PastTheEnd), any::<u32>().prop_map(Damage::One)]
}

fn texts() -> impl Strategy<Value = (Alphabet, Vec<u8>)> {
    prop_oneof![
        "[0-9]{1,300}".prop_map(|text| (Alphabet::Digits, text.into_bytes())),
        "[0-9]{1,300}".prop_map(|text| (Alphabet::Bytes, text.into_bytes())),
        "[01]{1,60}".prop_map(|text| (Alphabet::Digits, text.into_bytes())),
        "[ACGT]{1,300}".prop_map(|text| (Alphabet::Dna, text.into_bytes())),
        "[ab\n]{1,60}".prop_map(|text| (Alphabet::Bytes, text.into_bytes())),
        "a{1,60}".prop_map(|text| (Alphabet::Bytes, text.into_bytes())),
        prop::collection::vec(any::<u8>(), 1..200).prop_map(|text| (Alphabet::Bytes, text)),
    ]
}

/// Maximum number of occurrences that are all compared with the text. Among more, one wrong position may go undetected.
const ALL_COMPARED: usize = 32;

proptest! {
    #[test]
    fn a_damaged_suffix_array_gives_right_answers_or_errors(
        (alphabet, text) in texts(), damage in damages(), part in any::<[prop::sample::Index; 2]>(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 1..9_usize, 0..300_u64, any::<bool>()), 50),
    ) {
        let mut file = build(&text, alphabet);
        let [start, end] = part.map(|end| end.index(text.len() + 1));
        damage_suffixes(&mut file, text.len(), start.min(end)..start.max(end), &damage);
        let index = open(file).expect("the header is right");
        for (cut, length, from, is_changed) in cuts {
            let start = cut.index(text.len());
            let mut pattern = text[start..text.len().min(start + length)].to_vec();
            if is_changed {
                pattern.extend(text.first());
            }
            let wanted = scan(&text, &pattern);
            if matches!(damage, Damage::One(_)) && wanted.len() > ALL_COMPARED {
                let pattern = index.pattern(&pattern).expect("a pattern of the alphabet");
                if let Ok(found) = index.occurrences(&pattern) {
                    prop_assert_eq!(found.count(), wanted.len() as u64);
                }
                continue;
            }
            check(&index, &wanted, &pattern, from)?;
        }
    }

    /// A file that passes verification is byte for byte the index of its text.
    #[test]
    fn a_crafted_file_with_valid_checksums_is_detected_and_never_panics(
        (alphabet, text) in prop_oneof![4 => texts(), 1 => Just((Alphabet::Bytes, Vec::new()))],
        changes in prop::collection::vec(
            (0..11_usize, any::<prop::sample::Index>(), prop_oneof![1..=255_u8, (0..8_u8).prop_map(|bit| 1 << bit)]), 1..4,
        ),
    ) {
        let file = build(&text, alphabet);
        let sections = sections(&file);
        let mut changed = file.clone();
        for (place, offset, mask) in changes {
            // The header, its fields, the sections, and the gaps between them.
            let range = match place {
                0 => 0..HEADER,
                1 => 16..96,
                2..7 => sections[place - 2].clone(),
                _ => sections[place - 7].end..sections[place - 6].start,
            };
            if !range.is_empty() {
                changed[range.start + offset.index(range.len())] ^= mask;
            }
        }
        recompute_checksums(&mut changed, &sections);
        let Ok(index) = open(changed.clone()) else { return Ok(()) };
        query_all(&index);
        let _ = index.verify(1);
        if index.verify_fully(1).is_ok() {
            let text = index.text(0, index.symbols()).expect("a text");
            prop_assert!(build(&text, index.alphabet()) == changed, "a change went unnoticed");
        }
    }
}

/// Calls all methods that read the index.
fn query_all(index: &Index) {
    for pattern in
        [&b"0"[..], b"00", b"07", b"314159265", b"ACGT", b"a\n", b"a", b"ab", b"aaaaaaaaaaaaaaaaaaaa"]
    {
        let Ok(pattern) = index.pattern(pattern) else { continue };
        let _ = index.occurrences_by_binary_search(&pattern);
        let Ok(found) = index.occurrences(&pattern) else { continue };
        let _ = (found.first_from(0), found.first_from(77), found.last_before(u64::MAX));
        found.positions_from(0).chain(found.positions_from(3)).take(10_000).for_each(drop);
    }
    let _ = (index.text(0, 1000), index.text(5, u64::MAX), index.place(5), index.place(u64::MAX));
    let _ = (index.passage(1, 2, 3), index.passage(u64::MAX, u64::MAX, u64::MAX));
}

impl RandomNumbers {
    /// Random range of at most `most` items within `length` items.
    fn part(&mut self, length: usize, most: u64) -> Range<usize> {
        let start = self.below(length as u64) as usize;
        start..length.min(start + 1 + self.below(most) as usize)
    }
}

const LONG: usize = 40_000;

/// Texts that are long enough for a front table and for patterns that the bitmaps answer.
fn long_texts(numbers: &mut RandomNumbers) -> [(Alphabet, Vec<u8>); 4] {
    let digits: Vec<u8> = (0..LONG).map(|_| b'0' + numbers.below(10) as u8).collect();
    let dna = (0..LONG).map(|_| b"ACGT"[numbers.below(4) as usize]).collect();
    // Suffix 0 is an occurrence of frequent patterns.
    let repeated = (0..LONG).map(|at| if at < 3000 { b'7' } else { b'0' + numbers.below(8) as u8 }).collect();
    [
        (Alphabet::Digits, digits.clone()),
        (Alphabet::Bytes, digits),
        (Alphabet::Dna, dna),
        (Alphabet::Digits, repeated),
    ]
}

#[test]
fn zeros_in_a_long_suffix_array_give_right_answers_or_errors() {
    let mut numbers = RandomNumbers(1);
    for (alphabet, text) in long_texts(&mut numbers) {
        let file = build(&text, alphabet);
        let mut errors = 0;
        for round in 0..24 {
            let mut damaged = file.clone();
            let damage = if round % 4 == 0 { Damage::PastTheEnd } else { Damage::Zeros };
            let part = numbers.part(LONG, [4, 64, 4096, LONG as u64][round % 4]);
            damage_suffixes(&mut damaged, LONG, part, &damage);
            let index = open(damaged).expect("the header is right");
            for _ in 0..30 {
                let length = 1 + numbers.below(9) as usize;
                let at = numbers.below((LONG - length) as u64) as usize;
                let mut pattern = text[at..at + length].to_vec();
                if numbers.below(4) == 0 {
                    pattern[length - 1] = text[0];
                }
                let wanted = scan(&text, &pattern);
                let from = numbers.below(LONG as u64);
                errors += u32::from(index.occurrences(&index.pattern(&pattern).expect("symbols")).is_err());
                check(&index, &wanted, &pattern, from).expect("a right answer or an error");
            }
        }
        assert!(errors > 0, "no damage was noticed");
    }
}

/// Number of the entry of the suffix array that has this position.
fn entry_of(file: &[u8], position: u32) -> usize {
    let (entries, _) = file[sections(file)[SUFFIXES].clone()].as_chunks::<4>();
    entries.iter().position(|&entry| u32::from_le_bytes(entry) == position).expect("a position of the text")
}

/// Error of the search for a pattern, if there is one.
fn search_error(file: &[u8], pattern: &[u8]) -> Option<String> {
    let index = open(file.to_vec()).expect("the header is right");
    let pattern = index.pattern(pattern).expect("a pattern");
    index.occurrences(&pattern).err().map(|error| error.to_string())
}

const WRONG_SUFFIXES: &str = "damaged: index corrupt: the suffix array does not match the text";

/// Suffix 0 is an occurrence as well, and its own entry is in a different block: only the order of the suffixes reveals the
/// damage.
#[test]
fn one_zero_among_many_occurrences_is_an_error() {
    let [many, gap] = [b"a".repeat(3000), b"b".repeat(5000)];
    let text = [&many[..], &gap, b"a", &gap, b"aaaaaaaaaa"].concat();
    let mut file = build(&text, Alphabet::Bytes);
    let ask = |file: &[u8]| {
        let index = open(file.to_vec()).expect("the header is right");
        let pattern = index.pattern(b"a").expect("a pattern");
        let found = index.occurrences(&pattern).expect("both ends of the range are right");
        [found.first_from(4000), found.last_before(9000)]
            .map(|answer| answer.map_err(|error| error.to_string()))
    };
    assert_eq!(ask(&file), [Ok(Some(8000)), Ok(Some(8000))]);
    let entry = entry_of(&file, 8000);
    damage_suffixes(&mut file, text.len(), entry..entry + 1, &Damage::Zeros);
    assert_eq!(ask(&file), [Err(WRONG_SUFFIXES.to_owned()), Err(WRONG_SUFFIXES.to_owned())]);
}

/// Each half of the range is sorted by itself.
#[test]
fn two_exchanged_occurrences_in_the_middle_of_four_are_an_error() {
    let text = b"abacadae";
    let mut file = build(text, Alphabet::Bytes);
    assert_eq!(search_error(&file, b"a"), None);
    let [left, right] = [2, 4].map(|position| entry_of(&file, position));
    damage_suffixes(&mut file, text.len(), left..left + 1, &Damage::One(4));
    damage_suffixes(&mut file, text.len(), right..right + 1, &Damage::One(2));
    assert_eq!(search_error(&file, b"a").as_deref(), Some(WRONG_SUFFIXES));
}

/// The front table of this text has strings of two symbols. Only a suffix of one symbol may be in a slot that is not its own.
#[test]
fn a_suffix_as_long_as_the_strings_of_the_front_table_is_an_error_in_a_wrong_slot() {
    let text = ["ab".repeat(16), "b".to_owned(), "ababbb".to_owned()].concat();
    let mut file = build(text.as_bytes(), Alphabet::Bytes);
    assert_eq!(open(file.clone()).expect("an index").front_symbols(), 2);
    assert_eq!(search_error(&file, b"aba"), None);
    // "bb" in place of "abbb" is the greatest suffix of the slot "ab", as "abbb" was: the order does not reveal the damage.
    let last = entry_of(&file, text.len() as u32 - 4);
    damage_suffixes(&mut file, text.len(), last..last + 1, &Damage::One(text.len() as u32 - 2));
    assert_eq!(search_error(&file, b"aba").as_deref(), Some(WRONG_SUFFIXES));
}

#[test]
fn a_lower_position_that_is_no_occurrence_is_an_error_among_many() {
    let text = ["bb", &"ab".repeat(ALL_COMPARED + 8)].concat();
    let mut file = build(text.as_bytes(), Alphabet::Bytes);
    let ask = |file: &[u8]| {
        let index = open(file.to_vec()).expect("the header is right");
        let pattern = index.pattern(b"a").expect("a pattern");
        let found = index.occurrences(&pattern).expect("both ends of the range are right");
        [found.first_from(40), found.last_before(41)].map(|answer| answer.map_err(|error| error.to_string()))
    };
    assert_eq!(ask(&file), [Ok(Some(40)), Ok(Some(40))]);
    let entry = entry_of(&file, 40);
    damage_suffixes(&mut file, text.len(), entry..entry + 1, &Damage::One(1));
    assert_eq!(ask(&file), [Err(WRONG_SUFFIXES.to_owned()), Err(WRONG_SUFFIXES.to_owned())]);
}

/// Skips patterns with a damaged occurrence, which is no longer in the text, and the repetitive text, in which many damaged
/// passages are neighbours in the suffix array.
#[test]
fn damage_of_the_text_elsewhere_gives_right_answers_or_errors() {
    let mut numbers = RandomNumbers(2);
    for (alphabet, text) in long_texts(&mut numbers).into_iter().take(3) {
        let file = build(&text, alphabet);
        for round in 0..24 {
            let mut damaged = file.clone();
            let section = sections(&file)[TEXT].clone();
            let per_byte = text.len().div_ceil(section.len() - 16);
            let part = numbers.part(text.len() / per_byte, [2, 40, 1000, 4000][round % 4]);
            for byte in &mut damaged[section][part.clone()] {
                *byte = if round % 2 == 0 { 0 } else { *byte ^ 1 << numbers.below(8) };
            }
            let index = open(damaged).expect("the header is right");
            let is_outside = |position: u64, length: usize| {
                let position = position as usize;
                position + length <= part.start * per_byte || position >= part.end * per_byte
            };
            for _ in 0..30 {
                let length = 5 + numbers.below(9) as usize;
                let at = numbers.below((LONG - length) as u64) as usize;
                let pattern = &text[at..at + length];
                let wanted = scan(&text, pattern);
                if wanted.len() > ALL_COMPARED || !wanted.iter().all(|&at| is_outside(at, length)) {
                    continue;
                }
                check(&index, &wanted, pattern, numbers.below(LONG as u64)).expect("right or an error");
            }
        }
    }
}

/// Changes the index of a text, recomputes the checksums, verifies the index fully, and returns the error.
fn crafted(text: &[u8], alphabet: Alphabet, change: impl FnOnce(&mut [u8], &[Range<usize>; 5])) -> String {
    let mut file = build(text, alphabet);
    let sections = sections(&file);
    change(&mut file, &sections);
    recompute_checksums(&mut file, &sections);
    let verified = open(file).and_then(|index| {
        query_all(&index);
        index.verify_fully(1)
    });
    verified.expect_err("noticed").to_string()
}

#[test]
fn a_quick_verification_looks_at_suffixes_all_over_a_long_index() {
    // More suffixes than are looked at.
    const SYMBOLS: usize = 120_000;
    let mut numbers = RandomNumbers(1);
    let text: Vec<u8> = (0..SYMBOLS).map(|_| b'0' + numbers.below(10) as u8).collect();
    let mut file = build(&text, Alphabet::Digits);
    let sections = sections(&file);
    let (entries, _) = file[sections[SUFFIXES].clone()].as_chunks_mut::<4>();
    // All but the first ones stand in the opposite order.
    entries[100..SYMBOLS].reverse();
    recompute_checksums(&mut file, &sections);
    let verified = open(file).and_then(|index| index.verify(1));
    let message = verified.expect_err("noticed").to_string();
    assert_eq!(message, "damaged: index corrupt: the suffixes are not sorted");
}

#[test]
fn errors_of_crafted_files_name_the_damage() {
    let text: Vec<u8> = b"mississippi, ".repeat(40);
    let wrong_set = "damaged: index corrupt: the set of bytes that occur does not match the text";
    let behind = "damaged: index corrupt: bytes after the text are not zero";
    let between = "damaged: index corrupt: bytes between the sections are not zero";
    let invalid = "damaged: index corrupt: the text has an invalid symbol";
    // 'm' occurs and 'o' does not: the set has as many bytes as before.
    let swapped = |file: &mut [u8], _: &[_; 5]| file[64 + usize::from(b'm') / 8] ^= 1 << 5 | 1 << 7;
    assert_eq!(crafted(&text, Alphabet::Bytes, swapped), wrong_set);
    // In a short text k is 0, and the table does not depend on the set.
    assert_eq!(crafted(b"mi", Alphabet::Bytes, swapped), wrong_set);
    let any = |file: &mut [u8], _: &[_; 5]| file[64] = 1;
    assert_eq!(crafted(&b"0123456789".repeat(9), Alphabet::Digits, any), wrong_set);
    let deep = |file: &mut [u8], _: &[_; 5]| file[26] = 255;
    assert_eq!(crafted(b"", Alphabet::Bytes, deep), "damaged: index corrupt: invalid header");
    // The order of the suffixes stays the same.
    let mut ones = b"1".repeat(100);
    ones[50] = b'9';
    for mask in [0x60, 0xf0] {
        let nibble = |file: &mut [u8], sections: &[Range<usize>; 5]| file[sections[TEXT].start + 25] |= mask;
        assert_eq!(crafted(&ones, Alphabet::Digits, nibble), invalid);
    }
    let last = |file: &mut [u8], sections: &[Range<usize>; 5]| file[sections[TEXT].start + 1] |= 1;
    assert_eq!(crafted(b"123", Alphabet::Digits, last), behind);
    let padding = |file: &mut [u8], sections: &[Range<usize>; 5]| file[sections[TEXT].end - 1] = 1;
    assert_eq!(crafted(&text, Alphabet::Bytes, padding), behind);
    let gap = |file: &mut [u8], sections: &[Range<usize>; 5]| file[sections[SUFFIXES].end] = 1;
    assert_eq!(crafted(&text, Alphabet::Bytes, gap), between);
}

#[test]
fn a_damaged_text_or_line_number_is_an_error_where_it_is_read() {
    let mut file = build(&b"31415926".repeat(50), Alphabet::Digits);
    let start = sections(&file)[TEXT].start;
    file[start + 3] = 0x2f;
    let index = open(file).expect("the header is right");
    assert_eq!(index.text(0, 6).expect("intact"), b"314159");
    let said = index.text(0, 8).expect_err("an error").to_string();
    assert_eq!(said, "damaged: index corrupt: the text has an invalid symbol");
    let text = b"one\ntwo\nthree\n".repeat(1000);
    let file = build(&text, Alphabet::Bytes);
    let samples = sections(&file)[4].start;
    for (offset, value) in [(0, 0), (8, 0), (8, 2), (8, 9000), (8, u64::MAX)] {
        let mut damaged = file.clone();
        damaged[samples + 16 + offset..][..8].copy_from_slice(&u64::to_le_bytes(value));
        let index = open(damaged).expect("the header is right");
        assert_eq!(index.place(5).expect("intact").expect("in the text").line, 2);
        let said = index.place(5000).expect_err("an error").to_string();
        assert_eq!(said, "damaged: index corrupt: the line numbers do not match the text");
    }
}
