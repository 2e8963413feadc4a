//! The finder beside the search byte by byte.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::time::Zone;

/// Forms of `strftime`, and some that are nearly times.
const FORMS: &[&str] = &[
    "%d/%b/%Y:%H:%M:%S %z",
    "[%d/%b/%Y:%H:%M:%S]",
    "%d/%b/%YT%H:%M:%S",
    "%d-%b-%Y %H:%M:%S%.f",
    "%d %b %Y %H:%M",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S%.3fZ",
    "%Y-%m-%d %H:%M:%S,%3f",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S%.6f %:z",
    "%Y-%m-%d %H:%M:%S UTC",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d",
    "%Y%m%dT%H%M%SZ",
    "%Y%m%d-%H%M%S",
    "%b %e %H:%M:%S",
    "%b %-d %H:%M:%S",
    "%b %d %H:%M:%S%.3f",
    "%a %b %d %H:%M:%S %Y",
    "%a %b %e %H:%M:%S%.6f %Y",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a, %b %d %H:%M:%S",
    "%Y-%m-%d\t%H:%M:%S",
    "%Y-%m-%d\",\"%H:%M:%S%.3f\",",
    "%Y/%m/%d | %H:%M:%S",
    "%Y-%m-%d - %H:%M:%S,1",
    "%Y-%m-%d........%H:%M:%S",
    "%Y-%m-%d.........%H:%M:%S",
    "%d/%b/%Y\t%H:%M:%S",
    "%d-%b-%Y; [%H:%M:%S] %z",
    "%Y%m%d %H:%M:%S",
    "%Y%m%d-%H:%M:%S:%3f|",
    "%Y%m%d:%H:%M:%S",
    "%Y%m%d, %H:%M",
    "I%m%d %H:%M:%S%.6f",
    "E%m%d %H:%M:%S%.6f   12 x.go:7]",
    "X%m%d %H:%M:%S%.6f",
    "I%m%d %H:%M:%S",
    "%b %e %H:%M:%S x [%d/%b/%Y:%H:%M:%S.123] y",
    "%b %e %H:%M:%S x %Y-%m-%d\t%H:%M:%S",
    "%s",
    "[%s]",
    "%s%3f",
    "%s.%6f",
    "%H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
    "%Y-%m-%dT%H:%M:60Z",
];

/// Texts before, after and between times.
const PIECES: &[&str] = &[
    "",
    "",
    " ",
    " ",
    "[",
    "]",
    "\"",
    "-",
    "/",
    ":",
    ".",
    ",",
    "12",
    "7",
    "2026",
    "Sun ",
    "Sun, ",
    "Mar ",
    " 2026",
    "+01",
    "+0100",
    " +0100",
    " U",
    " UTC",
    "G",
    "T",
    "Z",
    "x",
    "T7",
    "1:2",
    "3/4",
    "5-6",
    "<34>",
    "10.0.0.1 - - ",
    "\r",
    "\u{e9}",
    "a request that is longer than a window is, so that the time after it is in the second one ",
];

/// Zones with and without summer time.
const ZONES: &[&str] =
    &["UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia", "+05:30"];

/// A leap day, changes of summer time in both hemispheres, and the end of a year.
const NEAR: &[i64] = &[1_709_164_800, 1_774_746_000, 1_792_893_600, 1_791_043_200, 1_767_225_600];

/// Ends of lines, including none.
const ENDS: &[&[u8]] = &[b"\n", b"\r\n", b""];

fn instants() -> impl Strategy<Value = i64> {
    let near = select(NEAR);
    let seconds = (near, prop_oneof![-100..100_i64, -4000..4000_i64, -200_000..200_000_i64]);
    let instant = seconds.prop_map(|(near, more)| near + more);
    (instant, 0..1_000_000_000_i64).prop_map(|(seconds, nanoseconds)| seconds * SECOND + nanoseconds)
}

fn written(form: &str, instant: i64) -> String {
    let timestamp = Timestamp::from_nanosecond(instant.into()).expect("in range");
    let at: Zoned = timestamp.to_zoned(TimeZone::UTC);
    at.strftime(form).to_string()
}

