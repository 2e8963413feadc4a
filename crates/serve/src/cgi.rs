//! The interface as a CGI program (RFC 3875): a process for each request, the way the first Pi Searcher worked.

use std::io::{self, Write};
use std::time::Instant;

use crate::api::{self, Answer};
use crate::catalog::Catalog;
use crate::limits::Limits;
use crate::problem::{self, Problem};

/// What a web server tells a CGI program of a request.
#[derive(Clone, Debug, Default)]
pub struct CgiRequest {
    /// `REQUEST_METHOD`.
    pub method: String,
    /// `PATH_INFO`: an address of the interface; if it is empty, that of a search in the first index.
    pub path: String,
    /// `QUERY_STRING`.
    pub query: String,
}

impl CgiRequest {
    /// Takes it from the environment. None if there is no request: the program was not started by a web server.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        Some(Self {
            method: variable("REQUEST_METHOD")?,
            path: variable("PATH_INFO").unwrap_or_default(),
            query: variable("QUERY_STRING").unwrap_or_default(),
        })
    }
}

/// Answers a request.
///
/// # Errors
///
/// If the answer cannot be written.
pub fn respond(catalog: &Catalog, request: &CgiRequest, out: &mut impl Write) -> io::Result<()> {
    let (status, media_type, body) = match answer(catalog, request) {
        Ok(Answer { body, media_type }) => (200, media_type, body),
        Err(problem) => (problem.status, problem::MEDIA_TYPE, problem.json()),
    };
    write!(out, "Status: {status}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n", body.len())?;
    // A HEAD has the same head and no body.
    out.write_all(if request.method == "HEAD" { &[] } else { &body })?;
    out.flush()
}

fn answer(catalog: &Catalog, request: &CgiRequest) -> Result<Answer, Problem> {
    if !matches!(&*request.method, "GET" | "HEAD") {
        return Err(Problem::method());
    }
    let first = catalog.entries().first().map(|entry| format!("/api/v1/{}/search", entry.name));
    let path =
        if matches!(&*request.path, "" | "/") { first.unwrap_or_default() } else { request.path.clone() };
    let target = api::target(catalog, &path)?;
    api::answer(catalog, &target, &request.query, &Limits::default(), Instant::now())
}
