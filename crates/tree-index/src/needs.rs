//! The trigrams that a file must hold to match a regular expression.
//!
//! The method is from Russ Cox, "Regular Expression Matching with a Trigram Index". For every part of the expression, it derives
//! the strings that the part matches, if they are few, and otherwise the strings that its matches begin and end with, and the
//! trigrams that they must hold. Two consecutive parts add the trigrams across their border.

#[cfg(test)]
mod tests;

use std::path::Path;

use finecomb_sys::setters;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};
use serde::{Deserialize, Serialize};

use crate::trigram::{Trigram, trigram};

/// Maximum number of strings of a set.
const STRINGS: usize = 64;

/// Maximum number of strings that two sets make across a border.
const ACROSS: usize = 256;

/// Maximum number of copies of a repeated part.
const COPIES: u32 = 4;

/// Maximum number of trigrams at a border of a word.
const AT_WORD: usize = 2048;

/// A condition on the trigrams of a file. Every file with a match fulfils it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Needs {
    /// All of the conditions; none of them is always true.
    All(Vec<Needs>),
    /// Any of the conditions; none of them is never true.
    Any(Vec<Needs>),
    /// Any of these trigrams, in order.
    OneOf(Vec<Trigram>),
    /// Any trigram with these first two bytes.
    Pair([u8; 2]),
}

/// Terms to search for: a text without any of them is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoughtTerms {
    /// Checksum of the program that derived the terms.
    pub(crate) program: u64,
    pub(crate) terms: Vec<u64>,
}

/// Texts to be searched for, as regular expressions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sought {
    /// The expressions. A text matches if any of them does.
    pub patterns: Vec<Hir>,
    /// Whether a match must begin and end at the border of a word. Default: no.
    pub words: bool,
    /// Whether a match may span lines. Default: no.
    pub across_lines: bool,
    /// Whether files without a match matter, as in a list of these. Otherwise they may be left out altogether. Default: no.
    pub counts_absent: bool,
    /// Terms. A text with a match has at least one of them. Default: any text may have a match.
    pub terms: Option<SoughtTerms>,
    /// Which files are read, by their names: others hold no match. Default: all.
    pub reads: Option<fn(&Path) -> bool>,
}

setters! {
    Sought {
        patterns: Vec<Hir>,
        words: bool,
        across_lines: bool,
        counts_absent: bool,
        terms: Option<SoughtTerms>,
        reads: Option<fn(&Path) -> bool>,
    }
}

impl Sought {
    /// Creates a search for lines that match any of the expressions.
    pub fn new(patterns: Vec<Hir>) -> Self {
        Self { patterns, words: false, across_lines: false, counts_absent: false, terms: None, reads: None }
    }
}

/// A query of segments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SegmentQuery {
    pub(crate) needs: Needs,
    /// Whether a match may span several documents.
    pub(crate) across_lines: bool,
    pub(crate) terms: Option<SoughtTerms>,
}

impl SegmentQuery {
    /// The query that finds all texts with something sought.
    pub(crate) fn of(sought: &Sought) -> Self {
        let Sought { across_lines, ref terms, .. } = *sought;
        Self { needs: Needs::of(sought), across_lines, terms: terms.clone() }
    }

    /// Returns `true` if all texts fulfil it.
    pub(crate) fn is_anything(&self) -> bool {
        self.needs.is_anything() && self.terms.is_none()
    }
}

impl Needs {
    /// The condition that is always true.
    pub(crate) const ANYTHING: Self = Self::All(Vec::new());

    /// The condition that texts fulfil in which something sought is found.
    pub(crate) fn of(sought: &Sought) -> Self {
        any(sought.patterns.iter().map(|hir| of_pattern(hir, sought.words)))
    }

    /// Returns `true` if it is always true.
    pub(crate) fn is_anything(&self) -> bool {
        *self == Self::ANYTHING
    }
}

fn all(needs: impl IntoIterator<Item = Needs>) -> Needs {
    let mut parts = Vec::new();
    for part in needs {
        match part {
            Needs::All(inner) => parts.extend(inner),
            part => parts.push(part),
        }
    }
    if parts.len() == 1 { parts.remove(0) } else { Needs::All(parts) }
}

fn any(needs: impl IntoIterator<Item = Needs>) -> Needs {
    let mut parts = Vec::new();
    let mut trigrams = Vec::new();
    for part in needs {
        match part {
            part if part.is_anything() => return part,
            Needs::OneOf(one_of) => trigrams.extend(one_of),
            Needs::Any(inner) => parts.extend(inner),
            part => parts.push(part),
        }
    }
    if !trigrams.is_empty() {
        trigrams.sort_unstable();
        trigrams.dedup();
        parts.push(Needs::OneOf(trigrams));
    }
    if parts.len() == 1 { parts.remove(0) } else { Needs::Any(parts) }
}

/// Properties of all matches of a part of an expression.
#[derive(Clone, Debug)]
struct PartNeeds {
    /// All matches, if they are few.
    exact: Option<Strings>,
    /// Strings of up to two bytes: every match begins with one of them. Only if `exact` is `None`.
    prefix: Strings,
    /// Strings of up to two bytes: every match ends with one of them. Only if `exact` is `None`.
    suffix: Strings,
    /// Conditions on the trigrams within a match.
    needs: Vec<Needs>,
}

