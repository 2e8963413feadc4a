//! HTTP client with one connection at a time, persistent or new for each request.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONNECTION, HOST};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// Time-out of a request: a server that takes longer has failed.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum length of a body, above that of any answer of the API.
const MAX_BODY: usize = 64 << 20;

/// A client of one server.
pub(super) struct Client {
    address: SocketAddr,
    runtime: Runtime,
    connection: Option<SendRequest<Empty<Bytes>>>,
}

impl Client {
    pub(super) fn new(address: SocketAddr) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { address, runtime, connection: None })
    }

    /// Status and body of the response to a GET. `close` opens a connection for this request alone; otherwise the last
    /// connection is reused. Fails if the server cannot be reached, or does not send a complete response in time.
    pub(super) fn get(&mut self, target: &str, close: bool) -> io::Result<(StatusCode, Bytes)> {
        let Self { address, runtime, connection } = self;
        let answer = async {
            let mut sender = match connection.take().filter(|_| !close) {
                Some(sender) => sender,
                None => connect(*address).await?,
            };
            let mut request = Request::get(target).header(HOST, "127.0.0.1");
            if close {
                request = request.header(CONNECTION, "close");
            }
            let request = request.body(Empty::new()).map_err(io::Error::other)?;
            sender.ready().await.map_err(failed)?;
            let answer = sender.send_request(request).await.map_err(failed)?;
            let status = answer.status();
            let body =
                Limited::new(answer.into_body(), MAX_BODY).collect().await.map_err(io::Error::other)?;
            *connection = Some(sender);
            Ok((status, body.to_bytes()))
        };
        runtime.block_on(async { timeout(TIMEOUT, answer).await })?
    }
}

async fn connect(address: SocketAddr) -> io::Result<SendRequest<Empty<Bytes>>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // The task ends when the server closes the connection or the sender is dropped; the sender gets its errors.
    tokio::spawn(connection);
    Ok(sender)
}

fn failed(error: hyper::Error) -> io::Error {
    let reason = "connection closed in the middle of a response";
    if error.is_incomplete_message() || error.is_closed() {
        return io::Error::new(io::ErrorKind::UnexpectedEof, reason);
    }
    io::Error::other(error)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener};
    use std::thread;

    use super::*;

    /// Results of a client for responses that a server sends byte by byte, to one request after another.
    fn answered(answers: &[&str]) -> Vec<io::Result<(u16, Vec<u8>)>> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().expect("a connection");
                stream.set_nodelay(true).expect("no delay");
                for answer in answers {
                    let mut request = Vec::new();
                    while !request.ends_with(b"\r\n\r\n") {
                        let mut byte = [0];
                        stream.read_exact(&mut byte).expect("a request");
                        request.extend(byte);
                    }
                    assert!(request.starts_with(b"GET /x?q=1 HTTP/1.1\r\n"));
                    answer.bytes().for_each(|byte| stream.write_all(&[byte]).expect("sent"));
                }
                stream.shutdown(Shutdown::Both).expect("closed");
            });
            let mut client = Client::new(address).expect("a client");
            let mut ask = || {
                let (status, body) = client.get("/x?q=1", false)?;
                Ok((status.as_u16(), body.to_vec()))
            };
            answers.iter().map(|_| ask()).collect()
        })
    }

    #[test]
    fn answers_are_read_one_after_another() {
        let answers = answered(&[
            "HTTP/1.1 200 OK\r\ncontent-length: 3\r\nx: y\r\n\r\nabc",
            "HTTP/1.1 404 Not Found\r\nContent-Length:0\r\n\r\n",
        ]);
        let read: Vec<_> = answers.into_iter().map(|answer| answer.expect("an answer")).collect();
        assert_eq!(read, [(200, b"abc".to_vec()), (404, Vec::new())]);
    }

    #[test]
    fn an_answer_that_is_cut_off_is_an_error() {
        for cut in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"] {
            assert!(answered(&[cut]).remove(0).is_err(), "{cut}");
        }
    }
}
