use std::ffi::OsStr;
use std::io::{Chain, Cursor, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use liblzma::stream::{LzmaOptions, Stream};
use liblzma::write::XzEncoder;
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use proptest::prelude::*;

use super::format::{EXTENSIONS, ZSTD_MAGIC, decompressed_name};
use super::*;

/// Formats that mark the end of their data.
const FORMATS: [Compression; 7] = [
    Compression::Gzip,
    Compression::Zstd,
    Compression::Bzip2,
    Compression::Xz,
    Compression::Lzma,
    Compression::Lz4,
    Compression::Brotli,
];

/// Formats with several members per file.
const MULTIPLE: [Compression; 5] =
    [Compression::Gzip, Compression::Zstd, Compression::Bzip2, Compression::Xz, Compression::Lz4];

pub(in crate::source) fn compress(format: Compression, data: &[u8]) -> Vec<u8> {
    match format {
        Compression::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(data).and_then(|()| encoder.finish())
        }
        Compression::Zstd => Ok(zstd(data, true)),
        Compression::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(data).and_then(|()| encoder.finish())
        }
        Compression::Xz => {
            let mut encoder = XzEncoder::new(Vec::new(), 1);
            encoder.write_all(data).and_then(|()| encoder.finish())
        }
        Compression::Lzma => {
            let options = LzmaOptions::new_preset(1).expect("a level");
            let stream = Stream::new_lzma_encoder(&options).expect("memory");
            let mut encoder = XzEncoder::new_stream(Vec::new(), stream);
            encoder.write_all(data).and_then(|()| encoder.finish())
        }
        Compression::Lz4 => Ok(lz4(data, FrameInfo::new().content_checksum(true))),
        Compression::Brotli => {
            let mut encoder = ::brotli::CompressorWriter::new(Vec::new(), 4096, 5, 18);
            encoder.write_all(data).map(|()| encoder.into_inner())
        }
        Compression::Deflate => {
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(data).and_then(|()| encoder.finish())
        }
        Compression::Compress => Ok(super::compress::tests::compress(data, 16, true)),
    }
    .expect("nothing fails in memory")
}

fn zstd(data: &[u8], checksum: bool) -> Vec<u8> {
    let mut context = zstd_safe::CCtx::create();
    context.set_parameter(zstd_safe::CParameter::ChecksumFlag(checksum)).expect("a parameter");
    let mut compressed = Vec::with_capacity(zstd_safe::compress_bound(data.len()));
    context.compress2(&mut compressed, data).expect("enough room");
    compressed
}

fn lz4(data: &[u8], info: FrameInfo) -> Vec<u8> {
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(data).expect("nothing fails in memory");
    encoder.finish().expect("nothing fails in memory")
}

/// Reads `size` bytes at a time until the end or an error.
fn drain(reader: &mut dyn Read, size: usize) -> (Vec<u8>, Option<io::Error>) {
    let (mut data, mut buffer) = (Vec::new(), vec![0; size]);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return (data, None),
            Ok(got) => data.extend_from_slice(&buffer[..got]),
            Err(error) => return (data, Some(error)),
        }
    }
}

fn read_by(format: Compression, compressed: &[u8], size: usize) -> (Vec<u8>, Option<String>) {
    let mut reader = format.reader(Cursor::new(compressed.to_vec())).expect("memory");
    let (data, error) = drain(&mut reader, size);
    let error = error.map(|error| error.to_string());
    assert_eq!(drain(&mut reader, 10).1.map(|error| error.to_string()), error, "an error stays");
    (data, error)
}

pub(in crate::source) fn read(format: Compression, compressed: &[u8]) -> (Vec<u8>, Option<String>) {
    read_by(format, compressed, 1 << 16)
}

fn error(format: Compression, failure: DecompressError) -> Option<String> {
    Some(failure.of(format).to_string())
}

/// Text that compresses, but not to almost nothing.
fn text(lines: u32) -> Vec<u8> {
    let number = |line: u32| line.wrapping_mul(2_654_435_761);
    (0..lines)
        .flat_map(|line| format!("{line} GET /{:x} 200 {}\n", number(line), line % 7).into_bytes())
        .collect()
}