fn pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(select(PIECES), 0..4).prop_map(|pieces| pieces.concat())
}

/// Lines that are alike, with times that are near each other, and sometimes another byte.
fn alike() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let change =
        prop::option::weighted(0.3, (any::<prop::sample::Index>(), select(&b" 0159:-/.,TZUG+x["[..])));
    let times = prop::collection::vec((instants(), change), 1..6);
    (pieces(), select(FORMS), pieces(), times).prop_map(|(before, form, after, times)| {
        let line = |(instant, change): (i64, Option<(prop::sample::Index, u8)>)| {
            let mut line = format!("{before}{}{after}", written(form, instant)).into_bytes();
            if let Some((at, byte)) = change.filter(|_| !line.is_empty()) {
                let at = at.index(line.len());
                line[at] = byte;
            }
            line
        };
        times.into_iter().map(line).collect()
    })
}

/// Pieces and times in any order.
fn mixed() -> impl Strategy<Value = Vec<u8>> {
    let time = (select(FORMS), instants()).prop_map(|(form, instant)| written(form, instant));
    let piece = prop_oneof![2 => pieces(), 1 => time];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat().into_bytes())
}

fn lines() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let some = prop_oneof![
        4 => alike(),
        2 => mixed().prop_map(|line| vec![line]),
        1 => prop::collection::vec(select(&b"0123456789-/:TZ [A"[..]), 0..140).prop_map(|line| vec![line]),
        1 => prop::collection::vec(any::<u8>(), 0..140).prop_map(|line| vec![line]),
    ];
    let lines = prop::collection::vec(some, 0..8).prop_map(|lines| lines.concat());
    lines.prop_map(|mut lines| {
        lines.iter_mut().for_each(|line| line.retain(|&byte| byte != b'\n'));
        lines
    })
}

fn clocks() -> impl Strategy<Value = Clock> {
    let zone = select(ZONES).prop_map(|name| Zone::parse(name).expect("a zone"));
    (zone, instants()).prop_map(|(zone, latest)| Clock::new(zone, latest))
}

/// The text of the lines, and their places.
fn block(lines: &[Vec<u8>], end: &[u8]) -> (Vec<u8>, Vec<Span>) {
    let mut text = Vec::new();
    let mut place = |line: &Vec<u8>| {
        let start = text.len();
        text.extend_from_slice(line);
        let end_of_line = text.len();
        text.extend_from_slice(end);
        (start, end_of_line)
    };
    let places = lines.iter().map(&mut place).collect();
    (text, places)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_times_of_lines_are_those_of_the_search_byte_by_byte(
        lines in lines(),
        clock in clocks(),
        end in select(ENDS),
        kind in select(&[TimeKind::First, TimeKind::First, TimeKind::WithYear][..]),
    ) {
        let (text, places) = block(&lines, end);
        let expected: Vec<Option<i64>> = lines
            .iter()
            .map(|line| clock.instant(&mut ClockCache::default(), TimeForm::Usual.find(kind, line)?))
            .collect();
        let (mut finder, mut found) = (TimeFinder::default(), Vec::new());
        finder.find_in_lines((&TimeForm::Usual, kind), &clock, (&text, &places), &mut found);
        prop_assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn the_times_of_values_are_those_that_are_read_one_by_one(lines in lines(), clock in clocks()) {
        let (text, places) = block(&lines, b"\",");
        let mut cells = Cells::default();
        cells.reset(1);
        let expected: Vec<Option<i64>> = lines
            .iter()
            .map(|line| clock.instant(&mut ClockCache::default(), written::read_value(line)?.moment))
            .collect();
        for (index, &place) in places.iter().enumerate() {
            let cell = match index % 3 {
                0 => cells.decode(|out| out.extend_from_slice(bytes_of(&text, place))),
                _ => Cell::raw(place),
            };
            cells.columns_mut()[0].push(cell);
        }
        let (mut finder, mut found) = (TimeFinder::default(), Vec::new());
        finder.read_values((&TimeForm::Usual, TimeKind::First), &clock, (&text, &cells), &mut found);
        prop_assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(&text));
    }
}

