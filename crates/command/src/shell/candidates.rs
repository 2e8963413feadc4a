//! Candidates for the values of flags: names that the command line, the files on it, and the program know.
//!
//! The definition of a flag names the function. Values of other flags are paths, where they have such a hint, or one of the list in their definition.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use clap::Arg;
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use finecomb_scan::{Accumulate, Block, FoldOptions, Inputs, Meter, ScanOptions, Width, fold};
use finecomb_top::{CHANGE_COLUMNS, Field, InputFormat, field_start, named_fields, named_formats};
use ignore::types::{FileTypeDef, TypesBuilder};

use crate::args::delimiter::delimiter;
use crate::args::tree_index::index_home;
use crate::program::Program;
use crate::shell::line::Line;
use crate::top::options::measures;

/// Bytes that are read of a log to find the names of its fields.
const HEAD: usize = 16 << 10;

/// Number of logs whose fields are found.
const MAX_LOGS: usize = 8;

/// Ending of the names of index files.
const INDEX: &str = "comb";

/// Formats of records without a file, as `--input` takes them.
pub(crate) const INPUTS: &[(&str, &str)] = &[
    ("auto", "Decided for each file by its first records"),
    ("lines", "Fields are numbers"),
    ("clf", "Access log in the Common Log Format"),
    ("combined", "Access log with referrer and user agent"),
    ("vhost_combined", "Access log with a virtual host"),
    ("nginx:", "Access log with the log_format of nginx"),
    ("csv", "Comma-separated values with a header"),
    ("tsv", "Tab-separated values with a header"),
    ("json", "One JSON object per line"),
    ("logfmt", "Pairs of key=value"),
    ("syslog", "RFC 3164 and RFC 5424"),
    ("regex:", "Named groups of a regular expression"),
];

/// Lines that begin a record, as `--record` takes them.
const RECORDS: &[(&str, &str)] = &[
    ("time", "Lines that begin with a time"),
    ("indent", "Lines that are not indented"),
    ("^", "Lines that match a regular expression, such as ^[0-9]"),
];

/// Kinds of placeholders, as `--normalize` takes them.
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("all", "All of these"),
    ("num", "Numbers"),
    ("hex", "Hexadecimal numbers"),
    ("uuid", "UUIDs"),
    ("time", "Times"),
    ("ip", "IP addresses"),
    ("path", "Paths"),
];

fn candidate(value: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(help.to_owned().into()))
}

/// Names, each with a description.
fn described(names: &[(&str, &str)]) -> Vec<CompletionCandidate> {
    names.iter().map(|(name, help)| candidate(name, help)).collect()
}

/// The candidates that begin with a text.
fn beginning(mut found: Vec<CompletionCandidate>, text: &str) -> Vec<CompletionCandidate> {
    found.retain(|candidate| candidate.get_value().as_encoded_bytes().starts_with(text.as_bytes()));
    found
}

/// Formats of records.
pub(crate) fn inputs() -> Vec<CompletionCandidate> {
    let named = named_formats().into_iter().filter_map(Result::ok);
    let mut found = described(INPUTS);
    found.extend(named.map(|format| candidate(format.name(), format.title())));
    found
}

/// Lines that begin a record.
pub(crate) fn records() -> Vec<CompletionCandidate> {
    described(RECORDS)
}

/// Kinds of placeholders, in a list.
pub(crate) fn placeholders(_: &Line, text: &str) -> Vec<CompletionCandidate> {
    let (before, last) = text.split_at(text.rfind(',').map_or(0, |comma| comma + 1));
    beginning(described(PLACEHOLDERS), last).into_iter().map(|found| found.add_prefix(before)).collect()
}

/// A field of the log on the command line.
pub(crate) fn field(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    fields_from(Some(0), line, text, Field::written)
}

/// A list of fields. Names in quotes may have commas.
pub(crate) fn fields(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let starts = text.match_indices(',').map(|(comma, _)| comma + 1);
    let start = starts.rev().find(|&start| text[..start].matches('"').count().is_multiple_of(2));
    fields_from(start.or(Some(0)), line, text, Field::written)
}

/// A percentile and a field.
pub(crate) fn percentile(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    fields_from(text.find(':').map(|colon| colon + 1), line, text, Field::written)
}

/// The field at the end of a condition.
pub(crate) fn condition(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    fields_from(field_start(text), line, text, Field::in_condition)
}

