//! Every record reaches exactly one worker, whole and with its place, at any width and block size, also if quotes make
//! it span lines; and every file is recognised by the same beginning.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use finecomb_scan::{
    Accumulate, Block, Folded, Inputs, MAX_HEAD, Mapping, Meter, Reason, Recognize, Recognized, RecordEnds,
    Records, ScanOptions, Source, Stop, Width, fold,
};
use finecomb_sys::units::{ByteLimit, Count};
use proptest::prelude::*;
use tempfile::{TempDir, tempdir};

/// A record: offset, bytes, and whether it belongs to a block of lines.
type FoundRecord = (u64, Vec<u8>, bool);

/// Collects every record.
#[derive(Default)]
struct GatherRecords {
    records: Vec<FoundRecord>,
    ends: RecordEnds,
    details: Vec<Option<&'static str>>,
}

impl Accumulate for GatherRecords {
    type Part = (Vec<FoundRecord>, Vec<Option<&'static str>>);
    type Joined = (Vec<FoundRecord>, Vec<Option<&'static str>>);

    fn take(&mut self, block: &Block<'_>, _: &mut Meter) -> ControlFlow<()> {
        let line_ends =
            || block.bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(at, _)| at);
        let ends: Vec<usize> = match block.records {
            Records::Lines => line_ends().collect(),
            Records::Quoted { delimiter } => {
                self.ends.find(block.bytes, delimiter).iter().map(|&end| end as usize).collect()
            }
            Records::Started(ref start) => {
                self.ends.find_started(block.bytes, start).iter().map(|&end| end as usize).collect()
            }
            Records::Objects { .. } | Records::Unclosed { .. } => unreachable!("no objects are read"),
        };
        let mut begin = 0;
        for end in ends.into_iter().map(|end| end + 1).chain([block.bytes.len()]) {
            if begin < end {
                let bytes = block.bytes[begin..end].to_vec();
                self.records.push((block.offset + begin as u64, bytes, block.records == Records::Lines));
            }
            begin = end;
        }
        let details = block.source.details().and_then(|details| details.downcast_ref().copied());
        self.details.push(details);
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<Self::Part> {
        vec![(self.records, self.details)]
    }

    fn join(parts: Vec<Self::Part>) -> Self::Joined {
        let (records, details): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        (records.concat(), details.concat())
    }
}

/// Recognises every file as soon as its text has this many bytes, and keeps what it was shown.
struct Always {
    needed: usize,
    records: Records,
    /// Lengths of the beginnings, and whether they were all.
    seen: Mutex<Vec<(Vec<u8>, bool)>>,
}

impl Always {
    fn new(needed: usize, records: Records) -> Arc<Self> {
        Arc::new(Self { needed, records, seen: Mutex::default() })
    }

    fn quoted() -> Arc<Self> {
        Self::new(0, QUOTED)
    }
}

impl Recognize for Always {
    fn recognize(&self, _: &Source, head: &[u8], is_all: bool) -> Result<Option<Recognized>, Reason> {
        self.seen.lock().expect("no panics").push((head.to_vec(), is_all));
        let decided = is_all || head.len() >= self.needed;
        Ok(decided.then(|| Recognized {
            records: self.records.clone(),
            heading: None,
            details: Arc::new("details"),
        }))
    }
}

const QUOTED: Records = Records::Quoted { delimiter: b',' };

fn gather(inputs: &Inputs, options: &ScanOptions<'_>) -> (Vec<FoundRecord>, Vec<String>) {
    let folded: Folded<_> = fold(inputs, &options.clone().into(), GatherRecords::default);
    let problems = folded.problems.iter().map(ToString::to_string).collect();
    let (mut records, details): (Vec<_>, Vec<_>) = folded.joined.into_iter().unzip();
    assert!(details.concat().iter().all(|&details| details == Some("details")));
    records.iter_mut().for_each(|records| records.sort());
    (records.concat(), problems)
}

fn options(width: usize, block_size: usize, max_line: usize) -> ScanOptions<'static> {
    let (width, recognize) = (Width::Fixed(width), Some(Always::quoted() as Arc<dyn Recognize>));
    let mapping = if block_size.is_multiple_of(2) { Mapping::Always } else { Mapping::Never };
    let options = ScanOptions::default().width(width).block_size(block_size).mapping(mapping);
    options.max_line(max_line).recognize(recognize)
}

/// Lengths of the records of a text with their line feeds, and of the last one if it has none. Also returns whether a
/// quote of the last one is not closed.
fn lengths(text: &[u8]) -> (Vec<usize>, bool) {
    #[derive(PartialEq)]
    enum CsvState {
        FieldStart,
        Field,
        Quoted,
        Quote,
    }
    let (mut lengths, mut state, mut length) = (Vec::new(), CsvState::FieldStart, 0);
    for byte in text {
        length += 1;
        state = match (state, byte) {
            (CsvState::Quoted, b'"') => CsvState::Quote,
            (CsvState::Quoted, _) | (CsvState::FieldStart | CsvState::Quote, b'"') => CsvState::Quoted,
            (_, b',') => CsvState::FieldStart,
            (_, b'\n') => {
                lengths.push(std::mem::take(&mut length));
                CsvState::FieldStart
            }
            _ => CsvState::Field,
        };
    }
    if length > 0 {
        lengths.push(length);
    }
    (lengths, state == CsvState::Quoted)
}

/// The records that `gather` should find in a text, and the offsets of too long records.
fn expected(text: &[u8], max_line: usize) -> (Vec<FoundRecord>, Vec<u64>) {
    let (lengths, is_open) = lengths(text);
    let (mut records, mut too_long, mut offset) = (Vec::new(), Vec::new(), 0);
    for (number, &length) in lengths.iter().enumerate() {
        let record = &text[offset..offset + length];
        let is_unclosed = is_open && number + 1 == lengths.len();
        let content = if is_unclosed { record } else { record.strip_suffix(b"\n").unwrap_or(record) };
        if content.len() > max_line {
            too_long.push(offset as u64);
        } else if is_unclosed {
            let mut line_offset = offset;
            for line in record.split_inclusive(|&byte| byte == b'\n') {
                records.push((line_offset as u64, line.to_vec(), true));
                line_offset += line.len();
            }
        } else {
            records.push((offset as u64, record.to_vec(), false));
        }
        offset += length;
    }
    (records, too_long)
}

/// The problem that `gather` should report for records that are too long.
pub(crate) fn reported(path: &Path, too_long: &[u64], max_line: usize) -> Vec<String> {
    let limit = ByteLimit(max_line as u64);
    let more = match too_long.len() {
        0 => return Vec::new(),
        1 => String::new(),
        2 => " (and 1 more such line)".to_owned(),
        count => format!(" (and {} more such lines)", Count(count as u64 - 1)),
    };
    vec![format!("{}: skipped the line at byte {}: longer than {limit}{more}", path.display(), too_long[0],)]
}

fn check(
    path: &Path,
    text: &[u8],
    (width, block_size, max_line): (usize, usize, usize),
) -> Result<(), TestCaseError> {
    let (records, problems) = gather(&Inputs::new([path]), &options(width, block_size, max_line));
    let (expected, too_long) = expected(text, max_line);
    prop_assert_eq!(records, expected);
    prop_assert_eq!(problems, reported(path, &too_long, max_line));
    Ok(())
}

/// Texts full of quotes, and some with few.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let words = |quotes| {
        prop_oneof![
            quotes => Just(&b"\""[..]),
            quotes => prop::sample::select(vec![&b"\"\""[..], b",\"", b"\",", b"\"\n", b"\"\r\n"]),
            20 => prop::sample::select(vec![&b","[..], b"a", b"bc", b" "]),
            12 => prop::sample::select(vec![&b"\n"[..], b"\n", b"\r\n"]),
            1 => Just(&[b'x'; 700][..]),
            1 => Just(&[b'\n'; 90][..]),
        ]
    };
    let text = |quotes| prop::collection::vec(words(quotes), 0..400).prop_map(|words| words.concat());
    let parts = prop::collection::vec(prop_oneof![2 => text(12), 1 => text(1)], 0..4);
    (parts, prop_oneof![3 => Just(""), 1 => Just("\"")])
        .prop_map(|(parts, end)| [parts.concat().as_slice(), end.as_bytes()].concat())
}

