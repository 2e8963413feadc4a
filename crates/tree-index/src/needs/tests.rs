use proptest::prelude::*;
use regex_automata::meta;
use regex_automata::util::syntax;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::*;
use crate::trigram::Trigrams;

fn parsed(pattern: &str, ignore_case: bool) -> Option<Hir> {
    let mut builder = ParserBuilder::new();
    builder.utf8(false).multi_line(true).case_insensitive(ignore_case).build().parse(pattern).ok()
}

fn needs(pattern: &str) -> Needs {
    Needs::of(&Sought {
        patterns: vec![parsed(pattern, false).unwrap()],
        words: false,
        across_lines: false,
        counts_absent: true,
        terms: None,
        reads: None,
    })
}

fn one(text: &str) -> Needs {
    Needs::OneOf(vec![trigram(text.as_bytes().try_into().unwrap())])
}

fn several(texts: &[&str]) -> Needs {
    Needs::OneOf(texts.iter().map(|text| trigram(text.as_bytes().try_into().unwrap())).collect())
}

/// Whether a text with these trigrams fulfils a condition.
fn is_fulfilled(needs: &Needs, trigrams: &[Trigram]) -> bool {
    match needs {
        Needs::All(parts) => parts.iter().all(|part| is_fulfilled(part, trigrams)),
        Needs::Any(parts) => parts.iter().any(|part| is_fulfilled(part, trigrams)),
        Needs::OneOf(one_of) => one_of.iter().any(|trigram| trigrams.contains(trigram)),
        Needs::Pair([first, second]) => {
            trigrams.iter().any(|found| found.to_be_bytes()[1..3] == [*first, *second])
        }
    }
}

#[test]
fn literals_need_all_their_trigrams() {
    assert_eq!(needs("abcde"), Needs::All(vec![one("abc"), one("bcd"), one("cde")]));
    assert_eq!(needs("abc"), one("abc"));
    assert_eq!(needs("ab"), Needs::Pair(*b"ab"));
    assert_eq!(needs("abc|xyz"), several(&["abc", "xyz"]));
    assert_eq!(needs("abc.*xyz"), Needs::All(vec![one("abc"), one("xyz")]));
    assert_eq!(needs("ab[xy]"), several(&["abx", "aby"]));
    assert_eq!(needs("(abc)+"), one("abc"));
    assert_eq!(needs("[x-z]+_AB"), Needs::All(vec![one("_AB"), several(&["x_A", "y_A", "z_A"])]));
    assert_eq!(needs("a{3}"), one("aaa"));
    assert_eq!(
        needs("colou?r"),
        Needs::Any(vec![
            Needs::All(vec![one("col"), one("olo"), one("lor")]),
            Needs::All(vec![one("col"), one("olo"), one("lou"), one("our")]),
        ])
    );
}

#[test]
fn what_can_match_without_a_trigram_needs_nothing() {
    for pattern in ["", "a", ".", "x*", "(abc)?", "abc|d", r"\w+", "a.b", "^", r"\b", "[a-z]{9}"] {
        assert!(needs(pattern).is_anything(), "{pattern}");
    }
    assert!(!needs("abc|[a&&b]").is_anything());
    assert_eq!(needs("[a&&b]"), Needs::Any(vec![]));
}

#[test]
fn words_need_a_trigram_with_the_byte_around_them() {
    let is_found = |pattern: &str, words: bool, text: &str| {
        let sought = Sought {
            patterns: vec![parsed(pattern, false).unwrap()],
            words,
            across_lines: true,
            counts_absent: true,
            terms: None,
            reads: None,
        };
        is_fulfilled(&Needs::of(&sought), Trigrams::default().of(text.as_bytes(), usize::MAX).unwrap())
    };
    for (pattern, words) in [("pm", true), (r"\bpm\b", false), (r"\<pm\>", false)] {
        for text in ["pm", "a pm", "pm(", "x = pm;", "\u{e9}pm "] {
            assert!(is_found(pattern, words, text), "{pattern} {text}");
        }
        for text in ["apm", "pm_", "p m"] {
            assert!(!is_found(pattern, words, text), "{pattern} {text}");
        }
    }
    // A border before a character that is no word character follows a word character.
    assert!(is_found(r"\b-->", false, "a-->"));
}

/// Numbers at random: Marsaglia's xorshift generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound.max(1)
    }
}

