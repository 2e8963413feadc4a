//! Keys of records with a format, a condition or measures: from a block to keys and values, column by column.
//!
//! The fields of the condition are extracted first, from all records. The fields of the key and the measures are extracted only
//! from the selected records, which are often few.
//!
//! Lines whose keys are fields by position bypass this: [`plain`](crate::key::plain) makes their keys.

use std::mem;
use std::sync::Arc;

use finecomb_scan::{Block, Heading, LineEnds, Meter, ObjectSpans, Phase, RecordEnds, Records, Source};

use crate::cells::{Cell, Cells, ColumnOrigin, Malformed, Span, bytes_of, keep_rows};
use crate::count::changes::Side;
use crate::count::pivot::append_value;
use crate::key::keys::Keys;
use crate::key::lower_case::append_lower_case;
use crate::measure::values::Rows;
use crate::query::Query;
use crate::query::condition::ConditionCache;
use crate::query::field::Field;
use crate::query::row_query::{Columns, KeySource, RowQuery};
use crate::records::absent_fields::{BlockRows, Presence};
use crate::records::extract::{KeyPattern, KeyPatternCache, Unmatched};
use crate::records::filter::FilterCache;
use crate::records::format::json::repeated::repeated_keys;
use crate::records::format::{Extractor, Scratch};
use crate::records::layout::Plan;
use crate::records::row_time::{RowTimes, ShownTime, TimePlan};
use crate::records::split::{first_line, split_at, split_records, without_carriage_return};
use crate::records::unwrap::outer_record;
use crate::time::Buckets;
use crate::time::bucket::prefix;

/// Makes the keys of records and extracts the values that are measured. Its buffers are reused.
pub(crate) struct RowMaker<'q> {
    query: &'q Query,
    rows: &'q RowQuery,
    /// The plan of the last block, with scratch memory for it.
    current: Option<(Arc<Plan>, Scratches)>,
    filter: FilterCache,
    condition: Option<ConditionCache>,
    /// By share.
    shares: Vec<ConditionCache>,
    pattern: Option<KeyPatternCache>,
    ends: LineEnds,
    record_ends: RecordEnds,
    object_spans: ObjectSpans,
    /// The last block with its unwrapped records, if they are in a field.
    unwrapped: Option<Vec<u8>>,
    /// Name of the input of the last block.
    input: Vec<u8>,
    selected: Vec<u32>,
    lines: Lines,
    /// The first lines of the records, if these may have several.
    first_lines: Vec<Span>,
    /// The groups of the expression for keys.
    groups: Cells,
    /// The rows: a record for each, or with `--each` a record for each match.
    pub(crate) records: Vec<Span>,
    /// The values of the condition, later the values of the key and the measures.
    pub(crate) cells: Cells,
    /// Number of records that the filter selects.
    pub(crate) examined: u64,
    /// Records without a match of the expression for keys.
    pub(crate) unmatched: Unmatched,
    /// The times of the rows.
    pub(crate) times: RowTimes,
    /// Malformed records, each with its span.
    pub(crate) malformed: Vec<(Span, Malformed)>,
    /// The fields of the condition that records have.
    pub(crate) condition_presence: Presence,
    /// The fields of the key and the measures that records have.
    pub(crate) value_presence: Presence,
    /// The row of each key, unless all rows have one.
    key_rows: Vec<u32>,
    all_have_keys: bool,
}

/// Scratch memory of the extractors of a plan.
struct Scratches {
    time: Scratch,
    condition: Scratch,
    values: Scratch,
}

impl Scratches {
    fn new(plan: &Plan) -> Self {
        Self {
            time: plan.time.as_ref().map_or(Scratch::None, TimePlan::scratch),
            condition: plan.condition.scratch(),
            values: plan.values.scratch(),
        }
    }

    /// Returns the scratch memory for a block that follows this heading.
    fn after(self, heading: &Option<Heading>) -> Self {
        let Self { time, condition, values } = self;
        Self { time: time.after(heading), condition: condition.after(heading), values: values.after(heading) }
    }
}

