//! Percentiles: values of groups, and the ranks among them.

use std::fmt;

use thiserror::Error;

use crate::cells::either;
use crate::measure::chains::Chains;
use crate::measure::histogram::{Histogram, counts_size};
use crate::measure::number::{Decimal, MAX_PLACES, POWERS, small_power};
use crate::measure::quantity::{Form, Quantity, take_units};
use finecomb_sys::varint;

/// A percentile by the definition of the nearest rank: of n values in ascending order, the one with the number P/100·n,
/// rounded up, and at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile(Decimal);

/// An invalid percentile.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("expected a percentile from 0 to 100 with at most 15 decimal places; found '{0}'")]
pub struct PercentileError(String);

impl Percentile {
    /// Maximum number of decimal places, so that a rank is computed in 128 bits.
    const MAX_PLACES: u8 = 15;

    /// The median.
    pub const P50: Self = Self(Decimal::new(50, 0));
    /// The 95th percentile.
    pub const P95: Self = Self(Decimal::new(95, 0));
    /// The 99th percentile.
    pub const P99: Self = Self(Decimal::new(99, 0));

    /// Parses a percentile: a number from 0 to 100, such as `99.9`.
    ///
    /// # Errors
    /// Returns an error if the text is something else.
    pub fn parse(text: &str) -> Result<Self, PercentileError> {
        let error = || PercentileError(text.to_owned());
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let number = Decimal::parse(text.as_bytes()).map_err(|_| error())?;
        let is_valid = is_plain && number.places <= Self::MAX_PLACES && number <= Decimal::new(100, 0);
        if is_valid { Ok(Self(number)) } else { Err(error()) }
    }

    /// Number of the value among `count` values in ascending order, from 1.
    pub(crate) fn rank(self, count: u64) -> u64 {
        let Self(Decimal { units, places }) = self;
        let all = 100 * POWERS[usize::from(places)].unsigned_abs();
        (units.unsigned_abs() * u128::from(count)).div_ceil(all).max(1) as u64
    }
}

impl fmt::Display for Percentile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Maximum number of values of a group with exact percentiles.
const EXACT: usize = 1024;

/// Maximum bytes of the counts of a new histogram per value in it.
const BYTES_PER_VALUE: usize = 16;

/// Values of all groups: a list for each group or, for groups of more than [`EXACT`] values, a histogram.
///
/// A histogram is made only once it takes at most [`BYTES_PER_VALUE`]. That does not change a result: a list of more than [`EXACT`]
/// values gives the percentiles of its histogram.
///
/// Memory: 8 bytes a group. A list takes 8 to 16 bytes a value, or twice that if the column has values that do not fit
/// into 64 bits, and 4 bytes for each power of two up to the number of its values. A million groups of one value
/// take 16 bytes a value. A histogram takes at most 16 bytes a value at first and does not grow with more values, except
/// that outliers extend it: by 2 KiB per power of two between the least and the greatest magnitude, to at most 480 KiB.
#[derive(Debug)]
pub(super) struct Percentiles {
    groups: Vec<GroupValues>,
    lists: Lists,
    histograms: Vec<Histogram>,
}

/// The number of values of a list and the number of its last block, or [`GroupValues::HISTOGRAM`] and the number of the histogram.
#[derive(Clone, Copy, Debug, Default)]
struct GroupValues {
    count: u32,
    place: u32,
}

/// Lists of units of 64 bits, until a value needs more.
#[derive(Debug)]
enum Lists {
    Narrow(Chains<i64>),
    Wide(Chains<i128>),
}

impl GroupValues {
    const HISTOGRAM: u32 = u32::MAX;
}

/// Units of a value.
trait Units: Copy + Default + Ord + Into<i128> {
    /// Converts to units of 10^-18. One unit of this value has `factor` of them, at most 10^18.
    fn finest(self, factor: i64) -> i128;
}

impl Units for i64 {
    #[inline(always)]
    fn finest(self, factor: i64) -> i128 {
        i128::from(self) * i128::from(factor)
    }
}

impl Units for i128 {
    #[inline(always)]
    fn finest(self, factor: i64) -> i128 {
        self * i128::from(factor)
    }
}

impl Default for Percentiles {
    fn default() -> Self {
        Self { groups: Vec::new(), lists: Lists::Narrow(Chains::default()), histograms: Vec::new() }
    }
}

impl Percentiles {
    pub(super) fn resize(&mut self, count: usize) {
        self.groups.resize(count, GroupValues::default());
    }

