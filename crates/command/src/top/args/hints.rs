//! Hints for flags of other programs.

use clap::Error;

use crate::args::tips::{unknown_flag, with_tip};

/// Flags of cut, awk, sort, uniq, csvkit, xsv, Miller, SQL and others, each with a hint.
const HINTS: &[(&[&str], &str)] = &[
    (
        &["-d", "--delimiter", "-F", "--field-separator", "-t", "--separator", "--fs", "--ifs"],
        "'-p REGEX' sets the field separator of lines, and '--input csv -p CHAR' the delimiter of CSV",
    ),
    (&["--csv", "--icsv"], "'--input csv' reads CSV, with a header"),
    (&["--tsv", "--itsv"], "'--input tsv' reads tab-separated values, with a header"),
    (
        &["--ijson", "--jsonl", "--ijsonl", "--ndjson"],
        "'--input json' reads JSON Lines; --json is for the output",
    ),
    (
        &["--no-headers", "--implicit-csv-header", "--headerless-csv-input"],
        "'--no-header' reads CSV and TSV without a header",
    ),
    (
        &["--by", "--group-by", "--groupby", "--group", "--key", "-k"],
        "'-f FIELD' counts by a field, '-f A,B' by several",
    ),
    (&["--avg", "--average"], "'--mean FIELD' prints the mean of a field"),
    (&["--median"], "'--p50 FIELD' prints the median of a field"),
    (&["--quantile"], "'--percentile P:FIELD' and '--p90 FIELD' print percentiles"),
    (&["--uniq", "--unique", "--nunique", "--dc"], "'--distinct FIELD' prints the number of distinct values"),
    (
        &["--rate", "--ratio", "--fraction"],
        "'--share CONDITION' prints the part of a row's records that meet a condition",
    ),
    (&["--filter", "--having", "--condition"], "'--where CONDITION' selects records, '--min-count N' keys"),
    (&["--head", "--limit", "--top", "--max-count", "-l", "-m"], "'-n N' prints the first N keys"),
    (&["-c", "--count"], "counts are always printed; '--totals' adds their sum, '-n 0' omits the keys"),
    (&["--interval", "--bucket", "--bin", "--span", "--timechart"], "'--every 1h' counts by buckets of time"),
    (&["--start", "--from", "--after"], "'--since TIME' omits earlier records"),
    (&["--end", "--to", "--before"], "'--until TIME' omits later records"),
    (&["--follow"], "'--tail' counts what is appended to files"),
];

/// Adds a suggestion to the error of an unknown flag.
pub(crate) fn add_hint(error: Error) -> Error {
    let known = unknown_flag(&error).and_then(|flag| HINTS.iter().find(|(flags, _)| flags.contains(&flag)));
    let hint = known.map(|&(_, hint)| hint.to_owned());
    with_tip(error, hint)
}

#[cfg(test)]
mod tests {
    use super::HINTS;
    use crate::args::named::{definition, find};
    use crate::top::args::TopArguments;

    #[test]
    fn hints_are_for_flags_that_do_not_exist_and_name_some_that_do() {
        let command = definition::<TopArguments>();
        for (flags, hint) in HINTS {
            for flag in *flags {
                let exists = match flag.strip_prefix("--") {
                    Some(long) => find(&command, long).is_some(),
                    None => command.get_arguments().any(|known| known.get_short() == flag.chars().nth(1)),
                };
                assert!(!exists, "{flag}");
            }
            let named =
                hint.split(|char: char| " ';,".contains(char)).filter_map(|word| word.strip_prefix("--"));
            for long in named.filter(|long| *long != "p90") {
                assert!(find(&command, long).is_some(), "{hint}: {long}");
            }
        }
    }
}
