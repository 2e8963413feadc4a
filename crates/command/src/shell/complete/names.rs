//! Candidates for values: names that the command line, the files on it, and the program know.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use finecomb_top::{Field, InputFormat, field_start, named_fields};
use ignore::types::TypesBuilder;

use crate::args::Arguments;
use crate::args::tree_index::index_home;
use crate::parse;
use crate::program::Program;
use crate::shell::complete::line::Line;
use crate::shell::manual;
use crate::top::options::{delimiter, measures};

/// Bytes that are read of a log to find the names of its fields, and of a configuration file.
const HEAD: u64 = 16 << 10;

/// Ending of the names of index files.
const INDEX: &str = "comb";

/// Formats of records, as `--input` takes them.
const INPUTS: &[(&str, &str)] = &[
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

/// Kinds of placeholders, as `--normalize` takes them.
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("all", "All of these"),
    ("num", "Numbers"),
    ("hex", "Hexadecimal numbers"),
    ("uuid", "UUIDs"),
    ("ip", "IP addresses"),
    ("path", "Paths"),
];

fn candidate(value: impl Into<String>, help: &str) -> CompletionCandidate {
    let help = Some(help).filter(|help| !help.is_empty()).map(|help| help.to_owned().into());
    CompletionCandidate::new(value.into()).help(help)
}

/// Names that begin with a text, each with a description.
fn described(names: &[(&str, &str)], text: &str) -> Vec<CompletionCandidate> {
    names
        .iter()
        .filter(|(name, _)| name.starts_with(text))
        .map(|&(name, help)| candidate(name, help))
        .collect()
}

/// Candidates for the last part of a text; the other parts are before it.
fn behind(before: &str, names: impl IntoIterator<Item = String>, last: &str) -> Vec<CompletionCandidate> {
    let names = names.into_iter().filter(|name| name.starts_with(last));
    names.map(|name| CompletionCandidate::new(format!("{before}{name}"))).collect()
}

/// Formats of records.
pub(super) fn input(_: &Line, text: &str) -> Vec<CompletionCandidate> {
    described(INPUTS, text)
}

/// Kinds of placeholders, in a list.
pub(super) fn placeholders(_: &Line, text: &str) -> Vec<CompletionCandidate> {
    let (before, last) = text.split_at(text.rfind(',').map_or(0, |comma| comma + 1));
    described(PLACEHOLDERS, last).into_iter().map(|found| found.add_prefix(before)).collect()
}

/// A field of the log on the command line.
pub(super) fn field(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    fields_behind("", line, text, Field::written)
}

/// A list of fields. Names in quotes may have commas.
pub(super) fn fields(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let starts = text.match_indices(',').map(|(comma, _)| comma + 1);
    let start = starts.rev().find(|&start| text[..start].matches('"').count().is_multiple_of(2));
    let (before, last) = text.split_at(start.unwrap_or(0));
    fields_behind(before, line, last, Field::written)
}

/// A percentile and a field.
pub(super) fn percentile(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let Some(colon) = text.find(':') else { return Vec::new() };
    let (before, last) = text.split_at(colon + 1);
    fields_behind(before, line, last, Field::written)
}

/// The field at the end of a condition.
pub(super) fn condition(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let Some(start) = field_start(text) else { return Vec::new() };
    let (before, last) = text.split_at(start);
    fields_behind(before, line, last, Field::in_condition)
}

/// Fields of the log on the command line that begin with a text, as `written`. Falls back to fields whose unquoted name begins with it.
fn fields_behind(
    before: &str,
    line: &Line,
    text: &str,
    written: fn(&Field) -> String,
) -> Vec<CompletionCandidate> {
    // A dot may lead into a record of JSON.
    let (dot, name) = text.strip_prefix('.').map_or(("", text), |name| (".", name));
    let fields = fields_of(line);
    let found = behind(before, fields.iter().map(|field| format!("{dot}{}", written(field))), text);
    if !found.is_empty() {
        return found;
    }
    let unquoted = fields.iter().filter_map(|field| match field.to_string() {
        whole if whole.starts_with(text) => Some(format!("{before}{}", written(field))),
        whole if whole.starts_with(name) => Some(format!("{before}{dot}{}", written(field))),
        _ => None,
    });
    unquoted.map(CompletionCandidate::new).collect()
}

/// An order of the keys: by count, by key, or by one of the measures on the command line.
pub(super) fn order(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let measures = measures::names()
        .flat_map(|name| line.values(name).into_iter().map(move |field| format!("{name}({field})")));
    let percentiles = line.values("percentile").into_iter().filter_map(|value| value.split_once(':'));
    let percentiles = percentiles.map(|(percentile, field)| format!("p{percentile}({field})"));
    behind("", ["count".to_owned(), "key".to_owned()].into_iter().chain(measures).chain(percentiles), text)
}

