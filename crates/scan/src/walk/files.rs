//! Lists the files of some inputs on the calling thread.

use std::fs;
use std::path::{Path, PathBuf};

use super::directory::{Directory, Scratch, Walk};
use super::listing::Kind;
use crate::block::Source;
use crate::inputs::{Inputs, is_standard_input};
use crate::problem::{Problem, ProblemKind, Problems};

/// A file found by the walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Size in bytes when the file was found.
    pub size: u64,
}

/// Lists the files that a job over `inputs` would read, ordered by path, and the problems found on the way. Standard
/// input, pipes and devices are left out.
pub fn list_files(inputs: &Inputs) -> (Vec<FoundFile>, Vec<Problem>) {
    let mut files = Vec::new();
    let problems = find(inputs, |file| files.push(file));
    (files, problems)
}

/// Calls `found` with each of these files, and returns the problems.
fn find(inputs: &Inputs, found: impl FnMut(FoundFile)) -> Vec<Problem> {
    let mut notes = Vec::new();
    let walk = Walk::new(&inputs.walk, true, &mut notes);
    let mut finder =
        Finder { walk: &walk, scratch: Scratch::default(), problems: Problems::default(), found };
    finder.problems.add_rules(notes);
    for (number, path) in inputs.named.iter().enumerate().filter(|(_, path)| !is_standard_input(path)) {
        finder.find_named(number, path);
    }
    finder.problems.into_sorted().collect()
}

/// Returns the total size of the inputs in bytes; `None` if one of them has no size. Files whose metadata cannot be
/// read count as empty.
pub(crate) fn total_bytes(inputs: &Inputs) -> Option<u64> {
    let is_sized = |path: &PathBuf| {
        let is_file_or_directory = |metadata: fs::Metadata| metadata.is_file() || metadata.is_dir();
        !is_standard_input(path) && fs::metadata(path).map_or(true, is_file_or_directory)
    };
    let all_sized = inputs.named.iter().all(is_sized);
    all_sized.then(|| {
        let mut total = 0;
        find(inputs, |file| total += file.size);
        total
    })
}

struct Finder<'w, F> {
    walk: &'w Walk<'w>,
    scratch: Scratch,
    problems: Problems,
    found: F,
}

impl<F: FnMut(FoundFile)> Finder<'_, F> {
    fn find_named(&mut self, number: usize, path: &Path) {
        let source = || Source::named(number, Some(path.to_owned()));
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                match self.walk.open_named(number, path, path, &mut self.scratch, &mut self.problems) {
                    Ok(directory) => self.find_below(&directory),
                    Err(error) => self.problems.add(&source(), ProblemKind::List(error)),
                }
            }
            Ok(metadata) if metadata.is_file() => {
                (self.found)(FoundFile { path: path.to_owned(), size: metadata.len() });
            }
            Ok(_) => {}
            Err(error) => self.problems.add(&source(), ProblemKind::Open(error)),
        }
    }

    fn find_below(&mut self, directory: &Directory) {
        for entry in directory.listing.entries() {
            let source = directory.source_of(entry);
            if entry.kind != Kind::Directory {
                let path = source.path().unwrap_or(Path::new("")).to_owned();
                (self.found)(FoundFile { path, size: directory.size_of(entry) });
                continue;
            }
            match self.walk.enter(directory, entry, &mut self.scratch, &mut self.problems) {
                Ok(Some(below)) => self.find_below(&below),
                Ok(None) => {}
                Err(error) => self.problems.add(&source, ProblemKind::List(error)),
            }
        }
    }
}
