//! Output on a terminal, which `script` of util-linux provides.

use std::collections::HashSet;
use std::fs;
use std::io::Write;

use tempfile::TempDir;

use crate::pager::shown;
use crate::profile::{is_shown, on_terminal};
use crate::support::{COMB, Place, directory_with, wait_until};

/// Characters that a terminal obeys, of C0, C1 and for the direction of text.
const CONTROLS: &str = "a\x1b[2J\n\u{9b}31m\n\u{202e}exe\n";

/// Lines that a terminal of this width shows for a shell command.
fn screen(directory: &TempDir, columns: usize, line: &str) -> String {
    shown(directory, &format!("stty cols {columns} rows 24; {line}"))
}

#[test]
fn control_characters_in_keys_are_shown_on_a_terminal_and_sent_to_a_pipe() {
    let directory = directory_with(&[("log", CONTROLS)]);
    for (flags, expected) in [
        ("", "1 a\\u{1b}[2J\n1 \\u{9b}31m\n1 \\u{202e}exe\n"),
        (
            "--percent",
            "count  percent  key\n    1    33.33  a\\u{1b}[2J\n    1    33.33  \\u{9b}31m\n    1    33.33  \\u{202e}exe\n",
        ),
        ("--format csv", "count,key\n1,a\\u{1b}[2J\n1,\\u{9b}31m\n1,\\u{202e}exe\n"),
        ("--format tsv", "count\tkey\n1\ta\\u{1b}[2J\n1\t\\u{9b}31m\n1\t\\u{202e}exe\n"),
    ] {
        assert_eq!(screen(&directory, 80, &format!("comb top {flags} log")), expected, "{flags}");
    }
    let json = screen(&directory, 80, "comb top --json log");
    for key in ["a\\u001b[2J", "\\u009b31m", "\\u202eexe"] {
        assert!(json.contains(&format!("\"key\": \"{key}\"")), "{json}");
    }
    for flags in [
        "--sample",
        "--overview",
        "--overview --json",
        "--overview --format markdown",
        "--live",
        "--each -e '.*'",
    ] {
        let shown = screen(&directory, 80, &format!("comb top {flags} log"));
        assert!(!shown.is_empty(), "{flags}");
        for control in ["\x1b[2J", "\u{9b}", "\u{202e}"] {
            assert!(!shown.contains(control), "{flags}: {shown:?}");
        }
    }
    directory.prints("comb top log | cat", "1 a\x1b[2J\n1 \u{9b}31m\n1 \u{202e}exe\n");
    directory.prints("comb top --format csv log", "count,key\n1,a\x1b[2J\n1,\u{9b}31m\n1,\u{202e}exe\n");
}

#[test]
fn control_characters_in_messages_and_names_are_shown() {
    let directory = directory_with(&[("a\x1b[2J.csv", "x\u{9b},b\n1,2\n"), ("log", "a\x1b[31m b\nc\n")]);
    let (_, notes, _) =
        directory.run("comb top -f 2 log; comb top -f $'y\\e[2J' --input csv *.csv; comb top $'no\\e[2J'");
    assert!(notes.contains("log:2: c") && notes.contains("no\\u{1b}[2J"), "{notes}");
    assert!(!notes.contains('\x1b') && !notes.contains('\u{9b}'), "{notes}");
    let name = screen(&directory, 80, "comb top --input csv -f $(printf 'x\\302\\233'),b --percent *.csv");
    assert_eq!(name, "count  percent  x\\u{9b}  b\n    1   100.00  1        2\n");
}

#[test]
fn names_of_files_are_safe_in_a_search_on_a_terminal() {
    let directory = directory_with(&[("n\x1b[2J\u{202e}", "one \x1b[32mtwo\n")]);
    let name = "n\\u{1b}[2J\\u{202e}";
    for (flags, expected) in [
        ("one", format!("{name}\n1:one \x1b[32mtwo\n")),
        ("--no-heading one", format!("{name}:1:one \x1b[32mtwo\n")),
        ("-c one", format!("{name}:1\n")),
        ("-l one", format!("{name}\n")),
        ("--files", format!("{name}\n")),
    ] {
        assert_eq!(
            screen(&directory, 80, &format!("cd . && comb grep --glob 'n*' {flags}")),
            expected,
            "{flags}"
        );
    }
    directory.prints("comb grep --files --glob 'n*'", "n\x1b[2J\u{202e}\n");
}

#[test]
fn control_characters_in_sources_and_indexed_texts_are_shown_on_a_terminal() {
    let directory = directory_with(&[
        ("a\x1b[2J.js", "function f(a = \"\x1b[31m\") {}\n"),
        ("t", "one \x1b[2Jtwo\u{9b} three\n"),
    ]);
    directory.run("comb index build t -o index");
    let name = "a\\u{1b}[2J.js";
    for (line, expected) in [
        ("comb symbols", format!("{name}:1:10\tfunction\tf\tfunction f(a = \"\\u{{1b}}[31m\")\n")),
        ("comb symbols --outline", format!("{name}\n1  function f(a = \"\\u{{1b}}[31m\")\n")),
        ("comb find index two", "8:1:9:one \\u{1b}[2Jtwo\\u{9b} three\n".to_owned()),
    ] {
        assert_eq!(screen(&directory, 80, line), expected, "{line}");
    }
    directory.prints("comb find index two | cat", "8:1:9:one \x1b[2Jtwo\u{9b} three\n");
    directory.prints("comb symbols | cut -f 1", "a\x1b[2J.js:1:10\n");
}

