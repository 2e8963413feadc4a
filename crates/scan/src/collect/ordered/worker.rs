//! A worker of a job with ordered output. It claims tasks and does them.

use std::fs::{self, File};
use std::mem;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;

use finecomb_meter::{Meter, Phase, ThreadTimes};

use super::ahead::Ahead;
use super::chain::Chain;
use super::collected::Collected;
use super::job::{Shared, Streamed, VisitTask, VisitWork};
use super::mapped::WholeText;
use super::output::Output;
use super::visit::{Print, Wants};
use crate::block::{Medium, Source};
use crate::inputs::is_standard_input;
use crate::problem::ProblemKind;
use crate::progress::{Extent, OnDrop};
use crate::schedule::sequencer::{Planned, Sequencer, SlotId};
use crate::schedule::task::{EntryRun, Unopened, runs, tasks};
use crate::snapshot::{Absent, Checks, Known, Stamp};
use crate::source::HEAD_SIZE;
use crate::source::prefetch::Prefetcher;
use crate::source::reader::{FileContents, InputReader, NamedInput};
use crate::source::shared::Chunks;
use crate::stop::Stop;
use crate::walk::Sort;
use crate::walk::directory::{Directory, SortValue};
use crate::walk::listing::DirEntry;
use crate::walk::open_path;

/// Maximum size of a file that is read and searched by a single worker, in blocks. Larger files are worth sharing.
const WHOLE_LIMIT: usize = 4;

/// Maximum size of a file that is left to a single worker while there are other files to read, in blocks.
const UNSHARED_LIMIT: usize = 64;

/// Maximum number of entries of a directory whose files are compared with a snapshot by the worker that lists it: on
/// the core that has just opened the directory that takes less time. Larger ones are worth sharing.
const CHECKED_AT_ONCE: usize = 512;

/// Maximum number of adjacent files of a directory that are collected by the worker that lists it. More are worth sharing.
const COLLECTED_AT_ONCE: usize = 512;

/// Maximum number of subdirectories that a worker lists before it shares the rest.
const LISTED_AT_ONCE: usize = 128;

/// The same if files may be read: their directories stay open until then, and a process may have few open files.
const LISTED_AT_ONCE_TO_READ: usize = 8;

/// Number of waiting tasks from which on a worker does not share subdirectories: enough for the other workers until it does.
const BACKLOG: usize = 8;

/// Work of opening a file, expressed in bytes of contents.
pub(super) const FILE_WORK: u64 = 32 << 10;

/// A worker of a job.
pub(crate) struct Visitor<'w, V: Print> {
    pub(crate) reader: InputReader<'w>,
    number: usize,
    pub(super) sequencer: &'w Sequencer<'w, VisitTask<V>>,
    /// The next claimed work.
    next: Option<(SlotId, VisitWork<V>)>,
    /// Tasks to insert after the current one.
    planned: Vec<Planned<VisitTask<V>>>,
    pub(crate) visit: V,
    pub(crate) visited: u64,
    pub(crate) checks: Checks,
    /// If files are only collected: how they are sorted.
    pub(crate) collect: Option<Sort>,
    pub(crate) ahead: Ahead,
    pub(crate) collected: Collected,
    /// All collected files.
    pub(crate) files: Option<&'w Collected>,
    pub(super) wants: Wants,
    pub(super) out: Output<'w>,
    /// Receives the progress, if it is wanted.
    pub(crate) done: Option<&'w Done>,
}

/// Bytes that a job has processed, for reports of its progress. The work of its pace has files, too.
#[derive(Default)]
pub(crate) struct Done {
    pub(super) bytes: AtomicU64,
    pub(super) extent: Extent,
}

impl<'w, V: Print> Visitor<'w, V> {
    pub(crate) fn new(
        reader: InputReader<'w>,
        number: usize,
        sequencer: &'w Sequencer<'w, VisitTask<V>>,
        visit: V,
        separator: Option<Vec<u8>>,
    ) -> Self {
        Self {
            reader,
            number,
            sequencer,
            next: None,
            planned: Vec::new(),
            wants: visit.wants(),
            visit,
            visited: 0,
            checks: Checks::default(),
            collect: None,
            ahead: Ahead::default(),
            collected: Collected::default(),
            files: None,
            out: Output::new(separator),
            done: None,
        }
    }

