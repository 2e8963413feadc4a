//! Cross-origin requests: headers that let pages of another origin read answers (WHATWG Fetch, section 3.3).
//!
//! tower-http's layer would answer a preflight request before its host is checked, and takes any text as an origin.

use std::net::Ipv6Addr;

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

/// Origin whose pages may read answers.
pub(crate) struct Cors {
    origin: HeaderValue,
}

impl Cors {
    /// Parses an origin such as `https://example.org`, or `*` for all.
    ///
    /// # Errors
    ///
    /// If no browser ever sends it as the origin of a page. Returns a suggestion to use instead.
    pub(crate) fn parse(origin: &str) -> Result<Self, String> {
        if origin != "*" {
            let sent = serialized(origin);
            match sent {
                Some(sent) if sent == origin => {}
                Some(sent) => return Err(sent),
                // The origin has no scheme, or is malformed.
                None => {
                    let sent = serialized(&format!("https://{origin}"))
                        .filter(|_| origin != "null" && !origin.contains("://"));
                    return Err(format!("one like {}", sent.as_deref().unwrap_or("https://example.org")));
                }
            }
        }
        let origin = HeaderValue::from_str(origin).map_err(|_| "one like https://example.org".to_owned())?;
        Ok(Self { origin })
    }

    /// Response to a preflight request.
    pub(crate) fn preflight(&self) -> Response {
        let mut response = Response::default();
        let headers = response.headers_mut();
        self.allow(headers);
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET,HEAD"));
        response
    }

    /// Adds the headers of any other response.
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

/// Serializes the origin of a page as browsers do (RFC 6454, section 6.2): scheme and host in lower case, the port only if it is
/// not the default. Returns `None` if the address of the page has no such origin.
fn serialized(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let is_scheme = scheme.starts_with(|char: char| char.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if !is_scheme {
        return None;
    }
    let scheme = scheme.to_ascii_lowercase();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let (host, port) = match authority.rsplit_once(':') {
        // The colon may be part of an IPv6 address.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let host = serialized_host(host)?;
    let port = match port {
        None | Some("") => None,
        Some(port) => {
            Some(port.parse::<u16>().ok().filter(|_| port.bytes().all(|byte| byte.is_ascii_digit()))?)
        }
    };
    Some(match (&*scheme, port) {
        (_, None) | ("http", Some(80)) | ("https", Some(443)) => format!("{scheme}://{host}"),
        (_, Some(port)) => format!("{scheme}://{host}:{port}"),
    })
}

fn serialized_host(host: &str) -> Option<String> {
    if let Some(address) = host.strip_prefix('[') {
        return Some(format!("[{}]", address.strip_suffix(']')?.parse::<Ipv6Addr>().ok()?));
    }
    // Browsers send names with other characters in Punycode, which uses only these.
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    (!host.is_empty() && host.bytes().all(is_name)).then(|| host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_that_browsers_send_are_accepted() {
        for origin in [
            "*",
            "https://example.org",
            "http://localhost:8080",
            "http://[::1]:8080",
            "https://xn--bcher-kva.example",
            "moz-extension://1a2b-3c",
            "https://example.org:80",
        ] {
            assert!(Cors::parse(origin).is_ok(), "{origin}");
        }
    }

    #[test]
    fn origins_that_can_never_match_are_rejected_with_a_suggestion() {
        for (origin, instead) in [
            ("https://example.org/", "https://example.org"),
            ("https://example.org/app?x#y", "https://example.org"),
            ("https://Example.ORG", "https://example.org"),
            ("HTTP://example.org:80", "http://example.org"),
            ("https://example.org:443", "https://example.org"),
            ("https://example.org:08443", "https://example.org:8443"),
            ("http://[0::1]", "http://[::1]"),
            ("example.org", "one like https://example.org"),
            ("comb.example:8080/a", "one like https://comb.example:8080"),
            ("//example.org", "one like https://example.org"),
            ("", "one like https://example.org"),
            ("null", "one like https://example.org"),
            ("https://", "one like https://example.org"),
            ("https://*.example.org", "one like https://example.org"),
            ("https://a.example,https://b.example", "one like https://example.org"),
            ("https://user@example.org", "one like https://example.org"),
            ("https://example.org:99999", "one like https://example.org"),
            ("https://b\u{fc}cher.example", "one like https://example.org"),
            ("https://example.org\r\nx: y", "one like https://example.org"),
        ] {
            assert_eq!(Cors::parse(origin).err().as_deref(), Some(instead), "{origin}");
        }
    }
}