/// Width, block size and maximum length of a record.
pub(crate) fn settings() -> impl Strategy<Value = (usize, usize, usize)> {
    let widths = prop::sample::select(vec![1, 2, 3, 8, 64]);
    let block_sizes = prop_oneof![3 => 1..70_usize, 1 => 100..1000_usize, 1 => Just(1 << 17)];
    let limits = prop_oneof![1 => Just(64 << 20), 1 => 0..100_usize, 1 => 100..4000_usize];
    (widths, block_sizes, limits)
}

pub(crate) fn pipe(directory: &TempDir, pieces: Vec<Vec<u8>>) -> (PathBuf, thread::JoinHandle<()>) {
    let path = directory.path().join("pipe");
    let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo");
    assert!(made.success());
    let writing = path.clone();
    let writer = thread::spawn(move || {
        let mut pipe = OpenOptions::new().write(true).open(writing).expect("opening the pipe");
        for piece in pieces {
            pipe.write_all(&piece).expect("writing to the pipe");
        }
    });
    (path, writer)
}

pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).and_then(|()| encoder.finish()).expect("nothing fails in memory")
}

pub(crate) fn utf16(text: &[u8]) -> Vec<u8> {
    let encoded = text.iter().flat_map(|&byte| [byte, 0]);
    [0xff, 0xfe].into_iter().chain(encoded).collect()
}

