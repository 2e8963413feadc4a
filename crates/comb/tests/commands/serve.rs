//! Tests of `comb serve` from the view of clients: answers, limits and errors.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::server::{Answered, Server};
use crate::support::{COMB, Place, directory_with, program, run, wait_until};
use serde_json::json;
use tempfile::TempDir;

/// First 100 digits of pi.
const PI: &str =
    "1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679";
const TEXT: &str = "one fish\ntwo fish\r\nred \u{e4}fish <b>&\nblue fish";

/// A request after which the connection stays open.
const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A directory with an index of digits and an index of a text.
fn indexes() -> TempDir {
    let directory = directory_with(&[("pi", PI), ("text", TEXT)]);
    for name in ["pi", "text"] {
        build(&directory, name);
    }
    directory
}

fn build(directory: &TempDir, name: &str) {
    let (_, messages, code) = run(program(COMB, directory.path()).args(["index", "build", name]));
    assert_eq!(code, Some(0), "{messages}");
}

fn serve(directory: &TempDir, arguments: &[&str]) -> Server {
    let mut all = vec!["pi.comb", "text.comb"];
    all.extend(arguments);
    Server::start(directory.path(), &all)
}

#[test]
fn the_interface_answers_in_json() {
    let directory = indexes();
    let server = serve(&directory, &[]);
    let get = |target: &str| server.get(&format!("/api/v1/{target}")).json();
    assert_eq!(
        get("pi/search?q=9&from=6&context=3"),
        json!({"index": "pi", "pattern": "9", "from": 6, "count": 14, "position": 12, "line": null, "column": null,
            "before": "358", "match": "9", "after": "793"})
    );
    for (target, members) in [
        ("pi/search?q=9&before=101", json!({"position": 100, "from": null, "before_position": 101})),
        ("pi/search?q=000", json!({"position": null, "count": 0, "match": null})),
        (
            "text/search?q=fish&from=9&context=5",
            json!({"position": 13, "line": 2, "column": 5, "before": "\ntwo ", "after": "\r\nred"}),
        ),
    ] {
        let answer = get(target);
        for (name, value) in members.as_object().expect("members") {
            assert_eq!(&answer[name], value, "{target}: {name}");
        }
    }
    assert_eq!(get("text/search?q=%C3%A4fish")["count"], 1);
    assert_eq!(get("text/search?q=%A4fish")["match_base64"], "pGZpc2g=");
    assert_eq!(get("text/search?q=%3Cb%3E%26")["match"], "<b>&");
    assert_eq!(get("te%78t/count?q=red+"), json!({"index": "text", "pattern": "red ", "count": 1}));
    assert_eq!(get("text/all?q=fish&limit=2")["positions"], json!([4, 13]));
    let page = get("text/all?q=fish&limit=2");
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let rest = get(&format!("text/all?q=fish&cursor={cursor}"));
    assert_eq!((&rest["positions"], &rest["next_cursor"]), (&json!([25, 40]), &json!(null)));
    assert_eq!(get("pi/text?start=99"), json!({"index": "pi", "start": 99, "count": 2, "text": "79"}));
    assert_eq!(get("indexes")["indexes"][0]["symbols"], 100);
    assert_eq!(get("indexes")["indexes"][1]["alphabet"], "bytes");
}

#[test]
fn a_count_of_any_size_ends_with_the_text() {
    let directory = indexes();
    let most = u64::MAX.to_string();
    let server = serve(&directory, &["--max-text", &most, "--max-context", &most, "--max-results", &most]);
    let get = |target: &str| server.get(&format!("{target}={most}"));
    let text = json!({"index": "pi", "start": 5, "count": 96, "text": &PI[4..]});
    assert_eq!(get("/api/v1/pi/text?start=5&count").json(), text);
    assert_eq!(get("/pidigits?start=95&count").json()["digits"], PI[95..]);
    assert_eq!(get("/api/v1/pi/search?q=1415&context").json()["after"], PI[4..]);
    assert_eq!(get("/api/v1/pi/all?q=1415&limit").json()["positions"], json!([1]));
    for endpoint in ["text?start", "search?q=1&from", "all?q=1&cursor"] {
        assert_eq!(get(&format!("/api/v1/pi/{endpoint}")).status, 400, "{endpoint}");
    }
    assert_eq!(get("/piquery?q=1&qs").status, 200);
    assert_eq!(get(&format!("/pidigits?start={most}&count")).json()["digits"], "");
}

