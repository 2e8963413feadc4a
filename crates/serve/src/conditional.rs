//! Conditional requests: entity tags, and the 304 response to a client that has the current content (RFC 9110, section 13).

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Headers that make caches revalidate a response with the tag of its version. The tag is weak, as the same answer may be
/// compressed or not.
pub(crate) fn validators(version: u64) -> [(HeaderName, HeaderValue); 2] {
    // Quotes and hexadecimal digits are valid in a header.
    let tag = HeaderValue::try_from(format!("W/\"{version:016x}\""));
    with_tag(tag.unwrap_or(HeaderValue::from_static("W/\"0\"")))
}

fn with_tag(tag: HeaderValue) -> [(HeaderName, HeaderValue); 2] {
    [(header::ETAG, tag), (header::CACHE_CONTROL, HeaderValue::from_static("no-cache"))]
}

/// Tags of the content that a client has (`If-None-Match`).
pub(crate) struct KnownTags(Vec<HeaderValue>);

impl KnownTags {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self(headers.get_all(header::IF_NONE_MATCH).iter().cloned().collect())
    }

    /// Replaces a response with content that the client has by one without.
    pub(crate) fn omit_known(&self, response: Response) -> Response {
        match response.headers().get(header::ETAG) {
            Some(tag) if self.contain(tag) => {
                (StatusCode::NOT_MODIFIED, with_tag(tag.clone())).into_response()
            }
            _ => response,
        }
    }

    fn contain(&self, tag: &HeaderValue) -> bool {
        let Ok(tag) = tag.to_str() else { return false };
        let values = self.0.iter().filter_map(|value| value.to_str().ok());
        values
            .flat_map(|value| value.split(','))
            .any(|known| known.trim() == "*" || opaque(known) == opaque(tag))
    }
}

/// Part of a tag that weak comparison compares: it ignores the marker of weak tags.
fn opaque(tag: &str) -> &str {
    tag.trim().trim_start_matches("W/")
}
