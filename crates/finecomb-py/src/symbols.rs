//! `finecomb.symbols`: `comb symbols` as an iterator of definitions, and as a stream of Arrow.

use std::io::Write;
use std::sync::Arc;

use finecomb_arrow::SymbolBatches;
use finecomb_command::faults::Faults;
use finecomb_command::symbols::job::SymbolsJob;
use finecomb_scan::{Stop, Watch};
use finecomb_symbols::Kind;
use finecomb_symbols::records::{FoundSymbol, RecordText, SymbolRecord, SymbolRecords};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::results::{Read, RecordJob, Results, methods_of_results};
use crate::sources::Sources;
use crate::{error, flags};

/// Lists definitions in source code, or uses of a name.
///
/// `paths` is a path, bytes, a binary file object, or a list of these. The other arguments are those flags of `comb symbols` that decide
/// what is found. Symbols arrive during the list, in the order of the command. `progress` is called with the number of bytes processed and
/// the total, or None. Messages of the command are warnings of the class `finecomb.Warning`, at the end. If no input can be opened, that is an
/// OSError.
#[pyfunction]
#[pyo3(signature = (paths, *, progress = None, **flags))]
pub(crate) fn symbols(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
    flags: Option<&Bound<'_, PyDict>>,
) -> PyResult<Symbols> {
    let sources = Sources::new(paths)?;
    let options = flags::named_options(flags)?;
    let job = py.detach(|| SymbolsJob::named(options, &sources.paths)).map_err(error)?;
    sources.check()?;
    Ok(Symbols(Results::new(job, sources, progress)))
}

impl RecordJob for SymbolsJob {
    type Item = Symbol;
    type Batches = SymbolBatches;

    fn run(
        &self,
        stop: &Arc<Stop>,
        watch: Option<Watch<'_>>,
        out: &mut (dyn Write + Send),
    ) -> Result<Faults, String> {
        SymbolsJob::run(self, stop, watch, out).map(|done| done.faults)
    }

    fn read<'b>(
        py: Python<'_>,
        records: &'b [u8],
        path: impl FnOnce() -> Py<PyAny>,
    ) -> Option<(Read<'b, Symbol>, usize)> {
        let mut records = SymbolRecords::new(records);
        let read = match records.next()? {
            SymbolRecord::Path(path) => Read::Path(path),
            SymbolRecord::Symbol(symbol) => Read::Item(Symbol::new(py, path(), &symbol)),
        };
        Some((read, records.position()))
    }
}

/// Definitions and uses: an iterator, and a stream of Arrow. Each stream is a list of its own.
#[pyclass(frozen, module = "finecomb")]
pub(crate) struct Symbols(Results<SymbolsJob>);

methods_of_results!(Symbols, Symbol);

/// A definition, or the use of a name. U+FFFD is in the place of bytes that are not UTF-8.
#[pyclass(frozen, get_all, module = "finecomb")]
pub(crate) struct Symbol {
    /// Path of the file, as the command prints it.
    path: Py<PyAny>,
    /// Language of the file.
    language: &'static str,
    /// Kind of the definition, or `reference` for a use.
    kind: &'static str,
    /// The name.
    name: String,
    /// The name, exactly.
    name_bytes: Py<PyBytes>,
    /// Names of the scopes around it, joined by the separator of the language; None without one.
    scope: Option<String>,
    /// Kind of the innermost scope, if its definition is in the same file.
    scope_kind: Option<&'static str>,
    /// Line of the name, counted from 1.
    line: u32,
    /// Column of the name in bytes, counted from 1.
    column: u32,
    /// Last line of the definition.
    end_line: u32,
    /// Offset of the definition in the text of the file.
    start_byte: u32,
    /// Offset of its end.
    end_byte: u32,
    /// The definition up to its body, on one line; the line of a use.
    signature: String,
    /// Parameters; None without any.
    parameters: Option<String>,
    /// The file has syntax errors: definitions may be missing.
    has_errors: bool,
}

impl Symbol {
    fn new(py: Python<'_>, path: Py<PyAny>, found: &FoundSymbol<'_>) -> Self {
        let lossy = |text: RecordText<'_>| String::from_utf8_lossy(text.bytes).into_owned();
        Self {
            path,
            language: found.language.name(),
            kind: found.label(),
            name: lossy(found.name),
            name_bytes: PyBytes::new(py, found.name.bytes).unbind(),
            scope: found.scope.map(lossy),
            scope_kind: found.scope_kind.map(Kind::name),
            line: found.line,
            column: found.column,
            end_line: found.end_line,
            start_byte: found.start_byte,
            end_byte: found.end_byte,
            signature: lossy(found.signature),
            parameters: found.parameters.map(lossy),
            has_errors: found.has_errors,
        }
    }
}

#[pymethods]
impl Symbol {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path.bind(py).str()?;
        Ok(format!("<Symbol {}:{}: {} {:?}>", path.to_string_lossy(), self.line, self.kind, self.name))
    }
}