/// Fields of the log on the command line that begin with what follows a place in a text, as `written`. Falls back to fields whose unquoted name
/// begins with it.
fn fields_from(
    start: Option<usize>,
    line: &Line,
    text: &str,
    written: fn(&Field) -> String,
) -> Vec<CompletionCandidate> {
    let Some((before, text)) = start.map(|start| text.split_at(start)) else { return Vec::new() };
    // A dot may lead into a record of JSON.
    let (dot, name) = text.strip_prefix('.').map_or(("", text), |name| (".", name));
    let mut fields = fields_of(line);
    fields.extend(text.starts_with('@').then(Field::input));
    let whole = fields.iter().map(|field| format!("{dot}{}", written(field)));
    let mut found: Vec<String> = whole.filter(|field| field.starts_with(text)).collect();
    if found.is_empty() {
        let unquoted = fields.iter().filter_map(|field| match field.to_string() {
            whole if whole.starts_with(text) => Some(written(field)),
            whole if whole.starts_with(name) => Some(format!("{dot}{}", written(field))),
            _ => None,
        });
        found.extend(unquoted);
    }
    found.into_iter().map(|field| CompletionCandidate::new(format!("{before}{field}"))).collect()
}

/// An order of the keys: by count, by key, or by one of the measures on the command line.
pub(crate) fn order(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let top = line.program.find_subcommand("top").unwrap_or(&line.program);
    let measures = top.get_arguments().filter(|flag| flag.get_help_heading() == Some(measures::HEADING));
    let measures = measures.filter_map(Arg::get_long).flat_map(|name| {
        let values = line.values(&[&format!("--{name}")]).into_iter();
        values.filter_map(move |value| match name {
            "percentile" => {
                value.split_once(':').map(|(percentile, field)| format!("p{percentile}({field})"))
            }
            _ => Some(format!("{name}({value})")),
        })
    });
    let is_diff = line.others().any(|word| word.as_encoded_bytes().starts_with(b"--diff"));
    let of_changes = CHANGE_COLUMNS.iter().take(2).filter(|_| is_diff).map(|&name| name.to_owned());
    let all = ["count".to_owned(), "key".to_owned()].into_iter().chain(of_changes).chain(measures);
    beginning(all.map(CompletionCandidate::new).collect(), text)
}

/// The fields of the logs on the command line, those of the first log first.
fn fields_of(line: &Line) -> Vec<Field> {
    let input = line.values(&["--input"]).last().map_or(Ok(InputFormat::Auto), |input| input.parse());
    let Ok(input) = input else { return Vec::new() };
    if line.others().any(|word| word == "--no-header") {
        return Vec::new();
    }
    let separators = line.values(&["-p", "--fieldseparator"]);
    let delimiter = separators.last().and_then(|text| delimiter(text)).unwrap_or(b',');
    // A file may have the name of the command.
    let command = usize::from(Program::current() == Program::Comb);
    let logs = line.others().skip(command).filter_map(|word| beginning_of_log(Path::new(word)));
    // Some formats have the same fields in every log.
    let mut fields = named_fields(&input, delimiter, b"");
    for head in logs.take(MAX_LOGS) {
        for field in named_fields(&input, delimiter, &head) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
    }
    fields
}

/// The beginning of a log, decompressed; `None` if it is no regular file.
fn beginning_of_log(path: &Path) -> Option<Vec<u8>> {
    // A pipe could have nothing to read.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let scan = ScanOptions::default().width(Width::Fixed(1)).block_size(HEAD);
    Some(fold(&Inputs::new([path]), &FoldOptions::default().scan(scan), Head::default).joined.concat())
}

/// The first bytes of an input.
#[derive(Default)]
struct Head(Vec<u8>);

impl Accumulate for Head {
    type Part = Vec<u8>;
    type Joined = Vec<u8>;

