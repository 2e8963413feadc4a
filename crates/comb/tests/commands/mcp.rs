//! Tests of `comb mcp`, with the client of the SDK, and with lines that no client would send.

mod client;
mod lines;
mod pages;

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use finecomb_sys::IS_LINUX;
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use self::client::Client;
use crate::support::{COMB, Place, directory_with, program, run};

const SOURCE: &str =
    "/// Adds.\npub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n\nfn main() {\n    add(1, 2);\n}\n";

/// A tree with a source, a log and an index.
fn tree() -> TempDir {
    let log = "GET /a 200\nGET /b 404\nGET /a 200\n";
    let tree = directory_with(&[("src/main.rs", SOURCE), ("notes.md", "add nothing\n"), ("log", log)]);
    let (_, messages, code) = run(program(COMB, tree.path()).args(["index", "build", "log"]));
    assert_eq!(code, Some(0), "{messages}");
    tree
}

#[test]
fn the_client_lists_tools_with_schemas() {
    let tree = tree();
    let mut client = Client::start(tree.path(), &[]);
    let tools = client.tools();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["search", "files", "symbols", "read", "find", "top", "status"]);
    for tool in &tools {
        let schema = Value::Object((*tool.input_schema).clone());
        assert!(jsonschema::meta::is_valid(&schema), "{schema}");
        assert_eq!(schema["type"], "object");
        assert!(tool.output_schema.is_none());
        assert_eq!(tool.annotations.as_ref().and_then(|hints| hints.read_only_hint), Some(true));
    }
    // They are part of every conversation.
    let length = serde_json::to_string(&tools).expect("JSON").len();
    assert!(length <= 6000, "{length} bytes");
}

#[test]
fn every_tool_answers() {
    let tree = tree();
    let mut client = Client::start(tree.path(), &[]);
    let literal = json!({"pattern": "ADD(", "case": "insensitive", "context": 1, "limit": 1});
    let more = more("more lines", &tree, "src/main.rs", "3");
    let nothing =
        "[no results]\n[no files were searched: paths, globs, types and ignore files exclude all]\n";
    for (tool, arguments, text) in [
        (
            "search",
            json!({"pattern": "add", "word": true}),
            "src/main.rs\n2:pub fn add(a: u32, b: u32) -> u32 {\n7:    add(1, 2);\nnotes.md\n1:add nothing\n",
        ),
        (
            "search",
            json!({"pattern": "add", "sort": "path", "per_file": 1}),
            "notes.md\n1:add nothing\nsrc/main.rs\n2:pub fn add(a: u32, b: u32) -> u32 {\n",
        ),
        (
            "search",
            literal,
            &format!("src/main.rs\n1-/// Adds.\n2:pub fn add(a: u32, b: u32) -> u32 {{\n3-    a + b\n{more}"),
        ),
        ("search", json!({"pattern": "add", "output": "count", "types": "rust"}), "src/main.rs:2\n"),
        ("search", json!({"pattern": "add", "output": "files", "globs": ["!*.md"]}), "src/main.rs\n"),
        (
            "search",
            json!({"pattern": "u32 .\n +a", "regex": true, "multiline": true}),
            "src/main.rs\n2:pub fn add(a: u32, b: u32) -> u32 {\n3:    a + b\n",
        ),
        (
            "search",
            json!({"pattern": "add", "record": "indent", "paths": "src/main.rs", "limit": 1}),
            &format!("src/main.rs\n2:pub fn add(a: u32, b: u32) -> u32 {{\n3-    a + b\n{more}"),
        ),
        ("files", json!({"name": "^s|md"}), "notes.md\nsrc/main.rs\n"),
        ("files", json!({"path": "src", "type": ["rust"]}), "src/main.rs\n"),
        (
            "symbols",
            json!({"name": "main", "bodies": true}),
            "src/main.rs\n6-8:fn main()\n6-fn main() {\n7-    add(1, 2);\n8-}\n",
        ),
        ("read", json!({"path": "src/main.rs", "from": "3", "to": 4}), "src/main.rs\n3:    a + b\n4:}\n"),
        (
            "read",
            json!({"path": "src/main.rs", "around": 7}),
            "src/main.rs\n6:fn main() {\n7:    add(1, 2);\n8:}\n",
        ),
        ("read", json!({"path": "notes.md", "from": 9}), "[no results]\n[the file has 1 line]\n"),
        (
            "find",
            json!({"index": "log.comb", "pattern": "/a", "context": 4}),
            "log.comb\n4:1:5:GET /a 200\n26:3:5:GET /a 200\n[2 occurrences in all]\n",
        ),
        (
            "top",
            json!({"paths": "log", "fields": "2"}),
            "2 /a\n1 /b\n# 3 records, 2 distinct keys, 2 shown\n",
        ),
        (
            "top",
            json!({"paths": "log", "fields": "2", "share": "$3 >= 400"}),
            "count  share($3 >= 400)  key\n    2              0.00  /a\n    1            100.00  /b\n# 3 records, 2 distinct keys, 2 shown\n",
        ),
        // The order of the inputs is that of the answer.
        (
            "top",
            json!({"paths": ["src/main.rs", "log"], "fields": "1", "diff": "inputs", "grep": "GET|Adds"}),
            "count  before  change  change_percent  key\n    3       0       3               -  GET\n    0       1      -1            -100  ///\n# 1 -> 3 records, 2 distinct keys, 1 new, 1 gone, 2 shown\n",
        ),
        (
            "top",
            json!({"paths": "src/main.rs", "record": "^(///|$)", "grep": "fn add[^}]+b\n"}),
            "1 /// Adds.\n# 1 record, 1 distinct key, 1 shown\n",
        ),
        ("search", json!({"pattern": "nowhere"}), "[no results]\n"),
        (
            "search",
            json!({"pattern": "nowhere|add"}),
            "[no results]\n[the pattern is literal text; regex=true makes it a regular expression]\n",
        ),
        ("search", json!({"pattern": "a", "globs": "*.none"}), nothing),
        ("symbols", json!({"name": "add"}), "src/main.rs\n2-4:pub fn add(a: u32, b: u32) -> u32\n"),
        ("symbols", json!({"name": "add", "list": "references"}), "src/main.rs\n7:add(1, 2);\n"),
        (
            "symbols",
            json!({"list": "outline", "paths": "src/main.rs"}),
            "src/main.rs\n2-4:function add(a: u32, b: u32)\n6-8:function main()\n",
        ),
    ] {
        assert_eq!(client.text(tool, &arguments), text, "{arguments}");
    }
    assert_eq!(client.error("symbols", &json!({"list": "references"})), "list=references needs a name");
    fs::write(tree.path().join("half.py"), "def add(): pass\n\ndef half(\n").expect("a file");
    let text = client.text("symbols", &json!({"name": "add", "paths": "half.py"}));
    assert_eq!(text, "half.py\n1:def add():\n[half.py:3: syntax error; definitions may be missing]\n");
}