/// Strings in order, each once.
type Strings = Vec<Vec<u8>>;

/// A side of a match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    Behind,
}

fn of_pattern(hir: &Hir, words: bool) -> Needs {
    let (before, inner, behind) = split_looks(hir);
    let part = PartNeeds::concat(inner.into_iter().map(PartNeeds::of));
    let before = if words { Some(Look::WordStartHalfUnicode) } else { before };
    let behind = if words { Some(Look::WordEndHalfUnicode) } else { behind };
    let borders = [(Side::Before, before, part.first()), (Side::Behind, behind, part.last())];
    let at_words = borders.into_iter().filter_map(|(side, look, strings)| at_word(side, look?, &strings));
    all([part.needs()].into_iter().chain(at_words))
}

/// Separates the assertions with which an expression begins and ends from the rest.
fn split_looks(hir: &Hir) -> (Option<Look>, Vec<&Hir>, Option<Look>) {
    let mut parts: Vec<&Hir> = match hir.kind() {
        HirKind::Concat(parts) => parts.iter().collect(),
        _ => vec![hir],
    };
    let look = |part: &&Hir| match part.kind() {
        HirKind::Look(look) => Some(*look),
        _ => None,
    };
    let before = parts.first().and_then(look);
    if before.is_some() {
        parts.remove(0);
    }
    let behind = parts.last().and_then(look);
    if behind.is_some() {
        parts.pop();
    }
    (before, parts, behind)
}

/// The trigrams at a border of a word, of one byte outside of a match and two inside; `None` if the border implies
/// nothing. `strings` are those at this side of the match.
fn at_word(side: Side, look: Look, strings: &Strings) -> Option<Needs> {
    use Look::{WordAscii, WordUnicode};
    use Look::{WordEndAscii, WordEndHalfAscii, WordEndHalfUnicode, WordEndUnicode};
    use Look::{WordStartAscii, WordStartHalfAscii, WordStartHalfUnicode, WordStartUnicode};
    let is_start =
        matches!(look, WordStartAscii | WordStartHalfAscii | WordStartHalfUnicode | WordStartUnicode);
    let is_end = matches!(look, WordEndAscii | WordEndHalfAscii | WordEndHalfUnicode | WordEndUnicode);
    let is_either = matches!(look, WordAscii | WordUnicode);
    if !(is_either || is_start && side == Side::Before || is_end && side == Side::Behind) {
        return None;
    }
    let mut trigrams = Vec::new();
    for string in strings {
        let &[first, second] = &string[..] else { return None };
        let inside = if side == Side::Before { first } else { second };
        if is_either && !is_word(inside) {
            return None;
        }
        // A byte of a character beyond ASCII is part of a word or not.
        trigrams.extend((0..=255).filter(|&outside| !is_word(outside)).map(|outside| match side {
            Side::Before => trigram([outside, first, second]),
            Side::Behind => trigram([first, second, outside]),
        }));
    }
    trigrams.sort_unstable();
    trigrams.dedup();
    (trigrams.len() <= AT_WORD).then_some(Needs::OneOf(trigrams))
}

