//! Counts in parts: stored and merged in any order, they equal the counts of all records at once, to the byte.

use std::fs;
use std::path::{Path, PathBuf};

use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_top::{
    Answer, Counts, Field, FieldList, InputFormat, Measure, MeasureKind, Percentile, Query, QueryOptions,
    SortBy, StoredCounts, StoredError, TableLimit, count_all, top,
};
use proptest::prelude::*;
use tempfile::tempdir;
use twox_hash::XxHash3_64;

const DEFINITION: &[u8] = b"--fields=2";

/// Keys and values of the records: of few and many keys, short and long, and of numbers of all sizes.
fn line() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        8 => prop::sample::select(vec!["a", "b", "c", "ab", "-"]).prop_map(str::to_owned),
        2 => "[a-c]{1,4}",
        1 => (14..80_usize).prop_map(|length| "k".repeat(length)),
        1 => (0..5000_u32).prop_map(|number| format!("key{number}")),
    ];
    let value = prop_oneof![
        6 => (0..30_u32).prop_map(|number| number.to_string()),
        2 => (-99_999..99_999_i64, 0..5_usize).prop_map(|(units, places)| format!("{units}.{}", "7".repeat(places))),
        1 => prop::sample::select(vec![
            "99999999999999999999", "-99999999999999999999.999999999999999999", "0.000000000000000001", "1e-19", "0.12345678901234567890123", "-", "none", "",
        ])
        .prop_map(str::to_owned),
    ];
    let second = prop_oneof![9 => 0..600_u32, 1 => 0..8_000_000_u32];
    let time = prop_oneof![20 => second.prop_map(|second| format!("{}", 1_767_225_600 + second)), 1 => Just("never".into())];
    (time, key, value).prop_map(|(time, key, value)| format!("{time} {key} {value}\n"))
}

/// Records of many values of the same key, whose percentiles and numbers of distinct values are estimates.
fn burst() -> impl Strategy<Value = String> {
    (1000..6000_u64, 1..1_000_000_u64, any::<bool>()).prop_map(|(count, step, is_wide)| {
        let value = |number: u64| number.wrapping_mul(step) % if is_wide { 1 << 40 } else { 5000 };
        (0..count).map(|number| format!("1767225600 burst {}\n", value(number))).collect()
    })
}

fn part() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec(prop_oneof![60 => line(), 1 => burst()], 0..60);
    lines.prop_map(|lines| lines.concat())
}

fn measures() -> impl Strategy<Value = Vec<Measure>> {
    let kind = prop::sample::select(vec![
        MeasureKind::Sum,
        MeasureKind::Mean,
        MeasureKind::Min,
        MeasureKind::Max,
        MeasureKind::Percentile(Percentile::P50),
        MeasureKind::Percentile(Percentile::P99),
        MeasureKind::Distinct,
    ]);
    let measure = (kind, prop::sample::select(vec!["3", "1"]))
        .prop_map(|(kind, field)| Measure::Field { kind, field: Field::parse(field).expect("a field") });
    let share = prop::sample::select(vec!["$3 > 3", "!($4)", "$2 ~ 'b'"]);
    let share = share.prop_map(|condition| Measure::share(condition).expect("a condition"));
    prop::collection::vec(prop_oneof![4 => measure, 1 => share], 0..4)
}

fn query() -> impl Strategy<Value = QueryOptions> {
    let sort_by = prop::sample::select(vec![SortBy::Count, SortBy::Key, SortBy::Measure(0)]);
    let every = prop_oneof![3 => Just(None), 1 => prop::sample::select(vec!["10s", "1h", "1w", "1mo"]).prop_map(Some)];
    let number = prop_oneof![Just(1), Just(10), Just(usize::MAX)];
    let fields = prop::sample::select(vec!["2", "2,3", "4", ""]);
    (measures(), every, sort_by, fields, number, any::<bool>(), any::<bool>()).prop_map(
        |(measures, every, sort_by, fields, number, reverse, has_condition)| {
            QueryOptions::default()
                .sort_by(match sort_by {
                    SortBy::Measure(_) if measures.is_empty() || every.is_some() => SortBy::Count,
                    sort_by => sort_by,
                })
                .fields(if fields.is_empty() {
                    FieldList::default()
                } else {
                    fields.parse().expect("fields")
                })
                .input(Some(InputFormat::Lines))
                .time(every.map(|_| Field::parse("1").expect("a field")).into_iter().collect())
                .every(every.map(|width| width.parse().expect("a width")))
                .condition(has_condition.then(|| "$3 > 3".to_owned()))
                .measures(measures)
                .number(number)
                .reverse(reverse)
        },
    )
}

