//! Windows and buckets of time against a plain implementation on jiff's calendar, in all formats.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, SystemTime};

use finecomb_scan::{Inputs, Problem, ScanOptions, Width};
use finecomb_top::{
    Answer, Bound, BucketRows, Field, InputFormat, Measure, MeasureKind, Outcome, Query, QueryOptions,
    Series, SeriesCount, SortBy, Zone, top,
};
use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use proptest::prelude::*;

const ZONES: [&str; 3] = ["UTC", "Europe/Berlin", "America/St_Johns"];

/// A record: its second and its key, if it has them, and how its time is written.
#[derive(Clone, Debug)]
struct TimedRecord {
    second: Option<i64>,
    key: Option<&'static str>,
    form: &'static str,
}

/// Forms with an offset or in seconds since 1970, so that each text is one instant.
const FORMS: [&str; 5] =
    ["%Y-%m-%dT%H:%M:%S%:z", "%Y-%m-%dT%H:%M:%SZ", "%d/%b/%Y:%H:%M:%S %z", "%a, %d %b %Y %H:%M:%S %z", "%s"];

impl TimedRecord {
    /// The key in a format, if it has one there.
    fn key_in(&self, format: &InputFormat) -> Option<&'static str> {
        self.key.or(matches!(format, InputFormat::Csv | InputFormat::Combined).then_some(COLUMN))
    }

    /// The time as text, in a zone of two hours east of UTC if the form has an offset.
    fn time(&self) -> String {
        let Some(second) = self.second else { return "none".to_owned() };
        let timestamp = Timestamp::from_second(second).expect("in range");
        let is_utc = self.form.ends_with('Z') || self.form == "%s";
        let zone = if is_utc { TimeZone::UTC } else { TimeZone::fixed(jiff::tz::offset(2)) };
        timestamp.to_zoned(zone).strftime(self.form).to_string()
    }

    fn line(&self, format: &InputFormat) -> String {
        let (time, key) = (self.time(), self.key.unwrap_or(COLUMN));
        match format {
            InputFormat::Json if self.key.is_none() => format!("{{\"n\":1,\"ts\":\"{time}\"}}"),
            InputFormat::Logfmt if self.key.is_none() => format!("ts=\"{time}\" n=1"),
            InputFormat::Lines if self.key.is_none() => time,
            InputFormat::Json => format!("{{\"n\":1,\"k\":\"{key}\",\"ts\":\"{time}\"}}"),
            InputFormat::Logfmt => format!("k={key} ts=\"{time}\" n=1"),
            InputFormat::Csv => format!("\"{time}\",{key},1"),
            InputFormat::Combined => format!("::1 - {key} [{time}] \"GET / HTTP/1.1\" 200 1 \"-\" \"-\""),
            // A time at the beginning, or in brackets after the key.
            _ if self.form == "%s" => format!("{time} {key} 1"),
            _ => format!("x {key} [{time}] 1"),
        }
    }
}

/// The key of records without one in formats that have a column for it.
const COLUMN: &str = "-";

fn records() -> impl Strategy<Value = Vec<TimedRecord>> {
    // Around the changes of summer time in Berlin and in Newfoundland.
    let start =
        prop::sample::select(&[1_774_745_000_i64, 1_792_891_000, 1_772_900_000, 1_793_500_000, -500_000][..]);
    let offsets = prop_oneof![0..7200_i64, 0..2 * 86_400_i64];
    start.prop_flat_map(move |start| {
        let record = (
            prop::option::weighted(0.95, offsets.clone()),
            prop::option::weighted(0.95, prop::sample::select(&["a", "b", "c"][..])),
            prop::sample::select(&FORMS[..]),
        );
        let record = record.prop_map(move |(offset, key, form)| {
            // Without blanks, a time is a line of one field.
            let form = if key.is_none() { "%Y-%m-%dT%H:%M:%SZ" } else { form };
            // In lines, numbers of seconds are times since 2001.
            let second = offset
                .map(|offset| start + offset)
                .map(|second| if form == "%s" { second.max(1_000_000_000) } else { second });
            TimedRecord { second, key, form }
        });
        prop::collection::vec(record, 0..60)
    })
}

