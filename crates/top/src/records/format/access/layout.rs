//! Layout of the records of an access log, and the names of its fields.

use super::request::{RequestPart, ValuePart};
use crate::query::field::Field;
use crate::query::format_error::FormatError;
use crate::query::near_names::field_meant;

/// Layout of the records of an access log: values of variables, and the texts between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccessFormat {
    /// Text before the first variable.
    pub(super) before: Vec<u8>,
    pub(super) variables: Vec<Variable>,
    /// Whether fields have other names than the variables as well.
    has_aliases: bool,
}

/// A variable and the text after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) end: End,
    pub(super) after: Vec<u8>,
}

/// End of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The first place of the text after the variable.
    Text,
    /// Like [`End::Text`], but the value does not begin with a dash and a space, as it would after a virtual host before the
    /// address.
    User,
    /// The first closing bracket.
    Bracket,
    /// The first double quote that is not escaped by a backslash.
    Quote,
    /// The last colon of a word: addresses of IPv6 have colons.
    Address,
    /// The first space, or the end of the record if there is none.
    Space,
    /// The end of the record.
    Record,
    /// The end of the record. The value is missing unless the rest of the record is a space and a number.
    LoneNumber,
}

/// A value of a record: a variable or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueSource {
    pub(super) variable: usize,
    pub(super) part: ValuePart,
}

/// A log format without variables.
const NO_VARIABLES: &str =
    "the log format has no variables; expected one like '$remote_addr [$time_local] \"$request\" $status'";

/// Fields by a name other than that of the variable in a log format of nginx, and the variables that may have the value.
const ALIASES: [(&str, &[&str]); 14] = [
    ("user", &["remote_user"]),
    ("time", &["time_local", "time_iso8601"]),
    ("bytes", &["body_bytes_sent", "bytes_sent"]),
    ("body_bytes_sent", &["bytes_sent"]),
    ("bytes_sent", &["body_bytes_sent"]),
    ("referer", &["http_referer"]),
    ("user_agent", &["http_user_agent"]),
    ("host", &["http_host"]),
    ("port", &["server_port"]),
    ("method", &["request_method"]),
    ("url", &["request_uri"]),
    ("path", &["uri", "document_uri"]),
    ("query", &["args", "query_string"]),
    ("protocol", &["server_protocol"]),
];

/// Parts of the variable `request`.
const PARTS_OF_REQUEST: [(&str, ValuePart); 8] = [
    ("method", ValuePart::Request(RequestPart::Method)),
    ("path", ValuePart::Request(RequestPart::Path)),
    ("query", ValuePart::Request(RequestPart::Query)),
    ("url", ValuePart::Request(RequestPart::Url)),
    ("protocol", ValuePart::Request(RequestPart::Protocol)),
    ("request_method", ValuePart::Request(RequestPart::Method)),
    ("request_uri", ValuePart::Request(RequestPart::Url)),
    ("server_protocol", ValuePart::Request(RequestPart::Protocol)),
];

/// Parts of the variable `request_uri`.
const PARTS_OF_URL: [(&str, ValuePart); 2] =
    [("path", ValuePart::PathOfUrl), ("query", ValuePart::QueryOfUrl)];

/// The number of names of [`PARTS_OF_REQUEST`] that are no aliases of others.
const CANONICAL_PARTS: usize = 5;

impl AccessFormat {
    /// The common log format of Apache. More text may follow the size.
    pub(crate) fn clf() -> Self {
        let mut clf = Self { before: Vec::new(), variables: common(), has_aliases: true };
        clf.variables.push(Variable::new("body_bytes_sent", End::Space, ""));
        clf
    }

    /// The combined log format, without a host before the address. More text may follow the user agent; if it is a space
    /// and a number, it is the time of the request.
    pub(crate) fn combined() -> Self {
        let mut combined = Self { before: Vec::new(), variables: common(), has_aliases: true };
        combined.variables.extend([
            Variable::new("body_bytes_sent", End::Text, " \""),
            Variable::new("http_referer", End::Quote, "\" \""),
            Variable::new("http_user_agent", End::Quote, "\""),
            Variable::new("request_time", End::LoneNumber, ""),
        ]);
        combined
    }

    /// Apache's `vhost_combined`: a virtual host and its port, then the combined log format.
    pub(crate) fn vhost_combined() -> Self {
        let mut format = Self::combined();
        let vhost = [Variable::new("host", End::Text, ":"), Variable::new("server_port", End::Text, " ")];
        format.variables.splice(..0, vhost);
        format
    }