/// An input that returns at most this many bytes at a time.
struct Drip(Cursor<Vec<u8>>, usize);

impl Read for Drip {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        let size = output.len().min(self.1);
        self.0.read(&mut output[..size])
    }
}

/// An input that fails once.
struct Break(bool);

impl Read for Break {
    fn read(&mut self, _output: &mut [u8]) -> io::Result<usize> {
        self.0 = !self.0;
        if self.0 { Err(io::Error::other("broken")) } else { Err(io::ErrorKind::Interrupted.into()) }
    }
}

/// The format detected from the first bytes of a file, given the extension of `format`.
fn format_of(format: Compression, file: &[u8]) -> Option<Compression> {
    let extension = (format == Compression::Brotli).then_some(OsStr::new("br"));
    Compression::of(&file[..file.len().min(Compression::START)], extension)
}

#[test]
fn compressed_data_round_trip() {
    for format in FORMATS {
        for data in [Vec::new(), b"x".to_vec(), text(10), text(60_000), vec![b'a'; 3 << 20]] {
            let compressed = compress(format, &data);
            // An empty stream of brotli is a byte that may be text.
            if format != Compression::Brotli || !data.is_empty() {
                assert_eq!(format_of(format, &compressed), Some(format));
            }
            assert!(read(format, &compressed) == (data, None), "{format:?}");
        }
    }
}

#[test]
fn small_reads_and_writes_give_the_same_data() {
    let data = text(2000);
    for format in FORMATS {
        let compressed = compress(format, &data);
        let mut reader = format.reader(Drip(Cursor::new(compressed.clone()), 1)).expect("memory");
        assert!(drain(&mut reader, 1 << 16).0 == data, "{format:?}");
        for size in [1, 7] {
            assert!(read_by(format, &compressed, size) == (data.clone(), None), "{format:?}");
        }
    }
}

#[test]
fn members_are_read_one_after_another() {
    for format in MULTIPLE {
        let parts = [text(3), Vec::new(), text(5000), b"end".to_vec()];
        let compressed: Vec<u8> = parts.iter().flat_map(|part| compress(format, part)).collect();
        assert!(read(format, &compressed) == (parts.concat(), None), "{format:?}");
    }
}

#[test]
fn all_kinds_of_lz4_frames() {
    let data = text(20_000);
    let mut frames = Vec::new();
    for size in [BlockSize::Max4MB, BlockSize::Max64KB, BlockSize::Max256KB] {
        for mode in [BlockMode::Linked, BlockMode::Independent] {
            let info = FrameInfo::new().block_size(size).block_mode(mode).block_checksums(true);
            frames.extend(lz4(&data, info.content_size(Some(data.len() as u64))));
        }
    }
    assert!(read(Compression::Lz4, &frames) == (data.repeat(6), None));
}

/// A skippable frame.
fn skippable(length: u32) -> Vec<u8> {
    let mut frame = vec![0x5a, 0x2a, 0x4d, 0x18];
    frame.extend(length.to_le_bytes());
    frame.resize(8 + length as usize, b'?');
    frame
}

#[test]
fn skippable_frames_are_skipped() {
    for format in [Compression::Zstd, Compression::Lz4] {
        let frame = compress(format, b"data");
        let frames = [frame.as_slice(), &skippable(0), &skippable(300_000), &frame, &skippable(5)].concat();
        assert_eq!(read(format, &frames), (b"datadata".to_vec(), None));
        let cut = read(format, &frames[..frames.len() - 1]);
        assert_eq!(cut, (b"datadata".to_vec(), error(format, DecompressError::Truncated)));
    }
    let frames = [skippable(4), compress(Compression::Zstd, b"data")].concat();
    assert_eq!(Compression::of(&frames[..Compression::START], None), Some(Compression::Zstd));
    assert_eq!(read(Compression::Zstd, &frames), (b"data".to_vec(), None));
}

#[test]
fn streams_of_xz_may_be_padded() {
    let stream = compress(Compression::Xz, b"data");
    let padded = [stream.as_slice(), &[0; 8], &stream, &[0; 4]].concat();
    assert_eq!(read(Compression::Xz, &padded), (b"datadata".to_vec(), None));
}

