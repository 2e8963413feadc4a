use std::fs::{self, File};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use finecomb_meter::Meter;

use super::{Next, follow};
use crate::block::{Block, Source};
use crate::collect::merged::Accumulate;
use crate::inputs::Inputs;
use crate::options::{ScanOptions, Width};
use crate::recognize::{Reason, Recognize, Recognized};
use crate::records::start::RecordStart;
use crate::records::{RecordEnds, Records};
use crate::stop::Stop;

/// All lines, or the records of several lines with a bar for each line end.
#[derive(Clone, Default)]
struct CollectLines(Vec<String>);

impl Accumulate for CollectLines {
    type Part = Vec<String>;
    type Joined = Vec<String>;

    fn take(&mut self, block: &Block<'_>, _meter: &mut Meter) -> ControlFlow<()> {
        match &block.records {
            Records::Started(start) => {
                let text = String::from_utf8_lossy(block.bytes).replace('\n', "|");
                let mut ends = RecordEnds::default();
                let mut begin = 0;
                for &end in ends.find_started(block.bytes, start) {
                    self.0.push(text[begin..end as usize].to_owned());
                    begin = end as usize + 1;
                }
                assert_eq!(begin, text.len(), "a record without an end");
            }
            _ => self.0.extend(block.lines().map(|line| String::from_utf8_lossy(line).into_owned())),
        }
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<Self::Part> {
        vec![self.0]
    }

    fn join(parts: Vec<Self::Part>) -> Self::Joined {
        parts.concat()
    }
}

/// Lines and problems that a job has found so far.
#[derive(Default)]
struct SeenSoFar {
    lines: Vec<String>,
    problems: Vec<String>,
}

/// The world that a job follows.
struct World {
    directory: tempfile::TempDir,
    seen: Arc<Mutex<SeenSoFar>>,
}

impl World {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn append(&self, name: &str, text: &str) {
        let mut file = File::options().append(true).create(true).open(self.path(name)).expect("a file");
        file.write_all(text.as_bytes()).expect("room");
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).expect("a file");
    }