proptest! {
    #[test]
    fn files_yield_every_record_once(text in texts(), settings in settings()) {
        let directory = tempdir()?;
        let path = directory.path().join("a.csv");
        fs::write(&path, &text)?;
        check(&path, &text, settings)?;
    }

    #[test]
    fn pipes_yield_every_record_once(text in texts(), settings in settings(), piece in 1..900_usize) {
        let directory = tempdir()?;
        let (path, writer) = pipe(&directory, text.chunks(piece).map(<[u8]>::to_vec).collect());
        check(&path, &text, settings)?;
        writer.join().expect("the writer");
    }

    #[test]
    fn transcoded_files_yield_every_record_once(text in texts(), settings in settings()) {
        let directory = tempdir()?;
        let path = directory.path().join("a.csv");
        fs::write(&path, utf16(&text))?;
        check(&path, &text, settings)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 8))]

    #[test]
    fn compressed_files_of_several_members_yield_every_record_once(
        texts in prop::collection::vec(texts(), 1..4),
        repeated in 1..60_usize,
        settings in settings(),
    ) {
        let directory = tempdir()?;
        let path = directory.path().join("a.csv.gz");
        let text = texts.concat().repeat(repeated);
        let members: Vec<u8> = text.chunks(20_000).flat_map(gzip).collect();
        fs::write(&path, members)?;
        check(&path, &text, settings)?;
    }
}

#[test]
fn a_record_that_ends_where_the_limit_is_reached_is_kept() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.csv");
    for text in
        ["\"a\nb\ncd\"\n", "\"a\nb\ncd\"", "\"a\nb\ncde", "\"a\nb\ncd\n", "\"a\nbcdef\"\nx\n", "\"a\nbcdef\n"]
    {
        fs::write(&path, text).expect("a file");
        for settings in [1, 2, 3, 8, 64].iter().flat_map(|&width| [1, 3, 9, 100].map(|size| (width, size, 8)))
        {
            check(&path, text.as_bytes(), settings).expect("the same records");
        }
    }
}

#[test]
fn an_overlong_record_is_skipped_up_to_its_end() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.csv");
    let text = format!("a\nb,\"{}\"\"\n\",\"\n\"\nc,\"d\ne\"\n", "long\n".repeat(300));
    fs::write(&path, &text).expect("a file");
    for width in [1, 3] {
        for block_size in [1, 100, 1 << 17] {
            let (records, problems) = gather(&Inputs::new([&path]), &options(width, block_size, 100));
            let last = text.len() as u64 - 8;
            let expected = [(0, b"a\n".to_vec(), false), (last, b"c,\"d\ne\"\n".to_vec(), false)];
            assert_eq!(records, expected);
            assert_eq!(problems, reported(&path, &[2], 100));
        }
    }
}

