//! Extracts keys from records by a regular expression: the match, or its groups.
//!
//! The fields of the key are the groups of the expression in order, or the whole match if it has no groups. If there are several
//! expressions, the leftmost match in a record counts, or the earlier expression if two match at the same place. Groups of the same
//! name are one field, and so are the first groups without a name, the second ones, and so on.
//!
//! Empty matches are no keys, as in `grep -o`. A group that did not take part in the match is [`Cell::Missing`].
//!
//! Most records do not match, so the whole block is searched for the next match, and the record is located around it; see
//! [`pattern`](crate::key::pattern). If the expression is searched by a literal, the match is searched in the lines that have the literal.

use std::ops::Range;

use finecomb_scan::LineEnds;
use finecomb_words::{InnerCache, InnerLiteral, InnerMatch};
use memchr::memchr_iter;
use regex_automata::meta::{Cache, Regex};
use regex_automata::util::iter::Searcher;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input, Match};
use regex_syntax::hir::{self, Hir, HirKind};

use crate::cells::{Cell, Cells, Span, bytes_of};
use crate::key::expression::{
    Case, Expression, ExpressionCache, Fitting, PatternError, build_in_block, in_block, matches_empty, parse,
};
use crate::key::pattern::line_around;
use crate::query::field::Field;
use crate::query::fields::index_of;
use crate::records::split::split_records;

/// Expressions whose matches are keys.
#[derive(Clone, Debug)]
pub(crate) struct KeyPattern {
    /// The alternation of all expressions, for a single record.
    record: Expression,
    /// The rewritten alternation without groups, for a block of records. `None` if it matches the empty text: there would
    /// be a match in every record.
    block: Option<Regex>,
    /// The literal in the middle of `block`, by which lines are found.
    literal: Option<Box<InnerLiteral>>,
    each: Each,
    fields: Vec<Field>,
    /// The field of each group, from group 1 on. Empty if the match is the key.
    group_fields: Vec<usize>,
}

/// Matches of a record that are keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Each {
    /// The first match.
    Record,
    /// All matches.
    Match,
}

/// Scratch memory of a [`KeyPattern`].
#[derive(Debug)]
pub(crate) struct KeyPatternCache {
    record: ExpressionCache,
    block: Option<Cache>,
    literal: Option<Box<InnerCache>>,
    slots: Vec<Option<NonMaxUsize>>,
    ends: LineEnds,
    lines: Vec<Span>,
}

/// Records without a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unmatched {
    pub(crate) count: u64,
    pub(crate) first: Option<Span>,
}

impl Unmatched {
    /// Adds a record, after those before it.
    pub(crate) fn add(&mut self, record: Span) {
        self.count += 1;
        self.first.get_or_insert(record);
    }
}

impl KeyPattern {
    pub(crate) fn new(patterns: &[String], case: Case, each: Each) -> Result<Self, PatternError> {
        let parsed: Result<Vec<Hir>, _> = patterns.iter().map(|pattern| parse(pattern, case)).collect();
        let Combined { hir, fields, group_fields } = combine(parsed?);
        let (block, literal) = match matches_empty(&hir) {
            true => (None, None),
            false => {
                let hir = in_block(&hir);
                (Some(build_in_block(&hir)?), InnerLiteral::new(&hir).map(Box::new))
            }
        };
        let record = Expression::from_hir(hir)?;
        Ok(Self { block, literal, each, fields, group_fields, record })
    }

    /// The fields of a key, in order: one column of cells for each. A field without a name is a number from 1.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the column of a field: that of the group with its name, or the field of the key with its number.
    pub(crate) fn column(&self, field: &Field) -> Option<usize> {
        match field {
            Field::Named(name) => self
                .fields
                .iter()
                .position(|field| matches!(field, Field::Named(group) if group.text == name.text)),
            &Field::Position(number) => index_of(number, self.fields.len()),
        }
    }

    pub(crate) fn cache(&self) -> KeyPatternCache {
        let groups = if self.group_fields.is_empty() { 0 } else { self.group_fields.len() + 1 };
        KeyPatternCache {
            record: self.record.cache(),
            block: self.block.as_ref().map(Regex::create_cache),
            literal: self.literal.as_ref().map(|literal| Box::new(literal.cache())),
            slots: vec![None; 2 * groups],
            ends: LineEnds::default(),
            lines: Vec::new(),
        }
    }

