//! Counts that are not by key: numbers of counted and omitted records, and fields that no record has.

use finecomb_scan::Block;
use finecomb_sys::varint;

use crate::cells::{Malformed, Span, bytes_of};
use crate::count::answer::{Answer, Skipped};
use crate::measure::quantity::MAX_COUNT;
use crate::measure::values::{Parsed, SomeNumbers};
use crate::query::Query;
use crate::records::absent_fields::{Presence, take_flag};
use crate::records::row_time::WindowTimes;
use crate::records::rows::RowMaker;

/// Counts that are not by key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) records: u64,
    /// Number of records read that the filters select.
    examined: u64,
    /// The records and values that were left out, by kind, in the order of the stored form.
    left_out: [Option<Skipped>; 7],
    /// The numbers without a unit of each measured field.
    plain: Vec<PlainField>,
    /// Presence of the fields of the condition, and of the fields of the key and the measures.
    pub(crate) presence: [Presence; 2],
    /// The times of records outside the window.
    pub(crate) window: WindowTimes,
    /// Bytes of memory of the table at the end.
    pub(crate) memory: u64,
}

/// The numbers without a unit of a measured field.
#[derive(Clone, Debug, Default)]
struct PlainField {
    /// Whether other numbers have a unit, so that these are left out.
    have_units: bool,
    numbers: Option<Skipped>,
    /// Numbers among them that are rounded if they are used.
    rounded: Option<Skipped>,
}

impl PlainField {
    fn merge(self, other: Self) -> Self {
        Self {
            have_units: self.have_units || other.have_units,
            numbers: Skipped::merge(self.numbers, other.numbers),
            rounded: Skipped::merge(self.rounded, other.rounded),
        }
    }
}

/// Kind of what was left out.
#[derive(Clone, Copy)]
enum LeftOut {
    Skipped,
    Malformed,
    NotNumbers,
    Unmatched,
    Untimed,
    /// Digits of numbers, unless they have no unit.
    Rounded,
    OutOfRange,
}

impl Tally {
    /// Completes an answer by all that is not counted by key.
    pub(crate) fn complete(self, answer: &mut Answer, query: &Query) {
        let Self { records, examined, left_out, plain, presence, window, .. } = self;
        (answer.records, answer.examined) = (records, examined);
        [
            answer.skipped,
            answer.malformed,
            answer.not_numbers,
            answer.unmatched,
            answer.untimed,
            answer.rounded,
            answer.out_of_range,
        ] = left_out;
        for PlainField { have_units, numbers, rounded } in plain {
            match have_units {
                true => answer.without_unit = Skipped::merge(answer.without_unit.take(), numbers),
                false => answer.rounded = Skipped::merge(answer.rounded.take(), rounded),
            }
        }
        if let Some(rows) = query.rows.as_deref().filter(|_| !answer.partial) {
            let [condition, values] = &presence;
            answer.absent = rows.absent(condition, values);
            let zone = rows.time.as_ref().map(|time| &time.zone);
            answer.outside = window
                .outside()
                .zip(zone)
                .map(|((first, last), zone)| [first, last].map(|instant| zone.show(instant)));
        }
        answer.key_fields = query.key_fields.clone();
        answer.key_names = query.key_names.clone();
        answer.measure_names = query.measure_names.clone();
        answer.sort_by = query.order.by;
        answer.bucket_zone = query.buckets().map(|buckets| buckets.zone().clone());
    }

    /// Number of records that were looked at, also of those that were left out.
    pub(crate) fn examined(&self) -> u64 {
        self.examined
    }

    /// The malformed records, and the records without a time.
    pub(crate) fn into_left_out(self) -> [Option<Skipped>; 2] {
        let [_, malformed, _, _, untimed, ..] = self.left_out;
        [malformed, untimed]
    }

    pub(crate) fn merge(self, other: Self) -> Self {
        let [condition, values] = self.presence;
        let [other_condition, other_values] = &other.presence;
        let mut others = other.left_out.into_iter();
        let (mut plain, mut other_plain) = (self.plain, other.plain);
        plain.resize_with(plain.len().max(other_plain.len()), PlainField::default);
        other_plain.resize_with(plain.len(), PlainField::default);
        Self {
            records: self.records + other.records,
            examined: self.examined + other.examined,
            left_out: self.left_out.map(|own| Skipped::merge(own, others.next().flatten())),
            plain: plain.into_iter().zip(other_plain).map(|(one, other)| one.merge(other)).collect(),
            presence: [condition.merge(other_condition), values.merge(other_values)],
            window: self.window.merge(other.window),
            memory: self.memory + other.memory,
        }
    }

    /// Counts records that the filters select.
    pub(crate) fn add_examined(&mut self, count: u64) {
        self.examined += count;
    }

    /// Adds records or values that were left out.
    fn add(&mut self, kind: LeftOut, added: Skipped) {
        let all = &mut self.left_out[kind as usize];
        *all = Skipped::merge(all.take(), Some(added));
    }

    /// Counts the records without a key.
    pub(crate) fn add_skipped(&mut self, block: &Block<'_>, records: &[Span], missing: &[u32]) {
        let Some(&first) = missing.first() else { return };
        let record = records[first as usize];
        let first = Skipped::new(missing.len() as u64, block.place(record.0), bytes_of(block.bytes, record));
        self.add(LeftOut::Skipped, first);
    }

    /// Counts the rows without a key.
    pub(crate) fn add_without_key(&mut self, block: &Block<'_>, rows: &RowMaker<'_>, missing: &[u32]) {
        let Some(&first) = missing.first() else { return };
        let first = skipped(missing.len() as u64, block, rows, rows.records[first as usize]);
        self.add(LeftOut::Skipped, first);
    }

