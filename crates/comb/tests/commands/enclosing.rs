//! `comb grep --enclosing`: the function or type around each match.

use std::fmt::Write;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Place, directory_with, write};

const C: &str = "\
#include <x.h>

static int
first(int x)
{
\tint y = x;
\treturn y + x;
}

struct point {
\tint x;
};

int second(int x)
{
\treturn 1;
}
";

const PYTHON: &str = "\
x = 0

class A:
    y = x

    def f(self):
        return x

    z = x
";

const RUST: &str = "\
mod m {
    impl T {
        fn f(&self) -> i32 {
            self.x
        }
    }
}
";

fn sources() -> TempDir {
    directory_with(&[("a.c", C), ("b.py", PYTHON), ("c.rs", RUST)])
}

fn comb(directory: &TempDir, arguments: &str) -> String {
    let (out, err, code) = directory.run(&format!("comb grep {arguments}"));
    assert_eq!((err.as_str(), code), ("", Some(0)), "{arguments}");
    out
}

#[test]
fn the_line_of_the_definition_comes_before_the_first_match_in_it() {
    let expected = "\
a.c:1:#include <x.h>
a.c:4:first(int x)
a.c:6:\tint y = x;
a.c:7:\treturn y + x;
a.c=10=struct point {
a.c:11:\tint x;
a.c:14:int second(int x)
b.py:1:x = 0
b.py=3=class A:
b.py:4:    y = x
b.py=6=    def f(self):
b.py:7:        return x
b.py:9:    z = x
c.rs=3=        fn f(&self) -> i32 {
c.rs:4:            self.x
";
    let directory = sources();
    assert_eq!(comb(&directory, "-n --enclosing '\\bx\\b'"), expected);
    assert_eq!(comb(&directory, "-n --show-function '\\bx\\b'"), expected);
    assert_eq!(
        comb(&directory, "-n --enclosing --no-enclosing 'y = '"),
        "a.c:6:\tint y = x;\nb.py:4:    y = x\n"
    );
    let expected = "a.c\n4=first(int x)\n6:\tint y = x;\n\nb.py\n3=class A:\n4:    y = x\n";
    assert_eq!(comb(&directory, "-n --heading --enclosing 'y = '"), expected);
}

#[test]
fn a_definition_that_goes_on_behind_another_one_is_printed_when_it_is_needed() {
    let directory = directory_with(&[("b.py", "class A:\n    def f(self):\n        x\n    x\n    x\n")]);
    assert_eq!(
        comb(&directory, "-In --enclosing x"),
        "2=    def f(self):\n3:        x\n1=class A:\n4:    x\n5:    x\n"
    );
    let expected = "2=    def f(self):\n3:        x\n--\n1=class A:\n--\n4:    x\n5:    x\n";
    assert_eq!(comb(&directory, "-In -A1 --enclosing x"), expected);
}

#[test]
fn definitions_among_lines_of_context_are_marked_and_others_are_separate() {
    let directory = sources();
    let expected = "5-{\n6:\tint y = x;\n7-\treturn y + x;\n";
    assert_eq!(comb(&directory, "-n -C1 --enclosing 'y = ' a.c"), format!("4=first(int x)\n{expected}"));
    assert_eq!(
        comb(&directory, "-n -C2 --enclosing 'y = ' a.c"),
        format!("4=first(int x)\n{expected}8-}}\n")
    );
    let expected =
        "4=first(int x)\n--\n7:\treturn y + x;\n8-}\n--\n14=int second(int x)\n--\n16:\treturn 1;\n17-}\n";
    assert_eq!(comb(&directory, "-n -A1 --enclosing return a.c"), expected);
    assert_eq!(
        comb(&directory, "--passthru --enclosing -n self.x c.rs | sed -n 2,4p"),
        "2-    impl T {\n3=        fn f(&self) -> i32 {\n4:            self.x\n"
    );
}

#[test]
fn the_line_has_the_fields_of_a_line_of_context() {
    let directory = sources();
    for (flags, expected) in [
        ("", "a.c=first(int x)\na.c:\tint y = x;\n"),
        ("-I -n", "4=first(int x)\n6:\tint y = x;\n"),
        ("-0 -n", "a.c\u{0}4=first(int x)\na.c\u{0}6:\tint y = x;\n"),
        ("--column", "a.c=4=first(int x)\na.c:6:6:\tint y = x;\n"),
        ("-b", "a.c=27=first(int x)\na.c:42:\tint y = x;\n"),
        ("--vimgrep", "a.c=4=first(int x)\na.c:6:6:\tint y = x;\n"),
        ("-o", "a.c=first(int x)\na.c:y = \n"),
        ("-r z", "a.c=first(int x)\na.c:\tint zx;\n"),
        ("-M 10", "a.c=[Omitted long definition line]\na.c:[Omitted long matching line]\n"),
        ("--field-match-separator + --field-context-separator -", "a.c=first(int x)\na.c+\tint y = x;\n"),
        ("-m 1", "a.c=first(int x)\na.c:\tint y = x;\n"),
        ("--color always --colors path:none --colors match:none", "a.c=first(int x)\na.c:\tint y = x;\n"),
    ] {
        let out = comb(&directory, &format!("-H --enclosing {flags} 'y = ' a.c")).replace("\u{1b}[0m", "");
        assert_eq!(out, expected, "{flags}");
    }
    assert_eq!(comb(&directory, "--enclosing --trim self.x"), "c.rs=fn f(&self) -> i32 {\nc.rs:self.x\n");
}

#[test]
fn inverted_matches_have_definitions_too() {
    let directory = sources();
    let expected = "3-static int\n4=first(int x)\n5:{\n";
    assert_eq!(comb(&directory, "--enclosing -v -n -B2 -m1 '^[^{]|^$' a.c"), expected);
}

#[test]
fn matches_across_lines_have_the_definition_around_their_first_line() {
    let directory = sources();
    let expected = "a.c=4=first(int x)\na.c:6:\tint y = x;\na.c:7:\treturn y + x;\n";
    assert_eq!(comb(&directory, "-U -n --enclosing '= x;\\n\\treturn'"), expected);
    let expected = "a.c\n4=first(int x)\n--\n6:\tint y = x;\n7:\treturn y + x;\n8-}\n";
    assert_eq!(comb(&directory, "-U -n -A1 --heading --enclosing '= x;\\n\\treturn'"), expected);
    let expected = "3-static int\n4=first(int x)\n5-{\n6:\tint y = x;\n7:\treturn y + x;\n";
    assert_eq!(comb(&directory, "-U -n -B3 --enclosing '= x;\\n\\treturn' a.c"), expected);
    let message: Value = serde_json::from_str(
        comb(&directory, "-U --json --enclosing '= x;\\n\\treturn'").lines().nth(1).expect("a match"),
    )
    .expect("JSON");
    assert_eq!(message["data"]["enclosing"]["name"], "first");
    assert_eq!(message["data"]["lines"]["text"], "\tint y = x;\n\treturn y + x;\n");
}

#[test]
fn json_has_the_definition_of_each_match() {
    let directory = sources();
    let messages: Vec<Value> = comb(&directory, "--json --enclosing -A1 'return|y = x$|include'")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let found: Vec<_> = messages.iter().filter(|message| message["type"] == "match").collect();
    let around: Vec<Value> = found.iter().map(|message| message["data"]["enclosing"].clone()).collect();
    let function = |name: &str, line, end_line, text: &str| json!({"kind": "function", "name": name, "scope": null, "line": line, "end_line": end_line, "lines": {"text": text}});
    assert_eq!(
        around,
        [
            Value::Null,
            function("first", 4, 8, "first(int x)\n"),
            function("second", 14, 17, "int second(int x)\n"),
            json!({"kind": "class", "name": "A", "scope": null, "line": 3, "end_line": 9, "lines": {"text": "class A:\n"}}),
            json!({"kind": "method", "name": "f", "scope": "A", "line": 6, "end_line": 7, "lines": {"text": "    def f(self):\n"}}),
        ]
    );
    assert!(
        messages
            .iter()
            .all(|message| message["type"] == "match" || message["data"].get("enclosing").is_none())
    );
    assert!(!comb(&directory, "--json return").contains("enclosing"));
}

#[test]
fn other_modes_unknown_languages_and_standard_input_are_as_without_the_flag() {
    let directory = sources();
    write(&directory, "notes.txt", C);
    for flags in [
        "-c x",
        "-l x",
        "--count-matches x",
        "--files-without-match y",
        "--files",
        "-n x notes.txt",
        "-n x < a.c",
    ] {
        assert_eq!(comb(&directory, &format!("--enclosing {flags}")), comb(&directory, flags), "{flags}");
    }
    assert_eq!(comb(&directory, "--enclosing -q x"), "");
}

#[test]
fn definitions_are_found_in_decoded_text() {
    let directory = directory_with(&[]);
    let bytes: Vec<u8> = format!("\u{feff}{C}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    write(&directory, "wide.c", bytes);
    write(&directory, "marked.c", format!("\u{feff}{C}"));
    write(&directory, "crlf.c", C.replace('\n', "\r\n"));
    directory.run("tail -c +4 marked.c | gzip > packed.c.gz");
    write(&directory, "new.c.br", [&[0x8f, 0x41, 0x80], C.as_bytes(), &[0x03]].concat());
    let lines = "4=first(int x)\n6:\tint y = x;\n";
    for name in ["wide.c", "marked.c", "packed.c.gz", "new.c.br"] {
        assert_eq!(comb(&directory, &format!("-nz --enclosing 'y = ' {name}")), lines, "{name}");
    }
    assert_eq!(comb(&directory, "-n --enclosing 'y = ' crlf.c"), lines.replace('\n', "\r\n"));
}

/// Functions of C, each with a match, in a file of many blocks.
fn large(directory: &TempDir) {
    let mut text = String::new();
    for number in 0..6000 {
        let _ =
            write!(text, "int function_{number}(void)\n{{\n\tcall({number});\n\treturn {number};\n}}\n\n");
    }
    write(directory, "large.c", &text);
    for number in 0..20 {
        write(directory, &format!("d{}/{number}.py", number % 3), PYTHON);
    }
}

#[test]
fn the_output_is_the_same_at_any_number_of_threads_and_size_of_blocks() {
    let directory = directory_with(&[]);
    large(&directory);
    for flags in ["-n 'return .*7|x'", "-C1 --heading 'call.*99'", "-b -o -v 'r|x'", "--json 'return .*77|x'"]
    {
        let search = |threads, block| {
            let line = format!("--enclosing {flags} -j {threads} --block-size {block} | grep -v elapsed");
            comb(&directory, &line)
        };
        let one = search(1, "256K");
        assert!(one.contains("int function_"), "{flags}");
        for (threads, block) in [(1, "1"), (2, "1000"), (3, "64K"), (8, "1"), (64, "1000")] {
            assert_eq!(search(threads, block), one, "{flags} {threads} {block}");
        }
    }
}
