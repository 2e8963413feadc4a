//! All segments of an index, open.

use std::sync::Arc;

use crate::catalog::{Catalog, SegmentInfo};
use crate::error::Error;
use crate::folder::Folder;
use crate::found::{FoundDocuments, FoundIn};
use crate::needs::Needs;
use crate::segment::Segment;

/// The segments of an index, each with the number of its first document.
pub(crate) struct Segments(Vec<(u32, Arc<Segment>)>);

impl Segments {
    /// Opens the segments of a catalog.
    ///
    /// # Errors
    /// If one of them cannot be read, is damaged, or is that of another index.
    pub(crate) fn open(folder: &Folder, infos: &[SegmentInfo]) -> Result<Self, Error> {
        let mut first = 0;
        let mut segments = Vec::new();
        for info in infos {
            segments.push((first, Arc::new(folder.open_segment(info)?)));
            first += info.documents;
        }
        Ok(Self(segments))
    }

    /// The documents that fulfil a condition. If a match may span documents, the documents of each file in `united` count as one.
    ///
    /// # Errors
    /// If a segment cannot be read or is damaged.
    pub(crate) fn find(&self, needs: &Needs, united: Option<&Catalog>) -> Result<FoundDocuments, Error> {
        let find = |&(first, ref segment): &(u32, Arc<Segment>)| {
            let all = first..first + segment.documents;
            let files = united.map(|catalog| catalog.divided(all)).unwrap_or_default();
            let documents = segment.find(needs, files)?;
            Ok(FoundIn { first, documents, segment: united.is_none().then(|| Arc::clone(segment)) })
        };
        self.0.iter().map(find).collect::<Result<_, _>>().map(FoundDocuments)
    }
}
