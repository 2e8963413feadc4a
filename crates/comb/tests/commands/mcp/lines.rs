//! Exact lines of input: what is no message, and calls that are too many, too slow or cancelled.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{COMB, directory_with, program};

/// A session with exact lines.
struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Session {
    fn start(directory: &Path, arguments: &[&str]) -> Self {
        let mut command = program(COMB, directory);
        command.arg("mcp").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("its output"));
        Self { child, input, output }
    }

    fn open(directory: &Path, arguments: &[&str]) -> Self {
        let mut session = Self::start(directory, arguments);
        session.send(&initialize());
        assert_eq!(session.answer()["id"], 0);
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        session
    }

    fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    fn call(&mut self, id: u64, pattern: &str) {
        let params = json!({"name": "search", "arguments": {"pattern": pattern, "regex": true}});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }

    fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().expect("open").write_all(bytes).expect("sent");
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    /// Closes the input, and checks that the server ends well.
    fn close(mut self) {
        self.input = None;
        assert_eq!(self.child.wait().expect("its end").code(), Some(0));
    }
}

fn initialize() -> Value {
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
    });
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

/// A tree that takes seconds to search for [`SLOW`], and a word that is found quickly.
fn slow_tree() -> TempDir {
    let mut state = 1_u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if state >> 63 == 0 { 'a' } else { 'b' }
    };
    let text: String =
        (0..40_000).flat_map(|_| (0..100).map(|_| letter()).chain(['\n']).collect::<Vec<_>>()).collect();
    directory_with(&[("a", &text), ("b", "quick\n")])
}

/// An expression with 2^40 states, whose search is slow on any processor: each byte leads to a new one.
const SLOW: &str = "(a|b)*a[ab]{40}c|q.{2}ck";

#[test]
fn lines_that_are_no_messages_are_answered_and_the_session_goes_on() {
    let tree = directory_with(&[("a", "x\n")]);
    let mut session = Session::open(tree.path(), &["--max-request", "1K"]);
    for (line, code) in [
        ("{", -32700),
        ("not json", -32700),
        ("[1]", -32600),
        ("{\"jsonrpc\":\"2.0\"}", -32600),
        (&"[".repeat(900), -32700),
        (&"y".repeat(100_000), -32600),
    ] {
        session.write(format!("{line}\n").as_bytes());
        let answer = session.answer();
        assert_eq!(
            (&answer["error"]["code"], answer.get("id")),
            (&json!(code), Some(&Value::Null)),
            "{line}"
        );
    }
    session.write(b"\xff\xfe\n\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}\n");
    assert_eq!(session.answer()["error"]["code"], -32700);
    for (method, code) in [("tools/none", -32601), ("tools/call", -32602)] {
        session.send(&json!({"jsonrpc": "2.0", "id": "i", "method": method, "params": {"name": 7}}));
        let answer = session.answer();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &json!("i")));
    }
    session.call(7, "x");
    assert_eq!(session.answer()["result"]["content"][0]["text"], "a\n1:x\n");
    session.close();
}

#[test]
fn a_line_that_is_no_message_is_answered_also_if_nothing_follows() {
    let directory = directory_with(&[]);
    // The process may end while the answer is on its way to the thread that writes it.
    for _ in 0..200 {
        let mut session = Session::start(directory.path(), &[]);
        session.write(b"junk\n");
        session.input = None;
        assert_eq!(session.answer()["error"]["code"], -32700);
        session.close();
    }
}

#[test]
fn messages_before_the_session_are_ignored_or_refused() {
    let tree = directory_with(&[("a", "x\n")]);
    let mut session = Session::start(tree.path(), &[]);
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    session.write(b"{}\n");
    assert_eq!(session.answer()["error"]["code"], -32600);
    session.call(1, "x");
    assert!(session.answer()["error"].is_object());
    session.send(&initialize());
    assert_eq!(session.answer()["result"]["serverInfo"]["name"], "finecomb");
    session.close();
    Session::start(tree.path(), &[]).close();
}

#[test]
fn a_call_that_takes_too_long_is_cut_off() {
    let tree = slow_tree();
    let mut session = Session::open(tree.path(), &["--request-timeout", "0.05", "--threads", "1"]);
    session.call(1, SLOW);
    let text = session.answer().to_string();
    assert!(text.contains("timed out after 0.05 s"), "{text}");
    session.close();
}

#[test]
fn a_cancelled_call_makes_room_for_the_next_one() {
    let tree = slow_tree();
    let arguments = ["--max-in-flight", "1", "--threads", "1", "--request-timeout", "600"];
    let mut session = Session::open(tree.path(), &arguments);
    for id in 1..20 {
        session.call(id, SLOW);
        let params = json!({"requestId": id, "reason": "test"});
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    }
    let begun = Instant::now();
    session.call(99, "^quick");
    assert_eq!(session.answer()["id"], 99, "cancelled calls have no answer");
    assert!(begun.elapsed() < Duration::from_secs(60));
    session.close();
}

