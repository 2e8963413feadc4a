//! Tests of `comb top --listen`: the page, its events and its answer, in headless Chromium and by requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Deref;
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::browser::Browser;
use crate::profile::Live;
use crate::support::server::{Answered, Server};
use crate::support::{COMB, Place, directory_with, program, wait_until};
use serde_json::{Value, json};

/// Time-out of the client.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A count of what is written to its standard input, with a page. Killed on drop.
struct Job {
    server: Server,
    input: Option<ChildStdin>,
}

impl Deref for Job {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl Job {
    fn start(arguments: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", arguments)
    }

    fn start_at(address: &str, arguments: &[&str]) -> Self {
        let mut command = program(COMB, Path::new("/"));
        command.args(["top", "--listen", address]).args(arguments);
        let mut server =
            Server::listening(command.stdin(Stdio::piped()).stdout(Stdio::piped())).expect("a job");
        Self { input: server.child.stdin.take(), server }
    }

    /// Writes to the standard input of the job.
    fn write(&mut self, text: impl AsRef<[u8]>) {
        let input = self.input.as_mut().expect("an open input");
        input.write_all(text.as_ref()).and_then(|()| input.flush()).expect("written");
    }

    /// Ends the input, and returns the standard output, the remaining messages and the exit status.
    fn end(&mut self) -> (String, String, Option<i32>) {
        drop(self.input.take());
        let (mut out, mut messages) = (Vec::new(), String::new());
        self.server.child.stdout.take().expect("its output").read_to_end(&mut out).expect("the result");
        self.server.messages.read_to_string(&mut messages).expect("messages");
        let out = String::from_utf8_lossy(&out).into_owned();
        (out, messages, self.server.child.wait().expect("its end").code())
    }

    fn get_as(&self, host: &str, target: &str) -> Answered {
        self.send(&format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    fn events(&self) -> Events {
        Events::of(self.connect())
    }

    fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

/// A stream of events.
struct Events {
    head: String,
    lines: BufReader<TcpStream>,
}

impl Events {
    fn of(mut stream: TcpStream) -> Self {
        // Without chunks.
        stream.write_all(b"GET /events HTTP/1.0\r\nHost: localhost\r\n\r\n").expect("sent");
        let mut lines = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(lines.read_line(&mut head).expect("a head") > 0, "{head}");
        }
        Self { head, lines }
    }

    /// Returns the name and the data of the next event, or `None` at the end of the stream.
    fn next(&mut self) -> Option<(String, Value)> {
        let (mut name, mut line) = (String::new(), String::new());
        let start = Instant::now();
        while self.lines.read_line(&mut line).expect("a line") > 0 {
            if let Some(value) = line.strip_prefix("event: ") {
                value.trim_end().clone_into(&mut name);
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data).expect("JSON")));
            }
            line.clear();
            assert!(start.elapsed() < TIMEOUT, "no state");
        }
        None
    }

    /// Reads states until the number of records is `records`.
    fn wait_for(&mut self, records: u64) -> Value {
        loop {
            let (name, state) = self.next().expect("a state");
            if state["answer"]["records"] == records {
                return state;
            }
            assert_eq!(name, "update", "{state}");
        }
    }

    /// Reads all states, and returns the last one, which is that of the end.
    fn last(&mut self) -> Value {
        let (name, last) = std::iter::from_fn(|| self.next()).last().expect("the last state");
        assert_eq!(name, "end");
        last
    }
}

#[test]
fn counts_grow_while_the_job_runs_and_the_last_event_has_the_result() {
    let mut job = Job::start(&["-f", "1", "-n", "2", "--json", "--percent"]);
    let mut events = job.events();
    assert!(events.head.contains("content-type: text/event-stream"), "{}", events.head);
    job.write("a\nb\na\n");
    let state = events.wait_for(3);
    assert_eq!((&state["status"], &state["answer"]["partial"]), (&json!("running"), &json!(true)));
    job.write("c\nb\nb\nd\n");
    let state = events.wait_for(7);
    wait_until("the first key", || {
        job.get("/answer.json").json()["top"][0] == json!({"count": 3, "percent": 42.86, "key": "b"})
    });
    let command = state["command"].as_str().expect("a command");
    assert!(command.starts_with("comb top --listen 127.0.0.1:0 -f 1"), "{command}");
    let (out, messages, code) = job.end();
    let last = events.last();
    assert_eq!(last["status"], "ended");
    let result: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(last["answer"], result);
    assert_eq!(result["distinct"], 4);
    assert_eq!((last["bytes"].as_u64(), &*messages, code), (Some(14), "", Some(0)));
}

