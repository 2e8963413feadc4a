//! HTTP server and web page for text indexes.
//!
//! [`serve`] answers requests until it is stopped: the API under `/api/v1/`, the two addresses of the Pi Searcher, and a page that
//! searches as you type. [`respond`] answers one request as a CGI program. Both share the code of their answers with
//! `comb find --json`. A [`LiveServer`] shows a job of another command while it runs, with the same limits and rules.

mod access_log;
mod api;
mod app;
mod catalog;
mod cgi;
mod compression;
mod conditional;
mod connections;
mod cors;
mod exchange;
mod hosts;
mod index_site;
mod limits;
mod live;
mod metrics;
mod page;
mod page_html;
mod pi_searcher;
mod problem;
mod query;
mod server;
mod site;

pub use access_log::LogTarget;
pub use catalog::{Catalog, CatalogError, default_name};
pub use cgi::{CgiRequest, respond};
pub use limits::Limits;
pub use live::{LiveOptions, LiveServer, Update};
pub use server::{ServeError, ServeOptions, serve};