fn formats() -> impl Strategy<Value = InputFormat> {
    prop::sample::select(vec![
        InputFormat::Lines,
        InputFormat::Json,
        InputFormat::Logfmt,
        InputFormat::Csv,
        InputFormat::Combined,
    ])
}

fn text(records: &[TimedRecord], format: &InputFormat) -> String {
    let header = if *format == InputFormat::Csv { "ts,k,n\n" } else { "" };
    let lines: String = records.iter().map(|record| record.line(format) + "\n").collect();
    header.to_owned() + &lines
}

/// The label of the bucket of a second, by the calendar.
fn bucket(second: i64, every: &str, zone: &TimeZone) -> String {
    let here = Timestamp::from_second(second).expect("in range").to_zoned(zone.clone());
    let midnight = here.date().to_datetime(Time::midnight());
    let since_midnight =
        i64::from(here.hour()) * 3600 + i64::from(here.minute()) * 60 + i64::from(here.second());
    let floor = |width: i64| midnight + (since_midnight / width * width).seconds();
    let labelled = |zoned: jiff::Zoned| {
        let label = zoned.strftime("%Y-%m-%dT%H:%M%:z").to_string();
        if *zone == TimeZone::UTC { label.replace("+00:00", "Z") } else { label }
    };
    match every {
        "1mo" => here.strftime("%Y-%m").to_string(),
        "1d" => here.date().to_string(),
        "6h" => labelled(zone.to_zoned(floor(21_600)).expect("a time")),
        every => {
            let width = if every == "1h" { 3600 } else { 300 };
            labelled(here.offset().to_timestamp(floor(width)).expect("a time").to_zoned(zone.clone()))
        }
    }
}

/// Asserts that the answer is the same at any width and block size, and returns it.
fn count(text: &str, options: &QueryOptions) -> Answer {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("log");
    fs::write(&path, text).expect("a file");
    let query = Query::new(options).expect("a valid query");
    let mut first: Option<Outcome> = None;
    for (width, block_size) in [(1, 1 << 17), (1, 1), (2, 50), (3, 200), (8, 1000), (64, 20)] {
        let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
        let outcome = top(&Inputs::new([&path]), &scan, &query);
        let first = first.get_or_insert_with(|| top(&Inputs::new([&path]), &scan, &query));
        let shown = |outcome: &Outcome| format!("{:?} {:?}", outcome.answer.top, outcome.answer.series);
        assert_eq!(shown(&outcome), shown(first), "width {width}, blocks of {block_size} bytes");
        assert_eq!(
            outcome.answer.untimed.map(|untimed| untimed.count),
            first.answer.untimed.as_ref().map(|untimed| untimed.count)
        );
    }
    first.expect("there are widths").answer
}

fn key_field(format: &InputFormat) -> QueryOptions {
    let mut options = QueryOptions::default().input(Some(format.clone())).number(usize::MAX);
    match format {
        InputFormat::Lines => options.fields = "2".parse().expect("a field"),
        InputFormat::Combined => options.names = vec![Field::named("user")],
        _ => options.names = vec![Field::named("k")],
    }
    options
}

/// Records with a time that is known to the program: it is found if some of the first ten records have one.
fn has_times(records: &[TimedRecord], format: &InputFormat) -> bool {
    *format == InputFormat::Lines || records.iter().take(10).any(|record| record.second.is_some())
}

