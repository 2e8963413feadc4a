//! Restriction of the part of a file that is read.

use std::fs;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use finecomb_scan::{
    Accumulate, Block, FoldOptions, Folded, Inputs, LinesAt, Meter, Narrow, Narrowed, ProblemKind, Progress,
    Reason, Recognize, Recognized, Records, ScanOptions, Source, Watch, Width, fold,
};
use tempfile::{TempDir, tempdir};

/// Collects blocks: path, offset and bytes.
struct GatherBlocks<'a>(Vec<(PathBuf, u64, Vec<u8>)>, &'a (dyn Fn() + Sync));

impl Accumulate for GatherBlocks<'_> {
    type Part = Vec<(PathBuf, u64, Vec<u8>)>;
    type Joined = Vec<(PathBuf, u64, Vec<u8>)>;

    fn take(&mut self, block: &Block<'_>, _: &mut Meter) -> ControlFlow<()> {
        (self.1)();
        self.0.push((block.source.display_path().to_owned(), block.offset, block.bytes.to_vec()));
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<Self::Part> {
        vec![self.0]
    }

    fn join(parts: Vec<Self::Part>) -> Self::Joined {
        let mut blocks = parts.concat();
        blocks.sort();
        blocks
    }
}

/// Wants the lines between two offsets: each end is at the first line that begins at the offset or later.
#[derive(Debug)]
struct Between(Range<u64>);

impl Narrow for Between {
    fn narrow(&self, _: &Source, lines: &LinesAt<'_>) -> Narrowed {
        let border = |offset| match lines.read(offset, 1000).expect("a readable file") {
            (_, text) if text.is_empty() => lines.range().end,
            (begin, _) => begin,
        };
        Narrowed { range: border(self.0.start)..border(self.0.end), problem: None }
    }
}

/// Recognises files as CSV.
struct RecognizeCsv;

impl Recognize for RecognizeCsv {
    fn recognize(&self, _: &Source, _: &[u8], _: bool) -> Result<Option<Recognized>, Reason> {
        let records = Records::Quoted { delimiter: b',' };
        Ok(Some(Recognized { records, heading: None, details: Arc::new(()) }))
    }
}

fn options(range: Range<u64>, width: usize, block_size: usize) -> FoldOptions<'static> {
    let narrow: Option<Arc<dyn Narrow>> = Some(Arc::new(Between(range)));
    FoldOptions::from(ScanOptions::default().width(Width::Fixed(width)).block_size(block_size)).narrow(narrow)
}

fn gather(path: &Path, options: &FoldOptions<'_>) -> Folded<Vec<(PathBuf, u64, Vec<u8>)>> {
    fold(&Inputs::new([path]), options, || GatherBlocks(Vec::new(), &|| ()))
}

fn reasons<J>(folded: &Folded<J>) -> Vec<&'static str> {
    let reasons = folded.problems.iter().map(|problem| match problem.kind {
        ProblemKind::NotNarrowed(reason) if problem.is_note() => reason,
        _ => panic!("{problem}"),
    });
    reasons.collect()
}

fn file(name: &str, content: &[u8]) -> (TempDir, PathBuf) {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join(name);
    fs::write(&path, content).expect("a file");
    (directory, path)
}

/// Lines of different lengths, the last without a line feed.
fn text() -> Vec<u8> {
    let lines: Vec<String> =
        (0..60).map(|number| format!("{number}{}", "x".repeat(number * 7 % 20))).collect();
    lines.join("\n").into_bytes()
}

#[test]
fn only_the_lines_of_the_range_are_read_with_their_offsets() {
    let text = text();
    let (_directory, path) = file("file", &text);
    let begins: Vec<usize> =
        (0..text.len()).filter(|&at| at == 0 || text[at - 1] == b'\n').chain([text.len()]).collect();
    let border = |offset: u64| begins[begins.partition_point(|&begin| (begin as u64) < offset)];
    for (start, end) in [(0, 60), (1, 300), (333, 334), (200, 450), (500, 10_000), (9_000, 10_000)] {
        // The last line has no line feed, so it is no line to be read at an offset.
        let [start_at, end_at] = [start, end].map(|offset| border(offset.min(text.len() as u64)));
        for (width, block_size) in [(1, 1), (1, 10), (3, 10), (8, 33), (2, 100)] {
            let folded = gather(&path, &options(start..end, width, block_size));
            let mut at = start_at as u64;
            for (_, offset, bytes) in folded.joined.concat() {
                assert_eq!(offset, at);
                at += bytes.len() as u64;
                assert_eq!(bytes, text[offset as usize..at as usize]);
            }
            assert_eq!(at, end_at.max(start_at) as u64, "{start}..{end} in blocks of {block_size}");
            assert_eq!(folded.bytes, at - start_at as u64);
            assert!(folded.problems.is_empty());
        }
    }
}

#[test]
fn a_file_of_few_blocks_is_read_whole() {
    let (_directory, path) = file("file", &text());
    let folded = gather(&path, &options(100..200, 2, text().len() / 4 + 1));
    assert_eq!(folded.bytes, text().len() as u64);
    assert_eq!(reasons(&folded), [""; 0]);
}

#[test]
fn what_cannot_be_read_at_any_offset_is_read_whole_and_noted() {
    let (_directory, path) = file("file.csv", b"a,\"b\nc\"\n".repeat(50).as_slice());
    let mut csv = options(100..200, 2, 10);
    csv.scan.recognize = Some(Arc::new(RecognizeCsv));
    let folded = gather(&path, &csv);
    assert_eq!((folded.bytes, reasons(&folded)), (400, vec!["its records may span lines"]));

    let encoded: Vec<u8> = [0xFF, 0xFE].into_iter().chain(b"a\0\n\0".repeat(100_000)).collect();
    let (_directory, path) = file("file", &encoded);
    let folded = gather(&path, &options(100..200, 2, 10_000));
    assert_eq!((folded.bytes, reasons(&folded)), (200_000, vec!["it is not UTF-8"]));

    let (directory, path) = file("file", &b"a\n".repeat(100_000));
    assert!(Command::new("gzip").arg(&path).status().expect("gzip").success());
    let folded = gather(&directory.path().join("file.gz"), &options(100..200, 2, 10_000));
    assert_eq!((folded.bytes, reasons(&folded)), (200_000, vec!["it is compressed"]));

    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let folded = thread::scope(|scope| {
        scope.spawn(|| fs::write(&pipe, text()).expect("a reader"));
        gather(&pipe, &options(100..200, 2, 10))
    });
    assert_eq!((folded.bytes, reasons(&folded)), (text().len() as u64, vec!["it is not a regular file"]));
}

#[test]
fn the_total_of_the_progress_is_what_is_read() {
    let (_directory, path) = file("file", &text());
    let totals = Mutex::new(Vec::new());
    let is_reduced = AtomicBool::new(false);
    let show = |progress: Progress| {
        is_reduced.store(progress.total < Some(text().len() as u64), Ordering::Relaxed);
        totals.lock().expect("no panic").push(progress.total);
    };
    let watch = Some(Watch::new(Duration::from_millis(1), &show).after(Duration::ZERO));
    let mut options = options(100..200, 2, 10);
    options.scan.watch = watch;
    // A block waits for a report, so that there is one after the range is known.
    let wait = || {
        let start = Instant::now();
        while !is_reduced.load(Ordering::Relaxed) && start.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(1));
        }
    };
    let folded = fold(&Inputs::new([&path]), &options, || GatherBlocks(Vec::new(), &wait));
    assert_eq!(totals.lock().expect("no panic").last(), Some(&Some(folded.bytes)));
}
