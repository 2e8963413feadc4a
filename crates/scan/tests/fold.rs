//! Every line reaches exactly one worker, whole and with its place, at any width and block size.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use finecomb_scan::{
    Accumulate, Block, Detail, Folded, Inputs, Mapping, Meter, Phase, Progress, ScanOptions, Stop, Watch,
    Width, fold,
};
use proptest::prelude::*;
use tempfile::{TempDir, tempdir};

/// A line: path, offset, number if the reader counted lines, and bytes.
type FoundLine = (PathBuf, u64, Option<u64>, Vec<u8>);

const PARTS: usize = 3;

/// Collects every line, in parts by length.
struct GatherLines<'a> {
    parts: [Vec<FoundLine>; PARTS],
    on_block: &'a (dyn Fn(&Block<'_>) -> ControlFlow<()> + Sync),
}

impl Accumulate for GatherLines<'_> {
    type Part = Vec<FoundLine>;
    type Joined = Vec<FoundLine>;

    fn take(&mut self, block: &Block<'_>, meter: &mut Meter) -> ControlFlow<()> {
        meter.enter(Phase::Split);
        let mut position = 0;
        for line in block.bytes.split_inclusive(|&byte| byte == b'\n') {
            let place = block.place(position);
            let path = place.source.path().map(Path::to_owned).unwrap_or_default();
            self.parts[line.len() % PARTS].push((path, place.offset, place.line, line.to_owned()));
            position += line.len();
        }
        (self.on_block)(block)
    }

    fn into_parts(self) -> Vec<Vec<FoundLine>> {
        self.parts.into()
    }

    fn join(parts: Vec<Vec<FoundLine>>) -> Vec<FoundLine> {
        parts.concat()
    }
}

fn gather(inputs: &Inputs, options: &ScanOptions<'_>) -> Folded<Vec<FoundLine>> {
    gather_and(inputs, options, &|_| ControlFlow::Continue(()))
}

fn gather_and(
    inputs: &Inputs,
    options: &ScanOptions<'_>,
    on_block: &(dyn Fn(&Block<'_>) -> ControlFlow<()> + Sync),
) -> Folded<Vec<FoundLine>> {
    fold(inputs, &options.clone().into(), || GatherLines { parts: Default::default(), on_block })
}

fn sorted(folded: Folded<Vec<FoundLine>>) -> Vec<FoundLine> {
    let mut lines = folded.joined.concat();
    lines.sort();
    lines
}

/// The same lines without numbers: the numbers are known for a file that was read at once, not for one read in chunks.
fn unnumbered(lines: Vec<FoundLine>) -> Vec<FoundLine> {
    lines.into_iter().map(|(path, offset, _, line)| (path, offset, None, line)).collect()
}

fn problems<J>(folded: &Folded<J>) -> Vec<String> {
    folded.problems.iter().map(ToString::to_string).collect()
}

/// The lines that `gather` should find in a file, computed by the simplest means; `numbered` as for a stream.
fn expected(path: &Path, content: &[u8], max_line: usize, numbered: bool) -> Vec<FoundLine> {
    let mut offset = 0;
    let mut lines = Vec::new();
    for (index, line) in content.split_inclusive(|&byte| byte == b'\n').enumerate() {
        if line.strip_suffix(b"\n").unwrap_or(line).len() <= max_line {
            let number = numbered.then_some(index as u64 + 1);
            lines.push((path.to_owned(), offset, number, line.to_owned()));
        }
        offset += line.len() as u64;
    }
    lines
}

/// Files are mapped in every second case.
fn options(width: usize, block_size: usize, max_line: usize) -> ScanOptions<'static> {
    let mapping = if (width + block_size).is_multiple_of(2) { Mapping::Always } else { Mapping::Never };
    let options = ScanOptions::default().width(Width::Fixed(width)).mapping(mapping);
    options.block_size(block_size).max_line(max_line)
}

/// Files of mostly short lines, some far longer than a block.
fn contents() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![2 => Just(b'\n'), 1 => Just(b'\r'), 1 => Just(0), 6 => any::<u8>()];
    let short = prop::collection::vec(byte, 0..300);
    let long = (0..3000_usize).prop_map(|length| vec![b'x'; length]);
    prop::collection::vec(prop_oneof![4 => short, 1 => long], 0..5).prop_map(|parts| parts.concat())
}

