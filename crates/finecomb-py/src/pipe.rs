//! Output of a job on its way to a reader.

use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use finecomb_sys::locks::{lock, unpoisoned};

/// Bytes from which on the job waits for the reader.
const BOUND: usize = 4 << 20;

/// The end at which the job writes. To drop it ends the output.
pub(crate) struct PipeWriter(Arc<Pipe>);

/// The end that is read. To drop it makes the next write fail, which ends the job.
pub(crate) struct PipeReader(Arc<Pipe>);

#[derive(Default)]
struct Pipe {
    state: Mutex<PipeState>,
    changed: Condvar,
}

#[derive(Default)]
struct PipeState {
    /// Whole writes.
    bytes: Vec<u8>,
    has_writer: bool,
    has_reader: bool,
}

/// The two ends of a pipe.
pub(crate) fn pipe() -> (PipeWriter, PipeReader) {
    let state = PipeState { bytes: Vec::new(), has_writer: true, has_reader: true };
    let pipe = Arc::new(Pipe { state: Mutex::new(state), changed: Condvar::new() });
    (PipeWriter(Arc::clone(&pipe)), PipeReader(pipe))
}

/// State of a pipe, to a reader.
pub(crate) enum Taken {
    /// Bytes that were written since the last time.
    Bytes(Vec<u8>),
    /// Nothing so far.
    Nothing,
    /// Nothing more will be written.
    End,
}

impl Write for PipeWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_full = |state: &mut PipeState| state.bytes.len() >= BOUND && state.has_reader;
        let state = self.0.changed.wait_while(lock(&self.0.state), is_full);
        let mut state = unpoisoned(state);
        if !state.has_reader {
            return Err(ErrorKind::BrokenPipe.into());
        }
        state.bytes.extend_from_slice(bytes);
        drop(state);
        self.0.changed.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PipeReader {
    /// Waits until this many bytes were written, or the output has ended; no longer than `patience`. Then takes what there is.
    pub(crate) fn take(&self, wanted: usize, patience: Duration) -> Taken {
        let wanted = wanted.min(BOUND);
        let end = Instant::now() + patience;
        let mut state = lock(&self.0.state);
        while state.bytes.len() < wanted && state.has_writer {
            let Some(rest) = end.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero()) else {
                break;
            };
            state = unpoisoned(self.0.changed.wait_timeout(state, rest)).0;
        }
        let taken = match std::mem::take(&mut state.bytes) {
            bytes if !bytes.is_empty() => Taken::Bytes(bytes),
            _ if state.has_writer => Taken::Nothing,
            _ => Taken::End,
        };
        drop(state);
        self.0.changed.notify_all();
        taken
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        lock(&self.0.state).has_writer = false;
        self.0.changed.notify_all();
    }
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        lock(&self.0.state).has_reader = false;
        self.0.changed.notify_all();
    }
}
