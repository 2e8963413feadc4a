//! Input files of an experiment: the files that `comb grep` would search, listed before anything is timed.

use std::io;
use std::path::Path;

use finecomb_scan::{FoundFile, Inputs, WalkOptions, list_files};

use crate::error::{Error, Result};

/// The files at or below a path, sorted by path, without hidden files and those excluded by rules such as `.gitignore`. A
/// file named directly is always included. The second result is the number of files and directories that could not be
/// accessed. Fails if the path does not exist, or has no file below it.
pub(crate) fn below(path: &Path) -> Result<(Vec<FoundFile>, u64)> {
    let failed = |error| Error::Io { path: path.to_owned(), doing: "", error };
    path.metadata().map_err(failed)?;
    let (files, problems) = list_files(&Inputs { walk: WalkOptions::of_search(), ..Inputs::new([path]) });
    if files.is_empty() {
        return Err(failed(io::Error::new(io::ErrorKind::NotFound, "no files to read")));
    }
    Ok((files, problems.iter().filter(|problem| !problem.is_harmless()).count() as u64))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn files_are_those_that_grep_would_search() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("sub")).expect("a directory");
        for (name, content) in [
            ("b", "12"),
            ("sub/a", "1"),
            (".hidden", "1"),
            ("left-out", "1"),
            (".ignore", "left-out\n"),
            ("sub/.rgignore", "no\n"),
            ("sub/no", "1"),
        ] {
            fs::write(at(name), content).expect("a file");
        }
        let (files, inaccessible) = below(directory.path()).expect("files");
        let found = |name, size| FoundFile { path: at(name), size, is_named: false };
        assert_eq!((files, inaccessible), (vec![found("b", 2), found("sub/a", 1)], 0));
        assert_eq!(below(&at(".hidden")).expect("a file").0.len(), 1);
        symlink(at("b"), at("link")).expect("a link");
        symlink(at("sub"), at("sub-link")).expect("a link");
        let paths = |path: &Path| -> Vec<PathBuf> {
            below(path).expect("files").0.into_iter().map(|found| found.path).collect()
        };
        assert_eq!(paths(&at("link")), [at("link")]);
        assert_eq!(paths(&at("sub-link")), [at("sub-link/a")]);
        assert_eq!(paths(directory.path()), [at("b"), at("sub/a")]);
    }

    #[test]
    fn missing_and_empty_paths_are_errors() {
        let directory = tempfile::tempdir().expect("a directory");
        let message = |path: &Path| below(path).expect_err("nothing there").to_string();
        let path = directory.path();
        assert_eq!(message(path), format!("{}: no files to read", path.display()));
        let missing = path.join("missing");
        assert_eq!(message(&missing), format!("{}: no such file or directory", missing.display()));
    }
}