fn widths() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![1, 2, 3, 8, 64])
}

fn block_sizes() -> impl Strategy<Value = usize> {
    prop_oneof![1..70_usize, Just(1000), Just(1 << 17)]
}

fn limits() -> impl Strategy<Value = usize> {
    prop_oneof![Just(64 << 20), 0..2000_usize]
}

fn fifo(directory: &TempDir, content: Vec<u8>) -> (PathBuf, thread::JoinHandle<()>) {
    let path = directory.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo");
    assert!(made.success());
    let writing = path.clone();
    let writer = thread::spawn(move || {
        let mut pipe = OpenOptions::new().write(true).open(writing).expect("opening the pipe");
        for piece in content.chunks(700) {
            pipe.write_all(piece).expect("writing to the pipe");
        }
    });
    (path, writer)
}

proptest! {
    #[test]
    fn files_yield_every_line_once(
        contents in prop::collection::vec(contents(), 0..4),
        width in widths(),
        block_size in block_sizes(),
        max_line in limits(),
    ) {
        let directory = tempdir()?;
        let mut lines = Vec::new();
        for (number, content) in contents.iter().enumerate() {
            let path = directory.path().join(format!("{number}.log"));
            fs::write(&path, content)?;
            lines.extend(expected(&path, content, max_line, false));
        }
        lines.sort();
        let folded = gather(&Inputs::new([directory.path()]), &options(width, block_size, max_line));
        let left_out = contents.iter().any(|content| content
            .split(|&byte| byte == b'\n')
            .any(|line| line.len() > max_line));
        prop_assert_eq!(folded.problems.is_empty(), !left_out, "{:?}", problems(&folded));
        let found = sorted(folded);
        for (path, offset, number, _) in found.iter().filter(|(.., number, _)| number.is_some()) {
            let content = fs::read(path)?;
            let before = content[..*offset as usize].iter().filter(|&&byte| byte == b'\n').count() as u64;
            prop_assert_eq!(*number, Some(before + 1));
        }
        prop_assert_eq!(unnumbered(found), lines);
    }

    #[test]
    fn parts_of_a_file_yield_every_line_once(
        content in contents(),
        has_mark in any::<bool>(),
        mut borders in prop::collection::vec(0..6000_u64, 0..6),
        block_size in block_sizes(),
    ) {
        let directory = tempdir()?;
        let path = directory.path().join("a.log");
        let mark: &[u8] = if has_mark { b"\xEF\xBB\xBF" } else { b"" };
        fs::write(&path, [mark, &content].concat())?;
        let whole = sorted(gather(&Inputs::new([&path]), &options(1, block_size, 64 << 20)));
        borders.extend([0, u64::MAX]);
        borders.sort_unstable();
        let mut lines = Vec::new();
        for border in borders.windows(2) {
            let part = border[0]..border[1];
            let options = options(2, block_size, 64 << 20).part(Some(part.clone()));
            let found = sorted(gather(&Inputs::new([&path]), &options));
            prop_assert!(found.iter().all(|(_, offset, ..)| part.contains(offset)), "{part:?}");
            prop_assert!(part.start == 0 || found.iter().all(|(.., number, _)| number.is_none()), "{part:?}");
            lines.extend(found);
        }
        prop_assert_eq!(unnumbered(lines), unnumbered(whole));
    }

    #[test]
    fn streams_yield_every_line_once(
        content in contents(),
        width in widths(),
        block_size in block_sizes(),
        max_line in limits(),
    ) {
        let directory = tempdir()?;
        let (path, writer) = fifo(&directory, content.clone());
        let folded = gather(&Inputs::new([&path]), &options(width, block_size, max_line));
        writer.join().expect("the writer");
        prop_assert_eq!(sorted(folded), expected(&path, &content, max_line, true));
    }

    #[test]
    fn find_line_returns_the_line_number(
        content in contents(),
        width in widths(),
        block_size in block_sizes(),
        choice in any::<prop::sample::Index>(),
    ) {
        let directory = tempdir()?;
        let path = directory.path().join("a.log");
        fs::write(&path, &content)?;
        let numbered = expected(&path, &content, usize::MAX, true);
        prop_assume!(!numbered.is_empty());
        let (_, offset, number, _) = &numbered[choice.index(numbered.len())];
        let found = std::sync::Mutex::new(None);
        let options = options(width, block_size, 64 << 20);
        gather_and(&Inputs::new([&path]), &options, &|block| {
            let position = offset.checked_sub(block.offset).filter(|&at| at < block.bytes.len() as u64);
            if let Some(position) = position {
                *found.lock().expect("no panics") = Some(block.place(position as usize));
            }
            ControlFlow::Continue(())
        });
        let place = found.into_inner().expect("no panics").expect("a block holds the line");
        prop_assert_eq!(place.find_line(), *number);
    }
}