#[test]
fn truncation_is_reported_at_any_position() {
    let data = text(20);
    for format in FORMATS {
        let one = compress(format, &data);
        let is_multiple = MULTIPLE.contains(&format);
        let two = if is_multiple { [one.clone(), one.clone()].concat() } else { one.clone() };
        for end in 1..two.len() {
            let (got, problem) = read(format, &two[..end]);
            let whole = if end < one.len() { 0 } else { data.len() };
            let all = [data.as_slice(), &data].concat();
            assert!(all.starts_with(&got) && got.len() >= whole, "{format:?} {end}");
            // Data that end between two members are complete.
            let expected = if end == one.len() { None } else { error(format, DecompressError::Truncated) };
            assert_eq!(problem, expected, "{format:?} {end}");
            assert_eq!(read_by(format, &two[..end], 1).0, got, "{format:?} {end}");
        }
    }
}

#[test]
fn truncation_at_a_buffer_boundary_is_reported() {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let noise: Vec<u8> = (0..200_000).map(|_| next()).collect();
    for format in FORMATS {
        let compressed = compress(format, &noise);
        for end in [INPUT_BUFFER - 1, INPUT_BUFFER, INPUT_BUFFER + 1] {
            assert!(end < compressed.len(), "{format:?}");
            let (got, problem) = read(format, &compressed[..end]);
            assert!(noise.starts_with(&got), "{format:?}");
            assert_eq!(problem, error(format, DecompressError::Truncated));
        }
    }
}

#[test]
fn data_before_the_damage_are_returned_first() {
    let data = text(100_000);
    for format in FORMATS {
        let mut compressed = compress(format, &data);
        let middle = compressed.len() / 2;
        compressed[middle..middle + 64].fill(0xff);
        let (got, problem) = read_by(format, &compressed, 8 << 20);
        assert_eq!(problem, error(format, DecompressError::Damaged), "{format:?}");
        // Invalid data may follow the damage, up to where it is noticed.
        let same = got.iter().zip(&data).take_while(|(got, data)| got == data).count();
        assert!(same > data.len() / 3, "{format:?}: {same} of {}", data.len());
        assert!(read_by(format, &compressed, 1000).0 == got, "{format:?}");
    }
}

/// An xz stream whose only chunk is longer than its header says. The byte after the chunk stands for many bytes of text.
pub(in crate::source) fn xz_with_a_short_chunk() -> Vec<u8> {
    let mut stream = compress(Compression::Xz, &vec![b'a'; 100_000]);
    // The stream header; then the block header, whose first byte is its size in units of 4 bytes.
    let chunk = 12 + 4 * (usize::from(stream[12]) + 1);
    assert!(stream[chunk] >= 0xe0, "a chunk of LZMA");
    let size = u16::from_be_bytes([stream[chunk + 3], stream[chunk + 4]]);
    stream[chunk + 3..chunk + 5].copy_from_slice(&(size - 20).to_be_bytes());
    stream
}

#[test]
fn a_chunk_of_xz_that_is_too_short_gives_the_same_text_for_any_size_of_reads() {
    let stream = xz_with_a_short_chunk();
    let (text, problem) = read(Compression::Xz, &stream);
    assert_eq!(problem, error(Compression::Xz, DecompressError::Damaged));
    for size in [1, 60, 999, 1001, 1 << 20] {
        let (other, problem) = read_by(Compression::Xz, &stream, size);
        assert_eq!(
            (other.len(), problem),
            (text.len(), error(Compression::Xz, DecompressError::Damaged)),
            "{size}"
        );
    }
}

