use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Reference implementation of the end of an object, byte by byte.
fn close_byte_by_byte(text: &[u8]) -> Option<usize> {
    let (mut depth, mut in_string, mut is_escaped) = (1_usize, false, false);
    for (at, &byte) in text.iter().enumerate() {
        let was_escaped = std::mem::take(&mut is_escaped);
        match byte {
            b'\\' => is_escaped = !was_escaped,
            b'"' if was_escaped => {}
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn path(text: &str) -> MemberPath {
    MemberPath::new(text.split('.').filter(|key| !key.is_empty())).expect("a short path")
}

/// The records of a text, separated by bars, and the number of documents without the array.
fn records(array: &str, text: &str) -> (String, usize) {
    let mut spans = ObjectSpans::default();
    let found: Vec<&str> =
        spans.find(text.as_bytes(), path(array)).iter().map(|&(start, end)| &text[start..end]).collect();
    (found.join("|"), spans.without_array().len())
}

/// Texts of JSON, and texts that are nearly JSON.
pub(crate) fn texts(length: usize) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\n",
        " ",
        "x",
        "1",
        "{}",
        "{\"a\":1}",
        "{\"r\":[",
        "]}",
        "{\"a\":\"}\\\"\"}",
        "\"r\":",
        "\"r\"",
        "{\n  \"a\": [\n {}\n]\n}",
        "\n{",
        "null",
        "\"a\":{\"r\":[{}]},",
    ]);
    let filler = (1..70_usize).prop_map(|length| "y".repeat(length));
    let text = prop::collection::vec(prop_oneof![8 => piece.prop_map(str::to_owned), 1 => filler], 0..length);
    text.prop_map(|pieces| pieces.concat().into_bytes())
}

fn paths() -> impl Strategy<Value = MemberPath> {
    prop::sample::select(vec!["", "r", "a.r"]).prop_map(path)
}

/// The ends in a text, one after the other.
fn ends(objects: Objects, text: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    objects.visit(text, &mut ObjectState::default(), |mark| {
        ends.extend(if let Mark::End(end) = mark { Some(end) } else { None });
        ControlFlow::Continue(())
    });
    ends
}

