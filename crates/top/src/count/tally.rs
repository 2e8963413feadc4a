//! Counts that are not by key: numbers of counted and omitted records, and fields that no record has.

use finecomb_scan::Block;
use finecomb_sys::varint;

use crate::cells::{Malformed, Span, bytes_of};
use crate::count::answer::{Answer, Skipped};
use crate::measure::quantity::MAX_COUNT;
use crate::query::Query;
use crate::records::absent_fields::Presence;
use crate::records::rows::RowMaker;

/// Counts that are not by key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) records: u64,
    skipped: Option<Skipped>,
    malformed: Option<Skipped>,
    not_numbers: Option<Skipped>,
    unmatched: Option<Skipped>,
    untimed: Option<Skipped>,
    /// Presence of the fields of the condition, and of the fields of the key and the measures.
    pub(crate) presence: [Presence; 2],
    /// Bytes of memory of the table at the end.
    pub(crate) memory: u64,
}

impl Tally {
    /// Completes an answer by all that is not counted by key.
    pub(crate) fn complete(self, answer: &mut Answer, query: &Query) {
        let Self { records, skipped, malformed, not_numbers, unmatched, untimed, presence, .. } = self;
        answer.records = records;
        answer.skipped = skipped;
        answer.malformed = malformed;
        answer.not_numbers = not_numbers;
        answer.unmatched = unmatched;
        if let Some(rows) = query.rows.as_deref().filter(|_| !answer.partial) {
            let [condition, values] = &presence;
            answer.absent = rows.absent(condition, values);
        }
        answer.key_fields = query.key_fields.clone();
        answer.key_names = query.key_names.clone();
        answer.measure_names = query.measure_names.clone();
        answer.sort_by = query.order.by;
        answer.untimed = untimed;
    }

    pub(crate) fn merge(self, other: Self) -> Self {
        let [condition, values] = self.presence;
        let [other_condition, other_values] = &other.presence;
        Self {
            records: self.records + other.records,
            skipped: Skipped::merge(self.skipped, other.skipped),
            malformed: Skipped::merge(self.malformed, other.malformed),
            not_numbers: Skipped::merge(self.not_numbers, other.not_numbers),
            unmatched: Skipped::merge(self.unmatched, other.unmatched),
            untimed: Skipped::merge(self.untimed, other.untimed),
            presence: [condition.merge(other_condition), values.merge(other_values)],
            memory: self.memory + other.memory,
        }
    }

    /// Counts the records without a key.
    pub(crate) fn add_skipped(&mut self, block: &Block<'_>, records: &[Span], missing: &[u32]) {
        let Some(&first) = missing.first() else { return };
        let record = records[first as usize];
        let first = Skipped::new(missing.len() as u64, block.place(record.0), bytes_of(block.bytes, record));
        first.add_to(&mut self.skipped);
    }

    /// Counts the records that no expression for keys matches, and the records without a time.
    pub(crate) fn add_left_out(&mut self, block: &Block<'_>, rows: &RowMaker<'_>) {
        for (left_out, all) in
            [(rows.unmatched, &mut self.unmatched), (rows.times.untimed, &mut self.untimed)]
        {
            if let Some(first) = left_out.first {
                let record = bytes_of(block.bytes, first);
                Skipped::new(left_out.count, block.place(first.0), record).add_to(all);
            }
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
        let (value, at) = rows.value(block.bytes, row, column);
        let first = Skipped::new(values.len() as u64, block.place(record.0), value);
        let first = first.because(at.saturating_sub(record.0) + 1, rows.field_name(column));
        first.add_to(&mut self.not_numbers);
    }

    /// Counts the malformed records.
    pub(crate) fn add_malformed(&mut self, block: &Block<'_>, malformed: &[(Span, Malformed)]) {
        let Some(&(record, Malformed { at, reason, .. })) =
            malformed.iter().min_by_key(|(record, _)| record.0)
        else {
            return;
        };
        let first =
            Skipped::new(malformed.len() as u64, block.place(record.0), bytes_of(block.bytes, record));
        let first = first.because((at as usize).saturating_sub(record.0) + 1, reason.to_owned());
        first.add_to(&mut self.malformed);
    }

    /// Appends all numbers, without the first records that were left out.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let Self { records, skipped, malformed, not_numbers, unmatched, untimed, presence, .. } = self;
        varint::put(out, *records);
        for left_out in [skipped, malformed, not_numbers, unmatched, untimed] {
            varint::put(out, left_out.as_ref().map_or(0, |left_out| left_out.count));
        }
        presence.iter().for_each(|presence| presence.encode(out));
    }

    /// Takes what [`Tally::encode`] has written from the beginning of `bytes`. `None` if there is something else.
    pub(crate) fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let mut number = || varint::take(bytes).filter(|count| *count <= MAX_COUNT);
        Some(Self {
            records: number()?,
            skipped: Skipped::number(number()?),
            malformed: Skipped::number(number()?),
            not_numbers: Skipped::number(number()?),
            unmatched: Skipped::number(number()?),
            untimed: Skipped::number(number()?),
            presence: [Presence::decode(bytes)?, Presence::decode(bytes)?],
            memory: 0,
        })
    }
}
