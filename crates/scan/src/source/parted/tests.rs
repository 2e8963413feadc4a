//! Files that are read in parts give the same text and errors as a stream, at any width. The sizes in this module and
//! in `split` are small in tests, so that small files have many parts.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;

use liblzma::stream::{Action, Check, Stream};
use proptest::prelude::*;

use super::super::decompress::tests::{compress, read, xz_with_a_short_chunk};
use super::*;
use crate::source::decode::Encoding;
use crate::{
    Accumulate, Block, Inputs, LineEnds, NulEnds, Output, Print, Reason, Recognize, Recognized, RecordEnds,
    Records, ScanOptions, Search, Select, Width, fold, in_order,
};

/// A file with several members (for bzip2 and xz: several blocks), and its text.
fn several(format: Compression, texts: &[Vec<u8>], blocks: bool) -> Vec<u8> {
    match format {
        Compression::Xz if blocks => xz_of_blocks(texts),
        Compression::Bzip2 if blocks => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder
                .write_all(&texts.concat())
                .and_then(|()| encoder.finish())
                .expect("nothing fails in memory")
        }
        _ => texts.iter().flat_map(|text| compress(format, text)).collect(),
    }
}

/// A stream with one block per text.
fn xz_of_blocks(texts: &[Vec<u8>]) -> Vec<u8> {
    let mut stream = Stream::new_easy_encoder(0, Check::Crc64).expect("memory");
    let mut file = Vec::with_capacity(texts.concat().len() + 4096 * (texts.len() + 1));
    for text in texts {
        let before = stream.total_in();
        while ((stream.total_in() - before) as usize) < text.len() {
            let done = (stream.total_in() - before) as usize;
            stream.process_vec(&text[done..], &mut file, Action::Run).expect("memory");
        }
        while stream.process_vec(&[], &mut file, Action::FullFlush).expect("memory")
            == liblzma::stream::Status::Ok
        {}
    }
    while stream.process_vec(&[], &mut file, Action::Finish).expect("memory") == liblzma::stream::Status::Ok {
    }
    file
}

/// Collects lines with their offsets and numbers.
#[derive(Default)]
struct GatherLines(Vec<(u64, Option<u64>, Vec<u8>)>);

impl Accumulate for GatherLines {
    type Part = Vec<(u64, Option<u64>, Vec<u8>)>;
    type Joined = Vec<(u64, Option<u64>, Vec<u8>)>;

