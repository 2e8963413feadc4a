//! `comb cgi` as a web server runs it: a new process for each request (RFC 3875).

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use hyper::StatusCode;
use hyper::body::Bytes;

use super::questions::path;
use super::server::named;

/// Status and body of the answer that a process of its own gives to a question. Fails if the process cannot
/// be started, fails, or does not print an answer.
pub(super) fn ask(comb: &Path, index: &Path, question: &str) -> io::Result<(StatusCode, Bytes)> {
    let output = Command::new(comb)
        .arg("cgi")
        .arg(named(index))
        .env_clear()
        .envs(request(question))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("'comb cgi' failed: {}", output.status)));
    }
    answer(output.stdout.into()).ok_or_else(|| io::Error::other("'comb cgi' printed no answer"))
}

/// Status and body of a printed answer; none if its header has no status or another length.
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

/// The variables that a web server must set (RFC 3875, section 4.1), and no other.
fn request(question: &str) -> [(&'static str, String); 11] {
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
        ("QUERY_STRING", text(question)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_answers_are_understood() {
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
