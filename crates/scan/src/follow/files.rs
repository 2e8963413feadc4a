//! The followed inputs: finding them, and recognising rotation, truncation and copies.
//!
//! A file is known by its device and inode. It is read on under any name, also without one, so that records that are
//! written to it after a rotation are counted, and a file that only has another name is not counted again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::mem;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use finecomb_sys::notify::Kinds;

use super::changes::{Changes, POLL_INTERVAL, WatchedChanges};
use super::descriptors::Descriptors;
use super::generations::{FoundThere, Generations, Place};
use super::input::{FollowedFile, FollowedInput, Prepared, Truncated};
use super::occasion::Occasion;
use crate::block::{FileIdentity, Source};
use crate::inputs::Inputs;
use crate::problem::{ProblemKind, Problems};
use crate::schedule::queue;
use crate::source::reader::{Context, identified};
use crate::source::stream::Stream;
use crate::stop::Stop;
use crate::walk::directory::Directory;
use crate::walk::{WalkItem, find, open_path};

/// Time after which a file without a name that no longer grows is closed, so that its space is freed.
const NAMELESS: Duration = Duration::from_secs(60);

/// Time after which a named input that is gone is reported: between the two steps of a rotation there is none.
const GONE: Duration = Duration::from_secs(1);

/// Maximum number of searches after the first one before the end, while names change.
const LAST_SEARCHES: u32 = 20;

/// The followed inputs.
pub(super) struct FollowedInputs<'a> {
    context: Context<'a>,
    changes: Changes,
    inputs: HashMap<usize, FollowedInput>,
    /// The numbers of the files.
    numbers: HashMap<FileIdentity, usize>,
    /// Number of the next input.
    next: usize,
    /// Named inputs that are not there.
    missing: HashMap<usize, Missing>,
    /// Files and pipes that are not followed: they were read, or cannot be.
    left_alone: HashMap<FileIdentity, LeftAlone>,
    /// Files that could not be opened when they were found.
    failed: HashSet<PathBuf>,
    descriptors: Descriptors,
    generations: Generations,
    released: Released,
    /// Set if names have changed during the last search, or were not reported before it.
    must_search: bool,
    /// Problems of the walk that were reported.
    reported: HashSet<String>,
    /// Set until the files that are there at the beginning have been found.
    is_first: bool,
}

/// An open file or nothing: as long as a file is open, no other one has its identity.
type LeftAlone = Option<Arc<File>>;

/// Files without a name that were released before their time.
#[derive(Default)]
struct Released {
    by_source: BTreeMap<Source, u64>,
    occasion: Occasion,
}

/// A named input that is not there.
struct Missing {
    since: Instant,
    is_reported: bool,
}

/// Work of a round.
#[derive(Default)]
pub(super) struct Work {
    pub(super) streams: Vec<Stream>,
    /// Files that are read once.
    pub(super) once: Vec<(Source, File)>,
    /// Number of bytes in the streams with a known size.
    pub(super) bytes: u64,
}

impl Work {
    pub(super) fn is_empty(&self) -> bool {
        self.streams.is_empty() && self.once.is_empty()
    }

    pub(super) fn into_open(self) -> Vec<queue::FoldWork> {
        let once = self.once.into_iter().map(|(source, file)| queue::FoldWork::File(source, file));
        self.streams.into_iter().map(|stream| queue::FoldWork::Stream(Box::new(stream))).chain(once).collect()
    }
}

impl<'a> FollowedInputs<'a> {
    pub(super) fn new(context: Context<'a>) -> Self {
        Self {
            context,
            changes: Changes::new(),
            inputs: HashMap::new(),
            numbers: HashMap::new(),
            next: 0,
            missing: HashMap::new(),
            left_alone: HashMap::new(),
            failed: HashSet::new(),
            descriptors: Descriptors::new(),
            generations: Generations::default(),
            released: Released::default(),
            must_search: false,
            reported: HashSet::new(),
            is_first: true,
        }
    }

    /// Adds a pipe or another input that can only be read sequentially.
    pub(super) fn add_pipe(&mut self, source: &Source, pipe: File) {
        self.add(FollowedInput::of_pipe(self.next, source, pipe, self.context));
    }

