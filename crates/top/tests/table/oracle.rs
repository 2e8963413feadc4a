//! A plain implementation of queries of tables.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use finecomb_top::{Field, SortBy};
use num_bigint::BigInt;
use regex::bytes::Regex;

use super::number::{self, ExactNumber, NoNumber, one, rounded, shown};
use super::question::{MISSING, Operator, PATTERNS, QueryField, Question, Statistic, TableCondition};
use super::style::{NamedColumn, Style};
use super::{COLUMNS, TableRow, Written};

/// The first of the records or values that are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct First {
    pub(crate) file: usize,
    pub(crate) offset: u64,
    /// Beginning of the record or value.
    pub(crate) text: Vec<u8>,
}

/// A key, its fields if it has several, its count and its measures.
pub(crate) type ExpectedKey = (Vec<u8>, Vec<Vec<u8>>, u64, Vec<String>);

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExpectedAnswer {
    pub(crate) top: Vec<ExpectedKey>,
    pub(crate) distinct: u64,
    pub(crate) records: u64,
    pub(crate) unmatched: Option<(u64, First)>,
    pub(crate) skipped: Option<(u64, First)>,
    pub(crate) malformed: Option<(u64, First)>,
    /// Also with the name of the field.
    pub(crate) not_numbers: Option<(u64, First, String)>,
    pub(crate) out_of_range: Option<(u64, First, String)>,
    /// Fields that no record has, each after the part of the query that names it.
    pub(crate) absent: Vec<String>,
    pub(crate) key_names: Vec<String>,
    pub(crate) measure_names: Vec<String>,
}

/// The values of the records of a key, by measure.
#[derive(Clone, Debug, Default)]
struct GroupedValues {
    count: u64,
    fields: Vec<Vec<u8>>,
    numbers: Vec<Vec<ExactNumber>>,
    texts: Vec<BTreeSet<String>>,
    /// Number of records that meet the condition of each share.
    parts: Vec<u64>,
}

/// Answers a question about files.
pub(crate) fn answer(files: &[(Style, Written)], question: &Question) -> ExpectedAnswer {
    let style = files[0].0;
    let mut count = OracleCount {
        question,
        groups: BTreeMap::new(),
        expected: ExpectedAnswer::default(),
        condition: PresentFields::default(),
        values: PresentFields::default(),
    };
    for (file, (style, written)) in files.iter().enumerate() {
        for (row, offset, text) in &written.records {
            let first = First { file, offset: *offset, text: text[..text.len().min(256)].to_vec() };
            count.add(*style, row, text, first);
        }
    }
    let absent = count.absent(style);
    let OracleCount { groups, mut expected, .. } = count;
    expected.absent = absent;
    expected.key_names = key_names(question, style);
    expected.measure_names = question.all_measures(style).iter().map(ToString::to_string).collect();
    expected.distinct = groups.len() as u64;
    expected.records = groups.values().map(|group| group.count).sum();
    expected.top = top(question, groups);
    expected
}

/// Names of the columns of the key.
fn key_names(question: &Question, style: Style) -> Vec<String> {
    let key = key(question, style);
    if key.is_empty() && question.measure_count() > 0 {
        return Vec::new();
    }
    let has_name = |source: &QueryField| match source {
        QueryField::Column(_) => !question.by_position(style),
        QueryField::Group(group) => key.len() > 1 || question.groups()[*group].is_some(),
    };
    let is_one = key.is_empty() || !key.iter().all(has_name) || (key.len() > 1 && !question.edits.is_empty());
    let names = || key.iter().map(|&source| question.column(source, style).shown).collect();
    if is_one { vec!["key".to_owned()] } else { names() }
}

/// The fields of the key.
fn key(question: &Question, style: Style) -> Vec<QueryField> {
    match &question.key[..] {
        [] => (0..question.groups().len()).map(QueryField::Group).collect(),
        key => key.iter().map(|&source| question.resolved(source, style)).collect(),
    }
}

/// The value of a measure for comparisons, and as text.
type MeasuredValue = (Option<BigInt>, String);