proptest! {
    #[test]
    fn windows_are_those_of_the_oracle(
        records in records(),
        format in formats(),
        since in prop::option::of(0_usize..60),
        until in prop::option::of(0_usize..60),
    ) {
        prop_assume!(has_times(&records, &format) && (since.is_some() || until.is_some()));
        let at = |index: Option<usize>| records.get(index?)?.second;
        let [since, until] = [at(since), at(until)];
        prop_assume!(since.is_some() || until.is_some());
        let bound = |second: Option<i64>| {
            let text = Timestamp::from_second(second?).expect("in range").to_string();
            Some(Bound::parse(&text, &Zone::UTC, 0).expect("a time"))
        };
        let options = key_field(&format).since(bound(since)).until(bound(until));
        let answer = count(&text(&records, &format), &options);
        let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
        let is_counted = |second: i64| since.is_none_or(|since| since <= second) && until.is_none_or(|until| second < until);
        for record in records.iter().filter(|record| record.second.is_some_and(is_counted)) {
            if let Some(key) = record.key_in(&format) {
                *expected.entry(key).or_default() += 1;
            }
        }
        let found: BTreeMap<&str, u64> =
            answer.top.iter().map(|key| (std::str::from_utf8(&key.key).expect("UTF-8"), key.count)).collect();
        prop_assert_eq!(found, expected);
        let untimed = records.iter().filter(|record| record.second.is_none()).count() as u64;
        prop_assert_eq!(answer.untimed.map_or(0, |untimed| untimed.count), untimed);
    }

    #[test]
    fn buckets_are_those_of_the_oracle(
        records in records(),
        format in formats(),
        every in prop::sample::select(&["5m", "1h", "6h", "1d", "1mo"][..]),
        zone in prop::sample::select(&ZONES[..]),
        has_key: bool,
    ) {
        prop_assume!(has_times(&records, &format));
        let mut options = key_field(&format).every(Some(every.parse().expect("a width"))).zone(Zone::parse(zone).expect("a zone"));
        if !has_key {
            (options.fields, options.names) = (Default::default(), Vec::new());
            options.sort_by = SortBy::Key;
        }
        let answer = count(&text(&records, &format), &options);
        let zone = TimeZone::get(zone).expect("a zone");
        let mut expected: BTreeMap<(String, &str), u64> = BTreeMap::new();
        for record in &records {
            let Some(second) = record.second else { continue };
            let Some(key) = (if has_key { record.key_in(&format) } else { Some("") }) else { continue };
            *expected.entry((bucket(second, every, &zone), key)).or_default() += 1;
        }
        let found = answer.top.iter().filter(|row| row.count > 0).map(|row| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
            match &row.fields[..] {
                [] => ((text(&row.key), String::new()), row.count),
                fields => ((text(&fields[0]), text(&fields[1])), row.count),
            }
        });
        let expected: BTreeMap<(String, String), u64> =
            expected.into_iter().map(|((bucket, key), count)| ((bucket, key.to_owned()), count)).collect();
        prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), expected.clone());
        let mut rows = answer.top.iter();
        for BucketRows { rows: count, records } in &answer.bucket_rows {
            for row in rows.by_ref().take(*count) {
                let in_bucket = expected.iter().filter(|((bucket, _), _)| bucket.as_bytes() == row.fields[0]);
                prop_assert_eq!(in_bucket.map(|(_, count)| count).sum::<u64>(), *records);
            }
        }
        prop_assert!(rows.next().is_none() || answer.bucket_rows.is_empty());
        if let Some(series) = &answer.series {
            assert_series(series, &expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Records of several days, each with its time of day alone, some of them a few seconds too late.
    #[test]
    fn times_of_day_are_counted_back_over_midnights_at_any_width_and_block_size(
        steps in prop::collection::vec(prop_oneof![-3..600_i64, 3600..70_000_i64], 1..80),
        until_change in 0..20_000_i64,
        zone in prop::sample::select(&ZONES[..]),
        format in prop::sample::select(vec![InputFormat::Lines, InputFormat::Logfmt, InputFormat::Tsv]),
        block_size in prop::sample::select(&[1_usize, 7, 64, 4096][..]),
        width in 1_usize..4,
    ) {
        let here = TimeZone::get(zone).expect("a zone");
        // No clocks change in May, and the first records are in order.
        let mut second = 1_778_000_000;
        let seconds: Vec<i64> = (0..).zip(&steps).map(|(index, step)| {
            second += if index < 2 { step.abs() } else { *step };
            second
        }).collect();
        let latest = seconds.last().copied().unwrap_or(second) + until_change;
        let line = |second: i64| {
            let zoned = Timestamp::from_second(second).expect("in range").to_zoned(here.clone());
            match format {
                InputFormat::Logfmt => zoned.strftime("k=a time=%H:%M:%S").to_string(),
                InputFormat::Tsv => zoned.strftime("a\t%H:%M:%S").to_string(),
                _ => zoned.strftime("[%H:%M:%S.5] a").to_string(),
            }
        };
        let header = if format == InputFormat::Tsv { "k\ttime\n" } else { "" };
        let text: String = header.to_owned() + &seconds.iter().map(|second| line(*second) + "\n").collect::<String>();
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.log");
        fs::write(&path, &text).expect("a file");
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(latest.unsigned_abs() + 1);
        fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(changed)).expect("a time");
        let options = every("1h").input(Some(format)).zone(Zone::parse(zone).expect("a zone"));
        let query = Query::new(&options).expect("a valid query");
        let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
        let outcome = top(&Inputs::new([&path]), &scan, &query);
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        seconds.iter().for_each(|second| *expected.entry(bucket(*second, "1h", &here)).or_default() += 1);
        let found: BTreeMap<String, u64> = shown(&outcome.answer).into_iter().filter(|(_, count)| *count > 0).collect();
        prop_assert_eq!(found, expected, "{}", text);
        prop_assert_eq!(outcome.problems.iter().all(Problem::is_note), true);
        prop_assert_eq!(outcome.problems.len(), 1);
    }
}

