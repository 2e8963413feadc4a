//! The values of a field: counted exactly while few of them are distinct, in sketches beyond.
//!
//! Both states are functions of the multiset of the values and of the places of their records. A table becomes sketches once it has
//! more texts than fit, which are those that the values would have made from the start.

use std::collections::HashMap;

use finecomb_sys::simd::{Kernel, Masks, dispatch};

use crate::cells::{Cell, Cells, Span, bytes_of};
use crate::key::hash::Hasher;
use crate::measure::distinct::Sketch;
use crate::overview::answer::{FieldOverview, ValueCount};
use crate::overview::numbers::{self, MAX_OTHERS, NumberSketch};
use crate::overview::sample::Sample;
use crate::overview::texts::{self, BATCH, Batch, Texts, kept, stable_hash};
use crate::overview::time_reader::TimeReader;
use crate::overview::timeline::TimeSketch;
use crate::time::Zone;

/// Number of frequent values that are shown.
pub(super) const TOP: usize = 3;

/// A value is frequent by a sample if it is at least as many times in it: in about 1 % of 4096. Rarer ones could not be ordered.
const MIN_SAMPLED: u64 = 40;

/// A column of a block, with the priority of each record.
#[derive(Clone, Copy)]
pub(super) struct Column<'a> {
    pub(super) text: &'a [u8],
    pub(super) cells: &'a Cells,
    pub(super) index: usize,
    pub(super) priorities: &'a [u64],
}

impl<'a> Column<'a> {
    /// The text and the span of the value of a record. `None` if it has none.
    #[inline(always)]
    fn value(self, row: usize) -> Option<(&'a [u8], Span)> {
        let (text, span, is_value) = self.read(self.cells.column(self.index)[row]);
        is_value.then_some((text, span))
    }

    /// The text and the span of a cell, and whether it has a value.
    #[inline(always)]
    fn read(self, cell: Cell) -> (&'a [u8], Span, bool) {
        let (text, start, end) = match cell {
            Cell::Missing => (self.text, 0, 0),
            Cell::Raw(start, end) => (self.text, start as usize, end as usize),
            Cell::Decoded(start, end) => (self.cells.decoded(), start as usize, end as usize),
        };
        let is_dash = text.get(start) == Some(&b'-');
        (text, (start, end), end - start > usize::from(is_dash))
    }
}

/// The values of a field.
#[derive(Debug)]
pub(super) struct FieldValues {
    /// Number of values.
    values: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// All texts, and a sample of them by their indexes, which the sketches need.
    Exact(Box<Texts>, Sample<u32>),
    Sketched(Box<Sketches>),
}

/// Sketches of many distinct texts.
#[derive(Debug, Default)]
struct Sketches {
    distinct: Sketch,
    /// The kept forms of some values.
    sample: Sample<Box<[u8]>>,
    /// `None` once there are too many other values.
    numbers: Option<NumberSketch>,
    times: Option<TimeSketch>,
}

impl FieldValues {
    pub(super) fn new(hasher: Hasher) -> Self {
        Self { values: 0, state: State::Exact(Box::new(Texts::new(hasher)), Sample::default()) }
    }

    /// Adds the values of a column.
    pub(super) fn add<'a>(&mut self, column: Column<'a>, batch: &mut Batch<'a>, reader: &mut TimeReader) {
        let mut from = 0;
        if let State::Exact(texts, sample) = &mut self.state {
            from = dispatch(AddExact { texts, sample, values: &mut self.values, column, batch });
            if from == column.priorities.len() {
                return;
            }
            self.convert(reader);
        }
        if let State::Sketched(sketches) = &mut self.state {
            self.values += sketches.add(column, from, reader);
        }
    }

    /// Replaces the table by sketches.
    fn convert(&mut self, reader: &mut TimeReader) {
        let State::Exact(texts, sample) = &mut self.state else { return };
        let mut sketches = Sketches {
            numbers: Some(NumberSketch::default()),
            times: Some(TimeSketch::default()),
            ..Sketches::default()
        };
        for (text, count) in texts.iter() {
            sketches.distinct.add(texts::hash_of_kept(text));
            sketches.add_value(text, (0, text.len()), count, reader);
        }
        sketches.sample = std::mem::take(sample).map(|index| texts.get(index).into());
        self.state = State::Sketched(Box::new(sketches));
    }

    /// Adds the values of another worker.
    pub(super) fn merge(&mut self, mut other: Self, reader: &mut TimeReader) {
        self.values += other.values;
        if let (State::Exact(own, sample), State::Exact(texts, others)) = (&mut self.state, &mut other.state)
            && own.has_room_for(texts)
        {
            let indexes = texts.iter().map(|(text, count)| own.add_kept(text, count).unwrap_or(0));
            let indexes: Vec<u32> = indexes.collect();
            return sample.merge(std::mem::take(others).map(|index| indexes[index as usize]));
        }
        self.convert(reader);
        other.convert(reader);
        if let (State::Sketched(own), State::Sketched(other)) = (&mut self.state, other.state) {
            own.merge(*other);
        }
    }

    /// The overview of a field with this name.
    pub(super) fn overview(self, name: String, reader: &mut TimeReader, zone: &Zone) -> FieldOverview {
        match self.state {
            State::Exact(texts, _) => {
                let mut times = TimeSketch::default();
                for (text, count) in texts.iter() {
                    times.add(reader.read(text), count);
                }
                let mut top: Vec<(&[u8], u64)> = texts.iter().collect();
                top.sort_unstable_by(|(one, count), (other, most)| most.cmp(count).then(one.cmp(other)));
                FieldOverview {
                    name,
                    values: self.values,
                    distinct: texts.len() as u64,
                    is_exact: true,
                    top: top.into_iter().take(TOP).map(|(kept, count)| value_count(kept, count)).collect(),
                    numbers: numbers::summary_of(texts.iter()),
                    is_time: false,
                    times: times.summary(zone),
                }
            }
            State::Sketched(sketches) => sketches.overview(name, self.values, zone),
        }
    }
}