#[test]
fn entries_for_clients_are_printed() {
    let tree = directory_with(&[]);
    let (entry, place, code) = run(program(COMB, tree.path()).args(["mcp", "--install", "cursor"]));
    let entry: Value = serde_json::from_str(&entry).expect("JSON");
    assert_eq!(entry["mcpServers"]["comb"]["args"], json!(["mcp", "${workspaceFolder}"]));
    assert_eq!(place, "comb: for .cursor/mcp.json in the project, or ~/.cursor/mcp.json\n");
    assert_eq!(code, Some(0));
}

/// The note that there is more.
fn more(what: &str, tree: &TempDir, path: &str, line: &str) -> String {
    use std::os::unix::fs::MetadataExt;
    let file = fs::metadata(tree.path().join(path)).expect("a file");
    let modified = file.mtime() as u64 * 1_000_000_000 + file.mtime_nsec() as u64;
    format!("[{what}; next page: cursor=\"{path}:{line}@{modified:x}.{:x}\"]\n", file.size())
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let line = format!("{}needle{}\n", "a".repeat(1000), "b".repeat(1000));
    let tree = directory_with(&[("long", &line)]);
    let mut client = Client::start(tree.path(), &["--max-columns", "30"]);
    let expected = format!("long\n1:…{}needle{}…\n", "a".repeat(10), "b".repeat(14));
    assert_eq!(client.text("search", &json!({"pattern": "needle"})), expected);
}

