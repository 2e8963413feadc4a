//! The work of a thread: it reads the fields of the records of its blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use finecomb_scan::{Accumulate, Block, Meter, Phase};

use crate::cells::Cells;
use crate::count::tally::Tally;
use crate::key::keys::Keys;
use crate::overview::answer::Overview;
use crate::overview::fields::{FieldKey, FieldSet};
use crate::overview::members::{Firsts, MemberTree};
use crate::overview::sample::Priorities;
use crate::overview::source::{self, AllFields, OF_MESSAGES};
use crate::overview::texts::{BATCH, Batch, Value};
use crate::overview::time_reader::TimeReader;
use crate::overview::timeline::Timeline;
use crate::overview::values::Column;
use crate::query::Query;
use crate::query::field::Field;
use crate::records::format::Scratch;
use crate::records::layout::Plan;
use crate::records::row_time::TimePlan;
use crate::records::rows::RowMaker;
use crate::time::Zone;

/// Describes the records of blocks.
pub(super) struct Describer<'q> {
    rows: RowMaker<'q>,
    keys: Keys,
    cells: Cells,
    tree: MemberTree,
    /// The fixed fields of the plan of the last block.
    current: Option<FixedFields>,
    priorities: Vec<u64>,
    contents: Contents,
}

/// The columns of a plan that has the same fields in all records.
struct FixedFields {
    plan: Arc<Plan>,
    scratch: Scratch,
    /// The field of each column, if it is kept.
    columns: Vec<Option<FieldKey>>,
}

/// The contents of the records of a worker, or of all.
pub(super) struct Contents {
    records: u64,
    formats: BTreeMap<String, u64>,
    tally: Tally,
    times: Timeline,
    /// Names of the fields with the times of the records.
    time_fields: BTreeSet<String>,
    fields: FieldSet,
    reader: TimeReader,
    zone: Zone,
}

impl<'q> Describer<'q> {
    pub(super) fn new(query: &'q Query, now: i64) -> Self {
        let Some(rows) = query.rows.as_deref() else { unreachable!("an overview has rows") };
        let time = rows.time.as_ref();
        let zone = time.map_or(Zone::UTC, |time| time.zone.clone());
        Self {
            rows: RowMaker::new(query, rows),
            keys: Keys::default(),
            cells: Cells::default(),
            tree: MemberTree::default(),
            current: None,
            priorities: Vec::new(),
            contents: Contents {
                records: 0,
                formats: BTreeMap::new(),
                tally: Tally::default(),
                times: Timeline::default(),
                time_fields: BTreeSet::new(),
                fields: FieldSet::new(query.hasher),
                reader: TimeReader::of(query, now),
                zone,
            },
        }
    }

    /// Extracts all fields of the records. Returns the slots that appear, each with its first row, and the column of each slot.
    fn extract(&mut self, block: &Block<'_>, plan: &Arc<Plan>) -> (Firsts, Vec<(usize, usize)>) {
        let Self { rows, cells, tree, contents, .. } = self;
        let records = (&*block.bytes, &rows.records[..]);
        let firsts = match plan.all {
            Some(AllFields::Members) => tree.members(&mut contents.fields, records, cells),
            Some(AllFields::Pairs) => tree.pairs(&mut contents.fields, records, cells),
            _ => return self.extract_fixed(block, plan),
        };
        let columns = (0..contents.fields.len()).map(|slot| (slot, slot)).collect();
        (firsts, columns)
    }

    /// Extracts the fields of a plan that knows them. Returns the slots and columns as [`Self::extract`] does.
    fn extract_fixed(&mut self, block: &Block<'_>, plan: &Arc<Plan>) -> (Firsts, Vec<(usize, usize)>) {
        let is_current = |fixed: &FixedFields| Arc::ptr_eq(&fixed.plan, plan);
        let current = self.current.take().filter(is_current);
        let mut fixed = current.unwrap_or_else(|| FixedFields::new(plan, &mut self.contents.fields));
        let records = &self.rows.records[..];
        self.cells.reset(fixed.columns.len());
        match &plan.all {
            Some(AllFields::Fixed { extractor, .. }) => {
                fixed.scratch = std::mem::replace(&mut fixed.scratch, Scratch::None).after(&block.heading);
                extractor.extract(&mut fixed.scratch, block.bytes, records, &mut self.cells);
            }
            _ => source::add_messages(block.bytes, records, &mut self.cells),
        }
        let fields = &self.contents.fields;
        let kept = |&(_, field): &(usize, Option<FieldKey>)| field.is_some_and(|field| fields.is_kept(field));
        let columns = fixed.columns.iter().copied().enumerate().filter(kept);
        let columns: Vec<_> = columns.filter_map(|(column, field)| Some((column, field?.slot))).collect();
        let first = first_sound(&self.cells, records.len());
        let firsts = columns.iter().filter_map(|&(column, slot)| Some((slot, (first?, column as u32))));
        let firsts = firsts.collect();
        self.current = Some(fixed);
        (firsts, columns)
    }

