//! Conditional requests: entity tags, and the 304 response to a client that has the current content (RFC 9110, section 13).

use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};

use crate::permit::Body;

/// Entity tag of a version. It is weak, as the same answer may be compressed or not.
pub(crate) fn entity_tag(version: u64) -> HeaderValue {
    // Quotes and hexadecimal digits are valid in a header.
    HeaderValue::try_from(format!("W/\"{version:016x}\"")).unwrap_or(HeaderValue::from_static("W/\"0\""))
}

/// Returns `true` if the client has the content with this tag (`If-None-Match`).
pub(crate) fn is_current(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let Ok(tag) = tag.to_str() else { return false };
    let values = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|known| known.trim() == "*" || opaque(known) == opaque(tag))
}

/// Part of a tag that weak comparison compares: it ignores the marker of weak tags.
fn opaque(tag: &str) -> &str {
    tag.trim().trim_start_matches("W/")
}

/// Adds the headers that make caches revalidate a response with its tag.
pub(crate) fn set_tag(headers: &mut HeaderMap, tag: HeaderValue) {
    headers.insert(header::ETAG, tag);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
}

/// Response to a client that has the current content.
pub(crate) fn not_modified(tag: HeaderValue) -> Response<Body> {
    let mut response = Response::new(Body::default());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    set_tag(response.headers_mut(), tag);
    response
}
