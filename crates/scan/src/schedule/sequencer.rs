//! The work of a job with ordered output, and the sequencer of the output.
//!
//! The output is a list of slots in the order of paths. Every piece of work has a slot, which it fills with its output.
//! A directory that has been listed becomes a slot per run of files and per subdirectory; a file that is searched in
//! blocks becomes a slot per block. The first slot that is not filled is the front.
//!
//! Tasks are claimed in the order of their slots. So the front is always in progress or the next to be claimed, and its
//! worker waits for nothing but the writer. Therefore a bound on pending output cannot cause a deadlock: a worker whose
//! slot is not the front waits at the bound until the output before it has been written.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard};

use finecomb_meter::Meter;
use finecomb_sys::locks::lock;

use super::limit::{Limit, Limiter, Mark};
use super::pool::{Backlog, Locked, Pool};
use crate::stop::Stop;

/// Position in the order of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotId(u32);

#[derive(Default)]
struct OutputSlot {
    next: Option<SlotId>,
    chunks: VecDeque<Chunk>,
    filled: bool,
}

/// A piece of output.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) bytes: Vec<u8>,
    /// Set if a group begins at the first byte, so that a separator precedes it unless it is the first output.
    pub(crate) begins_group: bool,
    /// Marks for the limit on results, with their positions, if there is a limit.
    pub(crate) marks: Vec<(usize, Mark)>,
}

/// An element of the sequence: output, a task, or both in this order.
pub(crate) type Planned<T> = (Option<Chunk>, Option<T>);

/// Receives output, independent of the type of the tasks.
pub(crate) trait Receive: Sync {
    /// Receives part of the output of a slot, and returns memory for more.
    fn hand_over(&self, slot: SlotId, chunk: Chunk) -> Vec<u8>;
}

/// A task that is done at once or in parts.
pub(crate) trait Divisible: Sized + Send {
    /// The work of a single worker.
    type Part;

    /// Claims the whole task, or a part.
    fn claim(self) -> Claim<Self, Self::Part>;
}

/// A claimed part of a task.
pub(crate) enum Claim<T, W> {
    /// The last part.
    Last(W),
    /// A part, and the rest of the task.
    Part(W, T),
}

pub(crate) struct Sequencer<'a, T> {
    pub(crate) pool: Pool<Sequence<T>>,
    /// Interrupt workers that wait for streams.
    stops: Mutex<Vec<Arc<Stop>>>,
    out: Mutex<Out<'a>>,
    separator: Option<Vec<u8>>,
}

/// Where output is written.
struct Out<'a> {
    writer: &'a mut (dyn Write + Send),
    limiter: Option<Limiter>,
    /// Whether the next output begins a group. A part of a group may be empty.
    begins_group: bool,
}

/// Tasks and their output, in order.
pub(crate) struct Sequence<T> {
    slots: Vec<OutputSlot>,
    free: Vec<SlotId>,
    front: Option<SlotId>,
    /// Tasks ordered by slot, the first one last. A task in progress keeps its place for the tasks that it may add.
    tasks: Vec<(SlotId, Option<T>)>,
    /// Number of these that are not in progress.
    waiting: usize,
    /// Tasks with state that one worker at a time advances, such as the reading of a stream.
    streams: Vec<(SlotId, T)>,
    /// Pending output, in bytes.
    pending_bytes: usize,
    writing: bool,
    /// Written output, in bytes.
    written: u64,
    error: Option<io::Error>,
    /// Bound on pending output, in bytes, over all workers. Each worker may hold the output of a few blocks on top of it.
    limit: usize,
}

impl<'a, T: Divisible> Sequencer<'a, T> {
    /// Creates a sequencer that does `tasks` and writes to `out`, with `separator` between groups. At most `pending` bytes of output
    /// wait to be written. `limit` bounds the number of results.
    pub(crate) fn new(
        tasks: impl IntoIterator<Item = T>,
        separator: Option<Vec<u8>>,
        out: &'a mut (dyn Write + Send),
        (pending, limit): (usize, Option<Limit>),
        stop: Option<Arc<Stop>>,
    ) -> Self {
        let mut sequence = Sequence {
            slots: Vec::new(),
            free: Vec::new(),
            front: None,
            tasks: Vec::new(),
            waiting: 0,
            streams: Vec::new(),
            pending_bytes: 0,
            writing: false,
            written: 0,
            error: None,
            limit: pending,
        };
        let mut last = None;
        for task in tasks {
            let slot = sequence.new_slot(last);
            sequence.front.get_or_insert(slot);
            last = Some(slot);
            sequence.tasks.push((slot, Some(task)));
        }
        sequence.tasks.reverse();
        sequence.waiting = sequence.tasks.len();
        Self {
            pool: Pool::new(sequence, stop),
            stops: Mutex::default(),
            out: Mutex::new(Out { writer: out, limiter: limit.map(Limiter::new), begins_group: false }),
            separator,
        }
    }