/// The keys in the order of the answer.
fn top(question: &Question, mut groups: BTreeMap<Vec<u8>, GroupedValues>) -> Vec<ExpectedKey> {
    for measure in 0..question.measures.len() {
        let have_units =
            groups.values().flat_map(|group| &group.numbers[measure]).any(|number| number.has_unit);
        if have_units {
            groups.values_mut().for_each(|group| group.numbers[measure].retain(|number| number.has_unit));
        }
    }
    let places: Vec<u32> = (0..question.measures.len())
        .map(|measure| {
            let numbers = groups.values().flat_map(|group| &group.numbers[measure]);
            numbers.map(|number| number.places).max().unwrap_or(0)
        })
        .collect();
    let mut keys: Vec<(Vec<u8>, GroupedValues, Vec<MeasuredValue>)> = groups
        .into_iter()
        .filter(|(_, group)| group.count >= question.min_count)
        .map(|(key, group)| {
            let values = question.measures.iter().enumerate();
            let values = values.map(|(measure, &(kind, _))| result(kind, &group, measure, places[measure]));
            let text = |value: &Option<BigInt>| value.as_ref().map_or("-".to_owned(), shown);
            let values = values.map(|value| (value.clone(), text(&value)));
            let shares = group.parts.iter().map(|part| share(*part, group.count));
            let values = values.chain(shares).collect();
            (key, group, values)
        })
        .collect();
    keys.sort_by(|(one_key, one, one_values), (other_key, other, other_values)| {
        let directed = |order: Ordering| if question.reverse { order } else { order.reverse() };
        match question.sort_by() {
            SortBy::Count => directed(one.count.cmp(&other.count)).then(one_key.cmp(other_key)),
            SortBy::Key => directed(other_key.cmp(one_key)),
            SortBy::Measure(measure) => {
                let (one, other) = (&one_values[measure].0, &other_values[measure].0);
                let has_value = Reverse(one.is_some()).cmp(&Reverse(other.is_some()));
                has_value.then(directed(one.cmp(other))).then(one_key.cmp(other_key))
            }
        }
    });
    keys.truncate(question.number);
    keys.into_iter()
        .map(|(key, group, values)| {
            let key = if group.fields.is_empty() { key } else { group.fields.join(&b' ') };
            (key, group.fields, group.count, values.into_iter().map(|(_, text)| text).collect())
        })
        .collect()
}

/// A share for an exact comparison, and as text.
fn share(part: u64, whole: u64) -> MeasuredValue {
    let exact = BigInt::from(part) * BigInt::from(10).pow(40) / whole;
    let hundredths = (part * 20_000 + whole) / (2 * whole);
    (Some(exact), format!("{}.{:02}", hundredths / 100, hundredths % 100))
}

/// The result of a measure in units of 10^-18. `places` is the most that a value of any key has.
fn result(kind: Statistic, group: &GroupedValues, measure: usize, places: u32) -> Option<BigInt> {
    let mut numbers: Vec<&BigInt> = group.numbers[measure].iter().map(|number| &number.units).collect();
    numbers.sort();
    match kind {
        Statistic::Distinct => Some(BigInt::from(group.texts[measure].len()) * one()),
        _ if numbers.is_empty() => None,
        Statistic::Sum => Some(numbers.into_iter().sum()),
        Statistic::Mean => {
            let count = BigInt::from(numbers.len());
            Some(rounded(&numbers.into_iter().sum(), &count, (places + 3).min(18)))
        }
        Statistic::Min => numbers.first().copied().cloned(),
        Statistic::Max => numbers.last().copied().cloned(),
        Statistic::Percentile(tenths) => {
            let rank = (tenths as usize * numbers.len()).div_ceil(1000).max(1);
            Some(numbers[rank - 1].clone())
        }
    }
}

struct OracleCount<'q> {
    question: &'q Question,
    groups: BTreeMap<Vec<u8>, GroupedValues>,
    expected: ExpectedAnswer,
    /// Presence of the fields of the condition, and of all others.
    condition: PresentFields,
    values: PresentFields,
}

/// The fields with a value in some record.
#[derive(Default)]
struct PresentFields {
    has_records: bool,
    fields: Vec<QueryField>,
}

impl PresentFields {
    /// Adds the wanted fields of a match in a record, which is malformed without values.
    fn add(&mut self, wanted: &[QueryField], values: Option<&[Option<String>]>, groups: &MatchValues) {
        self.has_records |= values.is_some();
        let none = vec![None; COLUMNS];
        let has = |source: &&QueryField| value(values.unwrap_or(&none), groups, **source).is_some();
        self.fields.extend(wanted.iter().filter(has));
    }

