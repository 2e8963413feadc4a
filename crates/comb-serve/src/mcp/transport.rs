//! JSON-RPC messages on standard input and output, one per line.
//!
//! A thread reads and another one writes, since standard streams may block. Lines that are no message are answered here: the SDK would
//! drop them silently.

use std::collections::{HashSet, VecDeque};
use std::io::{self, BufRead, Write, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use finecomb_sys::threads::spawn_detached;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, ClientNotification, ErrorCode, ErrorData, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::{Value, json};
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
    /// Messages of a batch that are not taken yet.
    queued: VecDeque<ClientJsonRpcMessage>,
    /// Requests that have no answer yet.
    unanswered: HashSet<RequestId>,
    batches: Vec<Batch>,
    /// Whether the protocol version that was agreed on has batches.
    has_batches: bool,
}

/// A batch of messages: its answers are an array.
#[derive(Default)]
struct Batch {
    unanswered: HashSet<RequestId>,
    answers: Vec<Vec<u8>>,
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
        let lines = Self {
            input,
            output: Some(output),
            pending,
            max_request,
            is_open: false,
            queued: VecDeque::new(),
            unanswered: HashSet::new(),
            batches: Vec::new(),
            has_batches: false,
        };
        Ok((lines, LastAnswers(is_written)))
    }

    /// Queues an answer, or a batch of them.
    fn push(&self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        self.pending.bytes.fetch_add(line.len(), Ordering::Relaxed);
        let sent = self.output.as_ref().map(|output| output.send(line));
        if matches!(sent, Some(Ok(()))) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    }

    /// Sends a message. The answers of a batch are sent together.
    fn send_message(&mut self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        self.note_version(message);
        let answer = serde_json::to_vec(message)?;
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let Some(id) = id else { return self.push(answer) };
        self.unanswered.remove(id);
        let Some(position) = self.batches.iter_mut().position(|batch| batch.unanswered.remove(id)) else {
            return self.push(answer);
        };
        self.batches[position].answers.push(answer);
        self.push_if_complete(position)
    }

    /// Sends the answers of a batch once none is missing.
    fn push_if_complete(&mut self, position: usize) -> io::Result<()> {
        if !self.batches[position].unanswered.is_empty() {
            return Ok(());
        }
        let answers = self.batches.swap_remove(position).answers;
        if answers.is_empty() {
            return Ok(());
        }
        self.push([b"[", &*answers.join(&b','), b"]"].concat())
    }

    /// Records whether the version of the protocol that the server agrees on has batches.
    fn note_version(&mut self, message: &ServerJsonRpcMessage) {
        if let JsonRpcMessage::Response(response) = message
            && let ServerResult::InitializeResult(result) = &response.result
        {
            self.has_batches = result.protocol_version == ProtocolVersion::V_2025_03_26;
        }
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

    /// Takes a line: its messages are queued for the session, or it is refused.
    fn accept(&mut self, line: InputLine) {
        let line = match line {
            InputLine::Whole(line) if line.trim_ascii().is_empty() => return,
            InputLine::Whole(line) => line,
            InputLine::TooLong => return self.refuse(Refusal::too_long(self.max_request)),
        };
        match serde_json::from_slice(&line) {
            Ok(Value::Array(messages)) if self.has_batches && !messages.is_empty() => {
                self.accept_batch(messages)
            }
            Ok(message) => match self.parse_next(message) {
                Ok(message) => self.enqueue(message),
                Err(refusal) => refusal.into_iter().for_each(|refusal| self.refuse(refusal)),
            },
            Err(error) => self.refuse(Refusal::no_json(&error)),
        }
    }

    fn accept_batch(&mut self, messages: Vec<Value>) {
        let mut batch = Batch::default();
        for message in messages {
            match self.parse_next(message) {
                Ok(message) => {
                    batch.unanswered.extend(id_of_request(&message).cloned());
                    self.enqueue(message);
                }
                Err(refusal) => batch.answers.extend(refusal.map(Refusal::into_answer)),
            }
        }
        // A later message of the batch may cancel an earlier one.
        batch.unanswered.retain(|id| self.unanswered.contains(id));
        self.batches.push(batch);
        // If the output is broken, receiving ends.
        let _ = self.push_if_complete(self.batches.len() - 1);
    }

    /// Parses a message. A request whose identifier waits for an answer is refused: answers could not be told apart.
    fn parse_next(&self, message: Value) -> Result<ClientJsonRpcMessage, Option<Refusal>> {
        let message = parse(message)?;
        match id_of_request(&message).filter(|id| self.unanswered.contains(id)) {
            Some(id) => Err(Some(Refusal::id_in_use(id))),
            None => Ok(message),
        }
    }

    fn enqueue(&mut self, message: ClientJsonRpcMessage) {
        self.is_open |= matches!(message, JsonRpcMessage::Request(_));
        if let JsonRpcMessage::Notification(notification) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
        {
            cancelled.params.request_id.iter().for_each(|id| self.drop_answer(id));
        }
        if self.is_open {
            self.unanswered.extend(id_of_request(&message).cloned());
            self.queued.push_back(message);
        }
    }

    /// Stops to wait for the answer to a cancelled request. The other answers of its batch may be complete then.
    fn drop_answer(&mut self, id: &RequestId) {
        self.unanswered.remove(id);
        if let Some(position) = self.batches.iter_mut().position(|batch| batch.unanswered.remove(id)) {
            // If the output is broken, receiving ends.
            let _ = self.push_if_complete(position);
        }
    }

    /// Answers a line that is no message.
    fn refuse(&self, refusal: Refusal) {
        // If the output is broken, receiving ends.
        let _ = self.push(refusal.into_answer());
    }
}