    /// Works until everything is done or the workers should stop, and ends the meter.
    pub(crate) fn run(mut self) -> (Self, ThreadTimes) {
        let sequencer = self.sequencer;
        // The others would wait for the output of a worker that panics.
        let _halted = OnDrop(|| {
            if thread::panicking() {
                sequencer.halt();
            }
        });
        while self.step() {}
        if let Some(sort) = self.collect {
            self.reader.meter.enter(Phase::Walk);
            self.collected.sort(sort);
        }
        self.reader.release();
        let times = mem::replace(&mut self.reader.meter, Meter::off()).finish();
        (self, times)
    }

    /// Returns `true` if there is work for another worker: a task, or the next blocks of a stream that this worker has
    /// claimed.
    pub(crate) fn has_shared_work(&self) -> bool {
        matches!(self.next, Some((_, VisitWork::Stream(_) | VisitWork::Archive(_))))
            || self.sequencer.has_tasks()
    }

    /// Does the next work and claims the one after it. Returns `false` if there is none left.
    pub(crate) fn step(&mut self) -> bool {
        let next = self.next.take().or_else(|| self.sequencer.pool.next(self.number, &mut self.reader.meter));
        let Some((slot, work)) = next else { return false };
        self.out.set_slot(self.sequencer, slot);
        match work {
            VisitWork::Open(Unopened::Named(number)) => self.open_named(number),
            VisitWork::Open(Unopened::Directory(parent, entry)) => {
                if let Some(directory) = self.reader.list(&parent, entry) {
                    self.expand(directory);
                }
            }
            VisitWork::Open(Unopened::Files(directory, files)) if self.collect.is_some() => {
                self.collect_files(&directory, files);
            }
            VisitWork::Open(Unopened::Files(directory, files)) => self.visit_files(&directory, files),
            VisitWork::Collected(files) => self.visit_collected(files),
            VisitWork::Chunk(shared, file, chunk, block) => self.visit_chunk(&shared, &file, chunk, block),
            VisitWork::End(shared, blocks) => self.end_shared(&shared, blocks),
            VisitWork::MappedPart(file, part) => self.visit_part(&file, part),
            VisitWork::MappedWhole(file) => self.visit_searched(&file),
            VisitWork::Stream(stream) => self.visit_stream(slot, stream),
            VisitWork::Archive(archive) => self.visit_archive(slot, archive),
        }
        self.reader.meter.enter(Phase::Print);
        let planned = mem::take(&mut self.planned);
        let (chunk, meter) = (self.out.take(), &mut self.reader.meter);
        let (spare, next) = self.sequencer.finish_and_next(slot, chunk, planned, self.number, meter);
        self.out.reuse(spare);
        self.next = next;
        self.next.is_some()
    }

    fn open_named(&mut self, number: usize) {
        let path = &self.reader.context.inputs.named[number];
        if !self.reads_files() {
            return self.name_or_collect(number, path);
        }
        match self.reader.open_named(number) {
            None => {}
            Some(NamedInput::Directory(directory)) => self.expand(directory),
            Some(file) => {
                self.read_named(file, None);
            }
        }
    }

