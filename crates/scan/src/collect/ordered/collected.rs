//! Files that are found and sorted before any of them is read.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::block::Source;
use crate::snapshot::Absent;
use crate::walk::directory::SortValue;
use crate::walk::{Sort, SortKey};

/// Files, with their paths one after the other in memory: a tree may have a million of them.
///
/// Slashes in paths are stored as NULs. Then the order of the bytes is the order in which a tree is listed.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    paths: Vec<u8>,
    files: Vec<CollectedFile>,
    absent: Vec<Absent>,
}

#[derive(Clone, Copy, Debug)]
struct CollectedFile {
    key: Option<SortValue>,
    /// Number of the input that it was named by, or found below.
    argument: u32,
    origin: FoundBy,
    /// Position of the path.
    start: usize,
    length: u32,
    /// Index of the proof, if it is known to hold no match.
    absent: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoundBy {
    StandardInput,
    Named,
    Found,
}

impl Collected {
    /// Number of files.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Adds a named input. Without a path it is standard input.
    pub(crate) fn add_named(&mut self, argument: usize, path: Option<&Path>, key: Option<SortValue>) {
        let origin = if path.is_some() { FoundBy::Named } else { FoundBy::StandardInput };
        let path = path.map_or(&b""[..], |path| path.as_os_str().as_bytes());
        self.add(argument, origin, [path, b""], key, None);
    }

    /// Adds the file with this name in a directory. `absent` is set if it is known to hold no match.
    pub(crate) fn add_found(
        &mut self,
        argument: usize,
        (prefix, name): (&[u8], &[u8]),
        key: Option<SortValue>,
        absent: Option<Absent>,
    ) {
        self.add(argument, FoundBy::Found, [prefix, name], key, absent);
    }

    fn add(
        &mut self,
        argument: usize,
        origin: FoundBy,
        path: [&[u8]; 2],
        key: Option<SortValue>,
        absent: Option<Absent>,
    ) {
        let start = self.paths.len();
        for part in path {
            self.paths.extend(part.iter().map(|&byte| if byte == b'/' { 0 } else { byte }));
        }
        let absent = absent.map(|absent| {
            self.absent.push(absent);
            self.absent.len() as u32 - 1
        });
        // Neither a path nor a command line has four gigabytes.
        let (argument, length) = (argument as u32, (self.paths.len() - start) as u32);
        self.files.push(CollectedFile { key, argument, origin, start, length, absent });
    }

    /// Appends the files of another worker.
    pub(crate) fn append(&mut self, other: Self) {
        if self.files.is_empty() {
            *self = other;
            return;
        }
        let (start, absent) = (self.paths.len(), self.absent.len() as u32);
        self.paths.extend_from_slice(&other.paths);
        self.absent.extend_from_slice(&other.absent);
        self.files.extend(other.files.iter().map(|file| CollectedFile {
            start: file.start + start,
            absent: file.absent.map(|number| number + absent),
            ..*file
        }));
    }

    /// Sorts the files. Files without a key come last, and files with the same key are in the order of their paths.
    pub(crate) fn sort(&mut self, sort: Sort) {
        let Self { paths, files, .. } = self;
        let path = |file: &CollectedFile| &paths[file.start..][..file.length as usize];
        let by_place = |one: &CollectedFile, other: &CollectedFile| {
            one.argument.cmp(&other.argument).then_with(|| path(one).cmp(path(other)))
        };
        let by_key = |one: &CollectedFile, other: &CollectedFile| {
            let by_key = match (one.key, other.key) {
                (Some(one), Some(other)) if sort.reverse => other.cmp(&one),
                (Some(one), Some(other)) => one.cmp(&other),
                (one, other) => one.is_none().cmp(&other.is_none()),
            };
            by_key.then_with(|| by_place(one, other))
        };
        match sort.by {
            SortKey::Path if sort.reverse => files.sort_by(|one, other| path(other).cmp(path(one))),
            SortKey::Path => files.sort_by(by_place),
            _ => files.sort_by(by_key),
        }
    }

