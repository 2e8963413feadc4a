//! Access logs of web servers: the common and the combined log format, and log formats of nginx.
//!
//! A record is a sequence of values with texts between them. A value ends
//!
//! - in double quotes: at the first double quote that is not escaped; a backslash escapes the next byte;
//! - between brackets: at the first closing bracket;
//! - elsewhere: at the first place of the whole text after it, or at the end of the record if none follows.
//!
//! Values are parts of the record: escapes are not decoded, and `-` is a value.
//!
//! In the common and the combined log format, a user does not begin with `- `: a record with a virtual host before the
//! address is malformed.
//!
//! A record is examined up to the end of the last wanted value. It is malformed if it does not begin with the text before
//! the first value, if a value up to there has no end, or if other text follows one of the values before the last wanted
//! one. Anything may follow.

mod batch;
mod ends;
mod layout;
mod request;

use finecomb_sys::simd::dispatch;
use memchr::memmem::Finder;

use self::batch::ExtractValues;
use self::ends::ShortText;
pub(crate) use self::layout::AccessFormat;
use self::layout::{End, Variable};
use self::request::{RequestPart, ValuePart};
use crate::cells::{Cells, Span};
use crate::query::field::Field;
use crate::query::format_error::FormatError;

/// Extracts fields of the records of an access log.
#[derive(Clone, Debug)]
pub(crate) struct AccessLog {
    before: Vec<u8>,
    /// The values up to the last wanted one.
    steps: Vec<ValueStep>,
}

/// Extracts a value of each record.
#[derive(Clone, Debug)]
struct ValueStep {
    end: EndSearch,
    after: TextAfter,
    /// The wanted parts of the value, with their columns.
    wanted: Vec<(ValuePart, usize)>,
    /// The wanted parts of a request, with their columns.
    parts: Vec<(RequestPart, usize)>,
}

/// Search for the end of a value.
#[derive(Clone, Debug)]
enum EndSearch {
    /// For a text of one byte.
    Byte(u8),
    /// For a text of at most 8 bytes.
    Short(ShortText),
    /// For a longer text.
    Long(Box<Finder<'static>>),
    User(ShortText),
    /// For the last colon of a word.
    Address,
    Quote,
    Space,
    End,
}

/// Text between the end of a value and the next value.
#[derive(Clone, Debug)]
struct TextAfter {
    length: usize,
    /// The text, if the search for the end did not find all of it and a later value is wanted.
    check: Option<Check>,
}

#[derive(Clone, Debug)]
enum Check {
    Short(ShortText),
    Long(Box<[u8]>),
}

impl AccessLog {
    /// Prepares the extraction of fields. Fails if the log format does not have one of them.
    pub(crate) fn new(format: &AccessFormat, fields: &[Field]) -> Result<Self, FormatError> {
        let sources = fields.iter().map(|field| format.source(field)).collect::<Result<Vec<_>, _>>()?;
        let count = sources.iter().map(|source| source.variable + 1).max().unwrap_or(0);
        let mut steps: Vec<ValueStep> = (1..=count)
            .zip(&format.variables)
            .map(|(number, variable)| ValueStep::new(variable, number == count))
            .collect();
        for (column, source) in sources.iter().enumerate() {
            let step = &mut steps[source.variable];
            match source.part {
                ValuePart::Request(part) => step.parts.push((part, column)),
                part => step.wanted.push((part, column)),
            }
        }
        Ok(Self { before: format.before.clone(), steps })
    }

    /// Prepares the extraction of a field from records that are examined to their end.
    pub(crate) fn whole(format: &AccessFormat, field: &Field) -> Result<Self, FormatError> {
        let last = format.variables.last().map(|variable| Field::named(&variable.name));
        let fields: Vec<Field> = [field.clone()].into_iter().chain(last).collect();
        let mut log = Self::new(format, &fields)?;
        for step in &mut log.steps {
            step.wanted.retain(|&(_, column)| column == 0);
            step.parts.retain(|&(_, column)| column == 0);
        }
        Ok(log)
    }

