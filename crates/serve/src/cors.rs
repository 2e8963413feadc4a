//! Cross-origin requests: the headers that let pages of another origin read answers (WHATWG Fetch, section 3.3).

use hyper::Response;
use hyper::header::{self, HeaderMap, HeaderValue};

use crate::permit::Body;

/// The origin whose pages may read answers.
pub(crate) struct Cors {
    origin: HeaderValue,
}

impl Cors {
    /// Parses an origin such as `https://example.org`, or `*` for all. None if it is not an origin.
    pub(crate) fn parse(origin: &str) -> Option<Self> {
        let is_origin = origin == "*"
            || origin
                .split_once("://")
                .is_some_and(|(scheme, host)| !scheme.is_empty() && !host.is_empty() && !host.contains('/'));
        let origin = HeaderValue::from_str(origin).ok().filter(|_| is_origin)?;
        Some(Self { origin })
    }

    /// The answer to a preflight request.
    pub(crate) fn preflight(&self) -> Response<Body> {
        let mut response = Response::new(Body::default());
        let headers = response.headers_mut();
        self.allow(headers);
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET,HEAD"));
        response
    }

    /// Adds the headers of any other answer.
    pub(crate) fn expose(&self, headers: &mut HeaderMap) {
        self.allow(headers);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("etag,retry-after"));
    }

    fn allow(&self, headers: &mut HeaderMap) {
        let vary = "origin, access-control-request-method, access-control-request-headers";
        headers.append(header::VARY, HeaderValue::from_static(vary));
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, self.origin.clone());
    }
}
