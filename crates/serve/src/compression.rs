//! Compresses responses with gzip if the client accepts it (RFC 9110, section 12.5.3).
//!
//! tower-http's layer would compress in a stream, so that neither the client nor the access log has a length, compress the files of
//! a page for each request, and ignore a client that accepts no coding.

use std::io::Write;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Minimum size in bytes of a response to compress. A smaller one fits a packet uncompressed.
pub(crate) const MIN_SIZE: u64 = 1024;

/// Content coding of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
}

impl Coding {
    /// Content coding that a request prefers; `None` if it accepts neither.
    ///
    /// Identity is acceptable unless it is excluded, but listed codings are preferred.
    pub(crate) fn preferred(headers: &HeaderMap) -> Option<Self> {
        let (mut gzip, mut identity, mut wildcard) = (None, None, None);
        let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        for item in values.flat_map(|value| value.split(',')) {
            let (name, weight) = match item.split_once(';') {
                Some((name, weight)) => (name, parse_weight(weight.trim())),
                None => (item, Some(MAX_WEIGHT)),
            };
            let slot = match &*name.trim().to_ascii_lowercase() {
                "gzip" | "x-gzip" => &mut gzip,
                "identity" => &mut identity,
                "*" => &mut wildcard,
                _ => continue,
            };
            // `None` is less than any weight.
            *slot = (*slot).max(weight);
        }
        match (gzip.or(wildcard).unwrap_or(0), identity.or(wildcard)) {
            (0, Some(0)) => None,
            (0, _) => Some(Self::Identity),
            (gzip, identity) if gzip >= identity.unwrap_or(0) => Some(Self::Gzip),
            _ => Some(Self::Identity),
        }
    }

    /// Encodes a response if it is large enough. A stream of events stays as it is.
    pub(crate) async fn encode(self, mut response: Response) -> Response {
        if response.body().size_hint().exact().is_none_or(|size| size < MIN_SIZE) {
            return response;
        }
        response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
        if self == Self::Identity {
            return response;
        }
        let (mut head, body) = response.into_parts();
        // A body in memory never fails.
        let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
        let compressed = match head.extensions.get() {
            Some(&Compressed(compressed)) => Some(Bytes::from_static(compressed)),
            None => gzip(&bytes).map(Bytes::from),
        };
        if compressed.is_some() {
            head.headers.remove(header::CONTENT_LENGTH);
            head.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        Response::from_parts(head, Body::from(compressed.unwrap_or(bytes)))
    }
}

/// Content of a response in gzip format, if it is known before: an extension of the response.
#[derive(Clone, Copy)]
pub(crate) struct Compressed(pub(crate) &'static [u8]);

/// Maximum weight: 1, in thousandths.
const MAX_WEIGHT: u16 = 1000;

/// Parses a weight, `q=0` to `q=1` with up to three decimals, as thousandths.
fn parse_weight(text: &str) -> Option<u16> {
    let value = text.strip_prefix(['q', 'Q'])?.strip_prefix('=')?;
    let (whole, decimals) = value.split_once('.').unwrap_or((value, ""));
    let is_valid = matches!(whole, "0" | "1")
        && decimals.len() <= 3
        && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let thousandths = is_valid.then(|| format!("{whole}{decimals:0<3}"))?;
    thousandths.parse().ok().filter(|&weight| weight <= MAX_WEIGHT)
}

/// Compresses bytes in gzip format.
pub(crate) fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_coding_is_used() {
        let gzip = Some(Coding::Gzip);
        let identity = Some(Coding::Identity);
        for (accepted, coding) in [
            ("", identity),
            ("gzip", gzip),
            ("br, X-GZIP;q=0.5", gzip),
            ("gzip;q=0.001", gzip),
            ("gzip;q=0", identity),
            ("gzip;q=0.5, identity;q=0.8", identity),
            ("gzip;q=0.8, identity;q=0.8", gzip),
            ("*", gzip),
            ("*;q=0.1, identity", identity),
            ("gzip;q=0, *", identity),
            ("br", identity),
            ("br, *;q=0", None),
            ("identity;q=0", None),
            ("identity;q=0, gzip", gzip),
            ("gzip;q=2", identity),
            ("gzip;q=1.001", identity),
            ("gzip;q=0.0001", identity),
            ("gzip;level=1", identity),
        ] {
            let value = HeaderValue::from_static(accepted);
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, value)]);
            assert_eq!(Coding::preferred(&headers), coding, "{accepted}");
        }
        assert_eq!(Coding::preferred(&HeaderMap::new()), identity);
    }
}
