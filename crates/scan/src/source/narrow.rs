//! Restriction of a file to the part that is wanted, before any of it is read.
//!
//! Chunks are cut from the start of that part, so that all later steps are those for a file of its length; offsets stay those of the file.

use finecomb_meter::Phase;

use super::reader::{FileContents, InputReader};
use super::shared::Chunks;
use crate::block::{Medium, Source};
use crate::narrow::Narrowed;
use crate::problem::ProblemKind;

/// Size in blocks of the smallest file that is narrowed. Reading a smaller one takes no longer than the binary search.
const MIN_BLOCKS: u64 = 4;

impl InputReader<'_> {
    /// Restricts a file to the part that is wanted, if that is requested. Returns the number of bytes that are left out.
    pub(crate) fn narrow(&mut self, source: &Source, contents: &mut FileContents) -> u64 {
        let Some(by) = self.context.narrow else { return 0 };
        let min_size = MIN_BLOCKS.saturating_mul(self.context.bounds.block_size as u64);
        let file = match contents {
            FileContents::Whole { .. }
            | FileContents::Mapped { .. }
            | FileContents::Archive(_)
            | FileContents::Unwanted => return 0,
            FileContents::Chunks { file: Chunks::Plain(file), .. } if file.len() < min_size => return 0,
            FileContents::Chunks { file: Chunks::Plain(file), .. } if file.has_independent_lines() => file,
            FileContents::Chunks { file, .. } => {
                let reason = match file.source().heading() {
                    Some(_) => "its lines depend on others before them",
                    None => reason(file.source().medium()),
                };
                self.problems.add(source, ProblemKind::NotNarrowed(reason));
                return 0;
            }
            FileContents::Stream { stream, .. } => {
                let reason = reason(stream.source.medium());
                self.problems.add(source, ProblemKind::NotNarrowed(reason));
                return 0;
            }
        };
        self.meter.enter(Phase::Read);
        file.set_read_ahead(false);
        let Narrowed { range, problem } = by.narrow(&file.source, &file.lines_at());
        let length = file.len();
        file.narrow(range);
        file.set_read_ahead(true);
        if let Some(kind) = problem {
            self.problems.add(&file.source, kind);
        }
        length.saturating_sub(file.len())
    }
}

/// Reason why a text cannot be read from an arbitrary offset.
fn reason(medium: &Medium) -> &'static str {
    match medium {
        Medium::File => "its records may span lines",
        Medium::Transcoded(_) => "it is not UTF-8",
        Medium::Decompressed => "it is compressed",
        Medium::Pipe => "it is not a regular file",
    }
}
