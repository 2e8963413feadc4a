mod reference;
mod valid;

use proptest::prelude::*;
use proptest::sample::select;

use self::valid::Document;
use super::*;
use crate::query::field::Step;

type Extracted = Result<Vec<Option<Vec<u8>>>, (usize, &'static str)>;

/// Extracts fields from the lines of a text.
fn extract_lines(fields: &[Field], text: &[u8]) -> Vec<Extracted> {
    extract(fields, text, &lines(text))
}

/// Extracts fields from records of a text.
fn extract(fields: &[Field], text: &[u8], records: &[Span]) -> Vec<Extracted> {
    let mut cells = Cells::default();
    cells.reset(fields.len());
    let json = Json::new(fields).expect("fields with names");
    json.extract(&mut JsonScratch::default(), text, records, &mut cells);
    let malformed = |row| cells.malformed().iter().find(|malformed| malformed.record as usize == row);
    let rows = records.iter().enumerate().map(|(row, _)| {
        let values: Vec<_> = (0..fields.len())
            .map(|field| cells.bytes(text, cells.column(field)[row]).map(Vec::from))
            .collect();
        let Some(malformed) = malformed(row) else { return Ok(values) };
        assert!(values.iter().all(Option::is_none), "a malformed record with values");
        Err((malformed.at as usize, malformed.reason))
    });
    (0..fields.len()).for_each(|field| assert_eq!(cells.column(field).len(), records.len()));
    rows.collect()
}

fn lines(text: &[u8]) -> Vec<Span> {
    let mut start = 0;
    let mut lines = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        lines.push((start, start + line.len()));
        start += line.len() + 1;
    }
    lines
}

fn paths(fields: &[Field]) -> Vec<Vec<Step>> {
    let path = |field: &Field| match field {
        Field::Named(name) => name.path.clone(),
        Field::Position(_) => panic!("a position"),
    };
    fields.iter().map(path).collect()
}

/// The values of a list of fields in a record, separated by `|`, with `-` for missing ones; or position and reason.
fn shown(fields: &str, record: &str) -> String {
    let rows = extract_lines(&Field::parse_list(fields).expect("fields"), record.as_bytes());
    match &rows[..] {
        [Ok(values)] => {
            let values = values.iter().map(|value| match value {
                Some(value) => String::from_utf8_lossy(value).into_owned(),
                None => "-".to_owned(),
            });
            values.collect::<Vec<_>>().join("|")
        }
        [Err((at, reason))] => format!("{at}: {reason}"),
        _ => panic!("more than one line"),
    }
}

fn keys() -> impl Strategy<Value = &'static str> {
    select(&["a", "b", "c", "é", "", "key\"\\", "a-longer-key", "👍"][..])
}

fn fields() -> impl Strategy<Value = Vec<Field>> {
    let step = prop_oneof![3 => keys().prop_map(|key| Step::Key(key.to_owned())), 1 => (0..4_usize).prop_map(Step::Index)];
    let path = prop::collection::vec(step, 1..4);
    let field = path.prop_map(|path| Field::Named(crate::query::field::Name { text: String::new(), path }));
    prop_oneof![4 => prop::collection::vec(field.clone(), 1..5), 1 => prop::collection::vec(field, 8..30)]
}

/// Text of a string of valid JSON, with quotes.
fn string(text: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (text, 0..4).prop_map(|(text, style)| {
        let quoted = serde_json::to_string(&text).expect("a string");
        let escape = |unit: u16| format!("\\u{unit:04x}");
        match style {
            0 => format!("\"{}\"", text.encode_utf16().map(escape).collect::<String>()),
            1 => quoted.replace('/', "\\/"),
            _ => quoted,
        }
    })
}

fn space() -> impl Strategy<Value = String> {
    prop_oneof![6 => Just(String::new()), 3 => Just(" ".to_owned()), 1 => "[ \t\r]{0,5}", 1 => " {60,70}"]
}

fn container(
    brackets: [char; 2],
    items: impl Strategy<Value = String>,
    length: usize,
) -> impl Strategy<Value = String> {
    (prop::collection::vec((space(), items, space()), 0..length), space()).prop_map(move |(items, space)| {
        let items =
            items.into_iter().map(|(before, item, after)| before + &item + &after).collect::<Vec<_>>();
        let inside = if items.is_empty() { space } else { items.join(",") };
        format!("{}{inside}{}", brackets[0], brackets[1])
    })
}

