//! Tests of `comb pi`, `comb index` and `comb find` as commands.

use std::fs;

use crate::support::server::Server;
use crate::support::{COMB, Place, directory_with, write};

const DIGITS: &str =
    "1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679";
const POEM: &str = "one fish\ntwo fish\r\nred fish\nblue fish";

#[test]
fn digits_of_pi_are_printed_and_packed() {
    let directory = directory_with(&[]);
    directory.prints("comb pi 50", &format!("{}\n", &DIGITS[..50]));
    directory.prints("comb pi 0", "\n");
    directory.prints("comb pi 5 --packed | od -An -tx1", " 14 15 90\n");
    // Digits 991 to 1,000, 9,991 to 10,000 and 999,991 to 1,000,000.
    for (digits, last) in [("1k", "2164201989\n"), ("10_000", "5256375678\n"), ("1M", "5779458151\n")] {
        directory.prints(&format!("comb pi {digits} -w 2 | tail -c 11"), last);
    }
    directory.prints("comb pi 100 -o pi && cat pi", &format!("{DIGITS}\n"));
    for (arguments, message) in [
        ("3 -o /dev/full", "comb: /dev/full: cannot write: no space left on device\n"),
        ("3 -o nix/pi", "comb: nix/pi: cannot write: no such file or directory\n"),
        ("8G", "comb: 8,000,000,000 digits take 144 GB of memory, and "),
    ] {
        let (_, said, code) = directory.run(&format!("comb pi {arguments}"));
        assert!(said.starts_with(message) && code == Some(2), "{said}");
    }
    directory.refuses("comb pi many", "expected a number of digits, such as 1000, 20M or 1e6");
}

#[test]
fn occurrences_are_printed_with_their_position() {
    let directory = directory_with(&[("pi", DIGITS), ("poem", POEM)]);
    assert_eq!(directory.run("comb index build pi && comb index build poem -o poem.index").2, Some(0));
    for (arguments, out, code) in [
        ("pi.comb 26535", "6:141592653589793238462643383279\n", 0),
        ("pi.comb 79 -C 2", "13:897932\n", 0),
        ("pi.comb 79 -C 0 --from 14", "29:79\n", 0),
        ("pi.comb 79 -C 0 --before 29", "13:79\n", 0),
        ("pi.comb 79 -C 0 --all", "13:79\n29:79\n99:79\n", 0),
        ("pi.comb 79 -C 0 --all --limit 2 --from 14", "29:79\n99:79\n", 0),
        ("pi.comb 79 --count", "3\n", 0),
        ("pi.comb 000", "", 1),
        ("pi.comb 000 --count", "0\n", 1),
        ("pi.comb 79 --from 101", "", 1),
        ("poem.index fish --all", "4:1:5:one fish\n13:2:5:two fish\n23:3:5:red fish\n33:4:6:blue fish\n", 0),
        ("poem.index fish -C 1 --from 5", "13:2:5: fish\n", 0),
        ("poem.index 79 --count --json", "{\"pattern\":\"79\",\"count\":0}\n", 1),
        (
            "poem.index fish --color always -C 2",
            "\u{1b}[32m4\u{1b}[0m:\u{1b}[32m1\u{1b}[0m:\u{1b}[32m5\u{1b}[0m:e \u{1b}[1m\u{1b}[31mfish\u{1b}[0m\n",
            0,
        ),
    ] {
        directory.answers(&format!("comb find {arguments}"), out, "", code);
    }
    directory.prints(
        "comb find pi.comb 535 --json --context 3",
        "{\"pattern\":\"535\",\"from\":1,\"count\":1,\"position\":8,\"line\":null,\"column\":null,\"before\":\"926\",\
         \"match\":\"535\",\"after\":\"897\"}\n",
    );
    directory.prints("comb find pi.comb 79 --all --json | wc -l", "3\n");
}

