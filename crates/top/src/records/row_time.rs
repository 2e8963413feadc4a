//! The times of records: where they are, which are counted, and which bucket they are in.

mod dates;
mod shown;

use std::sync::{Arc, OnceLock};

use finecomb_scan::{Block, LineEnds, Pieces, Source};
use finecomb_sys::display::excerpt;

use self::dates::Dates;
pub(crate) use self::shown::ShownTime;
use crate::cells::{Cell, Cells, Span, bytes_of, keep_rows};
use crate::query::field::Field;
use crate::query::row_query::{Columns, TimeQuery};
use crate::records::extract::Unmatched;
use crate::records::format::{Extractor, Scratch};
use crate::records::split::{first_line, split_records};
use crate::time::days::Midnights;
use crate::time::order::{FileOrder, RunOrder, Timed};
use crate::time::{BucketCache, Buckets, ClockCache, TimeFinder, TimeForm, TimeKind, begins_with_time};

/// Usual names of fields with the time of a record. They are tried in this order in each file.
const USUAL_NAMES: [&str; 18] = [
    "time",
    "timestamp",
    "@timestamp",
    "ts",
    "datetime",
    "date_time",
    "time_iso8601",
    "time_local",
    "asctime",
    "eventTime",
    "event_time",
    "created_at",
    "createdAt",
    "date",
    "msec",
    "Time",
    "Timestamp",
    "Date",
];

/// Usual names of fields with the date of a record, if its time of day is in a field with one of the names above.
const DATE_NAMES: [&str; 4] = ["date", "Date", "day", "Day"];

/// Number of records at the beginning of a file in which a time is searched.
pub(crate) const EXAMINED: usize = 10;

/// The times of the records of a file.
#[derive(Debug)]
pub(crate) struct TimePlan {
    dates: Dates,
    kind: TimeKind,
    place: TimePlace,
    /// Checks whether records are in the order of time, if only a part of the file is read.
    order: OnceLock<Arc<FileOrder>>,
}

/// Where the time of a record is.
#[derive(Debug)]
enum TimePlace {
    /// In the record.
    Anywhere,
    /// At the beginning of the record, where this field is.
    Start(Field),
    /// The only column, or in two columns with the date and the time of day.
    Columns(Columns, Extractor),
}

/// The first records of a file.
#[derive(Clone, Copy)]
pub(crate) struct FirstRecords<'h> {
    pub(crate) text: &'h [u8],
    pub(crate) records: &'h [Span],
    /// Whether no more are examined.
    pub(crate) is_all: bool,
}

impl<'h> FirstRecords<'h> {
    fn lines(self) -> impl Iterator<Item = &'h [u8]> + Clone {
        self.records.iter().map(move |&record| bytes_of(self.text, record))
    }

    /// The times of the records that have these fields.
    fn values(self, extractor: &Extractor, fields: usize) -> Vec<Vec<u8>> {
        self.each_value(extractor, fields).into_iter().flatten().collect()
    }

    /// The time of each record in these fields, if it has them.
    fn each_value(self, extractor: &Extractor, fields: usize) -> Vec<Option<Vec<u8>>> {
        let (mut cells, mut joined) = (Cells::default(), Cells::default());
        cells.reset(fields);
        extractor.extract(&mut extractor.scratch(), self.text, self.records, &mut cells);
        let cells = time_cells(self.text, &cells, &mut joined);
        cells.column(0).iter().map(|&cell| cells.bytes(self.text, cell).map(<[u8]>::to_vec)).collect()
    }
}

impl TimePlan {
    fn new(query: &TimeQuery, source: &Source, kind: TimeKind, place: TimePlace) -> Self {
        Self { dates: Dates::new(query, source), kind, place, order: OnceLock::new() }
    }

    /// Has the order of the records checked from now on.
    pub(crate) fn watch_order(&self, order: &Arc<FileOrder>) {
        self.order.get_or_init(|| Arc::clone(order));
    }

