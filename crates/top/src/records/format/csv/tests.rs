use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::cells::{Malformed, bytes_of};

/// The value of a field, or the position of a quote that is never closed.
type FieldValue = Result<Vec<u8>, usize>;

/// The reference implementation: the values of all fields of a record, byte by byte.
fn values(dialect: Dialect, record: &[u8]) -> Vec<FieldValue> {
    enum Reading {
        Start,
        Unquoted,
        /// With the position of the opening quote.
        Quoted(usize),
        ClosingQuote(usize),
    }
    let (mut values, mut value, mut state) = (Vec::new(), Vec::new(), Reading::Start);
    for (at, &byte) in record.iter().enumerate() {
        let is_quote = dialect.has_quotes && byte == b'"';
        state = match state {
            Reading::Start if is_quote => Reading::Quoted(at),
            Reading::Quoted(open) if is_quote => Reading::ClosingQuote(open),
            Reading::Quoted(open) => {
                value.push(byte);
                Reading::Quoted(open)
            }
            Reading::ClosingQuote(open) if is_quote => {
                value.push(byte);
                Reading::Quoted(open)
            }
            Reading::Start | Reading::Unquoted | Reading::ClosingQuote(_) if byte == dialect.delimiter => {
                values.push(Ok(std::mem::take(&mut value)));
                Reading::Start
            }
            Reading::Start | Reading::Unquoted | Reading::ClosingQuote(_) => {
                value.push(byte);
                Reading::Unquoted
            }
        };
    }
    match state {
        _ if record.is_empty() => {}
        Reading::Quoted(open) => values.push(Err(open)),
        _ => values.push(Ok(value)),
    }
    values
}

/// The wanted values of a record by the reference implementation, or the position and the reason of a violation.
fn wanted_values(
    (dialect, columns): (Dialect, Option<usize>),
    wanted: &[i32],
    record: &[u8],
) -> Result<Vec<Option<Vec<u8>>>, (usize, &'static str)> {
    let all = values(dialect, record);
    let index = |&position: &i32| match columns {
        _ if position > 0 => Some(position as usize - 1),
        _ => columns.unwrap_or(all.len()).checked_sub(position.unsigned_abs() as usize),
    };
    let is_from_end = columns.is_none() && wanted.iter().any(|&position| position < 0);
    let last = wanted.iter().filter_map(index).max();
    let examined = if is_from_end { all.len() } else { last.map_or(0, |last| last + 1) };
    if let Some(open) = all.iter().take(examined).find_map(|value| value.as_ref().err()) {
        return Err((*open, "unclosed quote"));
    }
    if columns.is_some() && !record.is_empty() && all.len() < examined {
        return Err((record.len(), "too few columns"));
    }
    let value = |position| all.get(index(position)?)?.clone().ok();
    Ok(wanted.iter().map(value).collect())
}

fn header(dialect: Dialect, columns: usize) -> Header {
    let names: Vec<Vec<u8>> = (0..columns).map(|column| format!("c{column}").into_bytes()).collect();
    Header::parse(dialect, &names.join(&dialect.delimiter)).expect("a header")
}

fn positions(positions: &[i32]) -> Vec<Field> {
    positions.iter().map(|&position| Field::Position(position)).collect()
}

fn extract(csv: &CsvRecords, fields: usize, text: &[u8], records: &[Span]) -> Cells {
    let mut cells = Cells::default();
    cells.reset(fields);
    csv.extract(text, records, &mut cells);
    cells
}

/// Compares the cells of all records with the reference implementation.
fn check(dialect: Dialect, columns: Option<usize>, wanted: &[i32], text: &[u8], records: &[Span]) {
    let header = columns.map(|columns| header(dialect, columns));
    let csv = CsvRecords::new(dialect, header.as_ref(), &positions(wanted)).expect("known columns");
    let cells = extract(&csv, wanted.len(), text, records);
    let mut malformed = cells.malformed().iter();
    for (index, &record) in records.iter().enumerate() {
        let expected = wanted_values((dialect, columns), wanted, bytes_of(text, record));
        let expected = expected.unwrap_or_else(|(at, reason)| {
            let (record, at) = (index as u32, (record.0 + at) as u32);
            assert_eq!(malformed.next(), Some(&Malformed { record, at, reason }));
            vec![None; wanted.len()]
        });
        for (field, expected) in expected.iter().enumerate() {
            let cell = cells.column(field)[index];
            assert_eq!(cells.bytes(text, cell), expected.as_deref(), "column {} of {index}", wanted[field]);
        }
    }
    assert_eq!(malformed.next(), None);
    assert!((0..wanted.len()).all(|field| cells.column(field).len() == records.len()));
}

