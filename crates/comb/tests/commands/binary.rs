//! Tests of `comb grep` on files with NUL bytes: the extent of the search, and bounded memory for lines without an end.

use std::fs::File;

use tempfile::TempDir;

use crate::support::{Place, directory_with, write};

/// A directory with a file.
fn with(name: &str, text: impl AsRef<[u8]>) -> TempDir {
    let directory = directory_with(&[]);
    write(&directory, name, text);
    directory
}

/// The limit on the length of lines is lower than the number of NULs, which would exceed it as part of one line.
#[test]
fn a_line_of_nuls_is_never_in_memory_as_a_whole() {
    let text = "one\n".repeat(50_000);
    for (text, block) in [("", "256K"), ("", "3K"), (text.as_str(), "256K"), (text.as_str(), "10K")] {
        // A line of some text, eight megabytes of NULs, and a last word.
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(8 << 20, 0);
        let directory = with("t/file", [&bytes[..], b"last"].concat());
        let lines = text.lines().count();
        let count = |lines: usize| if lines == 0 { String::new() } else { format!("{lines}\n") };
        let notice = format!("binary file matches (found \"\\0\" byte around offset {})\n", text.len());
        for (flags, out) in [
            ("last t", String::new()),
            ("-c last t", String::new()),
            ("-l last t", String::new()),
            ("zzz t/file", String::new()),
            ("-l last t/file", "t/file\n".to_owned()),
            ("-c last t/file", count(1)),
            ("-c 'one|last' t/file", count(lines + 1)),
            ("-c -v last t/file", count(lines)),
            ("-c -v zzz t/file", count(lines + 1)),
            ("--binary -c last t", "t/file:1\n".to_owned()),
            ("--binary last t", format!("t/file: {notice}")),
        ] {
            let script = format!("comb grep --max-line=2M --block-size {block} -j2 {flags}");
            directory.answers(&script, &out, "", i32::from(out.is_empty()));
        }
        let grep = format!("comb grep --max-line=2M --block-size {block}");
        directory.prints(&format!("{grep} -j2 -q --binary last t"), "");
        let (out, err, code) = directory.run(&format!("{grep} last t/file"));
        assert!(out.starts_with("binary file matches (found"), "{out}");
        assert_eq!((err.as_str(), code), ("", Some(0)));
    }
}

#[test]
fn a_sparse_file_is_binary_before_its_line_has_an_end() {
    let directory = directory_with(&[]);
    File::create(directory.at("hole")).expect("a file").set_len(4 << 30).expect("a hole");
    directory.answers("comb grep one .", "", "", 1);
    directory.prints("comb grep --files-without-match one .", "");
}

/// Lines that match, with a NUL at an offset.
fn numbered(nul: usize, length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        (0..length / 10).flat_map(|number| format!("foo{number:06}\n").into_bytes()).collect();
    bytes[nul] = 0;
    bytes
}

#[test]
fn binary_detection_is_independent_of_the_block_size() {
    let directory = directory_with(&[]);
    for (name, nul) in [("a", 100_003), ("b", 65_535), ("c", 65_536), ("d", 131_050), ("e", 400_000)] {
        let bytes = numbered(nul, 500_000);
        write(&directory, name, &bytes);
        let wide = bytes.iter().flat_map(|&byte| [byte, 0]);
        write(&directory, &format!("{name}.16"), [0xFF, 0xFE].into_iter().chain(wide).collect::<Vec<u8>>());
    }
    directory.prints("for file in a b c d e; do gzip -c $file > $file.gz; done", "");
    for (flags, sizes) in [
        ("-n", "1K 30K 64K 100K 256K"),
        ("--binary", "1K 64K"),
        ("-c --include-zero", "30K 256K"),
        ("-l", "64K 100K"),
        ("-E latin1", "1K 100K"),
        ("-m900 -A2", "30K 64K"),
    ] {
        let print = |size: &str| directory.run(&format!("comb grep -z --block-size {size} {flags} foo ."));
        let expected = print("16M");
        for size in sizes.split(' ') {
            assert!(print(size) == expected, "{flags:?} {size}");
        }
    }
}

/// ripgrep searches the data that it has read before it reads a NUL: pieces of 64 KiB that begin at a line.
#[test]
fn lines_in_one_piece_with_a_nul_are_not_searched() {
    let lines = |flags: &str, nul: usize| {
        let directory = with("t/file", numbered(nul, 500_000));
        let (out, ..) = directory.run(&format!("comb grep {flags} -I foo t"));
        out.lines().count().saturating_sub(1)
    };
    for size in ["1K", "64K", "256K"] {
        let flags = format!("--block-size {size}");
        let found = [65_535, 65_536, 400_000].map(|nul| lines(&flags, nul));
        assert_eq!(found, [0, 6553, 39_318], "{size}");
        // When decoded, a piece is 8 KiB of the file, after three bytes for a possible byte order mark.
        assert_eq!(lines(&format!("{flags} -E latin1"), 30_000), (3 + 3 * 8192) / 10, "{size}");
    }
}

/// The file is not listed, and the exit status is that of a file without a match.
#[test]
fn a_file_with_a_nul_after_a_match_is_none_with_a_match() {
    let directory = with("t/file", numbered(200_000, 300_000));
    for (flags, pattern, code) in [
        ("-n", "foo000001", 0),
        ("-q", "foo000001", 0),
        ("-n", "none", 0),
        ("-m1", "foo000001", 1),
        ("-m2", "foo000001", 0),
        ("-m2", "foo000001|foo010000", 1),
        ("-a", "foo000001", 1),
        ("--binary", "foo000001", 1),
    ] {
        for size in ["1M", "64K", "3K"] {
            let files = format!("comb grep --files-without-match --block-size {size}");
            directory.answers(&format!("{files} {flags} '{pattern}' t"), "", "", code);
        }
    }
}