    /// The plan of a file whose time is in fields or groups that the query names. `None` if more records are needed.
    pub(crate) fn named(
        query: &TimeQuery,
        source: &Source,
        first: FirstRecords<'_>,
        columns: Columns,
        extractor: Extractor,
    ) -> Option<Self> {
        let kind = if columns.fields.len() == columns.origins.len() {
            let values = first.values(&extractor, columns.fields.len());
            let values = values.iter().map(Vec::as_slice);
            let is_decided = first.is_all
                || query.form != TimeForm::Usual
                || values.clone().any(|value| query.form.read_value(value).is_some());
            is_decided.then(|| TimeKind::of_values(&query.form, values))?
        } else {
            TimeKind::First
        };
        Some(Self::new(query, source, kind, TimePlace::Columns(columns, extractor)))
    }

    /// The plan of a file in which the time may be anywhere in a record. `None` if more records are needed.
    pub(crate) fn anywhere(query: &TimeQuery, source: &Source, first: FirstRecords<'_>) -> Option<Self> {
        let kind = TimeKind::of_lines(&query.form, first.lines(), first.is_all)?;
        Some(Self::new(query, source, kind, TimePlace::Anywhere))
    }

    /// The plan of a file in whose records the first time has no year, and is followed by one with a year.
    pub(crate) fn with_year(query: &TimeQuery, source: &Source, first: FirstRecords<'_>) -> Option<Self> {
        Self::anywhere(query, source, first).filter(|plan| plan.kind == TimeKind::WithYear)
    }

    /// The plan of a file if the first records begin with the time that this extractor finds. All are taken to do so: no expression is
    /// run to find it.
    pub(crate) fn at_start(
        query: &TimeQuery,
        source: &Source,
        first: FirstRecords<'_>,
        (field, extractor): (&Field, &Extractor),
    ) -> Option<Self> {
        let lines = first.records.iter().map(|&record| bytes_of(first.text, first_line(first.text, record)));
        let kind = TimeKind::of_lines(&query.form, lines.clone(), first.is_all)?;
        let values = first.each_value(extractor, 1);
        let times = values.iter().map(|value| query.form.read_kind(kind, value.as_ref()?));
        let at_starts = lines.map(|line| query.form.find(kind, line).filter(|_| begins_with_time(line)));
        let is_there = times.clone().any(|time| time.is_some()) && times.eq(at_starts);
        is_there.then(|| Self::new(query, source, kind, TimePlace::Start(field.clone())))
    }

    /// The plan of a file by its first records: the field that the format declares, or with a usual name that has most times. `None` if no
    /// such field has a time.
    pub(crate) fn usual(
        query: &TimeQuery,
        source: &Source,
        first: FirstRecords<'_>,
        of_format: Option<&Field>,
        extractor: impl Fn(&[Field]) -> Option<Extractor>,
    ) -> Option<Self> {
        let plan = |kind, fields: &[Field], extractor| {
            let columns = Columns::of_fields(fields, None);
            Self::new(query, source, kind, TimePlace::Columns(columns, extractor))
        };
        let mut best: Option<(usize, Field, Extractor)> = None;
        let mut of_day = None;
        for field in of_format.cloned().into_iter().chain(USUAL_NAMES.map(Field::named)) {
            let Some(extractor) = extractor(std::slice::from_ref(&field)) else { continue };
            let values = first.values(&extractor, 1);
            let values = values.iter().map(Vec::as_slice);
            let count = values.clone().filter(|value| query.form.read_value(value).is_some()).count();
            if count > best.as_ref().map_or(0, |(most, ..)| *most) {
                if of_format == Some(&field) {
                    return Some(plan(TimeKind::First, &[field], extractor));
                }
                best = Some((count, field, extractor));
            } else if of_day.is_none() && TimeKind::of_values(&query.form, values) == TimeKind::OfDay {
                of_day = Some((field, extractor));
            }
        }
        if let Some((time, _)) = &of_day {
            for date in DATE_NAMES {
                let fields = [Field::named(date), time.clone()];
                let Some(extractor) = extractor(&fields) else { continue };
                let values = first.values(&extractor, 2);
                let count = values.iter().filter(|value| query.form.read_value(value).is_some()).count();
                // A date alone is a time, too, but midnight.
                if count > 0
                    && best.as_ref().is_none_or(|(most, field, _)| count >= *most || *field == fields[0])
                {
                    return Some(plan(TimeKind::First, &fields, extractor));
                }
            }
        }
        if let Some((_, field, extractor)) = best {
            return Some(plan(TimeKind::First, &[field], extractor));
        }
        of_day.map(|(field, extractor)| plan(TimeKind::OfDay, &[field], extractor))
    }

