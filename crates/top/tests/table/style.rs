//! Tables as texts.

use finecomb_top::{Field, InputFormat};

use super::{COLUMNS, Choices, TableRow, Written};

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Csv { delimiter: u8, has_header: bool },
    Tsv { has_header: bool },
    Json,
    Logfmt,
    Lines,
    Nginx,
    Regex,
    Syslog,
}

const NGINX: &str = r#"$host [$bytes] "$path" $code"#;
const REGEX: &str = r"^(?P<host>[^|]*)\|(?P<bytes>[^|]*)\|(?P<path>[^|]*)\|(?:c=(?P<code>.*))?$";

/// A column, as it is named in a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedColumn {
    pub(crate) field: Field,
    /// In a condition.
    pub(crate) typed: String,
    /// In an answer.
    pub(crate) shown: String,
}

impl Style {
    pub(crate) fn input(self) -> InputFormat {
        match self {
            Self::Csv { .. } => InputFormat::Csv,
            Self::Tsv { .. } => InputFormat::Tsv,
            Self::Json => InputFormat::Json,
            Self::Logfmt => InputFormat::Logfmt,
            Self::Lines => InputFormat::Lines,
            Self::Nginx => InputFormat::Nginx(NGINX.to_owned()),
            Self::Regex => InputFormat::Regex(REGEX.to_owned()),
            Self::Syslog => InputFormat::Syslog,
        }
    }

    pub(crate) fn delimiter(self) -> u8 {
        if let Self::Csv { delimiter, .. } = self { delimiter } else { b',' }
    }

    pub(crate) fn has_header(self) -> bool {
        matches!(self, Self::Csv { has_header: true, .. } | Self::Tsv { has_header: true })
    }

    /// Whether columns can be named by their positions.
    pub(crate) fn has_positions(self) -> bool {
        matches!(self, Self::Csv { .. } | Self::Tsv { .. } | Self::Lines | Self::Regex)
    }

    /// Whether columns have names.
    pub(crate) fn has_names(self) -> bool {
        self.has_header() || !matches!(self, Self::Csv { .. } | Self::Tsv { .. } | Self::Lines)
    }

    fn names(self) -> [&'static str; COLUMNS] {
        match self {
            Self::Json => ["host", "bytes", "req.path", "list[1]"],
            Self::Syslog => ["host", "app", "sd.x@1.path", "message"],
            Self::Csv { .. } => ["host", "bytes", "req.path", "x, \"y\""],
            Self::Logfmt | Self::Tsv { .. } => ["host", "bytes", "req.path", "x.y"],
            Self::Nginx | Self::Regex | Self::Lines => ["host", "bytes", "path", "code"],
        }
    }

    pub(crate) fn column(self, column: usize, by_position: bool) -> NamedColumn {
        if by_position {
            let number = column + 1;
            let field = Field::Position(number as i32);
            return NamedColumn { field, typed: format!("${number}"), shown: number.to_string() };
        }
        let name = self.names()[column];
        let (field, typed) = match Field::parse(name) {
            Ok(field) => (field, name.to_owned()),
            Err(_) => (Field::named(name), format!("`{name}`")),
        };
        NamedColumn { field, typed, shown: name.to_owned() }
    }

    /// Number of columns of a malformed record, each with the value `x`. Without any, it is malformed for every column.
    pub(crate) fn columns_of_malformed(self) -> usize {
        usize::from(self.has_header())
    }

    /// The row as this format can hold it.
    fn fits(self, row: &TableRow) -> TableRow {
        let TableRow::Values(values) = row else {
            let first = [Some("x".to_owned()), None, None, None];
            return match self {
                Self::Csv { has_header: false, .. } | Self::Tsv { has_header: false } => {
                    TableRow::Values(first)
                }
                Self::Lines => TableRow::Values([const { None }; COLUMNS]),
                _ => TableRow::Malformed,
            };
        };
        let mut values = values.clone();
        let last = values.iter().rposition(Option::is_some);
        for (column, value) in values.iter_mut().enumerate() {
            let can_miss = match self {
                Self::Json | Self::Logfmt | Self::Syslog => true,
                Self::Regex => column == 3,
                Self::Nginx => false,
                Self::Lines => last.is_none_or(|last| column > last),
                Self::Csv { has_header, .. } | Self::Tsv { has_header } => {
                    !has_header && column > last.unwrap_or(0)
                }
            };
            if value.is_none() && !can_miss {
                *value = Some(String::new());
            }
            *value = value.take().and_then(|value| self.value(column, value));
        }
        if self == (Self::Tsv { has_header: false })
            && values[1].is_none()
            && values[0].as_deref() == Some("")
        {
            // An empty record is none.
            values[0] = Some("x".to_owned());
        }
        TableRow::Values(values)
    }

