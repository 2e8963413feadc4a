//! A small HTTP/1.1 client: it asks one thing after another of `comb serve`, whose answers all tell their
//! length.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::answer::{Answer, Head};

/// A server that is silent for so long is out of order.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection to a server.
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects to a server.
    pub(super) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, buffer: Vec::with_capacity(1 << 12) })
    }

    /// The answer to a GET. `last` tells the server that nothing more will be asked.
    pub(super) fn get(&mut self, target: &str, last: bool) -> io::Result<Answer<'_>> {
        let closing = if last { "Connection: close\r\n" } else { "" };
        let request = format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n{closing}\r\n");
        self.stream.write_all(request.as_bytes())?;
        self.buffer.clear();
        let head = loop {
            match Head::parse(&self.buffer)? {
                Some(head) => break head,
                None => self.fill()?,
            }
        };
        while self.buffer.len() < head.end() {
            self.fill()?;
        }
        head.answer(&self.buffer)
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = [0; 1 << 12];
        let count = self.stream.read(&mut bytes)?;
        if count == 0 {
            let reason = "the connection was closed in the middle of an answer";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, reason));
        }
        self.buffer.extend_from_slice(&bytes[..count]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Shutdown, TcpListener};
    use std::thread;

    use super::*;

    /// What a client makes of answers that a server sends, each byte by itself, to one request after the
    /// other.
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
            let mut connection = Connection::open(address).expect("a connection");
            let mut ask = |last| {
                let answer = connection.get("/x?q=1", last)?;
                Ok((answer.status, answer.body.to_vec()))
            };
            (1..=answers.len()).map(|number| ask(number == answers.len())).collect()
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
            let error = answered(&[cut]).remove(0).expect_err("cut off");
            assert_eq!(error.to_string(), "the connection was closed in the middle of an answer");
        }
    }
}
