//! HTTP and a web page over text indexes.
//!
//! [`serve`] answers until it is told to stop: the interface under `/api/v1/`, the two addresses of the Pi Searcher, and a page that
//! searches as one types. [`respond`] answers one request as a CGI program does. Both take their answers from the same code, and so
//! does `comb find --json`.

#![forbid(unsafe_code)]

mod access_log;
mod answer;
mod api;
mod catalog;
mod cgi;
mod limits;
mod metrics;
mod page;
mod pisearch;
mod problem;
mod query;
mod router;
mod server;

pub use access_log::LogTarget;
pub use answer::{Count, Found, Side};
pub use catalog::{Catalog, CatalogError, default_name};
pub use cgi::{CgiRequest, respond};
pub use limits::Limits;
pub use server::{ServeError, ServeOptions, serve};
