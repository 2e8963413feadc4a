//! The access log, in the Combined Log Format that `comb top` and others read.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write, stdout};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, Version, header};
use jiff::Timestamp;

/// Where requests are logged.
#[derive(Clone, Debug)]
pub enum LogTarget {
    /// Standard output.
    Output,
    /// A file, to which lines are appended. It is opened again on SIGHUP, for those who rotate logs.
    File(PathBuf),
}

/// An open log.
pub(crate) struct AccessLog {
    target: LogTarget,
    out: Mutex<BufWriter<Box<dyn Write + Send>>>,
}

/// What is logged of a request.
pub(crate) struct Request {
    pub(crate) address: IpAddr,
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) version: Version,
    pub(crate) headers: HeaderMap,
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

    pub(crate) fn write(&self, request: &Request, status: StatusCode, bytes: Option<u64>) -> io::Result<()> {
        let line = line(request, status, bytes, Timestamp::now());
        self.lock().write_all(line.as_bytes())
    }

    pub(crate) fn flush(&self) -> io::Result<()> {
        self.lock().flush()
    }

    fn lock(&self) -> MutexGuard<'_, BufWriter<Box<dyn Write + Send>>> {
        // Nothing panics while it holds the lock; if it did, the log would be none the worse.
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn line(request: &Request, status: StatusCode, bytes: Option<u64>, time: Timestamp) -> String {
    let Request { address, method, uri, version, headers } = request;
    let time = time.strftime("%d/%b/%Y:%H:%M:%S +0000");
    let mut line = format!("{address} - - [{time}] \"{method} ");
    escape(uri.to_string().as_bytes(), &mut line);
    // A string takes whatever is written to it.
    let _ = write!(line, " {version:?}\" {} ", status.as_u16());
    let _ = match bytes {
        Some(bytes) => write!(line, "{bytes}"),
        None => write!(line, "-"),
    };
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

/// What would end a quoted field, or do something to a terminal, is written as `\xHH`.
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
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_line_is_in_the_combined_format() {
        let mut headers = HeaderMap::new();
        let agent = HeaderValue::from_bytes(b"a \"b\" \xff").expect("a value");
        headers.insert(header::USER_AGENT, agent);
        let request = Request {
            address: IpAddr::from([127, 0, 0, 1]),
            method: Method::GET,
            uri: Uri::from_static("/api/v1/pi/search?q=1"),
            version: Version::HTTP_11,
            headers,
        };
        let time = Timestamp::from_second(951_830_000).expect("a time");
        assert_eq!(
            line(&request, StatusCode::OK, Some(17), time),
            "127.0.0.1 - - [29/Feb/2000:13:13:20 +0000] \"GET /api/v1/pi/search?q=1 HTTP/1.1\" 200 17 \"-\" \
             \"a \\x22b\\x22 \\xff\"\n"
        );
        assert!(line(&request, StatusCode::NOT_FOUND, None, time).contains("\" 404 - \"-\""));
    }
}