    /// Whether a record may have several keys.
    pub(crate) fn takes_each(&self) -> bool {
        self.each == Each::Match
    }

    /// Searches the lines of a block. For each key, appends its record to `records` and a cell for each field to `cells`,
    /// which must have as many columns. A record with several keys is appended several times.
    pub(crate) fn search_block(
        &self,
        cache: &mut KeyPatternCache,
        text: &[u8],
        records: &mut Vec<Span>,
        cells: &mut Cells,
    ) -> Unmatched {
        let Some(block) = &self.block else {
            let mut lines = std::mem::take(&mut cache.lines);
            split_records(text, &mut cache.ends, &mut lines);
            let unmatched = self.search_records(cache, text, &lines, records, cells);
            cache.lines = lines;
            return unmatched;
        };
        let mut matched = MatchedLines::default();
        let (mut line, mut next, mut from) = ((0, 0), 0, 0);
        let mut keys_before = 0;
        while let Some(found) = self.find_in_block(block, cache, text, from, next) {
            if found.start() >= next {
                (line, next) = line_around(text, from.max(next), found.start());
                line.1 -= usize::from(text[..line.1].ends_with(b"\r") && line.1 > line.0);
                keys_before = records.len();
                matched.add(line, next);
            }
            let is_sure = found.end() <= line.1
                && (records.len() > keys_before || !self.record.must_verify(bytes_of(text, line)));
            if is_sure && self.push_key(cache, text, line, found, cells) {
                records.push(line);
                from = if self.each == Each::Match { found.end() } else { next };
            } else {
                truncate(records, cells, keys_before);
                self.search_record(cache, text, line, records, cells);
                matched.take_back_if(records.len() == keys_before);
                from = next;
            }
        }
        matched.others(text)
    }

    /// Returns the first match in a block at or after `from`, which is at `next`, the start of a line, or within the line before it.
    #[inline(always)]
    fn find_in_block(
        &self,
        block: &Regex,
        cache: &mut KeyPatternCache,
        text: &[u8],
        mut from: usize,
        next: usize,
    ) -> Option<Match> {
        let KeyPatternCache { block: cache, literal: literal_cache, .. } = cache;
        let (Some(literal), Some(literal_cache)) = (&self.literal, literal_cache) else {
            return search_range(block, cache, text, from..text.len());
        };
        if from < next {
            let found = search_range(block, cache, text, from..next);
            if found.is_some() {
                return found;
            }
            from = next;
        }
        loop {
            let (InnerMatch::Confirmed(at) | InnerMatch::Candidate(at)) =
                literal.find_line_with(literal_cache, text, from)?;
            let ((start, _), next) = line_around(text, from, at);
            let found = search_range(block, cache, text, start..next);
            if found.is_some() {
                return found;
            }
            from = next;
        }
    }

    /// Appends the cells of a match that was found in a block. Returns `false` if the groups were not found.
    #[inline(always)]
    fn push_key(
        &self,
        cache: &mut KeyPatternCache,
        text: &[u8],
        line: Span,
        found: Match,
        cells: &mut Cells,
    ) -> bool {
        if self.group_fields.is_empty() {
            push_match(cells, found.start(), found.end());
            return true;
        }
        let Fitting { regex, cache: direct, .. } =
            self.record.fitting(&mut cache.record, bytes_of(text, line));
        let input = Input::new(bytes_of(text, line)).anchored(Anchored::Yes);
        let input = input.range(found.start() - line.0..found.end() - line.0);
        let has_groups = regex.search_slots_with(direct, &input, &mut cache.slots).is_some();
        if has_groups {
            self.push_groups(cells, &cache.slots, line.0);
        }
        has_groups
    }

    /// Searches records one by one: the reference implementation of [`KeyPattern::search_block`].
    pub(crate) fn search_records(
        &self,
        cache: &mut KeyPatternCache,
        text: &[u8],
        selected: &[Span],
        records: &mut Vec<Span>,
        cells: &mut Cells,
    ) -> Unmatched {
        let mut unmatched = Unmatched::default();
        for &record in selected {
            if !self.search_record(cache, text, record, records, cells) {
                unmatched.add(record);
            }
        }
        unmatched
    }

