//! What there is to do in a job whose output is in order, and the sequencer that lets the output out.
//!
//! The output is a list of slots in the order of paths. Whatever is to be done has a slot, which it fills with what it
//! prints. A directory that has been listed becomes a slot for each run of files and for each directory in it; a file
//! that is searched in blocks becomes a slot for each block. The first slot that is not filled is the front.
//!
//! Tasks are taken in the order of their slots. So the front is always being worked on or the next to be taken, and
//! whoever works on it never waits for anybody but the writer: that is why a bound on what waits to be written cannot
//! cause a deadlock. A worker whose slot is not the front waits once the bound is reached, until what is
//! before it has been let out.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use finecomb_meter::{Meter, Phase};

use super::pace::{Governed, Idle, Pace};
use crate::stop::Stop;

/// How many bytes may wait for what is before them, over all workers. Each worker may have what it is printing at the
/// moment on top of it: a few blocks' worth.
const WAITING_LIMIT: usize = 4 << 20;

/// A place in the order of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotId(u32);

#[derive(Default)]
struct Slot {
    next: Option<SlotId>,
    chunks: VecDeque<Chunk>,
    filled: bool,
}

/// Bytes on their way to the output.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) bytes: Vec<u8>,
    /// Whether a group begins at the first byte, so that a separator is due before it if anything was printed before.
    pub(crate) begins_group: bool,
}

/// Something to be put into the order: bytes to print, a task, or both in this order.
pub(crate) type Planned<T> = (Option<Chunk>, Option<T>);

/// Takes output, whatever the tasks of the plan are.
pub(crate) trait Receive: Sync {
    /// Takes some of the output of a slot, and gives back memory for more.
    fn hand_over(&self, slot: SlotId, chunk: Chunk) -> Vec<u8>;
}

/// Something to do, at once or part by part.
pub(crate) trait Divisible: Sized {
    /// What a worker gets to do.
    type Part;

    /// Takes all of it, or a part.
    fn claim(self) -> Claim<Self, Self::Part>;
}

/// A part of a task.
pub(crate) enum Claim<T, W> {
    /// The last one.
    Last(W),
    /// One of which others come behind it, which `T` will give.
    Part(W, T),
}

pub(crate) struct Plan<'a, T> {
    pub(crate) pace: Pace,
    state: Mutex<State<T>>,
    changed: Condvar,
    /// For workers that are not wanted.
    recalled: Condvar,
    halted: AtomicBool,
    /// What ends the waiting for streams.
    stops: Mutex<Vec<Arc<Stop>>>,
    out: Mutex<&'a mut (dyn Write + Send)>,
    separator: Option<Vec<u8>>,
}

struct State<T> {
    slots: Vec<Slot>,
    free: Vec<SlotId>,
    front: Option<SlotId>,
    /// In the order of their slots, the first one last. Where a task has been taken and not been done, its place is
    /// kept, for what it may add.
    tasks: Vec<(SlotId, Option<T>)>,
    /// Tasks with a state of their own that one worker at a time goes on with, as the reading of a stream.
    streams: Vec<(SlotId, T)>,
    /// Bytes that wait to be written.
    waiting_bytes: usize,
    writing: bool,
    /// Bytes that have been written.
    written: u64,
    error: Option<io::Error>,
    /// Workers that may yet add tasks.
    busy: usize,
    idle: Idle,
}

