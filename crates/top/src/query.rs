//! What to count.

use thiserror::Error;

use crate::edit::Edit;
use crate::fields::FieldList;
use crate::filter::Filter;
use crate::hash::Hasher;
use crate::pattern::{PatternError, RecordPattern};
use crate::split::Splitter;
use crate::text_regex::TextRegex;

/// What separates the fields of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Separator {
    /// Runs of spaces and tabs; those in front of the first field are skipped.
    #[default]
    Blanks,
    /// The same, but a field in double quotes may hold blanks and loses its quotes; `\"` within does not end it.
    Quotes,
    /// Every match of a regular expression.
    Regex(String),
}

/// Options of a count. Regular expressions have the syntax and the meaning that they have in Go, and beyond it
/// those of the `regex` crate. A byte that belongs to no character of UTF-8 is the character U+FFFD.
#[derive(Clone, Debug)]
pub struct QueryOptions {
    /// How many keys to give. Default: 10.
    pub number: usize,
    /// The fields that make up the key, joined with a space. Default: none, for the whole record.
    pub fields: FieldList,
    /// What separates fields. Default: blanks.
    pub separator: Separator,
    /// Expressions of which all must match a record. Default: none.
    pub grep: Vec<String>,
    /// Expressions of which none may match a record. Default: none.
    pub vgrep: Vec<String>,
    /// Expressions of which every match in a key is replaced, each with its replacement, in order. Default: none.
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

/// Why a query cannot be made: one of its expressions is wrong.
#[derive(Debug, Error)]
#[error("{option}: {error}")]
pub struct QueryError {
    /// The option that the expression belongs to, as it is typed.
    pub option: &'static str,
    /// What is wrong.
    #[source]
    pub error: PatternError,
}

/// What to count, ready to be counted. Cheap to copy.
#[derive(Clone, Debug)]
pub struct Query {
    pub(crate) number: usize,
    pub(crate) fields: FieldList,
    pub(crate) splitter: Splitter,
    pub(crate) filter: Filter,
    pub(crate) edits: Vec<Edit>,
    /// How all workers hash keys.
    pub(crate) hasher: Hasher,
}

impl Query {
    /// References of replacements to groups that their expressions do not have, each with its expression. They stand for
    /// nothing, or for the text that they are.
    pub fn unknown_groups(&self) -> impl Iterator<Item = (&str, &str)> {
        self.edits
            .iter()
            .flat_map(|edit| edit.unknown_groups().iter().map(move |group| (group.as_str(), edit.pattern())))
    }

    /// How many keys are wanted.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Compiles a query.
    ///
    /// # Errors
    /// When one of the regular expressions is not valid or too large.
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
