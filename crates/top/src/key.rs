//! Keys: how they are joined, changed and hashed, and the regular expressions of queries.

pub(crate) mod between_fields;
pub(crate) mod edit;
pub(crate) mod editor;
pub(crate) mod expression;
pub(crate) mod hash;
pub(crate) mod keys;
pub(crate) mod leading_star;
pub(crate) mod lower_case;
pub(crate) mod normalize;
pub(crate) mod pattern;
