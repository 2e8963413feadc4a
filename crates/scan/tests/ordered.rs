//! Jobs with ordered output against a reference implementation.

#![allow(clippy::unwrap_used, reason = "a test ends on the first error")]

use std::fs;
use std::io::Write;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use finecomb_scan::{
    Block, Detail, Inputs, Mapping, Meter, Ordered, Output, Print, Progress, ScanOptions, Search, Select,
    Sort, SortKey, Source, Stop, WalkOptions, Wants, Watch, Width, in_order,
};
use finecomb_sys::advice::forget;
use finecomb_sys::bytes_from_storage_by_thread;
use proptest::prelude::*;

/// Numbers all lines, and ends a file after `limit` of them.
struct NumberLines {
    wants: Wants,
    limit: usize,
}

impl Select for NumberLines {
    fn wants(&self) -> Wants {
        self.wants
    }
}

impl Search for NumberLines {
    type Found = usize;
    type State = usize;

    fn search(&mut self, block: &mut Block<'_>) -> usize {
        lines(block.bytes).count()
    }

    fn advance(&mut self, _block: &Block<'_>, found: &usize, state: &mut usize) -> ControlFlow<()> {
        *state += found;
        if *state >= self.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn skip_line(&mut self, state: &mut usize, _bytes: &[u8]) {
        *state += 1;
    }
}

impl Print for NumberLines {
    type Tally = usize;

    fn name(&mut self, source: &Source, out: &mut Output<'_>) {
        out.bytes().extend(format!("{source}\n").bytes());
    }

    fn print(
        &mut self,
        block: &Block<'_>,
        found: usize,
        state: &usize,
        tally: &mut usize,
        out: &mut Output<'_>,
        _: &mut Meter,
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
    let mapping = if (width + block_size).is_multiple_of(2) { Mapping::Always } else { Mapping::Never };
    let options = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size).mapping(mapping);
    let mut out = Vec::new();
    let done =
        in_order(&Inputs::new([root]), &options.clone().into(), Some(b"--\n".to_vec()), &mut out, || {
            NumberLines { wants, limit }
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
        for wants in [Wants::Blocks, Wants::Whole(usize::MAX), Wants::Name] {
            let expected = expected_output(root.path(), wants, limit);
            for width in [1, 2, 3, 8, 64] {
                let found = in_parallel(root.path(), wants, limit, width, block_size);
                prop_assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&expected));
            }
        }
    }
}

#[test]
fn a_file_above_the_limit_on_whole_files_is_reported_and_skipped() {
    let root = tempfile::tempdir().unwrap();
    for (name, size) in [("a", 200_000), ("b", 200_001), ("c", 3_000_000), ("d", 1)] {
        fs::write(root.path().join(name), vec![b'\n'; size]).unwrap();
    }
    let wants = Wants::Whole(200_000);
    let visitor = || NumberLines { wants, limit: 1 };
    let options = ScanOptions::default();
    let done = in_order(&Inputs::new([root.path()]), &options.clone().into(), None, &mut Vec::new(), visitor);
    let problems: Vec<String> = done.problems.iter().map(|problem| problem.to_string()).collect();
    let expected = |name| format!("{}: larger than 200,000 bytes; skipped", root.path().join(name).display());
    assert_eq!(problems, [expected("b"), expected("c")]);
    assert_eq!(done.files, 2);
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
    let options = ScanOptions::default().width(Width::Fixed(16)).block_size(16 << 10);
    let mut out = Slow(Vec::new());
    let limit = usize::MAX / 2;
    let separator = Some(b"--\n".to_vec());
    in_order(&Inputs::new([root.path()]), &options.clone().into(), separator, &mut out, || NumberLines {
        wants: Wants::Blocks,
        limit,
    });
    assert!(out.0 == expected_output(root.path(), Wants::Blocks, limit));
}

/// Prints each file with its size, and whether it came in one block. Ends the job after a file named `last`.
struct Sizes;

impl Select for Sizes {
    fn whole_size(&self, source: &Source) -> usize {
        if source.path().unwrap().ends_with("program") { 200 } else { 0 }
    }
}

impl Search for Sizes {
    type Found = ();
    type State = (u64, bool);

    fn search(&mut self, _block: &mut Block<'_>) {}

    fn advance(&mut self, block: &Block<'_>, (): &(), state: &mut (u64, bool)) -> ControlFlow<()> {
        *state = (state.0 + block.bytes.len() as u64, block.is_whole);
        ControlFlow::Continue(())
    }
}

impl Print for Sizes {
    type Tally = ();

