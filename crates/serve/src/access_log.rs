//! The access log, in the Combined Log Format that `comb top` and others read.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write, stdout};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyper::StatusCode;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::http::request::Parts;
use jiff::Timestamp;

/// Destination of the access log.
#[derive(Clone, Debug)]
pub enum LogTarget {
    /// Standard output.
    Output,
    /// A file, to which lines are appended. It is opened again on SIGHUP, so that it can be rotated.
    File(PathBuf),
}

/// An open log.
pub(crate) struct AccessLog {
    target: LogTarget,
    out: Mutex<BufWriter<Box<dyn Write + Send>>>,
}

fn open(target: &LogTarget) -> io::Result<BufWriter<Box<dyn Write + Send>>> {
    Ok(BufWriter::new(match target {
        LogTarget::Output => Box::new(stdout()),
        LogTarget::File(path) => Box::new(OpenOptions::new().append(true).create(true).open(path)?),
    }))
}

impl AccessLog {
    pub(crate) fn open(target: LogTarget) -> io::Result<Self> {
        Ok(Self { out: Mutex::new(open(&target)?), target })
    }

    pub(crate) fn reopen(&self) -> io::Result<()> {
        let new = open(&self.target)?;
        let mut out = self.lock();
        out.flush()?;
        *out = new;
        Ok(())
    }

    /// Writes the line of a request that was answered with a body of `bytes` bytes.
    pub(crate) fn write(
        &self,
        peer: IpAddr,
        request: &Parts,
        status: StatusCode,
        bytes: usize,
    ) -> io::Result<()> {
        let line = line(peer, request, status, bytes, Timestamp::now());
        self.lock().write_all(line.as_bytes())
    }

    pub(crate) fn flush(&self) -> io::Result<()> {
        self.lock().flush()
    }

    fn lock(&self) -> MutexGuard<'_, BufWriter<Box<dyn Write + Send>>> {
        // A panic while the lock is held would leave the log usable.
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn line(peer: IpAddr, request: &Parts, status: StatusCode, bytes: usize, time: Timestamp) -> String {
    let Parts { method, uri, version, headers, .. } = request;
    let time = time.strftime("%d/%b/%Y:%H:%M:%S +0000");
    let mut line = format!("{peer} - - [{time}] \"{method} ");
    escape(uri.to_string().as_bytes(), &mut line);
    // Writing to a string never fails.
    let _ = write!(line, " {version:?}\" {} {bytes}", status.as_u16());
    for name in [header::REFERER, header::USER_AGENT] {
        quote(headers, &name, &mut line);
    }
    line.push('\n');
    line
}

fn quote(headers: &HeaderMap, name: &HeaderName, line: &mut String) {
    line.push_str(" \"");
    match headers.get(name) {
        Some(value) => escape(value.as_bytes(), line),
        None => line.push('-'),
    }
    line.push('"');
}

/// Appends text with quotes, backslashes, spaces and control characters as `\xHH`, so that it neither ends its field nor
/// controls a terminal.
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

#[cfg(test)]
mod tests {
    use hyper::Request;
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn a_line_is_in_the_combined_log_format() {
        let agent = HeaderValue::from_bytes(b"a \"b\" \xff").expect("a value");
        let request = Request::get("/api/v1/pi/search?q=1").header(header::USER_AGENT, agent).body(());
        let (request, ()) = request.expect("a request").into_parts();
        let time = Timestamp::from_second(951_830_000).expect("a time");
        assert_eq!(
            line(IpAddr::from([127, 0, 0, 1]), &request, StatusCode::OK, 17, time),
            "127.0.0.1 - - [29/Feb/2000:13:13:20 +0000] \"GET /api/v1/pi/search?q=1 HTTP/1.1\" 200 17 \"-\" \
             \"a \\x22b\\x22 \\xff\"\n"
        );
    }
}