    /// Makes all workers stop, also those that wait for a stream.
    pub(crate) fn halt(&self) {
        self.pool.halt();
        if let Some(stop) = &self.pool.stop {
            stop.wake();
        }
        lock(&self.stops).iter().for_each(|stop| stop.raise());
    }

    /// Returns a stop that interrupts the wait for a stream, and is raised when the workers should stop: that of the job if
    /// it has one. Returns `None` if the system refuses; then the wait cannot be interrupted.
    pub(crate) fn new_stop(&self) -> Option<Arc<Stop>> {
        if let Some(stop) = &self.pool.stop {
            return Some(Arc::clone(stop));
        }
        let stop = Arc::new(Stop::new().ok()?);
        lock(&self.stops).push(Arc::clone(&stop));
        if self.pool.is_halted() {
            stop.raise();
        }
        Some(stop)
    }

    /// Returns `true` if there is work for another worker.
    pub(crate) fn has_tasks(&self) -> bool {
        let state = self.pool.lock();
        !state.streams.is_empty() || state.waiting > 0
    }

    /// Takes the number of bytes written, the error that ended the output, if any, and what a limit on the number of
    /// results has counted, if there is one.
    pub(crate) fn take_results(&self) -> (u64, Option<io::Error>, Option<Limiter>) {
        let mut state = self.pool.lock();
        (state.written, state.error.take(), lock(&self.out).limiter.take())
    }

    /// Puts a stream back for an idle worker to continue, in a slot right after `after`.
    pub(crate) fn put_back(&self, after: SlotId, stream: T) {
        self.pool.change(|sequence| {
            let slot = sequence.new_slot(Some(after));
            sequence.streams.push((slot, stream));
        });
    }

    /// Receives the rest of the output of a slot, and tasks to insert right after it. The caller gives up the slot and
    /// is no longer busy. Returns memory for more output, and the next work as [`Pool::finish_and_next`] does.
    pub(crate) fn finish_and_next(
        &self,
        slot: SlotId,
        chunk: Chunk,
        tasks: Vec<Planned<T>>,
        number: usize,
        meter: &mut Meter,
    ) -> (Vec<u8>, Option<(SlotId, T::Part)>) {
        let mut spare = Vec::new();
        let finished = self.finish(slot, chunk, tasks, &mut spare);
        (spare, self.pool.finish_and_next(finished, number, meter))
    }

