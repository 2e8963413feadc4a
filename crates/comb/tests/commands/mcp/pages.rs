//! Pages of results, and the cursors between them.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::Client;
use crate::support::{Place, directory_with, write};

/// Results and the cursor of an answer.
fn page(client: &mut Client, tool: &str, arguments: &Value) -> (Vec<Value>, Option<String>, Vec<String>) {
    let answer = client.call(tool, arguments).expect("an answer").structured_content.expect("JSON");
    let results = answer["results"].as_array().expect("results").clone();
    let notes = answer["notes"].as_array().expect("notes").iter();
    let notes = notes.map(|note| note.as_str().expect("text").to_owned()).collect();
    (results, answer["cursor"].as_str().map(str::to_owned), notes)
}

/// A small generator of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// A tree of files with names that are ordered differently as paths and as bytes.
fn random_tree(numbers: &mut Numbers) -> TempDir {
    let tree = directory_with(&[]);
    for _ in 0..numbers.below(20) + 1 {
        let mut path = String::from("r");
        for _ in 0..numbers.below(3) {
            path.push_str(["/a", "/a-b", "/a.b", "/A", "/-"][numbers.below(5) as usize]);
        }
        path.push_str(["/f", "/a~", "/%41", "/é", "/x y:1@2"][numbers.below(5) as usize]);
        let lines = numbers.below(12);
        let line = |_| {
            ["static x: u8 = 1;\n", "yy\n", "fn x() { x } fn xy() {}\n", "\n", "x\r\n"]
                [numbers.below(5) as usize]
        };
        let text: String = (0..lines).map(line).collect();
        // A file is not replaced by a directory.
        if !tree.path().join(&path).ancestors().any(|path| path.is_file())
            && !tree.path().join(&path).is_dir()
        {
            write(&tree, &format!("{path}.rs"), text);
        }
    }
    tree
}

#[test]
fn pages_together_are_the_whole_result() {
    for seed in 0..25 {
        let mut numbers = Numbers(seed);
        let tree = random_tree(&mut numbers);
        let mut client = Client::start(tree.path(), &["--structured", "--threads", "2"]);
        let context = numbers.below(3);
        let calls = [
            ("files", json!({})),
            ("search", json!({"pattern": "x", "context": context})),
            ("search", json!({"pattern": "y|^$", "regex": true, "output": "files"})),
            ("search", json!({"pattern": "x", "output": "count"})),
            ("symbols", json!({})),
            ("symbols", json!({"name": "^x"})),
            ("symbols", json!({"name": "^x", "bodies": true})),
        ];
        for (tool, arguments) in calls {
            let call = |limit: u64, cursor: Option<&str>| {
                let mut arguments = arguments.clone();
                arguments["limit"] = limit.into();
                arguments["cursor"] = cursor.into();
                arguments
            };
            let (whole, end, _) = page(&mut client, tool, &call(100_000, None));
            assert_eq!(end, None);
            let (mut all, mut cursor) = (Vec::new(), None);
            loop {
                let arguments = call(1 + numbers.below(5), cursor.as_deref());
                let (results, next, notes) = page(&mut client, tool, &arguments);
                assert!(!notes.iter().any(|note| note.contains("moved")), "{notes:?}");
                all.extend(results);
                match next {
                    Some(next) => assert_ne!(cursor.replace(next.clone()), Some(next)),
                    None => break,
                }
            }
            assert_eq!(all, whole, "{seed}: {tool} {arguments}");
        }
    }
}

/// Path and line of each result of all pages of a search.
fn places(client: &mut Client, arguments: &Value) -> Vec<(String, u64)> {
    let (mut all, mut arguments) = (Vec::new(), arguments.clone());
    loop {
        let (results, next, _) = page(client, "search", &arguments);
        let path = |result: &Value| result["path"].as_str().expect("a path").to_owned();
        all.extend(results.iter().map(|result| (path(result), result["line"].as_u64().unwrap_or_default())));
        let Some(next) = next else { return all };
        arguments["cursor"] = next.into();
    }
}

/// Results of a reserved word are not sorted if they fill the page.
#[test]
fn pages_of_a_frequent_word_have_each_line_once_and_words_in_sources_first() {
    for word in ["needle", "struct"] {
        check_pages_of(word);
    }
}