/// Keys of several fields, some of them long and different only in the middle.
fn long_keys(directory: &TempDir) {
    let mut text = String::new();
    for number in 0..12 {
        let agent = format!("Mozilla/5.0 (X11; Linux 日本語 number{number:03} of many) AppleWebKit/537.36");
        let line = format!(
            "2026-03-01T06:{number:02}:00Z,{agent},/path/of/a/long/name/{}/x,{}\n",
            number % 7,
            1 << (2 * number)
        );
        text.push_str(&line.repeat(number + 1));
    }
    fs::write(directory.at("log.csv"), format!("time,agent,path,bytes\n{text}")).expect("a file");
}

#[test]
fn lines_fit_the_terminal_and_different_keys_look_different() {
    let directory = directory_with(&[]);
    long_keys(&directory);
    for flags in [
        "-f agent",
        "-f agent,path",
        "-f agent --bars",
        "-f agent,path --percent --cumulative --bars",
        "-f path,agent --sum bytes --sort sum --bars",
        "-f agent --every 1m",
        "-f path,agent --every 1m",
        "-f path,agent --every 1m --series numbers -n 4",
    ] {
        for columns in [76, 80, 200] {
            let line = format!("comb top --tz UTC -n 12 --input csv {flags} log.csv");
            let shown = screen(&directory, columns, &line);
            let widths = shown.lines().map(finecomb_sys::display::width);
            assert!(widths.max() <= Some(columns), "{line}\n{shown}");
            let keys = shown.lines().filter_map(|line| Some(&line[line.find(['M', '/'])?..]));
            let keys: HashSet<&str> = keys.collect();
            let rows = if flags.contains("numbers") { 1 } else { 12 };
            assert_eq!(keys.len(), rows, "{line}\n{shown}");
        }
    }
}

#[test]
fn an_overview_fits_a_narrow_terminal() {
    let directory = directory_with(&[]);
    long_keys(&directory);
    for columns in [72, 100] {
        let shown = screen(&directory, columns, "comb top --overview --tz UTC log.csv");
        let widths = shown.lines().map(finecomb_sys::display::width);
        assert!(widths.max() <= Some(columns.min(80)), "{shown}");
        let values: HashSet<&str> =
            shown.lines().filter_map(|line| Some(&line[line.find("Moz")?..])).collect();
        assert_eq!(values.len(), 3, "{shown}");
    }
}

#[test]
fn bytes_have_units_on_a_terminal_and_all_digits_in_a_pipe() {
    let directory = directory_with(&[]);
    long_keys(&directory);
    let line = "comb top --input csv -n 1 -f path --sum bytes --sort sum log.csv";
    let shown = screen(&directory, 80, line);
    assert_eq!(shown, "count  sum(bytes)  path\n   17     50.3 MB  /path/of/a/long/name/4/x\n");
    directory.prints(line, "count  sum(bytes)  path\n   17    50332928  /path/of/a/long/name/4/x\n");
}

#[test]
fn series_chooses_numbers_or_sparklines_on_a_terminal_and_in_a_pipe() {
    let text = "2026-03-01T06:00:07Z in\n2026-03-01T06:00:09Z in\n2026-03-01T06:01:11Z out\n2026-03-01T06:02:11Z in\n";
    let directory = directory_with(&[("log", text)]);
    let numbers = "time               in  out\n2026-03-01T06:00Z   2    0\n2026-03-01T06:01Z   0    1\n2026-03-01T06:02Z   1    0\n";
    let sparklines = "2026-03-01T06:00Z to 2026-03-01T06:02Z\n\
                      count  max  at          key\n    3    2  06:00  █ ▄  in\n    1    1  06:01   █   out\n";
    let top = "comb top --every 1m --tz UTC -f 2 log --series";
    for (form, expected) in [("numbers", numbers), ("sparklines", sparklines)] {
        assert_eq!(screen(&directory, 80, &format!("{top} {form}")), expected);
        directory.prints(&format!("{top} {form}"), expected);
    }
    directory.prints("comb top --every 1m --tz UTC -f 2 log", numbers);
    let needs = "comb: --series: expected --every and a key, such as --every 1h -f 1, in text without measures and --tail";
    for flags in
        ["-f 2", "--every 1m", "--every 1m -f 2 --json", "--every 1m -f 2 --sum 1", "--every 1m -f 2 --tail"]
    {
        directory.refuses(&format!("comb top --series numbers {flags} log"), needs);
    }
    let refused = "comb top --every 1m -f 2 --save-counts - log | comb top --merge --json --series numbers";
    assert!(directory.run(refused).1.ends_with(&format!("{needs}\n")));
}

#[test]
fn a_count_of_typed_lines_says_how_it_ends() {
    let directory = directory_with(&[("log", "a\n")]);
    let note = "comb: reading standard input until Ctrl-D; to count a file, name it";
    let mut terminal = on_terminal(&directory, &format!("stty -echo; '{COMB}' top"));
    wait_until("the note", || is_shown(&directory, note));
    terminal.stdin.as_mut().expect("a pipe").write_all(b"typed\n\x04").expect("the terminal takes keys");
    wait_until("the count", || is_shown(&directory, " typed"));
    terminal.wait().expect("script ends");
    assert_eq!(screen(&directory, 80, "comb top log"), "1 a\n");
    assert_eq!(screen(&directory, 80, "comb top < log"), "1 a\n");
}
