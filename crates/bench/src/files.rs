//! Files that an experiment reads: those that `comb grep` would search, found before anything is timed.

use std::io;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use crate::error::{Error, Result};

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// Its bytes when it was found.
    pub(crate) size: u64,
}

/// The files at or below a path, sorted by path: neither hidden ones nor those that rules such as
/// `.gitignore` leave out. A file that is named itself is taken whatever its name. The second number is how
/// many files and directories could not be looked at.
///
/// # Errors
///
/// If there is nothing at the path, or no file below it.
pub(crate) fn below(path: &Path) -> Result<(Vec<Found>, u64)> {
    let failed = |error| Error::Io { path: path.to_owned(), doing: "", error };
    path.metadata().map_err(failed)?;
    let mut walk = WalkBuilder::new(path);
    walk.add_custom_ignore_filename(".rgignore").add_custom_ignore_filename(".agignore");
    let (mut files, mut unseen) = (Vec::new(), 0);
    for entry in walk.build() {
        // The path that was given may be a link to what is read; others are not followed, as comb does not
        // either.
        let entry = entry.and_then(|entry| match entry.depth() {
            0 => Ok((entry.path().metadata()?, entry)),
            _ => Ok((entry.metadata()?, entry)),
        });
        match entry {
            Ok((metadata, entry)) if metadata.is_file() => {
                files.push(Found { path: entry.into_path(), size: metadata.len() });
            }
            Ok(_) => {}
            Err(_) => unseen += 1,
        }
    }
    if files.is_empty() {
        return Err(failed(io::Error::new(io::ErrorKind::NotFound, "there is no file to read")));
    }
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok((files, unseen))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

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
        let (found, unseen) = below(directory.path()).expect("files");
        assert_eq!(
            (found, unseen),
            (vec![Found { path: at("b"), size: 2 }, Found { path: at("sub/a"), size: 1 }], 0)
        );
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
    fn what_is_missing_and_what_is_empty_are_errors() {
        let directory = tempfile::tempdir().expect("a directory");
        let said = |path: &Path| below(path).expect_err("nothing there").to_string();
        let path = directory.path();
        assert_eq!(said(path), format!("{}: there is no file to read", path.display()));
        let missing = path.join("missing");
        assert_eq!(said(&missing), format!("{}: No such file or directory", missing.display()));
    }
}
