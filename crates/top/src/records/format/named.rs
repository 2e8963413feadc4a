//! Formats with a name, each defined by a file: those of the product in `crates/top/formats`, and those of a user.
//!
//! A file is parsed when its format is named, or when the format of an input is searched and no other fits.
//!
//! | key | |
//! | --- | --- |
//! | `title` | shown in lists |
//! | `template`, `pattern` or `base` | exactly one: how a record is cut |
//! | `recognised` | expression for the lines by which the format is recognised |
//! | `header` | beginning of the first line of a file, if that is no record |
//! | `time` | field with the time of a record |
//! | `unwrap` | field whose text is a record of its own |
//! | `record` | how a record of several lines begins |
//! | `[types]` | kinds of the values of fields |
//! | `[[sample]]` | a record, and the fields that it must give |
//!
//! A field of a pattern may have several places: the groups `NAME_2`, `NAME_3` and so on, if one is `NAME`. The first with a match counts.

pub(crate) mod directory;
mod pattern;
pub(crate) mod recognise;
#[cfg(test)]
mod tests;
mod toml;

use std::path::{Path, PathBuf};

use memchr::memchr;
use regex_syntax::hir::Hir;
use thiserror::Error;

use self::pattern::Pattern;
use self::toml::{Entry, Mistake, Table, Value};
use crate::key::expression::{Case, Expression, parse};
use crate::query::field::Field;
use crate::query::near_names::did_you_mean;
use crate::query::record_begin::RecordBegin;
use crate::records::format::access::{AccessFormat, AccessLog};
use crate::records::format::regex::NO_GROUPS;

/// A format of records that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFormat {
    name: String,
    title: String,
    file: Option<PathBuf>,
    pub(crate) reader: Reader,
    recognised: Option<String>,
    header: Option<String>,
    time: Option<Field>,
    unwrap: Option<Field>,
    record: Option<RecordBegin>,
    types: Vec<(String, FieldType)>,
    samples: Vec<FormatSample>,
}

/// How a record is cut into fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// At the texts between the fields.
    Template(String, AccessFormat),
    /// By the named groups of an expression, which are the fields.
    Pattern(Box<Pattern>),
    /// As in a format whose records name their fields.
    Base(Base),
}

/// A format whose records name their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Csv,
    Json,
    Logfmt,
    Tsv,
    W3c,
}

/// Kind of the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldType {
    /// A number of bytes.
    Bytes,
    /// A length of time: a number, in the unit of the product or with a unit of its own.
    Duration,
    /// An IP address.
    Ip,
    /// Any other number.
    Number,
    /// Anything else.
    Text,
}

/// A record, and fields that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatSample {
    /// The record, after its header if it has one.
    pub line: String,
    /// Fields with their values.
    pub fields: Vec<(Field, String)>,
}

/// An error in the file of a format.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}:{line}: {message}", file.display())]
pub struct FormatFileError {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The error.
    pub message: String,
}

/// The formats of the product, each with its file.
macro_rules! built_in {
    ($($name:literal)+) => {
        const BUILT_IN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../formats/", $name, ".toml")))),+];
    };
}

built_in! {
    "alb"
    "apache_error"
    "auditd"
    "caddy"
    "cri"
    "docker"
    "elb"
    "envoy"
    "haproxy"
    "haproxy_raw"
    "journald"
    "jul"
    "klog"
    "log4j"
    "mysql_slow"
    "nginx_error"
    "postgresql"
    "python"
    "redis"
    "s3"
    "squid"
    "traefik"
    "vpcflow"
    "w3c"
}

/// Where a definition comes from. Expressions of the product are compiled only where they are used, and in tests; those of a user are
/// compiled with the file, so that one that is too large is reported with its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Product,
    User,
}

const KEYS: [&str; 9] =
    ["title", "template", "pattern", "base", "recognised", "header", "time", "unwrap", "record"];