#[test]
fn clients_of_the_pi_searcher_get_the_answers_of_its_own_server() {
    let directory = indexes();
    let server = serve(&directory, &[]);
    let without_time = |target: &str| {
        let answer = server.get(target);
        assert_eq!((answer.status, answer.field("content-type")), (200, Some("text/javascript")));
        let text = answer.text();
        let (before, rest) = text.split_once("\"et\":").expect("the time");
        let rest = rest.trim_start_matches(|char: char| char.is_ascii_digit()).trim_start_matches(',');
        format!("{before}{rest}")
    };
    let failed = |reason: &str| format!("{{\"error\":\"{reason}\",\"status\":\"FAILED\"}}");
    let queries = |length| format!("/piquery?{}", "q=1&".repeat(length));
    let long = |length| format!("/piquery?q={}", "1".repeat(length));
    for (target, expected) in [
        (
            "/piquery?q=26535&q=pi&qs=2".to_owned(),
            "{\"r\":[{\"k\":\"26535\",\"st\":2,\"status\":\"found\",\"p\":6,\"db\":\"14159\",\"da\":\"89793238462643383279\",\"c\":1},\
             {\"k\":\"pi\",\"st\":2,\"status\":\"notfound\",\"p\":0,\"db\":\"\",\"da\":\"\",\"c\":0}],\"status\":\"OK\"}"
                .to_owned(),
        ),
        (
            "/piquery?q=%3Cb%3E".to_owned(),
            "{\"r\":[{\"k\":\"\\u003cb\\u003e\",\"st\":0,\"status\":\"notfound\",\"p\":0,\"db\":\"\",\"da\":\"\",\"c\":0}],\"status\":\"OK\"}"
                .to_owned(),
        ),
        ("/piquery".to_owned(), failed("Missing query")),
        ("/piquery?q=1&qs=x".to_owned(), failed("Bad start position")),
        (queries(21), failed("Too many queries")),
        (long(1001), failed("Query too long")),
        (
            "/pidigits?start=95&count=10".to_owned(),
            "{\"count\":10,\"digits\":\"70679\",\"start\":95,\"status\":\"success\"}".to_owned(),
        ),
        ("/pidigits?start=0".to_owned(), failed("Missing query parameters")),
    ] {
        assert_eq!(without_time(&target), expected, "{target}");
    }
    assert_eq!(without_time(&queries(20)).matches("\"status\":\"found\"").count(), 20);
    assert_eq!(without_time(&long(1000)).matches("\"status\":\"notfound\"").count(), 1);
}

/// Statuses are checked for every answer of every test, in `Server::ask`.
#[test]
fn answers_match_the_schemas_of_the_openapi_document() {
    let directory = indexes();
    let server = serve(&directory, &[]);
    let document = server.get("/openapi.json").json();
    let schema = |name: &str| {
        let schema =
            json!({"$ref": format!("#/components/schemas/{name}"), "components": document["components"]});
        jsonschema::validator_for(&schema).expect("a schema")
    };
    let mut asked = vec!["/openapi.json", "/healthz", "/metrics"];
    for (target, name, status) in [
        ("/api/v1/indexes", "Indexes", 200),
        ("/api/v1/pi/search?q=1", "Occurrence", 200),
        ("/api/v1/pi/search?q=000&before=7", "Occurrence", 200),
        ("/api/v1/text/search?q=%A4&context=1", "Occurrence", 200),
        ("/api/v1/text/count?q=%A4", "Count", 200),
        ("/api/v1/text/all?q=fish&limit=1", "Positions", 200),
        ("/api/v1/text/text?start=23&count=1", "Text", 200),
        ("/piquery?q=1&q=x", "PiQuery", 200),
        ("/piquery", "PiQuery", 200),
        ("/pidigits?start=1&count=1", "PiDigits", 200),
        ("/pidigits", "PiDigits", 200),
        ("/api/v1/pi/search?q=x", "Problem", 400),
        ("/api/v1/nix/search?q=x", "Problem", 404),
    ] {
        let answer = server.get(target);
        assert_eq!(answer.status, status, "{target}");
        let (schema, answer) = (schema(name), answer.json());
        let errors: Vec<_> = schema.iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{target}: {errors:?} in {answer}");
        asked.push(target);
    }
    // Every documented path was requested above, and exists.
    for path in document["paths"].as_object().expect("paths").keys() {
        let end = path.trim_start_matches("/api/v1/{index}");
        let is_asked = |target: &&str| target.split('?').next().expect("a path").ends_with(end);
        assert!(asked.iter().any(is_asked), "{path}");
        assert_ne!(server.get(path).status, 404 - 4 * u16::from(path.contains('{')), "{path}");
    }
}