#[test]
fn directories_yield_all_files_below_in_order() {
    let directory = tempdir().expect("a directory");
    let root = directory.path();
    fs::create_dir_all(root.join("b/deep/er")).expect("directories");
    fs::create_dir(root.join("a-b")).expect("a directory");
    let names = ["b/deep/er/1", "b/2", "a", "a-b/3", ".hidden", "c"];
    for name in names {
        fs::write(root.join(name), format!("{name}\n")).expect("a file");
    }
    std::os::unix::fs::symlink(root, root.join("b/loop")).expect("a link");
    let seen = std::sync::Mutex::new(Vec::new());
    let folded = gather_and(&Inputs::new([root]), &options(1, 100, 100), &|block| {
        seen.lock().expect("no panics").push(String::from_utf8_lossy(block.bytes).trim().to_owned());
        ControlFlow::Continue(())
    });
    assert!(folded.problems.is_empty());
    let seen = seen.into_inner().expect("no panics");
    assert_eq!(seen, [".hidden", "a", "a-b/3", "b/2", "b/deep/er/1", "c"]);
}

#[test]
fn many_small_files_at_every_width() {
    let directory = tempdir().expect("a directory");
    for number in 0..2000 {
        fs::write(directory.path().join(number.to_string()), format!("{number}\nx\n")).expect("a file");
    }
    for width in [1, 2, 3, 8, 64] {
        let folded = gather(&Inputs::new([directory.path()]), &options(width, 1 << 17, 100));
        assert_eq!(folded.joined.concat().len(), 4000);
    }
}

#[test]
fn a_missing_file_does_not_affect_the_others() {
    let directory = tempdir().expect("a directory");
    let there = directory.path().join("there");
    fs::write(&there, "line\n").expect("a file");
    let missing = directory.path().join("missing");
    let folded = gather(&Inputs::new([&missing, &there]), &ScanOptions::default());
    assert_eq!(problems(&folded), [format!("{}: no such file or directory", missing.display())]);
    assert_eq!(folded.joined.concat().len(), 1);
}

