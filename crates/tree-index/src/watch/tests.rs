use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;

use finecomb_scan::{EntryKind, Known, Snapshot, Snapshots, Stamp};
use proptest::prelude::*;
use rustix::fs::OFlags;

use super::answer::NeededPart;
use super::opened::Opening;
use super::proofs::Held;
use super::talk::{SearchQuestion, SearchedDirectory, read_catalog};
use super::watched::FolderCount;
use super::*;
use crate::indexes::{Indexes, UsedIndex};
use crate::needs::{SegmentQuery, Sought};

/// A tree and its index.
struct IndexedTree {
    directory: tempfile::TempDir,
    root: PathBuf,
}

impl IndexedTree {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().join("tree");
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("room");
            fs::write(path, text).expect("room");
        }
        let tree = Self { root: root.canonicalize().expect("a path"), directory };
        build(&tree.home(), &tree.root, &BuildOptions::default()).expect("an index");
        tree
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    fn folder(&self) -> Folder {
        Folder::of_tree(&self.home(), &self.root)
    }
}

fn sought(pattern: &str) -> Sought {
    Sought::new(vec![regex_syntax::parse(pattern).expect("valid")])
}

/// Adds the knowledge that a search has of a directory and those below it: each entry with its path and the knowledge of it.
fn learnt(tree: &dyn Snapshot, directory: &Path, number: u32, lines: &mut Vec<String>) {
    let mut below = Vec::new();
    let stamp = tree.list(number, &mut |entry| {
        let path = directory.join(entry.name.to_str().expect("a name"));
        let known = match (entry.kind, entry.number) {
            (EntryKind::Directory, Some(number)) => {
                below.push((path.clone(), number));
                String::new()
            }
            // Parts of others than candidates are not asked for.
            (EntryKind::File, Some(number)) => match tree.file(number) {
                Known::Candidate => format!("candidate {:?} {:?}", tree.parts(number), tree.stamp(number)),
                known => format!("{known:?} {:?}", tree.stamp(number)),
            },
            _ => String::new(),
        };
        let is_numbered = entry.number.is_some();
        lines.push(format!(
            "{path:?} {:?} {} {} {is_numbered} {known}",
            entry.kind, entry.inode, entry.is_selected
        ));
    });
    lines.push(format!("{directory:?} {stamp:?} {:?}", tree.selection(number)));
    below.into_iter().for_each(|(path, number)| learnt(tree, &path, number, lines));
}

fn all_learnt(tree: &dyn Snapshot, root: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    learnt(tree, Path::new(""), tree.find(root).expect("the root is named"), &mut lines);
    lines
}

const FILES: [&str; 8] =
    ["a.c", "b.h", "one/c.c", "one/.hidden", "one/deep/d.c", "one/.gitignore", "two/e.c", "three/f.c"];
const TEXTS: [&str; 5] = ["", "needle\n", "a needle in hay\n", "hay\n", "nothing\0at all\n"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_search_in_the_process_learns_what_another_is_told(
        texts in prop::collection::vec(0..TEXTS.len() + 1, FILES.len()),
        parts in 0..4_usize,
        pattern in prop::sample::select(vec!["needle", "hay", "need.*hay", "nothing", "absent"]),
        unproven in prop::collection::vec((any::<bool>(), 0..8_u32), 0..5),
        named in prop::sample::select(vec!["", "one", "two"]),
        is_as_indexed in any::<bool>(),
        across_lines in any::<bool>(),
    ) {
        // The last one is large enough for several parts.
        let large = format!("{}needle\n", "much hay\n".repeat(10_000 * parts));
        let texts = texts.into_iter().map(|number| TEXTS.get(number).copied().unwrap_or(&large));
        let files: Vec<(&str, &str)> = FILES.into_iter().zip(texts).collect();
        let tree = IndexedTree::new(&files);
        let now = Arc::new(Watched::open(&tree.folder(), &tree.root).expect("an index"));
        let exists = |node: &DirectoryOrFile| match *node {
            DirectoryOrFile::Directory(number) => number < now.catalog.directories(),
            DirectoryOrFile::File(number) => number < now.catalog.files(),
        };
        let node = |(is_file, number): (bool, u32)| match is_file {
            true => DirectoryOrFile::File(number),
            false => DirectoryOrFile::Directory(number),
        };
        let unproven: BTreeSet<_> = unproven.into_iter().map(node).filter(exists).collect();
        let root = tree.root.join(named);
        let selection = now.catalog.find(&root).and_then(|number| now.catalog.selection(number));
        let named = vec![SearchedDirectory::new(&root, selection.filter(|_| is_as_indexed))];
        let query = SegmentQuery::of(&sought(pattern).across_lines(across_lines));
        let proven = Proven { now: Arc::clone(&now), unproven: unproven.into_iter().collect(), opening: None };
        let part: NeededPart = proven.needed(&SearchQuestion { query, named }, None).expect("no damage");
        let (contents, parts) = part.contents();
        let written = write_catalog(&contents, &parts).expect("memory");
        let (catalog, parts) = read_catalog(written).expect("what was written");
        let told = UsedIndex::told(catalog, parts);
        prop_assert_eq!(all_learnt(&part, &root), all_learnt(&told, &root));
    }
}