    fn print(
        &mut self,
        _: &Block<'_>,
        (): (),
        _: &(u64, bool),
        (): &mut (),
        _: &mut Output<'_>,
        _: &mut Meter,
    ) {
    }

    fn end(
        &mut self,
        source: &Source,
        (size, whole): (u64, bool),
        (): (),
        out: &mut Output<'_>,
    ) -> ControlFlow<()> {
        let name = source.path().unwrap().file_name().unwrap().to_string_lossy();
        out.bytes().extend(format!("{name} {size}{}\n", if whole { " whole" } else { "" }).bytes());
        if name == "last" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Fails after this many bytes.
struct Limited(Vec<u8>, usize);

impl std::io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.extend_from_slice(bytes);
        if self.0.len() > self.1 { Err(std::io::Error::other("full")) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The sizes of the inputs with blocks of ten bytes, and the rest of the result. More output than expected is an error.
fn sizes(inputs: &Inputs, width: usize) -> (String, Ordered<Sizes>) {
    let options = ScanOptions::default().width(Width::Fixed(width)).block_size(10).profile(Detail::Sums);
    let mut out = Limited(Vec::new(), 1000);
    let done = in_order(inputs, &options.clone().into(), None, &mut out, || Sizes);
    assert!(done.problems.is_empty());
    (String::from_utf8_lossy(&out.0).into_owned(), done)
}

fn bytes(done: &Ordered<Sizes>) -> u64 {
    done.report.as_ref().unwrap().threads().iter().map(|thread| thread.bytes).sum()
}

#[test]
fn small_files_come_in_one_block_and_all_bytes_are_counted() {
    let root = tempfile::tempdir().unwrap();
    for (name, lines) in [("a", 1), ("b", 0), ("c", 30), ("d", 2)] {
        fs::write(root.path().join(name), "line\n".repeat(lines)).unwrap();
    }
    for width in [1, 2, 8] {
        let (found, done) = sizes(&Inputs::new([root.path()]), width);
        assert_eq!(found, "a 5 whole\nb 0 whole\nc 150\nd 10 whole\n");
        assert_eq!((bytes(&done), done.files), (165, 4));
        assert!(done.output_error.is_none());
    }
}

#[test]
fn files_that_are_wanted_at_once_come_in_one_block_up_to_their_size() {
    let root = tempfile::tempdir().unwrap();
    for (name, lines) in [("a/program", 40), ("b/program", 41), ("c/notes", 40), ("d/program", 1)] {
        let path = root.path().join(name);
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::write(path, "line\n".repeat(lines)).unwrap();
    }
    for width in [1, 2, 8] {
        let (found, _) = sizes(&Inputs::new([root.path()]), width);
        assert_eq!(found, "program 200 whole\nprogram 205\nnotes 200\nprogram 5 whole\n");
    }
}

#[test]
fn sorted_files_are_read_once_each() {
    let root = tempfile::tempdir().unwrap();
    for (name, lines) in [("a", 30), ("b", 1), ("c", 90), ("d", 40), ("e", 2)] {
        fs::write(root.path().join(name), "line\n".repeat(lines)).unwrap();
    }
    for (reverse, expected) in [
        (false, "b 5 whole\ne 10 whole\na 150\nd 200\nc 450\n"),
        (true, "c 450\nd 200\na 150\ne 10 whole\nb 5 whole\n"),
    ] {
        let walk = WalkOptions::default().sort(Sort { by: SortKey::Size, reverse });
        for width in [1, 2, 8] {
            let (found, done) = sizes(&Inputs { walk: walk.clone(), ..Inputs::new([root.path()]) }, width);
            assert_eq!(found, expected);
            assert!(done.output_error.is_none());
        }
    }
}

/// Prints the sizes of files with an `m`, whose matches are known without a visit.
struct Matching;

impl Select for Matching {}

impl Search for Matching {
    type Found = ();
    type State = (u64, bool);

    fn search(&mut self, _block: &mut Block<'_>) {}

    fn is_skippable(&mut self, block: &Block<'_>) -> bool {
        !block.bytes.contains(&b'm')
    }

    fn advance(&mut self, block: &Block<'_>, (): &(), state: &mut (u64, bool)) -> ControlFlow<()> {
        *state = (state.0 + block.bytes.len() as u64, state.1 || block.bytes.contains(&b'm'));
        ControlFlow::Continue(())
    }
}

impl Print for Matching {
    type Tally = ();

    fn end(
        &mut self,
        _source: &Source,
        (size, matches): (u64, bool),
        (): (),
        out: &mut Output<'_>,
    ) -> ControlFlow<()> {
        if matches {
            out.bytes().extend(format!("{size}\n").bytes());
        }
        ControlFlow::Continue(())
    }
}

/// In one directory there are more files than a worker collects at once.
#[test]
fn sorted_files_are_all_visited_whether_few_or_many_match() {
    for every in [1, 2, 50] {
        let root = tempfile::tempdir().unwrap();
        let (mut expected, mut all) = (Vec::new(), 0);
        for number in 0..900_usize {
            let directory =
                root.path().join(if number < 700 { "many".into() } else { format!("few{}", number % 9) });
            fs::create_dir_all(&directory).unwrap();
            let matches = number % every == 0;
            let size = number * 37 % 997;
            let text = if matches { "m".repeat(size) } else { "x\n".repeat(size / 2) };
            fs::write(directory.join(number.to_string()), &text).unwrap();
            all += text.len() as u64;
            if text.contains('m') {
                expected.push(size);
            }
        }
        expected.sort_unstable();
        let expected: String = expected.iter().map(|size| format!("{size}\n")).collect();
        let walk = WalkOptions::default().sort(Sort { by: SortKey::Size, reverse: false });
        let inputs = Inputs { walk, ..Inputs::new([root.path()]) };
        for width in [1, 2, 8] {
            let options = ScanOptions::default().width(Width::Fixed(width)).profile(Detail::Sums);
            let mut out = Vec::new();
            let done = in_order(&inputs, &options.clone().into(), None, &mut out, || Matching);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
            let report = done.report.unwrap();
            assert_eq!(done.files, 900);
            assert_eq!(report.threads().iter().map(|thread| thread.files).sum::<u64>(), 900);
            assert_eq!(report.threads().iter().map(|thread| thread.bytes).sum::<u64>(), all);
        }
    }
}

#[test]
fn named_pipes_are_read_to_their_end() {
    let root = tempfile::tempdir().unwrap();
    let (file, pipe) = (root.path().join("file"), root.path().join("pipe"));
    fs::write(&file, "line\n").unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let path = pipe.clone();
    let writer = std::thread::spawn(move || fs::write(path, "line\n".repeat(100)));
    let (found, done) = sizes(&Inputs::new([&pipe, &file]), 2);
    // Releases a writer whose pipe was not read.
    let _ = fs::OpenOptions::new().read(true).write(true).open(&pipe);
    let _ = writer.join().unwrap();
    assert_eq!(found, "pipe 500\nfile 5 whole\n");
    assert_eq!(bytes(&done), 505);
}

#[test]
fn a_break_at_the_end_of_a_file_ends_the_job() {
    let root = tempfile::tempdir().unwrap();
    let paths = ["a", "last", "z"].map(|name| root.path().join(name));
    for path in &paths {
        fs::write(path, "line\n").unwrap();
    }
    for inputs in [Inputs::new([root.path()]), Inputs::new(paths)] {
        assert_eq!(sizes(&inputs, 1).1.files, 2);
    }
}

/// A visitor that prints may lose output by ending the job, but no gap shows in what is written.
#[test]
fn what_is_written_before_a_break_is_the_beginning_of_the_whole_output() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..200 {
        let name = if number == 120 { "m-0120/last".to_owned() } else { format!("m-{number:04}/file") };
        fs::create_dir_all(root.path().join(&name).parent().unwrap()).unwrap();
        fs::write(root.path().join(name), "line\n".repeat(number % 7)).unwrap();
    }
    let name = |number| if number == 120 { "last" } else { "file" };
    let all: String = (0..200).map(|number| format!("{} {}\n", name(number), 5 * (number % 7))).collect();
    for width in [1, 2, 4, 8] {
        let options = ScanOptions::default().width(Width::Fixed(width)).block_size(10);
        let mut out = Vec::new();
        let done = in_order(&Inputs::new([root.path()]), &options.clone().into(), None, &mut out, || Sizes);
        let written = String::from_utf8(out).unwrap().replace(" whole", "");
        assert!(all.starts_with(&written), "{width}: {written}");
        assert!(done.files < 200 || width > 1, "{width}");
    }
}

#[test]
fn an_error_of_the_output_ends_the_job_and_is_returned() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a"), "line\n").unwrap();
    let mut out = Limited(Vec::new(), 3);
    let done =
        in_order(&Inputs::new([root.path()]), &ScanOptions::default().into(), None, &mut out, || Sizes);
    assert_eq!(done.output_error.map(|error| error.to_string()), Some("full".to_owned()));
}

/// Counts the files below a directory that are open while one of them is searched.
struct OpenFiles<'a> {
    root: &'a Path,
    most: usize,
}

impl Select for OpenFiles<'_> {
    fn wants(&self) -> Wants {
        Wants::Whole(usize::MAX)
    }
}

impl Search for OpenFiles<'_> {
    type Found = ();
    type State = ();

