//! Fields of syslog records, of RFC 3164 and of RFC 5424. The form is recognised for each record.
//!
//! A record of RFC 5424 begins with a priority and a version: `<165>1 2003-10-11T22:14:15.003Z host app procid msgid
//! [id a="b"] message`. `-` stands for a field that the record does not have. The words of the header are separated by
//! spaces.
//!
//! Any other record has the form of RFC 3164, as files of `/var/log` have it: `<34>Oct 11 22:14:15 host tag[123]:
//! message`. The priority may be absent, and the time stamp may be one of RFC 3339, as rsyslog and systemd write it. The
//! tag is the word before the first `:` or `[`. Without one of them, as in `last message repeated 2 times`, there is no
//! tag. If a `[` is not closed by `]` in the same word, or if other text than `:` directly follows the `]`, there is no
//! tag either.
//!
//! A message is the rest of the record without the blanks before it, and missing if it is empty.
//!
//! A record is examined from its start to the last wanted field, at least to its host. A record of RFC 3164 is malformed
//! if it has no time stamp, followed by blanks and a host. One of RFC 5424 is malformed if it has no time stamp of RFC
//! 3339 or `-`, if one of the following words is absent, or if its structured data is violated. A record that begins
//! with `<` is malformed if no priority from 0 to 191 follows.

use crate::cells::{Cell, Cells, Span, Violation, bytes_of};
use crate::query::field::Field;
use crate::query::input_format::FormatError;
use crate::query::near_names::field_meant;
use crate::records::escape::{closing_quote, unescape};

/// Extracts fields of syslog records.
#[derive(Clone, Debug)]
pub(crate) struct Syslog {
    wanted: Vec<WantedField>,
    depth: Depth,
}

/// An error for a field that syslog records cannot have, as it is shown, with its name if it has one.
fn unknown_field(field: &str, name: Option<&str>) -> FormatError {
    let near = name.and_then(|name| field_meant(name, FIELDS.iter().flat_map(|(_, names)| *names).copied()));
    let hint = near.unwrap_or_else(|| {
        let names = names().collect::<Vec<_>>().join(", ");
        format!("their fields are {names} and, of structured data, sd.ID.PARAM")
    });
    FormatError::Other(format!("syslog records have no field {field}; {hint}"))
}

/// The fields other than those of structured data, each with its name and its aliases.
const FIELDS: [(WantedField, &[&str]); 10] = [
    (WantedField::Priority, &["pri", "priority"]),
    (WantedField::Facility, &["facility"]),
    (WantedField::Severity, &["severity"]),
    (WantedField::Version, &["version"]),
    (WantedField::Time, &["time", "timestamp"]),
    (WantedField::Host, &["host", "hostname"]),
    (WantedField::Program, &["program", "app", "appname", "tag"]),
    (WantedField::ProcessId, &["pid", "procid"]),
    (WantedField::MessageId, &["msgid"]),
    (WantedField::Message, &["message", "msg"]),
];

/// The names of the fields other than those of structured data, without their aliases.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().filter_map(|(_, names)| names.first().copied())
}

/// A wanted field.
#[derive(Clone, Debug, PartialEq, Eq)]
enum WantedField {
    Priority,
    Facility,
    Severity,
    Version,
    Time,
    Host,
    Program,
    ProcessId,
    MessageId,
    /// A parameter of the structured data: `ID.PARAM`.
    Parameter(Box<[u8]>),
    Message,
}

/// The last part of a record that is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    Host,
    Program,
    ProcessId,
    MessageId,
    /// The structured data.
    Data,
    Message,
}

/// Names of facilities, by number, as rsyslog has them.
const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp",
    "ntp", "audit", "alert", "clock", "local0", "local1", "local2", "local3", "local4", "local5", "local6",
    "local7",
];

/// Names of severities, by number.
const SEVERITIES: [&str; 8] = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"];

impl WantedField {
    fn new(field: &Field) -> Result<Self, FormatError> {
        let Field::Named(name) = field else { return Err(unknown_field(&field.to_string(), None)) };
        let name = name.text.as_str();
        if let Some((field, _)) = FIELDS.iter().find(|(_, names)| names.contains(&name)) {
            return Ok(field.clone());
        }
        match name.strip_prefix("sd.").and_then(|rest| Some((rest, rest.split_once('.')?))) {
            Some((rest, (id, parameter))) if !id.is_empty() && !parameter.is_empty() => {
                Ok(Self::Parameter(rest.as_bytes().into()))
            }
            _ => Err(unknown_field(&format!("'{name}'"), Some(name))),
        }
    }

