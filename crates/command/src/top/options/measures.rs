//! Flags that measure the records of each key, in the order in which they are given.

use std::fmt;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use finecomb_top::{Field, Measure, MeasureKind, Percentile};

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::args::selection::UsageError;
use crate::args::value;
use crate::shell::candidates;
use crate::shell::line::completer;

/// Heading of the flags in the help.
pub(crate) const HEADING: &str = "Measures";

/// The measures of a count, in the order of the command line.
#[derive(Clone, Debug, Default)]
pub struct Measures(pub Vec<Measure>);

/// Name of all measures together, in stored options.
pub(super) const STORED: &str = "measures";

/// A flag that takes a field.
struct Flag {
    name: &'static str,
    help: &'static str,
    kind: fn() -> MeasureKind,
}

const FLAGS: &[Flag] = &[
    Flag { name: "sum", help: "Sum of the field's values, exact", kind: || MeasureKind::Sum },
    Flag { name: "mean", help: "Mean of the field's values", kind: || MeasureKind::Mean },
    Flag { name: "min", help: "Smallest value of the field", kind: || MeasureKind::Min },
    Flag { name: "max", help: "Largest value of the field", kind: || MeasureKind::Max },
    Flag {
        name: "p50",
        help: "Median of the field's values",
        kind: || MeasureKind::Percentile(Percentile::P50),
    },
    Flag {
        name: "p95",
        help: "95th percentile of the field's values",
        kind: || MeasureKind::Percentile(Percentile::P95),
    },
    Flag {
        name: "p99",
        help: "99th percentile of the field's values",
        kind: || MeasureKind::Percentile(Percentile::P99),
    },
    Flag {
        name: "distinct",
        help: "Number of distinct values of the field other than empty ones and -; above 4096, an estimate with a standard error of 0.8 %",
        kind: || MeasureKind::Distinct,
    },
];

/// The flag of any percentile.
pub(super) const PERCENTILE: &str = "percentile";

const SHARE: &str = "share";

const SHARE_HELP: &str = "\
Percent of the records for which a condition holds, as in 'status >= 500'; repeatable

The condition is written as for --where, which selects the records before. A record that lacks a field of it counts among all \
records, but not among those for which it holds. With --every, a row has the share within its bucket of time.";

/// Parses the value of `--percentile`, such as `99.9:bytes`.
fn parse_percentile(text: &str) -> Result<Measure, String> {
    let (percentile, field) = text.split_once(':').ok_or("expected P:FIELD, such as 99.9:bytes")?;
    let percentile = Percentile::parse(percentile).map_err(|error| error.to_string())?;
    let field = parse_field(field)?;
    Ok(Measure::Field { kind: MeasureKind::Percentile(percentile), field })
}

/// Parses the condition of `--share`.
fn parse_share(text: &str) -> Result<Measure, String> {
    Measure::share(text).map_err(|error| error.to_string())
}

/// Parses the name of a measure's column, such as `sum(bytes)`.
pub(super) fn parse(name: &str) -> Option<Measure> {
    let (kind, measured) = name.strip_suffix(')')?.split_once('(')?;
    match parse_kind(kind)? {
        MeasureKind::Share => parse_share(measured).ok(),
        kind => Some(Measure::Field { kind, field: Field::parse(measured).ok()? }),
    }
}

/// Parses a kind of measure, such as `sum` and `p99.9`.
pub(super) fn parse_kind(name: &str) -> Option<MeasureKind> {
    if name == SHARE {
        return Some(MeasureKind::Share);
    }
    let flag = FLAGS.iter().find(|flag| flag.name == name);
    let percentile = || Percentile::parse(name.strip_prefix('p')?).ok().map(MeasureKind::Percentile);
    flag.map(|flag| (flag.kind)()).or_else(percentile)
}

/// The flag of a measure, and its value.
pub(super) fn flag(measure: &Measure) -> (&'static str, String) {
    let measured = match measure {
        Measure::Field { field, .. } => field.written(),
        Measure::Share(condition) => condition.clone(),
    };
    match measure.kind() {
        MeasureKind::Sum => ("--sum", measured),
        MeasureKind::Mean => ("--mean", measured),
        MeasureKind::Min => ("--min", measured),
        MeasureKind::Max => ("--max", measured),
        MeasureKind::Percentile(percentile) => ("--percentile", format!("{percentile}:{measured}")),
        MeasureKind::Distinct => ("--distinct", measured),
        MeasureKind::Share => ("--share", measured),
    }
}

pub(super) fn parse_field(text: &str) -> Result<Field, String> {
    Field::parse(text).map_err(|error| error.to_string())
}

impl Measures {
    /// Returns the measures. Each must be given only once.
    pub(super) fn distinct(&self) -> Result<Vec<Measure>, UsageError> {
        let mut twice = self.0.iter().enumerate().filter(|(at, measure)| self.0[..*at].contains(measure));
        match twice.next() {
            Some((_, measure)) => Err(UsageError(format!("the measure {measure} is given twice"))),
            None => Ok(self.0.clone()),
        }
    }
}

impl Serialize for Measures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns: Vec<String> = self.0.iter().map(Measure::to_string).collect();
        serializer.collect_map([(STORED, columns)])
    }
}

