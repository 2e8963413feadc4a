//! The times of records: where they are, which are counted, and which bucket they are in.

mod shown;

use std::io::stdin;
use std::os::fd::AsFd;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

use finecomb_scan::{Block, Source};

pub(crate) use self::shown::ShownTime;
use crate::cells::{Cells, Span, keep_rows};
use crate::query::field::Field;
use crate::query::row_query::{Columns, TimeQuery};
use crate::records::extract::Unmatched;
use crate::records::format::{Extractor, Scratch};
use crate::time::order::{FileOrder, RunOrder, Timed};
use crate::time::{BucketCache, Buckets, Clock, TimeFinder};

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

/// Number of records at the beginning of a file in which a time is searched.
pub(crate) const EXAMINED: usize = 10;

/// The times of the records of a file.
#[derive(Debug)]
pub(crate) struct TimePlan {
    clock: Clock,
    place: TimePlace,
    /// Checks whether records are in the order of time, if only a part of the file is read.
    order: OnceLock<Arc<FileOrder>>,
}

/// Where the time of a record is.
#[derive(Debug)]
enum TimePlace {
    /// The first time in the record.
    Anywhere,
    /// The only column.
    Column(Columns, Extractor),
}

impl TimePlan {
    fn new(clock: Clock, place: TimePlace) -> Self {
        Self { clock, place, order: OnceLock::new() }
    }

    /// Has the order of the records checked from now on.
    pub(crate) fn watch_order(&self, order: &Arc<FileOrder>) {
        self.order.get_or_init(|| Arc::clone(order));
    }

    /// The plan of a file whose time is in a field or group that the query names.
    pub(crate) fn named(query: &TimeQuery, source: &Source, columns: Columns, extractor: Extractor) -> Self {
        Self::new(clock(query, source), TimePlace::Column(columns, extractor))
    }

    /// The plan of a file in which the first time of a record counts.
    pub(crate) fn anywhere(query: &TimeQuery, source: &Source) -> Self {
        Self::new(clock(query, source), TimePlace::Anywhere)
    }

    /// The plan of a file by the records at its beginning: the field of the format or with a usual name that has most times. `None` if no
    /// such field has a time.
    pub(crate) fn usual(
        query: &TimeQuery,
        source: &Source,
        (text, records): (&[u8], &[Span]),
        of_format: Option<&Field>,
        extractor: impl Fn(&Field) -> Option<Extractor>,
    ) -> Option<Self> {
        let clock = clock(query, source);
        let mut best: Option<(usize, Field, Extractor)> = None;
        for field in of_format.cloned().into_iter().chain(USUAL_NAMES.map(Field::named)) {
            let Some(extractor) = extractor(&field) else { continue };
            let mut cells = Cells::default();
            cells.reset(1);
            extractor.extract(&mut extractor.scratch(), text, records, &mut cells);
            let values = cells.column(0).iter().filter_map(|&cell| cells.bytes(text, cell));
            let count = values.filter(|value| query.form.read_value(value).is_some()).count();
            if count > best.as_ref().map_or(0, |(most, ..)| *most) {
                best = Some((count, field, extractor));
            }
        }
        let (_, field, extractor) = best?;
        let columns = Columns::of_one(&field, None);
        Some(Self::new(clock, TimePlace::Column(columns, extractor)))
    }

    /// The column with the time, unless that may be anywhere in the record.
    pub(crate) fn column(&self) -> Option<(&Columns, &Extractor)> {
        match &self.place {
            TimePlace::Anywhere => None,
            TimePlace::Column(columns, extractor) => Some((columns, extractor)),
        }
    }

    pub(crate) fn scratch(&self) -> Scratch {
        self.column().map_or(Scratch::None, |(_, extractor)| extractor.scratch())
    }
}

/// The clock of a file: times without a year are in the year of its last change, or of now.
fn clock(query: &TimeQuery, source: &Source) -> Clock {
    let metadata = match source.file_path() {
        Some(path) => fs::metadata(path),
        None => stdin().as_fd().try_clone_to_owned().and_then(|input| fs::File::from(input).metadata()),
    };
    let changed =
        metadata.and_then(|metadata| metadata.modified()).unwrap_or_else(|_: io::Error| SystemTime::now());
    let (length, sign, limit) = match changed.duration_since(UNIX_EPOCH) {
        Ok(since) => (since, 1, i64::MAX),
        Err(before) => (before.duration(), -1, i64::MIN),
    };
    let latest = i64::try_from(length.as_nanos()).map_or(limit, |nanoseconds| sign * nanoseconds);
    Clock::new(query.zone.clone(), latest)
}

/// The times of the rows of a block.
#[derive(Debug, Default)]
pub(crate) struct RowTimes {
    finder: TimeFinder,
    bucket: BucketCache,
    /// The instant of each row. Empty without times in the query; all rows have one after the selection.
    instants: Vec<Option<i64>>,
    /// Records without a time.
    pub(crate) untimed: Unmatched,
    /// The order of the records, if that is checked.
    order: Option<RunOrder>,
}

impl RowTimes {
    pub(crate) fn clear(&mut self) {
        self.instants.clear();
        self.untimed = Unmatched::default();
    }

    /// Stores the rows that are counted in `selected`. `cells` are the column of the plan if it has one.
    pub(crate) fn select(
        &mut self,
        query: &TimeQuery,
        plan: &TimePlan,
        (text, records): (&[u8], &[Span]),
        cells: &Cells,
        selected: &mut Vec<u32>,
    ) {
        self.find(query, plan, (text, records), cells);
        selected.clear();
        let is_counted = |instant: &Option<i64>| match instant {
            Some(instant) => query.window.contains(instant),
            None => query.is_optional,
        };
        if plan.order.get().is_none() && cells.malformed().is_empty() && self.instants.iter().all(is_counted)
        {
            selected.extend(0..records.len() as u32);
            return;
        }
        let mut order = plan.order.get().map(|_| RunOrder::default());
        let mut malformed = cells.malformed().iter().map(|malformed| malformed.record).peekable();
        // Rows of the same record follow each other.
        let mut last: Option<Span> = None;
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
                None if last != Some(record) => self.untimed.add(record),
                None => {}
            }
            last = Some(record);
        }
        self.order = order;
    }

    /// Finds the times of all rows.
    fn find(&mut self, query: &TimeQuery, plan: &TimePlan, (text, records): (&[u8], &[Span]), cells: &Cells) {
        let Self { finder, instants, .. } = self;
        instants.clear();
        finder.reset();
        match plan.place {
            TimePlace::Anywhere => {
                finder.find_in_lines(&query.form, &plan.clock, (text, records), instants);
            }
            TimePlace::Column(..) => finder.read_values(&query.form, &plan.clock, (text, cells), instants),
        }
    }

    /// The instant of a row, after the selection. `None` if it has none, or if the file has no times.
    pub(crate) fn of_row(&self, row: usize) -> Option<i64> {
        self.instants.get(row).copied().flatten()
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
