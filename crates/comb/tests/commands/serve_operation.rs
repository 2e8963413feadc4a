//! Tests of the operation of `comb serve`: signals, access log, allowed hosts, caching.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::server::Server;
use crate::support::{COMB, Place, beside_comb, copy_of, directory_with, wait_until, write};
use serde_json::json;
use tempfile::TempDir;

/// A directory with an index of a text.
fn index(text: impl AsRef<[u8]>) -> TempDir {
    let directory = directory_with(&[]);
    build(&directory, text);
    directory
}

fn build(directory: &TempDir, text: impl AsRef<[u8]>) {
    write(directory, "text", text);
    let (_, messages, code) = directory.run("comb index build text --alphabet bytes");
    assert_eq!(code, Some(0), "{messages}");
}

fn serve(directory: &TempDir, arguments: &[&str]) -> Server {
    Server::start(directory.path(), &[&["text.comb"], arguments].concat())
}

/// A server that writes its access log to standard output, which is a pipe.
fn serve_with_piped_log(directory: &TempDir) -> Server {
    let mut command = Command::new(COMB);
    command.stdout(Stdio::piped());
    Server::start_as(command, directory.path(), &["text.comb", "--access-log", "-"])
}

fn dropped_lines(server: &Server) -> u64 {
    let metrics = server.get("/metrics").text();
    let line = metrics.lines().find_map(|line| line.strip_prefix("comb_access_log_lines_dropped_total "));
    line.expect("a metric").parse().expect("a number")
}

/// Sends requests with long lines in the log until some of them are dropped. Returns the number of requests.
fn fill_log(server: &Server) -> u64 {
    let target = format!("/healthz?{}", "x".repeat(8000));
    let mut requests = 0;
    while dropped_lines(server) == 0 {
        for _ in 0..20 {
            assert_eq!(server.get(&target).status, 200);
        }
        requests += 21;
        assert!(requests < 10_000, "no line is dropped");
    }
    requests + 1
}

#[test]
fn a_blocked_access_log_delays_neither_requests_nor_shutdown() {
    let directory = index("text");
    let mut server = serve_with_piped_log(&directory);
    let unread = server.child.stdout.take();
    fill_log(&server);
    assert_eq!(server.message(), "comb: access log blocked; dropping lines\n");
    let message = server.stop();
    assert!(message.starts_with("comb: access log incomplete: dropped "), "{message}");
    drop(unread);
}

#[test]
fn a_blocked_access_log_resumes_when_it_is_read() {
    let directory = index("text");
    let mut server = serve_with_piped_log(&directory);
    let mut output = server.child.stdout.take().expect("a pipe");
    let requests = fill_log(&server);
    assert_eq!(server.message(), "comb: access log blocked; dropping lines\n");
    let reader = thread::spawn(move || {
        let mut log = String::new();
        output.read_to_string(&mut log).map(|_| log)
    });
    let dropped = dropped_lines(&server);
    // Requests add lines until the log has caught up.
    let message = server.message();
    let lines = if dropped == 1 { "line" } else { "lines" };
    assert_eq!(message, format!("comb: resumed writing the access log; dropped {dropped} {lines}\n"));
    assert_eq!(server.stop(), "");
    let log = reader.join().expect("a reader").expect("a log");
    assert_eq!(log.lines().count() as u64, requests + 1 - dropped);
    assert!(log.lines().all(|line| line.starts_with("127.0.0.1 - - [") && line.ends_with("\"-\" \"-\"")));
}

#[test]
fn an_access_log_that_cannot_be_written_is_reported_once() {
    let directory = index("text");
    let full = serve(&directory, &["--access-log", "/dev/full"]);
    let mut closed = serve_with_piped_log(&directory);
    drop(closed.child.stdout.take());
    for (mut server, error) in [
        (full, "/dev/full: cannot write the access log: no space left on device"),
        (closed, "standard output: cannot write the access log: broken pipe"),
    ] {
        server.get("/healthz");
        let message = format!("comb: {error}; dropping lines\n");
        assert_eq!(server.message(), message);
        // Each line is in a separate batch.
        for _ in 0..2 {
            let before = dropped_lines(&server);
            wait_until("a dropped line", || dropped_lines(&server) > before);
        }
        let message = server.stop();
        assert!(
            message.starts_with("comb: access log incomplete: dropped ") && message.lines().count() == 1,
            "{message}"
        );
    }
}