impl<'q> RowMaker<'q> {
    pub(crate) fn new(query: &'q Query, rows: &'q RowQuery) -> Self {
        Self {
            query,
            rows,
            current: None,
            filter: query.filter.cache(),
            condition: rows.condition.as_ref().map(|condition| condition.cache()),
            shares: rows.shares.iter().map(|share| share.condition.cache()).collect(),
            pattern: rows.pattern.as_ref().map(|pattern| pattern.cache()),
            ends: LineEnds::default(),
            record_ends: RecordEnds::default(),
            object_spans: ObjectSpans::default(),
            unwrapped: None,
            input: Vec::new(),
            selected: Vec::new(),
            lines: Lines::One,
            first_lines: Vec::new(),
            groups: Cells::default(),
            records: Vec::new(),
            cells: Cells::default(),
            examined: 0,
            unmatched: Unmatched::default(),
            times: RowTimes::default(),
            malformed: Vec::new(),
            condition_presence: Presence::new(rows.condition_columns.len()),
            value_presence: Presence::new(rows.value_columns.len()),
            key_rows: Vec::new(),
            all_have_keys: false,
        }
    }

    /// Makes the keys of a block, before any edit, and extracts the values that are measured.
    pub(crate) fn make(&mut self, block: &Block<'_>, meter: &mut Meter, keys: &mut Keys) {
        self.begin(block);
        keys.clear();
        let Some(plan) = self.plan(block.source) else { return };
        let mut scratches = match self.current.take() {
            Some((current, scratches)) if Arc::ptr_eq(&current, &plan) => scratches,
            _ => Scratches::new(&plan),
        }
        .after(&block.heading);
        self.make_rows(block, &plan, meter);
        self.examined = (self.records_selected() + self.malformed.len()) as u64 + self.unmatched.count;
        let unwrapped = self.unwrapped.take();
        let text = unwrapped.as_deref().unwrap_or(block.bytes);
        // Before the condition, because `--sorted` checks the times of all records that the filter and `-e` select.
        if self.column_of_times(&plan).is_none() {
            self.apply_time((block, text), &plan, &mut scratches, meter);
        }
        if let Some(time) = &plan.time {
            self.times.publish_order(time, block);
        }
        self.apply_condition((block, text), &plan, &mut scratches, meter);
        meter.enter(Phase::Extract);
        self.extract(text, &self.rows.value_columns, &plan.values, &mut scratches.values);
        let rows = BlockRows { block, text, records: &self.records, extractor: &plan.values };
        self.value_presence.add(&self.cells, rows);
        self.evaluate_shares(text, meter);
        self.make_keys(text, keys);
        if unwrapped.is_some() && keys.are_in_block() {
            // They are not in the block of the file.
            keys.replace(text, |key, out| out.extend_from_slice(key));
        }
        self.unwrapped = unwrapped;
        self.current = Some((plan, scratches));
    }

    /// Number of records with a row. A record with several matches has as many rows, one after another.
    fn records_selected(&self) -> usize {
        let follows = |pair: &&[Span]| pair[0] == pair[1];
        let repeated = if self.takes_each() { self.records.windows(2).filter(follows).count() } else { 0 };
        self.records.len() - repeated
    }

    /// Whether all matches in a record are rows.
    fn takes_each(&self) -> bool {
        self.rows.pattern.as_ref().is_some_and(KeyPattern::takes_each)
    }

    /// The records of a block that have times that are counted, each with its instant.
    pub(crate) fn instants(&mut self, block: &Block<'_>) -> impl Iterator<Item = (Span, i64)> {
        self.begin(block);
        if let Some(plan) = self.plan(block.source) {
            self.make_rows(block, &plan, &mut Meter::off());
            let mut scratches = Scratches::new(&plan).after(&block.heading);
            self.apply_time((block, block.bytes), &plan, &mut scratches, &mut Meter::off());
        }
        self.records.iter().copied().zip(self.times.instants())
    }

    /// The plan of a file; `None` if it was not recognised.
    pub(crate) fn plan(&self, source: &Source) -> Option<Arc<Plan>> {
        let of_file = source.details().and_then(|details| Arc::clone(details).downcast().ok());
        of_file.or_else(|| self.query.plan.clone())
    }

