//! The opened row: a key or a bucket whose records and times a display shows.

use finecomb_sys::locks::lock;

use crate::count::answer::{Answer, KeyCount};
use crate::count::live::Live;
use crate::count::live::buckets::LATEST_FIRST;
use crate::count::live::keys::{Merged, PublishedKeys};
use crate::count::live::records::{LiveRecord, MAX_RECORDS};
use crate::count::timeline;
use crate::key::between_fields::Joint;
use crate::query::options::SortBy;
use crate::query::{CountShape, Query};
use crate::time::bucket;

/// Records and times of the opened row.
#[derive(Clone, Debug, Default)]
pub struct OpenedRow {
    /// Number of records with its key since it was opened.
    pub seen: u64,
    /// The latest of its records, in the order in which they were counted, at most 200. Some of those from before it was opened are missing.
    pub records: Vec<LiveRecord>,
    /// Its latest buckets with records in the order of time, at most 200, with their counts and measures, if keys are counted by bucket.
    pub times: Option<Answer>,
}

/// The latest buckets of the opened row over all workers, in the order of time. `None` if keys are not counted by bucket.
pub(super) fn merged_times<'p>(
    workers: impl Iterator<Item = &'p PublishedKeys>,
    query: &Query,
) -> Option<Answer> {
    let CountShape::Series(buckets) = query.shape() else { return None };
    let mut top = Merged::of(workers.map(|keys| &keys.times)).first(&LATEST_FIRST);
    top.reverse();
    let mut answer = Answer {
        records: top.iter().map(|bucket| bucket.count).sum(),
        top,
        measure_names: query.measure_names.clone(),
        sort_by: SortBy::Key,
        ..Answer::default()
    };
    timeline::name_buckets(&mut answer, buckets);
    Some(answer)
}

impl Live {
    /// Opens the row of an answer with this place, so that its records and times are gathered. The result of the count is not affected.
    pub fn open(&self, answer: &Answer, place: usize) {
        let row = match (self.query.shape(), &answer.series) {
            (CountShape::Buckets(_), _) => {
                answer.starts.get(place).map(|&start| bucket::prefix(start).to_vec())
            }
            (_, Some(series)) => series.keys.get(place).map(|key| self.joined(key)),
            (_, None) => answer.top.get(place).map(|key| self.joined(key)),
        };
        self.set_opened(row);
    }

    /// Closes the opened row.
    pub fn close(&self) {
        self.set_opened(None);
    }

    fn set_opened(&self, row: Option<Vec<u8>>) {
        // The lock of the workers is held, so that one that begins now has the row either from the view or from here.
        let workers = lock(&self.workers);
        workers.iter().for_each(|worker| lock(&worker.recent).open(row.as_deref()));
        lock(&self.view).open(row);
    }

    /// The key of a row as it is counted.
    fn joined(&self, key: &KeyCount) -> Vec<u8> {
        if self.query.joint == Joint::Space || key.fields.is_empty() {
            return key.key.clone();
        }
        let mut joined = Vec::new();
        for (index, field) in key.fields.iter().enumerate() {
            self.query.joint.append(index, field, &mut joined);
        }
        joined
    }

    /// Records and times of the opened row; none if no row is open.
    pub fn opened(&self) -> OpenedRow {
        let view = self.view();
        if view.opened().is_none() {
            return OpenedRow::default();
        }
        let (mut seen, mut records) = (0, Vec::new());
        for worker in lock(&self.workers).iter() {
            let recent = lock(&worker.recent);
            let (of_worker, latest) = recent.opened();
            seen += of_worker;
            records.extend(latest.cloned());
        }
        // Those of one worker are in order.
        records.sort_by_key(|record: &LiveRecord| record.at);
        records.drain(..records.len().saturating_sub(MAX_RECORDS));
        OpenedRow { seen, records, times: self.times() }
    }

    fn times(&self) -> Option<Answer> {
        if let Some(exact) = &*lock(&self.exact) {
            return exact.times.clone();
        }
        let published = self.published();
        merged_times(published.iter().map(|keys| &**keys), &self.query)
    }
}
