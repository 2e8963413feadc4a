//! Questions of searches in the process that watches: they share its catalog and segments, and wait only for what is proven.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};

use finecomb_scan::Snapshot;
use finecomb_sys::locks::lock;

use super::opened::{OpenedFile, OpenedFiles, Opening};
use super::talk::{PATIENCE, SearchQuestion};
use super::waker::Waker;
use super::watched::{FolderCount, Watched};
use crate::by_folder::{ByFolder, Entered};
use crate::error::Error;
use crate::folder::Folder;
use crate::needs::{SegmentQuery, Sought, SoughtTerms};

/// The watches of this process.
static WATCHES: ByFolder<WatchHere> = ByFolder::new();

/// A tree, and the knowledge of what is unchanged in it.
pub(crate) trait ProvenTree: Send {
    /// The root of the tree.
    fn root(&self) -> &Path;

    /// The part that a search needs, and the reasons why parts of the index were left alone. If `reads` is set, the search reads only files
    /// with these names.
    ///
    /// # Errors
    /// If a segment cannot be read or is damaged.
    fn part_for(
        self: Box<Self>,
        search: &SearchQuestion,
        reads: Option<fn(&Path) -> bool>,
    ) -> Result<(Arc<dyn Snapshot>, Vec<Error>), Error>;

    /// The files with one of some terms; `None` if the terms of most files are not known.
    fn with_terms(self: Box<Self>, sought: &SoughtTerms) -> Option<Box<dyn FilesWithTerms>>;
}

/// Counts the files in each folder of a directory that may hold a match of what is sought, or all. They are as they were indexed. `None`
/// if this process does not watch the tree of the directory.
pub fn count_by_folder(home: &Path, directory: &Path, sought: Option<&Sought>) -> Option<Vec<FolderCount>> {
    let (_, folder) = Folder::nearest(home, directory)?;
    // The watch need not be asked: nothing of it is proven.
    let now = lock(&WATCHES.get(&folder)?.now).clone();
    now.count_by_folder(directory, sought.map(SegmentQuery::of).as_ref())
}

/// The files of a watched tree that may have one of some terms, at a moment.
pub trait FilesWithTerms {
    /// Absolute paths of the files that are known to have one of the terms, or another one with the same hash.
    fn files(&self) -> Vec<PathBuf>;

    /// Whether a file may have one of the terms, given its absolute path; `None` if its terms are not known.
    fn may_have(&self, path: &Path) -> Option<bool>;
}

/// Asks for the files with one of some terms in the tree of a directory; `None` if this process does not watch it, or the terms of most files are not known,
/// as while they are written.
pub fn files_with_terms(
    home: &Path,
    directory: &Path,
    sought: &SoughtTerms,
) -> Option<Box<dyn FilesWithTerms>> {
    let (root, folder) = Folder::nearest(home, directory)?;
    let proven = ask(&folder).filter(|proven| proven.root() == root)?;
    proven.with_terms(sought)
}

/// The way back to a search.
pub(super) type Answer = SyncSender<Box<dyn ProvenTree>>;

/// The place of a watch where searches leave their questions, and the files that they have opened.
struct WatchHere {
    sender: Sender<Answer>,
    waker: Arc<Waker>,
    opened: Arc<OpenedFiles>,
    /// The index.
    now: Mutex<Arc<Watched>>,
}

/// Asks the watch of this process what is proven; `None` if there is none, or it does not answer.
pub(crate) fn ask(folder: &Folder) -> Option<Box<dyn ProvenTree>> {
    let watch = WATCHES.get(folder)?;
    let (answer, answered) = sync_channel(1);
    watch.sender.send(answer).ok()?;
    watch.waker.wake().then(|| answered.recv_timeout(PATIENCE).ok()).flatten()
}

/// Takes the questions of this process, until it is dropped.
pub(super) struct Desk {
    asked: Receiver<Answer>,
    woken: UnixStream,
    place: Entered<WatchHere>,
}

impl Desk {
    /// Takes the questions about the tree of an index.
    ///
    /// # Errors
    /// If the process has no file descriptors left.
    pub(super) fn new(folder: &Folder, now: &Arc<Watched>) -> io::Result<Self> {
        let (waker, woken) = Waker::new()?;
        let (waker, (sender, asked)) = (Arc::new(waker), channel());
        let opened = Arc::new(OpenedFiles::new(Arc::clone(&waker)));
        let now = Mutex::new(Arc::clone(now));
        Ok(Self { asked, woken, place: WATCHES.enter(folder, WatchHere { sender, waker, opened, now }) })
    }

    /// Takes note of the index after an update.
    pub(super) fn show(&self, now: &Arc<Watched>) {
        lock(&self.place.value().now).clone_from(now);
    }

    /// Readable when there are questions, or files that searches have opened.
    pub(super) fn queue(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }

    /// The searches that wait for an answer.
    pub(super) fn questions(&self) -> Vec<Answer> {
        // What is asked after that wakes again.
        let mut signs = [0; 64];
        while (&self.woken).read(&mut signs).is_ok_and(|count| count == signs.len()) {}
        self.asked.try_iter().collect()
    }

    /// The files that searches have opened.
    pub(super) fn opened(&self) -> Vec<OpenedFile> {
        self.place.value().opened.take()
    }

    /// The files that a search will open. `doubts` is the number of times that all proofs were given up before it.
    pub(super) fn opening(&self, doubts: u64) -> Opening {
        Opening::new(Arc::clone(&self.place.value().opened), doubts)
    }
}
