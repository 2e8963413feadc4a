//! Builds the suffix array of a text with libsais (Ilya Grebnov): induced sorting (Nong, Zhang and Chan: Two Efficient
//! Algorithms for Linear Time Suffix Array Construction, 2011) on all cores.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use bytemuck::allocation::cast_vec;
use finecomb_sys::out_of_memory::try_reserve_exact;
use finecomb_sys::threads;
use libsais::{SuffixArrayConstruction, ThreadCount};

use crate::entries::Width;

/// Suffix array in memory. The end of the text sorts before any symbol.
#[derive(Debug)]
pub(crate) enum Sorted {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

/// Bytes per entry while a text of `symbols` symbols is sorted. The entries of libsais are signed.
pub(crate) fn entry_bytes(symbols: u64) -> u64 {
    if i32::try_from(symbols).is_ok() { 4 } else { 8 }
}

impl Sorted {
    /// Sorts the suffixes of a text.
    ///
    /// # Errors
    ///
    /// If there is not enough memory. The message is the library's.
    pub(crate) fn new(text: &[u8], threads: usize) -> Result<Self, String> {
        let threads = ThreadCount::fixed(u16::try_from(available_threads(threads)).unwrap_or(u16::MAX));
        let construction = SuffixArrayConstruction::for_text(text);
        let failed = |error| format!("{error:?}");
        if entry_bytes(text.len() as u64) == 4 {
            let sorted = construction.in_owned_buffer32().multi_threaded(threads).run().map_err(failed)?;
            return Ok(Self::Narrow(cast_vec(sorted.into_vec())));
        }
        let sorted = construction.in_owned_buffer64().multi_threaded(threads).run().map_err(failed)?;
        Ok(Self::Wide(cast_vec(sorted.into_vec())))
    }

    /// Entries of a range.
    pub(crate) fn iter(&self, range: Range<u64>) -> impl Iterator<Item = u64> {
        let range = range.start as usize..range.end as usize;
        let (narrow, wide): (&[u32], &[u64]) = match self {
            Self::Narrow(entries) => (&entries[range], &[]),
            Self::Wide(entries) => (&[], &entries[range]),
        };
        narrow.iter().map(|&entry| u64::from(entry)).chain(wide.iter().copied())
    }

    /// Bytes of a range of the array, encoded as in an index file.
    pub(crate) fn bytes(&self, range: Range<usize>, width: Width) -> Cow<'_, [u8]> {
        match self {
            Self::Narrow(entries) if width == Width::Bits32 && cfg!(target_endian = "little") => {
                Cow::Borrowed(&bytemuck::cast_slice(entries)[range])
            }
            _ => {
                let bytes = width.bytes();
                let entries = range.start / bytes..range.end.div_ceil(bytes);
                let mut encoded = Vec::with_capacity(entries.len() * bytes);
                self.iter(entries.start as u64..entries.end as u64)
                    .for_each(|entry| width.append(entry, &mut encoded));
                encoded.truncate(range.end - entries.start * bytes);
                encoded.drain(..range.start - entries.start * bytes);
                Cow::Owned(encoded)
            }
        }
    }
}

/// Address space that OpenMP reserves for the stack of a thread, in bytes: Linux's default limit.
const STACK: usize = 8 << 20;

/// Number of threads, up to `wanted` and including the caller's, that the system grants at the same time.
///
/// OpenMP ends the process if it cannot start a thread. Starting the same number of threads here first, and keeping them until
/// all are counted, determines the number that is safe.
fn available_threads(wanted: usize) -> usize {
    let gate = Mutex::new(());
    let (report, reports) = mpsc::channel();
    thread::scope(|scope| {
        let closed = gate.lock();
        let start = |_| {
            let (gate, report) = (&gate, report.clone());
            let thread = threads::spawn(scope, move || {
                let mut stack: Vec<u8> = Vec::new();
                let has_space = try_reserve_exact(&mut stack, STACK).is_ok();
                let _ = report.send(has_space);
                drop(gate.lock().unwrap_or_else(PoisonError::into_inner));
            });
            // A thread that the system refused sends nothing.
            thread.and_then(|_| reports.recv().ok()).filter(|&has_space| has_space)
        };
        let started = (1..wanted).map_while(start).count();
        drop(closed);
        started + 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_callers_thread_is_counted() {
        assert_eq!(available_threads(0), 1);
        assert_eq!(available_threads(1), 1);
        assert_eq!(available_threads(3), 3);
    }
}
