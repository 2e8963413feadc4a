//! Restriction of a file to the lines that begin in a part of it, before any of it is read.

use std::ops::Range;

use finecomb_meter::Phase;
use memchr::memchr;

use super::reader::{FileContents, InputReader};
use super::shared::Chunks;
use crate::block::{Medium, Source};
use crate::problem::ProblemKind;

impl InputReader<'_> {
    /// Whether the part of each file that is read does not begin where the file begins.
    pub(crate) fn begins_late(&self) -> bool {
        self.context.part.is_some_and(|part| part.start > 0)
    }

    /// Restricts a file to the lines that begin in the part that is read. Returns the number of bytes that are left out;
    /// `None` if nothing of the file is read, as it cannot be read from an arbitrary offset and another part has all of it.
    ///
    /// # Errors
    /// If a read in search of the end of a line fails.
    pub(crate) fn restrict(
        &mut self,
        source: &Source,
        contents: &mut FileContents,
    ) -> Result<Option<u64>, ProblemKind> {
        let Some(part) = self.context.part else { return Ok(Some(0)) };
        let line_end = self.context.bounds.line_end;
        match contents {
            // The archive is read as a whole.
            _ if source.is_member() => Ok(Some(0)),
            FileContents::Whole { range, skipped, medium: Medium::File }
                if source.heading().is_none() && !self.context.bounds_for(source).may_span_lines() =>
            {
                let (whole, before) = (range.len(), range.start);
                *range = lines_from(&self.buffer, range, *skipped, part, line_end);
                *skipped += (range.start - before) as u64;
                Ok(Some((whole - range.len()) as u64))
            }
            FileContents::Mapped { map, range } => {
                let whole = range.len();
                *range = lines_from(map, range, range.start as u64, part, line_end);
                Ok(Some((whole - range.len()) as u64))
            }
            FileContents::Chunks { file: Chunks::Plain(file), .. } if file.has_independent_lines() => {
                self.meter.enter(Phase::Read);
                let whole = file.len();
                let lines = file.lines_at().that_begin_in(part).map_err(ProblemKind::Open)?;
                file.narrow(lines);
                Ok(Some(whole - file.len()))
            }
            _ => Ok((part.start == 0).then_some(0)),
        }
    }
}

/// The lines of a text that begin in a part of the file. The text is at a range of `bytes`, and at this offset in its file.
fn lines_from(
    bytes: &[u8],
    range: &Range<usize>,
    offset: u64,
    part: &Range<u64>,
    line_end: u8,
) -> Range<usize> {
    let text = &bytes[range.clone()];
    let line_at = |at: u64| {
        let Some(before) = at.checked_sub(offset + 1) else { return 0 };
        let rest = usize::try_from(before).ok().and_then(|before| Some((before, text.get(before..)?)));
        let next = rest.and_then(|(before, rest)| Some(before + memchr(line_end, rest)? + 1));
        next.unwrap_or(text.len())
    };
    let start = line_at(part.start);
    range.start + start..range.start + line_at(part.end).max(start)
}