#[test]
fn errors_are_one_line() {
    let directory = directory_with(&[("pi", DIGITS), ("three", "3.14"), ("odd", "141"), ("empty", "")]);
    let build = "for text in pi odd empty; do comb index build $text || exit; done";
    assert_eq!(directory.run(build).2, Some(0));
    let index = fs::read(directory.at("pi.comb")).expect("an index");
    write(&directory, "cut", &index[..9000]);
    for (name, at) in [("newer", 8), ("changed", 16), ("suffixes", 8192)] {
        write(&directory, name, [&index[..at], &[index[at] ^ 1], &index[at + 1..]].concat());
    }
    for (script, message) in [
        ("find pi.comb 12x", "invalid 'x' at position 3: the index contains only digits"),
        ("find pi.comb ''", "the pattern is empty"),
        ("find pi.comb 1 --from 0", "position 0 is before the start of the text; the first position is 1"),
        ("find pi.comb 1 --from 102", "position 102 is past the end of the text; the last position is 100"),
        ("find nix 1", "nix: no such file or directory"),
        ("find . 1", ".: is a directory"),
        ("find three 1", "three: not a comb index; build one with 'comb index build'"),
        ("find empty 1", "empty: not a comb index; build one with 'comb index build'"),
        ("find cut 1", "cut: index truncated: 9,000 bytes instead of 20,480; build it again"),
        (
            "find newer 1",
            "newer: unsupported index format version 0 (this comb reads version 1); build the index again",
        ),
        ("find changed 1", "changed: index corrupt: wrong checksum of the header; build it again"),
        (
            "index verify suffixes",
            "suffixes: index corrupt: wrong checksum of the suffix array; build it again",
        ),
        ("index build nix", "nix: no such file or directory"),
        ("index build /dev/null", "/dev/null: not a regular file; copy the text to one first"),
        (
            "index build three --alphabet digits",
            "three: invalid '.' at byte 1 for the alphabet digits; use --alphabet bytes for any text",
        ),
        ("index build pi -o three", "three: file exists and is not a comb index; use --force to replace it"),
        (
            "index export odd.comb --pisearch odd",
            "odd.comb: the Pi Searcher's format requires an even number of digits; build the index with one digit less",
        ),
        ("index import --pisearch nix", "nix.4.bin: no such file or directory"),
    ] {
        let said = directory.refuses(&format!("comb {script}"), "");
        // The estimate is printed before the text is read.
        let last: Vec<_> = said.lines().filter(|line| !line.contains("; the build takes ")).collect();
        assert_eq!(last, [format!("comb: {message}")], "{script}");
    }
    directory.answers("comb find empty.comb 1", "", "", 1);
    let (_, said, code) = directory.run("truncate -s 900G huge && comb index build huge");
    assert!(said.starts_with("comb: huge: building the index takes 9.66 TB of memory, and "), "{said}");
    assert_eq!(code, Some(2));
}

#[test]
fn an_index_is_described_verified_and_converted() {
    let directory = directory_with(&[("pi", DIGITS)]);
    let (_, messages, _) = directory.run("comb index build pi -w 3");
    assert!(messages.starts_with("comb: pi: 100 B; the build takes "), "{messages}");
    for part in [" of memory, at most ", "\ncomb: pi.comb: 100 digits; took ", ": reading ", "s, packing "] {
        assert!(messages.contains(part), "{messages}");
    }
    let (info, _, _) = directory.run("comb index info pi.comb");
    let begin = "alphabet       digits\nsymbols        100\nsize           20.5 kB\nversion ";
    assert!(info.starts_with(begin), "{info}");
    let (info, _, _) = directory.run("comb index info pi.comb --json");
    let info: serde_json::Value = serde_json::from_str(&info).expect("an object");
    assert_eq!((&info["symbols"], &info["sections"]["suffix_array"]), (&100.into(), &400.into()));
    directory.answers("comb index verify pi.comb", "", "comb: pi.comb: checksums match\n", 0);
    directory.answers("comb index verify pi.comb --full", "", "comb: pi.comb: index valid\n", 0);
    let converted =
        "comb index export pi.comb --pisearch b && comb index import --pisearch b -o c && cmp c pi.comb";
    let (_, messages, code) = directory.run(converted);
    assert_eq!((messages.lines().next(), code), (Some("comb: wrote b.4.bin and b.4.idx"), Some(0)));
}

/// The message that an output is one of the inputs.
fn same_file(output: &str, input: &str) -> String {
    format!("comb: {output}: same file as the input {input}; use another output\n")
}

#[test]
fn an_index_does_not_replace_its_text() {
    let directory = directory_with(&[("pi", DIGITS)]);
    directory.prints("ln -s pi link && ln pi hard && ln pi named.comb && ln -s named.comb pi.comb", "");
    for (output, force) in [("pi", ""), ("./pi", ""), ("link", ""), ("hard", "--force"), ("pi", "--force")] {
        let script = format!("comb index build pi -o {output} {force}");
        directory.answers(&script, "", &same_file(output, "pi"), 2);
    }
    // The default path of the index may lead to the text, too.
    directory.answers("comb index build pi", "", &same_file("pi.comb", "pi"), 2);
    directory.prints("cat pi hard named.comb", &DIGITS.repeat(3));
}

