//! Tests of the interface of this crate. All are in one binary, which links the libraries once and shares the cores among them.

mod approximate;
mod changes;
mod counts;
mod documents;
mod follow;
mod headers;
mod input_names;
mod memory;
mod overview;
mod pivot;
mod reference;
mod rows;
mod several_lines;
mod sorted;
mod table;
mod times;
mod top;
mod unwrapped;
mod w3c;
