//! `comb top --formats`: lists the formats of records.

use std::fmt::Write as _;

use finecomb_top::{Field, FieldType, InputFormat, NamedFormat, named_fields, named_formats, sample_faults};

use crate::exit::{Exit, Failure, fail, print};
use crate::shell::candidates::INPUTS;

/// Columns of a line of fields.
const WIDTH: usize = 80;

/// Prints all formats, or one of them with what is known about its fields. Faults of a user's files are errors.
pub(crate) fn show(name: Option<&str>) -> Result<Exit, Failure> {
    let Some(name) = name else { return Ok(list()) };
    match name.parse::<InputFormat>().map_err(|error| format!("--formats: {error}"))? {
        InputFormat::Named(named) => {
            let exit = sample_faults(&named).into_iter().map(|fault| fail(of_file(&named, &fault)));
            let exit = exit.fold(Exit::Found, Exit::or);
            Ok(print(details(&named).as_bytes()).or(exit))
        }
        plain => Ok(print(entry(plain.name(), title(plain.name()), &names(&plain)).as_bytes())),
    }
}

fn list() -> Exit {
    let (mut text, mut exit) = (String::new(), Exit::Found);
    for format in named_formats() {
        match format {
            Ok(named) => {
                for fault in sample_faults(&named) {
                    exit = fail(of_file(&named, &fault)).or(exit);
                }
                let fields: Vec<String> = named.fields().into_iter().map(|(name, _)| name).collect();
                text += &entry(named.name(), named.title(), &fields);
            }
            Err(error) => exit = fail(error).or(exit),
        }
    }
    for (name, title) in INPUTS {
        let fields = name.parse().map_or(Vec::new(), |format| names(&format));
        text += &entry(name, title, &fields);
    }
    print(text.as_bytes()).or(exit)
}

/// A fault with the file of the format.
fn of_file(format: &NamedFormat, fault: &str) -> String {
    match format.file() {
        Some(file) => format!("{}: {fault}", file.display()),
        None => format!("{}: {fault}", format.name()),
    }
}

/// Names of the fields of a format that is no named one; none if the records name them.
fn names(format: &InputFormat) -> Vec<String> {
    named_fields(format, b',', b"").iter().map(Field::written).collect()
}

/// Description of a format that is no named one.
fn title(name: &str) -> &'static str {
    let known = INPUTS.iter().find(|(known, _)| known.trim_end_matches(':') == name);
    known.map_or("", |&(_, title)| title)
}

/// A format with its fields, below its name.
fn entry(name: &str, title: &str, fields: &[String]) -> String {
    let mut text = format!("{name:14}  {title}\n");
    let mut line = String::new();
    for field in fields {
        if !line.is_empty() && 17 + line.len() + field.len() >= WIDTH {
            let _ = writeln!(text, "{:16}{line}", "");
            line.clear();
        }
        let blank = if line.is_empty() { "" } else { " " };
        line += blank;
        line += field;
    }
    if !line.is_empty() {
        let _ = writeln!(text, "{:16}{line}", "");
    }
    text
}

/// All that is known about a format.
fn details(format: &NamedFormat) -> String {
    let mut text = format!("{}: {}\n", format.name(), format.title());
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:9}{value}");
    };
    if let Some(file) = format.file() {
        line("file", &file.display().to_string());
    }
    let (reader, definition) = format.definition();
    line(reader, definition);
    for (label, field) in [("time", format.time()), ("unwrap", format.unwrap())] {
        if let Some(field) = field {
            line(label, &field.written());
        }
    }
    if let Some(record) = format.record() {
        line("record", &record.to_string());
    }
    for (name, kind) in format.fields() {
        line(
            "field",
            &format!("{name}{}", kind.map_or(String::new(), |kind| format!(": {}", FieldType::name(kind)))),
        );
    }
    for sample in format.samples() {
        for record in sample.line.lines() {
            line("sample", record);
        }
    }
    text
}
