//! Detects the format of a file from its first lines.
//!
//! A format is detected if all lines of the sample have it, or all but one and at least two. Blank lines do not count.
//! In doubt no format is detected: a file wrongly taken for CSV loses its first line and its positions.

pub(crate) mod documents;

use documents::has_documents;
use finecomb_scan::RecordEnds;

use crate::cells::bytes_of;
use crate::measure::number::{Decimal, NoNumber};
use crate::query::field::Field;
use crate::query::input_format::InputFormat;
use crate::records::escape::closing_quote;
use crate::records::format::access::{AccessFormat, AccessLog};
use crate::records::format::csv::{self, Dialect, Fields};
use crate::records::format::named::recognise::{Among, is_enough, recognise};
use crate::records::format::named::{Base, NamedFormat};
use crate::records::format::syslog::{Depth, Syslog, SyslogParts};
use crate::time::TimeForm;

/// Number of lines that a format is detected from.
const SAMPLE: usize = 10;

/// A detected format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detected<'f> {
    /// A format that is extracted without more knowledge of the file.
    Known(&'f InputFormat),
    /// Fields with a header, separated by commas, semicolons or bars, or by tabs if there is no delimiter.
    Table { delimiter: Option<u8> },
    /// JSON whose objects may span lines, or are elements of arrays.
    Documents,
    /// None of these.
    Unknown,
}

/// Detects the format of a file that begins with `head`. Returns `None` if more of the file is needed: `head` has fewer
/// than ten whole lines that are not blank, and is not all. To read no further, say that it is all; its last line may
/// then be cut off. `wanted` are names of fields: two columns with one of them as a name are CSV.
pub(crate) fn detect(head: &[u8], is_all: bool, wanted: &[&str]) -> Option<Detected<'static>> {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let (lines, length) = first_lines(head, is_all)?;
    let found = detect_lines(&lines, &head[..length], wanted);
    Some(named(&lines, found, wanted).map_or(found, Detected::Known))
}

/// The first lines that are not blank, and the length of the text with them. `None` if more of the text is needed.
fn first_lines(head: &[u8], is_all: bool) -> Option<(Vec<&[u8]>, usize)> {
    let mut lines = Vec::with_capacity(SAMPLE);
    let mut length = 0;
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        if lines.len() == SAMPLE || !(is_all || line.ends_with(b"\n")) {
            break;
        }
        length += line.len();
        // Some formats end with a blank.
        if !line.trim_ascii().is_empty() {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            lines.push(line.strip_suffix(b"\r").unwrap_or(line));
        }
    }
    if lines.len() < SAMPLE && !is_all {
        return None;
    }
    Some((lines, length))
}

