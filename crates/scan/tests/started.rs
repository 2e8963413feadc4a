//! Every record that begins with a certain line reaches exactly one worker, whole and with its place, at any width and block size,
//! from files, pipes and decoded texts.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use finecomb_scan::{
    Accumulate, Block, Folded, Inputs, JudgeLine, LineRole, Mapping, Meter, RecordEnds, RecordStart, Records,
    ScanOptions, Width, fold,
};
use proptest::prelude::*;
use tempfile::tempdir;

use crate::records::{gzip, pipe, reported, settings, utf16};

/// Maximum number of bytes of a line that decide its role.
const JUDGED: usize = 64 << 10;

/// A record: offset and bytes.
type FoundRecord = (u64, Vec<u8>);

/// Collects every record.
#[derive(Default)]
struct GatherRecords {
    records: Vec<FoundRecord>,
    ends: RecordEnds,
}

impl Accumulate for GatherRecords {
    type Part = Vec<FoundRecord>;
    type Joined = Vec<FoundRecord>;

    fn take(&mut self, block: &Block<'_>, _: &mut Meter) -> ControlFlow<()> {
        let Records::Started(start) = &block.records else { panic!("{:?}", block.records) };
        let ends = self.ends.find_started(block.bytes, start);
        let mut begin = 0;
        for end in ends.iter().map(|&end| end as usize + 1).chain([block.bytes.len()]) {
            if begin < end {
                self.records.push((block.offset + begin as u64, block.bytes[begin..end].to_vec()));
            }
            begin = end;
        }
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<Self::Part> {
        vec![self.records]
    }

    fn join(parts: Vec<Self::Part>) -> Self::Joined {
        parts.concat()
    }
}

/// Judges lines by their first bytes.
#[derive(Debug)]
struct ByLetter;

impl JudgeLine for ByLetter {
    fn role(&self, line: &[u8]) -> LineRole {
        match line {
            [b'B', ..] => LineRole::Begins,
            [b'O', ..] => LineRole::Opens,
            _ => LineRole::Continues,
        }
    }

    fn may_open(&self) -> bool {
        true
    }
}

fn gather(
    inputs: &Inputs,
    start: &RecordStart,
    settings: (usize, usize, usize),
) -> (Vec<FoundRecord>, Vec<String>) {
    let (width, block_size, max_line) = settings;
    let mapping = if block_size.is_multiple_of(2) { Mapping::Always } else { Mapping::Never };
    let options = ScanOptions::default()
        .width(Width::Fixed(width))
        .block_size(block_size)
        .mapping(mapping)
        .max_line(max_line)
        .records(Records::Started(start.clone()));
    let folded: Folded<_> = fold(inputs, &options.into(), GatherRecords::default);
    let problems = folded.problems.iter().map(ToString::to_string).collect();
    let mut records = folded.joined.concat();
    records.sort();
    (records, problems)
}

/// The records of a text that are not too long, and the offsets of the others: a loop over its lines.
fn expected(text: &[u8], start: &RecordStart, max_line: usize) -> (Vec<FoundRecord>, Vec<u64>) {
    let mut all: Vec<FoundRecord> = Vec::new();
    let (mut offset, mut is_open) = (0, false);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = &content[..content.len().min(JUDGED)];
        let begins = match start.role(content.strip_suffix(b"\r").unwrap_or(content)) {
            LineRole::Begins => !std::mem::take(&mut is_open),
            LineRole::Continues => false,
            LineRole::Opens => {
                is_open = true;
                false
            }
        };
        match all.last_mut().filter(|_| !begins) {
            Some((_, record)) => record.extend_from_slice(line),
            None => all.push((offset, line.to_vec())),
        }
        offset += line.len() as u64;
    }
    let fits = |record: &[u8]| record.strip_suffix(b"\n").unwrap_or(record).len() <= max_line;
    let (kept, too_long): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, record)| fits(record));
    (kept, too_long.into_iter().map(|(offset, _)| offset).collect())
}

fn check(
    path: &Path,
    text: &[u8],
    start: &RecordStart,
    settings: (usize, usize, usize),
) -> Result<(), TestCaseError> {
    let (records, problems) = gather(&Inputs::new([path]), start, settings);
    let (expected, too_long) = expected(text, start, settings.2);
    prop_assert_eq!(records, expected);
    prop_assert_eq!(problems, reported(path, &too_long, settings.2));
    Ok(())
}

