use std::io::{self, Cursor};

use grep_regex::RegexMatcherBuilder;
use grep_searcher::sinks::Bytes;
use grep_searcher::{Encoding as GrepEncoding, SearcherBuilder};
use proptest::prelude::*;

use super::*;
use crate::block::FirstNul;

const LABELS: [&str; 10] = [
    "utf-8",
    "utf-16le",
    "utf-16be",
    "shift_jis",
    "latin1",
    "big5",
    "gb18030",
    "iso-2022-jp",
    "euc-kr",
    "x-user-defined",
];

fn parse(name: &str) -> Encoding {
    Encoding::parse(name).expect("a label")
}

fn read(encoding: Encoding, raw: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::new();
    encoding
        .reader(Cursor::new(raw.to_vec()), b'\n', FirstNul::default())
        .read_to_end(&mut decoded)
        .expect("nothing fails in memory");
    decoded
}

/// Reads like a file: without the reader where it is not needed.
fn read_as_needed(encoding: Encoding, raw: &[u8]) -> Vec<u8> {
    match encoding.conversion(&raw[..raw.len().min(3)]) {
        Conversion::Plain => raw.to_vec(),
        Conversion::StripBom(length) => raw[length..].to_vec(),
        Conversion::Transcode => read(encoding, raw),
    }
}

/// The lines found by `grep-searcher`.
fn grep_lines(encoding: Encoding, name: &str, raw: &[u8]) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    let matcher = RegexMatcherBuilder::new().line_terminator(Some(b'\n')).build("").expect("a pattern");
    let mut builder = SearcherBuilder::new();
    match encoding {
        Encoding::Auto => {}
        Encoding::None => drop(builder.bom_sniffing(false)),
        Encoding::Label(_) => drop(builder.encoding(Some(GrepEncoding::new(name).expect("a label")))),
    }
    let sink = Bytes(|_, line| {
        lines.push(line.to_vec());
        Ok::<_, io::Error>(true)
    });
    builder.build().search_reader(matcher, raw, sink).expect("nothing fails in memory");
    lines
}

fn lines(decoded: &[u8]) -> Vec<Vec<u8>> {
    decoded.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}

#[test]
fn parsing_of_names() {
    assert_eq!(Encoding::parse("auto"), Some(Encoding::Auto));
    assert_eq!(Encoding::parse("none"), Some(Encoding::None));
    assert_eq!(parse("UTF-16"), Encoding::Label(UTF_16LE));
    assert_eq!(parse(" sjis "), Encoding::Label(encoding_rs::SHIFT_JIS));
    assert_eq!(Encoding::parse("replacement"), None);
    assert_eq!(Encoding::parse("utf-32"), None);
    assert_eq!(Encoding::parse(""), None);
}

#[test]
fn conversion_by_first_bytes() {
    use Conversion::{Plain, StripBom, Transcode};
    let auto = |start: &[u8]| Encoding::Auto.conversion(start);
    assert_eq!(auto(b""), Plain);
    assert_eq!(auto(b"abc"), Plain);
    assert_eq!(auto(b"\xef\xbb"), Plain);
    assert_eq!(auto(b"\xef\xbb\xbf"), StripBom(3));
    assert_eq!(auto(b"\xff"), Plain);
    assert_eq!(auto(b"\xff\xfe"), Transcode);
    assert_eq!(auto(b"\xfe\xffa"), Transcode);
    assert_eq!(Encoding::None.conversion(b"\xef\xbb\xbf"), Plain);
    assert_eq!(Encoding::None.conversion(b"\xff\xfea"), Plain);
    assert_eq!(parse("utf-8").conversion(b"abc"), Transcode);
}

#[test]
fn only_a_possible_byte_order_mark_needs_more_bytes() {
    let more = |start: &[u8]| Encoding::Auto.may_continue(start);
    assert!([&b""[..], b"\xef", b"\xef\xbb", b"\xfe", b"\xff"].into_iter().all(more));
    assert!(![&b"a"[..], b"\xef\xbb\xbf", b"\xef\xbba"].into_iter().any(more));
    assert!(!Encoding::None.may_continue(b"\xef") && !parse("latin1").may_continue(b""));
}

#[test]
fn utf_16() {
    let auto = |raw: &[u8]| read(Encoding::Auto, raw);
    assert_eq!(auto(b"\xff\xfeh\0i\0\n\0"), b"hi\n");
    assert_eq!(auto(b"\xfe\xff\0h\0i\0\n"), b"hi\n");
    assert_eq!(auto(b"\xff\xfe\x3d\xd8\x00\xde"), "😀".as_bytes());
    // An extra byte, unpaired surrogates, and a pair in the wrong order.
    assert_eq!(auto(b"\xff\xfeh\0i"), "h\u{fffd}".as_bytes());
    assert_eq!(auto(b"\xff\xfe\x3d\xd8h\0"), "\u{fffd}h".as_bytes());
    assert_eq!(auto(b"\xff\xfe\x00\xde\x3d\xd8"), "\u{fffd}\u{fffd}".as_bytes());
    assert_eq!(auto(b"\xff\xfe"), b"");
    assert_eq!(read(parse("utf-16be"), b"\0h\0i"), b"hi");
}

