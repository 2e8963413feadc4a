//! Inputs that are still to be opened.

use std::ops::Range;
use std::sync::Arc;

use crate::walk::directory::Directory;
use crate::walk::listing::Kind;

/// Files that make up one task. More would cost less waiting for each other, but make output come later.
pub(crate) const FILES_PER_TASK: usize = 32;

/// Inputs to be opened.
pub(crate) enum Task {
    /// The input that was named by this number.
    Named(usize),
    /// A directory in a directory, by the number of its entry.
    Directory(Arc<Directory>, usize),
    /// Files in a directory, by the numbers of their entries.
    Files(Arc<Directory>, Range<usize>),
}

/// What stands side by side in a directory: one directory, or files.
pub(crate) enum Run {
    Directory(usize),
    Files(Range<usize>),
}

/// The entries of a directory in order, as directories and the longest runs of files between them.
pub(crate) fn runs(directory: &Directory) -> impl Iterator<Item = Run> {
    let entries = directory.listing.entries();
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = next;
        let first = entries.get(start)?;
        if first.kind == Kind::Directory {
            next += 1;
            return Some(Run::Directory(start));
        }
        next += entries[start..].iter().take_while(|entry| entry.kind != Kind::Directory).count();
        Some(Run::Files(start..next))
    })
}

/// The tasks that a run makes.
pub(crate) fn tasks(directory: &Arc<Directory>, run: Run) -> impl Iterator<Item = Task> {
    let (entry, files) = match run {
        Run::Directory(entry) => (Some(entry), 0..0),
        Run::Files(files) => (None, files),
    };
    let end = files.end;
    let below = entry.map(|entry| Task::Directory(Arc::clone(directory), entry));
    let parts = files
        .step_by(FILES_PER_TASK)
        .map(move |start| Task::Files(Arc::clone(directory), start..end.min(start + FILES_PER_TASK)));
    below.into_iter().chain(parts)
}
