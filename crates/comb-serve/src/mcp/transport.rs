//! JSON-RPC messages on standard input and output, one per line.
//!
//! A thread reads and another one writes, since standard streams may block. Lines that are no message are answered here: the SDK would
//! drop them silently.

use std::io::{self, BufRead, Write, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use finecomb_sys::threads::spawn_detached;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use serde_json::error::Category;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;

/// Number of lines that are read ahead.
const LINES_AHEAD: usize = 4;

/// Number of bytes of answers that wait for the client, beyond which no more requests are read.
const MAX_PENDING: usize = 4 << 20;

/// Time that the client has to read the last answers.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Messages on standard input and output.
pub(super) struct MessageLines {
    input: mpsc::Receiver<InputLine>,
    output: Option<mpsc::UnboundedSender<Vec<u8>>>,
    pending: Arc<Pending>,
    max_request: usize,
    /// Whether a request has arrived. The session begins with one, and other messages before it are ignored.
    is_open: bool,
}

/// Answers that the client has still to read at the end.
pub(super) struct LastAnswers(oneshot::Receiver<()>);

impl LastAnswers {
    /// Waits until they are written, once the [`MessageLines`] are closed or dropped. A client that reads nothing does not keep the process alive.
    pub(super) async fn written(self) {
        let _ = timeout(LAST_ANSWERS, self.0).await;
    }
}

/// A line of input.
enum InputLine {
    Whole(Vec<u8>),
    TooLong,
}

/// Output that waits for the client.
#[derive(Default)]
struct Pending {
    bytes: AtomicUsize,
    has_changed: Notify,
    is_broken: AtomicBool,
}

impl MessageLines {
    /// Starts the threads.
    ///
    /// # Errors
    /// If the system refuses one.
    pub(super) fn start(max_request: usize) -> io::Result<(Self, LastAnswers)> {
        let (lines, input) = mpsc::channel(LINES_AHEAD);
        let (output, answers) = mpsc::unbounded_channel();
        let (on_end, is_written) = oneshot::channel();
        let pending = Arc::<Pending>::default();
        let for_writer = Arc::clone(&pending);
        let is_started = spawn_detached(move || read(&mut stdin().lock(), max_request, &lines))
            && spawn_detached(move || write(answers, &for_writer, on_end));
        if !is_started {
            return Err(io::Error::other("cannot start a thread"));
        }
        let lines = Self { input, output: Some(output), pending, max_request, is_open: false };
        Ok((lines, LastAnswers(is_written)))
    }

    /// Queues a message.
    fn push(&self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.pending.bytes.fetch_add(line.len(), Ordering::Relaxed);
        let sent = self.output.as_ref().map(|output| output.send(line));
        if matches!(sent, Some(Ok(()))) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    }

    /// Answers a line that is no message.
    fn refuse(&self, refusal: Refusal) {
        // If the output is broken, receiving ends.
        let _ = self.push(&JsonRpcMessage::error(refusal.error, refusal.id));
    }

    /// Waits until the client has read enough of the answers. Returns `false` if it reads no more.
    async fn has_room(&self) -> bool {
        loop {
            let changed = self.pending.has_changed.notified();
            if self.pending.is_broken.load(Ordering::Relaxed) {
                return false;
            }
            if self.pending.bytes.load(Ordering::Relaxed) <= MAX_PENDING {
                return true;
            }
            changed.await;
        }
    }

    /// Decides on a line: a message for the session, or none.
    fn accept(&mut self, line: InputLine) -> Option<ClientJsonRpcMessage> {
        let parsed = match line {
            InputLine::Whole(line) if line.trim_ascii().is_empty() => return None,
            InputLine::Whole(line) => parse(&line),
            InputLine::TooLong => Err(Some(Refusal::too_long(self.max_request))),
        };
        match parsed {
            Ok(message) => {
                self.is_open |= matches!(message, JsonRpcMessage::Request(_));
                self.is_open.then_some(message)
            }
            Err(refusal) => {
                refusal.into_iter().for_each(|refusal| self.refuse(refusal));
                None
            }
        }
    }
}

impl Transport<RoleServer> for MessageLines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        std::future::ready(self.push(&message))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if !self.has_room().await {
                return None;
            }
            let line = self.input.recv().await?;
            let message = self.accept(line);
            if message.is_some() {
                return message;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output = None;
        Ok(())
    }
}

/// The answer to a line that is no message.
struct Refusal {
    error: ErrorData,
    id: Option<RequestId>,
}