    fn take(&mut self, block: &Block<'_>, _meter: &mut Meter) -> ControlFlow<()> {
        let wanted = HEAD - self.0.len();
        self.0.extend_from_slice(&block.bytes[..block.bytes.len().min(wanted)]);
        if self.0.len() < HEAD { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn into_parts(self) -> Vec<Self::Part> {
        vec![self.0]
    }

    fn join(parts: Vec<Self::Part>) -> Self::Joined {
        parts.concat()
    }
}

/// Types of files, including types that the command line and the configuration add.
pub(crate) fn types(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let configured =
        line.configured.iter().filter_map(|argument| argument.to_str()?.strip_prefix("--type-add="));
    for definition in configured.chain(line.values(&["--type-add"])) {
        // One that is invalid adds nothing.
        let _ = builder.add_def(definition);
    }
    let mut found = vec![candidate("all", "Files of any type")];
    let of = |definition: &FileTypeDef| candidate(definition.name(), &definition.globs().join(", "));
    found.extend(builder.definitions().iter().map(of));
    beginning(found, text)
}

/// Kinds of definitions.
#[cfg(feature = "symbols")]
pub(crate) fn kinds() -> Vec<CompletionCandidate> {
    finecomb_symbols::Kind::ALL.iter().map(|kind| CompletionCandidate::new(kind.name())).collect()
}

/// Languages of this build.
#[cfg(feature = "symbols")]
pub(crate) fn languages() -> Vec<CompletionCandidate> {
    finecomb_symbols::Language::ALL.iter().map(|language| CompletionCandidate::new(language.name())).collect()
}

fn is_index_file(path: &Path) -> bool {
    path.extension() == Some(OsStr::new(INDEX)) && path.is_file()
}

/// Index files, and the directories on the way to them.
pub(crate) fn index_files(_: &Line, text: &str) -> Vec<CompletionCandidate> {
    PathCompleter::any().filter(is_index_file).complete(OsStr::new(text))
}

/// Index files, with names before them or not.
pub(crate) fn named_index_files(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    match text.split_once('=') {
        Some((name, path)) if !name.contains('/') => {
            let found = index_files(line, path).into_iter();
            found.map(|found| found.add_prefix(format!("{name}="))).collect()
        }
        _ => index_files(line, text),
    }
}

/// Index files, and directories with an index.
pub(crate) fn indexes(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    roots(line, text).into_iter().chain(index_files(line, text)).collect()
}

/// Directories with an index; any directories if none of these begins with the text.
pub(crate) fn indexed_trees(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let found = roots(line, text);
    if found.is_empty() { PathCompleter::dir().complete(OsStr::new(text)) } else { found }
}

/// Directories with an index, relative to the current one if they are below it.
fn roots(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let Some(home) = index_home(line.values(&["--index-dir"]).last().map(Path::new)) else {
        return Vec::new();
    };
    let current = env::current_dir().unwrap_or_default();
    let roots = finecomb_tree_index::roots(&home).into_iter().filter_map(|root| {
        let below = root.strip_prefix(&current).ok().filter(|_| !text.starts_with('/'));
        let shown = below.map_or_else(|| root.to_str(), Path::to_str)?;
        Some(if shown.is_empty() { ".".to_owned() } else { shown.to_owned() })
    });
    beginning(roots.map(|root| candidate(&root, "Directory with an index")).collect(), text)
}

/// Commands that have a manual page and follow the words before the cursor.
pub(crate) fn commands(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let mut command = &line.program;
    // The words before are the name of the program and that of the command.
    for word in line.words.iter().take(line.index).skip(2) {
        let Some(child) = command.find_subcommand(word) else { return Vec::new() };
        command = child;
    }
    let found = command.get_subcommands().filter(|child| !child.is_hide_set());
    let found =
        found.map(|child| CompletionCandidate::new(child.get_name()).help(child.get_about().cloned()));
    beginning(found.collect(), text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsString;

    use clap_complete::Shell;
    use finecomb_top::Normalizer;

    use super::*;

    #[test]
    fn formats_and_placeholders_are_those_that_are_parsed() {
        let names =
            InputFormat::NAMES.iter().map(|name| name.find(':').map_or(*name, |colon| &name[..=colon]));
        let offered: BTreeSet<&str> = INPUTS.iter().map(|(name, _)| *name).collect();
        assert_eq!(offered, names.chain(["auto"]).collect());
        for (name, _) in PLACEHOLDERS {
            assert!(Normalizer::new(name).is_ok(), "{name}");
        }
    }

    fn values(found: Vec<CompletionCandidate>) -> Vec<String> {
        found.iter().map(|found| found.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_last_word_of_a_condition_is_completed() {
        let words = ["comb", "top", "--input", "clf", "--where", ""];
        let line = Line::new(&words.map(OsString::from), 5, Shell::Bash);
        assert_eq!(values(condition(&line, "status >= 500 && pa")), ["status >= 500 && path"]);
        assert_eq!(values(condition(&line, "user ~ \"pa")), [""; 0]);
        assert_eq!(values(fields(&line, "path,stat")), ["path,status"]);
        assert_eq!(values(percentile(&line, "99.9:byt")), ["99.9:bytes"]);
        assert_eq!(values(percentile(&line, "99")), [""; 0]);
    }
}