    pub(super) fn add(&mut self, groups: &[u32], units: &[i64], places: u8) {
        let factor = small_power(MAX_PLACES - places);
        let Self { groups: states, lists, histograms } = self;
        either!(Lists, lists, lists => for (&group, &units) in groups.iter().zip(units) {
            add(&mut states[group as usize], lists, histograms, units, factor);
        });
    }

    pub(super) fn add_wide(&mut self, groups: &[u32], units: &[i128], places: u8) {
        if groups.is_empty() {
            return;
        }
        self.widen();
        let Lists::Wide(lists) = &mut self.lists else { unreachable!("widened above") };
        for (&group, &units) in groups.iter().zip(units) {
            let state = &mut self.groups[group as usize];
            add(state, lists, &mut self.histograms, units, small_power(MAX_PLACES - places));
        }
    }

    #[cold]
    fn widen(&mut self) {
        if let Lists::Narrow(lists) = &self.lists {
            self.lists = Lists::Wide(lists.map(i128::from));
        }
    }

    /// Multiplies all units by a power of ten.
    pub(super) fn raise(&mut self, exponent: u8) {
        if let Lists::Narrow(lists) = &self.lists {
            let mut fits = true;
            let raised = lists.map(|units| {
                let raised = units.checked_mul(small_power(exponent));
                fits &= raised.is_some();
                raised.unwrap_or(0)
            });
            if fits {
                self.lists = Lists::Narrow(raised);
                return;
            }
        }
        self.widen();
        if let Lists::Wide(lists) = &mut self.lists {
            // Free blocks have units of fewer places, or of none.
            *lists = lists.map(|units| units.saturating_mul(POWERS[usize::from(exponent)]));
        }
    }

    /// Merges another worker's values, whose units are multiplied by a power of ten and then have this number of
    /// places.
    pub(super) fn merge(&mut self, other: &Self, pairs: &[(u32, u32)], exponent: u8, places: u8) {
        for &(group, from) in pairs {
            let from = other.groups[from as usize];
            if from.count == GroupValues::HISTOGRAM {
                self.merge_histogram(group as usize, &other.histograms[from.place as usize], places);
            } else {
                either!(Lists, &other.lists, lists => {
                    self.merge_list(group, values(lists, from), exponent, places);
                });
            }
        }
    }

    fn merge_list<T: Units>(&mut self, group: u32, list: impl Iterator<Item = T>, exponent: u8, places: u8) {
        list.for_each(|units| {
            let units = units.into() * POWERS[usize::from(exponent)];
            match i64::try_from(units) {
                Ok(units) => self.add(&[group], &[units], places),
                Err(_) => self.add_wide(&[group], &[units], places),
            }
        });
    }

    fn merge_histogram(&mut self, group: usize, other: &Histogram, places: u8) {
        let factor = small_power(MAX_PLACES - places);
        let (state, histograms) = (&mut self.groups[group], &mut self.histograms);
        either!(Lists, &mut self.lists, lists => convert(state, lists, histograms, factor));
        histograms[state.place as usize].merge(other);
    }

    /// Appends the state of a group, whose units have this number of places: twice the number of values and the units of each, or 1
    /// and the histogram. The canonical form of more than [`EXACT`] values is the histogram, and that of others is sorted.
    pub(super) fn encode(&self, group: usize, places: u8, form: Form, out: &mut Vec<u8>) {
        let group = self.groups[group];
        let factor = small_power(MAX_PLACES - places);
        if group.count == GroupValues::HISTOGRAM {
            return put_histogram(&self.histograms[group.place as usize], out);
        }
        either!(Lists, &self.lists, lists => {
            put_list(lists.to_vec(group.count, group.place), factor, form, out);
        });
    }

    /// Adds an encoded state, whose units have this number of places, to a group.
    pub(super) fn decode(&mut self, group: usize, places: u8, bytes: &mut &[u8]) -> Option<()> {
        let count = varint::take(bytes)?;
        if count & 1 == 1 {
            self.merge_histogram(group, &Histogram::decode(bytes)?, places);
            return Some(());
        }
        (0..count >> 1).try_for_each(|_| {
            self.merge_list(group as u32, [take_units(places, bytes)?].into_iter(), 0, places);
            Some(())
        })
    }

