//! A server under test, and a client that says exactly what it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::COMB;

/// Waiting for longer than this is a failure.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running `comb serve`, which is killed when it is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    messages: BufReader<std::process::ChildStderr>,
}

impl Server {
    /// Starts one in a directory, at a port that is free.
    pub(crate) fn start(directory: &Path, arguments: &[&str]) -> Self {
        Self::start_as(Command::new(COMB), directory, arguments)
    }

    /// Starts one by a command to which the arguments are added.
    pub(crate) fn start_as(mut command: Command, directory: &Path, arguments: &[&str]) -> Self {
        command.current_dir(directory).args(["serve", "--listen", "127.0.0.1:0"]).args(arguments);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a server");
        let mut messages = BufReader::new(child.stderr.take().expect("its messages"));
        let mut line = String::new();
        messages.read_line(&mut line).expect("a message");
        let address = line.trim().strip_prefix("comb: listening on http://").expect(&line);
        Self { child, address: address.parse().expect("an address"), messages }
    }

    /// What it says next on standard error.
    pub(crate) fn message(&mut self) -> String {
        let mut line = String::new();
        self.messages.read_line(&mut line).expect("a message");
        line
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// The answer to a GET.
    pub(crate) fn get(&self, target: &str) -> Answered {
        self.ask(&format!("GET {target} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"))
    }

    /// The answer to a GET with other fields in its head.
    pub(crate) fn get_with(&self, target: &str, fields: &str) -> Answered {
        self.ask(&format!("GET {target} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n{fields}\r\n\r\n"))
    }

    /// What comes back for these bytes.
    pub(crate) fn ask(&self, request: &str) -> Answered {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("sent");
        Answered::read(&mut stream)
    }

    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").arg(format!("-{signal}")).arg(self.child.id().to_string()).status();
        assert!(sent.expect("kill").success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer, taken apart.
#[derive(Debug)]
pub(crate) struct Answered {
    /// 0 if the connection was closed without one.
    pub(crate) status: u16,
    /// The head, in small letters.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answered {
    /// Reads until the connection is closed.
    pub(crate) fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A connection that is reset after its answer has given its answer.
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head, body: bytes[end..].to_vec() }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The value of a field of the head.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let start = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(&*start))
    }
}
