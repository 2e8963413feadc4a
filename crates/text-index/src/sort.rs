//! Builds the suffix array of a text with libsais (Ilya Grebnov): induced sorting (Nong, Zhang and Chan: Two Efficient
//! Algorithms for Linear Time Suffix Array Construction, 2011) on all cores.

#[cfg(feature = "openmp")]
mod openmp;

use std::borrow::Cow;
use std::ops::Range;

use bytemuck::allocation::cast_vec;
use libsais::SuffixArrayConstruction;

use crate::entries::EntryWidth;

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

/// Lets a construction run on this many threads. A macro, as constructions of each size and number of threads have types of their own.
#[cfg(feature = "openmp")]
macro_rules! with_threads {
    ($construction:expr, $threads:expr) => {
        $construction.multi_threaded(openmp::thread_count($threads))
    };
}

/// The same without OpenMP: on one thread.
#[cfg(not(feature = "openmp"))]
macro_rules! with_threads {
    ($construction:expr, $threads:expr) => {{
        let _ = $threads;
        $construction.single_threaded()
    }};
}

impl Sorted {
    /// Sorts the suffixes of a text.
    ///
    /// # Errors
    ///
    /// If there is not enough memory. The message is the library's.
    pub(crate) fn new(text: &[u8], threads: usize) -> Result<Self, String> {
        let construction = SuffixArrayConstruction::for_text(text);
        let failed = |error| format!("{error:?}");
        if entry_bytes(text.len() as u64) == 4 {
            let sorted = with_threads!(construction.in_owned_buffer32(), threads).run().map_err(failed)?;
            return Ok(Self::Narrow(cast_vec(sorted.into_vec())));
        }
        let sorted = with_threads!(construction.in_owned_buffer64(), threads).run().map_err(failed)?;
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
    pub(crate) fn bytes(&self, range: Range<usize>, width: EntryWidth) -> Cow<'_, [u8]> {
        match self {
            Self::Narrow(entries) if width == EntryWidth::Bits32 && cfg!(target_endian = "little") => {
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