    /// Begins a block without any row.
    fn begin(&mut self, block: &Block<'_>) {
        self.input.clear();
        self.input.extend_from_slice(block.source.display_path().as_os_str().as_encoded_bytes());
        self.records.clear();
        self.examined = 0;
        self.malformed.clear();
        self.key_rows.clear();
        self.all_have_keys = false;
        self.unmatched = Unmatched::default();
        self.times.clear();
        self.groups.reset(self.rows.pattern.as_ref().map_or(0, |pattern| pattern.fields().len()));
        self.cells.reset(0);
    }

    /// Finds the records of a block that the filter selects, and with an expression for keys their matches.
    fn make_rows(&mut self, block: &Block<'_>, plan: &Plan, meter: &mut Meter) {
        let filter = &self.query.filter;
        let text = &*block.bytes;
        self.lines = match (&plan.unwrapping, &block.records) {
            (Some(_), _) => Lines::Unwrapped,
            (None, Records::Started(_)) => Lines::InBlock,
            (None, _) => Lines::One,
        };
        self.unwrapped = plan.unwrapping.as_ref().map(|_| self.unwrapped.take().unwrap_or_default());
        // Then a search may run over the whole block, which is faster than splitting it if few records match.
        let are_lines = block.records == Records::Lines
            && !plan.skips_empty
            && plan.unwrapping.is_none()
            && header_length(block, plan) == 0;
        let pattern = self.rows.pattern.as_ref().zip(self.pattern.as_mut());
        if are_lines && let Some((pattern, cache)) = pattern.filter(|_| filter.accepts_all()) {
            meter.enter(Phase::Filter);
            self.unmatched = pattern.search_block(cache, text, &mut self.records, &mut self.groups);
            return;
        }
        if are_lines && !filter.accepts_all() {
            meter.enter(Phase::Filter);
            filter.select(&mut self.filter, text, &mut self.ends, &mut self.records);
        } else {
            meter.enter(Phase::Split);
            let mut records = mem::take(&mut self.records);
            self.split_by(block, plan, &mut records);
            if let (Some(unwrapping), Some(text)) = (&plan.unwrapping, &mut self.unwrapped) {
                unwrapping.unwrap((block.bytes, &block.heading), text, &mut records, &mut self.malformed);
            }
            let text = self.unwrapped.as_deref().unwrap_or(block.bytes);
            if !filter.accepts_all() {
                meter.enter(Phase::Filter);
                records.retain(|&record| filter.selects(&mut self.filter, bytes_of(text, record)));
            }
            self.records = records;
        }
        if let (Some(pattern), Some(cache)) = (&self.rows.pattern, &mut self.pattern) {
            meter.enter(Phase::Filter);
            let records = mem::take(&mut self.records);
            let text = self.unwrapped.as_deref().unwrap_or(block.bytes);
            self.unmatched =
                pattern.search_records(cache, text, &records, &mut self.records, &mut self.groups);
        }
    }

    /// Splits a block into records, without its header.
    pub(crate) fn split(&mut self, block: &Block<'_>, records: &mut Vec<Span>) {
        match self.plan(block.source) {
            Some(plan) => self.split_by(block, &plan, records),
            None => split_records(block.bytes, &mut self.ends, records),
        }
    }