    /// The nearest value that this format can hold.
    fn value(self, column: usize, value: String) -> Option<String> {
        let line = |value: String| value.replace(['\n', '\r'], "_");
        let word = |value: String| value.replace(['\n', '\r', '\t', ' '], "_");
        Some(match (self, column) {
            (Self::Csv { .. } | Self::Json | Self::Logfmt, _) => value,
            (Self::Tsv { .. }, _) => line(value).replace('\t', "_"),
            (Self::Lines, _) if value.is_empty() => "_".to_owned(),
            (Self::Lines, _) => word(value),
            (Self::Nginx, 0) => line(value).replace('[', "("),
            (Self::Nginx, 1) => line(value).replace(']', ")"),
            (Self::Nginx, 2) => line(value).replace(['"', '\\'], "'"),
            (Self::Nginx, _) => line(value),
            (Self::Regex, 3) => line(value),
            (Self::Regex, _) => line(value).replace('|', "!"),
            (Self::Syslog, 0 | 1) => return Some(word(value)).filter(|value| !matches!(&**value, "" | "-")),
            (Self::Syslog, 2) => line(value),
            (Self::Syslog, _) => {
                let value = line(value);
                let value = value.trim_start_matches([' ', '\t']);
                return Some(value.to_owned()).filter(|value| !value.is_empty());
            }
        })
    }

    /// Writes rows as a file.
    pub(crate) fn write(self, rows: &[TableRow], mut choices: Choices) -> Written {
        let line_end = if choices.one_in(4) { "\r\n" } else { "\n" };
        let mut written = Written::default();
        if self.has_header() {
            self.write_blank_lines(&mut written, &mut choices);
            let names = self.names().map(|name| Some(name.to_owned()));
            let header = self.record(&TableRow::Values(names), &mut choices);
            written.bytes.extend_from_slice(format!("{header}{line_end}").as_bytes());
        }
        for row in rows {
            self.write_blank_lines(&mut written, &mut choices);
            let row = self.fits(row);
            let text = self.record(&row, &mut choices);
            let offset = written.bytes.len() as u64;
            written.bytes.extend_from_slice(format!("{text}{line_end}").as_bytes());
            written.records.push((row, offset, text.into_bytes()));
        }
        let is_last_empty = written.records.last().is_none_or(|(_, _, text)| text.is_empty());
        if choices.one_in(3) && !is_last_empty {
            written.bytes.truncate(written.bytes.len() - line_end.len());
        }
        written
    }

    /// Writes blank lines if they are no records.
    fn write_blank_lines(self, written: &mut Written, choices: &mut Choices) {
        if matches!(self, Self::Csv { .. } | Self::Tsv { .. }) {
            while choices.one_in(8) {
                written.bytes.extend_from_slice(if choices.one_in(2) { b"\n" } else { b"\r\n" });
            }
        }
    }

    /// The text of a record.
    fn record(self, row: &TableRow, choices: &mut Choices) -> String {
        let TableRow::Values(values) = row else {
            return match self {
                Self::Json => "[1]",
                Self::Logfmt => "k=1 l=\"open",
                Self::Syslog => "<999>x",
                _ => "x",
            }
            .to_owned();
        };
        let value = |column: usize| values[column].as_deref().unwrap_or_default();
        let present: Vec<&str> = values.iter().flatten().map(String::as_str).collect();
        match self {
            Self::Csv { delimiter, .. } => csv(&present, delimiter.into(), choices),
            Self::Tsv { .. } => present.join("\t"),
            Self::Lines => {
                let blanks = |choices: &mut Choices| [" ", "  ", "\t"][choices.pick(3) as usize];
                present.iter().fold(String::new(), |line, value| match line.is_empty() {
                    true => (*value).to_owned(),
                    false => line + blanks(choices) + value,
                })
            }
            Self::Nginx => format!("{} [{}] \"{}\" {}", value(0), value(1), value(2), value(3)),
            Self::Regex => {
                let code = values[3].as_ref().map(|code| format!("c={code}")).unwrap_or_default();
                format!("{}|{}|{}|{code}", value(0), value(1), value(2))
            }
            Self::Logfmt => logfmt(values, self.names(), choices),
            Self::Syslog => syslog(values, choices),
            Self::Json => json(values, choices),
        }
    }
}

fn csv(values: &[&str], delimiter: char, choices: &mut Choices) -> String {
    let quoted = |value: &&str| {
        let must = value.contains([delimiter, '"', '\n', '\r']) || (value.is_empty() && values.len() == 1);
        match must || choices.one_in(4) {
            true => format!("\"{}\"", value.replace('"', "\"\"")),
            false => (*value).to_owned(),
        }
    };
    values.iter().map(quoted).collect::<Vec<_>>().join(&delimiter.to_string())
}

