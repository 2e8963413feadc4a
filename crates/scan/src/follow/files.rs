//! The followed inputs: finding them, and recognising rotation, truncation and copies.
//!
//! A file is known by its device and inode. It is read on under any name, also without one, so that records that are
//! written to it after a rotation are counted, and a file that only has another name is not counted again.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::changes::{Changes, POLL_INTERVAL, WatchedChanges};
use super::input::{FollowedFile, FollowedInput, Prepared, Truncated};
use crate::block::{FileIdentity, Source};
use crate::problem::{ProblemKind, Problems};
use crate::schedule::queue;
use crate::source::reader::{Context, identified};
use crate::source::stream::Stream;
use crate::stop::Stop;
use crate::walk::{WalkItem, find, open_path};

/// Time after which a file without a name that no longer grows is closed, so that its space is freed.
const NAMELESS: Duration = Duration::from_secs(60);

/// Time after which a named input that is gone is reported: between the two steps of a rotation there is none.
const GONE: Duration = Duration::from_secs(1);

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
    /// Problems of the walk that were reported.
    reported: HashSet<String>,
    /// Set until the files that are there at the beginning have been found.
    is_first: bool,
}

/// An open file or nothing: as long as a file is open, no other one has its identity.
type LeftAlone = Option<Arc<File>>;

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
        allow_many_files();
        Self {
            context,
            changes: Changes::new(),
            inputs: HashMap::new(),
            numbers: HashMap::new(),
            next: 0,
            missing: HashMap::new(),
            left_alone: HashMap::new(),
            failed: HashSet::new(),
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
        let deadlines = patience.chain(nameless).map(|at| at.saturating_duration_since(now));
        let missing = (!self.missing.is_empty()).then_some(POLL_INTERVAL);
        let all = deadlines.chain(time).chain(self.changes.poll_interval()).chain(missing);
        let pipes: Vec<BorrowedFd<'_>> = self.streams().filter_map(Stream::input).collect();
        self.changes.wait(stop, &pipes, all.min());
    }

    /// Looks at all inputs and returns what there is to be read. `is_final` says that nothing more is waited for.
    pub(super) fn look(&mut self, is_final: bool, problems: &mut Problems) -> Work {
        let have_names_changed = self.changes.take();
        if self.is_first || is_final || have_names_changed || !self.missing.is_empty() {
            self.find(problems);
        }
        self.look_at_contents(problems);
        self.end_nameless();
        let work = self.prepare_all(is_final, problems);
        self.is_first = false;
        work
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
        self.left_alone.extend(file.map(|file| (file.identity, Some(Arc::clone(&file.file)))));
        self.remove(number);
    }

    /// Finds new files, and files that have lost their name.
    fn find(&mut self, problems: &mut Problems) {
        let Context { inputs, walk, .. } = self.context;
        let links = inputs.walk.follow;
        let (mut present, mut own_problems) = (HashSet::new(), Problems::default());
        let mut walk_problems = Problems::default();
        let mut was_missing = std::mem::take(&mut self.missing);
        find(inputs, walk, &mut walk_problems, |found| match found {
            WalkItem::Named(number, path, metadata) => {
                self.changes.watch_path(path);
                let source = Source::named(number, Some(path.to_owned()));
                match metadata {
                    Ok(metadata) => {
                        self.consider_named(identified(source, &metadata), &metadata, &mut own_problems);
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
                self.changes.watch_directory(path, WatchedChanges::Files);
                if directory.is_named() {
                    self.changes.watch_path(path);
                }
            }
            WalkItem::Entry(directory, entry) => {
                // It may have been removed since the directory was listed.
                let Ok(identity) = directory.identity_of(entry, links) else { return };
                present.insert(identity);
                let open = || directory.open(entry, links).map(File::from);
                self.consider(directory.source_of(entry), identity, open, &mut own_problems);
            }
        });
        problems.merge(own_problems);
        self.report_walk(walk_problems, problems);
        self.left_alone.retain(|identity, _| present.contains(identity));
        self.note_names(&present);
    }

    /// Reports problems of the walk once, and not that a directory was removed while it was walked.
    fn report_walk(&mut self, found: Problems, problems: &mut Problems) {
        for problem in found.into_sorted() {
            let is_removed = match &problem.kind {
                ProblemKind::List(error) | ProblemKind::Open(error) => {
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
    fn consider_named(&mut self, source: Source, metadata: &Metadata, problems: &mut Problems) {
        let (identity, path) =
            (FileIdentity::of(metadata), source.path().unwrap_or(Path::new("")).to_owned());
        if metadata.is_file() {
            return self.consider(source, identity, || open_path(&path), problems);
        }
        if self.left_alone.insert(identity, None).is_none() {
            match open_path(&path) {
                Ok(pipe) => self.add_pipe(&source, pipe),
                Err(error) => problems.add(&source, ProblemKind::Open(error)),
            }
        }
    }

    /// Follows a file, unless that is done already.
    fn consider(
        &mut self,
        mut source: Source,
        identity: FileIdentity,
        open: impl FnOnce() -> io::Result<File>,
        problems: &mut Problems,
    ) {
        if self.is_known(identity) {
            return;
        }
        let path = source.path().unwrap_or(Path::new("")).to_owned();
        let (metadata, file) = match open().and_then(|file| Ok((file.metadata()?, file))) {
            Ok((metadata, _)) if !metadata.is_file() => return,
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => {
                if self.failed.insert(path) {
                    problems.add(&source, ProblemKind::Open(error));
                }
                return;
            }
        };
        self.failed.remove(&path);
        // It may have been replaced since it was found, and again before the next search.
        let identity = FileIdentity::of(&metadata);
        if self.is_known(identity) {
            return;
        }
        source.set_identity(identity);
        let is_named = source.is_named();
        let mut input = FollowedInput::of_file(self.next, source, identity, file, self.context);
        if let Some(file) = &mut input.file {
            // It may be written under a name elsewhere.
            if is_named || metadata.nlink() > 1 {
                self.changes.watch_file(&file.file);
                file.is_watched = true;
            }
            file.is_later = !self.is_first;
        }
        self.add(input);
    }

    fn is_known(&self, identity: FileIdentity) -> bool {
        self.left_alone.contains_key(&identity) || self.numbers.contains_key(&identity)
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
        // Others may have the same contents so far.
        let best = candidates.max_by_key(|(other, file)| (begins_alike(other), file.consumed()));
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
            let Some(file) = self.inputs.get(&number).and_then(|input| input.file.as_ref()) else { continue };
            let is_other =
                changed.contains(&number) && current.is_some_and(|current| !file.is_copy_of(current));
            let is_alone = current.is_none();
            let Some(input) = self.inputs.get_mut(&number) else { continue };
            let Some(file) = &mut input.file else { continue };
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

    /// Lets files without a name end that no longer grow: their last record counts even if it has no end.
    fn end_nameless(&mut self) {
        let is_over =
            |file: &FollowedFile| file.nameless_since.is_some_and(|since| since.elapsed() >= NAMELESS);
        self.inputs.retain(|_, input| {
            let Some(file) = input.file.as_ref().filter(|file| is_over(file)) else { return true };
            if file.held_back_for.is_some() {
                self.numbers.remove(&file.identity);
                return false;
            }
            if let Some(stream) = &mut input.stream {
                stream.end();
            }
            true
        });
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

/// Raises the limit of open files to the maximum of the system.
fn allow_many_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // With the limit as it is, some files may not be opened, which is reported.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

#[cfg(test)]
mod tests {
    use finecomb_sys::ReadBuffer;

    use super::*;
    use crate::inputs::Inputs;
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

    /// Follows a log that is copied and truncated after the files have been found and before their contents are examined. Returns the
    /// lines that are read then.
    fn read_after_rotation(text: &str, copied: &str, (copy, rest): (&str, &str)) -> Vec<String> {
        let directory = tempfile::tempdir().expect("a directory");
        let (log, copy) = (directory.path().join("a"), directory.path().join(copy));
        fs::write(&log, text).expect("room");
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
        assert_eq!(read(&mut followed).len(), text.lines().count());
        let mut problems = Problems::default();
        followed.find(&mut problems);
        fs::write(&copy, copied).expect("room");
        fs::write(&log, rest).expect("room");
        followed.look_at_contents(&mut problems);
        let mut lines = [read(&mut followed), read(&mut followed)].concat();
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