/// Whether a byte alone is a word character.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl PartNeeds {
    /// A part that matches these strings and no others.
    fn exact(strings: Strings) -> Self {
        Self { exact: Some(strings), prefix: Vec::new(), suffix: Vec::new(), needs: Vec::new() }
    }

    /// A part with unknown matches.
    fn unknown() -> Self {
        Self { exact: None, prefix: vec![Vec::new()], suffix: vec![Vec::new()], needs: Vec::new() }
    }

    fn of(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::exact(vec![Vec::new()]),
            HirKind::Literal(literal) => Self::exact(vec![literal.0.to_vec()]),
            HirKind::Class(class) => strings_of(class).map_or_else(Self::unknown, Self::exact),
            HirKind::Repetition(repetition) => Self::repeated(repetition),
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Concat(parts) => Self::concat(parts.iter().map(Self::of)),
            HirKind::Alternation(parts) => Self::alternation(parts.iter().map(Self::of)),
        }
    }

    fn repeated(Repetition { min, max, sub, .. }: &Repetition) -> Self {
        let part = Self::of(sub);
        match (*min, *max) {
            (0, Some(0)) => Self::exact(vec![Vec::new()]),
            (0, Some(1)) => Self::alternation([part, Self::exact(vec![Vec::new()])]),
            (0, _) => Self::unknown(),
            (min, max) => {
                let copies = min.min(COPIES);
                let repeated = Self::concat((0..copies).map(|_| part.clone()));
                // With more copies between them, the first and the last ones are still there.
                if max == Some(copies) { repeated } else { repeated.inexact() }
            }
        }
    }

    /// The same part, without the set of its matches.
    fn inexact(mut self) -> Self {
        (self.prefix, self.suffix) = (self.first(), self.last());
        if let Some(strings) = self.exact.take() {
            self.needs.push(trigrams_of(&strings));
        }
        self
    }

    /// Strings of up to two bytes: every match begins with one of them.
    fn first(&self) -> Strings {
        let cut = |string: &Vec<u8>| string[..string.len().min(2)].to_vec();
        self.exact.as_ref().map_or_else(|| self.prefix.clone(), |strings| sorted(strings.iter().map(cut)))
    }

    /// Strings of up to two bytes: every match ends with one of them.
    fn last(&self) -> Strings {
        let cut = |string: &Vec<u8>| string[string.len().saturating_sub(2)..].to_vec();
        self.exact.as_ref().map_or_else(|| self.suffix.clone(), |strings| sorted(strings.iter().map(cut)))
    }

    fn concat(parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().reduce(Self::then).unwrap_or_else(|| Self::exact(vec![Vec::new()]))
    }

    /// This part followed by another.
    fn then(self, other: Self) -> Self {
        if let (Some(first), Some(second)) = (&self.exact, &other.exact)
            && first.len() * second.len() <= STRINGS
        {
            let needs = [self.needs, other.needs].concat();
            return Self { needs, ..Self::exact(joined(first, second)) };
        }
        let (last, first) = (self.last(), other.first());
        let across = (last.len() * first.len() <= ACROSS).then(|| trigrams_of(&joined(&last, &first)));
        // Where one part is shorter than two bytes, the other one continues the beginning or the end.
        let prefix = match &self.exact {
            Some(strings) => shortened(&joined(strings, &first), |string| &string[..string.len().min(2)]),
            None => self.prefix.clone(),
        };
        let suffix = match &other.exact {
            Some(strings) => {
                shortened(&joined(&last, strings), |string| &string[string.len().saturating_sub(2)..])
            }
            None => other.suffix.clone(),
        };
        let needs = [self.inexact().needs, other.inexact().needs].concat();
        Self { exact: None, prefix, suffix, needs: needs.into_iter().chain(across).collect() }
    }

    /// This part or any other of them.
    fn alternation(parts: impl IntoIterator<Item = Self>) -> Self {
        let parts: Vec<Self> = parts.into_iter().collect();
        let strings: Option<Vec<&Strings>> =
            parts.iter().map(|part| part.exact.as_ref().filter(|_| part.needs.is_empty())).collect();
        if let Some(strings) = strings
            && strings.iter().map(|strings| strings.len()).sum::<usize>() <= STRINGS
        {
            return Self::exact(sorted(strings.into_iter().flatten().cloned()));
        }
        let parts: Vec<Self> = parts.into_iter().map(Self::inexact).collect();
        let prefix = sorted(parts.iter().flat_map(|part| part.prefix.clone()));
        let suffix = sorted(parts.iter().flat_map(|part| part.suffix.clone()));
        Self {
            exact: None,
            prefix: shortened(&prefix, |string| string),
            suffix: shortened(&suffix, |string| string),
            needs: vec![any(parts.into_iter().map(|part| all(part.needs)))],
        }
    }

    /// The condition on a text that holds a match.
    fn needs(&self) -> Needs {
        let of_string = |string: &Vec<u8>| match string[..] {
            [first, second] => Needs::Pair([first, second]),
            _ => trigrams_of(std::slice::from_ref(string)),
        };
        let exact = self.exact.as_ref().map(|strings| any(strings.iter().map(of_string)));
        all(self.needs.iter().cloned().chain(exact))
    }
}

/// The strings that a class matches; `None` if there are too many.
fn strings_of(class: &Class) -> Option<Strings> {
    let mut strings = Vec::new();
    match class {
        Class::Unicode(class) => {
            for char in class.iter().flat_map(|range| range.start()..=range.end()).take(STRINGS + 1) {
                strings.push(char.to_string().into_bytes());
            }
        }
        Class::Bytes(class) => {
            for byte in class.iter().flat_map(|range| range.start()..=range.end()) {
                strings.push(vec![byte]);
            }
        }
    }
    (strings.len() <= STRINGS).then(|| sorted(strings))
}

fn sorted(strings: impl IntoIterator<Item = Vec<u8>>) -> Strings {
    let mut strings: Strings = strings.into_iter().collect();
    strings.sort_unstable();
    strings.dedup();
    strings
}

/// All strings of the first set, each followed by all of the second.
fn joined(first: &Strings, second: &Strings) -> Strings {
    sorted(first.iter().flat_map(|one| second.iter().map(move |other| [&one[..], other].concat())))
}

/// Parts of strings; nothing is known of them if there are too many.
fn shortened(strings: &Strings, part: impl Fn(&[u8]) -> &[u8]) -> Strings {
    let parts = sorted(strings.iter().map(|string| part(string).to_vec()));
    if parts.len() <= STRINGS { parts } else { vec![Vec::new()] }
}

/// The condition that a text holds one of these strings.
fn trigrams_of(strings: &[Vec<u8>]) -> Needs {
    let of_string = |string: &Vec<u8>| {
        all(string.windows(3).map(|window| Needs::OneOf(vec![trigram([window[0], window[1], window[2]])])))
    };
    any(strings.iter().map(of_string))
}
