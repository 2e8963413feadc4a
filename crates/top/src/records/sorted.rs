//! The window of a log that is in the order of time: the part of each file that has to be read.
//!
//! The user promises that no record is earlier than one before it by more than a slack. So if a record is earlier than the window
//! by more than the slack, it and all records before it are before the window. If a record is later than the window by the slack,
//! it and all records after it are after the window. A binary search finds two such records. It need not be precise: any two are
//! valid borders. The promise is checked on the records that the search reads, and on the counted records between them. Each
//! record between the borders is compared with the window, as in any other count.

mod search;

use std::ops::Range;
use std::sync::{Arc, Mutex};

use finecomb_scan::{LinesAt, Narrow, Narrowed, Problem, ProblemKind, Source};
use finecomb_sys::locks::lock;

use crate::query::{Query, SortedWindow};
use crate::records::layout::Plan;
use crate::records::row_time::TimePlan;
use crate::records::rows::RowMaker;
use crate::time::Slack;
use crate::time::order::{FileOrder, RunOrder, StepBack};
use search::{BorderSearch, Stopped};

/// Narrows the files of a count to the window, and keeps what is found out about their order.
#[derive(Debug)]
pub(crate) struct Narrower {
    window: Arc<SortedWindow>,
    /// The files that are only partly read.
    files: Mutex<Vec<(Source, Arc<FileOrder>)>>,
}

impl Narrower {
    /// `None` if the query does not say that files are in the order of time.
    pub(crate) fn of(query: &Query) -> Option<Arc<Self>> {
        let window = Arc::clone(query.sorted.as_ref()?);
        Some(Arc::new(Self { window, files: Mutex::default() }))
    }

    /// The files that were only partly read, and whose records in the part contradict the promise.
    pub(crate) fn contradictions(&self) -> Vec<Problem> {
        let files = lock(&self.files);
        let contradictions = files.iter().filter_map(|(source, order)| {
            let step = order.contradiction(self.window.slack)?;
            let text = self.window.describe(&step);
            let text = format!("{text}; records of the window may be missing");
            Some(Problem { source: source.clone(), kind: ProblemKind::Contradiction(text), more: 0 })
        });
        contradictions.collect()
    }
}

impl Narrow for Narrower {
    fn narrow(&self, source: &Source, lines: &LinesAt<'_>) -> Narrowed {
        let whole = |problem| Narrowed { range: lines.range(), problem };
        let plan = source.details().and_then(|details| details.downcast_ref::<Plan>());
        let rows = self.window.times.rows.as_deref();
        let Some((time, rows)) = plan.and_then(|plan| plan.time.as_ref()).zip(rows) else {
            return whole(None);
        };
        let mut search = BorderSearch::new(source, lines, RowMaker::new(&self.window.times, rows));
        let range = self.window.search(&mut search);
        if let Some(step) = search.order().contradiction(self.window.slack) {
            let text = format!(
                "{}; the file was read whole and the counts are complete",
                self.window.describe(&step)
            );
            return whole(Some(ProblemKind::Contradiction(text)));
        }
        let problem = match &search.stopped {
            Some(Stopped::NoTime) => Some(ProblemKind::NotNarrowed("a large part of it has no times")),
            // The error occurs again when the file is read.
            Some(Stopped::Unreadable) => return whole(None),
            None => None,
        };
        if range != lines.range() {
            self.watch(source, time, &search, &range);
        }
        Narrowed { range, problem }
    }
}

impl Narrower {
    /// Has the order of the records of a part of a file checked while they are read.
    fn watch(&self, source: &Source, time: &TimePlan, search: &BorderSearch<'_, '_>, range: &Range<u64>) {
        let order = FileOrder::default();
        for (timed, end) in search.records().filter(|(timed, _)| !range.contains(&timed.offset)) {
            let mut run = RunOrder::default();
            run.push(timed);
            order.add(timed.offset..end, run);
        }
        let order = Arc::new(order);
        time.watch_order(&order);
        lock(&self.files).push((source.clone(), order));
    }
}

impl SortedWindow {
    /// Finds lines of a file that include all lines of the window.
    fn search(&self, search: &mut BorderSearch<'_, '_>) -> Range<u64> {
        let Range { mut start, mut end } = search.range();
        search.read_ends();
        if self.window.start > i64::MIN {
            start = search.border(self.window.start.saturating_sub(self.slack)).after_early;
        }
        if self.window.end < i64::MAX {
            end = search.border(self.window.end.saturating_add(self.slack)).before_late;
        }
        start..end.max(start)
    }

    fn describe(&self, StepBack { from, to }: &StepBack) -> String {
        let by = Slack { nanoseconds: i64::try_from(from.instant.abs_diff(to.instant)).unwrap_or(i64::MAX) };
        let [from_time, to_time] = [from, to].map(|timed| self.zone.show(timed.instant));
        format!(
            "not in the order of time: {to_time} at byte {} is {by} before {from_time} at byte {}",
            to.offset, from.offset
        )
    }
}
