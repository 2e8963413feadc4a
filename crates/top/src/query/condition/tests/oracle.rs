//! Conditions as trees, with an evaluation that shares nothing with the compiled one.

use num_bigint::BigInt;
use proptest::prelude::*;
use regex::Regex;

use super::{NAMES, ThreeFields};
use crate::oracle::Oracle;

#[derive(Clone, Debug)]
pub(super) enum ConditionTree {
    Present(usize),
    Compare(Operand, &'static str, Operand),
    Match(usize, bool, &'static str),
    Not(Box<ConditionTree>),
    And(Vec<ConditionTree>),
    Or(Vec<ConditionTree>),
}

#[derive(Clone, Debug)]
pub(super) enum Operand {
    Field(usize),
    Number(String),
    Text(String),
}

/// Power of ten by which numbers are multiplied, so that all numbers of the tests are integers.
const SCALE: i64 = 2_000;

impl Operand {
    fn text(&self) -> String {
        match self {
            Self::Field(field) => NAMES[*field].to_owned(),
            Self::Number(number) => number.clone(),
            Self::Text(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        }
    }

    fn bytes<'a>(&'a self, record: &'a ThreeFields) -> Option<&'a [u8]> {
        match self {
            Self::Field(field) => record[*field].as_deref(),
            Self::Number(text) | Self::Text(text) => Some(text.as_bytes()),
        }
    }
}

impl ConditionTree {
    /// The condition, with no more parentheses than precedence demands.
    pub(super) fn text(&self) -> String {
        let inner = |tree: &Self, parenthesised: bool| {
            if parenthesised { format!("({})", tree.text()) } else { tree.text() }
        };
        match self {
            Self::Present(field) => NAMES[*field].to_owned(),
            Self::Compare(left, operator, right) => format!("{} {operator} {}", left.text(), right.text()),
            Self::Match(field, wanted, pattern) => {
                format!("{}{}'{pattern}'", NAMES[*field], if *wanted { "~" } else { "!~" })
            }
            Self::Not(tree) => {
                let word = if matches!(**tree, Self::Present(_)) { "not " } else { "!" };
                word.to_owned() + &inner(tree, matches!(**tree, Self::And(_) | Self::Or(_)))
            }
            Self::And(trees) => {
                let parts = trees.iter().map(|tree| inner(tree, matches!(tree, Self::Or(_))));
                parts.collect::<Vec<_>>().join(" && ")
            }
            Self::Or(trees) => trees.iter().map(Self::text).collect::<Vec<_>>().join(" or "),
        }
    }

    pub(super) fn holds(&self, record: &ThreeFields) -> bool {
        match self {
            Self::Present(field) => record[*field].is_some(),
            Self::Compare(left, operator, right) => compare(left, operator, right, record).unwrap_or(false),
            Self::Match(field, wanted, pattern) => {
                let oracle = Oracle::new(pattern);
                record[*field].as_ref().is_some_and(|value| oracle.is_match(value) == *wanted)
            }
            Self::Not(tree) => !tree.holds(record),
            Self::And(trees) => trees.iter().all(|tree| tree.holds(record)),
            Self::Or(trees) => trees.iter().any(|tree| tree.holds(record)),
        }
    }
}

/// Compares two sides; `None` if a field is missing.
fn compare(left: &Operand, operator: &str, right: &Operand, record: &ThreeFields) -> Option<bool> {
    let (left_text, right_text) = (left.bytes(record)?, right.bytes(record)?);
    let has_text = matches!(left, Operand::Text(_)) || matches!(right, Operand::Text(_));
    let has_number = matches!(left, Operand::Number(_)) || matches!(right, Operand::Number(_));
    Some(match (scaled(left_text), scaled(right_text)) {
        (Some(left), Some(right)) if !has_text => by_operator(&left, operator, &right),
        _ if has_number => operator == "!=",
        _ => by_operator(left_text, operator, right_text),
    })
}

fn by_operator<T: Ord + ?Sized>(left: &T, operator: &str, right: &T) -> bool {
    match operator {
        "==" | "=" => left == right,
        "!=" => left != right,
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        _ => left >= right,
    }
}

thread_local! {
    static NUMBER: Regex = Regex::new(
        r"^([-+]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?)([0-9]+))?(ns|us|µs|μs|ms|s|m|h|d|B|k|kB|KB|M|MB|G|GB|TB|KiB|MiB|GiB|TiB|)$"
    )
    .expect("a valid pattern");
}

/// Returns a number multiplied by 10^[`SCALE`].
fn scaled(text: &[u8]) -> Option<BigInt> {
    let text = str::from_utf8(text).ok()?;
    let (_, [sign, whole, fraction, exponent_sign, exponent, unit]) = NUMBER.with(|regex| {
        let captures = regex.captures(text)?;
        let group = |index| captures.get(index).map_or("", |group| &text[group.range()]);
        Some((0, [group(1), group(2), group(3), group(4), group(5), group(6)]))
    })?;
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let exponent: i64 = if exponent.is_empty() { 0 } else { exponent.parse().ok()? };
    let exponent = if exponent_sign == "-" { -exponent } else { exponent };
    let (factor, power): (u64, i64) = match unit {
        "ns" => (1, -9),
        "us" | "µs" | "μs" => (1, -6),
        "ms" => (1, -3),
        "m" => (60, 0),
        "h" => (60 * 60, 0),
        "d" => (24 * 60 * 60, 0),
        "k" | "kB" | "KB" => (1000, 0),
        "M" | "MB" => (1_000_000, 0),
        "G" | "GB" => (1_000_000_000, 0),
        "TB" => (1_000_000_000_000, 0),
        "KiB" => (1024, 0),
        "MiB" => (1024 * 1024, 0),
        "GiB" => (1024 * 1024 * 1024, 0),
        "TiB" => (1024 * 1024 * 1024 * 1024, 0),
        _ => (1, 0),
    };
    let power = SCALE + exponent + power - i64::try_from(fraction.len()).ok()?;
    let digits: BigInt = format!("0{whole}{fraction}").parse().ok()?;
    let number = digits * factor * BigInt::from(10).pow(u32::try_from(power).expect("a number of the tests"));
    Some(if sign == "-" { -number } else { number })
}

fn sides() -> impl Strategy<Value = (Operand, Operand)> {
    const NUMBERS: &[&str] = &[
        "404",
        "404.0",
        "4.04e2",
        "-404",
        "0",
        "403.9999",
        "0.5",
        "1s",
        "404000ms",
        "1KiB",
        "1e400",
        "1e-400",
        "99999999",
        "100000000",
        "123456789012345678901234567890",
        "-1",
        "+5",
        ".5",
        "5.",
    ];
    const TEXTS: &[&str] = &["", "-", "404", "GET", "get", "é", "1s", "\\", "a\"b", "\u{7f}"];
    let field = || (0..NAMES.len()).prop_map(Operand::Field);
    let other = prop_oneof![
        4 => prop::sample::select(NUMBERS).prop_map(|number| Operand::Number(number.to_owned())),
        1 => (0..1000_u32).prop_map(|number| Operand::Number(number.to_string())),
        3 => prop::sample::select(TEXTS).prop_map(|text| Operand::Text(text.to_owned())),
        2 => field(),
    ];
    (field(), other, any::<bool>()).prop_map(
        |(field, other, swapped)| {
            if swapped { (other, field) } else { (field, other) }
        },
    )
}

pub(super) fn trees() -> impl Strategy<Value = ConditionTree> {
    let operator = prop::sample::select(&["==", "=", "!=", "<", "<=", ">", ">="][..]);
    let pattern =
        prop::sample::select(&["^4", "04$", "G", "^$", "[^0-9]", "^.$", "é", r"\d", "^[^a]{4}$"][..]);
    let leaf = prop_oneof![
        1 => (0..NAMES.len()).prop_map(ConditionTree::Present),
        6 => (sides(), operator).prop_map(|((left, right), operator)| ConditionTree::Compare(left, operator, right)),
        2 => (0..NAMES.len(), any::<bool>(), pattern).prop_map(|(a, b, c)| ConditionTree::Match(a, b, c)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|tree| ConditionTree::Not(Box::new(tree))),
            prop::collection::vec(inner.clone(), 1..4).prop_map(ConditionTree::And),
            prop::collection::vec(inner, 1..4).prop_map(ConditionTree::Or),
        ]
    })
}
