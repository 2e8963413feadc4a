//! The conversation of a search with the process that watches a tree: over a Unix socket, one question and one answer.
//!
//! A question is JSON, up to the end of the stream. An answer is one byte, 1 for yes, and then parts of files and a catalog or,
//! for a description, JSON; or 0, and then the reason why there is none.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use finecomb_scan::TextPart;
use finecomb_sys::mounts::namespace;
use finecomb_sys::socket::has_own_peer;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::catalog::{Catalog, CatalogContents};
use crate::error::Error;
use crate::folder::{Folder, credentials};
use crate::needs::SegmentQuery;
use crate::pages::u64_at;

/// Version of the conversation.
const VERSION: u32 = 4;

/// Time-out for the other side. A search that waits in vain compares everything itself.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);

/// Bytes of a part of a file in an answer: its beginning, its end, and the lines before it.
const PART: usize = 24;

/// Maximum length of a question, in bytes.
const QUESTION: u64 = 64 << 20;

/// A question, and who asks it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Question {
    version: u32,
    /// A number for the user and the groups.
    credentials: u64,
    view: View,
    pub(super) asked: Asked,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Asked {
    /// The part of the catalog that a search needs.
    Search(SearchQuestion),
    /// The state of the watch.
    Description,
}

/// A search: its query and its place.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SearchQuestion {
    pub(crate) query: SegmentQuery,
    /// The directories that are searched.
    pub(crate) named: Vec<SearchedDirectory>,
}

/// A directory that is searched.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SearchedDirectory {
    /// Absolute path.
    path: Vec<u8>,
    /// The number of the selection there, if it has one.
    pub(super) selection: Option<u64>,
}

impl SearchedDirectory {
    pub(crate) fn new(path: &Path, selection: Option<u64>) -> Self {
        Self { path: path.as_os_str().as_bytes().to_owned(), selection }
    }

    pub(super) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }
}

/// The way in which a process sees the file system: its mount namespace and its root.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct View {
    namespace: (u64, u64),
    root: (u64, u64),
}

impl View {
    fn present() -> io::Result<Self> {
        let root = fs::metadata("/")?;
        Ok(Self { namespace: namespace()?, root: (root.dev(), root.ino()) })
    }
}

impl Question {
    /// Reads a question, and refuses questions of other users.
    pub(super) fn read(stream: &UnixStream) -> Result<Self, String> {
        let failed = |error: io::Error| error.to_string();
        limit_waits(stream).map_err(failed)?;
        has_own_peer(stream).then_some(()).ok_or("another user")?;
        let mut bytes = Vec::new();
        stream.take(QUESTION).read_to_end(&mut bytes).map_err(failed)?;
        let question: Self = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        if question.version != VERSION {
            return Err("another version of comb".to_owned());
        }
        if question.credentials != credentials() || question.view != View::present().map_err(failed)? {
            return Err("other groups, or another view of the file system".to_owned());
        }
        Ok(question)
    }
}

/// Sends an answer. One that cannot be sent is of no use to the search any more.
pub(super) fn reply(mut stream: &UnixStream, answer: Result<Vec<u8>, String>) {
    let (is_answer, bytes) = match answer {
        Ok(bytes) => (1, bytes),
        Err(reason) => (0, reason.into_bytes()),
    };
    let _ = stream.write_all(&[is_answer]).and_then(|()| stream.write_all(&bytes));
}

fn limit_waits(stream: &UnixStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))
}

/// Asks the process that watches the tree of an index; `None` if there is none, or it refuses. The question is made if there is
/// someone to ask.
fn ask(folder: &Folder, asked: impl FnOnce() -> Asked) -> Option<Vec<u8>> {
    let mut stream = UnixStream::connect(socket(folder).ok()?).ok()?;
    limit_waits(&stream).ok()?;
    has_own_peer(&stream).then_some(())?;
    let view = View::present().ok()?;
    let question = Question { version: VERSION, credentials: credentials(), view, asked: asked() };
    stream.write_all(&serde_json::to_vec(&question).ok()?).ok()?;
    stream.shutdown(Shutdown::Write).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    (answer.first() == Some(&1)).then(|| answer.split_off(1))
}