#[test]
fn other_encodings() {
    assert_eq!(read(parse("shift_jis"), b"\x93\xfa\x96\x7b\n"), "日本\n".as_bytes());
    assert_eq!(read(parse("latin1"), b"caf\xe9"), "café".as_bytes());
    assert_eq!(read(parse("utf-8"), b"a\xffb"), "a\u{fffd}b".as_bytes());
    assert_eq!(read(parse("shift_jis"), b""), b"");
}

#[test]
fn a_byte_order_mark_takes_precedence_over_the_label() {
    assert_eq!(read(parse("shift_jis"), b"\xff\xfeh\0i\0"), b"hi");
    assert_eq!(read(parse("shift_jis"), b"\xef\xbb\xbf\x93\xfa"), "日".as_bytes());
}

#[test]
fn bytes_that_need_no_decoding_are_unchanged() {
    assert_eq!(read(Encoding::Auto, b"a\xff\r\n\0"), b"a\xff\r\n\0");
    assert_eq!(read(Encoding::Auto, b"\xef\xbb\xbfa\xff"), b"a\xff");
    assert_eq!(read(Encoding::None, b"\xef\xbb\xbfa\xff"), b"\xef\xbb\xbfa\xff");
    assert_eq!(read(Encoding::None, b"\xff\xfea\0"), b"\xff\xfea\0");
}

#[test]
fn long_texts() {
    let text = "日本 😀 and so on\r\n".repeat(20_000);
    let mut raw = vec![0xff, 0xfe];
    raw.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    assert_eq!(read(Encoding::Auto, &raw), text.as_bytes());
    let (sjis, ..) = encoding_rs::SHIFT_JIS.encode(&text);
    let (expected, ..) = encoding_rs::SHIFT_JIS.decode(&sjis);
    assert_eq!(read(parse("sjis"), &sjis), expected.as_bytes());
}

/// The second line fills the buffer of ripgrep with its first 64 KiB.
#[test]
fn a_nul_is_recorded_with_the_piece_that_holds_it() {
    let mut text = "a".repeat(199) + "\n" + &"x".repeat(80_000);
    text.replace_range(70_000..70_001, "\0");
    let first_nul = FirstNul::default();
    let mut decoded = Vec::new();
    parse("latin1")
        .reader(Cursor::new(text.clone().into_bytes()), b'\n', first_nul.clone())
        .read_to_end(&mut decoded)
        .expect("nothing fails in memory");
    assert!(decoded == text.as_bytes());
    assert_eq!(first_nul.get(), Some((200 + (64 << 10), 70_000)));
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let any = proptest::collection::vec(any::<u8>(), 0..80);
    let textual = proptest::collection::vec(
        prop_oneof![
            Just(b'\n'),
            Just(0),
            Just(0xd8),
            Just(0xdc),
            Just(0x88),
            Just(0x62),
            Just(0x1b),
            Just(b'$')
        ],
        0..80,
    );
    let mark: [&[u8]; 5] = [b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb"];
    (proptest::sample::select(mark.to_vec()), prop_oneof![any, textual])
        .prop_map(|(mark, rest)| [mark, rest.as_slice()].concat())
}

fn name() -> impl Strategy<Value = &'static str> {
    proptest::sample::select([["auto", "none"].as_slice(), &LABELS].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16 * ProptestConfig::default().cases))]

    #[test]
    fn lines_equal_those_of_grep_searcher(name in name(), raw in bytes()) {
        let encoding = parse(name);
        let expected = grep_lines(encoding, name, &raw);
        prop_assert_eq!(lines(&read(encoding, &raw)), expected.clone());
        prop_assert_eq!(lines(&read_as_needed(encoding, &raw)), expected);
    }

    #[test]
    fn the_size_of_reads_does_not_change_the_text(name in name(), raw in bytes(), size in 1_usize..70) {
        let encoding = parse(name);
        let mut reader = encoding.reader(Cursor::new(raw.clone()), b'\n', FirstNul::default());
        let (mut decoded, mut buffer) = (Vec::new(), vec![0; size]);
        loop {
            let got = reader.read(&mut buffer).expect("nothing fails in memory");
            if got == 0 {
                break;
            }
            decoded.extend_from_slice(&buffer[..got]);
        }
        prop_assert_eq!(decoded, read(encoding, &raw));
    }
}