/// Whether the second of two lines is read by the template of the first.
fn uses_template(first: &str, second: &str) -> bool {
    let clock = Clock::new(Zone::parse("Europe/Berlin").expect("a zone"), 1_772_346_009 * SECOND);
    let (text, places) = block(&[first.into(), second.into()], b"\n");
    let mut finder = TimeFinder::default();
    let form = (&TimeForm::Usual, TimeKind::First);
    finder.find_in_lines(form, &clock, (&text, &places[..1]), &mut Vec::new());
    let Some(template) = &finder.template else { return false };
    let time = second.find(|char: char| char.is_ascii_digit() || char == 'M').expect("a time");
    template.read(Reference, &text, places[1], places[1].0 + time).is_some()
}

/// Windows byte by byte.
#[derive(Clone, Copy)]
struct Reference;

impl Masks for Reference {
    fn equal(self, window: &[u8; 64], byte: u8) -> u64 {
        self.equal_either(window, byte, byte)
    }

    fn equal_either(self, window: &[u8; 64], one: u8, other: u8) -> u64 {
        (0..64).filter(|&at| window[at] == one || window[at] == other).map(|at| 1 << at).sum()
    }

    fn digits(self, window: &[u8; 64]) -> u64 {
        (0..64).filter(|&at| window[at].is_ascii_digit()).map(|at| 1 << at).sum()
    }

    fn same(self, one: &[u8; 64], other: &[u8; 64]) -> u64 {
        (0..64).filter(|&at| one[at] == other[at]).map(|at| 1 << at).sum()
    }

    fn prefix(self, _: &[u8; 64], _: usize) -> [u64; 8] {
        [0; 8]
    }

    fn nth_bit(self, _: u64, _: u32) -> u32 {
        0
    }

    fn prefix_xor(self, _: u64) -> u64 {
        0
    }
}

#[test]
fn times_of_the_same_day_are_read_by_the_template() {
    for (first, second) in [
        ("[01/Mar/2026:06:20:09 +0100] a", "[01/Mar/2026:23:59:59 +0100] b"),
        ("2026-03-01 06:20:09,252 INFO", "2026-03-01 06:21:09,000 WARN"),
        ("2026-03-01T06:20:09.252123Z", "2026-03-01T06:20:10.252124Z"),
        ("2026-03-01 06:20:09", "2026-03-01 00:00:00"),
        ("Mar  1 06:20:09 host", "Mar  1 07:00:00 other"),
        ("2026-03-01\t06:20:09\tFRA2", "2026-03-01\t07:00:00\tFRA2"),
        ("\"2026-03-01\",\"06:20:09\",1", "\"2026-03-01\",\"07:00:00\",2"),
        ("2026-03-01,06:20:09,x", "2026-03-01,07:00:00,y"),
    ] {
        assert!(uses_template(first, second), "{second}");
    }
}

#[test]
fn other_times_are_not_read_by_the_template() {
    for (first, second) in [
        ("[01/Mar/2026:06:20:09 +0100]", "[02/Mar/2026:06:20:09 +0100]"),
        ("[01/Mar/2026:06:20:09 +0100]", "[01/Mar/2026:06:20:09 +0200]"),
        ("2026-03-01 06:20:09 INFO", "2026-03-01 06:20:09 +0100"),
        ("2026-03-01 06:20:09 INFO", "2026-03-01 06:20:09 UTC"),
        ("2026-03-01 06:20:09", "2026-03-01 06:20:09 x"),
        ("2026-03-01 06:20:09, x", "2026-03-01 06:20:09,5"),
        ("2026-03-01 06:20:09", "2026-03-01 06:20:60"),
        ("2026-03-01 06:20:09", "2026-03-01 24:00:00"),
        ("-2026-03-01 06:20:09", "-2026-03-01 06:20:10"),
        // Clocks change on the day after.
        ("2026-03-28 06:20:09", "2026-03-28 06:20:10"),
    ] {
        assert!(!uses_template(first, second), "{second}");
    }
}