#[test]
fn a_damaged_block_of_bzip2_gives_the_same_text_for_any_size_of_reads() {
    let data: Vec<u8> = (0..5000).flat_map(|line| format!("{line} aaaa\n").into_bytes()).collect();
    let mut damaged = compress(Compression::Bzip2, &data);
    // The position of the text in the sorted block. The lowest positions follow an "aaaa", which the text then ends
    // with, and the length of the run is missing.
    damaged[14] &= 0x80;
    damaged[15..17].fill(0);
    let (text, problem) = read(Compression::Bzip2, &damaged);
    assert_eq!(problem, error(Compression::Bzip2, DecompressError::Damaged));
    assert!(text.len() > data.len() / 2);
    for size in [1, 60, 999, 1001, 1 << 20] {
        let (other, problem) = read_by(Compression::Bzip2, &damaged, size);
        assert_eq!(
            (other.len(), problem),
            (text.len(), error(Compression::Bzip2, DecompressError::Damaged)),
            "{size}"
        );
    }
}

#[test]
fn a_damaged_block_header_does_not_lose_the_block_before_it() {
    let data = text(20_000);
    let mut compressed = zstd(&data, false);
    // Magic number, one byte of flags, and here four bytes of size; then the first block.
    let header = 9;
    let size =
        |at: usize| u32::from_le_bytes([compressed[at], compressed[at + 1], compressed[at + 2], 0]) >> 3;
    let second = header + 3 + size(header) as usize;
    compressed[second] |= 0b110;
    let (got, problem) = read_by(Compression::Zstd, &compressed, 8 << 20);
    assert_eq!(problem, error(Compression::Zstd, DecompressError::Damaged));
    assert!(got == data[..128 << 10]);
}

#[test]
fn checksums_are_checked() {
    let data = text(10);
    for (format, from_end) in
        [(Compression::Gzip, 8), (Compression::Zstd, 1), (Compression::Bzip2, 3), (Compression::Lz4, 1)]
    {
        let mut compressed = compress(format, &data);
        let at = compressed.len() - from_end;
        compressed[at] ^= 0x10;
        assert_eq!(read(format, &compressed), (data.clone(), error(format, DecompressError::Damaged)));
    }
}

#[test]
fn trailing_data_must_be_of_the_same_format() {
    for format in FORMATS {
        let compressed = [compress(format, b"data"), b"something else".to_vec()].concat();
        let failure =
            if format == Compression::Xz { DecompressError::Damaged } else { DecompressError::Followed };
        assert_eq!(read(format, &compressed), (b"data".to_vec(), error(format, failure)));
    }
}

#[test]
fn members_of_gzip_may_be_padded_with_zeros() {
    let member = |text: &[u8]| compress(Compression::Gzip, text);
    for zeros in [1, 2, 511, 300_000].map(|length| vec![0; length]) {
        let read = |parts: &[&[u8]]| read(Compression::Gzip, &parts.concat());
        let (one, two) = (member(b"one"), member(b"two"));
        assert_eq!(read(&[&one, &zeros]), (b"one".to_vec(), None));
        assert_eq!(read(&[&one, &zeros, &two, &zeros]), (b"onetwo".to_vec(), None));
        let followed = error(Compression::Gzip, DecompressError::Followed);
        assert_eq!(read(&[&one, &zeros, b"something else"]), (b"one".to_vec(), followed));
    }
    let zstd = [compress(Compression::Zstd, b"data"), vec![0; 512]].concat();
    assert_eq!(
        read(Compression::Zstd, &zstd),
        (b"data".to_vec(), error(Compression::Zstd, DecompressError::Followed))
    );
}

#[test]
fn data_that_need_too_much_memory_are_refused() {
    // A window of 256 MiB, and no content.
    let frame = [&ZSTD_MAGIC[..], &[0, 18 << 3, 1, 0, 0]].concat();
    assert_eq!(
        read(Compression::Zstd, &frame),
        (Vec::new(), error(Compression::Zstd, DecompressError::Memory))
    );
    // A dictionary of 2 GiB.
    let header = [&[0x5d, 0, 0, 0, 0x80][..], &[0xff; 8], &[0; 8]].concat();
    assert_eq!(Compression::of(&header[..Compression::START], None), Some(Compression::Lzma));
    assert_eq!(
        read(Compression::Lzma, &header),
        (Vec::new(), error(Compression::Lzma, DecompressError::Memory))
    );
}