    fn lacks(&self, source: QueryField) -> bool {
        self.has_records && !self.fields.contains(&source)
    }
}

/// A match: a value for each field of the expression for keys.
type MatchValues = Vec<Option<String>>;

impl OracleCount<'_> {
    fn add(&mut self, style: Style, row: &TableRow, text: &[u8], first: First) {
        let question = self.question;
        let is_taken = question.grep.iter().all(|pattern| self.regex(pattern).is_match(text))
            && !question.vgrep.iter().any(|pattern| self.regex(pattern).is_match(text));
        if !is_taken {
            return;
        }
        let mut matches = match question.pattern {
            None => vec![Vec::new()],
            Some(pattern) => self.matches(pattern, text),
        };
        if matches.is_empty() {
            self.expected.unmatched.get_or_insert((0, first)).0 += 1;
            return;
        }
        let resolved = |source: &QueryField| question.resolved(*source, style);
        if let Some(condition) = &question.condition {
            let wanted: Vec<QueryField> = sources(condition).iter().map(resolved).collect();
            let values = values(style, row, &wanted);
            matches.iter().for_each(|groups| self.condition.add(&wanted, values.as_deref(), groups));
            let Some(values) = values else { return self.add_malformed(first) };
            matches.retain(|groups| {
                self.holds(condition, &|source| value(&values, groups, question.resolved(source, style)))
            });
        }
        if matches.is_empty() {
            return;
        }
        let measured = question.measures.iter().map(|(_, source)| resolved(source));
        let shared = question.shares.iter().flat_map(sources).map(|source| resolved(&source));
        let wanted: Vec<QueryField> =
            key(question, style).into_iter().chain(measured).chain(shared).collect();
        let values = values(style, row, &wanted);
        matches.iter().for_each(|groups| self.values.add(&wanted, values.as_deref(), groups));
        let Some(values) = values else { return self.add_malformed(first) };
        for groups in matches {
            let of = |source| value(&values, &groups, question.resolved(source, style));
            self.add_row(style, text, &of, &first);
        }
    }

    /// The fields that no record has.
    fn absent(&self, style: Style) -> Vec<String> {
        let question = self.question;
        let mut absent = Vec::new();
        let mut add = |seen: &PresentFields, part: &str, source: QueryField| {
            let NamedColumn { field, shown, .. } = question.column(source, style);
            let sign = if part == "--where" && matches!(field, Field::Position(_)) { "$" } else { "" };
            if seen.lacks(question.resolved(source, style)) {
                absent.push((part.to_owned(), format!("{sign}{shown}")));
            }
        };
        for source in question.condition.iter().flat_map(sources) {
            add(&self.condition, "--where", source);
        }
        for &source in question.key.iter().filter(|_| question.missing) {
            if matches!(question.resolved(source, style), QueryField::Column(_)) {
                add(&self.values, "-f", source);
            }
        }
        for (at, &(_, source)) in question.measures.iter().enumerate() {
            add(&self.values, &at.to_string(), source);
        }
        for (share, at) in question.shares.iter().zip(question.measures.len()..) {
            sources(share).into_iter().for_each(|source| add(&self.values, &at.to_string(), source));
        }
        let mut known = BTreeSet::new();
        // Several measures of a field are one part.
        absent.retain(|(part, field)| {
            known.insert((part.parse::<u8>().map_or(part.clone(), |_| String::new()), field.clone()))
        });
        absent.into_iter().map(|(part, field)| format!("{part}: {field}")).collect()
    }

    fn add_malformed(&mut self, first: First) {
        self.expected.malformed.get_or_insert((0, first)).0 += 1;
    }

    /// Adds a record, or a match in it.
    fn add_row<'v>(
        &mut self,
        style: Style,
        text: &[u8],
        value: &dyn Fn(QueryField) -> Option<&'v str>,
        first: &First,
    ) {
        let question = self.question;
        let missing = question.missing.then_some(MISSING);
        let sources = key(question, style);
        let fields: Option<Vec<Vec<u8>>> =
            sources.iter().map(|&source| Some(value(source).or(missing)?.as_bytes().to_vec())).collect();
        let Some(fields) = fields else {
            self.expected.skipped.get_or_insert((0, first.clone())).0 += 1;
            return;
        };
        let is_split = key_names(question, style).len() > 1;
        let parts = match &fields[..] {
            [] if question.measure_count() == 0 => vec![text.to_vec()],
            [] => vec![Vec::new()],
            _ if is_split => fields,
            _ => vec![fields.join(&b' ')],
        };
        let parts: Vec<Vec<u8>> = parts.into_iter().map(|part| self.changed(part)).collect();
        // Smaller than any character of a text.
        let key = parts.join(&0x1F);
        let measures = question.measures.len();
        let holds: Vec<bool> =
            question.shares.iter().map(|share| self.holds(share, &|source| value(source))).collect();
        let group = self.groups.entry(key).or_insert_with(|| GroupedValues {
            count: 0,
            fields: if is_split { parts } else { Vec::new() },
            numbers: vec![Vec::new(); measures],
            texts: vec![BTreeSet::new(); measures],
            parts: vec![0; question.shares.len()],
        });
        group.count += 1;
        for (part, holds) in group.parts.iter_mut().zip(holds) {
            *part += u64::from(holds);
        }
        let mut bad: [Vec<(usize, QueryField)>; 2] = Default::default();
        for (measure, &(kind, source)) in question.measures.iter().enumerate() {
            let Some(text) = value(source) else { continue };
            match number::parse(text) {
                Err(NoNumber::NoValue) => continue,
                Ok(number) => group.numbers[measure].push(number),
                Err(reason) if kind != Statistic::Distinct => {
                    let bad = &mut bad[usize::from(reason == NoNumber::OutOfRange)];
                    let source = question.resolved(source, style);
                    let columns: Vec<QueryField> = key_and_measures(question, style);
                    let column = columns.iter().position(|known| *known == source).expect("a column");
                    if !bad.contains(&(column, source)) {
                        bad.push((column, source));
                    }
                }
                Err(_) => {}
            }
            group.texts[measure].insert(text.to_owned());
        }
        let expected = [&mut self.expected.not_numbers, &mut self.expected.out_of_range];
        for (bad, expected) in bad.iter().zip(expected) {
            let Some(&(_, source)) = bad.iter().min_by_key(|(column, _)| *column) else { continue };
            let text = value(source).unwrap_or_default().as_bytes();
            let first = First { text: text[..text.len().min(256)].to_vec(), ..first.clone() };
            let name = question.column(source, style).shown;
            expected.get_or_insert((0, first, name)).0 += bad.len() as u64;
        }
    }

    fn regex(&self, pattern: &str) -> Regex {
        let flag = if self.question.ignore_case { "(?i)" } else { "" };
        Regex::new(&format!("{flag}{pattern}")).expect("a valid pattern")
    }

    /// The matches of the expressions for keys.
    fn matches(&self, pattern: usize, text: &[u8]) -> Vec<MatchValues> {
        let (patterns, fields) = PATTERNS[pattern];
        let regexes: Vec<Regex> = patterns.iter().map(|pattern| self.regex(pattern)).collect();
        let mut from = 0;
        let mut matches = Vec::new();
        loop {
            let found = regexes.iter().filter_map(|regex| Some((regex, regex.captures_at(text, from)?)));
            // If several match at the same place, the first one counts.
            let Some((regex, found)) = found.min_by_key(|(_, found)| found.get(0).map(|all| all.start()))
            else {
                return matches;
            };
            let all = found.get(0).expect("the match");
            let mut groups = vec![None; fields.len()];
            if regex.captures_len() == 1 {
                groups[0] = Some(all);
            }
            let mut unnamed = (0..fields.len()).filter(|&field| fields[field].is_none());
            for (number, name) in regex.capture_names().enumerate().skip(1) {
                let field = match name {
                    Some(_) => fields.iter().position(|field| *field == name),
                    None => unnamed.next(),
                };
                groups[field.expect("a field")] = found.get(number);
            }
            let text =
                |group: regex::bytes::Match<'_>| String::from_utf8_lossy(group.as_bytes()).into_owned();
            matches.push(groups.into_iter().map(|group| group.map(text)).collect());
            if !self.question.each {
                return matches;
            }
            from = all.end();
        }
    }

    /// A key or a field of it after all edits.
    fn changed(&self, mut key: Vec<u8>) -> Vec<u8> {
        if self.question.replaces_uuids {
            let uuid = Regex::new("(?-u)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
            key = uuid.expect("a pattern").replace_all(&key, &b"<uuid>"[..]).into_owned();
        }
        for (pattern, with) in &self.question.edits {
            key = self.regex(pattern).replace_all(&key, with.as_bytes()).into_owned();
        }
        if self.question.ignore_case {
            key = String::from_utf8(key).expect("UTF-8").to_lowercase().into_bytes();
        }
        key
    }

    fn holds<'v>(&self, condition: &TableCondition, value: &dyn Fn(QueryField) -> Option<&'v str>) -> bool {
        let folded =
            |text: &str| if self.question.ignore_case { text.to_lowercase() } else { text.to_owned() };
        let compared = |one: &str, operator: Operator, other: &str| {
            holds(operator, folded(one).as_bytes().cmp(folded(other).as_bytes()))
        };
        match condition {
            TableCondition::Number(source, operator, number) => {
                let number = number::parse_any(number).expect("a number").units;
                value(*source).is_some_and(|value| match number::parse_any(value) {
                    Ok(value) => holds(*operator, value.units.cmp(&number)),
                    Err(_) => *operator == Operator::NotEqual,
                })
            }
            TableCondition::Text(source, operator, text) => {
                value(*source).is_some_and(|value| compared(value, *operator, text))
            }
            TableCondition::Fields(one, operator, other) => match (value(*one), value(*other)) {
                (Some(one), Some(other)) => match (number::parse_any(one), number::parse_any(other)) {
                    (Ok(one), Ok(other)) => holds(*operator, one.units.cmp(&other.units)),
                    _ => compared(one, *operator, other),
                },
                _ => false,
            },
            TableCondition::Match(source, pattern, wanted) => {
                value(*source).is_some_and(|value| self.regex(pattern).is_match(value.as_bytes()) == *wanted)
            }
            TableCondition::Present(source) => value(*source).is_some(),
            TableCondition::Not(part) => !self.holds(part, value),
            TableCondition::All(parts) => parts.iter().all(|part| self.holds(part, value)),
            TableCondition::Any(parts) => parts.iter().any(|part| self.holds(part, value)),
        }
    }
}

