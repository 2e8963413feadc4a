use proptest::prelude::*;

use super::*;
use crate::cells::Cell;

/// Records of the fields `a`, `b` and `c`.
type Record = [Option<Vec<u8>>; 3];

const NAMES: [&str; 3] = ["a", "b", "c"];

fn condition(text: &str) -> Condition {
    Condition::new(text, Case::Distinct).unwrap_or_else(|error| panic!("{error}"))
}

/// Whether a condition holds for a record, by the reference implementation.
fn holds(condition: &Condition, record: &Record) -> bool {
    let value = |field: usize| {
        let name = condition.fields()[field].to_string();
        let index = NAMES.iter().position(|known| *known == name).expect("a known field");
        record[index].as_deref()
    };
    condition.holds(&mut condition.cache(), &value)
}

/// The records for which a condition holds, by [`Condition::select`].
fn select(condition: &Condition, records: &[Record]) -> Vec<u32> {
    let mut text = Vec::new();
    let mut cells = Cells::default();
    cells.reset(condition.fields().len());
    for record in records {
        for (column, field) in condition.fields().iter().enumerate() {
            let index = NAMES.iter().position(|name| *name == field.to_string()).expect("a known field");
            let cell = record[index].as_ref().map_or(Cell::Missing, |value| {
                let start = text.len() as u32;
                text.extend_from_slice(value);
                Cell::Raw(start, text.len() as u32)
            });
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

#[test]
fn errors_have_a_column_and_a_reason() {
    let error = |text: &str| {
        let error = Condition::new(text, Case::Distinct).expect_err(text).to_string();
        error.lines().next().expect("a line").to_owned()
    };
    assert_eq!(error(""), "column 1: expected a field");
    assert_eq!(error("status >= && path"), "column 11: expected a field, a number or a string");
    assert_eq!(error("a == 1 &&"), "column 10: expected a field");
    assert_eq!(error("a == 1 b"), "column 8: expected an operator such as ==, && or ||");
    assert_eq!(error("(a == 1"), "column 8: expected an operator or ')'");
    assert_eq!(error("a == \"x"), "column 6: unclosed quote");
    assert_eq!(error("1 == 2"), "column 3: there is no field on either side");
    assert_eq!(error("a ~ b"), "column 5: expected a regular expression in quotes");
    assert_eq!(error("'x' ~ 'x'"), "column 1: expected a field before a regular expression");
    assert_eq!(error("\"a\""), "column 4: expected an operator such as == or <");
    assert_eq!(error("é ~ '('").split(':').next(), Some("column 5"));
    assert_eq!(
        error("a > 10parsecs"),
        "column 5: expected a number, or one with a unit such as 1.5s or 10MB; found '10parsecs'"
    );
    assert_eq!(error("$0 == 1"), "column 1: fields are numbered from 1; found 0");
    assert_eq!(error("`a == 1"), "column 1: expected a name between backquotes");
    assert_eq!(
        Condition::new("é >= && x", Case::Distinct).expect_err("an error").to_string(),
        "column 6: expected a field, a number or a string\n  é >= && x\n       ^"
    );
}

#[test]
fn deep_nesting_is_refused() {
    let nested = |depth: usize| "(".repeat(depth) + "a" + &")".repeat(depth);
    assert!(Condition::new(&nested(100), Case::Distinct).is_ok());
    assert!(Condition::new(&nested(100_000), Case::Distinct).is_err());
    assert!(holds_for(&("!".repeat(100_000) + "a"), "1"));
}

/// A condition, its text, and an evaluation that is independent of the compiled one.
#[derive(Clone, Debug)]
enum Tree {
    Present(usize),
    Number(usize, &'static str, i64),
    Text(usize, &'static str, &'static str),
    Match(usize, bool, &'static str),
    Not(Box<Tree>),
    Join(bool, Vec<Tree>),
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Self::Present(field) => NAMES[*field].to_owned(),
            Self::Number(field, operator, number) => format!("{} {operator} {number}", NAMES[*field]),
            Self::Text(field, operator, text) => format!("'{text}' {operator}{}", NAMES[*field]),
            Self::Match(field, wanted, pattern) => {
                format!("{}{} \"{pattern}\"", NAMES[*field], if *wanted { "~" } else { "!~" })
            }
            Self::Not(tree) => format!("!({})", tree.text()),
            Self::Join(and, trees) => {
                let parts: Vec<String> = trees.iter().map(|tree| format!("({})", tree.text())).collect();
                parts.join(if *and { " && " } else { " || " })
            }
        }
    }

    fn holds(&self, record: &Record) -> bool {
        match self {
            Self::Present(field) => record[*field].is_some(),
            Self::Number(field, operator, number) => record[*field].as_ref().is_some_and(|value| {
                let value = std::str::from_utf8(value).ok().and_then(|text| text.parse::<i64>().ok());
                value.map_or(*operator == "!=", |value| compares(&value, operator, number))
            }),
            Self::Text(field, operator, text) => {
                record[*field].as_ref().is_some_and(|value| compares(text.as_bytes(), operator, value))
            }
            Self::Match(field, wanted, pattern) => record[*field].as_ref().is_some_and(|value| {
                let regex = regex::bytes::Regex::new(pattern).expect("a pattern");
                regex.is_match(value) == *wanted
            }),
            Self::Not(tree) => !tree.holds(record),
            Self::Join(true, trees) => trees.iter().all(|tree| tree.holds(record)),
            Self::Join(false, trees) => trees.iter().any(|tree| tree.holds(record)),
        }
    }
}

fn compares<T: Ord + ?Sized>(left: &T, operator: &str, right: &T) -> bool {
    match operator {
        "==" => left == right,
        "!=" => left != right,
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        _ => left >= right,
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let field = 0..NAMES.len();
    let operator = prop::sample::select(&["==", "!=", "<", "<=", ">", ">="][..]);
    let text = prop::sample::select(&["", "1", "10", "9", "x", "-"][..]);
    let pattern = prop::sample::select(&["^1", "0$", "x", "^$", "[^0-9]"][..]);
    let leaf = prop_oneof![
        1 => field.clone().prop_map(Tree::Present),
        4 => (field.clone(), operator.clone(), -1..12_i64).prop_map(|(a, b, c)| Tree::Number(a, b, c)),
        2 => (field.clone(), operator, text).prop_map(|(a, b, c)| Tree::Text(a, b, c)),
        1 => (field, any::<bool>(), pattern).prop_map(|(a, b, c)| Tree::Match(a, b, c)),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|tree| Tree::Not(Box::new(tree))),
            (any::<bool>(), prop::collection::vec(inner, 1..4))
                .prop_map(|(and, trees)| Tree::Join(and, trees)),
        ]
    })
}

proptest! {
    #[test]
    fn records_are_selected_as_the_reference_does(
        tree in trees(),
        records in prop::collection::vec(
            prop::array::uniform3(prop::option::weighted(0.8, prop::sample::select(
                &["", "-", "1", "9", "10", "11", "-1", "x", "1x"][..]).prop_map(|text| text.as_bytes().to_vec()))),
            0..20),
    ) {
        let condition = condition(&tree.text());
        let selected = select(&condition, &records);
        let expected = (0..).zip(&records).filter(|(_, record)| tree.holds(record)).map(|(index, _)| index);
        prop_assert_eq!(&selected, &expected.collect::<Vec<u32>>());
        let by_reference = (0..).zip(&records).filter(|(_, record)| holds(&condition, record));
        prop_assert_eq!(selected, by_reference.map(|(index, _)| index).collect::<Vec<u32>>());
    }

    #[test]
    fn any_text_is_a_condition_or_an_error(
        pieces in prop::collection::vec(
            prop_oneof![
                3 => prop::sample::select(&["a", "==", "!", "(", ")", "&&", "or", "~", "'x'", "1", "-", "`", "$", "\"", "\\", "é", " "][..])
                    .prop_map(str::to_owned),
                1 => any::<String>(),
            ],
            0..12),
    ) {
        let text = pieces.concat();
        if let Err(error) = Condition::new(&text, Case::Distinct) {
            prop_assert!(error.to_string().starts_with("column "));
        }
    }
}