impl<'a, T: Divisible> Plan<'a, T> {
    /// A plan to do `tasks` and to write to `out`, with `separator` between groups.
    pub(crate) fn new(
        tasks: impl IntoIterator<Item = T>,
        separator: Option<Vec<u8>>,
        out: &'a mut (dyn Write + Send),
    ) -> Self {
        let mut state = State {
            slots: Vec::new(),
            free: Vec::new(),
            front: None,
            tasks: Vec::new(),
            streams: Vec::new(),
            waiting_bytes: 0,
            writing: false,
            written: 0,
            error: None,
            busy: 0,
            idle: Idle::default(),
        };
        let mut last = None;
        for task in tasks {
            let slot = state.new_slot(last);
            state.front.get_or_insert(slot);
            last = Some(slot);
            state.tasks.push((slot, Some(task)));
        }
        state.tasks.reverse();
        Self {
            pace: Pace::default(),
            state: Mutex::new(state),
            changed: Condvar::new(),
            recalled: Condvar::new(),
            halted: AtomicBool::new(false),
            stops: Mutex::default(),
            out: Mutex::new(out),
            separator,
        }
    }

    /// Whether the workers should leave off.
    pub(crate) fn is_halted(&self) -> bool {
        self.halted.load(Ordering::Relaxed)
    }

    /// Tells all workers to leave off.
    pub(crate) fn halt(&self) {
        self.halted.store(true, Ordering::Relaxed);
        self.raise_stops();
        let _state = self.lock();
        self.changed.notify_all();
        self.recalled.notify_all();
    }

