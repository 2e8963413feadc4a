//! Records that an expression describes: its groups are the fields.
//!
//! A record that has no match is malformed. A field whose group took no part in the match is missing.

use regex_automata::util::captures::{Captures, GroupInfo};
use regex_automata::{Input, PatternID};
use regex_syntax::hir::{Capture, Hir, HirKind};

use crate::cells::{Cell, Cells, Span, bytes_of};
use crate::key::expression::{Case, Expression, ExpressionCache, Fitting};
use crate::key::leading_star::{LeadingStar, LeadingStarCache};
use crate::query::field::Field;
use crate::query::fields::index_of;
use crate::query::format_error::FormatError;
use crate::query::near_names::field_meant;

/// The error about an expression that names no field.
pub(crate) const NO_GROUPS: &str =
    "the pattern has no named groups; name each field like this: (?<status>[0-9]+)";

/// Extracts the groups of the first match in each record.
#[derive(Clone, Debug)]
pub(crate) struct RegexRecords {
    regex: Expression,
    /// Faster search, for some expressions.
    leading_star: Option<LeadingStar>,
    /// Numbers of the groups of each field. The first one with a match counts.
    groups: Vec<Vec<usize>>,
}

/// Meaning of the names of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamesOf {
    /// Each group is a field.
    Groups,
    /// A field may have several groups.
    Fields,
}

/// Scratch memory of an extraction.
#[derive(Debug)]
pub(crate) struct RegexCache {
    regex: ExpressionCache,
    leading_star: Option<LeadingStarCache>,
    captures: Captures,
}

impl RegexRecords {
    /// Compiles an expression and finds the groups of the fields. A position is the number of a group,
    /// counted from the end if it is negative.
    pub(crate) fn new(pattern: &str, fields: &[Field]) -> Result<Self, FormatError> {
        Self::with_names(pattern, fields, NamesOf::Groups)
    }

    /// Compiles an expression whose groups `NAME_2`, `NAME_3` and so on are other places of the field `NAME`: no two groups of an
    /// expression have the same name.
    pub(crate) fn of_format(pattern: &str, fields: &[Field]) -> Result<Self, FormatError> {
        Self::with_names(pattern, fields, NamesOf::Fields)
    }

    fn with_names(pattern: &str, fields: &[Field], names_of: NamesOf) -> Result<Self, FormatError> {
        let regex = Expression::new(pattern, Case::Distinct)
            .map_err(|error| FormatError::Other(error.to_string()))?;
        let info = regex.regex().group_info();
        if names(info).next().is_none() {
            return Err(FormatError::Other(NO_GROUPS.to_owned()));
        }
        let groups = fields.iter().map(|field| groups(info, field, names_of)).collect::<Result<_, _>>()?;
        let leading_star = LeadingStar::new(regex.hir());
        Ok(Self { regex, leading_star, groups })
    }

    /// Returns a copy of the expression of a format with other fields.
    pub(crate) fn with_fields(&self, fields: &[Field]) -> Result<Self, FormatError> {
        let info = self.regex.regex().group_info();
        let groups = fields.iter().map(|field| groups(info, field, NamesOf::Fields));
        Ok(Self { groups: groups.collect::<Result<_, _>>()?, ..self.clone() })
    }

    /// Scratch memory for [`RegexRecords::extract`].
    pub(crate) fn cache(&self) -> RegexCache {
        RegexCache {
            regex: self.regex.cache(),
            leading_star: self.leading_star.as_ref().map(LeadingStar::cache),
            captures: self.regex.regex().create_captures(),
        }
    }

    /// Appends a cell for each wanted field of each record.
    pub(crate) fn extract(&self, cache: &mut RegexCache, text: &[u8], records: &[Span], cells: &mut Cells) {
        for (index, &record) in records.iter().enumerate() {
            if self.extract_one(cache, text, record, cells).is_none() {
                cells.push_malformed(index, (record.0, "does not match the pattern"));
            }
        }
    }