    fn split_by(&mut self, block: &Block<'_>, plan: &Plan, records: &mut Vec<Span>) {
        match &block.records {
            Records::Quoted { delimiter } => {
                split_at(block.bytes, self.record_ends.find(block.bytes, *delimiter), records);
            }
            Records::Started(start) => {
                split_at(block.bytes, self.record_ends.find_started(block.bytes, start), records);
            }
            Records::Lines => split_records(block.bytes, &mut self.ends, records),
            Records::Objects { array } => {
                records.clear();
                records.extend_from_slice(self.object_spans.find(block.bytes, *array));
                let without = self.object_spans.without_array().iter();
                self.malformed.extend(without.map(|&at| {
                    let reason = "no array at the path of the records";
                    ((at, at + 1), Malformed { record: 0, at: at as u32, reason })
                }));
            }
            Records::Unclosed { array } => {
                records.clear();
                records.extend_from_slice(self.object_spans.find_unclosed(block.bytes, *array));
            }
        }
        let header = header_length(block, plan);
        if header > 0 {
            records.retain(|record| record.0 as u64 >= header);
        }
        if plan.skips_comments {
            records.retain(|record| block.bytes.get(record.0) != Some(&b'#'));
        }
        if plan.skips_empty && records.iter().any(|record| record.0 == record.1) {
            records.retain(|record| record.0 < record.1);
        }
    }

    /// The text of a field of a record that is the record itself. `None` if the file has no such records, `Some(None)` if this
    /// one has no such text.
    pub(crate) fn inner_record(
        &self,
        source: &Source,
        record: (&[u8], &Option<Heading>),
    ) -> Option<Option<Vec<u8>>> {
        let plan = self.plan(source)?;
        let (mut text, mut records) = (Vec::new(), vec![(0, record.0.len())]);
        plan.unwrapping.as_ref()?.unwrap(record, &mut text, &mut records, &mut Vec::new());
        Some(records.first().map(|&record| bytes_of(&text, record).to_vec()))
    }

    /// Whether the key of a record is the record.
    pub(crate) fn has_whole_records(&self) -> bool {
        self.rows.key == KeySource::Record
    }

    /// The keys that come again in an object of the first record of the last block, if it is JSON.
    pub(crate) fn repeated_keys(&self, block: &Block<'_>) -> Vec<String> {
        let is_json = self.plan(block.source).is_some_and(|plan| plan.values.is_json());
        match self.records.first() {
            Some(&record) if is_json => repeated_keys(self.text(block), record),
            _ => Vec::new(),
        }
    }

    /// The fields of the condition in the first record of a block.
    pub(crate) fn condition_values(&mut self, block: &Block<'_>) -> Vec<(String, Option<Vec<u8>>)> {
        let Some(plan) = self.plan(block.source) else { return Vec::new() };
        self.begin(block);
        self.make_rows(block, &plan, &mut Meter::off());
        let columns = &self.rows.condition_columns;
        let text = self.text(block).to_vec();
        self.extract(&text, columns, &plan.condition, &mut plan.condition.scratch().after(&block.heading));
        self.malformed.clear();
        self.values_of(&text, columns)
    }

    /// The time of the first record of a block and the name of its field, if the query depends on times.
    pub(crate) fn time(&mut self, block: &Block<'_>) -> Option<(ShownTime, String)> {
        let plan = self.plan(block.source)?;
        let (query, time) = (self.rows.time.as_ref()?, plan.time.as_ref()?);
        self.begin(block);
        self.make_rows(block, &plan, &mut Meter::off());
        let text = self.text(block).to_vec();
        let record = bytes_of(&text, first_line(&text, *self.records.first()?));
        let record = (block.source_offset(), record);
        let Some((columns, extractor)) = time.columns() else {
            let field = time.field_at_start().map(Field::to_string).unwrap_or_default();
            return Some((ShownTime::new(query, time, record, None), field));
        };
        self.extract(&text, columns, extractor, &mut extractor.scratch().after(&block.heading));
        let value = self.times.first_written(&text, &self.cells);
        let shown = ShownTime::new(query, time, record, value.as_deref());
        self.malformed.clear();
        let names = (0..columns.len()).map(|column| self.rows.name_of(columns, column));
        Some((shown, names.collect::<Vec<_>>().join(",")))
    }

    /// The fields of the key and the measures in the first row of the last block.
    pub(crate) fn values(&self, block: &Block<'_>) -> Vec<(String, Option<Vec<u8>>)> {
        self.values_of(self.text(block), &self.rows.value_columns)
    }

