//! The part of an index that an update keeps.
//!
//! Segments are never changed. A segment is given up if it is small in comparison with the files that are read anyway, or if less
//! than half of it is still in use; its remaining files are read again. So each segment has less than half as many files as the one
//! before it, and the number of times that a file is read grows with the logarithm of the number of files, not with the number of
//! updates (the merge policy of log-structured indexes).

use finecomb_scan::{FileAt, Stamp, compare};

use crate::catalog::{Catalog, CatalogFile, IndexedPart, SegmentInfo};
use crate::folder::Writing;
use crate::listed::Listed;

/// Files and segments that stay.
pub(crate) struct Kept {
    /// Each file of the tree, with the numbers of its documents in the new index; `None` if it is to be read.
    pub(crate) files: Vec<Option<CatalogFile>>,
    pub(crate) segments: Vec<SegmentInfo>,
}

/// A segment of the index before.
#[derive(Clone, Copy)]
struct Use {
    /// Its first document, counted over all segments.
    start: u32,
    /// Unchanged files.
    files: usize,
    /// Their documents.
    documents: u32,
    /// Its first document in the new index; `None` if it is given up.
    new_start: Option<u32>,
}

impl Kept {
    /// Compares the files of a tree with an index.
    pub(crate) fn of(before: &Catalog, tree: &Listed, folder: &Writing, width: usize) -> Self {
        let mut files = same_files(before, tree, width);
        let mut uses = uses(before, &files);
        let is_sound = |at: usize| folder.folder.open_segment(&before.segments[at]).is_ok();
        // Files that are read at every update do not count, so that an update without changes writes nothing.
        let was_distrusted = |number| before.file(number).is_some_and(|file| is_distrusted(&file));
        let changed = tree
            .files
            .iter()
            .zip(&files)
            .filter(|(listed, file)| file.is_none() && !listed.known.is_some_and(was_distrusted));
        give_up(&mut uses, &before.segments, changed.count(), is_sound);
        for slot in &mut files {
            *slot = slot.and_then(|file| {
                let Some(at) = segment_of(&uses, &file) else {
                    return Some(CatalogFile { document: 0, ..file });
                };
                let document = uses[at].new_start? + file.document - uses[at].start;
                Some(CatalogFile { document, ..file })
            });
        }
        let kept = uses.iter().zip(&before.segments).filter(|(used, _)| used.new_start.is_some());
        Self { files, segments: kept.map(|(_, &segment)| segment).collect() }
    }
}

/// The unchanged files.
fn same_files(before: &Catalog, tree: &Listed, width: usize) -> Vec<Option<CatalogFile>> {
    let known = |number| before.file(number).filter(|file| !is_distrusted(file));
    let mut files: Vec<Option<CatalogFile>> =
        tree.files.iter().map(|file| file.known.and_then(known)).collect();
    let stamps: Vec<(FileAt<'_>, Stamp)> = tree
        .files
        .iter()
        .zip(&files)
        .filter_map(|(listed, file)| Some((tree.place(listed), file.as_ref()?.stamp)))
        .collect();
    let mut same = compare(&stamps, width).into_iter();
    for file in files.iter_mut().filter(|file| file.is_some()) {
        *file = file.filter(|_| same.next() == Some(true));
    }
    files
}

fn is_distrusted(file: &CatalogFile) -> bool {
    matches!(file.state, IndexedPart::Distrusted(_))
}

/// The use of each segment: unchanged files and documents.
fn uses(before: &Catalog, files: &[Option<CatalogFile>]) -> Vec<Use> {
    let mut next = 0;
    let mut uses: Vec<Use> = before
        .segments
        .iter()
        .map(|segment| {
            let start = next;
            next += segment.documents;
            Use { start, files: 0, documents: 0, new_start: None }
        })
        .collect();
    for file in files.iter().flatten() {
        if let Some(at) = segment_of(&uses, file) {
            uses[at].files += 1;
            uses[at].documents += file.documents;
        }
    }
    uses
}

/// The segment with the documents of a file, if it has any.
fn segment_of(uses: &[Use], file: &CatalogFile) -> Option<usize> {
    let end = uses.partition_point(|used| used.start <= file.document);
    end.checked_sub(1).filter(|_| file.documents > 0)
}

/// Gives up segments when `read` files are to be read, and segments that cannot be opened.
fn give_up(uses: &mut [Use], segments: &[SegmentInfo], mut read: usize, is_sound: impl Fn(usize) -> bool) {
    let mut kept = vec![true; uses.len()];
    let mut may_join = true;
    for (at, used) in uses.iter().enumerate().rev() {
        may_join &= used.files <= 2 * read;
        kept[at] = !may_join && 2 * used.documents >= segments[at].documents && is_sound(at);
        if !kept[at] {
            read += used.files;
        }
    }
    let mut next = 0;
    for ((used, segment), kept) in uses.iter_mut().zip(segments).zip(kept) {
        if kept {
            used.new_start = Some(next);
            next += segment.documents;
        }
    }
}
