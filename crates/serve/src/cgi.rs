//! The API as a CGI program (RFC 3875): one process per request, like the first Pi Searcher.

use std::io::{self, Write};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use hyper::StatusCode;

use crate::api::Answer;
use crate::catalog::Catalog;
use crate::limits::Limits;
use crate::problem::{ALLOWED_METHODS, Problem};
use crate::route::{self, Handler, ROUTES};

/// Request passed by a web server to a CGI program.
#[derive(Clone, Debug, Default)]
pub struct CgiRequest {
    /// `REQUEST_METHOD`.
    pub method: String,
    /// `PATH_INFO`: an address of the API; if empty, a search in the first index.
    pub path: String,
    /// `QUERY_STRING`.
    pub query: String,
}

impl CgiRequest {
    /// Reads the request from the environment. Returns `None` if there is none, as the program was not started by a web server.
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
    let (status, retry_after, Answer { body, media_type }) = match answer(catalog, request) {
        Ok(answer) => (StatusCode::OK, None, answer),
        Err(problem) => (problem.status, problem.retry_after, problem.answer()),
    };
    write!(out, "Status: {}\r\nContent-Type: {media_type}\r\n", status.as_u16())?;
    if status == StatusCode::METHOD_NOT_ALLOWED {
        write!(out, "Allow: {ALLOWED_METHODS}\r\n")?;
    }
    if let Some(after) = retry_after {
        write!(out, "Retry-After: {}\r\n", after.as_secs())?;
    }
    write!(out, "Content-Length: {}\r\n\r\n", body.len())?;
    // The response to HEAD has the same head and no body.
    out.write_all(if request.method == "HEAD" { &[] } else { &body })?;
    out.flush()
}

fn answer(catalog: &Catalog, request: &CgiRequest) -> Result<Answer, Problem> {
    if !matches!(&*request.method, "GET" | "HEAD") {
        return Err(Problem::method_not_allowed());
    }
    let first = catalog.entries().first().map(|entry| format!("/api/v1/{}/search", entry.name));
    let path =
        if matches!(&*request.path, "" | "/") { first.unwrap_or_default() } else { request.path.clone() };
    let Some((route, index)) = route::find(&ROUTES, &path) else { return Err(Problem::no_route()) };
    let Handler::Api(endpoint) = &route.handler else { return Err(Problem::no_route()) };
    let target = endpoint.target(catalog, index)?;
    run(target.answer(&request.query, &Limits::default(), Instant::now()))
}

/// Runs a future that may yield, but never waits, to completion.
fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return result;
        }
    }
}