fn dialects() -> impl Strategy<Value = Dialect> {
    let csv =
        select(&b",,,;|\t \0\xFF"[..]).prop_map(|delimiter| Dialect::csv(delimiter).expect("a delimiter"));
    prop_oneof![4 => csv, 1 => Just(Dialect::TSV)]
}

/// A field as a writer of CSV writes it.
fn written_fields(delimiter: u8) -> impl Strategy<Value = Vec<u8>> {
    let data = || prop::collection::vec(select(vec![b'a', b'\n', delimiter, b'"', 0, 0xFF]), 0..12);
    let long = (50..140_usize).prop_map(|length| vec![b'x'; length]);
    let plain = data().prop_map(move |mut data| {
        data.retain(|&byte| byte != delimiter && byte != b'"');
        data
    });
    let quoted = data().prop_map(|data| {
        let doubled = data.iter().flat_map(|&byte| if byte == b'"' { vec![byte; 2] } else { vec![byte] });
        std::iter::once(b'"').chain(doubled).chain([b'"']).collect()
    });
    prop_oneof![8 => plain, 6 => quoted, 2 => long]
}

/// Records as programs write them, records of many quotes and delimiters, and any bytes.
fn records(delimiter: u8) -> impl Strategy<Value = Vec<u8>> {
    let written = prop::collection::vec(written_fields(delimiter), 0..24)
        .prop_map(move |fields| fields.join(&delimiter));
    let piece = prop_oneof![
        6 => select(vec![b'a', b'"', b'"', delimiter, delimiter, b'\n', b'\r', 0, 0xFF]).prop_map(|byte| vec![byte]),
        1 => (1..130_usize).prop_map(|length| vec![b'x'; length]),
    ];
    let strange = prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat());
    let flawed = (
        written_fields(delimiter),
        prop::collection::vec(written_fields(delimiter), 0..24),
        any::<prop::sample::Index>(),
    );
    let flawed = flawed.prop_map(move |(flaw, mut fields, place)| {
        let place = place.index(fields.len() + 1);
        fields.insert(place, [b"a", &flaw[..], b"\""].concat());
        fields.join(&delimiter)
    });
    prop_oneof![4 => written, 2 => flawed, 3 => strange, 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

/// A text of records that other bytes may separate.
fn texts(delimiter: u8) -> impl Strategy<Value = (Vec<u8>, Vec<Span>)> {
    let separators = select(vec![&b"\n"[..], b"\r\n", b"", b"\"", b",\"\n\"\"", b"x,y\n"]);
    let tail = (0..130_usize).prop_map(|length| vec![b'"'; length]);
    (prop::collection::vec((records(delimiter), separators), 0..12), tail).prop_map(|(records, tail)| {
        let (mut text, mut spans) = (Vec::new(), Vec::new());
        for (record, separator) in records {
            spans.push((text.len(), text.len() + record.len()));
            text.extend_from_slice(&record);
            text.extend_from_slice(separator);
        }
        text.extend_from_slice(&tail);
        (text, spans)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn cells_without_a_header_are_those_found_byte_by_byte(
        (dialect, (text, records)) in dialects().prop_flat_map(|dialect| (Just(dialect), texts(dialect.delimiter))),
        wanted in prop::collection::vec(prop_oneof![3 => 1..12_i32, 1 => 12..70_i32, 1 => -12..0_i32], 0..6),
    ) {
        check(dialect, None, &wanted, &text, &records);
    }

    #[test]
    fn cells_under_a_header_are_those_found_byte_by_byte(
        (dialect, (text, records)) in dialects().prop_flat_map(|dialect| (Just(dialect), texts(dialect.delimiter))),
        (columns, wanted) in (1..20_i32).prop_flat_map(|columns| {
            let position = (1..=columns, any::<bool>());
            let position = position.prop_map(|(place, is_from_end)| if is_from_end { -place } else { place });
            (Just(columns), prop::collection::vec(position, 0..6))
        }),
    ) {
        check(dialect, Some(columns as usize), &wanted, &text, &records);
    }

    #[test]
    fn the_values_of_closed_records_are_those_of_the_csv_crate(
        (dialect, record) in dialects().prop_flat_map(|dialect| (Just(dialect), records(dialect.delimiter))),
    ) {
        let ours = values(dialect, &record);
        prop_assume!(ours.iter().all(Result::is_ok) && !record.starts_with(b"\xEF\xBB\xBF"));
        // A line feed out of quotes is not in any record: the crate must not end a record there.
        let absent = (0..=255).find(|byte| !record.contains(byte) && ![dialect.delimiter, b'"'].contains(byte));
        let mut reader = ::csv::ReaderBuilder::new()
            .delimiter(dialect.delimiter)
            .quoting(dialect.has_quotes)
            .terminator(::csv::Terminator::Any(absent.expect("a byte that the record lacks")))
            .flexible(true)
            .has_headers(false)
            .from_reader(&record[..]);
        let records: Vec<_> = reader.byte_records().map(|record| record.expect("a record")).collect();
        let theirs: Vec<&[u8]> = records.iter().flatten().collect();

        let wanted: Vec<i32> = (1..=theirs.len() as i32 + 1).collect();
        let csv = CsvRecords::new(dialect, None, &positions(&wanted)).expect("positions");
        let cells = extract(&csv, wanted.len(), &record, &[(0, record.len())]);
        let found = |field: usize| cells.bytes(&record, cells.column(field)[0]);
        prop_assert_eq!((0..theirs.len()).map(found).collect::<Option<Vec<_>>>(), Some(theirs.clone()));
        prop_assert_eq!(found(theirs.len()), None);
        prop_assert!(cells.malformed().is_empty());
    }

    #[test]
    fn any_bytes_are_a_header(dialect in dialects(), record in prop::collection::vec(any::<u8>(), 0..200), name: String) {
        if let Ok(header) = Header::parse(dialect, &record) {
            let _ = CsvRecords::new(dialect, Some(&header), &[Field::named(&name)]);
        }
    }
}

const COMMA: Dialect = Dialect { delimiter: b',', has_quotes: true };

/// The cells of a single record.
fn cells_of(dialect: Dialect, wanted: &[i32], record: &str) -> Vec<Cell> {
    let csv = CsvRecords::new(dialect, None, &positions(wanted)).expect("positions");
    let cells = extract(&csv, wanted.len(), record.as_bytes(), &[(0, record.len())]);
    (0..wanted.len()).map(|field| cells.column(field)[0]).collect()
}

#[test]
fn only_values_that_differ_from_their_bytes_are_decoded() {
    let record = r#"a,"b c","d""e","f"g,"",h"i,"#;
    let cells = cells_of(COMMA, &[1, 2, 3, 4, 5, 6, 7], record);
    let raw = |start, end| Cell::Raw(start, end);
    assert_eq!(cells[..2], [raw(0, 1), raw(3, 6)]);
    assert_eq!(cells[2..4], [Cell::Decoded(0, 3), Cell::Decoded(3, 5)]);
    assert_eq!(cells[4..], [raw(21, 21), raw(23, 26), raw(27, 27)]);
}

#[test]
fn tabs_always_separate_tsv() {
    let cells = cells_of(Dialect::TSV, &[1, 2, 3], "\"a\tb\"\t,");
    assert_eq!(cells, [Cell::Raw(0, 2), Cell::Raw(3, 5), Cell::Raw(6, 7)]);
}

#[test]
fn an_empty_record_has_no_fields_and_is_not_malformed() {
    let header = Header::parse(COMMA, b"a,b").expect("a header");
    for (header, wanted) in [(Some(&header), [1, 2]), (None, [1, -1])] {
        let csv = CsvRecords::new(COMMA, header, &positions(&wanted)).expect("known columns");
        let cells = extract(&csv, 2, b"x,y\n\nz,w", &[(0, 3), (4, 4), (5, 8)]);
        assert_eq!(cells.column(0), [Cell::Raw(0, 1), Cell::Missing, Cell::Raw(5, 6)]);
        assert_eq!(cells.column(1), [Cell::Raw(2, 3), Cell::Missing, Cell::Raw(7, 8)]);
        assert!(cells.malformed().is_empty());
    }
}

#[test]
fn what_follows_the_last_wanted_column_is_not_examined() {
    let header = Header::parse(COMMA, b"a,b,c").expect("a header");
    let record = b"1,2,\"3";
    let malformed = |field: &str| {
        let csv = CsvRecords::new(COMMA, Some(&header), &[Field::named(field)]).expect("a column");
        let cells = extract(&csv, 1, record, &[(0, record.len()), (0, 3)]);
        cells
            .malformed()
            .iter()
            .map(|malformed| (malformed.record, malformed.at, malformed.reason))
            .collect::<Vec<_>>()
    };
    assert_eq!(malformed("b"), []);
    assert_eq!(malformed("c"), [(0, 4, "unclosed quote"), (1, 3, "too few columns")]);
}

#[test]
fn a_malformed_record_has_no_value() {
    let header = Header::parse(COMMA, b"a,b,c").expect("a header");
    let csv = CsvRecords::new(COMMA, Some(&header), &positions(&[1, 1, 3])).expect("columns");
    let cells = extract(&csv, 3, b"1,2", &[(0, 3)]);
    assert!((0..3).all(|field| cells.column(field) == [Cell::Missing]));
}

#[test]
fn cells_are_appended() {
    let csv = CsvRecords::new(COMMA, None, &positions(&[2, -1, 2])).expect("positions");
    let mut cells = Cells::default();
    cells.reset(3);
    csv.extract(b"a,b,c", &[(0, 5)], &mut cells);
    csv.extract(b"d,e,\"", &[(0, 5), (0, 3)], &mut cells);
    assert_eq!(cells.column(0), [Cell::Raw(2, 3), Cell::Missing, Cell::Raw(2, 3)]);
    assert_eq!(cells.column(1), [Cell::Raw(4, 5), Cell::Missing, Cell::Raw(2, 3)]);
    assert_eq!(cells.column(2), cells.column(0));
    assert_eq!(cells.malformed(), [Malformed { record: 1, at: 4, reason: "unclosed quote" }]);
}

#[test]
fn names_are_those_of_the_header() {
    let header = Header::parse(COMMA, b"id,\"user, \"\"agent\"\"\",status,id,").expect("a header");
    let record = b"1,2,3,4,5";
    let value = |field: Field| {
        let csv = CsvRecords::new(COMMA, Some(&header), &[field]).expect("a column");
        let cells = extract(&csv, 1, record, &[(0, record.len())]);
        cells.bytes(record, cells.column(0)[0]).map(<[u8]>::to_vec)
    };
    assert_eq!(value(Field::named("user, \"agent\"")).as_deref(), Some(&b"2"[..]));
    assert_eq!(value(Field::named("status")).as_deref(), Some(&b"3"[..]));
    assert_eq!(value(Field::named("id")).as_deref(), Some(&b"1"[..]));
    assert_eq!(value(Field::Position(4)).as_deref(), Some(&b"4"[..]));
    assert_eq!(value(Field::Position(-5)).as_deref(), Some(&b"1"[..]));
}

#[test]
fn a_negative_position_counts_from_the_last_column_of_the_header() {
    let header = Header::parse(COMMA, b"a,b").expect("a header");
    let csv = CsvRecords::new(COMMA, Some(&header), &positions(&[-1])).expect("a column");
    assert_eq!(extract(&csv, 1, b"1,2,3", &[(0, 5)]).column(0), [Cell::Raw(2, 3)]);
    assert_eq!(cells_of(COMMA, &[-1], "1,2,3"), [Cell::Raw(4, 5)]);
}

#[test]
fn unknown_columns_are_refused_with_the_nearest_names() {
    let error = |header: Option<&str>, field: Field| {
        let header = header.map(|header| Header::parse(COMMA, header.as_bytes()).expect("a header"));
        CsvRecords::new(COMMA, header.as_ref(), &[field]).expect_err("an error").to_string()
    };
    let known = Some("id,status,state,path,status");
    assert_eq!(error(known, Field::named("statsu")), "no column 'statsu'; did you mean 'status' or 'state'?");
    assert_eq!(error(known, Field::named("PATH")), "no column 'PATH'; did you mean 'path'?");
    assert_eq!(error(Some("a b\t,c"), Field::named("x")), r"no column 'x'; the columns are 'a b\t', 'c'");
    assert_eq!(error(Some(""), Field::named("x")), "no column 'x'; the header is empty");
    assert_eq!(
        error(Some("0,1,2,3,4,5,6,7,8,9,10"), Field::named("x")),
        "no column 'x'; the 11 columns are '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', ...",
    );
    assert_eq!(error(Some("a,b"), Field::Position(3)), "no column 3; the header has 2");
    assert_eq!(error(Some("a,b"), Field::Position(-3)), "no column -3; the header has 2");
    assert_eq!(error(None, Field::named("x")), "no column 'x'; without a header, columns have only numbers");
    assert_eq!(
        Header::parse(COMMA, b"a,\"b"),
        Err(FormatError::Other("unclosed quote in the header".to_owned()))
    );
}

#[test]
fn quotes_and_line_ends_are_no_delimiters() {
    let error = |delimiter| Dialect::csv(delimiter).expect_err("an error").to_string();
    assert_eq!(error(b'"'), "'\"' cannot be a delimiter");
    assert_eq!(error(b'\n'), r"'\n' cannot be a delimiter");
    assert_eq!(Dialect::csv(b','), Ok(COMMA));
}

#[test]
fn windows_of_64_bytes_hide_nothing() {
    for length in 55..75 {
        let filler = "x".repeat(length);
        for end in ["", ",", "\"", ",\"a,b\"", ",\"\"\"\"", ",\"\"\"", ",\"a\"b", "\"a,b\"", ",a\"b,\"c\""] {
            for record in [format!("{filler}{end}"), format!("\"{filler}\"{end}"), format!("\"{filler}{end}")]
            {
                for wanted in [[1, 2, 3], [1, 2, -1]] {
                    let text = record.as_bytes();
                    check(COMMA, None, &wanted, text, &[(0, text.len())]);
                    check(COMMA, Some(4), &wanted, text, &[(0, text.len())]);
                }
            }
        }
    }
}