/// All that an answer says, without the places of what was left out.
fn shown(answer: &Answer) -> String {
    let left_out = [
        &answer.skipped,
        &answer.malformed,
        &answer.unmatched,
        &answer.untimed,
        &answer.not_numbers,
        &answer.out_of_range,
        &answer.rounded,
    ];
    let left_out = left_out.map(|left_out| left_out.as_ref().map(|left_out| left_out.count));
    let Answer {
        top, distinct, records, absent, key_names, measure_names, series, starts, long_gaps, ..
    } = answer;
    format!(
        "{top:?} {distinct} {records} {left_out:?} {absent:?} {key_names:?} {measure_names:?} {series:?} {starts:?} {long_gaps}"
    )
}

fn options_of_scan(width: usize, block_size: usize) -> ScanOptions<'static> {
    ScanOptions::default().width(Width::Fixed(width)).block_size(block_size)
}

fn counts_of(paths: &[PathBuf], query: &Query, width: usize, block_size: usize) -> Counts {
    let counted = count_all(&Inputs::new(paths), &options_of_scan(width, block_size), query);
    assert!(counted.problems.is_empty(), "{:?}", counted.problems);
    counted.counts
}

fn restored(counts: &Counts, query: &Query) -> Counts {
    let bytes = counts.store(DEFINITION);
    let stored = StoredCounts::new(&bytes).expect("stored counts");
    assert_eq!(stored.definition(), DEFINITION);
    let mut restored = Counts::new(query);
    stored.add_to(&mut restored).expect("counts");
    restored
}

