//! The API as a CGI program (RFC 3875): one process per request, like the first Pi Searcher.

use std::io::{self, Write};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use tower::ServiceExt;

use crate::api::IndexSite;
use crate::app::{collect, run};
use crate::catalog::Catalog;
use crate::index_site::API;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::site::Site;

/// Characters that are not valid in a URL, and those that would end its path.
const INVALID: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'|');

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
    let response = run(async { collect(answer(catalog, request).await.into_response()).await });
    write!(out, "Status: {}\r\n", response.status().as_u16())?;
    for (name, field) in [
        ("Content-Type", header::CONTENT_TYPE),
        ("Allow", header::ALLOW),
        ("Retry-After", header::RETRY_AFTER),
    ] {
        if let Some(value) = response.headers().get(field) {
            out.write_all(&[name.as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat())?;
        }
    }
    let body = response.body();
    write!(out, "Content-Length: {}\r\n\r\n", body.len())?;
    // The response to HEAD has the same head and no body.
    out.write_all(if request.method == "HEAD" { &[] } else { body })?;
    out.flush()
}

async fn answer(catalog: &Catalog, request: &CgiRequest) -> Result<Response, Problem> {
    let CgiRequest { method, path, query } = request;
    if !matches!(&**method, "GET" | "HEAD") {
        return Err(Problem::method_not_allowed());
    }
    let path = match (&**path, catalog.entries().first()) {
        ("" | "/", Some(first)) => format!("/api/v1/{}/search", first.name),
        _ => utf8_percent_encode(path, INVALID).to_string(),
    };
    let target = format!("{path}?{}", utf8_percent_encode(query, INVALID));
    let uri = Uri::try_from(target).map_err(|_| Problem::not_a_request(StatusCode::URI_TOO_LONG))?;
    let mut request = Request::new(Body::empty());
    *request.uri_mut() = uri;
    let site = IndexSite::new(catalog.clone(), Limits::default(), "", Metrics::new([]));
    let Ok(response) = Site::new(&API, Problem::no_route, Arc::new(site)).router.oneshot(request).await;
    Ok(response)
}