fn check_pages_of(word: &str) {
    let capital = word[..1].to_uppercase() + &word[1..];
    let part = format!("{word}s\n{capital}\n{word}\n").repeat(40);
    let lines = format!("fn {word}() {{ {word}(); }}\n").repeat(9);
    let files = [
        ("README.md", &lines),
        ("docs/a.rs", &part),
        ("src/a.rs", &lines),
        ("src/b.rs", &part),
        ("src/tests/c.rs", &part),
        ("tests/a.rs", &lines),
        ("vendor/a.rs", &part),
        ("z.rs", &part),
    ];
    let files = files.map(|(path, text)| (path, text.as_str()));
    let tree = directory_with(&files);
    let mut client = Client::start(tree.path(), &["--structured"]);
    let named = ["README.md", "docs", "src", "tests/a.rs", "vendor/a.rs", "z.rs"];
    for more in [
        json!({}),
        json!({"case": "insensitive"}),
        json!({"context": 1}),
        json!({"output": "files"}),
        json!({"paths": named}),
    ] {
        for (limit, per_file) in [(7, 0), (50, 0), (1000, 0), (7, 3), (1000, 3)] {
            let mut arguments = json!({"pattern": word, "limit": limit, "per_file": per_file});
            arguments
                .as_object_mut()
                .expect("arguments")
                .extend(more.as_object().expect("arguments").clone());
            let mut ranked = places(&mut client, &arguments);
            let order: Vec<String> = ranked.iter().map(|(path, _)| path.clone()).collect();
            arguments["sort"] = "path".into();
            let mut by_path = places(&mut client, &arguments);
            ranked.sort();
            by_path.sort();
            // With whole words before others, both are listed up to the maximum.
            if per_file == 0 {
                assert_eq!(ranked, by_path, "{arguments}");
            } else {
                ranked.dedup();
                assert_eq!(ranked.len(), order.len(), "{arguments}");
            }
            let place = |path: &str| order.iter().position(|other| other == path);
            assert!(place("src/a.rs") < place("tests/a.rs"), "{arguments}: {order:?}");
            assert!(place("z.rs") < place("docs/a.rs"), "{arguments}: {order:?}");
            assert!(place("README.md") < place("vendor/a.rs"), "{arguments}: {order:?}");
        }
    }
}

/// Types of all files come before values, so that a line may come twice.
#[test]
fn pages_of_types_and_values_on_one_line_have_all_of_them() {
    let text = "struct x { int a; }; namespace n { int x; } namespace m { int x; }\n";
    for files in [&[("a.cc", text)][..], &[("a.cc", text), ("b.cc", text)]] {
        let tree = directory_with(files);
        let mut client = Client::start(tree.path(), &["--structured"]);
        let mut call = |limit: u64, cursor: Option<&str>| {
            page(&mut client, "symbols", &json!({"name": "^x$", "limit": limit, "cursor": cursor}))
        };
        let (whole, ..) = call(100, None);
        assert_eq!(whole.len(), 3 * files.len());
        let (.., notes) = call(1, None);
        assert!(notes[0].starts_with("more symbols; next page: "), "{notes:?}");
        for limit in 1..6 {
            let (mut all, mut cursor) = (Vec::new(), None);
            loop {
                let (results, next, _) = call(limit, cursor.as_deref());
                all.extend(results);
                let Some(next) = next else { break };
                cursor = Some(next);
            }
            assert_eq!(all, whole, "{limit}");
        }
    }
}

