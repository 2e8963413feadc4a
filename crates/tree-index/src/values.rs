//! Values that a program derives from texts, kept in the folder of an index for its later runs.
//!
//! A value is found by a hash of the text: so it is right for every file with this text, whether it was touched, moved, or checked out
//! again, and needs no proof. The seed of the hash is random, so that collisions cannot be prepared in advance.
//! A file of values belongs to the program that wrote it: another build may derive something else.
//!
//! The file is not a database of redb, which verifies no checksums when it reads: of 200 such files with a flipped byte, 160 returned
//! wrong values.
//!
//! docs/tree-index-format.md describes every byte.

mod file;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use finecomb_scan::Stamp;
use finecomb_sys::ReadBuffer;
use finecomb_sys::locks::lock;
use twox_hash::{XxHash3_64, XxHash3_128};

use crate::by_folder::ByFolder;
use crate::error::Error;
use crate::folder::{Folder, Writing, credentials};
use crate::kept_file::KeptFile;
use crate::needs::SoughtTerms;
use crate::terms::{DeriveTerms, TermWriter};
pub(crate) use file::ValueFile;
use file::{ValueEntry, packed, write};

/// Hash of a text, and of what else a value depends on.
type ValueKey = u128;

/// Number of runs in a row that use most values, but not this one, after which it is dropped.
const MAX_AGE: u32 = 16;

/// Time to wait for another process that writes to the index, such as a watch: some values took long to derive.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// The values for the texts of some inputs.
#[derive(Debug, Default)]
pub struct Values {
    trees: Vec<TreeValues>,
    /// The tree of each input, if it has an index.
    by_input: Vec<Option<usize>>,
}

impl Values {
    /// Opens the values of the nearest tree with an index that each input is in. Ignores values that are damaged or from another
    /// program. Saves the values of this run only if `are_kept` is set. `program` opens the file of the program.
    ///
    /// # Errors
    /// If the file of the program cannot be read.
    pub fn open(
        home: &Path,
        inputs: &[PathBuf],
        are_kept: bool,
        program: impl Fn() -> io::Result<File>,
    ) -> io::Result<Self> {
        let mut values = Self::default();
        let inputs = if home.exists() { inputs } else { &[] };
        for input in inputs {
            let path = input.canonicalize().unwrap_or_default();
            let nearest =
                Folder::nearest(home, &path).filter(|(_, folder)| are_kept || folder.values().exists());
            let Some((_, folder)) = nearest else {
                values.by_input.push(None);
                continue;
            };
            let known = values.trees.iter().position(|tree| tree.folder.path() == folder.path());
            values.by_input.push(Some(known.unwrap_or(values.trees.len())));
            if known.is_none() {
                values.trees.push(TreeValues::open(folder, &program()?, are_kept)?);
            }
        }
        Ok(values)
    }

    /// Whether there are neither values nor a place for them.
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// Returns the value of a text of an input. `context` is what else it depends on.
    pub fn get(&self, input: usize, context: &[u8], text: &[u8]) -> Option<Vec<u8>> {
        self.tree(input)?.get(context, text)
    }

    /// Stores the value of a text. `value` is called only if values are stored.
    pub fn put(&self, input: usize, context: &[u8], text: &[u8], value: impl FnOnce() -> Vec<u8>) {
        if let Some(tree) = self.tree(input) {
            tree.put(context, text, value);
        }
    }

    /// Saves the values of this run and of earlier ones, except values that have not been used for a while. Returns the write
    /// errors; if a write fails, the previous values remain.
    pub fn save(&self) -> Vec<Error> {
        self.trees.iter().filter_map(|tree| tree.save().err()).collect()
    }

    /// Writes the terms of the files with values, on some threads, where that has not been done. Returns the write errors.
    pub fn save_terms(&self, derive: &dyn DeriveTerms, width: usize) -> Vec<Error> {
        self.trees.iter().filter_map(|tree| tree.save_terms(derive, width).err()).collect()
    }

    /// Terms to search for, as this program has derived them; `None` if it has not stored values for any of the inputs.
    pub fn sought_terms(&self, terms: Vec<u64>) -> Option<SoughtTerms> {
        let tree = self.trees.iter().find(|tree| tree.earlier.is_some())?;
        Some(SoughtTerms { program: tree.program.checksum, terms })
    }

    fn tree(&self, input: usize) -> Option<&TreeValues> {
        self.trees.get((*self.by_input.get(input)?)?)
    }
}