/// ripgrep stops at the end of the line that it does not print.
#[test]
fn bytes_searched_of_a_binary_file_are_independent_of_the_block_size() {
    let directory = with("file", numbered(205, 300));
    for size in ["1", "13", "100", "64K"] {
        for context in ["-n", "-A1"] {
            let script = format!("comb grep --stats --block-size {size} {context} 'foo00000[3-9]' file");
            let (printed, _, code) = directory.run(&script);
            assert!(printed.contains("\n40 bytes searched\n"), "{script}: {printed}");
            assert_eq!(code, Some(0));
        }
    }
}

/// A line of more than a mebibyte between others, with a NUL after its first mebibyte, and more NULs after that if `in_line` has
/// some.
fn long_line(before: &str, in_line: &str, after: &str) -> Vec<u8> {
    [before.as_bytes(), &[b'x'; 1 << 20], b"\0", &in_line.repeat(300).into_bytes(), after.as_bytes()].concat()
}

#[test]
fn a_long_line_with_nuls_is_one_line_at_any_block_size() {
    let notice = |before: usize| {
        format!("binary file matches (found \"\\0\" byte around offset {})\n", (1 << 20) + before)
    };
    let pieces = "y".repeat(999) + "\0";
    let matching = "needle".to_owned() + &pieces;
    let hay = long_line("a\nb\n", &pieces, "z\nhay\nhay\nneedle\nend\n");
    let match_inside = long_line("a\nb\n", &matching, "z\nhay\nneedle\n");
    let match_before = long_line("needle\na\nb\n", &matching, "z\nneedle");
    let at_the_end = long_line("a\nb\n", &pieces, "z");
    let cases: &[(&[u8], &str, String)] = &[
        (&hay, "-n", "6:needle\n".to_owned()),
        (&hay, "-nB2", "4-hay\n5-hay\n6:needle\n".to_owned()),
        (&hay, "-nB3", notice(4)),
        (&hay, "-nB4", format!("2-b\n{}", notice(4))),
        (&hay, "-nB9", format!("1-a\n2-b\n{}", notice(4))),
        (&hay, "--passthru", format!("a\nb\n{}", notice(4))),
        (&hay, "-vn", format!("1:a\n2:b\n{}", notice(4))),
        (&match_inside, "-n", notice(4)),
        (&match_inside, "-nB1", format!("2-b\n{}", notice(4))),
        (&match_inside, "-nB9", format!("1-a\n2-b\n{}", notice(4))),
        (&match_inside, "-vnB9", format!("1:a\n2:b\n{}", notice(4))),
        (&match_inside, "--count-matches", "301\n".to_owned()),
        (&match_inside, "-m1 --count-matches", "300\n".to_owned()),
        (&match_inside, "-c", "2\n".to_owned()),
        (&match_before, "-nA1", format!("1:needle\n2-a\n--\n{}", notice(11))),
        (&match_before, "-nA3", format!("1:needle\n2-a\n3-b\n{}", notice(11))),
        (&match_before, "-nB1", format!("1:needle\n--\n3-b\n{}", notice(11))),
        (&match_before, "-m2 --count-matches", "301\n".to_owned()),
        (&at_the_end, "-vm3 --count-matches", "3\n".to_owned()),
        (&at_the_end, "-v", format!("a\nb\n{}", notice(4))),
    ];
    for (text, flags, expected) in cases {
        let directory = with("file", text);
        for limits in
            ["-j1 --block-size=10M", "-j2 --block-size=1M", "-j3 --block-size=64K", "-j8 --block-size=3K"]
        {
            directory.prints(&format!("comb grep {limits} {flags} needle file"), expected);
        }
    }
}

/// A message holds the whole line, which blocks do not.
#[test]
fn json_of_a_long_line_with_nuls_is_the_same_at_any_block_size() {
    let directory = with("file", long_line("a\n", "needle\0", "z\nhay\n"));
    for size in ["10M", "1M", "64K", "3K"] {
        let script = format!("comb grep --json -A1 --block-size {size} needle file");
        let (out, err, code) = directory.run(&script);
        let lengths: Vec<usize> = out.lines().map(str::len).collect();
        assert_eq!((lengths.len(), err.as_str(), code), (5, "", Some(0)), "{size}");
        assert!(out.contains("needle\\u0000z\\n"), "{size}: {lengths:?}");
        assert_eq!(out.matches(r#"{"match":{"text":"needle"}"#).count(), 300, "{size}");
    }
}

/// The NUL is after the first piece that is read, and the match is in another block.
#[test]
fn with_passthru_a_match_behind_a_nul_is_reported_at_any_block_size() {
    let before = "hay\n".repeat(20_000);
    let directory = with("file", before.clone() + "x\0\n" + &before + "needle\n");
    let expected = format!("{before}binary file matches (found \"\\0\" byte around offset 80001)\n");
    for size in ["1M", "64K", "3K"] {
        let script = format!("comb grep --passthru --block-size {size} needle file");
        assert!(directory.run(&script) == (expected.clone(), String::new(), Some(0)), "{size}");
    }
}
