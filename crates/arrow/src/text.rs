//! Columns of text, as views on records.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem::take;
use std::sync::Arc;

use arrow_array::builder::make_view;
use arrow_array::{ArrayRef, StringViewArray};
use arrow_buffer::Buffer;
use arrow_schema::ArrowError;

/// Index of the buffer with the records.
const RECORDS: u32 = 0;

/// Index of the buffer with text that is not UTF-8 in the records.
const LOSSY: u32 = 1;

/// Paths of records, and the column of them.
#[derive(Debug)]
pub(crate) struct Paths {
    /// Names that are shown in the place of some paths.
    names: HashMap<Vec<u8>, String>,
    /// Path of the last record.
    current: String,
    view: u128,
    /// The paths of the column, each once. They have a buffer of their own, as a writer of Arrow's files writes all buffers of a column.
    text: Vec<u8>,
    views: Vec<u128>,
}

impl Paths {
    pub(crate) fn new(names: HashMap<Vec<u8>, String>) -> Self {
        Self { names, current: String::new(), view: 0, text: Vec::new(), views: Vec::new() }
    }

    pub(crate) fn current(&self) -> &str {
        &self.current
    }

    /// Sets the path of the records that follow.
    pub(crate) fn set(&mut self, path: &[u8]) {
        let name = self.names.get(path).map(|name| Cow::Borrowed(&**name));
        let path = name.unwrap_or_else(|| String::from_utf8_lossy(path));
        if path != self.current {
            self.current = path.into_owned();
            self.begin();
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self) {
        self.views.push(self.view);
    }

    /// The rows since the last column.
    ///
    /// # Errors
    /// If the paths are longer than Arrow allows.
    pub(crate) fn take_column(&mut self) -> Result<ArrayRef, ArrowError> {
        let (text, views) = (take(&mut self.text), take(&mut self.views));
        self.begin();
        let buffers = vec![buffer(text)?];
        Ok(Arc::new(StringViewArray::try_new(views.into(), buffers, None)?))
    }

    /// Adds the path of the last record to the text.
    fn begin(&mut self) {
        let at = self.text.len();
        self.text.extend_from_slice(self.current.as_bytes());
        self.view = make_view(self.current.as_bytes(), 0, at as u32);
    }
}

/// The view of a text at a position in the records.
pub(crate) fn exact(text: &[u8], position: usize) -> u128 {
    make_view(text, RECORDS, position as u32)
}

/// Texts that are not UTF-8 in the records: copies with U+FFFD in the place of other bytes.
#[derive(Default)]
pub(crate) struct Lossy(Vec<u8>);

impl Lossy {
    /// The view of a text at a position in the records, or of its copy.
    pub(crate) fn view(&mut self, text: &[u8], position: usize) -> u128 {
        match String::from_utf8_lossy(text) {
            Cow::Borrowed(_) => exact(text, position),
            Cow::Owned(copy) => {
                let at = self.0.len();
                self.0.extend_from_slice(copy.as_bytes());
                make_view(copy.as_bytes(), LOSSY, at as u32)
            }
        }
    }

    /// The buffers of all views: that of the records comes first.
    ///
    /// # Errors
    /// If one is longer than Arrow allows.
    pub(crate) fn into_buffers(self, records: Vec<u8>) -> Result<Vec<Buffer>, ArrowError> {
        let records = buffer(records)?;
        Ok(if self.0.is_empty() { vec![records] } else { vec![records, buffer(self.0)?] })
    }
}

fn buffer(bytes: Vec<u8>) -> Result<Buffer, ArrowError> {
    if i32::try_from(bytes.len()).is_err() {
        let reason = format!("a record of about {} bytes is too long for Arrow", bytes.len());
        return Err(ArrowError::InvalidArgumentError(reason));
    }
    Ok(Buffer::from_vec(bytes))
}