proptest! {
    #[test]
    fn objects_end_where_they_do_byte_by_byte(text in texts(200)) {
        let mut state = ObjectState { place: ObjectPlace::Record, depth: 1, ..ObjectState::default() };
        let mut ends = Vec::new();
        Objects::new(MemberPath::default()).visit(&text, &mut state, |mark| {
            ends.extend(if let Mark::End(end) = mark { Some(end) } else { None });
            ControlFlow::Break(())
        });
        prop_assert_eq!(ends.first().copied(), close_byte_by_byte(&text));
    }

    #[test]
    fn a_text_in_two_parts_is_passed_as_a_whole(
        text in texts(200),
        array in paths(),
        at in any::<prop::sample::Index>(),
    ) {
        let objects = Objects::new(array);
        let at = at.index(text.len() + 1);
        let (between, first) = objects.pass(&text[..at], ObjectState::default());
        let (after, second) = objects.pass(&text[at..], between);
        let last = if second > 0 { at + second } else { first };
        prop_assert_eq!((after, last), objects.pass(&text, ObjectState::default()));
    }

    #[test]
    fn a_text_after_an_end_has_the_same_ends_and_records(text in texts(200), array in paths()) {
        let objects = Objects::new(array);
        let ends_of_all = ends(objects, &text);
        prop_assert_eq!(objects.first_end(&text, ObjectState::default()).ok(), ends_of_all.first().copied());
        let mut spans = ObjectSpans::default();
        let all = spans.find(&text, array).to_vec();
        let without = spans.without_array().to_vec();
        for (number, &end) in ends_of_all.iter().enumerate() {
            let rest = &text[end + 1..];
            let moved: Vec<usize> = ends(objects, rest).iter().map(|other| end + 1 + other).collect();
            prop_assert_eq!(&moved, &ends_of_all[number + 1..]);
            let mut parts = spans.find(&text[..=end], array).to_vec();
            let mut absent = spans.without_array().to_vec();
            parts.extend(spans.find(rest, array).iter().map(|part| (end + 1 + part.0, end + 1 + part.1)));
            absent.extend(spans.without_array().iter().map(|at| end + 1 + at));
            prop_assert_eq!(&parts, &all);
            prop_assert_eq!(&absent, &without);
        }
    }

    #[test]
    fn the_objects_of_an_array_are_those_that_a_parser_finds(
        values in prop::collection::vec(values(), 0..20),
        is_pretty in any::<bool>(),
        is_wrapped in any::<bool>(),
    ) {
        let array = if is_wrapped {
            serde_json::json!({"\"r": [{}], "r": {"x": []}, "a": {"b": {"r": [{}]}, "r": values, "z": [{}]}, "r2": "]}"})
        } else {
            Value::Array(values.clone())
        };
        let text = if is_pretty { serde_json::to_string_pretty(&array) } else { serde_json::to_string(&array) };
        let text = text.expect("nothing fails in memory").repeat(2);
        let mut spans = ObjectSpans::default();
        let found = spans.find(text.as_bytes(), path(if is_wrapped { "a.r" } else { "" }));
        let found: Vec<Value> = found
            .iter()
            .map(|&(start, end)| serde_json::from_str(&text[start..end]).expect("a record is valid"))
            .collect();
        prop_assert_eq!(found, [values.clone(), values].concat());
        prop_assert_eq!(spans.without_array(), [0_usize; 0]);
    }

    #[test]
    fn unclosed_texts_are_divided_in_order(text in texts(200), array in paths()) {
        let mut spans = ObjectSpans::default();
        let (state, begin) = Objects::new(array).pass(&text, ObjectState::default());
        let text = &text[begin..];
        let mut last = 0;
        for &(start, end) in spans.find_unclosed(text, array).iter().filter(|_| state.is_in_record()) {
            prop_assert!(last <= start && start <= end && end <= text.len());
            last = end;
        }
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        "[\\\\\"{}\\[\\],: \n a-z\u{e9}]{0,80}".prop_map(Value::from),
    ];
    let inner = leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"\\\\{}]{0,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[a-z\"\\\\{}]{0,4}", inner, 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

#[test]
fn objects_that_are_in_no_other_are_records() {
    let cases = [
        ("", ""),
        ("{\"a\":1}", "{\"a\":1}"),
        ("[{\"a\":1},{\"b\":[{}]}]\n", "{\"a\":1}|{\"b\":[{}]}"),
        ("[\n  {\n    \"a\": 1\n  }\n]\n[]\n{}\n", "{\n    \"a\": 1\n  }|{}"),
        ("[[{}],[{},{}]]", "{}|{}|{}"),
        ("{}{}\n{}", "{}|{}|{}"),
        // An object that is never closed.
        ("[\n  {\n    \"a\": {\n  },\n  {}\n]\n{}", "{\n    \"a\": {\n  }|{}|{}"),
        ("[{\"a\":1,\n{\"b\":2}\n]", "{\"a\":1|{\"b\":2}"),
        ("[{\"a\":1, {\"b\":2}]", "{\"a\":1, {\"b\":2}"),
        // Text that is no object.
        ("[1, {}, \"a, {\", null]", "1|{}|\"a, {\"|null"),
        ("{}\nstarting {x} [y]\n{}\n", "{}|starting {x} [y|{}"),
        ("can't \"open\n{}\n", "can't \"open|{}"),
        ("[{},NaN,{}]", "{}|NaN|{}"),
        ("} {}", "} {}"),
    ];
    for (text, expected) in cases {
        assert_eq!(records("", text), (expected.to_owned(), 0), "{text}");
    }
}

#[test]
fn elements_of_the_array_at_a_path_are_records() {
    let cases = [
        ("{\"r\":[{\"a\":1},{\"b\":2}]}", "{\"a\":1}|{\"b\":2}", 0),
        ("{\"x\":[{}],\"r\" : [ {} ] , \"y\":{\"r\":[{}]}}\n{\"r\":[{\"z\":1}]}", "{}|{\"z\":1}", 0),
        ("{\"x\":\"r\",\"r\":\"x\",\"r\":[{}]}", "{}", 0),
        ("{\"r\":[]}", "", 0),
        ("{\"r\":[1,[{}],{}]}", "1|[{}]|{}", 0),
        ("{\"rr\":[{}]} {\"r\":{\"r\":[{}]}}{\"r\":[{}]}", "{}", 2),
        ("{}\n{", "", 2),
        ("log\n{\"r\":[{}]}\n", "log|{}", 0),
    ];
    for (text, expected, without) in cases {
        assert_eq!(records("r", text), (expected.to_owned(), without), "{text}");
    }
    assert_eq!(records("a.r", "{\"a\":{\"q\":1,\"r\":[{\"r\":[1]}]}}").0, "{\"r\":[1]}");
}

#[test]
fn after_an_unclosed_object_the_next_line_like_its_own_begins_a_record() {
    let cases = [
        ("", "{\"a\":1\n{\"a\":2}\n{\"a\":3}\n", "{\"a\":1|{\"a\":2}|{\"a\":3}"),
        (
            "",
            "[\n  {\n    \"a\": {\n  },\n  {\n    \"b\": {}\n  }\n]\n",
            "{\n    \"a\": {\n  }|{\n    \"b\": {}\n  }",
        ),
        ("", "1, {\"a\":\n {},\n{\"b\":2},\n", "1|{\"a\":|{}|{\"b\":2}"),
        ("r", "{\"r\":[\n{\"a\":1,\n{\"b\":2}\n]}", "{\"a\":1|{\"b\":2}"),
        ("", "{\"a\":1, {\"b\":2}, {\"c\":3}]", "{\"a\":1, {\"b\":2}, {\"c\":3}"),
    ];
    for (array, text, expected) in cases {
        let mut spans = ObjectSpans::default();
        let found: Vec<&str> = spans
            .find_unclosed(text.as_bytes(), path(array))
            .iter()
            .map(|&(start, end)| &text[start..end])
            .collect();
        assert_eq!(found.join("|"), expected, "{text}");
    }
}

#[test]
fn long_paths_are_refused() {
    assert!(MemberPath::new(["x".repeat(126).as_str()]).is_some());
    assert!(MemberPath::new(["x".repeat(127).as_str()]).is_none());
    assert!(MemberPath::new(["x".repeat(63).as_str(), "y".repeat(62).as_str()]).is_some());
    assert_eq!(format!("{:?}", path("a.bc")), "[\"a\", \"bc\"]");
}