fn written(directory: &Path, parts: &[String]) -> Vec<PathBuf> {
    let path = |number: usize| directory.join(format!("part{number}"));
    parts.iter().enumerate().for_each(|(number, part)| fs::write(path(number), part).expect("a file"));
    (0..parts.len()).map(path).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn counts_of_parts_are_those_of_the_whole(
        parts in prop::collection::vec(part(), 1..6),
        options in query(),
        mut seed: u64,
        block_size in prop_oneof![1..200_usize, Just(1 << 17)],
    ) {
        let mut random = |limit: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % limit
        };
        let directory = tempdir().expect("a directory");
        let paths = written(directory.path(), &parts);
        let query = Query::new(&options).expect("a query");
        let expected = top(&Inputs::new(&paths), &ScanOptions::default(), &query).answer;
        let whole = counts_of(&paths, &query, 1, 1 << 17);
        prop_assert_eq!(shown(&whole.answer()), shown(&expected));
        let mut merged = Vec::new();
        for path in &paths {
            // Counts of another process have keys with other hashes.
            let query = Query::new(&options).expect("a query");
            let counts = counts_of(std::slice::from_ref(path), &query, [1, 2, 3, 8][random(4)], block_size);
            merged.insert(random(merged.len() + 1), if random(2) == 0 { restored(&counts, &query) } else { counts });
        }
        while merged.len() > 1 {
            let other = merged.swap_remove(random(merged.len()));
            let at = random(merged.len());
            merged[at].merge(&other);
        }
        prop_assert_eq!(shown(&merged[0].answer()), shown(&expected));
        let bytes = whole.store(DEFINITION);
        prop_assert!(merged[0].store(DEFINITION) == bytes, "equal counts are equal bytes");
        prop_assert!(restored(&whole, &query).store(DEFINITION) == bytes);
    }

    #[test]
    fn first_keys_of_divided_counts_are_those_of_the_whole(
        texts in prop::collection::vec(part(), 1..4),
        options in query(),
        parts in 1..5_usize,
        min_count in 0..3_u64,
    ) {
        let directory = tempdir().expect("a directory");
        let paths = written(directory.path(), &texts);
        let query = Query::new(&options.clone().min_count(min_count)).expect("a query");
        let whole = counts_of(&paths, &query, 1, 1 << 17);
        let mut merged: Vec<Counts> = (0..parts).map(|_| Counts::new(&query)).collect();
        for path in &paths {
            let query = Query::new(&options).expect("a query");
            let divided = counts_of(std::slice::from_ref(path), &query, 1, 1 << 17).store_divided(DEFINITION, parts);
            prop_assert_eq!(divided.len(), parts);
            for (bytes, merged) in divided.iter().zip(&mut merged) {
                StoredCounts::new(bytes).expect("stored counts").add_to(merged).expect("counts");
            }
        }
        let (mut all, mut first) = (Counts::new(&query), Counts::new(&query));
        for counts in &merged {
            all.merge(counts);
            first.merge(&counts.first(&query));
        }
        prop_assert!(all.store(DEFINITION) == whole.store(DEFINITION), "no key is lost or in two parts");
        let distinct = whole.answer().distinct;
        let expected = Answer { distinct: 0, ..whole.answer() };
        prop_assert_eq!(shown(&Answer { distinct: 0, ..first.answer() }), shown(&expected));
        let is_cut = options.number == 1 && distinct > parts as u64;
        prop_assert!(!is_cut || first.answer().distinct < distinct || options.every.is_some(), "only the first are left");
    }

    #[test]
    fn tables_beyond_a_limit_are_emitted_and_nothing_is_lost(
        texts in prop::collection::vec(part(), 1..4),
        options in query(),
        width in prop::sample::select(vec![1, 3]),
        memory in prop::sample::select(vec![0, 200_000]),
    ) {
        let directory = tempdir().expect("a directory");
        let paths = written(directory.path(), &texts);
        let query = Query::new(&options).expect("a query");
        let emitted = std::sync::Mutex::new(Counts::new(&query));
        let emit = |counts: Counts| emitted.lock().expect("no panics").merge(&counts);
        let mut counts = Counts::new(&query);
        for path in &paths {
            let limit = TableLimit { memory, emit: &emit };
            let problems = counts.add_limited(&Inputs::new([path]), &options_of_scan(width, 3000), limit);
            prop_assert!(problems.is_empty());
        }
        prop_assert_eq!(counts.records(), counts_of(&paths, &query, 1, 1 << 17).records());
        counts.merge(&emitted.into_inner().expect("no panics"));
        prop_assert!(counts.store(DEFINITION) == counts_of(&paths, &query, 1, 1 << 17).store(DEFINITION));
    }

    /// Damage with a valid checksum, as an attacker can make it, is an error or gives other counts, but never a crash.
    #[test]
    fn damaged_counts_are_refused_or_read(
        part in part(),
        options in query(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop_oneof![4 => Just(0), 1 => 0..40_usize],
    ) {
        let directory = tempdir().expect("a directory");
        let paths = written(directory.path(), &[part]);
        let query = Query::new(&options).expect("a query");
        let mut bytes = counts_of(&paths, &query, 1, 1 << 17).store(DEFINITION);
        bytes.truncate(bytes.len() - 8 - cut.min(bytes.len() - 20));
        for (index, byte) in damage {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        prop_assert!(StoredCounts::new(&bytes).is_err(), "there is no checksum");
        let checksum = XxHash3_64::oneshot(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        if let Ok(stored) = StoredCounts::new(&bytes) {
            let mut counts = counts_of(&paths, &query, 1, 1 << 17);
            if stored.add_to(&mut counts).is_ok() {
                counts.answer();
                restored(&counts, &query);
            }
        }
    }
}

#[test]
fn keys_that_do_not_fit_in_memory_are_refused() {
    let query = Query::new(&QueryOptions::default()).expect("a query");
    let empty = Counts::new(&query).store(DEFINITION);
    // Without the number of keys and the checksum.
    let mut bytes = empty[..empty.len() - 9].to_vec();
    let (common, number) = (vec![b'a'; 16 << 20], 1_u32 << 20);
    let put = |bytes: &mut Vec<u8>, mut number: u64| {
        while number > 0x7F {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
    };
    put(&mut bytes, u64::from(number));
    for key in 0..number {
        let is_first = key == 0;
        put(&mut bytes, if is_first { 0 } else { common.len() as u64 });
        put(&mut bytes, if is_first { common.len() as u64 + 4 } else { 4 });
        bytes.extend_from_slice(if is_first { &common } else { b"" });
        bytes.extend_from_slice(&key.to_be_bytes());
        put(&mut bytes, 1);
    }
    let checksum = XxHash3_64::oneshot(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    let added = StoredCounts::new(&bytes).expect("counts").add_to(&mut Counts::new(&query));
    assert!(
        matches!(added, Err(StoredError::TooLarge { keys, .. }) if keys >> 20 > u64::from(number)),
        "{added:?}"
    );
}

#[test]
fn something_else_is_no_counts() {
    let query = Query::new(&QueryOptions::default()).expect("a query");
    let bytes = Counts::new(&query).store(DEFINITION);
    let error = |bytes: &[u8]| StoredCounts::new(bytes).expect_err("an error");
    assert_eq!(error(b""), StoredError::NotCounts);
    assert_eq!(error(b"{\"a\": 1}"), StoredError::NotCounts);
    assert_eq!(error(&bytes[..8]), StoredError::Damaged("the end is missing"));
    assert_eq!(error(&bytes[..bytes.len() - 1]), StoredError::Damaged("the checksum does not match"));
    let mut other = bytes.clone();
    other[8] = 9;
    assert_eq!(error(&other), StoredError::Version(9));
    assert!(StoredCounts::new(&bytes).is_ok());
}

#[test]
fn no_counts_are_neutral() {
    let query = Query::new(&QueryOptions::default()).expect("a query");
    let directory = tempdir().expect("a directory");
    let paths = written(directory.path(), &["a\nb\na\n".to_owned()]);
    let mut counts = counts_of(&paths, &query, 1, 1 << 17);
    let bytes = counts.store(DEFINITION);
    counts.merge(&Counts::new(&query));
    assert_eq!((counts.records(), counts.store(DEFINITION) == bytes), (3, true));
    let mut empty = Counts::new(&query);
    empty.merge(&counts);
    assert!(empty.store(DEFINITION) == bytes);
}
