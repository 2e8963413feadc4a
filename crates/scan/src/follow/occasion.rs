//! When something that may happen often is reported: one line says how often.

use std::time::{Duration, Instant};

/// Time from the first event until it is reported.
const COLLECTED: Duration = Duration::from_secs(1);

/// Minimum time between two reports.
const INTERVAL: Duration = Duration::from_secs(60);

/// The next occasion for a report.
#[derive(Default)]
pub(super) struct Occasion {
    reported: Option<Instant>,
    /// Since when there is something to report.
    waiting_since: Option<Instant>,
}

impl Occasion {
    /// Whether to report now, given whether there is something. Then the next occasion is later.
    pub(super) fn is_there(&mut self, has_something: bool, is_last: bool) -> bool {
        if !has_something {
            self.waiting_since = None;
            return false;
        }
        self.waiting_since.get_or_insert_with(Instant::now);
        let is_there = is_last || self.at().is_some_and(|at| at <= Instant::now());
        if is_there {
            *self = Self { reported: Some(Instant::now()), waiting_since: None };
        }
        is_there
    }

    /// When the next report is due, if there is something to report.
    pub(super) fn at(&self) -> Option<Instant> {
        let collected = self.waiting_since? + COLLECTED;
        Some(self.reported.map_or(collected, |reported| collected.max(reported + INTERVAL)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_waits_for_more_and_the_next_one_for_longer() {
        let mut occasion = Occasion::default();
        assert!(!occasion.is_there(false, false) && occasion.at().is_none());
        assert!(!occasion.is_there(true, false));
        assert!(occasion.at().is_some_and(|at| at <= Instant::now() + COLLECTED));
        assert!(occasion.is_there(true, true));
        assert!(occasion.at().is_none() && !occasion.is_there(true, false));
        assert!(occasion.at().is_some_and(|at| at > Instant::now() + INTERVAL / 2));
        assert!(occasion.is_there(true, true));
    }
}
