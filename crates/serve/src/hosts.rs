//! Checks the `Host` of requests against the allowed hosts.
//!
//! This is the defence against DNS rebinding: a page of another site, whose name is made to resolve to this machine, could read
//! from a server that only this machine can reach. Such a request names that site as its host.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use axum::http::Version;
use axum::http::header;
use axum::http::request::Parts;

use crate::problem::Problem;

/// Host that is always allowed on a loopback address.
const LOCALHOST: &str = "localhost";

/// Set of allowed hosts.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// Names and addresses, in lower case.
    listed: Vec<String>,
    /// Whether `localhost` and all IP addresses are allowed as well.
    allow_local: bool,
}

impl Hosts {
    /// Makes the set of hosts allowed on an address. On a loopback address these are the local and the listed hosts; on other
    /// addresses the listed hosts, or any host if none is listed.
    ///
    /// # Errors
    ///
    /// Returns the first of `listed` that is not a host.
    pub(crate) fn new(address: IpAddr, listed: &[String]) -> Result<Self, String> {
        let parse = |host: &String| normalize(host).ok_or_else(|| host.clone());
        let listed = listed.iter().map(parse).collect::<Result<_, _>>()?;
        Ok(Self { listed, allow_local: address.to_canonical().is_loopback() })
    }

    /// Checks the hosts that a request names, in its `Host` field and in its target.
    ///
    /// # Errors
    ///
    /// If a host is not allowed, or the field is missing, repeated or invalid (RFC 9112, section 3.2).
    pub(crate) fn check(&self, request: &Parts) -> Result<(), Problem> {
        let mut fields = request.headers.get_all(header::HOST).iter();
        match (fields.next(), fields.next()) {
            (Some(field), None) => {
                let host = field.to_str().ok().and_then(without_port);
                self.allow(host.ok_or_else(|| Problem::bad_request("The Host field is invalid."))?)?;
            }
            (Some(_), Some(_)) => return Err(Problem::bad_request("The Host field is repeated.")),
            (None, _) if request.version >= Version::HTTP_11 => {
                return Err(Problem::bad_request("The Host field is missing."));
            }
            (None, _) => {}
        }
        request.uri.host().map_or(Ok(()), |host| self.allow(host))
    }

    fn allow(&self, host: &str) -> Result<(), Problem> {
        if self.allows(host) {
            return Ok(());
        }
        Err(Problem::forbidden(format!(
            "The host {host} is not allowed; start the server with --allow-host {host} to allow it."
        )))
    }

    fn allows(&self, host: &str) -> bool {
        if !self.allow_local && self.listed.is_empty() {
            return true;
        }
        let host = without_dot(host);
        let is_local = || host.eq_ignore_ascii_case(LOCALHOST) || is_address(host);
        (self.allow_local && is_local()) || self.listed.iter().any(|listed| host.eq_ignore_ascii_case(listed))
    }
}

/// Returns the host in the value of a `Host` field, or `None` if the value is invalid.
fn without_port(value: &str) -> Option<&str> {
    // Colons within brackets belong to an IPv6 address.
    let end = value.find(']').unwrap_or(0);
    let (host, port) = match value[end..].find(':') {
        Some(colon) => (&value[..end + colon], &value[end + colon + 1..]),
        None => (value, ""),
    };
    let is_valid = is_host(host) && port.bytes().all(|byte| byte.is_ascii_digit());
    is_valid.then_some(host)
}

/// Returns `true` if this is a valid host: an IPv6 address in brackets, or a name of characters that RFC 3986 allows.
fn is_host(host: &str) -> bool {
    match host.strip_prefix('[') {
        Some(_) => is_address(host),
        None => {
            !host.is_empty()
                && host
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=".contains(&byte))
        }
    }
}

/// Returns `true` for an IPv4 address, or an IPv6 address in brackets.
fn is_address(host: &str) -> bool {
    match host.strip_prefix('[').map(|host| host.strip_suffix(']')) {
        None => host.parse::<Ipv4Addr>().is_ok(),
        Some(address) => address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok()),
    }
}