#[test]
fn calls_beyond_the_limits_are_refused() {
    let tree = slow_tree();
    let arguments = ["--max-in-flight", "1", "--max-waiting", "2", "--request-timeout", "0.5"];
    let mut session = Session::open(tree.path(), &arguments);
    (1..=8).for_each(|id| session.call(id, SLOW));
    let answers: Vec<Value> = (1..=8).map(|_| session.answer()).collect();
    let refused = answers.iter().filter(|answer| answer["error"]["code"] == -32000).count();
    assert_eq!(refused, 5, "{answers:?}");
    session.call(9, "^quick");
    assert_eq!(session.answer()["result"]["content"][0]["text"], "b\n1:quick\n");
    session.close();
}

#[test]
fn requests_with_an_identifier_that_is_none_are_answered() {
    let tree = directory_with(&[("a", "x\n")]);
    let mut session = Session::open(tree.path(), &[]);
    for (id, answered) in
        [("1.5", json!(1.5)), ("null", Value::Null), ("{}", Value::Null), ("1e99", Value::Null)]
    {
        session.write(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").as_bytes());
        let answer = session.answer();
        assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(-32600), Some(&answered)), "{id}");
    }
    session.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"cursor": "other"}}));
    assert_eq!(session.answer()["error"]["code"], -32602);
    for (limit, text) in [
        (json!("1"), "a\n1:x\n"),
        (json!(0), "limit: expected at least 1"),
        (json!("many"), "limit: expected a whole number"),
    ] {
        let params = json!({"name": "search", "arguments": {"pattern": "x", "limit": limit}});
        session.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}));
        assert_eq!(session.answer()["result"]["content"][0]["text"], text, "{limit}");
    }
    let params = json!({"name": "search", "arguments": {"pattern": "x", "word": 7}});
    session.send(&json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params}));
    let answer = session.answer();
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(text.starts_with("word: invalid type: integer `7`"), "{text}");
    session.close();
}

#[test]
fn batches_are_taken_if_the_version_has_them() {
    let tree = directory_with(&[("a", "x\n")]);
    let mut session = Session::start(tree.path(), &[]);
    let mut first = initialize();
    first["params"]["protocolVersion"] = json!("2025-03-26");
    session.send(&first);
    assert_eq!(session.answer()["result"]["protocolVersion"], "2025-03-26");
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let ping = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/unknown"});
    session.send(&json!([ping(1), note, 7, ping(2)]));
    let answers = session.answer();
    let mut ids: Vec<String> =
        answers.as_array().expect("a batch").iter().map(|answer| answer["id"].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["1", "2", "null"]);
    session.send(&json!([note]));
    session.send(&json!([]));
    assert_eq!(session.answer()["error"]["code"], -32600);
    session.send(&ping(3));
    assert_eq!(session.answer()["id"], 3);
    session.close();
}

#[test]
fn a_cancelled_call_does_not_hold_back_the_other_answers_of_its_batch() {
    let tree = slow_tree();
    let mut session = Session::start(tree.path(), &["--request-timeout", "30"]);
    let mut first = initialize();
    first["params"]["protocolVersion"] = json!("2025-03-26");
    session.send(&first);
    session.answer();
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let ping = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let slow = |id: u64| {
        let params = json!({"name": "search", "arguments": {"pattern": SLOW, "regex": true}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let cancel =
        |id: u64| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    session.send(&json!([slow(1), ping(2)]));
    session.send(&cancel(1));
    assert_eq!(session.answer()[0]["id"], 2);
    session.send(&json!([slow(3), cancel(3), ping(4)]));
    assert_eq!(session.answer()[0]["id"], 4);
    session.close();
}

#[test]
fn requests_whose_identifier_waits_for_an_answer_are_refused() {
    let tree = slow_tree();
    let mut session = Session::open(tree.path(), &["--request-timeout", "1"]);
    (0..3).for_each(|_| session.call(1, SLOW));
    session.input = None;
    let codes: Vec<Value> = (0..3).map(|_| session.answer()["error"]["code"].clone()).collect();
    assert_eq!(codes[..2], [-32600, -32600]);
    session.close();
}

#[test]
fn what_is_pending_when_the_input_ends_is_answered() {
    let tree = slow_tree();
    let mut session = Session::open(tree.path(), &["--request-timeout", "1"]);
    session.call(1, SLOW);
    session.call(2, "quick");
    session.input = None;
    let mut ids = [session.answer()["id"].clone(), session.answer()["id"].clone()];
    ids.sort_by_key(Value::as_u64);
    assert_eq!(ids, [json!(1), json!(2)]);
    session.close();
}

#[test]
fn a_file_that_is_hard_to_parse_does_not_keep_others_from_running() {
    let hard = "template<".repeat(400_000);
    let tree = directory_with(&[("a.cpp", &hard), ("b.c", &"(".repeat(3_000_000)), ("c", "x\n")]);
    let mut session = Session::open(tree.path(), &["--request-timeout", "0.2", "--max-in-flight", "1"]);
    for id in 1..=4 {
        let path = if id % 2 == 0 { "a.cpp" } else { "b.c" };
        let params = json!({"name": "symbols", "arguments": {"list": "outline", "paths": path}});
        session.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        let answer = session.answer();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.starts_with("[timed out after 0.2 s"), "{answer}");
    }
    session.send(&json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {
        "name": "search", "arguments": {"pattern": "x", "paths": "c"}
    }}));
    assert_eq!(session.answer()["result"]["content"][0]["text"], "c\n1:x\n");
    session.close();
}
