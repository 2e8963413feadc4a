use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use finecomb_scan::{Known, Snapshot, Snapshots};

use super::*;
use crate::build::{BuildOptions, build, update};
use crate::indexes::Indexes;
use crate::needs::Sought;
use crate::values::Values;
use crate::watch::here::FilesWithTerms;
use crate::watch::with_terms::WatchedTerms;

/// The words of a text are its terms. Files with this name have no values.
const WITHOUT_VALUE: &str = "e";

/// The words of a text are its terms.
struct Words;

fn term(word: &str) -> u64 {
    XxHash3_64::oneshot(word.as_bytes())
}

impl DeriveTerms for Words {
    fn context(&self, name: &Path) -> Option<Vec<u8>> {
        (name != Path::new(WITHOUT_VALUE)).then(|| b"c".to_vec())
    }

    fn has_none(&self, name: &Path, text: &[u8]) -> bool {
        name.extension().is_none() && text.starts_with(b"none")
    }

    fn terms(&self, text: &[u8], value: &[u8]) -> Option<Vec<u64>> {
        assert_eq!(value, text);
        let words = std::str::from_utf8(text).ok()?.split_ascii_whitespace();
        (!text.starts_with(b"any")).then(|| words.map(term).collect())
    }
}

/// A tree, its index, and the file of a program.
struct IndexedTree {
    directory: tempfile::TempDir,
    root: PathBuf,
}

impl IndexedTree {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().expect("success");
        let root = directory.path().join("tree");
        fs::create_dir_all(root.join("below")).expect("success");
        fs::write(directory.path().join("program"), "one").expect("success");
        let tree = Self { root: root.canonicalize().expect("success"), directory };
        files.iter().for_each(|(name, text)| tree.write(name, text));
        build(&tree.home(), &tree.root, &BuildOptions::default()).expect("success");
        tree
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root.join(name), text).expect("success");
    }

    fn update(&self) {
        update(&self.home(), &self.root, &BuildOptions::default()).expect("success");
    }

    fn values(&self) -> Values {
        let program = || fs::File::open(self.directory.path().join("program"));
        Values::open(&self.home(), std::slice::from_ref(&self.root), true, program).expect("success")
    }

    /// Stores the value of each text, and the terms.
    fn store(&self, texts: &[&str]) {
        let values = self.values();
        for text in texts {
            values.put(0, b"c", text.as_bytes(), || text.as_bytes().to_vec());
        }
        assert!(values.save().is_empty() && values.save_terms(&Words, 2).is_empty());
    }

    /// The names of the files that may have a word, in order, and the reasons why terms were left alone. `None` if the file system
    /// is not trusted.
    fn candidates(&self, word: &str) -> Option<(Vec<String>, usize)> {
        let terms = self.values().sought_terms(vec![term(word), term("no such word")]);
        let sought = Sought::new(vec![regex_syntax::parse("").expect("valid")]).terms(terms);
        let indexes = Indexes::new(self.home(), Some(&sought), 2);
        let trees = indexes.open(std::slice::from_ref(&self.root), &|_| None);
        let left_alone = indexes.take_opened().left_alone.len();
        let mut found = Vec::new();
        let mut directories = vec![0];
        while let Some(directory) = directories.pop() {
            let is_trusted = list(&trees[0], directory, &mut directories, &mut found);
            is_trusted.then_some(())?;
        }
        found.sort();
        Some((found, left_alone))
    }

    fn terms_path(&self) -> PathBuf {
        Folder::of_tree(&self.home(), &self.root).terms(1)
    }
}

/// Adds the candidates of a directory. Returns `false` if nothing is known of its files.
fn list(
    tree: &Arc<dyn Snapshot>,
    directory: u32,
    directories: &mut Vec<u32>,
    found: &mut Vec<String>,
) -> bool {
    let mut is_trusted = true;
    tree.list(directory, &mut |entry| match (entry.kind, entry.number) {
        (EntryKind::Directory, Some(number)) => directories.push(number),
        (EntryKind::File, Some(number)) => match tree.file(number) {
            Known::Candidate => found.push(entry.name.to_string_lossy().into_owned()),
            Known::Absent(_) => {}
            Known::Nothing => is_trusted = false,
        },
        _ => {}
    });
    is_trusted
}

const FILES: [(&str, &str); 6] = [
    ("a.c", "one two"),
    ("b.c", "two three"),
    ("below/c.c", "three"),
    ("d.c", "any thing"),
    (WITHOUT_VALUE, "no value"),
    ("f.c", "later"),
];

#[test]
fn files_without_a_term_are_left_out() {
    let tree = IndexedTree::new(&FILES);
    let Some((all, 0)) = tree.candidates("one") else { return };
    assert_eq!(all.len(), 6);
    tree.store(&["one two", "two three", "three", "any thing"]);
    // Nothing is known of files that may have any term, of files without a value, and of texts whose value was not stored.
    let found = |word| tree.candidates(word).expect("trusted").0.join(" ");
    for (word, expected) in [
        ("one", "a.c d.c e f.c"),
        ("two", "a.c b.c d.c e f.c"),
        ("three", "b.c c.c d.c e f.c"),
        ("nowhere", "d.c e f.c"),
    ] {
        assert_eq!(found(word), expected, "{word}");
    }
    // Terms are written again for values that were added since.
    tree.store(&["later"]);
    assert_eq!((found("one"), found("later")), ("a.c d.c e".to_owned(), "d.c e f.c".to_owned()));
    // Nothing is known of changed and new files after an update, until their terms are stored.
    tree.write("b.c", "one");
    tree.write("new.c", "six");
    tree.update();
    assert_eq!(found("nowhere"), "b.c d.c e new.c");
    tree.store(&["one", "six"]);
    assert_eq!((found("nowhere"), found("one")), ("d.c e".to_owned(), "a.c b.c d.c e".to_owned()));
}

