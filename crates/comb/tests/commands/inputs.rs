//! Tests of inputs common to `comb top` and `comb grep`: compressed files, encodings, and selection by globs, types and rules.

use crate::support::{Place, directory_with, write};

#[test]
fn compressed_files_are_decompressed() {
    let directory = directory_with(&[("a.log", "x 1\ny 2\nx 3\n"), ("b.log", "x 4\n")]);
    directory.prints("gzip -k a.log; comb top -f 1 a.log.gz", "2 x\n1 y\n");
    directory.prints("comb top -f 1 < a.log.gz", "2 x\n1 y\n");
    directory.prints("cat a.log.gz | comb top -f 1", "2 x\n1 y\n");
    directory.prints("gzip -c b.log >> a.log.gz; comb top -f 1 a.log.gz", "3 x\n1 y\n");
    directory.prints("mkdir d; mv a.log.gz d; cp b.log d; comb top -f 1 d", "4 x\n1 y\n");
    // Formats are recognised by the first bytes, not by the name.
    directory.prints("mv d/a.log.gz d/a.txt; comb top -f 1 d/a.txt", "3 x\n1 y\n");
    let (out, ..) = directory.run("comb top --no-decompress d/a.txt | wc -l");
    assert_ne!(out.trim(), "2", "the compressed bytes are counted as they are");
}

#[test]
fn the_name_of_the_input_is_a_field() {
    let access = "1.2.3.4 - - [17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 17\n";
    let directory = directory_with(&[
        ("a.log", access),
        ("d/b.log", &access.repeat(2)),
        // As CSV, it would be one record.
        ("list.csv", "name,text\nx,\"a\nb\"\n"),
        ("file.json", "{\"file\":\"own\"}\n{}\n"),
    ]);
    let top = |arguments: &str, out: &str| directory.prints(&format!("comb top {arguments}"), out);
    top("-f @file a.log d list.csv", "3 list.csv\n2 d/b.log\n1 a.log\n");
    top("-f @file < list.csv", "3 <stdin>\n");
    top(
        "-f status,@file --json d a.log | grep '\"@file\"'",
        "        \"@file\": \"d/b.log\"\n        \"@file\": \"a.log\"\n",
    );
    top("--where '@file ~ \"^d\" && status == 200' -f path a.log d", "2 /a\n");
    top(
        "-f status --distinct @file a.log d",
        "count  distinct(@file)  status\n    3                2  200\n",
    );
    top("-e 'GET (?<path>\\S+)' -f @file,path --format tsv a.log", "count\t@file\tpath\n1\ta.log\t/a\n");
    top("-f 1,3 a.log", "1 1.2.3.4 -\n");
    top("-f @file,9 a.log", "1 a.log 200\n");
    top("-f file file.json 2>/dev/null", "1 own\n");
    directory.prints(
        "tar -cf t.tar a.log d; comb top --archives -f @file t.tar",
        "2 t.tar!d/b.log\n1 t.tar!a.log\n",
    );
    for (arguments, message) in [
        (
            "-f file a.log",
            "comb: a.log: no field 'file' in this log format; @file is the name of the input; skipped\n",
        ),
        (
            "-f file --input lines a.log",
            "comb: --input lines: lines have no field 'file'; @file is the name of the input\n",
        ),
        (
            "-f fileName --input lines a.log",
            "comb: --input lines: lines have no field 'fileName'; @file is the name of the input\n",
        ),
        (
            "--time @file --every 1d a.log",
            "comb: --time: @file is the name of the input, and no field of a record\n",
        ),
        (
            "--unwrap @file -f 1 a.log",
            "comb: --unwrap: @file is the name of the input, and no field of a record\n",
        ),
        (
            "--records @file -f a file.json",
            "comb: --records: @file is the name of the input, and no field of a record\n",
        ),
    ] {
        directory.answers(&format!("comb top {arguments}"), "", message, 2);
    }
}

