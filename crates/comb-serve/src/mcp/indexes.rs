//! Indexes of the roots: threads of the server build, update and watch them, once calls have taken long.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use finecomb_command::advice::Advised;
use finecomb_command::message;
use finecomb_scan::Stop;
use finecomb_sys::io_reason;
use finecomb_sys::locks::lock;
use finecomb_sys::threads::spawn_detached;
use finecomb_sys::units::{Clock, Count, counted};
use finecomb_tree_index::{BuildOptions, Error, Info, WatchInfo, WatchOptions, watch};

use super::definitions::{self, StoredDefinitions};

/// Time of calls, together, from which on an index is worth its place on the disk and the watches.
const LONG: Duration = Duration::from_millis(100);

/// Calls that take less do not count: a watch would not make them faster.
const SHORT: Duration = Duration::from_millis(10);

/// Time after which a watch that has ended, or another process had, is tried again.
const RETRY: Duration = Duration::from_secs(60);

/// Depth of the directory of indexes below the home directory: `~/.cache/finecomb`.
const HOME_DEPTH: usize = 2;

/// The indexes of all roots.
pub(super) struct RootIndexes {
    /// The directory of indexes; `None` if none are used.
    home: Option<PathBuf>,
    /// Number of threads that build an index.
    threads: usize,
    roots: Vec<Arc<RootIndex>>,
    /// Time of the calls so far.
    spent: Mutex<Duration>,
}

struct RootIndex {
    root: PathBuf,
    state: Mutex<State>,
    definitions: StoredDefinitions,
}

/// State of the watch of a root.
enum State {
    NotStarted,
    /// The index is built or updated.
    Preparing(Instant),
    Ready {
        watches: usize,
        is_at_limit: bool,
    },
    /// It has ended, for this reason.
    Ended(Instant, String),
}

impl RootIndexes {
    pub(super) fn new(home: Option<PathBuf>, threads: usize, roots: &[PathBuf]) -> Self {
        let root = |root: &PathBuf| {
            let (root, state) = (root.clone(), Mutex::new(State::NotStarted));
            Arc::new(RootIndex { root, state, definitions: StoredDefinitions::default() })
        };
        // For a user whose home directory does not exist, none is created.
        let home = home.filter(|home| home.ancestors().take(HOME_DEPTH + 1).any(Path::is_dir));
        Self { home, threads, roots: roots.iter().map(root).collect(), spent: Mutex::default() }
    }

    /// Whether definitions may be stored.
    pub(super) fn are_used(&self) -> bool {
        self.home.is_some()
    }

    /// Whether all roots are watched.
    pub(super) fn are_ready(&self) -> bool {
        self.roots.iter().all(|root| root.is_ready())
    }

    /// Takes note of the time of a call. Once calls have taken long, the indexes are built and watched. Calls with an index that is not watched
    /// count as well: they compare the whole tree with it.
    pub(super) fn note_call(&self, took: Duration) {
        let Some(home) = self.home.as_ref().filter(|_| took >= SHORT) else { return };
        let mut spent = lock(&self.spent);
        *spent += took;
        if *spent >= LONG {
            self.roots.iter().filter(|root| root.starts()).for_each(|root| root.start(home, self.threads));
        }
    }

    /// Takes note of the time in which a call parsed texts that could have been stored. Once that is long, the definitions of watched roots are stored.
    pub(super) fn note_parsing(&self, took: Duration) {
        let Some(home) = self.home.as_ref().filter(|_| !took.is_zero()) else { return };
        let due = self.roots.iter().filter(|root| root.is_ready() && root.definitions.note_parsing(took));
        due.for_each(|root| root.store_definitions(home, self.threads));
    }

    /// A line about each root.
    pub(super) fn in_words(&self) -> Vec<String> {
        self.roots.iter().map(|root| format!("{}: {}", root.root.display(), self.words_of(root))).collect()
    }

    fn words_of(&self, root: &RootIndex) -> String {
        let Some(home) = &self.home else { return "searched without an index".to_owned() };
        let index = match Info::of_tree(home, &root.root) {
            Ok(info) => format!("index of {}", counted(info.files.values().sum(), "file")),
            Err(_) => "no index".to_owned(),
        };
        let state = match &*lock(&root.state) {
            State::NotStarted => {
                "compared with the files at each search; watched once calls take long".to_owned()
            }
            State::Preparing(since) => format!("being prepared for {}", Clock(since.elapsed())),
            State::Ready { watches, is_at_limit: false } => {
                format!("watched, {} files and directories", Count(*watches as u64))
            }
            State::Ready { watches, is_at_limit: true } => {
                format!("watched in part: the system allows {} watches", Count(*watches as u64))
            }
            State::Ended(_, reason) => reason.clone(),
        };
        format!("{index}, {state}{}", root.definitions.in_words())
    }
}