    fn depth(&self) -> Depth {
        match self {
            Self::Priority | Self::Facility | Self::Severity | Self::Version | Self::Time | Self::Host => {
                Depth::Host
            }
            Self::Program => Depth::Program,
            Self::ProcessId => Depth::ProcessId,
            Self::MessageId => Depth::MessageId,
            Self::Parameter(_) => Depth::Data,
            Self::Message => Depth::Message,
        }
    }
}

impl Syslog {
    /// An extractor of these fields.
    pub(crate) fn new(fields: &[Field]) -> Result<Self, FormatError> {
        let wanted = fields.iter().map(WantedField::new).collect::<Result<Vec<_>, _>>()?;
        let depth = wanted.iter().map(WantedField::depth).max().unwrap_or(Depth::Host);
        Ok(Self { wanted, depth })
    }

    /// Appends the values of the wanted fields of all records.
    pub(crate) fn extract(&self, text: &[u8], records: &[Span], cells: &mut Cells) {
        let mut facilities = [None; FACILITIES.len()];
        let mut severities = [None; SEVERITIES.len()];
        let mut parameters = Vec::new();
        for (index, &record) in records.iter().enumerate() {
            let parts = match SyslogParts::parse(text, record, self.depth, &mut parameters) {
                Ok(parts) => parts,
                Err(violation) => {
                    cells.push_malformed(index, violation);
                    continue;
                }
            };
            let (facility, severity) = match parts.priority {
                Some((_, priority)) => (Some(usize::from(priority / 8)), Some(usize::from(priority % 8))),
                None => (None, None),
            };
            for (column, wanted) in self.wanted.iter().enumerate() {
                let cell = match wanted {
                    WantedField::Priority => Cell::at(parts.priority.map(|(span, _)| span)),
                    WantedField::Facility => name(cells, &FACILITIES, &mut facilities, facility),
                    WantedField::Severity => name(cells, &SEVERITIES, &mut severities, severity),
                    WantedField::Version => Cell::at(parts.version),
                    WantedField::Time => Cell::at(parts.time),
                    WantedField::Host => Cell::at(parts.host),
                    WantedField::Program => Cell::at(parts.program),
                    WantedField::ProcessId => Cell::at(parts.process_id),
                    WantedField::MessageId => Cell::at(parts.message_id),
                    WantedField::Message => Cell::at(parts.message),
                    WantedField::Parameter(name) => {
                        match parameters.iter().find(|parameter| parameter.has_name(text, name)) {
                            None => Cell::Missing,
                            Some(parameter) => value(cells, text, parameter.value),
                        }
                    }
                };
                cells.columns_mut()[column].push(cell);
            }
        }
    }
}

/// Returns the value of a name, which is stored once per block.
fn name(cells: &mut Cells, names: &[&str], known: &mut [Option<Cell>], number: Option<usize>) -> Cell {
    let Some(number) = number else { return Cell::Missing };
    *known[number].get_or_insert_with(|| cells.decode(|out| out.extend_from_slice(names[number].as_bytes())))
}

/// Returns the value of a parameter.
fn value(cells: &mut Cells, text: &[u8], span: Span) -> Cell {
    let value = bytes_of(text, span);
    match value.contains(&b'\\') {
        true => cells.decode(|out| _ = unescape(value, out, unescape_one)),
        false => Cell::raw(span),
    }
}

/// The parts of a record that were examined.
#[derive(Clone, Debug, Default)]
pub(super) struct SyslogParts {
    /// Digits and number.
    pub(super) priority: Option<(Span, u8)>,
    version: Option<Span>,
    time: Option<Span>,
    pub(super) host: Option<Span>,
    pub(super) program: Option<Span>,
    process_id: Option<Span>,
    message_id: Option<Span>,
    message: Option<Span>,
}

/// A parameter of an element of structured data.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    id: Span,
    name: Span,
    /// The value without its quotes.
    value: Span,
}

impl Parameter {
    /// Whether this is the parameter `ID.PARAM`. Both parts may contain dots.
    fn has_name(&self, text: &[u8], name: &[u8]) -> bool {
        let rest = name.strip_prefix(bytes_of(text, self.id)).and_then(|rest| rest.strip_prefix(b"."));
        rest == Some(bytes_of(text, self.name))
    }
}

impl SyslogParts {
    /// Examines a record. The parameters of its structured data are stored in `parameters` if it is examined.
    pub(super) fn parse(
        text: &[u8],
        (start, end): Span,
        depth: Depth,
        parameters: &mut Vec<Parameter>,
    ) -> Result<Self, Violation> {
        parameters.clear();
        let mut reader = RecordReader { text: &text[..end], at: start };
        let mut parts = Self { priority: reader.priority()?, ..Self::default() };
        if parts.priority.is_some() {
            parts.version = reader.version();
        }
        match parts.version {
            Some(_) => parts.read_new_form(&mut reader, depth, parameters)?,
            None => parts.read_old_form(&mut reader, depth)?,
        }
        Ok(parts)
    }

