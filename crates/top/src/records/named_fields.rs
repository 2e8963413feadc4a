//! Named fields at the beginning of a log, for completions.

use std::collections::BTreeMap;
use std::iter::once;

use finecomb_scan::{Heading, MemberPath, ObjectSpans};
use memchr::memmem::Finder;
use serde_json::Value;

use crate::cells::{Span, bytes_of};
use crate::key::expression::{Case, Expression};
use crate::query::field::{Field, Name, Step};
use crate::query::input_format::InputFormat;
use crate::records::format::Extractor;
use crate::records::format::access::AccessFormat;
use crate::records::format::csv::Header;
use crate::records::format::detect::{Detected, detect};
use crate::records::format::logfmt::all as pairs;
use crate::records::format::syslog;
use crate::records::format::w3c::{self, headings, names};
use crate::records::layout::{dialect, first_record};
use crate::records::unwrap::outer_record;

/// Maximum number of records of JSON and logfmt whose names are collected.
const RECORDS: usize = 100;

/// Maximum number of names.
const NAMES: usize = 500;

/// Returns the fields of a log in this format that have names, in the order of the format if it has one.
///
/// `head` is the beginning of the log; a last line without its end is ignored if there is another one. CSV has this delimiter. A format without
/// names, and a text that is not in the format, give none.
pub fn named_fields(input: &InputFormat, delimiter: u8, head: &[u8]) -> Vec<Field> {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let whole = memchr::memrchr(b'\n', head).map_or(head, |end| &head[..=end]);
    let detected = match input {
        InputFormat::Auto => detect(whole, true, &[]).unwrap_or(Detected::Unknown),
        known => Detected::Known(known),
    };
    match detected {
        Detected::Table { delimiter } => header(delimiter, whole),
        Detected::Unknown => Vec::new(),
        Detected::Documents => members(objects(whole).iter().map(|&span| bytes_of(whole, span))),
        Detected::Known(format) => match format.plain() {
            InputFormat::Csv => header(Some(delimiter), whole),
            InputFormat::Tsv => header(None, whole),
            InputFormat::Clf => access(&AccessFormat::clf()),
            InputFormat::Combined => access(&AccessFormat::combined()),
            InputFormat::VhostCombined => access(&AccessFormat::vhost_combined()),
            InputFormat::Nginx(format) => {
                AccessFormat::nginx(format).map_or(Vec::new(), |format| access(&format))
            }
            InputFormat::Json => members(lines(whole)),
            InputFormat::Logfmt => keys(lines(whole)),
            InputFormat::Syslog => syslog::names().map(flat).collect(),
            InputFormat::Regex(pattern) => groups(pattern),
            InputFormat::Named(_) if format.has_headings() => columns(whole),
            InputFormat::Named(named) => named.fields().iter().map(|(name, _)| flat(name)).collect(),
            InputFormat::Lines | InputFormat::Auto => Vec::new(),
        },
    }
}

fn access(format: &AccessFormat) -> Vec<Field> {
    format.names().into_iter().map(flat).collect()
}

/// The field with this name in a format without nested values. There, dots are part of a name, and need no quotes.
pub(crate) fn flat(name: &str) -> Field {
    match Field::parse(name) {
        Ok(Field::Named(parsed)) if parsed.text == name && !name.contains([',', '"', '[']) => {
            Field::Named(parsed)
        }
        _ => Field::named(name),
    }
}

fn header(delimiter: Option<u8>, head: &[u8]) -> Vec<Field> {
    let Some((record, _)) = first_record(head, delimiter, true) else { return Vec::new() };
    let header = dialect(delimiter).and_then(|dialect| Header::parse(dialect, record));
    let Ok(header) = header else { return Vec::new() };
    header.names().filter(|name| !name.is_empty()).map(flat).collect()
}

/// The names in the first line of a W3C log that has some.
fn columns(head: &[u8]) -> Vec<Field> {
    let names =
        headings(&Finder::new(w3c::FIELDS), head).next().into_iter().flat_map(|(_, line)| names(line));
    names.filter_map(|name| std::str::from_utf8(name).ok()).map(flat).collect()
}

fn groups(pattern: &str) -> Vec<Field> {
    let Ok(regex) = Expression::new(pattern, Case::Distinct) else { return Vec::new() };
    crate::records::format::regex::names(regex.regex().group_info()).map(flat).collect()
}

