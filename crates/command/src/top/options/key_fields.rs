//! The fields of the key: a list of numbers and ranges, or a list of names.

use std::fmt;

use finecomb_top::{Field, FieldList};

/// Value of `-f`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyFields {
    Positions(FieldList),
    Names(Vec<Field>),
}

/// The list as it is parsed.
impl fmt::Display for KeyFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Positions(list) => list.fmt(f),
            Self::Names(names) => {
                f.write_str(&names.iter().map(Field::written).collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl KeyFields {
    /// Parses a list. One of digits, dashes and commas only is a list of numbers.
    pub(crate) fn parse(list: &str) -> Result<Self, String> {
        let is_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b',');
        if list.bytes().all(is_number) {
            return list
                .parse()
                .map(Self::Positions)
                .map_err(|error: finecomb_top::FieldListError| error.to_string());
        }
        Field::parse_list(list).map(Self::Names).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_numbers_or_names() {
        assert!(matches!(KeyFields::parse("2-4,-1"), Ok(KeyFields::Positions(_))));
        let names = |list: &str| match KeyFields::parse(list) {
            Ok(KeyFields::Names(names)) => names.iter().map(Field::to_string).collect::<Vec<_>>(),
            other => panic!("{list}: {other:?}"),
        };
        assert_eq!(names("path,status"), ["path", "status"]);
        assert_eq!(names(".a.b,1"), ["a.b", "1"]);
        assert_eq!(names("x-y"), ["x-y"]);
    }

    #[test]
    fn invalid_lists_are_refused() {
        let error = |list: &str| KeyFields::parse(list).expect_err("an error");
        assert!(error("1-").contains("found '1-'"));
        assert!(error("").contains("found ''"));
        assert!(error("a,").contains("expected the name or number of a field"));
    }
}