#[test]
fn a_file_removed_between_listing_and_opening_is_reported() {
    let directory = tempdir().expect("a directory");
    let second = directory.path().join("2");
    fs::write(directory.path().join("1"), "one\n").expect("a file");
    fs::write(&second, "two\n").expect("a file");
    let folded = gather_and(&Inputs::new([directory.path()]), &options(1, 100, 100), &|_| {
        fs::remove_file(&second).expect("removing");
        ControlFlow::Continue(())
    });
    assert_eq!(problems(&folded), [format!("{}: no such file or directory", second.display())]);
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_reported() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.log");
    fs::write(&path, "0123456\n".repeat(1000)).expect("a file");
    let folded = gather_and(&Inputs::new([&path]), &options(1, 800, 100), &|_| {
        OpenOptions::new().write(true).open(&path).expect("opening").set_len(1600).expect("truncating");
        ControlFlow::Continue(())
    });
    let shown = problems(&folded);
    assert_eq!(shown.len(), 1);
    let expected = "file truncated while it was read: it had 8.00 kB, now it ends at byte 1600 or before";
    assert_eq!(shown[0], format!("{}: {expected}", path.display()));
    // The first chunk is read with a few bytes more, for the end of its last line.
    assert_eq!(folded.joined.concat().len(), 200);
}

#[test]
fn a_mapped_file_that_shrinks_is_reported() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.log");
    // Cut off within its last page, and before. The block that is read then has one more line.
    for (size, lines) in [(9500, 1188), (1600, 201)] {
        fs::write(&path, "0123456\n".repeat(1250)).expect("a file");
        let options = options(1, 800, 100).mapping(Mapping::Always);
        let folded = gather_and(&Inputs::new([&path]), &options, &|block| {
            if block.offset >= 800 {
                OpenOptions::new()
                    .write(true)
                    .open(&path)
                    .expect("opening")
                    .set_len(size)
                    .expect("truncating");
            }
            ControlFlow::Continue(())
        });
        let expected = format!(
            "{}: file truncated while it was read: it had 10.0 kB, now it ends at byte {size} or before",
            path.display()
        );
        assert_eq!(problems(&folded), [expected]);
        assert_eq!(folded.joined.concat().len(), lines);
    }
}

#[test]
fn a_growing_file_is_read_to_the_end_of_the_line_at_its_initial_size() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.log");
    fs::write(&path, format!("{}half a", "line\n".repeat(300))).expect("a file");
    let folded = gather_and(&Inputs::new([&path]), &options(1, 100, 100), &|block| {
        if block.offset == 0 {
            let mut log = OpenOptions::new().append(true).open(&path).expect("opening");
            log.write_all(b" line\nanother\n").expect("appending");
        }
        ControlFlow::Continue(())
    });
    let lines = sorted(folded);
    assert_eq!(lines.len(), 301);
    assert_eq!(lines[300].3, b"half a line\n");
}

#[test]
fn a_break_ends_the_job() {
    let directory = tempdir().expect("a directory");
    for number in 0..100 {
        fs::write(directory.path().join(number.to_string()), "line\n").expect("a file");
    }
    let folded =
        gather_and(&Inputs::new([directory.path()]), &options(1, 100, 100), &|_| ControlFlow::Break(()));
    assert_eq!(folded.joined.concat().len(), 1);
}

#[test]
fn a_stop_wakes_a_read_that_waits_and_keeps_the_whole_lines() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo");
    assert!(made.success());
    let stop = Arc::new(Stop::new().expect("descriptors"));
    let options = ScanOptions::default().stop(Some(Arc::clone(&stop))).width(Width::Fixed(3));
    let writing = path.clone();
    let writer = thread::spawn(move || {
        let mut pipe = OpenOptions::new().write(true).open(writing).expect("opening the pipe");
        pipe.write_all(b"one\ntwo\nthr").expect("writing to the pipe");
        // The reader may see the end of the job before these bytes, but never half a line.
        thread::sleep(std::time::Duration::from_millis(100));
        stop.raise();
        pipe
    });
    let folded = gather(&Inputs::new([&path]), &options);
    drop(writer.join().expect("the writer"));
    let lines: Vec<Vec<u8>> = sorted(folded).into_iter().map(|(.., line)| line).collect();
    assert_eq!(lines, [b"one\n", b"two\n"]);
}

