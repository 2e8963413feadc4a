//! `finecomb.Index`: `comb find` as methods.

mod arguments;
mod arrow;
mod positions;

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use finecomb_sys::locks::unpoisoned;
use finecomb_text_index::{Alphabet, Error, Index as TextIndex, TextPassage};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;

use self::arguments::{Pattern, SymbolNumber};
pub(crate) use self::positions::Positions;

/// An open index, built by `comb index build TEXT`.
///
/// Positions are those of `comb find`: digits are counted from 1, all other symbols from 0. In a text of bytes, a position is a byte
/// offset. All threads may use one index at a time.
#[pyclass(frozen, module = "finecomb")]
pub(crate) struct Index {
    path: PathBuf,
    /// `None` if it was closed.
    index: Mutex<Option<Arc<TextIndex>>>,
}

#[pymethods]
impl Index {
    /// Opens and maps an index file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let index = py.detach(|| TextIndex::open(&path)).map_err(error)?;
        Ok(Self { path, index: Mutex::new(Some(Arc::new(index))) })
    }

    /// Position of the first occurrence that begins at or after the position `from_`, or of the last one that begins before the
    /// position `before`. None if there is none.
    #[pyo3(signature = (pattern, from_ = None, *, before = None))]
    fn find(
        &self,
        py: Python<'_>,
        pattern: Pattern,
        from_: Option<SymbolNumber>,
        before: Option<SymbolNumber>,
    ) -> PyResult<Option<u64>> {
        if from_.is_some() && before.is_some() {
            return Err(crate::error("from_ cannot be used with before"));
        }
        let index = self.opened(py)?;
        let find = || {
            let pattern = index.pattern(&pattern.0)?;
            let occurrences = index.occurrences(&pattern)?;
            match before {
                Some(SymbolNumber(before)) => occurrences.last_before(index.offset(before)?),
                None => occurrences.first_from(start(&index, from_)?),
            }
        };
        let found = py.detach(find).map_err(error)?;
        Ok(found.map(|offset| offset + index.alphabet().first_position()))
    }

    /// Number of occurrences, overlapping ones included.
    fn count(&self, py: Python<'_>, pattern: Pattern) -> PyResult<u64> {
        let index = self.opened(py)?;
        let count = || Ok(index.occurrences(&index.pattern(&pattern.0)?)?.count());
        py.detach(count).map_err(error)
    }

    /// Positions of all occurrences that begin at or after the position `from_`, in ascending order; of the first `limit` of them.
    #[pyo3(signature = (pattern, from_ = None, *, limit = None))]
    fn all(
        &self,
        py: Python<'_>,
        pattern: Pattern,
        from_: Option<SymbolNumber>,
        limit: Option<SymbolNumber>,
    ) -> PyResult<Positions> {
        let index = self.opened(py)?;
        let start = start(&index, from_).map_err(error)?;
        let limit = limit.map_or(u64::MAX, |SymbolNumber(limit)| limit);
        py.detach(|| Positions::new(index, &pattern.0, start, limit)).map_err(error)
    }

    /// The text from a position up to another, or up to the end of the text.
    fn text<'py>(
        &self,
        py: Python<'py>,
        start: SymbolNumber,
        end: SymbolNumber,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let index = self.opened(py)?;
        let read = || {
            let start = index.offset(start.0)?;
            index.text(start, end.0.saturating_sub(index.alphabet().first_position()))
        };
        let text = py.detach(read).map_err(error)?;
        Ok(PyBytes::new(py, &text))
    }

    /// `length` symbols at a position, with up to `context` symbols before and after them.
    #[pyo3(signature = (position, length, context = SymbolNumber(20)))]
    fn passage(
        &self,
        py: Python<'_>,
        position: SymbolNumber,
        length: SymbolNumber,
        context: SymbolNumber,
    ) -> PyResult<Passage> {
        let index = self.opened(py)?;
        let read = || index.passage(index.offset(position.0)?, length.0, context.0);
        py.detach(read).map(Passage).map_err(error)
    }

    /// Alphabet of the text: "digits", "dna" or "bytes".
    #[getter]
    fn alphabet(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.opened(py)?.alphabet().name())
    }

    /// Path of the file, as it was opened.
    #[getter]
    fn path(&self) -> &OsStr {
        self.path.as_os_str()
    }

    /// Number of symbols in the text.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.opened(py)?.symbols() as usize)
    }

    /// Closes the index. Positions that are being listed can still be read.
    fn close(&self, py: Python<'_>) {
        let index = self.lock(py).take();
        py.detach(|| drop(index));
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) {
        self.close(py);
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let path = self.path.display();
        match self.opened(py) {
            Ok(index) => format!("<Index {path}: {} {}>", index.symbols(), symbols(index.alphabet())),
            Err(_) => format!("<Index {path}: closed>"),
        }
    }
}

impl Index {
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, Option<Arc<TextIndex>>> {
        unpoisoned(self.index.lock_py_attached(py))
    }

    /// The index, unless it was closed.
    fn opened(&self, py: Python<'_>) -> PyResult<Arc<TextIndex>> {
        let index = self.lock(py).clone();
        index.ok_or_else(|| crate::error(format!("{}: the index is closed", self.path.display())))
    }
}

/// Offset of a position; the start of the text by default.
fn start(index: &TextIndex, from: Option<SymbolNumber>) -> Result<u64, Error> {
    from.map_or(Ok(0), |SymbolNumber(from)| index.offset(from))
}

fn symbols(alphabet: Alphabet) -> &'static str {
    match alphabet {
        Alphabet::Digits => "digits",
        Alphabet::Dna => "bases",
        Alphabet::Bytes => "bytes",
    }
}

/// An error with the words of the library: an `OSError` if the system refused a file.
fn error(error: Error) -> PyErr {
    let words = error.to_string();
    match error {
        Error::Io { error, .. } => io::Error::new(error.kind(), words).into(),
        _ => crate::error(words),
    }
}

/// A part of the text with its context.
#[pyclass(frozen, module = "finecomb")]
pub(crate) struct Passage(TextPassage);

#[pymethods]
impl Passage {
    /// Position of the part.
    #[getter]
    fn position(&self) -> u64 {
        self.0.position
    }

    /// Line of the part, counted from 1; None unless the text is of bytes.
    #[getter]
    fn line(&self) -> Option<u64> {
        self.0.place.map(|place| place.line)
    }

    /// Byte of the line at which the part begins, counted from 1; None unless the text is of bytes.
    #[getter]
    fn column(&self) -> Option<u64> {
        self.0.place.map(|place| place.column)
    }

    /// Text before the part.
    #[getter]
    fn before<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.before)
    }

    /// The part itself.
    #[getter]
    fn r#match<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.matched)
    }

    /// Text after the part.
    #[getter]
    fn after<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.after)
    }

    fn __repr__(&self) -> String {
        let TextPassage { position, before, matched, after, .. } = &self.0;
        let [before, matched, after] = [before, matched, after].map(|part| part.escape_ascii());
        format!("<Passage at {position}: {before}[{matched}]{after}>")
    }
}
