//! Fields of records by name or position, as typed: `status`, `.request.headers.host`, `items[0].price`, `"a,b"`, `7`; and `@file`, the
//! name of the input of a record.

use std::fmt;

use thiserror::Error;

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// The field with this number, from 1; negative numbers count from the end, with -1 for the last.
    Position(i32),
    /// The field with this name.
    Named(Name),
}

/// Name of a field. Formats with nested values follow `path`; all others use `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The whole name, without quotes and without a leading dot.
    pub text: String,
    /// The steps from a record to the field: at least one, except for [`Field::INPUT`].
    pub path: Vec<Step>,
}

/// A step into a nested value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the member of an object with this key.
    Key(String),
    /// To the element of an array with this number, from 0.
    Index(usize),
}

/// An invalid field.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldError {
    /// There is no name between two commas or dots, or at the end.
    #[error("expected the name or number of a field")]
    Empty,
    /// Fields are numbered from 1.
    #[error("fields are numbered from 1; found 0")]
    Zero,
    /// A quote is never closed.
    #[error("unclosed quote in '{0}'")]
    OpenQuote(String),
    /// A bracket does not enclose a number.
    #[error("expected an array index such as [0] in '{0}'")]
    Index(String),
    /// Text follows a closing quote or bracket.
    #[error("expected a dot or a comma after '{0}'")]
    After(String),
}

impl Field {
    /// The field with the name of the input of a record, which is in no record. In quotes or after a dot, this is the name of a field
    /// of records.
    pub const INPUT: &str = "@file";

    /// The name of the input of a record.
    pub fn input() -> Self {
        Self::Named(Name { text: Self::INPUT.to_owned(), path: Vec::new() })
    }

    /// Whether this is the name of the input of a record.
    pub fn is_input(&self) -> bool {
        matches!(self, Self::Named(name) if name.path.is_empty())
    }

    /// Parses a single field.
    ///
    /// # Errors
    /// Returns an error if the text is not exactly one field.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let (field, rest) = parse_field(text)?;
        if rest.is_empty() { Ok(field) } else { Err(FieldError::After(before(text, rest).to_owned())) }
    }

    /// Parses a list of fields, separated by commas.
    ///
    /// # Errors
    /// Returns an error if one of them is not a field.
    pub fn parse_list(list: &str) -> Result<Vec<Self>, FieldError> {
        let mut fields = Vec::new();
        let mut rest = list;
        loop {
            let (field, after) = parse_field(rest)?;
            fields.push(field);
            if after.is_empty() {
                return Ok(fields);
            }
            rest =
                after.strip_prefix(',').ok_or_else(|| FieldError::After(before(list, after).to_owned()))?;
        }
    }

    /// A text that [`Field::parse`] reads as this field. `Display` omits quotes, so its output may parse as another field.
    pub fn written(&self) -> String {
        match self {
            Self::Position(number) => number.to_string(),
            Self::Named(_) if self.is_input() => Self::INPUT.to_owned(),
            Self::Named(name) => name.written_with(push_key),
        }
    }

    /// A field with a name of one step.
    pub fn named(name: &str) -> Self {
        Self::Named(Name { text: name.to_owned(), path: vec![Step::Key(name.to_owned())] })
    }
}

impl Name {
    /// The name with each key as `push_key` appends it.
    pub(crate) fn written_with(&self, push_key: impl Fn(&str, &mut String)) -> String {
        let (mut written, mut rest) = (String::new(), self.text.as_str());
        for step in &self.path {
            match step {
                Step::Key(key) => {
                    if !written.is_empty() {
                        written.push('.');
                        rest = rest.strip_prefix('.').unwrap_or(rest);
                    }
                    rest = rest.strip_prefix(key.as_str()).unwrap_or(rest);
                    push_key(key, &mut written);
                }
                // Numbers of elements may have leading zeros.
                Step::Index(_) => {
                    let end = rest.find(']').map_or(rest.len(), |end| end + 1);
                    written.push_str(&rest[..end]);
                    rest = &rest[end..];
                }
            }
        }
        written
    }
}

/// Appends a key, in quotes if it would be something else without.
fn push_key(key: &str, out: &mut String) {
    let is_number = out.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let is_input = out.is_empty() && key == Field::INPUT;
    if is_number || is_input || key.is_empty() || key.contains(['.', ',', '[', '"']) {
        out.push('"');
        out.push_str(&key.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(key);
    }
}

/// The part of `text` before its suffix `rest`.
fn before<'t>(text: &'t str, rest: &str) -> &'t str {
    &text[..text.len() - rest.len()]
}

/// Parses the field at the beginning of a text and returns the rest.
fn parse_field(text: &str) -> Result<(Field, &str), FieldError> {
    let end = text.find(',').unwrap_or(text.len());
    let is_number = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    match text[..end].parse() {
        Ok(0) if is_number(&text[..end]) => Err(FieldError::Zero),
        Ok(position) if is_number(&text[..end]) => Ok((Field::Position(position), &text[end..])),
        _ if &text[..end] == Field::INPUT => Ok((Field::input(), &text[end..])),
        _ => parse_name(text).map(|(name, rest)| (Field::Named(name), rest)),
    }
}

