//! Errors of conditions, with their place.

use std::fmt;

use finecomb_sys::display;
use thiserror::Error;

/// An invalid condition. The message has the column of the error and marks it with a caret.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub struct ConditionError {
    text: String,
    /// Byte offset of the error in the text.
    offset: usize,
    message: String,
}

impl ConditionError {
    pub(super) fn new(text: &str, offset: usize, message: String) -> Self {
        Self { text: text.to_owned(), offset, message }
    }

    /// The part of the condition before the error.
    fn before(&self) -> &str {
        self.text.get(..self.offset).unwrap_or(&self.text)
    }
}

/// The message with the column in characters, and the condition with a caret below it.
impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [message, text, before] =
            [&*self.message, &self.text, self.before()].map(|text| display::escaped(text.chars()));
        let (column, indent) = (self.before().chars().count() + 1, display::width(&before));
        write!(f, "column {column}: {message}\n  {text}\n  {:indent$}^", "")
    }
}
