//! What there is to do, for workers to pull from.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use finecomb_meter::{Meter, Phase};

use super::pace::{Governed, Idle, Pace};
use super::task::Task;
use crate::block::FileIdentity;
use crate::source::Chunks;
use crate::source::stream::Stream;
use crate::stop::Stop;

/// The work of a job. What is found first is done first: chunks of files that are open, then blocks of streams, then
/// paths, in order. Listing a directory is work like any other.
pub(crate) struct Queue {
    pub(crate) stop: Option<Arc<Stop>>,
    /// The work that is booked are bytes.
    pub(crate) pace: Pace,
    halted: AtomicBool,
    /// Whether anything had to be decompressed or decoded.
    decoded: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
    /// For workers that are not wanted.
    recalled: Condvar,
}

#[derive(Default)]
struct State {
    /// What is still to be opened, the next one last.
    tasks: Vec<Task>,
    /// Files with chunks that nobody has taken yet.
    files: Vec<Arc<Chunks>>,
    /// Streams that nobody is reading.
    streams: Vec<Stream>,
    /// What has been read as a stream: reading it twice at a time would tear its lines.
    streamed: Vec<FileIdentity>,
    /// Workers that may yet add something to do.
    busy: usize,
    idle: Idle,
}

/// The next thing for a worker to do.
pub(crate) enum Next {
    Open(Task),
    Chunks(Arc<Chunks>),
    Stream(Stream),
}

impl Queue {
    /// A queue for so many named inputs.
    pub(crate) fn new(named: usize, stop: Option<Arc<Stop>>) -> Self {
        let tasks = (0..named).rev().map(Task::Named).collect();
        Self {
            stop,
            pace: Pace::default(),
            halted: AtomicBool::new(false),
            decoded: AtomicBool::new(false),
            state: Mutex::new(State { tasks, ..State::default() }),
            changed: Condvar::new(),
            recalled: Condvar::new(),
        }
    }

    /// Whether the workers should leave off.
    pub(crate) fn is_halted(&self) -> bool {
        self.halted.load(Ordering::Relaxed) || self.stop.as_ref().is_some_and(|stop| stop.is_raised())
    }

    /// Whether anything had to be decompressed or decoded.
    pub(crate) fn has_decoded(&self) -> bool {
        self.decoded.load(Ordering::Relaxed)
    }

    /// Records that something has to be decompressed or decoded.
    pub(crate) fn note_decoded(&self) {
        self.decoded.store(true, Ordering::Relaxed);
    }

    /// Tells all workers to leave off.
    pub(crate) fn halt(&self) {
        self.halted.store(true, Ordering::Relaxed);
    }

    /// The next thing to do for the worker of a number, once there is one and the worker is wanted. None when everything
    /// is done or the workers should leave off.
    ///
    /// Who was given a path or a stream counts as busy, and others wait for what it may add. `was_busy` says that
    /// the caller is no longer.
    pub(crate) fn next(&self, number: usize, was_busy: bool, meter: &mut Meter) -> Option<Next> {
        let mut state = self.lock();
        if was_busy {
            self.end_busy(&mut state);
        }
        loop {
            if self.is_halted() || state.is_done() {
                self.changed.notify_all();
                self.recalled.notify_all();
                return None;
            }
            if !self.pace.is_wanted(number) {
                meter.enter(Phase::Park);
                state = self.recalled.wait(state).unwrap_or_else(PoisonError::into_inner);
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
            if let Some(task) = state.tasks.pop() {
                state.busy += 1;
                return Some(Next::Open(task));
            }
            state.idle.begin();
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle.end();
        }
    }

    /// Adds tasks, to be done in the given order before anything else that is left.
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

    /// Takes out a file whose chunks are all taken.
    pub(crate) fn retire(&self, file: &Arc<Chunks>) {
        self.lock().files.retain(|other| !Arc::ptr_eq(file, other));
    }

    /// Whether this is the first stream with this identity. One without an identity is always the first.
    pub(crate) fn is_new_stream(&self, identity: Option<FileIdentity>) -> bool {
        let Some(identity) = identity else { return true };
        let mut state = self.lock();
        let is_new = !state.streamed.contains(&identity);
        if is_new {
            state.streamed.push(identity);
        }
        is_new
    }

    /// Gives a stream back for others to read on. The caller is no longer busy.
    pub(crate) fn put_back(&self, stream: Stream) {
        let mut state = self.lock();
        state.streams.push(stream);
        self.end_busy(&mut state);
    }

    fn end_busy(&self, state: &mut State) {
        state.busy -= 1;
        self.wake(state);
    }

    /// Waking is a system call: only where somebody waits.
    fn wake(&self, state: &State) {
        if state.idle.workers() > 0 {
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_done(&self) -> bool {
        self.busy == 0 && self.files.is_empty() && self.streams.is_empty() && self.tasks.is_empty()
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

    fn want(&self, workers: usize) {
        let _state = self.lock();
        self.pace.set_wanted(workers);
        self.recalled.notify_all();
    }
}