    /// The file with this number, and what is known of it if it is known to hold no match.
    pub(crate) fn get(&self, number: usize) -> (Source, Option<Absent>) {
        let file = self.files[number];
        let mut path = self.paths[file.start..][..file.length as usize].to_vec();
        path.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b'/');
        let argument = file.argument as usize;
        let path = PathBuf::from(OsString::from_vec(path));
        let source = match file.origin {
            FoundBy::StandardInput => Source::named(argument, None),
            FoundBy::Named => Source::named(argument, Some(path)),
            FoundBy::Found => Source::found(argument, path),
        };
        (source, file.absent.map(|number| self.absent[number as usize]))
    }

    /// The files after the first one at the place of `end`: the number of their input, and their path.
    pub(crate) fn after(&self, end: &Source) -> HashSet<(usize, PathBuf)> {
        let mut is_after = false;
        let mut after = HashSet::new();
        for number in 0..self.len() {
            let (source, _) = self.get(number);
            if is_after {
                after.extend(source.path().map(|path| (source.argument(), path.to_owned())));
            }
            is_after |= source.file_rank() == end.file_rank();
        }
        after
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn paths(files: &Collected) -> Vec<PathBuf> {
        (0..files.len()).map(|number| files.get(number).0.display_path().to_owned()).collect()
    }

    #[test]
    fn named_inputs_remain_what_they_are() {
        let mut files = Collected::default();
        files.add_named(0, None, None);
        files.add_named(1, Some(Path::new("/a/b")), None);
        files.add_found(2, (b"c/", b"d"), None, None);
        let (source, _) = files.get(0);
        assert_eq!((source.path(), source.is_named(), source.argument()), (None, true, 0));
        let (source, _) = files.get(1);
        assert_eq!((source.path(), source.is_named(), source.argument()), (Some(Path::new("/a/b")), true, 1));
        let (source, _) = files.get(2);
        assert_eq!((source.path(), source.is_named(), source.argument()), (Some(Path::new("c/d")), false, 2));
    }

    proptest! {
        #[test]
        fn files_of_several_workers_are_sorted_like_their_paths(
            found in proptest::collection::vec(("[ab!/-]{1,6}", proptest::option::of(0_u64..3)), 0..40),
            reverse in any::<bool>(),
            by_path in any::<bool>(),
            workers in 1_usize..4,
        ) {
            let sort = Sort { by: if by_path { SortKey::Path } else { SortKey::Size }, reverse };
            // As in a listing, no path has an empty or a repeated name.
            let is_listed = |path: &&(String, _)| path.0.split('/').all(|name| !name.is_empty());
            let mut expected: Vec<(PathBuf, Option<u64>)> =
                found.iter().filter(is_listed).map(|(path, size)| (path.into(), *size)).collect();
            let mut parts: Vec<Collected> = (0..workers).map(|_| Collected::default()).collect();
            for (number, (path, size)) in expected.iter().enumerate() {
                let key = size.map(SortValue::of_size);
                let path = path.as_os_str().as_bytes();
                parts[number % workers].add_found(0, (b"", path), key, None);
            }
            let mut files = Collected::default();
            for mut part in parts {
                part.sort(sort);
                files.append(part);
            }
            files.sort(sort);
            expected.sort_by(|one, other| {
                let by_size = match (one.1, other.1) {
                    (Some(one), Some(other)) if reverse => other.cmp(&one),
                    (Some(one), Some(other)) => one.cmp(&other),
                    (one, other) => one.is_none().cmp(&other.is_none()),
                };
                match (by_path, reverse) {
                    (true, true) => other.0.cmp(&one.0),
                    (true, false) => one.0.cmp(&other.0),
                    _ => by_size.then_with(|| one.0.cmp(&other.0)),
                }
            });
            let expected: Vec<PathBuf> = expected.into_iter().map(|(path, _)| path).collect();
            prop_assert_eq!(paths(&files), expected);
        }
    }
}
