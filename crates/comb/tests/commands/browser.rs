//! Tests of the page of `comb serve` in headless Chromium, driven by the WebDriver protocol (W3C) through ChromeDriver.
//!
//! The client is a few requests: fantoccini would add 53 packages to the build of the tests, 18 s of CPU time.
//!
//! They need Debian's packages chromium and chromium-driver, which `tests/install` installs if they are missing.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::server::Server;
use crate::support::{COMB, directory_with, program, run, wait_until};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

/// Key of element identifiers in WebDriver's answers, fixed by the standard.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// WebDriver's key codes.
const ENTER: &str = "\u{E007}";
const ESCAPE: &str = "\u{E00C}";
const SHIFT: &str = "\u{E008}";

/// Starts a driver at a free port. `None` if it ends without one.
fn start_driver() -> Option<(Child, u16)> {
    let driver =
        Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut driver = driver
        .expect("chromedriver; `apt-get install chromium chromium-driver` or `tests/install` installs it");
    let lines = BufReader::new(driver.stdout.as_mut().expect("its output")).lines();
    let port = lines.map_while(Result::ok).find_map(|line| {
        line.rsplit_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
    });
    match port {
        Some(port) => Some((driver, port)),
        None => {
            driver.wait().expect("a driver that has closed its output ends");
            None
        }
    }
}

/// A browser with one window, closed on drop.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

impl Browser {
    pub(crate) fn start() -> Self {
        Self::start_with(&json!({}))
    }

    /// Starts a browser with preferences of Chromium.
    pub(crate) fn start_with(preferences: &Value) -> Self {
        // The driver ends if another program takes its port between its two looks for a free one.
        let (driver, port) = (0..5).find_map(|_| start_driver()).expect("a driver with a port");
        let profile = tempdir().expect("a directory");
        let mut browser = Self { driver, port, session: String::new(), _profile: profile };
        let arguments: Vec<String> = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-sync",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-dev-shm-usage",
        ]
        .map(str::to_owned)
        .into_iter()
        .chain([format!("--user-data-dir={}", browser._profile.path().display())])
        .collect();
        let options = json!({"args": arguments, "prefs": preferences});
        let options = json!({"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}});
        let session = browser.command("POST", "/session", &options);
        browser.session = format!("/session/{}", session["sessionId"].as_str().expect("a session"));
        browser
    }

    /// Sends a command, and returns the value in its answer.
    pub(crate) fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).expect("sent");
        let body = body_of(stream);
        let answer: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(answer["value"].get("error"), None, "{method} {path}: {answer}");
        answer["value"].clone()
    }

    pub(crate) fn post(&self, what: &str, body: Value) -> Value {
        self.command("POST", &format!("{}{what}", self.session), &body)
    }

    pub(crate) fn open(&self, url: &str) {
        self.post("/url", json!({ "url": url }));
    }

    /// Runs a script, and returns its value.
    pub(crate) fn script(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({"script": script, "args": []}))
    }

    pub(crate) fn element(&self, id: &str) -> String {
        let found = self.post("/element", json!({"using": "css selector", "value": format!("#{id}")}));
        format!("/element/{}", found[ELEMENT].as_str().expect("an element"))
    }

    pub(crate) fn type_into(&self, id: &str, text: &str) {
        self.post(&format!("{}/value", self.element(id)), json!({ "text": text }));
    }

    /// Presses and releases keys in the focused element.
    pub(crate) fn press(&self, keys: &[&str]) {
        let down = keys.iter().map(|key| json!({"type": "keyDown", "value": key}));
        let up = keys.iter().rev().map(|key| json!({"type": "keyUp", "value": key}));
        let actions: Vec<Value> = down.chain(up).collect();
        self.post("/actions", json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}));
    }

    pub(crate) fn back(&self) {
        self.post("/back", json!({}));
    }

    pub(crate) fn value(&self, id: &str) -> String {
        let value = self.script(&format!("return document.getElementById('{id}').value"));
        value.as_str().expect("a value").to_owned()
    }

    pub(crate) fn click(&self, id: &str) {
        self.post(&format!("{}/click", self.element(id)), json!({}));
    }

    pub(crate) fn text(&self, id: &str) -> String {
        let text = self.script(&format!("return document.getElementById('{id}').textContent"));
        text.as_str().expect("a text").to_owned()
    }

    /// Waits until the query is answered and an element has the text `wanted`.
    pub(crate) fn wait_for(&self, id: &str, wanted: &str) {
        wait_until(&format!("{id} = {wanted}"), || {
            self.script("return document.body.dataset.state") != "busy" && self.text(id) == wanted
        });
    }

    /// Takes a screenshot if the environment variable COMB_SCREENSHOTS names a directory.
    pub(crate) fn picture(&self, name: &str) {
        let Some(directory) = std::env::var_os("COMB_SCREENSHOTS") else { return };
        let picture = self.command("GET", &format!("{}/screenshot", self.session), &Value::Null);
        let bytes = STANDARD.decode(picture.as_str().expect("a picture")).expect("base64");
        fs::create_dir_all(&directory).expect("a folder");
        fs::write(std::path::Path::new(&directory).join(format!("{name}.png")), bytes).expect("a file");
    }
}