    fn raise_stops(&self) {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|stop| stop.raise());
    }

    /// What ends the waiting for a stream, also when the workers should leave off. None if the system refuses: then
    /// nothing does.
    pub(crate) fn new_stop(&self) -> Option<Arc<Stop>> {
        let stop = Arc::new(Stop::new().ok()?);
        self.stops.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&stop));
        if self.is_halted() {
            stop.raise();
        }
        Some(stop)
    }

    /// Whether anything is left that another worker could do.
    pub(crate) fn has_tasks(&self) -> bool {
        let state = self.lock();
        !state.streams.is_empty() || state.tasks.iter().any(|(_, task)| task.is_some())
    }

    /// How many bytes have been written.
    pub(crate) fn written(&self) -> u64 {
        self.lock().written
    }

    /// Why nothing could be written any more, if so.
    pub(crate) fn take_error(&self) -> Option<io::Error> {
        self.lock().error.take()
    }

    /// The next thing to do for the worker of a number and the slot for what it prints, once there is one and the
    /// worker is wanted. None when all is done or the workers should leave off. The caller counts as busy until it
    /// calls [`Plan::finish_and_next`].
    ///
    /// As long as too much waits to be written, every worker is wanted: those that are wait for the front, which it may
    /// be for this one to take.
    pub(crate) fn next(&self, number: usize, meter: &mut Meter) -> Option<(SlotId, T::Part)> {
        let mut state = self.lock();
        loop {
            if self.is_halted() || state.is_done() {
                self.changed.notify_all();
                self.recalled.notify_all();
                return None;
            }
            if !self.pace.is_wanted(number) && state.waiting_bytes <= WAITING_LIMIT {
                meter.enter(Phase::Park);
                state = self.recalled.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            meter.enter(Phase::Wait);
            if let Some(found) = state.take() {
                state.busy += 1;
                return Some(found);
            }
            state = self.sleep(state);
        }
    }

    /// Gives a stream back, for whoever is free to go on with, in a slot right behind `behind`.
    pub(crate) fn put_back(&self, behind: SlotId, stream: T) {
        let mut state = self.lock();
        let slot = state.new_slot(Some(behind));
        state.streams.push((slot, stream));
        self.wake(state);
    }

    /// Takes the rest of the output of a slot, and tasks to put into the order right behind it. The caller is no longer busy, and
    /// the slot is no longer its. Gives back memory for more output, and the next thing to do as [`Plan::next`] does: with
    /// one lock for all of it, since with many workers the lock is what they would wait for (docs/scaling.md).
    pub(crate) fn finish_and_next(
        &self,
        slot: SlotId,
        chunk: Chunk,
        tasks: Vec<Planned<T>>,
        number: usize,
        meter: &mut Meter,
    ) -> (Vec<u8>, Option<(SlotId, T::Part)>) {
        let mut spare = Vec::new();
        let mut state = self.finish(slot, chunk, tasks, &mut spare);
        let may_take = self.pace.is_wanted(number) && !self.is_halted();
        if let Some(found) = may_take.then(|| state.take()).flatten() {
            state.busy += 1;
            self.wake(state);
            return (spare, Some(found));
        }
        self.wake(state);
        (spare, self.next(number, meter))
    }

    fn finish(
        &self,
        slot: SlotId,
        chunk: Chunk,
        tasks: Vec<Planned<T>>,
        spare: &mut Vec<u8>,
    ) -> MutexGuard<'_, State<T>> {
        let mut state = self.lock();
        state.busy -= 1;
        state.add(slot, tasks);
        if let Some(place) = state.place_of(slot) {
            state.tasks.remove(place);
        }
        state.receive(slot, chunk);
        state.slots[slot.0 as usize].filled = true;
        if !state.writing && !self.is_halted() {
            state = self.write(state, spare);
        }
        state
    }

    /// Writes all that nothing before it is missing of, as the only one who writes.
    fn write<'s>(
        &'s self,
        mut state: MutexGuard<'s, State<T>>,
        spare: &mut Vec<u8>,
    ) -> MutexGuard<'s, State<T>> {
        let mut any = false;
        loop {
            let chunks = state.take_front();
            if chunks.is_empty() {
                break;
            }
            any = true;
            state.writing = true;
            let mut written = state.written;
            drop(state);
            let result = self.write_out(&chunks, &mut written);
            let bytes: usize = chunks.iter().map(|chunk| chunk.bytes.len()).sum();
            if let Some(chunk) = chunks.into_iter().next_back() {
                *spare = chunk.bytes;
            }
            state = self.lock();
            state.writing = false;
            state.written = written;
            state.waiting_bytes -= bytes;
            if let Err(error) = result {
                state.error.get_or_insert(error);
                self.halted.store(true, Ordering::Relaxed);
                self.raise_stops();
            }
        }
        if any && state.idle.workers() > 0 {
            self.changed.notify_all();
        }
        state
    }

    fn write_out(&self, chunks: &[Chunk], written: &mut u64) -> io::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in chunks {
            if chunk.begins_group
                && *written > 0
                && let Some(separator) = &self.separator
            {
                out.write_all(separator)?;
                *written += separator.len() as u64;
            }
            out.write_all(&chunk.bytes)?;
            *written += chunk.bytes.len() as u64;
        }
        out.flush()
    }

    fn sleep<'s>(&'s self, mut state: MutexGuard<'s, State<T>>) -> MutexGuard<'s, State<T>> {
        state.idle.begin();
        let mut state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.idle.end();
        state
    }

    /// Wakes whoever sleeps. That is a system call: only where somebody does, and without the lock.
    fn wake(&self, state: MutexGuard<'_, State<T>>) {
        let any_sleeps = state.idle.workers() > 0;
        drop(state);
        if any_sleeps {
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Divisible + Send> Receive for Plan<'_, T> {
    /// Takes some of what was printed for a slot, and writes it if nothing before it is missing. Waits for others if
    /// too much waits to be written. Gives back memory for more.
    fn hand_over(&self, slot: SlotId, chunk: Chunk) -> Vec<u8> {
        let mut spare = Vec::new();
        let mut state = self.lock();
        state.receive(slot, chunk);
        loop {
            if !state.writing {
                state = self.write(state, &mut spare);
            }
            let may_go_on = state.waiting_bytes <= WAITING_LIMIT || state.is_written_front(slot);
            if may_go_on || self.is_halted() {
                return spare;
            }
            // The front may be for one of those to take.
            self.recalled.notify_all();
            state = self.sleep(state);
        }
    }
}

impl<T: Divisible + Send> Governed for Plan<'_, T> {
    fn idle(&self) -> Duration {
        self.lock().idle.total()
    }

    fn has_backlog(&self) -> bool {
        self.lock().tasks.iter().filter(|(_, task)| task.is_some()).nth(1).is_some()
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

impl<T: Divisible> State<T> {
    fn is_done(&self) -> bool {
        self.busy == 0 && self.tasks.is_empty() && self.streams.is_empty()
    }

    /// Puts tasks into the order right behind a slot that has been given out.
    fn add(&mut self, behind: SlotId, tasks: Vec<Planned<T>>) {
        if tasks.is_empty() {
            return;
        }
        debug_assert!(self.place_of(behind).is_some(), "only a task that keeps its place may add others");
        let mut last = behind;
        let mut new = Vec::with_capacity(tasks.len());
        for (chunk, task) in tasks {
            if let Some(chunk) = chunk {
                last = self.new_slot(Some(last));
                self.waiting_bytes += chunk.bytes.len();
                let slot = &mut self.slots[last.0 as usize];
                slot.chunks.push_back(chunk);
                slot.filled = true;
            }
            if let Some(task) = task {
                last = self.new_slot(Some(last));
                new.push((last, Some(task)));
            }
        }
        let place = self.place_of(behind).map_or(0, |place| place + 1);
        self.tasks.splice(place..place, new.into_iter().rev());
    }

    /// A slot right behind another one.
    fn new_slot(&mut self, behind: Option<SlotId>) -> SlotId {
        let next = behind.and_then(|SlotId(behind)| self.slots[behind as usize].next);
        let slot = Slot { next, ..Slot::default() };
        let id = match self.free.pop() {
            Some(id) => {
                self.slots[id.0 as usize] = slot;
                id
            }
            None => {
                self.slots.push(slot);
                // A slot takes 48 bytes: memory ends before the numbers do.
                SlotId((self.slots.len() - 1) as u32)
            }
        };
        if let Some(SlotId(behind)) = behind {
            self.slots[behind as usize].next = Some(id);
        }
        id
    }

    /// Takes a part of the first task that may be begun: any, or, if too much waits to be written, only the front's.
    fn take(&mut self) -> Option<(SlotId, T::Part)> {
        let over = self.waiting_bytes > WAITING_LIMIT;
        let front = self.front;
        let may_begin = |slot: SlotId| !over || front == Some(slot);
        if let Some(index) = self.streams.iter().position(|&(slot, _)| may_begin(slot)) {
            let (slot, stream) = self.streams.remove(index);
            return match stream.claim() {
                Claim::Last(work) | Claim::Part(work, _) => Some((slot, work)),
            };
        }
        let place = self.tasks.iter().rposition(|(_, task)| task.is_some())?;
        let slot = self.tasks[place].0;
        if !may_begin(slot) {
            return None;
        }
        match self.tasks[place].1.take()?.claim() {
            Claim::Last(work) => Some((slot, work)),
            Claim::Part(work, rest) => {
                self.tasks[place] = (self.new_slot(Some(slot)), Some(rest));
                Some((slot, work))
            }
        }
    }

    /// Where the place of a task that has been taken is.
    fn place_of(&self, slot: SlotId) -> Option<usize> {
        self.tasks.iter().rposition(|&(other, _)| other == slot)
    }

    /// Whether a slot is the front, with all written that was printed for it.
    fn is_written_front(&self, slot: SlotId) -> bool {
        self.front == Some(slot) && self.slots[slot.0 as usize].chunks.is_empty()
    }

    fn receive(&mut self, slot: SlotId, chunk: Chunk) {
        if !chunk.bytes.is_empty() {
            self.waiting_bytes += chunk.bytes.len();
            self.slots[slot.0 as usize].chunks.push_back(chunk);
        }
    }

    /// Takes all that can be written now out of the slots, and moves the front on.
    fn take_front(&mut self) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        while let Some(front) = self.front {
            let slot = &mut self.slots[front.0 as usize];
            chunks.extend(slot.chunks.drain(..));
            if !slot.filled {
                break;
            }
            self.front = slot.next;
            self.free.push(front);
        }
        chunks
    }
}