    fn search(&mut self, _: &mut Block<'_>) {
        let targets =
            fs::read_dir("/proc/self/fd").unwrap().flatten().map(|entry| fs::read_link(entry.path()));
        let is_file = |target: &PathBuf| target.starts_with(self.root) && target != self.root;
        self.most = self.most.max(targets.flatten().filter(is_file).count());
    }
}

impl Print for OpenFiles<'_> {
    type Tally = ();
}

/// Most files open at a time, and bytes that came from storage. The calling thread is the only worker.
fn most_open_files(root: &Path) -> (usize, u64) {
    let options = ScanOptions::default().width(Width::Fixed(1));
    let from_storage = || bytes_from_storage_by_thread().unwrap_or_default();
    let before = from_storage();
    let done = in_order(&Inputs::new([root]), &options.clone().into(), None, &mut Vec::new(), || OpenFiles {
        root,
        most: 0,
    });
    (done.visits[0].most, from_storage() - before)
}

#[test]
fn files_from_storage_are_prefetched_at_a_fixed_width_and_files_in_memory_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for number in 0..64 {
        let path = root.join(number.to_string());
        fs::write(&path, vec![b'x'; 20_000]).unwrap();
        let file = fs::File::open(&path).unwrap();
        // Only clean pages can be dropped.
        file.sync_all().unwrap();
        forget(&file, 0, 0);
    }
    let (most, from_storage) = most_open_files(&root);
    // A file system in memory has no storage.
    if from_storage >= 32 * 20_000 {
        // The file that is searched is closed by then.
        assert!((2..=5).contains(&most), "{most}");
    }
    let open = [(); 3].map(|()| most_open_files(&root));
    // The cache may lose pages at any time, so a single run may be cold.
    assert!(open.iter().any(|&(most, _)| most <= 1), "{open:?}");
}