/// Rules may select hidden directories: then a repository is in the index, and nothing in it need match.
#[test]
fn a_search_learns_of_repositories_without_a_candidate() {
    let tree =
        IndexedTree::new(&[(".ignore", "!*\n"), ("one/.git/info/exclude", "x\n"), ("two/a", "needle\n")]);
    let now = Arc::new(Watched::open(&tree.folder(), &tree.root).expect("an index"));
    let named = vec![SearchedDirectory::new(&tree.root, now.catalog.selection(0))];
    let query = SegmentQuery::of(&sought("needle"));
    let part =
        Proven { now, unproven: Vec::new(), opening: None }.needed(&SearchQuestion { query, named }, None);
    let lines = all_learnt(&part.expect("no damage"), &tree.root);
    assert!(lines.iter().any(|line| line.starts_with("\"one/.git\"")), "{lines:?}");
}

#[test]
fn questions_without_end_are_answered_in_turns() {
    let tree = IndexedTree::new(&[("a", "needle\n")]);
    let listener = Listener::new(&tree.folder()).expect("a socket");
    let path = listener.socket.local_addr().expect("an address");
    let path = path.as_pathname().expect("a path").to_owned();
    let connect = |_| UnixStream::connect(&path).expect("a place to wait");
    let waiting: Vec<UnixStream> = (0..20).map(connect).collect();
    let turns = [(); 4].map(|()| listener.waiting().count());
    assert_eq!((waiting.len(), turns), (20, [8, 8, 4, 0]));
}

#[test]
fn files_are_counted_in_each_folder() {
    let texts = ["needle\n", "needle\n", "hay\n", "hay\n", "needle\n", "\n", "needle\n", "hay\n"];
    let tree = IndexedTree::new(&FILES.into_iter().zip(texts).collect::<Vec<_>>());
    let now = Watched::open(&tree.folder(), &tree.root).expect("an index");
    let count = |directory: &str, pattern: Option<&str>| {
        let query = pattern.map(|pattern| SegmentQuery::of(&sought(pattern)));
        let counts = now.count_by_folder(&tree.root.join(directory), query.as_ref())?;
        let in_words = |count: &FolderCount| format!("{} {}", count.name.display(), count.files);
        Some(counts.iter().map(in_words).collect::<Vec<_>>().join(", "))
    };
    // Hidden files are not indexed, except rules.
    assert_eq!(count("", None).as_deref(), Some(". 2, one 3, three 1, two 1"));
    assert_eq!(count("one", None).as_deref(), Some(". 2, deep 1"));
    assert_eq!(count("", Some("needle")).as_deref(), Some(". 2, one 1, two 1"));
    assert_eq!(count("two", Some("needle")).as_deref(), Some(". 1"));
    assert_eq!(count("two", Some("hay")).as_deref(), Some(""));
    assert_eq!(count("none", None), None);
}