#[test]
fn an_unclosed_quote_at_the_end_of_a_large_file_makes_lines_of_the_rest() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.csv");
    let text = format!("{}x,\"y\n{}", "a,\"b\nc\"\n".repeat(5000), "d,\"\"\"e\"\n".repeat(20_000));
    fs::write(&path, &text).expect("a file");
    for settings in [(1, 1000, 64 << 20), (3, 1 << 17, 64 << 20), (8, 5000, 64 << 20), (8, 5000, 100_000)] {
        check(&path, text.as_bytes(), settings).expect("the same records");
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_read_ends_the_job_with_the_records_before() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.csv");
    for width in [1, 2, 3, 8, 64] {
        for block_size in [1, 7, 100, 800] {
            fs::write(&path, "0,\"12\n4\"\n".repeat(1000)).expect("a file");
            let shrinks = Arc::new(Shrinks(path.clone()));
            let recognize = Some(shrinks as Arc<dyn Recognize>);
            let options = options(width, block_size, 100).recognize(recognize);
            let (records, problems) = gather(&Inputs::new([&path]), &options);
            let whole: Vec<_> =
                (0..180).map(|number| (9 * number, b"0,\"12\n4\"\n".to_vec(), false)).collect();
            assert_eq!(records[..180], whole);
            // The last record is cut within quotes.
            assert_eq!(records[180..], [(1620, b"0,\"12\n".to_vec(), true)]);
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].contains("file truncated while it was read: it had 9.00 kB"), "{problems:?}");
        }
    }
}

/// Truncates the file that it recognises.
struct Shrinks(PathBuf);

impl Recognize for Shrinks {
    fn recognize(&self, _: &Source, _: &[u8], _: bool) -> Result<Option<Recognized>, Reason> {
        let file = OpenOptions::new().write(true).open(&self.0).expect("opening");
        file.set_len(1626).expect("truncating");
        Ok(Some(Recognized { records: QUOTED, heading: None, details: Arc::new("details") }))
    }
}

#[test]
fn a_stop_keeps_the_whole_records() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("pipe");
    let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo");
    assert!(made.success());
    let stop = Arc::new(Stop::new().expect("descriptors"));
    let options = options(3, 1 << 17, 100).stop(Some(Arc::clone(&stop)));
    let writing = path.clone();
    let writer = thread::spawn(move || {
        let mut pipe = OpenOptions::new().write(true).open(writing).expect("opening the pipe");
        pipe.write_all(b"one\n\"t\nw\no\"\n\"three\n").expect("writing to the pipe");
        thread::sleep(std::time::Duration::from_millis(100));
        stop.raise();
        pipe
    });
    let (records, _) = gather(&Inputs::new([&path]), &options);
    drop(writer.join().expect("the writer"));
    assert_eq!(records, [(0, b"one\n".to_vec(), false), (4, b"\"t\nw\no\"\n".to_vec(), false)]);
}

/// Where the text of an input starts, as its blocks say.
fn text_starts(path: &Path, block_size: usize) -> Vec<u64> {
    struct Starts(Vec<u64>);

    impl Accumulate for Starts {
        type Part = Vec<u64>;
        type Joined = Vec<u64>;

        fn take(&mut self, block: &Block<'_>, _: &mut Meter) -> ControlFlow<()> {
            self.0.push(block.source.text_start());
            ControlFlow::Continue(())
        }

        fn into_parts(self) -> Vec<Vec<u64>> {
            vec![self.0]
        }

        fn join(parts: Vec<Vec<u64>>) -> Vec<u64> {
            parts.concat()
        }
    }

    fold(&Inputs::new([path]), &options(2, block_size, 64 << 20).clone().into(), || Starts(Vec::new()))
        .joined
        .concat()
}