/// Removes the dot at the end of a fully qualified name.
fn without_dot(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

/// Normalizes a host: an IPv6 address in brackets and its shortest form, a name in lower case. Returns `None` if it is invalid.
fn normalize(host: &str) -> Option<String> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = bare.parse::<Ipv6Addr>() {
        return Some(format!("[{address}]"));
    }
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let name = without_dot(host);
    (!name.is_empty() && name.bytes().all(is_name)).then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use axum::http::{Request, StatusCode};
    use proptest::prelude::*;

    use super::*;

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const ANY_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

    fn hosts(address: IpAddr, listed: &[&str]) -> Hosts {
        let listed: Vec<String> = listed.iter().map(|&host| host.to_owned()).collect();
        Hosts::new(address, &listed).expect("hosts")
    }

    /// Status of a request with these `Host` fields; 200 if it is allowed.
    fn status(hosts: &Hosts, version: Version, target: &str, fields: &[&str]) -> StatusCode {
        let mut request = Request::get(target).version(version);
        for &field in fields {
            request = request.header(header::HOST, field);
        }
        let (request, ()) = request.body(()).expect("a request").into_parts();
        hosts.check(&request).map_or_else(|problem| problem.status, |()| StatusCode::OK)
    }

    #[test]
    fn on_loopback_the_local_and_the_listed_hosts_are_allowed() {
        let hosts = hosts(LOOPBACK, &["Comb.example", "::1"]);
        let status = |field| status(&hosts, Version::HTTP_11, "/", &[field]);
        for host in [
            "localhost",
            "LocalHost:1415",
            "localhost.",
            "127.0.0.1",
            "192.0.2.1:80",
            "[::1]:1415",
            "comb.EXAMPLE:1",
        ] {
            assert_eq!(status(host), StatusCode::OK, "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "a.localhost", "2130706433"]
        {
            assert_eq!(status(host), StatusCode::FORBIDDEN, "{host}");
        }
        for host in ["", ":80", "a b", "a/b", "a@b", "[::1", "::1", "localhost:80:80", "localhost:x", "[a]"] {
            assert_eq!(status(host), StatusCode::BAD_REQUEST, "{host}");
        }
    }

    #[test]
    fn on_other_addresses_the_listed_hosts_are_allowed_or_any() {
        let status =
            |listed: &[&str], field| status(&hosts(ANY_ADDRESS, listed), Version::HTTP_11, "/", &[field]);
        assert_eq!(status(&[], "any.example"), StatusCode::OK);
        assert_eq!(status(&["comb.example"], "comb.example:8080"), StatusCode::OK);
        for host in ["any.example", "localhost", "127.0.0.1"] {
            assert_eq!(status(&["comb.example"], host), StatusCode::FORBIDDEN, "{host}");
        }
        assert_eq!(status(&["127.0.0.1", "2001:DB8:0::1"], "[2001:db8::1]:80"), StatusCode::OK);
    }

    #[test]
    fn a_request_must_name_one_host_unless_it_is_http_1_0() {
        for hosts in [hosts(LOOPBACK, &[]), hosts(ANY_ADDRESS, &[])] {
            assert_eq!(status(&hosts, Version::HTTP_11, "/", &[]), StatusCode::BAD_REQUEST);
            assert_eq!(status(&hosts, Version::HTTP_10, "/", &[]), StatusCode::OK);
            for version in [Version::HTTP_10, Version::HTTP_11] {
                let twice = status(&hosts, version, "/", &["localhost", "localhost"]);
                assert_eq!(twice, StatusCode::BAD_REQUEST);
            }
        }
        let hosts = hosts(LOOPBACK, &[]);
        let absolute = |target| status(&hosts, Version::HTTP_11, target, &["localhost"]);
        assert_eq!(absolute("http://localhost:1415/"), StatusCode::OK);
        assert_eq!(absolute("http://evil.example/"), StatusCode::FORBIDDEN);
    }

    #[test]
    fn invalid_hosts_cannot_be_listed() {
        for host in ["", "http://a", "a:80", "a/b", "*", "*.example", "[::1]:80", "a b", "\u{fc}.example"] {
            let listed = [host.to_owned()];
            assert_eq!(Hosts::new(LOOPBACK, &listed).map(|_| ()), Err(host.to_owned()));
        }
    }

    proptest! {
        #[test]
        fn no_other_host_is_allowed_on_loopback(host in "[a-z0-9.:\\[\\]-]{0,20}") {
            let is_local = host.split_once(':').map_or(&*host, |(host, _)| host).trim_end_matches('.') == "localhost"
                || host.parse::<std::net::SocketAddr>().is_ok()
                || host.trim_end_matches('.').trim_end_matches(':').parse::<Ipv4Addr>().is_ok()
                || host.contains('[');
            let allowed = status(&hosts(LOOPBACK, &[]), Version::HTTP_11, "/", &[&host]) == StatusCode::OK;
            prop_assert!(is_local || !allowed, "{}", host);
        }
    }
}