fn logfmt(values: &[Option<String>; COLUMNS], names: [&str; COLUMNS], choices: &mut Choices) -> String {
    let mut pairs = Vec::new();
    for (name, value) in names.iter().zip(values) {
        if choices.one_in(3) {
            pairs.push(
                ["other=\"a \\\" host=no b\"", "word", "xhost=1", "k=\"\""][choices.pick(4) as usize]
                    .to_owned(),
            );
        }
        let Some(value) = value else { continue };
        let must_quote = value.contains([' ', '\t', '\n', '\r']) || value.starts_with('"');
        pairs.push(match must_quote || choices.one_in(3) {
            false if value == "true" && choices.one_in(2) => (*name).to_owned(),
            false => format!("{name}={value}"),
            true => {
                let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
                format!("{name}=\"{}\"", escaped.replace('\n', "\\n").replace('\r', "\\r"))
            }
        });
    }
    let second = pairs.last().filter(|_| choices.one_in(5)).and_then(|pair| pair.split('=').next());
    if let Some(second) = second.map(|key| format!("{key}=second")) {
        pairs.push(second);
    }
    shuffle_but_last(&mut pairs, choices);
    pairs.join(" ")
}

/// Shuffles all but the last, which may repeat another.
fn shuffle_but_last(parts: &mut [String], choices: &mut Choices) {
    for index in 1..parts.len().saturating_sub(1) {
        let other = choices.pick(index as u64 + 1) as usize;
        parts.swap(index, other);
    }
}

fn syslog(values: &[Option<String>; COLUMNS], choices: &mut Choices) -> String {
    let word = |column: usize| values[column].as_deref().unwrap_or("-");
    let escape = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace(']', "\\]");
    let data = match &values[2] {
        Some(path) => format!("[x@1 z=\"\\]\" path=\"{}\"][y path=\"no\"]", escape(path)),
        None => ["-", "[x@1 z=\"1\"]", "[y path=\"no\"]"][choices.pick(3) as usize].to_owned(),
    };
    let message = values[3].as_ref().map(|message| format!(" {message}")).unwrap_or_default();
    format!("<34>1 2026-03-01T00:00:00Z {} {} 77 - {data}{message}", word(0), word(1))
}

fn json(values: &[Option<String>; COLUMNS], choices: &mut Choices) -> String {
    let mut members = Vec::new();
    for (column, value) in values.iter().enumerate() {
        if choices.one_in(4) {
            let extra =
                [r#""x":{"host":"no","a":[1,{"b":"}"}]}"#, r#""z":null"#, r#""y":[]"#, r#""":" \" ""#];
            members.push(extra[choices.pick(4) as usize].to_owned());
        }
        let text = value.as_ref().map(|value| json_value(value, choices));
        let host = if choices.one_in(5) { "h\\u006fst" } else { "host" };
        match (column, text) {
            (0, Some(text)) => members.push(format!("\"{host}\":{text}")),
            (1, Some(text)) => members.push(format!("\"bytes\": {text}")),
            (2, Some(text)) => members.push(format!("\"req\":{{\"q\":[0], \"path\" : {text}}}")),
            (3, Some(text)) => members.push(format!("\"list\":[{{\"a\":1}}, {text}]")),
            (0, None) if choices.one_in(2) => members.push(format!("\"{host}\":null")),
            (1, None) if choices.one_in(2) => members.push("\"bytes\": null".to_owned()),
            (2, None) if choices.one_in(2) => {
                members.push(
                    ["\"req\":{\"q\":0}", "\"req\":{\"path\":null}"][choices.pick(2) as usize].to_owned(),
                );
            }
            (3, None) if choices.one_in(2) => {
                members.push(["\"list\":[9]", "\"list\":[9, null ]"][choices.pick(2) as usize].to_owned());
            }
            _ => {}
        }
    }
    members.push("\"end\":1".to_owned());
    shuffle_but_last(&mut members, choices);
    let space = if choices.one_in(4) { " " } else { "" };
    format!("{space}{{{space}{}{space}}}{space}", members.join(&format!("{space},")))
}

fn json_value(value: &str, choices: &mut Choices) -> String {
    let is_number = !value.is_empty() && is_json_number(value) || value == "true";
    if is_number && choices.one_in(2) {
        return value.to_owned();
    }
    let mut text = String::from("\"");
    for char in value.chars() {
        match char {
            '"' | '\\' => text.extend(['\\', char]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '/' if choices.one_in(2) => text.push_str("\\/"),
            _ if char.is_control() || choices.one_in(20) => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            }
            _ => text.push(char),
        }
    }
    text + "\""
}

/// Whether a text is a number of JSON.
fn is_json_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    all_digits(whole) && all_digits(fraction) && (whole == "0" || !whole.starts_with('0'))
}
