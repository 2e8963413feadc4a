//! Members of archives against the same files in a directory.

#![allow(clippy::unwrap_used, reason = "a test ends on the first error")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use finecomb_scan::{
    Accumulate, Block, Inputs, Meter, Output, Print, ScanOptions, Search, Select, Source, WalkOptions, Width,
    fold, in_order,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

const WIDTHS: [usize; 5] = [1, 2, 3, 8, 64];

type TreeFiles = BTreeMap<String, Vec<u8>>;

/// Prints the name of each file and its lines.
struct PrintLines;

impl Select for PrintLines {}

impl Search for PrintLines {
    type Found = ();
    type State = ();

    fn search(&mut self, _block: &mut Block<'_>) {}
}

impl Print for PrintLines {
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

    fn end(&mut self, source: &Source, (): (), (): (), out: &mut Output<'_>) -> ControlFlow<()> {
        out.bytes().extend(format!("<end of {}>", name(source)).bytes());
        ControlFlow::Continue(())
    }
}

/// Counts the bytes of each file.
#[derive(Default)]
struct Sizes(BTreeMap<String, u64>);

impl Accumulate for Sizes {
    type Part = BTreeMap<String, u64>;
    type Joined = BTreeMap<String, u64>;

    fn take(&mut self, block: &Block<'_>, _meter: &mut Meter) -> ControlFlow<()> {
        *self.0.entry(name(block.source)).or_default() += block.bytes.len() as u64;
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<Self::Part> {
        vec![self.0]
    }

    fn join(parts: Vec<Self::Part>) -> Self::Joined {
        let mut sizes = BTreeMap::new();
        for (name, size) in parts.into_iter().flatten() {
            *sizes.entry(name).or_default() += size;
        }
        sizes
    }
}

/// The name of a member, or of a file in the directory `tree`.
fn name(source: &Source) -> String {
    let path = source.display_path().to_string_lossy().into_owned();
    let name = path.split_once('!').or_else(|| path.split_once("/tree/")).map(|(_, name)| name.to_owned());
    name.unwrap_or(path)
}

fn tar(files: &TreeFiles) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, text) in files {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", text.len()).as_bytes());
        header[148..156].fill(b' ');
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u64 = header.iter().copied().map(u64::from).sum();
        header[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
        bytes.extend(header);
        bytes.extend(text);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.extend([0; 1024]);
    bytes
}

/// A zip without compression.
fn zip(files: &TreeFiles) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let mut crc = flate2::Crc::new();
        crc.update(text);
        let mut entry = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        entry.extend(crc.sum().to_le_bytes());
        entry.extend((text.len() as u32).to_le_bytes().repeat(2));
        entry.extend((name.len() as u16).to_le_bytes());
        entry.extend([0, 0]);
        let offset = bytes.len() as u32;
        directory.extend(b"PK\x01\x02\x14\x00".iter().chain(&entry));
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.bytes());
        bytes.extend(b"PK\x03\x04".iter().chain(&entry));
        bytes.extend(name.bytes());
        bytes.extend(text);
    }
    let (offset, count) = (bytes.len() as u32, (files.len() as u16).to_le_bytes());
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(count.repeat(2));
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn inputs(path: &Path) -> Inputs {
    let walk = WalkOptions::default().archives(true);
    Inputs { walk, decompress: false, ..Inputs::new([path]) }
}

/// The lines of all files in order, the sizes of all files, and the number of problems.
fn read(path: &Path, width: usize, block_size: usize) -> (Vec<u8>, BTreeMap<String, u64>, usize) {
    let options = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
    let mut out = Vec::new();
    let done = in_order(&inputs(path), &options.clone().into(), None, &mut out, || PrintLines);
    let folded = fold(&inputs(path), &options.clone().into(), Sizes::default);
    let sizes = folded.joined.into_iter().flatten().filter(|&(_, size)| size > 0).collect();
    (out, sizes, done.problems.len() + folded.problems.len())
}

fn files() -> impl Strategy<Value = TreeFiles> {
    let line = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"x\r\n".to_vec()),
        Just(b"\0\xff\n".to_vec()),
        prop::collection::vec(any::<u8>(), 0..40),
        (0_usize..3000).prop_map(|length| vec![b'l'; length]),
        (0_usize..400_000).prop_map(|length| b"many lines\n".repeat(length / 11)),
    ];
    let text = prop::collection::vec(line, 0..6).prop_map(|lines| [&b"_"[..], &lines.concat()].concat());
    let text = prop_oneof![1 => Just(Vec::new()), 9 => text];
    prop::collection::btree_map("[a-c]{1,2}(/[a-c]{3,5}){0,2}", text, 1..8).prop_filter("a tree", |files| {
        let is_below = |one: &str, other: &str| other.starts_with(&format!("{one}/"));
        !files.keys().any(|one| files.keys().any(|other| is_below(one, other)))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 10))]

    #[test]
    fn archives_are_read_like_directories(files in files(), block_size in prop_oneof![Just(1), Just(700), Just(128 << 10)]) {
        let directory = tempfile::tempdir().unwrap();
        let tree = directory.path().join("tree");
        for (name, text) in &files {
            let path = tree.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        // A megabyte in blocks of a byte each would take seconds, and show nothing that fewer do not.
        let block_size = block_size.max(files.values().map(Vec::len).sum::<usize>() / 10_000);
        let (_, sizes, _) = read(&tree, 2, block_size);
        let in_order: Vec<u8> = files.iter().flat_map(|(name, text)| {
            text.iter().copied().chain(format!("<end of {name}>").into_bytes())
        }).collect();
        for (ending, bytes) in [("tar", tar(&files)), ("tar.gz", gzip(&tar(&files))), ("zip", zip(&files))] {
            let archive = directory.path().join(ending);
            fs::write(&archive, &bytes).unwrap();
            for width in WIDTHS {
                let (out, archived, problems) = read(&archive, width, block_size);
                prop_assert!(out == in_order, "{ending} with {width} workers");
                prop_assert_eq!((&archived, problems), (&sizes, 0));
            }
        }
    }

    #[test]
    fn damage_ends_no_job_and_gives_the_same_at_any_width(files in files(), at: prop::sample::Index, flip in 0_u8..9) {
        let directory = tempfile::tempdir().unwrap();
        for (ending, mut bytes) in [("tar", tar(&files)), ("tar.gz", gzip(&tar(&files))), ("zip", zip(&files))] {
            let at = at.index(bytes.len());
            match flip {
                8 => bytes.truncate(at),
                bit => bytes[at] ^= 1 << bit,
            }
            let archive = directory.path().join(ending);
            fs::write(&archive, &bytes).unwrap();
            let expected = read(&archive, 1, 700);
            for width in [2, 8] {
                prop_assert!(read(&archive, width, 700) == expected, "{ending} with {width} workers");
            }
        }
    }
}
