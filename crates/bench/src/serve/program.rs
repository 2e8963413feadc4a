//! `comb cgi` as a web server runs it: a new process for each request.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use super::answer::Head;
use super::questions::Question;
use super::server::named;

/// Answers a question by a process of its own. Its status, and its body.
///
/// # Errors
///
/// If the process cannot be started, fails, or does not print an answer.
pub(super) fn ask(comb: &Path, index: &Path, question: &Question) -> io::Result<(u16, Vec<u8>)> {
    let output = Command::new(comb)
        .arg("cgi")
        .arg(named(index))
        .env_clear()
        .envs(request(question))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("'comb cgi' ended with {}", output.status)));
    }
    let head = Head::parse(&output.stdout)?;
    let head = head.ok_or_else(|| io::Error::other("'comb cgi' printed no answer"))?;
    let answer = head.answer(&output.stdout)?;
    Ok((answer.status, answer.body.to_vec()))
}

/// The variables that a web server must set (RFC 3875, section 4.1), and no other.
fn request(question: &Question) -> [(&'static str, String); 11] {
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
        ("PATH_INFO", Question::path()),
        ("QUERY_STRING", question.query.clone()),
    ]
}