/// Reads the body of an answer by its content length, as the driver does not close the connection.
fn body_of(stream: TcpStream) -> Vec<u8> {
    let mut answer = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        answer.read_line(&mut line).expect("a line of the head");
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        if line.trim_end().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    answer.read_exact(&mut body).expect("a body");
    body
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.command("DELETE", &self.session, &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

const POEM: &str = "one fish\r\ntwo fish\r\n<b>red</b> fish & \u{e4}\nblue\rfish\n";

fn serve() -> (TempDir, Server) {
    let directory = directory_with(&[("poem", POEM)]);
    for arguments in
        [&["pi", "20000", "-o", "pi"][..], &["index", "build", "pi"], &["index", "build", "poem"]]
    {
        let (_, messages, code) = run(program(COMB, directory.path()).args(arguments));
        assert_eq!(code, Some(0), "{messages}");
    }
    let server = Server::start(directory.path(), &["pi.comb", "poem.comb"]);
    (directory, server)
}

#[test]
fn an_index_of_digits_and_one_of_text_are_searched() {
    let (_directory, server) = serve();
    let browser = Browser::start();
    let home = format!("http://{}/", server.address);
    browser.open(&home);
    browser.picture("welcome");

    // Types a query key by key, and goes to the next occurrence and back.
    browser.type_into("query", "999");
    browser.wait_for("position", "762");
    browser.wait_for("match", "999");
    let first_count: u64 = browser.text("count").parse().expect("a count");
    browser.type_into("query", "999");
    browser.wait_for("match", "999999");
    browser.wait_for("count", "1");
    assert!(first_count > 10);
    assert!(browser.text("context").contains("4999999837"), "{}", browser.text("context"));
    browser.open(&format!("{home}?index=pi&q=14"));
    browser.wait_for("position", "1");
    browser.click("next");
    browser.wait_for("position", "103");
    browser.picture("next");
    browser.type_into("query", ENTER);
    browser.wait_for("position", "250");
    browser.click("previous");
    browser.wait_for("position", "103");

    // The link of the page shows the same result.
    let link = browser.script("return document.getElementById('permalink').href");
    let link = link.as_str().expect("a link").to_owned();
    assert!(
        link.starts_with(&home) && link.contains("index=pi") && link.contains("q=14") && link.contains("103"),
        "{link}"
    );
    browser.open("about:blank");
    browser.open(&link);
    browser.wait_for("position", "103");

    // On a phone, the page does not scroll sideways.
    browser.post("/window/rect", json!({"width": 375, "height": 700}));
    wait_until("a narrow window", || {
        browser.script("return innerWidth").as_u64().is_some_and(|width| width < 520)
    });
    assert_eq!(browser.script("return document.documentElement.scrollWidth <= innerWidth"), true);
    browser.picture("phone");

    // Errors are shown, and disappear with the next query.
    browser.open(&home);
    browser.type_into("query", "12x");
    wait_until("a message", || browser.text("message").contains("Invalid 'x' at position 3"));
    assert_eq!(browser.script("return document.body.dataset.state"), "error");
    browser.picture("wrong");

    // A text with lines: markup is shown as text.
    browser.open(&format!("{home}?index=poem&q=red"));
    browser.wait_for("match", "red");
    browser.wait_for("line", "3:4");
    assert!(browser.text("context").contains("<b>red</b> fish & \u{e4}"), "{}", browser.text("context"));
    assert_eq!(browser.script("return document.querySelectorAll('#context b').length"), 0);
    browser.picture("text");
}

#[test]
fn keys_work_with_any_focus() {
    let (_directory, server) = serve();
    let browser = Browser::start();
    browser.open(&format!("http://{}/?index=pi&q=14", server.address));
    browser.wait_for("position", "1");
    browser.click("next");
    browser.wait_for("position", "103");
    browser.press(&[ENTER]);
    browser.wait_for("position", "250");
    browser.press(&[SHIFT, ENTER]);
    browser.wait_for("position", "103");
    browser.press(&["/"]);
    assert_eq!(browser.script("return document.activeElement.id"), "query");
    browser.press(&[SHIFT, ENTER]);
    browser.wait_for("position", "1");
    browser.click("next");
    browser.wait_for("position", "103");
    browser.press(&[ESCAPE]);
    assert_eq!(
        (browser.value("query"), browser.script("return document.activeElement.id")),
        (String::new(), json!("query"))
    );
}

#[test]
fn a_key_is_added_after_the_text_of_the_address() {
    let (_directory, server) = serve();
    let browser = Browser::start();
    browser.open(&format!("http://{}/?index=pi&q=14", server.address));
    browser.wait_for("position", "1");
    assert_eq!(browser.script("return document.activeElement.id"), "query");
    browser.press(&["1"]);
    assert_eq!(browser.value("query"), "141");
}

#[test]
fn back_returns_to_the_previous_search() {
    let (_directory, server) = serve();
    let browser = Browser::start();
    browser.open(&format!("http://{}/", server.address));
    wait_until("the indexes", || browser.value("index") == "pi");
    browser.type_into("query", "999");
    browser.wait_for("position", "762");
    browser.click("next");
    browser.press(&[ESCAPE]);
    browser.type_into("query", "14");
    browser.wait_for("match", "14");
    browser.script("document.getElementById('index').value = 'poem'; document.getElementById('index').dispatchEvent(new Event('change'))");
    wait_until("a message", || browser.text("message").contains("does not occur in poem"));
    let searched = |index: &str, pattern: &str| {
        wait_until(&format!("{pattern} in {index}"), || {
            browser.value("index") == index && browser.value("query") == pattern
        });
    };
    browser.back();
    searched("pi", "14");
    browser.wait_for("match", "14");
    browser.back();
    searched("pi", "999");
    browser.wait_for("match", "999");
    browser.back();
    searched("pi", "");
    wait_until("the start", || browser.script("return !document.getElementById('welcome').hidden") == true);
    browser.post("/forward", json!({}));
    searched("pi", "999");
    browser.wait_for("match", "999");
}

#[test]
fn a_carriage_return_is_marked_unless_it_ends_a_line() {
    let (_directory, server) = serve();
    let browser = Browser::start();
    let marks = |pattern: &str| {
        browser.open(&format!("http://{}/?index=poem&q={pattern}", server.address));
        wait_until("an answer", || !browser.text("match").is_empty());
        browser.script("return Array.from(document.querySelectorAll('#context .control'), mark => mark.parentElement.id + mark.dataset.name)")
    };
    assert_eq!(marks("two"), json!(["after\\r"]));
    assert_eq!(marks("fish&from=42"), json!(["before\\r"]));
    browser.picture("carriage-return");
}

#[test]
fn behind_a_proxy_the_page_works_under_a_path() {
    let (_directory, server) = serve();
    let proxy = Proxy::start("/search/", &server);
    let browser = Browser::start();
    browser.open(&format!("http://{}/search/?index=pi&q=999", proxy.address));
    browser.wait_for("position", "762");
    let link = browser.script("return document.getElementById('permalink').href");
    assert!(link.as_str().is_some_and(|link| link.contains("/search/?index=pi&q=999")), "{link}");
    // The style sheet is loaded.
    assert_eq!(browser.script("return document.styleSheets.length"), 1);
}

/// A proxy that serves a server under a path.
struct Proxy {
    address: std::net::SocketAddr,
}

impl Proxy {
    fn start(path: &'static str, server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (address, upstream) = (listener.local_addr().expect("an address"), server.address);
        thread::spawn(move || {
            for mut client in listener.incoming().map_while(Result::ok) {
                thread::spawn(move || {
                    let mut request = BufReader::new(client.try_clone().expect("a copy"));
                    let (mut head, mut line) = (String::new(), String::new());
                    while request.read_line(&mut line).is_ok_and(|length| length > 2) {
                        head.push_str(&std::mem::take(&mut line));
                    }
                    // Requests outside of the path are not forwarded.
                    let Some(head) = head.strip_prefix(&format!("GET {path}")) else { return };
                    let mut upstream = TcpStream::connect(upstream).expect("a connection");
                    let head = head.replace("keep-alive", "close");
                    let _ = upstream.write_all(format!("GET /{head}\r\n").as_bytes());
                    let _ = std::io::copy(&mut upstream, &mut client);
                });
            }
        });
        Self { address }
    }
}

#[test]
fn without_scripts_the_form_searches() {
    let (_directory, server) = serve();
    let browser = Browser::start_with(&json!({"profile.managed_default_content_settings.javascript": 2}));
    let source = || {
        let source = browser.command("GET", &format!("{}/source", browser.session), &Value::Null);
        source.as_str().expect("a page").to_owned()
    };
    browser.open(&format!("http://{}/", server.address));
    browser.type_into("query", "999");
    browser.type_into("query", ENTER);
    wait_until("an answer", || source().contains("<dd>762</dd>"));
    browser.picture("without-scripts");
    let click = |text: &str| {
        let link = browser.post("/element", json!({"using": "partial link text", "value": text}));
        let link = link[ELEMENT].as_str().expect("a link").to_owned();
        browser.post(&format!("/element/{link}/click"), json!({}));
    };
    click("Next");
    wait_until("the next one", || source().contains("<dd>763</dd>"));
    click("Previous");
    wait_until("the one before", || source().contains("<dd>762</dd>"));
}

#[test]
fn the_page_reconnects_when_the_server_is_back() {
    let (directory, server) = serve();
    let browser = Browser::start();
    let address = server.address.to_string();
    browser.open(&format!("http://{address}/?index=pi&q=999"));
    browser.wait_for("position", "762");
    drop(server);
    browser.type_into("query", "9");
    wait_until("a message", || browser.text("message").contains("cannot be reached"));
    browser.picture("gone");
    let arguments = ["pi.comb", "poem.comb"];
    let server = Server::start_at(&address, Command::new(COMB), directory.path(), &arguments);
    browser.wait_for("match", "9999");
    drop(server);
}
