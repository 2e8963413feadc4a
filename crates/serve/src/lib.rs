//! HTTP and a web page over text indexes.

#![forbid(unsafe_code)]

mod answer;

pub use answer::{Count, Found, Side};
