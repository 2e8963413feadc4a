//! Jobs give the same result while the number of workers changes.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use finecomb_meter::Meter;
use proptest::prelude::*;
use tempfile::{TempDir, tempdir};

use crate::{
    Accumulate, Block, Inputs, Output, Print, Reason, Recognize, Recognized, RecordEnds, Records,
    ScanOptions, Search, Select, Source, Width, fold, in_order,
};

/// Prints every line several times, so that much output is pending.
struct Repeat(usize);

impl Select for Repeat {}

impl Search for Repeat {
    type Found = ();
    type State = ();

    fn search(&mut self, _: &mut Block<'_>) {}
}

impl Print for Repeat {
    type Tally = ();

    fn print(
        &mut self,
        block: &Block<'_>,
        (): (),
        (): &(),
        (): &mut (),
        out: &mut Output<'_>,
        _: &mut Meter,
    ) {
        for line in block.bytes.split_inclusive(|&byte| byte == b'\n') {
            for _ in 0..self.0 {
                out.bytes().extend_from_slice(line);
            }
            out.flush_if_full();
        }
    }
}

/// Delays some writes, so that output piles up.
struct Slow(Vec<u8>);

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len().is_multiple_of(7) {
            std::thread::sleep(Duration::from_micros(200));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Recognises every file as one whose quotes matter.
struct Quotes;

impl Recognize for Quotes {
    fn recognize(&self, _: &Source, _: &[u8], _: bool) -> Result<Option<Recognized>, Reason> {
        Ok(Some(Recognized {
            records: Records::Quoted { delimiter: b',' },
            heading: None,
            details: Arc::new(()),
        }))
    }
}

/// Counts records.
#[derive(Default)]
struct CountRecords(u64);

impl Accumulate for CountRecords {
    type Part = u64;
    type Joined = u64;

    fn take(&mut self, block: &Block<'_>, _: &mut Meter) -> ControlFlow<()> {
        self.0 += match block.records {
            Records::Lines => block.lines().count(),
            Records::Quoted { delimiter } => RecordEnds::default().find(block.bytes, delimiter).len(),
            Records::Started(ref start) => RecordEnds::default().find_started(block.bytes, start).len(),
            Records::Objects { .. } | Records::Unclosed { .. } => unreachable!("no objects are read"),
        } as u64;
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<u64> {
        vec![self.0]
    }

    fn join(parts: Vec<u64>) -> u64 {
        parts.into_iter().sum()
    }
}

/// Creates a tree of files with these numbers of lines. Returns it with its lines, ordered by path.
fn tree(sizes: &[usize]) -> (TempDir, Vec<String>) {
    let root = tempdir().expect("a directory");
    let mut lines = Vec::new();
    for (number, &size) in sizes.iter().enumerate() {
        let directory = root.path().join(format!("{:02}", number / 2));
        fs::create_dir_all(&directory).expect("a directory");
        let of_file: Vec<_> = (0..size).map(|line| format!("{number} {line}\n")).collect();
        fs::write(directory.join(format!("{number:03}")), of_file.concat()).expect("a file");
        lines.extend(of_file);
    }
    (root, lines)
}

fn print_tree(root: &Path, width: Width, block_size: usize, times: usize) -> Vec<u8> {
    let options = ScanOptions { width, block_size, ..ScanOptions::default() };
    let mut out = Slow(Vec::new());
    let done = in_order(&Inputs::new([root]), &options.clone().into(), None, &mut out, || Repeat(times));
    assert!(done.problems.is_empty());
    out.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn a_varying_number_of_workers_does_not_change_the_result(
        sizes in prop::collection::vec(prop_oneof![0..50_usize, 6000..9000_usize], 1..20),
        block_size in prop::sample::select(&[512_usize, 16 << 10][..]),
        times in prop::sample::select(&[1_usize, 60][..]),
        seed in any::<u64>(),
    ) {
        let (root, lines) = tree(&sizes);
        let printed = print_tree(root.path(), Width::Random(seed), block_size, times);
        let expected: String = lines.iter().map(|line| line.repeat(times)).collect();
        prop_assert!(printed == expected.as_bytes());
        let options = ScanOptions { width: Width::Random(seed), block_size, ..ScanOptions::default() };
        let folded = fold(&Inputs::new([root.path()]), &options.clone().into(), CountRecords::default);
        prop_assert_eq!(folded.joined, [lines.len() as u64]);
    }

    #[test]
    fn a_varying_number_of_workers_does_not_change_records_that_span_lines(
        sizes in prop::collection::vec(0..3000_usize, 1..6),
        block_size in prop::sample::select(&[16_usize, 100, 2000][..]),
        seed in any::<u64>(),
    ) {
        let root = tempdir()?;
        for (number, &size) in sizes.iter().enumerate() {
            fs::write(root.path().join(number.to_string()), "a,\"b\n,\"\"\",\"\n\"\n".repeat(size))?;
        }
        let recognize = Some(Arc::new(Quotes) as Arc<dyn Recognize>);
        let width = Width::Random(seed);
        let options = ScanOptions { width, block_size, recognize, ..ScanOptions::default() };
        let folded = fold(&Inputs::new([root.path()]), &options.clone().into(), CountRecords::default);
        prop_assert_eq!(folded.joined, [sizes.iter().sum::<usize>() as u64]);
    }
}

#[test]
fn every_width_gives_the_same_output() {
    let (root, lines) = tree(&[100; 30]);
    for width in [Width::Auto, Width::Fixed(1), Width::Fixed(8)] {
        assert_eq!(print_tree(root.path(), width, 1 << 17, 1), lines.concat().as_bytes());
    }
}

/// Panics on a line of a file.
struct Panics;

impl Select for Panics {}

impl Search for Panics {
    type Found = ();
    type State = ();

    fn search(&mut self, block: &mut Block<'_>) {
        assert!(!block.bytes.starts_with(b"20 "), "within a file");
    }
}

impl Print for Panics {
    type Tally = ();

    fn print(
        &mut self,
        block: &Block<'_>,
        (): (),
        (): &(),
        (): &mut (),
        out: &mut Output<'_>,
        _: &mut Meter,
    ) {
        out.bytes().extend_from_slice(block.bytes);
        out.flush_if_full();
    }
}

#[test]
fn a_panic_of_a_worker_ends_the_job() {
    let (root, _) = tree(&[5000; 60]);
    for width in [Width::Auto, Width::Fixed(1), Width::Fixed(2), Width::Fixed(8)] {
        let list = || {
            let options = ScanOptions { width, ..ScanOptions::default() };
            in_order(&Inputs::new([root.path()]), &options.clone().into(), None, &mut Vec::new(), || Panics);
        };
        assert!(std::panic::catch_unwind(list).is_err(), "{width:?}");
    }
}
