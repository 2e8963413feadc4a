//! The work queue of a job whose results are merged.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use finecomb_meter::{Meter, Phase};
use finecomb_sys::locks::{lock, unpoisoned};

use super::pace::{Governed, Idle, Pace};
use super::task::Task;
use crate::block::Source;
use crate::progress::Extent;
use crate::source::archive::Archive;
use crate::source::shared::Chunks;
use crate::source::stream::Stream;
use crate::stop::Stop;

/// The work of a job. Chunks of open files come first, then blocks of streams, then tasks in order. Listing a directory
/// is a task like any other. Its entries go before all other tasks, so that a single worker visits them in the order of their paths.
/// Idle workers wait on a condition variable; no thread spins.
pub(crate) struct Queue {
    pub(crate) stop: Option<Arc<Stop>>,
    /// Set once all work is to be done also after a request to end the job.
    outlasts_stop: AtomicBool,
    /// Work is measured in bytes.
    pub(crate) pace: Pace,
    halted: AtomicBool,
    pub(crate) extent: Extent,
    state: Mutex<State>,
    changed: Condvar,
    /// Notified when parked workers are to run again.
    unparked: Condvar,
}

#[derive(Default)]
struct State {
    /// Tasks to do, the next one last.
    tasks: Vec<Task>,
    /// Open regular files that no worker has begun to read.
    open: Vec<(Source, File)>,
    /// Files with unclaimed chunks.
    files: Vec<Arc<Chunks>>,
    /// Streams that no worker is reading.
    streams: Vec<Stream>,
    /// Archives that no worker is reading.
    archives: Vec<Archive>,
    /// Streams that have paused.
    paused: Vec<Stream>,
    /// Number of workers that may still add work.
    busy: usize,
    idle: Idle,
}

/// The next piece of work for a worker.
pub(crate) enum Next {
    Open(Task),
    File(Source, File),
    Chunks(Arc<Chunks>),
    Stream(Stream),
    Archive(Box<Archive>),
}

impl Queue {
    /// Creates a queue for this number of named inputs.
    pub(crate) fn new(named: usize, stop: Option<Arc<Stop>>) -> Self {
        let tasks = (0..named).rev().map(Task::Named).collect();
        Self {
            stop,
            outlasts_stop: AtomicBool::new(false),
            pace: Pace::default(),
            halted: AtomicBool::new(false),
            extent: Extent::default(),
            state: Mutex::new(State { tasks, ..State::default() }),
            changed: Condvar::new(),
            unparked: Condvar::new(),
        }
    }

    /// Returns `true` if the workers should stop.
    pub(crate) fn is_halted(&self) -> bool {
        self.halted.load(Ordering::Relaxed)
            || self.stop.as_ref().is_some_and(|stop| stop.is_raised())
                && !self.outlasts_stop.load(Ordering::Relaxed)
    }

    /// Lets the workers do all work from now on, also after a request to end the job.
    pub(crate) fn outlast_stop(&self) {
        self.outlasts_stop.store(true, Ordering::Relaxed);
    }

    /// Makes all workers stop.
    pub(crate) fn halt(&self) {
        self.halted.store(true, Ordering::Relaxed);
    }

    /// Makes all workers stop, even if they wait for work.
    pub(crate) fn halt_now(&self) {
        self.halt();
        let _state = self.lock();
        self.changed.notify_all();
        self.unparked.notify_all();
    }

