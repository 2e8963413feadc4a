//! Tests of `comb pi`, `comb index` and `comb find` as commands.

use std::fs;

use crate::support::server::Server;
use crate::support::{COMB, Place, answer, directory_with};

const DIGITS: &str =
    "1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679";
const POEM: &str = "one fish\ntwo fish\r\nred fish\nblue fish";

#[test]
fn digits_of_pi_are_printed_and_packed() {
    let directory = directory_with(&[]);
    directory.prints("comb pi 50", "14159265358979323846264338327950288419716939937510\n");
    directory.prints("comb pi 0", "\n");
    directory.prints("comb pi 5 --packed | od -An -tx1", " 14 15 90\n");
    // Digits 991 to 1,000, 9,991 to 10,000 and 999,991 to 1,000,000.
    for (digits, last) in [("1k", "2164201989"), ("10_000", "5256375678"), ("1M", "5779458151")] {
        directory.prints(&format!("comb pi {digits} -w 2 | tail -c 11"), &format!("{last}\n"));
    }
    directory.prints("comb pi 100 -o pi && cat pi", &format!("{DIGITS}\n"));
    assert_eq!(
        directory.run("comb pi 3 -o /dev/full").1,
        "comb: /dev/full: cannot write: no space left on device\n"
    );
    assert_eq!(
        directory.run("comb pi 3 -o nix/pi").1,
        "comb: nix/pi: cannot write: no such file or directory\n"
    );
    let (_, message, code) = directory.run("comb pi 8G");
    assert!(
        message.starts_with("comb: 8,000,000,000 digits take 144 GB of memory, and ") && code == Some(2),
        "{message}"
    );
    assert!(directory.run("comb pi many").1.contains("expected a number of digits, such as 1000 or 20M"));
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
    let (out, _, _) = directory.run("comb find pi.comb 535 --json --context 3");
    assert_eq!(
        out,
        "{\"pattern\":\"535\",\"from\":1,\"count\":1,\"position\":8,\"line\":null,\"column\":null,\"before\":\"926\",\
         \"match\":\"535\",\"after\":\"897\"}\n"
    );
    assert_eq!(directory.run("comb find pi.comb 79 --all --json | wc -l").0.trim(), "3");
}

#[test]
fn errors_are_one_line() {
    let directory = directory_with(&[("pi", DIGITS), ("three", "3.14"), ("odd", "141"), ("empty", "")]);
    assert_eq!(directory.run("for text in pi odd empty; do comb index build $text || exit; done").2, Some(0));
    fs::write(directory.at("cut"), &fs::read(directory.at("pi.comb")).expect("an index")[..9000])
        .expect("a file");
    let header = |at: usize| {
        let mut bytes = fs::read(directory.at("pi.comb")).expect("an index");
        bytes[at] ^= 1;
        bytes
    };
    fs::write(directory.at("newer"), header(8)).expect("a file");
    fs::write(directory.at("changed"), header(16)).expect("a file");
    fs::write(directory.at("suffixes"), header(8192)).expect("a file");
    for (script, message) in [
        ("comb find pi.comb 12x", "comb: invalid 'x' at position 3: the index contains only digits"),
        ("comb find pi.comb ''", "comb: the pattern is empty"),
        (
            "comb find pi.comb 1 --from 0",
            "comb: position 0 is before the start of the text; the first position is 1",
        ),
        (
            "comb find pi.comb 1 --from 102",
            "comb: position 102 is past the end of the text; the last position is 100",
        ),
        ("comb find nix 1", "comb: nix: no such file or directory"),
        ("comb find . 1", "comb: .: is a directory"),
        ("comb find three 1", "comb: three: not a comb index; build one with 'comb index build'"),
        ("comb find empty 1", "comb: empty: not a comb index; build one with 'comb index build'"),
        ("comb find cut 1", "comb: cut: index truncated: 9,000 bytes instead of 20,480; build it again"),
        (
            "comb find newer 1",
            "comb: newer: unsupported index format version 0 (this comb reads version 1); build the index again",
        ),
        ("comb find changed 1", "comb: changed: index corrupt: wrong checksum of the header; build it again"),
        (
            "comb index verify suffixes",
            "comb: suffixes: index corrupt: wrong checksum of the suffix array; build it again",
        ),
        ("comb index build nix", "comb: nix: no such file or directory"),
        ("comb index build /dev/null", "comb: /dev/null: not a regular file; copy the text to one first"),
        (
            "comb index build three --alphabet digits",
            "comb: three: invalid '.' at byte 1 for the alphabet digits; use --alphabet bytes for any text",
        ),
        (
            "comb index build pi -o three",
            "comb: three: file exists and is not a comb index; use --force to replace it",
        ),
        (
            "comb index export odd.comb --pisearch odd",
            "comb: odd.comb: the Pi Searcher's format requires an even number of digits; build the index with one digit less",
        ),
        ("comb index import --pisearch nix", "comb: nix.4.bin: no such file or directory"),
    ] {
        let (out, said, code) = directory.run(script);
        // The estimate is printed before the text is read.
        let last = said.lines().filter(|line| !line.contains("; the build takes ")).collect::<Vec<_>>();
        assert_eq!((&*out, &*last, code), ("", &[message][..], Some(2)), "{script}");
    }
    directory.answers("comb find empty.comb 1", "", "", 1);
    let sparse = directory.run("truncate -s 900G huge && comb index build huge");
    assert!(
        sparse.1.starts_with("comb: huge: building the index takes 9.66 TB of memory, and "),
        "{}",
        sparse.1
    );
    assert_eq!(sparse.2, Some(2));
}

