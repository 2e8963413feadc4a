//! Hints for flags of other programs.

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Flags of cut, awk, sort, csvkit, xsv, Miller and others, each with a hint.
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
];

/// Adds a suggestion to the error of an unknown flag.
pub(crate) fn add_hint(mut error: Error) -> Error {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return error };
    let flag = flag.split('=').next().unwrap_or(flag);
    let hint = HINTS.iter().find(|(flags, _)| flags.contains(&flag)).map(|&(_, hint)| StyledStr::from(hint));
    if let Some(hint) = hint.filter(|_| error.kind() == ErrorKind::UnknownArgument) {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint]));
    }
    error
}
