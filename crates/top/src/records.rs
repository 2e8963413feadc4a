//! From the bytes of a block to the fields of its records.

pub(crate) mod absent_fields;
pub(crate) mod filter;
pub(crate) mod format;
pub(crate) mod layout;
pub(crate) mod named_fields;
pub(crate) mod rows;
pub(crate) mod split;