    /// Counts the records that no expression for keys matches, and the records without a time.
    pub(crate) fn add_left_out(&mut self, block: &Block<'_>, rows: &RowMaker<'_>) {
        for (left_out, kind) in [(rows.unmatched, LeftOut::Unmatched), (rows.times.untimed, LeftOut::Untimed)]
        {
            let Some(record) = left_out.first else { continue };
            let mut first = skipped(left_out.count, block, rows, record);
            if let (LeftOut::Untimed, Some((at, reason))) = (kind, &rows.times.mismatch) {
                first = first.because(at.saturating_sub(record.0) + 1, reason.clone());
            }
            self.add(kind, first);
        }
    }

    /// Counts the values that are no numbers.
    pub(crate) fn add_not_numbers(
        &mut self,
        block: &Block<'_>,
        rows: &RowMaker<'_>,
        values: &[(u32, usize)],
    ) {
        let Some(&(row, column)) = values.iter().min() else { return };
        let record = rows.records[row as usize];
        let (value, at) = rows.value(rows.text(block), row, column);
        let place = block.place(rows.position(block, record));
        let first = Skipped::new(values.len() as u64, place, value);
        let first = first.because(at.saturating_sub(record.0) + 1, rows.field_name(column));
        self.add(LeftOut::NotNumbers, first);
    }

    /// Counts the numbers that were rounded or left out, by what was found in each measured column.
    pub(crate) fn add_numbers(&mut self, block: &Block<'_>, rows: &RowMaker<'_>, parsed: &[(usize, Parsed)]) {
        self.plain.resize_with(self.plain.len().max(parsed.len()), PlainField::default);
        for (field, &(column, Parsed { have_units, plain, rounded, out_of_range, .. })) in
            self.plain.iter_mut().zip(parsed)
        {
            let in_column = (block, rows, column);
            field.have_units |= have_units;
            add_some(&mut field.numbers, plain, in_column);
            let of_kind = match have_units {
                true => &mut self.left_out[LeftOut::Rounded as usize],
                false => &mut field.rounded,
            };
            add_some(of_kind, rounded, in_column);
            add_some(&mut self.left_out[LeftOut::OutOfRange as usize], out_of_range, in_column);
        }
    }

    /// Counts the malformed records.
    pub(crate) fn add_malformed(&mut self, block: &Block<'_>, rows: &RowMaker<'_>) {
        let first = rows.malformed.iter().min_by_key(|(record, _)| rows.position(block, *record));
        let Some(&(record, Malformed { at, reason, .. })) = first else { return };
        let first = skipped(rows.malformed.len() as u64, block, rows, record);
        let first = first.because((at as usize).saturating_sub(record.0) + 1, reason.to_owned());
        self.add(LeftOut::Malformed, first);
    }

    /// Appends all numbers, without the first records that were left out.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let Self { records, examined, left_out, plain, presence, .. } = self;
        varint::put(out, *records);
        varint::put(out, *examined);
        for left_out in left_out {
            varint::put(out, left_out.as_ref().map_or(0, |left_out| left_out.count));
        }
        varint::put(out, plain.len() as u64);
        for field in plain {
            out.push(field.have_units.into());
            for numbers in [&field.numbers, &field.rounded] {
                varint::put(out, numbers.as_ref().map_or(0, |numbers| numbers.count));
            }
        }
        presence.iter().for_each(|presence| presence.encode(out));
    }

    /// Takes what [`Tally::encode`] has written from the beginning of `bytes`. `None` if there is something else.
    pub(crate) fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let number = |bytes: &mut &[u8]| varint::take(bytes).filter(|count| *count <= MAX_COUNT);
        let (records, examined) = (number(bytes)?, number(bytes)?);
        let mut left_out = [const { None }; 7];
        for count in &mut left_out {
            *count = Skipped::number(number(bytes)?);
        }
        let fields = varint::take(bytes)?;
        let plain = (0..fields).map(|_| {
            let have_units = take_flag(bytes)?;
            let [numbers, rounded] = [number(bytes)?, number(bytes)?].map(Skipped::number);
            Some(PlainField { have_units, numbers, rounded })
        });
        let plain = plain.collect::<Option<_>>()?;
        Some(Self {
            records,
            examined,
            left_out,
            plain,
            presence: [Presence::decode(bytes)?, Presence::decode(bytes)?],
            window: WindowTimes::default(),
            memory: 0,
        })
    }
}

/// Records that were left out, with the first of them.
fn skipped(count: u64, block: &Block<'_>, rows: &RowMaker<'_>, first: Span) -> Skipped {
    Skipped::new(count, block.place(rows.position(block, first)), bytes_of(rows.text(block), first))
}

/// Adds some of the numbers in a column of a block.
fn add_some(
    all: &mut Option<Skipped>,
    some: SomeNumbers,
    (block, rows, column): (&Block<'_>, &RowMaker<'_>, usize),
) {
    let Some(row) = some.first else { return };
    let record = rows.records[row as usize];
    let place = block.place(rows.position(block, record));
    if let Some(known) = all
        && known.first.as_ref().is_some_and(|first| first.place <= place)
    {
        known.count += some.count;
        return;
    }
    let (value, at) = rows.value(rows.text(block), row, column);
    let at = at.saturating_sub(record.0) + 1;
    let first = Skipped::new(some.count, place, value).because(at, rows.field_name(column));
    *all = Skipped::merge(all.take(), Some(first));
}