    /// Processes an input that is not to be opened: prints its name, or collects it.
    fn name_or_collect(&mut self, number: usize, path: &Path) {
        let is_standard_input = is_standard_input(path);
        if !is_standard_input && fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
            if let Some(directory) = self.reader.list_named(number, path) {
                self.expand(directory);
            }
            return;
        }
        let path = (!is_standard_input).then_some(path);
        if let Some(sort) = self.collect {
            let key = path.and_then(|path| SortValue::of(path, sort.by));
            self.collected.add_named(number, path, key);
        } else {
            self.visit_name(&Source::named(number, path.map(Path::to_owned)));
        }
    }

    /// Processes a file when only its name is wanted.
    pub(super) fn visit_name(&mut self, source: &Source) {
        let named = source.path().filter(|_| source.is_named());
        // A file found below a directory exists.
        match named.map_or(Ok(()), |path| fs::metadata(path).map(drop)) {
            Ok(()) => {
                self.visited += 1;
                self.out.begin_file(source);
                self.visit.name(source, &mut self.out);
            }
            Err(error) => self.reader.problems.add(source, ProblemKind::Open(error)),
        }
    }

    fn visit_collected(&mut self, files: Range<usize>) {
        let Some(all) = self.files else { return };
        for number in files.clone() {
            if self.sequencer.pool.is_halted() {
                return;
            }
            let (source, absent) = all.get(number);
            if !self.reads_files() {
                self.visit_name(&source);
            } else if absent.is_some_and(|absent| self.omit(&absent, &source)) {
                // It is known to hold no match.
            } else if let Some(file) = self.open_collected(&source)
                && self.read_named(file, Some(VisitTask::Collected(number + 1..files.end)))
            {
                return;
            }
            self.out.flush_if_full();
        }
    }

    fn open_collected(&mut self, source: &Source) -> Option<NamedInput> {
        self.reader.meter.enter(Phase::Open);
        let Some(path) = source.path() else { return self.reader.open_named(source.argument()) };
        match open_path(path).and_then(|file| Ok((file.metadata()?.is_file(), file))) {
            Ok((true, file)) => Some(NamedInput::File(source.clone(), file, 0)),
            Ok((false, file)) => Some(NamedInput::Stream(source.clone(), file)),
            Err(error) => {
                self.reader.problems.add(source, ProblemKind::Open(error));
                None
            }
        }
    }

    /// Reads an input that was opened by its path. Returns `true` if it is shared and `rest` has been planned.
    fn read_named(&mut self, input: NamedInput, rest: Option<VisitTask<V>>) -> bool {
        let job = match input {
            // The caller has expanded it.
            NamedInput::Directory(_) => return false,
            NamedInput::File(source, file, start) => self.read(&source, file, start, false),
            NamedInput::Stream(source, file) => self.read_stream(&source, file),
        };
        let Some(job) = job else { return false };
        self.planned = vec![(None, Some(job)), (None, rest)];
        true
    }

    /// Reads a file and visits it if it can be done at once; otherwise returns a task.
    fn read(
        &mut self,
        source: &Source,
        file: File,
        start: u64,
        short_read_is_end: bool,
    ) -> Option<VisitTask<V>> {
        if self.wants == Wants::Name {
            // It may be an archive, whose members have names.
            let contents = self.reader.read_name(source, &file);
            return self.begin(source, contents.map(Some), None);
        }
        let contents = self.reader.read(source, file, start, self.limit(source), short_read_is_end);
        self.begin(source, contents.map(Some), None)
    }

    fn read_stream(&mut self, source: &Source, file: File) -> Option<VisitTask<V>> {
        if self.wants == Wants::Name {
            // Its writer may not have begun, or never end.
            self.visit_name(source);
            return None;
        }
        // Nothing more of the job may be wanted while it waits for its writer.
        let stop = self.sequencer.new_stop();
        let is_whole = matches!(self.wants, Wants::Whole(_));
        let contents = self.reader.read_stream(source, file, self.limit(source), is_whole, stop.clone());
        self.begin(source, contents, stop)
    }

    /// Maximum size of a file that is visited at once, in bytes.
    pub(super) fn limit(&self, source: &Source) -> usize {
        let block_size = self.reader.context.bounds.block_size;
        match self.wants {
            // A file ends where a read returns fewer bytes than it asked for.
            Wants::Whole(limit) => limit.saturating_add(1),
            Wants::Name => 0,
            // A small file is faster searched than shared.
            Wants::Blocks => self.visit.whole_size(source).saturating_add(1).max(WHOLE_LIMIT * block_size),
        }
    }

    /// Visits a file if it can be done at once; otherwise returns a task. Records a problem.
    pub(super) fn begin(
        &mut self,
        source: &Source,
        contents: Result<Option<FileContents>, ProblemKind>,
        stop: Option<Arc<Stop>>,
    ) -> Option<VisitTask<V>> {
        let begun = match contents {
            Ok(Some(contents)) => self.try_begin(source, contents, stop),
            Ok(None) => return None,
            Err(kind) => Err(kind),
        };
        begun.unwrap_or_else(|kind| {
            self.reader.problems.add(source, kind);
            None
        })
    }

    fn try_begin(
        &mut self,
        source: &Source,
        mut contents: FileContents,
        stop: Option<Arc<Stop>>,
    ) -> Result<Option<VisitTask<V>>, ProblemKind> {
        let recognized = self.reader.recognize(source, &mut contents)?;
        let source = recognized.as_ref().unwrap_or(source);
        // Visitors see offsets in the text, also in a part of it.
        let text_start = match &contents {
            FileContents::Whole { skipped, .. } => *skipped,
            FileContents::Mapped { range, .. } => range.start as u64,
            _ => 0,
        };
        let Some(left_out) = self.reader.restrict(source, &mut contents)? else { return Ok(None) };
        if let Some(done) = self.done {
            done.extent.record_left_out(left_out);
            if contents.is_decoded() {
                done.extent.record_decoded();
            }
        }
        let text = |range, start| WholeText { range, start, text_start, is_whole: left_out == 0 };
        match contents {
            FileContents::Unwanted => {}
            // Members have no offsets in the file: the job with its beginning reads all of them.
            FileContents::Archive(_) if self.reader.begins_late() => {}
            FileContents::Archive(archive) => return Ok(Some(VisitTask::Archive(archive))),
            // It was read only to find out whether it is an archive.
            _ if self.wants == Wants::Name => self.visit_name(source),
            FileContents::Whole { range, skipped, medium: Medium::File } => {
                self.visit_whole(source, &text(range, skipped));
            }
            FileContents::Whole { range, skipped, medium } => {
                self.visit_whole(&source.with_medium(medium), &text(range, skipped));
            }
            FileContents::Mapped { map, range } => {
                let start = range.start as u64;
                return Ok(self.begin_mapped(source, map, text(range, start)));
            }
            FileContents::Chunks { .. } | FileContents::Stream { .. }
                if let Wants::Whole(limit) = self.wants =>
            {
                return Err(ProblemKind::TooLarge(limit));
            }
            FileContents::Chunks { mut file, start, known } => {
                let shared = self.share(file.source().clone(), start, known, None);
                file.set_ends(shared.nul_ends);
                let limit = UNSHARED_LIMIT * self.reader.context.bounds.block_size;
                match file {
                    // Other workers have other tasks. Records that span lines are found by all workers together.
                    Chunks::Plain(file)
                        if !file.bounds.may_span_lines()
                            && file.len() <= limit as u64
                            && self.sequencer.has_tasks() =>
                    {
                        self.visit_unshared(&shared, &file);
                    }
                    file => return Ok(Some(VisitTask::Chunks(shared, Arc::new(file), 0))),
                }
            }
            FileContents::Stream { mut stream, known } => {
                let shared = self.share(stream.source.clone(), stream.offset, known, stop);
                stream.bounds = stream.bounds.with_ends(shared.nul_ends);
                return Ok(Some(VisitTask::Stream(Box::new(Streamed {
                    shared,
                    stream: *stream,
                    blocks: 0,
                }))));
            }
        }
        Ok(None)
    }

    pub(super) fn share(
        &mut self,
        source: Source,
        start: u64,
        known: Range<usize>,
        stop: Option<Arc<Stop>>,
    ) -> Arc<Shared<V>> {
        self.visited += 1;
        self.reader.meter.add_file();
        self.out.begin_file(&source);
        let known = known.start..known.end.min(known.start + HEAD_SIZE);
        let state = self.visit.begin(&source, &self.reader.buffer[known]);
        let over = self.visit.is_over(&state);
        let nul_ends = self.visit.nul_ends(&source);
        Arc::new(Shared { source, start, stop, nul_ends, chain: Chain::new(state, over) })
    }

    /// Plans the contents of a directory.
    fn expand(&mut self, directory: Directory) {
        let mut left = if self.reads_files() { LISTED_AT_ONCE_TO_READ } else { LISTED_AT_ONCE };
        let mut planned = Vec::new();
        self.expand_into(&mut planned, &Arc::new(directory), &mut left);
        // Without tasks, the output is that of this task.
        if !planned.is_empty() {
            planned.extend(self.printed());
        }
        self.planned = planned;
    }

    /// Like [`Visitor::expand`]. Lists up to `left` subdirectories itself while the others have enough to do.
    fn expand_into(
        &mut self,
        planned: &mut Vec<Planned<VisitTask<V>>>,
        directory: &Arc<Directory>,
        left: &mut usize,
    ) {
        for run in runs(directory) {
            match run {
                EntryRun::Files(files) if self.collect.is_some() => {
                    // Its files are stored without being opened, which takes less time than another task.
                    if files.len() <= COLLECTED_AT_ONCE {
                        self.collect_files(directory, files);
                    } else {
                        planned.extend(elements(directory, EntryRun::Files(files)));
                    }
                }
                EntryRun::Files(files) if !self.reads_files() => {
                    self.print_names(directory, files);
                    // After a planned task it waits for the output of that task.
                    if planned.is_empty() {
                        self.out.flush_if_full();
                    }
                }
                EntryRun::Files(files) if is_checked_at_once(directory) => {
                    self.check_files(directory, files, planned);
                }
                EntryRun::Directory(entry) if *left > 0 && self.lists_at_once(directory) => {
                    *left -= 1;
                    if let Some(below) = self.reader.list(directory, entry) {
                        self.expand_into(planned, &Arc::new(below), left);
                    }
                }
                run => {
                    planned.extend(self.printed());
                    planned.extend(elements(directory, run));
                }
            }
        }
    }

    /// Whether files are read, not only listed.
    fn reads_files(&self) -> bool {
        // The names of members are in the archives.
        self.collect.is_none() && (self.wants != Wants::Name || self.reader.context.inputs.walk.archives)
    }

    /// Whether subdirectories are listed by the worker that has listed their parent: if nothing is read, a task costs more than
    /// a small directory.
    fn lists_at_once(&self, directory: &Directory) -> bool {
        (!self.reads_files() || directory.is_known())
            && self.sequencer.pool.waiting() >= BACKLOG
            && !self.sequencer.pool.is_halted()
    }

    /// Omits files that are known to hold no match, and plans the reading of the others.
    fn check_files(
        &mut self,
        directory: &Arc<Directory>,
        files: Range<usize>,
        planned: &mut Vec<Planned<VisitTask<V>>>,
    ) {
        let mut source = Source::found(directory.argument, Default::default());
        let mut wanted = files.start..files.start;
        for number in files {
            let entry = &directory.listing.entries()[number];
            source.move_to(&directory.prefix, directory.listing.name(entry));
            if directory.known(entry).is_some_and(|known| self.is_omitted(directory, entry, known, &source)) {
                continue;
            }
            // The output of omitted files comes between those before and after them.
            if wanted.end < number || wanted.is_empty() {
                planned.extend(elements(directory, EntryRun::Files(wanted)));
                planned.extend(self.printed());
                wanted = number..number;
            }
            wanted.end = number + 1;
        }
        planned.extend(elements(directory, EntryRun::Files(wanted)));
    }

    /// The output so far as an element of the sequence, if there is any.
    fn printed(&mut self) -> Option<Planned<VisitTask<V>>> {
        self.out.is_pending().then(|| (Some(self.out.take()), None))
    }

    /// Prints the names of files when only names are wanted.
    fn print_names(&mut self, directory: &Directory, files: Range<usize>) {
        let mut source = Source::found(directory.argument, Default::default());
        for entry in &directory.listing.entries()[files] {
            source.move_to(&directory.prefix, directory.listing.name(entry));
            self.visited += 1;
            self.out.begin_file(&source);
            self.visit.name(&source, &mut self.out);
        }
    }

    fn collect_files(&mut self, directory: &Directory, files: Range<usize>) {
        let key = self.collect.unwrap_or_default().by;
        let follow = self.reader.context.inputs.walk.follow;
        let mut prefetcher = Prefetcher::new(directory, files.clone(), follow);
        let mut source = Source::found(directory.argument, Default::default());
        for entry in &directory.listing.entries()[files] {
            if self.sequencer.pool.is_halted() {
                return;
            }
            // A name is printed with or without a match.
            let known = if self.wants == Wants::Name { None } else { directory.known(entry) };
            let absent = known.and_then(|known| self.proved_absent(directory, entry, known));
            let place = (&*directory.prefix, directory.listing.name(entry));
            if known.is_none() && self.ahead.is_worthwhile() {
                source.move_to(place.0, place.1);
                self.reader.meter.enter(Phase::Open);
                if let Ok(file) = prefetcher.open(self.reader.storage.is_cold())
                    && self.search_ahead(&source, &file, directory.short_read_is_end())
                {
                    continue;
                }
                self.reader.meter.enter(Phase::Walk);
            } else {
                // It is opened in its turn, if at all.
                prefetcher.skip();
            }
            let of_stamp = absent.and_then(|absent| SortValue::of_stamp(&absent.stamp, key));
            let key = of_stamp.or_else(|| directory.sort_key(entry, key));
            self.collected.add_found(directory.argument, place, key, absent);
        }
    }

    /// Processes a file without reading it, if it is unchanged and known to hold no match. Otherwise returns `false`.
    fn is_omitted(&mut self, directory: &Directory, entry: &DirEntry, known: Known, source: &Source) -> bool {
        self.proved_absent(directory, entry, known).is_some_and(|absent| self.omit(&absent, source))
    }

    /// Returns the knowledge of a file, if it is unchanged and known to hold no match.
    fn proved_absent(&mut self, directory: &Directory, entry: &DirEntry, known: Known) -> Option<Absent> {
        let absent = match known {
            Known::Nothing => {
                self.checks.unknown += 1;
                return None;
            }
            Known::Candidate => {
                self.checks.candidates += 1;
                return None;
            }
            Known::Absent(absent) => absent,
        };
        self.reader.meter.enter(Phase::Check);
        self.checks.checked += 1;
        let is_same = directory.stamp_of(entry).is_ok_and(|stamp| stamp == absent.stamp);
        self.checks.changed += u64::from(!is_same);
        is_same.then_some(absent)
    }

    /// Processes a file that is known to hold no match without reading it. Returns `false` if it is to be read all the same.
    fn omit(&mut self, absent: &Absent, source: &Source) -> bool {
        self.out.begin_file(source);
        let Some(flow) = self.visit.absent(source, absent, &mut self.out) else { return false };
        self.visited += 1;
        self.checks.omitted += 1;
        self.reader.meter.add_file();
        // The job only asks whether there is a match.
        if flow.is_break() {
            self.sequencer.halt();
        }
        true
    }

    /// Visits the parts of a candidate that may hold a match, if it is unchanged. Otherwise returns `false`.
    fn visit_known_parts(
        &mut self,
        directory: &Directory,
        entry: &DirEntry,
        source: &Source,
        file: &File,
    ) -> bool {
        if !self.visit.allows_gaps() {
            return false;
        }
        let Some((stamp, parts)) = directory.known_parts(entry) else { return false };
        let size: u64 = parts.iter().map(|part| part.end - part.start).sum();
        if size > self.limit(source) as u64 {
            // It is shared by all workers.
            return false;
        }
        let is_same = Stamp::of_open(file).is_ok_and(|present| present == stamp);
        if is_same {
            self.visit_parts(source, file, stamp.size, &parts);
        } else {
            // The places of the parts are those of the old text.
            self.checks.changed += 1;
        }
        is_same
    }

    fn visit_files(&mut self, directory: &Arc<Directory>, entries: Range<usize>) {
        let follow = self.reader.context.inputs.walk.follow;
        let mut prefetcher = Prefetcher::new(directory, entries.clone(), follow);
        let mut source = Source::found(directory.argument, Default::default());
        for number in entries.clone() {
            if self.sequencer.pool.is_halted() {
                return;
            }
            let entry = &directory.listing.entries()[number];
            source.move_to(&directory.prefix, directory.listing.name(entry));
            // Otherwise the worker that listed the directory has done that.
            if !is_checked_at_once(directory)
                && let Some(known) = directory.known(entry)
                && self.is_omitted(directory, entry, known, &source)
            {
                prefetcher.skip();
                self.out.flush_if_full();
                continue;
            }
            self.reader.meter.enter(Phase::Open);
            match prefetcher.open(self.reader.storage.is_cold()) {
                Ok(file) => {
                    if self.visit_known_parts(directory, entry, &source, &file) {
                        self.out.flush_if_full();
                        continue;
                    }
                    if let Some(job) = self.read(&source, file, 0, directory.short_read_is_end()) {
                        let rest =
                            VisitTask::Open(Unopened::Files(Arc::clone(directory), number + 1..entries.end));
                        self.planned = vec![(None, Some(job)), (None, Some(rest))];
                        return;
                    }
                }
                Err(error) => self.reader.problems.add(&source, ProblemKind::Open(error)),
            }
            self.out.flush_if_full();
        }
    }
}

/// The tasks of a run, as elements of the sequence.
fn elements<V: Print>(
    directory: &Arc<Directory>,
    run: EntryRun,
) -> impl Iterator<Item = Planned<VisitTask<V>>> {
    tasks(directory, run).map(|task| (None, Some(VisitTask::Open(task))))
}

/// Whether the worker that lists a directory compares its files with a snapshot.
fn is_checked_at_once(directory: &Directory) -> bool {
    directory.is_known() && directory.listing.entries().len() <= CHECKED_AT_ONCE
}