/// The output fails at the end of the first pipe. The second one stays open until the job has ended, or has not in time.
#[test]
fn an_error_of_the_output_wakes_a_read_that_waits() {
    let root = tempfile::tempdir().unwrap();
    let pipes = ["a", "b"].map(|name| root.path().join(name));
    assert!(std::process::Command::new("mkfifo").args(&pipes).status().unwrap().success());
    for has_stop in [false, true] {
        let [mut first, second] =
            pipes.each_ref().map(|pipe| fs::OpenOptions::new().read(true).write(true).open(pipe).unwrap());
        let (ended, wait) = mpsc::channel();
        let holder = thread::spawn(move || {
            first.write_all(b"line\n").unwrap();
            // The other worker waits for the second pipe by then.
            thread::sleep(Duration::from_millis(200));
            drop(first);
            let in_time = wait.recv_timeout(Duration::from_secs(10));
            drop(second);
            in_time
        });
        let stop = has_stop.then(|| Arc::new(Stop::new().unwrap()));
        let options = ScanOptions::default().width(Width::Fixed(2)).stop(stop.clone());
        let done = in_order(
            &Inputs::new(&pipes),
            &options.clone().into(),
            None,
            &mut Limited(Vec::new(), 0),
            || Sizes,
        );
        let _ = ended.send(());
        holder.join().unwrap().unwrap();
        assert!(done.output_error.is_some());
        // The stop request itself stays unset.
        assert!(stop.is_none_or(|stop| !stop.is_raised()));
    }
}

/// Number of bytes processed, and of bytes in all inputs.
type Shown = (u64, Option<u64>);

/// An output that waits until this progress is shown.
struct Awaiting<'a> {
    seen: &'a (Mutex<Vec<Shown>>, Condvar),
    awaited: Shown,
}

