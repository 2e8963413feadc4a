//! Counts of logs that grow, against counts of the same logs as a whole.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use finecomb_scan::{Inputs, Next, ScanOptions, Width};
use finecomb_top::{
    Answer, Field, Following, InputFormat, Live, Measure, MeasureKind, Query, QueryOptions, Zone, top,
    top_follow,
};
use proptest::prelude::*;

/// A record: second, key and value.
type CountedRecord = (u32, u8, u16);

/// 2026-03-01T00:00:00Z.
const START: u32 = 1_772_323_200;

fn line(&(second, key, value): &CountedRecord) -> String {
    format!("{{\"time\":{},\"key\":\"k{key}\",\"value\":{value}}}\n", START + second)
}

fn record() -> impl Strategy<Value = CountedRecord> {
    (0..400_u32, 0..5_u8, any::<u16>())
}

/// Pieces of a text, cut anywhere.
fn pieces() -> impl Strategy<Value = (Vec<CountedRecord>, Vec<usize>)> {
    (prop::collection::vec(record(), 1..60), prop::collection::vec(any::<prop::sample::Index>(), 0..5))
        .prop_map(|(records, cuts)| {
            let length = records.iter().map(|record| line(record).len()).sum::<usize>();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(length)).collect();
            cuts.sort_unstable();
            (records, cuts)
        })
}

fn options() -> impl Strategy<Value = QueryOptions> {
    let measures = prop::collection::vec(
        prop::sample::select(vec![
            MeasureKind::Sum,
            MeasureKind::Distinct,
            MeasureKind::Max,
            MeasureKind::Share,
        ]),
        0..3,
    );
    (any::<bool>(), prop::option::of(prop::sample::select(vec!["1s", "1m", "5m"])), measures).prop_map(
        |(has_key, every, kinds)| {
            let field = |name: &str| Field::parse(name).expect("a field");
            let mut kinds = kinds;
            kinds.dedup();
            QueryOptions::default()
                .input(Some(InputFormat::Json))
                .names(if has_key || every.is_none() { vec![field(".key")] } else { Vec::new() })
                .every(every.map(|every| every.parse().expect("a width")))
                .zone(Zone::UTC)
                .measures(
                    kinds.into_iter().map(|kind| Measure::Field { kind, field: field(".value") }).collect(),
                )
                .number(usize::MAX)
                .sort_by(if has_key || every.is_none() {
                    finecomb_top::SortBy::Count
                } else {
                    finecomb_top::SortBy::Key
                })
        },
    )
}

fn append(path: &Path, bytes: &[u8]) {
    File::options().append(true).create(true).open(path).expect("a file").write_all(bytes).expect("room");
}

/// Follows a file to which a piece is added at each pause, and calls `visit` at each pause.
fn follow_pieces(
    (records, cuts): &(Vec<CountedRecord>, Vec<usize>),
    query: &Query,
    width: usize,
    live: Option<&Live>,
    mut visit: impl FnMut(&mut Following<'_, '_>, &Path),
) -> Answer {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.json");
    let text: String = records.iter().map(line).collect();
    let mut written = 0;
    let mut cuts = cuts.iter().copied().chain([text.len()]);
    let options = ScanOptions::default().width(Width::Fixed(width)).block_size(64);
    append(&path, b"");
    let outcome = top_follow(&Inputs::new([&path]), &options, query, live, |following| {
        visit(following, &path);
        match cuts.next() {
            Some(cut) => {
                append(&path, &text.as_bytes()[written..cut]);
                written = cut;
                Next::Wait(Some(Duration::ZERO))
            }
            None if following.has_new => Next::Wait(Some(Duration::ZERO)),
            None => Next::End,
        }
    });
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    outcome.answer
}

fn whole(path: &Path, query: &Query) -> Answer {
    // A last record without a line end is not counted so far.
    let text = fs::read(path).expect("a file");
    let end = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let whole = path.with_extension("whole");
    fs::write(&whole, &text[..end]).expect("room");
    top(&Inputs::new([&whole]), &ScanOptions::default(), query).answer
}

fn rows(answer: &Answer) -> Vec<(String, u64, String)> {
    texts(&answer.top)
}

