//! Output formats of answers.

mod csv;
mod json;
mod text;
mod tsv;

use std::io::{self, Write};

pub use self::csv::Csv;
pub use json::Json;
pub use text::Text;
pub use tsv::Tsv;

use crate::answer::Answer;

/// An output format.
pub trait Format {
    /// Writes the whole answer.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()>;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::Format;
    use crate::answer::{Answer, KeyCount};

    /// Formats keys with their counts.
    pub(crate) fn written(format: &dyn Format, keys: &[(&[u8], u64)], partial: bool) -> String {
        let top: Vec<_> = keys.iter().map(|&(key, count)| KeyCount { key: key.to_vec(), count }).collect();
        let records = top.iter().map(|key| key.count).sum();
        let answer = Answer { distinct: top.len() as u64, records, top, skipped: None, partial };
        let mut out = Vec::new();
        format.write(&answer, &mut out).expect("writing to memory");
        out.iter().map(|&byte| if byte.is_ascii() { byte as char } else { '?' }).collect()
    }
}
