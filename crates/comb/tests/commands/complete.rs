//! Completions, asked for as the scripts of the shells do.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::{COMB, Place, answer, directory_with, program, run};

/// Asks for the candidates for the last of some words, as a shell does.
fn ask(directory: &Path, shell: &str, words: &[&str]) -> Vec<String> {
    asked(program(COMB, directory).args(["--"]).args(words).env("COMPLETE", shell))
}

fn asked(command: &mut Command) -> Vec<String> {
    let (out, err, code) = run(command);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    out.lines().map(str::to_owned).collect()
}

/// The candidates without descriptions.
fn candidates(directory: &TempDir, words: &[&str]) -> Vec<String> {
    ask(directory.path(), "bash", words)
}

const ACCESS: &str = "192.0.2.1 - - [01/Mar/2026:00:22:48 +0000] \"GET /a HTTP/1.1\" 304 0 \"-\" \"curl\"\n";

#[test]
fn commands_and_flags_are_completed() {
    let directory = directory_with(&[("notes", "")]);
    assert_eq!(candidates(&directory, &["comb", "to"]), ["top"]);
    assert_eq!(candidates(&directory, &["comb", "index", "ver"]), ["verify"]);
    assert_eq!(candidates(&directory, &["comb", "top", "--fie"]), ["--fieldseparator", "--fields"]);
    // Flags would hide the files.
    assert_eq!(candidates(&directory, &["comb", "top", ""]), ["notes"]);
    assert_eq!(candidates(&directory, &["comb", "man", "bench", "sp"]), ["spin", "spawn"]);
    assert_eq!(candidates(&directory, &["comb", "man", "nothing", "s"]), [""; 0]);
}

#[test]
fn descriptions_are_for_shells_that_show_them() {
    let directory = directory_with(&[]);
    let described = ["top\tCount keys and print the most frequent ones"];
    for shell in ["fish", "zsh", "/usr/bin/zsh"] {
        assert_eq!(ask(directory.path(), shell, &["comb", "to"]), described, "{shell}");
    }
}

#[test]
fn the_word_at_the_cursor_need_not_be_the_last() {
    let directory = directory_with(&[("access.log", ACCESS)]);
    let mut command = program(COMB, directory.path());
    command.args(["--", "comb", "top", "-f", "stat", "access.log"]);
    assert_eq!(asked(command.env("COMPLETE", "bash").env("COMPLETE_INDEX", "3")), ["status"]);
}

#[test]
fn types_are_completed_with_those_that_are_added() {
    let directory = directory_with(&[("config", "--type-add=rustic:*.rs\n")]);
    assert_eq!(candidates(&directory, &["comb", "grep", "-t", "rus"]), ["rust"]);
    assert_eq!(candidates(&directory, &["comb", "top", "--type=rus"]), ["--type=rust"]);
    let added = ["comb", "grep", "--type-add", "ruse:*.x", "-T", "rus"];
    assert_eq!(candidates(&directory, &added), ["ruse", "rust"]);
    let mut command = program(COMB, directory.path());
    command.args(["--", "comb", "grep", "-t", "rus"]).env("COMPLETE", "bash").env("COMB_CONFIG", "config");
    assert_eq!(asked(&mut command), ["rust", "rustic"]);
}

#[test]
fn lines_that_begin_a_record_are_completed() {
    let directory = directory_with(&[("time.log", "")]);
    for command in ["top", "grep"] {
        assert_eq!(candidates(&directory, &["comb", command, "--record", ""]), ["time", "indent", "^"]);
        assert_eq!(candidates(&directory, &["comb", command, "--record=ti"]), ["--record=time"]);
    }
}

