//! Tab-separated values.

use std::io::{self, Write};

use super::columns::{AnswerTable, Format, Layout};
use crate::count::answer::Answer;

/// Tab-separated values with a header: `count`, `key`, with the measures between the two, and with a column for each
/// field of a key of named fields. In keys, a tab is written `\t`, a carriage return `\r`, a line feed `\n` and a
/// backslash `\\`, as in PostgreSQL's text format. All other bytes are unchanged. A measure without a value is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tsv(pub Layout);

impl Format for Tsv {
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        let columns = AnswerTable::new(answer, self.0);
        if !self.0.no_header {
            for (index, name) in columns.names().into_iter().enumerate() {
                separate(index, out)?;
                write_escaped(name.as_bytes(), out)?;
            }
            out.write_all(b"\n")?;
        }
        for row in columns.rows() {
            for (index, value) in row.into_iter().enumerate() {
                separate(index, out)?;
                write_escaped(&value.bytes(), out)?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

fn separate(index: usize, out: &mut dyn Write) -> io::Result<()> {
    if index > 0 { out.write_all(b"\t") } else { Ok(()) }
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
    use crate::print::tests::{several, written};

    #[test]
    fn bytes_that_would_break_a_row_are_escaped() {
        let keys: &[(&[u8], u64)] = &[(b"a b", 3), (b"a\tb\\", 2), (b"\r\n", 1), (b"\xFF", 1)];
        assert_eq!(
            written(&Tsv::default(), keys, false),
            "count\tkey\n3\ta b\n2\ta\\tb\\\\\n1\t\\r\\n\n1\t?\n"
        );
    }

    #[test]
    fn fields_of_keys_are_columns() {
        assert_eq!(several(&Tsv::default()), "count\tpath\tuser agent\n3\t/a b\tx,|y\n1\t\tline\\nfeed\n");
    }
}