const BASES: [(&str, Base); 5] = [
    ("csv", Base::Csv),
    ("json", Base::Json),
    ("logfmt", Base::Logfmt),
    ("tsv", Base::Tsv),
    ("w3c", Base::W3c),
];

impl FieldType {
    /// All types with their names.
    const ALL: [(&str, Self); 5] = [
        ("bytes", Self::Bytes),
        ("duration", Self::Duration),
        ("ip", Self::Ip),
        ("number", Self::Number),
        ("text", Self::Text),
    ];

    /// Name of the type.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("text", |&(name, _)| name)
    }
}

impl NamedFormat {
    /// Parses the definition of a format, from a file if it is one of a user.
    ///
    /// # Errors
    /// Returns the first error with its line.
    pub fn parse(name: &str, file: Option<&Path>, text: &str) -> Result<Self, FormatFileError> {
        let of_file = |Mistake { line, message }| {
            let file = file.map_or_else(|| format!("formats/{name}.toml").into(), Path::to_owned);
            FormatFileError { file, line, message }
        };
        let origin = if file.is_some() { Origin::User } else { Origin::Product };
        let parsed = toml::parse(text).and_then(|tables| Self::of_tables(name, origin, &tables));
        let format = parsed.map_err(of_file)?;
        Ok(Self { file: file.map(Path::to_owned), ..format })
    }

    fn of_tables(name: &str, origin: Origin, tables: &[Table]) -> Result<Self, Mistake> {
        let (root, tables) = tables.split_first().unwrap_or((const { &Table::EMPTY }, &[]));
        let types = types(tables)?;
        let is_ip = |field: &str| types.iter().any(|(name, kind)| name == field && *kind == FieldType::Ip);
        let mut format = Self {
            name: name.to_owned(),
            title: name.to_owned(),
            file: None,
            reader: reader(root, origin, is_ip)?,
            recognised: None,
            header: None,
            time: None,
            unwrap: None,
            record: None,
            types: Vec::new(),
            samples: Vec::new(),
        };
        for entry in &root.entries {
            let value = entry.text()?;
            match &*entry.key {
                "title" => value.clone_into(&mut format.title),
                "recognised" => {
                    entry.expression(value, origin)?;
                    format.recognised = Some(value.to_owned());
                }
                "header" => format.header = Some(value.to_owned()),
                "time" => format.time = Some(format.field(entry, value)?),
                "unwrap" => format.unwrap = Some(format.field(entry, value)?),
                "record" if matches!(format.reader, Reader::Base(Base::Csv | Base::Tsv | Base::W3c)) => {
                    return Err(
                        entry.mistake("records of this base are lines, or have quotes around line ends")
                    );
                }
                "record" => format.record = Some(entry.record(value, origin)?),
                // They are the reader.
                "template" | "pattern" | "base" => {}
                other => return Err(entry.mistake(unknown("key", other, KEYS))),
            }
        }
        for table in tables {
            match (&*table.name, table.is_element) {
                ("sample", true) => format.samples.push(format.sample(table)?),
                ("types", false) => {
                    table.entries.iter().try_for_each(|entry| format.field(entry, &entry.key).map(drop))?;
                }
                (other, _) => {
                    let message = format!("unknown table '{other}'; expected [types] or [[sample]]");
                    return Err(Mistake { line: table.line, message });
                }
            }
        }
        Ok(Self { types, ..format })
    }

    /// Returns the field with this name, which the format must have.
    fn field(&self, entry: &Entry, name: &str) -> Result<Field, Mistake> {
        let names = self.reader.names();
        if !names.is_empty() && !names.contains(&name) {
            return Err(entry.mistake(unknown("field", name, names.iter().copied())));
        }
        match self.reader {
            Reader::Base(Base::Json) => Field::parse(name).map_err(|error| entry.mistake(error.to_string())),
            _ => Ok(Field::named(name)),
        }
    }