#[test]
fn fields_are_those_of_the_log_on_the_line() {
    let json = "{\"request\":{\"path\":\"/\",\"host\":\"a\"},\"ms\":1}\n";
    let directory = directory_with(&[
        ("access.log", ACCESS),
        ("a.json", json),
        ("a.csv", "id,city,people\n1,Rome,7\n2,Oslo,8\n"),
    ]);
    let words = |words: &[&str]| candidates(&directory, &[&["comb", "top"], words].concat());
    assert_eq!(words(&["access.log", "-f", "path,stat"]), ["path,status"]);
    assert_eq!(words(&["access.log", "--where", "'status == 404 && pa"]), ["status == 404 && path"]);
    assert_eq!(words(&["access.log", "--share", "'status == 404 && pa"]), ["status == 404 && path"]);
    let sorted = words(&["access.log", "--share", "status >= 500", "--sort", "sh"]);
    assert_eq!(sorted, ["share(status >= 500)"]);
    assert_eq!(words(&["access.log", "--p99", "byt"]), ["bytes"]);
    assert_eq!(words(&["access.log", "-f", "path,@"]), ["path,@file"]);
    assert_eq!(words(&["access.log", "--columns", "sta"]), ["status"]);
    assert_eq!(words(&["--diff", "access.log", "--sort", ""]), ["count", "key", "before", "change"]);
    assert_eq!(words(&["access.log", "--where", "'@"]), ["@file"]);
    assert_eq!(words(&["a.json", "-f", ".request."]), [".request.host", ".request.path"]);
    assert_eq!(words(&["a.csv", "--time", ""]), ["id", "city", "people"]);
    assert_eq!(words(&["--input=clf", "--sum", "byt"]), ["bytes"]);
    assert_eq!(
        words(&["a.csv", "a.json", "-f", ""]),
        ["id", "city", "people", "ms", "request.host", "request.path"]
    );
    directory.prints("gzip -k a.csv", "");
    assert_eq!(words(&["a.csv.gz", "a.csv", "-f", ""]), ["id", "city", "people"]);
    assert_eq!(
        words(&["a.json", "--sum", "ms", "--percentile", "99.9:ms", "--sort", ""]),
        ["count", "key", "sum(ms)", "p99.9(ms)"]
    );
}

#[test]
fn names_are_in_quotes_where_they_need_them() {
    let json = "{\"a.b\":1,\"0x\":2,\"u:v\":3,\"c d\":4,\"cat\":5,\"e\":{\"g h\":6},\"and\":7}\n";
    let directory = directory_with(&[("a.json", json), ("a.csv", "id,\"x,y\",z\n1,2,3\n4,5,6\n")]);
    let words = |words: &[&str]| candidates(&directory, &[&["comb", "top"], words].concat());
    let all = ["`0x`", "`a.b`", "`and`", "`c d`", "cat", "e.`g h`", "u:v"];
    let mut found = words(&["a.json", "--where", ""]);
    found.sort();
    assert_eq!(found, all);
    for condition in all {
        let given = ["top", "a.json", "--where", &format!("{condition} >= 1")];
        assert_eq!(run(program(COMB, directory.path()).args(given)).1, "", "{condition}");
    }
    assert_eq!(words(&["a.json", "--where", "'u:"]), ["u:v"]);
    assert_eq!(words(&["a.json", "--where", "'x == 1 || `c"]), ["x == 1 || `c d`"]);
    // What begins with the word itself comes first.
    assert_eq!(words(&["a.json", "--where", "c"]), ["cat"]);
    assert_eq!(words(&["a.json", "--where", "'e.g"]), ["e.`g h`"]);
    assert_eq!(words(&["a.json", "--where", "cat==1"]), [""; 0]);
    assert_eq!(words(&["a.json", "-f", "e,a."]), ["e,\"a.b\""]);
    assert_eq!(words(&["a.csv", "-f", "'\"x,y\",\"x,"]), ["\"x,y\",\"x,y\""]);
    for nowhere in ["'c ", "'cat == 1 c", "'cat == 1 an", "'x ~ ", "'(cat) c"] {
        assert_eq!(words(&["a.json", "--where", nowhere]), [""; 0], "{nowhere}");
    }
}

#[test]
fn flags_say_how_a_log_is_read() {
    let directory = directory_with(&[
        ("s.csv", "one;.two\n1;2\n3;4\n"),
        ("t.csv", "one\ttwo\n1\t2\n3\t4\n"),
        ("top", "{}\n"),
    ]);
    let words = |words: &[&str]| candidates(&directory, &[&["comb", "top", "--input=csv"], words].concat());
    for separator in [&["-p", "';'"][..], &["-p;"], &["--fieldseparator=;"]] {
        assert_eq!(words(&[separator, &["s.csv", "-f", "on"]].concat()), ["one"], "{separator:?}");
    }
    assert_eq!(words(&["-p", "'\\t'", "t.csv", "-f", "tw"]), ["two"]);
    assert_eq!(words(&["-p;", "s.csv", "-f", ".t"]), ["\".two\""]);
    assert_eq!(words(&["-p;", "s.csv", "--no-header", "-f", "on"]), [""; 0]);
}

#[test]
fn logs_in_the_home_directory_have_fields() {
    let directory = directory_with(&[("home/a.log", ACCESS)]);
    let mut command = program(COMB, directory.path());
    command.args(["--", "comb", "top", "~/a.log", "-f", "stat"]).env("COMPLETE", "bash");
    assert_eq!(asked(command.env("HOME", directory.at("home"))), ["status"]);
}