    /// Searches a record. Returns `false` if it has no key.
    fn search_record(
        &self,
        cache: &mut KeyPatternCache,
        text: &[u8],
        record: Span,
        records: &mut Vec<Span>,
        cells: &mut Cells,
    ) -> bool {
        let KeyPatternCache { record: cache, slots, .. } = cache;
        let text = bytes_of(text, record);
        let Fitting { regex, cache, .. } = self.record.fitting(cache, text);
        let mut searcher = Searcher::new(Input::new(text));
        let mut has_key = false;
        while let Some(found) = searcher.advance(|input| Ok(search(regex, cache, input, slots))) {
            if found.is_empty() {
                continue;
            }
            has_key = true;
            records.push(record);
            if self.group_fields.is_empty() {
                push_match(cells, record.0 + found.start(), record.0 + found.end());
            } else {
                self.push_groups(cells, slots, record.0);
            }
            if self.each == Each::Record {
                break;
            }
        }
        has_key
    }

    /// Appends the cells of the groups of a match in a record that begins at `record` in the block.
    #[inline(always)]
    fn push_groups(&self, cells: &mut Cells, slots: &[Option<NonMaxUsize>], record: usize) {
        cells.push_missing();
        let (groups, _) = slots[2..].as_chunks();
        for (&field, group) in self.group_fields.iter().zip(groups) {
            if let [Some(start), Some(end)] = group
                && let Some(last) = cells.columns_mut()[field].last_mut()
            {
                *last = Cell::raw((record + start.get(), record + end.get()));
            }
        }
    }
}

/// Appends the cell of a key without groups.
#[inline(always)]
fn push_match(cells: &mut Cells, start: usize, end: usize) {
    cells.columns_mut()[0].push(Cell::raw((start, end)));
}

/// Returns the first match in a range of a block.
#[inline(always)]
fn search_range(regex: &Regex, cache: &mut Option<Cache>, text: &[u8], range: Range<usize>) -> Option<Match> {
    regex.search_with(cache.as_mut()?, &Input::new(text).range(range))
}

/// Returns the first match, and stores its groups in `slots` if there is room for groups.
#[inline(always)]
fn search(
    regex: &Regex,
    cache: &mut Cache,
    input: &Input<'_>,
    slots: &mut [Option<NonMaxUsize>],
) -> Option<Match> {
    if slots.is_empty() {
        return regex.search_with(cache, input);
    }
    let pattern = regex.search_slots_with(cache, input, slots)?;
    let (start, end) = (slots[0]?, slots[1]?);
    Some(Match::new(pattern, start.get()..end.get()))
}

/// Removes the keys after the first `length`.
fn truncate(records: &mut Vec<Span>, cells: &mut Cells, length: usize) {
    let added = records.len() - length;
    records.truncate(length);
    for column in cells.columns_mut() {
        column.truncate(column.len() - added);
    }
}

/// Counts the lines of a block that match, and finds the first that does not.
#[derive(Clone, Copy, Debug, Default)]
struct MatchedLines {
    count: u64,
    /// Start of the first line after the matching lines without a gap from the start of the block.
    first_gap: usize,
    /// Value of `first_gap` before the last line.
    before: usize,
}

impl MatchedLines {
    fn add(&mut self, (start, _): Span, next: usize) {
        self.count += 1;
        self.before = self.first_gap;
        if start == self.first_gap {
            self.first_gap = next;
        }
    }

    /// Takes back the last line if it does not match.
    fn take_back_if(&mut self, does_not_match: bool) {
        if does_not_match {
            self.count -= 1;
            self.first_gap = self.before;
        }
    }

    /// Returns the other lines of a block.
    fn others(self, text: &[u8]) -> Unmatched {
        let is_open = !text.is_empty() && !text.ends_with(b"\n");
        let lines = memchr_iter(b'\n', text).count() as u64 + u64::from(is_open);
        let first = (self.first_gap < text.len()).then(|| {
            let ((start, end), _) = line_around(text, self.first_gap, self.first_gap);
            (start, end - usize::from(text[start..end].ends_with(b"\r")))
        });
        Unmatched { count: lines - self.count, first }
    }
}

/// Several expressions as one.
struct Combined {
    hir: Hir,
    fields: Vec<Field>,
    group_fields: Vec<usize>,
}

