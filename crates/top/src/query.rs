//! The definition of a count.

use thiserror::Error;

use crate::edit::Edit;
use crate::fields::FieldList;
use crate::filter::Filter;
use crate::hash::Hasher;
use crate::pattern::{PatternError, RecordPattern};
use crate::split::Splitter;
use crate::text_regex::TextRegex;

/// Separator of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Separator {
    /// Runs of spaces and tabs. Those before the first field are skipped.
    #[default]
    Blanks,
    /// Like [`Separator::Blanks`], but a field in double quotes may contain blanks and loses its quotes. `\"` does not
    /// end it.
    Quotes,
    /// Every match of a regular expression.
    Regex(String),
}

/// Options of a count. Regular expressions have the syntax and semantics of Go, extended by those of the `regex` crate.
/// Each byte that is not valid UTF-8 is the character U+FFFD.
#[derive(Clone, Debug)]
pub struct QueryOptions {
    /// Number of keys in the answer. Default: 10.
    pub number: usize,
    /// Fields that form the key, joined with a space. Default: none, for the whole record.
    pub fields: FieldList,
    /// Separator of fields. Default: blanks.
    pub separator: Separator,
    /// Expressions that must all match a record. Default: none.
    pub grep: Vec<String>,
    /// Expressions that must not match a record. Default: none.
    pub vgrep: Vec<String>,
    /// Edits of keys, in order: an expression and the replacement for each match. Default: none.
    pub sed: Vec<(String, String)>,
}

impl Default for QueryOptions {
    fn default() -> Self {
        Self {
            number: 10,
            fields: FieldList::default(),
            separator: Separator::default(),
            grep: Vec::new(),
            vgrep: Vec::new(),
            sed: Vec::new(),
        }
    }
}

/// An invalid expression of a query.
#[derive(Debug, Error)]
#[error("{option}: {error}")]
pub struct QueryError {
    /// Command-line option of the expression.
    pub option: &'static str,
    /// The error.
    #[source]
    pub error: PatternError,
}

/// A compiled query. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Query {
    pub(crate) number: usize,
    pub(crate) fields: FieldList,
    pub(crate) splitter: Splitter,
    pub(crate) filter: Filter,
    pub(crate) edits: Vec<Edit>,
    /// Hash function of all workers.
    pub(crate) hasher: Hasher,
}

impl Query {
    /// References of replacements to groups that do not exist, each with its expression. They are replaced by nothing
    /// or are literal text.
    pub fn unknown_groups(&self) -> impl Iterator<Item = (&str, &str)> {
        self.edits
            .iter()
            .flat_map(|edit| edit.unknown_groups().iter().map(move |group| (group.as_str(), edit.pattern())))
    }

    /// Number of keys in the answer.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Compiles a query.
    ///
    /// # Errors
    /// Returns an error if a regular expression is invalid or too large.
    pub fn new(options: &QueryOptions) -> Result<Self, QueryError> {
        let of = |option| move |error| QueryError { option, error };
        let patterns = |texts: &[String], option| {
            texts
                .iter()
                .map(|text| RecordPattern::new(text).map_err(of(option)))
                .collect::<Result<Vec<_>, _>>()
        };
        let splitter = match &options.separator {
            Separator::Blanks => Splitter::Blanks,
            Separator::Quotes => Splitter::Quotes,
            Separator::Regex(text) => {
                Splitter::Regex(TextRegex::new(text).map_err(of("-p/--fieldseparator"))?)
            }
        };
        let edits = options
            .sed
            .iter()
            .map(|(text, replacement)| Edit::new(text, replacement).map_err(of("-s/--sed")));
        Ok(Self {
            number: options.number,
            fields: options.fields.clone(),
            splitter,
            filter: Filter {
                must: patterns(&options.grep, "-g/--grep")?,
                must_not: patterns(&options.vgrep, "-v/--vgrep")?,
            },
            edits: edits.collect::<Result<_, _>>()?,
            hasher: Hasher::random(),
        })
    }
}