    /// Parses a value of nginx's `log_format`, without the quotes around it.
    pub(crate) fn nginx(format: &str) -> Result<Self, FormatError> {
        Self::parse(format, |_| false)
    }

    /// Parses a template of a named format. Its fields have the names of its variables, and the parts of a request. An address that a
    /// colon follows ends at the last colon of its word.
    pub(crate) fn template(template: &str, is_address: impl Fn(&str) -> bool) -> Result<Self, FormatError> {
        Ok(Self { has_aliases: false, ..Self::parse(template, is_address)? })
    }

    fn parse(format: &str, is_address: impl Fn(&str) -> bool) -> Result<Self, FormatError> {
        let (before, mut rest) =
            format.split_at(format.find('$').ok_or(FormatError::Other(NO_VARIABLES.to_owned()))?);
        let mut variables: Vec<Variable> = Vec::new();
        let mut text_before = before;
        let mut quotes = count_quotes(before);
        while !rest.is_empty() {
            let (name, after) = variable(rest)?;
            let (text, next) = after.split_at(after.find('$').unwrap_or(after.len()));
            if text.is_empty() && !next.is_empty() {
                let (next, _) = variable(next)?;
                return Err(FormatError::Other(format!(
                    "cannot tell where ${name} ends and ${next} begins: the log format has no text between them"
                )));
            }
            let end = match text.as_bytes().first() {
                None => End::Record,
                Some(b'"') if quotes % 2 == 1 => End::Quote,
                Some(b']') if text_before.ends_with('[') => End::Bracket,
                Some(_) if text == ":" && is_address(name) => End::Address,
                Some(_) => End::Text,
            };
            variables.push(Variable::new(name, end, text));
            quotes += count_quotes(text);
            (text_before, rest) = (text, next);
        }
        Ok(Self { before: before.as_bytes().to_vec(), variables, has_aliases: true })
    }

    /// The names of the fields, one for each value of a record.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for (index, variable) in self.variables.iter().enumerate() {
            names.push(self.usual_name(&variable.name));
            let parts: &[_] = match &*variable.name {
                "request" => &PARTS_OF_REQUEST[..CANONICAL_PARTS],
                "request_uri" => &PARTS_OF_URL,
                _ => &[],
            };
            names.extend(
                parts
                    .iter()
                    .map(|&(name, _)| name)
                    .filter(|name| self.resolve(name).is_some_and(|source| source.variable == index)),
            );
        }
        names
    }

    /// Returns the value for a field.
    pub(super) fn source(&self, field: &Field) -> Result<ValueSource, FormatError> {
        match field {
            &Field::Position(number) => {
                let instead = |name| format!("instead of {number} write {name}");
                let list = || format!("they are {}", self.names().join(", "));
                let hint = self.name_of_word(number).map_or_else(list, instead);
                Err(FormatError::Other(format!(
                    "field {number}: the fields of this log format have names; {hint}"
                )))
            }
            Field::Named(name) => self.resolve(&name.text).ok_or_else(|| {
                FormatError::Other(format!(
                    "no field '{}' in this log format; {}",
                    name.text,
                    self.hint(&name.text)
                ))
            }),
        }
    }

    /// Returns the name of the field that has the word of a record with this number, from 1. `None` if the texts between
    /// the values have it, or if a value before it may have any number of words.
    fn name_of_word(&self, number: i32) -> Option<&str> {
        let blanks = |text: &[u8]| text.iter().filter(|&&byte| byte == b' ').count();
        let number = usize::try_from(number).ok()?;
        let mut first = 1 + blanks(&self.before);
        for variable in &self.variables {
            let words: &[&str] = match &*variable.name {
                "request" => &["method", "url", "protocol"],
                "time_local" => &["time", "time"],
                name => &[self.usual_name(name)],
            };
            if let Some(word) = words.get(number.checked_sub(first)?) {
                return Some(word);
            }
            if words.len() == 1 && variable.end == End::Quote {
                return None;
            }
            first += words.len() - 1 + blanks(&variable.after);
        }
        None
    }

    /// Returns the shortest name of a variable: its alias, or its own name.
    fn usual_name<'n>(&'n self, name: &'n str) -> &'n str {
        let source = self.resolve(name);
        let mut aliases =
            ALIASES.iter().filter(|(_, variables)| variables.contains(&name)).map(|&(alias, _)| alias);
        aliases.find(|alias| self.resolve(alias) == source).unwrap_or(name)
    }

    /// Returns the names near to a wanted one, or else the usual names of all fields.
    fn hint(&self, wanted: &str) -> String {
        let names = self.names();
        let variables = self.variables.iter().map(|variable| &*variable.name);
        let aliases = ALIASES.iter().map(|&(alias, _)| alias).filter(|alias| self.resolve(alias).is_some());
        let all = names.iter().copied().chain(variables).chain(aliases);
        field_meant(wanted, all).unwrap_or_else(|| format!("its fields are {}", names.join(", ")))
    }

    /// Returns the value with this name: a variable, a part of the request, a part of the URL, or a variable for which
    /// this is an alias.
    fn resolve(&self, name: &str) -> Option<ValueSource> {
        let whole = |name: &str| {
            let variable = self.variables.iter().position(|variable| variable.name == name)?;
            Some(ValueSource { variable, part: self.whole(variable) })
        };
        let part = |of: &str, parts: &[(&str, ValuePart)]| {
            let ValueSource { variable, .. } = whole(of)?;
            parts.iter().find(|(part, _)| *part == name).map(|&(_, part)| ValueSource { variable, part })
        };
        let alias = || {
            let aliases: &[_] = if self.has_aliases { &ALIASES } else { &[] };
            let (_, variables) = aliases.iter().find(|(alias, _)| *alias == name)?;
            variables.iter().find_map(|name| whole(name))
        };
        whole(name)
            .or_else(|| part("request", &PARTS_OF_REQUEST))
            .or_else(|| part("request_uri", &PARTS_OF_URL))
            .or_else(alias)
    }

    fn whole(&self, variable: usize) -> ValuePart {
        if self.variables[variable].end == End::LoneNumber { ValuePart::LoneNumber } else { ValuePart::Whole }
    }
}

