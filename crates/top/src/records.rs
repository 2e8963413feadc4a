//! From the bytes of a block to its records, their fields, times and keys.

pub(crate) mod absent_fields;
pub(crate) mod escape;
pub(crate) mod extract;
pub(crate) mod filter;
pub(crate) mod format;
pub(crate) mod layout;
pub(crate) mod named_fields;
pub(crate) mod nearest;
pub(crate) mod plain;
pub(crate) mod row_time;
pub(crate) mod rows;
pub(crate) mod sorted;
pub(crate) mod split;
pub(crate) mod unwrap;