    /// Why the format of times of a query reads none in the field that would have the times of a file in usual forms. `None` if there
    /// is no such field.
    pub(crate) fn mismatch(
        query: &TimeQuery,
        first: FirstRecords<'_>,
        of_format: Option<&Field>,
        extractor: impl Fn(&[Field]) -> Option<Extractor>,
    ) -> Option<String> {
        of_format.cloned().into_iter().chain(USUAL_NAMES.map(Field::named)).find_map(|field| {
            let values = first.values(&extractor(std::slice::from_ref(&field))?, 1);
            let value = values.iter().find(|value| TimeForm::Usual.read_value(value).is_some())?;
            let mismatch = query.form.mismatch(value, true)?;
            Some(format!("the first {field}, '{}', is {mismatch}", excerpt(value)))
        })
    }

    /// The columns with the time, unless that may be anywhere in the record.
    pub(crate) fn columns(&self) -> Option<(&Columns, &Extractor)> {
        match &self.place {
            TimePlace::Anywhere | TimePlace::Start(_) => None,
            TimePlace::Columns(columns, extractor) => Some((columns, extractor)),
        }
    }

    /// The field with the time, if that is not extracted as the records begin with it.
    pub(crate) fn field_at_start(&self) -> Option<&Field> {
        match &self.place {
            TimePlace::Start(field) => Some(field),
            TimePlace::Anywhere | TimePlace::Columns(..) => None,
        }
    }

    pub(crate) fn scratch(&self) -> Scratch {
        self.columns().map_or(Scratch::None, |(_, extractor)| extractor.scratch())
    }

    /// Whether the times of the records have no date.
    pub(crate) fn lacks_dates(&self) -> bool {
        self.kind == TimeKind::OfDay
    }

    /// Dates the records of a file whose times have no date by the midnights between them. `header_end` is the offset of the first record.
    /// Returns in words what is assumed.
    pub(crate) fn date_records(
        &self,
        query: &TimeQuery,
        header_end: u64,
        pieces: Option<Pieces<'_>>,
    ) -> String {
        let midnights = pieces.and_then(|pieces| self.midnights(query, header_end, pieces));
        let Some(midnights) = midnights else {
            return "times have no date: each is the latest before the last change of the file".to_owned();
        };
        let count = midnights.count();
        let Some(day) = self.dates.count_back(midnights) else {
            return "times have no date".to_owned();
        };
        let day = self.dates.show_day(day);
        match count {
            0 => format!("times have no date: all are dated {day}, by the last change of the file"),
            1 => format!(
                "times have no date: the last is dated {day}, by the last change of the file, and 1 midnight is before it"
            ),
            _ => format!(
                "times have no date: the last is dated {day}, by the last change of the file, and {count} midnights are before it"
            ),
        }
    }

    /// The midnights between the records of a file. `None` if there are too many.
    fn midnights(&self, query: &TimeQuery, header_end: u64, pieces: Pieces<'_>) -> Option<Midnights> {
        let (mut midnights, mut times) = (Midnights::default(), RowTimes::default());
        let (mut ends, mut records, mut cells) = (LineEnds::default(), Vec::new(), Cells::default());
        let mut scratch = self.scratch();
        for (offset, text) in pieces {
            split_records(&text, &mut ends, &mut records);
            records.retain(|record| offset + record.0 as u64 >= header_end);
            cells.reset(self.columns().map_or(0, |(columns, _)| columns.fields.len()));
            if let Some((_, extractor)) = self.columns() {
                extractor.extract(&mut scratch, &text, &records, &mut cells);
                scratch.pass(&text);
            }
            times.find(query, self, (&text, &records), &cells);
            for (record, time) in records.iter().zip(&times.instants) {
                if time.is_some_and(|time| !midnights.push(offset + record.0 as u64, time)) {
                    return None;
                }
            }
        }
        Some(midnights)
    }
}

