//! Names of columns.

use super::fields::{Fields, append_value};
use super::{CsvError, Dialect};
use crate::bytes_of;
use crate::field::Field;
use crate::fields::index_of;

/// The first record of a file, with the names of its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    names: Vec<String>,
}

/// Number of names that a message proposes, and of those that it lists if none is near.
const PROPOSED: usize = 3;
const LISTED: usize = 10;
/// Number of characters of a name in a message.
const NAME_LENGTH: usize = 40;
/// The similarity of names to propose, where 1 is equality.
const NEAR: f64 = 0.8;

impl Header {
    /// Parses a header without its line end and byte order mark. An invalid byte of UTF-8 becomes U+FFFD.
    ///
    /// # Errors
    /// Returns an error if a quote is never closed.
    pub(crate) fn parse(dialect: Dialect, record: &[u8]) -> Result<Self, CsvError> {
        let mut names = Vec::new();
        for field in Fields::new(dialect, record, (0, record.len())) {
            let field = field.map_err(|_| CsvError::OpenQuote)?;
            let mut name = Vec::new();
            append_value(dialect, bytes_of(record, field), &mut name);
            names.push(String::from_utf8_lossy(&name).into_owned());
        }
        Ok(Self { names })
    }

    /// Returns the index of a field's column.
    pub(super) fn column(&self, field: &Field) -> Result<usize, CsvError> {
        let columns = self.names.len();
        match field {
            Field::Named(wanted) => {
                let missing =
                    || CsvError::NoColumn { name: wanted.text.clone(), hint: self.hint(&wanted.text) };
                self.names.iter().position(|name| *name == wanted.text).ok_or_else(missing)
            }
            &Field::Position(position) => {
                index_of(position, columns).ok_or(CsvError::NoPosition { position, columns })
            }
        }
    }

    /// Returns the names near to a wanted one, or else the first names.
    fn hint(&self, wanted: &str) -> String {
        let wanted = wanted.to_lowercase();
        let similarity = |name: &String| strsim::jaro_winkler(&wanted, &name.to_lowercase());
        let mut near: Vec<(f64, &String)> = self.names.iter().map(|name| (similarity(name), name)).collect();
        near.retain(|&(similarity, name)| similarity > NEAR && !name.is_empty());
        near.sort_by(|one, other| other.0.total_cmp(&one.0));
        near.dedup_by_key(|&mut (_, name)| name);
        let near: Vec<String> = near.iter().take(PROPOSED).map(|(_, name)| shown(name)).collect();
        match near.split_last() {
            None => self.list(),
            Some((only, [])) => format!("did you mean {only}?"),
            Some((last, before)) => format!("did you mean {} or {last}?", before.join(", ")),
        }
    }

    fn list(&self) -> String {
        let names: Vec<String> = self.names.iter().take(LISTED).map(|name| shown(name)).collect();
        match self.names.len() {
            0 => "the header is empty".to_owned(),
            columns if columns > LISTED => format!("the {columns} columns are {}, ...", names.join(", ")),
            _ => format!("the columns are {}", names.join(", ")),
        }
    }
}

/// A name in quotes, cut if it is long, with control characters escaped.
fn shown(name: &str) -> String {
    let cut: String = name.chars().take(NAME_LENGTH).collect();
    let dots = if cut.len() < name.len() { "..." } else { "" };
    format!("'{}{dots}'", cut.escape_debug())
}
