//! Files with headers: byte order marks, blank lines, encodings and compression, at any block size.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_top::{Field, InputFormat, Measure, MeasureKind, Outcome, Query, QueryOptions, top};
use tempfile::tempdir;

fn options(format: &str, names: &str) -> QueryOptions {
    QueryOptions::default()
        .input(Some(format.parse().expect("a format")))
        .names(Field::parse_list(names).expect("fields"))
        .number(100)
}

fn count(paths: &[PathBuf], options: &QueryOptions, width: usize, block_size: usize) -> Outcome {
    let query = Query::new(options).expect("a valid query");
    let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
    top(&Inputs::new(paths), &scan, &query)
}

/// Keys with their counts, and the problems.
fn shown(outcome: &Outcome) -> String {
    let keys = outcome.answer.top.iter();
    let keys = keys.map(|key| format!("{}:{}", String::from_utf8_lossy(&key.key), key.count));
    let problems = outcome.problems.iter().map(|problem| format!("{}", problem.kind));
    keys.chain(problems).collect::<Vec<_>>().join(" ")
}

/// Counts the keys of a file at several widths and block sizes, which must not matter.
fn keys(path: &Path, options: &QueryOptions) -> String {
    let paths = [path.to_owned()];
    let first = shown(&count(&paths, options, 1, 1 << 17));
    for (width, block_size) in [(1, 1), (3, 1), (2, 5), (8, 16), (1, 64), (2, 1000)] {
        let other = shown(&count(&paths, options, width, block_size));
        assert_eq!(other, first, "width {width}, blocks of {block_size}");
    }
    first
}

/// The keys of a text in a file.
fn keys_of(text: impl AsRef<[u8]>, options: &QueryOptions) -> String {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("table");
    fs::write(&path, text).expect("a file");
    keys(&path, options)
}

const MARK: &str = "\u{FEFF}";

#[test]
fn a_header_behind_a_byte_order_mark_is_no_record() {
    for header in ["a", "\"a\"", "a,b", "b,a", "\n\n\na", "\r\n\n\"a\",b"] {
        for line_end in ["\n", "\r\n"] {
            let text = format!("{MARK}{header}{line_end}1,1{line_end}2,2{line_end}1,1");
            assert_eq!(keys_of(&text, &options("csv", "a")), "1:2 2:1", "{text:?}");
            assert_eq!(keys_of(text.replace(',', "\t"), &options("csv", "a").delimiter(b'\t')), "1:2 2:1");
        }
    }
    assert_eq!(keys_of(format!("{MARK}a\n1\n2\n"), &options("tsv", "a")), "1:1 2:1");
    assert_eq!(keys_of(format!("{MARK}\n\n\n\na\tb\n1\t2\n"), &options("tsv", "b")), "2:1");
}

#[test]
fn a_header_may_span_lines() {
    let text = "\"the\nfirst \"\"name\"\"\",b\n1,2\n\"3\n4\",5\n";
    let name = Field::named("the\nfirst \"name\"");
    let options = options("csv", "b").names(vec![name]);
    assert_eq!(keys_of(text, &options), "1:1 3\n4:1");
    assert_eq!(keys_of(format!("{MARK}{text}"), &options), "1:1 3\n4:1");
}

#[test]
fn files_without_records_have_no_keys() {
    for text in ["", MARK, "a,b", "a,b\n", "a,b\r\n", "\n\na,b", "\n\r\na,b\n\n\n", "a,b\r"] {
        assert_eq!(keys_of(text, &options("csv", "b")), "", "{text:?}");
        assert_eq!(keys_of(text.replace(',', "\t"), &options("tsv", "b")), "", "{text:?}");
    }
}

#[test]
fn a_header_without_the_field_makes_a_file_unusable() {
    let expected = "no column 'c'; the columns are 'a', 'b'; skipped";
    for text in ["a,b\n1,2\n", "\n\n\na,b", "\r\n\"a\",b\r", "\u{FEFF}\na,b"] {
        assert_eq!(keys_of(text, &options("csv", "c")), expected, "{text:?}");
    }
    assert_eq!(keys_of("\n\r\n\n", &options("csv", "c")), "no column 'c'; the header is empty; skipped");
    assert_eq!(keys_of("\"a,b\n1,2\n", &options("csv", "c")), "unclosed quote in the header; skipped");
}

#[test]
fn nothing_is_measured_in_an_unusable_file() {
    let field = Field::named("b");
    let options = options("csv", "a").measures(vec![Measure::Field { kind: MeasureKind::Sum, field }]);
    assert_eq!(keys_of("a\n1\n2\n", &options), "no column 'b'; the columns are 'a'; skipped");
}