#[test]
fn invalid_requests_are_answered_with_the_reason() {
    let directory = indexes();
    let server = serve(&directory, &["--max-pattern", "50", "--max-results", "10", "--max-text", "60"]);
    let assert_problem = |target: &str, status: u16, detail: &str| {
        let answer = server.get(target);
        let problem = answer.json();
        assert_eq!((answer.status, problem["detail"].as_str()), (status, Some(detail)), "{target}");
        let kind = Some("application/problem+json");
        assert_eq!((answer.field("content-type"), &problem["status"]), (kind, &json!(status)));
    };
    let long = format!("search?q={}", "1".repeat(51));
    let number = "The parameter from must be a whole number, 0 or greater.";
    for (target, detail) in [
        ("search?q=12x", "Invalid 'x' at position 3: the index contains only digits."),
        ("search?q=", "The pattern is empty."),
        ("search", "The parameter q is missing."),
        ("search?q=1&q=2", "The parameter q is repeated."),
        ("search?q=1&form=2", "Unknown parameter \"form\"; known parameters: q, from, before, context."),
        (&long, "The pattern is 51 bytes long; the limit is 50."),
        ("search?q=1&from=0", "Position 0 is before the start of the text; the first position is 1."),
        ("search?q=1&from=102", "Position 102 is past the end of the text; the last position is 100."),
        ("search?q=1&from=-1", number),
        ("search?q=1&from=99999999999999999999", number),
        ("search?q=1&from=1&before=9", "The parameters from and before exclude each other."),
        ("search?q=1&context=1001", "The parameter context must be at most 1000."),
        ("all?q=1&limit=11", "The parameter limit must be at most 10."),
        ("text?count=61", "The parameter count must be at most 60."),
    ] {
        assert_problem(&format!("/api/v1/pi/{target}"), 400, detail);
    }
    for target in ["/api/v1/nix/search?q=1", "/api/v1/%2e%2e/search?q=1"] {
        assert_problem(target, 404, "No index has this name; /api/v1/indexes lists all indexes.");
    }
    for target in ["/api/v1/pi/nix", "/api/v1/../../etc/passwd", "/..%2f..%2fetc/passwd", "/page/index.html"]
    {
        assert_problem(target, 404, "No such address; /openapi.json describes all addresses.");
    }
    // The position after the last symbol is valid, and nothing is found there.
    assert_eq!(server.get("/api/v1/pi/search?q=1&from=101").json()["position"], json!(null));
    // An invalid escape stands for itself, and is not a digit.
    assert_eq!(server.get("/api/v1/pi/search?q=%zz").status, 400);
    assert_eq!(server.get("/api/v1/pi/search?q=%00").status, 400);
    let answer = server.request("POST", "/api/v1/pi/search", "Content-Length: 3\r\n", "q=1");
    assert_eq!((answer.status, answer.field("allow")), (405, Some("get, head")));
}