    /// Adds a file that has no name, from an offset on.
    pub(super) fn add_file_from(&mut self, source: Source, file: File, start: u64) {
        let Some(identity) = source.identity() else { return };
        let mut input = FollowedInput::of_file(self.next, source, identity, file, self.context);
        if let Some(file) = &mut input.file {
            self.changes.watch_file(&file.file);
            (file.is_watched, file.begin_at) = (true, Some(start));
        }
        self.add(input);
    }

    fn add(&mut self, input: FollowedInput) {
        if let Some(file) = &input.file {
            self.numbers.insert(file.identity, self.next);
        }
        self.inputs.insert(self.next, input);
        self.next += 1;
    }

    fn remove(&mut self, number: usize) {
        if let Some(FollowedInput { file: Some(file), .. }) = self.inputs.remove(&number) {
            self.numbers.remove(&file.identity);
        }
    }

    fn streams(&self) -> impl Iterator<Item = &Stream> {
        self.inputs.values().filter_map(|input| input.stream.as_ref())
    }

    fn files(&self) -> impl Iterator<Item = &FollowedFile> {
        self.inputs.values().filter_map(|input| input.file.as_ref())
    }

    /// Number of followed files and pipes.
    pub(super) fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether there is nothing to wait for: all inputs were pipes and have ended.
    pub(super) fn have_ended(&self) -> bool {
        let may_grow = |path: &PathBuf| fs::metadata(path).is_ok_and(|path| path.is_dir() || path.is_file());
        self.inputs.is_empty() && self.missing.is_empty() && !self.context.inputs.named.iter().any(may_grow)
    }

    /// Waits until there may be more to be read, the job has been asked to end, or the time is over.
    pub(super) fn wait(&self, stop: Option<&Stop>, time: Option<Duration>) {
        let now = Instant::now();
        let patience = self.inputs.values().filter_map(FollowedInput::patience_ends);
        let nameless = self.files().filter_map(|file| Some(file.nameless_since? + NAMELESS));
        let reports = self.generations.report_at().into_iter().chain(self.released.occasion.at());
        let deadlines = patience.chain(nameless).chain(reports).map(|at| at.saturating_duration_since(now));
        let retry = (!self.missing.is_empty() || self.descriptors.must_retry()).then_some(POLL_INTERVAL);
        let search = self.must_search.then_some(Duration::ZERO);
        let all = deadlines.chain(time).chain(self.changes.poll_interval()).chain(retry).chain(search);
        let pipes: Vec<BorrowedFd<'_>> = self.streams().filter_map(Stream::input).collect();
        self.changes.wait(stop, &pipes, all.min());
    }

    /// Looks at all inputs and returns what there is to be read. `is_final` says that nothing more is waited for.
    pub(super) fn look(&mut self, is_final: bool, problems: &mut Problems) -> Work {
        let have_names_changed = self.take_changes(false) || mem::take(&mut self.must_search);
        let must_retry = !self.missing.is_empty() || self.descriptors.must_retry();
        if self.is_first || is_final || have_names_changed || must_retry || self.changes.must_poll() {
            self.find(problems);
        }
        // At the beginning directories are watched only after they were listed. At the end no other search follows.
        for _ in 0..if is_final { LAST_SEARCHES } else { u32::from(self.is_first) } {
            if mem::take(&mut self.must_search) {
                self.find(problems);
            }
        }
        self.look_at_contents(problems);
        self.end_nameless();
        self.report_losses(is_final, problems);
        let work = self.prepare_all(is_final, problems);
        self.is_first = false;
        work
    }

    /// Takes the reports of changes, during a search or before it. Returns whether names may have changed.
    fn take_changes(&mut self, is_searching: bool) -> bool {
        let events = self.changes.take();
        self.generations.take(&events, is_searching);
        events.iter().any(|event| event.kinds != Kinds::MODIFY)
    }

    /// Takes the streams back that were read in a round. Others have ended.
    pub(super) fn put_back(&mut self, streams: Vec<Stream>) {
        for stream in streams {
            if let Some(input) = self.inputs.get_mut(&stream.number) {
                input.put_back(stream);
            }
        }
        let ended: Vec<usize> = self
            .inputs
            .iter()
            .filter(|(_, input)| input.stream.is_none())
            .map(|(&number, _)| number)
            .collect();
        ended.into_iter().for_each(|number| self.leave_alone(number));
    }