    fn take(&mut self, block: &Block<'_>, _: &mut Meter) -> ControlFlow<()> {
        let mut position = 0;
        for line in block.bytes.split_inclusive(|&byte| byte == b'\n') {
            let place = block.place(position);
            self.0.push((place.offset, place.line, line.to_owned()));
            position += line.len();
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

/// Prints lines with their offsets.
struct PrintLines;

impl Select for PrintLines {}

impl Search for PrintLines {
    type Found = ();
    type State = u64;

    fn search(&mut self, _: &mut Block<'_>) {}

    fn advance(&mut self, block: &Block<'_>, (): &(), lines: &mut u64) -> ControlFlow<()> {
        *lines += memchr_iter(b'\n', block.bytes).count() as u64;
        ControlFlow::Continue(())
    }
}

impl Print for PrintLines {
    type Tally = ();

    fn print(
        &mut self,
        block: &Block<'_>,
        (): (),
        lines: &u64,
        (): &mut (),
        out: &mut Output<'_>,
        _: &mut Meter,
    ) {
        let mut offset = block.offset;
        for (number, line) in (1..).zip(block.bytes.split_inclusive(|&byte| byte == b'\n')) {
            out.bytes().extend(format!("{offset}:{}:", lines + number).bytes());
            out.bytes().extend(line);
            offset += line.len() as u64;
        }
    }
}

/// Checks that a file gives the same result as a stream of the same bytes.
fn check(format: Compression, file: &[u8], width: usize, block_size: usize) -> Result<(), TestCaseError> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("file");
    fs::write(&path, file)?;
    let (text, error) = read(format, file);
    let mut expected = Vec::new();
    let mut offset = 0;
    for (number, line) in (1..).zip(text.split_inclusive(|&byte| byte == b'\n')) {
        expected.push((offset, Some(number), line.to_owned()));
        offset += line.len() as u64;
    }
    let error: Vec<_> = error
        .map(|error| format!("{}: cannot decode: {error}; the data before that was read", path.display()))
        .into_iter()
        .collect();
    let options = ScanOptions { width: Width::Fixed(width), block_size, ..ScanOptions::default() };
    // The text may begin with a byte order mark.
    let inputs = Inputs { encoding: Encoding::None, ..Inputs::new([&path]) };

    let folded = fold(&inputs, &options.clone().into(), GatherLines::default);
    let mut lines = folded.joined.concat();
    lines.sort();
    prop_assert!(lines == expected, "{format:?} {} lines, {} expected", lines.len(), expected.len());
    let problems: Vec<_> = folded.problems.iter().map(ToString::to_string).collect();
    prop_assert_eq!(&problems, &error);

    let mut printed = Vec::new();
    let done = in_order(&inputs, &options.clone().into(), None, &mut printed, || PrintLines);
    let shown = |(offset, number, line): (u64, Option<u64>, Vec<u8>)| {
        [format!("{offset}:{}:", number.unwrap_or(0)).into_bytes(), line].concat()
    };
    prop_assert!(printed == expected.into_iter().flat_map(shown).collect::<Vec<u8>>(), "{format:?} in order");
    let problems: Vec<_> = done.problems.iter().map(ToString::to_string).collect();
    prop_assert_eq!(&problems, &error);
    Ok(())
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

/// Collects records with their offsets, line numbers, and whether they are in blocks of lines.
#[derive(Default)]
struct GatherRecords(Vec<(u64, Option<u64>, Vec<u8>, bool)>);

impl Accumulate for GatherRecords {
    type Part = Vec<(u64, Option<u64>, Vec<u8>, bool)>;
    type Joined = Vec<(u64, Option<u64>, Vec<u8>, bool)>;

    fn take(&mut self, block: &Block<'_>, _: &mut Meter) -> ControlFlow<()> {
        let (mut lines, mut records) = (LineEnds::default(), RecordEnds::default());
        let ends = match block.records {
            Records::Lines => lines.find(block.bytes),
            Records::Quoted { delimiter } => records.find(block.bytes, delimiter),
            Records::Started(ref start) => records.find_started(block.bytes, start),
            Records::Objects { .. } | Records::Unclosed { .. } => unreachable!("no objects are read"),
        };
        let mut begin = 0;
        for end in ends.iter().map(|&end| end as usize + 1).chain([block.bytes.len()]) {
            let (place, record) = (block.place(begin), block.bytes[begin..end].to_vec());
            self.0.push((place.offset, place.line, record, block.records == Records::Lines));
            begin = end;
        }
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<Self::Part> {
        vec![self.0]
    }

    fn join(parts: Vec<Self::Part>) -> Self::Joined {
        let mut records = parts.concat();
        records.retain(|(.., record, _)| !record.is_empty());
        records.sort();
        records
    }
}

/// Checks that a file gives the same records as a file of its text.
fn check_records(format: Compression, file: &[u8], options: &ScanOptions<'_>) -> Result<(), TestCaseError> {
    let directory = tempfile::tempdir()?;
    let (path, whole) = (directory.path().join("file"), directory.path().join("whole"));
    let (text, error) = read(format, file);
    fs::write(&path, file)?;
    fs::write(&whole, text)?;
    let mut expected = fold(
        &Inputs::new([&whole]),
        &ScanOptions { block_size: 1 << 30, ..options.clone() }.into(),
        GatherRecords::default,
    );
    let folded = fold(&Inputs::new([&path]), &options.clone().into(), GatherRecords::default);
    let (found, wanted) = (folded.joined.concat(), expected.joined.concat());
    let different = found.iter().zip(&wanted).find(|(found, wanted)| found != wanted);
    prop_assert!(
        found == wanted,
        "{format:?} {} records, {} expected, {different:?}",
        found.len(),
        wanted.len()
    );
    let mut problems: Vec<_> = expected.problems.drain(..).map(|problem| problem.to_string()).collect();
    problems = problems.iter().map(|problem| problem.replace("/whole: ", "/file: ")).collect();
    problems.extend(
        error.map(|error| {
            format!("{}: cannot decode: {error}; the data before that was read", path.display())
        }),
    );
    let found: Vec<_> = folded.problems.iter().map(ToString::to_string).collect();
    prop_assert_eq!(found, problems);
    Ok(())
}

fn quoted_text() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        3 => prop::sample::select(vec!["\"", ",\"", "\",", "\"\n", "\"\""]),
        9 => prop::sample::select(vec!["a", ",", "\n", "bc\n", "\r\n", "d,e,f\n"]),
    ];
    prop::collection::vec(word, 0..400).prop_map(|words| words.concat().into_bytes())
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        8 => prop::collection::vec(any::<u8>(), 0..80),
        1 => prop::collection::vec(prop::sample::select(vec![b'x', b'\n']), 0..3000),
        // Bytes that look like the beginning of a member and are stored uncompressed.
        1 => prop::sample::select(vec![
            vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], vec![0x28, 0xb5, 0x2f, 0xfd], vec![4, 0x22, 0x4d, 0x18],
        ]),
    ];
    prop::collection::vec(line, 0..60).prop_map(|lines| lines.join(&b"\n"[..]))
}

fn formats() -> impl Strategy<Value = (Compression, bool)> {
    prop::sample::select(vec![
        (Compression::Gzip, false),
        (Compression::Zstd, false),
        (Compression::Lz4, false),
        (Compression::Xz, false),
        (Compression::Xz, true),
        (Compression::Bzip2, false),
        (Compression::Bzip2, true),
    ])
}

fn widths() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![1, 2, 3, 8])
}

