//! All segments of an index, open.

use crate::catalog::Catalog;
use crate::documents::Documents;
use crate::error::Error;
use crate::folder::Folder;
use crate::needs::Needs;
use crate::segment::Segment;

/// The segments of an index, each with the number of its first document.
pub(crate) struct Segments(Vec<(u32, Segment)>);

impl Segments {
    /// Opens the segments of a catalog.
    ///
    /// # Errors
    /// If one of them cannot be read, is damaged, or is that of another index.
    pub(crate) fn open(folder: &Folder, catalog: &Catalog) -> Result<Self, Error> {
        let mut first = 0;
        let mut segments = Vec::new();
        for info in &catalog.segments {
            segments.push((first, folder.open_segment(info)?));
            first += info.documents;
        }
        Ok(Self(segments))
    }

    /// The documents of each segment that fulfil a condition, and the number of its first one.
    ///
    /// # Errors
    /// If a segment cannot be read or is damaged.
    pub(crate) fn find(
        &self,
        catalog: &Catalog,
        needs: &Needs,
        across_lines: bool,
    ) -> Result<Vec<(u32, Documents)>, Error> {
        let find = |&(first, ref segment): &(u32, Segment)| {
            let all = first..first + segment.documents;
            let files = if across_lines { catalog.divided(all) } else { Vec::new() };
            Ok((first, segment.find(needs, files)?))
        };
        self.0.iter().map(find).collect()
    }
}
