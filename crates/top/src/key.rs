//! From the fields of a record to its key.

pub(crate) mod between_fields;
pub(crate) mod edit;
pub(crate) mod editor;
pub(crate) mod extract;
pub(crate) mod go_syntax;
pub(crate) mod leading_star;
pub(crate) mod lower_case;
pub(crate) mod normalize;
pub(crate) mod pattern;
pub(crate) mod plain;
pub(crate) mod replacement;
pub(crate) mod text_regex;
