//! Where a match may be: in which files, and in which parts of them.

use std::sync::Arc;

use finecomb_scan::TextPart;

use crate::catalog::{File, State};
use crate::documents::Documents;
use crate::starts::Starts;

/// Where a match may be.
pub(crate) enum Found {
    /// In documents of each segment, in the order of the segments.
    Documents(Vec<FoundIn>),
    /// In files that have documents: each is one of these parts, or the whole file if its number is [`WHOLE`].
    Parts(Vec<TextPart>),
}

/// Number of a document that stands for a whole file.
pub(crate) const WHOLE: u32 = u32::MAX;

/// Documents of a segment.
pub(crate) struct FoundIn {
    /// The number of its first document, counted over all segments.
    pub(crate) first: u32,
    pub(crate) documents: Documents,
    /// Empty if a match may span documents.
    pub(crate) starts: Arc<Starts>,
}

impl Found {
    /// Whether an indexed file may hold a match.
    pub(crate) fn is_in(&self, file: &File) -> bool {
        match self {
            Self::Documents(segments) => segment_of(segments, file).is_none_or(|found| {
                let start = file.document - found.first;
                (start..start + file.documents).any(|document| found.documents.contains(document))
            }),
            Self::Parts(_) => file.documents > 0,
        }
    }

    /// The documents, counted over all segments.
    #[cfg(target_os = "linux")]
    pub(crate) fn documents(&self) -> impl Iterator<Item = u32> {
        let segments = match self {
            Self::Documents(segments) => &segments[..],
            Self::Parts(_) => &[],
        };
        segments.iter().flat_map(|found| found.documents.iter().map(|document| found.first + document))
    }

    /// The parts of a file that may hold a match; `None` if these are more than half of it, or it is not divided.
    pub(crate) fn parts_of(&self, file: &File) -> Option<Vec<TextPart>> {
        if file.state != State::Plain {
            return None;
        }
        match self {
            Self::Documents(segments) if file.documents > 1 => segment_of(segments, file)?.parts_of(file),
            Self::Documents(_) => None,
            Self::Parts(parts) => {
                let start = file.document as usize;
                parts.get(start..start.checked_add(file.documents as usize)?).map(<[_]>::to_vec)
            }
        }
    }
}

/// The segment with the documents of a file, if it has any.
fn segment_of<'f>(segments: &'f [FoundIn], file: &File) -> Option<&'f FoundIn> {
    segments.get(segments.partition_point(|found| found.first <= file.document).checked_sub(1)?)
}

impl FoundIn {
    fn parts_of(&self, file: &File) -> Option<Vec<TextPart>> {
        let start = file.document - self.first;
        let end = start.checked_add(file.documents)?;
        let held: Vec<u32> = (start..end).filter(|&document| self.documents.contains(document)).collect();
        if 2 * held.len() > file.documents as usize {
            return None;
        }
        let place = |document| {
            if document == start {
                return Some((0, 0));
            }
            let start = self.starts.of(document)?;
            Some((u64::from(start.offset), u64::from(start.lines)))
        };
        let part = |document| {
            let (start, lines_before) = place(document)?;
            let end = if document + 1 == end { file.stamp.size } else { place(document + 1)?.0 };
            (start <= end).then_some(TextPart { start, end, lines_before })
        };
        let mut parts: Vec<TextPart> = Vec::with_capacity(held.len());
        for document in held {
            let next = part(document)?;
            match parts.last_mut().filter(|last| last.end == next.start) {
                Some(last) => last.end = next.end,
                None => parts.push(next),
            }
        }
        Some(parts)
    }
}