fn object(value: impl Strategy<Value = String>, length: usize) -> impl Strategy<Value = String> {
    let member = (string(keys().prop_map(str::to_owned)), space(), space(), value);
    container(
        ['{', '}'],
        member.prop_map(|(key, before, after, value)| key + &before + ":" + &after + &value),
        length,
    )
}

fn document() -> impl Strategy<Value = String> {
    let text =
        prop_oneof!["[a-z{}\\[\\],:\"\\\\/ ]{0,20}", "\\PC{0,9}", "[a\\\\\"]{0,150}", "[x{}]{120,130}"];
    let leaf = prop_oneof![
        2 => string(text),
        2 => select(&["0", "-1", "17", "2.5", "1e3", "true", "false", "null", "{}", "[]"][..]).prop_map(str::to_owned),
    ];
    let value = leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![container(['[', ']'], inner.clone(), 6), object(inner, 6)]
    });
    (space(), object(value, 8), space()).prop_map(|(before, object, after)| before + &object + &after)
}

/// Documents in which some bytes were replaced, removed or inserted.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => select(b"{}[]:,\"\\\\\\ a1ut\r".to_vec()), 1 => any::<u8>().prop_filter("a line", |&byte| byte != b'\n')
    ];
    let damage = (any::<prop::sample::Index>(), byte, 0..3);
    (document(), prop::collection::vec(damage, 0..4)).prop_map(|(document, damages)| {
        let mut bytes = document.into_bytes();
        for (place, byte, kind) in damages {
            let place = place.index(bytes.len() + 1);
            match kind {
                0 => bytes.insert(place, byte),
                1 => drop((place < bytes.len()).then(|| bytes.remove(place))),
                _ => bytes.iter_mut().skip(place).take(1).for_each(|other| *other = byte),
            }
        }
        bytes
    })
}

/// Beginnings of documents.
fn truncated() -> impl Strategy<Value = Vec<u8>> {
    (document(), any::<prop::sample::Index>()).prop_map(|(document, end)| {
        let mut bytes = document.into_bytes();
        bytes.truncate(end.index(bytes.len() + 1));
        bytes
    })
}

fn any_record() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => damaged(),
        2 => truncated(),
        4 => pieces(),
        1 => prop::collection::vec(any::<u8>(), 0..99),
    ]
}

/// Pieces of JSON in any order.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = select(
        &[
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\"",
            "\\",
            "\\\\\\",
            "{\"a\":",
            "\"b\":[",
            "\"a\":{",
            "\"c\":1,",
            "\"\\u0061\":",
            "\"\\x",
            "\"\\ud800\\udc00",
            "\\udc00\",",
            "\"x\\\"y\"",
            "null",
            "1",
            " ",
            "\t",
            "\0",
            "[[],{\"]\":1}]",
            "\"}\",",
            "\\u12",
            "0123456789012345678901234567890123456789012345678901234567890123456789",
        ][..],
    );
    prop::collection::vec(piece, 0..25)
        .prop_map(|pieces| ["{\"a\":", &pieces.concat()].concat()[5 * (pieces.len() & 1)..].into())
}

