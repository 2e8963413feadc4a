//! A limit on the number of results of a job with ordered output.
//!
//! Visitors mark where files and results begin in their output. The sequencer, which sees the output in order, counts the
//! results, so that the same ones are printed at any number of workers.

use std::io;
use std::ops::ControlFlow;

use super::sequencer::Chunk;
use crate::block::Source;

/// A limit on the number of results that are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Number of results.
    pub results: u64,
    /// Whether the job ends once they are printed. Otherwise it continues and counts the others.
    pub ends_job: bool,
}

/// Results that were not printed because of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Number of results.
    pub results: u64,
    /// Number of files with such results.
    pub files: u64,
}

/// Meaning of the output from a position on.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// The beginning of the output of a file.
    File(Source),
    /// A result, with its context.
    Result,
    /// Nothing: the result before is complete.
    End,
    /// Output that is printed if a result of the file was, or more may be.
    Rest,
}

/// Counts results, and passes on those within the limit.
#[derive(Debug)]
pub(crate) struct Limiter {
    limit: Limit,
    left: u64,
    /// Whether the output at the current position is printed.
    passes: bool,
    /// Whether a result of the current file was printed.
    is_shown: bool,
    /// Whether a result of the current file was not printed.
    is_cut: bool,
    /// The current file.
    file: Option<Source>,
    pub(crate) omitted: Omitted,
    /// The file at which the job ended.
    pub(crate) end: Option<Source>,
}

impl Limiter {
    pub(crate) fn new(limit: Limit) -> Self {
        Self {
            limit,
            left: limit.results,
            passes: true,
            is_shown: false,
            is_cut: false,
            file: None,
            omitted: Omitted::default(),
            end: None,
        }
    }

    /// Number of results printed.
    pub(crate) fn printed(&self) -> u64 {
        self.limit.results - self.left
    }

    /// Passes the parts of a chunk that are within the limit to `write`. Returns [`ControlFlow::Break`] if nothing more of the
    /// job is wanted.
    pub(crate) fn pass(
        &mut self,
        chunk: &Chunk,
        write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<ControlFlow<()>> {
        if self.end.is_some() {
            return Ok(ControlFlow::Break(()));
        }
        let mut start = 0;
        for (at, mark) in &chunk.marks {
            self.write(&chunk.bytes[start..*at], write)?;
            start = *at;
            if self.limit.ends_job && self.left == 0 && !matches!(mark, Mark::Rest) {
                self.end = self.file.take();
                return Ok(ControlFlow::Break(()));
            }
            self.enter(mark);
        }
        self.write(&chunk.bytes[start..], write)?;
        Ok(ControlFlow::Continue(()))
    }

    fn write(&self, part: &[u8], write: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        if self.passes { write(part) } else { Ok(()) }
    }

    fn enter(&mut self, mark: &Mark) {
        match mark {
            Mark::File(source) => {
                self.file = Some(source.clone());
                self.passes = self.left > 0;
                (self.is_shown, self.is_cut) = (false, false);
            }
            Mark::Result if self.left > 0 => {
                self.left -= 1;
                (self.passes, self.is_shown) = (true, true);
            }
            Mark::Result => {
                self.passes = false;
                self.omitted.results += 1;
                self.omitted.files += u64::from(!std::mem::replace(&mut self.is_cut, true));
            }
            Mark::Rest => self.passes = self.is_shown || self.left > 0,
            Mark::End => {}
        }
    }
}
