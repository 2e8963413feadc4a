//! `comb cgi`, run as by a web server: a new process per request (RFC 3875).

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use hyper::StatusCode;
use hyper::body::Bytes;

use super::questions::path;
use super::server::index_argument;

/// Status and body of the answer of a new process to a query. Fails if the process cannot be started, fails, or prints no valid
/// answer.
pub(super) fn run(comb: &Path, index: &Path, query: &str) -> io::Result<(StatusCode, Bytes)> {
    let output = Command::new(comb)
        .arg("cgi")
        .arg(index_argument(index))
        .env_clear()
        .envs(variables(query))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("'comb cgi' failed: {}", output.status)));
    }
    answer(output.stdout.into()).ok_or_else(|| io::Error::other("'comb cgi' printed no valid answer"))
}

/// Status and body of a printed answer; `None` if its header has no status or the wrong length.
fn answer(printed: Bytes) -> Option<(StatusCode, Bytes)> {
    let end = printed.windows(4).position(|window| window == b"\r\n\r\n")?;
    let header = str::from_utf8(&printed[..end]).ok()?;
    let field = |name: &str| {
        let mut fields = header.split("\r\n").filter_map(|line| line.split_once(':'));
        fields.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    };
    let status = field("Status")?.get(..3)?.parse().ok()?;
    let body = printed.slice(end + 4..);
    (field("Content-Length")?.parse() == Ok(body.len())).then_some((status, body))
}

/// The environment variables that a web server must set (RFC 3875, section 4.1), and no others.
fn variables(query: &str) -> [(&'static str, String); 11] {
    let text = str::to_owned;
    [
        ("GATEWAY_INTERFACE", text("CGI/1.1")),
        ("SERVER_PROTOCOL", text("HTTP/1.1")),
        ("SERVER_SOFTWARE", format!("comb/{}", env!("CARGO_PKG_VERSION"))),
        ("SERVER_NAME", text("127.0.0.1")),
        ("SERVER_PORT", text("80")),
        ("REMOTE_ADDR", text("127.0.0.1")),
        ("REMOTE_HOST", text("127.0.0.1")),
        ("REQUEST_METHOD", text("GET")),
        ("SCRIPT_NAME", text("/cgi-bin/comb")),
        ("PATH_INFO", path()),
        ("QUERY_STRING", text(query)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_answers_are_parsed() {
        let printed = "Status: 404 Not Found\r\ncontent-type: x\r\nCONTENT-LENGTH: 2\r\n\r\n{}";
        assert_eq!(answer(printed.into()), Some((StatusCode::NOT_FOUND, "{}".into())));
        for wrong in [
            "",
            "Status: 200\r\nConte",
            "Content-Length: 2\r\n\r\n{}",
            "Status: 200\r\n\r\n{}",
            "Status: 200\r\nContent-Length: 3\r\n\r\n{}",
            "Status: 200\r\nContent-Length: 1\r\n\r\n{}",
        ] {
            assert_eq!(answer(wrong.into()), None, "{wrong}");
        }
    }
}