    /// Reports the last records without an end, which are not counted.
    pub(super) fn report_unfinished(&self, problems: &mut Problems) {
        for input in self.inputs.values() {
            if let Some(offset) = input.unfinished() {
                problems.add(&input.source, ProblemKind::Unfinished { offset });
            }
        }
    }

    /// Stops following an input, and does not begin again.
    fn leave_alone(&mut self, number: usize) {
        let file = self.inputs.get(&number).and_then(|input| input.file.as_ref());
        // One without a name is not found again.
        let file = file.filter(|file| file.nameless_since.is_none());
        self.left_alone.extend(file.map(|file| (file.identity, Some(Arc::clone(&file.file)))));
        self.remove(number);
    }

    /// Finds new files, and files that have lost their name.
    fn find(&mut self, problems: &mut Problems) {
        let Context { inputs, walk, .. } = self.context;
        let links = inputs.walk.follow;
        let (mut present, mut own_problems) = (HashSet::new(), Problems::default());
        let mut walk_problems = Problems::default();
        let mut was_missing = mem::take(&mut self.missing);
        // The watches of the directories that are being walked.
        let mut watches: HashMap<*const Directory, i32> = HashMap::new();
        self.generations.begin_search();
        find(inputs, walk, &mut walk_problems, |found| match found {
            WalkItem::Named(number, path, metadata) => {
                let source = Source::named(number, Some(path.to_owned()));
                let place = self.changes.watch_path(path);
                self.must_search |=
                    place.as_ref().is_some_and(|place| self.generations.find_named(place, &source));
                match metadata {
                    Ok(metadata) => {
                        let source = identified(source, &metadata);
                        self.consider_named(source, &metadata, place, &mut own_problems);
                        present.insert(FileIdentity::of(&metadata));
                    }
                    Err(error) => {
                        let before = was_missing.remove(&number);
                        self.miss(number, before, &source, error, &mut own_problems);
                    }
                }
            }
            WalkItem::Directory(directory) => {
                let source = directory.source();
                let path = source.path().unwrap_or(Path::new("."));
                if let Some(watch) = self.changes.watch_directory(path, WatchedChanges::Files) {
                    watches.insert(directory, watch);
                    let selects = |name: &[u8]| walk.selects_name(directory, name);
                    let source = source_of_input(inputs, directory.argument);
                    self.must_search |= self.generations.find_directory(watch, &source, selects);
                }
                if directory.is_named() {
                    self.changes.watch_path(path);
                }
            }
            WalkItem::Entry(directory, entry) => {
                // It may have been removed since the directory was listed.
                let Ok(identity) = directory.identity_of(entry, links) else { return };
                present.insert(identity);
                let open = || directory.open(entry, links).map(File::from);
                let watch = watches.get(&ptr::from_ref(directory));
                let name = directory.listing.name(entry);
                let place = watch.map(|&watch| Place { watch, name: name.to_vec() });
                self.consider(directory.source_of(entry), identity, place, open, &mut own_problems);
            }
        });
        problems.merge(own_problems);
        self.report_walk(walk_problems, problems);
        let is_whole = self.descriptors.end_search(|number| source_of_input(inputs, number), problems);
        self.must_search |= self.take_changes(true);
        self.generations.end_search(is_whole);
        self.must_search |= is_whole && self.generations.are_undecided();
        self.left_alone.retain(|identity, _| present.contains(identity));
        self.note_names(&present);
    }

    /// Reports problems of the walk once, and not that a directory was removed while it was walked.
    fn report_walk(&mut self, found: Problems, problems: &mut Problems) {
        for problem in found.into_sorted() {
            let is_removed = match problem.kind {
                ProblemKind::List(error) | ProblemKind::Open(error) if Descriptors::are_missing(&error) => {
                    self.descriptors.refuse(problem.source.argument(), error);
                    continue;
                }
                ProblemKind::List(ref error) | ProblemKind::Open(ref error) => {
                    error.kind() == io::ErrorKind::NotFound
                }
                _ => false,
            };
            if (self.is_first || !is_removed) && self.reported.insert(problem.to_string()) {
                problems.add(&problem.source, problem.kind);
            }
        }
    }

