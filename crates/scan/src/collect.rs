//! Collecting the results of blocks: [`merged`] in any order into one result, or [`ordered`] into output in the order
//! of the inputs.

pub(crate) mod merged;
pub(crate) mod ordered;