#[test]
fn searches_ask_the_watch_of_their_process() {
    if !IS_LINUX {
        return;
    }
    let tree = IndexedTree::new(&[("a", "needle\n"), ("b", "hay\n")]);
    let stop = Stop::new().expect("file descriptors");
    let (home, root) = (tree.home(), tree.root.clone());
    // Whether the watch was asked, and the candidates.
    let search = |pattern: &str| {
        let indexes = Indexes::new(home.clone(), Some(&sought(pattern)), 1);
        let trees = indexes.open(std::slice::from_ref(&root), &|_| None);
        let mut lines = Vec::new();
        trees.iter().for_each(|tree| lines.extend(all_learnt(&**tree, &root)));
        (indexes.take_opened().is_reduced, lines)
    };
    assert!(here::ask(&tree.folder()).is_none());
    thread::scope(|scope| {
        let (sender, ready) = mpsc::channel();
        let (home, root, stop) = (&home, &root, &stop);
        let watching = scope.spawn(move || {
            let on_state = |info: &WatchInfo| sender.send(info.watches).expect("a test that waits");
            let build = BuildOptions::default();
            watch(home, root, &WatchOptions::new(&build, stop).on_state(&on_state))
        });
        assert!(ready.recv().expect("a watch") > 0);
        assert!(here::ask(&tree.folder()).is_some());
        let (is_asked, before) = search("needle");
        assert!(is_asked && before.iter().any(|line| line.starts_with("\"a\"")), "{before:?}");
        // A new file changes the stamp of the directory, so the watch no longer says that nothing else is there.
        fs::write(root.join("c"), "a needle\n").expect("room");
        let (is_asked, after) = search("needle");
        assert!(is_asked && after.iter().any(|line| line.starts_with("\"b\"")), "{after:?}");
        stop.raise();
        drop(tree.folder().write().expect("no writer"));
        while !watching.is_finished() {
            // A question wakes the watch, which sees the stop.
            here::ask(&tree.folder());
        }
        watching.join().expect("no panic").expect("no error");
    });
    assert!(here::ask(&tree.folder()).is_none());
    assert!(!search("needle").0);
}

/// An event in a tree of two files.
#[derive(Clone, Debug)]
enum Step {
    /// A search begins.
    Begin,
    /// The search opens a file.
    Open(u32),
    /// The watch takes the opened files.
    Take,
    /// It takes in all that happened.
    Settle,
    /// It makes proofs itself.
    Prove,
    /// It gives up all proofs.
    Doubt,
    /// A program opens a file to write, writes, or closes it.
    OpenToWrite(u32),
    Write(u32),
    Close(u32),
    /// Another file takes the place of a file.
    Replace(u32),
    /// A file gets other permissions.
    Protect(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let of_file = (0..5_usize, 0..2_u32).prop_map(|(kind, file)| match kind {
        0 => Step::OpenToWrite(file),
        1 => Step::Write(file),
        2 => Step::Close(file),
        3 => Step::Replace(file),
        _ => Step::Protect(file),
    });
    prop_oneof![
        8 => (0..2_u32).prop_map(Step::Open),
        6 => Just(Step::Take),
        6 => Just(Step::Settle),
        3 => Just(Step::Begin),
        1 => Just(Step::Prove),
        1 => Just(Step::Doubt),
        8 => of_file,
    ]
}

/// A watch of two files, a search, and a program that writes to each file.
struct Scene {
    now: Arc<Watched>,
    desk: Desk,
    proofs: Proofs,
    paths: [PathBuf; 2],
    writers: [Option<fs::File>; 2],
    opening: Opening,
    held: Vec<Held>,
    doubts: u64,
}

impl Scene {
    fn of(tree: &IndexedTree) -> Self {
        let now = Arc::new(Watched::open(&tree.folder(), &tree.root).expect("an index"));
        let desk = Desk::new(&tree.folder(), &now).expect("file descriptors");
        let mut proofs = Proofs::new().expect("a queue of events");
        proofs.doubt_all(&now);
        let paths = [0, 1].map(|file| tree.root.join(now.name_of(file)));
        let opening = desk.opening(proofs.doubts);
        Self { now, desk, proofs, paths, writers: [None, None], opening, held: Vec::new(), doubts: 0 }
    }

