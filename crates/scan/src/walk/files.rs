//! Lists the files of some inputs on the calling thread.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::directory::{Directory, Scratch, WalkContext};
use super::listing::{DirEntry, EntryKind};
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
    /// Whether the file itself is named, not a directory above it.
    pub is_named: bool,
}

/// Lists the files that a job over `inputs` would read, ordered by path, and the problems found on the way. Standard
/// input, pipes and devices are left out.
pub fn list_files(inputs: &Inputs) -> (Vec<FoundFile>, Vec<Problem>) {
    let mut files = Vec::new();
    let problems = list(inputs, |file| files.push(file));
    (files, problems)
}

/// Calls `visit` with each of these files, and returns the problems.
fn list(inputs: &Inputs, mut visit: impl FnMut(FoundFile)) -> Vec<Problem> {
    let mut notes = Vec::new();
    let walk = WalkContext::new(&inputs.walk, true, &mut notes);
    let (mut problems, mut failed) = (Problems::default(), Vec::new());
    problems.add_rules(notes);
    find(inputs, &walk, &mut problems, |found| match found {
        WalkItem::Named(_, path, Ok(metadata)) if metadata.is_file() => {
            visit(FoundFile { path: path.to_owned(), size: metadata.len(), is_named: true });
        }
        WalkItem::Entry(directory, entry) => {
            let source = directory.source_of(entry);
            let path = source.path().unwrap_or(Path::new("")).to_owned();
            visit(FoundFile { path, size: directory.size_of(entry), is_named: false });
        }
        WalkItem::Named(number, path, Err(error)) => {
            failed.push((Source::named(number, Some(path.to_owned())), error));
        }
        WalkItem::Named(..) | WalkItem::Directory(_) => {}
    });
    failed.into_iter().for_each(|(source, error)| problems.add(&source, ProblemKind::Open(error)));
    problems.into_sorted().collect()
}

/// A file or directory that the walk finds.
pub(crate) enum WalkItem<'d> {
    /// A named input that is no directory, and its metadata.
    Named(usize, &'d Path, io::Result<Metadata>),
    /// A directory, before its entries.
    Directory(&'d Directory),
    /// A file in a directory.
    Entry(&'d Directory, &'d DirEntry),
}

/// Calls `found` with everything that the walk finds, without standard input.
pub(crate) fn find(
    inputs: &Inputs,
    walk: &WalkContext<'_>,
    problems: &mut Problems,
    found: impl FnMut(WalkItem<'_>),
) {
    let mut finder = TreeWalk { walk, scratch: Scratch::default(), problems, found };
    for (number, path) in inputs.named.iter().enumerate().filter(|(_, path)| !is_standard_input(path)) {
        finder.find_named(number, path);
    }
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
        list(inputs, |file| total += file.size);
        total
    })
}

struct TreeWalk<'w, F> {
    walk: &'w WalkContext<'w>,
    scratch: Scratch,
    problems: &'w mut Problems,
    found: F,
}

impl<F: FnMut(WalkItem<'_>)> TreeWalk<'_, F> {
    fn find_named(&mut self, number: usize, path: &Path) {
        let metadata = fs::metadata(path);
        if !metadata.as_ref().is_ok_and(Metadata::is_dir) {
            return (self.found)(WalkItem::Named(number, path, metadata));
        }
        match self.walk.open_named(number, path, path, &mut self.scratch, self.problems) {
            Ok(directory) => self.find_below(&directory),
            Err(error) => {
                let source = Source::named(number, Some(path.to_owned()));
                self.problems.add(&source, ProblemKind::List(error));
            }
        }
    }

    fn find_below(&mut self, directory: &Directory) {
        (self.found)(WalkItem::Directory(directory));
        for entry in directory.listing.entries() {
            if entry.kind != EntryKind::Directory {
                (self.found)(WalkItem::Entry(directory, entry));
                continue;
            }
            match self.walk.enter(directory, entry, &mut self.scratch, self.problems) {
                Ok(Some(below)) => self.find_below(&below),
                Ok(None) => {}
                Err(error) => self.problems.add(&directory.source_of(entry), ProblemKind::List(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::{RuleFiles, WalkOptions};

    /// Names of the files found below a directory.
    fn names(root: &Path, walk: WalkOptions) -> Vec<String> {
        let (files, problems) = list_files(&Inputs { walk, ..Inputs::new([root]) });
        assert!(problems.is_empty());
        let name = |file: FoundFile| file.path.file_name().unwrap().to_string_lossy().into_owned();
        files.into_iter().map(name).collect()
    }

    #[test]
    fn named_pipes_are_left_out_and_have_no_size() {
        let directory = tempfile::tempdir().unwrap();
        let (file, pipe) = (directory.path().join("file"), directory.path().join("pipe"));
        fs::write(&file, "text").unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (files, problems) = list_files(&Inputs::new([&file, &pipe]));
        assert_eq!(files, [FoundFile { path: file.clone(), size: 4, is_named: true }]);
        assert!(problems.is_empty());
        assert_eq!(total_bytes(&Inputs::new([file.as_path(), &file, directory.path()])), Some(12));
        assert_eq!(total_bytes(&Inputs::new([&file, &pipe])), None);
    }

    #[test]
    fn rules_above_the_named_directory_apply_to_it() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("below");
        fs::create_dir(&below).unwrap();
        fs::write(directory.path().join(".ignore"), "*.log\n").unwrap();
        for name in ["a.log", "a.txt"] {
            fs::write(below.join(name), "").unwrap();
        }
        let walk = |rules| WalkOptions { rules, ..WalkOptions::default() };
        assert_eq!(names(&below, walk(RuleFiles::ALL)), ["a.txt"]);
        assert_eq!(names(&below, walk(RuleFiles::NONE)), ["a.log", "a.txt"]);
    }

    #[test]
    fn only_entries_that_a_function_takes_are_read_or_entered() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("docs/src")).unwrap();
        for name in ["a.c", "a.md", "docs/b.c", "docs/src/c.c"] {
            fs::write(directory.path().join(name), "").unwrap();
        }
        let walk = WalkOptions::default().takes(Some(|path, is_directory| match is_directory {
            true => !path.ends_with("src"),
            false => path.extension().is_some_and(|extension| extension == "c"),
        }));
        assert_eq!(names(directory.path(), walk), ["a.c", "b.c"]);
    }

    #[test]
    fn the_last_named_rule_file_with_a_verdict_decides() {
        let directory = tempfile::tempdir().unwrap();
        let (root, path) = (directory.path().join("root"), |name: &str| directory.path().join(name));
        fs::create_dir(&root).unwrap();
        for name in ["a.log", "b.log", "c.txt"] {
            fs::write(root.join(name), "").unwrap();
        }
        fs::write(path("first"), "*.log\n").unwrap();
        fs::write(path("second"), "!b.log\n").unwrap();
        fs::write(path("third"), "other\n").unwrap();
        let rule_files = vec![path("first"), path("second"), path("third")];
        let walk = WalkOptions { rule_files, ..WalkOptions::default() };
        assert_eq!(names(&root, walk), ["b.log", "c.txt"]);
    }
}
