//! Patterns of formats: expressions whose groups are the fields.

use std::sync::OnceLock;

use regex_syntax::hir::Hir;

use crate::query::field::Field;
use crate::query::format_error::FormatError;
use crate::records::format::regex::{RegexRecords, field_names, group_names};

/// An expression that is compiled when it is first used, once for all files and fields.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    text: String,
    names: Vec<String>,
    compiled: OnceLock<Result<RegexRecords, FormatError>>,
}

impl Pattern {
    /// `hir` is the expression, parsed.
    pub(super) fn new(text: &str, hir: &Hir) -> Self {
        let names = field_names(&group_names(hir)).map(str::to_owned).collect();
        Self { text: text.to_owned(), names, compiled: OnceLock::new() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Names of the fields.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Extracts fields.
    ///
    /// # Errors
    /// If the pattern lacks a field, or is too large.
    pub(crate) fn records(&self, fields: &[Field]) -> Result<RegexRecords, FormatError> {
        let compiled = self.compiled.get_or_init(|| RegexRecords::of_format(&self.text, &[]));
        compiled.as_ref().map_err(Clone::clone)?.with_fields(fields)
    }
}

/// Patterns are equal if their texts are.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}