impl Variable {
    fn new(name: &str, end: End, after: &str) -> Self {
        Self { name: name.to_owned(), end, after: after.as_bytes().to_vec() }
    }
}

/// The first variables of the common and the combined log format.
fn common() -> Vec<Variable> {
    vec![
        Variable::new("remote_addr", End::Text, " "),
        Variable::new("ident", End::Text, " "),
        Variable::new("remote_user", End::User, " ["),
        Variable::new("time_local", End::Bracket, "] \""),
        Variable::new("request", End::Quote, "\" "),
        Variable::new("status", End::Text, " "),
    ]
}

fn count_quotes(text: &str) -> usize {
    text.matches('"').count()
}

/// Parses the variable at the start of a text, `$name` or `${name}`. Returns its name and the rest.
fn variable(text: &str) -> Result<(&str, &str), FormatError> {
    let after = &text[1..];
    let (name, rest) = match after.strip_prefix('{') {
        Some(inner) => {
            inner.split_once('}').ok_or_else(|| FormatError::Other(format!("unclosed brace at '{text}'")))?
        }
        None => after.split_at(after.find(|char| !is_of_name(char)).unwrap_or(after.len())),
    };
    let is_name = !name.is_empty() && name.chars().all(is_of_name);
    if is_name {
        Ok((name, rest))
    } else {
        Err(FormatError::Other(format!("expected the name of a variable after '$' at '{text}'")))
    }
}