    /// Records that a named input is not there.
    fn miss(
        &mut self,
        number: usize,
        before: Option<Missing>,
        source: &Source,
        error: io::Error,
        problems: &mut Problems,
    ) {
        let mut missing = before.unwrap_or(Missing { since: Instant::now(), is_reported: false });
        if !missing.is_reported && (self.is_first || missing.since.elapsed() >= GONE) {
            missing.is_reported = true;
            problems.add(source, ProblemKind::Awaited(error));
        }
        self.missing.insert(number, missing);
    }

    /// Follows a named input that is no directory, unless that is done already.
    fn consider_named(
        &mut self,
        source: Source,
        metadata: &Metadata,
        place: Option<Place>,
        problems: &mut Problems,
    ) {
        let (identity, path) =
            (FileIdentity::of(metadata), source.path().unwrap_or(Path::new("")).to_owned());
        if metadata.is_file() {
            return self.consider(source, identity, place, || open_path(&path), problems);
        }
        if self.left_alone.insert(identity, None).is_none() {
            match open_path(&path) {
                Ok(pipe) => self.add_pipe(&source, pipe),
                Err(error) => problems.add(&source, ProblemKind::Open(error)),
            }
        }
    }

    /// Follows the file at a place, unless that is done already.
    fn consider(
        &mut self,
        source: Source,
        identity: FileIdentity,
        place: Option<Place>,
        open: impl FnOnce() -> io::Result<File>,
        problems: &mut Problems,
    ) {
        let found = match self.found_file(identity) {
            Some(FoundThere::Followed(number)) => {
                self.watch_under_other_name(number, &source);
                Some(FoundThere::Followed(number))
            }
            Some(found) => Some(found),
            None => self.open(source, place.as_ref(), open, problems),
        };
        if let (Some(place), Some(found)) = (place, found) {
            self.generations.find(place, found);
        }
    }

    /// Watches a followed file that is found under another name: if that is a second one and the first was removed, writes by who has opened
    /// the first one are not reported in the directory.
    fn watch_under_other_name(&mut self, number: usize, source: &Source) {
        let Some(input) = self.inputs.get_mut(&number).filter(|input| input.source.path() != source.path())
        else {
            return;
        };
        if let Some(file) = input.file.as_mut().filter(|file| !file.is_watched) {
            self.changes.watch_file(&file.file);
            file.is_watched = true;
        }
    }

    /// The file with this identity, if it is known.
    fn found_file(&self, identity: FileIdentity) -> Option<FoundThere> {
        let followed = self.numbers.get(&identity).map(|&number| FoundThere::Followed(number));
        followed.or_else(|| self.left_alone.contains_key(&identity).then_some(FoundThere::LeftAlone))
    }