    /// The text that records and values of the last block are in.
    pub(crate) fn text<'a>(&'a self, block: &'a Block<'_>) -> &'a [u8] {
        self.unwrapped.as_deref().unwrap_or(block.bytes)
    }

    /// Position of a record in the last block: that of its outer record if it was unwrapped.
    pub(crate) fn position(&self, block: &Block<'_>, record: Span) -> usize {
        match &self.unwrapped {
            Some(text) if record.0 >= block.bytes.len() => outer_record(text, record).0,
            _ => record.0,
        }
    }

    fn values_of(&self, text: &[u8], columns: &Columns) -> Vec<(String, Option<Vec<u8>>)> {
        if self.records.is_empty() {
            return Vec::new();
        }
        let value = |column: usize| {
            let cell = self.cells.column(column)[0];
            (self.rows.name_of(columns, column), self.cells.bytes(text, cell).map(<[u8]>::to_vec))
        };
        (0..columns.len()).map(value).collect()
    }

    /// Keeps the rows whose times are counted.
    fn apply_time(
        &mut self,
        (block, text): (&Block<'_>, &[u8]),
        plan: &Plan,
        scratches: &mut Scratches,
        meter: &mut Meter,
    ) {
        let (Some(query), Some(time)) = (&self.rows.time, &plan.time) else { return };
        meter.enter(Phase::Extract);
        self.cells.reset(0);
        if let Some((columns, extractor)) = time.columns() {
            self.extract(text, columns, extractor, &mut scratches.time);
        }
        meter.enter(Phase::Filter);
        let records = lines_of(self.lines, &self.record_ends, text, &self.records, &mut self.first_lines);
        self.times.select(query, time, (block, text, records), &self.cells, &mut self.selected);
        self.keep_selected();
    }

    /// The column of the times among all fields of an overview, if no record is left out by its time or a condition. Then the times are read
    /// from there, once all fields are extracted.
    fn column_of_times(&self, plan: &Plan) -> Option<usize> {
        let is_optional = self.rows.time.as_ref()?.is_optional;
        let is_possible = is_optional && self.rows.condition.is_none() && self.lines == Lines::One;
        plan.all.as_ref().filter(|_| is_possible)?.column_of(plan.time.as_ref()?)
    }

    /// Reads the times of all rows from the cells with all fields of an overview, unless that was done before.
    pub(crate) fn read_times(&mut self, block: &Block<'_>, plan: &Plan, all: &Cells) {
        let Some(column) = self.column_of_times(plan) else { return };
        let (Some(query), Some(time)) = (&self.rows.time, &plan.time) else { return };
        self.cells.reset(1);
        for &cell in all.column(column) {
            let cell = match (cell, all.bytes(block.bytes, cell)) {
                (Cell::Decoded(..), Some(bytes)) => self.cells.decode(|out| out.extend_from_slice(bytes)),
                _ => cell,
            };
            self.cells.columns_mut()[0].push(cell);
        }
        let records = (block, &*block.bytes, &self.records[..]);
        self.times.select(query, time, records, &self.cells, &mut self.selected);
    }

    /// Keeps the selected rows.
    fn keep_selected(&mut self) {
        if self.selected.len() < self.records.len() {
            keep_rows(&mut self.records, &self.selected);
            self.groups.keep(&self.selected);
            self.times.keep(&self.selected);
        }
    }

    /// Keeps the rows for which the condition holds.
    fn apply_condition(
        &mut self,
        (block, text): (&Block<'_>, &[u8]),
        plan: &Plan,
        scratches: &mut Scratches,
        meter: &mut Meter,
    ) {
        let Some(condition) = &self.rows.condition else { return };
        meter.enter(Phase::Extract);
        self.extract(text, &self.rows.condition_columns, &plan.condition, &mut scratches.condition);
        let rows = BlockRows { block, text, records: &self.records, extractor: &plan.condition };
        self.condition_presence.add(&self.cells, rows);
        let Some(cache) = &mut self.condition else { return };
        meter.enter(Phase::Filter);
        condition.select(cache, text, &self.cells, self.records.len(), &mut self.selected);
        // A condition may hold for a malformed record, such as `!(a == 1)`.
        let mut malformed = self.cells.malformed().iter().map(|malformed| malformed.record).peekable();
        self.selected.retain(|&row| {
            while malformed.next_if(|&malformed| malformed < row).is_some() {}
            malformed.peek() != Some(&row)
        });
        self.keep_selected();
    }

    /// Adds a column for each share, with a value in the rows for which its condition holds.
    fn evaluate_shares(&mut self, text: &[u8], meter: &mut Meter) {
        if self.shares.is_empty() {
            return;
        }
        meter.enter(Phase::Filter);
        let (fields, rows) = (self.rows.value_columns.len(), self.records.len());
        self.cells.widen(fields + self.shares.len(), rows);
        for (column, (share, cache)) in (fields..).zip(self.rows.shares.iter().zip(&mut self.shares)) {
            share.condition.select(cache, text, &self.cells, rows, &mut self.selected);
            let column = &mut self.cells.columns_mut()[column];
            self.selected.iter().for_each(|&row| column[row as usize] = Cell::Raw(0, 0));
        }
        meter.enter(Phase::Extract);
    }

    /// Extracts the values of columns from all rows.
    fn extract(&mut self, text: &[u8], columns: &Columns, extractor: &Extractor, scratch: &mut Scratch) {
        let has_each = self.takes_each();
        let cells = &mut self.cells;
        cells.reset(columns.fields.len());
        if !columns.fields.is_empty() {
            let lines = if extractor.reads_first_line() { self.lines } else { Lines::One };
            let records = lines_of(lines, &self.record_ends, text, &self.records, &mut self.first_lines);
            if has_each {
                extract_once(extractor, scratch, text, records, cells);
            } else {
                extractor.extract(scratch, text, records, cells);
            }
            for malformed in cells.malformed() {
                let record = self.records[malformed.record as usize];
                // A record with several matches has as many rows.
                if self.malformed.last().is_none_or(|(last, _)| *last != record) {
                    self.malformed.push((record, *malformed));
                }
            }
        }
        // The extractor fills one column per field of the format. Groups of the expression come from the match.
        let in_order =
            columns.origins.iter().enumerate().all(|(index, &origin)| origin == ColumnOrigin::Format(index));
        if !in_order {
            cells.arrange(&self.groups, &columns.origins, (&self.input, self.records.len()));
        }
    }

    /// Makes the keys of all rows that have one.
    fn make_keys(&mut self, text: &[u8], keys: &mut Keys) {
        if self.rows.is_overview {
            return;
        }
        if let Some((_, column)) = self.rows.pivot {
            return self.make_keys_with_value(text, column, keys);
        }
        if self.rows.key == KeySource::Columns(1) && self.push_raw_keys(keys) {
            return;
        }
        let rows = self.records.len() as u32;
        let mut malformed = self.cells.malformed().iter().map(|malformed| malformed.record).peekable();
        let mut is_sound = |row: u32| malformed.next_if_eq(&row).is_none();
        match self.rows.key {
            source @ (KeySource::Record | KeySource::Nothing) => {
                let records =
                    lines_of(self.lines, &self.record_ends, text, &self.records, &mut self.first_lines);
                for row in (0..rows).filter(|&row| is_sound(row)) {
                    let record = records[row as usize];
                    keys.spans.push(if source == KeySource::Record { record } else { (0, 0) });
                    self.key_rows.push(row);
                }
            }
            // The keys are parts of the block and need no copy.
            KeySource::Columns(1) if self.cells.is_raw(0) && self.rows.missing.is_none() => {
                for (row, &cell) in (0..).zip(self.cells.column(0)) {
                    match cell {
                        _ if !is_sound(row) => {}
                        Cell::Raw(start, end) => {
                            keys.spans.push((start as usize, end as usize));
                            self.key_rows.push(row);
                        }
                        _ => keys.missing.push(row),
                    }
                }
            }
            KeySource::Columns(count) => {
                for row in (0..rows).filter(|&row| is_sound(row)) {
                    if keys.append(|out| append_key(self.query, (&self.cells, text), row, count, out)) {
                        self.key_rows.push(row);
                    } else {
                        keys.missing.push(row);
                    }
                }
            }
        }
    }

    /// Makes the keys of all rows that have one, and a value in this column.
    fn make_keys_with_value(&mut self, text: &[u8], column: usize, keys: &mut Keys) {
        let mut malformed = self.cells.malformed().iter().map(|malformed| malformed.record).peekable();
        let records = lines_of(self.lines, &self.record_ends, text, &self.records, &mut self.first_lines);
        for (row, &record) in (0..).zip(records) {
            if malformed.next_if_eq(&row).is_some() {
                continue;
            }
            let has_value = self.cells.column(column)[row as usize] != Cell::Missing;
            let has_key = (has_value || self.rows.missing.is_some())
                && keys.append(|out| match self.rows.key {
                    KeySource::Columns(count) => append_key(self.query, (&self.cells, text), row, count, out),
                    KeySource::Record => {
                        out.extend_from_slice(bytes_of(text, record));
                        true
                    }
                    KeySource::Nothing => true,
                });
            if has_key {
                self.key_rows.push(row);
            } else {
                keys.missing.push(row);
            }
        }
    }

    /// Makes the keys of all rows by position in the block, if all have one there and none is malformed: the key of a
    /// malformed record may be a group, which it has.
    fn push_raw_keys(&mut self, keys: &mut Keys) -> bool {
        if !self.cells.malformed().is_empty() {
            return false;
        }
        let mut all_are_raw = true;
        // All in any case: a loop that may end at any cell is slower.
        keys.spans.extend(self.cells.column(0).iter().map(|cell| match *cell {
            Cell::Raw(start, end) => (start as usize, end as usize),
            Cell::Decoded(..) | Cell::Missing => {
                all_are_raw = false;
                (0, 0)
            }
        }));
        self.all_have_keys = all_are_raw;
        if !self.all_have_keys {
            keys.spans.clear();
        }
        self.all_have_keys
    }

    /// Puts the bucket of each key before it.
    pub(crate) fn add_buckets(&mut self, buckets: &Buckets, block: &[u8], keys: &mut Keys) {
        self.prefix_keys(block, keys, |rows, row, out| {
            out.extend_from_slice(&prefix(rows.times.bucket(buckets, row)));
        });
    }

    /// Puts the side of each key before it, which is that of its time.
    pub(crate) fn add_sides(&mut self, block: &[u8], keys: &mut Keys) {
        let after = self.rows.time.as_ref().map_or(i64::MIN, |time| time.gap.end);
        self.prefix_keys(block, keys, |rows, row, out| {
            let is_before = rows.times.of_row(row).is_some_and(|instant| instant < after);
            if is_before { Side::Before } else { Side::After }.append(out);
        });
    }

    /// Puts the value in a column of each key before it.
    pub(crate) fn add_values(&mut self, column: usize, block: &Block<'_>, keys: &mut Keys) {
        let mut lower = Vec::new();
        self.prefix_keys(block.bytes, keys, |rows, row, out| {
            let cell = rows.cells.column(column)[row];
            let missing = rows.rows.missing.as_deref().unwrap_or_default();
            let mut value = rows.cells.bytes(rows.text(block), cell).unwrap_or(missing);
            if rows.query.ignore_case {
                lower.clear();
                append_lower_case(value, &mut lower);
                value = &lower;
            }
            append_value(value, out);
        });
    }

    /// Puts before each key what `append` appends for its row.
    fn prefix_keys(
        &mut self,
        block: &[u8],
        keys: &mut Keys,
        mut append: impl FnMut(&mut Self, usize, &mut Vec<u8>),
    ) {
        let mut indexes = 0..;
        keys.replace(block, |key, out| {
            let row = indexes.next().map_or(0, |index| self.row_of_key(index));
            append(self, row, out);
            out.extend_from_slice(key);
        });
    }

    /// The start of the bucket of each key.
    pub(crate) fn starts_of_keys(&mut self, buckets: &Buckets) -> impl Iterator<Item = i64> {
        let keys = match self.rows_of_keys() {
            Rows::All => self.records.len(),
            Rows::Some(rows) => rows.len(),
        };
        (0..keys).map(|key| self.times.bucket(buckets, self.row_of_key(key)))
    }

    /// The row of the key with this index.
    pub(crate) fn row_of_key(&self, index: usize) -> usize {
        match self.rows_of_keys() {
            Rows::All => index,
            Rows::Some(rows) => rows[index] as usize,
        }
    }

    /// A measured value and its position in the block; that of its record if it was decoded.
    pub(crate) fn value<'a>(&'a self, text: &'a [u8], row: u32, column: usize) -> (&'a [u8], usize) {
        let cell = self.cells.column(column)[row as usize];
        let at = match cell {
            Cell::Raw(start, _) => start as usize,
            Cell::Decoded(..) | Cell::Missing => self.records[row as usize].0,
        };
        (self.cells.bytes(text, cell).unwrap_or_default(), at)
    }

    /// Name of the field of a measured column.
    pub(crate) fn field_name(&self, column: usize) -> String {
        self.rows.name_of(&self.rows.value_columns, column)
    }

    /// The row of each key.
    pub(crate) fn rows_of_keys(&self) -> Rows<'_> {
        let all = self.all_have_keys || self.key_rows.len() == self.records.len();
        if all { Rows::All } else { Rows::Some(&self.key_rows) }
    }
}

