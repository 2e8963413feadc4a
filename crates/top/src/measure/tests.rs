//! The measures of any division of values among workers, compared with plain exact arithmetic.

use std::collections::{BTreeMap, HashSet};

use num_bigint::BigInt;
use proptest::prelude::*;

use super::*;
use crate::cells::Cell;
use crate::measure::number::tests::{power_of_ten, reference, rounded_quotient};
use crate::measure::number::{Decimal, NoNumber};
use crate::measure::percentiles::Percentile;
use crate::measure::wide::WideDecimal;
use crate::query::field::Field;
use crate::query::options::Measure;

/// A record: its group and the text of its only field, which it lacks if that is empty.
type GroupedValue = (u32, Vec<u8>);

fn percentile(text: &str) -> MeasureKind {
    MeasureKind::Percentile(Percentile::parse(text).expect("a percentile"))
}

fn kinds() -> Vec<MeasureKind> {
    let percentiles = ["0", "25", "50", "99.9", "100"].map(percentile);
    let others = [
        MeasureKind::Sum,
        MeasureKind::Mean,
        MeasureKind::Min,
        MeasureKind::Max,
        MeasureKind::Distinct,
        MeasureKind::Share,
    ];
    others.into_iter().chain(percentiles).collect()
}

/// A worker: its measures and the groups of all workers in the order of its own.
struct Worker {
    measures: Measures,
    groups: Vec<u32>,
}

impl Worker {
    fn new(kinds: &[MeasureKind]) -> Self {
        let measures: Vec<_> = kinds.iter().map(|kind| (kind.clone(), 0)).collect();
        Self { measures: Measures::new(&measures), groups: Vec::new() }
    }

    fn group(&mut self, group: u32) -> u32 {
        let known = self.groups.iter().position(|known| *known == group);
        known.unwrap_or_else(|| {
            self.groups.push(group);
            self.groups.len() - 1
        }) as u32
    }

    /// Adds a block of records and returns the indexes of the records without a number.
    fn add(&mut self, records: &[GroupedValue]) -> Vec<u32> {
        let mut text = Vec::new();
        let mut cells = Cells::default();
        cells.reset(1);
        for (index, (_, value)) in records.iter().enumerate() {
            let start = text.len() as u32;
            let cell = if value.is_empty() {
                Cell::Missing
            } else if index % 7 == 3 {
                cells.decode(|out| out.extend_from_slice(value))
            } else {
                text.extend_from_slice(value);
                Cell::Raw(start, text.len() as u32)
            };
            cells.columns_mut()[0].push(cell);
        }
        let groups: Vec<u32> = records.iter().map(|(group, _)| self.group(*group)).collect();
        let mut bad = Vec::new();
        self.measures.add(&groups, self.groups.len(), Rows::All, &text, &cells, &mut bad);
        bad.into_iter().map(|(row, _)| row).collect()
    }

    fn merge(&mut self, other: &Self) {
        let pairs: Vec<_> =
            (0..).zip(&other.groups).map(|(from, group)| (self.group(*group), from)).collect();
        self.measures.merge(&other.measures, &pairs, self.groups.len());
    }

    /// The same from its encoded states.
    fn restored(self, form: Form) -> Self {
        let without_groups = || {
            let mut measures = self.measures.without_groups();
            measures.raise_to(&self.measures.scales());
            measures
        };
        let mut measures = without_groups();
        let mut bytes = Vec::new();
        for group in 0..self.groups.len() as u32 {
            bytes.clear();
            self.measures.encode(group, form, &mut bytes);
            let mut rest = &bytes[..];
            measures.decode(group as usize, &mut rest).expect("states");
            assert!(rest.is_empty());
            assert_eq!(without_groups().decode(0, &mut &bytes[..bytes.len() - 1]), None);
        }
        Self { measures, ..self }
    }

    /// All results by group.
    fn results(&self) -> BTreeMap<u32, Vec<String>> {
        let all = |own| {
            let kinds = 0..self.measures.measures.len();
            kinds.map(|measure| self.measures.value(measure, own).to_string()).collect()
        };
        self.groups.iter().zip(0..).map(|(group, own)| (*group, all(own))).collect()
    }
}