/// A text of several blocks for bzip2, whose blocks hold at least 100,000 bytes.
fn long_enough(format: Compression, blocks: bool, mut texts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    if format == Compression::Bzip2 && blocks {
        let number = |line: u32| line.wrapping_mul(2_654_435_761) >> 7;
        texts.push((0..20_000).flat_map(|line| format!("{:x}\n", number(line)).into_bytes()).collect());
    }
    texts
}

proptest! {
    #[test]
    fn parts_have_the_lines_of_the_stream(
        (format, blocks) in formats(),
        texts in prop::collection::vec(text(), 1..9),
        width in widths(),
        block_size in prop::sample::select(vec![1, 60, 1000, 1 << 17]),
    ) {
        let file = several(format, &long_enough(format, blocks, texts), blocks);
        check(format, &file, width, block_size)?;
    }

    #[test]
    fn damaged_parts_have_the_text_and_the_error_of_the_stream(
        (format, blocks) in formats(),
        texts in prop::collection::vec(text(), 2..9),
        width in widths(),
        at in any::<prop::sample::Index>(),
        damage in 0..5_u8,
    ) {
        let mut file = several(format, &long_enough(format, blocks, texts), blocks);
        let at = at.index(file.len());
        match damage {
            0 => file.truncate(at.max(20)),
            1 => file.extend(b"something else"),
            4 => file.extend([0; 600]),
            2 if at >= 20 => file[at] ^= 1 << (at % 8),
            _ if at >= 20 => drop(file.remove(at)),
            _ => {}
        }
        check(format, &file, width, 60)?;
    }
}

proptest! {
    #[test]
    fn parts_have_the_records_of_the_text(
        (format, blocks) in formats(),
        mut texts in prop::collection::vec(quoted_text(), 1..9),
        opened in any::<bool>(),
        width in widths(),
        block_size in prop::sample::select(vec![1, 60, 1000]),
        max_line in prop::sample::select(vec![10, 100, 1000, 64 << 20]),
        damage in prop::option::of(any::<prop::sample::Index>()),
    ) {
        if opened {
            texts.push(b"\n\"".to_vec());
        }
        let mut file = several(format, &long_enough(format, blocks, texts), blocks);
        if let Some(at) = damage.map(|at| at.index(file.len())).filter(|&at| at >= 20) {
            file[at] ^= 1 << (at % 8);
        }
        let recognize = Some(Arc::new(Quotes) as Arc<dyn Recognize>);
        let width = Width::Fixed(width);
        check_records(format, &file, &ScanOptions { width, block_size, max_line, recognize, ..ScanOptions::default() })?;
    }
}

#[test]
fn a_part_that_is_too_large_is_read_as_a_stream() {
    for format in [Compression::Gzip, Compression::Zstd, Compression::Xz] {
        let large: Vec<u8> = (0..80_000).flat_map(|line| format!("{line}\n").into_bytes()).collect();
        assert!(large.len() > MAX_PART);
        let texts = [b"one\ntwo".to_vec(), large.clone(), b"\nlast".to_vec()];
        check(format, &several(format, &texts, format == Compression::Xz), 3, 1000).expect("the same lines");
    }
}