    fn finish(
        &self,
        slot: SlotId,
        chunk: Chunk,
        tasks: Vec<Planned<T>>,
        spare: &mut Vec<u8>,
    ) -> MutexGuard<'_, Locked<Sequence<T>>> {
        let mut state = self.pool.lock();
        state.add(slot, tasks);
        if let Some(place) = state.place_of(slot) {
            state.tasks.remove(place);
        }
        state.receive(slot, chunk);
        state.slots[slot.0 as usize].filled = true;
        if !state.writing && !self.pool.is_halted() {
            state = self.write(state, spare);
        }
        state
    }

    /// Writes all output that is complete up to the front. Only one worker writes at a time. Writes nothing once the workers should
    /// stop: some have begun other output before they notice.
    fn write<'s>(
        &'s self,
        mut state: MutexGuard<'s, Locked<Sequence<T>>>,
        spare: &mut Vec<u8>,
    ) -> MutexGuard<'s, Locked<Sequence<T>>> {
        let mut any = false;
        while !self.pool.has_ended() {
            let chunks = state.take_front();
            if chunks.is_empty() {
                break;
            }
            any = true;
            state.writing = true;
            let mut written = state.written;
            drop(state);
            let result = self.write_out(&chunks, &mut written);
            if !matches!(result, Ok(ControlFlow::Continue(()))) {
                // While this worker writes, so that no other writes after it.
                self.halt();
            }
            let bytes: usize = chunks.iter().map(|chunk| chunk.bytes.len()).sum();
            if let Some(chunk) = chunks.into_iter().next_back() {
                *spare = chunk.bytes;
            }
            state = self.pool.lock();
            state.writing = false;
            state.written = written;
            state.pending_bytes -= bytes;
            if let Err(error) = result {
                state.error.get_or_insert(error);
            }
        }
        if any {
            self.pool.wake_idle(&state);
        }
        state
    }

    /// Writes chunks. Returns [`ControlFlow::Break`] if nothing more is wanted.
    fn write_out(&self, chunks: &[Chunk], written: &mut u64) -> io::Result<ControlFlow<()>> {
        let Out { writer, limiter, begins_group } = &mut *lock(&self.out);
        for chunk in chunks {
            *begins_group |= chunk.begins_group;
            let before = *written;
            let mut separator = self.separator.as_deref().filter(|_| *begins_group);
            let mut write = |part: &[u8]| {
                if let Some(separator) = separator.take_if(|_| !part.is_empty())
                    && *written > 0
                {
                    writer.write_all(separator)?;
                    *written += separator.len() as u64;
                }
                *written += part.len() as u64;
                writer.write_all(part)
            };
            match limiter {
                None => write(&chunk.bytes)?,
                Some(limiter) => {
                    if limiter.pass(chunk, &mut write)?.is_break() {
                        writer.flush()?;
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            *begins_group &= *written == before;
        }
        writer.flush()?;
        Ok(ControlFlow::Continue(()))
    }
}

impl<T: Divisible> Receive for Sequencer<'_, T> {
    /// Receives part of the output of a slot, and writes it if everything before it has been written. Waits while
    /// pending output exceeds the bound. Returns memory for more.
    fn hand_over(&self, slot: SlotId, chunk: Chunk) -> Vec<u8> {
        let mut spare = Vec::new();
        let mut state = self.pool.lock();
        state.receive(slot, chunk);
        loop {
            if !state.writing {
                state = self.write(state, &mut spare);
            }
            let is_written = state.front == Some(slot) && state.slots[slot.0 as usize].chunks.is_empty();
            let may_continue = !state.is_over_limit() || is_written;
            if may_continue || self.pool.is_halted() {
                return spare;
            }
            // A parked worker may have to claim the front.
            self.pool.wake_parked();
            state = self.pool.sleep(state);
        }
    }
}

impl<T: Divisible> Backlog for Sequence<T> {
    /// A part of a task, and the slot of its output.
    type Work = (SlotId, T::Part);

    /// Claims a part of the first available task. If pending output exceeds the bound, only that of the front is
    /// available.
    fn take(&mut self) -> Option<Self::Work> {
        let over = self.is_over_limit();
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
            Claim::Last(work) => {
                self.waiting -= 1;
                Some((slot, work))
            }
            Claim::Part(work, rest) => {
                self.tasks[place] = (self.new_slot(Some(slot)), Some(rest));
                Some((slot, work))
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.streams.is_empty()
    }

    fn waiting(&self) -> usize {
        self.waiting
    }

    /// While pending output exceeds the bound, no worker stays parked: the others wait for the front, which may be
    /// unclaimed.
    fn needs_all(&self) -> bool {
        self.is_over_limit()
    }
}

impl<T: Divisible> Sequence<T> {
    /// Inserts tasks right after the slot of a task in progress.
    fn add(&mut self, after: SlotId, tasks: Vec<Planned<T>>) {
        if tasks.is_empty() {
            return;
        }
        debug_assert!(self.place_of(after).is_some(), "only a task that keeps its place may add others");
        let mut last = after;
        let mut new = Vec::with_capacity(tasks.len());
        for (chunk, task) in tasks {
            if let Some(chunk) = chunk {
                last = self.new_slot(Some(last));
                self.pending_bytes += chunk.bytes.len();
                let slot = &mut self.slots[last.0 as usize];
                slot.chunks.push_back(chunk);
                slot.filled = true;
            }
            if let Some(task) = task {
                last = self.new_slot(Some(last));
                new.push((last, Some(task)));
            }
        }
        self.waiting += new.len();
        let place = self.place_of(after).map_or(0, |place| place + 1);
        self.tasks.splice(place..place, new.into_iter().rev());
    }

    /// Creates a slot right after another one.
    fn new_slot(&mut self, after: Option<SlotId>) -> SlotId {
        let next = after.and_then(|SlotId(after)| self.slots[after as usize].next);
        let slot = OutputSlot { next, ..OutputSlot::default() };
        let id = match self.free.pop() {
            Some(id) => {
                self.slots[id.0 as usize] = slot;
                id
            }
            None => {
                self.slots.push(slot);
                // A slot takes 48 bytes: memory runs out before the numbers do.
                SlotId((self.slots.len() - 1) as u32)
            }
        };
        if let Some(SlotId(after)) = after {
            self.slots[after as usize].next = Some(id);
        }
        id
    }

    /// Returns `true` if pending output exceeds the bound.
    fn is_over_limit(&self) -> bool {
        self.pending_bytes > self.limit
    }

    /// Index of a task in progress.
    fn place_of(&self, slot: SlotId) -> Option<usize> {
        self.tasks.iter().rposition(|&(other, _)| other == slot)
    }

    fn receive(&mut self, slot: SlotId, chunk: Chunk) {
        if !chunk.bytes.is_empty() || !chunk.marks.is_empty() || chunk.begins_group {
            self.pending_bytes += chunk.bytes.len();
            self.slots[slot.0 as usize].chunks.push_back(chunk);
        }
    }

    /// Takes all output that can be written now, and advances the front.
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