/// The beginnings of an input that a recogniser is shown if it needs this many bytes, and the records found.
fn shown(path: &Path, needed: usize, block_size: usize) -> (Vec<(Vec<u8>, bool)>, Vec<FoundRecord>) {
    let always = Always::new(needed, Records::Lines);
    let recognize = Some(Arc::clone(&always) as Arc<dyn Recognize>);
    let options = options(2, block_size, 64 << 20).recognize(recognize);
    let (records, problems) = gather(&Inputs::new([path]), &options);
    assert_eq!(problems, [""; 0]);
    let seen = std::mem::take(&mut *always.seen.lock().expect("no panics"));
    (seen, records)
}

#[test]
fn the_beginning_of_a_file_is_shown_once_and_does_not_depend_on_the_block_size() {
    let directory = tempdir().expect("a directory");
    let (path, gz) = (directory.path().join("a.csv"), directory.path().join("a.csv.gz"));
    for lines in [0, 1, 100, 2_000, 50_000] {
        let text: Vec<u8> = (0..lines).flat_map(|line| format!("{line},x\n").into_bytes()).collect();
        let marked = [b"\xef\xbb\xbf", text.as_slice()].concat();
        let members: Vec<u8> = text.chunks(30_000).flat_map(gzip).collect();
        let forms = [
            (&path, text.clone(), 0),
            (&path, marked.clone(), 3),
            (&path, utf16(&text), 0),
            (&gz, gzip(&text), 0),
            (&gz, gzip(&marked), 3),
            (&gz, if lines > 0 { members } else { gzip(&text) }, 0),
        ];
        for (path, bytes, skipped) in forms {
            fs::write(path, bytes).expect("a file");
            for block_size in [1, 1000, 1 << 17, 1 << 20] {
                let (seen, records) = shown(path, 0, block_size);
                let starts = text_starts(path, block_size);
                let head = text[..text.len().min(MAX_HEAD)].to_vec();
                assert!(seen == [(head, true)], "{lines} {block_size}");
                assert_eq!(records.len(), lines);
                assert!(records.first().is_none_or(|record| record.0 == skipped));
                assert!(starts.iter().all(|&start| start == skipped), "{starts:?}");
                assert!(records.iter().flat_map(|(_, line, _)| line).eq(&text));
            }
        }
    }
}

#[test]
fn a_pipe_is_read_no_further_than_needed_to_recognise_it() {
    for (block_size, needed) in [(1, 1), (1, 7), (1 << 17, 7), (100, 8), (100, 9)] {
        let directory = tempdir().expect("a directory");
        let path = directory.path().join("pipe");
        let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(made.success());
        let (shown, next) = std::sync::mpsc::channel();
        let asks = Arc::new(Asks { needed, shown: Mutex::new(shown) });
        let options = options(2, block_size, 100).recognize(Some(asks));
        let writing = path.clone();
        let writer = thread::spawn(move || {
            let mut pipe = OpenOptions::new().write(true).open(writing).expect("opening the pipe");
            for length in 1..=needed {
                pipe.write_all(b"x").expect("writing to the pipe");
                // Waits until the byte has been shown.
                assert_eq!(next.recv(), Ok(length));
            }
            pipe.write_all(b"\ny").expect("writing to the pipe");
            drop(pipe);
            next.recv().is_err()
        });
        let (records, problems) = gather(&Inputs::new([&path]), &options);
        drop(options);
        assert!(writer.join().expect("the writer"), "nothing is shown after the decision");
        assert_eq!(problems, [""; 0]);
        let first = [vec![b'x'; needed], b"\n".to_vec()].concat();
        assert_eq!(records, [(0, first, false), (needed as u64 + 1, b"y".to_vec(), false)]);
    }
}

/// Needs this many bytes, and sends the lengths that it is shown.
struct Asks {
    needed: usize,
    shown: Mutex<std::sync::mpsc::Sender<usize>>,
}