/// Asserts that a matrix has these counts and no others.
fn assert_series(series: &Series, expected: &BTreeMap<(String, String), u64>) {
    let mut found = BTreeMap::new();
    for (key, counts) in series.keys.iter().zip(&series.counts_of_first(usize::MAX)) {
        assert_eq!(counts.iter().sum::<u64>(), key.count);
        for (bucket, &count) in series.buckets.iter().zip(counts).filter(|&(_, &count)| count > 0) {
            let key = String::from_utf8(key.key.clone()).expect("UTF-8");
            assert!(found.insert((bucket.clone(), key), count).is_none(), "a bucket twice: {bucket}");
        }
    }
    assert_eq!(&found, expected);
    let keys: BTreeSet<_> = expected.keys().map(|(_, key)| key).collect();
    assert_eq!(series.keys.len(), keys.len());
}

/// Times in UTC, each on a line and followed by a number.
fn minutes(lines: &[(&str, u32)]) -> String {
    lines.iter().map(|(time, number)| format!("2026-03-01T{time}Z {number}\n")).collect()
}

fn every(width: &str) -> QueryOptions {
    QueryOptions::default()
        .every(Some(width.parse().expect("a width")))
        .sort_by(SortBy::Key)
        .number(usize::MAX)
}

fn shown(answer: &Answer) -> Vec<(String, u64)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    answer.top.iter().map(|row| (text(&row.key), row.count)).collect()
}

#[test]
fn gaps_have_empty_buckets_unless_they_are_long() {
    let text = minutes(&[("06:03:00", 1), ("06:00:00", 2), ("06:00:59", 3)]) + "1970-01-01T00:00:00Z 4\n";
    let answer = count(&text, &every("1m"));
    let row = |time: &str, count| (time.to_owned(), count);
    assert_eq!(
        shown(&answer),
        [
            row("1970-01-01T00:00Z", 1),
            row("2026-03-01T06:00Z", 2),
            row("2026-03-01T06:01Z", 0),
            row("2026-03-01T06:02Z", 0),
            row("2026-03-01T06:03Z", 1)
        ]
    );
    assert_eq!(answer.long_gaps, 1);
    let reversed = count(&text, &every("1m").reverse(true));
    assert!(shown(&reversed).iter().eq(shown(&answer).iter().rev()));
}

#[test]
fn buckets_have_measures_and_can_be_ranked() {
    let text = minutes(&[("06:03:00", 1), ("06:00:00", 2), ("06:00:59", 3)]);
    let measures = vec![Measure::Field { kind: MeasureKind::Sum, field: Field::Position(2) }];
    let answer = count(&text, &every("1m").measures(measures.clone()));
    let sums: Vec<String> = answer.top.iter().map(|row| row.values[0].to_string()).collect();
    assert_eq!(sums, ["5", "-", "-", "1"]);
    let ranking = every("1m").measures(measures).sort_by(SortBy::Count).number(1);
    assert_eq!(shown(&count(&text, &ranking)), [("2026-03-01T06:00Z".to_owned(), 2)]);
}