    fn take(&mut self) {
        self.held = self.proofs.hold_opened(self.desk.opened(), &self.now);
        self.doubts = self.proofs.doubts;
    }

    fn settle(&mut self) {
        let Drained { changed, .. } = self.proofs.drain(&self.now).expect("events");
        let held = std::mem::take(&mut self.held);
        if self.doubts == self.proofs.doubts {
            self.proofs.settle(held, &changed);
        }
    }

    fn open(&self, file: u32) {
        let opened = fs::File::open(&self.paths[file as usize]).expect("a file");
        self.opening.add(file, opened.as_fd());
    }

    /// Returns `true` if everything that happened is known after it.
    fn go(&mut self, step: &Step) -> bool {
        match *step {
            Step::Begin => self.opening = self.desk.opening(self.proofs.doubts),
            Step::Open(file) => self.open(file),
            Step::Take => self.take(),
            Step::Settle => self.settle(),
            Step::Prove => drop(self.proofs.prove_some(&self.now).expect("events")),
            Step::Doubt => self.proofs.doubt_all(&self.now),
            Step::OpenToWrite(file)
            | Step::Write(file)
            | Step::Close(file)
            | Step::Replace(file)
            | Step::Protect(file) => {
                change(&self.paths[file as usize], &mut self.writers[file as usize], step);
            }
        }
        matches!(step, Step::Settle | Step::Prove)
    }

    fn is_proven(&self, file: u32) -> bool {
        !self.proofs.unproven.contains(&DirectoryOrFile::File(file))
    }

    /// Whether a file is as in the catalog and has no writer; `None` if another one has its place, which is a new entry of its
    /// directory.
    fn is_sound(&self, file: u32) -> Option<bool> {
        let opened = fs::File::open(&self.paths[file as usize]).expect("a file");
        let present = Stamp::of_open(opened).expect("a file");
        let indexed = self.now.stamp(DirectoryOrFile::File(file))?;
        let is_same = indexed == present && self.writers[file as usize].is_none();
        (indexed.inode == present.inode).then_some(is_same)
    }
}

/// Lets happen what happens to a file; `writer` is the program that has it open.
fn change(path: &Path, writer: &mut Option<fs::File>, step: &Step) {
    match step {
        Step::OpenToWrite(_) => {
            // A lease makes it wait; the watch is not there to give it back.
            let flags = OFlags::NONBLOCK.bits() as i32;
            *writer = fs::OpenOptions::new().write(true).custom_flags(flags).open(path).ok();
        }
        Step::Write(_) => writer.iter_mut().for_each(|file| file.write_all(b"x").expect("room")),
        Step::Close(_) => *writer = None,
        Step::Replace(_) => {
            let other = path.with_extension("new");
            fs::write(&other, "needle\n").expect("room");
            fs::rename(other, path).expect("room");
            *writer = None;
        }
        _ => {
            let mode = fs::metadata(path).expect("a file").permissions().mode() ^ 0o010;
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("an own file");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if IS_LINUX { 64 } else { 0 }))]

    #[test]
    fn files_that_searches_have_opened_are_proven_unless_they_have_changed_or_a_writer(
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let tree = IndexedTree::new(&[("a", "needle\n"), ("b", "needle\n")]);
        let mut scene = Scene::of(&tree);
        for (number, step) in steps.iter().enumerate() {
            if scene.go(step) {
                let is_wrong = |&file: &u32| scene.is_proven(file) && scene.is_sound(file) == Some(false);
                prop_assert_eq!([0, 1].iter().find(|file| is_wrong(file)), None, "{:?}", &steps[..=number]);
            }
        }
        // Another lease is not given while a writer has asked for the end of one.
        scene.held.clear();
        drop(scene.desk.opened());
        scene.settle();
        scene.go(&Step::Begin);
        [0, 1].into_iter().for_each(|file| scene.open(file));
        scene.take();
        scene.settle();
        let is_lost = |&file: &u32| scene.is_sound(file) == Some(true) && !scene.is_proven(file);
        prop_assert_eq!([0, 1].iter().find(|file| is_lost(file)), None, "{:?}", steps);
    }
}
