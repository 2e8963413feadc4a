//! Inputs: paths, bytes and file objects.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use finecomb_sys::io_reason;
use finecomb_sys::temporary::FileInMemory;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyMemoryView, PySlice, PyString, PyTuple};

/// Bytes that are read from a file object at a time.
const PIECE: usize = 1 << 20;

/// Inputs of a job. Data that is not in a file is copied to memory that has a path, so that all inputs are read in the same way.
#[derive(Default)]
pub(crate) struct Sources {
    pub(crate) paths: Vec<PathBuf>,
    held: Vec<Held>,
}

/// Data in memory: it is there as long as the file is open.
struct Held {
    path: PathBuf,
    name: String,
    _file: FileInMemory,
}

impl Sources {
    /// The inputs of an argument: one, or a list or tuple of them.
    ///
    /// # Errors
    /// If one is no input, or it cannot be read.
    pub(crate) fn new(inputs: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut sources = Self::default();
        if inputs.is_instance_of::<PyList>() || inputs.is_instance_of::<PyTuple>() {
            for input in inputs.try_iter()? {
                sources.add(&input?)?;
            }
        } else {
            sources.add(inputs)?;
        }
        Ok(sources)
    }

    /// Checks that at least one of the inputs can be opened, so that an answer is not empty without an exception.
    ///
    /// # Errors
    /// The error of the first input, if the system refuses all.
    pub(crate) fn check(&self) -> PyResult<()> {
        let Some(first) = self.paths.first() else { return Ok(()) };
        let Some(error) = refusal(first) else { return Ok(()) };
        if self.paths.iter().skip(1).any(|path| refusal(path).is_none()) {
            return Ok(());
        }
        // OSError is the class of its first argument.
        Err(PyOSError::new_err((error.raw_os_error(), io_reason(&error), first.as_os_str().to_owned())))
    }

    /// A single path.
    pub(crate) fn of_file(path: PathBuf) -> Self {
        Self { paths: vec![path], ..Self::default() }
    }

    /// Bytes or another buffer, by this name.
    ///
    /// # Errors
    /// If it is none, or the system has no memory for it.
    pub(crate) fn of_bytes(data: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let mut sources = Self::default();
        sources.hold_buffer(&bytes_of(data)?, name)?;
        Ok(sources)
    }

    fn add(&mut self, input: &Bound<'_, PyAny>) -> PyResult<()> {
        if input.is_instance_of::<PyString>() || input.hasattr("__fspath__")? {
            self.paths.push(input.extract()?);
        } else if let Ok(view) = bytes_of(input) {
            self.hold_buffer(&view, "bytes")?;
        } else if input.hasattr("read")? {
            let name = input.getattr("name").and_then(|name| name.extract());
            let name = name.unwrap_or_else(|_| "file object".to_owned());
            self.hold(&name, |file| copy(input, file))?;
        } else {
            let kind = input.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "expected a path, bytes or a binary file object; found {kind}"
            )));
        }
        Ok(())
    }

    fn hold_buffer(&mut self, view: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
        let py = view.py();
        self.hold(name, |file| {
            // A piece at a time: there is no second copy of all of it.
            for start in (0..view.len()?).step_by(PIECE) {
                let piece = view.get_item(PySlice::new(py, start as isize, (start + PIECE) as isize, 1))?;
                file.write_all(&PyBuffer::<u8>::get(&piece)?.to_vec(py)?)?;
            }
            Ok(())
        })
    }

    fn hold(&mut self, name: &str, write: impl FnOnce(&mut File) -> PyResult<()>) -> PyResult<()> {
        let mut file = FileInMemory::new("finecomb")?;
        write(file.file())?;
        let path = file.path();
        self.paths.push(path.clone());
        self.held.push(Held { path, name: name.to_owned(), _file: file });
        Ok(())
    }

    /// Messages in which data in memory has its name.
    pub(crate) fn messages(&self, messages: Vec<String>) -> Vec<String> {
        messages.iter().map(|message| self.named(message)).collect()
    }

    /// Names of data in memory, by its path.
    pub(crate) fn names(&self) -> HashMap<Vec<u8>, String> {
        let name = |held: &Held| (held.path.as_os_str().as_encoded_bytes().to_vec(), held.name.clone());
        self.held.iter().map(name).collect()
    }

    fn named(&self, message: &str) -> String {
        let mut named = message.to_owned();
        for Held { path, name, .. } in &self.held {
            // A path may be the beginning of another one.
            for end in [":", " "] {
                named = named.replace(&format!("{}{end}", path.display()), &format!("{name}{end}"));
            }
        }
        named
    }
}

/// The error with which the system refuses an input, if it does. A pipe is not opened, since its writer would see that.
fn refusal(path: &Path) -> Option<io::Error> {
    match fs::metadata(path) {
        // Standard input.
        _ if path == Path::new("-") => None,
        Err(error) => Some(error),
        Ok(metadata) if metadata.is_dir() => fs::read_dir(path).err(),
        Ok(metadata) if metadata.is_file() => File::open(path).err(),
        Ok(_) => None,
    }
}

/// A view of the bytes of a buffer; for an array of numbers, of their representation in memory.
fn bytes_of<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let view = PyMemoryView::from(data)?.into_any();
    if PyBuffer::<u8>::get(&view).is_ok() { Ok(view) } else { view.call_method1("cast", ("B",)) }
}

/// Copies the rest of a binary file object.
fn copy(input: &Bound<'_, PyAny>, file: &mut File) -> PyResult<()> {
    loop {
        let piece = input.call_method1("read", (PIECE,))?;
        let bytes: &[u8] = piece
            .extract()
            .map_err(|_| PyTypeError::new_err("expected a binary file object; open it with 'rb'"))?;
        if bytes.is_empty() {
            return Ok(());
        }
        file.write_all(bytes)?;
    }
}