/// Makes the alternation of all expressions, with their groups numbered from 1. If some have groups, the match of each
/// other is a group.
fn combine(patterns: Vec<Hir>) -> Combined {
    let has_groups = patterns.iter().any(|hir| hir.properties().explicit_captures_len() > 0);
    if !has_groups {
        return Combined {
            hir: alternation(patterns),
            fields: vec![Field::Position(1)],
            group_fields: Vec::new(),
        };
    }
    let mut groups = GroupFields::default();
    let parts = patterns.iter().map(|hir| {
        groups.unnamed = 0;
        match hir.properties().explicit_captures_len() {
            0 => groups.group(None, hir.clone()),
            _ => groups.renumbered(hir),
        }
    });
    let hir = alternation(parts.collect());
    let GroupFields { fields, group_fields, .. } = groups;
    let fields = (1..).zip(fields).map(|(number, field)| match field {
        GroupName::Name(name) => Field::named(&name),
        GroupName::Unnamed(_) => Field::Position(number),
    });
    Combined { hir, fields: fields.collect(), group_fields }
}

fn alternation(patterns: Vec<Hir>) -> Hir {
    match &patterns[..] {
        [single] => without_empty(single),
        _ => Hir::alternation(patterns),
    }
}

/// Makes `\d+` of `\d*`: an expression with the same matches except empty ones. Most other expressions that match the
/// empty text are left unchanged.
fn without_empty(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Repetition(repetition @ hir::Repetition { min: 0, greedy: true, sub, .. })
            if sub.properties().minimum_len() > Some(0) =>
        {
            Hir::repetition(hir::Repetition { min: 1, ..repetition.clone() })
        }
        HirKind::Capture(capture) => {
            Hir::capture(hir::Capture { sub: Box::new(without_empty(&capture.sub)), ..capture.clone() })
        }
        _ => hir.clone(),
    }
}

/// Assigns groups to fields.
#[derive(Default)]
struct GroupFields {
    fields: Vec<GroupName>,
    group_fields: Vec<usize>,
    /// Number of the groups without a name that precede in the same expression.
    unnamed: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum GroupName {
    Name(Box<str>),
    /// Number of the groups without a name that precede in the same expression.
    Unnamed(usize),
}

impl GroupFields {
    /// Makes a group of an expression.
    fn group(&mut self, name: Option<Box<str>>, sub: Hir) -> Hir {
        let index = self.add(name);
        Hir::capture(hir::Capture { index, name: None, sub: Box::new(sub) })
    }

    /// Adds a group and returns its number, from 1.
    fn add(&mut self, name: Option<Box<str>>) -> u32 {
        let name = name.map_or(GroupName::Unnamed(self.unnamed), GroupName::Name);
        self.unnamed += usize::from(matches!(name, GroupName::Unnamed(_)));
        let field = self.fields.iter().position(|field| *field == name).unwrap_or_else(|| {
            self.fields.push(name);
            self.fields.len() - 1
        });
        self.group_fields.push(field);
        self.group_fields.len() as u32
    }

