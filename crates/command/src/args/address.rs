//! Values of `--listen`.

use std::net::{Ipv4Addr, SocketAddr};

/// Parses an address and a port. `localhost` is the loopback address of IPv4.
pub(crate) fn parse(text: &str) -> Result<SocketAddr, String> {
    let local = |port: &str| Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse().ok()?)));
    let parsed = match text.split_once(':') {
        Some((host, port)) if host.eq_ignore_ascii_case("localhost") => local(port),
        _ => text.parse().ok(),
    };
    parsed.ok_or_else(|| "expected an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_an_ip_address_or_localhost_with_a_port() {
        let parsed = |text| parse(text).map(|address| address.to_string());
        for (text, address) in [
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("[::1]:0", "[::1]:0"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("localhost:8080", "127.0.0.1:8080"),
            ("LocalHost:0", "127.0.0.1:0"),
        ] {
            assert_eq!(parsed(text).as_deref(), Ok(address));
        }
        for text in
            " 8080 :8080 localhost localhost: localhost:x localhost:65536 ::1:80 example.org:80".split(' ')
        {
            assert!(parsed(text).is_err(), "{text}");
        }
    }
}
