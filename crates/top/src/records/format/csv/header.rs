//! Names of columns.

use super::Dialect;
use super::fields::{Fields, append_value};
use crate::cells::bytes_of;
use crate::query::field::Field;
use crate::query::fields::index_of;
use crate::query::input_format::FormatError;
use crate::query::near_names::{field_meant, quoted};

/// The first record of a file, with the names of its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    names: Vec<String>,
}

/// Number of names that a message lists if none is near.
const LISTED: usize = 10;

impl Header {
    /// Parses a header without its line end and byte order mark. An invalid byte of UTF-8 becomes U+FFFD.
    ///
    /// # Errors
    /// Returns an error if a quote is never closed.
    pub(crate) fn parse(dialect: Dialect, record: &[u8]) -> Result<Self, FormatError> {
        let mut names = Vec::new();
        for field in Fields::new(dialect, record, (0, record.len())) {
            let field = field.map_err(|_| FormatError::Other("unclosed quote in the header".to_owned()))?;
            let mut name = Vec::new();
            append_value(dialect, bytes_of(record, field), &mut name);
            names.push(String::from_utf8_lossy(&name).into_owned());
        }
        Ok(Self { names })
    }

    /// The names of the columns.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Returns the index of a field's column.
    pub(super) fn column(&self, field: &Field) -> Result<usize, FormatError> {
        let columns = self.names.len();
        match field {
            Field::Named(wanted) => {
                let wanted = &wanted.text;
                self.names
                    .iter()
                    .position(|name| name == wanted)
                    .ok_or_else(|| FormatError::Other(format!("no column '{wanted}'; {}", self.hint(wanted))))
            }
            &Field::Position(position) => index_of(position, columns)
                .ok_or_else(|| FormatError::Other(format!("no column {position}; the header has {columns}"))),
        }
    }

    /// Returns the names near to a wanted one, or else the first names.
    fn hint(&self, wanted: &str) -> String {
        field_meant(wanted, self.names.iter().map(String::as_str)).unwrap_or_else(|| self.list())
    }

    fn list(&self) -> String {
        let names: Vec<String> = self.names.iter().take(LISTED).map(|name| quoted(name)).collect();
        match self.names.len() {
            0 => "the header is empty".to_owned(),
            columns if columns > LISTED => format!("the {columns} columns are {}, ...", names.join(", ")),
            _ => format!("the columns are {}", names.join(", ")),
        }
    }
}