    /// Appends a cell for each wanted field of each record.
    pub(crate) fn extract(&self, text: &[u8], records: &[Span], cells: &mut Cells) {
        if !self.steps.is_empty() {
            dispatch(ExtractValues { log: self, text, records, cells });
        }
    }
}

impl ValueStep {
    fn new(Variable { end, after: text, .. }: &Variable, is_last: bool) -> Self {
        let end = match (end, &text[..]) {
            (End::Quote, _) => EndSearch::Quote,
            (End::Space, _) => EndSearch::Space,
            (End::Address, _) => EndSearch::Address,
            (End::Bracket, _) => EndSearch::Byte(b']'),
            (End::Text, &[byte]) => EndSearch::Byte(byte),
            (End::Text | End::User, text) => match ShortText::new(text) {
                Some(short) if *end == End::User => EndSearch::User(short),
                Some(short) => EndSearch::Short(short),
                None => EndSearch::Long(Box::new(Finder::new(text).into_owned())),
            },
            (End::Record | End::LoneNumber, _) => EndSearch::End,
        };
        // Bytes of the text that the search for the end compares; the rest is compared by `check`.
        let found = match end {
            EndSearch::Byte(_) | EndSearch::Quote => 1,
            _ => text.len(),
        };
        let check = (!is_last && found < text.len()).then(|| match ShortText::new(text) {
            Some(short) => Check::Short(short),
            None => Check::Long(text.as_slice().into()),
        });
        Self { end, after: TextAfter { length: text.len(), check }, wanted: Vec::new(), parts: Vec::new() }
    }