/// The fields of the first log on the command line.
fn fields_of(line: &Line) -> Vec<Field> {
    let input = line.values("input").last().map_or(Ok(InputFormat::Auto), |input| input.parse());
    let Ok(input) = input else { return Vec::new() };
    if line.others().any(|word| word == "--no-header") {
        return Vec::new();
    }
    let separators = [line.values("fieldseparator"), line.short_values('p')].concat();
    let delimiter = separators.last().and_then(|text| delimiter(text)).unwrap_or(b',');
    // A file may have the name of the command.
    let command = usize::from(Program::current() == Program::Comb);
    let head = line.others().skip(command).find_map(|word| read_head(Path::new(word))).unwrap_or_default();
    named_fields(&input, delimiter, &head)
}

/// The beginning of a regular file; `None` if it is another kind of file, or cannot be read.
fn read_head(path: &Path) -> Option<Vec<u8>> {
    // A pipe could have nothing to read.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

/// Types of files, including types that the command line and the configuration add.
pub(super) fn types(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let configured = parse::configured();
    let configured = configured.iter().filter_map(|argument| argument.to_str()?.strip_prefix("--type-add="));
    for definition in configured.chain(line.values("type-add")) {
        // One that is invalid adds nothing.
        let _ = builder.add_def(definition);
    }
    let found = builder.definitions();
    let found = found.iter().filter(|definition| definition.name().starts_with(text));
    let found = found.map(|definition| candidate(definition.name(), &definition.globs().join(", ")));
    found.chain("all".starts_with(text).then(|| candidate("all", "Files of any type"))).collect()
}

/// Kinds of definitions.
#[cfg(feature = "symbols")]
pub(super) fn kinds(_: &Line, text: &str) -> Vec<CompletionCandidate> {
    behind("", finecomb_symbols::Kind::ALL.map(|kind| kind.name().to_owned()), text)
}

/// Languages of this build.
#[cfg(feature = "symbols")]
pub(super) fn languages(_: &Line, text: &str) -> Vec<CompletionCandidate> {
    behind("", finecomb_symbols::Language::ALL.iter().map(|language| language.name().to_owned()), text)
}

fn is_index_file(path: &Path) -> bool {
    path.extension() == Some(OsStr::new(INDEX)) && path.is_file()
}

/// Index files, and the directories on the way to them.
pub(super) fn index_files(_: &Line, text: &str) -> Vec<CompletionCandidate> {
    PathCompleter::any().filter(is_index_file).complete(OsStr::new(text))
}

/// Index files, with names before them or not.
pub(super) fn named_index_files(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    match text.split_once('=') {
        Some((name, path)) if !name.contains('/') => {
            let found = index_files(line, path).into_iter();
            found.map(|found| found.add_prefix(format!("{name}="))).collect()
        }
        _ => index_files(line, text),
    }
}

/// Index files, and directories with an index.
pub(super) fn indexes(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    roots(line, text).into_iter().chain(index_files(line, text)).collect()
}

/// Directories with an index; any directories if none of these begins with the text.
pub(super) fn indexed_trees(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let found = roots(line, text);
    if found.is_empty() { PathCompleter::dir().complete(OsStr::new(text)) } else { found }
}

/// Directories with an index, relative to the current one if they are below it.
fn roots(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let Some(home) = index_home(line.values("index-dir").last().map(Path::new)) else { return Vec::new() };
    let current = env::current_dir().unwrap_or_default();
    let roots = finecomb_tree_index::roots(&home).into_iter().filter_map(|root| {
        let below = root.strip_prefix(&current).ok().filter(|_| !text.starts_with('/'));
        let shown = below.map_or_else(|| root.to_str(), Path::to_str)?;
        Some(if shown.is_empty() { ".".to_owned() } else { shown.to_owned() })
    });
    let roots = roots.filter(|root| root.starts_with(text));
    roots.map(|root| candidate(root, "Directory with an index")).collect()
}

/// Commands that have a manual page and follow the words before the cursor.
pub(super) fn commands(line: &Line, text: &str) -> Vec<CompletionCandidate> {
    let mut command = Arguments::command();
    // The words before are the name of the program and that of the command.
    for word in line.words().iter().take(line.index()).skip(2).filter_map(|word| word.to_str()) {
        let Some(child) = manual::subcommands(&command).find(|child| child.get_name() == word) else {
            return Vec::new();
        };
        command = child.clone();
    }
    let found = manual::subcommands(&command).filter(|child| child.get_name().starts_with(text));
    let about = |child: &clap::Command| child.get_about().map(ToString::to_string).unwrap_or_default();
    found.map(|child| candidate(child.get_name(), &about(child))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsString;

    use finecomb_top::Normalizer;

    use super::*;
    use crate::shell::complete::shell::Shell;

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
