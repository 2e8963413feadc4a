//! Inputs to be opened.

use std::ops::Range;
use std::sync::Arc;

use crate::walk::directory::Directory;
use crate::walk::listing::EntryKind;

/// Number of files per task. Larger tasks reduce contention, but delay output.
pub(crate) const FILES_PER_TASK: usize = 32;

/// Inputs to be opened.
pub(crate) enum Unopened {
    /// The named input with this number.
    Named(usize),
    /// A subdirectory, by its entry number.
    Directory(Arc<Directory>, usize),
    /// Files in a directory, by their entry numbers.
    Files(Arc<Directory>, Range<usize>),
}

/// Adjacent entries of a directory: one subdirectory, or files.
pub(crate) enum EntryRun {
    Directory(usize),
    Files(Range<usize>),
}

/// Returns the entries of a directory in order, as subdirectories and maximal runs of files between them.
pub(crate) fn runs(directory: &Directory) -> impl Iterator<Item = EntryRun> {
    let entries = directory.listing.entries();
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = next;
        let first = entries.get(start)?;
        if first.kind == EntryKind::Directory {
            next += 1;
            return Some(EntryRun::Directory(start));
        }
        next += entries[start..].iter().take_while(|entry| entry.kind != EntryKind::Directory).count();
        Some(EntryRun::Files(start..next))
    })
}

/// Returns the tasks of a run.
pub(crate) fn tasks(directory: &Arc<Directory>, run: EntryRun) -> impl Iterator<Item = Unopened> {
    let (entry, files) = match run {
        EntryRun::Directory(entry) => (Some(entry), 0..0),
        EntryRun::Files(files) => (None, files),
    };
    let end = files.end;
    let below = entry.map(|entry| Unopened::Directory(Arc::clone(directory), entry));
    let parts = files
        .step_by(FILES_PER_TASK)
        .map(move |start| Unopened::Files(Arc::clone(directory), start..end.min(start + FILES_PER_TASK)));
    below.into_iter().chain(parts)
}