#[test]
fn indexes_are_completed() {
    let directory =
        directory_with(&[("a.comb", ""), ("a.txt", ""), ("sub/b.comb", ""), ("tree/code.rs", "fn a() {}")]);
    assert_eq!(candidates(&directory, &["comb", "find", ""]), ["a.comb", "sub/", "tree/"]);
    assert_eq!(candidates(&directory, &["comb", "find", "sub/"]), ["sub/b.comb"]);
    assert_eq!(candidates(&directory, &["comb", "serve", "a.comb", "name=s"]), ["name=sub/"]);
    let home = directory.at("home");
    let mut build = program(COMB, directory.path());
    let (_, err, code) = run(build.args(["index", "build", "tree", "--index-dir"]).arg(&home));
    assert_eq!(code, Some(0), "{err}");
    for words in [["update", "t"], ["drop", ""], ["info", "tr"]] {
        let mut command = program(COMB, directory.path());
        command.args(["--", "comb", "index"]).args(words).env("COMPLETE", "bash");
        let found = asked(command.env("COMB_INDEX_DIR", &home));
        assert_eq!(found.first().map(String::as_str), Some("tree"), "{words:?}");
    }
}

#[test]
fn kinds_and_languages_are_completed() {
    let directory = directory_with(&[]);
    let kinds = candidates(&directory, &["comb", "symbols", "--kind", "class,f"]);
    assert_eq!(kinds, ["class,field", "class,function"]);
    assert_eq!(candidates(&directory, &["comb", "symbols", "--lang=rus"]), ["--lang=rust"]);
}

#[test]
fn nothing_that_is_wrong_gets_into_the_prompt() {
    let directory =
        directory_with(&[("binary", "\u{0}\u{1}\u{7f}"), ("new\nline", ""), ("broken", "{\"a\":")]);
    directory.prints("mkdir folder", "");
    directory.prints("mkfifo pipe", "");
    for file in ["binary", "broken", "folder", "pipe", "nowhere"] {
        assert_eq!(candidates(&directory, &["comb", "top", file, "-f", ""]), [""; 0], "{file}");
    }
    assert_eq!(candidates(&directory, &["comb", "top", "new"]), [""; 0]);
    let cut = ["comb", "find", "path", "-C", "-abc", ""];
    for words in [&["comb", "nothing", "x"][..], &["comb"], &[], &["comb", "top", "--nothing", "'"], &cut] {
        candidates(&directory, words);
    }
    let mut command = program(COMB, directory.path());
    command.args(["--", "comb", "top", "--regex"]).env("COMPLETE", "zsh").env("COMPLETE_INDEX", "99");
    asked(&mut command);
}

#[test]
fn a_variable_of_another_program_changes_nothing() {
    let directory = directory_with(&[("log", "a\n")]);
    for value in ["", "1", "elvish"] {
        assert_eq!(
            run(program(COMB, directory.path()).args(["top", "log"]).env("COMPLETE", value)),
            answer("1 a\n", "", 0),
            "{value}"
        );
    }
}

#[test]
fn scripts_ask_the_program() {
    let directory = directory_with(&[]);
    for shell in ["bash", "fish", "zsh"] {
        let (script, _, code) = run(program(COMB, directory.path()).args(["completions", shell]));
        assert!(script.contains(&format!("COMPLETE={shell} ")) && !script.contains("NAME"), "{script}");
        assert_eq!(code, Some(0));
        let (registered, ..) = run(program(COMB, directory.path()).env("COMPLETE", shell));
        assert_eq!(registered, script);
    }
    for shell in ["elvish", "powershell"] {
        let (script, _, code) = run(program(COMB, directory.path()).args(["completions", shell]));
        assert!(script.contains("fieldseparator") && code == Some(0), "{shell}");
    }
}

#[test]
fn other_names_have_completions_of_their_own() {
    let directory = directory_with(&[("access.log", ACCESS)]);
    let named = |name: &str, words: &[&str]| {
        use std::os::unix::process::CommandExt;
        let mut command = program(COMB, directory.path());
        asked(command.arg0(name).arg("--").arg(name).args(words).env("COMPLETE", "bash"))
    };
    assert_eq!(named("rg", &["--type", "rus"]), ["rust"]);
    assert_eq!(named("tf", &["access.log", "-f", "stat"]), ["status"]);
}