/// Appends the key of a row, which is in the first columns, to `out`. Returns `false` if the row lacks a field of the key.
fn append_key(
    query: &Query,
    (cells, text): (&Cells, &[u8]),
    row: u32,
    count: usize,
    out: &mut Vec<u8>,
) -> bool {
    let missing = query.rows.as_ref().and_then(|rows| rows.missing.as_deref());
    for column in 0..count {
        let cell = cells.column(column)[row as usize];
        let Some(value) = cells.bytes(text, cell).or(missing) else { return false };
        if count == 1 {
            out.extend_from_slice(value);
        } else {
            query.joint.append(column, value, out);
        }
    }
    true
}

/// Extracts fields of rows. If consecutive rows are from the same record, only the first is examined: a record of a megabyte may
/// have a million rows.
fn extract_once(extractor: &Extractor, scratch: &mut Scratch, text: &[u8], rows: &[Span], cells: &mut Cells) {
    let mut records = rows.to_vec();
    records.dedup();
    extractor.extract(scratch, text, &records, cells);
    if records.len() < rows.len() {
        let is_new = (0..rows.len()).map(|row| row > 0 && rows[row] != rows[row - 1]);
        let record_of_row = is_new.scan(0, |record, is_new| {
            *record += u32::from(is_new);
            Some(*record)
        });
        cells.repeat(&record_of_row.collect::<Vec<_>>());
    }
}