/// Returns the named format of lines: one that says more of the same records than the format that was found, as a template does of an
/// access log with more fields than the usual ones; or one for lines in no other format, or in one that lacks the wanted fields.
fn named(lines: &[&[u8]], found: Detected<'_>, wanted: &[&str]) -> Option<&'static InputFormat> {
    let fields: Vec<Field> = wanted.iter().map(|name| Field::named(name)).collect();
    let has_all = |named: &NamedFormat| named.has(&fields);
    match found {
        Detected::Unknown => {
            let with_all = if fields.is_empty() { None } else { recognise(lines, Among::All, has_all) };
            with_all.or_else(|| recognise(lines, Among::All, |_| true))
        }
        Detected::Table { delimiter: Some(b',') } => recognise(lines, Among::Based(Base::Csv), |_| true),
        Detected::Table { delimiter: None } => recognise(lines, Among::Based(Base::Tsv), |_| true),
        Detected::Table { .. } | Detected::Documents => None,
        Detected::Known(InputFormat::Json) => recognise(lines, Among::Based(Base::Json), |_| true),
        Detected::Known(InputFormat::Logfmt) => {
            // The records inside have the pairs.
            let based = recognise(lines, Among::Based(Base::Logfmt), |_| true);
            based.or_else(|| recognise(lines, Among::Unwrapping, |_| true))
        }
        Detected::Known(format) if lacks_one(format, &fields) => recognise(lines, Among::All, has_all),
        Detected::Known(_) => {
            let has_more = |line: &[u8]| access(line).is_some_and(|(_, more)| !more.is_empty());
            if is_format(lines, has_more) { recognise(lines, Among::Templates, has_all) } else { None }
        }
    }
}

/// Whether the records of a format that was found lack one of these fields.
fn lacks_one(format: &InputFormat, fields: &[Field]) -> bool {
    let access = |format: AccessFormat| AccessLog::new(&format, fields).is_err();
    match format {
        InputFormat::Syslog => Syslog::new(fields).is_err(),
        InputFormat::Clf => access(AccessFormat::clf()),
        InputFormat::Combined => access(AccessFormat::combined()),
        InputFormat::VhostCombined => access(AccessFormat::vhost_combined()),
        _ => false,
    }
}

/// Detects the format of `text`, which consists of these lines and blank ones, among those without a name of their own.
fn detect_lines(lines: &[&[u8]], text: &[u8], wanted: &[&str]) -> Detected<'static> {
    // From strict formats to lenient ones: JSON and access logs may also look like CSV, and any log may have pairs as in logfmt.
    if is_format(lines, is_json) {
        let has_several = lines.first().is_some_and(|line| has_documents(line));
        return if has_several { Detected::Documents } else { Detected::Known(&InputFormat::Json) };
    }
    if has_documents(text) {
        return Detected::Documents;
    }
    let is_access =
        |line: &[u8], kinds: &[Access]| access(line).is_some_and(|(kind, _)| kinds.contains(&kind));
    if is_format(lines, |line| is_access(line, &[Access::Combined])) {
        return Detected::Known(&InputFormat::Combined);
    }
    if is_format(lines, |line| is_access(line, &[Access::VhostCombined])) {
        return Detected::Known(&InputFormat::VhostCombined);
    }
    // A line in the combined format begins like one in the common format, and a server may have switched.
    if is_format(lines, |line| is_access(line, &[Access::Clf, Access::Combined])) {
        return Detected::Known(&InputFormat::Clf);
    }
    if is_format(lines, is_syslog) {
        return Detected::Known(&InputFormat::Syslog);
    }
    // Values may contain other delimiters, so the one with the most columns is taken.
    let columns = |&delimiter: &u8| Some((csv_columns(text, delimiter, wanted)?, delimiter));
    let delimiters = b"\t,;|".iter().filter_map(columns);
    match delimiters.max() {
        Some((_, b'\t')) => return Detected::Table { delimiter: None },
        Some((_, delimiter)) => return Detected::Table { delimiter: Some(delimiter) },
        None => {}
    }
    if is_format(lines, is_logfmt) { Detected::Known(&InputFormat::Logfmt) } else { Detected::Unknown }
}

/// Whether all lines have a format, except for [one](is_enough).
fn is_format(lines: &[&[u8]], has_format: impl Fn(&[u8]) -> bool) -> bool {
    let count = lines.iter().filter(|line| has_format(line)).count();
    is_enough(count, lines.len())
}

/// Whether a line is an object: `{"key": … }` or `{}`.
pub(crate) fn is_json(line: &[u8]) -> bool {
    let inner = line.trim_ascii().strip_prefix(b"{").and_then(|line| line.strip_suffix(b"}"));
    inner.map(<[u8]>::trim_ascii_start).is_some_and(|inner| matches!(inner, [] | [b'"', ..]))
}

/// A line of an access log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Clf,
    Combined,
    VhostCombined,
}

/// Recognises `host ident user [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 203`, and two more fields in quotes. Returns what
/// follows, too. With two quoted fields, `www.example.org:443` may be before the host.
fn access(line: &[u8]) -> Option<(Access, &[u8])> {
    let opens = |&at: &usize| line[at..].starts_with(b" [") && is_access_time(&line[at + 2..]);
    let time = memchr::memchr_iter(b' ', line).find(opens)?;
    let words: Vec<&[u8]> =
        line[..time].split(|&byte| byte == b' ').filter(|word| !word.is_empty()).collect();
    let has_vhost = match words[..] {
        [] | [_] | [_, _] => return None,
        // A program has written the time of a record of its own.
        [first, ..] if TimeForm::Usual.read_value(first).is_some() => return None,
        // Not an address, in which colons would be before the last.
        [first, _, _, _, ..] if is_host_and_port(first) => true,
        // Another host before the address.
        [_, address, b"-", _] if address != b"-" => return None,
        _ => false,
    };
    let rest = skip_quoted(line[time..].get(ACCESS_TIME.len() + 2..)?)?;
    let (status, rest) = first_word(rest.strip_prefix(b" ")?);
    let (size, rest) = first_word(rest.strip_prefix(b" ")?);
    let is_number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    if !(status.len() == 3 && is_number(status) && (size == b"-" || is_number(size))) {
        return None;
    }
    match (skip_quoted(rest).and_then(skip_quoted), has_vhost) {
        (Some(more), true) => Some((Access::VhostCombined, more)),
        (Some(more), false) => Some((Access::Combined, more)),
        // No input format has a virtual host without a referrer and a user agent.
        (None, true) => None,
        (None, false) => Some((Access::Clf, rest)),
    }
}