/// The value of valid text in the cell is that of the document.
fn is_value(cell: Option<&[u8]>, document: Option<&Document>) -> bool {
    match (cell, document) {
        (None, None | Some(Document::Null)) => true,
        (Some(cell), Some(Document::String(string))) => cell == string.as_bytes(),
        (Some(cell), Some(document)) => {
            serde_json::from_slice::<Document>(cell).is_ok_and(|cell| cell == *document)
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_text_gives_what_the_reference_gives(
        records in prop::collection::vec((any_record(), select(b"\n\"\\}],:1".to_vec())), 1..4),
        fields in fields(),
    ) {
        let mut text = Vec::new();
        let mut spans = Vec::new();
        for (record, byte_after) in records {
            spans.push((text.len(), text.len() + record.len()));
            text.extend(record);
            text.push(byte_after);
        }
        let wanted = paths(&fields);
        let expected: Vec<Extracted> =
            spans.iter().map(|&record| reference::extract(&text, record, &wanted)).collect();
        prop_assert_eq!(extract(&fields, &text, &spans), expected);
    }

    #[test]
    fn valid_documents_give_what_serde_json_gives(
        documents in prop::collection::vec(document(), 1..4),
        fields in fields(),
    ) {
        let rows = extract_lines(&fields, documents.join("\n").as_bytes());
        for (text, row) in documents.iter().zip(rows) {
            let document: Document = serde_json::from_str(text).expect("a valid document");
            let row = row.expect("a valid record");
            for (cell, path) in row.iter().zip(paths(&fields)) {
                prop_assert!(is_value(cell.as_deref(), document.at(&path)), "{:?} {:?} {}", path, cell, text);
            }
        }
    }
}

#[test]
fn values_are_strings_without_quotes_and_all_else_as_it_is_written() {
    let record =
        r#" { "s" : "text", "n":-1.50e3 ,"t":true,"z":null, "o":{"a": [1, "}"]} , "l" : [ ] , "e":"" } "#;
    assert_eq!(shown("s,n,t,z,o,l,e,x", record), r#"text|-1.50e3|true|-|{"a": [1, "}"]}|[ ]||-"#);
}

#[test]
fn null_is_a_missing_value() {
    let record = r#"{"a":null,"b":[null, null ],"c":{"d":null},"e":"null","f":null,"f":1,"g":nulls,"h":n}"#;
    assert_eq!(shown("a,b[0],b[1],c.d,f,a.x,a[0]", record), "-|-|-|-|-|-|-");
    assert_eq!(shown("b,c,e,g,h", record), r#"[null, null ]|{"d":null}|null|nulls|n"#);
    assert_eq!(shown("a,z", r#"{"a":null"#), "9: expected ',' or a closing bracket after a value");
}

#[test]
fn paths_lead_into_objects_and_arrays() {
    let record = r#"{"a":[{"b":1},[2,3],"x"],"c":{"d":{"e":4}}}"#;
    assert_eq!(shown("a[0].b,a[1][1],a[2],c.d.e,c.d", record), r#"1|3|x|4|{"e":4}"#);
    assert_eq!(shown("a[3],a.b,a[0][0],c[0],c.d.e.f,c.x,a[1].b", record), "-|-|-|-|-|-|-");
    assert_eq!(shown("c,c.d.e,a,a[1],c.d.e", record), r#"{"d":{"e":4}}|4|[{"b":1},[2,3],"x"]|[2,3]|4"#);
}

#[test]
fn the_first_of_equal_keys_counts() {
    assert_eq!(shown("a,b", r#"{"a":1,"a":2,"b":3}"#), "1|3");
    assert_eq!(shown("a.b,c", r#"{"a":{"x":1},"a":{"b":2},"c":3}"#), "-|3");
    assert_eq!(shown("a.b,c", r#"{"a":{"b":1,"b":2},"\u0061":{"b":3},"c":4}"#), "1|4");
}

#[test]
fn many_members_of_an_object_may_be_wanted() {
    let numbers: Vec<usize> = (0..50).map(|number| number * 37 % 50).collect();
    let fields = numbers.iter().map(|number| format!("o.k{number}")).collect::<Vec<_>>().join(",");
    let members = (0..60).map(|number| format!("\"k{number}\":{number}")).collect::<Vec<_>>().join(",");
    let expected = numbers.iter().map(usize::to_string).collect::<Vec<_>>().join("|");
    assert_eq!(shown(&fields, &format!("{{\"o\":{{{members}}}}}")), expected);
}

#[test]
fn keys_and_values_are_decoded() {
    assert_eq!(shown("a/b", r#"{"\u0061\/b":"\"\\\/\n\t\u00e9\ud83d\ude00"}"#), "\"\\/\n\té😀");
    assert_eq!(shown("a", r#"{"a":"\ud83d-\ude00\ud83d\ud83d\ude00"}"#), "\u{FFFD}-\u{FFFD}\u{FFFD}😀");
    assert_eq!(shown("a", r#"{"a":"\udc00\udc00\ud800\ud800"}"#), "\u{FFFD}".repeat(4));
    assert_eq!(shown("\"a\"\"b\"", r#"{"a\"b":1}"#), "1");
    let rows = extract_lines(&[Field::named("a")], b"{\"\xFF\":1,\"a\":\"\xFF\\n\xC3\"}");
    assert_eq!(rows, [Ok(vec![Some(b"\xFF\n\xC3".to_vec())])]);
}

#[test]
fn a_record_is_examined_until_all_fields_are_found() {
    assert_eq!(shown("a", r#"{"a":1 nonsense"#), "1");
    assert_eq!(shown("a.b", r#"{"a":{"b":1"#), "1");
    assert_eq!(shown("a.b", r#"{"a":2 nonsense"#), "-");
    assert_eq!(shown("a.b", r#"{"a":"#), "5: expected a value");
    assert_eq!(shown("a,b", r#"{"a":1 nonsense"#), "7: expected ',' or a closing bracket after a value");
    assert_eq!(shown("a,b.c,d[1]", r#"{"a":1,"b":{"x":2},"d":[3] nonsense"#), "1|-|-");
    assert_eq!(shown("a,b.c", r#"{"b":{"c":1,x},"a":2"#), "2|1");
    assert_eq!(shown("b", r#"{"a":[{]},"b":2"#), "2");
}

#[test]
fn a_blank_record_has_no_fields() {
    assert_eq!(shown("a", ""), "-");
    assert_eq!(shown("a", " \t\r"), "-");
    assert_eq!(shown("a,b", "{ }"), "-|-");
}

#[test]
fn malformed_records_are_reported_with_place_and_reason() {
    assert_eq!(shown("a", "[1]"), "0: expected an object");
    assert_eq!(shown("a", " x"), "1: expected an object");
    assert_eq!(shown("a", "{"), "1: expected a key in double quotes");
    assert_eq!(shown("a", "{b:1}"), "1: expected a key in double quotes");
    assert_eq!(shown("a", r#"{"b":1,}"#), "7: expected a key in double quotes");
    assert_eq!(shown("a", r#"{"b" 1}"#), "5: expected ':' after a key");
    assert_eq!(shown("a", r#"{"b":}"#), "5: expected a value");
    assert_eq!(shown("a", r#"{"a":"#), "5: expected a value");
    assert_eq!(shown("a", r#"{"b":"x}"#), "8: unclosed string");
    assert_eq!(shown("a", r#"{"b":[{}"#), "8: unclosed object or array");
    assert_eq!(shown("a", r#"{"b":1]"#), "6: expected ',' or a closing bracket after a value");
    assert_eq!(shown("a", r#"{"b":1}{"a":2}"#), "7: unexpected text after the object");
    assert_eq!(shown("a", r#"{"a":"x\y"}"#), "7: invalid escape in a string");
    assert_eq!(shown("a", r#"{"a":"\u00g0"}"#), "6: invalid escape in a string");
    assert_eq!(shown("a", r#"{"\u00":1,"a":1}"#), "2: invalid escape in a string");
    assert_eq!(shown("b", r#"{"a":"\y","b":1}"#), "1");
}

#[test]
fn a_record_ends_where_its_span_ends() {
    let fields = Field::parse_list("a,c[1].d").expect("fields");
    let text = br#"{"b":"x\"","c":[1,{"d":2}],"e":12,"f":"","a":"3"}"#;
    for end in 0..=text.len() {
        let alone = extract(&fields, &text[..end], &[(0, end)]);
        assert_eq!(extract(&fields, text, &[(0, end)]), alone, "{end}");
        assert_eq!(alone[0].is_ok(), end == 0 || end >= text.len() - 1, "{end}");
    }
}

#[test]
fn values_found_before_a_violation_are_dropped() {
    let rows = extract_lines(&Field::parse_list("a,b").expect("fields"), b"{\"a\":1,x\n{\"a\":2,\"b\":3}");
    assert!(rows[0].is_err());
    assert_eq!(rows[1], Ok(vec![Some(b"2".to_vec()), Some(b"3".to_vec())]));
}

#[test]
fn nesting_may_be_deep() {
    const DEPTH: usize = 100_000;
    let deep = format!("{{\"a\":{}1{},\"b\":2}}", "[{\"a\":".repeat(DEPTH), "}]".repeat(DEPTH));
    assert_eq!(shown("b", &deep), "2");
    assert_eq!(shown("a", &deep).len(), 8 * DEPTH + 1);
    let path = format!("a{},b", "[0].a".repeat(DEPTH));
    assert_eq!(shown(&path, &deep), "1|2");
}

#[test]
fn records_may_be_long() {
    let text = "\\\"{x".repeat(1 << 20);
    let record = format!("{{\"s\":\"{text}\",\"l\":[{}0],\"b\":1}}", "\"]\",".repeat(1 << 20));
    assert_eq!(shown("b,l[1048576]", &record), "1|0");
    assert_eq!(shown("s", &record).len(), 3 << 20);
    assert_eq!(shown("x", &record[..record.len() - 4]), format!("{}: unclosed string", record.len() - 4));
}

#[test]
fn a_position_is_no_field() {
    let error = |field| Json::new(&[Field::Position(field)]).expect_err("an error").to_string();
    assert_eq!(
        error(3),
        "fields of JSON have names, such as status or .request.host; found the number 3 (in double quotes it is a name)"
    );
}