impl Refusal {
    fn too_long(most: usize) -> Self {
        let text = format!("request larger than {most} bytes; use --max-request to raise the limit");
        Self { error: ErrorData::new(ErrorCode::INVALID_REQUEST, text, None), id: None }
    }
}

/// Parses a message. An error without a refusal is not answered.
fn parse(line: &[u8]) -> Result<ClientJsonRpcMessage, Option<Refusal>> {
    let error = match serde_json::from_slice(line) {
        Ok(message) => return Ok(message),
        Err(error) => error,
    };
    if matches!(error.classify(), Category::Syntax | Category::Eof) {
        let error = ErrorData::parse_error(format!("invalid JSON: {error}"), None);
        return Err(Some(Refusal { error, id: None }));
    }
    let value: Value = serde_json::from_slice(line).unwrap_or_default();
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    if id.is_none() && value.get("method").is_some() {
        // Notifications have no answers.
        return Err(None);
    }
    let error = ErrorData::invalid_request("not a request, a notification or a response", None);
    Err(Some(Refusal { error, id }))
}

/// Reads lines until the end of the input, or of the session.
fn read(input: &mut impl BufRead, max_request: usize, lines: &mpsc::Sender<InputLine>) {
    while let Ok(Some(line)) = read_line(input, max_request) {
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

/// Reads a line of at most this many bytes, or skips a longer one.
fn read_line(input: &mut impl BufRead, most: usize) -> io::Result<Option<InputLine>> {
    let (mut line, mut is_too_long) = (Vec::new(), false);
    loop {
        let bytes = match input.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        let is_last = end.is_some() || bytes.is_empty();
        is_too_long |= line.len() + part.len() > most;
        if is_too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let consumed = part.len() + usize::from(end.is_some());
        input.consume(consumed);
        if is_last && is_too_long {
            return Ok(Some(InputLine::TooLong));
        }
        if is_last {
            return Ok((end.is_some() || !line.is_empty()).then_some(InputLine::Whole(line)));
        }
    }
}

/// Writes answers until the session ends.
fn write(mut answers: mpsc::UnboundedReceiver<Vec<u8>>, pending: &Pending, on_end: oneshot::Sender<()>) {
    let mut out = stdout().lock();
    while let Some(line) = answers.blocking_recv() {
        let written = out.write_all(&line).and_then(|()| out.flush());
        pending.bytes.fetch_sub(line.len(), Ordering::Relaxed);
        pending.is_broken.fetch_or(written.is_err(), Ordering::Relaxed);
        pending.has_changed.notify_one();
        if written.is_err() {
            break;
        }
    }
    let _ = on_end.send(());
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn lines(input: &[u8], most: usize, capacity: usize) -> Vec<Option<String>> {
        let mut input = BufReader::with_capacity(capacity, input);
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut input, most).unwrap() {
            lines.push(match line {
                InputLine::Whole(line) => Some(String::from_utf8(line).unwrap()),
                InputLine::TooLong => None,
            });
        }
        lines
    }

    #[test]
    fn lines_that_are_too_long_are_skipped() {
        for capacity in 1..12 {
            let read = lines(b"1234\n12345\n\n123456789\n12\n1234", 4, capacity);
            let text = |text: &str| Some(text.to_owned());
            assert_eq!(read, [text("1234"), None, text(""), None, text("12"), text("1234")]);
            assert_eq!(lines(b"12345", 4, capacity), [None]);
        }
    }

    #[test]
    fn lines_that_are_no_messages_are_refused_by_id_if_they_have_one() {
        let refused = |line: &str| {
            parse(line.as_bytes()).map(drop).map_err(|refusal| {
                refusal.map(|Refusal { error, id }| (error.code.0, id.map(|id| id.to_string())))
            })
        };
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), Ok(()));
        assert_eq!(refused("{"), Err(Some((-32700, None))));
        assert_eq!(refused("\u{1}"), Err(Some((-32700, None))));
        assert_eq!(refused("[]"), Err(Some((-32600, None))));
        assert_eq!(refused("7"), Err(Some((-32600, None))));
        assert_eq!(refused(r#"{"id":7}"#), Err(Some((-32600, Some("7".to_owned())))));
        assert_eq!(
            refused(r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#),
            Err(Some((-32600, Some("x".to_owned()))))
        );
        assert_eq!(refused(r#"{"method":"notifications/initialized"}"#), Err(None));
    }
}