/// Asks for the part of the catalog that a search needs, and the parts of its files that may hold a match.
pub(crate) fn ask_for_catalog(
    folder: &Folder,
    search: impl FnOnce() -> SearchQuestion,
) -> Option<(Catalog, Vec<TextPart>)> {
    read_catalog(ask(folder, || Asked::Search(search()))?)
}

/// Takes apart what [`write_catalog`] wrote.
pub(super) fn read_catalog(mut answer: Vec<u8>) -> Option<(Catalog, Vec<TextPart>)> {
    let number = |at| u64_at(&answer, at);
    let end = usize::try_from(number(0)?).ok()?.checked_mul(PART)?.checked_add(8)?;
    answer.get(..end)?;
    let part = |at| {
        let part = TextPart { start: number(at)?, end: number(at + 8)?, lines_before: number(at + 16)? };
        (part.start <= part.end).then_some(part)
    };
    let parts = (8..end).step_by(PART).map(part).collect::<Option<_>>()?;
    answer.drain(..end);
    Some((Catalog::parse(answer, 0)?, parts))
}

/// Writes the part of the catalog that a search needs.
pub(super) fn write_catalog(contents: &CatalogContents, parts: &[TextPart]) -> io::Result<Vec<u8>> {
    let numbers = parts.iter().flat_map(|part| [part.start, part.end, part.lines_before]);
    let numbers = [parts.len() as u64].into_iter().chain(numbers);
    let mut bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
    contents.write(&mut bytes)?;
    Ok(bytes)
}

/// The state of a process that watches a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchInfo {
    /// Its number.
    pub process: u32,
    /// Number of directories and files that are watched.
    pub watches: usize,
    /// Number of directories and files that each search compares with the index, as they are not proven to be the same.
    pub compared: usize,
    /// Number of times that events were lost because there were too many of them. Then, everything is compared for a moment.
    pub overflows: u64,
    /// Set if the system allows no more watches (`fs.inotify.max_user_watches`).
    pub is_at_limit: bool,
    /// Number of searches that were answered.
    pub answers: u64,
    /// Number of updates of the index so far.
    pub updates: u64,
    /// Why the last update failed; the next one is tried later.
    pub failure: Option<String>,
}

/// Asks for the state of the process that watches the tree of an index.
pub(crate) fn ask_for_info(folder: &Folder) -> Option<WatchInfo> {
    serde_json::from_slice(&ask(folder, || Asked::Description)?).ok()
}

/// The path of the socket for an index: in `$XDG_RUNTIME_DIR`, or in the folder of the index.
fn socket(folder: &Folder) -> io::Result<PathBuf> {
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder.path().canonicalize()?;
    Ok(match runtime {
        Some(runtime) => {
            let number = XxHash3_64::oneshot(folder.as_os_str().as_bytes());
            runtime.join("finecomb").join(format!("{number:016x}.socket"))
        }
        None => folder.join("socket"),
    })
}

/// Maximum number of questions that are answered in a row. If they do not end, proofs are made all the same.
const IN_A_ROW: usize = 8;

/// Listens for questions, until it is dropped.
pub(super) struct Listener {
    pub(super) socket: UnixListener,
    path: PathBuf,
}

impl Listener {
    /// Listens for questions about the tree of an index. No other process may do so.
    ///
    /// # Errors
    /// If the socket cannot be created.
    pub(super) fn new(folder: &Folder) -> Result<Self, Error> {
        let path = socket(folder).map_err(Error::io(folder.path()))?;
        if let Some(parent) = path.parent() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(parent);
            made.map_err(Error::io(parent))?;
        }
        // Removes the socket of a process that was killed.
        let _ = fs::remove_file(&path);
        let listen = || {
            let socket = UnixListener::bind(&path)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let socket = listen().map_err(Error::io(&path))?;
        Ok(Self { socket, path })
    }

    /// Some of the searches that wait, in their order.
    pub(super) fn waiting(&self) -> impl Iterator<Item = UnixStream> {
        (0..IN_A_ROW).map_while(|_| self.socket.accept().ok()).map(|(stream, _)| stream)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