#[test]
fn files_whose_texts_have_no_terms_need_no_value() {
    let tree = IndexedTree::new(&[("README", "none"), ("a.c", "none"), ("b.c", "one"), ("script", "one")]);
    let Some((_, 0)) = tree.candidates("one") else { return };
    tree.store(&["one"]);
    let found = |word| tree.candidates(word).expect("trusted").0.join(" ");
    assert_eq!((found("one"), found("nowhere")), ("a.c b.c script".to_owned(), "a.c".to_owned()));
}

#[test]
fn a_watch_knows_which_files_have_a_term() {
    let tree = IndexedTree::new(&FILES);
    let Some((_, 0)) = tree.candidates("one") else { return };
    tree.store(&["one two", "two three", "three", "any thing"]);
    let folder = Folder::of_tree(&tree.home(), &tree.root);
    let with = |word: &str, unproven: &[u32]| {
        let sought = tree.values().sought_terms(vec![term(word)]).expect("values");
        let found = WatchedTerms::of_index(&folder, &tree.root, &sought, unproven).expect("terms");
        let mut files = found.files();
        files.sort();
        let names: Vec<String> = files
            .iter()
            .map(|file| file.strip_prefix(&tree.root).expect("below").display().to_string())
            .collect();
        let may_have = FILES.map(|(name, _)| found.may_have(&tree.root.join(name)));
        assert_eq!(found.may_have(&tree.root.join("none/x.c")), None);
        (names.join(" "), may_have)
    };
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(with("two", &[]), ("a.c b.c".to_owned(), [yes, yes, no, None, None, None]));
    assert_eq!(with("three", &[]), ("b.c below/c.c".to_owned(), [no, yes, yes, None, None, None]));
    // While they are written, and for most of the index, nothing is known of them.
    let sought = tree.values().sought_terms(vec![term("two")]).expect("values");
    let has_terms = || WatchedTerms::of_index(&folder, &tree.root, &sought, &[]).is_some();
    tree.write("new.c", "two");
    tree.update();
    assert!(has_terms());
    fs::remove_file(tree.terms_path()).expect("success");
    assert!(!has_terms());
    tree.store(&[]);
    assert!(has_terms());
    // An event was reported of the first file.
    assert_eq!(with("two", &[0]).1, [None, yes, no, None, None, None]);
}

#[test]
fn terms_of_another_program_or_index_are_none() {
    let tree = IndexedTree::new(&FILES);
    tree.store(&FILES.map(|(_, text)| text));
    let Some((found, _)) = tree.candidates("nowhere") else { return };
    assert_eq!(found, ["d.c", "e"]);
    let terms = fs::read(tree.terms_path()).expect("success");
    // Another program has no values, and terms of its own once it has some.
    fs::write(tree.directory.path().join("program"), "another").expect("success");
    assert_eq!(
        tree.candidates("nowhere"),
        Some((FILES.map(|(name, _)| name.replace("below/", "")).to_vec(), 0))
    );
    tree.store(&FILES.map(|(_, text)| text));
    assert_eq!(tree.candidates("nowhere").expect("trusted").0, ["d.c", "e"]);
    fs::write(tree.terms_path(), &terms).expect("success");
    assert_eq!(tree.candidates("nowhere").expect("trusted").0.len(), 6);
    // A segment with the same number and the same trigrams, of files with other texts.
    let tree = IndexedTree::new(&[("a.c", "abc abc xyz abc"), ("b.c", "other")]);
    tree.store(&["abc abc xyz abc", "other"]);
    let terms = fs::read(tree.terms_path()).expect("success");
    tree.write("a.c", "abc xyz abc abc");
    let folder = Folder::of_tree(&tree.home(), &tree.root);
    folder.write().expect("success").remove().expect("success");
    build(&tree.home(), &tree.root, &BuildOptions::default()).expect("success");
    tree.store(&["other"]);
    fs::write(tree.terms_path(), &terms).expect("success");
    assert_eq!(tree.candidates("nowhere").expect("trusted").0, ["a.c"]);
}

#[test]
fn damaged_terms_are_left_alone() {
    let tree = IndexedTree::new(&FILES);
    tree.store(&FILES.map(|(_, text)| text));
    let Some((intact, 0)) = tree.candidates("two") else { return };
    let path = tree.terms_path();
    let file = fs::File::options().read(true).write(true).open(&path).expect("success");
    let size = file.metadata().expect("success").len();
    let mut noticed = 0;
    for at in (0..size).step_by(41).chain(size - 160..size) {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).expect("success");
        file.write_all_at(&[!byte[0]], at).expect("success");
        let (found, left_alone) = tree.candidates("two").expect("trusted");
        // Without its terms, every file may match.
        assert_eq!(found.len(), if left_alone == 0 { intact.len() } else { FILES.len() }, "byte {at}");
        noticed += left_alone;
        file.write_all_at(&byte, at).expect("success");
    }
    assert!(noticed > 160, "{noticed}");
    for length in [0, 10, size / 2, size - 1] {
        file.set_len(length).expect("success");
        assert_eq!(tree.candidates("two").expect("trusted"), {
            let mut all = FILES.map(|(name, _)| name.replace("below/", "")).to_vec();
            all.sort();
            (all, 1)
        });
        assert!(crate::info::verify(&tree.home(), &tree.root).is_err());
    }
    // They are written again.
    tree.store(&["another text"]);
    assert_eq!(tree.candidates("two"), Some((intact, 0)));
    assert!(crate::info::verify(&tree.home(), &tree.root).is_ok());
}
