//! Differential tests of `top` on records with fields, against a plain implementation that sees the values of a table
//! instead of their texts in a format; at any width and block size.

use std::fs;
use std::path::{Path, PathBuf};

use finecomb_scan::{Inputs, Place, ScanOptions, Width};
use finecomb_top::{
    AbsentField, Field, FirstSkipped, InputFormat, Measure, MeasureKind, Outcome, Query, QueryOptions,
    QueryPart, Skipped, SortBy, top,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use tempfile::tempdir;

use crate::table::oracle::{self, ExpectedAnswer, First};
use crate::table::question::{Operator, PATTERNS, QueryField, Question, Statistic, TableCondition};
use crate::table::style::Style;
use crate::table::{COLUMNS, Choices, TableRow, Written};

const UUID: &str = "01234567-89ab-cdef-0123-456789abcdef";

/// Frequent values, and a few that hardly repeat.
fn value() -> impl Strategy<Value = String> {
    let common = ["a", "bot", "Bot", "1", "10", "100", "2.5", "-1", "true", "é", "a b"];
    let numbers = [
        "0",
        "-0",
        "1.50",
        "0.000001",
        "+7",
        ".5",
        "5.",
        "10ms",
        "1h",
        "1e3",
        "1e-3",
        "3ns",
        "99999999999999999999",
        "-12345678901234567.25",
        "100000000000000000000",
        "1e",
        "--1",
        "NaN",
        "1.2.3",
        "1 ",
    ];
    let texts = [
        "",
        "-",
        "a,b",
        "a;b",
        "a\tb",
        "say \"hi\"",
        "\"",
        "\"q\" r",
        "\\",
        "a\\",
        "\\n",
        "a\nb",
        "\n",
        "a\r\nb",
        "ab\r",
        " a",
        "a ",
        "x=y",
        "[a]",
        "{",
        "}",
        "]",
        "a|b",
        "日本語",
        "𝄞",
        "null",
        UUID,
        "Zebra",
        "id-7",
        "/a/b",
    ];
    prop_oneof![
        6 => prop::sample::select(common.to_vec()).prop_map(str::to_owned),
        2 => prop::sample::select(numbers.to_vec()).prop_map(str::to_owned),
        2 => prop::sample::select(texts.to_vec()).prop_map(str::to_owned),
        1 => (-99_999..99_999_i64, 0..6_u32).prop_map(|(units, places)| {
            let digits = format!("{:06}", units.abs());
            let (whole, fraction) = digits.split_at(6 - places as usize);
            format!("{}{whole}.{fraction}", if units < 0 { "-" } else { "" })
        }),
        1 => "[a-c\"\\\\,;|=\\[\\] \t\nü]{0,9}",
        1 => (50..200_usize).prop_map(|length| "long, \"x\" ".repeat(length / 10)),
    ]
}

fn row() -> impl Strategy<Value = TableRow> {
    let value = || prop_oneof![9 => value().prop_map(Some), 1 => Just(None)];
    let values = [value(), value(), value(), value()];
    prop_oneof![15 => values.prop_map(TableRow::Values), 1 => Just(TableRow::Malformed)]
}

fn rows() -> impl Strategy<Value = Vec<TableRow>> {
    prop::collection::vec(row(), 0..40)
}

fn style() -> impl Strategy<Value = Style> {
    let delimiter = prop::sample::select(&[b',', b';', b'|', b'\t', b' '][..]);
    prop_oneof![
        2 => (delimiter, any::<bool>()).prop_map(|(delimiter, has_header)| Style::Csv { delimiter, has_header }),
        1 => any::<bool>().prop_map(|has_header| Style::Tsv { has_header }),
        2 => Just(Style::Json),
        1 => Just(Style::Logfmt),
        1 => Just(Style::Lines),
        1 => Just(Style::Nginx),
        1 => Just(Style::Regex),
        1 => Just(Style::Syslog),
    ]
}

fn source() -> impl Strategy<Value = QueryField> {
    prop_oneof![2 => (0..COLUMNS).prop_map(QueryField::Column), 1 => (0..3_usize).prop_map(QueryField::Group)]
}

fn condition() -> impl Strategy<Value = TableCondition> {
    let operator = || {
        use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        prop::sample::select(&[Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual][..])
    };
    let number = prop::sample::select(&["1", "10", "0.5", "-1", "2ms", "1e3"][..]);
    let text = prop::sample::select(&["a", "bot", "", "é"][..]);
    let pattern = prop::sample::select(&["^a", "[0-9]$", "b", "o."][..]);
    let test = prop_oneof![
        (source(), operator(), number)
            .prop_map(|(field, operator, number)| TableCondition::Number(field, operator, number)),
        (source(), operator(), text)
            .prop_map(|(field, operator, text)| TableCondition::Text(field, operator, text)),
        (source(), operator(), source())
            .prop_map(|(one, operator, other)| TableCondition::Fields(one, operator, other)),
        (source(), pattern, any::<bool>())
            .prop_map(|(field, pattern, wanted)| TableCondition::Match(field, pattern, wanted)),
        source().prop_map(TableCondition::Present),
    ];
    test.prop_recursive(2, 6, 3, |part| {
        prop_oneof![
            part.clone().prop_map(|part| TableCondition::Not(Box::new(part))),
            prop::collection::vec(part.clone(), 2..4).prop_map(TableCondition::All),
            prop::collection::vec(part, 2..4).prop_map(TableCondition::Any),
        ]
    })
}

fn measures() -> impl Strategy<Value = Vec<(Statistic, QueryField)>> {
    let kind = prop_oneof![
        Just(Statistic::Sum),
        Just(Statistic::Mean),
        Just(Statistic::Min),
        Just(Statistic::Max),
        Just(Statistic::Distinct),
        prop::sample::select(&[0, 1, 333, 500, 999, 1000][..]).prop_map(Statistic::Percentile),
    ];
    prop::collection::vec((kind, source()), 1..5)
}

fn sort_by() -> impl Strategy<Value = SortBy> {
    prop_oneof![Just(SortBy::Count), Just(SortBy::Key), (0..4_usize).prop_map(SortBy::Measure)]
}

/// A count of keys of fields.
fn counts() -> impl Strategy<Value = Question> {
    let key = prop::collection::vec(source(), 0..3);
    (key, any::<bool>(), any::<bool>(), sort_by(), any::<bool>(), 0..20_usize, 1..4_u64).prop_map(
        |(key, prefers_positions, missing, sort_by, reverse, number, min_count)| Question {
            prefers_positions,
            missing,
            sort_by,
            reverse,
            number,
            min_count,
            ..question_of(&key)
        },
    )
}

fn with_condition(question: impl Strategy<Value = Question>) -> impl Strategy<Value = Question> {
    (question, condition())
        .prop_map(|(question, condition)| Question { condition: Some(condition), ..question })
}

fn with_measures(question: impl Strategy<Value = Question>) -> impl Strategy<Value = Question> {
    let shares = prop::collection::vec(condition(), 0..3);
    (question, measures(), shares).prop_map(|(question, measures, shares)| Question {
        measures,
        shares,
        ..question
    })
}

fn with_pattern(question: impl Strategy<Value = Question>) -> impl Strategy<Value = Question> {
    (question, 0..PATTERNS.len(), any::<bool>()).prop_map(|(question, pattern, each)| Question {
        pattern: Some(pattern),
        each,
        ..question
    })
}

fn with_edits(question: impl Strategy<Value = Question>) -> impl Strategy<Value = Question> {
    let patterns = || {
        prop::collection::vec(prop::sample::select(&["a", "^a", "[0-9]", "é", "t$", "b.", "bot"][..]), 0..2)
    };
    let edits = prop::sample::select(&[("[0-9]+", "<$0>"), ("^a", "Z"), (" ", "_"), ("(b)(o)", "$2$1")][..]);
    (question, patterns(), patterns(), prop::collection::vec(edits, 0..3), any::<bool>(), any::<bool>())
        .prop_map(|(question, grep, vgrep, edits, replaces_uuids, ignore_case)| Question {
            grep,
            vgrep,
            edits,
            replaces_uuids,
            ignore_case,
            ..question
        })
}

fn block_size() -> impl Strategy<Value = usize> {
    prop_oneof![Just(1), 2..60_usize, 100..5000_usize, Just(1 << 17)]
}

/// Converts an outcome to the form of the plain implementation.
fn found(outcome: Outcome, paths: &[PathBuf]) -> ExpectedAnswer {
    let first = |skipped: &Skipped| {
        let FirstSkipped { place: Place { source, offset, .. }, record, .. } =
            skipped.first.as_ref().expect("the first one");
        First {
            file: paths
                .iter()
                .position(|path| Some(path.as_path()) == source.path())
                .expect("one of the files"),
            offset: *offset,
            text: record.clone(),
        }
    };
    let answer = outcome.answer;
    let reason = |skipped: &Skipped| skipped.first.as_ref()?.cause.as_ref().map(|cause| cause.reason.clone());
    let top = answer.top.into_iter().map(|key| {
        let values = key.values.iter().map(ToString::to_string).collect();
        (key.key, key.fields, key.count, values)
    });
    let values = |left_out: &Option<Skipped>| {
        left_out.as_ref().map(|skipped| (skipped.count, first(skipped), reason(skipped).unwrap_or_default()))
    };
    let absent = answer.absent.into_iter().filter_map(|AbsentField { field, part, .. }| match part {
        QueryPart::Condition { .. } => Some(format!("--where: {field}")),
        QueryPart::Key { skips_all } => (!skips_all).then(|| format!("-f: {field}")),
        QueryPart::Measure(measure) => Some(format!("{measure}: {field}")),
    });
    ExpectedAnswer {
        absent: absent.collect(),
        top: top.collect(),
        distinct: answer.distinct,
        records: answer.records,
        unmatched: answer.unmatched.as_ref().map(|skipped| (skipped.count, first(skipped))),
        skipped: answer.skipped.as_ref().map(|skipped| (skipped.count, first(skipped))),
        malformed: answer.malformed.as_ref().map(|skipped| (skipped.count, first(skipped))),
        not_numbers: values(&answer.not_numbers),
        out_of_range: values(&answer.out_of_range),
        key_names: answer.key_names,
        measure_names: answer.measure_names,
    }
}

fn write_files(directory: &Path, files: &[(Style, Written)]) -> Vec<PathBuf> {
    let path = |(number, (_, written)): (usize, &(Style, Written))| {
        let path = directory.join(number.to_string());
        fs::write(&path, &written.bytes).expect("a file");
        path
    };
    files.iter().enumerate().map(path).collect()
}

/// Compares the answers at all widths with that of the plain implementation. Several formats are recognised.
fn check(files: &[(Style, Written)], question: &Question, block_size: usize) -> Result<(), TestCaseError> {
    let directory = tempdir()?;
    let paths = write_files(directory.path(), files);
    let mut options = question.options(files[0].0);
    if files.len() > 1 {
        (options.input, options.has_header) = (Some(InputFormat::Auto), true);
    }
    let expected = oracle::answer(files, question);
    let query = Query::new(&options).map_err(|error| TestCaseError::fail(format!("{error}: {options:?}")))?;
    let absent = top(&Inputs::new(&paths), &ScanOptions::default(), &query).answer.absent;
    for width in [1, 2, 3, 8, 64] {
        let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
        let outcome = top(&Inputs::new(&paths), &scan, &query);
        prop_assert!(outcome.problems.is_empty(), "{:?} {options:?}", outcome.problems);
        // With their hints, also at other sizes of blocks.
        prop_assert_eq!(&outcome.answer.absent, &absent);
        prop_assert_eq!(found(outcome, &paths), expected.clone(), "width {}, {:?}", width, options);
    }
    Ok(())
}

fn check_one(
    style: Style,
    rows: &[TableRow],
    choices: u64,
    question: &Question,
    block_size: usize,
) -> Result<(), TestCaseError> {
    check(&[(style, style.write(rows, Choices(choices)))], question, block_size)
}

proptest! {
    #[test]
    fn fields_of_every_format_are_keys(
        style in style(), rows in rows(), choices: u64, question in counts(), block_size in block_size(),
    ) {
        check_one(style, &rows, choices, &question, block_size)?;
    }

    #[test]
    fn conditions_select_records_of_every_format(
        style in style(), rows in rows(), choices: u64, question in with_condition(counts()), block_size in block_size(),
    ) {
        check_one(style, &rows, choices, &question, block_size)?;
    }

    #[test]
    fn fields_of_every_format_are_measured(
        style in style(), rows in rows(), choices: u64, question in with_measures(counts()), block_size in block_size(),
    ) {
        check_one(style, &rows, choices, &question, block_size)?;
    }

    #[test]
    fn matches_in_records_of_every_format_are_keys(
        style in style(), rows in rows(), choices: u64, question in with_pattern(counts()), block_size in block_size(),
    ) {
        check_one(style, &rows, choices, &question, block_size)?;
    }

    #[test]
    fn records_are_filtered_and_keys_are_edited(
        style in style(), rows in rows(), choices: u64, question in with_edits(counts()), block_size in block_size(),
    ) {
        check_one(style, &rows, choices, &question, block_size)?;
    }

    #[test]
    fn all_parts_of_a_query_work_together(
        style in style(),
        rows in rows(),
        choices: u64,
        question in with_edits(with_measures(with_condition(with_pattern(counts())))),
        block_size in block_size(),
    ) {
        check_one(style, &rows, choices, &question, block_size)?;
    }
}

/// Rows of values that no format and no recognition has trouble with.
fn tame_rows() -> impl Strategy<Value = Vec<TableRow>> {
    let word = || {
        prop::sample::select(&["ann", "bot", "cat", "/a/b", "id-7"][..])
            .prop_map(|word| Some(word.to_owned()))
    };
    let number = || (0..1000_u32).prop_map(|number| Some(number.to_string()));
    let row = (word(), number(), word(), number()).prop_map(|(a, b, c, d)| TableRow::Values([a, b, c, d]));
    prop::collection::vec(row, 3..20)
}

/// Styles whose columns have the same names.
fn recognizable_style() -> impl Strategy<Value = Style> {
    let delimiter = prop::sample::select(&[b',', b';', b'|'][..]);
    prop_oneof![
        delimiter.prop_map(|delimiter| Style::Csv { delimiter, has_header: true }),
        Just(Style::Tsv { has_header: true }),
        Just(Style::Json),
        Just(Style::Logfmt),
    ]
}

/// A question about the columns that all recognisable formats have with the same name.
fn common_columns(question: Question) -> Question {
    let common = |source: QueryField| match source {
        QueryField::Column(column) => QueryField::Column(column % 3),
        QueryField::Group(group) => QueryField::Group(group),
    };
    let key = question.key.iter().map(|&source| common(source)).collect();
    let measures = question.measures.iter().map(|&(kind, source)| (kind, common(source))).collect();
    Question { key, measures, shares: Vec::new(), prefers_positions: false, ..question }
}

proptest! {
    #[test]
    fn files_of_several_formats_are_recognised(
        files in prop::collection::vec((recognizable_style(), tame_rows(), any::<u64>()), 2..5),
        question in with_pattern(with_measures(counts())).prop_map(common_columns),
        block_size in block_size(),
    ) {
        let write = |(style, rows, choices): &(Style, Vec<TableRow>, u64)| (*style, style.write(rows, Choices(*choices)));
        let files: Vec<(Style, Written)> = files.iter().map(write).collect();
        check(&files, &question, block_size)?;
    }
}

fn question_of(key: &[QueryField]) -> Question {
    Question {
        key: key.to_vec(),
        prefers_positions: false,
        pattern: None,
        each: false,
        missing: false,
        condition: None,
        measures: Vec::new(),
        shares: Vec::new(),
        grep: Vec::new(),
        vgrep: Vec::new(),
        edits: Vec::new(),
        replaces_uuids: false,
        ignore_case: false,
        sort_by: SortBy::Count,
        reverse: false,
        number: 10,
        min_count: 1,
    }
}

fn values(list: [&str; COLUMNS]) -> TableRow {
    TableRow::Values(list.map(|value| Some(value.to_owned())))
}

#[test]
fn a_malformed_record_has_no_key_even_if_the_expression_matches_it() -> Result<(), TestCaseError> {
    let rows =
        [values(["7", "1", "", ""]), TableRow::Malformed, values(["7", "2", "", ""]), TableRow::Malformed];
    let question = Question {
        pattern: Some(0),
        measures: vec![(Statistic::Sum, QueryField::Column(1))],
        ..question_of(&[QueryField::Group(0)])
    };
    for style in [Style::Json, Style::Logfmt, Style::Syslog] {
        let files = [(style, style.write(&rows, Choices(1)))];
        let expected = oracle::answer(&files, &question);
        assert_eq!(expected.malformed.as_ref().map(|(count, _)| *count), Some(2));
        check(&files, &question, 1)?;
        check(&files, &question, 1 << 17)?;
    }
    Ok(())
}

#[test]
fn a_condition_may_name_a_group_by_its_name_and_number() -> Result<(), TestCaseError> {
    let rows = [values(["ann", "1", "", ""]), values(["bot5", "1", "", ""])];
    let written = Style::Lines.write(&rows, Choices(0));
    let directory = tempdir()?;
    let path = directory.path().join("lines");
    fs::write(&path, &written.bytes)?;
    let options = QueryOptions::default()
        .extract(vec!["(?P<w>[a-z]+)(?P<n>[0-9]+)?".to_owned()])
        .condition(Some("w == \"bot\" && $1 ~ \"o\" && $2 > 4 && n < 6".to_owned()));
    let outcome = top(&Inputs::new([&path]), &ScanOptions::default(), &Query::new(&options).expect("valid"));
    let found: Vec<_> = outcome.answer.top.iter().map(|key| key.fields.clone()).collect();
    assert_eq!(found, [[b"bot".to_vec(), b"5".to_vec()]]);
    Ok(())
}

/// A field is a column: thousands would be slow, and billions would not fit into memory.
#[test]
fn a_range_of_very_many_fields_is_refused() {
    let options = |fields: &str| {
        QueryOptions::default().fields(fields.parse().expect("a list")).missing(Some(String::new()))
    };
    let error = Query::new(&options("1-2000000000")).expect_err("an error").to_string();
    assert!(error.starts_with("fields 1-2000000000: 1000 fields at most"), "{error}");
    assert!(Query::new(&options("-1000--1")).is_ok());
    assert!(Query::new(&options("1-999,3,4")).is_err());
    let plain = options("1-2000000000").missing(None);
    assert!(Query::new(&plain).is_ok());
}

/// Once for each match, it would take minutes.
#[test]
fn a_record_with_a_million_matches_is_examined_once() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.json");
    let matches = 1_000_000;
    let record = |number: &str| format!("{{\"t\":\"{}\",\"n\":{number}}}\n", "a,".repeat(matches));
    fs::write(&path, record("1") + "{\"n\":1\n" + &record("2")).expect("a file");
    let options = QueryOptions::default()
        .input(Some(InputFormat::Json))
        .extract(vec!["a".to_owned()])
        .each(true)
        .condition(Some("n > 1".to_owned()))
        .measures(vec![Measure::Field { kind: MeasureKind::Sum, field: Field::named("n") }]);
    let query = Query::new(&options).expect("a valid query");
    let answer = top(&Inputs::new([&path]), &ScanOptions::default(), &query).answer;
    assert_eq!((answer.records, answer.top[0].values[0].to_string()), (1_000_000, "2000000".to_owned()));
    assert_eq!(answer.malformed, None, "no match in it");
}
