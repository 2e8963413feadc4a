//! Parses the query of a URL: percent-encoded names and values, with a plus for a space.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use crate::problem::Problem;

/// Maximum number of parameters in a query.
const MAX_PARAMETERS: usize = 64;

/// Parameters of a query, decoded and in order.
#[derive(Debug)]
pub(crate) struct UrlQuery {
    parameters: Vec<(Vec<u8>, Vec<u8>)>,
}

impl UrlQuery {
    /// Parses a query. Any text is valid; an invalid escape stays unchanged.
    ///
    /// # Errors
    ///
    /// If it has too many parameters.
    pub(crate) fn parse(query: &str) -> Result<Self, Problem> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let parameters: Vec<_> = pairs
            .take(MAX_PARAMETERS + 1)
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (decode(name), decode(value)))
            .collect();
        if parameters.len() > MAX_PARAMETERS {
            return Err(Problem::bad_request(format!("A query has at most {MAX_PARAMETERS} parameters.")));
        }
        Ok(Self { parameters })
    }

    /// Values of a parameter, in order.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        self.parameters.iter().filter(move |(key, _)| **key == *name.as_bytes()).map(|(_, value)| &**value)
    }

    /// Value of an optional parameter.
    ///
    /// # Errors
    ///
    /// If it is repeated.
    pub(crate) fn one(&self, name: &str) -> Result<Option<&[u8]>, Problem> {
        let mut values = self.all(name);
        let first = values.next();
        match values.next() {
            None => Ok(first),
            Some(_) => Err(Problem::bad_request(format!("The parameter {name} is repeated."))),
        }
    }

    /// Value of a required parameter.
    ///
    /// # Errors
    ///
    /// If it is missing or repeated.
    pub(crate) fn required(&self, name: &str) -> Result<&[u8], Problem> {
        self.one(name)?.ok_or_else(|| Problem::bad_request(format!("The parameter {name} is missing.")))
    }

    /// Value of an optional parameter as a number.
    ///
    /// # Errors
    ///
    /// If it is not a number, or repeated.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        let Some(value) = self.one(name)? else { return Ok(None) };
        parse_number(value).map(Some).ok_or_else(|| {
            Problem::bad_request(format!("The parameter {name} must be a whole number, 0 or greater."))
        })
    }

    /// Checks that all parameters have one of these names, so that a misspelt one does not go unnoticed.
    ///
    /// # Errors
    ///
    /// Reports the first unknown parameter.
    pub(crate) fn only(&self, names: &[&str]) -> Result<(), Problem> {
        let other =
            self.parameters.iter().find(|(key, _)| !names.iter().any(|name| **key == *name.as_bytes()));
        match other {
            None => Ok(()),
            Some((key, _)) => Err(Problem::bad_request(format!(
                "Unknown parameter {:?}; known parameters: {}.",
                String::from_utf8_lossy(key),
                names.join(", ")
            ))),
        }
    }
}

/// Parses a number that consists of digits only, without a sign.
pub(crate) fn parse_number(value: &[u8]) -> Option<u64> {
    let is_number = value.first().is_some_and(u8::is_ascii_digit);
    str::from_utf8(value).ok().filter(|_| is_number)?.parse().ok()
}

fn decode(text: &str) -> Vec<u8> {
    Cow::from(percent_decode(text.replace('+', " ").as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_decoded() {
        let query = UrlQuery::parse("q=a%20b+c%2B&from=12&&x&q%3d=%ff%zz&from2=+1").expect("a query");
        assert_eq!(query.required("q").expect("one"), b"a b c+");
        assert_eq!(query.number("from").expect("a number"), Some(12));
        assert_eq!(query.one("x").expect("one"), Some(&b""[..]));
        assert_eq!(query.one("q=").expect("one"), Some(&b"\xff%zz"[..]));
        assert!(query.number("from2").is_err());
        assert_eq!(query.number("nothing").expect("none"), None);
    }

    #[test]
    fn repeated_missing_and_unknown_parameters_are_errors() {
        let query = UrlQuery::parse("q=1&q=2&a=-1&b=1.5&c=18446744073709551616").expect("a query");
        assert!(query.one("q").is_err());
        assert_eq!(query.all("q").collect::<Vec<_>>(), [b"1", b"2"]);
        assert!(query.required("from").is_err());
        for name in ["a", "b", "c"] {
            assert!(query.number(name).is_err(), "{name}");
        }
        assert!(query.only(&["q", "a", "b", "c"]).is_ok());
        assert!(query.only(&["q"]).is_err());
        assert!(UrlQuery::parse(&"a&".repeat(MAX_PARAMETERS)).is_ok());
        assert!(UrlQuery::parse(&"a&".repeat(MAX_PARAMETERS + 1)).is_err());
    }
}