impl RootIndex {
    /// Whether the watch is to be started, which the caller does.
    fn starts(&self) -> bool {
        let mut state = lock(&self.state);
        let starts = match &*state {
            State::NotStarted => true,
            State::Ended(at, _) => at.elapsed() >= RETRY,
            State::Preparing(_) | State::Ready { .. } => false,
        };
        if starts {
            *state = State::Preparing(Instant::now());
        }
        starts
    }

    fn start(self: &Arc<Self>, home: &Path, threads: usize) {
        let (this, home) = (Arc::clone(self), home.to_owned());
        let is_started = spawn_detached(move || {
            let reason = this.watch(&home, threads);
            *lock(&this.state) = State::Ended(Instant::now(), reason);
        });
        if !is_started {
            *lock(&self.state) = State::Ended(Instant::now(), "cannot start a thread".to_owned());
        }
    }

    fn is_ready(&self) -> bool {
        matches!(*lock(&self.state), State::Ready { .. })
    }

    fn store_definitions(self: &Arc<Self>, home: &Path, threads: usize) {
        let (this, home) = (Arc::clone(self), home.to_owned());
        let is_started = spawn_detached(move || {
            let done = definitions::store(&home, &this.root, threads);
            message::note_without_waiting(&format!(
                "{}: {}",
                this.root.display(),
                definitions::in_words(&done)
            ));
            this.definitions.note_end(done);
        });
        if !is_started {
            self.definitions.note_end(Err("cannot start a thread".to_owned()));
        }
    }

    /// Watches until something prevents it. Returns the reason. The process ends without a stop: an index is written atomically.
    fn watch(&self, home: &Path, threads: usize) -> String {
        let stop = match Stop::new() {
            Ok(stop) => stop,
            Err(error) => return io_reason(&error),
        };
        let start = Instant::now();
        let on_state = |info: &WatchInfo| {
            let &WatchInfo { watches, is_at_limit, .. } = info;
            let ready = format!("{}: index ready after {}", self.root.display(), Clock(start.elapsed()));
            message::note_without_waiting(&ready);
            *lock(&self.state) = State::Ready { watches, is_at_limit };
        };
        let build = BuildOptions::default().width(threads);
        match watch(home, &self.root, &WatchOptions::new(&build, &stop).on_state(&on_state)) {
            Ok(()) => "its index was removed".to_owned(),
            Err(Error::Watched(_)) => "watched by another process".to_owned(),
            Err(Error::Busy(_)) => "written by another process".to_owned(),
            Err(error) => {
                let reason = error.advised();
                message::note_without_waiting(&reason);
                reason
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use finecomb_sys::IS_LINUX;
    use tempfile::tempdir;

    use super::*;

    fn wait_for(indexes: &RootIndexes, part: &str) {
        let start = Instant::now();
        while !indexes.in_words()[0].contains(part) {
            assert!(start.elapsed() < Duration::from_secs(20), "{:?} is not {part}", indexes.in_words());
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn an_index_is_built_and_watched_after_long_calls() {
        let (home, root) = (tempdir().expect("a directory"), tempdir().expect("a directory"));
        fs::write(root.path().join("a"), "text\n").expect("room");
        let root = root.path().canonicalize().expect("a path");
        let new = |home| RootIndexes::new(home, 1, std::slice::from_ref(&root));
        let (indexes, others) = (new(Some(home.path().to_owned())), new(Some(home.path().to_owned())));
        indexes.note_call(LONG / 2);
        (0..100).for_each(|_| indexes.note_call(SHORT / 2));
        wait_for(&indexes, "no index, compared with the files at each search");
        if !IS_LINUX {
            return;
        }
        indexes.note_call(LONG / 2);
        wait_for(&indexes, "index of 1 file, watched, ");
        others.note_call(LONG);
        wait_for(&others, "index of 1 file, watched by another process");
        for home in [None, Some(root.join("nowhere/.cache/finecomb"))] {
            let none = new(home);
            none.note_call(LONG);
            wait_for(&none, "searched without an index");
        }
    }
}