/// Whether a word is a name, a colon and a number.
fn is_host_and_port(word: &[u8]) -> bool {
    let Some(colon) = word.iter().position(|&byte| byte == b':') else { return false };
    let port = &word[colon + 1..];
    colon > 0 && (1..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit)
}

/// Shape of the time in an access log: `0` stands for a digit, `a` for a letter, `+` for a sign.
const ACCESS_TIME: &[u8] = b"00/aaa/0000:00:00:00 +0000]";

fn is_access_time(text: &[u8]) -> bool {
    text.len() >= ACCESS_TIME.len()
        && text.iter().zip(ACCESS_TIME).all(|(byte, &shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            b'a' => byte.is_ascii_alphabetic(),
            b'+' => matches!(byte, b'+' | b'-'),
            _ => *byte == shape,
        })
}

/// Skips a space and a text in quotes.
fn skip_quoted(text: &[u8]) -> Option<&[u8]> {
    let quoted = text.strip_prefix(b" \"")?;
    Some(&quoted[closing_quote(quoted)? + 1..])
}

/// Splits a text before its first blank.
fn first_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr2(b' ', b'\t', text).unwrap_or(text.len());
    text.split_at(end)
}

/// Whether a line is a record of syslog. Programs also begin their own lines with a time, often followed by a level: without a
/// priority the host must look like one, and after a time of RFC 3339 there must be a tag.
fn is_syslog(line: &[u8]) -> bool {
    let Ok(parts) = SyslogParts::parse(line, (0, line.len()), Depth::Message, &mut Vec::new()) else {
        return false;
    };
    // An address is no program.
    let is_program = |program| bytes_of(line, program).iter().any(u8::is_ascii_alphabetic);
    let has_tag = parts.program.is_some_and(is_program);
    let has_host = parts.host.is_some_and(|host| is_host(bytes_of(line, host)));
    parts.priority.is_some() || (has_host && (has_tag || !line[0].is_ascii_digit()))
}

/// Whether a word can be a host, and is not the level of a message.
fn is_host(word: &[u8]) -> bool {
    const LEVELS: [&str; 16] = [
        "trace", "debug", "verbose", "info", "notice", "warn", "warning", "err", "error", "crit", "critical",
        "alert", "emerg", "fatal", "severe", "panic",
    ];
    let is_of_host = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_:".contains(byte);
    word.iter().all(is_of_host)
        && !word.ends_with(b":")
        && !LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level.as_bytes()))
}

/// Returns the number of columns if `text` is CSV with this delimiter: names in the first record, and as many values in
/// the others. Two columns need more evidence than three.
fn csv_columns(text: &[u8], delimiter: u8, wanted: &[&str]) -> Option<usize> {
    let records = csv_records(text, Dialect::csv(delimiter).ok()?);
    let (header, rest) = records.split_first()?;
    let names: Vec<&[u8]> = header.iter().map(|cell| cell.text()).collect();
    let count = rest.iter().filter(|record| record.len() == names.len()).count();
    // Lists in a text have blanks after their commas, like few headers.
    let needed = if names.iter().skip(1).any(|name| name.starts_with(b" ")) { 3 } else { 1 };
    let has_enough_columns = match &names[..] {
        [] | [_] => false,
        &[one, other] => are_two_columns([one, other], rest, wanted),
        _ => true,
    };
    (has_enough_columns
        && is_enough(count, rest.len())
        && count >= needed
        && are_names(header)
        && !rest.iter().any(|record| repeats_name(&names, record)))
    .then_some(names.len())
}

