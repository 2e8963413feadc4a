//! Jobs with ordered output against a reference implementation.

#![allow(clippy::unwrap_used, reason = "a test ends on the first error")]

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use finecomb_scan::{Block, Inputs, Output, ScanOptions, Source, Visit, Wants, Width, in_order};
use proptest::prelude::*;

/// Numbers all lines, and ends a file after `limit` of them.
struct Numbers {
    wants: Wants,
    limit: usize,
}

impl Visit for Numbers {
    type Found = usize;
    type State = usize;
    type Tally = usize;

    fn wants(&self) -> Wants {
        self.wants
    }

    fn name(&mut self, source: &Source, out: &mut Output<'_>) {
        out.bytes().extend(format!("{source}\n").bytes());
    }

    fn begin(&mut self, _source: &Source, _start: &[u8]) -> usize {
        0
    }

    fn search(&mut self, block: &mut Block<'_>) -> usize {
        lines(block.bytes).count()
    }

    fn advance(&mut self, _block: &Block<'_>, found: &usize, state: &mut usize) -> ControlFlow<()> {
        *state += found;
        if *state >= self.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn skip_line(&mut self, state: &mut usize, _bytes: u64) {
        *state += 1;
    }

    fn print(
        &mut self,
        block: &Block<'_>,
        found: usize,
        state: &usize,
        tally: &mut usize,
        out: &mut Output<'_>,
    ) {
        assert_eq!(found, lines(block.bytes).count());
        for (number, line) in lines(block.bytes).enumerate().take(self.limit - state) {
            if number + state == 0 {
                out.begin_group();
            }
            out.bytes().extend(format!("{}:{}:", block.source, state + number + 1).bytes());
            out.bytes().extend(line);
            out.bytes().push(b'\n');
            *tally += 1;
            out.flush_if_full();
        }
    }

    fn add(tally: &mut usize, other: usize) {
        *tally += other;
    }

    fn end(&mut self, _source: &Source, state: usize, tally: usize, out: &mut Output<'_>) -> ControlFlow<()> {
        assert_eq!(tally, state.min(self.limit));
        if tally > 0 {
            out.bytes().extend(format!("{tally}\n").bytes());
        }
        ControlFlow::Continue(())
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}

/// The files below a directory, ordered by path, component by component.
fn walk(directory: &Path, files: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() { walk(&path, files) } else { files.push(path) }
    }
}

/// The expected output for a tree: the reference implementation.
fn expected_output(root: &Path, wants: Wants, limit: usize) -> Vec<u8> {
    let mut files = Vec::new();
    walk(root, &mut files);
    let mut out = Vec::new();
    for path in files {
        if wants == Wants::Name {
            out.extend(format!("{}\n", path.display()).bytes());
            continue;
        }
        let text = fs::read(&path).unwrap();
        let count = lines(&text).count().min(limit);
        if count > 0 && !out.is_empty() {
            out.extend(b"--\n");
        }
        for (number, line) in lines(&text).take(limit).enumerate() {
            out.extend(format!("{}:{}:", path.display(), number + 1).bytes());
            out.extend(line);
            out.push(b'\n');
        }
        if count > 0 {
            out.extend(format!("{count}\n").bytes());
        }
    }
    out
}

fn in_parallel(root: &Path, wants: Wants, limit: usize, width: usize, block_size: usize) -> Vec<u8> {
    let options = ScanOptions { width: Width::Fixed(width), block_size, ..ScanOptions::default() };
    let mut out = Vec::new();
    let done = in_order(&Inputs::new([root]), &options, Some(b"--\n".to_vec()), &mut out, || Numbers {
        wants,
        limit,
    });
    assert!(done.problems.is_empty() && done.output_error.is_none());
    assert_eq!(done.bytes, out.len() as u64);
    out
}

fn tree() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = "[ab]{1,2}[-.]?";
    let path = prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"));
    prop::collection::vec((path, "([a-c]{0,9}\n){0,30}[a-c]{0,3}"), 0..25)
}

fn write_tree(root: &Path, tree: &[(String, String)]) {
    for (path, text) in tree {
        let path = root.join(path);
        // A file may exist where a later path needs a directory, and vice versa.
        let _ = fs::create_dir_all(path.parent().unwrap());
        let _ = fs::write(path, text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 2))]

    #[test]
    fn output_is_ordered_by_path_at_any_width_and_block_size(
        tree in tree(),
        limit in prop::sample::select(vec![1, 3, usize::MAX / 2]),
        block_size in prop::sample::select(vec![1, 2, 3, 7, 20, 100, 1 << 20]),
    ) {
        let root = tempfile::tempdir().unwrap();
        write_tree(root.path(), &tree);
        for wants in [Wants::Blocks, Wants::Whole, Wants::Name] {
            let expected = expected_output(root.path(), wants, limit);
            for width in [1, 2, 3, 8, 64] {
                let found = in_parallel(root.path(), wants, limit, width, block_size);
                prop_assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&expected));
            }
        }
    }
}

/// Writes slowly.
struct Slow(Vec<u8>);

impl std::io::Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        std::thread::sleep(std::time::Duration::from_micros(200));
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn large_output_to_a_slow_reader_does_not_deadlock() {
    let root = tempfile::tempdir().unwrap();
    let text = "a line that is printed\n".repeat(20_000);
    for number in 0..40 {
        let directory = root.path().join(format!("{}", number % 7));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(number.to_string()), &text).unwrap();
    }
    let options = ScanOptions { width: Width::Fixed(16), block_size: 16 << 10, ..ScanOptions::default() };
    let mut out = Slow(Vec::new());
    let limit = usize::MAX / 2;
    let separator = Some(b"--\n".to_vec());
    in_order(&Inputs::new([root.path()]), &options, separator, &mut out, || Numbers {
        wants: Wants::Blocks,
        limit,
    });
    assert!(out.0 == expected_output(root.path(), Wants::Blocks, limit));
}