    /// Opens a file and follows it. Returns what it is, unless it is gone.
    fn open(
        &mut self,
        mut source: Source,
        place: Option<&Place>,
        open: impl FnOnce() -> io::Result<File>,
        problems: &mut Problems,
    ) -> Option<FoundThere> {
        let path = source.path().unwrap_or(Path::new("")).to_owned();
        // Changes are taken right before and after, so that it is mostly known which generation was opened.
        self.must_search |= self.take_changes(true);
        let before = place.and_then(|place| self.generations.at(place));
        let opened = self.descriptors.check(self.inputs.len()).and_then(|()| open());
        self.must_search |= self.take_changes(true);
        let (metadata, file) = match opened.and_then(|file| Ok((file.metadata()?, file))) {
            Ok((metadata, _)) if !metadata.is_file() => return Some(FoundThere::LeftAlone),
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) if Descriptors::are_missing(&error) => {
                self.descriptors.refuse(source.argument(), error);
                return Some(FoundThere::Refused);
            }
            Err(error) => {
                if self.failed.insert(path) {
                    problems.add(&source, ProblemKind::Open(error));
                }
                return Some(FoundThere::LeftAlone);
            }
        };
        self.failed.remove(&path);
        // It may have been replaced since it was found, and again before the next search.
        let identity = FileIdentity::of(&metadata);
        if let Some(found) = self.found_file(identity) {
            return Some(found);
        }
        source.set_identity(identity);
        let is_named = source.is_named();
        let number = self.next;
        let mut input = FollowedInput::of_file(number, source, identity, file, self.context);
        if let Some(file) = &mut input.file {
            // It may be written under a name elsewhere.
            if is_named || metadata.nlink() > 1 {
                self.changes.watch_file(&file.file);
                file.is_watched = true;
            }
            file.is_later = !self.is_first;
        }
        self.add(input);
        place.into_iter().for_each(|place| self.generations.open(place, before, number));
        Some(FoundThere::Followed(number))
    }

    /// Holds new files back that may be copies of followed ones, and skips in them what was read of files that have been truncated since.
    fn hold_back_copies(&mut self, problems: &mut Problems) {
        let (mut copies, mut former_copies) = (Vec::new(), Vec::new());
        for (&number, input) in &self.inputs {
            let (Some(file), Some(path)) = (&input.file, input.source.path()) else { continue };
            if file.is_later && file.held_back_for.is_none() && file.is_unread(input.stream.as_ref()) {
                match self.original_of(path, file, FollowedFile::is_copy_of) {
                    Some(original) => copies.push((number, original)),
                    None => {
                        let original = self.original_of(path, file, FollowedFile::is_copy_of_former);
                        former_copies.extend(original.map(|(original, _)| (number, original)));
                    }
                }
            }
        }
        for (number, original) in former_copies {
            let original = self.numbers.get(&original).and_then(|number| self.inputs.get_mut(number));
            let former = original.and_then(|original| original.file.as_mut()?.take_former());
            let copy = self.inputs.get_mut(&number).and_then(|input| input.file.as_mut());
            if let (Some(former), Some(copy)) = (former, copy) {
                copy.read_after(&former);
            }
        }
        for (number, (original, path)) in copies {
            let Some(input) = self.inputs.get_mut(&number) else { continue };
            if let Some(file) = &mut input.file {
                file.hold_back(original);
                problems.add(&input.source, ProblemKind::HeldBack(path));
            }
        }
    }

    /// The followed file that a new file may be a copy of: it still has its name, and the same contents. Programs that rotate logs
    /// by copying them give the copy a name that begins alike.
    fn original_of(
        &self,
        path: &Path,
        new: &FollowedFile,
        is_copy: impl Fn(&FollowedFile, &FollowedFile) -> bool,
    ) -> Option<(FileIdentity, PathBuf)> {
        let begins_alike = |other: &Path| name(path).starts_with(name(other));
        let candidates =
            self.inputs.values().filter_map(|input| Some((input.source.path()?, input.file.as_ref()?)));
        let candidates = candidates.filter(|(other, file)| {
            (stem(other) == stem(path) || begins_alike(other))
                && *other != path
                && fs::metadata(other).is_ok_and(|metadata| FileIdentity::of(&metadata) == file.identity)
                && is_copy(new, file)
        });
        // Others may have the same contents so far. A copy is mostly in the directory of its original.
        let best = candidates.max_by_key(|(other, file)| {
            (other.parent() == path.parent(), begins_alike(other), file.consumed())
        });
        best.map(|(other, file)| (file.identity, other.to_owned()))
    }

    /// Watches the followed files that have no name below the inputs, and records which have no name at all.
    fn note_names(&mut self, present: &HashSet<FileIdentity>) {
        for file in self.inputs.values_mut().filter_map(|input| input.file.as_mut()) {
            if present.contains(&file.identity) {
                file.nameless_since = None;
                continue;
            }
            if !file.is_watched {
                self.changes.watch_file(&file.file);
                file.is_watched = true;
            }
            if !file.has_name() {
                file.nameless_since.get_or_insert_with(Instant::now);
            }
        }
    }

    /// Looks at the contents of the files: how far they have grown, which were truncated, and which are no copies any more.
    fn look_at_contents(&mut self, problems: &mut Problems) {
        // While it is known what their originals were before they were truncated.
        self.hold_back_copies(problems);
        let (mut truncated, mut changed) = (Vec::new(), Vec::new());
        for (&number, input) in &mut self.inputs {
            let (old, has_changed) = input.look(number, self.context);
            if has_changed && let Some(file) = &mut input.file {
                changed.push(number);
                if !file.is_empty() {
                    self.generations.fill(number);
                }
                if let Some(since) = &mut file.nameless_since {
                    *since = Instant::now();
                }
            }
            truncated.extend(old.map(|old| (number, old)));
        }
        let copies = self.release_copies(&truncated, &changed);
        for (number, _) in &truncated {
            if let Some(input) = self.inputs.get(number) {
                let copy = copies.get(number).cloned();
                problems.add(&input.source, ProblemKind::Truncated { copy });
            }
        }
    }

    /// Lets files be read that were held back, if their originals were truncated or they are no copies. Returns the paths of
    /// the copies by the numbers of the originals.
    fn release_copies(
        &mut self,
        truncated: &[(usize, Truncated)],
        changed: &[usize],
    ) -> HashMap<usize, PathBuf> {
        let mut copies = HashMap::new();
        let held_back: Vec<(usize, FileIdentity)> = self
            .inputs
            .iter()
            .filter_map(|(&number, input)| Some((number, input.file.as_ref()?.held_back_for?)))
            .collect();
        for (number, original) in held_back {
            let old = truncated.iter().find(|(_, old)| old.identity == original);
            let current =
                self.numbers.get(&original).and_then(|number| self.inputs.get(number)?.file.as_ref());
            let Some(input) = self.inputs.get(&number) else { continue };
            let Some(file) = &input.file else { continue };
            let is_other =
                changed.contains(&number) && current.is_some_and(|current| !file.is_copy_of(current));
            let is_alone = current.is_none();
            // It may be a copy of a file that had the same contents so far.
            let path = input.source.path().filter(|_| is_other && old.is_none());
            let another = path.and_then(|path| self.original_of(path, file, FollowedFile::is_copy_of));
            let Some(input) = self.inputs.get_mut(&number) else { continue };
            let Some(file) = &mut input.file else { continue };
            if let Some((another, _)) = another {
                file.hold_back(another);
                continue;
            }
            if old.is_none() && !is_other && !is_alone {
                if changed.contains(&number) {
                    file.hold_back(original);
                }
                continue;
            }
            if is_alone {
                file.release_rest();
                continue;
            }
            // Once it is known to be another file, it is not compared again.
            file.is_later = false;
            if file.release(old.map(|(_, old)| old))
                && let (Some((original, _)), Some(path)) = (old, input.source.path())
            {
                copies.insert(*original, path.to_owned());
            }
        }
        copies
    }

    /// Lets files without a name end that no longer grow: their last record counts even if it has no end. If there are too many, so do
    /// those that have not grown for the longest time.
    fn end_nameless(&mut self) {
        // Their copies know them by their identities, which other files may get.
        let originals: HashSet<FileIdentity> = self.files().filter_map(|file| file.held_back_for).collect();
        let nameless = |(&number, input): (&usize, &FollowedInput)| {
            let file = input.file.as_ref()?;
            // The writer of an unfinished record has not ended.
            let is_read = input.is_read_to_end() && input.unfinished().is_none();
            Some((file.nameless_since?, number, is_read && !originals.contains(&file.identity)))
        };
        let mut nameless: Vec<(Instant, usize, bool)> = self.inputs.iter().filter_map(nameless).collect();
        let read = nameless.iter().filter(|(.., is_read)| *is_read).count();
        let mut excess = read.saturating_sub(self.descriptors.max_nameless());
        nameless.sort_unstable();
        for (since, number, is_read) in nameless {
            let is_over = since.elapsed() >= NAMELESS;
            if is_over || excess > 0 && is_read {
                excess = excess.saturating_sub(usize::from(is_read));
                self.end_input(number, !is_over);
            }
        }
    }

    /// Ends a file, perhaps early.
    fn end_input(&mut self, number: usize, is_early: bool) {
        let Some(input) = self.inputs.get_mut(&number) else { return };
        match (&input.file, &mut input.stream) {
            // The records of a copy are read in its original.
            (Some(file), _) if file.held_back_for.is_some() => self.remove(number),
            (_, Some(stream)) if !stream.has_stopped() => {
                stream.end();
                if is_early {
                    let source = source_of_input(self.context.inputs, input.source.argument());
                    *self.released.by_source.entry(source).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    /// Reports files that were removed unread, and those that are not followed to their end, if it is time to.
    fn report_losses(&mut self, is_last: bool, problems: &mut Problems) {
        self.generations.report(is_last, problems);
        let Released { by_source, occasion } = &mut self.released;
        if occasion.is_there(!by_source.is_empty(), is_last) {
            let max = self.descriptors.max_nameless();
            for (source, number) in mem::take(by_source) {
                problems.add(&source, ProblemKind::Released { number, max });
            }
        }
    }

    /// Prepares what there is to be read.
    fn prepare_all(&mut self, is_final: bool, problems: &mut Problems) -> Work {
        let mut work = Work::default();
        let mut unusable = Vec::new();
        for (&number, input) in &mut self.inputs {
            let Some(mut stream) = input.backlog(is_final) else { continue };
            match input.prepare(&mut stream, self.context, is_final, problems) {
                Ok(Prepared::Ready) => {
                    work.bytes += input.unread(&stream);
                    work.streams.push(stream);
                }
                Ok(Prepared::Waits) => input.put_back(stream),
                Ok(Prepared::Decoded) => {
                    unusable.push(number);
                    match input.file_to_read_once().filter(|_| self.is_first) {
                        Some(file) => work.once.push((input.source.clone(), file)),
                        None => problems.add(&input.source, ProblemKind::NotFollowed(DECODED)),
                    }
                }
                Err(kind) => {
                    unusable.push(number);
                    problems.add(&input.source, kind);
                }
            }
        }
        unusable.into_iter().for_each(|number| self.leave_alone(number));
        // In the order of the inputs: the last is taken first.
        work.streams.sort_by(|one, other| other.source.cmp(&one.source));
        work
    }
}

/// Reason why a file is not followed.
const DECODED: &str =
    "compressed or not UTF-8, so its records may have been counted before they were compressed";

/// A named input as a source.
fn source_of_input(inputs: &Inputs, number: usize) -> Source {
    Source::named(number, inputs.named.get(number).cloned())
}

/// Name of the file at a path.
fn name(path: &Path) -> &[u8] {
    path.file_name().unwrap_or_default().as_bytes()
}

/// Part of a file's name before its first dot.
fn stem(path: &Path) -> &[u8] {
    let name = name(path);
    let dot = name.iter().skip(1).position(|&byte| byte == b'.').map_or(name.len(), |dot| dot + 1);
    &name[..dot]
}

#[cfg(test)]
mod tests {
    use finecomb_sys::ReadBuffer;

    use super::*;
    use crate::options::ScanOptions;
    use crate::walk::directory::WalkContext;

    /// Reads all lines that there are to be read.
    fn read(followed: &mut FollowedInputs<'_>) -> Vec<String> {
        let (mut problems, mut buffer, mut lines) = (Problems::default(), ReadBuffer::new(), Vec::new());
        let Work { mut streams, .. } = followed.look(false, &mut problems);
        for stream in &mut streams {
            while let Some(block) = stream.read(&mut buffer, true, &mut problems) {
                lines.extend(String::from_utf8_lossy(&buffer[block.range]).lines().map(str::to_owned));
            }
        }
        followed.put_back(streams);
        lines
    }

    /// Follows a directory with files, and calls `act` with it and what is followed, after their lines were read.
    fn while_followed(files: &[(&str, &str)], act: impl FnOnce(&Path, &mut FollowedInputs<'_>)) {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            fs::write(directory.path().join(name), text).expect("room");
        }
        let inputs = Inputs::new([directory.path().to_owned()]);
        let mut notes = Vec::new();
        let walk = WalkContext::new(&inputs.walk, true, &mut notes);
        let bounds = ScanOptions::default().bounds();
        let context = Context {
            inputs: &inputs,
            bounds: &bounds,
            walk: &walk,
            recognize: None,
            part: None,
            narrow: None,
        };
        let mut followed = FollowedInputs::new(context);
        let lines: usize = files.iter().map(|(_, text)| text.lines().count()).sum();
        assert_eq!(read(&mut followed).len(), lines);
        act(directory.path(), &mut followed);
    }

    /// The problems of a last look, with the directory left out.
    fn last_problems(directory: &Path, followed: &mut FollowedInputs<'_>) -> Vec<String> {
        let mut problems = Problems::default();
        followed.look(true, &mut problems);
        let prefix = format!("{}: ", directory.display());
        problems.into_sorted().map(|problem| problem.to_string().replacen(&prefix, "", 1)).collect()
    }

    #[test]
    fn files_that_come_and_go_between_two_looks_are_reported() {
        while_followed(&[("a", "1\n")], |directory, followed| {
            for number in 0..3 {
                let path = directory.join(format!("b{number}"));
                fs::write(&path, "2\n").expect("room");
                fs::remove_file(path).expect("a file");
            }
            fs::remove_file(directory.join("a")).expect("a file");
            fs::write(directory.join("a"), "3\n").expect("room");
            fs::rename(directory.join("a"), directory.join("../a-of-the-test")).expect("a file");
            fs::remove_file(directory.join("../a-of-the-test")).expect("a file");
            fs::write(directory.join("empty"), "").expect("room");
            fs::remove_file(directory.join("empty")).expect("a file");
            if finecomb_sys::IS_LINUX {
                let expected = "4 files removed or renamed before being read; not counted";
                assert_eq!(last_problems(directory, followed), [expected]);
            }
        });
    }

    #[test]
    fn too_many_files_without_a_name_are_released_once_they_are_read() {
        let names: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "1\n")).collect();
        while_followed(&files, |directory, followed| {
            followed.descriptors = Descriptors::of(100, 4);
            let mut last = File::options().append(true).open(directory.join("9")).expect("a file");
            for name in &names {
                fs::remove_file(directory.join(name)).expect("a file");
            }
            std::io::Write::write_all(&mut last, b"2").expect("room");
            assert_eq!([read(followed), read(followed)].concat(), [""; 0]);
            // The last one has a record without an end.
            assert_eq!(followed.streams().filter(|stream| stream.has_stopped()).count(), 5);
            let expected = "more than 4 removed files: 5 files no longer followed";
            assert!(last_problems(directory, followed).iter().any(|problem| problem == expected));
        });
    }

    #[test]
    fn files_are_opened_once_there_are_descriptors_again() {
        while_followed(&[("a", "1\n"), ("b", "2\n")], |directory, followed| {
            followed.descriptors = Descriptors::of(2, 1);
            fs::write(directory.join("c"), "3\n").expect("room");
            assert_eq!(read(followed), [""; 0]);
            assert!(followed.descriptors.must_retry());
            fs::write(directory.join("c"), "3\n4\n").expect("room");
            followed.descriptors.raise(3);
            assert_eq!(read(followed), ["3", "4"]);
            assert!(!followed.descriptors.must_retry());
        });
    }

    /// Follows a log that is copied and truncated after the files have been found and before their contents are examined. Returns the
    /// lines that are read then.
    fn read_after_rotation(text: &str, copied: &str, (copy, rest): (&str, &str)) -> Vec<String> {
        let mut lines = Vec::new();
        while_followed(&[("a", text)], |directory, followed| {
            let mut problems = Problems::default();
            followed.find(&mut problems);
            fs::write(directory.join(copy), copied).expect("room");
            fs::write(directory.join("a"), rest).expect("room");
            followed.look_at_contents(&mut problems);
            lines = [read(followed), read(followed)].concat();
        });
        lines.sort();
        lines
    }

    #[test]
    fn a_copy_that_is_found_after_the_truncation_is_not_read_again() {
        let long: String = (1000..3000).map(|line| format!("{line}\n")).collect();
        let copies = ["a.1", "a-20260101"];
        for (copy, text) in copies.into_iter().flat_map(|copy| [(copy, "1\n2\n"), (copy, &long)]) {
            assert_eq!(read_after_rotation(text, text, (copy, "")), [""; 0], "{copy}");
            assert_eq!(read_after_rotation(text, &format!("{text}x\n"), (copy, "y\n")), ["x", "y"], "{copy}");
        }
        // Lines that were written after the copy was made.
        assert_eq!(read_after_rotation(&long, &long[..5000], (copies[0], "y\n")), ["y"]);
        // No copies.
        assert_eq!(read_after_rotation("1\n2\n", "1\n", (copies[0], "3\n")), ["1", "3"]);
        assert_eq!(read_after_rotation("1\n2\n", "1\n3\n", (copies[0], "")), ["1", "3"]);
    }
}