#[test]
fn an_index_is_described_verified_and_converted() {
    let directory = directory_with(&[("pi", DIGITS)]);
    let (_, messages, _) = directory.run("comb index build pi -w 3");
    assert!(messages.starts_with("comb: pi: 100 B; the build takes "), "{messages}");
    assert!(messages.contains(" of memory, at most "), "{messages}");
    assert!(messages.contains("\ncomb: pi.comb: 100 digits; took "), "{messages}");
    assert!(messages.contains(": reading ") && messages.contains("s, packing "), "{messages}");
    let (info, _, _) = directory.run("comb index info pi.comb");
    assert!(
        info.starts_with("alphabet       digits\nsymbols        100\nsize           20.5 kB\nversion "),
        "{info}"
    );
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

#[test]
fn an_index_does_not_replace_its_text() {
    let directory = directory_with(&[("pi", DIGITS)]);
    assert_eq!(
        directory.run("ln -s pi link && ln pi hard && ln pi named.comb && ln -s named.comb pi.comb").2,
        Some(0)
    );
    for (output, force) in [("pi", ""), ("./pi", ""), ("link", ""), ("hard", "--force"), ("pi", "--force")] {
        let message = format!("comb: {output}: same file as the input pi; use another output\n");
        directory.answers(&format!("comb index build pi -o {output} {force}"), "", &message, 2);
    }
    // The default path of the index may lead to the text, too.
    let message = "comb: pi.comb: same file as the input pi; use another output\n";
    directory.answers("comb index build pi", "", message, 2);
    assert_eq!(directory.run("cat pi hard named.comb").0, DIGITS.repeat(3));
}

#[test]
fn only_files_of_the_same_kind_are_replaced_without_force() {
    let directory = directory_with(&[("pi", DIGITS), ("notes", "notes\n"), ("empty", "")]);
    let exists = |name: &str, kind: &str| {
        let message = "use --force to replace it";
        answer("", &format!("comb: {name}: file exists{kind}; {message}\n"), 2)
    };
    let build = "comb index build pi -o";
    assert_eq!(
        directory.run(&format!("{build} i && cp i old && {build} i && {build} empty && cmp i empty")).2,
        Some(0)
    );
    assert_eq!(directory.run(&format!("{build} notes")), exists("notes", " and is not a comb index"));
    assert_eq!(
        directory.run("ln -s notes pi.comb; comb index build pi"),
        exists("pi.comb", " and is not a comb index")
    );
    assert_eq!(
        directory.run("rm pi.comb; comb index build pi -o .").1,
        "comb: .: not a regular file; use another output\n"
    );
    let device = "comb: /dev/null: not a regular file; use another output\n";
    assert_eq!(directory.run("comb index build pi -o /dev/null --force").1, device);
    // A corrupt index is replaced without --force.
    assert_eq!(directory.run(&format!("head -c 5000 old > i; {build} i && cmp i old")).2, Some(0));

    assert_eq!(directory.run("comb index export i --pisearch e").2, Some(0));
    assert_eq!(directory.run("comb index export i --pisearch e"), exists("e.4.bin", ""));
    assert_eq!(directory.run("comb index export i --pisearch e --force").2, Some(0));
    let message = "comb: x.4.idx: same file as the input i; use another output\n";
    directory.answers("ln i x.4.idx; comb index export i --pisearch x --force", "", message, 2);
    let import = "comb index import --pisearch e -o";
    assert_eq!(directory.run(&format!("{import} notes")), exists("notes", " and is not a comb index"));
    let message = "comb: e.4.bin: same file as the input e.4.bin; use another output\n";
    directory.answers(&format!("{import} e.4.bin --force"), "", message, 2);
    assert_eq!(directory.run(&format!("{import} i && cmp i old")).2, Some(0));

    assert_eq!(
        directory
            .run("comb pi 10 -o d && comb pi 20 -o d --packed && comb pi 5 -o d && comb pi 3 -o d && cat d")
            .0,
        "141\n"
    );
    assert_eq!(directory.run("comb pi 10 -o notes"), exists("notes", " and is not digits of pi"));
    assert_eq!(directory.run("comb pi 10 -o old").2, Some(2));
    assert_eq!(
        directory.run("cat notes && comb pi 3 -o /dev/stdout && comb pi 3 -o notes --force && cat notes").0,
        "notes\n141\n141\n"
    );
    assert_eq!(directory.run(&format!("{build} notes --force && cmp notes i")).2, Some(0));
}

/// By default, the threads of OpenMP spin while they wait: on busy cores for most of the time of a build.
#[test]
fn sorting_threads_wait_passively() {
    let directory = directory_with(&[]);
    let policy = |script: &str| directory.run(&format!("export OMP_DISPLAY_ENV=verbose; {script}")).1;
    let shown = policy("comb --version");
    assert!(shown.contains("OMP_WAIT_POLICY = 'PASSIVE'"), "{shown}");
    let shown = policy("OMP_WAIT_POLICY=active comb --version");
    assert!(shown.contains("OMP_WAIT_POLICY = 'ACTIVE'"), "{shown}");
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
