//! A process that watches a tree, so that a search need not compare everything with the index.
//!
//! The kernel reports changes by inotify. A search asks the process over a socket for the files it must look at itself: candidates,
//! files that are not proven to be unchanged, and the directories on the way to them. Before the process answers, it takes all
//! events from the queue, so it knows of all changes before the question. It updates the index in the background when the tree has
//! been quiet for a moment. A search in the same process asks without a conversation.

mod answer;
pub(crate) mod here;
mod opened;
mod places;
mod proofs;
pub(crate) mod talk;
#[cfg(test)]
mod tests;
mod waker;
pub(crate) mod watched;
pub(crate) mod with_terms;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use finecomb_scan::{SETTLED_AFTER, Stop};
use finecomb_sys::machine::suspended;
use finecomb_sys::mounts::Mounts;
use finecomb_sys::{IS_LINUX, setters};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use self::answer::Proven;
use self::here::Desk;
use self::places::DirectoryOrFile;
use self::proofs::{Drained, Proofs};
use self::talk::{Asked, Listener, Question, WatchInfo, reply, write_catalog};
use self::watched::Watched;
use crate::build::{BuildOptions, build, update};
use crate::error::Error;
use crate::folder::Folder;
use crate::values;

/// Time without a change after which the index is updated.
const QUIET: Duration = Duration::from_millis(300);

/// Time after which the index is updated although changes continue.
const LATEST: Duration = Duration::from_secs(10);

/// An update is at most this fraction of the time.
const SHARE: u32 = 10;

/// Pause before files are indexed that had a writer or were changing; it is doubled while there are some.
const RETRY: Duration = Duration::from_secs(1);
const MAX_RETRY: Duration = Duration::from_secs(600);

/// Time without an event or a question before proofs are made. Until then, the cores are left to other processes, and the next
/// search compares the files that these opened.
const PAUSE: Duration = Duration::from_millis(100);

/// Time after which some proofs are made between questions all the same. Searches of other processes open files, which ends their proofs: of searches
/// that follow each other without a pause, each would compare all files that those before have read, or the whole tree if it was not proven so
/// far.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(10);

/// Number of directories and files that are not proven from which on another process is told nothing. It has to compare them itself, and its own look into
/// the index does not keep others waiting. To make and send an answer about 80,000 files takes 85 ms.
const MOST_COMPARED: usize = 10_000;

/// Events are taken from the queue this often, unless there is a question: each time costs as much as many events. The
/// queue has room for 16,384.
const GATHER: Duration = Duration::from_millis(20);

/// Options of a watch.
#[non_exhaustive]
pub struct WatchOptions<'a> {
    /// Options of the builds and updates.
    pub build: &'a BuildOptions<'a>,
    /// Called when everything is proven for the first time, and when the system allows no more watches. Default: nothing is called.
    pub on_state: &'a dyn Fn(&WatchInfo),
    /// Ends the watch.
    pub stop: &'a Stop,
}

setters! {
    WatchOptions<'a> { build: &'a BuildOptions<'a>, on_state: &'a dyn Fn(&WatchInfo), stop: &'a Stop }
}

impl<'a> WatchOptions<'a> {
    /// Creates the options of a watch until it is stopped.
    pub fn new(build: &'a BuildOptions<'a>, stop: &'a Stop) -> Self {
        Self { build, on_state: &|_| {}, stop }
    }
}

/// Watches a tree until it is stopped, or the index is dropped. An index is built if there is none.
///
/// # Errors
/// If the index cannot be built or read, the system is not Linux or has no inotify instance left, or another process watches the
/// tree.
pub fn watch(home: &Path, root: &Path, options: &WatchOptions<'_>) -> Result<(), Error> {
    if !IS_LINUX {
        return Err(Error::NoWatch(root.to_owned()));
    }
    let folder = Folder::of_tree(home, root);
    if !folder.has_index() {
        build(home, root, options.build)?;
    }
    let _lock = folder.watch()?;
    update(home, root, options.build)?;
    let failed = |error: io::Error| Error::io(root)(error);
    let listener = Listener::new(&folder)?;
    let now = Arc::new(Watched::open(&folder, root)?);
    let mut proofs = Proofs::new().map_err(failed)?;
    proofs.doubt_all(&now);
    let desk = Desk::new(&folder, &now).map_err(failed)?;
    let _values = values::keep_open(&folder);
    let mut watcher = Watcher {
        home: home.to_owned(),
        folder,
        now,
        proofs,
        mounts: Mounts::watch(),
        suspended: suspended(),
        schedule: Schedule::default(),
        update: None,
        answers: 0,
        last_event: None,
        last_answer: None,
        last_proofs: Instant::now(),
        updates: 0,
        failure: None,
    };
    watcher.run(&listener, &desk, options).map_err(failed)?
}