    fn renumbered(&mut self, hir: &Hir) -> Hir {
        match hir.kind() {
            HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
            HirKind::Repetition(repetition) => {
                let mut repetition = repetition.clone();
                *repetition.sub = self.renumbered(&repetition.sub);
                Hir::repetition(repetition)
            }
            HirKind::Capture(capture) => {
                let index = self.add(capture.name.clone());
                let sub = Box::new(self.renumbered(&capture.sub));
                Hir::capture(hir::Capture { index, name: None, sub })
            }
            HirKind::Concat(parts) => Hir::concat(parts.iter().map(|part| self.renumbered(part)).collect()),
            HirKind::Alternation(parts) => {
                Hir::alternation(parts.iter().map(|part| self.renumbered(part)).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Records with their keys: the text of each field.
    type Rows = Vec<(Span, Vec<Option<Vec<u8>>>)>;

    fn key_pattern(patterns: &[&str], case: Case, each: Each) -> KeyPattern {
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        KeyPattern::new(&patterns, case, each).expect("valid patterns")
    }

    fn rows(pattern: &KeyPattern, text: &[u8], records: &[Span], cells: &Cells) -> Rows {
        let columns = 0..pattern.fields().len();
        let key = |row: usize| {
            let cell = |column| cells.bytes(text, cells.column(column)[row]).map(<[u8]>::to_vec);
            columns.clone().map(cell).collect()
        };
        for column in columns.clone() {
            assert_eq!(cells.column(column).len(), records.len());
        }
        records.iter().enumerate().map(|(row, &record)| (record, key(row))).collect()
    }

    fn block_wise(pattern: &KeyPattern, text: &[u8]) -> (Rows, Unmatched) {
        let (mut records, mut cells) = (Vec::new(), Cells::default());
        cells.reset(pattern.fields().len());
        let unmatched = pattern.search_block(&mut pattern.cache(), text, &mut records, &mut cells);
        (rows(pattern, text, &records, &cells), unmatched)
    }

    fn lines(text: &[u8]) -> Vec<Span> {
        let mut lines = Vec::new();
        split_records(text, &mut LineEnds::default(), &mut lines);
        lines
    }

    fn record_by_record(pattern: &KeyPattern, text: &[u8]) -> (Rows, Unmatched) {
        let (mut records, mut cells) = (Vec::new(), Cells::default());
        cells.reset(pattern.fields().len());
        let selected = lines(text);
        let unmatched =
            pattern.search_records(&mut pattern.cache(), text, &selected, &mut records, &mut cells);
        (rows(pattern, text, &records, &cells), unmatched)
    }

    /// Returns the keys that the `regex` crate finds in each line of a text that is UTF-8.
    fn plain_loop(pattern: &str, text: &str, each: Each) -> (Rows, Unmatched) {
        let regex = regex::Regex::new(pattern).expect("a valid pattern");
        let mut rows = Rows::new();
        let mut unmatched = Unmatched::default();
        for record in lines(text.as_bytes()) {
            let matches = regex.captures_iter(&text[record.0..record.1]);
            let matches = matches.filter(|groups| !groups[0].is_empty());
            let limit = if each == Each::Match { usize::MAX } else { 1 };
            let first = usize::from(regex.captures_len() > 1);
            let before = rows.len();
            rows.extend(matches.take(limit).map(|groups| {
                let groups = groups.iter().skip(first);
                (record, groups.map(|group| group.map(|group| group.as_str().into())).collect())
            }));
            if rows.len() == before {
                unmatched.count += 1;
                unmatched.first.get_or_insert(record);
            }
        }
        (rows, unmatched)
    }

    const PATTERNS: &[&str] = &[
        "a",
        "ab",
        "a+",
        "a*",
        "(a*)",
        "(?:ab|é)*",
        "(?:a*b?)*",
        "a*?",
        "a{0,2}",
        "(a)?",
        "a??",
        "",
        "^a",
        "a$",
        "^",
        "$",
        "(a)(b)?",
        "(?:(a)|(b))+",
        "(a|ab)(b?)",
        "(b*)a",
        "[^a]+",
        "[^a]",
        ".",
        ".+",
        "(?s).+",
        ".*(b)",
        "a\\r?",
        "[ab]+$",
        "^.",
        "(.)$",
        "a[^ ]*",
        "(é)|(a)",
        "é+|b",
        "(?:^|b)a",
        "(?i)A(B)?",
        "a(\n|b)",
        "\\r",
        "\\r$",
        "(?m)^(a|b)$",
        "(?R)(?m)(.)$",
    ];

    /// Expressions with boundaries of words, and with single bytes.
    const OTHER_PATTERNS: &[&str] = &[
        r"\bab\b",
        r"\B.",
        r"(?-u)\b.",
        r"(?-u)a\B(.)",
        "(?-u)[^a]",
        r"(?-u)(\xFF+)|a",
        r"[\x{FFFD}]",
        r"([^ ])(\W)",
        r"\b{start}a+",
    ];

    /// Expressions with a literal in the middle.
    const WITH_LITERAL: &[&str] = &[
        "[a-z]+bot",
        "([^b]+)bot",
        "(a|b)bot([^a]*)",
        r"(\S+) bot$",
        "^.*bot.*b",
        r"(?-u)[^a]+bot",
        r"[^a]{2}bot\s*",
        r"\b(\w+)bot",
        r"(?R)(?m)[ab]+bot$",
    ];

    fn pieces() -> impl Strategy<Value = Vec<&'static str>> {
        let piece = prop_oneof![
            4 => Just("\n"),
            2 => Just("\r\n"),
            1 => Just("\r"),
            5 => Just("a"),
            5 => Just("b"),
            1 => Just(" "),
            1 => Just("é"),
        ];
        prop::collection::vec(piece, 0..30)
    }

    const INVALID: &[&[u8]] = &[b"\xFF", b"\xA9", b"\xC3", b"\0", b"\xED\xB2\x80"];

    /// Texts that need not be UTF-8.
    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let valid = pieces().prop_map(|text| text.concat().into_bytes());
        let invalid = prop::sample::select(INVALID).prop_map(<[u8]>::to_vec);
        prop::collection::vec(prop_oneof![4 => valid, 1 => invalid], 1..6).prop_map(|pieces| pieces.concat())
    }

    fn each() -> impl Strategy<Value = Each> {
        prop::sample::select(&[Each::Record, Each::Match][..])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16 * ProptestConfig::default().cases))]