fn starts() -> impl Strategy<Value = RecordStart> {
    prop_oneof![
        Just(RecordStart::indent()),
        Just(RecordStart::new(ByLetter)),
        Just(RecordStart::regex("^B").expect("a valid expression")),
        Just(RecordStart::regex("B$").expect("a valid expression")),
        Just(RecordStart::regex("^never").expect("a valid expression")),
        Just(RecordStart::regex("").expect("a valid expression")),
    ]
}

/// Texts of lines that begin a record, continue it or open it, with runs of each, and some long lines.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        6 => prop::sample::select(vec!["B one", "B", "Ba\r", "a B"]),
        8 => prop::sample::select(vec![" c", "\tat d.E(F.java:1)", "", "\r", "Caused by: g", "... 3 more", "c"]),
        2 => prop::sample::select(vec!["O", "Traceback (most recent call last):", "O B"]),
    ];
    let lines = (line, prop_oneof![6 => Just(1_usize), 2 => 1..40_usize, 1 => 100..900_usize], any::<bool>());
    let text = lines.prop_map(|(line, count, has_end)| {
        let end = if has_end { "\n" } else { "" };
        format!("{line}{end}").repeat(count).into_bytes()
    });
    let long = (JUDGED - 3..JUDGED + 3, any::<bool>()).prop_map(|(length, begins)| {
        [vec![if begins { b'B' } else { b' ' }; length], b"B\n".to_vec()].concat()
    });
    let piece = prop_oneof![200 => text, 1 => long];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn files_yield_every_record_once(text in texts(), start in starts(), settings in settings()) {
        let directory = tempdir()?;
        let path = directory.path().join("a.log");
        fs::write(&path, &text)?;
        check(&path, &text, &start, settings)?;
    }

    #[test]
    fn pipes_yield_every_record_once(
        text in texts(), start in starts(), settings in settings(), piece in 1..900_usize,
    ) {
        let directory = tempdir()?;
        let (path, writer) = pipe(&directory, text.chunks(piece).map(<[u8]>::to_vec).collect());
        check(&path, &text, &start, settings)?;
        writer.join().expect("the writer");
    }

    #[test]
    fn transcoded_files_yield_every_record_once(text in texts(), start in starts(), settings in settings()) {
        let directory = tempdir()?;
        let path = directory.path().join("a.log");
        fs::write(&path, utf16(&text))?;
        check(&path, &text, &start, settings)?;
    }

    #[test]
    fn compressed_files_of_several_members_yield_every_record_once(
        text in texts(), start in starts(), settings in settings(), size in 100..20_000_usize,
    ) {
        let directory = tempdir()?;
        let path = directory.path().join("a.log.gz");
        fs::write(&path, text.chunks(size).flat_map(gzip).collect::<Vec<u8>>())?;
        check(&path, &text, &start, settings)?;
    }
}

#[test]
fn a_record_that_ends_where_the_limit_is_reached_is_kept() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.log");
    let start = RecordStart::regex("^B").expect("a valid expression");
    for text in
        ["B\na\nbcd\n", "B\na\nbcd", "B\na\nbcde", "B\na\nbcd\nB\n", "B\na\nbcd\n\nB", "a\nB\na\nbcd\nc\nB"]
    {
        fs::write(&path, text).expect("a file");
        for width in [1, 2, 3, 8] {
            for block_size in [1, 3, 9, 100] {
                check(&path, text.as_bytes(), &start, (width, block_size, 7)).expect("the same records");
            }
        }
    }
}

#[test]
fn the_line_that_decides_about_a_chunk_may_be_far_before_it() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.log");
    let traceback = format!("Traceback (most recent call last):\n{}", "  File\n".repeat(30_000));
    let text = format!("a\n{traceback}ValueError\nb\n{traceback}c\nd\n");
    fs::write(&path, &text).expect("a file");
    for settings in [(1, 1000, 64 << 20), (3, 64 << 10, 64 << 20), (8, 5000, 64 << 20), (8, 5000, 100_000)] {
        check(&path, text.as_bytes(), &RecordStart::indent(), settings).expect("the same records");
    }
}
