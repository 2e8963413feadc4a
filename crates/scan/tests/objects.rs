//! Every object of a document reaches exactly one worker, whole and with its place, at any width and block size.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use finecomb_scan::{
    Accumulate, Block, Inputs, Mapping, MemberPath, Meter, ObjectSpans, Reason, Recognize, Recognized,
    Records, ScanOptions, Source, Width, fold,
};
use proptest::prelude::*;
use tempfile::tempdir;

/// A record: offset and bytes.
type FoundRecord = (u64, Vec<u8>);

/// Collects every record, and the places of documents without the array.
#[derive(Default)]
struct GatherObjects {
    records: Vec<FoundRecord>,
    spans: ObjectSpans,
}

impl Accumulate for GatherObjects {
    type Part = Vec<FoundRecord>;
    type Joined = Vec<FoundRecord>;

    fn take(&mut self, block: &Block<'_>, _: &mut Meter) -> ControlFlow<()> {
        let spans = match block.records {
            Records::Objects { array } => self.spans.find(block.bytes, array),
            Records::Unclosed { array } => self.spans.find_unclosed(block.bytes, array),
            _ => unreachable!("only objects are read"),
        };
        let found =
            |&(start, end): &(usize, usize)| (block.offset + start as u64, block.bytes[start..end].to_vec());
        self.records.extend(spans.iter().map(found));
        let without = self.spans.without_array().iter();
        self.records.extend(without.map(|&at| (block.offset + at as u64, b"no array".to_vec())));
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<Self::Part> {
        vec![self.records]
    }

    fn join(parts: Vec<Self::Part>) -> Self::Joined {
        parts.concat()
    }
}

/// Says that every file has objects.
struct AreObjects(MemberPath);

impl Recognize for AreObjects {
    fn recognize(&self, _: &Source, _: &[u8], _: bool) -> Result<Option<Recognized>, Reason> {
        Ok(Some(Recognized {
            records: Records::Objects { array: self.0 },
            heading: None,
            details: Arc::new(()),
        }))
    }
}

/// The records of a file in order, and the problems, without its path.
fn gather(
    path: &Path,
    array: MemberPath,
    (width, block_size, max_line): (usize, usize, usize),
) -> (Vec<FoundRecord>, Vec<String>) {
    let mapping = if block_size.is_multiple_of(2) { Mapping::Always } else { Mapping::Never };
    let options = ScanOptions::default()
        .width(Width::Fixed(width))
        .block_size(block_size)
        .max_line(max_line)
        .mapping(mapping)
        .recognize(Some(Arc::new(AreObjects(array)) as Arc<dyn Recognize>));
    let folded = fold(&Inputs::new([path]), &options.clone().into(), GatherObjects::default);
    let mut records = folded.joined.concat();
    records.sort();
    let name = path.display().to_string();
    let problems = folded.problems.iter().map(|problem| problem.to_string().replace(&name, "")).collect();
    (records, problems)
}

/// Documents, and texts that are nearly documents.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let good = prop::sample::select(vec![
        "{\"a\":1}",
        "{\"a\":{\"r\":[{}]}}",
        "{\n  \"a\": [\n    {}\n  ]\n}",
        "{\"a\":\"}\\\\\\\"]\"}",
        "{}",
    ]);
    let frame = prop::sample::select(vec![",", ",\n", ",\n  ", "]\n[", "]}\n{\"r\":[", "]}{\"r\":[", "\n"]);
    let bad =
        prop::sample::select(vec!["{", "}", "[", "\"", "\\", "x", "1", "{}\n{", "a {\n", "{\"r\":1}", "\n{"]);
    let long = (1..400_usize).prop_map(|length| format!("{{\"l\":\"{}\"}}", "y".repeat(length)));
    let piece = prop_oneof![
        20 => good.prop_map(str::to_owned), 20 => frame.prop_map(str::to_owned), 3 => long,
    ];
    let wild = prop_oneof![8 => piece.clone(), 1 => bad.prop_map(str::to_owned)];
    let begin = prop::sample::select(vec!["", "[", "{\"r\":[", "{\"s\":[{}],\"r\":[\n"]);
    let pieces = prop_oneof![prop::collection::vec(piece, 0..300), prop::collection::vec(wild, 0..300)];
    (begin, pieces).prop_map(|(begin, pieces)| [begin, &pieces.concat()].concat().into_bytes())
}

