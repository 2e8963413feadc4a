use proptest::prelude::*;

use super::*;
use crate::cells::Cell;
use crate::query::field::{Name, Step};

mod oracle;

/// Records of the fields `a`, `b` and `c`.
type ThreeFields = [Option<Vec<u8>>; 3];

const NAMES: [&str; 3] = ["a", "b", "c"];

fn condition(text: &str) -> Condition {
    Condition::new(text, Case::Distinct).unwrap_or_else(|error| panic!("{error}"))
}

/// Index of a field of a condition among the fields of records.
fn index_of(field: &Field) -> usize {
    NAMES.iter().position(|name| *name == field.to_string()).expect("a known field")
}

impl Condition {
    /// Whether a part of the condition holds for a record whose fields have these values: the reference implementation of
    /// [`Condition::select`].
    fn part_holds<'v>(
        &self,
        part: &Formula,
        cache: &mut ConditionCache,
        value: &impl Fn(usize) -> Option<&'v [u8]>,
    ) -> bool {
        match part {
            Formula::All(parts) => parts.iter().all(|part| self.part_holds(part, cache, value)),
            Formula::Any(parts) => parts.iter().any(|part| self.part_holds(part, cache, value)),
            Formula::Not(part) => !self.part_holds(part, cache, value),
            Formula::Test(test) => test.holds(self, cache, value),
        }
    }
}

/// Whether a condition holds for a record, by the reference implementation.
fn holds(condition: &Condition, record: &ThreeFields) -> bool {
    let value = |field: usize| record[index_of(&condition.fields()[field])].as_deref();
    condition.part_holds(&condition.root, &mut condition.cache(), &value)
}

/// The records for which a condition holds, by [`Condition::select`]. Values whose length is a multiple of `decoded` are
/// decoded.
fn select(condition: &Condition, records: &[ThreeFields], decoded: usize) -> Vec<u32> {
    let mut text = Vec::new();
    let mut cells = Cells::default();
    cells.reset(condition.fields().len());
    for record in records {
        for (column, field) in condition.fields().iter().enumerate() {
            let cell = match &record[index_of(field)] {
                None => Cell::Missing,
                Some(value) if value.len().is_multiple_of(decoded) => {
                    cells.decode(|out| out.extend_from_slice(value))
                }
                Some(value) => {
                    let start = text.len() as u32;
                    text.extend_from_slice(value);
                    Cell::Raw(start, text.len() as u32)
                }
            };
            cells.columns_mut()[column].push(cell);
        }
    }
    let mut selected = Vec::new();
    condition.select(&mut condition.cache(), &text, &cells, records.len(), &mut selected);
    selected
}

/// Whether a condition holds for a record with the value `value` of `a` and `b`, and without `c`.
fn holds_for(text: &str, value: &str) -> bool {
    let value = Some(value.as_bytes().to_vec());
    holds(&condition(text), &[value.clone(), value, None])
}

#[test]
fn numbers_are_compared_as_decimals() {
    for value in ["404", "0404", "+404", "404.0", "4.04e2", "404000ms"] {
        assert!(holds_for("a == 404", value), "{value}");
        assert!(!holds_for("a != 404", value), "{value}");
        assert!(holds_for("a >= 404 && a <= 404 && 403.9 < a && !(404 < a)", value), "{value}");
    }
    for value in ["", "-", " 404", "404x", "NaN", "é"] {
        assert!(!holds_for("a == 404", value), "{value}");
        assert!(holds_for("a != 404", value), "{value}");
        assert!(!holds_for("a < 404 || a >= 404", value), "{value}");
    }
    assert!(holds_for("a > 1s", "1500ms") && holds_for("a > 1s", "1.5") && !holds_for("a > 1s", "900us"));
    assert!(holds_for("a == 10MB", "10000000") && holds_for("a == 1.5KiB", "1536"));
    assert!(holds_for("a == -1.5e1", "-15"));
}