#[test]
fn answers_are_structured_on_demand() {
    let tree = tree();
    let mut client = Client::start(tree.path(), &["--structured"]);
    let tools = client.tools();
    for (name, arguments) in [
        ("search", json!({"pattern": "add", "limit": 2, "context": 1})),
        ("search", json!({"pattern": "add", "output": "count"})),
        ("files", json!({})),
        ("find", json!({"index": "log.comb", "pattern": "GET"})),
        ("top", json!({"paths": "log"})),
        ("status", json!({})),
    ] {
        let answer = client.call(name, &arguments).expect("an answer").structured_content.expect("JSON");
        let tool = tools.iter().find(|tool| tool.name == name).expect("a tool");
        let schema = Value::Object((**tool.output_schema.as_ref().expect("a schema")).clone());
        assert!(jsonschema::is_valid(&schema, &answer), "{schema} {answer}");
    }
    let answer = client.call("search", &json!({"pattern": "nothing"})).expect("an answer");
    let expected = json!({
        "results": [{"path": "notes.md", "line": 1, "text": "add nothing"}], "cursor": null, "notes": []
    });
    assert_eq!(answer.structured_content, Some(expected));
}

#[test]
fn only_files_below_the_roots_are_read() {
    let outside = directory_with(&[("secret", "add secret\n"), ("secret.comb", "")]);
    let tree = tree();
    symlink(outside.path(), tree.at("link")).expect("a link");
    symlink(outside.at("secret"), tree.at("file")).expect("a link");
    symlink(tree.at("log"), tree.at("inner")).expect("a link");
    let mut client = Client::start(tree.path(), &[]);
    let secret = outside.at("secret");
    let escape = format!("../{}/secret", outside.path().file_name().expect("a name").display());
    let names = "link link/secret link/none file .. / src/../.. ../none /none link/../../none";
    let paths = [secret.to_str().expect("text"), &escape].into_iter().chain(names.split(' '));
    for path in paths {
        for (tool, name, other) in [
            ("search", "paths", "pattern"),
            ("files", "paths", "name"),
            ("top", "paths", "fields"),
            ("find", "index", "pattern"),
            ("read", "path", "from"),
        ] {
            let reason = client.error(tool, &json!({name: path, other: "1"}));
            assert!(reason.starts_with(&format!("{path}: outside of the roots")), "{tool} {path}: {reason}");
        }
    }
    let all = client.text("search", &json!({"pattern": "add"}));
    assert!(!all.contains("secret"), "{all}");
    let inner = client.text("search", &json!({"pattern": "GET", "paths": "inner", "output": "count"}));
    assert_eq!(inner, "log:3\n", "a link to a file below the root");
    let absolute = tree.at("src/../src");
    let text = client.text("files", &json!({"paths": absolute}));
    assert_eq!(text, "src/main.rs\n");
    for path in ["none", "src/none/x"] {
        let reason = format!("{path}: no such file or directory");
        assert_eq!(client.error("files", &json!({"paths": path})), reason);
    }
}

#[test]
fn results_of_several_roots_are_in_the_order_of_the_roots() {
    let (one, two) = (directory_with(&[("b", "x\n"), ("a/c", "x\n")]), directory_with(&[("a", "x\n")]));
    let two = two.path().canonicalize().expect("a path");
    let above = tempdir().expect("a directory");
    let [first, second] = [one.path(), &two].map(|path| path.to_str().expect("text"));
    let mut client = Client::start(above.path(), &[first, second, first]);
    let expected = format!("a/c\nb\n{second}/a\n");
    for arguments in [json!({}), json!({"paths": [second, "b", ".", "a"]})] {
        assert_eq!(client.text("files", &arguments), expected);
    }
}

