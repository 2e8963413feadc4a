//! A server under test, and a client that sends exact bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::Value;

use super::{COMB, wait_until};

/// Time-out of the client.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A running `comb serve`, killed on drop.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) messages: BufReader<std::process::ChildStderr>,
}

impl Server {
    /// Starts a server in a directory, on a free port.
    pub(crate) fn start(directory: &Path, arguments: &[&str]) -> Self {
        Self::start_as(Command::new(COMB), directory, arguments)
    }

    /// Starts a server with a command to which the arguments are added.
    pub(crate) fn start_as(command: Command, directory: &Path, arguments: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", command, directory, arguments)
    }

    /// Starts a server on an address.
    pub(crate) fn start_at(address: &str, command: Command, directory: &Path, arguments: &[&str]) -> Self {
        Self::try_start(address, command, directory, arguments).expect("a server")
    }

    /// Starts a server, unless it exits before it listens.
    ///
    /// # Errors
    ///
    /// If it exits first, with its messages and exit status.
    pub(crate) fn try_start(
        address: &str,
        mut command: Command,
        directory: &Path,
        arguments: &[&str],
    ) -> Result<Self, (String, Option<i32>)> {
        command.current_dir(directory).args(["serve", "--listen", address]).args(arguments);
        Self::listening(command.stdin(Stdio::null()))
    }

    /// Runs a command, and skips its messages until it listens.
    ///
    /// # Errors
    ///
    /// If it exits first, with its messages and exit status.
    pub(crate) fn listening(command: &mut Command) -> Result<Self, (String, Option<i32>)> {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("a process");
        let mut messages = BufReader::new(child.stderr.take().expect("its messages"));
        let (mut all, mut line) = (String::new(), String::new());
        while messages.read_line(&mut line).expect("a message") > 0 {
            if let Some(address) = line.trim().strip_prefix("comb: listening on http://") {
                let address = address.trim_end_matches('/').parse().expect("an address");
                return Ok(Self { child, address, messages });
            }
            all.push_str(&line);
            line.clear();
        }
        Err((all, child.wait().expect("its end").code()))
    }

    /// Reads the next line of standard error.
    pub(crate) fn message(&mut self) -> String {
        let mut line = String::new();
        self.messages.read_line(&mut line).expect("a message");
        line
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        stream
    }

    /// Sends a GET request.
    pub(crate) fn get(&self, target: &str) -> Answered {
        self.request("GET", target, "", "")
    }

    /// Sends a GET request with additional header fields.
    pub(crate) fn get_with(&self, target: &str, fields: &str) -> Answered {
        self.request("GET", target, &format!("{fields}\r\n"), "")
    }

    /// Sends a request with additional lines of header fields.
    pub(crate) fn request(&self, method: &str, target: &str, fields: &str, body: &str) -> Answered {
        let head =
            format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{fields}\r\n");
        self.ask(&format!("{head}{body}"))
    }

    /// Sends a request.
    pub(crate) fn send(&self, request: &str) -> Answered {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("sent");
        Answered::read(&mut stream)
    }

    /// Sends a request, and checks that the OpenAPI document lists the status of the answer.
    pub(crate) fn ask(&self, request: &str) -> Answered {
        let answer = self.send(request);
        if let Some(target) = request.strip_prefix("GET ").or_else(|| request.strip_prefix("HEAD ")) {
            assert_documented(target.split(' ').next().unwrap_or(target), answer.status);
        }
        answer
    }

    /// Stops the server, and returns its remaining messages.
    pub(crate) fn stop(&mut self) -> String {
        self.signal("TERM");
        self.end()
    }

    /// Waits for the successful end of the server, and returns its remaining messages.
    pub(crate) fn end(&mut self) -> String {
        let (status, messages) = self.status_at_end();
        assert_eq!(status.code(), Some(0), "{status}: {messages}");
        messages
    }

    /// Waits for the end of the server, and returns its status and its remaining messages.
    pub(crate) fn status_at_end(&mut self) -> (ExitStatus, String) {
        wait_until("the end", || self.child.try_wait().expect("a child").is_some());
        let status = self.child.wait().expect("its end");
        let mut messages = String::new();
        self.messages.read_to_string(&mut messages).expect("messages");
        (status, messages)
    }

    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").arg(format!("-{signal}")).arg(self.child.id().to_string()).status();
        assert!(sent.expect("kill").success());
    }
}

/// Checks that the OpenAPI document lists a status for the path of a target, if it lists the path. Status 0 means no answer.
fn assert_documented(target: &str, status: u16) {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
        serde_json::from_str(include_str!("../../../../serve/src/openapi.json")).expect("JSON")
    });
    let path = target.split('?').next().unwrap_or(target);
    let path = match path.split('/').collect::<Vec<_>>()[..] {
        ["", "api", "v1", _, end] => format!("/api/v1/{{index}}/{end}"),
        _ => path.to_owned(),
    };
    let statuses = &DOCUMENT["paths"][&path]["get"]["responses"];
    assert!(
        status == 0 || statuses.is_null() || statuses.get(status.to_string()).is_some(),
        "{target}: {status}"
    );
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A parsed answer.
#[derive(Debug)]
pub(crate) struct Answered {
    /// Status, or 0 if the connection was closed without an answer.
    pub(crate) status: u16,
    /// The head, in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answered {
    /// Reads an answer until the connection is closed.
    pub(crate) fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        // The connection may be reset after the answer.
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

    /// The value of a header field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let start = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(&*start))
    }
}