    /// Returns a percentile of a group, whose units have this number of places.
    pub(super) fn value(&self, group: usize, percentile: Percentile, places: u8) -> Quantity {
        let group = self.groups[group];
        match group.count {
            0 => Quantity::None,
            GroupValues::HISTOGRAM => {
                histogram_value(&self.histograms[group.place as usize], percentile, places)
            }
            _ => either!(Lists, &self.lists, lists => {
                list_value(lists.to_vec(group.count, group.place), percentile, places)
            }),
        }
    }

    pub(super) fn memory(&self) -> usize {
        let lists = either!(Lists, &self.lists, lists => lists.memory());
        self.groups.capacity() * size_of::<GroupValues>()
            + lists
            + self.histograms.capacity() * size_of::<Histogram>()
            + self.histograms.iter().map(Histogram::memory).sum::<usize>()
    }
}

fn put_histogram(histogram: &Histogram, out: &mut Vec<u8>) {
    varint::put(out, 1);
    histogram.encode(out);
}

fn put_list<T: Units>(mut list: Vec<T>, factor: i64, form: Form, out: &mut Vec<u8>) {
    if form == Form::Canonical {
        if list.len() > EXACT {
            return put_histogram(&histogram_of(list.into_iter(), factor), out);
        }
        list.sort_unstable();
    }
    varint::put(out, (list.len() as u64) << 1);
    list.into_iter().for_each(|units| varint::put_signed(out, units.into()));
}

fn histogram_of<T: Units>(list: impl Iterator<Item = T>, factor: i64) -> Histogram {
    let mut histogram = Histogram::default();
    list.for_each(|units| histogram.add(units.finest(factor)));
    histogram
}

/// The values of a list, in any order.
fn values<T: Units>(lists: &Chains<T>, group: GroupValues) -> impl Iterator<Item = T> + Clone {
    lists.values(group.count, group.place)
}

#[inline(always)]
fn add<T: Units>(
    group: &mut GroupValues,
    lists: &mut Chains<T>,
    histograms: &mut Vec<Histogram>,
    units: impl Into<T>,
    factor: i64,
) {
    let units = units.into();
    if group.count >= EXACT as u32 && group.count.is_power_of_two() {
        convert_if_small(group, lists, histograms, factor);
    }
    if group.count == GroupValues::HISTOGRAM {
        return histograms[group.place as usize].add(units.finest(factor));
    }
    group.place = lists.push(group.count, group.place, units);
    group.count += 1;
}

/// Replaces a list by a histogram if that takes little memory.
#[inline(never)]
fn convert_if_small<T: Units>(
    group: &mut GroupValues,
    lists: &mut Chains<T>,
    histograms: &mut Vec<Histogram>,
    factor: i64,
) {
    if histogram_size(values(lists, *group), factor) <= BYTES_PER_VALUE * group.count as usize {
        convert(group, lists, histograms, factor);
    }
}

/// Replaces a list by a histogram.
fn convert<T: Units>(
    group: &mut GroupValues,
    lists: &mut Chains<T>,
    histograms: &mut Vec<Histogram>,
    factor: i64,
) {
    if group.count == GroupValues::HISTOGRAM {
        return;
    }
    let histogram = histogram_of(values(lists, *group), factor);
    lists.free(group.count, group.place);
    *group = GroupValues { count: GroupValues::HISTOGRAM, place: histograms.len() as u32 };
    histograms.push(histogram);
}

/// Bytes of the counts of a list's histogram.
fn histogram_size<T: Units>(list: impl Iterator<Item = T> + Clone, factor: i64) -> usize {
    let range = |is_negative: bool| {
        let of_sign = list.clone().map(|units| units.finest(factor));
        let of_sign = of_sign.filter(|units| *units != 0 && (*units < 0) == is_negative);
        let magnitudes = of_sign.map(i128::unsigned_abs);
        magnitudes.clone().min().zip(magnitudes.max())
    };
    counts_size([range(true), range(false)].into_iter().flatten())
}

fn list_value<T: Units>(mut list: Vec<T>, percentile: Percentile, places: u8) -> Quantity {
    if list.len() > EXACT {
        let histogram = histogram_of(list.into_iter(), small_power(MAX_PLACES - places));
        return histogram_value(&histogram, percentile, places);
    }
    let index = percentile.rank(list.len() as u64) as usize - 1;
    let units = *list.select_nth_unstable(index).1;
    Quantity::Number(Decimal::new(units.into(), places))
}

fn histogram_value(histogram: &Histogram, percentile: Percentile, places: u8) -> Quantity {
    histogram.value(percentile.rank(histogram.count()), places)
}