#[test]
fn malformed_and_oversized_requests_are_rejected() {
    let directory = indexes();
    let mut server = serve(&directory, &["--cors", "*", "--access-log", "log"]);
    let rejected = |answer: &Answered, statuses: &[u16]| {
        assert!(statuses.contains(&answer.status), "{answer:?}");
        if answer.status != 0 {
            assert_eq!(answer.json()["status"], answer.status, "{answer:?}");
            assert_eq!(answer.field("content-type"), Some("application/problem+json"));
            assert_eq!(answer.field("access-control-allow-origin"), Some("*"));
            assert_eq!(answer.field("connection"), Some("close"));
        }
    };
    // The answer to bytes that do not resemble a request may be a closed connection.
    for nonsense in ["nonsense", "GET /\u{0} HTTP/1.1\r\nHost: localhost", "\x16\x03\x01\x02"] {
        rejected(&server.ask(&format!("{nonsense}\r\n\r\n")), &[0, 400]);
    }
    rejected(&server.ask("GET / HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n"), &[400]);
    let after_another =
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nbad header\r\n\r\n";
    let both = server.ask(after_another).text();
    assert!(both.starts_with("ok\n") && both.ends_with("\"This is not a valid HTTP request.\"}"), "{both}");
    let long = format!("/api/v1/text/search?q={}", "x".repeat(70_000));
    rejected(&server.get(&long), &[414, 431]);
    rejected(&server.get_with("/", &format!("X-Long: {}", "x".repeat(70_000))), &[431]);
    // The server reads no more of a pattern of ten megabytes than the limit on the head.
    let huge = format!("GET /api/v1/text/search?q={} HTTP/1.1\r\n\r\n", "x".repeat(10 << 20));
    let mut stream = server.connect();
    let _ = stream.write_all(huge.as_bytes());
    assert!(matches!(Answered::read(&mut stream).status, 0 | 414 | 431));
    assert_eq!(server.get("/healthz").text(), "ok\n");
    assert!(server.get("/metrics").text().contains("comb_requests_total{route=\"other\",status=\"431\"}"));
    server.stop();
    let log = directory.read("log");
    for line in ["\"-\" 400 ", "\"-\" 431 "] {
        assert!(log.contains(line), "{log}");
    }
}

#[test]
fn answers_can_be_cached_compressed_and_read_by_other_origins() {
    let directory = indexes();
    let server = serve(&directory, &["--cors", "https://example.org"]);
    for target in ["/", "/app.js", "/openapi.json", "/api/v1/pi/search?q=1", "/api/v1/indexes"] {
        let answer = server.get(target);
        let tag = answer.field("etag").expect("a tag").to_owned();
        let known = format!("If-None-Match: \"other\", {}", tag.replace("w/", "W/"));
        let again = server.get_with(target, &known);
        assert_eq!((again.status, again.body.len(), again.field("etag")), (304, 0, Some(&*tag)), "{target}");
        assert_eq!(server.get_with(target, "If-None-Match: \"other\"").status, 200);
        assert_eq!(answer.field("x-content-type-options"), Some("nosniff"));
    }
    let page = server.get_with("/", "Accept-Encoding: gzip");
    assert_eq!(page.field("content-encoding"), Some("gzip"));
    assert!(page.body.starts_with(b"\x1f\x8b") || page.text().contains("\u{1f}"));
    let page = server.get("/");
    assert!(page.field("content-security-policy").expect("a policy").starts_with("default-src 'none'"));
    assert_eq!(server.get_with("/healthz", "Accept-Encoding: gzip").field("content-encoding"), None);
    let asked = server.get_with("/api/v1/pi/count?q=1", "Origin: https://example.org");
    assert_eq!(asked.field("access-control-allow-origin"), Some("https://example.org"));
    let head = server.request("HEAD", "/api/v1/pi/count?q=1", "", "");
    assert_eq!((head.status, head.body.len(), head.field("content-length")), (200, 0, Some("38")));
    for (origin, hint) in
        [("example.org", "one like https://example.org"), ("https://example.org/", "https://example.org")]
    {
        let message = format!("comb: invalid origin '{origin}'; use {hint}\n");
        assert_eq!(directory.run(&format!("comb serve pi.comb --cors {origin}")).1, message);
    }
    let metrics = server.get("/metrics");
    assert_eq!(metrics.field("cache-control"), Some("no-store"));
    assert_eq!(metrics.field("cross-origin-resource-policy"), Some("same-origin"));
}

