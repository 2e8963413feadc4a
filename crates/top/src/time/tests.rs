//! Times, zones and buckets, compared with jiff.

use jiff::civil::{DateTime, date};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, ToSpan, Zoned};
use proptest::prelude::*;

use super::calendar::{DAY, SECOND};
use super::written::{self, Moment, find};
use super::zone::ClockCache;
use super::*;
use crate::cells::{Cell, Cells};

/// Zones with changes of summer time in both hemispheres, of half an hour, with odd offsets, and without changes.
const ZONES: [&str; 9] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "America/St_Johns",
    "Pacific/Apia",
    "+05:30",
    "Africa/Casablanca",
];

fn zone(name: &str) -> Zone {
    Zone::parse(name).expect("a zone")
}

fn clock(name: &str) -> Clock {
    Clock::new(zone(name), nanoseconds("2026-03-01T12:00:00Z"))
}

fn nanoseconds(text: &str) -> i64 {
    let timestamp: Timestamp = text.parse().expect("a timestamp");
    timestamp.as_nanosecond().try_into().expect("a time of this century")
}

fn read_value(text: &[u8]) -> Option<Moment> {
    written::read_value(text).map(|found| found.moment)
}

/// The instant of a value in UTC, as jiff writes it.
fn read(text: &str) -> Option<String> {
    let instant = clock("UTC").instant(&mut ClockCache::default(), read_value(text.as_bytes())?)?;
    Some(Timestamp::from_nanosecond(instant.into()).expect("in range").to_string())
}

fn found(line: &str) -> Option<String> {
    let instant = clock("UTC").instant(&mut ClockCache::default(), find(line.as_bytes())?)?;
    Some(Timestamp::from_nanosecond(instant.into()).expect("in range").to_string())
}

