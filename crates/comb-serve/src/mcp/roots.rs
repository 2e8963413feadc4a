//! The directories that a client may read, and the paths of its requests.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use finecomb_sys::io_reason;

/// Directories that requests are confined to. The first one is the working directory of the process: paths below it are relative.
#[derive(Debug)]
pub(super) struct Roots {
    /// Absolute paths without links. None of them is inside another.
    all: Vec<PathBuf>,
}

/// Place of a path in the order of results: the number of its root, and its path below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PathKey(usize, PathBuf);

impl PathKey {
    /// The folder that a file is in, below a place: `.` if it is in none.
    pub(super) fn folder_below(&self, place: &Self) -> OsString {
        let mut below = self.1.strip_prefix(&place.1).unwrap_or(&self.1).components();
        let first = below.next().map(|part| part.as_os_str().to_owned());
        first.filter(|_| below.next().is_some()).unwrap_or_else(|| ".".into())
    }

    /// Whether it is a place, or below it.
    pub(super) fn is_below(&self, other: &Self) -> bool {
        self.0 == other.0 && self.1.starts_with(&other.1)
    }
}

impl Roots {
    /// Resolves the roots and enters the first one.
    ///
    /// # Errors
    /// If one of them is not a directory.
    pub(super) fn enter(given: &[PathBuf]) -> Result<Self, String> {
        let resolved: Result<Vec<PathBuf>, String> = given.iter().map(|root| resolve_root(root)).collect();
        let resolved = resolved?;
        let mut all: Vec<PathBuf> = Vec::new();
        for root in &resolved {
            let is_inside = |other: &PathBuf| other != root && root.starts_with(other);
            if !all.contains(root) && !resolved.iter().any(is_inside) {
                all.push(root.clone());
            }
        }
        let first = &all[0];
        env::set_current_dir(first).map_err(|error| format!("{}: {}", first.display(), io_reason(&error)))?;
        Ok(Self { all })
    }

    /// A root that is not entered.
    #[cfg(test)]
    pub(super) fn of(root: &Path) -> Self {
        Self { all: vec![root.to_owned()] }
    }

    /// The named inputs of a request, in the order of their results: all roots if it has no paths. A path inside of another one
    /// is searched with it.
    ///
    /// # Errors
    /// If a path cannot be read, or is outside of the roots.
    pub(super) fn inputs(&self, paths: &[String]) -> Result<Vec<PathBuf>, String> {
        let mut keys: Vec<PathKey> = match paths {
            [] => (0..self.all.len()).map(|root| PathKey(root, PathBuf::new())).collect(),
            paths => paths.iter().map(|path| self.resolve(path.as_ref())).collect::<Result<_, _>>()?,
        };
        keys.sort();
        keys.dedup_by(|next, before| next.is_below(before));
        Ok(keys.iter().map(|key| self.named(key)).collect())
    }

    /// The named inputs of a request in the order given, where that has a meaning.
    ///
    /// # Errors
    /// If a path cannot be read, or is outside of the roots.
    pub(super) fn inputs_as_given(&self, paths: &[String]) -> Result<Vec<PathBuf>, String> {
        paths.iter().map(|path| Ok(self.named(&self.resolve(path.as_ref())?))).collect()
    }

    /// The only file of a request, as an input.
    ///
    /// # Errors
    /// If it is not a file, or outside of the roots.
    pub(super) fn file(&self, path: &Path) -> Result<PathBuf, String> {
        let named = self.named(&self.resolve(path)?);
        if named.is_file() { Ok(named) } else { Err(format!("{}: not a file", path.display())) }
    }

    /// The place of a path in the order of results, given as results show it.
    pub(super) fn key(&self, shown: &Path) -> PathKey {
        let below = |root: &PathBuf| shown.strip_prefix(root).ok();
        let found = self.all.iter().enumerate().find_map(|(number, root)| Some((number, below(root)?)));
        let (number, path) = found.unwrap_or((0, shown));
        // Components leave out a leading `./`.
        PathKey(number, path.components().filter(|part| *part != Component::CurDir).collect())
    }

    /// Resolves links, and checks that the result is a file or a directory below a root.
    fn resolve(&self, path: &Path) -> Result<PathKey, String> {
        let shown = path.display();
        let outside = || format!("{shown}: outside of the roots; only {} may be read", self.names());
        // The working directory is the first root.
        let resolved = match fs::canonicalize(path) {
            Ok(resolved) => resolved,
            Err(_) if !self.has_ancestor_inside(path) => return Err(outside()),
            Err(error) => return Err(format!("{shown}: {}", io_reason(&error))),
        };
        let key = self.inside(&resolved).ok_or_else(outside)?;
        if !resolved.is_file() && !resolved.is_dir() {
            return Err(format!("{shown}: not a file or a directory"));
        }
        Ok(key)
    }

    /// Whether the deepest existing directory above a path is below a root. An error must reveal nothing about files outside.
    fn has_ancestor_inside(&self, path: &Path) -> bool {
        let above = path
            .ancestors()
            .skip(1)
            .map(|above| if above.as_os_str().is_empty() { Path::new(".") } else { above });
        let existing = above.map(fs::canonicalize).find_map(Result::ok);
        existing.is_some_and(|existing| self.inside(&existing).is_some())
    }

    fn inside(&self, resolved: &Path) -> Option<PathKey> {
        let below = |root: &PathBuf| resolved.strip_prefix(root).ok();
        self.all.iter().enumerate().find_map(|(number, root)| Some(PathKey(number, below(root)?.to_owned())))
    }

    /// The absolute path of a place.
    pub(super) fn absolute(&self, PathKey(root, path): &PathKey) -> PathBuf {
        self.all[*root].join(path)
    }

    /// The path that names an input.
    pub(super) fn named(&self, PathKey(root, path): &PathKey) -> PathBuf {
        match root {
            0 if path.as_os_str().is_empty() => PathBuf::from("."),
            // Without a prefix, this would be standard input.
            0 if path == Path::new("-") => PathBuf::from("./-"),
            0 => path.clone(),
            _ => self.all[*root].join(path),
        }
    }

    /// The roots, absolute and without links.
    pub(super) fn all(&self) -> &[PathBuf] {
        &self.all
    }

    /// The roots, for messages.
    pub(super) fn names(&self) -> String {
        let names: Vec<String> = self.all.iter().map(|root| root.display().to_string()).collect();
        names.join(", ")
    }
}

fn resolve_root(root: &Path) -> Result<PathBuf, String> {
    let shown = root.display();
    let resolved = fs::canonicalize(root).map_err(|error| format!("{shown}: {}", io_reason(&error)))?;
    if resolved.is_dir() { Ok(resolved) } else { Err(format!("{shown}: not a directory")) }
}