    /// Reads the rest of a record of RFC 3164.
    fn read_old_form(&mut self, reader: &mut RecordReader<'_>, depth: Depth) -> Result<(), Violation> {
        let expected = "expected a time stamp such as 'Oct 11 22:14:15' or '2003-10-11T22:14:15Z'";
        let rest = reader.rest();
        let length = month_time(rest).or_else(|| internet_time(rest)).ok_or((reader.at, expected))?;
        self.time = Some((reader.at, reader.at + length));
        reader.at += length;
        if !matches!(reader.rest(), [] | [b' ' | b'\t', ..]) {
            return Err((reader.at, expected));
        }
        reader.skip_blanks();
        self.host = Some(reader.word(is_blank).ok_or((reader.at, "expected a host after the time stamp"))?);
        if depth > Depth::Host {
            reader.skip_blanks();
            self.read_tag(reader);
            self.message = reader.message();
        }
        Ok(())
    }

    /// Reads a tag and a process id. Leaves the reader where it is if there is no tag.
    fn read_tag(&mut self, reader: &mut RecordReader<'_>) {
        let start = reader.at;
        let tag = reader.word(|byte| is_blank(byte) || byte == b':' || byte == b'[');
        match (tag, reader.rest()) {
            (Some(_), [b':', ..]) => {
                self.program = tag;
                reader.at += 1;
            }
            (Some(_), [b'[', ..]) => {
                reader.at += 1;
                let process_id = reader.word(|byte| is_blank(byte) || byte == b']');
                let after = match reader.rest() {
                    [b']', b':', ..] => 2,
                    [b']'] | [b']', b' ' | b'\t', ..] => 1,
                    _ => {
                        reader.at = start;
                        return;
                    }
                };
                reader.at += after;
                (self.program, self.process_id) = (tag, process_id);
            }
            _ => reader.at = start,
        }
    }

