//! Lines of the access log.

use std::fmt::Write;
use std::net::IpAddr;

use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use jiff::Timestamp;

/// Formats the line of a request; `None` is a request that could not be parsed.
pub(super) fn format(
    peer: IpAddr,
    request: Option<&Parts>,
    status: StatusCode,
    bytes: u64,
    time: Timestamp,
) -> String {
    let time = time.strftime("%d/%b/%Y:%H:%M:%S +0000");
    let mut line = format!("{peer} - - [{time}] \"");
    match request {
        Some(Parts { method, uri, version, .. }) => {
            // Writing to a string never fails.
            let _ = write!(line, "{method} ");
            escape(uri.to_string().as_bytes(), &mut line);
            let _ = write!(line, " {version:?}");
        }
        None => line.push('-'),
    }
    let _ = write!(line, "\" {} {bytes}", status.as_u16());
    for name in [header::REFERER, header::USER_AGENT] {
        quote(request.map(|request| &request.headers), &name, &mut line);
    }
    line.push('\n');
    line
}

fn quote(headers: Option<&HeaderMap>, name: &HeaderName, line: &mut String) {
    line.push_str(" \"");
    match headers.and_then(|headers| headers.get(name)) {
        Some(value) => escape(value.as_bytes(), line),
        None => line.push('-'),
    }
    line.push('"');
}

/// Appends text with quotes, backslashes, spaces, control characters and non-ASCII bytes as `\xHH`, so that it neither ends its
/// field nor controls a terminal.
fn escape(text: &[u8], line: &mut String) {
    for &byte in text {
        match byte {
            b'"' | b'\\' | ..b' ' | 0x7F.. => {
                let _ = write!(line, "\\x{byte:02x}");
            }
            byte => line.push(char::from(byte)),
        }
    }
}

/// Counts lines.
pub(super) fn count(lines: &[u8]) -> u64 {
    lines.iter().filter(|&&byte| byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::http::Request;

    use super::*;

    #[test]
    fn a_line_is_in_the_combined_log_format() {
        let agent = HeaderValue::from_bytes(b"a \"b\" \xff").expect("a value");
        let request = Request::get("/api/v1/pi/search?q=1").header(header::USER_AGENT, agent).body(());
        let (request, ()) = request.expect("a request").into_parts();
        let (peer, time) =
            (IpAddr::from([127, 0, 0, 1]), Timestamp::from_second(951_830_000).expect("a time"));
        assert_eq!(
            format(peer, Some(&request), StatusCode::OK, 17, time),
            "127.0.0.1 - - [29/Feb/2000:13:13:20 +0000] \"GET /api/v1/pi/search?q=1 HTTP/1.1\" 200 17 \"-\" \
             \"a \\x22b\\x22 \\xff\"\n"
        );
        assert_eq!(
            format(peer, None, StatusCode::BAD_REQUEST, 9, time),
            "127.0.0.1 - - [29/Feb/2000:13:13:20 +0000] \"-\" 400 9 \"-\" \"-\"\n"
        );
    }
}
