//! Which counts are compared with which.

use std::fmt;
use std::str::FromStr;

use crate::time::{Last, LastError};

/// Two parts of the records whose counts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// The first input, and all others after it.
    Inputs,
    /// A window of time that begins and ends earlier by this duration, and the window.
    Earlier(Last),
}

/// Text that stands for [`Compare::Inputs`].
const INPUTS: &str = "inputs";

impl FromStr for Compare {
    type Err = LastError;

    fn from_str(text: &str) -> Result<Self, LastError> {
        if text == INPUTS { Ok(Self::Inputs) } else { text.parse().map(Self::Earlier) }
    }
}

/// The text that is parsed.
impl fmt::Display for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inputs => f.write_str(INPUTS),
            Self::Earlier(shift) => shift.fmt(f),
        }
    }
}
