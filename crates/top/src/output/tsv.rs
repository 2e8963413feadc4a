//! Tab-separated values.

use std::io::{self, Write};

use super::Format;
use crate::answer::Answer;

/// Tab-separated values with the header `count`, `key`. In keys, a tab is written `\t`, a carriage return `\r`, a line
/// feed `\n` and a backslash `\\`, as in PostgreSQL's text format. All other bytes are unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tsv;

impl Format for Tsv {
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"count\tkey\n")?;
        for key in &answer.top {
            write!(out, "{}\t", key.count)?;
            write_escaped(&key.key, out)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

fn write_escaped(key: &[u8], out: &mut dyn Write) -> io::Result<()> {
    for run in key.split_inclusive(|byte| matches!(byte, b'\t' | b'\r' | b'\n' | b'\\')) {
        let (plain, escape): (_, &[u8]) = match run {
            [plain @ .., b'\t'] => (plain, b"\\t"),
            [plain @ .., b'\r'] => (plain, b"\\r"),
            [plain @ .., b'\n'] => (plain, b"\\n"),
            [plain @ .., b'\\'] => (plain, b"\\\\"),
            plain => (plain, b""),
        };
        out.write_all(plain)?;
        out.write_all(escape)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::written;

    #[test]
    fn bytes_that_would_break_a_row_are_escaped() {
        let keys: &[(&[u8], u64)] = &[(b"a b", 3), (b"a\tb\\", 2), (b"\r\n", 1), (b"\xFF", 1)];
        assert_eq!(written(&Tsv, keys, false), "count\tkey\n3\ta b\n2\ta\\tb\\\\\n1\t\\r\\n\n1\t?\n");
    }
}