#[test]
fn a_line_of_the_access_log_that_stays_incomplete_counts_as_lacking() {
    let directory = index("text");
    for is_ending in [false, true] {
        let mut server = serve_with_piped_log(&directory);
        let mut output = server.child.stdout.take().expect("a pipe");
        rustix::pipe::fcntl_setpipe_size(&output, 4096).expect("the size of a page");
        assert_eq!(server.get(&format!("/healthz?{}", "x".repeat(6000))).status, 200);
        // The line does not fit into the pipe, so the writer waits for its reader, which goes away.
        output.read_exact(&mut [0]).expect("the beginning of a line");
        if is_ending {
            server.signal("TERM");
            wait_until("no more connections", || TcpStream::connect(server.address).is_err());
            // The log is closed next, and waits for a second.
            thread::sleep(Duration::from_millis(200));
        }
        drop(output);
        if !is_ending {
            let message = "comb: standard output: cannot write the access log: broken pipe; dropping lines\n";
            assert_eq!(server.message(), message);
            server.signal("TERM");
        }
        let message = server.end();
        assert!(message.ends_with("comb: access log incomplete: dropped 1 line\n"), "{message}");
    }
}

#[test]
fn a_rotated_access_log_is_reopened() {
    let directory = index("text");
    let mut server = serve(&directory, &["--access-log", "log"]);
    let path = |name: &str| directory.at(name);
    assert_eq!(server.get("/healthz?first").status, 200);
    fs::rename(path("log"), path("log.1")).expect("renamed");
    server.signal("HUP");
    wait_until("a new log", || path("log").exists());
    assert_eq!(server.get("/healthz?second").status, 200);
    assert_eq!(server.stop(), "");
    for (name, request) in [("log.1", "/healthz?first"), ("log", "/healthz?second")] {
        let log = directory.read(name);
        let requests: Vec<_> = log.lines().map(|line| line.split(' ').nth(6)).collect();
        assert_eq!(requests, [Some(request)], "{name}");
    }
}

#[test]
fn requests_for_other_hosts_are_forbidden() {
    let directory = index("text");
    let server = serve(&directory, &["--allow-host", "comb.example"]);
    let ask = |version: &str, fields: &str| {
        server.ask(&format!("GET /healthz HTTP/{version}\r\nConnection: close\r\n{fields}\r\n"))
    };
    for host in ["localhost", "127.0.0.1", "[::1]:80", "Comb.Example:8080"] {
        assert_eq!(ask("1.1", &format!("Host: {host}\r\n")).status, 200, "{host}");
    }
    let forbidden = ask("1.1", "Host: evil.example:1415\r\n");
    assert_eq!((forbidden.status, forbidden.field("content-type")), (403, Some("application/problem+json")));
    assert_eq!(
        forbidden.json()["detail"],
        "The host evil.example is not allowed; start the server with --allow-host evil.example to allow it."
    );
    for (fields, detail) in [
        ("", "The Host field is missing."),
        ("Host: localhost\r\nHost: localhost\r\n", "The Host field is repeated."),
        ("Host: a b\r\n", "The Host field is invalid."),
    ] {
        let answer = ask("1.1", fields);
        assert_eq!((answer.status, &answer.json()["detail"]), (400, &json!(detail)));
    }
    assert_eq!(ask("1.0", "").status, 200);
    assert_eq!(ask("1.0", "Host: evil.example\r\n").status, 403);
}

#[test]
fn connections_without_a_complete_head_do_not_delay_shutdown() {
    let directory = index("text");
    let mut server = serve(&directory, &["--shutdown-timeout", "1000", "--idle-timeout", "1000"]);
    let mut first = server.connect();
    first.write_all(b"GET / HTTP/1.1\r\nHo").expect("sent");
    let mut second = server.connect();
    second.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    let mut answer = [0; 15];
    second.read_exact(&mut answer).expect("an answer");
    second.write_all(b"GET / HTTP/1.1\r\nHo").expect("sent");
    // The answer on another connection shows that the server has read the earlier data.
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.stop(), "");
}