#[test]
fn errors_of_the_input_are_passed_on() {
    let data = text(5000);
    for format in FORMATS {
        let compressed = compress(format, &data);
        let start = compressed[..compressed.len() / 2].to_vec();
        let input: Chain<_, _> = Cursor::new(start.clone()).chain(Break(true));
        let mut reader = format.reader(input).expect("memory");
        let (got, problem) = drain(&mut reader, 1 << 20);
        assert_eq!(problem.map(|error| error.to_string()), Some("broken".to_owned()), "{format:?}");
        let readable = read(format, &start).0;
        // Brotli is decompressed in portions, and the last one is incomplete.
        let is_same =
            if format == Compression::Brotli { readable.starts_with(&got) } else { readable == got };
        assert!(is_same, "{format:?}");
    }
}

#[test]
fn the_first_bytes_determine_the_format() {
    let of = |start: &[u8]| Compression::of(start, None);
    assert_eq!(of(b""), None);
    assert_eq!(of(b"\x1f\x8b"), None);
    assert_eq!(of(b"\x1f\x8b\x08"), Some(Compression::Gzip));
    assert_eq!(of(b"BZh9 is a text"), None);
    assert_eq!(of(b"BZh91AY&SY"), Some(Compression::Bzip2));
    assert_eq!(of(b"BZh0\x17\x72\x45\x38\x50\x90"), None);
    assert_eq!(of(b"\xfd7zXZ\0"), Some(Compression::Xz));
    assert_eq!(of(b"\x04\x22\x4d\x18"), Some(Compression::Lz4));
    assert_eq!(of(b"\x28\xb5\x2f\xfd"), Some(Compression::Zstd));
    assert_eq!(of(&skippable(8)), None);
    assert_eq!(of(b"]\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff"), Some(Compression::Lzma));
    assert_eq!(of(b"]\0\0\xc0\0\xff\xff\xff\xff\xff\xff\xff\xff"), Some(Compression::Lzma));
    assert_eq!(of(b"]\0\0\x81\0\xff\xff\xff\xff\xff\xff\xff\xff"), None);
    assert_eq!(of(b"]\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff"), None);
    assert_eq!(of(b"]\0\0\0\0\0\0\0\0\0\0\0\0"), None);
    assert_eq!(of(b"\x1f\x9d\x90"), Some(Compression::Compress));
    let brotli = |start: &[u8]| Compression::of(start, Some(OsStr::new("br")));
    assert_eq!(brotli(b"\x0b\x02\x80one"), Some(Compression::Brotli));
    assert_eq!(brotli("text, é".as_bytes()), None);
    assert_eq!(brotli(b"\x1f\x8b\x08"), Some(Compression::Gzip));
}

#[test]
fn the_name_of_a_compressed_file_loses_the_extension_of_each_format() {
    for format in FORMATS.into_iter().chain([Compression::Compress]) {
        assert!(EXTENSIONS.iter().any(|&(_, known)| known == format), "{format:?}");
    }
    let name = |path: &str| decompressed_name(Path::new(path)).display().to_string();
    for (extension, _) in EXTENSIONS {
        assert_eq!(name(&format!("d/a.c.{extension}")), "a.c");
    }
    assert_eq!(
        [name("d/a.gz.c"), name("a.zst"), name("d/gz"), name(".gz")],
        ["d/a.gz.c", "a", "d/gz", ".gz"]
    );
}