/// Results of records that are divided among workers and blocks. Some parts are encoded, and all are merged in an order.
fn divided(kinds: &[MeasureKind], records: &[GroupedValue], seed: u64) -> BTreeMap<u32, Vec<String>> {
    let mut state = seed | 1;
    let mut random = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let count = 1 + random(4);
    let mut workers: Vec<_> = (0..count).map(|_| Worker::new(kinds)).collect();
    let mut left = records;
    while !left.is_empty() {
        let (block, rest) = left.split_at(left.len().min(1 + random(1 + records.len() / 2)));
        workers[random(count)].add(block);
        left = rest;
    }
    let mut all = Worker::new(kinds);
    while !workers.is_empty() {
        let worker = workers.swap_remove(random(workers.len()));
        let worker = match random(3) {
            0 => worker.restored(Form::AsHeld),
            1 => worker.restored(Form::Canonical),
            _ => worker,
        };
        all.merge(&worker);
    }
    all.results()
}

/// Exact values of a group in ascending order, as numbers of units of 10^-18.
#[derive(Default)]
struct Oracle {
    values: Vec<BigInt>,
    texts: HashSet<Vec<u8>>,
    /// Number of records, and of those with the field.
    records: u32,
    present: u32,
}

fn has_unit(text: &[u8]) -> bool {
    reference(text).is_ok() && text.last().is_some_and(u8::is_ascii_alphabetic)
}

/// Numbers without a unit are left out if any has one.
fn oracles(records: &[GroupedValue]) -> (BTreeMap<u32, Oracle>, u8) {
    let mut groups: BTreeMap<u32, Oracle> = BTreeMap::new();
    let have_units = records.iter().any(|(_, text)| has_unit(text));
    let mut places = 0;
    for (group, text) in records {
        let oracle = groups.entry(*group).or_default();
        oracle.records += 1;
        oracle.present += u32::from(!text.is_empty());
        if !matches!(&text[..], b"" | b"-") {
            oracle.texts.insert(text.clone());
        }
        if let Ok((value, own)) = reference(text)
            && (!have_units || has_unit(text))
        {
            oracle.values.push(value);
            places = own.max(places);
        }
    }
    groups.values_mut().for_each(|oracle| oracle.values.sort());
    (groups, places)
}

/// Canonical text of a number of units of 10^-18.
fn shown(units: &BigInt) -> String {
    let digits = format!("{:0>19}", units.magnitude().to_string());
    let (whole, fraction) = digits.split_at(digits.len() - 18);
    let text = format!("{whole}.{fraction}");
    let sign = if *units < BigInt::ZERO { "-" } else { "" };
    format!("{sign}{}", text.trim_end_matches('0').trim_end_matches('.'))
}

impl Oracle {
    fn result(&self, kind: &MeasureKind, places: u8) -> String {
        let Self { values, texts, records, present } = self;
        match kind {
            MeasureKind::Distinct => return texts.len().to_string(),
            MeasureKind::Share if *records == 0 => return "-".to_owned(),
            MeasureKind::Share => {
                return format!(
                    "{:.2}",
                    f64::floor(f64::from(*present) * 1e4 / f64::from(*records) + 0.5) / 100.0
                );
            }
            _ => {}
        }
        let [Some(first), Some(last)] = [values.first(), values.last()] else { return "-".to_owned() };
        match kind {
            MeasureKind::Sum => shown(&values.iter().sum()),
            MeasureKind::Mean => {
                let unit = power_of_ten(18 - u32::from(places + 3).min(18));
                let quotient = rounded_quotient(&values.iter().sum(), &(&unit * values.len()));
                shown(&(quotient * unit))
            }
            MeasureKind::Min => shown(first),
            MeasureKind::Max => shown(last),
            MeasureKind::Percentile(percentile) => shown(&values[self.index(*percentile)]),
            MeasureKind::Distinct | MeasureKind::Share => unreachable!("answered above"),
        }
    }

    fn index(&self, percentile: Percentile) -> usize {
        let exact: BigInt = percentile.to_string().replace('.', "").parse().expect("digits");
        let places = percentile.to_string().split_once('.').map_or(0, |(_, places)| places.len() as u32);
        let rank: BigInt =
            (exact * self.values.len() + power_of_ten(places + 2) - 1) / power_of_ten(places + 2);
        usize::try_from(rank).expect("a rank").max(1) - 1
    }
}

fn values() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        4 => "-?[0-9]{1,5}",
        3 => "[0-9]{1,3}\\.[0-9]{1,3}",
        2 => Just(String::from("-")),
        1 => Just(String::new()),
        1 => "[a-z.]{1,3}",
    ];
    text.prop_map(String::into_bytes)
}