fn holds(operator: Operator, order: Ordering) -> bool {
    match operator {
        Operator::Equal => order.is_eq(),
        Operator::NotEqual => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        Operator::GreaterOrEqual => order.is_ge(),
    }
}

/// The fields of the key and of the measures.
fn key_and_measures(question: &Question, style: Style) -> Vec<QueryField> {
    let measured = question.measures.iter().map(|&(_, source)| question.resolved(source, style));
    key(question, style).into_iter().chain(measured).collect()
}

fn sources(condition: &TableCondition) -> Vec<QueryField> {
    match condition {
        TableCondition::Number(source, ..)
        | TableCondition::Text(source, ..)
        | TableCondition::Match(source, ..)
        | TableCondition::Present(source) => vec![*source],
        TableCondition::Fields(one, _, other) => vec![*one, *other],
        TableCondition::Not(part) => sources(part),
        TableCondition::All(parts) | TableCondition::Any(parts) => parts.iter().flat_map(sources).collect(),
    }
}

/// The values of a record whose fields `wanted` are examined; `None` if it is malformed.
fn values(style: Style, row: &TableRow, wanted: &[QueryField]) -> Option<Vec<Option<String>>> {
    let columns = wanted.iter().filter_map(|source| match source {
        QueryField::Column(column) => Some(*column),
        QueryField::Group(_) => None,
    });
    match row {
        TableRow::Values(values) => Some(values.to_vec()),
        TableRow::Malformed => {
            let known = style.columns_of_malformed();
            let is_malformed = columns.max().is_some_and(|column| column >= known);
            (!is_malformed).then(|| vec![Some("x".to_owned()), None, None, None])
        }
    }
}

fn value<'v>(
    values: &'v [Option<String>],
    groups: &'v [Option<String>],
    source: QueryField,
) -> Option<&'v str> {
    match source {
        QueryField::Column(column) => values[column].as_deref(),
        QueryField::Group(group) => groups[group].as_deref(),
    }
}
