//! Compares lists with regular expressions.

use std::ops::Range;
use std::sync::Arc;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use proptest::prelude::*;

use crate::{Options, WordList, WordPlace};

/// The reference implementation: the words as alternatives of an expression.
fn expression(words: &[String], options: Options) -> RegexMatcher {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .fixed_strings(true)
        .line_terminator(Some(b'\n'))
        .unicode(options.unicode)
        .case_insensitive(options.ignore_case)
        .whole_line(options.place == WordPlace::Lines)
        .word(options.place == WordPlace::Words);
    builder.build_many(words).expect("valid words")
}

/// Offset of the first matching line, if each is searched by itself.
fn first_line(expression: &RegexMatcher, text: &[u8]) -> Option<usize> {
    let mut start = 0;
    text.split_inclusive(|&byte| byte == b'\n').find_map(|line| {
        let at = start;
        start += line.len();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        expression.is_match(line).expect("no error").then_some(at)
    })
}

/// First match at or after `from`, if each line is searched by itself.
fn first_match(expression: &RegexMatcher, text: &[u8], from: usize) -> Option<Range<usize>> {
    let mut start = 0;
    text.split(|&byte| byte == b'\n').find_map(|line| {
        let at = start;
        start += line.len() + 1;
        let within = from.saturating_sub(at);
        let found =
            (within <= line.len()).then(|| expression.find_at(line, within).expect("no error")).flatten()?;
        Some(at + found.start()..at + found.end())
    })
}

fn compare(words: &[String], options: Options, text: &[u8]) -> Result<(), TestCaseError> {
    let Some(list) = WordList::new(Arc::from(words), options) else {
        prop_assert!(options.place == WordPlace::Words && words.iter().any(String::is_empty));
        return Ok(());
    };
    let expression = expression(words, options);
    let line_start =
        |at: usize| text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |before| before + 1);
    let line = list.find_line(text).map(line_start).filter(|&start| start < text.len());
    prop_assert_eq!(line, first_line(&expression, text), "line");
    for at in 0..=text.len() {
        prop_assert_eq!(list.find_at(text, at), first_match(&expression, text, at), "at {}", at);
    }
    Ok(())
}

fn pieces(pieces: &'static [&'static str], max: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pieces), 0..max).prop_map(|pieces| pieces.concat())
}

/// Words of few letters, so that many are beginnings or parts of others.
fn words(letters: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![6 => pieces(letters, 5), 2 => pieces(letters, 14), 1 => pieces(letters, 50)];
    let word = (word, prop::sample::select(letters), 0..10).prop_map(|(word, letter, empty)| {
        if word.is_empty() && empty > 0 { letter.to_owned() } else { word }
    });
    prop::collection::vec(word, 1..20)
}

fn texts(letters: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let invalid: &[&[u8]] = &[b"\xFF", b"\x80", b"\xC3", b"\xE2\x84", b"\0", b"\r\n"];
    let piece = prop_oneof![
        30 => prop::sample::select(letters).prop_map(|letter| letter.as_bytes().to_vec()),
        6 => Just(b"\n".to_vec()),
        4 => Just(b" ".to_vec()),
        1 => prop::sample::select(invalid).prop_map(<[u8]>::to_vec),
    ];
    prop_oneof![3 => prop::collection::vec(piece.clone(), 0..30), 1 => prop::collection::vec(piece, 0..200)]
        .prop_map(|pieces| pieces.concat())
}

/// A text that has some of the words.
fn text_with(letters: &'static [&'static str]) -> impl Strategy<Value = (Vec<String>, Vec<u8>)> {
    (words(letters), prop::collection::vec((any::<prop::sample::Index>(), texts(letters)), 0..4)).prop_map(
        |(words, parts)| {
            let text =
                parts.iter().flat_map(|(index, text)| [words[index.index(words.len())].as_bytes(), text]);
            let text = text.collect::<Vec<_>>().concat();
            (words, text)
        },
    )
}

fn options() -> impl Strategy<Value = Options> {
    let place = prop::sample::select(vec![WordPlace::Anywhere, WordPlace::Words, WordPlace::Lines]);
    (place, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(place, ignore_case, unicode, only_lines)| Options { place, ignore_case, unicode, only_lines },
    )
}

const ASCII: &[&str] = &["a", "a", "b", "B", "_", "-", ".", "ab", "k", "'"];
const LETTERS: &[&str] = &[
    "a", "k", "K", "\u{212A}", "s", "S", "ſ", "ß", "ẞ", "σ", "ς", "Σ", "İ", "i", "I", "ı", "é", "É", "-",
    "\u{345}", "ͅ", "·", "ǅ", "𐐀", "𐐨", "中",
];
const WORDS: &[&str] = &["a", "b", "B", "_", "1", "k", "é", "É", "\u{212A}"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn matches_are_those_of_alternatives((words, text) in text_with(ASCII), options in options()) {
        compare(&words, options, &text)?;
    }

    #[test]
    fn matches_are_those_of_alternatives_beyond_ascii((words, text) in text_with(LETTERS), options in options()) {
        compare(&words, options, &text)?;
    }

    #[test]
    fn matches_are_those_of_alternatives_in_words((words, text) in text_with(WORDS), options in options()) {
        compare(&words, options, &text)?;
    }
}

#[test]
fn words_with_line_feeds_and_empty_whole_words_are_refused() {
    let list =
        |word: &str, place| WordList::new(Arc::from([word.to_owned()]), Options::default().place(place));
    assert!(list("a\nb", WordPlace::Anywhere).is_none());
    assert!(list("", WordPlace::Words).is_none());
    assert!(list("", WordPlace::Lines).is_some());
}

#[test]
fn texts_are_folded_beyond_the_first_window() {
    let words = Arc::from(["needle".to_owned(), "in".to_owned()]);
    for line_only in [false, true] {
        let options = Options::default().ignore_case(true).only_lines(line_only);
        let list = WordList::new(Arc::clone(&words), options).expect("valid words");
        for length in [100, 250, 256, 300, 5000, 200_000] {
            for filler in ["x", "é", "K\n", "\u{212A}"] {
                let text = filler.repeat(length) + "NEEDLE" + &filler.repeat(20);
                let at = length * filler.len();
                assert_eq!(list.find_at(text.as_bytes(), 0), Some(at..at + 6));
                assert_eq!(list.find_line(text.as_bytes()), Some(at));
            }
        }
    }
}

#[test]
fn a_line_matches_after_another_one_as_by_itself() {
    let list = WordList::new(Arc::from(["b".to_owned()]), Options::default().place(WordPlace::Words));
    let list = list.expect("a valid word");
    for line in [&b"\x80b"[..], b"\x80\x80\x80b", b"\xE2\x84b"] {
        assert_eq!(list.find_at(line, 0), None);
        let text = [b"a\n", line].concat();
        assert_eq!(list.find_at(&text, 0), None);
        assert_eq!(list.find_line(&text), None);
    }
}