/// The values for the texts of a tree.
#[derive(Debug)]
struct TreeValues {
    folder: Folder,
    program: Program,
    /// Values of earlier runs.
    earlier: Option<Arc<ValueFile>>,
    seed: u64,
    /// Values of this run; `None` if they are not kept.
    present: Option<Mutex<Present>>,
}

/// Values of a run.
#[derive(Debug, Default)]
struct Present {
    /// As they will be in the file.
    added: HashMap<ValueKey, Vec<u8>>,
    /// Values of earlier runs that were used.
    used: HashSet<ValueKey>,
    /// Number of values that were added to the file.
    saved: u64,
}

impl TreeValues {
    fn open(folder: Folder, program: &File, are_kept: bool) -> io::Result<Self> {
        let kept = KEPT_OPEN.get(&folder).unwrap_or_default();
        let (program, earlier) = kept.of_program(&folder, program)?;
        let seed = earlier.as_ref().map_or_else(|| RandomState::new().hash_one(0), |earlier| earlier.seed);
        Ok(Self { folder, program, earlier, seed, present: are_kept.then(Mutex::default) })
    }

    fn get(&self, context: &[u8], text: &[u8]) -> Option<Vec<u8>> {
        let earlier = self.earlier.as_ref()?;
        let key = self.key(context, text);
        let value = earlier.get(key)?;
        if let Some(present) = &self.present {
            lock(present).used.insert(key);
        }
        Some(value)
    }

    fn put(&self, context: &[u8], text: &[u8], value: impl FnOnce() -> Vec<u8>) {
        if let Some(present) = &self.present {
            let (key, value) = (self.key(context, text), packed(&value()));
            lock(present).added.insert(key, value);
        }
    }

    fn save(&self) -> Result<(), Error> {
        let Some(present) = &self.present else { return Ok(()) };
        let Present { added, used, .. } = take(&mut *lock(present));
        // The index may have been dropped.
        if added.is_empty() || !self.folder.has_index() {
            return Ok(());
        }
        let writing = self.wait_for_lock()?;
        let path = self.folder.values();
        // Another process may have saved values meanwhile. If it began without any, its values have another seed and are replaced.
        let earlier = ValueFile::open(&path).ok();
        let earlier =
            earlier.filter(|earlier| earlier.seed == self.seed && earlier.program.is_same(self.program));
        // A run over a part of the tree says nothing about the other values.
        let uses_most = earlier.as_ref().is_some_and(|earlier| 2 * used.len() >= earlier.count());
        let kept = earlier.iter().flat_map(ValueFile::entries).filter_map(|&entry| {
            let age = match used.contains(&entry.key) {
                true => 0,
                false => entry.age.saturating_add(uses_most.into()),
            };
            (age <= MAX_AGE && !added.contains_key(&entry.key)).then_some(ValueEntry { age, ..entry })
        });
        let saved = added.len() as u64;
        write(&writing, &path, (self.program, self.seed), earlier.as_ref(), kept.collect(), added)?;
        lock(present).saved = saved;
        Ok(())
    }

    fn save_terms(&self, derive: &dyn DeriveTerms, width: usize) -> Result<(), Error> {
        let Some(present) = &self.present else { return Ok(()) };
        if !self.folder.has_index() {
            return Ok(());
        }
        let writing = self.wait_for_lock()?;
        let values = ValueFile::open(&self.folder.values()).ok();
        let values = values.filter(|values| values.seed == self.seed && values.program.is_same(self.program));
        let catalog = self.folder.catalog()?;
        let Some(values) = values.filter(|_| catalog.credentials == credentials()) else { return Ok(()) };
        let value = |context: &[u8], text: &[u8]| values.get(self.key(context, text));
        let (folder, program, catalog) = (&writing, self.program.checksum, &catalog);
        let writer = TermWriter { folder, catalog, program, value: &value, derive, width };
        writer.write(lock(present).saved)
    }

    fn wait_for_lock(&self) -> Result<Writing, Error> {
        let began = Instant::now();
        loop {
            match self.folder.write() {
                Err(Error::Busy(_)) if began.elapsed() < PATIENCE => sleep(PAUSE),
                locked => return locked,
            }
        }
    }

    fn key(&self, context: &[u8], text: &[u8]) -> ValueKey {
        XxHash3_128::oneshot_with_seed(self.seed ^ XxHash3_64::oneshot(context), text)
    }
}

