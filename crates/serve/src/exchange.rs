//! The byte stream of a connection, and the state of its requests.
//!
//! hyper answers input that it cannot parse as a request itself, with a head and no body. This stream replaces such an answer by
//! one with a problem document, which is counted and logged like any other.

use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::Bytes;
use axum::http::{Response, StatusCode};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::app::{App, collect, run};

/// State shared by a connection's stream and the answers to its requests. Both are on one thread.
#[derive(Default)]
pub(crate) struct Exchange {
    has_request: AtomicBool,
    is_answering: AtomicBool,
    has_stream: AtomicBool,
}

impl Exchange {
    /// Records that the head of a request is complete.
    pub(crate) fn begin(&self) {
        self.has_request.store(true, Ordering::Relaxed);
        self.is_answering.store(true, Ordering::Relaxed);
    }

    /// Records that the answer is a stream of events, after which the connection ends.
    pub(crate) fn begin_stream(&self) {
        self.has_stream.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if the head of any request has been complete.
    pub(crate) fn has_request(&self) -> bool {
        self.has_request.load(Ordering::Relaxed)
    }
}

/// Stream that replaces hyper's own answers.
pub(crate) struct ExchangeStream {
    inner: TokioIo<TcpStream>,
    exchange: Arc<Exchange>,
    app: Arc<App>,
    peer: IpAddr,
    /// Unwritten rest of an answer that replaces one of hyper's.
    replacement: Vec<u8>,
}

impl ExchangeStream {
    pub(crate) fn new(stream: TcpStream, exchange: &Arc<Exchange>, app: &Arc<App>, peer: IpAddr) -> Self {
        let (exchange, app) = (Arc::clone(exchange), Arc::clone(app));
        Self { inner: TokioIo::new(stream), exchange, app, peer, replacement: Vec::new() }
    }

    /// Replaces the bytes to be written if they are an answer of hyper's own. Returns `true` if it did.
    fn replace(&mut self, head: &[u8]) -> bool {
        if self.exchange.is_answering.load(Ordering::Relaxed) || !self.replacement.is_empty() {
            return false;
        }
        let Some(status) = status_without_body(head) else { return false };
        let response = run(collect(self.app.reject(self.peer, status)));
        self.replacement = with_body(head, &response);
        true
    }

    /// Writes the rest of a replacement.
    fn poll_replacement(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.replacement.is_empty() {
            match ready!(Pin::new(&mut self.inner).poll_write(context, &self.replacement))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => drop(self.replacement.drain(..written)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Returns the status of an answer of hyper's own: an error without a body. This server's errors have a body.
fn status_without_body(head: &[u8]) -> Option<StatusCode> {
    let status = head.strip_prefix(b"HTTP/1.1 ").or_else(|| head.strip_prefix(b"HTTP/1.0 "))?.get(..3)?;
    let status = StatusCode::from_bytes(status).ok().filter(StatusCode::is_client_error)?;
    (head.ends_with(b"\r\n\r\n") && fields(head)?.any(is_no_length)).then_some(status)
}

/// Header fields: the lines of a head after the first.
fn fields(head: &[u8]) -> Option<impl Iterator<Item = &str>> {
    Some(str::from_utf8(head).ok()?.split("\r\n").skip(1).filter(|line| !line.is_empty()))
}

fn is_no_length(field: &str) -> bool {
    field.eq_ignore_ascii_case("content-length: 0")
}

/// Combines a head of hyper's with the fields and the body of a response.
fn with_body(head: &[u8], response: &Response<Bytes>) -> Vec<u8> {
    let end = head.iter().position(|&byte| byte == b'\n').map_or(head.len(), |at| at + 1);
    let mut bytes = head[..end].to_vec();
    for field in fields(head).into_iter().flatten().filter(|field| !is_no_length(field)) {
        bytes.extend([field.as_bytes(), b"\r\n"].concat());
    }
    for (name, value) in response.headers() {
        bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    bytes.extend(format!("content-length: {}\r\n\r\n", response.body().len()).into_bytes());
    bytes.extend(response.body());
    bytes
}

impl Read for ExchangeStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl Write for ExchangeStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.replace(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [head] = slices
            && self.replace(head)
        {
            return Poll::Ready(Ok(head.len()));
        }
        Pin::new(&mut self.inner).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_replacement(context))?;
        ready!(Pin::new(&mut self.inner).poll_flush(context))?;
        // hyper flushes after it has written a complete answer, and only then reads the next request. In a stream, it flushes every
        // event.
        if !self.exchange.has_stream.load(Ordering::Relaxed) {
            self.exchange.is_answering.store(false, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_replacement(context))?;
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_an_error_without_a_body_is_hypers_own() {
        let status = |head: &str| status_without_body(head.as_bytes()).map(|status| status.as_u16());
        let head =
            "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        assert_eq!(status(head), Some(431));
        assert_eq!(status(&head.replace("1.1", "1.0")), Some(431));
        for other in [
            head.replace("length: 0", "length: 1"),
            head.replace("431", "200"),
            head.replace("HTTP/1.1 431", "431"),
            format!("{head}body"),
            String::new(),
        ] {
            assert_eq!(status(&other), None, "{other}");
        }
    }

    #[test]
    fn the_head_of_a_replacement_keeps_hypers_fields() {
        let head = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\ndate: x\r\n\r\n";
        let mut response = Response::new(Bytes::from_static(b"body"));
        response.headers_mut().insert("a", HeaderValue::from_static("b"));
        assert_eq!(
            String::from_utf8(with_body(head.as_bytes(), &response)).expect("UTF-8"),
            "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ndate: x\r\na: b\r\ncontent-length: 4\r\n\r\nbody"
        );
    }
}
