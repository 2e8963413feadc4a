//! Questions of searches in the process that watches: they share its catalog and segments, and wait only for what is proven.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};

use finecomb_sys::locks::lock;

use super::answer::Proven;
use super::talk::PATIENCE;
use crate::folder::Folder;

/// The watches of this process, by the folders of their indexes.
static WATCHES: Mutex<Vec<(PathBuf, Arc<Questions>)>> = Mutex::new(Vec::new());

/// Where a search leaves its question: the way back for the answer.
struct Questions {
    sender: Sender<SyncSender<Proven>>,
    wake: UnixStream,
}

/// Asks the watch of this process what is proven; `None` if there is none, or it does not answer.
pub(crate) fn ask(folder: &Folder) -> Option<Proven> {
    let find = |watches: &Vec<(PathBuf, Arc<Questions>)>| {
        watches.iter().find(|(path, _)| path == folder.path()).map(|(_, questions)| Arc::clone(questions))
    };
    let questions = find(&lock(&WATCHES))?;
    let (answer, answered) = sync_channel(1);
    questions.sender.send(answer).ok()?;
    match (&questions.wake).write(&[0]) {
        Ok(_) => {}
        // It has been woken often enough.
        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
        Err(_) => return None,
    }
    answered.recv_timeout(PATIENCE).ok()
}

/// Takes the questions of this process, until it is dropped.
pub(super) struct Desk {
    path: PathBuf,
    asked: Receiver<SyncSender<Proven>>,
    woken: UnixStream,
}

impl Desk {
    /// Takes the questions about the tree of an index.
    ///
    /// # Errors
    /// If the process has no file descriptors left.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let (woken, wake) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        wake.set_nonblocking(true)?;
        let (sender, asked) = channel();
        lock(&WATCHES).push((folder.to_owned(), Arc::new(Questions { sender, wake })));
        Ok(Self { path: folder.to_owned(), asked, woken })
    }

    /// Readable when there are questions.
    pub(super) fn queue(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }

    /// The searches that wait for an answer.
    pub(super) fn questions(&self) -> Vec<SyncSender<Proven>> {
        // What is asked after that wakes again.
        let mut signs = [0; 64];
        while (&self.woken).read(&mut signs).is_ok_and(|count| count == signs.len()) {}
        self.asked.try_iter().collect()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        lock(&WATCHES).retain(|(path, _)| *path != self.path);
    }
}