#[test]
fn files_written_by_the_command_line_tools() {
    const FILES: [(Compression, &[u8]); 6] = [
        (
            Compression::Gzip,
            b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcbH\xcd\xc9\xc9\xe7\x02\x00 0:6\x06\x00\x00\
              \x00\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\x03\xcbH\xcd\xc9\xc9\xe7\x02\x00 0:6\x06\x00\
              \x00\x00",
        ),
        (
            Compression::Zstd,
            b"(\xb5/\xfd\x04X1\x00\x00hello\x0aS\x88\xbd\x91(\xb5/\xfd\x00X1\x00\x00hello\x0a",
        ),
        (
            Compression::Bzip2,
            b"BZh91AY&SY\xc1\xc0\x80\xe2\x00\x00\x01A\x00\x00\x10\x02D\xa0\x000\xcd\x00\xc3F)\x97\x17r\
              E8P\x90\xc1\xc0\x80\xe2BZh11AY&SY\xc1\xc0\x80\xe2\x00\x00\x01A\x00\x00\x10\x02D\xa0\x000\
              \xcd\x00\xc3F)\x97\x17rE8P\x90\xc1\xc0\x80\xe2",
        ),
        (
            Compression::Xz,
            b"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F\x02\x00!\x01\x16\x00\x00\x00t/\xe5\xa3\x01\x00\x05hell\
              o\x0a\x00\x00\x00\xa5`\x97\xf1\x94\xf6\xfd\xe0\x00\x01\x1e\x06\xc1/\xa4\x1d\x1f\xb6\xf3}\
              \x01\x00\x00\x00\x00\x04YZ\xfd7zXZ\x00\x00\x0a\xe1\xfb\x0c\xa1\x02\x00!\x01\x16\x00\x00\
              \x00t/\xe5\xa3\x01\x00\x05hello\x0a\x00\x00\x00X\x91\xb5\xb5\x22\xd5\xdf\x08m\x0f\xf0\
              \xb1\x10\xfb\xd9\xd2\x1b\xb4\xfcqc\xaf4\xd0\x82\x86\xa2\xe8F\xf6\xbe\x03\x00\x016\x06k\
              \x81\xf9@\x18\x9bK\x9a\x01\x00\x00\x00\x00\x0aYZ",
        ),
        (
            Compression::Lzma,
            b"]\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff\x004\x19I\xee\x8d\xddC\xf1\x0c\xa2\xb7\
              \xff\xfe\xdf\xd0\x00",
        ),
        (
            Compression::Lz4,
            b"\x04\x22M\x18d@\xa7\x06\x00\x00\x80hello\x0a\x00\x00\x00\x00\xf9[k\x94\x04\x22M\x18d@\
              \xa7\x06\x00\x00\x80hello\x0a\x00\x00\x00\x00\xf9[k\x94",
        ),
    ];
    for (format, file) in FILES {
        assert_eq!(format_of(format, file), Some(format));
        assert_eq!(read(format, file), (b"hello\nhello\n".to_vec(), None));
    }
}

/// Compressed data with some bytes changed, removed or inserted.
fn damaged() -> impl Strategy<Value = (Compression, Vec<u8>)> {
    let edits = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..8);
    (proptest::sample::select(FORMATS.to_vec()), 0_u32..400, edits).prop_map(|(format, lines, edits)| {
        let mut bytes = compress(format, &text(lines));
        for (index, byte, kind) in edits {
            // An empty stream of brotli has a single byte, which may have been removed.
            if bytes.is_empty() {
                break;
            }
            let at = index.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        (format, bytes)
    })
}

/// Reads the data in several ways: none panics, and all give the same result.
fn check_reads_agree(
    format: Compression,
    bytes: &[u8],
    size: usize,
    input: usize,
) -> Result<(), TestCaseError> {
    let (got, problem) = read(format, bytes);
    let (other, other_problem) = read_by(format, bytes, size);
    prop_assert!(other == got, "{:?}: {} and {} bytes", format, got.len(), other.len());
    prop_assert_eq!(&problem, &other_problem);

    let mut reader = format.reader(Drip(Cursor::new(bytes.to_vec()), input)).expect("memory");
    let (other, other_problem) = drain(&mut reader, size);
    prop_assert!(other == got, "{:?} dripped: {} and {} bytes", format, got.len(), other.len());
    prop_assert_eq!(problem, other_problem.map(|error| error.to_string()));
    Ok(())
}

proptest! {
    #[test]
    fn damage_gives_the_same_result_for_any_size_of_reads(
        (format, bytes) in damaged(),
        size in 1_usize..3000,
        input in 1_usize..300,
    ) {
        check_reads_agree(format, &bytes, size, input)?;
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), start in 0_usize..20) {
        for format in FORMATS {
            check_reads_agree(format, &bytes, 10, 3)?;
            let begun = compress(format, b"data");
            let begun = [&begun[..start.min(begun.len())], &bytes].concat();
            check_reads_agree(format, &begun, 10, 3)?;
        }
    }
}