#[test]
fn pages_are_bounded_in_bytes() {
    let text = "a line of some length with x\n".repeat(200);
    let tree = directory_with(&[("a", &text), ("b", &text)]);
    let mut client = Client::start(tree.path(), &["--max-output", "1K", "--structured"]);
    let (mut lines, mut cursor) = (0, None);
    loop {
        let arguments = json!({"pattern": "x", "limit": 1000, "per_file": 0, "cursor": cursor});
        let text = client.text("search", &arguments);
        assert!(text.len() <= 1024, "{text}");
        let (results, next, _) = page(&mut client, "search", &arguments);
        lines += results.len();
        match next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(lines, 400);
}

#[test]
fn a_cursor_holds_when_the_tree_changes() {
    let tree = directory_with(&[("a", "x\nx\n"), ("c", "x\nx\n"), ("e", "x\n")]);
    let mut client = Client::start(tree.path(), &["--structured"]);
    let first = json!({"pattern": "x", "limit": 3});
    let (_, cursor, _) = page(&mut client, "search", &first);
    let next = json!({"pattern": "x", "limit": 10, "cursor": cursor});
    let mut paths = || {
        let (results, _, notes) = page(&mut client, "search", &next);
        let place =
            |result: &Value| format!("{}:{}", result["path"].as_str().expect("a path"), result["line"]);
        (results.iter().map(place).collect::<Vec<_>>(), notes)
    };
    write(&tree, "b", "x\n");
    write(&tree, "d", "x\n");
    assert_eq!(paths(), (vec!["c:2".to_owned(), "d:1".to_owned(), "e:1".to_owned()], vec![]));
    write(&tree, "c", "\nx\nx\n");
    let moved = |what: &str| vec![format!("results may have moved: c {what} since the last page")];
    let expected = ["c:2", "c:3", "d:1", "e:1"].map(str::to_owned).to_vec();
    assert_eq!(paths(), (expected, moved("has changed")));
    fs::remove_file(tree.at("c")).expect("a file");
    assert_eq!(paths(), (vec!["d:1".to_owned(), "e:1".to_owned()], moved("is gone")));
}

#[test]
fn a_cursor_reveals_nothing_outside_of_the_roots() {
    let tree = directory_with(&[("a", "x\n")]);
    let mut client = Client::start(tree.path(), &[]);
    for path in ["/etc/passwd", "../none", "/none"] {
        let text = client.text("search", &json!({"pattern": "x", "cursor": format!("{path}:1@1.1")}));
        assert!(text.contains(&format!("{path} is gone")), "{text}");
    }
}

#[test]
fn a_page_says_whether_there_is_more() {
    let tree = directory_with(&[("a", &"x\n".repeat(600)), ("b", &"x\n".repeat(600))]);
    let mut client = Client::start(tree.path(), &["--max-output", "1M"]);
    let mut last = |limit: u64| {
        let arguments = json!({"pattern": "x", "limit": limit, "per_file": 0, "max_bytes": 1_000_000});
        let text = client.text("search", &arguments);
        text.lines().last().expect("a line").split(';').next().expect("a part").to_owned()
    };
    assert_eq!(last(1), "[more lines");
    assert_eq!(last(1199), "[more lines");
    assert_eq!(last(1200), "600:x");
}

/// Paths, lines and notes are of any length.
#[test]
fn no_answer_exceeds_its_maximum_size() {
    let tree = directory_with(&[("log", &"a b c\n".repeat(99))]);
    let mut numbers = Numbers(7);
    for number in 0..30 {
        let path = format!("{}{number}.py", "d/".repeat(numbers.below(90) as usize));
        let line = "x".repeat(numbers.below(400) as usize);
        write(&tree, &path, format!("def {line}(:\n{line}\n").repeat(numbers.below(9) as usize));
    }
    let mut client = Client::start(tree.path(), &[]);
    for (tool, arguments) in [
        ("search", json!({"pattern": "x", "context": 1})),
        ("search", json!({"pattern": "x", "output": "count"})),
        ("files", json!({})),
        ("symbols", json!({})),
        ("read", json!({"path": "log"})),
        ("top", json!({"paths": ".", "limit": 1000})),
    ] {
        for max_bytes in [500, 501, 700, 1000, 2000, 16_000] {
            let (mut arguments, mut pages) = (arguments.clone(), 0);
            arguments["max_bytes"] = max_bytes.into();
            loop {
                let text = client.text(tool, &arguments);
                assert!(text.len() <= max_bytes, "{tool} {arguments}: {} bytes: {text}", text.len());
                let cursor = text.split("cursor=\"").nth(1).and_then(|rest| rest.split('"').next());
                let Some(cursor) = cursor else { break };
                arguments["cursor"] = cursor.into();
                pages += 1;
                assert!(pages < 1000, "{tool} {arguments}");
            }
        }
    }
}

/// The match at the end of a file is in no line, so that only the line before it is shown.
#[test]
fn lines_around_no_result_are_on_the_next_page() {
    let tree = directory_with(&[("a", "\n"), ("b", "y\n")]);
    let mut client = Client::start(tree.path(), &["--structured"]);
    let mut lines = |cursor: Option<String>| {
        let call = json!({"pattern": "^$", "regex": true, "multiline": true, "context": 1, "limit": 1, "cursor": cursor});
        let (results, next, _) = page(&mut client, "search", &call);
        let paths = results.iter().map(|result| result["path"].as_str().expect("a path").to_owned());
        (paths.collect::<Vec<_>>(), next)
    };
    let (first, cursor) = lines(None);
    assert_eq!((first, cursor.is_some()), (vec!["a".to_owned()], true));
    assert_eq!(lines(cursor), (vec!["b".to_owned()], None));
}