#[test]
fn time_is_measured_only_on_request() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.log");
    fs::write(&path, "line\n".repeat(10_000)).expect("a file");
    let inputs = Inputs::new([&path]);
    assert!(gather(&inputs, &options(2, 1000, 100)).report.is_none());
    let profiled = options(3, 1000, 100).profile(Detail::Sums);
    let report = gather(&inputs, &profiled).report.expect("a report");
    // A thread that starts when everything is done is not counted.
    assert_eq!(report.threads().iter().map(|thread| thread.bytes).sum::<u64>(), 50_000);
    let read: std::time::Duration = report.threads().iter().map(|thread| thread.spent(Phase::Read)).sum();
    assert!(!read.is_zero());
}

#[test]
fn files_of_the_proc_file_system_are_not_empty() {
    let folded = gather(&Inputs::new(["/proc/self/status"]), &ScanOptions::default());
    assert!(folded.bytes > 100);
}

/// The totals that are shown until one equals `awaited`, or for ten seconds.
fn totals(path: &Path, awaited: Option<u64>) -> Vec<Option<u64>> {
    let (seen, changed) = (std::sync::Mutex::new(Vec::new()), std::sync::Condvar::new());
    let show = |progress: Progress| {
        seen.lock().expect("no panics").push(progress.total);
        changed.notify_all();
    };
    let (after, every) = (std::time::Duration::ZERO, std::time::Duration::from_millis(1));
    let watch = Some(Watch::new(every, &show).after(after));
    gather_and(&Inputs::new([path]), &options(1, 1000, 100).watch(watch), &|_| {
        let seen = seen.lock().expect("no panics");
        let limit = std::time::Duration::from_secs(10);
        let waited = changed.wait_timeout_while(seen, limit, |seen| !seen.contains(&awaited));
        drop(waited.expect("no panics"));
        ControlFlow::Break(())
    });
    seen.into_inner().expect("no panics")
}

#[test]
fn the_total_is_shown_unless_an_input_is_decoded() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.log");
    fs::write(&path, "line\n".repeat(20)).expect("a file");
    let shown = totals(&path, Some(100));
    assert!(!shown.is_empty() && shown.iter().all(|&total| total == Some(100)), "{shown:?}");
    let text = [&b"\xff\xfe"[..], &b"a\0\n\0".repeat(200_000)].concat();
    fs::write(&path, text).expect("a file");
    let shown = totals(&path, None);
    assert_eq!(shown.last(), Some(&None));
}

#[test]
fn a_file_that_cannot_be_divided_is_in_the_first_part() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.log");
    let utf16: Vec<u8> = "\u{FEFF}a\nb\nc\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(&path, utf16).expect("a file");
    let lines = |part| {
        let options = options(1, 1 << 17, 1 << 17).part(Some(part));
        gather(&Inputs::new([&path]), &options).joined.concat().len()
    };
    assert_eq!((lines(0..1), lines(1..4), lines(4..u64::MAX)), (3, 0, 0));
}

#[test]
fn a_worker_that_panics_ends_the_job() {
    let directory = tempdir().expect("a directory");
    for number in 0..20 {
        fs::write(directory.path().join(number.to_string()), "line\n".repeat(2000)).expect("a file");
    }
    let inputs = Inputs::new([directory.path()]);
    for (width, at) in [(1, 3), (2, 1), (3, 40), (8, 90)] {
        let (sender, ended) = std::sync::mpsc::channel();
        let inputs = inputs.clone();
        thread::spawn(move || {
            let blocks = std::sync::atomic::AtomicUsize::new(0);
            let job = || {
                gather_and(&inputs, &options(width, 100, 100), &|_| {
                    let block = blocks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    assert!(block != at, "a panic of the test");
                    ControlFlow::Continue(())
                })
            };
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
            sender.send(done.is_err()).expect("the test waits");
        });
        let limit = std::time::Duration::from_secs(20);
        assert_eq!(ended.recv_timeout(limit), Ok(true), "{width} workers");
    }
}