    /// Reads the rest of a record of RFC 5424.
    fn read_new_form(
        &mut self,
        reader: &mut RecordReader<'_>,
        depth: Depth,
        parameters: &mut Vec<Parameter>,
    ) -> Result<(), Violation> {
        let expected = "expected a time stamp such as '2003-10-11T22:14:15Z', or '-'";
        self.time = reader.header_word(expected)?;
        if let Some(time) = self.time.filter(|&time| {
            let time = bytes_of(reader.text, time);
            internet_time(time) != Some(time.len())
        }) {
            return Err((time.0, expected));
        }
        self.host = reader.header_word("expected a host after the time stamp")?;
        if depth >= Depth::Program {
            self.program = reader.header_word("expected a program after the host")?;
        }
        if depth >= Depth::ProcessId {
            self.process_id = reader.header_word("expected a process id after the program")?;
        }
        if depth >= Depth::MessageId {
            self.message_id = reader.header_word("expected a message id after the process id")?;
        }
        if depth >= Depth::Data {
            reader.structured_data(parameters)?;
        }
        if depth >= Depth::Message {
            reader.skip_blanks();
            // RFC 5424 marks a message in UTF-8 by a byte order mark.
            reader.skip(b"\xEF\xBB\xBF");
            self.message = reader.message();
        }
        Ok(())
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// A position in a record.
struct RecordReader<'a> {
    /// The text up to the end of the record.
    text: &'a [u8],
    at: usize,
}

impl<'a> RecordReader<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().iter().take_while(|&&byte| is_blank(byte)).count();
    }

    /// Skips this text if it is next.
    fn skip(&mut self, expected: &[u8]) -> bool {
        let is_next = self.rest().starts_with(expected);
        self.at += if is_next { expected.len() } else { 0 };
        is_next
    }

    /// Reads at least one byte, up to one that ends the word.
    fn word(&mut self, ends: impl Fn(u8) -> bool) -> Option<Span> {
        let start = self.at;
        self.at += self.rest().iter().take_while(|&&byte| !ends(byte)).count();
        (self.at > start).then_some((start, self.at))
    }

    /// Reads a priority such as `<34>`, if the record begins with `<`.
    fn priority(&mut self) -> Result<Option<(Span, u8)>, Violation> {
        let start = self.at;
        if !self.skip(b"<") {
            return Ok(None);
        }
        let digits = self.word(|byte| !byte.is_ascii_digit()).filter(|&(start, end)| end - start <= 3);
        let number = digits.and_then(|digits| str::from_utf8(bytes_of(self.text, digits)).ok()?.parse().ok());
        match (digits, number) {
            (Some(digits), Some(number @ 0..=191)) if self.skip(b">") => Ok(Some((digits, number))),
            _ => Err((start, "expected a priority from <0> to <191>")),
        }
    }

    /// Reads a version, which begins a record of RFC 5424: at most three digits, the first of them not zero, and a
    /// space.
    fn version(&mut self) -> Option<Span> {
        let digits = self.rest().iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
        let is_version = (1..4).contains(&digits)
            && self.rest()[0] != b'0'
            && self.rest().get(digits).is_some_and(|&byte| byte == b' ');
        is_version.then(|| {
            self.at += digits;
            (self.at - digits, self.at)
        })
    }

    /// Reads a word of the header of RFC 5424, and the spaces before it. `-` is none.
    fn header_word(&mut self, expected: &'static str) -> Result<Option<Span>, Violation> {
        self.at += self.rest().iter().take_while(|&&byte| byte == b' ').count();
        let word = self.word(|byte| byte == b' ').ok_or((self.at, expected))?;
        Ok(Some(word).filter(|&word| bytes_of(self.text, word) != b"-"))
    }

    fn message(&mut self) -> Option<Span> {
        self.skip_blanks();
        (self.at < self.text.len()).then_some((self.at, self.text.len()))
    }

    /// Reads structured data: `-`, or elements such as `[id a="b" c="d"]`. A blank follows, or the record ends.
    fn structured_data(&mut self, parameters: &mut Vec<Parameter>) -> Result<(), Violation> {
        self.at += self.rest().iter().take_while(|&&byte| byte == b' ').count();
        let start = self.at;
        if !self.skip(b"-") {
            while self.skip(b"[") {
                self.element(parameters)?;
            }
        }
        match self.rest() {
            [] | [b' ', ..] if self.at > start => Ok(()),
            _ if self.at > start => Err((self.at, "expected a space after the structured data")),
            _ => Err((self.at, "expected structured data, or '-', after the message id")),
        }
    }

    /// Reads an element after its opening bracket.
    fn element(&mut self, parameters: &mut Vec<Parameter>) -> Result<(), Violation> {
        let ends_name = |byte| matches!(byte, b' ' | b'=' | b']' | b'"');
        let id = self.word(ends_name).ok_or((self.at, "expected an id after '['"))?;
        loop {
            let before = self.at;
            self.at += self.rest().iter().take_while(|&&byte| byte == b' ').count();
            if self.skip(b"]") {
                return Ok(());
            }
            let name = self.word(ends_name).filter(|name| name.0 > before);
            let name = name.ok_or((before, "expected a parameter or ']'"))?;
            if !self.skip(b"=\"") {
                return Err((self.at, "expected '=' and a quoted value after the name of a parameter"));
            }
            let value = self.quoted().ok_or((self.at - 1, "unclosed quote"))?;
            parameters.push(Parameter { id, name, value });
        }
    }

    /// Reads a value after its opening quote, with the closing quote. `None` if there is no closing quote.
    fn quoted(&mut self) -> Option<Span> {
        let value = (self.at, self.at + closing_quote(self.rest())?);
        self.at = value.1 + 1;
        Some(value)
    }
}

/// Returns the length of a time stamp such as `Oct 11 22:14:15`, `Oct  1 22:14:15`, `Oct 1 22:14:15` or
/// `Oct 11 22:14:15.123`.
fn month_time(text: &[u8]) -> Option<usize> {
    const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let month = text.first_chunk::<3>()?;
    if !MONTHS.as_chunks::<3>().0.contains(month) {
        return None;
    }
    let day = match text.get(3..7)? {
        [b' ', b' ', day, b' '] if day.is_ascii_digit() => 4,
        [b' ', ten, day, b' '] if ten.is_ascii_digit() && day.is_ascii_digit() => 4,
        [b' ', day, b' ', _] if day.is_ascii_digit() => 3,
        _ => return None,
    };
    Some(3 + day + clock_time(&text[3 + day..])?)
}

/// Returns the length of a time stamp of RFC 3339, such as `2024-05-01T10:00:00.123456+02:00`. The colon in the offset,
/// and the offset, may be absent.
fn internet_time(text: &[u8]) -> Option<usize> {
    if !has_shape(text, b"0000-00-00T") {
        return None;
    }
    let length = 11 + clock_time(&text[11..])?;
    let zone = &text[length..];
    let zone = match zone.first() {
        Some(b'Z' | b'z') => 1,
        Some(b'+' | b'-') if has_shape(&zone[1..], b"00:00") => 6,
        Some(b'+' | b'-') if has_shape(&zone[1..], b"0000") => 5,
        _ => 0,
    };
    Some(length + zone)
}