#[test]
fn only_files_of_the_same_kind_are_replaced_without_force() {
    let directory = directory_with(&[("pi", DIGITS), ("notes", "notes\n"), ("empty", "")]);
    let succeeds = |script: &str| assert_eq!(directory.run(script).2, Some(0), "{script}");
    let exists = |script: &str, name: &str, kind: &str| {
        let message = format!("comb: {name}: file exists{kind}; use --force to replace it\n");
        directory.answers(script, "", &message, 2);
    };
    let is_other = " and is not a comb index";
    let build = "comb index build pi -o";
    succeeds(&format!("{build} i && cp i old && {build} i && {build} empty && cmp i empty"));
    exists(&format!("{build} notes"), "notes", is_other);
    exists("ln -s notes pi.comb; comb index build pi", "pi.comb", is_other);
    let message = "comb: .: not a regular file; use another output\n";
    assert_eq!(directory.run(&format!("rm pi.comb; {build} . --force")).1, message);
    // A corrupt index is replaced without --force.
    succeeds(&format!("head -c 5000 old > i; {build} i && cmp i old"));

    let export = "comb index export i --pisearch";
    succeeds(&format!("{export} e"));
    exists(&format!("{export} e"), "e.4.bin", "");
    succeeds(&format!("{export} e --force"));
    directory.answers(&format!("ln i x.4.idx; {export} x --force"), "", &same_file("x.4.idx", "i"), 2);
    let import = "comb index import --pisearch e -o";
    exists(&format!("{import} notes"), "notes", is_other);
    let same = same_file("e.4.bin", "e.4.bin");
    directory.answers(&format!("{import} e.4.bin --force"), "", &same, 2);
    succeeds(&format!("{import} i && cmp i old"));

    let pi = "comb pi 10 -o d && comb pi 20 -o d --packed && comb pi 5 -o d && comb pi 3 -o d && cat d";
    assert_eq!(directory.run(pi).0, "141\n");
    exists("comb pi 10 -o notes", "notes", " and is not digits of pi");
    assert_eq!(directory.run("comb pi 10 -o old").2, Some(2));
    let forced = "cat notes && comb pi 3 -o /dev/stdout && comb pi 3 -o notes --force && cat notes";
    assert_eq!(directory.run(forced).0, "notes\n141\n141\n");
    succeeds(&format!("{build} notes --force && cmp notes i"));
}

/// By default, the threads of OpenMP spin while they wait: on busy cores for most of the time of a build.
#[test]
fn sorting_threads_wait_passively() {
    let directory = directory_with(&[]);
    for (setting, expected) in [("", "PASSIVE"), ("OMP_WAIT_POLICY=active", "ACTIVE")] {
        let shown = directory.run(&format!("export OMP_DISPLAY_ENV=verbose; {setting} comb --version")).1;
        assert!(shown.contains(&format!("OMP_WAIT_POLICY = '{expected}'")), "{shown}");
    }
}

/// Searches for every word of a text while a part of the suffix array is zero.
#[test]
fn a_corrupt_index_is_an_error_of_the_command_and_over_http() {
    let digits = directory_with(&[]).run("comb pi 20000").0;
    let directory = directory_with(&[("pi", digits.trim_end())]);
    assert_eq!(directory.run("comb index build pi").2, Some(0));
    let path = directory.at("pi.comb");
    let mut bytes = fs::read(&path).expect("an index");
    // The header and the packed text occupy four pages.
    let suffixes = 4 * 4096;
    bytes[suffixes + 20_000..suffixes + 60_000].fill(0);
    fs::write(&path, bytes).expect("a file");
    let server = Server::start(directory.path(), &["pi.comb"]);
    let mut errors = 0;
    for start in (0..19_990).step_by(199) {
        let pattern = &digits[start..start + 7];
        let position = digits.find(pattern).expect("in the text") + 1;
        let (out, said, code) = directory.run(&format!("comb find pi.comb {pattern} -C 0"));
        let served = server.get(&format!("/api/v1/pi/search?q={pattern}"));
        if code == Some(0) {
            assert_eq!((out, said), (format!("{position}:{pattern}\n"), String::new()));
            assert_eq!(served.json()["position"], position);
        } else {
            let message = "comb: pi.comb: index corrupt: the suffix array does not match the text\n";
            assert_eq!((&*out, &*said, code), ("", message, Some(2)));
            assert_eq!(
                (served.status, &served.json()["detail"]),
                (503, &"Index unavailable or corrupt.".into())
            );
            errors += 1;
        }
    }
    assert!((20..80).contains(&errors), "{errors} errors");
}

#[test]
fn a_killed_build_leaves_no_files() {
    // Elsewhere, its file has a name from the beginning.
    if !finecomb_sys::IS_LINUX {
        return;
    }
    let directory = directory_with(&[]);
    let build = format!("timeout -s KILL 0.4 '{COMB}' index build text");
    let killed = directory.run(&format!("yes 'one fish, two fish' | head -c 50M > text; {build}; ls -A"));
    assert_eq!(killed.0, "text\n", "{}", killed.1);
}