#[test]
fn a_second_signal_ends_the_server_immediately() {
    // In JSON, this exceeds the buffers of a socket.
    let directory = index(vec![0xff; 3 << 20]);
    let mut server = serve(&directory, &["--shutdown-timeout", "1000", "--max-text", "10000000"]);
    let mut slow = server.connect();
    let request = "GET /api/v1/text/text?count=10000000 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    slow.write_all(request.as_bytes()).expect("sent");
    slow.read_exact(&mut [0; 15]).expect("the begin of an answer");
    server.signal("TERM");
    wait_until("no more connections", || TcpStream::connect(server.address).is_err());
    assert_eq!(server.child.try_wait().expect("a child"), None);
    server.signal("TERM");
    assert_eq!(server.end(), "comb: stopped with requests in flight\n");
}

#[test]
fn an_entity_tag_depends_on_name_content_and_limits() {
    let directory = index("one fish two fish");
    let tag =
        |server: &Server, target: &str| server.get(target).field("etag").map(str::to_owned).expect("a tag");
    let target = "/api/v1/text/all?q=fish";
    let names = ["other=text.comb"];
    let server = serve(&directory, &names);
    let first = tag(&server, target);
    assert_ne!(tag(&server, "/api/v1/other/all?q=fish"), first);
    assert_eq!(tag(&serve(&directory, &names), target), first);
    assert_ne!(tag(&serve(&directory, &["--max-results", "1"]), target), first);
    build(&directory, "red fish");
    server.signal("HUP");
    wait_until("a new tag", || tag(&server, target) != first);
    let third = serve(&directory, &["third=text.comb"]);
    assert_ne!(tag(&server, "/api/v1/indexes"), tag(&third, "/api/v1/indexes"));
}

#[test]
fn only_a_valid_request_is_answered_with_not_modified() {
    let directory = index("text");
    let server = serve(&directory, &[]);
    for (target, status) in [
        ("/api/v1/text/count?q=t", 304),
        ("/api/v1/text/count?q=", 400),
        ("/api/v1/text/count", 400),
        ("/api/v1/nix/count?q=t", 404),
    ] {
        assert_eq!(server.get_with(target, "If-None-Match: *").status, status, "{target}");
    }
}

#[test]
fn a_cursor_is_valid_in_its_own_index_only() {
    let directory = index("one fish two fish");
    let server = serve(&directory, &[]);
    let page = server.get("/api/v1/text/all?q=fish&limit=1").json();
    let get = |cursor: &str| server.get(&format!("/api/v1/text/all?q=fish&cursor={cursor}"));
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    assert_eq!(get(cursor).json()["positions"], json!([13]));
    build(&directory, "red fish blue fish");
    server.signal("HUP");
    wait_until("the new index", || get(cursor).status == 400);
    let detail =
        "The cursor is of another index, or of this one before it was rebuilt; start again without a cursor.";
    assert_eq!(get(cursor).json()["detail"], detail);
    for cursor in ["13", "-1", "13-", "x-0", "13-x", "%ff-0"] {
        let answer = get(cursor);
        assert_eq!(answer.status, 400, "{cursor}");
        assert!(answer.text().contains("The cursor is invalid"), "{}", answer.text());
    }
}

#[test]
fn the_soft_limit_on_open_files_is_raised() {
    let directory = index("text");
    let mut command = Command::new("bash");
    command.args(["-c", &format!("ulimit -Sn 24; exec '{COMB}' \"$@\""), "bash"]);
    let mut server = Server::start_as(command, directory.path(), &["text.comb"]);
    let held: Vec<TcpStream> = (0..40).map(|_| server.connect()).collect();
    assert_eq!(server.get("/healthz").status, 200);
    drop(held);
    assert_eq!(server.stop(), "");
}

/// Starts a server with a resource limit set by the shell.
///
/// # Errors
///
/// If it does not start, with its messages and exit status.
fn start_within(limit: &str, directory: &TempDir) -> Result<Server, (String, Option<i32>)> {
    let program = directory.at("comb-serve");
    let job = format!("ulimit {limit}; exec {} \"$@\"", program.display());
    let mut command = Command::new("setpriv");
    // Root has no limit on threads, so root becomes a user whose processes no other test starts.
    let user = ["--reuid=65532", "--regid=65532", "--clear-groups"];
    command.args(user.iter().filter(|_| rustix::process::geteuid().is_root()));
    command.args(["bash", "-c", &job, "bash"]);
    let arguments = ["text.comb", "--threads", "8", "--access-log", "log"];
    Server::try_start("127.0.0.1:0", command, directory.path(), &arguments)
}

