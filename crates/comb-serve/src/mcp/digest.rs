//! Digest of an answer that has not all results: how many there are in each folder.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsString;

use finecomb_sys::units::{Count, counted};
use finecomb_tree_index::FolderCount;

/// Number of folders that are named.
const NAMED: usize = 8;

/// The number of something in each folder, those with most first, after `what` there is in all. A folder may have several counts. `None` if all is in one.
pub(super) fn digest(what: &str, counts: impl IntoIterator<Item = (OsString, u64)>) -> Option<String> {
    let mut folders = BTreeMap::new();
    counts.into_iter().for_each(|(folder, count)| *folders.entry(folder).or_insert(0) += count);
    let mut folders: Vec<(OsString, u64)> = folders.into_iter().collect();
    folders.sort_by_key(|&(_, count)| Reverse(count));
    let named = folders.iter().take(NAMED);
    let named = named.map(|(name, count)| format!("{} {}", name.display(), Count(*count)));
    let others = (folders.len() > NAMED).then(|| counted((folders.len() - NAMED) as u64, "other folder"));
    let parts: Vec<String> = named.chain(others).collect();
    (folders.len() > 1).then(|| format!("{what}: {}", parts.join(", ")))
}

/// The same of files as an index knows them; `what` follows their number.
pub(super) fn of_files(what: &str, folders: Vec<FolderCount>) -> Option<String> {
    let all = folders.iter().map(|folder| folder.files).sum();
    let counts = folders.into_iter().map(|FolderCount { name, files }| (name, files));
    digest(&format!("{} {what}", counted(all, "file")), counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_with_most_come_first_and_few_are_named() {
        let lines = |folders: &[(&str, u64)]| {
            digest("all", folders.iter().map(|&(name, lines)| (name.into(), lines)))
        };
        assert_eq!(lines(&[("a", 3), ("a", 4)]), None);
        let expected = "all: b 1,000, a 8, . 2, c 2";
        assert_eq!(lines(&[("a", 3), ("c", 2), (".", 2), ("a", 5), ("b", 1000)]).as_deref(), Some(expected));
        let folder = |number: u64| FolderCount { name: format!("f{number}").into(), files: 1 };
        let expected = "10 files here: f0 1, f1 1, f2 1, f3 1, f4 1, f5 1, f6 1, f7 1, 2 other folders";
        assert_eq!(of_files("here", (0..10).map(folder).collect()).as_deref(), Some(expected));
    }
}