    /// Returns the next work for the worker with this number. Waits until there is some and the worker is not parked.
    /// Returns `None` when everything is done or the workers should stop.
    ///
    /// A worker with a task or a stream counts as busy, because it may add work that others wait for. `was_busy` is set
    /// if the caller was busy until now.
    pub(crate) fn next(&self, number: usize, was_busy: bool, meter: &mut Meter) -> Option<Next> {
        let mut state = self.lock();
        if was_busy {
            self.end_busy(&mut state);
        }
        loop {
            if self.is_halted() || state.is_done() {
                self.changed.notify_all();
                self.unparked.notify_all();
                return None;
            }
            if !self.pace.is_wanted(number) {
                meter.enter(Phase::Park);
                state = unpoisoned(self.unparked.wait(state));
                continue;
            }
            meter.enter(Phase::Wait);
            if let Some(file) = state.files.first() {
                return Some(Next::Chunks(Arc::clone(file)));
            }
            if let Some(stream) = state.streams.pop() {
                state.busy += 1;
                return Some(Next::Stream(stream));
            }
            if let Some(archive) = state.archives.pop() {
                state.busy += 1;
                return Some(Next::Archive(Box::new(archive)));
            }
            if let Some((source, file)) = state.open.pop() {
                state.busy += 1;
                return Some(Next::File(source, file));
            }
            if let Some(task) = state.tasks.pop() {
                state.busy += 1;
                return Some(Next::Open(task));
            }
            state.idle.begin();
            state = unpoisoned(self.changed.wait(state));
            state.idle.end();
        }
    }

    /// Adds tasks, to be done in this order before all other tasks.
    pub(crate) fn add_tasks(&self, tasks: Vec<Task>) {
        let mut state = self.lock();
        state.tasks.extend(tasks.into_iter().rev());
        self.wake(&state);
    }

    /// Adds a file of several chunks.
    pub(crate) fn add_file(&self, file: Arc<Chunks>) {
        let mut state = self.lock();
        state.files.push(file);
        self.wake(&state);
    }

    /// Removes a file whose chunks are all claimed.
    pub(crate) fn remove_file(&self, file: &Arc<Chunks>) {
        self.lock().files.retain(|other| !Arc::ptr_eq(file, other));
    }

    /// Puts a stream back for other workers to read on. The caller is no longer busy.
    pub(crate) fn put_back(&self, stream: Stream) {
        let mut state = self.lock();
        state.streams.push(stream);
        self.end_busy(&mut state);
    }

    /// Puts an archive back for other workers to read on. The caller is no longer busy.
    pub(crate) fn put_back_archive(&self, archive: Archive) {
        let mut state = self.lock();
        state.archives.push(archive);
        self.end_busy(&mut state);
    }

    /// Adds open regular files.
    pub(crate) fn add_open(&self, files: Vec<(Source, File)>) {
        let mut state = self.lock();
        state.open.extend(files.into_iter().rev());
        self.wake(&state);
    }

    /// Adds streams to be read up to where they pause.
    pub(crate) fn add_streams(&self, streams: Vec<Stream>) {
        let mut state = self.lock();
        state.streams.extend(streams);
        self.wake(&state);
    }

    /// Sets a stream aside that has paused.
    pub(crate) fn set_aside(&self, stream: Stream) {
        self.lock().paused.push(stream);
    }

    /// Returns the streams that have paused, and the streams that are unread because the workers should stop.
    pub(crate) fn take_paused(&self) -> Vec<Stream> {
        let State { streams, paused, .. } = &mut *self.lock();
        let mut all = std::mem::take(paused);
        all.append(streams);
        all
    }

    fn end_busy(&self, state: &mut State) {
        state.busy -= 1;
        self.wake(state);
    }

    /// Waking is a system call, so it is done only if a worker waits.
    fn wake(&self, state: &State) {
        if state.idle.workers() > 0 {
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn is_done(&self) -> bool {
        let State { busy, files, streams, archives, open, tasks, .. } = self;
        let are_read = files.is_empty() && streams.is_empty() && archives.is_empty();
        *busy == 0 && are_read && open.is_empty() && tasks.is_empty()
    }
}

impl Governed for Queue {
    fn idle(&self) -> Duration {
        self.lock().idle.total()
    }

    fn has_backlog(&self) -> bool {
        self.lock().tasks.len() > 1
    }

    fn pace(&self) -> &Pace {
        &self.pace
    }

    fn set_workers(&self, workers: usize) {
        let _state = self.lock();
        self.pace.set_wanted(workers);
        self.unparked.notify_all();
    }
}