/// Runs a script of a shell, with this command in its path.
fn in_shell(directory: &TempDir, shell: &[&str], arguments: &[&str]) -> Vec<String> {
    let folder = Path::new(COMB).parent().expect("a directory");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = program(shell[0], directory.path());
    asked(command.args(&shell[1..]).args(arguments).env("PATH", path).env("HOME", directory.path()))
}

/// A script for bash that completes a line and prints the candidates, one a line.
const BASH: &str = r#"
source <(comb completions bash)
COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=("${@:3}") COMP_CWORD=$(($# - 3))
_comb comb "$2" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

#[test]
fn the_script_of_bash_puts_pieces_of_words_together() {
    let directory = directory_with(&[("My log", "a\n"), ("a.comb", ""), ("~odd", "")]);
    let line = |arguments: &[&str]| in_shell(&directory, &["bash", "-c", BASH, "bash"], arguments);
    assert_eq!(line(&["comb grep --type=rus", "rus", "comb", "grep", "--type", "=", "rus"]), ["rust"]);
    assert!(line(&["comb grep --type=", "", "comb", "grep", "--type", "="]).contains(&"rust".to_owned()));
    assert_eq!(line(&["comb serve n=a.c", "a.c", "comb", "serve", "n", "=", "a.c"]), ["a.comb"]);
    assert_eq!(line(&["comb top My", "My", "comb", "top", "My"]), ["My\\ log"]);
    assert_eq!(line(&["comb top 'My", "My", "comb", "top", "'My"]), ["My log"]);
    assert_eq!(line(&["comb top \\~o", "\\~o", "comb", "top", "\\~o"]), ["\\~odd"]);
}

#[test]
fn in_quotes_no_name_of_a_log_ends_them_or_runs_a_command() {
    let directory = directory_with(&[("a.json", "{\"c d\":4,\"a$(x)`y`\\\"\":3,\"it's\":9}\n")]);
    let line = |flag: &str, word: &str| {
        let line = format!("comb top a.json {flag} {word}");
        let arguments = [&line, &word[1..], "comb", "top", "a.json", flag, word];
        in_shell(&directory, &["bash", "-c", BASH, "bash"], &arguments)
    };
    assert_eq!(line("-f", "\"a"), [r#"\"a\$(x)\`y\`\"\"\""#]);
    assert_eq!(line("-f", "'a"), [r##""a$(x)`y`""""##]);
    assert_eq!(line("-f", "'it"), [r"it'\''s"]);
    assert_eq!(line("--where", "\"c"), [r"\`c d\`"]);
    assert_eq!(line("--where", r#""x ~ \"y\" && c"#), [r#"x ~ \"y\" && \`c d\`"#]);
    assert_eq!(line("--where", "'it"), [r"`it'\''s`"]);
}

/// A script for zsh that completes a line of words and prints the candidates as they are described, one a line. What zsh
/// has only in an interactive shell is replaced.
const ZSH: &str = r#"
compdef() { :; }
_files() { print files; }
_describe() { print -rl -- "${(@P)3}"; }
source <(comb completions zsh)
words=("$@") CURRENT=$#
_comb
"#;

#[test]
fn the_script_of_zsh_describes_candidates() {
    let directory = directory_with(&[("it's.log", ACCESS)]);
    let line = |arguments: &[&str]| in_shell(&directory, &["zsh", "-f", "-c", ZSH, "zsh"], arguments);
    assert_eq!(line(&["comb", "to"]), ["top:Count keys and print the most frequent ones"]);
    assert_eq!(line(&["comb", "top", "~/it\\'s.log", "-f", "path,stat"]), ["path,status"]);
    assert_eq!(
        line(&["comb", "top", "--input", "ngi"]),
        ["nginx\\::Access log with the log_format of nginx", "nginx_error:nginx, error log"]
    );
    assert_eq!(line(&["comb", "top", "--regex", "nowhere"]), ["files"]);
}

#[test]
fn the_script_of_fish_describes_candidates() {
    let directory = directory_with(&[("it's.log", ACCESS)]);
    let script = "comb completions fish | source; complete --do-complete $argv";
    let line = |line: &str| in_shell(&directory, &["fish", "--no-config", "-c", script], &[line]);
    assert_eq!(line("comb to"), ["top\tCount keys and print the most frequent ones"]);
    for log in ["it\\'s.log", "\"it's.log\"", "~/it\\'s.log"] {
        assert_eq!(line(&format!("comb top {log} -f path,stat")), ["path,status"]);
    }
}