/// Whether two names and the records below them are columns, and no sentences with a comma each: one of the names is
/// wanted, or one of the columns has numbers only, and at least three.
fn are_two_columns(names: [&[u8]; 2], records: &[Vec<Cell<'_>>], wanted: &[&str]) -> bool {
    let is_wanted = names.iter().any(|name| wanted.iter().any(|wanted| wanted.as_bytes() == *name));
    let has_numbers = |column: usize| {
        let cells = records.iter().filter(|record| record.len() == 2).map(|record| record[column].text());
        let results = cells.map(|cell| Decimal::parse(cell.trim_ascii()).map(|_| ()));
        let (numbers, others): (Vec<_>, Vec<_>) = results.partition(Result::is_ok);
        numbers.len() >= 3 && others.iter().all(|other| *other == Err(NoNumber::NoValue))
    };
    !names[1].starts_with(b" ") && (is_wanted || has_numbers(0) || has_numbers(1))
}

/// Whether a record has the name of a column as its value. Then the first line is no header, but a line like the others:
/// of log messages, or of code.
fn repeats_name(names: &[&[u8]], record: &[Cell<'_>]) -> bool {
    let is_same = |(name, cell): (&&[u8], &Cell<'_>)| !name.is_empty() && *name == cell.text();
    names.iter().zip(record).any(is_same)
}

/// A value of a record of CSV.
#[derive(Clone, Copy, Debug)]
enum Cell<'a> {
    Bare(&'a [u8]),
    /// Without the quotes; doubled quotes are left.
    Quoted(&'a [u8]),
}

impl<'a> Cell<'a> {
    /// Returns `None` if there is text after the closing quote.
    fn new(field: &'a [u8]) -> Option<Self> {
        let Some(quoted) = field.strip_prefix(b"\"") else { return Some(Self::Bare(field)) };
        let end = csv::closing_quote(quoted)?;
        (end + 1 == quoted.len()).then_some(Self::Quoted(&quoted[..end]))
    }

    fn text(self) -> &'a [u8] {
        match self {
            Self::Bare(text) | Self::Quoted(text) => text,
        }
    }
}

/// Splits a text into records of CSV. One that is violated, or cut off in quotes, has no cells. Blank lines are skipped.
fn csv_records(text: &[u8], dialect: Dialect) -> Vec<Vec<Cell<'_>>> {
    let mut ends = RecordEnds::default();
    let ends = ends.find(text, dialect.delimiter()).iter().map(|&end| end as usize).chain([text.len()]);
    let mut start = 0;
    let mut records = Vec::new();
    for end in ends {
        let record = text.get(start..end).unwrap_or_default();
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        start = end + 1;
        if !record.trim_ascii().is_empty() {
            let cells = Fields::new(dialect, record, (0, record.len()))
                .map(|field| Cell::new(bytes_of(record, field.ok()?)));
            records.push(cells.collect::<Option<_>>().unwrap_or_default());
        }
    }
    records
}

/// Whether the cells can be names of columns: plausible, and all different. The first may be empty, as that of the row
/// numbers which some programs write.
fn are_names(header: &[Cell<'_>]) -> bool {
    header.iter().enumerate().all(|(index, cell)| {
        let is_row_number = index == 0 && cell.text().is_empty();
        let is_new = header[..index].iter().all(|other| other.text() != cell.text());
        is_new && (is_row_number || is_name(*cell))
    })
}

/// Whether a cell can be the name of a column: no number, no piece of code and no sentence.
fn is_name(cell: Cell<'_>) -> bool {
    let name = cell.text().trim_ascii();
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let is_of_code = |byte: &u8| byte.is_ascii_control() || b"={}<>\"\\`;!".contains(byte);
    let begins = match name.first() {
        Some(first) if is_letter(first) || b"_#@$%(".contains(first) => true,
        // `5xx`, but not the time of a message.
        Some(b'0'..=b'9') => name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'),
        _ => false,
    };
    let words = name.split(|&byte| byte == b' ').count();
    begins
        && name.iter().any(is_letter)
        && name.len() <= 64
        && words <= 6
        && (matches!(cell, Cell::Quoted(_)) || !name.iter().any(is_of_code))
        && !name.ends_with(b":")
        && !name.windows(2).any(|pair| pair == b": ")
        && has_balanced_brackets(name)
}

/// Whether each bracket is closed, and none is closed that is not open. The kinds of brackets are not told apart.
fn has_balanced_brackets(name: &[u8]) -> bool {
    let depth = name.iter().try_fold(0_usize, |depth, byte| match byte {
        b'(' | b'[' => Some(depth + 1),
        b')' | b']' => depth.checked_sub(1),
        _ => Some(depth),
    });
    depth == Some(0)
}

/// Whether a line has at least two pairs with plausible keys, and more of them than of other words.
fn is_logfmt(line: &[u8]) -> bool {
    let mut rest = line.trim_ascii();
    if rest.starts_with(b"<") {
        return false;
    }
    let (mut pairs, mut words) = (0, 0);
    while !rest.is_empty() {
        let key_end = rest.iter().position(|byte| b" \t=".contains(byte)).unwrap_or(rest.len());
        let (key, after) = rest.split_at(key_end);
        let is_pair = match after {
            [b'=', b'"', quoted @ ..] => {
                let Some(end) = closing_quote(quoted) else { return false };
                rest = &quoted[end + 1..];
                if !matches!(rest, [] | [b' ' | b'\t', ..]) {
                    return false;
                }
                is_key(key)
            }
            [b'=', bare @ ..] => {
                let (value, after) = first_word(bare);
                rest = after;
                // As in a list of arguments.
                is_key(key) && !matches!(value.last(), Some(b',' | b';' | b')' | b'}' | b'>'))
            }
            _ => {
                rest = after;
                false
            }
        };
        *(if is_pair { &mut pairs } else { &mut words }) += 1;
        rest = rest.trim_ascii_start();
    }
    pairs >= 2 && pairs > words
}

/// Whether a key of logfmt is plausible: `status`, `http.status_code`, but not `/path?status`.
fn is_key(key: &[u8]) -> bool {
    key.first().is_some_and(|byte| byte.is_ascii_alphabetic() || b"_@".contains(byte))
        && key.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.-@/".contains(byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const JSON: Detected<'_> = Detected::Known(&InputFormat::Json);
    const COMBINED: Detected<'_> = Detected::Known(&InputFormat::Combined);
    const VHOST_COMBINED: Detected<'_> = Detected::Known(&InputFormat::VhostCombined);
    const CLF: Detected<'_> = Detected::Known(&InputFormat::Clf);
    const SYSLOG: Detected<'_> = Detected::Known(&InputFormat::Syslog);
    const LOGFMT: Detected<'_> = Detected::Known(&InputFormat::Logfmt);
    const TSV: Detected<'_> = Detected::Table { delimiter: None };

    fn csv(delimiter: u8) -> Detected<'static> {
        Detected::Table { delimiter: Some(delimiter) }
    }

    fn detected(text: &str) -> Detected<'static> {
        wanted(text, &[])
    }

    fn wanted(text: &str, wanted: &[&str]) -> Detected<'static> {
        detect(text.as_bytes(), true, wanted).expect("an answer for all of a file")
    }

    /// Asserts the format of these lines, of each of them, and of all with one line of another kind among them.
    fn assert_lines(lines: &[&str], expected: Detected) {
        assert_eq!(detected(&lines.join("\n")), expected, "{lines:?}");
        assert_eq!(detected(&lines.join("\r\n\r\n")), expected, "{lines:?}");
        for line in lines {
            assert_eq!(detected(line), expected, "{line}");
        }
        if lines.len() > 1 {
            let other = format!("{}\n## started anew ##\n{}", lines[0], lines[1..].join("\n"));
            assert_eq!(detected(&other), expected, "{other}");
            let others = format!("## one ##\n## two ##\n{}", lines.join("\n"));
            assert_eq!(detected(&others), Detected::Unknown, "{others}");
        }
    }

    #[test]
    fn objects_are_json() {
        assert_lines(&[r#"{"a":1,"b":{"c":[1,2,3]}}"#, r#"{ "msg": "x, y; z" } "#, "{}"], JSON);
        assert_eq!(detected("\u{FEFF}{\"a\":1}\n"), JSON);
        assert_eq!(detected("{\n  \"a\": 1\n}\n"), Detected::Documents);
        assert_eq!(detected("[1,2,3]\n"), Detected::Unknown);
        assert_eq!(detected("{a}\n{b}\n"), Detected::Unknown);
    }

    #[test]
    fn access_logs() {
        let clf = r#"10.0.0.7 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326"#;
        let other = r#"2001:db8::1 - - [10/Oct/2000:13:55:37 +0000] "-" 408 -"#;
        assert_lines(&[clf, other], CLF);
        let combined = format!(r#"{clf} "http://example.com/?a=1&b=2" "Browser \"4\" (like; others, too)""#);
        let longer = format!(r#"{other} "-" "-" 0.003 "x""#);
        assert_lines(&[&combined, &longer], COMBINED);
        assert_eq!(detected(&[clf, &combined, clf].join("\n")), CLF);
    }

    #[test]
    fn access_logs_with_a_virtual_host_are_detected_if_they_can_be_read() {
        let rest = r#"- - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 2326"#;
        let agent = r#""-" "curl""#;
        let lines = [
            format!("www.example.org:80 10.0.0.7 {rest} {agent}"),
            format!("localhost:8443 2001:db8::1 {rest} {agent}"),
            format!("www.example.org:80 ::1 - john doe {} {agent}", &rest[4..]),
        ];
        assert_lines(&[&lines[0], &lines[1], &lines[2]], VHOST_COMBINED);
        for before in ["10.0.0.7", "2001:db8::80", "2001:db8::1:80 - john", "10.0.0.7 - john"] {
            let line = format!("{before} {rest} {agent}");
            assert_eq!(detected(&line), COMBINED, "{line}");
        }
        for line in [
            format!("www.example.org:80 10.0.0.7 {rest}"),
            format!("www.example.org 10.0.0.7 {rest} {agent}"),
            format!("www.example.org 10.0.0.7 {rest}"),
        ] {
            assert_eq!(detected(&line), Detected::Unknown, "{line}");
        }
    }

    #[test]
    fn syslog_records() {
        let lines = [
            "Mar  3 04:05:06 gate sshd[812]: Accepted publickey for root from 10.0.0.9 port 4711",
            "Mar  3 04:05:07 gate pppd: uid=0 euid=0, tty=ssh, ruser=none",
            "Mar  3 04:05:09 gate last message repeated 3 times",
        ];
        assert_lines(&lines, SYSLOG);
        let lines = [
            "2024-05-01T10:00:00.123456+02:00 web-1 systemd[1]: Started a unit.",
            "2024-05-01T10:00:01.000000+02:00 web-1 kernel: [    1.5] usb 1-1: new device",
        ];
        assert_lines(&lines, SYSLOG);
        let lines = [
            "<165>1 2003-10-11T22:14:15.003Z host app 12 ID47 [id@1 a=\"b\" c=\"d\"] message",
            "<34>Oct 11 22:14:15 host su: message",
        ];
        assert_lines(&lines, SYSLOG);
    }

    #[test]
    fn lines_of_programs_with_a_time_are_not_syslog() {
        for line in [
            "2024-05-01T10:00:00Z INFO server: listening on port 80",
            "2024-05-01T10:00:00Z [main] server: listening",
            "2024-05-01T10:00:00Z web-1 listening on port 80",
            "2024-05-01 10:00:00,978 INFO [main] a.b.C: x, y, z",
            "Oct 11 22:14:15 WARN low on memory",
            "Oct 11 22:14:15 server: low on memory",
        ] {
            assert_ne!(
                detected(&format!("{line}\n").repeat(12)),
                Detected::Known(&InputFormat::Syslog),
                "{line}"
            );
        }
    }

    #[test]
    fn csv_has_a_header_and_as_many_delimiters_in_each_record() {
        for (delimiter, expected) in [(",", csv(b',')), (";", csv(b';')), ("|", csv(b'|')), ("\t", TSV)] {
            let lines = [
                "id,Name of it,5xx,Price (EUR),\"a b\"",
                "1,x,2015,\"1,5\n\n2,5\",",
                ",\"say \"\"a,b\"\"\",3,4.5,6",
                "2,y,1,2,3",
            ];
            let text = lines.join("\n").replace(',', delimiter);
            assert_eq!(detected(&text), expected, "{text}");
            assert_eq!(detected(&text.replace('\n', "\r\n")), expected, "{text}");
            assert_eq!(detected(&format!("{text}\n1,2")), expected, "one line may differ");
            assert_eq!(detected(&format!("{text}\n1,2\n3")), Detected::Unknown, "two may not");
        }
        assert_eq!(detected(",date,size\n0,2024-01-01,5\n"), csv(b','));
        assert_eq!(detected("a;b;c\n1,5;2,5;3,5\n"), csv(b';'));
        assert_eq!(detected("Name, Age, City\nA, 1, B\nC, 2, D\nE, 3, F\n"), csv(b','));
    }

    #[test]
    fn two_columns_are_csv_if_one_of_them_is_wanted_or_has_numbers() {
        for (delimiter, expected) in [(",", csv(b',')), (";", csv(b';')), ("|", csv(b'|')), ("\t", TSV)] {
            let of = |text: &str| text.replace(',', delimiter);
            let numbers = of("city,temp\nOslo,-3.5\n\"St. John's\",\nRome,20\nCairo,31\n");
            assert_eq!(detected(&numbers), expected, "{numbers}");
            assert_eq!(detected(&of("id,name\n1,Opal\n2,Mint\n3,Reef, the old\n4,Fern\n")), expected);
            let names = of("city,country\nOslo,Norway\n");
            assert_eq!(wanted(&names, &["path", "country"]), expected, "{names}");
            assert_eq!(wanted(&names, &["Country", "cit", "Oslo"]), Detected::Unknown, "{names}");
            assert_eq!(wanted(&of("city,country\n\"a, b\",c\n"), &["city"]), expected);
        }
        assert_eq!(wanted("city\nOslo\n", &["city"]), Detected::Unknown);
    }

    #[test]
    fn texts_with_a_comma_in_each_line_are_not_two_columns() {
        for text in [
            "Dear reader,\nyours,\nas ever,\n",
            "Well,yes\nOh,no\nSo,so\nAh,well\n",
            "It rained, and rained\nWe stayed, and waited\nThey left, at last\nWe did not, 5\n",
            "size, 1\ncount, 2\nlength, 3\nwidth, 4\n",
            "user=a,id=1\nuser=b,id=2\nuser=c,id=3\nuser=d,id=4\n",
            "user: a,b\nuser: b,2\nuser: c,3\nuser: d,4\n",
            "a,b\n1,2\n",
            "a,b\n1,2\nx,4\n5,x\n7,8\n9,0\n",
            "a,b\n1,2\n3\n5\n7,8\n9,0\n",
            "INFO,12\nWARN,13\nINFO,14\nWARN,15\n",
            "12:00:01,5 started\n12:00:02,6 done\n12:00:03,7 ended\n12:00:04,8 ended\n",
            "add x1,4\nsub x4,5\nadd x7,6\nadd x1,7\n",
            "f(a,b);\ng(a,1);\nh(b,2);\ni(c,3);\n",
        ] {
            assert_eq!(wanted(text, &["user", "status"]), Detected::Unknown, "{text}");
        }
    }

    #[test]
    fn a_record_cut_off_in_quotes_is_one_that_may_differ() {
        assert_eq!(detected("a,b,c\n1,2,3\n4,5,6\n7,\"8\n9\n\n10"), csv(b','));
    }

    #[test]
    fn texts_with_commas_are_not_csv() {
        for text in [
            "1,2,3\n4,5,6\n",
            "a,b\n1,2\n",
            "a,b,c\n",
            "a,a,b\n1,2,3\n",
            "We came, we saw, we left.\nThey stayed, they ate, they slept.\n",
            "fn area(a: u32, b: u32, c: u32)\nfn volume(d: u32, e: u32, f: u32)\n",
            "int a, b, c;\nint d, e, f;\n",
            "add x1, x2, x3\nsub x4, x5, x6\nadd x7, x8, x9\nadd x1, x4, x7\n",
            "    \"one\", \"two\", \"three\",\n    \"four\", \"five\", \"six\",\n",
            "| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n",
            "INFO,main,starting,up\nINFO,main,listening,now\nWARN,main,slow,start\n",
            "SELECT a, b, c\nFROM d, e, f\n",
            "\ta:\t1\t2\n\tb:\t3\t4\n",
        ] {
            assert_eq!(detected(text), Detected::Unknown, "{text}");
        }
    }

    #[test]
    fn lines_of_pairs_are_logfmt() {
        let lines = [
            r#"time="2024-05-01T10:00:00Z" level=info msg="user \"x\", logged in" dur=1.2s cached"#,
            r#"ts=1714557600.1 caller=main.go:12 level=warn http.status_code=404 path=/a?b=c&d=e"#,
            r#"2024-05-01T10:00:00Z app[web.1]: at=info method=GET path="/" host=example.com"#,
        ];
        assert_lines(&lines, LOGFMT);
    }

    #[test]
    fn lines_with_a_few_pairs_are_not_logfmt() {
        for line in [
            "GET /search?q=a&lang=b /next?page=2&size=3 HTTP/1.1",
            "2024-05-01 10:00:00 INFO handled a request status=200 dur=5ms",
            "let a=1, b=2, c=3;",
            "call(a=1, b=2)",
            "<img src=\"a.png\" alt=\"a\" />",
            "<row id=\"1\" name=\"x\" kind=\"y\" />",
            "a = 1 b = 2",
            "key=value",
            "a=\"1\"b=\"2\" c=3",
        ] {
            assert_ne!(
                detected(&format!("{line}\n").repeat(12)),
                Detected::Known(&InputFormat::Logfmt),
                "{line}"
            );
        }
    }

    #[test]
    fn prose_and_code_have_no_format() {
        let prose = "# A title\n\nIt began, as such things do, with rain; it ended, too, in rain.\n\
                     Nobody knew why, and few, if any, cared.\n\n- one: a, b\n- two: c, d, e\n";
        let code = "use std::fmt;\n\n/// A thing.\npub struct Thing {\n    pub a: u32,\n    pub b: u32,\n}\n\n\
                    impl Thing {\n    fn sum(&self) -> u32 {\n        self.a + self.b\n    }\n}\n";
        for text in ["", "\n\n", " ", prose, code, "\0\0\0\n\0,\0,\0\n"] {
            assert_eq!(detected(text), Detected::Unknown, "{text}");
        }
    }

    #[test]
    fn ten_whole_lines_are_needed_or_the_whole_file() {
        let text = "a=1 b=2\n\n".repeat(9);
        assert_eq!(detect(text.as_bytes(), false, &[]), None);
        assert_eq!(detect(text.as_bytes(), true, &[]), Some(LOGFMT));
        assert_eq!(detect(format!("{text}a=1 b=2").as_bytes(), false, &[]), None);
        assert_eq!(detect(format!("{text}a=1 b=2\n").as_bytes(), false, &[]), Some(LOGFMT));
        assert_eq!(detect(b"", false, &[]), None);
    }

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let pieces = [
            "\n",
            "\n",
            "\r\n",
            ",",
            ",",
            ";",
            "\t",
            "|",
            "\"",
            "\"\"",
            "\\",
            "{",
            "}",
            "a",
            "name",
            "1",
            "=",
            "a=1",
            " ",
            " [17/May/2015:10:05:03 +0000] ",
            "\"GET /\"",
            " 200 5",
            "Oct 11 22:14:15 host tag: ",
            "<34>1 ",
            "é",
            "(",
        ];
        let piece = prop_oneof![
            9 => prop::sample::select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 1..4),
        ];
        prop::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn lines_after_the_tenth_do_not_matter(head in texts(), more in texts()) {
            if let Some(found) = detect(&head, false, &[]) {
                prop_assert_eq!(detect(&head, true, &[]), Some(found));
                prop_assert_eq!(detect(&[&head[..], &more].concat(), false, &[]), Some(found));
            } else {
                prop_assert!(detect(&head, true, &[]).is_some());
            }
        }

        #[test]
        fn what_a_writer_of_csv_writes_is_csv(
            delimiter in prop::sample::select(b",;|\t".to_vec()),
            rows in prop::collection::vec(prop::collection::vec("[ -~]{0,12}", 4), 1..12),
        ) {
            let mut writer = ::csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
            let names = ["id", "Name", "total size", "5xx"];
            prop_assume!(rows.iter().flatten().all(|cell| !names.contains(&cell.as_str())));
            writer.write_record(names).expect("a record");
            for row in &rows {
                writer.write_record(row).expect("a record");
            }
            let text = writer.into_inner().expect("a text");
            let expected = if delimiter == b'\t' { TSV } else { csv(delimiter) };
            prop_assert_eq!(detect(&text, true, &[]), Some(expected));
        }
    }
}