        #[test]
        fn a_block_has_the_keys_that_a_plain_loop_finds(
            pattern in prop::sample::select(PATTERNS),
            text in pieces(),
            each in each(),
        ) {
            let text = text.concat();
            let expected = plain_loop(pattern, &text, each);
            let pattern = key_pattern(&[pattern], Case::Distinct, each);
            prop_assert_eq!(block_wise(&pattern, text.as_bytes()), expected);
        }

        #[test]
        fn a_block_has_the_keys_of_its_records(
            patterns in prop::collection::vec(prop_oneof![prop::sample::select(PATTERNS), prop::sample::select(OTHER_PATTERNS)], 1..3),
            text in texts(),
            each in each(),
        ) {
            let pattern = key_pattern(&patterns, Case::Distinct, each);
            prop_assert_eq!(block_wise(&pattern, &text), record_by_record(&pattern, &text));
        }

        #[test]
        fn keys_found_by_a_literal_are_those_of_the_records(
            pattern in prop::sample::select(WITH_LITERAL),
            texts in prop::collection::vec(prop_oneof![Just(b"bot".to_vec()), texts()], 0..20),
            each in each(),
        ) {
            let (pattern, text) = (key_pattern(&[pattern], Case::Distinct, each), texts.concat());
            prop_assert_eq!(block_wise(&pattern, &text), record_by_record(&pattern, &text));
        }

        #[test]
        fn several_expressions_match_as_their_alternation(
            patterns in prop::collection::vec(prop::sample::select(PATTERNS), 2..4),
            text in pieces(),
            each in each(),
        ) {
            let ungrouped = patterns.iter().map(|pattern| pattern.replace("(a)", "a").replace("(é)", "é"));
            let ungrouped: Vec<String> = ungrouped.filter(|pattern| {
                regex::Regex::new(pattern).expect("a valid pattern").captures_len() == 1
            }).collect();
            prop_assume!(!ungrouped.is_empty());
            let text = text.concat();
            let alternation: Vec<String> = ungrouped.iter().map(|pattern| format!("(?:{pattern})")).collect();
            let expected = plain_loop(&alternation.join("|"), &text, each);
            let pattern = KeyPattern::new(&ungrouped, Case::Distinct, each).expect("valid patterns");
            prop_assert_eq!(block_wise(&pattern, text.as_bytes()), expected);
        }
    }

    /// Returns the keys in a text, with fields joined by `|` and `-` for a missing field.
    fn keys(pattern: &KeyPattern, text: &str) -> Vec<String> {
        let field = |field: &Option<Vec<u8>>| {
            field.as_ref().map_or("-".to_owned(), |field| String::from_utf8_lossy(field).into_owned())
        };
        let (rows, _) = block_wise(pattern, text.as_bytes());
        rows.iter().map(|(_, fields)| fields.iter().map(field).collect::<Vec<_>>().join("|")).collect()
    }

    fn first_keys(patterns: &[&str], text: &str) -> Vec<String> {
        keys(&key_pattern(patterns, Case::Distinct, Each::Record), text)
    }

    fn field_names(pattern: &KeyPattern) -> Vec<String> {
        pattern.fields().iter().map(Field::to_string).collect()
    }

    #[test]
    fn the_key_is_the_match_or_its_groups() {
        let text = "Firefox/115 x\nno\nFirefox/78 Firefox/9\n";
        assert_eq!(first_keys(&[r"Firefox/\d+"], text), ["Firefox/115", "Firefox/78"]);
        assert_eq!(first_keys(&[r"Firefox/(\d+)"], text), ["115", "78"]);
        assert_eq!(first_keys(&[r"(Fire)fox/(\d)"], text), ["Fire|1", "Fire|7"]);
        let each = key_pattern(&[r"Firefox/(\d+)"], Case::Distinct, Each::Match);
        assert_eq!(keys(&each, text), ["115", "78", "9"]);
    }