fn parse_name(text: &str) -> Result<(Name, &str), FieldError> {
    let mut rest = text.strip_prefix('.').unwrap_or(text);
    let mut name = String::new();
    let mut path = Vec::new();
    loop {
        let (key, after) = parse_key(text, rest)?;
        name.push_str(&key);
        path.push(Step::Key(key));
        rest = after;
        while let Some(inner) = rest.strip_prefix('[') {
            let (index, after) = inner.split_once(']').ok_or_else(|| FieldError::Index(text.to_owned()))?;
            let number = index.parse().map_err(|_| FieldError::Index(text.to_owned()))?;
            name.push_str(before(rest, after));
            path.push(Step::Index(number));
            rest = after;
        }
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None => return Ok((Name { text: name, path }, rest)),
        }
        name.push('.');
    }
}

/// Parses one step: a text in double quotes, in which `""` is a quote, or all up to the next dot, comma or bracket.
fn parse_key<'t>(whole: &str, text: &'t str) -> Result<(String, &'t str), FieldError> {
    if let Some(mut rest) = text.strip_prefix('"') {
        let mut key = String::new();
        loop {
            let (part, after) =
                rest.split_once('"').ok_or_else(|| FieldError::OpenQuote(whole.to_owned()))?;
            key.push_str(part);
            match after.strip_prefix('"') {
                Some(after) => rest = after,
                None => return Ok((key, after)),
            }
            key.push('"');
        }
    }
    let end = text.find(['.', ',', '[']).unwrap_or(text.len());
    if end == 0 { Err(FieldError::Empty) } else { Ok((text[..end].to_owned(), &text[end..])) }
}

/// The number, or the whole name.
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position(number) => number.fmt(f),
            Self::Named(name) => name.text.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> String {
        match Field::parse(text).expect("a field") {
            Field::Position(number) => format!("#{number}"),
            Field::Named(name) => {
                let step = |step: &Step| match step {
                    Step::Key(key) => format!("<{key}>"),
                    Step::Index(index) => index.to_string(),
                };
                format!("{} {}", name.text, name.path.iter().map(step).collect::<String>())
            }
        }
    }

    #[test]
    fn names_have_steps() {
        assert_eq!(path("status"), "status <status>");
        assert_eq!(path(".request.headers.host"), "request.headers.host <request><headers><host>");
        assert_eq!(path("items[0].price"), "items[0].price <items>0<price>");
        assert_eq!(path("a[1][2]"), "a[1][2] <a>12");
        assert_eq!(path("\"a.b, \"\"c\"\"\".d"), "a.b, \"c\".d <a.b, \"c\"><d>");
        assert_eq!(path("user agent"), "user agent <user agent>");
        assert_eq!(path("\"7\""), "7 <7>");
        assert_eq!(path("7"), "#7");
        assert_eq!(path("-1"), "#-1");
        assert_eq!(path("7th"), "7th <7th>");
        assert_eq!(path("@file"), "@file ");
        assert_eq!(path(".@file"), "@file <@file>");
        assert_eq!(path("\"@file\""), "@file <@file>");
        assert_eq!(path("@file.a"), "@file.a <@file><a>");
    }

    #[test]
    fn lists_are_separated_by_commas() {
        let list = Field::parse_list("path,\"a,b\",3,.x.y").expect("a list");
        let shown: Vec<String> = list.iter().map(Field::to_string).collect();
        assert_eq!(shown, ["path", "a,b", "3", "x.y"]);
    }

    #[test]
    fn invalid_fields_are_refused() {
        let error = |text: &str| Field::parse_list(text).expect_err("an error").to_string();
        assert_eq!(error(""), "expected the name or number of a field");
        assert_eq!(error("a,,b"), "expected the name or number of a field");
        assert_eq!(error("a."), "expected the name or number of a field");
        assert_eq!(error("0"), "fields are numbered from 1; found 0");
        assert_eq!(error("\"a"), "unclosed quote in '\"a'");
        assert_eq!(error("a[x]"), "expected an array index such as [0] in 'a[x]'");
        assert_eq!(error("a[0"), "expected an array index such as [0] in 'a[0'");
        assert_eq!(error("\"a\"b"), "expected a dot or a comma after '\"a\"'");
    }

    proptest! {
        #[test]
        fn a_written_field_is_read_as_the_same(text in r#"([.,0-3a"\[\]-]|"a.b"|\[0[01]\]|@file){0,8}"#) {
            if let Ok(field) = Field::parse(&text) {
                prop_assert_eq!(Field::parse(&field.written()), Ok(field));
            }
            if let Ok(fields) = Field::parse_list(&text) {
                let written: Vec<String> = fields.iter().map(Field::written).collect();
                prop_assert_eq!(Field::parse_list(&written.join(",")), Ok(fields));
            }
        }
    }
}