#[test]
fn texts_are_compared_by_bytes() {
    assert!(holds_for(r#"a == "404""#, "404") && !holds_for("a == '404'", "0404"));
    assert!(holds_for("a < 'b'", "a") && holds_for("'b' > a", "a") && holds_for("a != 'x'", ""));
    assert!(holds_for(r#"a == 'say "hi"\n\\'"#, "say \"hi\"\n\\"));
    let ignoring = Condition::new("a == 'GET' && b ~ '^g'", Case::Ignored).expect("a condition");
    let get = Some(b"gEt".to_vec());
    assert!(holds(&ignoring, &[get.clone(), get, None]));
}

#[test]
fn expressions_match_anywhere() {
    assert!(holds_for(r#"a ~ "\d+$""#, "x17") && holds_for(r#"a =~ '^x'"#, "x17"));
    assert!(holds_for(r#"a !~ "^\d""#, "x17") && !holds_for(r#"a !~ "\\d""#, "x17"));
}

#[test]
fn no_comparison_holds_without_a_value() {
    for text in ["c == 1", "c != 1", "c == 'x'", "c != 'x'", "c ~ 'x'", "c !~ 'x'", "c == a", "a != c", "c"] {
        assert!(!holds_for(text, "1"), "{text}");
        assert!(holds_for(&format!("!({text})"), "1"), "{text}");
    }
    assert!(holds_for("a and not c", "1"));
}

#[test]
fn fields_are_compared_as_numbers_if_both_are() {
    let record = |a: &str, b: &str| [Some(a.as_bytes().to_vec()), Some(b.as_bytes().to_vec()), None];
    assert!(holds(&condition("a < b"), &record("9", "10")));
    assert!(!holds(&condition("a < b"), &record("9", "10x")));
    assert!(holds(&condition("a == b"), &record("1.0", "1")));
    assert!(holds(&condition("a = b"), &record("x", "x")));
}

#[test]
fn and_binds_more_strongly_than_or_and_not_most() {
    let holds = |text: &str| holds_for(text, "1");
    assert!(holds("a == 1 || a == 2 && a == 3"));
    assert!(!holds("(a == 1 || a == 2) && a == 3"));
    assert!(holds("!a == 2 || b == 2") == holds("(!(a == 2)) || b == 2"));
    assert!(holds("!!a == 1") && holds("not a == 2 and a == 1 or a == 7"));
}

#[test]
fn fields_have_names_and_positions() {
    let fields = |text: &str| {
        let fields = condition(text);
        fields.fields().iter().map(Field::to_string).collect::<Vec<_>>().join("|")
    };
    assert_eq!(fields(".a.b[0] == 1 && `user agent` ~ 'x' && $7 > $-1 || .a.b[0]"), "a.b[0]|user agent|7|-1");
    assert_eq!(fields("@timestamp > '2026' && order == 1 && android"), "@timestamp|order|android");
}

fn error(text: &str) -> String {
    Condition::new(text, Case::Distinct).expect_err(text).to_string()
}

#[test]
fn errors_have_a_column_and_a_reason() {
    for (text, expected) in [
        ("", "1: expected a condition"),
        ("a == 1 &&", "10: expected a condition after '&&'"),
        ("not ", "5: expected a condition after 'not'"),
        ("()", "2: expected a condition after '('"),
        ("a == 1 b", "8: expected a comparison, '&&' or '||'"),
        ("a & b", "3: expected a comparison, '&&' or '||'"),
        ("(a == 1", "1: unclosed '('"),
        ("a)", "2: ')' without '('"),
        ("(a b)", "4: expected a comparison, '&&' or '||'"),
        ("1 < a < 3", "7: '<' after a complete comparison; join comparisons by '&&'"),
        ("a == \"x", "6: unclosed \""),
        ("a == 'x\\", "6: unclosed '"),
        ("1 == 2", "1: expected a field before or after '=='"),
        ("\"a\"", "4: expected a comparison with a field"),
        ("true", "5: expected a comparison with a field"),
        ("a ~ b", "5: expected a regular expression in quotes after '~'"),
        ("'x' !~ 'x'", "1: expected a field before '!~'"),
        (
            "a == and",
            "6: expected a number, a string or a field after '=='; a field named and is written `and`",
        ),
        ("a > -", "5: expected a number after '-'"),
        ("$0 == 1", "1: fields are numbered from 1; found 0"),
        ("$status == 1", "1: expected a position such as $7 or $-1; names have no '$'"),
        ("$ == 1", "1: expected a position such as $7 or $-1"),
        ("$99999999999 == 1", "1: expected a position such as $7 or $-1"),
        ("`a == 1", "1: unclosed backquote"),
        ("`` == 1", "1: expected a name in the backquotes"),
        ("a. == 1", "3: expected a name after '.'"),
        (".a[x] == 1", "3: expected an array index such as [0]"),
        (".a[99999999999999999999] == 1", "3: expected an array index such as [0]"),
    ] {
        assert_eq!(error(text).lines().next(), Some(format!("column {expected}").as_str()), "{text}");
    }
    for number in ["10parsecs", "10.0.0.1", "2026-11-23", "1e", "1e999999999999999999", "5Kib"] {
        let expected = format!("column 5: '{number}' is not a number; units are ns us");
        assert!(error(&format!("a > {number}")).starts_with(&expected), "{number}");
    }
}

#[test]
fn errors_point_to_the_place() {
    assert_eq!(
        error("status >= && path"),
        "column 11: expected a number, a string or a field after '>='\n  status >= && path\n            ^"
    );
    assert_eq!(
        error("é >= && x"),
        "column 6: expected a number, a string or a field after '>='\n  é >= && x\n       ^"
    );
    assert_eq!(
        error("a\t==\x1b"),
        "column 5: expected a number, a string or a field after '=='\n  a\\t==\\u{1b}\n       ^"
    );
}

#[test]
fn errors_of_regular_expressions_point_into_the_string() {
    let first_line = |text: &str, case| {
        let error = Condition::new(text, case).expect_err(text).to_string();
        error.lines().next().map(str::to_owned)
    };
    for case in [Case::Distinct, Case::Ignored] {
        let unclosed = "invalid regular expression: unclosed group";
        assert_eq!(first_line("a ~ 'é(b'", case), Some(format!("column 7: {unclosed}")));
        assert_eq!(first_line(r#"a ~ "\"\"x(b""#, case), Some(format!("column 11: {unclosed}")));
    }
    let large = first_line(r"a ~ '(?:\w{1000}){1000}'", Case::Distinct);
    assert!(large.is_some_and(|line| line.starts_with("column 5: compiled regex exceeds the size limit")));
}

#[test]
fn deep_nesting_is_refused() {
    let nested = |depth: usize| "(".repeat(depth) + "a" + &")".repeat(depth);
    assert!(Condition::new(&nested(100), Case::Distinct).is_ok());
    assert!(Condition::new(&nested(100_000), Case::Distinct).is_err());
    assert!(holds_for(&("!".repeat(100_000) + "a"), "1"));
}

#[test]
fn names_are_those_of_lists_of_fields() {
    for name in ["status", ".request.headers.host", "items[0].price", "a[1][2]", ".a.0", "größe", "x-y:z/@w"]
    {
        assert_eq!(condition(name).fields(), [Field::parse(name).expect("a field")], "{name}");
    }
    let key = |key: &str| Step::Key(key.to_owned());
    let quoted = condition(".a.`b.``c[0]`[7]");
    let expected =
        Name { text: "a.b.`c[0][7]".to_owned(), path: vec![key("a"), key("b.`c[0]"), Step::Index(7)] };
    assert_eq!(quoted.fields(), [Field::Named(expected)]);
    assert_eq!(condition("b || a || `b` || $2 || $-1").fields().len(), 4);
    assert_eq!(condition("`and` && .or && nota").fields().len(), 3);
}

#[test]
fn literals_may_be_on_either_side() {
    assert!(holds_for("404 == a", "404") && holds_for("500 > a && 404 >= a && 404 <= a && 400 < a", "404"));
    assert!(holds_for("'a' < a && 'b' == a && 'c' >= a", "b"));
    assert!(holds_for("a == true", "true") && holds_for("false != a", "true"));
}

#[test]
fn numbers_are_exact_at_any_length() {
    let nines = "9".repeat(400);
    assert!(holds_for("a == 1e400", &format!("1{}", "0".repeat(400))));
    assert!(holds_for("a < 1e400 && a > 1e399", &nines) && !holds_for("a >= 1e400", &nines));
    assert!(!holds_for("a == 0.12345678901234567891", "0.12345678901234567892"));
    assert!(holds_for("a > 1MB", "100000000000000000000000"));
    assert!(holds_for("a < 1e-400", "0") && holds_for("a == 0", "-0.000") && holds_for("a == 0", "0e17"));
    assert!(holds_for("a == b", &format!("{nines}.0")));
    assert!(holds_for(
        &format!("a == {}m", "9".repeat(30)),
        &format!("{}40s", "5".to_owned() + &"9".repeat(29))
    ));
}

#[test]
fn values_may_have_units() {
    for (text, value) in [
        ("a == 0.012", "12ms"),
        ("a == 1s", "1000000µs"),
        ("a == 1s", "1000000μs"),
        ("a == 1us", "1000ns"),
        ("a == 1.5h", "90m"),
        ("a == 1d", "24h"),
        ("a == 10MB", "10000kB"),
        ("a == 1KiB", "1024B"),
        ("a == 1.5GiB", "1536MiB"),
        ("a == 1TiB", "1099511627776"),
        ("a == 2k", "2KB"),
        ("a == 3M", "0.003G"),
        ("a == 1TB", "1e12"),
    ] {
        assert!(holds_for(text, value) && !holds_for(&text.replace("==", "!="), value), "{text} {value}");
    }
    for value in ["1 s", "1S", "1mss", "ms", "1e5x", "1.5.", "0x10", "1_000", "١", "1e100000000000000000"] {
        assert!(holds_for("a != 1", value) && !holds_for("a < 1 || a >= 1", value), "{value}");
    }
}

#[test]
fn strings_have_escapes_and_expressions_keep_their_backslashes() {
    assert!(holds_for(r#"a == "a\"b\'c\\\\d\x""#, r#"a"b'c\\d\x"#));
    assert!(holds_for(r#"a ~ "^\d+\\.\d\t$""#, "10.5\t") && !holds_for(r#"a ~ "^\d+\.\d$""#, "10x5"));
}

#[test]
fn case_is_ignored_in_strings_and_expressions() {
    let holds = |text: &str, a: &str, b: &str| {
        let condition = Condition::new(text, Case::Ignored).expect("a condition");
        let record = [Some(a.as_bytes().to_vec()), Some(b.as_bytes().to_vec()), None];
        let holds = holds(&condition, &record);
        assert_eq!(select(&condition, std::slice::from_ref(&record), 7), [0][..usize::from(holds)]);
        holds
    };
    assert!(holds("a == 'GRÖSSE'", "größe".replace('ß', "ss").as_str(), "") && holds("a < b", "a", "B"));
    assert!(holds("a == b", "ÄX", "äx") && !holds("a != b", "ÄX", "äx") && holds("a ~ '^ÄX$'", "äx", ""));
    assert!(!holds("a == 1KB", "1kb", ""));
}

#[test]
fn the_stack_suffices_for_the_deepest_condition() {
    let text = "!(".repeat(100) + "a == 1" + &")".repeat(100);
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    let holds = thread.spawn(move || holds_for(&text, "1")).expect("a thread");
    assert!(holds.join().expect("no overflow"));
}

/// Values at the borders between implementations: small integers, numbers that fit into words, and all others.
fn values() -> impl Strategy<Value = Vec<u8>> {
    const KNOWN: &[&str] = &[
        "",
        "-",
        "404",
        "0404",
        "4.04e2",
        " 404",
        "404 ",
        "1s",
        "NaN",
        "inf",
        "é",
        "404.0",
        "-404",
        "+404",
        "403.9",
        "403999ms",
        "99999999",
        "100000000",
        "123456789012345678901234567890",
        "1e400",
        "-1e-400",
        "0.404kB",
        "a",
        "A",
        "GET",
        "get",
        "0x194",
        ".5",
        "5.",
        ".",
        "1e",
        "404\0",
        "00000404",
        "000000404",
    ];
    prop_oneof![
        6 => prop::sample::select(KNOWN).prop_map(|text| text.as_bytes().to_vec()),
        1 => Just(b"\xFF404".to_vec()),
        1 => Just(b"40\xFA".to_vec()),
        2 => (0..1000_u32).prop_map(|number| number.to_string().into_bytes()),
        2 => "[-+]?[0-9]{0,12}\\.?[0-9]{0,12}(e[-+]?[0-9]{1,3})?(ms|s|h|kB|KiB|x)?".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..10),
    ]
}

fn records() -> impl Strategy<Value = Vec<ThreeFields>> {
    prop::collection::vec(prop::array::uniform3(prop::option::weighted(0.9, values())), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]

    #[test]
    fn records_are_selected_as_the_oracle_and_the_reference_do(
        tree in oracle::trees(),
        records in records(),
        decoded in 2..9_usize,
    ) {
        let condition = condition(&tree.text());
        let by = |holds: &dyn Fn(&ThreeFields) -> bool| -> Vec<u32> {
            (0..).zip(&records).filter(|(_, record)| holds(record)).map(|(index, _)| index).collect()
        };
        let by_reference = by(&|record| holds(&condition, record));
        prop_assert_eq!(&by_reference, &by(&|record| tree.holds(record)), "{}", tree.text());
        prop_assert_eq!(select(&condition, &records, decoded), by_reference, "{}", tree.text());
    }

    #[test]
    fn any_text_is_a_condition_or_an_error(
        pieces in prop::collection::vec(
            prop_oneof![
                3 => prop::sample::select(&[
                    "a", "==", "!", "(", ")", "&&", "or", "~", "'x'", "1", "-", "`", "$", "\"", "\\", "é", " ", ".", "[0]",
                    "e9", "ms", "=", "not ", "'('", "\t",
                ][..]).prop_map(str::to_owned),
                1 => any::<String>(),
            ],
            0..12),
        case in prop::sample::select(&[Case::Distinct, Case::Ignored][..]),
    ) {
        let text = pieces.concat();
        match Condition::new(&text, case) {
            Ok(condition) => prop_assert!(!condition.fields().is_empty()),
            Err(error) => {
                let message = error.to_string();
                let (column, rest) = message.strip_prefix("column ").and_then(|rest| rest.split_once(": ")).expect("a column");
                prop_assert!(column.parse::<usize>().is_ok_and(|column| (1..=text.chars().count() + 1).contains(&column)));
                prop_assert!(!rest.starts_with('\n'), "no message: {message}");
                prop_assert_eq!(message.lines().count(), 3);
            }
        }
    }
}
