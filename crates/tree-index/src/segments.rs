//! All segments of an index, open.

use std::sync::Arc;

use crate::catalog::{Catalog, SegmentInfo};
use crate::error::Error;
use crate::folder::Folder;
use crate::found::{FoundDocuments, FoundIn};
use crate::kept_file::KeptFile;
use crate::needs::{SegmentQuery, SoughtTerms};
use crate::segment::Segment;
use crate::terms::{FoundTerms, Terms};

/// The segments of an index.
pub(crate) struct Segments {
    folder: Folder,
    segments: Vec<OpenSegment>,
}

struct OpenSegment {
    /// The number of its first document.
    first: u32,
    info: SegmentInfo,
    segment: Arc<Segment>,
    terms: KeptFile<Terms>,
}

impl Segments {
    /// Opens the segments of a catalog.
    ///
    /// # Errors
    /// If one of them cannot be read, is damaged, or is that of another index.
    pub(crate) fn open(folder: &Folder, infos: &[SegmentInfo]) -> Result<Self, Error> {
        let mut first = 0;
        let mut segments = Vec::new();
        for info in infos {
            let segment = Arc::new(folder.open_segment(info)?);
            segments.push(OpenSegment { first, info: *info, segment, terms: KeptFile::default() });
            first += info.documents;
        }
        Ok(Self { folder: folder.clone(), segments })
    }

    /// The documents that may hold a match. If a match may span documents, the documents of each file in `united` count as one.
    ///
    /// # Errors
    /// If a segment cannot be read or is damaged.
    pub(crate) fn find(
        &self,
        query: &SegmentQuery,
        united: Option<&Catalog>,
    ) -> Result<FoundDocuments, Error> {
        let mut found = FoundDocuments::default();
        for OpenSegment { first, info, segment, terms: kept } in &self.segments {
            let first = *first;
            let all = first..first + segment.documents;
            let files = united.map(|catalog| catalog.divided(all)).unwrap_or_default();
            let documents = segment.find(&query.needs, files)?;
            let terms = query.terms.as_ref().map(|terms| FoundTerms::of(&self.folder, info, kept, terms));
            let terms = terms.and_then(|found_terms| {
                found_terms.unwrap_or_else(|failure| {
                    found.failures.push(failure);
                    None
                })
            });
            let segment = united.is_none().then(|| Arc::clone(segment));
            found.segments.push(FoundIn { first, documents, terms, segment });
        }
        Ok(found)
    }

    /// For each segment the number of its first document, and the files with one of some terms, if their terms can be used. `None` if those of most documents
    /// cannot.
    pub(crate) fn with_terms(&self, sought: &SoughtTerms) -> Option<Vec<(u32, Option<FoundTerms>)>> {
        let find = |OpenSegment { info, terms, .. }: &OpenSegment| {
            FoundTerms::of(&self.folder, info, terms, sought).ok().flatten()
        };
        let found: Vec<_> = self.segments.iter().map(|segment| (segment.first, find(segment))).collect();
        let documents = |segment: &OpenSegment| u64::from(segment.info.documents);
        let all: u64 = self.segments.iter().map(documents).sum();
        let with_terms = self.segments.iter().zip(&found).filter(|(_, (_, found))| found.is_some());
        let known: u64 = with_terms.map(|(segment, _)| documents(segment)).sum();
        (2 * known > all).then_some(found)
    }
}