/// The cells with the times of records: the only column, or one in which a date and a time of day are joined.
fn time_cells<'c>(text: &[u8], cells: &'c Cells, joined: &'c mut Cells) -> &'c Cells {
    if cells.width() < 2 {
        return cells;
    }
    joined.reset(1);
    for (&date, &time) in cells.column(0).iter().zip(cells.column(1)) {
        let cell = match (cells.bytes(text, date), cells.bytes(text, time)) {
            (Some(date), Some(time)) => joined.decode(|out| {
                out.extend_from_slice(date);
                out.push(b' ');
                out.extend_from_slice(time);
            }),
            _ => Cell::Missing,
        };
        joined.columns_mut()[0].push(cell);
    }
    joined
}

/// The times of the rows of a block.
#[derive(Debug, Default)]
pub(crate) struct RowTimes {
    finder: TimeFinder,
    bucket: BucketCache,
    clock: ClockCache,
    /// Dates and times of day that are joined.
    joined: Cells,
    /// The instant of each row. Empty without times in the query; all rows have one after the selection.
    instants: Vec<Option<i64>>,
    /// Records without a time.
    pub(crate) untimed: Unmatched,
    /// Why the first of them has none, if the query has a format of times, and where the text is that was read.
    pub(crate) mismatch: Option<(usize, String)>,
    /// The order of the records, if that is checked.
    order: Option<RunOrder>,
    /// Times of all blocks beside the window.
    pub(crate) window: WindowTimes,
}

/// Times of records beside a window of time, to say where records are if none is in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowTimes {
    /// Whether a record is in the window, or counts without a time.
    is_met: bool,
    /// The earliest and latest times in blocks without such a record.
    outside: Option<(i64, i64)>,
}

impl WindowTimes {
    /// Adds the times of a block with this number of counted records.
    fn add(&mut self, instants: &[Option<i64>], counted: usize) {
        self.is_met |= counted > 0;
        if !self.is_met {
            let times = instants.iter().flatten().map(|&instant| (instant, instant));
            self.outside = times.chain(self.outside).reduce(both);
        }
    }

    /// Merges the times of two workers.
    pub(crate) fn merge(self, other: Self) -> Self {
        Self {
            is_met: self.is_met || other.is_met,
            outside: self.outside.into_iter().chain(other.outside).reduce(both),
        }
    }

    /// The earliest and latest times, if none is in the window.
    pub(crate) fn outside(self) -> Option<(i64, i64)> {
        self.outside.filter(|_| !self.is_met)
    }
}

/// The range of two ranges.
fn both(one: (i64, i64), other: (i64, i64)) -> (i64, i64) {
    (one.0.min(other.0), one.1.max(other.1))
}

impl RowTimes {
    pub(crate) fn clear(&mut self) {
        self.instants.clear();
        self.untimed = Unmatched::default();
        self.mismatch = None;
    }