fn is_of_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &str = r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time"#;

    fn ends(format: &str) -> Vec<(String, End, String)> {
        let AccessFormat { variables, .. } = AccessFormat::nginx(format).expect("a valid format");
        let parts = |Variable { name, end, after }| (name, end, String::from_utf8(after).expect("UTF-8"));
        variables.into_iter().map(parts).collect()
    }

    #[test]
    fn values_end_at_quotes_brackets_or_the_next_text() {
        let expected = [
            ("remote_addr", End::Text, " - "),
            ("remote_user", End::Text, " ["),
            ("time_local", End::Bracket, "] \""),
            ("request", End::Quote, "\" "),
            ("status", End::Text, " "),
            ("body_bytes_sent", End::Text, " \""),
            ("http_referer", End::Quote, "\" \""),
            ("http_user_agent", End::Quote, "\" "),
            ("request_time", End::Record, ""),
        ];
        let owned = |(name, end, text): (&str, _, &str)| (name.to_owned(), end, text.to_owned());
        assert_eq!(ends(USUAL), expected.map(owned));
        let json = r#"{"a":"${a}x","b":$b}"#;
        assert_eq!(ends(json), [("a", End::Text, "x\",\"b\":"), ("b", End::Text, "}")].map(owned));
        let quoted = r#""$a $b"]$c]"#;
        assert_eq!(
            ends(quoted),
            [("a", End::Text, " "), ("b", End::Quote, "\"]"), ("c", End::Text, "]")].map(owned)
        );
    }

    #[test]
    fn ambiguous_and_invalid_formats_are_refused() {
        let error = |format: &str| AccessFormat::nginx(format).expect_err("an error").to_string();
        let adjacent = "cannot tell where $a ends and $b begins: the log format has no text between them";
        assert_eq!(error("$a$b"), adjacent);
        assert_eq!(error("x $a${b}$c"), adjacent);
        assert_eq!(error("$a $"), "expected the name of a variable after '$' at '$'");
        assert_eq!(error("$ a"), "expected the name of a variable after '$' at '$ a'");
        assert_eq!(error("$a${}"), "expected the name of a variable after '$' at '${}'");
        assert_eq!(error("$a ${b c}"), "expected the name of a variable after '$' at '${b c}'");
        assert_eq!(error("$a ${b"), "unclosed brace at '${b'");
        let none = error("remote_addr status");
        assert!(none.starts_with("the log format has no variables; expected one like "), "{none}");
        assert_eq!(error(""), none);
    }

    #[test]
    fn names_are_those_of_the_values() {
        let combined = "remote_addr ident user time request method path query url protocol status bytes referer \
                        user_agent request_time";
        assert_eq!(AccessFormat::combined().names().join(" "), combined);
        let clf = "remote_addr ident user time request method path query url protocol status bytes";
        assert_eq!(AccessFormat::clf().names().join(" "), clf);
        let names = |format: &str| AccessFormat::nginx(format).expect("a format").names().join(" ");
        assert_eq!(
            names("$request_method $request_uri $bytes_sent $body_bytes_sent"),
            "method url path query bytes_sent bytes"
        );
        assert_eq!(names("$host $http_host $upstream_addr $uri"), "host http_host upstream_addr path");
        assert_eq!(names("$request_uri $request"), "request_uri request method path query url protocol");
    }

    #[test]
    fn every_listed_name_and_every_alias_is_found() {
        let combined = AccessFormat::combined();
        let source = |name: &str| combined.source(&Field::named(name));
        for name in combined.names() {
            assert!(source(name).is_ok(), "{name}");
        }
        for (alias, name) in [
            ("user", "remote_user"),
            ("time", "time_local"),
            ("bytes", "body_bytes_sent"),
            ("bytes", "bytes_sent"),
            ("referer", "http_referer"),
            ("user_agent", "http_user_agent"),
            ("url", "request_uri"),
            ("method", "request_method"),
            ("protocol", "server_protocol"),
        ] {
            assert_eq!(source(alias), source(name), "{alias}");
        }
        let hosts = AccessFormat::nginx("$http_host $status").expect("a format");
        assert_eq!(hosts.source(&Field::named("host")), hosts.source(&Field::named("http_host")));
    }

    #[test]
    fn other_fields_are_refused_with_the_names() {
        let format = AccessFormat::nginx("$http_host $status").expect("a format");
        let error = |field: &str| {
            let field = Field::parse(field).expect("a field");
            format.source(&field).expect_err("an error").to_string()
        };
        assert_eq!(error("path"), "no field 'path' in this log format; its fields are host, status");
        assert_eq!(error("statsu"), "no field 'statsu' in this log format; did you mean 'status'?");
        assert_eq!(error("http_hots"), "no field 'http_hots' in this log format; did you mean 'http_host'?");
        let named = "the fields of this log format have names;";
        assert_eq!(error("2"), format!("field 2: {named} instead of 2 write status"));
        assert_eq!(error("3"), format!("field 3: {named} they are host, status"));
        assert_eq!(error("-1"), format!("field -1: {named} they are host, status"));
    }

    #[test]
    fn a_word_of_a_record_has_the_name_of_its_value() {
        let names = |format: &AccessFormat| {
            let name = |number| format.name_of_word(number).unwrap_or("-").to_owned();
            (0..14).map(name).collect::<Vec<_>>().join(" ")
        };
        let common = "- remote_addr ident user time time method url protocol status bytes";
        assert_eq!(names(&AccessFormat::clf()), format!("{common} - - -"));
        assert_eq!(names(&AccessFormat::combined()), format!("{common} referer - -"));
        let nginx = |format: &str| names(&AccessFormat::nginx(format).expect("a format"));
        assert_eq!(
            nginx("at [$time_local] - $remote_user \"$request\" $status"),
            "- - time time - user method url protocol status - - - -"
        );
        assert_eq!(nginx("\"$http_user_agent\" $status"), "- user_agent - - - - - - - - - - - -");
    }
}
