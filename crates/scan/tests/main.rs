//! Tests of the interface of this crate. All are in one binary, which links the libraries once and shares the cores among them.

mod archives;
mod byte_order_marks;
mod fold;
mod narrow;
mod objects;
mod ordered;
mod records;
mod started;