/// Reads the flags in the order in which they are given, each with a field or several, or the stored form.
impl<'d> Deserialize<'d> for Measures {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NamedMeasures)
    }
}

struct NamedMeasures;

impl<'d> Visitor<'d> for NamedMeasures {
    type Value = Measures;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("measures by name")
    }

    fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Measures, A::Error> {
        let mut all = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            let flag = FLAGS.iter().find(|flag| flag.name == name);
            let parse = |text: &str| match flag {
                Some(flag) => Some(Measure::Field { kind: (flag.kind)(), field: parse_field(text).ok()? }),
                None if name == PERCENTILE => parse_percentile(text).ok(),
                None if name == SHARE => parse_share(text).ok(),
                None => parse(text),
            };
            if flag.is_none() && ![PERCENTILE, SHARE, STORED].contains(&name.as_str()) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let texts = value::texts(&map.next_value()?).map_err(A::Error::custom)?;
            let measures = texts.iter().map(|text| parse(text)).collect::<Option<Vec<_>>>();
            all.extend(measures.ok_or_else(|| A::Error::custom("invalid measure"))?);
        }
        Ok(Measures(all))
    }
}

impl Args for Measures {
    fn augment_args(command: Command) -> Command {
        let flag = |name: &'static str, value: &'static str, help: &'static str| {
            Arg::new(name)
                .long(name)
                .value_name(value)
                .help(help)
                .help_heading(HEADING)
                .action(ArgAction::Append)
                .allow_hyphen_values(true)
        };
        let flags = FLAGS.iter().map(|&Flag { name, help, .. }| {
            flag(name, "FIELD", help).value_parser(parse_field).add(completer(candidates::field))
        });
        let percentile = flag(PERCENTILE, "P:FIELD", "Percentile P, from 0 to 100, of the field's values")
            .long_help(
                "Percentile P, from 0 to 100, of the field's values; --p90 FIELD and --p99.9 FIELD are shorter\n\nThe smallest value that at least P % of the values do \
                 not exceed. It is exact for keys with up to 1024 values; for others it is at most 0.4 % off, and has only the digits that are known.",
            )
            .value_parser(parse_percentile)
            .add(completer(candidates::percentile));
        let share = flag(SHARE, "CONDITION", SHARE_HELP.lines().next().unwrap_or_default())
            .long_help(SHARE_HELP)
            .value_parser(parse_share)
            .add(completer(candidates::condition));
        command.args(flags).args([percentile, share])
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Measures {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut all = Vec::new();
        let mut add = |flag: &str, measures: Vec<Measure>| {
            all.extend(matches.indices_of(flag).into_iter().flatten().zip(measures));
        };
        for flag in FLAGS {
            let fields = matches.get_many::<Field>(flag.name).into_iter().flatten();
            add(
                flag.name,
                fields.map(|field| Measure::Field { kind: (flag.kind)(), field: field.clone() }).collect(),
            );
        }
        for flag in [PERCENTILE, SHARE] {
            add(flag, matches.get_many(flag).into_iter().flatten().cloned().collect());
        }
        all.sort_by_key(|&(index, _)| index);
        Ok(Self(all.into_iter().map(|(_, measure)| measure).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Measures, Error> {
        let command = Measures::augment_args(Command::new("top"));
        let matches = command.try_get_matches_from([&["top"], arguments].concat())?;
        Measures::from_arg_matches(&matches)
    }

    fn names(arguments: &[&str]) -> Result<Vec<String>, String> {
        let measures = parsed(arguments).map_err(|error| error.to_string())?;
        Ok(measures.0.iter().map(Measure::to_string).collect())
    }

    #[test]
    fn measures_are_in_the_order_given() {
        let found = names(&["--p99", "a", "--sum", "b", "--percentile", "99.9:c", "--sum", "a", "--min=d"]);
        assert_eq!(found.expect("measures"), ["p99(a)", "sum(b)", "p99.9(c)", "sum(a)", "min(d)"]);
        let found = names(&["--share", " (a > 1) ", "--sum", "b", "--share", "!(b == ')')"]);
        let found = found.expect("measures");
        assert_eq!(found, ["share((a > 1))", "sum(b)", "share(!(b == ')'))"]);
        let read: Vec<String> = found.iter().filter_map(|name| Some(parse(name)?.to_string())).collect();
        assert_eq!(read, found);
    }

    #[test]
    fn a_measure_is_given_only_once() {
        let error = |arguments: &[&str]| {
            let measures = parsed(arguments).expect("measures").distinct();
            measures.map_err(|UsageError(reason)| reason)
        };
        let twice = Err("the measure p50(a) is given twice".to_owned());
        assert_eq!(error(&["--p50", "a", "--sum", "a", "--percentile", "50:a"]), twice);
        assert!(error(&["--sum", "a", "--sum", "b", "--min", "a"]).is_ok());
    }

    #[test]
    fn invalid_measures_are_refused() {
        let error = |arguments: &[&str]| names(arguments).expect_err("an error");
        assert!(error(&["--percentile", "99"]).contains("expected P:FIELD"));
        assert!(error(&["--percentile", "101:a"]).contains("100"));
        assert!(error(&["--sum", ""]).contains("expected the name or number of a field"));
        assert!(error(&["--share", "status >="]).contains("a number, a string or a field"));
    }
}