#[test]
fn wrong_arguments_are_told_to_the_model() {
    let tree = tree();
    let mut client = Client::start(tree.path(), &[]);
    for (tool, arguments, reason) in [
        ("search", json!({"pattern": "(", "regex": true}), "unclosed group"),
        ("search", json!({}), "missing field `pattern`"),
        ("search", json!({"pattern": 7}), "expected a string"),
        (
            "search",
            json!({"pattern": "x", "query": "y"}),
            "^unknown argument 'query'; did you mean 'pattern'? Known",
        ),
        (
            "search",
            json!({"pattern": "x", "limt": 1}),
            "^unknown argument 'limt'; did you mean 'limit'? Known",
        ),
        ("search", json!({"pattern": "x", "zzz": 1}), "^unknown argument 'zzz'; known ones are case, "),
        ("search", json!({"pattern": "x", "path": "a", "paths": "b"}), "^'paths' is given twice"),
        ("search", json!({"pattern": "x", "max_bytes": 20}), "^max_bytes: expected at least 500"),
        ("read", json!({"path": "src"}), "^src: not a file"),
        ("read", json!({"path": "log.comb"}), "^log.comb: binary file"),
        ("read", json!({"path": "src/main.rs", "around": 5}), "^src/main.rs: line 5 is in no definition"),
        ("read", json!({"path": "log", "from": 3, "to": 2}), "^from=3 is after to=2"),
        ("search", json!({"pattern": "x", "limit": -1}), "^limit: expected a whole number"),
        ("search", json!({"pattern": "x", "types": "nope"}), "^unknown file type 'nope'"),
        ("search", json!({"pattern": "x", "globs": "["}), "^--glob '['"),
        ("search", json!({"pattern": "x", "cursor": "y"}), "not a cursor"),
        ("files", json!({"name": "("}), "unclosed group"),
        ("top", json!({"paths": "log", "fields": "0"}), "invalid value '0'"),
        ("top", json!({"paths": "log", "record": "("}), "unclosed group"),
        ("top", json!({"paths": []}), "name at least one file"),
        ("find", json!({"index": "log", "pattern": "x"}), "^log: "),
        ("find", json!({"index": "src", "pattern": "x"}), "not a file"),
    ] {
        // `^` stands for the beginning.
        let told = format!("^{}", client.error(tool, &arguments));
        assert!(told.contains(reason), "{arguments}: {told}");
    }
    let refused = client.call("nothing", &json!({})).expect_err("no such tool");
    assert!(refused.contains("unknown tool 'nothing'"), "{refused}");
    let text = client.text("search", &json!({"pattern": "nothing", "paths": null}));
    assert_eq!(text, "notes.md\n1:add nothing\n");
}

/// Number of the lines on all pages of a search, each there once.
fn all_pages(client: &mut Client, arguments: &Value) -> usize {
    let (mut arguments, mut lines, mut path) = (arguments.clone(), Vec::new(), String::new());
    loop {
        let text = client.text("search", &arguments);
        for line in text.lines().filter(|line| !line.starts_with('[')) {
            match line.split_once(':') {
                Some((number, _)) => lines.push(format!("{path}:{number}")),
                None => line.clone_into(&mut path),
            }
        }
        let Some(cursor) = text.split("cursor=\"").nth(1).and_then(|rest| rest.split('"').next()) else {
            break;
        };
        arguments["cursor"] = cursor.into();
    }
    let all = lines.len();
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), all, "{arguments}");
    all
}

#[test]
fn the_body_of_a_long_definition_is_cut_and_says_where_it_goes_on() {
    let lines: String = (3..2000).map(|number| format!("    a += {number};\n")).collect();
    let tree = directory_with(&[("a.c", &format!("int\nlong_one(int a) {{\n{lines}    return a;\n}}\n"))]);
    let mut client = Client::start(tree.path(), &[]);
    let text = client.text("symbols", &json!({"name": "long_one", "bodies": true}));
    assert!(
        text.starts_with(
            "a.c\n2-2001:function int long_one(int a)\n1-int\n2-long_one(int a) {\n3-    a += 3;\n"
        ),
        "{text}"
    );
    let (_, next) = text.trim_end().rsplit_once("\n… more: read from=").expect("a place");
    assert!(
        text.contains(&format!("-    a += {};\n… more", next.parse::<u32>().expect("a line") - 1)),
        "{text}"
    );
    assert!(text.len() > 8_000 && text.len() <= 16_000, "{}", text.len());
    let rest = client.text("read", &json!({"path": "a.c", "from": next}));
    assert!(rest.starts_with(&format!("a.c\n{next}:    a += {next};\n")), "{rest}");
}

