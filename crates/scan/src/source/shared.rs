//! A file that several workers read: in chunks, or in parts that are compressed independently.

use finecomb_meter::{Meter, Phase};
use finecomb_sys::ReadBuffer;

use super::TextBlock;
use super::bounds::NulEnds;
use super::chunks::ChunkedFile;
use super::parted::PartedFile;
use crate::block::{Lookahead, RereadFile, Source};
use crate::problem::Problems;
use crate::recognize::Recognized;

/// A file that several workers read chunk by chunk.
pub(crate) enum Chunks {
    Plain(Box<ChunkedFile>),
    Parted(Box<PartedFile>),
}

impl Chunks {
    pub(crate) fn source(&self) -> &Source {
        match self {
            Self::Plain(file) => &file.source,
            Self::Parted(file) => &file.source,
        }
    }

    /// Sets which NULs end lines.
    pub(crate) fn set_ends(&mut self, nul_ends: NulEnds) {
        let bounds = match self {
            Self::Plain(file) => &mut file.bounds,
            Self::Parted(file) => &mut file.bounds,
        };
        *bounds = bounds.clone().with_ends(nul_ends);
    }

    /// Sets what was found out about the file, whose text starts at this offset.
    pub(crate) fn set_recognized(&mut self, recognized: Recognized, start: u64) {
        let (source, bounds) = match self {
            Self::Plain(file) => (&mut file.source, &mut file.bounds),
            Self::Parted(file) => (&mut file.source, &mut file.bounds),
        };
        bounds.records = recognized.records.clone();
        source.set_recognized(recognized, start);
    }

    /// Access to the bytes after a block, if available.
    pub(crate) fn lookahead(&self) -> Lookahead<'_> {
        match self {
            Self::Plain(file) => Lookahead::in_file(&**file),
            Self::Parted(_) => Lookahead::default(),
        }
    }

    /// The file, if it has the bytes of a block at the offset of the block.
    pub(crate) fn reread(&self) -> Option<RereadFile> {
        match self {
            Self::Plain(file) => Some(file.reread()),
            Self::Parted(_) => None,
        }
    }

    /// Claims the next chunk, which the caller must then read; `None` if all are claimed.
    pub(crate) fn claim(&self) -> Option<u64> {
        match self {
            Self::Plain(file) => file.claim(),
            Self::Parted(file) => file.claim(),
        }
    }

    /// Records a problem if bytes of a chunk were missing when it was searched.
    pub(crate) fn check(&self, buffer: &ReadBuffer, problems: &mut Problems) {
        if let Self::Plain(file) = self {
            file.check(buffer, problems);
        }
    }

    /// Reads the records of a chunk into `buffer` and returns their range in it. A last record over the limit may be
    /// truncated past the limit.
    pub(crate) fn read(
        &self,
        chunk: u64,
        buffer: &mut ReadBuffer,
        meter: &mut Meter,
        problems: &mut Problems,
    ) -> TextBlock {
        match self {
            Self::Plain(file) => {
                meter.enter(Phase::Read);
                match (file.bounds.rules(), file.bounds.started(), file.source.heading()) {
                    (Some(rules), ..) => file.read_records(rules, chunk, buffer, meter, problems),
                    (None, Some(started), _) => file.read_started(started, chunk, buffer, problems),
                    (None, None, Some(prefix)) => file.read_headed(prefix, chunk, buffer, meter, problems),
                    (None, None, None) => file.read(chunk, buffer, problems),
                }
            }
            Self::Parted(file) => file.read(chunk, buffer, meter, problems),
        }
    }
}
