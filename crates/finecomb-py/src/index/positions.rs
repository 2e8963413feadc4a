//! Positions of a pattern: as Python's numbers, or as a stream of Arrow.

use std::sync::{Arc, Mutex};
use std::vec;

use finecomb_sys::locks::unpoisoned;
use finecomb_text_index::{Error, Index, ListingState, Pattern};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyCapsule;

use super::{arrow, error};

/// Numbers of positions that an iterator finds at a time: few at first, since many iterators are left early.
const FIRST_PART: usize = 1 << 4;
const MAX_PART: usize = 1 << 13;

/// The positions of all occurrences of a pattern, in ascending order: an iterable, and a stream of Arrow. They are found while they
/// are read, each time anew.
#[pyclass(frozen, module = "finecomb")]
pub(crate) struct Positions {
    index: Arc<Index>,
    pattern: Arc<Pattern>,
    start: u64,
    limit: u64,
}

impl Positions {
    /// Occurrences from an offset on, at most `limit`.
    ///
    /// # Errors
    ///
    /// If the pattern is invalid, or the index turns out to be corrupt.
    pub(super) fn new(index: Arc<Index>, pattern: &[u8], start: u64, limit: u64) -> Result<Self, Error> {
        let pattern = Arc::new(index.pattern(pattern)?);
        index.occurrences(&pattern)?;
        Ok(Self { index, pattern, start, limit })
    }

    fn listing(&self, py: Python<'_>) -> PyResult<Listing> {
        let cursor = py.detach(|| Ok(self.index.occurrences(&self.pattern)?.cursor(self.start)));
        Ok(Listing {
            index: Arc::clone(&self.index),
            pattern: Arc::clone(&self.pattern),
            cursor: cursor.map_err(error)?,
            rest: self.limit,
        })
    }
}

#[pymethods]
impl Positions {
    fn __iter__(&self, py: Python<'_>) -> PyResult<PositionIterator> {
        let part =
            PositionsPart { listing: self.listing(py)?, found: Vec::new().into_iter(), size: FIRST_PART };
        Ok(PositionIterator { part: Mutex::new(part) })
    }

    /// The positions as a stream of Arrow with one column, `position`.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer casts to other types itself.
        drop(requested_schema);
        arrow::stream(py, self.listing(py)?)
    }

    fn __repr__(&self) -> String {
        format!(
            "<Positions of \"{}\" in {}>",
            self.pattern.text().escape_ascii(),
            self.index.path().display()
        )
    }
}

/// A listing under way.
pub(super) struct Listing {
    index: Arc<Index>,
    pattern: Arc<Pattern>,
    cursor: ListingState,
    /// Number of positions up to the limit.
    rest: u64,
}

impl Listing {
    /// The next positions, at most `most`; none at the end.
    ///
    /// # Errors
    ///
    /// If the index turns out to be corrupt. Positions that were found before come first; after the error, the listing ends.
    pub(super) fn next_positions(&mut self, most: usize) -> Result<Vec<u64>, Error> {
        let most = usize::try_from(self.rest).unwrap_or(usize::MAX).min(most);
        if most == 0 {
            return Ok(Vec::new());
        }
        let found = self.find(most);
        self.rest = found.as_ref().map_or(0, |found| self.rest - found.len() as u64);
        found
    }

    fn find(&mut self, most: usize) -> Result<Vec<u64>, Error> {
        let occurrences = self.index.occurrences(&self.pattern)?;
        let mut positions = occurrences.next_positions(&mut self.cursor, most)?;
        let first = self.index.alphabet().first_position();
        positions.iter_mut().for_each(|position| *position += first);
        Ok(positions)
    }
}

/// An iterator over positions, which threads can share.
#[pyclass(frozen, module = "finecomb")]
pub(crate) struct PositionIterator {
    part: Mutex<PositionsPart>,
}

/// Positions that were found and not read yet.
struct PositionsPart {
    listing: Listing,
    found: vec::IntoIter<u64>,
    /// Number of positions in the next part.
    size: usize,
}

impl PositionsPart {
    fn find(&mut self) -> Result<(), Error> {
        self.found = self.listing.next_positions(self.size)?.into_iter();
        self.size = (2 * self.size).min(MAX_PART);
        Ok(())
    }
}

#[pymethods]
impl PositionIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        // A loop in C, such as that of list(), does not check signals. A handler may use this iterator, so nothing is locked yet.
        py.check_signals()?;
        let mut locked = unpoisoned(self.part.lock_py_attached(py));
        let part = &mut *locked;
        if part.found.as_slice().is_empty() {
            py.detach(|| part.find()).map_err(error)?;
        }
        Ok(part.found.next())
    }
}