/// The lines of the records of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    /// Each record is a line.
    One,
    /// Records may have several. The ends of the lines are known, as the records were found by them.
    InBlock,
    /// Records may have several, in a text that is not that of the block.
    Unwrapped,
}

/// The first line of each record.
fn lines_of<'a>(
    lines: Lines,
    ends: &RecordEnds,
    text: &[u8],
    records: &'a [Span],
    first_lines: &'a mut Vec<Span>,
) -> &'a [Span] {
    first_lines.clear();
    match lines {
        Lines::One => return records,
        Lines::Unwrapped => first_lines.extend(records.iter().map(|&record| first_line(text, record))),
        Lines::InBlock => {
            let mut line_ends = ends.line_ends();
            first_lines.extend(records.iter().map(|&(start, end)| {
                let passed = line_ends.iter().take_while(|&&line_end| (line_end as usize) < start).count();
                line_ends = &line_ends[passed..];
                match line_ends.first() {
                    Some(&line_end) if (line_end as usize) < end => {
                        without_carriage_return(text, (start, line_end as usize))
                    }
                    _ => (start, end),
                }
            }));
        }
    }
    first_lines
}

/// Number of bytes of a block up to the end of the header.
fn header_length(block: &Block<'_>, plan: &Plan) -> u64 {
    (block.source.text_start() + plan.header_end).saturating_sub(block.source_offset())
}