#[test]
fn a_byte_order_mark_at_the_start_of_a_file_is_not_part_of_a_key() {
    let marked = "\u{FEFF}a\na\n";
    let directory = directory_with(&[
        ("one", marked),
        ("two", marked),
        ("many", &(marked.to_owned() + &"a\n".repeat(200_000))),
    ]);
    directory.prints("comb top one two", "4 a\n");
    directory.prints("comb top -w 3 many", "200002 a\n");
    directory.prints("comb top < one", "2 a\n");
    directory.prints("cat one | comb top", "2 a\n");
    directory.prints("(printf '\\xef'; sleep 0.05; printf '\\xbb\\xbfa\\n') | comb top", "1 a\n");
    directory.prints("gzip -c one > one.gz; comb top one.gz", "2 a\n");
    directory.prints("bzip2 -c many > many.bz2; comb top -w 3 many.bz2", "200002 a\n");
    directory.prints("mkdir d; cp one two d; comb top d", "4 a\n");
    directory.prints("comb top --encoding none one", "1 a\n1 \u{FEFF}a\n");
}

#[test]
fn records_with_an_unclosed_quote_are_skipped() {
    let directory = directory_with(&[("log", "a \"unclosed b\nx \"y z\"\nx \"\\\"y\n")]);
    let skipped = "comb: skipped 2 of 3 records with too few fields or an unclosed quote; \
                   the first is log:1: a \"unclosed b\n";
    directory.answers("comb top -q -f -1 log", "1 y z\n", skipped, 0);
    directory.answers("comb top -q -f 1--1 log", "1 x y z\n", skipped, 0);
    directory.answers("comb top -q -f 2 log", "1 y z\n", skipped, 0);
    directory.answers("comb top -q -f 1 log", "2 x\n1 a\n", "", 0);
    let reason = "log:1: skipped: unclosed quote\n  record  a \"unclosed b\n";
    directory.answers("comb top -q -f -1 --sample=1 log", reason, "", 0);
}

#[test]
fn a_byte_that_is_not_utf8_is_a_character_to_every_expression() {
    let directory = directory_with(&[]);
    write(&directory, "log", b"/s?q=caf\xe9\n/s?q=tea\n");
    directory.prints(r"comb top log -s '\?.*$' ''", "2 /s\n");
    directory.prints(r"comb top log -g '^/s.q=[^x]{3}.?$' -f 1 | wc -l", "2\n");
    directory.prints(r"comb top log -v 'f\W' -f 1", "1 /s?q=tea\n");
    directory.prints(r"comb top log -p '(\?|f.)' -f 2", "1 q=ca\n1 q=tea\n");
    directory.prints(r"printf 'é\n' | comb top -s 'x*' -", "1 -é-\n");
}

#[test]
fn compressed_members_give_the_same_output_with_any_number_of_threads() {
    let lines: String = (0..300_000_u64).map(|line| format!("{} {:x}\n", line % 977, line * 7919)).collect();
    let directory = directory_with(&[("log", &lines)]);
    let (expected, ..) = directory.run("comb top -n 1000 -f 1 log");
    directory.run("split -l 20000 log part.; for part in part.*; do gzip -1c $part >> log.gz; done");
    for width in [1, 2, 3, 8, 64] {
        for block_size in ["100", "128K"] {
            let script = format!("comb top -n 1000 -f 1 -w {width} --block-size {block_size} log.gz");
            directory.prints(&script, &expected);
        }
        let script = format!("comb grep -z -j {width} -nb 0 log.gz | cmp - <(comb grep -nb 0 log)");
        directory.prints(&script, "");
    }
}

#[test]
fn the_first_skipped_record_of_a_compressed_file_has_its_line() {
    let lines: String = (1..200_000).map(|line| format!("{line} second\n")).collect();
    let directory = directory_with(&[("log", &format!("{lines}short\n{lines}"))]);
    let script = "for part in 1 2; do gzip -1c log >> log.gz; done; comb top -f 2 log.gz";
    let message =
        "comb: skipped 2 of 799,998 records with too few fields; the first is log.gz:200000: short\n";
    directory.answers(script, "799996 second\n", message, 0);
}

