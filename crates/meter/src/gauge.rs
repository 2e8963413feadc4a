//! The activity of a thread, visible to other threads while it works.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use finecomb_sys::locks::lock;

use crate::phase::{PHASES, Phase};

/// Times of a thread, which alone writes them; any thread may read them.
///
/// Each value is consistent by itself. Values read during a change of phase may belong to different moments.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    spent: [AtomicU64; PHASES],
    phase: AtomicU8,
    since: AtomicU64,
    bytes: AtomicU64,
}

impl Gauge {
    /// Records that `phase` began at `since`, and the total time `spent` in the phase before it.
    pub(crate) fn record(&self, before: Phase, spent: Duration, phase: Phase, since: Duration, bytes: u64) {
        self.spent[before as usize].store(nanos(spent), Ordering::Relaxed);
        self.phase.store(phase as u8, Ordering::Relaxed);
        self.since.store(nanos(since), Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    fn read(&self, now: Duration) -> Activity {
        let mut spent = [Duration::ZERO; PHASES];
        for (spent, gauge) in spent.iter_mut().zip(&self.spent) {
            *spent = Duration::from_nanos(gauge.load(Ordering::Relaxed));
        }
        let phase = self.phase.load(Ordering::Relaxed) as usize;
        let since = Duration::from_nanos(self.since.load(Ordering::Relaxed));
        spent[phase] += now.saturating_sub(since);
        Activity { spent, bytes: self.bytes.load(Ordering::Relaxed) }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Activity of a thread so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    spent: [Duration; PHASES],
    /// Number of input bytes.
    pub bytes: u64,
}

impl Activity {
    /// Time in a phase.
    pub fn spent(&self, phase: Phase) -> Duration {
        self.spent[phase as usize]
    }
}

/// Gauges of all threads of a job, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Gauges(Mutex<Vec<Arc<Gauge>>>);

impl Gauges {
    pub(crate) fn add(&self) -> Arc<Gauge> {
        let gauge = Arc::default();
        lock(&self.0).push(Arc::clone(&gauge));
        gauge
    }

    pub(crate) fn read(&self, now: Duration) -> Vec<Activity> {
        let gauges = lock(&self.0);
        gauges.iter().map(|gauge| gauge.read(now)).collect()
    }
}