#[test]
fn a_file_without_a_header_begins_with_a_record() {
    let options =
        options("csv", "x").has_header(false).names(Vec::new()).fields("1".parse().expect("a field"));
    assert_eq!(keys_of(format!("{MARK}a,b\n\n\"a\",c\r\nb"), &options), "a:2 b:1");
    assert_eq!(keys_of("", &options), "");
    let options = options.input(Some(InputFormat::Tsv));
    assert_eq!(keys_of(format!("{MARK}a\tb\n\na\tc\r\nb"), &options), "a:2 b:1");
}

#[test]
fn a_header_is_neither_searched_nor_filtered() {
    let text = "name,x\nname,1\nn,2\n";
    let extract = options("csv", "x").extract(vec!["na?m?".into()]).names(Vec::new());
    assert_eq!(keys_of(text, &extract), "n:1 nam:1");
    let grep = options("csv", "x").grep(vec!["name".into()]);
    assert_eq!(keys_of(text, &grep), "1:1");
    let tsv = options("tsv", "x").vgrep(vec!["^n\t".into()]);
    assert_eq!(keys_of(text.replace(',', "\t"), &tsv), "1:1");
}

fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("{MARK}{text}").encode_utf16().flat_map(to_bytes).collect()
}

#[test]
fn tables_in_utf_16_are_decoded() {
    let mut text = String::from("naïve,b\r\n");
    for number in 0..3000 {
        text += &format!("\"é\n{}\",{number}\r\n", number % 2);
    }
    for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        assert_eq!(keys_of(utf_16(&text, to_bytes), &options("csv", "naïve")), "é\n0:1500 é\n1:1500");
        assert_eq!(keys_of(utf_16("a\n1\n2\n", to_bytes), &options("csv", "a")), "1:1 2:1");
    }
}

/// Compresses a text by gzip, as one member.
fn gzip(text: &[u8]) -> Vec<u8> {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("text");
    fs::write(&path, text).expect("a file");
    Command::new("gzip").arg("-c").arg(&path).output().expect("gzip").stdout
}

#[test]
fn a_table_in_several_gzip_members_has_one_header() {
    let mut text = String::from("a,b\n");
    for number in 0..40_000 {
        text += &format!("\"x, \"\"{}\"\"\n\",{number}\n", number % 3);
    }
    for parts in [1, 2, 7] {
        let members: Vec<u8> = text.as_bytes().chunks(text.len().div_ceil(parts)).flat_map(gzip).collect();
        let directory = tempdir().expect("a directory");
        let path = directory.path().join("table.gz");
        fs::write(&path, &members).expect("a file");
        let expected = "x, \"0\"\n:13334 x, \"1\"\n:13333 x, \"2\"\n:13333";
        for (width, block_size) in [(1, 1 << 17), (2, 4096), (8, 100), (3, 1 << 17)] {
            let outcome = count(std::slice::from_ref(&path), &options("csv", "a"), width, block_size);
            assert_eq!(shown(&outcome), expected, "{parts} members, width {width}, blocks of {block_size}");
        }
    }
}

#[test]
fn each_file_has_its_own_header() {
    let directory = tempdir().expect("a directory");
    let texts = ["a,b\n1,2\n3,4\n", "b,a\n2,1\n", "\u{FEFF}x,a\n9,1\n", "a\n1\n", "c\n1\n", ""];
    let paths: Vec<PathBuf> =
        (0..texts.len()).map(|number| directory.path().join(number.to_string())).collect();
    for (path, text) in paths.iter().zip(texts) {
        fs::write(path, text).expect("a file");
    }
    for (width, block_size) in [(1, 1), (2, 1 << 17), (8, 3)] {
        let outcome = count(&paths, &options("csv", "a"), width, block_size);
        assert_eq!(shown(&outcome), "1:4 3:1 no column 'a'; the columns are 'c'; skipped");
    }
}

#[test]
fn problems_are_in_the_order_of_the_inputs() {
    let directory = tempdir().expect("a directory");
    let paths: Vec<PathBuf> = (0..4).map(|number| directory.path().join(number.to_string())).collect();
    for number in [0, 2] {
        fs::write(&paths[number], "b\n1\n").expect("a file");
    }
    let outcome = count(&paths, &options("csv", "a"), 2, 1 << 17);
    let found: Vec<&Path> = outcome.problems.iter().filter_map(|problem| problem.source.path()).collect();
    assert_eq!(found, paths);
}