/// Appends a text that matches an expression if its assertions are left out.
fn add_match(hir: &Hir, random: &mut Random, text: &mut Vec<u8>) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.extend_from_slice(&literal.0),
        HirKind::Class(Class::Unicode(class)) => {
            let range = class.ranges()[random.below(class.ranges().len() as u64) as usize];
            let char = char::from_u32(range.start() as u32 + random.below(range.len() as u64) as u32);
            text.extend(char.unwrap_or(range.start()).to_string().as_bytes());
        }
        HirKind::Class(Class::Bytes(class)) => {
            let range = class.ranges()[random.below(class.ranges().len() as u64) as usize];
            text.push(range.start() + random.below(range.len() as u64) as u8);
        }
        HirKind::Repetition(repetition) => {
            let times = u64::from(repetition.max.unwrap_or(repetition.min + 3) - repetition.min) + 1;
            for _ in 0..u64::from(repetition.min) + random.below(times) {
                add_match(&repetition.sub, random, text);
            }
        }
        HirKind::Capture(capture) => add_match(&capture.sub, random, text),
        HirKind::Concat(parts) => parts.iter().for_each(|part| add_match(part, random, text)),
        HirKind::Alternation(parts) => {
            add_match(&parts[random.below(parts.len() as u64) as usize], random, text);
        }
    }
}

/// Returns `true` if an expression has a class that matches nothing: then there is no text that matches.
fn has_empty_class(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => class.ranges().is_empty(),
        HirKind::Class(Class::Bytes(class)) => class.ranges().is_empty(),
        HirKind::Repetition(repetition) => has_empty_class(&repetition.sub),
        HirKind::Capture(capture) => has_empty_class(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(has_empty_class),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Look(_) => false,
    }
}

/// Expressions over a few characters, including characters whose other case has another length.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => "[abckS_é-]{1,4}",
        1 => Just(".".to_owned()),
        1 => r"\[[abk]{1,3}\]|\[\^ab\]|\[a-z\]|\[a-cA-C0-9_\]",
        1 => r"\\w|\\d|\\s|\\W|\\n|\\xff|\\pL",
        1 => r"\^|\$|\\b|\\B|\\<|\\>|\\b\{start-half\}|\\b\{end-half\}|\\A|\\z",
        1 => r"\(\?i:[abkS]{1,4}\)|\(\?-u:\\xe9|k\)",
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 1..5).prop_map(|parts| parts.concat()),
            2 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            2 => (inner.clone(), r"\*|\+|\?|\{2\}|\{0,1\}|\{1,3\}|\{3,\}|\{5\}|\{0\}|\*\?")
                .prop_map(|(part, times)| format!("(?:{part}){times}")),
            1 => inner.prop_map(|part| format!("({part})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

    #[test]
    fn no_match_is_lost(
        patterns in prop::collection::vec(expression(), 1..4),
        ignore_case: bool,
        words: bool,
        around in prop::collection::vec("[abckKsS_é\n ſ.-]{0,3}", 2),
        seed: u64,
    ) {
        let parsed: Option<Vec<Hir>> = patterns.iter().map(|pattern| parsed(pattern, ignore_case)).collect();
        let Some(parsed) = parsed.filter(|parsed| !parsed.iter().any(has_empty_class)) else { return Ok(()) };
        let mut random = Random(seed | 1);
        let mut text = around[0].clone().into_bytes();
        add_match(&parsed[random.below(parsed.len() as u64) as usize], &mut random, &mut text);
        text.extend(around[1].as_bytes());
        let joined = patterns.iter().map(|pattern| format!("(?:{pattern})")).collect::<Vec<_>>().join("|");
        let whole = if words { format!(r"\b{{start-half}}(?:{joined})\b{{end-half}}") } else { joined };
        let config = syntax::Config::new().utf8(false).multi_line(true).case_insensitive(ignore_case);
        let mut builder = meta::Builder::new();
        let regex = builder.configure(meta::Config::new().utf8_empty(false)).syntax(config).build(&whole);
        let Ok(regex) = regex else { return Ok(()) };
        if regex.is_match(&text[..]) {
            let needs = Needs::of(&Sought { patterns: parsed, words, across_lines: true, counts_absent: true, terms: None, reads: None });
            let mut trigrams = Trigrams::default();
            let found = trigrams.of(&text, usize::MAX).unwrap();
            prop_assert!(is_fulfilled(&needs, found), "{patterns:?} {:?} {needs:?}", String::from_utf8_lossy(&text));
        }
    }
}