    /// Adds the fields of the records, which are extracted, to the contents.
    fn add_fields(&mut self, block: &Block<'_>, (firsts, columns): (Firsts, Vec<(usize, usize)>)) {
        let Self { rows, cells, priorities, contents, .. } = self;
        for (slot, (row, number)) in firsts {
            contents.fields.note(slot, (block.place(rows.records[row as usize].0), number));
        }
        let path = block.source.display_path().as_os_str().as_encoded_bytes();
        let of_source = Priorities::of_source(block.source.argument(), path);
        let offset = block.source_offset();
        priorities.clear();
        priorities.extend(rows.records.iter().map(|record| of_source.at(offset + record.0 as u64)));
        let mut batch: Batch<'_> = [Value::default(); BATCH];
        for (index, slot) in columns {
            let column = Column { text: block.bytes, cells, index, priorities };
            contents.fields.values(slot).add(column, &mut batch, &mut contents.reader);
        }
    }

    /// Counts the records, and those that are left out.
    fn add_records(&mut self, block: &Block<'_>, plan: &Plan) {
        let Self { rows, cells, contents, .. } = self;
        let mut unsound = cells.malformed().iter().map(|malformed| malformed.record).peekable();
        let mut records = 0;
        for row in 0..rows.records.len() {
            if unsound.next_if_eq(&(row as u32)).is_some() {
                continue;
            }
            records += 1;
            if let Some(instant) = rows.times.of_row(row) {
                contents.times.add(instant, 1);
            }
        }
        let span = |record: u32| rows.records[record as usize];
        let malformed: Vec<_> =
            cells.malformed().iter().map(|malformed| (span(malformed.record), *malformed)).collect();
        rows.malformed.extend(malformed);
        contents.tally.add_malformed(block, rows);
        contents.tally.add_examined(rows.examined);
        contents.tally.add_left_out(block, rows);
        contents.records += records;
        if records > 0 {
            *contents.formats.entry(plan.format.clone()).or_default() += records;
            let columns = plan.time.as_ref().and_then(TimePlan::columns);
            let fields = columns.iter().flat_map(|(columns, _)| &columns.fields);
            contents.time_fields.extend(fields.map(Field::written));
        }
    }
}

impl FixedFields {
    fn new(plan: &Arc<Plan>, fields: &mut FieldSet) -> Self {
        let (names, scratch) = match &plan.all {
            Some(AllFields::Fixed { fields, extractor }) => {
                (fields.iter().map(|(name, _)| name.clone()).collect(), extractor.scratch())
            }
            _ => (OF_MESSAGES.map(str::to_owned).to_vec(), Scratch::None),
        };
        let columns = names.iter().map(|name| Some(fields.admit(1, name)?.field)).collect();
        Self { plan: Arc::clone(plan), scratch, columns }
    }
}

/// The first row that is not malformed.
fn first_sound(cells: &Cells, rows: usize) -> Option<u32> {
    let mut malformed = cells.malformed().iter().map(|malformed| malformed.record).peekable();
    (0..rows as u32).find(|row| malformed.next_if_eq(row).is_none())
}

impl Accumulate for Describer<'_> {
    type Part = Contents;
    type Joined = Contents;

    fn take(&mut self, block: &Block<'_>, meter: &mut Meter) -> ControlFlow<()> {
        self.rows.make(block, meter, &mut self.keys);
        meter.add_records(self.rows.records.len() as u64);
        let Some(plan) = self.rows.plan(block.source) else { return ControlFlow::Continue(()) };
        meter.enter(Phase::Extract);
        let extracted = self.extract(block, &plan);
        self.rows.read_times(block, &plan, &self.cells);
        meter.enter(Phase::Count);
        self.add_fields(block, extracted);
        self.add_records(block, &plan);
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<Contents> {
        vec![self.contents]
    }

    fn join(parts: Vec<Contents>) -> Contents {
        let mut parts = parts.into_iter();
        let Some(mut all) = parts.next() else { unreachable!("there is a part for each worker") };
        parts.for_each(|part| all.merge(part));
        all
    }
}

impl Contents {
    fn merge(&mut self, other: Self) {
        self.records += other.records;
        for (format, records) in other.formats {
            *self.formats.entry(format).or_default() += records;
        }
        self.tally = std::mem::take(&mut self.tally).merge(other.tally);
        self.times.merge(other.times);
        self.time_fields.extend(other.time_fields);
        self.fields.merge(other.fields, &mut self.reader);
    }

    pub(super) fn into_overview(self) -> Overview {
        let Self { records, formats, tally, times, time_fields, fields, mut reader, zone } = self;
        let examined = tally.examined();
        let [malformed, untimed] = tally.into_left_out();
        let (mut fields, fields_left_out) = fields.overviews(&mut reader, &zone);
        for field in fields.iter_mut().filter(|field| time_fields.contains(&field.name)) {
            (field.is_time, field.numbers, field.times) = (true, None, None);
        }
        Overview {
            records,
            examined,
            formats: formats.into_iter().collect(),
            malformed,
            untimed,
            times: times.summary(0, &zone),
            fields,
            fields_left_out,
            partial: false,
        }
    }
}