    /// Stores the rows of a block that are counted in `selected`. `cells` are the columns of the plan if it has some.
    pub(crate) fn select(
        &mut self,
        query: &TimeQuery,
        plan: &TimePlan,
        (block, text, records): (&Block<'_>, &[u8], &[Span]),
        cells: &Cells,
        selected: &mut Vec<u32>,
    ) {
        self.find(query, plan, (text, records), cells);
        if plan.lacks_dates() {
            plan.dates.complete(&mut self.clock, block, records, &mut self.instants);
        }
        selected.clear();
        let is_counted = |instant: &Option<i64>| match instant {
            Some(instant) => query.window.contains(instant) && !query.gap.contains(instant),
            None => query.is_optional,
        };
        if plan.order.get().is_none() && cells.malformed().is_empty() && self.instants.iter().all(is_counted)
        {
            selected.extend(0..records.len() as u32);
            self.window.add(&[], records.len());
            return;
        }
        let mut order = plan.order.get().map(|_| RunOrder::default());
        let mut malformed = cells.malformed().iter().map(|malformed| malformed.record).peekable();
        // Rows of the same record follow each other.
        let mut last: Option<Span> = None;
        let mut first_untimed = None;
        for ((row, &record), &instant) in (0..).zip(records).zip(&self.instants) {
            if malformed.next_if_eq(&row).is_some() {
                continue;
            }
            if let (Some(order), Some(instant)) = (&mut order, instant) {
                order.push(Timed { offset: record.0 as u64, instant });
            }
            match instant {
                _ if is_counted(&instant) => selected.push(row),
                Some(_) => {}
                None if last != Some(record) => {
                    first_untimed.get_or_insert((row, record));
                    self.untimed.add(record);
                }
                None => {}
            }
            last = Some(record);
        }
        if let Some((row, record)) = first_untimed.filter(|_| query.form != TimeForm::Usual) {
            self.mismatch = self.mismatch_of(query, plan, (text, record), (cells, row));
        }
        self.order = order;
        self.window.add(&self.instants, selected.len());
    }

    /// Why a format reads no time in a record, and where the text is that was read. `None` if the field of the time is missing.
    fn mismatch_of(
        &mut self,
        query: &TimeQuery,
        plan: &TimePlan,
        (text, record): (&[u8], Span),
        (cells, row): (&Cells, u32),
    ) -> Option<(usize, String)> {
        if plan.columns().is_none() {
            let line = bytes_of(text, first_line(text, record));
            return Some((record.0, query.form.mismatch(line, false)?));
        }
        let cells = time_cells(text, cells, &mut self.joined);
        let cell = cells.column(0)[row as usize];
        let value = cells.bytes(text, cell)?;
        let at = if let Cell::Raw(start, _) = cell { start as usize } else { record.0 };
        Some((at, format!("'{}' is {}", excerpt(value), query.form.mismatch(value, true)?)))
    }

    /// Finds the times of all rows.
    fn find(&mut self, query: &TimeQuery, plan: &TimePlan, (text, records): (&[u8], &[Span]), cells: &Cells) {
        let Self { finder, joined, instants, .. } = self;
        instants.clear();
        finder.reset();
        let (form, clock) = ((&query.form, plan.kind), plan.dates.clock());
        match &plan.place {
            TimePlace::Anywhere => finder.find_in_lines(form, clock, (text, records), instants),
            TimePlace::Start(_) => {
                finder.find_in_lines(form, clock, (text, records), instants);
                for (instant, &record) in instants.iter_mut().zip(records) {
                    *instant = instant.filter(|_| begins_with_time(bytes_of(text, record)));
                }
            }
            TimePlace::Columns(..) => {
                finder.read_values(form, clock, (text, time_cells(text, cells, joined)), instants);
            }
        }
    }

    /// The instant of a row, after the selection. `None` if it has none, or if the file has no times.
    pub(crate) fn of_row(&self, row: usize) -> Option<i64> {
        self.instants.get(row).copied().flatten()
    }

    /// The time as it is written in the first row, if `cells` are the columns of a plan.
    pub(crate) fn first_written(&mut self, text: &[u8], cells: &Cells) -> Option<Vec<u8>> {
        let cells = time_cells(text, cells, &mut self.joined);
        Some(cells.bytes(text, *cells.column(0).first()?)?.to_vec())
    }

    /// The instants of the rows, after the selection.
    pub(crate) fn instants(&self) -> impl Iterator<Item = i64> {
        self.instants.iter().copied().flatten()
    }

    /// Publishes the order of the records of a block for the check.
    pub(crate) fn publish_order(&mut self, plan: &TimePlan, block: &Block<'_>) {
        if let (Some(order), Some(file)) = (self.order.take(), plan.order.get()) {
            let end = block.offset + block.bytes.len() as u64;
            file.add(block.offset..end, order.moved_by(block.offset));
        }
    }

    /// Keeps these rows.
    pub(crate) fn keep(&mut self, selected: &[u32]) {
        if !self.instants.is_empty() {
            keep_rows(&mut self.instants, selected);
        }
    }

    /// The start of the bucket of a row, in seconds since 1970.
    pub(crate) fn bucket(&mut self, buckets: &Buckets, row: usize) -> i64 {
        self.of_row(row).map_or(0, |instant| buckets.start(&mut self.bucket, instant))
    }
}