/// The values that watches of this process keep open.
static KEPT_OPEN: ByFolder<KeptValues> = ByFolder::new();

/// Keeps the values of an index open until the result is dropped.
pub(crate) fn keep_open(folder: &Folder) -> impl Sized + use<> {
    KEPT_OPEN.enter(folder, KeptValues::default())
}

/// A file of values that is kept open, and the program of the last question: a checksum takes longer than most questions.
#[derive(Debug, Default)]
struct KeptValues {
    file: KeptFile<ValueFile>,
    program: Mutex<Option<Program>>,
}

impl KeptValues {
    /// The program in a file, and the values that it has stored.
    fn of_program(&self, folder: &Folder, program: &File) -> io::Result<(Program, Option<Arc<ValueFile>>)> {
        let path = folder.values();
        let file = self.file.get(&path, || ValueFile::open(&path).map(Some)).ok().flatten();
        let stamp = Stamp::of_open(program)?;
        let mut last = lock(&self.program);
        let known = last.iter().copied().chain(file.as_ref().map(|file| file.program));
        let program = match known.into_iter().find(|known| known.stamp == stamp) {
            Some(program) => program,
            None => Program { stamp, checksum: checksum(program)? },
        };
        *last = Some(program);
        Ok((program, file.filter(|file| file.program.is_same(program))))
    }
}

/// The file of a program.
#[derive(Clone, Copy, Debug)]
struct Program {
    stamp: Stamp,
    checksum: u64,
}

impl Program {
    fn is_same(self, other: Self) -> bool {
        self.checksum == other.checksum
    }
}