#[test]
fn only_the_most_frequent_keys_of_all_buckets_are_shown() {
    let text = minutes(&[
        ("06:00:00", 7),
        ("06:01:00", 8),
        ("06:01:30", 8),
        ("06:02:00", 7),
        ("06:02:00", 9),
        ("06:03:00", 7),
    ]);
    let options = every("1m").fields("2".parse().expect("a field")).number(2).sort_by(SortBy::Count);
    let answer = count(&text, &options);
    let series = answer.series.expect("counts by bucket");
    assert_eq!(series.counts_of_first(usize::MAX), [[1, 0, 1, 1], [0, 2, 0, 0]]);
    assert_eq!((answer.distinct, answer.records, answer.top.len()), (3, 6, 4));
    let records: Vec<(usize, u64)> = answer.bucket_rows.iter().map(|of| (of.rows, of.records)).collect();
    assert_eq!(records, [(1, 1), (1, 2), (1, 2), (1, 1)], "the key 9 has no row, but counts");
}

/// A count for each key and each bucket would take 7 GB.
#[test]
fn many_keys_in_many_buckets_take_only_the_memory_of_their_pairs() {
    let options = every("1s").fields("3".parse().expect("a field")).number(usize::MAX).sort_by(SortBy::Count);
    let line = |number| {
        format!("2026-03-01 {:02}:{:02}:{:02} {number}\n", number / 3600, number / 60 % 60, number % 60)
    };
    let text: String = (0..30_000).map(line).collect();
    let answer = count(&text, &options);
    let series = answer.series.expect("counts by bucket");
    assert_eq!((series.keys.len(), series.buckets.len()), (30_000, 30_000));
    assert_eq!(answer.top.len(), 30_000);
    // The keys are in the order of their bytes: the third one, 10, is in the eleventh second.
    let third: Vec<_> = series.counts.iter().filter(|known| known.key == 2).collect();
    assert_eq!(third, [&SeriesCount { bucket: 10, key: 2, count: 1 }]);
}

#[test]
fn a_file_without_times_in_its_first_records_is_skipped_with_the_reason() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.json");
    fs::write(&path, "{\"a\":1}\n{\"a\":2}\n").expect("a file");
    let options = every("1m").input(Some(InputFormat::Json));
    let query = Query::new(&options).expect("a valid query");
    let outcome = top(&Inputs::new([&path]), &ScanOptions::default(), &query);
    let problems: Vec<String> = outcome.problems.iter().map(ToString::to_string).collect();
    assert!(problems[0].contains("a usual name and a time; skipped"), "{problems:?}");
    assert_eq!(outcome.answer.records, 0);
}

#[test]
fn a_date_and_a_time_of_day_in_two_columns_are_one_time() {
    let row = |time: &str, count| (time.to_owned(), count);
    let expected = [row("2019-12-04T21:00Z", 2), row("2019-12-04T22:00Z", 1)];
    for (header, time) in
        [("x\tdate\ttime", ""), ("x\tTime\tdate", ""), ("time\tdate\tat", "date,at"), ("x\ty\tz", "y,z")]
    {
        let is_reversed = header.contains("Time");
        let line = |time: &str| {
            let (one, other) = if is_reversed { (time, "2019-12-04") } else { ("2019-12-04", time) };
            format!("1\t{one}\t{other}\n")
        };
        let text: String = ["21:02:31", "21:59", "22:00:00"].map(line).concat();
        let fields = if time.is_empty() { Vec::new() } else { Field::parse_list(time).expect("fields") };
        let options = every("1h").input(Some(InputFormat::Tsv)).time(fields);
        assert_eq!(shown(&count(&format!("{header}\n{text}"), &options)), expected, "{header}");
    }
    // A date alone is midnight.
    let options = every("1h").input(Some(InputFormat::Tsv));
    assert_eq!(shown(&count("date\tx\n2019-12-04\t7\n", &options)), [row("2019-12-04T00:00Z", 1)]);
}

#[test]
fn the_time_can_be_in_any_field_and_form() {
    let text = "a 20260301 062009\nb 20260301 072009\nc x y\n";
    let options = QueryOptions::default()
        .extract(vec![r"^(?P<key>\S+) (?P<at>\d+ \d+)".to_owned()])
        .names(vec![Field::named("key")])
        .time(vec![Field::named("at")])
        .time_form(finecomb_top::TimeForm::format("%Y%m%d %H%M%S").expect("a format"))
        .since(Some(Bound::parse("2026-03-01T07:00:00Z", &Zone::UTC, 0).expect("a time")));
    assert_eq!(shown(&count(text, &options)), [("b".to_owned(), 1)]);
}
