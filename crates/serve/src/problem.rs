//! What is wrong with a request, as RFC 9457 says it.

use std::time::Duration;

use finecomb_text_index::Error;
use serde::Serialize;

/// A request that has no answer.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: u16,
    detail: String,
    /// When it is worth trying again.
    pub(crate) retry_after: Option<Duration>,
}

#[derive(Serialize)]
struct Details<'a> {
    r#type: &'static str,
    title: &'static str,
    status: u16,
    detail: &'a str,
}

/// The media type of [`Problem::json`].
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// How long a client should wait when there is too much to do.
const BUSY: Duration = Duration::from_secs(1);

impl Problem {
    fn new(status: u16, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), retry_after: None }
    }

    /// The request is not one that can be answered.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(400, detail)
    }

    /// There is nothing of that name.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(404, detail)
    }

    /// It has another method than those that are answered.
    pub(crate) fn method() -> Self {
        Self::new(405, "Only GET and HEAD are answered.")
    }

    /// This client asks too much.
    pub(crate) fn too_many(detail: impl Into<String>) -> Self {
        Self { retry_after: Some(BUSY), ..Self::new(429, detail) }
    }

    /// There is too much to do, or something is out of order for now.
    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        Self { retry_after: Some(BUSY), ..Self::new(503, detail) }
    }

    pub(crate) fn json(&self) -> Vec<u8> {
        let Self { status, detail, .. } = self;
        let title = match status {
            400 => "Bad Request",
            404 => "Not Found",
            405 => "Method Not Allowed",
            429 => "Too Many Requests",
            _ => "Service Unavailable",
        };
        let details = Details { r#type: "about:blank", title, status: *status, detail };
        serde_json::to_vec(&details).unwrap_or_default()
    }
}

impl From<Error> for Problem {
    /// What is wrong with a pattern or a position is the client's matter; what is wrong with an index is not, nor is where it is.
    fn from(error: Error) -> Self {
        match error {
            Error::EmptyPattern
            | Error::LongPattern { .. }
            | Error::ForeignPattern { .. }
            | Error::Before { .. }
            | Error::Behind { .. } => Self::bad_request(sentence(&error.to_string())),
            _ => Self::unavailable("This index is out of order."),
        }
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).chain(['.']).collect()).unwrap_or_default()
}