    /// Appends the cells of a record. Appends nothing and returns `None` if it has no match.
    fn extract_one(
        &self,
        cache: &mut RegexCache,
        text: &[u8],
        record: Span,
        cells: &mut Cells,
    ) -> Option<()> {
        let RegexCache { regex, leading_star, captures } = cache;
        let text = bytes_of(text, record);
        let Fitting { regex, cache: regex_cache, is_lenient } = self.regex.fitting(regex, text);
        let input = Input::new(text);
        let leading_star = self.leading_star.as_ref().zip(leading_star.as_mut());
        let found = leading_star
            .filter(|(search, _)| !is_lenient && search.supports(text))
            .and_then(|(search, cache)| search.find(cache, &input, captures).ok());
        let has_match = match found {
            Some(found) => found.is_some(),
            None => {
                regex.search_captures_with(regex_cache, &input, captures);
                captures.is_match()
            }
        };
        if !has_match {
            return None;
        }
        for (column, groups) in cells.columns_mut().iter_mut().zip(&self.groups) {
            let span = groups.iter().find_map(|&group| captures.get_group(group));
            column.push(Cell::at(span.map(|span| (record.0 + span.start, record.0 + span.end))));
        }
        Some(())
    }
}

/// The names of the groups of an expression.
pub(crate) fn names(info: &GroupInfo) -> impl Iterator<Item = &str> {
    info.pattern_names(PatternID::ZERO).flatten()
}

/// The names of the groups of an expression that is not compiled.
pub(crate) fn group_names(hir: &Hir) -> Vec<&str> {
    match hir.kind() {
        HirKind::Capture(Capture { name, sub, .. }) => {
            name.as_deref().into_iter().chain(group_names(sub)).collect()
        }
        HirKind::Repetition(repetition) => group_names(&repetition.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().flat_map(group_names).collect(),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => Vec::new(),
    }
}

/// The names of the fields of a format: those of the groups, except for other places of a field.
pub(crate) fn field_names<'n>(groups: &[&'n str]) -> impl Iterator<Item = &'n str> {
    let is_other = |name: &str| {
        let (field, _) = name.rsplit_once('_')?;
        let is_group = |name: &str| groups.contains(&name).then_some(());
        other_places(field, is_group).any(|(other, ())| other == name).then_some(())
    };
    groups.iter().copied().filter(move |name| is_other(name).is_none())
}

/// The groups `NAME_2`, `NAME_3` and so on of a field, if it has a group with its own name, each with what `find` returns for it.
fn other_places<T>(name: &str, find: impl Fn(&str) -> Option<T>) -> impl Iterator<Item = (String, T)> {
    let has_own = find(name).is_some();
    (2..)
        .map_while(move |number| {
            let other = format!("{name}_{number}");
            find(&other).map(|found| (other, found))
        })
        .filter(move |_| has_own)
}

/// Returns the numbers of the groups of a field.
fn groups(info: &GroupInfo, field: &Field, names_of: NamesOf) -> Result<Vec<usize>, FormatError> {
    match field {
        Field::Named(name) => {
            let Some(group) = info.to_index(PatternID::ZERO, &name.text) else {
                return Err(no_group(info, &name.text, names_of));
            };
            let index = |name: &str| info.to_index(PatternID::ZERO, name);
            let others = (names_of == NamesOf::Fields).then(|| other_places(&name.text, index));
            Ok(std::iter::once(group).chain(others.into_iter().flatten().map(|(_, group)| group)).collect())
        }
        &Field::Position(number) => {
            // Group 0 is the match.
            let count = info.group_len(PatternID::ZERO) - 1;
            let index = index_of(number, count);
            index.map(|index| vec![index + 1]).ok_or_else(|| {
                FormatError::Other(format!("no group {number} in the pattern, which has {count}"))
            })
        }
    }
}

