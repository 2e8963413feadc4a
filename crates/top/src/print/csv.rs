//! Comma-separated values.

use std::io::{self, Write};

use csv_core::Writer;

use super::columns::{AnswerTable, Format, Layout};
use crate::count::answer::Answer;

/// Comma-separated values (RFC 4180) with a header: `count,key`, with the measures between the two, and with a column
/// for each field of a key of named fields. The bytes of keys are written unchanged. A measure without a value is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Csv(pub Layout);

impl Format for Csv {
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        let columns = AnswerTable::new(answer, self.0);
        let mut row = RowWriter::default();
        if !self.0.no_header {
            columns.names().iter().for_each(|name| row.push(name.as_bytes()));
            row.end(out)?;
        }
        for values in columns.rows() {
            values.into_iter().for_each(|value| row.push(&value.bytes()));
            row.end(out)?;
        }
        Ok(())
    }
}

/// The bytes of a row.
#[derive(Default)]
struct RowWriter {
    writer: Writer,
    bytes: Vec<u8>,
}

impl RowWriter {
    /// Adds a field, in quotes if it needs them. The first field of a row is not empty.
    fn push(&mut self, field: &[u8]) {
        if !self.bytes.is_empty() {
            self.append(2, |writer, room| writer.delimiter(room).1);
        }
        // At most a quote, and two bytes for each that is a quote.
        self.append(2 * field.len() + 1, |writer, room| writer.field(field, room).2);
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.append(2, |writer, room| writer.terminator(room).1);
        out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// Appends the output of `write`, which needs at most `most` bytes and returns the number of bytes written.
    fn append(&mut self, most: usize, write: impl FnOnce(&mut Writer, &mut [u8]) -> usize) {
        let start = self.bytes.len();
        self.bytes.resize(start + most, 0);
        let written = write(&mut self.writer, &mut self.bytes[start..]);
        self.bytes.truncate(start + written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::tests::{several, written};

    #[test]
    fn keys_are_quoted_where_necessary() {
        let keys: &[(&[u8], u64)] =
            &[(b"plain key", 3), (b"a,b", 2), (b"say \"hi\"", 1), (b"", 1), (b"a\rb", 1)];
        assert_eq!(
            written(&Csv::default(), keys, false),
            "count,key\n3,plain key\n2,\"a,b\"\n1,\"say \"\"hi\"\"\"\n1,\n1,\"a\rb\"\n"
        );
    }

    #[test]
    fn fields_of_keys_and_shares_are_columns() {
        let layout = Layout { percent: true, cumulative: true, totals: true, ..Layout::default() };
        assert_eq!(
            several(&Csv(layout)),
            "count,percent,cumulative,cumulative_percent,path,user agent\n\
             3,75.00,3,75.00,/a b,\"x,|y\"\n1,25.00,4,100.00,,\"line\nfeed\"\n"
        );
    }
}