/// Receives the index after an update; `None` if it is the same.
type PendingUpdate = Receiver<Result<Option<Arc<Watched>>, Error>>;

/// When the next update is due.
struct Schedule {
    /// The first and the last change since the last update.
    changes: Option<(Instant, Instant)>,
    /// No update before this time.
    earliest: Instant,
    retry: Option<(Instant, Duration)>,
}

impl Default for Schedule {
    fn default() -> Self {
        Self { changes: None, earliest: Instant::now(), retry: None }
    }
}

impl Schedule {
    fn add_change(&mut self) {
        let now = Instant::now();
        self.changes = Some((self.changes.map_or(now, |(first, _)| first), now));
    }

    fn due(&self) -> Option<Instant> {
        let quiet = self.changes.map(|(first, last)| (last + QUIET).min(first + LATEST));
        let due = [quiet, self.retry.map(|(at, _)| at)].into_iter().flatten().min();
        due.map(|due| due.max(self.earliest))
    }

    fn end_update(&mut self, took: Duration, is_unfinished: bool) {
        let now = Instant::now();
        self.earliest = now + took * SHARE;
        self.retry = is_unfinished.then(|| {
            let pause = self.retry.map_or(RETRY, |(_, pause)| (2 * pause).min(MAX_RETRY));
            (now + pause, pause)
        });
    }
}

struct Watcher {
    home: PathBuf,
    folder: Folder,
    now: Arc<Watched>,
    proofs: Proofs,
    /// Reports changes of mounts, which raise no events in the tree.
    mounts: Mounts,
    suspended: Duration,
    schedule: Schedule,
    /// The update that runs, and when it began.
    update: Option<(PendingUpdate, Instant)>,
    answers: u64,
    last_event: Option<Instant>,
    last_answer: Option<Instant>,
    /// When proofs were last made.
    last_proofs: Instant,
    updates: u64,
    /// Why the last update failed.
    failure: Option<String>,
}