fn value_count(kept: &[u8], count: u64) -> ValueCount {
    let (value, is_cut) = texts::shown(kept);
    ValueCount { value: value.to_vec(), is_cut, count }
}

/// Adds values to a table. Returns the first row without room, or the number of rows.
struct AddExact<'a, 'c> {
    texts: &'a mut Texts,
    sample: &'a mut Sample<u32>,
    values: &'a mut u64,
    column: Column<'c>,
    batch: &'a mut Batch<'c>,
}

impl Kernel for AddExact<'_, '_> {
    type Output = usize;

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) -> usize {
        let Self { texts, sample, values, column, batch } = self;
        for (number, cells) in column.cells.column(column.index).chunks(BATCH).enumerate() {
            let mut count = 0;
            // Every cell is written and only those with a value are kept, as a branch on that would often be mispredicted.
            for (row, &cell) in (number * BATCH..).zip(cells) {
                let (text, span, is_value) = column.read(cell);
                batch[count % BATCH].begin(row, text, span);
                count += usize::from(is_value);
            }
            let wanted = &mut batch[..count];
            let added = texts.add(masks, wanted);
            *values += added as u64;
            for value in &wanted[..added] {
                let priority = column.priorities[value.row];
                if sample.takes(priority) {
                    sample.push(priority, value.index);
                }
            }
            if let Some(value) = wanted.get(added) {
                return value.row;
            }
        }
        column.priorities.len()
    }
}

impl Sketches {
    /// Adds the values of a column from a row on, and returns their number.
    fn add(&mut self, column: Column<'_>, from: usize, reader: &mut TimeReader) -> u64 {
        let mut values = 0;
        // The last value and its successors that are the same.
        let mut last: Option<(&[u8], Span, u64)> = None;
        for row in from..column.priorities.len() {
            let Some((text, span)) = column.value(row) else { continue };
            values += 1;
            let value = bytes_of(text, span);
            let priority = column.priorities[row];
            if self.sample.takes(priority) {
                self.sample.push(priority, kept(value));
            }
            match &mut last {
                Some((text, known, count)) if bytes_of(text, *known) == value => *count += 1,
                _ => {
                    self.add_run(last.replace((text, span, 1)), reader);
                }
            }
        }
        self.add_run(last, reader);
        values
    }

    #[inline(always)]
    fn add_run(&mut self, run: Option<(&[u8], Span, u64)>, reader: &mut TimeReader) {
        if let Some((text, span, count)) = run {
            self.distinct.add(stable_hash(bytes_of(text, span)));
            self.add_value(text, span, count, reader);
        }
    }

    /// Adds a value as a number and as a time, unless the field has too many others.
    #[inline(always)]
    fn add_value(&mut self, text: &[u8], span: Span, count: u64, reader: &mut TimeReader) {
        let is_whole = texts::is_whole(bytes_of(text, span));
        if let Some(numbers) = &mut self.numbers {
            if is_whole {
                numbers.add(text, span, count);
            } else {
                numbers.others += count;
            }
            if numbers.others > MAX_OTHERS {
                self.numbers = None;
            }
        }
        if let Some(times) = &mut self.times {
            times.add(reader.read(bytes_of(text, span)).filter(|_| is_whole), count);
            if times.others > MAX_OTHERS {
                self.times = None;
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.distinct.merge(&other.distinct.registers);
        self.sample.merge(other.sample);
        self.numbers = self.numbers.take().zip(other.numbers).map(|(mut own, other)| {
            own.merge(&other);
            own
        });
        self.times = self.times.take().zip(other.times).map(|(mut own, other)| {
            own.merge(other);
            own
        });
    }

    fn overview(self, name: String, values: u64, zone: &Zone) -> FieldOverview {
        let mut sampled: HashMap<Box<[u8]>, u64> = HashMap::new();
        self.sample.into_values().for_each(|value| *sampled.entry(value).or_default() += 1);
        let all: u64 = sampled.values().sum();
        let mut top: Vec<_> = sampled.into_iter().filter(|(_, count)| *count >= MIN_SAMPLED).collect();
        top.sort_unstable_by(|(one, count), (other, most)| most.cmp(count).then(one.cmp(other)));
        let estimate = |count: u64| (u128::from(count) * u128::from(values) / u128::from(all.max(1))) as u64;
        FieldOverview {
            name,
            values,
            distinct: self.distinct.estimate().unsigned_abs() as u64,
            is_exact: false,
            top: top.into_iter().take(TOP).map(|(kept, count)| value_count(&kept, estimate(count))).collect(),
            numbers: self.numbers.and_then(|numbers| numbers.summary()),
            is_time: false,
            times: self.times.and_then(|times| times.summary(zone)),
        }
    }
}
