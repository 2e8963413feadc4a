//! Documents that may hold a match, and the parts of files that they are.

use std::sync::Arc;

use finecomb_scan::TextPart;

use crate::catalog::{CatalogFile, IndexedPart};
use crate::documents::Documents;
use crate::error::Error;
use crate::segment::Segment;
use crate::terms::FoundTerms;

/// The documents that may hold a match.
#[derive(Default)]
pub(crate) struct FoundDocuments {
    /// Those of each segment, in the order of the segments.
    pub(crate) segments: Vec<FoundIn>,
    /// The reasons why terms could not be used.
    pub(crate) failures: Vec<Error>,
}

/// Documents of a segment.
pub(crate) struct FoundIn {
    /// The number of its first document, counted over all segments.
    pub(crate) first: u32,
    pub(crate) documents: Documents,
    /// The files with a term of the search; `None` if all may have one.
    pub(crate) terms: Option<FoundTerms>,
    /// The segment; `None` if a match may span documents, so that no part of a file can be read by itself.
    pub(crate) segment: Option<Arc<Segment>>,
}

impl FoundDocuments {
    /// Whether an indexed file may hold a match.
    pub(crate) fn is_in(&self, file: &CatalogFile) -> bool {
        self.segment_of(file).is_none_or(|found| {
            let start = file.document - found.first;
            let may_have_terms = found.terms.as_ref().is_none_or(|terms| terms.may_have(start, file.stamp));
            may_have_terms
                && (start..start.saturating_add(file.documents))
                    .any(|document| found.documents.contains(document))
        })
    }

    /// The documents, counted over all segments. Those of files without the terms are among them.
    pub(crate) fn documents(&self) -> impl Iterator<Item = u32> {
        self.segments.iter().flat_map(|found| found.documents.iter().map(|document| found.first + document))
    }

    /// The parts of a file that may hold a match; `None` if these are more than half of its documents, or not known.
    pub(crate) fn parts_of(&self, file: &CatalogFile) -> Option<Vec<TextPart>> {
        let is_divided = file.state == IndexedPart::Plain && file.documents > 1;
        self.segment_of(file).filter(|_| is_divided)?.parts_of(file)
    }

    fn segment_of(&self, file: &CatalogFile) -> Option<&FoundIn> {
        let end = self.segments.partition_point(|found| found.first <= file.document);
        self.segments.get(end.checked_sub(1)?)
    }
}

impl FoundIn {
    fn parts_of(&self, file: &CatalogFile) -> Option<Vec<TextPart>> {
        let start = file.document - self.first;
        let end = start.checked_add(file.documents)?;
        let held: Vec<u32> = (start..end).filter(|&document| self.documents.contains(document)).collect();
        if 2 * held.len() > file.documents as usize {
            return None;
        }
        // Without them, the file is read as a whole.
        let starts = self.segment.as_ref()?.starts().ok()?;
        let place = |document| {
            if document == start {
                return Some((0, 0));
            }
            let start = starts.of(document)?;
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
