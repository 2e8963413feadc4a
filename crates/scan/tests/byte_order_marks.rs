//! The offset of a line that is too long counts the byte order mark of UTF-8, from any input and in any job.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::thread;

use finecomb_scan::{
    Accumulate, Block, Inputs, Meter, Output, Print, Problem, ScanOptions, Search, Select, Source, Width,
    fold, in_order,
};
use tempfile::tempdir;

/// Ignores all lines, in a job whose results are merged.
struct Ignore;

impl Accumulate for Ignore {
    type Part = ();
    type Joined = ();

    fn take(&mut self, _: &Block<'_>, _: &mut Meter) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<()> {
        Vec::new()
    }

    fn join(_: Vec<()>) {}
}

/// Prints the offsets of lines in the text, which no byte order mark precedes.
struct PrintOffsets;

impl Select for PrintOffsets {}

impl Search for PrintOffsets {
    type Found = ();
    type State = ();

    fn search(&mut self, _: &mut Block<'_>) {}
}

impl Print for PrintOffsets {
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
        let mut offset = block.offset;
        for line in block.bytes.split_inclusive(|&byte| byte == b'\n') {
            out.bytes().extend(format!("{offset} ").bytes());
            offset += line.len() as u64;
        }
    }

    fn end(&mut self, _: &Source, (): (), (): (), _: &mut Output<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn reasons<'a>(problems: impl IntoIterator<Item = &'a Problem>) -> Vec<String> {
    problems.into_iter().map(|problem| problem.kind.to_string()).collect()
}

/// Runs a job on a file or, if `is_pipe`, on a named pipe through which another thread sends the file. The job has another file.
fn with_input<T>(path: &Path, is_pipe: bool, job: impl FnOnce(&Inputs) -> T) -> T {
    let other = path.with_extension("other");
    fs::write(&other, "end\n").expect("a file");
    if !is_pipe {
        return job(&Inputs::new([path, &other]));
    }
    let pipe = path.with_extension("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let (content, writing) = (fs::read(path).expect("the file"), pipe.clone());
    let writer = thread::spawn(move || {
        let mut pipe = fs::OpenOptions::new().write(true).open(writing).expect("opening the pipe");
        pipe.write_all(&content).expect("writing to the pipe");
    });
    let result = job(&Inputs::new([&pipe, &other]));
    writer.join().expect("the writer");
    fs::remove_file(pipe).expect("the pipe");
    result
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn the_offset_of_a_line_that_is_too_long_counts_the_mark_in_every_input() {
    let directory = tempdir().expect("a directory");
    let (plain, packed) = (directory.path().join("plain"), directory.path().join("packed"));
    for (mark, start) in [("", 0), ("\u{feff}", 3)] {
        let text = format!("{mark}short\n{}\n{}", "a line of twenty-six letters\n", "end\n".repeat(40_000));
        fs::write(&plain, &text).expect("a file");
        fs::write(&packed, gzip(text.as_bytes())).expect("a file");
        let expected = [format!("skipped the line at byte {}: longer than 20 bytes", start + 6)];
        for (path, is_pipe) in [(&plain, false), (&plain, true), (&packed, false), (&packed, true)] {
            // Whole files, files in chunks of one worker, and files in chunks of all workers.
            for block_size in [1, 10, 1000, 4000, 60_000, 1 << 20] {
                let width = Width::Fixed(2);
                let options = ScanOptions::default().width(width).block_size(block_size).max_line(20);
                let folded =
                    with_input(path, is_pipe, |inputs| fold(inputs, &options.clone().into(), || Ignore));
                let name = format!("{} {is_pipe} {block_size} {start}", path.display());
                assert_eq!(reasons(&folded.problems), expected, "{name}");
                let mut out = Vec::new();
                let visited = with_input(path, is_pipe, |inputs| {
                    in_order(inputs, &options.clone().into(), None, &mut out, || PrintOffsets)
                });
                assert_eq!(reasons(&visited.problems), expected, "{name}");
                assert!(out.starts_with(b"0 35 36 40 "), "{name}: offsets in the text");
            }
        }
    }
}