/// Values, some or most with a unit.
fn values_with_units() -> impl Strategy<Value = Vec<u8>> {
    let text =
        prop_oneof![2 => "-?[0-9]{1,3}(\\.[0-9]{1,2})?[mun]?s", 1 => "[0-9]{19,20}h", 1 => "[0-9]{1,2}[mhd]"];
    prop_oneof![1 => values(), 1 => text.prop_map(String::into_bytes)]
}

/// Values that need more than 64 bits, or make others need them.
fn wide_values() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        4 => "-?[0-9]{17,21}",
        2 => "-?[0-9]{1,20}\\.[0-9]{1,18}",
        1 => Just(String::from("0.000000000000000001")),
        2 => "-?9223372036854775[0-9]{3}",
    ];
    text.prop_map(String::into_bytes)
}

fn records(values: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<GroupedValue>> {
    prop::collection::vec((0..5_u32, values), 0..60)
}

fn assert_as_oracle(records: &[GroupedValue], seed: u64) {
    let (oracles, places) = oracles(records);
    let expected = oracles.iter().map(|(group, oracle)| {
        (*group, kinds().iter().map(|kind| oracle.result(kind, places)).collect::<Vec<_>>())
    });
    let expected: BTreeMap<_, _> = expected.collect();
    assert_eq!(divided(&kinds(), records, seed), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn results_are_those_of_exact_arithmetic(records in records(values()), seed: u64) {
        assert_as_oracle(&records, seed);
    }

    #[test]
    fn results_of_numbers_with_units_are_those_of_exact_arithmetic(
        records in prop_oneof![
            records(values_with_units()),
            // Few have one.
            records(prop_oneof![30 => values(), 1 => values_with_units()]),
        ],
        seed: u64,
    ) {
        assert_as_oracle(&records, seed);
    }

    #[test]
    fn wide_results_are_those_of_exact_arithmetic(
        records in records(prop_oneof![3 => values(), 1 => wide_values()]),
        seed: u64,
    ) {
        assert_as_oracle(&records, seed);
    }

    #[test]
    fn sums_beyond_64_bits_are_exact(records in records(wide_values()), seed: u64) {
        assert_as_oracle(&records, seed);
    }

    #[test]
    fn values_that_are_no_numbers_are_reported_once(records in records(prop_oneof![values(), wide_values(), values_with_units()])) {
        let is_bad = |text: &[u8]| matches!(reference(text), Err(NoNumber::Invalid));
        let expected: Vec<u32> =
            (0..).zip(&records).filter(|(_, (_, text))| is_bad(text)).map(|(row, _)| row).collect();
        prop_assert_eq!(Worker::new(&kinds()).add(&records), expected);
        prop_assert_eq!(Worker::new(&[MeasureKind::Distinct]).add(&records), Vec::<u32>::new());
    }

    #[test]
    fn only_the_selected_rows_are_added(records in records(values_with_units()), chosen in prop::collection::vec(any::<bool>(), 60)) {
        let mut text = Vec::new();
        let mut cells = Cells::default();
        cells.reset(2);
        for (_, value) in &records {
            let start = text.len() as u32;
            text.extend_from_slice(value);
            cells.columns_mut()[0].push(Cell::Missing);
            let cell = if value.is_empty() { Cell::Missing } else { Cell::Raw(start, text.len() as u32) };
            cells.columns_mut()[1].push(cell);
        }
        let rows: Vec<u32> = (0..records.len() as u32).filter(|row| chosen[*row as usize]).collect();
        let groups: Vec<u32> = rows.iter().map(|row| records[*row as usize].0).collect();
        let kinds: Vec<_> = kinds().into_iter().flat_map(|kind| [(kind.clone(), 0), (kind, 1)]).collect();
        let mut measures = Measures::new(&kinds);
        let mut bad = Vec::new();
        measures.add(&groups, 5, Rows::Some(&rows), &text, &cells, &mut bad);
        let selected: Vec<GroupedValue> = rows.iter().map(|row| records[*row as usize].clone()).collect();
        let (oracles, places) = oracles(&selected);
        for group in 0..5 {
            let records = oracles.get(&group).map_or(0, |oracle| oracle.records);
            let missing = Oracle { records, ..Oracle::default() };
            for (measure, (kind, field)) in kinds.iter().enumerate() {
                let oracle = if *field == 1 { oracles.get(&group).unwrap_or(&missing) } else { &missing };
                prop_assert_eq!(measures.value(measure, group).to_string(), oracle.result(kind, places));
            }
        }
        let rows_of_bad = bad.iter().map(|(row, field)| (rows.contains(row), *field));
        prop_assert!(rows_of_bad.clone().all(|place| place == (true, 1)));
    }
}

fn of_group<T: ToString>(values: impl IntoIterator<Item = T>) -> Vec<GroupedValue> {
    values.into_iter().map(|value| (0, value.to_string().into_bytes())).collect()
}

const PERCENTILES: [&str; 12] =
    ["0", "0.001", "1", "10", "25", "49.99", "50", "75", "90", "99", "99.999999999999999", "100"];

/// Checks percentiles against the sorted values, and that no division changes them. They have no more places than the
/// values.
fn assert_percentiles(records: &[GroupedValue]) {
    let kinds = PERCENTILES.map(percentile);
    let results = divided(&kinds, records, 1);
    for seed in [2, 30, 500] {
        let mut other = records.to_vec();
        other.rotate_left(records.len() / 3);
        other[records.len() / 2..].reverse();
        assert_eq!(divided(&kinds, &other, seed), results);
    }
    let (oracles, places) = oracles(records);
    let places = usize::from(places);
    for (group, oracle) in &oracles {
        for (kind, result) in kinds.iter().zip(&results[group]) {
            let MeasureKind::Percentile(percentile) = kind else { unreachable!() };
            let exact = &oracle.values[oracle.index(*percentile)];
            let (found, _) = reference(result.as_bytes()).expect("a number");
            let error = (&found - exact).magnitude() * 256_u32;
            let limit = if oracle.values.len() <= 1024 { &BigInt::ZERO } else { exact };
            assert!(
                error <= *limit.magnitude(),
                "p{percentile} of {}: {} for {}",
                oracle.values.len(),
                shown(&found),
                shown(exact)
            );
            assert!(oracle.values[0] <= found && found <= oracle.values[oracle.values.len() - 1]);
            let found_places = result.split_once('.').map_or(0, |(_, places)| places.len());
            assert!(found_places <= places, "{result} for values with {places} places");
        }
    }
}

/// A pseudo-random sequence.
fn numbers(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|index| (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20)
}

#[test]
fn percentiles_are_exact_up_to_1024_values_and_within_the_error_beyond() {
    for count in [1, 2, 3, 1_022, 1_023, 1_024, 1_025, 1_026, 2_047, 2_048, 2_049, 20_000] {
        assert_percentiles(&of_group(numbers(count).map(|number| number % 1_000_000)));
        assert_percentiles(&of_group(vec!["7.25"; count as usize]));
    }
}

#[test]
fn percentiles_of_huge_ranges_are_within_the_error() {
    let powers = (0..3_000).map(|index| format!("{}e{}", [1, -1][index % 2], index as i32 / 2 % 38 - 18));
    assert_percentiles(&of_group(powers));
    assert_percentiles(&of_group((0..2_000_u32).map(|index| 1_u128 << (index % 66))));
    assert_percentiles(&of_group((0..2_000_u32).map(|index| -(1_i128 << (index % 66)) + 1)));
    let near_zero = numbers(3_000).map(|number| format!("{}e-18", number as i64 % 700 - 350));
    assert_percentiles(&of_group(near_zero));
    let signs = numbers(5_000).map(|number| format!("{}.{}", number as i64 % 50 - 20, number % 97));
    assert_percentiles(&of_group(signs));
    assert_percentiles(&of_group((0..40_000).map(|index| if index < 30_000 { 0 } else { index })));
}

#[test]
fn percentiles_at_borders_of_buckets_are_within_the_error() {
    for shift in [0, 1, 5, 30, 60, 100] {
        let border = (0..300_i128).flat_map(|step| {
            let low = (128 + step % 130) << shift;
            [low - 1, low, low + (1 << shift) - 1, low + (1 << shift) / 2]
        });
        assert_percentiles(&of_group(border.map(|units| Decimal::new(units, 18))));
    }
}

#[test]
fn percentiles_of_integers_are_integers() {
    for range in [300, 600, 5_000, 100_000_000] {
        let values = of_group(numbers(5_000).map(|number| number % range));
        let results = divided(&PERCENTILES.map(percentile), &values, 1);
        assert!(results[&0].iter().all(|result| result.parse::<u64>().is_ok()), "{results:?}");
        assert_percentiles(&values);
    }
}

#[test]
fn percentiles_of_many_values_have_no_more_digits_than_their_bucket_determines() {
    let kinds = ["1", "50", "99"].map(percentile);
    for (count, factor, expected) in [
        (2000, "e-3", ["0.019", "0.999", "1.98"]),
        (100_000, "", ["1000", "50000", "99000"]),
        (100_000, "e14", ["99800000000000000", "5000000000000000000", "9900000000000000000"]),
    ] {
        let values = of_group((0..count).map(|index| format!("{index}{factor}")));
        assert_eq!(divided(&kinds, &values, 1)[&0], expected);
        let negative = of_group((0..count).map(|index| format!("-{index}{factor}")));
        let reversed = ["99", "50", "1"].map(percentile);
        let found: Vec<String> = divided(&reversed, &negative, 1)[&0].clone();
        let digits = |found: &String| found.replace(['-', '.'], "").trim_matches('0').len();
        assert!(found.iter().all(|found| digits(found) <= 3), "{found:?}");
    }
    // The rounded ones are estimates, and those of buckets with a single number are not.
    let mut worker = Worker::new(&kinds);
    worker.add(&of_group(0..2000));
    let values: Vec<Quantity> = (0..3).map(|measure| worker.measures.value(measure, 0)).collect();
    assert!(
        matches!(&values[..], [Quantity::Number(_), Quantity::Estimate(_), Quantity::Estimate(_)]),
        "{values:?}"
    );
}

#[test]
fn percentiles_of_amounts_have_two_places() {
    assert_percentiles(&of_group(numbers(5_000).map(|number| Decimal::new((number % 1_000_000).into(), 2))));
}

#[test]
fn small_integers_have_exact_percentiles() {
    let (values, kinds) = (of_group(numbers(5_000).map(|number| number % 256)), PERCENTILES.map(percentile));
    let (oracles, places) = oracles(&values);
    let exact: Vec<String> = kinds.iter().map(|kind| oracles[&0].result(kind, places)).collect();
    assert_eq!(divided(&kinds, &values, 1)[&0], exact);
}

#[test]
fn outliers_after_a_thousand_values_are_within_the_error() {
    let values = numbers(3_000).map(|number| (number % 100 + 50).to_string());
    let outliers = ["1e-18", "0", "-1e-18", "9e19", "-9e19"].map(str::to_owned);
    assert_percentiles(&of_group(values.chain(outliers)));
}

/// Bytes of memory of the states of a number of groups, all with the same number of values.
fn memory(kind: MeasureKind, groups: u32, values: u32) -> usize {
    let mut worker = Worker::new(&[kind]);
    worker.groups = (0..groups).collect();
    for value in 0..values {
        let text = value.wrapping_mul(2_654_435_761).to_string();
        let mut cells = Cells::default();
        cells.reset(1);
        cells.columns_mut()[0].resize(groups as usize, Cell::Raw(0, text.len() as u32));
        let Worker { measures, groups } = &mut worker;
        measures.add(groups, groups.len(), Rows::All, text.as_bytes(), &cells, &mut Vec::new());
    }
    worker.measures.memory() - worker.measures.values.memory()
}

#[test]
fn values_of_percentiles_take_at_most_40_bytes() {
    for (groups, values) in
        [(10_000, 1), (10_000, 2), (10_000, 5), (100, 700), (10, 1_024), (10, 1_025), (1, 5_000)]
    {
        let bytes = memory(percentile("50"), groups, values);
        assert!(bytes <= 40 * (groups * values) as usize, "{bytes} for {groups} of {values}");
    }
}

#[test]
fn distinct_texts_take_at_most_100_bytes() {
    for (groups, values) in [(10_000, 1), (10_000, 2), (10_000, 9), (100, 700), (1, 4_096), (1, 4_097)] {
        let bytes = memory(MeasureKind::Distinct, groups, values);
        assert!(bytes <= 100 * (groups * values) as usize, "{bytes} for {groups} of {values}");
    }
    assert!(memory(MeasureKind::Distinct, 1, 50_000) < 300_000);
}

#[test]
fn distinct_texts_are_exact_up_to_4096_and_estimated_beyond() {
    for count in [1, 8, 9, 12, 13, 100, 4_095, 4_096] {
        let records = of_group((0..count).chain(0..count / 2));
        assert_eq!(divided(&[MeasureKind::Distinct], &records, count)[&0], [count.to_string()]);
    }
    for count in [4_097_u64, 10_000, 100_000, 1_000_000] {
        let records = of_group((0..count).map(|number| format!("user {number}")));
        let mut worker = Worker::new(&[MeasureKind::Distinct]);
        worker.add(&records);
        let Quantity::Estimate(estimate) = worker.measures.value(0, 0) else { panic!("an estimate") };
        let error = (estimate.units as f64 - count as f64).abs() / count as f64;
        assert!(error < 4.0 * 0.0081, "{count}: {estimate}");
        if count <= 100_000 {
            let again: Vec<GroupedValue> = records.iter().rev().chain(&records[..1_000]).cloned().collect();
            for seed in [1, 2, 3] {
                let divided = divided(&[MeasureKind::Distinct], &again, seed);
                assert_eq!(divided[&0], [estimate.to_string()]);
            }
        }
    }
}

fn results(kinds: &[MeasureKind], values: &[&str]) -> Vec<String> {
    divided(kinds, &of_group(values), 1).remove(&0).expect("a group")
}

#[test]
fn sums_of_more_than_128_bits_are_exact() {
    let sum = [MeasureKind::Sum, MeasureKind::Mean];
    let (great, small) = ("90000000000000000000", "-90000000000000000000");
    let tiny = "0.000000000000000001";
    assert_eq!(results(&sum, &[great, great, tiny])[0], "180000000000000000000.000000000000000001");
    assert_eq!(results(&sum, &[small, small, tiny])[0], "-179999999999999999999.999999999999999999");
    assert_eq!(results(&sum, &[great, great])[0], "180000000000000000000");
    assert_eq!(
        results(&sum, &[great, great, tiny, small]),
        ["90000000000000000000.000000000000000001", "22500000000000000000"]
    );
    assert_eq!(results(&sum, &[great, great, great, tiny])[1], "67500000000000000000");
}

#[test]
fn means_are_rounded_half_to_even_to_three_more_places() {
    let mean = |values: &[&str]| results(&[MeasureKind::Mean], values).remove(0);
    assert_eq!(mean(&["1", "2"]), "1.5");
    assert_eq!(mean(&["1", "1", "2"]), "1.333");
    assert_eq!(mean(&["1", "2", "2"]), "1.667");
    assert_eq!(mean(&["-1", "-2", "-2"]), "-1.667");
    assert_eq!(mean(&["0.1", "0.1", "0.2"]), "0.1333");
    // 1/16 is 0.0625 and rounds to the even 0.062; 3/16 is 0.1875 and rounds to the even 0.188.
    let mut values = vec!["0"; 16];
    values[3] = "1";
    assert_eq!(mean(&values), "0.062");
    values[3] = "-1";
    assert_eq!(mean(&values), "-0.062");
    values[3] = "3";
    assert_eq!(mean(&values), "0.188");
}

#[test]
fn a_group_without_values_has_no_results() {
    let results = results(&kinds(), &["-", "", "-"]);
    assert_eq!(results, ["-", "-", "-", "-", "0", "66.67", "-", "-", "-", "-", "-"]);
}

#[test]
fn quantities_are_ordered_with_none_first() {
    let number = |units, places| Quantity::Number(Decimal::new(units, places));
    let sorted = [Quantity::None, number(-5, 0), number(-45, 1), number(0, 3), number(7, 2), number(7, 0)];
    let wide = |high| Quantity::Wide(WideDecimal { high, low: 0, places: 2 });
    assert!(
        sorted.is_sorted() && number(i128::MAX, 2) < wide(1 << 63) && number(i128::MIN, 18) > wide(-1 << 64)
    );
    assert_eq!(number(150, 2), number(15, 1));
}

#[test]
fn measures_are_named_by_kind_and_field() {
    let field = Field::named("bytes");
    let name = |kind| Measure::Field { kind, field: field.clone() }.to_string();
    assert_eq!(name(MeasureKind::Sum), "sum(bytes)");
    assert_eq!(name(percentile("99")), "p99(bytes)");
    assert_eq!(name(percentile("99.90")), "p99.9(bytes)");
    assert_eq!(name(MeasureKind::Distinct), "distinct(bytes)");
    let share = Measure::share(" status >= 500 ").expect("a condition");
    assert_eq!(share.to_string(), "share(status >= 500)");
    assert!(Measure::share("status >=").is_err());
}

#[test]
fn percentiles_are_from_0_to_100() {
    for text in ["", "-1", "-0", "100.1", "1e1", "1s", "x", "0.0000000000000001", "1..2"] {
        let error = Percentile::parse(text).expect_err("an error").to_string();
        let expected = "expected a percentile from 0 to 100 with at most 15 decimal places; found";
        assert_eq!(error, format!("{expected} '{text}'"));
    }
}
