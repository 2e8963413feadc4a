//! Comma-separated values.

use std::io::{self, Write};

use ::csv::{Error, Writer};

use super::Format;
use crate::answer::Answer;

/// Comma-separated values (RFC 4180) with the header `count,key`. The bytes of keys are written unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Csv;

impl Format for Csv {
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        let mut rows = Writer::from_writer(out);
        rows.write_record(["count", "key"]).map_err(into_io)?;
        for key in &answer.top {
            rows.write_record([key.count.to_string().as_bytes(), &key.key]).map_err(into_io)?;
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
    use crate::output::tests::written;

    #[test]
    fn keys_are_quoted_where_necessary() {
        let keys: &[(&[u8], u64)] =
            &[(b"plain key", 3), (b"a,b", 2), (b"say \"hi\"", 1), (b"", 1), (b"a\rb", 1)];
        assert_eq!(
            written(&Csv, keys, false),
            "count,key\n3,plain key\n2,\"a,b\"\n1,\"say \"\"hi\"\"\"\n1,\n1,\"a\rb\"\n"
        );
    }
}