impl Recognize for Asks {
    fn recognize(&self, _: &Source, head: &[u8], is_all: bool) -> Result<Option<Recognized>, Reason> {
        assert!(!is_all);
        self.shown.lock().expect("no panics").send(head.len()).expect("the writer waits");
        let recognized = || Recognized { records: QUOTED, heading: None, details: Arc::new("details") };
        Ok((head.len() >= self.needed).then(recognized))
    }
}

#[test]
fn a_pipe_is_shown_up_to_its_end_or_the_longest_beginning() {
    for length in [0, 5, MAX_HEAD - 1, MAX_HEAD, MAX_HEAD + 1, 3 * MAX_HEAD] {
        for block_size in [1, 1 << 17] {
            let directory = tempdir().expect("a directory");
            let text = vec![b'x'; length];
            let (path, writer) = pipe(&directory, vec![text.clone()]);
            let (seen, records) = shown(&path, usize::MAX, block_size);
            writer.join().expect("the writer");
            let (last, before) = seen.split_last().expect("it is always asked");
            assert!(last.0 == text[..length.min(MAX_HEAD)] && last.1, "{length}");
            assert!(before.iter().all(|(head, is_all)| !is_all && text.starts_with(head)));
            assert_eq!(records.len(), usize::from(length > 0));
        }
    }
}

#[test]
fn a_file_that_is_not_recognised_is_one_of_lines_without_details() {
    struct Never;
    impl Recognize for Never {
        fn recognize(&self, _: &Source, _: &[u8], _: bool) -> Result<Option<Recognized>, Reason> {
            Ok(None)
        }
    }
    let directory = tempdir().expect("a directory");
    let (path, writer) = pipe(&directory, vec![b"\"a\nb\"\n".to_vec()]);
    let file = directory.path().join("a.csv");
    fs::write(&file, b"\"a\nb\"\n").expect("a file");
    for block_size in [1, 100] {
        let recognize = Some(Arc::new(Never) as Arc<dyn Recognize>);
        let options = options(2, block_size, 100).recognize(recognize);
        let inputs = if block_size == 1 { Inputs::new([&path, &file]) } else { Inputs::new([&file]) };
        let folded = fold(&inputs, &options.clone().into(), GatherRecords::default);
        let (records, details): (Vec<_>, Vec<_>) = folded.joined.into_iter().unzip();
        assert!(details.concat().iter().all(Option::is_none));
        assert!(records.concat().iter().all(|&(.., is_line)| is_line));
        assert_eq!(records.concat().len(), 2 * inputs.named.len());
    }
    writer.join().expect("the writer");
}

#[test]
fn a_file_that_cannot_be_used_is_reported_and_skipped() {
    struct Refuses;
    impl Recognize for Refuses {
        fn recognize(&self, _: &Source, head: &[u8], _: bool) -> Result<Option<Recognized>, Reason> {
            if head.starts_with(b"x") { Err("no names".into()) } else { Ok(None) }
        }
    }
    let directory = tempdir().expect("a directory");
    let (path, writer) = pipe(&directory, vec![b"x\ny\n".to_vec()]);
    let [bad, good] = ["bad", "good"].map(|name| directory.path().join(name));
    fs::write(&bad, b"x\ny\n").expect("a file");
    fs::write(&good, b"y\ny\n").expect("a file");
    let recognize = Some(Arc::new(Refuses) as Arc<dyn Recognize>);
    // In one block and in several.
    for block_size in [100, 1] {
        let inputs =
            if block_size == 1 { Inputs::new([&path, &bad, &good]) } else { Inputs::new([&bad, &good]) };
        let options = options(2, block_size, 100).recognize(recognize.clone());
        let folded = fold(&inputs, &options.clone().into(), GatherRecords::default);
        let (records, _): (Vec<_>, Vec<_>) = folded.joined.into_iter().unzip();
        assert_eq!(records.concat().len(), 2);
        let problems: Vec<String> = folded.problems.iter().map(ToString::to_string).collect();
        let skipped = inputs.named.len() - 1;
        assert_eq!(problems.len(), skipped);
        assert_eq!(problems[skipped - 1], format!("{}: no names; skipped", bad.display()));
    }
    writer.join().expect("the writer");
}