    /// The reason why a record without the end of this value is malformed.
    fn reason(&self) -> &'static str {
        match self.end {
            EndSearch::Quote => "unclosed quote",
            EndSearch::Byte(b']') => "unclosed bracket",
            EndSearch::Address => "expected an address, a colon and a port",
            EndSearch::User(_) => "expected an address, an identity, a user and '['",
            _ => "the record ends before the log format does",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::records::split::split_records;

    const USUAL: &str = r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time"#;

    fn nginx(format: &str) -> AccessFormat {
        AccessFormat::nginx(format).expect("a valid format")
    }

    fn fields(list: &str) -> Vec<Field> {
        list.split_whitespace().map(Field::named).collect()
    }

    /// The wanted values of each record, or where and why it is malformed.
    type Values = Result<Vec<Option<Vec<u8>>>, (usize, &'static str)>;

    fn extract(format: &AccessFormat, names: &str, text: &[u8]) -> Vec<Values> {
        let fields = fields(names);
        let mut records = Vec::new();
        split_records(text, &mut finecomb_scan::LineEnds::default(), &mut records);
        let mut cells = Cells::default();
        cells.reset(fields.len());
        AccessLog::new(format, &fields).expect("known fields").extract(text, &records, &mut cells);
        let malformed = cells.malformed();
        assert!(malformed.is_sorted_by_key(|malformed| malformed.record));
        let values = |(index, &(start, end)): (usize, &Span)| {
            let cells_of_record = (0..fields.len()).map(|column| cells.column(column)[index]);
            let values: Vec<_> =
                cells_of_record.map(|cell| cells.bytes(text, cell).map(<[u8]>::to_vec)).collect();
            match malformed.iter().find(|malformed| malformed.record as usize == index) {
                Some(malformed) => {
                    assert!((start..=end).contains(&(malformed.at as usize)));
                    assert!(values.iter().all(Option::is_none));
                    Err((malformed.at as usize - start, malformed.reason))
                }
                None => Ok(values),
            }
        };
        let values = records.iter().enumerate().map(values).collect();
        assert!((0..fields.len()).all(|column| cells.column(column).len() == records.len()));
        values
    }

    /// The wanted values of a single record, or why it is malformed. A missing value is `<missing>`.
    fn values(format: &AccessFormat, names: &str, record: &str) -> Result<Vec<String>, &'static str> {
        let [record] = &extract(format, names, record.as_bytes())[..] else { panic!("a single record") };
        let shown = |value: &Option<Vec<u8>>| match value {
            Some(value) => String::from_utf8_lossy(value).into_owned(),
            None => "<missing>".to_owned(),
        };
        record.as_ref().map(|values| values.iter().map(shown).collect()).map_err(|&(_, reason)| reason)
    }

    fn shown(format: &AccessFormat, names: &str, record: &str) -> String {
        match values(format, names, record) {
            Ok(values) => values.join(" | "),
            Err(reason) => format!("malformed: {reason}"),
        }
    }

    const GET: &str = r#"203.0.113.9 - alice [01/Mar/2026:00:00:06 +0000] "GET /a/b.html?q=1&r=%20 HTTP/2.0" 200 5120 "https://example.com/" "Mozilla/5.0 (X11; Linux x86_64)""#;

    #[test]
    fn a_combined_record_has_values_by_name() {
        let combined = AccessFormat::combined();
        let names = "remote_addr ident user time status bytes referer user_agent";
        assert_eq!(
            shown(&combined, names, GET),
            "203.0.113.9 | - | alice | 01/Mar/2026:00:00:06 +0000 | 200 | 5120 | https://example.com/ | \
             Mozilla/5.0 (X11; Linux x86_64)"
        );
        assert_eq!(
            shown(&combined, "protocol query path method url request", GET),
            "HTTP/2.0 | q=1&r=%20 | /a/b.html | GET | /a/b.html?q=1&r=%20 | GET /a/b.html?q=1&r=%20 HTTP/2.0"
        );
        assert_eq!(shown(&combined, "status status", GET), "200 | 200");
        assert_eq!(shown(&combined, "", GET), "");
    }

    #[test]
    fn a_dash_is_a_value() {
        let record = r#"2001:db8::1 - - [01/Mar/2026:00:00:06 +0000] "-" 408 - "-" "-""#;
        let combined = AccessFormat::combined();
        assert_eq!(
            shown(&combined, "remote_addr user request path bytes referer user_agent", record),
            "2001:db8::1 | - | - | <missing> | - | - | -"
        );
    }

    #[test]
    fn escaped_quotes_do_not_end_a_value() {
        let record = r#"::1 - - [t] "GET /\"x\" HTTP/1.1" 200 1 "\\" "say \"hi\" \x22""#;
        let combined = AccessFormat::combined();
        assert_eq!(
            shown(&combined, "path status referer user_agent", record),
            r#"/\"x\" | 200 | \\ | say \"hi\" \x22"#
        );
        for length in 50..70 {
            let quoted = format!("{}\\\"{}", "x".repeat(length), "y".repeat(length));
            let record = format!(r#"::1 - - [t] "{quoted}" 200 1 "-" "-""#);
            assert_eq!(shown(&combined, "request status", &record), format!("{quoted} | 200"));
            assert_eq!(
                shown(&nginx("\"$a\" $b"), "a b", &format!("\"{quoted}\" b")),
                format!("{quoted} | b")
            );
        }
    }

    #[test]
    fn a_request_may_be_anything() {
        let combined = AccessFormat::combined();
        let with = |request: &str| format!(r#"1.2.3.4 - - [t] "{request}" 400 0 "-" "-""#);
        let garbage = r"\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03 \xA0]";
        for request in ["", "-", garbage, "\u{16}\u{3}\u{1}\0 a [b] c"] {
            let expected = format!("{request} | <missing> | <missing> | 400");
            assert_eq!(shown(&combined, "request method url status", &with(request)), expected);
        }
        let long = format!("GET /{}?{} HTTP/1.1", "a".repeat(1 << 20), "b c".repeat(1 << 20));
        let expected = format!("GET | {}", &long["GET ".len()..long.find('?').expect("a query")]);
        assert_eq!(shown(&combined, "method path", &with(&long)), expected);
    }

    #[test]
    fn more_may_follow_the_last_value() {
        let (clf, combined) = (AccessFormat::clf(), AccessFormat::combined());
        assert_eq!(shown(&clf, "path bytes", GET), "/a/b.html | 5120");
        assert_eq!(shown(&clf, "bytes", r#"::1 - - [t] "-" 200 17"#), "17");
        let times = [
            ("", "<missing>"),
            (" 0.123", "0.123"),
            (" 15", "15"),
            (" 1 2", "<missing>"),
            (" \"-\"", "<missing>"),
            (" -", "<missing>"),
        ];
        for (more, time) in times {
            let expected = format!("200 | {time}");
            assert_eq!(shown(&combined, "status request_time", &format!("{GET}{more}")), expected, "{more}");
        }
    }

    #[test]
    fn a_virtual_host_before_the_address_is_malformed() {
        let combined = AccessFormat::combined();
        let expected = "malformed: expected an address, an identity, a user and '['";
        for record in [format!("example.com:443 {GET}"), "example.com ::1 - - [t] \"-\"".to_owned()] {
            assert_eq!(shown(&combined, "user", &record), expected);
        }
        assert_eq!(shown(&combined, "time", "::1 - - ["), "malformed: unclosed bracket");
        assert_eq!(shown(&combined, "user", "::1 - a b [t]"), "a b");
        assert_eq!(shown(&combined, "user", "::1 -  [t]"), "");
        assert_eq!(shown(&nginx(USUAL), "remote_user", "::1 - - x [t]"), "- x");
    }

    #[test]
    fn a_virtual_host_and_its_port_are_fields_of_their_own_format() {
        let format = AccessFormat::vhost_combined();
        let record = format!("www.example.org:443 {GET} 0.25");
        assert_eq!(
            shown(&format, "host port remote_addr user path user_agent request_time", &record),
            "www.example.org | 443 | 203.0.113.9 | alice | /a/b.html | Mozilla/5.0 (X11; Linux x86_64) | 0.25"
        );
        assert_eq!(
            shown(&format, "remote_addr", "a.example:80 2001:db8::1 - - [t] \"-\" 400"),
            "2001:db8::1"
        );
        let expected = "malformed: expected an address, an identity, a user and '['";
        for record in [GET, "2001:db8::1 - - [t] \"-\" 400"] {
            assert_eq!(shown(&format, "status", record), expected);
        }
    }

    #[test]
    fn log_formats_of_nginx_have_their_own_variables() {
        let usual = nginx(USUAL);
        let record = format!("{GET} 0.005");
        assert_eq!(
            shown(
                &usual,
                "remote_addr remote_user path body_bytes_sent http_user_agent request_time",
                &record
            ),
            "203.0.113.9 | alice | /a/b.html | 5120 | Mozilla/5.0 (X11; Linux x86_64) | 0.005"
        );
        let json = nginx(r#"{"status":$status,"uri":"$request_uri","up":"${upstream_addr}","host":"$host"}"#);
        let record = r#"{"status":404,"uri":"/\"?a","up":"10.0.0.1:80, 10.0.0.2:80","host":"x"}"#;
        assert_eq!(
            shown(&json, "path query upstream_addr host status", record),
            r#"/\" | a | 10.0.0.1:80, 10.0.0.2:80 | x | 404"#
        );
        let long = nginx("$a<a long separator>$b");
        assert_eq!(shown(&long, "a b", "1<a long <a long separator>2"), "1<a long  | 2");
    }

    #[test]
    fn a_record_is_examined_up_to_the_last_wanted_value() {
        let combined = AccessFormat::combined();
        assert_eq!(shown(&combined, "remote_addr", "1.2.3.4 "), "1.2.3.4");
        assert_eq!(shown(&combined, "request", r#"1.2.3.4 - - [t] "GET"#), "malformed: unclosed quote");
        assert_eq!(shown(&combined, "request", r#"1.2.3.4 - - [t] "GET"200"#), "GET");
        let other = "malformed: the text after a value is not that of the log format";
        assert_eq!(shown(&combined, "status", r#"1.2.3.4 - - [t] "GET"200 1"#), other);
        assert_eq!(shown(&combined, "time", "1.2.3.4 - - [t]x"), "t");
        assert_eq!(shown(&combined, "request", "1.2.3.4 - - [t]x"), other);
        assert_eq!(shown(&combined, "time", "1.2.3.4 - - [t"), "malformed: unclosed bracket");
        let short = "malformed: the record ends before the log format does";
        assert_eq!(shown(&combined, "time", "\n"), short);
        assert_eq!(shown(&combined, "status", r#"1.2.3.4 - - [t] "GET" 200"#), short);
        assert_eq!(shown(&combined, "", "garbage"), "");
        let begin = "malformed: the record does not begin like the log format";
        assert_eq!(shown(&nginx("<$a>"), "a", "x<1>"), begin);
        assert_eq!(shown(&nginx("<$a>"), "a", "<1>x"), "1");
        assert_eq!(shown(&nginx("<$a>"), "", "x<1>"), "");
    }

    #[test]
    fn a_malformed_record_has_a_place() {
        let text = format!("{GET}\n\nx [y\n{GET}\na b [t\n");
        let found = extract(&AccessFormat::combined(), "status", text.as_bytes());
        let places: Vec<_> = found.into_iter().map(|values| values.err().map(|(at, _)| at)).collect();
        assert_eq!(places, [None, Some(0), Some(2), None, Some(4)]);
    }

    #[test]
    fn many_records_have_their_own_values() {
        let line = |number: usize| match number % 7 {
            3 => format!("{number}"),
            status => format!(r#"::{number} - - [t] "-" {status} {number} "-" "-""#),
        };
        for count in [63, 64, 65, 200] {
            let text: Vec<String> = (0..count).map(line).collect();
            let found = extract(&AccessFormat::combined(), "bytes remote_addr", text.join("\n").as_bytes());
            assert_eq!(found.len(), count);
            for (number, values) in found.into_iter().enumerate() {
                let text = |text: String| Some(text.into_bytes());
                let expected = [text(number.to_string()), text(format!("::{number}"))];
                assert_eq!(values.ok(), (number % 7 != 3).then(|| expected.to_vec()), "{number}");
            }
        }
    }

    /// Reference implementation of the extraction with a log format of nginx, or a template in which the names of addresses begin with
    /// `ip`: one byte at a time.
    fn reference(format: &str, wanted: &[&str], record: &[u8]) -> Option<Vec<Option<Vec<u8>>>> {
        let mut texts = vec![String::new()];
        let mut names: Vec<String> = Vec::new();
        let mut is_name = false;
        for char in format.chars() {
            is_name &= char.is_ascii_alphanumeric() || char == '_';
            match char {
                '$' => {
                    is_name = true;
                    names.push(String::new());
                    texts.push(String::new());
                }
                char if is_name => names.last_mut().expect("a name").push(char),
                char => texts.last_mut().expect("a text").push(char),
            }
        }
        let last = wanted.iter().map(|name| names.iter().position(|other| other == name)).max()??;
        let mut at = record.starts_with(texts[0].as_bytes()).then_some(texts[0].len())?;
        let mut found = Vec::new();
        for number in 0..=last {
            let start = at;
            let (before, after) = (&texts[number], &texts[number + 1]);
            let is_quoted = texts[..=number].concat().matches('"').count() % 2 == 1 && after.starts_with('"');
            let is_bracketed = before.ends_with('[') && after.starts_with(']');
            let is_address = names[number].starts_with("ip") && after == ":";
            loop {
                let rest = &record[at..];
                let word = rest.split(|&byte| byte == b' ').next().unwrap_or_default();
                let is_end = match after.as_str() {
                    _ if is_address => {
                        word.first()?;
                        word.starts_with(b":") && !word[1..].contains(&b':')
                    }
                    "" => rest.is_empty(),
                    _ if is_quoted => rest.first()? == &b'"',
                    _ if is_bracketed => rest.first()? == &b']',
                    after => rest.starts_with(after.as_bytes()),
                };
                if is_end {
                    break;
                }
                at += if is_quoted && rest[0] == b'\\' { 2 } else { 1 };
                if at > record.len() {
                    return None;
                }
            }
            found.push(record[start..at].to_vec());
            if number < last && !record[at..].starts_with(after.as_bytes()) {
                return None;
            }
            at += after.len();
        }
        let value =
            |name: &&str| found[names.iter().position(|other| other == name).expect("a name")].clone();
        Some(wanted.iter().map(value).map(Some).collect())
    }

    /// Whether the user of a record does not begin as after a virtual host.
    fn has_user(record: &[u8]) -> bool {
        let values = reference(FORMATS[0], &["remote_user"], record).unwrap_or_default();
        values.iter().flatten().all(|user| !user.starts_with(b"- "))
    }

    /// Reference implementation of the parts of a request: method, URL, path, query and protocol.
    fn parts(request: &[u8]) -> Option<[Option<Vec<u8>>; 5]> {
        let words: Vec<&[u8]> = request.split(|&byte| byte == b' ').collect();
        let [method, url @ .., protocol] = &words[..] else { return None };
        let url = url.join(&b' ');
        let letters: Vec<u8> =
            protocol.iter().copied().take_while(|byte| byte.is_ascii_uppercase()).collect();
        let version = protocol.strip_prefix(&letters[..])?.strip_prefix(b"/")?;
        if method.is_empty() || url.is_empty() || letters.is_empty() || !version.first()?.is_ascii_digit() {
            return None;
        }
        let mut halves = url.splitn(2, |&byte| byte == b'?').map(<[u8]>::to_vec);
        let (path, query) = (halves.next(), halves.next());
        Some([Some(method.to_vec()), Some(url), path, query, Some(protocol.to_vec())])
    }

    /// Lines that are like records of the log formats below, with mistakes.
    fn lines() -> impl Strategy<Value = Vec<u8>> {
        let value = || {
            prop_oneof![
                4 => prop::sample::select(&["", "-", "1.2.3.4", "2001:db8::1", "a b", "200", "01/Mar/2026:00:00:06 +0000",
                    r#"a\"b"#, r"\\", "]", "\"", " [", "\\", " \"", "0.25", "<long", "\0"][..])
                    .prop_map(|value| value.as_bytes().to_vec()),
                3 => prop::sample::select(&["GET /a?b HTTP/1.1", "GET /a", "POST /a b?c d HTTP/2.0", "GET  HTTP/1.0", "A ? B/1",
                    "GET / HTTP/x", " / HTTP/1.0", "PRI * HTTP/2.0"][..])
                    .prop_map(|value| value.as_bytes().to_vec()),
                1 => prop::collection::vec(prop::sample::select(&b"ab \"\\?]["[..]), 0..150),
                1 => (1..150_usize).prop_map(|length| vec![b'x'; length]),
                1 => prop::collection::vec(any::<u8>().prop_filter("one line", |byte| !b"\r\n".contains(byte)), 0..9),
            ]
        };
        const TEMPLATES: [&[&str]; 6] = [
            &["", " ", " ", " [", "] \"", "\" ", " ", " \"", "\" \"", "\"", ""],
            &["", " - ", " [", "] \"", "\" ", " ", " \"", "\" \"", "\" ", ""],
            &["{\"a\":\"", "\",\"b\":[", "],\"c\":", "}"],
            &["[", "]]", "<long separator>", "<long separator>", ""],
            &["", ":", " [", "] ", "/", ""],
            &["", ":", " ", ":", " \"", "\"", ""],
        ];
        let from_template = (prop::sample::select(&TEMPLATES[..]), prop::collection::vec(value(), 11))
            .prop_map(|(texts, values)| {
                let parts = texts.iter().zip(&values).enumerate();
                parts
                    .flat_map(|(number, (text, value))| {
                        let value = if number + 1 < texts.len() { &value[..] } else { b"" };
                        [text.as_bytes(), value].concat()
                    })
                    .collect()
            });
        prop_oneof![
            6 => from_template,
            1 => prop::collection::vec(value(), 0..12).prop_map(|values| values.join(&b' ')),
        ]
    }

    const FORMATS: [&str; 9] = [
        r#"$remote_addr $ident $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"$rest"#,
        r#"$remote_addr $ident $remote_user [$time_local] "$request" $status $rest"#,
        USUAL,
        r#"{"a":"$a","b":[$b],"c":$c}"#,
        "[$a]]$b<long separator>$c<long separator>$d",
        r#""$a $b" $c"#,
        "$a",
        "x$a]",
        r#"$a"$b\$c"#,
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]

        #[test]
        fn values_are_those_of_the_reference(
            lines in prop::collection::vec(lines(), 1..5),
            format in prop::sample::select(&FORMATS[..]),
            choice in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
            ends_with_line_feed: bool,
        ) {
            let mut text = lines.join(&b'\n');
            text.extend(ends_with_line_feed.then_some(b'\n'));
            let names: Vec<&str> = format.split('$').skip(1).map(|part| {
                &part[..part.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(part.len())]
            }).collect();
            let wanted: Vec<&str> = choice.iter().map(|index| *index.get(&names)).collect();
            let found = extract(&nginx(format), &wanted.join(" "), &text);
            for (values, line) in found.into_iter().zip(text.split(|&byte| byte == b'\n')) {
                prop_assert_eq!(values.ok(), reference(format, &wanted, line), "{:?}", String::from_utf8_lossy(line));
            }
        }

        #[test]
        fn values_of_templates_are_those_of_the_reference(
            lines in prop::collection::vec(lines(), 1..5),
            template in prop::sample::select(
                &["$ip:$port [$time] $a/$b", "$ip_a:$a $ip_b:$b \"$c\"", "x $ip:$port", "$ip:", "$a:$ip:$b"][..]),
        ) {
            let format = AccessFormat::template(template, |name| name.starts_with("ip")).expect("a template");
            let names = format.names().join(" ");
            let found = extract(&format, &names, &lines.join(&b'\n'));
            for (values, line) in found.into_iter().zip(&lines) {
                let expected = reference(template, &names.split(' ').collect::<Vec<_>>(), line);
                prop_assert_eq!(values.ok(), expected, "{:?}", String::from_utf8_lossy(line));
            }
        }

        #[test]
        fn the_fixed_formats_are_those_of_the_reference(lines in prop::collection::vec(lines(), 1..5)) {
            let text = lines.join(&b'\n');
            let found = extract(&AccessFormat::combined(), "user status request_time user_agent", &text);
            for (values, line) in found.into_iter().zip(&lines) {
                let wanted = ["remote_user", "status", "rest", "http_user_agent"];
                let mut expected = reference(FORMATS[0], &wanted, line).filter(|_| has_user(line));
                if let Some(values) = &mut expected {
                    let number = values[2].as_ref().and_then(|rest| rest.strip_prefix(b" "));
                    let is_number = |text: &str| text.parse::<f64>().is_ok()
                        && text.chars().all(|char| char.is_ascii_digit() || char == '.')
                        && !text.starts_with('.') && !text.ends_with('.');
                    values[2] = number.filter(|number| str::from_utf8(number).is_ok_and(is_number)).map(<[u8]>::to_vec);
                }
                prop_assert_eq!(values.ok(), expected, "{:?}", String::from_utf8_lossy(line));
            }
            let found = extract(&AccessFormat::clf(), "bytes request", &text);
            for (values, line) in found.into_iter().zip(&lines) {
                let mut expected = reference(FORMATS[1], &["rest", "request"], line).filter(|_| has_user(line));
                if let Some([Some(rest), _]) = expected.as_deref_mut() {
                    rest.truncate(rest.iter().position(|&byte| byte == b' ').unwrap_or(rest.len()));
                }
                prop_assert_eq!(values.ok(), expected, "{:?}", String::from_utf8_lossy(line));
            }
        }

        #[test]
        fn parts_are_those_of_the_reference(lines in prop::collection::vec(lines(), 1..5)) {
            let text = lines.join(&b'\n');
            let found = extract(&AccessFormat::combined(), "request method url path query protocol", &text);
            for values in found.into_iter().flatten() {
                let request = values[0].as_deref().expect("a request");
                prop_assert_eq!(&values[1..], &parts(request).unwrap_or_default()[..], "{:?}", String::from_utf8_lossy(request));
            }
        }

        #[test]
        fn any_bytes_are_records(text in prop::collection::vec(any::<u8>(), 0..400), format in prop::sample::select(&FORMATS[..])) {
            let format = nginx(format);
            let found = extract(&format, &format.names().join(" "), &text);
            prop_assert!(found.len() <= text.len());
        }

        #[test]
        fn any_text_is_a_format_or_an_error(format in r#"[$a{}\[\]" ]{0,12}"#, record: String) {
            if let Ok(format) = AccessFormat::nginx(&format) {
                extract(&format, &format.names().join(" "), record.as_bytes());
            }
        }
    }
}