/// The message about a name that no group has.
fn no_group(info: &GroupInfo, wanted: &str, names_of: NamesOf) -> FormatError {
    let (names, kind, whole): (Vec<&str>, _, _) = match names_of {
        NamesOf::Groups => (names(info).collect(), "group", "the pattern"),
        NamesOf::Fields => {
            let groups: Vec<&str> = names(info).collect();
            (field_names(&groups).collect(), "field", "this log format")
        }
    };
    let list = || format!("its {kind}s are {}", names.join(", "));
    let hint = field_meant(wanted, names.iter().copied()).unwrap_or_else(list);
    FormatError::Other(format!("no {kind} '{wanted}' in {whole}; {hint}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cells::Malformed;
    use crate::oracle::Oracle;

    /// The wanted groups of each line, as texts; `None` if it does not match.
    fn extract(pattern: &str, fields: &str, lines: &[&[u8]]) -> Vec<Option<Vec<Option<Vec<u8>>>>> {
        let fields = Field::parse_list(fields).expect("fields");
        extract_by(&RegexRecords::new(pattern, &fields).expect("a valid pattern"), fields.len(), lines)
    }

    fn extract_by(format: &RegexRecords, count: usize, lines: &[&[u8]]) -> Vec<Option<Vec<Option<Vec<u8>>>>> {
        let text = lines.join(&b'\n');
        let mut start = 0;
        let records = lines.iter().map(|line| {
            let record = (start, start + line.len());
            start = record.1 + 1;
            record
        });
        let records: Vec<Span> = records.collect();
        let mut cells = Cells::default();
        cells.reset(count);
        format.extract(&mut format.cache(), &text, &records, &mut cells);
        let is_malformed = |index| cells.malformed().iter().any(|malformed| malformed.record == index as u32);
        let values = |index| {
            let columns = (0..count).map(|column| cells.column(column)[index]);
            let values: Vec<_> = columns.map(|cell| cells.bytes(&text, cell).map(<[u8]>::to_vec)).collect();
            assert!(!is_malformed(index) || values.iter().all(Option::is_none));
            (!is_malformed(index)).then_some(values)
        };
        (0..lines.len()).map(values).collect()
    }

    fn error(pattern: &str, field: &str) -> String {
        let field = Field::parse(field).expect("a field");
        RegexRecords::new(pattern, &[field]).expect_err("an error").to_string()
    }

    #[test]
    fn groups_are_fields_by_name_and_number() {
        let pattern = r"^(?<host>\S+) (?P<status>\d+)( \w+)?";
        let found = extract(pattern, "status,host,1,3,-1", &[b"a 200 x", b"b 404"]);
        let text = |text: &str| Some(text.as_bytes().to_vec());
        let first = vec![text("200"), text("a"), text("a"), text(" x"), text(" x")];
        let second = vec![text("404"), text("b"), text("b"), None, None];
        assert_eq!(found, [Some(first), Some(second)]);
    }

    #[test]
    fn a_field_of_a_format_may_have_several_places() {
        let pattern =
            "^(?:(?<time>[0-9]+) (?<level_2>[A-Z]+)|(?<level>[A-Z]+) (?<time_2>[0-9]+))(?<host_2>x)?$";
        let fields = Field::parse_list("level,time").expect("fields");
        let values = |lines: &[&[u8]]| {
            extract_by(&RegexRecords::of_format(pattern, &fields).expect("a pattern"), 2, lines)
        };
        let text = |text: &str| Some(text.as_bytes().to_vec());
        let expected = Some(vec![text("WARN"), text("17")]);
        assert_eq!(values(&[b"17 WARN", b"WARN 17"]), [expected.clone(), expected]);
        assert_eq!(extract(pattern, "level,level_2", &[b"17 WARN"]), [Some(vec![None, text("WARN")])]);
        let expression = Expression::new(pattern, Case::Distinct).expect("an expression");
        let groups: Vec<&str> = names(expression.regex().group_info()).collect();
        assert_eq!(group_names(expression.hir()), groups);
        let names: Vec<&str> = field_names(&groups).collect();
        assert_eq!(names, ["time", "level", "host_2"]);
        let unknown = [Field::named("status")];
        let error = RegexRecords::of_format(pattern, &unknown).expect_err("an error").to_string();
        assert_eq!(error, "no field 'status' in this log format; its fields are time, level, host_2");
    }

    #[test]
    fn an_empty_group_is_not_missing() {
        let found = extract("(?<a>x*)(?<b>y)?", "a,b", &[b"z"]);
        assert_eq!(found, [Some(vec![Some(Vec::new()), None])]);
    }

    #[test]
    fn a_record_without_a_match_is_malformed() {
        let fields = [Field::named("a")];
        let format = RegexRecords::new("(?<a>[0-9]+)$", &fields).expect("a valid pattern");
        let mut cells = Cells::default();
        cells.reset(1);
        format.extract(&mut format.cache(), b"12\nx\n3", &[(0, 2), (3, 4), (5, 6)], &mut cells);
        assert_eq!(cells.column(0), [Cell::Raw(0, 2), Cell::Missing, Cell::Raw(5, 6)]);
        let reason = "does not match the pattern";
        assert_eq!(cells.malformed(), [Malformed { record: 1, at: 3, reason }]);
    }

    #[test]
    fn patterns_without_the_fields_are_refused() {
        assert_eq!(
            error("(?<host>x)(?<path>y)", "hots"),
            "no group 'hots' in the pattern; did you mean 'host'?"
        );
        let pattern = "(?<a>x)(?<b>y)(z)";
        assert_eq!(error(pattern, "c"), "no group 'c' in the pattern; its groups are a, b");
        assert_eq!(error(pattern, "4"), "no group 4 in the pattern, which has 3");
        assert_eq!(error(pattern, "-4"), "no group -4 in the pattern, which has 3");
        let unnamed = "the pattern has no named groups; name each field like this: (?<status>[0-9]+)";
        assert_eq!(error("(x)", "1"), unnamed);
        assert_eq!(error("x", "a"), unnamed);
        assert!(error("(?<a>x", "a").starts_with("regex parse error:"));
    }

    fn lines() -> impl Strategy<Value = Vec<u8>> {
        let bytes = prop::sample::select(&[b'a', b'b', b' ', 0xFF, 0xC3, 0xA9, 0xED, 0xB2][..]);
        let chars = prop::sample::select(&["a", "b", "é", "한", "\u{FFFD}", " ", "\n", "12"][..]);
        prop_oneof![
            prop::collection::vec(bytes, 0..12),
            prop::collection::vec(chars, 0..12).prop_map(|chars| chars.concat().into_bytes()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]

        #[test]
        fn groups_are_those_of_the_oracle(
            pattern in prop::sample::select(
                &["(?<g>a)", "(?<g>a*)b", "^(?<g>[^a]+)a(?<h>.*)$", ".*(?<g>a|ab)(?<h>b?).*", ".*(?<g>.)(?<h>[^b])",
                  "(?<g>a)|(?<h>b)", r"(?<g>\w+) (?<h>\W)", r"\b(?<g>.+?)\b", "(?<g>é|[^a-z])(?<h>.)?", "^.*(?<g>b+)(?<h>a)?.*$",
                  "(?s).*(?<g>é|한).*", "(?<g>[^a-z ]+)", r"(?<g>\S+)(?:\s+(?<h>\S+))?"][..]),
            lines in prop::collection::vec(lines(), 1..6),
        ) {
            let oracle = Oracle::new(pattern);
            let names = if pattern.contains("<h>") { "g,h" } else { "g" };
            let borrowed: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
            for (found, line) in extract(pattern, names, &borrowed).into_iter().zip(&lines) {
                prop_assert_eq!(found, oracle.groups(line, &names.split(',').collect::<Vec<_>>()));
            }
        }
    }
}