/// The fields of a record whose names are in the text: members of an object, keys of pairs, and the columns of a W3C log after this heading.
/// Other formats have none.
pub(crate) fn names_in_record(
    extractor: &Extractor,
    (text, heading): (&[u8], &Option<Heading>),
    record: Span,
) -> Vec<Field> {
    let record_text = once(bytes_of(text, record));
    match extractor {
        Extractor::Json(_) => members(record_text),
        Extractor::Logfmt(_) => keys(record_text),
        Extractor::W3c(_) => heading.as_deref().map_or_else(Vec::new, columns),
        Extractor::Unwrapped(fields) => {
            let mut names = names_in_record(fields.inner(), (text, heading), record);
            names.extend(names_in_record(fields.outer(), (text, heading), outer_record(text, record)));
            names
        }
        _ => Vec::new(),
    }
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(RECORDS)
}

/// The keys of the pairs of all records, in the order in which they come first.
pub(crate) fn keys<'h>(records: impl Iterator<Item = &'h [u8]>) -> Vec<Field> {
    let mut names = Vec::new();
    for record in records {
        // The pairs before an error count.
        let _ = pairs::visit(record, (0, record.len()), |key, _| {
            let Ok(name) = std::str::from_utf8(key) else { return };
            let field = flat(name);
            if names.len() < NAMES && !names.contains(&field) {
                names.push(field);
            }
        });
    }
    names
}

/// The first objects of a text of documents.
fn objects(text: &[u8]) -> Vec<Span> {
    ObjectSpans::default().find(text, MemberPath::default()).iter().take(RECORDS).copied().collect()
}

/// The paths of all members of objects that are no objects themselves. Arrays count as one.
pub(crate) fn members<'h>(records: impl Iterator<Item = &'h [u8]>) -> Vec<Field> {
    let mut fields = BTreeMap::new();
    for record in records {
        if let Ok(record) = serde_json::from_slice::<Value>(record) {
            add_members(&record, &mut Vec::new(), &mut fields);
        }
    }
    fields.into_values().collect()
}

fn add_members(value: &Value, path: &mut Vec<Step>, fields: &mut BTreeMap<String, Field>) {
    if let Value::Object(object) = value {
        for (key, value) in object.iter().filter(|(key, _)| !key.is_empty()) {
            path.push(Step::Key(key.clone()));
            add_members(value, path, fields);
            path.pop();
        }
    } else if !path.is_empty() && fields.len() < NAMES {
        let keys = path.iter().filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        });
        let text = keys.collect::<Vec<_>>().join(".");
        let field = Field::Named(Name { text, path: path.clone() });
        fields.insert(field.written(), field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(input: &str, head: &str) -> String {
        let fields = named_fields(&input.parse().expect("a format"), b',', head.as_bytes());
        fields.iter().map(Field::written).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_format_has_its_names() {
        let log = "192.0.2.1 - - [01/Mar/2026:00:22:48 +0000] \"GET /a HTTP/1.1\" 304 0 \"-\" \"curl\"\n";
        assert!(names("auto", log).starts_with("remote_addr "), "{}", names("auto", log));
        assert!(names("auto", log).contains(" path ") && names("auto", log).contains(" user_agent"));
        assert!(!names("clf", log).contains("user_agent"));
        assert_eq!(names("csv", "id,a.b,\"c,d\",.e,7\n1,2,3,4,5\n"), "id a.b \"c,d\" \".e\" \"7\"");
        assert_eq!(names("tsv", "a\tb\n1\t2\n"), "a b");
        assert_eq!(names("auto", "{\"b\":{\"x.y\":1,\"z\":[1]}}\n{\"a\":null}\n"), "a b.\"x.y\" b.z");
        assert_eq!(
            names("auto", "level=info msg=\"a b=c\" dur=1\nlevel=info msg=\"x\" user=y\n"),
            "level msg dur user"
        );
        assert!(names("syslog", "").contains("program"));
        assert_eq!(names("regex:(?<host>[a-z]+) (?<n>[0-9]+)", ""), "host n");
        assert_eq!(names("nginx:$remote_addr $status", ""), "remote_addr status");
    }

    #[test]
    fn other_text_has_none() {
        for text in ["", "one line", "plain\ntext\nof words\n", "{\"cut\": \"of", "\u{0}\u{1}"] {
            assert_eq!(names("auto", text), "", "{text}");
        }
        assert_eq!(names("lines", "a b\n"), "");
        assert_eq!(names("csv", "\"open\n"), "");
    }

    #[test]
    fn quotes_of_logfmt_end_as_in_its_records() {
        assert_eq!(names("logfmt", "a=\"x \\\\\" b=1 c=\"x=\\\" y=2\" d=1\ne=\"open f=1\n"), "a b c d");
    }

    #[test]
    fn a_line_that_is_cut_off_is_ignored() {
        assert_eq!(names("auto", "{\"a\":1}\n{\"a\":1}\n{\"a\":1,\"b\":2"), "a");
        assert_eq!(names("csv", "a,b"), "a b");
    }
}