/// Returns the length of a time such as `22:14:15` or `22:14:15.003`.
fn clock_time(text: &[u8]) -> Option<usize> {
    if !has_shape(text, b"00:00:00") {
        return None;
    }
    let fraction = match text.get(8) {
        Some(b'.') => text[9..].iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => 0,
    };
    Some(if fraction > 0 { 9 + fraction } else { 8 })
}

/// Whether a text begins with this shape, in which `0` stands for any digit.
#[inline(always)]
fn has_shape<const N: usize>(text: &[u8], shape: &[u8; N]) -> bool {
    text.first_chunk::<N>().is_some_and(|text| {
        text.iter().zip(shape).all(
            |(byte, &shape)| {
                if shape == b'0' { byte.is_ascii_digit() } else { *byte == shape }
            },
        )
    })
}

/// Removes a backslash before `"`, `\` and `]`.
fn unescape_one(text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    text.get(1).filter(|byte| b"\"\\]".contains(byte)).map(|byte| {
        out.push(*byte);
        2
    })
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use regex::bytes::Regex;

    use super::*;

    const NAMES: [&str; 12] = [
        "pri",
        "facility",
        "severity",
        "version",
        "time",
        "host",
        "program",
        "pid",
        "msgid",
        "message",
        "sd.id@1.a",
        "sd.x.y.b",
    ];

    type Values = Vec<Option<Vec<u8>>>;

    /// The values of the fields of each record, or the position and reason of the violation.
    fn extract(text: &[u8], records: &[Span], names: &[&str]) -> Vec<Result<Values, (usize, &'static str)>> {
        let fields: Vec<Field> = names.iter().map(|name| Field::named(name)).collect();
        let mut cells = Cells::default();
        cells.reset(fields.len());
        Syslog::new(&fields).expect("names").extract(text, records, &mut cells);
        let outcome = |(index, record): (usize, &Span)| {
            let value = |field| cells.bytes(text, cells.column(field)[index]).map(<[u8]>::to_vec);
            let values: Values = (0..names.len()).map(value).collect();
            match cells.malformed().iter().find(|malformed| malformed.record as usize == index) {
                Some(malformed) => {
                    assert!(values.iter().all(Option::is_none), "a malformed record has no values");
                    Err((malformed.at as usize - record.0, malformed.reason))
                }
                None => Ok(values),
            }
        };
        records.iter().enumerate().map(outcome).collect()
    }

    /// Reference implementation: one expression for each part, from the front, up to `depth`.
    fn reference(record: &[u8], names: &[&str], depth: Depth) -> Option<Values> {
        static PRIORITY: LazyLock<Regex> = LazyLock::new(|| new(r"^<([0-9]{1,3})>"));
        static VERSION: LazyLock<Regex> = LazyLock::new(|| new(r"^([1-9][0-9]{0,2}) "));
        let mut known: Vec<(String, Vec<u8>)> = Vec::new();
        let mut rest = record;
        if record.starts_with(b"<") {
            let priority = PRIORITY.captures(record)?;
            let number: usize = str::from_utf8(&priority[1]).ok()?.parse().ok()?;
            known.push(("pri".into(), priority[1].to_vec()));
            known.push(("facility".into(), FACILITIES.get(number / 8)?.as_bytes().to_vec()));
            known.push(("severity".into(), SEVERITIES[number % 8].as_bytes().to_vec()));
            rest = &record[priority[0].len()..];
        }
        match VERSION.captures(rest).filter(|_| !known.is_empty()) {
            Some(version) => {
                known.push(("version".into(), version[1].to_vec()));
                reference_new(&rest[version[1].len()..], depth, &mut known)?;
            }
            None => reference_old(rest, &mut known)?,
        }
        let value =
            |name: &&str| known.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        Some(names.iter().map(value).collect())
    }

    fn new(pattern: &str) -> Regex {
        Regex::new(&format!("(?s-u){pattern}")).expect("a valid pattern")
    }

    const INTERNET_TIME: &str =
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|[-+][0-9]{2}:?[0-9]{2})?";

    fn reference_old(record: &[u8], known: &mut Vec<(String, Vec<u8>)>) -> Option<()> {
        static FORM: LazyLock<Regex> = LazyLock::new(|| {
            let month = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (?: ?[0-9]|[0-9]{2})";
            let time = format!(r"(?:{month} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:\.[0-9]+)?|{INTERNET_TIME})");
            let tag = r"(?:([^ \t:\[]+)(?:\[([^ \t\]]*)\](?::|[ \t]|$)|:))?";
            new(&format!(r"^({time})[ \t]+([^ \t]+)(?:[ \t]+{tag}[ \t]*(.*))?$"))
        });
        let parts = FORM.captures(record)?;
        for (index, name) in (1..).zip(["time", "host", "program", "pid", "message"]) {
            if let Some(part) = parts.get(index).filter(|part| !part.is_empty()) {
                known.push((name.into(), part.as_bytes().to_vec()));
            }
        }
        Some(())
    }

    fn reference_new(record: &[u8], depth: Depth, known: &mut Vec<(String, Vec<u8>)>) -> Option<()> {
        static WORD: LazyLock<Regex> = LazyLock::new(|| new("^ *([^ ]+)"));
        static TIME: LazyLock<Regex> = LazyLock::new(|| new(&format!("^(?:-|{INTERNET_TIME})$")));
        let mut rest = record;
        let words = [
            ("time", Depth::Host),
            ("host", Depth::Host),
            ("program", Depth::Program),
            ("pid", Depth::ProcessId),
            ("msgid", Depth::MessageId),
        ];
        for (name, needed) in words {
            if needed > depth {
                return Some(());
            }
            let word = WORD.captures(rest)?;
            if name == "time" && !TIME.is_match(&word[1]) {
                return None;
            }
            if &word[1] != b"-" {
                known.push((name.into(), word[1].to_vec()));
            }
            rest = &rest[word[0].len()..];
        }
        if depth < Depth::Data {
            return Some(());
        }
        let length = reference_data(rest, known)?;
        let blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
        let trim = |text: &'_ [u8]| text.iter().take_while(|byte| blank(byte)).count();
        let mut message = &rest[length..];
        message = &message[trim(message)..];
        message = message.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(message);
        message = &message[trim(message)..];
        if !message.is_empty() && depth == Depth::Message {
            known.push(("message".into(), message.to_vec()));
        }
        Some(())
    }

    /// Reads structured data byte by byte and returns its length, with the spaces before it.
    fn reference_data(text: &[u8], known: &mut Vec<(String, Vec<u8>)>) -> Option<usize> {
        let mut bytes = Bytes(text);
        bytes.take_while(|byte| byte == b' ');
        let is_nil = bytes.0.first() == Some(&b'-');
        if is_nil {
            bytes.next()?;
        } else if bytes.0.first() != Some(&b'[') {
            return None;
        }
        while !is_nil && bytes.0.first() == Some(&b'[') {
            bytes.next()?;
            let id = Some(bytes.take_while(is_name)).filter(|id| !id.is_empty())?;
            let mut spaces = bytes.take_while(|byte| byte == b' ');
            while bytes.0.first() != Some(&b']') {
                let name = Some(bytes.take_while(is_name)).filter(|name| !name.is_empty())?;
                if spaces.is_empty() || bytes.next()? != b'=' || bytes.next()? != b'"' {
                    return None;
                }
                known.push((format!("sd.{id}.{name}"), reference_value(&mut bytes)?));
                spaces = bytes.take_while(|byte| byte == b' ');
            }
            bytes.next()?;
        }
        matches!(bytes.0.first(), None | Some(b' ')).then_some(text.len() - bytes.0.len())
    }

    fn is_name(byte: u8) -> bool {
        !b" =]\"".contains(&byte)
    }

    /// Reads a value and its closing quote.
    fn reference_value(bytes: &mut Bytes<'_>) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        loop {
            match bytes.next()? {
                b'"' => return Some(value),
                b'\\' => match bytes.next()? {
                    byte @ (b'"' | b'\\' | b']') => value.push(byte),
                    byte => value.extend([b'\\', byte]),
                },
                byte => value.push(byte),
            }
        }
    }

    /// The rest of a text.
    struct Bytes<'a>(&'a [u8]);

    impl Bytes<'_> {
        fn next(&mut self) -> Option<u8> {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            Some(byte)
        }

        /// Takes bytes, each as the character with its number.
        fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> String {
            let mut taken = String::new();
            while let Some(byte) = self.0.first().copied().filter(|&byte| wanted(byte)) {
                taken.push(char::from(byte));
                self.0 = &self.0[1..];
            }
            taken
        }
    }

    const PIECES: &[&str] = &[
        "<34>",
        "<165>1 ",
        "<191>",
        "<192>",
        "<1>",
        "<",
        "1 ",
        "Oct 11 22:14:15 ",
        "Oct  1 22:14:15",
        "Oct 1 22:14:15 ",
        "Jan 02 03:04:05.678 ",
        "2003-10-11T22:14:15.003Z ",
        "2024-05-01T10:00:00+02:00",
        "2024-05-01T10:00:00-0200 ",
        "host ",
        "tag",
        "[12]",
        "]",
        "[",
        ":",
        ": ",
        " ",
        " - ",
        "- - - ",
        "\t",
        "-",
        "app pid id ",
        "[id@1 a=\"1\"]",
        "[id@1 a=\"\\\"\\]\\x\" b=\"2\"]",
        "[x.y b=\"\"]",
        " b=\"3\" ",
        "\"",
        "\\",
        "\u{FEFF}",
        "message",
        "é",
        "\0",
    ];

    fn records() -> impl Strategy<Value = Vec<u8>> {
        let header =
            prop::sample::select(&["", "<165>1 2003-10-11T22:14:15Z h a 1 m ", "Oct 11 22:14:15 h "][..]);
        let piece = prop_oneof![
            12 => prop::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 1..4),
        ];
        let pieces = prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat());
        (header, pieces).prop_map(|(header, rest)| [header.as_bytes(), &rest].concat())
    }

    proptest! {
        #[test]
        fn fields_equal_those_of_the_reference(
            lines in prop::collection::vec(records(), 0..6),
            names in prop::collection::vec(prop::sample::select(&NAMES[..]), 1..5),
        ) {
            let mut records = Vec::new();
            let mut text = Vec::new();
            for line in &lines {
                records.push((text.len(), text.len() + line.len()));
                text.extend_from_slice(line);
                text.push(b'\n');
            }
            let fields: Vec<Field> = names.iter().map(|name| Field::named(name)).collect();
            let depth = Syslog::new(&fields).expect("names").depth;
            let expected: Vec<_> = lines.iter().map(|line| reference(line, &names, depth)).collect();
            let found: Vec<_> = extract(&text, &records, &names).into_iter().map(Result::ok).collect();
            prop_assert_eq!(found, expected);
        }
    }

    fn all(record: &str) -> Result<Vec<(&'static str, String)>, (usize, &'static str)> {
        let values = extract(record.as_bytes(), &[(0, record.len())], &NAMES).remove(0)?;
        let shown = |(name, value): (&'static str, Option<Vec<u8>>)| {
            Some((name, String::from_utf8(value?).expect("UTF-8")))
        };
        Ok(NAMES.into_iter().zip(values).filter_map(shown).collect())
    }

    fn pairs<const N: usize>(pairs: [(&'static str, &str); N]) -> Vec<(&'static str, String)> {
        pairs.map(|(name, value)| (name, value.to_owned())).to_vec()
    }

    #[test]
    fn records_of_rfc_3164() {
        let expected = pairs([
            ("pri", "34"),
            ("facility", "auth"),
            ("severity", "crit"),
            ("time", "Oct 11 22:14:15"),
            ("host", "mymachine"),
            ("program", "su"),
            ("message", "'su root' failed for lonvick on /dev/pts/8"),
        ]);
        let record = "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8";
        assert_eq!(all(record), Ok(expected));
        let expected = pairs([
            ("time", "Feb  5 17:32:18"),
            ("host", "10.0.0.99"),
            ("program", "postfix/smtpd"),
            ("pid", "123"),
            ("message", "connect from unknown[10.0.0.1]"),
        ]);
        let record = "Feb  5 17:32:18 10.0.0.99 postfix/smtpd[123]: connect from unknown[10.0.0.1]";
        assert_eq!(all(record), Ok(expected));
        let expected = pairs([
            ("time", "2024-05-01T10:00:00.123456+02:00"),
            ("host", "web1"),
            ("program", "kernel"),
            ("message", "[   12.3] usb 1-1: new device"),
        ]);
        let record = "2024-05-01T10:00:00.123456+02:00 web1 kernel: [   12.3] usb 1-1: new device";
        assert_eq!(all(record), Ok(expected));
    }

    #[test]
    fn a_tag_ends_with_a_colon_or_a_process_id() {
        let rest = |rest: &str| {
            let parts = all(&format!("Oct 11 22:14:15 host{rest}")).expect("well-formed");
            parts.into_iter().skip(2).map(|(_, value)| value).collect::<Vec<_>>().join("|")
        };
        assert_eq!(rest(" last message repeated 2 times"), "last message repeated 2 times");
        assert_eq!(rest(" -- MARK --"), "-- MARK --");
        assert_eq!(rest(" sshd(pam_unix)[19939]: failure"), "sshd(pam_unix)|19939|failure");
        assert_eq!(rest(" launchd[1] (com.example): exited"), "launchd|1|(com.example): exited");
        assert_eq!(rest(" a[1 b]: c"), "a[1 b]: c");
        assert_eq!(rest(" a[1]b: c"), "a[1]b: c");
        assert_eq!(rest(" [1]: c"), "[1]: c");
        assert_eq!(rest(" a[]: c"), "a|c");
        assert_eq!(rest(" a[1]"), "a|1");
        assert_eq!(rest(" a:"), "a");
        assert_eq!(rest(" \ta:b"), "a|b");
        assert_eq!(rest(""), "");
    }

    #[test]
    fn records_of_rfc_5424() {
        let record = concat!(
            "<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 ",
            r#"[id@1 a="quoted \"x\" \] \\ \n" b="2"][x.y b=""] "#,
            "\u{FEFF}An application event"
        );
        let expected = pairs([
            ("pri", "165"),
            ("facility", "local4"),
            ("severity", "notice"),
            ("version", "1"),
            ("time", "2003-10-11T22:14:15.003Z"),
            ("host", "mymachine.example.com"),
            ("program", "evntslog"),
            ("msgid", "ID47"),
            ("message", "An application event"),
            ("sd.id@1.a", r#"quoted "x" ] \ \n"#),
            ("sd.x.y.b", ""),
        ]);
        assert_eq!(all(record), Ok(expected));
        let nil = pairs([("pri", "0"), ("facility", "kern"), ("severity", "emerg"), ("version", "1")]);
        assert_eq!(all("<0>1 - - - - - -"), Ok(nil));
    }

    #[test]
    fn violations_are_reported_with_their_place() {
        let time = "expected a time stamp such as 'Oct 11 22:14:15' or '2003-10-11T22:14:15Z'";
        let new_time = "expected a time stamp such as '2003-10-11T22:14:15Z', or '-'";
        assert_eq!(all(""), Err((0, time)));
        assert_eq!(all("words of a message"), Err((0, time)));
        assert_eq!(all("<34>Okt 11 22:14:15 host a: b"), Err((4, time)));
        assert_eq!(all("Oct 11 22:14:15: host a: b"), Err((15, time)));
        assert_eq!(all("Oct 11 22:14:15 "), Err((16, "expected a host after the time stamp")));
        assert_eq!(all("<192>Oct 11 22:14:15 host"), Err((0, "expected a priority from <0> to <191>")));
        assert_eq!(all("<1x>Oct 11 22:14:15 host"), Err((0, "expected a priority from <0> to <191>")));
        assert_eq!(all("<1>1 Oct 11 22:14:15 host"), Err((5, new_time)));
        assert_eq!(all("<1>1 - h a"), Err((10, "expected a process id after the program")));
        assert_eq!(
            all("<1>1 - h a p m message"),
            Err((15, "expected structured data, or '-', after the message id"))
        );
        assert_eq!(all("<1>1 - h a p m -x"), Err((16, "expected a space after the structured data")));
        assert_eq!(all("<1>1 - h a p m [i a=\"x]"), Err((20, "unclosed quote")));
        assert_eq!(
            all("<1>1 - h a p m [i a]"),
            Err((19, "expected '=' and a quoted value after the name of a parameter"))
        );
    }

    #[test]
    fn a_violation_counts_only_if_it_is_reached() {
        let record = b"<1>1 - h a p m [x";
        let outcome = |name| extract(record, &[(0, record.len())], &[name]).remove(0);
        assert_eq!(outcome("msgid"), Ok(vec![Some(b"m".to_vec())]));
        assert_eq!(outcome("message"), Err((17, "expected a parameter or ']'")));
    }

    #[test]
    fn fields_have_several_names() {
        let record = b"<34>Oct 11 22:14:15 host tag[7]: hello";
        let names = ["timestamp", "hostname", "app", "appname", "tag", "procid", "msg", "priority", "tag"];
        let values = ["Oct 11 22:14:15", "host", "tag", "tag", "tag", "7", "hello", "34", "tag"];
        let expected: Values = values.iter().map(|value| Some(value.as_bytes().to_vec())).collect();
        assert_eq!(extract(record, &[(0, record.len())], &names), [Ok(expected)]);
    }

    #[test]
    fn unknown_fields_are_refused() {
        let error = |field| Syslog::new(&[field]).expect_err("an error").to_string();
        let known = "their fields are pri, facility, severity, version, time, host, program, pid, msgid, message and, \
                     of structured data, sd.ID.PARAM";
        assert_eq!(error(Field::named("status")), format!("syslog records have no field 'status'; {known}"));
        assert_eq!(error(Field::named("sd.x")), format!("syslog records have no field 'sd.x'; {known}"));
        assert_eq!(error(Field::Position(3)), format!("syslog records have no field 3; {known}"));
        let near = "syslog records have no field 'programm'; did you mean 'program'?";
        assert_eq!(error(Field::named("programm")), near);
    }

    #[test]
    fn every_listed_name_is_a_field_and_aliases_are_the_same() {
        for (_, names) in super::FIELDS {
            let field = |name: &str| WantedField::new(&Field::named(name)).expect("a field");
            assert!(names.iter().all(|name| field(name) == field(names[0])), "{names:?}");
        }
    }
}