impl Watcher {
    fn run(
        &mut self,
        listener: &Listener,
        desk: &Desk,
        options: &WatchOptions<'_>,
    ) -> io::Result<Result<(), Error>> {
        let (mut was_ready, mut was_at_limit) = (false, false);
        while !options.stop.is_raised() {
            self.wait(listener, desk)?;
            self.answer_here(desk)?;
            for stream in listener.waiting() {
                let question = stream.set_nonblocking(false).map_err(|error| error.to_string());
                let answer = question.and_then(|()| Question::read(&stream));
                // What happened before the question must be known.
                self.drain()?;
                reply(&stream, answer.and_then(|question| self.answer(&question.asked)));
            }
            if self.proofs_due().is_some_and(|due| due <= Instant::now()) {
                if self.proofs.prove_some(&self.now)? {
                    self.schedule.add_change();
                }
                self.last_proofs = Instant::now();
            }
            match self.update(options.build, desk) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Ok(Err(error)),
            }
            let is_ready = was_ready || self.proofs.pending() == 0;
            if is_ready && !was_ready || self.proofs.is_at_limit && !was_at_limit {
                (options.on_state)(&self.info());
            }
            (was_ready, was_at_limit) = (is_ready, self.proofs.is_at_limit);
        }
        Ok(Ok(()))
    }

    /// Waits for an event, a question, a change of mounts, or the next thing to do.
    fn wait(&self, listener: &Listener, desk: &Desk) -> io::Result<()> {
        let gathered = self.last_event.map(|last| last + GATHER).filter(|&end| end > Instant::now());
        let mut files = vec![
            PollFd::new(&listener.socket, PollFlags::IN),
            PollFd::from_borrowed_fd(desk.queue(), PollFlags::IN),
        ];
        if gathered.is_none() {
            files.push(PollFd::from_borrowed_fd(self.proofs.queue(), PollFlags::IN));
        }
        files.extend(self.mounts.poll());
        let due = [self.schedule.due(), self.proofs_due(), gathered].into_iter().flatten().min();
        let time = match &self.update {
            Some(_) => Some(Duration::from_millis(10)),
            None => due.map(|due| due.saturating_duration_since(Instant::now())),
        };
        let time = time.and_then(|time| Timespec::try_from(time).ok());
        match poll(&mut files, time.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// When proofs are to be made, if there are any and no update runs.
    fn proofs_due(&self) -> Option<Instant> {
        let is_possible = self.proofs.pending() > 0 && self.update.is_none();
        let is_asked = self.last_answer.is_some_and(|last| last.elapsed() < PAUSE);
        is_possible.then(|| match self.last_event.max(self.last_answer) {
            // Until then, each search compares the whole tree.
            _ if self.is_hardly_proven() => Instant::now(),
            Some(_) if is_asked => self.last_proofs + BETWEEN_QUESTIONS,
            Some(last) => last + PAUSE,
            None => Instant::now(),
        })
    }

    /// Takes in all that happened. Returns what had more than the event of being opened.
    fn drain(&mut self) -> io::Result<HashSet<DirectoryOrFile>> {
        let mounts_changed = self.mounts.take();
        // Another system may have written to the disks meanwhile.
        let suspended = suspended();
        if mounts_changed || suspended > self.suspended + Duration::from_millis(1) {
            self.suspended = suspended;
            self.proofs.doubt_all(&self.now);
        }
        let Drained { changed, any } = self.proofs.drain(&self.now)?;
        if any {
            self.last_event = Some(Instant::now());
        }
        if !changed.is_empty() {
            self.schedule.add_change();
        }
        Ok(changed)
    }

    /// Takes in all that happened, and answers the searches of this process.
    fn answer_here(&mut self, desk: &Desk) -> io::Result<()> {
        let questions = desk.questions();
        let held = self.proofs.hold_opened(desk.opened(), &self.now);
        let doubts = self.proofs.doubts;
        // What happened before the questions must be known.
        let changed = self.drain()?;
        if doubts == self.proofs.doubts {
            self.proofs.settle(held, &changed);
        }
        for answer in questions {
            // A search that waits no more has compared everything itself.
            let opening = Some(desk.opening(self.proofs.doubts));
            let _ = answer.try_send(Box::new(Proven { opening, ..self.proven() }));
            self.count_answer();
        }
        Ok(())
    }

    fn is_hardly_proven(&self) -> bool {
        self.proofs.unproven.len() > MOST_COMPARED
    }

    fn proven(&self) -> Proven {
        let unproven = self.proofs.unproven.iter().copied().collect();
        Proven { now: Arc::clone(&self.now), unproven, opening: None }
    }

    fn count_answer(&mut self) {
        self.answers += 1;
        self.last_answer = Some(Instant::now());
    }

    fn answer(&mut self, asked: &Asked) -> Result<Vec<u8>, String> {
        let Asked::Search(search) = asked else {
            return serde_json::to_vec(&self.info()).map_err(|error| error.to_string());
        };
        if self.is_hardly_proven() {
            return Err("most files are not proven yet".to_owned());
        }
        let part = self.proven().needed(search, None).map_err(|error| error.to_string())?;
        let (contents, parts) = part.contents();
        let bytes = write_catalog(&contents, &parts).map_err(|error| error.to_string())?;
        self.count_answer();
        Ok(bytes)
    }

    fn info(&self) -> WatchInfo {
        WatchInfo {
            process: std::process::id(),
            watches: self.proofs.watches(),
            compared: self.proofs.unproven.len(),
            overflows: self.proofs.overflows,
            is_at_limit: self.proofs.is_at_limit,
            answers: self.answers,
            updates: self.updates,
            failure: self.failure.clone(),
        }
    }

    /// Begins or ends an update. Returns `false` if the index was dropped.
    fn update(&mut self, options: &BuildOptions<'_>, desk: &Desk) -> Result<bool, Error> {
        if let Some((receiver, began)) = &self.update {
            let done = match receiver.try_recv() {
                Ok(done) => done,
                Err(TryRecvError::Empty) => return Ok(true),
                Err(TryRecvError::Disconnected) => Ok(None),
            };
            // The beginning is only a wait.
            let took = began.elapsed().saturating_sub(2 * SETTLED_AFTER);
            self.update = None;
            self.updates += 1;
            match done {
                Ok(Some(now)) => {
                    self.proofs.move_to(&self.now, &now);
                    desk.show(&now);
                    self.now = now;
                    self.failure = None;
                }
                Ok(None) => self.failure = None,
                Err(Error::Missing(_)) => return Ok(false),
                // The tree is gone.
                Err(error @ Error::Tree(_)) => return Err(error),
                Err(error) => self.failure = Some(error.to_string()),
            }
            self.schedule.end_update(took, self.failure.is_some() || self.now.is_unfinished());
        } else if self.schedule.due().is_some_and(|due| due <= Instant::now()) {
            self.schedule.changes = None;
            self.update = Some((self.begin_update(options), Instant::now()));
        }
        Ok(true)
    }

    fn begin_update(&self, options: &BuildOptions<'_>) -> PendingUpdate {
        let (sender, receiver) = mpsc::channel();
        let (home, folder, root) = (self.home.clone(), self.folder.clone(), self.now.catalog.root.clone());
        let (walk, width, built) = (options.walk.clone(), options.width, self.now.catalog.built);
        thread::spawn(move || {
            let done = update(&home, &root, &BuildOptions { walk, width, ..BuildOptions::default() });
            let opened = done.and_then(|_| Watched::open(&folder, &root));
            // Another process may have updated it.
            let _ = sender.send(opened.map(|now| (now.catalog.built != built).then(|| Arc::new(now))));
        });
        receiver
    }
}