#[test]
fn a_chunk_of_xz_that_is_too_short_gives_the_text_of_the_stream() {
    // The damaged stream begins anywhere in a window of the text.
    for length in [0, 10, 700, 1500] {
        let texts = [b"one\n".to_vec(), b"x".repeat(length), b"\ntwo".to_vec()];
        let before = several(Compression::Xz, &texts, false);
        let file = [before, xz_with_a_short_chunk(), compress(Compression::Xz, b"last")].concat();
        for (width, block_size) in [(1, 1), (1, 60), (2, 60), (3, 1000), (2, 1 << 17)] {
            check(Compression::Xz, &file, width, block_size).expect("the text and the error of the stream");
        }
    }
}

#[test]
fn every_format_is_split_into_parts_that_decompress_to_its_text() {
    let number = |part: u32, line: u32| (100 * part + line).wrapping_mul(2_654_435_761) >> 7;
    let text = |part| (0..100).flat_map(|line| format!("{:x}\n", number(part, line)).into_bytes()).collect();
    let texts: Vec<Vec<u8>> = (0..20).map(text).collect();
    for (format, blocks) in [
        (Compression::Gzip, false),
        (Compression::Zstd, false),
        (Compression::Lz4, false),
        (Compression::Xz, false),
        (Compression::Xz, true),
        (Compression::Bzip2, true),
    ] {
        let texts = long_enough(format, blocks, texts.clone());
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        fs::write(&path, several(format, &texts, blocks)).expect("a file");
        let file = Arc::new(File::open(&path).expect("a file"));
        let size = file.metadata().expect("its size").len();
        let mut splitter = Splitter::new(file, size, format).expect("several parts");
        let (mut parts, mut found) = (0, Vec::new());
        while let CompressedPart::Whole { bytes, is_last, .. } = splitter.next() {
            let (text, error) = read(format, &bytes);
            assert_eq!(error, None, "{format:?} {blocks}");
            found.extend(text);
            parts += 1;
            if is_last {
                break;
            }
        }
        assert!(matches!(splitter.next(), CompressedPart::End), "{format:?} {blocks}");
        assert!(parts > 1 && found == texts.concat(), "{format:?} {blocks}");
    }
}

/// The beginning of a text, or the rest of an overlong line if `discarding`.
fn state(discarding: bool) -> CutText {
    let (mode, tail, state) = (CutMode::Parts, Vec::new(), RecordState::Start);
    CutText { mode, tail, state, offset: 0, line: 1, discarding, in_long_line: false }
}

fn after_headroom(text: &[u8]) -> ReadBuffer {
    let mut buffer = ReadBuffer::new();
    leave_headroom(&mut buffer);
    buffer.bytes_mut(HEADROOM..HEADROOM + text.len()).copy_from_slice(text);
    buffer.truncate(HEADROOM + text.len());
    buffer
}

#[test]
fn the_beginning_of_an_overlong_line_is_returned_as_soon_as_it_is_known_to_be_overlong() {
    let bounds = ScanOptions { max_line: 5, ..ScanOptions::default() }.bounds();
    let mut text = state(false);
    let mut buffer = after_headroom(b"abcdefgh");
    let end = buffer.len();
    let ends = PartEnds::of(&buffer[HEADROOM..], &bounds);
    let block = text.cut(&mut buffer, end, &ends, false, &bounds);
    assert_eq!(&buffer[block.range], b"abcdefgh");
    assert!(text.discarding && text.tail.is_empty());
}

#[test]
fn after_an_overlong_piece_of_a_long_line_the_text_is_within_that_line() {
    let mut bounds = ScanOptions { max_line: LONG_LINE, ..ScanOptions::default() }.bounds();
    bounds.nul_ends = NulEnds::LongLines;
    for (rest, in_long_line) in [(b"xx\0yy\n", true), (b"xx\nyy\n", false)] {
        let mut text = state(true);
        let mut buffer = after_headroom(rest);
        let end = buffer.len();
        let ends = PartEnds::of(&buffer[HEADROOM..], &bounds);
        let block = text.cut(&mut buffer, end, &ends, false, &bounds);
        assert_eq!((block.offset, block.in_long_line), (3, in_long_line));
        assert_eq!(&buffer[block.range], b"yy\n");
        assert!(!text.discarding && !text.in_long_line);
    }
}