fn id_of_request(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(&request.id),
        _ => None,
    }
}

impl Transport<RoleServer> for MessageLines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        std::future::ready(self.send_message(&message))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if !self.has_room().await {
                return None;
            }
            if let Some(message) = self.queued.pop_front() {
                return Some(message);
            }
            match self.input.recv().await {
                Some(line) => self.accept(line),
                None if self.unanswered.is_empty() => return None,
                // The session asks again once it has sent an answer.
                None => std::future::pending().await,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output = None;
        Ok(())
    }
}

/// The answer to what is no message.
struct Refusal {
    error: ErrorData,
    /// The identifier as it came, or null.
    id: Value,
}

impl Refusal {
    fn too_long(most: usize) -> Self {
        let text = format!("request larger than {most} bytes; use --max-request to raise the limit");
        Self { error: ErrorData::new(ErrorCode::INVALID_REQUEST, text, None), id: Value::Null }
    }

    fn no_json(error: &serde_json::Error) -> Self {
        Self { error: ErrorData::parse_error(format!("invalid JSON: {error}"), None), id: Value::Null }
    }

    fn id_in_use(id: &RequestId) -> Self {
        let error =
            ErrorData::invalid_request("'id': a request with this identifier has no answer yet", None);
        Self { error, id: json!(id) }
    }

    fn into_answer(self) -> Vec<u8> {
        json!({ "jsonrpc": "2.0", "id": self.id, "error": self.error }).to_string().into_bytes()
    }
}

/// Parses a message. An error without a refusal is not answered.
fn parse(message: Value) -> Result<ClientJsonRpcMessage, Option<Refusal>> {
    let id = message.get("id").cloned();
    let (is_call, has_method) = (message["method"] == "tools/call", message.get("method").is_some());
    let is_taken = |id: &Value| id.is_string() || id.is_i64();
    // The SDK would take a request with another identifier for a notification.
    if has_method && let Some(id) = id.as_ref().filter(|id| !is_taken(id)) {
        let text = "'id': expected a string or an integer of 64 bits";
        return Err(Some(Refusal { error: ErrorData::invalid_request(text, None), id: echoed(id) }));
    }
    let id = id.filter(is_taken);
    if is_call
        && let Some(id) = &id
        && CallToolRequestParams::deserialize(&message["params"]).is_err()
    {
        let text = "'params' of tools/call: expected an object with 'name', a text, and perhaps 'arguments', an object";
        let error = ErrorData::invalid_params(text, None);
        return Err(Some(Refusal { error, id: id.clone() }));
    }
    if let Ok(message) = serde_json::from_value(message) {
        return Ok(message);
    }
    if id.is_none() && has_method {
        // Notifications have no answers.
        return Err(None);
    }
    let error = ErrorData::invalid_request("not a request, a notification or a response", None);
    Err(Some(Refusal { error, id: id.unwrap_or_default() }))
}

/// An identifier in an answer: as it came if it is a number that JSON keeps as it is, else null.
fn echoed(id: &Value) -> Value {
    let is_exact = |id: &Value| id.is_u64() || id.as_f64().is_some_and(|id| id.abs() < EXACT);
    if is_exact(id) { id.clone() } else { Value::Null }
}

/// Numbers below it are the same after they were parsed.
const EXACT: f64 = 9_007_199_254_740_992.0;

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
            let message = serde_json::from_str(line).expect("JSON");
            parse(message)
                .map(drop)
                .map_err(|refusal| refusal.map(|Refusal { error, id }| (error.code.0, id)))
        };
        let with_id = |id: &str| refused(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), Ok(()));
        assert_eq!(refused("[]"), Err(Some((-32600, Value::Null))));
        assert_eq!(refused("7"), Err(Some((-32600, Value::Null))));
        assert_eq!(refused(r#"{"id":7}"#), Err(Some((-32600, json!(7)))));
        assert_eq!(refused(r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#), Err(Some((-32600, json!("x")))));
        for (id, answered) in [
            ("1.5", json!(1.5)),
            ("18446744073709551615", json!(u64::MAX)),
            ("18446744073709551616", Value::Null),
            ("1e300", Value::Null),
            ("null", Value::Null),
            ("{}", Value::Null),
            ("true", Value::Null),
        ] {
            assert_eq!(with_id(id), Err(Some((-32600, answered))), "{id}");
        }
        assert_eq!(with_id("-9223372036854775808"), Ok(()));
        for params in ["", r#","params":null"#, r#","params":{"name":7}"#, r#","params":{"arguments":{}}"#] {
            let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call"{params}}}"#);
            assert_eq!(refused(&call), Err(Some((-32602, json!(1)))), "{params}");
        }
        assert_eq!(refused(r#"{"method":"notifications/initialized"}"#), Err(None));
    }
}