#[test]
fn idle_connections_are_closed() {
    let directory = indexes();
    let server = serve(&directory, &["--idle-timeout", "0.3"]);
    let start = Instant::now();
    // A connection without a request, one with half a request, and one that stays open after its answer.
    let mut half = server.connect();
    half.write_all(b"GET / HTTP/1.1\r\nHost").expect("sent");
    let mut quiet = server.connect();
    let mut idle = server.connect();
    idle.write_all(HEALTH).expect("sent");
    assert!(matches!(Answered::read(&mut half).status, 0 | 408));
    assert_eq!(Answered::read(&mut quiet).status, 0);
    assert_eq!(Answered::read(&mut idle).status, 200);
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn connections_and_requests_beyond_the_limits_are_rejected() {
    let directory = indexes();
    let refused = |arguments: &[&str], status: u16| {
        let arguments = [arguments, &["--cors", "https://example.org", "--access-log", "log"]].concat();
        let server = serve(&directory, &arguments);
        let hold = |_| {
            let mut stream = server.connect();
            stream.write_all(HEALTH).expect("sent");
            let mut status = [0; 15];
            stream.read_exact(&mut status).expect("an answer");
            assert_eq!(&status, b"HTTP/1.1 200 OK");
            stream
        };
        let held = [0, 1].map(hold);
        wait_until("a refusal", || server.get("/healthz").status == status);
        let answer = server.get("/healthz");
        assert_eq!((answer.status, answer.field("retry-after")), (status, Some("1")));
        assert_eq!(answer.field("content-type"), Some("application/problem+json"));
        assert_eq!(answer.field("access-control-allow-origin"), Some("https://example.org"));
        assert_eq!(answer.field("x-content-type-options"), Some("nosniff"));
        drop(held);
        wait_until("an answer", || server.get("/healthz").status == 200);
    };
    refused(&["--max-connections", "2"], 503);
    refused(&["--max-connections-per-ip", "2"], 429);
    let server = serve(&directory, &["--max-in-flight", "0", "--cors", "*"]);
    let answer = server.get("/api/v1/pi/search?q=1");
    assert_eq!((answer.status, answer.field("retry-after")), (503, Some("1")));
    assert_eq!(answer.field("access-control-allow-origin"), Some("*"));
    let server = serve(&directory, &["--request-timeout", "0.001", "--max-results", "100000000"]);
    assert_eq!(server.get("/api/v1/pi/all?q=1").status, 200);
}

#[test]
fn connections_wait_if_file_descriptors_run_out() {
    let directory = indexes();
    let mut command = Command::new("bash");
    command.args(["-c", &format!("ulimit -n 24; exec '{COMB}' \"$@\""), "bash"]);
    let mut server = Server::start_as(command, directory.path(), &["pi.comb"]);
    let held: Vec<TcpStream> = (0..40).map(|_| server.connect()).collect();
    let message = server.message();
    assert!(message.starts_with("comb: cannot accept connections: too many open files"), "{message}");
    drop(held);
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn a_rebuilt_index_is_reopened_without_a_failed_request() {
    let directory = directory_with(&[("pi", PI)]);
    build(&directory, "pi");
    let server = Server::start(directory.path(), &["pi.comb"]);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let ask = || {
            let mut asked = 0;
            while !is_done.load(Ordering::Relaxed) {
                let answer = server.get("/api/v1/pi/search?q=14159");
                assert_eq!((answer.status, &answer.json()["count"]), (200, &json!(1)), "{answer:?}");
                asked += 1;
            }
            asked
        };
        let clients = [0, 1, 2].map(|_| scope.spawn(ask));
        for length in (50..90).rev() {
            fs::write(directory.at("pi"), &PI[..length]).expect("a file");
            build(&directory, "pi");
            server.signal("HUP");
            wait_until("the new index", || {
                server.get("/api/v1/indexes").json()["indexes"][0]["symbols"] == length
            });
        }
        is_done.store(true, Ordering::Relaxed);
        assert!(clients.map(|client| client.join().expect("no failed request")).iter().sum::<u32>() > 40);
    });
}

#[test]
fn a_truncated_index_is_unavailable_until_it_is_replaced() {
    let directory = indexes();
    let mut server = serve(&directory, &[]);
    let path = directory.at("pi.comb");
    let whole = fs::read(&path).expect("an index");
    fs::OpenOptions::new().write(true).open(&path).expect("the file").set_len(100).expect("cut off");
    let answer = server.get("/api/v1/pi/search?q=14159");
    assert_eq!(
        (answer.status, answer.json()["detail"].as_str()),
        (503, Some("Index unavailable or corrupt."))
    );
    assert_eq!(server.get("/healthz").status, 503);
    assert_eq!(server.get("/api/v1/text/search?q=fish").status, 200);
    server.signal("HUP");
    let message = server.message();
    assert!(message.contains("index truncated: 100 bytes instead of"), "{message}");
    fs::write(directory.at("new"), whole).expect("a file");
    fs::rename(directory.at("new"), path).expect("in its place");
    server.signal("HUP");
    wait_until("the whole index", || server.get("/healthz").status == 200);
    assert_eq!(server.get("/api/v1/pi/search?q=14159").json()["position"], 1);
}

