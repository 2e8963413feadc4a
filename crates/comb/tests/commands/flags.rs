//! Flags common to several commands have the same meaning in all of them.

use crate::support::{Place, directory_with};

const LOG: &str = "a 1\nb 2\na 3\n";

#[test]
fn all_commands_with_threads_accept_all_spellings_of_the_flag() {
    let directory = directory_with(&[("log", LOG)]);
    for threads in
        ["-j 2", "-j auto", "-j 0", "--threads=2", "--threads auto", "--width 2", "-w 2", "-w auto"]
    {
        directory.prints(&format!("comb top -f 1 {threads} log"), "2 a\n1 b\n");
        directory.prints(&format!("comb pi 5 {threads}"), "14159\n");
        let built = directory
            .run(&format!("comb index build log {threads} 2> /dev/null && comb find log.comb b {threads}"));
        assert_eq!(built.2, Some(2), "comb find has no threads: {built:?}");
        let verified = format!("comb index verify log.comb {threads} && comb find log.comb b --count");
        directory.answers(&verified, "1\n", "comb: log.comb: checksums match\n", 0);
    }
    for threads in ["-j 2", "-j auto", "-j 0", "--threads=2", "--width auto"] {
        directory.prints(&format!("comb grep {threads} b log"), "b 2\n");
    }
}

#[test]
fn w_of_grep_matches_words() {
    let directory = directory_with(&[("2", "TODO\nTODOS\n"), ("t", "TODO 2\nTODO 22\n")]);
    directory.prints("comb grep -w 2 t", "TODO 2\n");
}

#[test]
fn json_equals_format_json_and_the_last_one_takes_precedence() {
    let directory = directory_with(&[("log", LOG)]);
    directory.run("comb index build log");
    for command in
        ["top -f 1 log", "find log.comb a", "find log.comb a --count", "index info log.comb", "grep a log"]
    {
        let [text, json, short, back, again] =
            ["", "--format json", "--json", "--json --format text", "--format text --json"]
                .map(|flags| directory.run(&format!("comb {command} {flags} | sed 's/elapsed[^}}]*//g'")).0);
        assert!(json.starts_with('{') && !text.starts_with('{'), "{command}: {json}");
        assert_eq!((&short, &back, &again), (&json, &text, &json), "{command}");
    }
}

#[test]
fn the_format_of_grep_is_one_of_its_modes() {
    let directory = directory_with(&[("log", LOG)]);
    for (flags, expected) in [
        ("--format json -l", "log\n"),
        ("--json -c", "2\n"),
        ("-l --format text", "log\n"),
        ("--format json --no-json", "a 1\na 3\n"),
    ] {
        directory.prints(&format!("comb grep a log {flags}"), expected);
    }
    assert!(directory.run("comb grep a log -l --format json").0.starts_with("{\"type\":\"begin\""));
}

#[test]
fn all_commands_accept_color() {
    let directory = directory_with(&[("log", LOG)]);
    for command in
        ["top nix", "grep a nix", "find nix a", "index info nix", "bench spin --from-json nix", "serve nix"]
    {
        for form in ["comb COMMAND --color=always", "comb --color=always COMMAND"] {
            let (_, message, _) = directory.run(&form.replace("COMMAND", command));
            assert!(
                message.starts_with("\u{1b}[1m\u{1b}[31mcomb:\u{1b}[0m nix: "),
                "{form} {command}: {message:?}"
            );
        }
        let (_, message, _) = directory.run(&format!("comb {command} --color never"));
        assert!(message.starts_with("comb: nix: "), "{command}: {message:?}");
    }
    assert_eq!(
        directory.run("comb --color=always grep 1 log").0,
        "a \u{1b}[0m\u{1b}[1m\u{1b}[31m1\u{1b}[0m\n"
    );
    assert_eq!(directory.run("comb --color=always grep --nocolor 1 log").0, "a 1\n");
}