    fn sample(&self, table: &Table) -> Result<FormatSample, Mistake> {
        let mut sample = FormatSample { line: String::new(), fields: Vec::new() };
        for entry in &table.entries {
            match (&*entry.key, &entry.value) {
                ("line", Value::Text(line)) => line.clone_into(&mut sample.line),
                ("fields", Value::Table(fields)) => {
                    let field =
                        |(name, value): &(String, String)| Ok((self.field(entry, name)?, value.clone()));
                    sample.fields = fields.iter().map(field).collect::<Result<_, _>>()?;
                }
                _ => return Err(entry.mistake("expected line = 'a record' or fields = { name = 'value' }")),
            }
        }
        if sample.line.is_empty() {
            return Err(Mistake { line: table.line, message: "a sample needs a line".to_owned() });
        }
        Ok(sample)
    }

    /// Name, as typed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Logs that have the format, for people.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// How a record is cut: `template`, `pattern` or `base`, and its value.
    pub fn definition(&self) -> (&'static str, &str) {
        match &self.reader {
            Reader::Template(template, _) => ("template", template),
            Reader::Pattern(pattern) => ("pattern", pattern.text()),
            Reader::Base(base) => {
                ("base", BASES.iter().find(|(_, known)| known == base).map_or("", |&(name, _)| name))
            }
        }
    }

    /// File of a user with the definition; `None` if it is a format of the product.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Field with the time of a record. Default: the usual names.
    pub fn time(&self) -> Option<&Field> {
        self.time.as_ref()
    }

    /// Field whose text is a record of its own.
    pub fn unwrap(&self) -> Option<&Field> {
        self.unwrap.as_ref()
    }

    /// Length of the header at the beginning of a text, with its line end. `None` if more of the text is needed; `is_all` says that there
    /// is no more.
    pub(crate) fn header_length(&self, text: &[u8], is_all: bool) -> Option<usize> {
        match &self.header {
            Some(header) if text.starts_with(header.as_bytes()) => {
                memchr(b'\n', text).map(|end| end + 1).or_else(|| is_all.then_some(text.len()))
            }
            Some(header) if !is_all && header.as_bytes().starts_with(text) => None,
            _ => Some(0),
        }
    }

    /// Whether the first line of a file may be a header.
    pub(crate) fn has_header(&self) -> bool {
        self.header.is_some()
    }

    /// How a record of several lines begins.
    pub fn record(&self) -> Option<&RecordBegin> {
        self.record.as_ref()
    }

    /// Records with their fields.
    pub fn samples(&self) -> &[FormatSample] {
        &self.samples
    }

    /// Whether its records have all of these fields.
    pub(crate) fn has(&self, fields: &[Field]) -> bool {
        match &self.reader {
            Reader::Template(_, format) => AccessLog::new(format, fields).is_ok(),
            Reader::Pattern(pattern) => pattern.records(fields).is_ok(),
            Reader::Base(_) => false,
        }
    }

    /// The fields with what they are, if that is known. If the records name their fields, those of the types and samples.
    pub fn fields(&self) -> Vec<(String, Option<FieldType>)> {
        let mut names: Vec<String> = self.reader.names().into_iter().map(str::to_owned).collect();
        if names.is_empty() {
            names.extend(self.types.iter().map(|(name, _)| name.clone()));
            let of_samples = self.samples.iter().flat_map(|sample| &sample.fields);
            names.extend(of_samples.map(|(field, _)| field.written()));
            let mut seen = Vec::new();
            names.retain(|name| {
                let is_new = !seen.contains(name);
                seen.push(name.clone());
                is_new
            });
        }
        let kind = |name: &str| self.types.iter().find(|(known, _)| known == name).map(|&(_, kind)| kind);
        names.into_iter().map(|name| (name.clone(), kind(&name))).collect()
    }
}