/// Calls take long in the tree, so an index is built and watched, and definitions are stored: the same answers come sooner.
#[test]
fn definitions_are_stored_in_the_index_once_calls_have_parsed_for_long() {
    if !IS_LINUX {
        return;
    }
    let function = |number| format!("int f{number}(int a) {{ return a + {number}; }}\n");
    let source: String = (0..5000).map(function).collect();
    let uses: String = (0..400).map(|number| format!("int u{number} = often({number});\n")).collect();
    let defining = format!("{uses}int often(int a) {{ return a; }}\n");
    let rare = |number: usize| format!("tree/{}/n{:02}.c", ["one", "two"][number % 2], number / 2);
    let rare: Vec<String> = (0..80).map(rare).collect();
    let mut files = vec![
        ("tree/a.c", source.as_str()),
        ("tree/b.c", "int other;\n"),
        ("tree/m.c", &uses),
        ("tree/z.c", &defining),
    ];
    files.extend(rare.iter().map(|path| (path.as_str(), "int rarely;\n")));
    let place = directory_with(&files);
    // A relative path is one of the directory in which the server was started.
    let mut client = Client::start(place.path(), &["--index-dir", "indexes", "tree"]);
    // The file that defines a frequent name comes first, whether definitions are stored or not.
    let often = json!({"pattern": "often", "limit": 2});
    let page = "z.c\n401:int often(int a) { return a; }\n1:int u0 = often(0);\n[more lines; ";
    let check_pages = |client: &mut Client| {
        let text = client.text("search", &often);
        assert!(text.starts_with(page), "{text}");
        assert_eq!(all_pages(client, &json!({"pattern": "often", "limit": 300, "per_file": 0})), 801);
        let five = json!({"pattern": "often", "limit": 3});
        assert_eq!(all_pages(client, &five), 10, "five lines of each file");
    };
    check_pages(&mut client);
    let defined = json!({"name": "f4999"});
    let expected = format!("a.c\n5000:function {}", function(4999).replace(" { return a + 4999; }", ""));
    let start = Instant::now();
    let stored = loop {
        assert_eq!(client.text("symbols", &defined), expected);
        let status = client.text("status", &json!({}));
        if status.contains(", definitions stored") {
            break status;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{status}");
    };
    assert!(stored.contains("index of 84 files, watched, "), "{stored}");
    assert_eq!(client.text("symbols", &defined), expected);
    assert!(place.path().join("indexes").is_dir() && !place.path().join("tree/indexes").exists());
    check_pages(&mut client);
    // An answer that has not all results begins with a digest.
    let text = client.text("search", &json!({"pattern": "rarely", "limit": 1}));
    let expected_page =
        "[80 files may have it, by the index: one 40, two 40]\none/n00.c\n1:int rarely;\n[more lines; ";
    assert!(text.starts_with(expected_page), "{text}");
    let text = client.text("files", &json!({"limit": 2}));
    assert!(
        text.starts_with("[84 files by the index: one 40, two 40, . 4]\na.c\nb.c\n[more files; "),
        "{text}"
    );
    assert_eq!(
        client.text("files", &json!({"limit": 2, "paths": "one", "globs": "n0[01].*"})),
        "one/n00.c\none/n01.c\n"
    );
    // Definitions of a text that has changed are its own.
    fs::write(place.path().join("tree/b.c"), "int f4999;\n").expect("room");
    assert_eq!(client.text("symbols", &defined), format!("{expected}b.c\n1:variable int f4999;\n"));
    // Whole words come first, also if they do not fill the first page of a word that many files have a part of.
    fs::create_dir(place.path().join("tree/docs")).expect("room");
    fs::write(place.path().join("tree/docs/x.md"), "seldom\n").expect("room");
    for number in 0..70 {
        fs::write(place.path().join(format!("tree/n{number:02}.c")), "int seldomly;\n").expect("room");
    }
    let text = client.text("search", &json!({"pattern": "seldom", "limit": 3}));
    let page = "[71 lines in 71 files: . 70, docs 1]\ndocs/x.md\n1:seldom\nn00.c\n1:int seldomly;\nn01.c\n1:int seldomly;\n[more lines; ";
    assert!(text.starts_with(page), "{text}");
    assert_eq!(all_pages(&mut client, &json!({"pattern": "seldom", "limit": 30})), 71);
}

/// A process does not watch the tree at first.
#[test]
fn stored_definitions_of_a_word_in_many_files_come_first_at_once() {
    let tree = directory_with(&[("tree/z.c", "int often(int a) { return a; }\n")]);
    for number in 0..501 {
        let text = format!("int u{number}(void) {{ return often({number}); }}\n");
        fs::write(tree.path().join(format!("tree/u{number}.c")), text).expect("room");
    }
    let often = json!({"pattern": "often", "limit": 1});
    let mut client = Client::start(tree.path(), &["--index-dir", "indexes", "tree"]);
    let text = client.text("search", &often);
    assert!(text.starts_with("u0.c\n") && text.contains("[definitions are not stored yet"), "{text}");
    for arguments in [&["index", "build"][..], &["symbols", "--index-update", "--quiet"]] {
        let arguments = arguments.iter().copied().chain(["--index-dir", "indexes", "tree"]);
        let (_, messages, code) = run(program(COMB, tree.path()).args(arguments));
        assert_eq!(code, Some(0), "{messages}");
    }
    let mut client = Client::start(tree.path(), &["--index-dir", "indexes", "tree"]);
    let text = client.text("search", &often);
    assert!(text.starts_with("z.c\n1:int often(int a)"), "{text}");
}
