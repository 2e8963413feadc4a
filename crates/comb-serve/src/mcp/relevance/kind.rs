//! Kinds of files, by their paths.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// Kind of a file, in the order in which results are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::mcp) enum FileKind {
    Source,
    Test,
    Document,
    /// Made by a program, or a copy of something from elsewhere.
    Generated,
}

/// Names of directories, in any case.
const TESTS: [&str; 12] = [
    "test",
    "tests",
    "testing",
    "testdata",
    "__tests__",
    "spec",
    "specs",
    "fixtures",
    "selftest",
    "selftests",
    "mock",
    "mocks",
];
const DOCUMENTS: [&str; 8] =
    ["doc", "docs", "documentation", "man", "manual", "changelogs", "license", "licenses"];
const GENERATED: [&str; 10] = [
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "thirdparty",
    "node_modules",
    "dist",
    "generated",
    "__generated__",
    "site-packages",
];

/// Extensions, in lower case.
const DOCUMENT_EXTENSIONS: [&str; 9] =
    ["md", "markdown", "rst", "txt", "adoc", "asciidoc", "tex", "texi", "html"];
const GENERATED_EXTENSIONS: [&str; 5] = ["lock", "map", "svg", "min", "snap"];

impl FileKind {
    pub(in crate::mcp) const ALL: [Self; 4] = [Self::Source, Self::Test, Self::Document, Self::Generated];

    /// The kind of a file: the last one that a directory above it or its name says.
    pub(in crate::mcp) fn of_file(path: &Path) -> Self {
        let above = path.parent().map_or(Self::Source, Self::of_directory);
        above.max(of_name(path))
    }

    /// The first kind of the files in a directory.
    pub(in crate::mcp) fn of_directory(path: &Path) -> Self {
        let names = path.components().filter_map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        });
        names.map(of_directory_name).max().unwrap_or(Self::Source)
    }

    /// The function that takes files of this kind, and directories in which there may be some.
    pub(in crate::mcp) fn taking(self) -> fn(&Path, bool) -> bool {
        match self {
            Self::Source => takes::<0>,
            Self::Test => takes::<1>,
            Self::Document => takes::<2>,
            Self::Generated => takes::<3>,
        }
    }

    /// Takes files of all kinds except the first, and directories.
    pub(in crate::mcp) fn takes_others(path: &Path, is_directory: bool) -> bool {
        is_directory || Self::of_file(path) != Self::Source
    }
}

fn takes<const KIND: usize>(path: &Path, is_directory: bool) -> bool {
    let kind = FileKind::ALL[KIND];
    if is_directory { FileKind::of_directory(path) <= kind } else { FileKind::of_file(path) == kind }
}

fn of_directory_name(name: &str) -> FileKind {
    let is_in = |names: &[&str]| names.iter().any(|other| other.eq_ignore_ascii_case(name));
    match () {
        () if is_in(&GENERATED) => FileKind::Generated,
        () if is_in(&DOCUMENTS) => FileKind::Document,
        () if is_in(&TESTS) => FileKind::Test,
        () => FileKind::Source,
    }
}

fn of_name(path: &Path) -> FileKind {
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
    let inner = stem.rsplit_once('.').map_or("", |(_, inner)| inner);
    // As `CREDITS` and `LICENSE-MIT`, but not `Makefile`.
    let is_shouted = || {
        let letters = stem.split(['-', '_']).next().unwrap_or_default();
        letters.len() >= 4 && letters.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    let is_test = || {
        let lower = stem.to_ascii_lowercase();
        let by_suffix =
            ["_test", "_tests", "-test", ".test", ".spec", "_spec"].iter().any(|end| lower.ends_with(end));
        by_suffix || lower.starts_with("test_") || stem.ends_with("Test") || stem.ends_with("Tests")
    };
    let is_generated = || {
        let marks = ["min", "pb", "generated", "g"];
        GENERATED_EXTENSIONS.contains(&&*extension)
            || marks.contains(&inner)
            || stem.ends_with("_pb2")
            || stem.ends_with("_generated")
            || stem == "package-lock"
    };
    match () {
        () if is_generated() => FileKind::Generated,
        () if DOCUMENT_EXTENSIONS.contains(&&*extension) || extension.is_empty() && is_shouted() => {
            FileKind::Document
        }
        () if is_test() => FileKind::Test,
        () => FileKind::Source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_say_of_which_kind_files_are() {
        let kinds = |paths: &str| -> Vec<FileKind> {
            paths.split(' ').map(|path| FileKind::of_file(path.as_ref())).collect()
        };
        let all =
            |kind, paths: &str| assert_eq!(kinds(paths), vec![kind; paths.split(' ').count()], "{paths}");
        all(
            FileKind::Source,
            "a.c Makefile src/contest.rs mm/slab.h API.java latest/x.py TODO.c attestation/a.go",
        );
        all(
            FileKind::Test,
            "tests/a.c src/Test/a.c a_test.go test_a.py AppTest.java x/y.spec.ts tools/testing/selftests/a.sh",
        );
        all(
            FileKind::Document,
            "README.md docs/a.c tests/README CREDITS LICENSE-MIT Documentation/a/b.rst LICENSES/GFDL-1.1",
        );
        all(
            FileKind::Generated,
            "vendor/a.c docs/generated/a.md Cargo.lock a.min.js proto/a.pb.go x_pb2.py package-lock.json \
             node_modules/x/README.md",
        );
    }

    #[test]
    fn a_file_is_taken_by_the_function_of_its_kind_with_all_directories_above_it() {
        for path in
            ["a.c", "x/tests/a.c", "tests/docs/a.c", "docs/vendor/x/a.c", "a/b/README", "vendor/tests/a.c"]
        {
            let path = Path::new(path);
            for kind in FileKind::ALL {
                let takes = kind.taking();
                let is_taken = takes(path, false) && path.ancestors().skip(1).all(|above| takes(above, true));
                assert_eq!(is_taken, kind == FileKind::of_file(path), "{path:?} {kind:?}");
            }
        }
    }
}