fn checksum(file: &File) -> io::Result<u64> {
    let (mut hasher, mut offset) = (XxHash3_64::new(), 0);
    let mut buffer = ReadBuffer::new();
    loop {
        match buffer.read_at(file, 0..256 << 10, offset)? {
            0 => return Ok(hasher.finish()),
            got => {
                hasher.write(&buffer[..got]);
                offset += got as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::FileExt;
    use std::sync::mpsc;

    use super::*;

    /// A folder of an index, the file of a program, and two inputs, the first of them with the index.
    struct TestFolders {
        home: tempfile::TempDir,
        inputs: Vec<PathBuf>,
    }

    impl TestFolders {
        fn new() -> Self {
            let home = tempfile::tempdir().expect("success");
            let tree = home.path().join("tree");
            fs::create_dir(&tree).expect("success");
            let tree = tree.canonicalize().expect("success");
            let folder = Folder::of_tree(home.path(), &tree);
            folder.write().expect("success");
            fs::write(folder.path().join("catalog"), "").expect("success");
            fs::write(home.path().join("program"), "one").expect("success");
            Self { inputs: vec![tree, home.path().to_owned()], home }
        }

        fn folder(&self) -> Folder {
            Folder::of_tree(self.home.path(), &self.inputs[0])
        }

        fn open(&self, are_kept: bool) -> Values {
            let program = || File::open(self.home.path().join("program"));
            Values::open(self.home.path(), &self.inputs, are_kept, program).expect("success")
        }

        /// A run that saves a value unless there is one. Returns whether there was one.
        fn run(&self, text: &str) -> bool {
            let values = self.open(true);
            let found = values.get(0, b"c", text.as_bytes());
            if found.is_none() {
                values.put(0, b"c", text.as_bytes(), || text.repeat(100).into_bytes());
            }
            assert!(values.save().is_empty());
            assert_eq!(self.get(text), Some(text.repeat(100).into_bytes()));
            found.is_some()
        }

        fn get(&self, text: &str) -> Option<Vec<u8>> {
            self.open(false).get(0, b"c", text.as_bytes())
        }
    }

    /// Values of the reference implementation of XXH3. Files of indexes and counts depend on them.
    #[test]
    fn hashes_are_those_of_the_reference_implementation() {
        for (length, of_64, of_128, with_seed) in [
            (0, 0x2d06800538d394c2, 0x99aa06d3014798d86001c324468d497f, 0x76a30bdf56cdfa2ccb4aa04fe72c771f),
            (20, 0x287caa944e605ead, 0x21773a7052c02d6ccd7648afa6f388d9, 0x902e18a2e7f6834636be5a2f9fc8de22),
            (240, 0x375a384d957fe865, 0x65b5be86da5540e7c92b68e16f83bbb6, 0x981ac7942d4765a0b9eb3fece6a0c9d7),
            (
                4096,
                0x7135ffa504f1bc71,
                0xe12cd72144990fe57135ffa504f1bc71,
                0x334e57890d1f0bd183cc3ece121c17c5_u128,
            ),
        ] {
            let text: Vec<u8> = (0..length).map(|at: u32| (at % 251) as u8).collect();
            assert_eq!(XxHash3_64::oneshot(&text), of_64, "{length}");
            assert_eq!(XxHash3_128::oneshot(&text), of_128, "{length}");
            assert_eq!(XxHash3_128::oneshot_with_seed(7, &text), with_seed, "{length}");
        }
    }

    #[test]
    fn values_are_found_by_text_context_and_tree() {
        let place = TestFolders::new();
        assert!(place.open(false).is_empty());
        assert!(!place.run("text"));
        assert!(place.run("text"));
        let values = place.open(false);
        assert_eq!(values.get(0, b"c", b"other"), None);
        assert_eq!(values.get(0, b"h", b"text"), None);
        assert_eq!(values.get(1, b"c", b"text"), None);
        values.put(0, b"c", b"more", || unreachable!("nothing is kept"));
        assert!(values.save().is_empty() && place.get("more").is_none());
    }

    #[test]
    fn values_that_are_not_used_are_dropped() {
        let place = TestFolders::new();
        ["old", "in use", "another"].iter().for_each(|text| assert!(!place.run(text)));
        let run = |used: &[&str]| {
            let values = place.open(true);
            assert!(used.iter().all(|text| values.get(0, b"c", text.as_bytes()).is_some()));
            values.put(0, b"c", b"new", || vec![0; 9]);
            assert!(values.save().is_empty());
        };
        // Runs over a part of the tree.
        (0..2 * MAX_AGE).for_each(|_| run(&["in use"]));
        for _ in 0..=MAX_AGE {
            assert!(place.get("old").is_some());
            run(&["in use", "another"]);
        }
        assert!(place.get("in use").is_some() && place.get("old").is_none());
    }

    #[test]
    fn two_runs_at_once_both_keep_their_values() {
        let place = TestFolders::new();
        place.run("first");
        let (one, other) = (place.open(true), place.open(true));
        one.put(0, b"c", b"one", || b"1".to_vec());
        other.put(0, b"c", b"other", || b"2".to_vec());
        assert!(one.save().is_empty() && other.save().is_empty());
        assert_eq!((place.get("one"), place.get("other")), (Some(b"1".to_vec()), Some(b"2".to_vec())));
        // A writer that ends soon is waited for.
        let (ready, begun) = mpsc::channel();
        let folder = place.folder();
        let writer = std::thread::spawn(move || {
            let writing = folder.write();
            ready.send(()).expect("a receiver");
            sleep(Duration::from_millis(100));
            drop(writing);
        });
        begun.recv().expect("a sender");
        other.put(0, b"c", b"third", || b"3".to_vec());
        assert!(other.save().is_empty() && place.get("third").is_some() && place.get("one").is_some());
        writer.join().expect("no panic");
        // An index that was dropped does not come back.
        place.folder().write().expect("success").remove().expect("success");
        one.put(0, b"c", b"fourth", || b"4".to_vec());
        assert!(one.save().is_empty() && !place.folder().path().exists());
    }

    #[test]
    fn values_of_another_program_are_none() {
        let place = TestFolders::new();
        place.run("text");
        // A copy is the same program.
        fs::write(place.home.path().join("program"), "one").expect("success");
        assert!(place.get("text").is_some());
        fs::write(place.home.path().join("program"), "another").expect("success");
        assert!(place.get("text").is_none());
        place.run("text");
        fs::write(place.home.path().join("program"), "another").expect("success");
        assert!(place.get("text").is_some());
    }

    #[test]
    fn damaged_values_are_none_and_are_replaced() {
        let place = TestFolders::new();
        place.run("text");
        let path = place.folder().values();
        let file = File::options().read(true).write(true).open(&path).expect("success");
        for at in 0..file.metadata().expect("success").len() {
            let mut byte = [0];
            file.read_exact_at(&mut byte, at).expect("success");
            file.write_all_at(&[!byte[0]], at).expect("success");
            assert_eq!(place.get("text"), None, "byte {at}");
            file.write_all_at(&byte, at).expect("success");
        }
        assert!(place.get("text").is_some());
        File::create(&path).and_then(|mut file| file.write_all(b"x")).expect("success");
        assert!(!place.run("text") && place.run("text"));
    }
}
