//! Order of the keys: the count, the key, or a measure.

use finecomb_top::{CHANGE_COLUMNS, Measure, SortBy};

use crate::top::options::measures;

/// Finds the order that `--sort` names. The name of a measure is that of its column, such as `sum(bytes)`, in which the
/// field may also be written as in the flag; or its kind, such as `sum`, if it is the only one of this kind.
pub(super) fn find(name: &str, measures: &[Measure]) -> Result<SortBy, String> {
    match name {
        "count" => return Ok(SortBy::Count),
        "key" => return Ok(SortBy::Key),
        _ => {}
    }
    let by_column = measures.iter().position(|measure| measure.to_string() == name);
    let parsed = measures::parse(name);
    let index = by_column.or_else(|| measures.iter().position(|measure| Some(measure) == parsed.as_ref()));
    if let Some(index) = index {
        return Ok(SortBy::Measure(index));
    }
    let kind = measures::parse_kind(name);
    let is_of_kind = |&(_, measure): &(usize, &Measure)| Some(measure.kind()) == kind.as_ref();
    let of_kind: Vec<(usize, &Measure)> = measures.iter().enumerate().filter(is_of_kind).collect();
    let names = |measures: &mut dyn Iterator<Item = &Measure>| {
        measures.map(Measure::to_string).collect::<Vec<_>>().join(", ")
    };
    match &of_kind[..] {
        [(index, _)] => Ok(SortBy::Measure(*index)),
        [] if measures.is_empty() => Err("expected one of count, key".to_owned()),
        [] => Err(format!("expected one of count, key, {}", names(&mut measures.iter()))),
        several => {
            Err(format!("expected one of {}", names(&mut several.iter().map(|&(_, measure)| measure))))
        }
    }
}

/// Finds the order that `--sort` names for changes of counts.
pub(super) fn of_changes(name: &str) -> Result<SortBy, String> {
    let [before, change, _] = CHANGE_COLUMNS;
    match name {
        "count" => Ok(SortBy::Count),
        "key" => Ok(SortBy::Key),
        name if name == before => Ok(SortBy::Measure(0)),
        name if name == change => Ok(SortBy::Measure(1)),
        _ => Err(format!("with --diff, expected one of {change}, count, {before}, key")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, given: &[&str]) -> Result<SortBy, String> {
        let given = given.iter().map(|name| measures::parse(name).expect("a measure"));
        find(name, &given.collect::<Vec<_>>())
    }

    #[test]
    fn a_measure_is_named_by_its_column() {
        let given = ["sum(bytes)", "p99(.request.time)", "p99.90(7)", "sum(7)", "distinct(\"a.b\")"];
        for (name, index) in [
            ("sum(bytes)", 0),
            ("sum(.bytes)", 0),
            ("p99(request.time)", 1),
            ("p99(.request.time)", 1),
            ("p99.9(7)", 2),
            ("sum(7)", 3),
            ("distinct(a.b)", 4),
            ("distinct(\"a.b\")", 4),
        ] {
            assert_eq!(found(name, &given), Ok(SortBy::Measure(index)), "{name}");
        }
        assert_eq!(found("count", &given), Ok(SortBy::Count));
        assert_eq!(found("key", &given), Ok(SortBy::Key));
    }

    #[test]
    fn the_only_measure_of_a_kind_is_named_by_the_kind() {
        let given = ["sum(bytes)", "p99(time)", "p99.9(time)", "mean(a)", "mean(b)", "share(a > 1)"];
        for (name, index) in [("sum", 0), ("p99", 1), ("p99.9", 2), ("share", 5), ("share( a > 1)", 5)] {
            assert_eq!(found(name, &given), Ok(SortBy::Measure(index)), "{name}");
        }
        assert_eq!(found("mean", &given), Err("expected one of mean(a), mean(b)".to_owned()));
    }

    #[test]
    fn unknown_orders_are_refused() {
        assert_eq!(found("sum", &[]), Err("expected one of count, key".to_owned()));
        for name in ["", "max", "sum(x)", "sum(bytes", "sum()", "total(bytes)", "p(bytes)", "p101(bytes)"] {
            let error = found(name, &["sum(bytes)"]).expect_err("an error");
            assert_eq!(error, "expected one of count, key, sum(bytes)", "{name}");
        }
    }
}