impl Write for Awaiting<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let (seen, changed) = self.seen;
        let is_missing = |seen: &mut Vec<_>| !seen.contains(&self.awaited);
        drop(changed.wait_timeout_while(seen.lock().unwrap(), Duration::from_secs(10), is_missing).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether the progress of a job on these files, whose output waits for it, is shown.
fn shows(paths: &[PathBuf], sort: Sort, width: usize, awaited: Shown) -> bool {
    let seen: (Mutex<Vec<_>>, _) = (Mutex::default(), Condvar::new());
    let show = |Progress { done, total, .. }: Progress| {
        seen.0.lock().unwrap().push((done, total));
        seen.1.notify_all();
    };
    let watch = Watch::new(Duration::from_millis(1), &show).after(Duration::ZERO);
    let options = ScanOptions::default().width(Width::Fixed(width)).watch(Some(watch));
    let inputs = Inputs { walk: WalkOptions::default().sort(sort), ..Inputs::new(paths) };
    let mut out = Awaiting { seen: &seen, awaited };
    in_order(&inputs, &options.clone().into(), None, &mut out, || NumberLines {
        wants: Wants::Blocks,
        limit: usize::MAX,
    });
    let seen = seen.0.lock().unwrap();
    seen.contains(&awaited)
}

#[test]
fn progress_is_shown_with_the_total_unless_an_input_is_decoded() {
    let directory = tempfile::tempdir().unwrap();
    let (text, wide) = (directory.path().join("a"), directory.path().join("b"));
    fs::write(&text, "line\n".repeat(20)).unwrap();
    fs::write(&wide, [&b"\xff\xfe"[..], &b"a\0\n\0".repeat(10)].concat()).unwrap();
    let by_path = Sort::default();
    let by_time = Sort { by: SortKey::Modified, ..by_path };
    for width in [1, 3] {
        for sort in [by_path, by_time] {
            assert!(shows(std::slice::from_ref(&text), sort, width, (100, Some(100))), "{width} {sort:?}");
        }
        assert!(shows(std::slice::from_ref(&wide), by_path, width, (20, None)), "{width}");
    }
}

/// Truncates a file while its parts are searched, and prints the number of bytes left.
struct Truncating(PathBuf);

impl Select for Truncating {
    fn wants(&self) -> Wants {
        Wants::Whole(usize::MAX)
    }

    fn searches_parts(&self) -> bool {
        true
    }
}

impl Search for Truncating {
    type Found = Range<usize>;
    type State = ();

    fn search_part(&mut self, text: &[u8], part: Range<usize>) -> Option<Range<usize>> {
        assert!(text.get(part.clone()).is_some());
        fs::OpenOptions::new().write(true).open(&self.0).unwrap().set_len(5000).unwrap();
        Some(part)
    }

    fn receive_parts(&mut self, found: Vec<Option<Range<usize>>>) {
        let ends: Vec<usize> = found.into_iter().map(|part| part.unwrap().end).collect();
        assert_eq!(ends, [32_000, 64_000, 90_000]);
    }

    fn search(&mut self, block: &mut Block<'_>) -> Range<usize> {
        0..block.bytes.iter().filter(|&&byte| byte != 0).count()
    }
}

impl Print for Truncating {
    type Tally = ();

    fn print(
        &mut self,
        _block: &Block<'_>,
        found: Range<usize>,
        (): &(),
        (): &mut (),
        out: &mut Output<'_>,
        _: &mut Meter,
    ) {
        out.bytes().extend(format!("{}\n", found.end).bytes());
    }
}

#[test]
fn a_mapped_file_that_shrinks_is_reported() {
    for width in [1, 3] {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("file");
        fs::write(&path, "xxxxxxxx\n".repeat(10_000)).unwrap();
        let options = ScanOptions::default().width(Width::Fixed(width)).block_size(1000);
        let mut out = Vec::new();
        let done = in_order(&Inputs::new([&path]), &options.clone().into(), None, &mut out, || {
            Truncating(path.clone())
        });
        let problems: Vec<String> = done.problems.iter().map(|problem| problem.to_string()).collect();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(
            problems[0]
                .contains("file truncated while it was read: it had 90.0 kB, now it ends at byte 5000"),
            "{problems:?}"
        );
        // The kernel fills the last page with zeros.
        assert_eq!(String::from_utf8(out).unwrap(), "5000\n");
    }
}