#[test]
fn with_limited_threads_and_memory_the_server_uses_fewer_threads_or_reports_the_reason() {
    let directory = index("text");
    directory.prints("chmod 777 . text.comb", "");
    let program = copy_of(&beside_comb("comb-serve"), &directory, "comb-serve");
    let limits =
        (1..10).map(|threads| format!("-u {threads}")).chain((5..25).map(|files| format!("-n {files}")));
    // The kernel kills a program that does not fit when it is loaded.
    let smallest = fs::metadata(&program).expect("a program").len() / 1024 + 10_000;
    let mut started = 0;
    for limit in limits.chain((0..60).map(|step| format!("-v {}", smallest + 4_000 * step))) {
        match start_within(&limit, &directory) {
            Ok(mut server) => {
                let answered = server.get("/healthz").status;
                if answered == 200 {
                    server.signal("TERM");
                }
                let (status, messages) = server.status_at_end();
                match status.code() {
                    Some(0) => started += 1,
                    // Enough memory to start may not be enough for the first request.
                    code => assert!(
                        code == Some(2) && messages.contains("comb: out of memory: "),
                        "{limit}: {answered}, {status}: {messages}"
                    ),
                }
            }
            // The loader, the shell or the Rust runtime may run out of memory, the last when it starts a thread.
            Err((message, code)) => assert!(
                matches!(code, Some(126 | 127))
                    || message.contains("failed to allocate an alternative stack")
                    || (code == Some(2) && message.lines().count() == 1 && message.starts_with("comb: ")),
                "{limit}: {code:?} {message}"
            ),
        }
    }
    assert!(started > 10, "{started}");
}

#[test]
fn the_page_contains_the_answer_without_scripts() {
    let directory = index("one fish\ntwo <fish>\n\"red\" fish & chips");
    let server = serve(&directory, &["--max-pattern", "20"]);
    let page = |query: &str| {
        let answer = server.get(&format!("/?{query}"));
        assert_eq!((answer.status, answer.field("content-type")), (200, Some("text/html; charset=utf-8")));
        answer.text()
    };
    let around =
        "<span>one fish\ntwo </span><mark>&lt;fish&gt;</mark>\n&quot;red&quot; fish &amp; chips</pre>";
    for (query, part) in [
        ("", "<option selected>text</option>"),
        ("q=%3Cfish%3E", around),
        ("q=%3Cfish%3E", "value=\"&lt;fish&gt;\""),
        ("q=%22%3E%3Cscript%3E", "value=\"&quot;&gt;&lt;script&gt;\""),
        ("q=fish", "<dd>1:5</dd>"),
        ("q=fish&from=5", "<dd>2:6</dd>"),
        ("q=fish&from=5", "<a href=\"?index=text&amp;q=fish&amp;from=15\">Next →</a>"),
        ("q=fish&before=14", "<dd>1:5</dd>"),
        ("q=fish&from=30", "“fish” does not occur at or after position 30. Occurrences in all: 3."),
        ("q=fish&from=30", "<a href=\"?index=text&amp;q=fish&amp;from=0\">From the start</a>"),
        ("q=fish&before=2", "“fish” does not occur before position 2. Occurrences in all: 3."),
        ("q=fish&before=2", "<a href=\"?index=text&amp;q=fish&amp;before=38\">From the end</a>"),
        ("q=dog", "“dog” does not occur in text."),
        ("q=fish&from=x", "The parameter from must be a whole number, 0 or greater."),
        ("q=aaaaaaaaaaaaaaaaaaaaa", "The pattern is 21 bytes long; the limit is 20."),
        ("index=%3Cnix%3E&q=fish", "There is no index “&lt;nix&gt;” here; choose another."),
    ] {
        let page = page(query);
        assert!(page.contains(part), "{query}: no {part} in {page}");
    }
    for malicious in ["q=%3Cscript%3E", "index=%3Cscript%3E", "q=x&from=%3Cscript%3E", "q=%27%22%3Cscript%3E"]
    {
        assert!(!page(malicious).contains("<script>"), "{malicious}");
    }
    let tag = server.get("/?q=fish").field("etag").map(str::to_owned).expect("a tag");
    assert_ne!(server.get("/?q=red").field("etag"), Some(&*tag));
    let known = format!("If-None-Match: {}", tag.replace("w/", "W/"));
    assert_eq!(server.get_with("/?q=fish", &known).status, 304);
}
