//! Output of a job, for tests.

use std::io::{self, Write};

/// Collects each write.
#[derive(Default)]
pub(crate) struct Writes(pub(crate) Vec<Vec<u8>>);

impl Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