#[test]
fn times_in_all_forms() {
    for (text, expected) in [
        ("01/Mar/2026:06:20:09 +0100", "2026-03-01T05:20:09Z"),
        ("[01/Mar/2026:06:20:09 +0100]", "2026-03-01T05:20:09Z"),
        ("[01/Mar/2026:06:20:09", "2026-03-01T06:20:09Z"),
        ("01/Mar/2026:06:20:09.123 -0330", "2026-03-01T09:50:09.123Z"),
        ("01-Mar-2026 06:20:09.5", "2026-03-01T06:20:09.5Z"),
        ("2026-03-01T06:20:09.252Z", "2026-03-01T06:20:09.252Z"),
        ("2026-03-01T06:20:09.252123456789+01", "2026-03-01T05:20:09.252123456Z"),
        ("2026-03-01 06:20:09,978", "2026-03-01T06:20:09.978Z"),
        ("2026-03-01 06:20:09 +01:00", "2026-03-01T05:20:09Z"),
        ("2026-03-01 06:20:09 UTC", "2026-03-01T06:20:09Z"),
        ("2026/03/01 06:20", "2026-03-01T06:20:00Z"),
        ("2026-03-01", "2026-03-01T00:00:00Z"),
        ("20260301T062009Z", "2026-03-01T06:20:09Z"),
        ("2024-02-29T23:59:60Z", "2024-02-29T23:59:59Z"),
        ("Mar  1 06:20:09", "2026-03-01T06:20:09Z"),
        ("Mar 1 06:20:09", "2026-03-01T06:20:09Z"),
        ("Mar 02 06:20:09.25", "2026-03-02T06:20:09.25Z"),
        ("01 Mar 06:20:09.25", "2026-03-01T06:20:09.25Z"),
        ("Sun Mar 01 06:20:09.123456 2026", "2026-03-01T06:20:09.123456Z"),
        ("Sun, 01 Mar 2026 06:20:09 +0100", "2026-03-01T05:20:09Z"),
        ("2026-03-01\t06:20:09", "2026-03-01T06:20:09Z"),
        ("2026-03-01\", \"06:20:09.5", "2026-03-01T06:20:09.5Z"),
        ("01/Mar/2026 | 06:20:09 +0100", "2026-03-01T05:20:09Z"),
        ("20260301 06:20:09", "2026-03-01T06:20:09Z"),
        ("I0301 06:20:09.252123", "2026-03-01T06:20:09.252123Z"),
        ("0301 06:20:09.252123", "2026-03-01T06:20:09.252123Z"),
        ("1772346009", "2026-03-01T06:20:09Z"),
        ("1772346009.25", "2026-03-01T06:20:09.25Z"),
        ("1772346009252", "2026-03-01T06:20:09.252Z"),
        ("1772346009252.5", "2026-03-01T06:20:09.2525Z"),
        ("1772346009252001", "2026-03-01T06:20:09.252001Z"),
        ("1772346009252001002", "2026-03-01T06:20:09.252001002Z"),
        ("0", "1970-01-01T00:00:00Z"),
        ("Mar 1, 2026 6:20:09 AM", "2026-03-01T06:20:09Z"),
        ("Mar 01, 2026, 6:20:09\u{202f}PM", "2026-03-01T18:20:09Z"),
        ("Mar 31, 2026 12:20:09 AM", "2026-03-31T00:20:09Z"),
        ("Mar 31, 2026 12:20:09 PM", "2026-03-31T12:20:09Z"),
    ] {
        assert_eq!(read(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn other_texts_are_no_times() {
    for text in [
        "",
        "-",
        "[]",
        "x",
        "31/Feb/2026:06:20:09 +0100",
        "2026-02-29",
        "2026-13-01",
        "2026-00-01",
        "2026-03-00",
        "2026-03-01T24:00:00Z",
        "2026-03-01T06:60:00Z",
        "2026-03-01T06:20:09Zx",
        "2026-03/01",
        "2026-03-01\t06:20",
        "2026-03-01 x 06:20:09",
        "18990301 06:20:09",
        "I0301 06:20:09",
        "X0301 06:20:09.252123",
        "06:20:09",
        "Foo  1 06:20:09",
        "Mar 32 06:20:09",
        "-1",
        "1e9",
        "99999999999999999999",
        "9999-01-01",
        "1600-01-01",
        "10.0.0.1",
        "Mar 1, 2026 13:20:09 PM",
        "Mar 1, 2026 0:20:09 AM",
        "Mar 1, 2026 6:20:09",
        "Feb 29, 2026 6:20:09 AM",
        "Mar 1, 2026 6:20:09 AMP",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn the_first_time_of_a_line_is_found() {
    for (line, expected) in [
        (
            r#"10.0.0.7 - a [01/Mar/2026:06:20:09 +0100] "GET /2020-01-01 HTTP/1.1" 200 1"#,
            "2026-03-01T05:20:09Z",
        ),
        ("2026-03-01 06:20:09,978 INFO [main] x: 2020-01-01", "2026-03-01T06:20:09.978Z"),
        ("<34>Mar  1 06:20:09 host su: x", "2026-03-01T06:20:09Z"),
        ("[Sun Mar 01 06:20:09.1 2026] [error] x", "2026-03-01T06:20:09.1Z"),
        ("1772346009 2005.06.03 R02 2005-06-03-15.42.50", "2026-03-01T06:20:09Z"),
        ("[1772346009] x", "2026-03-01T06:20:09Z"),
        ("level=info ts=2026-03-01T06:20:09.252Z msg=x", "2026-03-01T06:20:09.252Z"),
        ("{\"time\":\"2026-03-01T06:20:09Z\"}", "2026-03-01T06:20:09Z"),
        ("E0301 2026-03-01x 2026-03-01 06:20 y", "2026-03-01T06:20:00Z"),
        ("2019-12-04\t21:02:31\tLAX1\t392", "2019-12-04T21:02:31Z"),
        ("\"2019-12-04\",\"21:02:31\",x", "2019-12-04T21:02:31Z"),
        ("2019-12-04 2021 21:02:31", "2019-12-04T00:00:00Z"),
        ("20171223-22:15:29:606|Step_LSC|30002312", "2017-12-23T22:15:29Z"),
        ("I0301 10:00:00.123456    7 server.go:12] x", "2026-03-01T10:00:00.123456Z"),
    ] {
        assert_eq!(found(line).as_deref(), Some(expected), "{line}");
    }
    for line in ["Sun Feb 29 06:20:09 2026", "x Sun, Feb 29 06:20:09 2026 y"] {
        assert_eq!(found(line), None, "{line}");
    }
    for line in ["", "x", "GET /a/2026-03-01-x", "1772346009x", "x 1772346009", "404 -", "12-2026-03-01"] {
        assert_eq!(found(line), None, "{line}");
    }
}

#[test]
fn the_first_time_with_a_year_is_preferred_to_one_without() {
    let instant = |line: &str| {
        let moment = TimeForm::Usual.find(TimeKind::WithYear, line.as_bytes())?;
        clock("UTC").instant(&mut ClockCache::default(), moment)
    };
    let haproxy =
        "Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static";
    assert_eq!(instant(haproxy), Some(nanoseconds("2009-02-06T12:14:14.655Z")));
    assert_eq!(
        instant("Feb  6 12:14:14 localhost haproxy[1]: started"),
        Some(nanoseconds("2026-02-06T12:14:14Z"))
    );
    let kind = |lines: &[&str], is_all| {
        TimeKind::of_lines(&TimeForm::Usual, lines.iter().map(|line| line.as_bytes()), is_all)
    };
    let started = "Feb  6 12:14:14 localhost haproxy[1]: started";
    assert_eq!(kind(&[started, haproxy], false), Some(TimeKind::WithYear));
    assert_eq!(kind(&[started], false), None);
    assert_eq!(kind(&[started], true), Some(TimeKind::First));
    assert_eq!(kind(&["Feb  6 12:14:14 x: certificate expires 2027-01-01"], true), Some(TimeKind::First));
    assert_eq!(kind(&["x", "2026-03-01 x"], false), Some(TimeKind::First));
    assert_eq!(kind(&["06:20:09 a", " at x", "06:20:10 b"], true), Some(TimeKind::OfDay));
    assert_eq!(kind(&["06:20:09 a", " at x", " at y"], true), Some(TimeKind::First));
    assert_eq!(kind(&["06:20:09 a", "06:20:09 b", "2026-03-01 06:20:10 b"], true), Some(TimeKind::First));
}

#[test]
fn a_time_of_day_is_a_word_of_its_own() {
    let found = |line: &str| match TimeForm::Usual.find(TimeKind::OfDay, line.as_bytes()) {
        Some(Moment::OfDay(time)) => Some(time),
        _ => None,
    };
    let time = (6 * 3600 + 20 * 60 + 9) * SECOND;
    for line in
        ["06:20:09", "[06:20:09] x", "x 06:20:09, y", "06:20 06:20:09", "1 06:20:09: x", "- 06:20:09-"]
    {
        assert_eq!(found(line), Some(time), "{line}");
    }
    assert_eq!(found("06:20:09,250 x"), Some(time + 250_000_000));
    for line in [
        "",
        "06:20",
        "24:20:09",
        "106:20:09",
        "x06:20:09",
        "06:20:09x",
        "06:20:09:11",
        "1:06:20:09",
        "a-06:20:09",
    ] {
        assert_eq!(found(line), None, "{line}");
    }
    let value = |text: &str| TimeForm::Usual.read_kind(TimeKind::OfDay, text.as_bytes());
    assert_eq!(value("[06:20:09]"), Some(Moment::OfDay(time)));
    assert_eq!(value("06:20"), Some(Moment::OfDay(time - 9 * SECOND)));
    assert_eq!(value("06:20:09 x"), None);
}

#[test]
fn a_time_of_day_is_the_latest_before_the_last_change() {
    let at = |latest: &str, name: &str, time: i64| {
        let clock = Clock::new(zone(name), nanoseconds(latest));
        let mut cache = ClockCache::default();
        let day = clock.latest_day(&mut cache, time * SECOND)?;
        let instant = clock.on_day(&mut cache, day, time * SECOND)?;
        Some(Timestamp::from_nanosecond(instant.into()).expect("in range").to_string())
    };
    for (latest, name, time, expected) in [
        ("2026-03-01T06:20:09Z", "UTC", 6 * 3600, "2026-03-01T06:00:00Z"),
        ("2026-03-01T06:20:09Z", "UTC", 23 * 3600, "2026-02-28T23:00:00Z"),
        // Clocks may differ by a minute.
        ("2026-03-01T06:20:09Z", "UTC", 6 * 3600 + 21 * 60, "2026-03-01T06:21:00Z"),
        ("2026-03-01T06:20:09Z", "UTC", 6 * 3600 + 22 * 60, "2026-02-28T06:22:00Z"),
        ("2026-03-01T23:30:00Z", "Europe/Berlin", 0, "2026-03-01T23:00:00Z"),
        ("2026-03-01T23:30:00Z", "Europe/Berlin", 3600, "2026-03-01T00:00:00Z"),
        ("2026-03-01T23:30:00Z", "America/New_York", 18 * 3600, "2026-03-01T23:00:00Z"),
    ] {
        assert_eq!(at(latest, name, time).as_deref(), Some(expected), "{latest} {name} {time}");
    }
}

#[test]
fn a_time_without_a_year_is_the_latest_that_is_not_in_the_future() {
    let at = |latest: &str, text: &str| {
        let clock = Clock::new(Zone::UTC, nanoseconds(latest));
        let instant = clock.instant(&mut ClockCache::default(), read_value(text.as_bytes())?)?;
        Some(Timestamp::from_nanosecond(instant.into()).expect("in range").to_string()[..10].to_owned())
    };
    let day = |text: &str| Some(text.to_owned());
    assert_eq!(at("2026-01-05T00:00:00Z", "Dec 30 10:00:00"), day("2025-12-30"));
    assert_eq!(at("2026-01-05T00:00:00Z", "Jan  5 10:00:00"), day("2026-01-05"));
    assert_eq!(at("2026-01-05T00:00:00Z", "Jan  6 10:00:00"), day("2025-01-06"));
    assert_eq!(at("2026-01-05T00:00:00Z", "Feb 29 10:00:00"), day("2024-02-29"));
    assert_eq!(at("1903-01-05T00:00:00Z", "Feb 29 10:00:00"), day("1896-02-29"));
}

#[test]
fn zones_have_names_and_offsets() {
    for text in ["UTC", "utc", "Z", "local", "Europe/Berlin", "+01:00", "-0330", "+5", "+05"] {
        assert!(Zone::parse(text).is_ok(), "{text}");
    }
    for text in ["", "Nowhere/City", "+", "+25:00", "+1:", "+001:00", "01:00", "+é"] {
        assert!(Zone::parse(text).is_err(), "{text}");
    }
    assert_eq!(zone("-0330").stretch(0).offset, -(3 * 3600 + 1800) * SECOND);
}

#[test]
fn widths_of_buckets_divide_a_day_or_are_days() {
    for (text, shown) in
        [("60s", "1m"), ("5m", "5m"), ("90min", "90m"), ("h", "1h"), ("24h", "1d"), ("14d", "2w")]
    {
        assert_eq!(text.parse::<Every>().map(|every| every.to_string()).as_deref(), Ok(shown));
    }
    for (text, shown) in
        [("mo", "1mo"), ("1q", "1q"), ("3mo", "1q"), ("2q", "6mo"), ("12mo", "1y"), ("10y", "10y")]
    {
        assert_eq!(text.parse::<Every>().map(|every| every.to_string()).as_deref(), Ok(shown));
    }
    for (text, next) in [("5mo", "4mo and 6mo"), ("3q", "6mo and 1y"), ("17mo", "1y and 2y")] {
        let error = text.parse::<Every>().expect_err("uneven").to_string();
        assert_eq!(
            error,
            format!("buckets must divide a year or be whole years; the next that do are {next}")
        );
    }
    let uneven = "7m".parse::<Every>().expect_err("7 minutes do not divide a day").to_string();
    assert_eq!(uneven, "buckets must divide a day or be whole days; the next that do are 6m and 10m");
    for text in [
        "",
        "5",
        "0m",
        "-5m",
        "5x",
        "1.5h",
        "99999999999999999999d",
        "5 m",
        "0mo",
        "1M",
        "1001y",
        "9223372036854775807q",
    ] {
        assert!(text.parse::<Every>().is_err(), "{text}");
    }
}

#[test]
fn ends_of_windows() {
    let now = nanoseconds("2026-03-29T12:00:00Z");
    let at = |text: &str, name: &str| {
        let bound = Bound::parse(text, &zone(name), now).map_err(|error| error.to_string())?;
        Ok::<_, String>(Timestamp::from_nanosecond(bound.nanoseconds.into()).expect("in range").to_string())
    };
    for (text, expected) in [
        ("now", "2026-03-29T12:00:00Z"),
        ("2h", "2026-03-29T10:00:00Z"),
        ("2h ago", "2026-03-29T10:00:00Z"),
        ("1h30m", "2026-03-29T10:30:00Z"),
        ("1w", "2026-03-22T12:00:00Z"),
        ("today", "2026-03-28T23:00:00Z"),
        // Clocks were set forward at 02:00 of this day.
        ("06:20", "2026-03-29T04:20:00Z"),
        ("02:30", "2026-03-29T01:30:00Z"),
        ("yesterday 09:00", "2026-03-28T08:00:00Z"),
        ("tomorrow", "2026-03-29T22:00:00Z"),
        ("2026-03-01", "2026-02-28T23:00:00Z"),
        ("2026-03-01 06:20", "2026-03-01T05:20:00Z"),
        ("2026-03-01T06:20:09Z", "2026-03-01T06:20:09Z"),
        ("01/Mar/2026:06:20:09 +0100", "2026-03-01T05:20:09Z"),
        ("1772346009", "2026-03-01T06:20:09Z"),
        ("Mar  1 06:20:09", "2026-03-01T05:20:09Z"),
    ] {
        assert_eq!(at(text, "Europe/Berlin").as_deref(), Ok(expected), "{text}");
    }
    for text in ["", " ", "x", "2x", "h", "25:00", "yesterday 9", "2026-02-30", "ago", "2h x", "99999999999w"]
    {
        assert!(at(text, "UTC").is_err(), "{text}");
    }
}

/// An instant of the years from 1900 to 2100, in nanoseconds, often near a change of summer time.
fn instants() -> impl Strategy<Value = i64> {
    let any = -2_208_988_800_i64..4_102_444_800;
    let near = (1975_i16..2060, prop::sample::select(&[3_i8, 4, 10, 11, 12][..]), -40_i64..40 * 86_400)
        .prop_map(|(year, month, more)| {
            let start = date(year, month, 1).to_zoned(TimeZone::UTC).expect("a date").timestamp();
            start.as_second() + more
        });
    (prop_oneof![any, near], 0..SECOND).prop_map(|(seconds, nanoseconds)| seconds * SECOND + nanoseconds)
}

fn zoned(instant: i64, zone: &Zone) -> Zoned {
    Timestamp::from_nanosecond(instant.into()).expect("in range").to_zoned(zone.inner().clone())
}

proptest! {
    /// Many instants with one cache, since a wrong memory shows only then.
    #[test]
    fn civil_times_are_those_of_jiff(
        name in prop::sample::select(&ZONES[..]),
        instants in prop::collection::vec(instants(), 1..20),
    ) {
        let (zone, clock) = (zone(name), clock(name));
        let mut cache = ClockCache::default();
        for instant in instants {
            let civil = zoned(instant, &zone).datetime();
            let expected = zone.inner().to_timestamp(civil).expect("a time").as_nanosecond();
            let text = civil.strftime("%Y-%m-%dT%H:%M:%S%.9f").to_string();
            let found = read_value(text.as_bytes()).and_then(|moment| clock.instant(&mut cache, moment));
            prop_assert_eq!(found.map(i128::from), Some(expected), "{} {}", text, name);
        }
    }

    /// Many values, since those before them are a template for the next.
    #[test]
    fn times_of_twelve_hours_are_those_of_jiff(instants in prop::collection::vec(instants(), 1..20)) {
        let seconds = instants.into_iter().map(|instant| instant.div_euclid(1_000_000_000) * 1_000_000_000);
        let seconds: Vec<i64> = seconds.collect();
        let (mut cells, mut text) = (Cells::default(), Vec::new());
        cells.reset(1);
        for &second in &seconds {
            let start = text.len() as u32;
            text.extend(zoned(second, &Zone::UTC).strftime("%b %-d, %Y %-I:%M:%S %p").to_string().bytes());
            cells.columns_mut()[0].push(Cell::Raw(start, text.len() as u32));
        }
        let mut found = Vec::new();
        let form = (&TimeForm::Usual, TimeKind::First);
        TimeFinder::default().read_values(form, &clock("UTC"), (&text, &cells), &mut found);
        let expected: Vec<Option<i64>> = seconds.into_iter().map(Some).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn times_with_an_offset_are_those_of_jiff(instant in instants(), offset in -14 * 60..=14 * 60_i32) {
        let offset = Offset::from_seconds(60 * offset).expect("an offset");
        let zoned = Timestamp::from_nanosecond(instant.into()).expect("in range").to_zoned(TimeZone::fixed(offset));
        for form in ["%d/%b/%Y:%H:%M:%S%.9f %z", "%Y-%m-%dT%H:%M:%S%.9f%:z", "%a, %d %b %Y %H:%M:%S%.f %z", "%Y%m%dT%H%M%S%.9f%z"] {
            let text = zoned.strftime(form).to_string();
            let found = read_value(text.as_bytes()).and_then(|moment| clock("Asia/Kathmandu").instant(&mut ClockCache::default(), moment));
            prop_assert_eq!(found, Some(instant), "{}", text);
            let line = format!("x.y - [{text}] z");
            prop_assert_eq!(find(line.as_bytes()), read_value(text.as_bytes()), "{}", line);
        }
    }

    #[test]
    fn any_bytes_are_a_time_or_none(text in prop::collection::vec(any::<u8>(), 0..40), pieces in "[0-9:/TZ +.,MarJunDec\\[-]{0,30}") {
        for text in [&text[..], pieces.as_bytes()] {
            for moment in read_value(text).into_iter().chain(find(text)) {
                let _ = clock("Europe/Berlin").instant(&mut ClockCache::default(), moment);
            }
            let _ = Bound::parse(&String::from_utf8_lossy(text), &Zone::UTC, 0);
        }
    }

    /// Buckets by the definition, with jiff's calendar.
    #[test]
    fn buckets_are_those_of_the_reference(
        name in prop::sample::select(&ZONES[..]),
        every in prop::sample::select(&["1s", "10s", "64s", "1m", "5m", "30m", "45m", "1h", "2h", "6h", "12h", "1d", "1w", "3d", "1mo", "1q", "4mo", "1y", "3y"][..]),
        instants in prop::collection::vec(instants(), 1..20),
    ) {
        let zone = zone(name);
        let buckets = Buckets::new(every.parse().expect("a width"), zone.clone());
        let mut cache = BucketCache::default();
        for instant in instants {
            let start = buckets.start(&mut cache, instant);
            prop_assert_eq!(start, reference(every, &zone, instant), "{} {} {}", name, every, instant);
            // The buckets of the next days are those that `next` visits.
            let later = instant + SECOND * (3 * DAY).min(40 * buckets.width());
            let later = buckets.start(&mut cache, later);
            let mut visited = std::iter::successors(Some(start), |&start| Some(buckets.next(&mut cache, start)));
            prop_assert_eq!(visited.find(|&start| start >= later), Some(later), "{} {}", start, later);
        }
    }
}

fn reference(every: &str, zone: &Zone, instant: i64) -> i64 {
    let here = zoned(instant, zone);
    let midnight = here.date().to_datetime(jiff::civil::Time::midnight());
    let last_change = |instant: Timestamp| {
        zone.inner()
            .preceding(instant + 1.second())
            .next()
            .expect("a change of clocks")
            .timestamp()
            .as_second()
    };
    // If clocks skip the beginning, the change is the beginning.
    let start = |civil: DateTime| {
        let start = zone.inner().to_timestamp(civil).expect("a time");
        let is_skipped = zone.inner().to_datetime(start) != civil;
        if is_skipped { last_change(start) } else { start.as_second() }
    };
    let since_midnight =
        i64::from(here.hour()) * 3600 + i64::from(here.minute()) * 60 + i64::from(here.second());
    let floor = |width: i64| midnight + (since_midnight / width * width).seconds();
    match every {
        "1d" => start(midnight),
        "1w" => start(midnight - i64::from(here.weekday().to_monday_zero_offset()).days()),
        "3d" => {
            let days = (here.date() - date(1970, 1, 1)).get_days();
            start(midnight - i64::from(days.rem_euclid(3)).days())
        }
        "1mo" | "1q" | "4mo" | "1y" | "3y" => {
            let date = here.date();
            let (year, month) = match every {
                "1mo" => (date.year(), date.month()),
                "1q" => (date.year(), [1, 4, 7, 10][(date.month() as usize - 1) / 3]),
                "4mo" => (date.year(), [1, 5, 9][(date.month() as usize - 1) / 4]),
                "1y" => (date.year(), 1),
                _ => (date.year() - date.year() % 3, 1),
            };
            start(jiff::civil::date(year, month, 1).to_datetime(jiff::civil::Time::midnight()))
        }
        "2h" => start(floor(7200)),
        "6h" => start(floor(21_600)),
        "12h" => start(floor(43_200)),
        // With the offset of the instant, so that an hour shown twice is two buckets.
        _ => {
            let width = match every {
                "1s" => 1,
                "10s" => 10,
                "64s" => 64,
                "1m" => 60,
                "5m" => 300,
                "30m" => 1800,
                "45m" => 2700,
                _ => 3600,
            };
            let start = here.offset().to_timestamp(floor(width)).expect("a time");
            let is_before_change = zone.inner().to_offset(start) != here.offset();
            if is_before_change { last_change(here.timestamp()) } else { start.as_second() }
        }
    }
}

#[test]
fn a_day_of_summer_time_has_one_bucket_and_an_hour_shown_twice_has_two() {
    let starts = |every: &str, times: &[&str]| labels("Europe/Berlin", every, times);
    let day = ["2026-10-24T22:00:00Z", "2026-10-25T22:59:59Z", "2026-10-25T23:00:00Z"];
    assert_eq!(starts("1d", &day), ["2026-10-25", "2026-10-25", "2026-10-26"]);
    let hours = ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"];
    assert_eq!(starts("1h", &hours), ["2026-10-25T02:00+02:00", "2026-10-25T02:00+01:00"]);
}

/// The labels of the buckets of times.
fn labels(name: &str, every: &str, times: &[&str]) -> Vec<String> {
    let buckets = Buckets::new(every.parse().expect("a width"), zone(name));
    let mut cache = BucketCache::default();
    times.iter().map(|time| buckets.label(buckets.start(&mut cache, nanoseconds(time)))).collect()
}

#[test]
fn a_bucket_begins_with_a_change_of_clocks_inside_of_its_width() {
    // Half an hour is shown twice, and skipped.
    let autumn = ["2026-04-04T14:10:00Z", "2026-04-04T15:10:00Z", "2026-04-04T15:40:00Z"];
    let expected = ["2026-04-05T01:00+11:00", "2026-04-05T01:30+10:30", "2026-04-05T02:00+10:30"];
    assert_eq!(labels("Australia/Lord_Howe", "1h", &autumn), expected);
    assert_eq!(labels("Australia/Lord_Howe", "1h", &["2026-10-03T15:40:00Z"]), ["2026-10-04T02:30+11:00"]);
    // Clocks went back at one minute past midnight, to the day before.
    let midnight = ["1999-10-31T02:29:30Z", "1999-10-31T02:30:30Z", "1999-10-31T02:31:30Z"];
    let expected = ["1999-10-30T23:00-02:30", "1999-10-31T00:00-02:30", "1999-10-30T23:01-03:30"];
    assert_eq!(labels("America/St_Johns", "1h", &midnight), expected);
    // An hour has no whole number of 64 seconds.
    assert_eq!(labels("Europe/Berlin", "64s", &["2011-03-27T01:00:10Z"]), ["2011-03-27T03:00:00+02:00"]);
    // Midnight was skipped, from 23:53:32 to 00:00:00 and from 00:00 to 00:15.
    assert_eq!(labels("Asia/Kathmandu", "2h", &["1985-12-31T18:31:00Z"]), ["1986-01-01T00:15+05:45"]);
    assert_eq!(labels("Europe/Berlin", "1h", &["1893-03-31T23:10:00Z"]), ["1893-04-01T00:06:32+01:00"]);
}

#[test]
fn a_format_reads_fractions_of_seconds_since_1970() {
    for (format, text, expected) in [
        ("%s", "1772346009", 1_772_346_009_000_000_000),
        ("%s.%f", "1772346009.252", 1_772_346_009_252_000_000),
        ("%s%.f", "1772346009.000000001", 1_772_346_009_000_000_001),
        ("%s.%f", "-5.5", -5_500_000_000),
    ] {
        let form = TimeForm::format(format).expect("a format");
        assert_eq!(form.read_value(text.as_bytes()), Some(Moment::Instant(expected)), "{text}");
    }
}

#[test]
fn a_time_of_a_format_is_followed_by_another_word() {
    let form = TimeForm::format("%s").expect("a format");
    for line in ["5", "5 x", "5;", "5: x", "5.25", "5--"] {
        assert_eq!(
            form.find(TimeKind::First, line.as_bytes()),
            Some(Moment::Instant(5_000_000_000)),
            "{line}"
        );
    }
    for line in ["5x", "5-03-01", "5/Mar", "5:03:09", "x 5"] {
        assert_eq!(form.find(TimeKind::First, line.as_bytes()), None, "{line}");
    }
}

#[test]
fn a_format_without_a_date_is_invalid() {
    for format in ["%H:%M:%S", "%Y-%m", "%Y-%m-%d %H:%M %Z", "%e", "x"] {
        assert!(TimeForm::format(format).is_err(), "{format}");
    }
    for format in
        ["%s", "%b %d %H:%M", "%Y-%j", "%G-W%V-%u", "%F %T %:z", "%d/%m/%y %I:%M %p", "%A, %d %B %Y"]
    {
        assert_eq!(TimeForm::format(format), Ok(TimeForm::Format(format.to_owned())), "{format}");
    }
}

#[test]
fn times_have_64_bits_of_nanoseconds_without_the_last() {
    for (text, expected) in [
        ("1677-09-21T00:12:43.145224192Z", Some(i64::MIN)),
        ("1677-09-21T00:12:43.145224192", Some(i64::MIN)),
        ("1677-09-21T00:12:43.145224191Z", None),
        ("2262-04-11T23:47:16.854775806Z", Some(i64::MAX - 1)),
        ("2262-04-11T23:47:16.854775807Z", None),
        ("9223372036854775806", Some(i64::MAX - 1)),
        ("9223372036854775807", None),
    ] {
        let moment = read_value(text.as_bytes());
        let instant = moment.and_then(|moment| clock("UTC").instant(&mut ClockCache::default(), moment));
        assert_eq!(instant, expected, "{text}");
    }
}

#[test]
fn the_last_and_the_first_bucket_of_64_bits_have_a_start_and_an_end() {
    for name in ZONES {
        for every in ["1s", "1h", "2h", "1d", "1w"] {
            let buckets = Buckets::new(every.parse().expect("a width"), zone(name));
            let mut cache = BucketCache::default();
            for instant in [i64::MIN, i64::MAX - 1] {
                let start = buckets.start(&mut cache, instant);
                let distance = instant.div_euclid(SECOND) - start;
                assert!((0..buckets.width()).contains(&distance), "{name} {every} {distance}");
                let next = buckets.next(&mut cache, start);
                assert_eq!(next - start, buckets.width(), "{name} {every}");
            }
        }
        for every in ["1mo", "1q", "1y", "1000y"] {
            let buckets = Buckets::new(every.parse().expect("a width"), zone(name));
            let mut cache = BucketCache::default();
            for instant in [i64::MIN, -1, i64::MAX - 1] {
                let start = buckets.start(&mut cache, instant);
                let next = buckets.next(&mut cache, start);
                assert!((start..next).contains(&instant.div_euclid(SECOND)), "{name} {every} {instant}");
                assert!(bucket::is_in_bucket(&bucket::prefix(start)), "{name} {every} {instant}");
            }
        }
    }
}