fn texts(rows: &[finecomb_top::KeyCount]) -> Vec<(String, u64, String)> {
    let row = |row: &finecomb_top::KeyCount| {
        (String::from_utf8_lossy(&row.key).into_owned(), row.count, format!("{:?}", row.values))
    };
    rows.iter().map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 8, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_those_of_what_was_written(
        pieces in pieces(),
        options in options(),
        width in prop::sample::select(vec![1, 2, 3, 8]),
    ) {
        let query = Query::new(&options).expect("a query");
        let mut last = None;
        let answer = follow_pieces(&pieces, &query, width, None, |following, path| {
            let answer = following.answer();
            // What was added at the last pause has been read, unless it waits to be recognised.
            if answer.records > 0 {
                let whole = whole(path, &query);
                assert_eq!((rows(&answer), answer.records), (rows(&whole), whole.records));
            }
            last = Some(answer);
        });
        let last = last.expect("a pause");
        prop_assert_eq!((rows(&answer), answer.records), (rows(&last), last.records));
    }

    #[test]
    fn displays_also_show_the_buckets_that_have_ended(
        pieces in pieces(),
        options in options(),
        width in prop::sample::select(vec![1, 2, 3, 8]),
    ) {
        let query = Query::new(&options).expect("a query");
        let live = Live::new(&query, usize::MAX);
        follow_pieces(&pieces, &query, width, Some(&live), |following, path| {
            following.finished_buckets();
            following.publish();
            let (shown, whole) = (live.answer(), whole(path, &query));
            if shown.records == 0 {
                return;
            }
            assert_eq!((rows(&shown), shown.records), (rows(&whole), whole.records));
            let (Some(series), Some(expected)) = (&shown.series, &whole.series) else { return };
            assert_eq!((&series.buckets, &series.counts), (&expected.buckets, &expected.counts));
            // The measures of a key are those of all buckets.
            let whole = |options: &QueryOptions| self::whole(path, &Query::new(options).expect("a query"));
            let of_keys = whole(&options.clone().every(None));
            assert_eq!(texts(&series.keys), texts(&of_keys.top));
            if series.keys.is_empty() {
                return;
            }
            live.open(&shown, 0);
            following.publish();
            let opened = live.opened();
            let times = opened.times.expect("buckets");
            let condition = format!(".key == '{}'", String::from_utf8_lossy(&series.keys[0].key));
            let mut of_key = options.clone().condition(Some(condition)).sort_by(finecomb_top::SortBy::Key);
            of_key.names.clear();
            let mut expected = texts(&whole(&of_key).top);
            expected.retain(|&(_, count, _)| count > 0);
            assert_eq!(texts(&times.top), expected);
            let key = format!("\"key\":\"{}\"", String::from_utf8_lossy(&series.keys[0].key));
            for record in opened.records {
                assert!(String::from_utf8_lossy(&record.text).contains(&key), "{record:?}");
            }
        });
    }

    #[test]
    fn buckets_that_have_ended_and_the_rest_are_all_records(
        pieces in pieces(),
        width in prop::sample::select(vec![1, 2, 3, 8]),
        has_key in any::<bool>(),
    ) {
        let field = |name: &str| Field::parse(name).expect("a field");
        let options = QueryOptions::default().input(Some(InputFormat::Json)).names(if has_key { vec![field(".key")] } else { Vec::new() }).every(Some("1m".parse().expect("a width"))).zone(Zone::UTC).number(usize::MAX).sort_by(if has_key { finecomb_top::SortBy::Count } else { finecomb_top::SortBy::Key });
        let query = Query::new(&options).expect("a query");
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        let mut add = |answer: &Answer| {
            for row in answer.top.iter().filter(|row| row.count > 0) {
                *counts.entry(String::from_utf8_lossy(&row.key).into_owned()).or_default() += row.count;
            }
        };
        let rest = follow_pieces(&pieces, &query, width, None, |following, _| {
            let mut last = None;
            for bucket in following.finished_buckets() {
                // In the order of time, except late rows.
                assert!(bucket.is_late || last.is_none_or(|last| last < bucket.answer.starts[0]));
                last = bucket.answer.starts.first().copied().filter(|_| !bucket.is_late).or(last);
                add(&bucket.answer);
            }
        });
        add(&rest);
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for (second, key, _) in &pieces.0 {
            let time = format!("2026-03-01T00:{:02}Z", second / 60);
            let key = if has_key { format!("{time} k{key}") } else { time };
            *expected.entry(key).or_default() += 1;
        }
        prop_assert_eq!(counts, expected);
    }
}