fn arrays() -> impl Strategy<Value = MemberPath> {
    prop::sample::select(vec![None, Some("r")]).prop_map(|keys| MemberPath::new(keys).expect("short"))
}

fn settings() -> impl Strategy<Value = (usize, usize)> {
    (prop::sample::select(vec![1, 2, 3, 8]), prop_oneof![1..200_usize, 1000..5000_usize])
}

fn limits() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![64 << 20, 300, 5])
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).and_then(|()| encoder.finish()).expect("nothing fails in memory")
}

proptest! {
    #[test]
    fn records_do_not_depend_on_widths_and_blocks(
        text in texts(),
        array in arrays(),
        (width, block_size) in settings(),
        limit in limits(),
    ) {
        let directory = tempdir()?;
        let path = directory.path().join("a.json");
        fs::write(&path, &text)?;
        let expected = gather(&path, array, (1, 1 << 20, limit));
        prop_assert_eq!(gather(&path, array, (width, block_size, limit)), expected);
    }

    #[test]
    fn records_of_pipes_are_those_of_files(
        text in texts(),
        array in arrays(),
        (width, block_size) in settings(),
        limit in limits(),
        piece in 1..900_usize,
    ) {
        let directory = tempdir()?;
        let [path, pipe] = ["a.json", "pipe"].map(|name| directory.path().join(name));
        fs::write(&path, &text)?;
        prop_assert!(Command::new("mkfifo").arg(&pipe).status()?.success());
        let expected = gather(&path, array, (1, 1 << 20, limit));
        let found = thread::scope(|scope| {
            scope.spawn(|| {
                let mut writer = fs::OpenOptions::new().write(true).open(&pipe).expect("opening the pipe");
                text.chunks(piece).for_each(|piece| writer.write_all(piece).expect("writing to the pipe"));
            });
            gather(&pipe, array, (width, block_size, limit))
        });
        prop_assert_eq!(found, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 8))]

    #[test]
    fn records_of_compressed_files_are_those_of_files(
        text in texts(),
        array in arrays(),
        (width, block_size) in settings(),
        limit in limits(),
        repeated in 1..60_usize,
    ) {
        let directory = tempdir()?;
        let [path, packed] = ["a.json", "a.json.gz"].map(|name| directory.path().join(name));
        let text = text.repeat(repeated);
        fs::write(&path, &text)?;
        fs::write(&packed, text.chunks(20_000).flat_map(gzip).collect::<Vec<u8>>())?;
        let expected = gather(&path, array, (1, 4 << 20, limit));
        prop_assert_eq!(gather(&packed, array, (width, block_size, limit)), expected);
    }
}

#[test]
fn an_object_that_is_never_closed_costs_only_itself() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.json");
    let text = format!("[\n{{\"a\":1}},\n{{\"a\":2,\n{}]\n", "{\"a\":3},\n".repeat(2000));
    fs::write(&path, &text).expect("a file");
    for settings in [(1, 1 << 20), (2, 1000), (3, 64), (8, 7)] {
        let (records, problems) = gather(&path, MemberPath::default(), (settings.0, settings.1, 64 << 20));
        assert_eq!(problems, [""; 0]);
        assert_eq!(records.len(), 2002);
        assert_eq!(records[1].1, b"{\"a\":2");
        assert!(records[2..].iter().all(|(_, record)| record == b"{\"a\":3}"));
    }
}