#[test]
fn data_before_corrupt_compressed_data_is_read() {
    let directory = directory_with(&[("a", "x\nx\n"), ("b", "y\n")]);
    let script = "gzip -c a > c.gz; gzip -c b | head -c 12 >> c.gz; comb top c.gz b";
    let message =
        "comb: c.gz: cannot decode: gzip: compressed data truncated; the data before that was read\n";
    directory.answers(script, "2 x\n1 y\n", message, 2);
}

#[test]
fn encodings_are_decoded() {
    let directory = directory_with(&[("marked", "\u{feff}x\ny\nx\n")]);
    let utf_16: Vec<u8> = "\u{feff}é\nz\né\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    write(&directory, "wide", utf_16);
    write(&directory, "latin", b"\xe9\n\xe9\nz\n");
    directory.prints("comb top marked", "2 x\n1 y\n");
    directory.prints("comb top wide", "2 é\n1 z\n");
    directory.prints("gzip -c wide | comb top", "2 é\n1 z\n");
    directory.prints("comb top --encoding latin1 latin", "2 é\n1 z\n");
    directory.prints("comb top -n 1 --encoding none marked", "1 x\n");
    let reason = "expected auto, none, or a label of the Encoding Standard";
    directory.refuses("comb top --encoding utf-9 latin", reason);
}

#[test]
fn globs_types_and_rules_select_files_in_directories() {
    let directory = directory_with(&[
        ("logs/a.log", "a\n"),
        ("logs/b.txt", "b\n"),
        ("logs/.hidden", "hidden\n"),
        ("logs/old/c.log", "c\n"),
        ("logs/.ignore", "old\n"),
    ]);
    for (flags, out) in [
        ("", "1 a\n1 b\n1 c\n1 hidden\n1 old\n"),
        ("--no-hidden", "1 a\n1 b\n1 c\n"),
        ("--no-hidden --ignore", "1 a\n1 b\n"),
        ("--glob '*.log'", "1 a\n1 c\n"),
        ("--glob '*.log' --glob '!old'", "1 a\n"),
        ("--type txt", "1 b\n"),
    ] {
        directory.prints(&format!("comb top {flags} logs"), out);
    }
    // Named files are read in any case.
    directory.prints("comb top --type txt --ignore logs/old/c.log", "1 c\n");
    let message = "comb: unknown file type 'cobble'; 'comb grep --type-list' lists all types\n";
    directory.answers("comb top --type cobble logs", "", message, 2);
}

#[test]
fn a_stream_is_searched_by_all_threads() {
    let lines: String = (0..200_000).map(|line| format!("{line}\n")).collect();
    let directory = directory_with(&[("log", &lines)]);
    let (_, profile, _) = directory.run("cat log | comb grep -j 4 -c --profile 9");
    assert!(profile.contains(" 4 threads"), "{profile}");
}

#[test]
fn statistics_and_binary_detection_are_independent_of_the_block_size() {
    let long = format!("{}needle\n", "x".repeat(1_000_000));
    let lines: String = (0..1000).map(|line| format!("{line} needle\n")).collect();
    let binary = format!("{}\0{lines}", "y\n".repeat(3500));
    let directory = directory_with(&[("long", &long), ("d/binary", &binary)]);
    directory.run("gzip d/binary; for part in 1 2 3; do gzip -1c long >> parts.gz; done");
    for width in [1, 2, 8] {
        for block_size in ["1K", "16K", "128K", "1M"] {
            let scan = format!("-j {width} --block-size {block_size}");
            let stats = format!("comb grep {scan} -z --stats needle long parts.gz | grep 'bytes searched'");
            directory.prints(&stats, "4000028 bytes searched\n");
            let found = format!("comb grep {scan} -z -c needle d; true");
            directory.prints(&found, "");
        }
    }
}

#[test]
fn times_without_a_year_are_those_of_a_file_of_before_1970() {
    let directory = directory_with(&[("a.log", "Jul  1 06:20:09 x\nJan  2 06:20:09 y\n")]);
    let script =
        "touch -d 1962-03-01T00:00:00Z a.log; comb top --every 1d --tz UTC --format csv -f -1 -n all a.log";
    directory.prints(script, "count,time,key\n1,1961-07-01,x\n1,1962-01-02,y\n");
}
