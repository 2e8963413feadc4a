//! Flags of percentiles by number, such as `--p90 FIELD`, which stand for `--percentile 90:FIELD`.

use std::ffi::OsString;

use finecomb_top::Percentile;

use crate::args::named::Named;
use crate::args::value;
use crate::top::options::measures::PERCENTILE;

/// Beginning of the flags.
const BEGINNING: &str = "--p";

/// Command line with `--percentile` in place of the first flag that is written like this, whose number or field may be wrong. `None` if
/// the flag is no number.
pub(crate) fn with_percentile(flag: &str, arguments: &[OsString]) -> Option<Vec<OsString>> {
    let number = flag.strip_prefix(BEGINNING)?;
    if !number.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let value_of = |argument: &OsString| {
        let rest = argument.to_str()?.strip_prefix(flag)?;
        if rest.is_empty() { Some(None) } else { rest.strip_prefix('=').map(|field| Some(field.to_owned())) }
    };
    let (at, field) =
        arguments.iter().enumerate().find_map(|(at, argument)| Some((at, value_of(argument)?)))?;
    let (field, end) = match field {
        Some(field) => (field, at + 1),
        None => match arguments.get(at + 1) {
            Some(field) => (field.to_str()?.to_owned(), at + 2),
            None => (String::new(), at + 1),
        },
    };
    let mut written = arguments.to_vec();
    written.splice(at..end, [format!("--percentile={number}:{field}").into()]);
    Some(written)
}

/// Options with `percentile` in place of those with a name such as `p90`.
pub(super) fn named(options: Named, is_known: impl Fn(&str) -> bool) -> Named {
    let mut written = Named::new();
    for (name, value) in options {
        let number = name.strip_prefix('p').and_then(percentile).filter(|_| !is_known(&name));
        let texts = number.as_ref().and_then(|_| value::texts(&value).ok());
        let (Some(number), Some(texts)) = (number, texts) else {
            written.push((name, value));
            continue;
        };
        let mut all: Vec<String> = texts.iter().map(|field| format!("{number}:{field}")).collect();
        // A later option would replace an earlier one of its name.
        if let Some(at) = written.iter().position(|(name, _)| name == PERCENTILE) {
            let (_, earlier) = written.remove(at);
            all.splice(0..0, value::texts(&earlier).unwrap_or_default());
        }
        written.push((PERCENTILE.to_owned(), all.into()));
    }
    written
}

/// The number of a percentile. In the names of options of other languages, a point is an underscore.
fn percentile(number: &str) -> Option<String> {
    let number = number.replace('_', ".");
    Percentile::parse(&number).is_ok().then_some(number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn flags_by_number_become_percentile() {
        let written = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let flag = line.split([' ', '=']).find(|word| word.starts_with("--p"))?;
            let written = with_percentile(flag, &words)?;
            Some(written.join(" ".as_ref()).into_string().expect("UTF-8"))
        };
        for (line, expected) in [
            ("comb top --p90 dur log", Some("comb top --percentile=90:dur log")),
            ("comb top --p99.9=dur log", Some("comb top --percentile=99.9:dur log")),
            ("comb top -n 3 --p5 a,b", Some("comb top -n 3 --percentile=5:a,b")),
            ("comb top --p90", Some("comb top --percentile=90:")),
            ("comb top --p101 dur", Some("comb top --percentile=101:dur")),
            ("comb top --p_5 dur", None),
            ("comb top --parse dur", None),
            ("comb top --p dur", None),
        ] {
            assert_eq!(written(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn options_by_number_become_percentile() {
        let options =
            [("p90", json!("dur")), ("p99", json!("x")), ("p99_9", json!(["a", "b"])), ("pairs", json!(1))];
        let options = options.map(|(name, value)| (name.to_owned(), value)).to_vec();
        let written = named(options, |name| name == "p99");
        let expected =
            [("p99", json!("x")), ("percentile", json!(["90:dur", "99.9:a", "99.9:b"])), ("pairs", json!(1))];
        assert_eq!(written, expected.map(|(name, value)| (name.to_owned(), value)));
    }
}