impl Reader {
    /// Names of the fields; none if the records name them.
    pub(crate) fn names(&self) -> Vec<&str> {
        match self {
            Self::Template(_, format) => format.names(),
            Self::Pattern(pattern) => pattern.names().iter().map(String::as_str).collect(),
            Self::Base(_) => Vec::new(),
        }
    }
}

impl Table {
    const EMPTY: Self = Self { name: String::new(), is_element: false, line: 1, entries: Vec::new() };
}

impl Entry {
    fn mistake(&self, message: impl Into<String>) -> Mistake {
        Mistake { line: self.line, message: message.into() }
    }

    fn text(&self) -> Result<&str, Mistake> {
        match &self.value {
            Value::Text(text) => Ok(text),
            Value::Table(_) => Err(self.mistake(format!("expected a text in quotes after '{} ='", self.key))),
        }
    }

    /// The lines that begin a record.
    fn record(&self, text: &str, origin: Origin) -> Result<RecordBegin, Mistake> {
        let Ok(begin) = text.parse::<RecordBegin>();
        match origin {
            Origin::User => begin.start().map(drop).map_err(|error| self.mistake(error.to_string()))?,
            Origin::Product => (),
        }
        Ok(begin)
    }

    /// Parses a regular expression.
    fn expression(&self, text: &str, origin: Origin) -> Result<Hir, Mistake> {
        let hir = parse(text, Case::Distinct);
        let checked = hir.and_then(|hir| match origin {
            Origin::User => Expression::from_hir(hir.clone()).map(|_| hir),
            Origin::Product => Ok(hir),
        });
        checked.map_err(|error| self.mistake(error.to_string()))
    }
}

/// The message about an unknown name.
fn unknown<'n>(kind: &str, name: &str, names: impl IntoIterator<Item = &'n str> + Clone) -> String {
    let list = || format!("expected {}", names.clone().into_iter().collect::<Vec<_>>().join(", "));
    format!("unknown {kind} '{name}'; {}", did_you_mean(name, names.clone()).unwrap_or_else(list))
}

/// The types of the fields.
fn types(tables: &[Table]) -> Result<Vec<(String, FieldType)>, Mistake> {
    let entries = tables.iter().filter(|table| table.name == "types").flat_map(|table| &table.entries);
    let of_entry = |entry: &Entry| {
        let name = entry.text()?;
        match FieldType::ALL.iter().find(|(known, _)| *known == name) {
            Some(&(_, kind)) => Ok((entry.key.clone(), kind)),
            None => Err(entry.mistake(unknown("type", name, FieldType::ALL.map(|(name, _)| name)))),
        }
    };
    entries.map(of_entry).collect()
}

/// How records are cut, by the one key that says it.
fn reader(root: &Table, origin: Origin, is_ip: impl Fn(&str) -> bool) -> Result<Reader, Mistake> {
    let mut readers = root.entries.iter().filter(|entry| KEYS[1..4].contains(&&*entry.key));
    let one = "expected one of template, pattern and base";
    let Some(entry) = readers.next() else { return Err(Mistake { line: 1, message: one.to_owned() }) };
    if let Some(other) = readers.next() {
        return Err(other.mistake(format!("{one}; found {} as well", other.key)));
    }
    let value = entry.text()?;
    match &*entry.key {
        "template" => AccessFormat::template(value, is_ip)
            .map(|format| Reader::Template(value.to_owned(), format))
            .map_err(|error| entry.mistake(error.to_string())),
        "pattern" => {
            let pattern = Pattern::new(value, &entry.expression(value, origin)?);
            if pattern.names().is_empty() {
                return Err(entry.mistake(NO_GROUPS));
            }
            Ok(Reader::Pattern(Box::new(pattern)))
        }
        _ => match BASES.iter().find(|(name, _)| *name == value) {
            Some(&(_, base)) => Ok(Reader::Base(base)),
            None => Err(entry.mistake(unknown("base", value, BASES.map(|(name, _)| name)))),
        },
    }
}