#[test]
fn addresses_are_answered_as_by_comb_serve() {
    let job = Job::start(&[]);
    let page = job.get("/");
    assert_eq!((page.status, page.field("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.field("content-security-policy").expect("a policy");
    assert!(policy.contains("default-src 'none'"), "{policy}");
    for target in ["/", "/style.css", "/app.js", "/healthz", "/answer.json"] {
        let answer = job.get(target);
        let options = answer.field("x-content-type-options");
        assert_eq!((answer.status, options), (200, Some("nosniff")), "{target}");
        assert_eq!(answer.field("access-control-allow-origin"), None, "{target}");
    }
    for target in ["/", "/events", "/answer.json"] {
        let head = job.request("HEAD", target, "", "");
        assert_eq!((head.status, head.body.len()), (200, 0), "{target}");
        let post = job.request("POST", target, "", "");
        assert_eq!((post.status, post.field("allow")), (405, Some("get, head")), "{target}");
    }
    let missing = job.get_as("localhost", "/metrics");
    assert_eq!((missing.status, missing.field("content-type")), (404, Some("application/problem+json")));
    assert_eq!(job.ask("nonsense\r\n\r\n").status, 400);
}

#[test]
fn other_hosts_than_this_machine_are_refused_unless_they_are_allowed() {
    let job = Job::start(&["--allow-host", "comb.example.org"]);
    for target in ["/", "/events", "/answer.json", "/healthz"] {
        let refused = job.get_as("evil.example", target);
        assert_eq!(refused.status, 403, "{target}");
        assert!(refused.text().contains("--allow-host evil.example"), "{}", refused.text());
    }
    for host in ["localhost:80", "127.0.0.1", "[::1]", "comb.example.org"] {
        assert_eq!(job.get_as(host, "/answer.json").status, 200, "{host}");
    }
}

#[test]
fn the_page_has_an_address_of_ipv6_or_localhost() {
    for address in ["[::1]:0", "localhost:0"] {
        let job = Job::start_at(address, &[]);
        assert!(job.address.ip().is_loopback());
        assert_eq!(job.get("/healthz").text(), "ok\n");
    }
}

#[test]
fn an_address_in_use_is_an_error_with_the_fix() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let message = format!(
        "comb: --listen: cannot listen on {address}: address already in use; choose another port, or 0 for any free port\n"
    );
    directory_with(&[]).answers(&format!("comb top --listen {address}"), "", &message, 2);
}

#[test]
fn answers_follow_the_schema_also_while_the_job_runs() {
    let schema: Value = serde_json::from_str(include_str!("../../../../docs/top.schema.json")).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let mut job = Job::start(&["--input", "csv", "-f", "k,j", "--sum", "v"]);
    let mut events = job.events();
    job.write("k,j,v\na,b,1.50\n");
    job.write(b"caf\xE9,x,2\n");
    events.wait_for(2);
    wait_until("measures", || {
        job.get("/answer.json").json()["top"].as_array().is_some_and(|top| top.len() == 2)
    });
    let answer = job.get("/answer.json").json();
    assert!(schema.is_valid(&answer), "{answer}");
    assert_eq!(answer["top"][1]["key"], json!({"k": "caf\u{FFFD}", "j": "x"}));
    assert_eq!(answer["top"][1]["key_base64"], json!({"k": "Y2Fm6Q=="}));
    job.end();
    let last = events.last();
    assert!(schema.is_valid(&last["answer"]), "{last}");
    assert_eq!(last["columns"], json!({"measures": ["sum(v)"], "key": ["k", "j"], "sorted_by": "count"}));
}

#[test]
fn streams_are_limited_and_leave_room_for_other_requests() {
    let job = Job::start(&[]);
    let mut streams: Vec<Events> = (0..80).map(|_| job.events()).collect();
    let refused = job.get("/events");
    assert_eq!((refused.status, refused.field("retry-after")), (503, Some("1")));
    assert_eq!(job.get("/").status, 200);
    assert_eq!(job.get("/answer.json").status, 200);
    // Idle connections are limited as well.
    let idle: Vec<TcpStream> = (0..40).map(|_| job.connect()).collect();
    wait_until("a refusal", || job.get("/").status == 429);
    drop(idle);
    streams.pop();
    wait_until("room for a stream", || {
        let mut stream = job.connect();
        stream.write_all(b"GET /events HTTP/1.0\r\nHost: localhost\r\n\r\n").expect("sent");
        let mut start = [0; 12];
        stream.read_exact(&mut start).expect("a status");
        &start == b"HTTP/1.0 200"
    });
}

#[test]
fn a_client_that_does_not_read_holds_neither_the_job_nor_its_end() {
    let mut job = Job::start(&["-n", "1000", "--totals"]);
    let mut silent = job.connect();
    silent.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    let mut events = job.events();
    for round in 1..=8 {
        let lines: String = (0..1000).map(|line| format!("{round} {line:0200}\n")).collect();
        job.write(&lines);
        // The state has 1000 long keys; the silent client takes a few of them at most.
        events.wait_for(1000 * round);
    }
    let (out, messages, code) = job.end();
    assert!(out.ends_with("# 8,000 records, 8,000 distinct keys, 1,000 shown\n"), "{out}");
    assert_eq!((&*messages, code), ("comb: stopped with requests in flight after 1 s\n", Some(0)));
    drop(silent);
}

#[test]
fn an_interrupted_job_ends_with_a_partial_result() {
    let mut job = Job::start(&["--partial"]);
    let mut events = job.events();
    job.write("a\n");
    events.wait_for(1);
    job.signal("INT");
    let last = events.last();
    assert_eq!((&last["status"], &last["answer"]["partial"]), (&json!("interrupted"), &json!(true)));
    assert_eq!(job.end().2, Some(130));
}

#[test]
fn problems_with_inputs_are_in_the_last_state() {
    let mut job = Job::start(&["/nowhere/log", "-"]);
    let mut events = job.events();
    job.write("a\n");
    job.end();
    let last = events.last();
    assert_eq!(last["problems"], json!(["/nowhere/log: no such file or directory"]));
}

#[test]
fn buckets_of_time_are_a_series_in_the_order_of_time() {
    let lines = "2026-03-01T10:00:00Z a\n2026-03-01T10:02:00Z b\n2026-03-01T10:02:30Z a\n";
    let last = |arguments: &[&str]| {
        let mut job =
            Job::start(&[&["--input", "lines", "--every", "1m", "--tz", "UTC"], arguments].concat());
        let mut events = job.events();
        job.write(lines);
        // A waiting worker publishes its counts a moment after the number of records is known.
        let running = std::iter::from_fn(|| events.next()).map(|(_, state)| state).find(|state| {
            state["answer"]["top"][0]["count"] != Value::Null || state["series"]["keys"][0]["count"] == 2
        });
        job.end();
        let last = events.last();
        let running = running.expect("a state with counts");
        assert_eq!((&running["series"], &running["columns"]), (&last["series"], &last["columns"]));
        last
    };
    let minutes = [0, 1, 2].map(|minute| format!("2026-03-01T10:0{minute}Z"));
    for arguments in [&[][..], &["--reverse"]] {
        let series = &last(arguments)["series"];
        assert_eq!(*series, json!({"buckets": minutes, "counts": [[1, 0, 2]]}), "{arguments:?}");
    }
    let series = &last(&["-f", "2"])["series"];
    let keys = json!([{"count": 2, "key": "a"}, {"count": 1, "key": "b"}]);
    assert_eq!(*series, json!({"buckets": minutes, "keys": keys, "counts": [[1, 0, 1], [0, 0, 1]]}));
    assert_eq!(last(&["--sort", "count"]).get("series"), None);
}

#[test]
fn buckets_that_were_printed_stay_on_the_page_with_their_measures() {
    let flags = "--input lines --tail --every 1m --tz UTC -f 2 --sum 3";
    let mut job = Job::start(&flags.split(' ').collect::<Vec<_>>());
    let mut events = job.events();
    for minute in 0..3 {
        job.write(format!("2026-03-01T10:0{minute}:00Z a {minute}\n2026-03-01T10:0{minute}:01Z b 7\n"));
        events.wait_for(2 * (minute + 1));
        // Time after which the bucket before is printed.
        thread::sleep(Duration::from_millis(1300));
    }
    // A late record is added to its bucket.
    job.write("2026-03-01T10:00:00Z a 5\n");
    let running = events.wait_for(7);
    let (printed, ..) = job.end();
    let row = |minute: u64, key: &str, count: u64, sum: u64| {
        let key = json!({"time": format!("2026-03-01T10:0{minute}Z"), "key": key});
        json!({"count": count, "key": key, "sum(3)": sum})
    };
    let rows = [
        row(0, "a", 2, 5),
        row(0, "b", 1, 7),
        row(1, "a", 1, 1),
        row(1, "b", 1, 7),
        row(2, "a", 1, 2),
        row(2, "b", 1, 7),
    ];
    let last = events.last();
    for state in [running, last] {
        assert_eq!(state["answer"]["top"], json!(rows));
        assert_eq!(state["series"]["counts"], json!([[2, 1, 1], [1, 1, 1]]));
    }
    assert_eq!(printed.lines().count(), 1 + 7, "{printed}");
}

#[test]
fn the_page_works_beside_the_screen_of_live() {
    let mut live = Live::start("--listen 127.0.0.1:0");
    live.write("twice\nonce\ntwice\n");
    wait_until("the screen", || live.shows("twice"));
    let typescript = live.directory.read("typescript");
    let (_, url) = typescript.split_once("listening on http://").expect("the address of the page");
    let address: SocketAddr = url.split('/').next().expect("an address").parse().expect("an address");
    let mut events = Events::of(TcpStream::connect(address).expect("a connection"));
    let state = events.wait_for(3);
    assert_eq!(state["answer"]["top"][0], json!({"count": 2, "key": "twice"}));
    assert_eq!(live.end(b"q"), "2 twice\n1 once\n# partial: interrupted after 3 records\n");
    assert_eq!(events.last()["status"], "interrupted");
}

impl Browser {
    /// Runs a command of Chromium's DevTools.
    fn tools(&self, command: &str, parameters: Value) {
        self.post("/goog/cdp/execute", json!({"cmd": command, "params": parameters}));
    }

    fn resize(&self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.tools("Emulation.setDeviceMetricsOverride", metrics);
    }

    fn prefer(&self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.tools("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// The texts of the cells of a row, except cells that only draw.
    fn row(&self, number: usize) -> Value {
        self.script(&format!(
            "return Array.from(document.querySelectorAll('#rows tr:nth-child({number}) td:not(.bar)'), cell => cell.textContent)"
        ))
    }

    /// Whether the page is not wider than the window.
    fn fits(&self) -> bool {
        self.script("return document.documentElement.scrollWidth <= innerWidth") == true
    }
}

#[test]
fn the_page_shows_the_counts_and_stays_when_the_job_has_ended() {
    let mut job = Job::start(&["-f", "7", "-n", "10"]);
    let browser = Browser::start();
    browser.resize(1200, 900);
    browser.open(&job.url());
    wait_until("a state", || browser.text("status") == "running");
    assert_eq!(browser.text("more"), "No counts yet.");
    let log = include_str!("../../../../samples/access.log");
    let lines: Vec<&str> = log.lines().collect();
    for (round, part) in lines.chunks(2000).enumerate() {
        job.write(part.join("\n") + "\n");
        let records = ["2,000", "4,000", "6,000", "8,000", "10,000"][round];
        wait_until(records, || browser.text("records") == records);
    }
    wait_until("the counts", || browser.row(1) == json!(["193", "1.9 %", "/"]));
    browser.picture("listen-running");
    assert!(browser.fits());
    let style = |element: &str, property: &str| {
        browser.script(&format!("return getComputedStyle(document.querySelector('{element}')).{property}"))
    };
    // The bars and the threads have their sizes and colours, which the content security policy allows.
    assert_ne!(style("#rows .bar div", "width"), "0px");
    assert_eq!(style("#legend li:nth-child(2) i", "backgroundColor"), "rgb(86, 180, 233)");
    let light = style("body", "backgroundColor");
    browser.prefer("dark");
    browser.picture("listen-dark");
    assert_ne!(style("html", "backgroundColor"), light);
    browser.prefer("light");
    let (out, ..) = job.end();
    wait_until("the end", || browser.text("status") == "ended");
    assert_eq!(browser.script("return document.querySelectorAll('#rows tr').length"), out.lines().count());
    for (number, line) in (1..).zip(out.lines()) {
        let (count, key) = line.split_once(' ').expect("a count and a key");
        let row = browser.row(number);
        assert_eq!((&row[0], &row[2]), (&json!(count), &json!(key)));
    }
    assert!(browser.text("more").ends_with(" distinct keys"), "{}", browser.text("more"));
    browser.picture("listen-ended");
    drop(job);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(browser.text("status"), "ended", "the page does not connect again");
}

#[test]
fn keys_are_text_and_long_ones_fit_a_narrow_window() {
    let markup = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>";
    let long = "/a/path/of/eighty/characters/".chars().cycle().take(80).collect::<String>();
    let mut job = Job::start(&[]);
    let browser = Browser::start();
    browser.open(&job.url());
    job.write(format!("{markup}\n{markup}\n{long}\n"));
    job.write(b"caf\xE9\n");
    wait_until("the counts", || browser.row(1) == json!(["2", "50.0 %", markup]));
    assert_eq!(browser.script("return document.querySelectorAll('main img, main script').length"), 0);
    browser.resize(400, 800);
    wait_until("a narrow window", || browser.script("return innerWidth") == 400);
    assert_eq!(browser.row(2)[2], *long);
    assert!(browser.fits());
    browser.picture("listen-narrow");
    job.end();
    wait_until("the end", || browser.text("status") == "ended");
    assert_eq!(browser.row(3)[2], "caf\u{FFFD}");
    assert!(browser.text("end").contains("has ended") && browser.fits());
    assert_ne!(browser.script("return document.title"), "run");
}

#[test]
fn numbers_on_the_page_have_all_their_digits() {
    let mut job = Job::start(&["--input", "csv", "-f", "k", "--sum", "v", "--mean", "v", "--sort", "sum(v)"]);
    let browser = Browser::start();
    browser.resize(1000, 700);
    browser.open(&job.url());
    job.write("k,v\na,12345678901234567890.25\nb,-7\nc,\n");
    wait_until("a sum", || browser.row(1)[2] == "12,345,678,901,234,567,890.25");
    wait_until("no value", || {
        [2, 3].iter().any(|&row| browser.row(row)[2] == "–") && browser.row(2)[4] != browser.row(3)[4]
    });
    browser.picture("listen-measures");
}

#[test]
fn the_page_draws_the_counts_by_time() {
    let log = include_str!("../../../../samples/access.log");
    for (name, arguments) in
        [("buckets", &[][..]), ("series", &["-f", "status"]), ("ranked", &["--sort", "count", "-n", "5"])]
    {
        let every = &["--input", "combined", "--every", "1d", "--tz", "UTC"];
        let mut job = Job::start(&[every, arguments].concat());
        let browser = Browser::start();
        browser.resize(1100, 1000);
        browser.open(&job.url());
        wait_until("a state", || browser.text("status") == "running");
        job.write(log);
        job.end();
        wait_until("the end", || browser.text("status") == "ended");
        browser.picture(&format!("listen-{name}"));
        assert_eq!(browser.script("return document.getElementById('timeline').hidden"), name == "ranked");
        let keys = browser.script("return document.querySelectorAll('#rows svg').length > 0");
        assert_eq!(keys, name == "series");
        browser.resize(400, 800);
        wait_until("a narrow window", || browser.script("return innerWidth") == 400);
        browser.picture(&format!("listen-{name}-narrow"));
        assert!(browser.fits(), "{name}");
    }
}

#[test]
fn the_page_says_that_the_job_is_gone_and_returns_with_it() {
    // No other process takes the port of this address meanwhile.
    let mut job = Job::start_at("127.0.0.19:0", &[]);
    let browser = Browser::start();
    browser.open(&job.url());
    job.write("a\n");
    wait_until("the counts", || browser.text("records") == "1");
    let address = job.address.to_string();
    drop(job);
    wait_until("a message", || browser.text("status") == "connection lost");
    assert!(browser.text("message").contains("cannot be reached"), "{}", browser.text("message"));
    assert_eq!(browser.row(1)[2], "a", "the last counts stay");
    browser.picture("listen-lost");
    let mut job = Job::start_at(&address, &[]);
    job.write("b\nb\n");
    wait_until("the counts", || {
        // Otherwise the page would wait a while before it tries again.
        browser.script("dispatchEvent(new Event('online'))");
        browser.text("records") == "2" && browser.row(1)[2] == "b"
    });
    assert_eq!(browser.text("status"), "running");
    assert_eq!(browser.script("return document.getElementById('message').hidden"), true);
}
