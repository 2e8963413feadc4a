//! Comma-separated values.

use std::io::{self, Write};

use ::csv::{Error, Writer};

use super::Format;
use super::columns::{Columns, Layout, Value};
use crate::answer::Answer;

/// Comma-separated values (RFC 4180) with a header: `count,key`, with the measures between the two, and with a column
/// for each field of a key of named fields. The bytes of keys are written unchanged. A measure without a value is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Csv(pub Layout);

impl Format for Csv {
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        let columns = Columns::new(answer, self.0);
        let mut rows = Writer::from_writer(out);
        if !self.0.no_header {
            rows.write_record(columns.names()).map_err(into_io)?;
        }
        for row in columns.rows() {
            for value in row {
                match value {
                    Value::Key(key) => rows.write_field(key),
                    number => rows.write_field(number.number("").unwrap_or_default()),
                }
                .map_err(into_io)?;
            }
            rows.write_record(None::<&[u8]>).map_err(into_io)?;
        }
        rows.flush()
    }
}

fn into_io(error: Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::{several, written};

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