    #[test]
    fn a_group_that_took_no_part_is_missing_and_an_empty_one_is_not() {
        assert_eq!(first_keys(&["(a)|(b)"], "b\na\n"), ["-|b", "a|-"]);
        assert_eq!(first_keys(&["(a*)b"], "b\n"), [""]);
    }

    #[test]
    fn empty_matches_are_dropped() {
        assert_eq!(first_keys(&["a*"], "baa\nb\n\n"), ["aa"]);
        assert_eq!(first_keys(&["^()"], "b\n"), [""; 0]);
    }

    #[test]
    fn groups_of_several_expressions_with_the_same_name_are_one_field() {
        let patterns = [r"user=(?P<user>\w+) ip=(?P<ip>\S+)", r"from (?P<ip>\S+) (?P<user>\w+)"];
        let pattern = key_pattern(&patterns, Case::Distinct, Each::Record);
        assert_eq!(field_names(&pattern), ["user", "ip"]);
        assert_eq!(keys(&pattern, "from 1.2.3.4 eve\nuser=bob ip=::1\n"), ["eve|1.2.3.4", "bob|::1"]);
        let pattern = key_pattern(&["a=([0-9]+)", "b=([0-9]+)", "c"], Case::Distinct, Each::Match);
        assert_eq!(field_names(&pattern), ["1"]);
        assert_eq!(keys(&pattern, "b=1 a=2 c\n"), ["1", "2", "c"]);
        let pattern = key_pattern(&["(a)(?P<n>b)(c)", "(?P<n>d)"], Case::Distinct, Each::Match);
        assert_eq!(field_names(&pattern), ["1", "n", "3"]);
        assert_eq!(keys(&pattern, "abcd"), ["a|b|c", "-|d|-"]);
    }

    #[test]
    fn the_earlier_of_two_expressions_matches_at_the_same_place() {
        assert_eq!(first_keys(&["a", "ab", "b"], "xab\nba\n"), ["a", "b"]);
        assert_eq!(first_keys(&["ab", "a"], "xab\n"), ["ab"]);
    }

    #[test]
    fn columns_have_names_and_numbers() {
        let pattern = key_pattern(&["(?P<a.b>a)(b)"], Case::Distinct, Each::Record);
        let column = |field| pattern.column(&Field::parse(field).expect("a field"));
        assert_eq!([column("a.b"), column("1"), column("-2")], [Some(0); 3]);
        assert_eq!([column("2"), column("-1")], [Some(1); 2]);
        assert_eq!([column("3"), column("-3"), column("a"), column("-2147483648")], [None; 4]);
    }

    #[test]
    fn an_expression_that_ignores_case_matches_as_after_a_flag() {
        let text = "STRASSE Straße \u{212A}ilo kilo";
        for (pattern, flagged) in
            [("straSSe", "(?i)straSSe"), ("[^a-z]+", "(?i)[^a-z]+"), (r"k\w+|(?-i:S)", r"(?i)k\w+|(?-i:S)")]
        {
            let ignoring = keys(&key_pattern(&[pattern], Case::Ignored, Each::Match), text);
            let flagged = keys(&key_pattern(&[flagged], Case::Distinct, Each::Match), text);
            assert_eq!(ignoring, flagged, "{pattern}");
            let distinct = keys(&key_pattern(&[pattern], Case::Distinct, Each::Match), text);
            assert_ne!(ignoring, distinct, "{pattern}");
        }
    }

    #[test]
    fn a_long_record_of_invalid_bytes_is_searched_in_linear_time() {
        let text = b"\xFFa".repeat(200_000);
        let pattern = key_pattern(&["[^b]a"], Case::Distinct, Each::Match);
        let (rows, _) = block_wise(&pattern, &text);
        assert_eq!(rows.len(), 200_000);
        assert!(rows.iter().all(|(_, key)| key[0].as_deref() == Some(b"\xFFa")));
    }

    #[test]
    fn an_invalid_expression_among_several_is_shown() {
        let patterns = ["a".to_owned(), "b(".to_owned()];
        let error = KeyPattern::new(&patterns, Case::Distinct, Each::Record).expect_err("unclosed");
        assert!(error.to_string().contains("b(\n     ^"), "{error}");
    }
}
