//! Output of searches, taken apart into results.
//!
//! Searches print to a [`Sink`], with a NUL after each path, so that it knows where a record ends. If the page is complete, or the
//! call is stopped, writing fails, which ends the search.

use std::io::{self, ErrorKind, Write};
use std::ops::ControlFlow;

use bstr::ByteSlice;
use finecomb_scan::Stop;

/// Takes one record off the beginning of some output: returns its length, or `None` if its end is missing.
pub(super) type Split = fn(&[u8]) -> Option<usize>;

/// Writer that passes on whole records.
pub(super) struct Sink<'a, F> {
    stop: &'a Stop,
    split: Split,
    take: F,
    /// Beginning of a record whose end was not written so far.
    rest: Vec<u8>,
}

impl<'a, F: FnMut(&[u8]) -> ControlFlow<()>> Sink<'a, F> {
    pub(super) fn new(stop: &'a Stop, split: Split, take: F) -> Self {
        Self { stop, split, take, rest: Vec::new() }
    }

    /// Passes on all whole records, and returns the remaining bytes.
    fn take_all<'b>(&mut self, mut bytes: &'b [u8]) -> io::Result<&'b [u8]> {
        while let Some(length) = (self.split)(bytes) {
            let (record, rest) = bytes.split_at(length);
            // Only what was found before a stop is whole and in order.
            if self.stop.is_raised() || (self.take)(record).is_break() {
                return Err(ErrorKind::BrokenPipe.into());
            }
            bytes = rest;
        }
        Ok(bytes)
    }
}

impl<F: FnMut(&[u8]) -> ControlFlow<()>> Write for Sink<'_, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = std::mem::take(&mut self.rest);
        if held.is_empty() {
            self.rest = self.take_all(bytes)?.to_vec();
        } else {
            held.extend_from_slice(bytes);
            self.rest = self.take_all(&held)?.to_vec();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Records that end with a line feed.
pub(super) fn by_line(bytes: &[u8]) -> Option<usize> {
    Some(bytes.find_byte(b'\n')? + 1)
}

/// Records that end with a NUL.
pub(super) fn by_nul(bytes: &[u8]) -> Option<usize> {
    Some(bytes.find_byte(0)? + 1)
}

/// Records of a path that ends with a NUL, and a line. The path may have line feeds; the notice that a file is binary has no NUL.
pub(super) fn by_path_and_line(bytes: &[u8]) -> Option<usize> {
    let line = by_line(bytes)?;
    match bytes.find_byte(0) {
        Some(nul) if nul < line => Some(line),
        _ if is_notice(&bytes[..line]) => Some(line),
        nul => {
            let nul = nul?;
            Some(nul + by_line(&bytes[nul..])?)
        }
    }
}

/// Whether a line is the notice that a file is binary.
pub(super) fn is_notice(line: &[u8]) -> bool {
    line.ends_with(b")\n") && line.contains_str(NOTICE)
}

/// Part of the notice that a file is binary.
const NOTICE: &[u8] = b" (found \"\\0\" byte around offset ";

#[cfg(test)]
mod tests {
    use super::*;

    fn records(split: Split, output: &[u8], piece: usize) -> Vec<String> {
        let stop = Stop::new().unwrap();
        let mut records = Vec::new();
        let mut sink = Sink::new(&stop, split, |record: &[u8]| {
            records.push(String::from_utf8_lossy(record).into_owned());
            ControlFlow::Continue(())
        });
        output.chunks(piece).for_each(|piece| sink.write_all(piece).unwrap());
        records
    }

    #[test]
    fn records_are_the_same_for_pieces_of_any_size() {
        let output =
            b"a\x001:x\nb\nc\x002:y\nd: binary file matches (found \"\\0\" byte around offset 5)\ne\x003:\0z\n";
        let expected = [
            "a\x001:x\n",
            "b\nc\x002:y\n",
            "d: binary file matches (found \"\\0\" byte around offset 5)\n",
            "e\x003:\0z\n",
        ];
        for piece in 1..=output.len() {
            assert_eq!(records(by_path_and_line, output, piece), expected, "{piece}");
            assert_eq!(records(by_nul, b"a\0b\nc\0", piece), ["a\0", "b\nc\0"]);
            assert_eq!(records(by_line, b"a\nb\0\n", piece), ["a\n", "b\0\n"]);
        }
    }

    #[test]
    fn a_stop_ends_the_output() {
        let stop = Stop::new().unwrap();
        let mut count = 0;
        let mut sink = Sink::new(&stop, by_line, |_: &[u8]| {
            count += 1;
            if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(sink.write_all(b"a\n").is_ok());
        assert!(sink.write_all(b"b\n").is_err(), "the page is complete");
        stop.raise();
        assert!(sink.write_all(b"c\n").is_err());
        assert_eq!(count, 2);
    }
}