    /// Waits until the job has found these lines, in any order.
    fn await_lines(&self, expected: &[&str]) {
        let start = Instant::now();
        loop {
            let lines = sorted(self.seen.lock().expect("no panic").lines.clone());
            if lines == expected {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "{lines:?} are not {expected:?}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn await_problem(&self, part: &str) {
        let start = Instant::now();
        while !self.seen.lock().expect("no panic").problems.iter().any(|problem| problem.contains(part)) {
            assert!(start.elapsed() < Duration::from_secs(20), "no problem with '{part}'");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

/// Follows inputs while `act` changes them, and returns all lines and problems.
fn while_followed(
    names: &[&str],
    prepare: impl FnOnce(&World),
    act: impl FnOnce(&World) + Send,
) -> (Vec<String>, Vec<String>) {
    while_divided(Records::Lines, names, prepare, act)
}

/// Follows inputs with records of any kind while `act` changes them.
fn while_divided(
    records: Records,
    names: &[&str],
    prepare: impl FnOnce(&World),
    act: impl FnOnce(&World) + Send,
) -> (Vec<String>, Vec<String>) {
    let world = World { directory: tempfile::tempdir().expect("a directory"), seen: Arc::default() };
    prepare(&world);
    let inputs = Inputs::new(names.iter().map(|name| world.path(name)));
    let stop = Arc::new(Stop::new().expect("a signal"));
    let options = ScanOptions {
        width: Width::Fixed(3),
        block_size: 16,
        stop: Some(Arc::clone(&stop)),
        records,
        ..ScanOptions::default()
    };
    thread::scope(|scope| {
        let world = &world;
        scope.spawn(move || {
            // Also if it panics.
            let _raise = RaiseAtEnd(stop);
            act(world);
        });
        let followed = follow(&inputs, &options.clone().into(), CollectLines::default, |pause| {
            let mut seen = world.seen.lock().expect("no panic");
            seen.lines = pause.accumulators.iter().flat_map(|lines| lines.0.clone()).collect();
            seen.problems.extend(pause.problems.iter().map(ToString::to_string));
            Next::Wait(None)
        });
        assert!(followed.is_complete);
        let mut problems = std::mem::take(&mut world.seen.lock().expect("no panic").problems);
        problems.extend(followed.folded.problems.iter().map(ToString::to_string));
        let shown = |problem: String| problem.replace(&*world.directory.path().to_string_lossy(), "");
        (sorted(followed.folded.joined.concat()), problems.into_iter().map(shown).collect())
    })
}

struct RaiseAtEnd(Arc<Stop>);

impl Drop for RaiseAtEnd {
    fn drop(&mut self) {
        self.0.raise();
    }
}

const NONE: [&str; 0] = [];

#[test]
fn what_is_there_and_what_is_added_is_read() {
    let (lines, problems) = while_followed(
        &["a.log", "logs"],
        |world| {
            world.append("a.log", "one\ntw");
            fs::create_dir_all(world.path("logs/deep")).expect("room");
            world.append("logs/deep/b.log", "three\n");
        },
        |world| {
            world.await_lines(&["one", "three"]);
            world.append("a.log", "o\n");
            world.append("logs/deep/b.log", "four\n");
            world.await_lines(&["four", "one", "three", "two"]);
            world.append("logs/deep/new.log", "five\n");
            fs::create_dir_all(world.path("logs/later")).expect("room");
            world.append("logs/later/c.log", "six\n");
            world.await_lines(&["five", "four", "one", "six", "three", "two"]);
        },
    );
    assert_eq!(lines, ["five", "four", "one", "six", "three", "two"]);
    assert_eq!(problems, NONE);
}

#[test]
fn a_renamed_file_is_read_on_and_not_again() {
    let prepare = |world: &World| {
        fs::create_dir(world.path("logs")).expect("room");
        world.append("logs/a.log", "1\n");
    };
    for names in [&["logs/a.log"][..], &["logs"], &["logs/a.log", "logs"]] {
        let (lines, problems) = while_followed(names, prepare, |world| {
            world.await_lines(&["1"]);
            world.rename("logs/a.log", "logs/a.log.1");
            world.append("logs/a.log.1", "2\n");
            world.append("logs/a.log", "3\n");
            world.await_lines(&["1", "2", "3"]);
            world.rename("logs/a.log.1", "logs/a.log.2");
            world.rename("logs/a.log", "logs/a.log.1");
            world.append("logs/a.log", "5\n");
            world.append("logs/a.log.2", "4\n");
            world.append("logs/a.log.1", "late\n");
            world.await_lines(&["1", "2", "3", "4", "5", "late"]);
            world.rename("logs/a.log.2", "elsewhere");
            world.append("elsewhere", "6\n");
            world.await_lines(&["1", "2", "3", "4", "5", "6", "late"]);
        });
        assert_eq!(lines, ["1", "2", "3", "4", "5", "6", "late"]);
        assert_eq!(problems, NONE);
    }
}

#[test]
fn a_file_without_a_name_is_read_on() {
    let (lines, problems) = while_followed(
        &["a.log"],
        |world| world.append("a.log", "1\n"),
        |world| {
            world.await_lines(&["1"]);
            let mut writer = File::options().append(true).open(world.path("a.log")).expect("a file");
            fs::remove_file(world.path("a.log")).expect("a file");
            writer.write_all(b"2\n").expect("room");
            world.append("a.log", "3\n");
            world.await_lines(&["1", "2", "3"]);
        },
    );
    assert_eq!(lines, ["1", "2", "3"]);
    assert_eq!(problems, NONE);
}

/// The writer has opened the first name.
#[test]
fn a_file_whose_first_name_was_removed_is_read_on_under_its_second() {
    let (lines, problems) = while_followed(
        &["."],
        |_| {},
        |world| {
            let mut writer = File::create(world.path("a.log")).expect("room");
            let mut append = |line: &[u8]| writer.write_all(line).expect("room");
            append(b"1\n");
            world.await_lines(&["1"]);
            fs::hard_link(world.path("a.log"), world.path("b.log")).expect("room");
            fs::remove_file(world.path("a.log")).expect("a file");
            append(b"2\n");
            world.await_lines(&["1", "2"]);
            append(b"3\n");
            world.await_lines(&["1", "2", "3"]);
        },
    );
    assert_eq!(lines, ["1", "2", "3"]);
    assert_eq!(problems, NONE);
}

#[test]
fn a_truncated_file_is_read_again_and_reported() {
    let (lines, problems) = while_followed(
        &["a.log"],
        |world| world.append("a.log", "1\n2\n"),
        |world| {
            world.await_lines(&["1", "2"]);
            fs::write(world.path("a.log"), "3\n").expect("room");
            world.await_lines(&["1", "2", "3"]);
            // Longer than before, but with another beginning.
            fs::write(world.path("a.log"), "4\n5\n6\n").expect("room");
            world.await_lines(&["1", "2", "3", "4", "5", "6"]);
        },
    );
    assert_eq!(lines, ["1", "2", "3", "4", "5", "6"]);
    let expected = "/a.log: truncated while it was followed; read again from its beginning; records written \
                    shortly before that may be missing";
    assert!(!problems.is_empty() && problems.iter().all(|problem| problem == expected), "{problems:?}");
}

#[test]
fn the_rest_of_a_truncated_file_is_read_from_its_copy() {
    let expected: Vec<String> = (0..100).map(|line| format!("{line:04}")).collect();
    let (lines, problems) = while_followed(
        &["."],
        |world| world.append("a.log", "0000\n"),
        |world| {
            world.await_lines(&["0000"]);
            for (number, line) in expected.iter().enumerate().skip(1) {
                world.append("a.log", &format!("{line}\n"));
                // Some lines are read before the copy is made, and some are not.
                thread::sleep(Duration::from_millis(number as u64 % 3));
                if number % 10 == 0 {
                    let copy = world.path(&format!("a.log.{number}"));
                    File::create(&copy).expect("room");
                    // A file that is truncated in the instant in which it is read is not recognised in its copy.
                    world.await_lines(&expected[..=number].iter().map(String::as_str).collect::<Vec<_>>());
                    fs::copy(world.path("a.log"), copy).expect("room");
                    File::create(world.path("a.log")).expect("room");
                    // A second rotation before the first one is seen would hide it.
                    world.await_lines(&expected[..=number].iter().map(String::as_str).collect::<Vec<_>>());
                }
            }
            world.await_lines(&expected.iter().map(String::as_str).collect::<Vec<_>>());
        },
    );
    assert_eq!(lines, expected);
    assert!(problems.iter().any(|problem| problem.starts_with("/./a.log: truncated while it was followed")));
    assert!(problems.iter().any(|problem| problem.contains("; the rest was read from its copy /./a.log.")));
}

#[test]
fn a_copy_that_begins_as_two_files_is_that_of_the_one_whose_contents_it_gets() {
    // Written in the order in which the names are walked: the first file is the longer one, and in the other directory.
    let (lines, problems) = while_followed(
        &["."],
        |world| {
            fs::create_dir(world.path("one")).expect("a directory");
            fs::create_dir(world.path("two")).expect("a directory");
            world.append("one/a.log", "same\nother\nlonger\n");
            world.append("two/a.log", "same\nmine\n");
        },
        |world| {
            let all = ["longer", "mine", "other", "same", "same"];
            world.await_lines(&all);
            world.append("two/a.log.1", "same\n");
            thread::sleep(Duration::from_millis(150));
            world.append("two/a.log.1", "mine\n");
            thread::sleep(Duration::from_millis(150));
            File::create(world.path("two/a.log")).expect("room");
            thread::sleep(Duration::from_millis(150));
            world.append("two/a.log", "new\n");
            world.await_lines(&["longer", "mine", "new", "other", "same", "same"]);
        },
    );
    assert_eq!(lines, ["longer", "mine", "new", "other", "same", "same"]);
    assert!(
        problems.iter().any(|problem| problem.contains("; the rest was read from its copy")),
        "{problems:?}"
    );
}

#[test]
fn a_file_with_more_than_another_is_no_copy() {
    let (lines, problems) = while_followed(
        &["."],
        |world| {
            world.append("a.1.log", "start\n");
            world.append("b.1.log", "2");
        },
        |world| {
            world.await_lines(&["start"]);
            world.append("a.2.log", "start\nx\n");
            world.append("b.2.log", "2026 x\n");
            world.await_lines(&["2026 x", "start", "start", "x"]);
        },
    );
    assert_eq!(lines, ["2026 x", "start", "start", "x"]);
    assert_eq!(problems, ["/./b.1.log: the record at byte 0 has no end yet; not counted"]);
}

#[test]
fn a_file_with_the_identity_of_a_removed_one_is_read() {
    let (lines, _) = while_followed(
        &["."],
        |world| world.append("a.log", "1\n"),
        |world| {
            world.await_lines(&["1"]);
            let mut expected = vec!["1".to_owned()];
            for number in 2..20 {
                fs::write(world.path("old.gz"), [0x1F, 0x8B, 8, 0, 0, 0, 0, 0]).expect("room");
                thread::sleep(Duration::from_millis(15));
                fs::remove_file(world.path("old.gz")).expect("a file");
                // Often gets the inode of the removed file.
                world.append(&format!("b{number}.log"), &format!("{number}\n"));
                expected.push(number.to_string());
                expected.sort();
                world.await_lines(&expected.iter().map(String::as_str).collect::<Vec<_>>());
            }
        },
    );
    assert_eq!(lines.len(), 19);
}

#[test]
fn directories_and_links_on_the_way_to_a_file_may_be_replaced() {
    let (lines, problems) = while_followed(
        &["x/y/a.log", "current/a.log", "link"],
        |world| {
            for directory in ["x/y", "one", "two", "target"] {
                fs::create_dir_all(world.path(directory)).expect("room");
            }
            world.append("x/y/a.log", "1\n");
            world.append("one/a.log", "2\n");
            world.append("target/b.log", "3\n");
            std::os::unix::fs::symlink("one", world.path("current")).expect("room");
            std::os::unix::fs::symlink("target/b.log", world.path("link")).expect("room");
        },
        |world| {
            world.await_lines(&["1", "2", "3"]);
            world.rename("x", "z");
            fs::create_dir_all(world.path("x/y")).expect("room");
            world.append("x/y/a.log", "4\n");
            world.await_lines(&["1", "2", "3", "4"]);
            world.append("two/a.log", "5\n");
            std::os::unix::fs::symlink("two", world.path("new")).expect("room");
            world.rename("new", "current");
            world.await_lines(&["1", "2", "3", "4", "5"]);
            world.rename("target/b.log", "target/b.log.1");
            world.append("target/b.log", "6\n");
            world.await_lines(&["1", "2", "3", "4", "5", "6"]);
        },
    );
    assert_eq!(lines, ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(problems, NONE);
}

#[test]
fn a_file_that_only_begins_like_another_is_read() {
    let (lines, problems) = while_followed(
        &["."],
        |world| world.append("a.log", "1\n2\n"),
        |world| {
            world.await_lines(&["1", "2"]);
            world.append("a.old", "1\n");
            world.await_problem("not read so far");
            world.append("a.old", "3\n");
            world.await_lines(&["1", "1", "2", "3"]);
            world.append("b.log", "1\n");
            world.await_lines(&["1", "1", "1", "2", "3"]);
        },
    );
    assert_eq!(lines, ["1", "1", "1", "2", "3"]);
    assert_eq!(problems.len(), 1);
}

#[test]
fn inputs_may_appear_vanish_and_return() {
    let (lines, problems) = while_followed(
        &["a.log", "logs"],
        |_| {},
        |world| {
            world.await_problem("waiting for it");
            world.append("a.log", "1\n");
            world.await_lines(&["1"]);
            fs::create_dir(world.path("logs")).expect("room");
            world.append("logs/b.log", "2\n");
            world.await_lines(&["1", "2"]);
            fs::remove_dir_all(world.path("logs")).expect("a directory");
            fs::create_dir(world.path("logs")).expect("room");
            world.append("logs/b.log", "3\n");
            world.await_lines(&["1", "2", "3"]);
        },
    );
    assert_eq!(lines, ["1", "2", "3"]);
    let waiting = |name: &str| format!("/{name}: no such file or directory; waiting for it");
    assert_eq!(problems[..2], [waiting("a.log"), waiting("logs")]);
}

#[test]
fn an_unfinished_last_line_is_reported() {
    let (lines, problems) = while_followed(
        &["a.log"],
        |world| world.append("a.log", "1\n"),
        |world| {
            world.await_lines(&["1"]);
            world.append("a.log", "2\nthr");
            world.await_lines(&["1", "2"]);
        },
    );
    assert_eq!(lines, ["1", "2"]);
    assert_eq!(problems, ["/a.log: the record at byte 4 has no end yet; not counted"]);
}

#[test]
fn a_record_of_several_lines_ends_before_the_next_or_after_a_while() {
    let records = Records::Started(RecordStart::indent());
    let prepare = |world: &World| world.append("a", "a\n b\nc\n");
    let (found, problems) = while_divided(records, &["a"], prepare, |world| {
        world.await_lines(&["a| b"]);
        let begun = Instant::now();
        world.append("a", " d\n");
        world.await_lines(&["a| b", "c| d"]);
        assert!(begun.elapsed() >= Duration::from_millis(900), "it did not wait");
        world.append("a", " e\nf\n g\n h");
        world.await_lines(&[" e", "a| b", "c| d"]);
    });
    assert_eq!(found, [" e", "a| b", "c| d", "f| g"]);
    assert!(problems[0].contains("has no end yet"), "{problems:?}");
}

#[test]
fn compressed_files_are_read_once_if_they_are_there_at_the_beginning() {
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).expect("memory");
        encoder.finish().expect("memory")
    };
    let (lines, problems) = while_followed(
        &["."],
        |world| fs::write(world.path("old.gz"), gzip("1\n2\n")).expect("room"),
        |world| {
            world.await_lines(&["1", "2"]);
            fs::write(world.path("new.gz"), gzip("2\n")).expect("room");
            world.await_problem("not read: compressed");
            world.append("a.log", "3\n");
            world.await_lines(&["1", "2", "3"]);
        },
    );
    assert_eq!(lines, ["1", "2", "3"]);
    assert_eq!(problems.len(), 1, "{problems:?}");
}

/// Recognises all texts with at least a line, each time by another number.
#[derive(Default)]
struct RecognizeByNumber(AtomicU64);

impl Recognize for RecognizeByNumber {
    fn recognize(&self, _: &Source, head: &[u8], _: bool) -> Result<Option<Recognized>, Reason> {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        let recognized = || Recognized { records: Records::Lines, heading: None, details: Arc::new(number) };
        Ok(head.contains(&b'\n').then(recognized))
    }
}

/// The lines, each with the number by which its file was recognised.
#[derive(Default)]
struct Numbered(Vec<(String, u64)>);

impl Accumulate for Numbered {
    type Part = Vec<(String, u64)>;
    type Joined = Vec<(String, u64)>;

    fn take(&mut self, block: &Block<'_>, _meter: &mut Meter) -> ControlFlow<()> {
        let number = block.source.details().and_then(|details| details.downcast_ref().copied());
        let number = number.expect("a recognised file");
        self.0.extend(block.lines().map(|line| (String::from_utf8_lossy(line).into_owned(), number)));
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<Self::Part> {
        vec![self.0]
    }

    fn join(parts: Vec<Self::Part>) -> Self::Joined {
        parts.concat()
    }
}

#[test]
fn inputs_are_recognised_again_after_a_while() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.log");
    fs::write(&path, "1\n").expect("room");
    let recognize = Some(Arc::new(RecognizeByNumber::default()) as Arc<dyn Recognize>);
    let options = ScanOptions { width: Width::Fixed(1), recognize, ..ScanOptions::default() };
    let mut pauses = 0;
    let followed = follow(&Inputs::new([&path]), &options.clone().into(), Numbered::default, |_| {
        pauses += 1;
        let mut file = File::options().append(true).open(&path).expect("a file");
        file.write_all(format!("{}\n", pauses + 1).as_bytes()).expect("room");
        if pauses < 10 { Next::Wait(Some(Duration::ZERO)) } else { Next::End }
    });
    let lines = followed.folded.joined.concat();
    assert_eq!(lines[0], ("1".to_owned(), 0));
    assert!(lines.len() == 11 && lines[10].1 > 0, "{lines:?}");
}

#[test]
fn a_job_ends_with_its_pipes() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
    let inputs = Inputs::new([&path]);
    let options = ScanOptions { block_size: 16, ..ScanOptions::default() };
    let pauses = Mutex::new(Vec::new());
    let lines = |accumulators: &[CollectLines]| {
        accumulators.iter().flat_map(|lines| lines.0.clone()).collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut writer = File::options().write(true).open(&path).expect("a reader");
            writer.write_all(b"one\ntw").expect("room");
            while pauses.lock().expect("no panic").last() != Some(&vec!["one".to_owned()]) {
                thread::sleep(Duration::from_millis(1));
            }
            writer.write_all(b"o\nthree").expect("room");
        });
        let followed = follow(&inputs, &options.clone().into(), CollectLines::default, |pause| {
            pauses.lock().expect("no panic").push(lines(pause.accumulators));
            Next::Wait(None)
        });
        assert_eq!(sorted(followed.folded.joined.concat()), ["one", "three", "two"]);
        assert!(followed.folded.problems.is_empty());
    });
}

#[test]
fn pauses_come_after_the_time_that_was_asked_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut pauses = 0;
    let followed = follow(
        &Inputs::new([directory.path()]),
        &ScanOptions::default().into(),
        CollectLines::default,
        |pause| {
            assert!(!pause.has_new && pause.inputs == 0);
            pauses += u32::from(!pause.is_last);
            if pauses < 3 { Next::Wait(Some(Duration::from_millis(1))) } else { Next::End }
        },
    );
    assert!(followed.is_complete);
    assert_eq!(pauses, 3);
}
