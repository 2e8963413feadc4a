//! Errors as problem documents (RFC 9457).

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use finecomb_text_index::Error;
use serde::Serialize;

/// Error of a request.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) detail: String,
    /// Time after which a client should try again.
    retry_after: Option<Duration>,
}

#[derive(Serialize)]
struct Details<'a> {
    r#type: &'static str,
    title: &'a str,
    status: u16,
    detail: &'a str,
}

/// Media type of a problem document.
const MEDIA_TYPE: &str = "application/problem+json";

/// Methods that every address supports.
const ALLOWED_METHODS: &str = "GET, HEAD";

/// Time that a client should wait when the server is overloaded.
const RETRY_AFTER: Duration = Duration::from_secs(1);

impl Problem {
    fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), retry_after: None }
    }

    /// The request is invalid.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// The request names a host that is not allowed.
    ///
    /// The status is 403, as in Vite, webpack-dev-server, Jupyter and Rails. With 421, browsers would repeat the request on
    /// another connection, which is refused as well.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, detail)
    }

    /// The path does not exist.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// No route has the path.
    pub(crate) fn no_route() -> Self {
        Self::not_found("No such address; /openapi.json describes all addresses.")
    }

    /// The method is neither GET nor HEAD.
    pub(crate) fn method_not_allowed() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed; use GET or HEAD.")
    }

    /// The client accepts neither gzip nor identity as content coding.
    pub(crate) fn not_acceptable() -> Self {
        Self::new(StatusCode::NOT_ACCEPTABLE, "No acceptable content coding; accept gzip or identity.")
    }

    /// The client has too many connections.
    pub(crate) fn too_many(detail: impl Into<String>) -> Self {
        Self { retry_after: Some(RETRY_AFTER), ..Self::new(StatusCode::TOO_MANY_REQUESTS, detail) }
    }

    /// The bytes on a connection are not a valid request, or its head is too long. The status is the parser's.
    pub(crate) fn not_a_request(status: StatusCode) -> Self {
        Self::new(
            status,
            match status {
                StatusCode::URI_TOO_LONG => "The address is too long.",
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => "The head of the request is too long.",
                _ => "This is not a valid HTTP request.",
            },
        )
    }

    /// The server is overloaded, or an index is unavailable.
    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        Self { retry_after: Some(RETRY_AFTER), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, detail) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self { status, detail, retry_after } = self;
        let title = status.canonical_reason().unwrap_or_default();
        let details = Details { r#type: "about:blank", title, status: status.as_u16(), detail: &detail };
        let body = serde_json::to_vec(&details).unwrap_or_default();
        let fields = [(header::CONTENT_TYPE, MEDIA_TYPE), (header::CACHE_CONTROL, "no-store")];
        let mut response = (status, fields, body).into_response();
        let headers = response.headers_mut();
        if let Some(after) = retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(after.as_secs()));
        }
        if status == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(header::ALLOW, HeaderValue::from_static(ALLOWED_METHODS));
        }
        if status == StatusCode::NOT_ACCEPTABLE {
            headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        }
        response
    }
}

impl From<Error> for Problem {
    /// Reports errors in a pattern or a position in full, as they are the client's. For a damaged index, neither the path nor the
    /// damage is disclosed.
    fn from(error: Error) -> Self {
        match error {
            Error::EmptyPattern
            | Error::PatternTooLong { .. }
            | Error::InvalidPattern { .. }
            | Error::PositionTooLow { .. }
            | Error::PositionTooHigh { .. } => Self::bad_request(sentence(&error.to_string())),
            _ => Self::unavailable("Index unavailable or corrupt."),
        }
    }
}

/// Formats a message as a sentence, with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).chain(['.']).collect()).unwrap_or_default()
}