#[test]
fn a_signal_stops_the_server_after_the_requests_in_flight() {
    let directory = indexes();
    for signal in ["TERM", "INT"] {
        let mut server = serve(&directory, &["--shutdown-timeout", "5"]);
        let mut idle = server.connect();
        idle.write_all(HEALTH).expect("sent");
        assert_eq!(server.get("/healthz").status, 200);
        server.signal(signal);
        assert_eq!(Answered::read(&mut idle).status, 200);
        assert_eq!(server.child.wait().expect("its end").code(), Some(0));
        assert!(TcpStream::connect(server.address).is_err());
    }
}

#[test]
fn requests_are_logged_for_comb_top() {
    let directory = indexes();
    let mut server = serve(&directory, &["--access-log", "log"]);
    for _ in 0..3 {
        server.get_with("/api/v1/pi/count?q=1", "User-Agent: a \"b\"");
    }
    server.get("/nix");
    server.stop();
    let log = directory.read("log");
    let first = log.lines().next().expect("a line");
    assert!(first.starts_with("127.0.0.1 - - ["), "{first}");
    assert!(
        first.ends_with("\"GET /api/v1/pi/count?q=1 HTTP/1.1\" 200 38 \"-\" \"a \\x22b\\x22\""),
        "{first}"
    );
    let (top, _, _) = run(program(COMB, directory.path()).args(["top", "-f", "7", "log"]));
    assert_eq!(top, "3 /api/v1/pi/count?q=1\n1 /nix\n");
}

#[test]
fn invalid_arguments_are_reported() {
    let directory = indexes();
    let server = serve(&directory, &[]);
    let address = server.address.to_string();
    let invalid_host = "use a name such as comb.example.org or an address, without scheme and port";
    for (arguments, message) in [
        (
            format!("pi.comb --listen {address}"),
            format!("cannot listen on {address}: address already in use\n"),
        ),
        ("nix.comb".to_owned(), "nix.comb: no such file or directory\n".to_owned()),
        ("pi".to_owned(), "pi: not a comb index; build one with 'comb index build'\n".to_owned()),
        (
            "pi.comb pi.comb".to_owned(),
            "duplicate index name 'pi'; choose another with NAME=INDEX\n".to_owned(),
        ),
        (
            "pi.comb --access-log nix/log".to_owned(),
            "nix/log: cannot open the access log: no such file or directory\n".to_owned(),
        ),
        ("a/b=pi.comb".to_owned(), "invalid index name 'b=pi'".to_owned()),
        ("..=pi.comb".to_owned(), "invalid index name '..'".to_owned()),
        (
            "pi.comb --allow-host http://comb.example".to_owned(),
            format!("invalid host 'http://comb.example'; {invalid_host}\n"),
        ),
    ] {
        let said = directory.refuses(&format!("comb serve {arguments}"), "");
        assert!(
            said.starts_with(&format!("comb: {message}")) && said.lines().count() == 1,
            "{arguments}: {said}"
        );
    }
}

#[test]
fn comb_cgi_gives_the_same_answers() {
    let directory = indexes();
    let cgi = |method: &str, path: &str, query: &str| {
        let mut command = program(COMB, directory.path());
        command.args(["cgi", "pi.comb", "text.comb"]);
        command.env("REQUEST_METHOD", method).env("PATH_INFO", path).env("QUERY_STRING", query);
        run(&mut command).0
    };
    let body = serve(&directory, &[]).get("/api/v1/pi/search?q=26535").text();
    let head =
        format!("Status: 200\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
    assert_eq!(cgi("GET", "", "q=26535"), format!("{head}{body}"));
    assert_eq!(cgi("GET", "/api/v1/pi/search", "q=26535"), format!("{head}{body}"));
    assert_eq!(cgi("HEAD", "", "q=26535"), head);
    assert!(cgi("GET", "", "q=x").starts_with("Status: 400\r\nContent-Type: application/problem+json\r\n"));
    let refused = cgi("POST", "", "q=1");
    let has_methods = refused.contains("\r\nAllow: GET, HEAD\r\n");
    assert!(refused.starts_with("Status: 405\r\n") && has_methods, "{refused}");
    assert!(cgi("GET", "/nix", "").starts_with("Status: 404\r\n"));
    let message = "comb: no CGI request in the environment; let a web server start 'comb cgi'\n";
    directory.answers("comb cgi pi.comb", "", message, 2);
}
