//! A worker of a job whose output is in order: takes what is next, and does it.

use std::ffi::OsStr;
use std::mem;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use finecomb_meter::{Meter, Phase, ThreadTimes};

use super::ahead::Ahead;
use super::job::{Collected, FILES_PER_TASK, Job, Work};
use super::open::{Opened, open_named, open_standard_input};
use super::output::{Chunk, Output};
use super::plan::{Plan, SlotId};
use super::{FileName, Reading, Visit, Wants};
use crate::block::Source;
use crate::error::{ProblemKind, Problems};
use crate::options::Bounds;
use crate::walk::SortKey;
use crate::walk::directory::{Directory, Scratch, SortValue, Walk};
use crate::walk::list::Kind;

/// What all workers know.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) reading: &'a Reading,
    pub(crate) bounds: Bounds,
    pub(crate) walk: &'a Walk<'a>,
}

/// One of the threads of a job.
pub(crate) struct Worker<'w, V: Visit> {
    pub(super) context: Context<'w>,
    number: usize,
    pub(super) plan: &'w Plan<'w, Job<V>>,
    pub(crate) visitor: V,
    pub(crate) meter: Meter,
    pub(crate) problems: Problems,
    pub(crate) visited: u64,
    /// If files are only to be found: by what they will be sorted.
    pub(crate) collect: Option<SortKey>,
    pub(crate) collected: Vec<Collected>,
    /// The files that were found before.
    pub(crate) files: &'w [Collected],
    pub(super) wants: Wants,
    pub(super) out: Output<'w>,
    pub(super) buffer: Vec<u8>,
    scratch: Scratch,
}

impl<'w, V: Visit> Worker<'w, V> {
    pub(crate) fn new(
        context: Context<'w>,
        number: usize,
        plan: &'w Plan<'w, Job<V>>,
        visitor: V,
        separator: Option<Vec<u8>>,
        meter: Meter,
    ) -> Self {
        Self {
            context,
            number,
            plan,
            wants: visitor.wants(),
            visitor,
            meter,
            problems: Problems::default(),
            visited: 0,
            collect: None,
            collected: Vec::new(),
            files: &[],
            out: Output::new(separator),
            buffer: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Works until all is done or the workers should leave off, and ends the meter.
    pub(crate) fn run(mut self) -> (Self, ThreadTimes) {
        while self.step() {}
        self.buffer = Vec::new();
        self.scratch = Scratch::default();
        let times = mem::replace(&mut self.meter, Meter::off()).finish();
        (self, times)
    }

    /// Takes the next thing to do and does it. False if there is nothing left.
    pub(crate) fn step(&mut self) -> bool {
        let Some((slot, work)) = self.plan.next(self.number, &mut self.meter) else { return false };
        self.out.belongs_to(self.plan, slot);
        match work {
            Work::Named(number) => self.named(slot, number),
            Work::Directory(parent, entry) => self.enter(slot, &parent, entry),
            Work::Files(directory, entries) => self.files_of(slot, &directory, entries),
            Work::Listed(files) => self.listed(slot, files),
            Work::Chunk(shared, file, chunk, block) => self.chunk(&shared, &file, chunk, block),
            Work::End(shared, blocks) => self.end_shared(&shared, blocks),
            Work::Stream(stream) => self.stream(slot, stream),
        }
        self.meter.enter(Phase::Print);
        let spare = self.plan.finish(slot, self.out.take());
        self.out.reuse(spare);
        true
    }

    fn named(&mut self, slot: SlotId, number: usize) {
        let path = &self.context.reading.named[number];
        self.meter.enter(Phase::Open);
        if path == Path::new("-") {
            return self.standard_input(slot, number);
        }
        if std::fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
            self.meter.enter(Phase::Walk);
            let dot = self.context.reading.strip_dot && path == Path::new(".");
            let printed = if dot { Path::new("") } else { path };
            let listed =
                self.context.walk.named(number, path, printed, &mut self.scratch, &mut self.problems);
            match listed {
                Ok(directory) => self.expand(slot, directory),
                Err(error) => self.note(number, path, ProblemKind::List(error)),
            }
            return;
        }
        if let Some(key) = self.collect {
            let key = SortValue::of(path, key);
            return self.collected.push(Collected {
                argument: number,
                path: Some(path.clone()),
                named: true,
                key,
            });
        }
        self.by_path(slot, number, path, true, None);
    }

    fn listed(&mut self, slot: SlotId, files: Range<usize>) {
        let all = self.files;
        for number in files.clone() {
            if self.plan.is_halted() {
                return;
            }
            let file = &all[number];
            let rest = Job::Listed(number + 1..files.end);
            match &file.path {
                None => {
                    self.plan.add(slot, [(None, Some(rest))]);
                    return self.standard_input(slot, file.argument);
                }
                Some(path) => {
                    if self.by_path(slot, file.argument, path, file.named, Some(rest)) {
                        return;
                    }
                }
            }
            self.out.relieve();
        }
    }

    /// Reads the file of a path. True if it is shared, and `rest` has been planned.
    fn by_path(
        &mut self,
        slot: SlotId,
        number: usize,
        path: &Path,
        named: bool,
        rest: Option<Job<V>>,
    ) -> bool {
        let name = FileName { path: Some(path), named };
        if self.wants == Wants::Name {
            self.visited += 1;
            // What was found below a directory is there.
            match if named { std::fs::metadata(path).map(|_| ()) } else { Ok(()) } {
                Ok(()) => self.visitor.name(name, &mut self.out),
                Err(error) => self.note(number, path, ProblemKind::Open(error)),
            }
            return false;
        }
        self.meter.enter(Phase::Open);
        let read = open_named(path).and_then(|(file, metadata)| {
            if metadata.is_file() {
                self.read(number, name, file, false)
            } else {
                self.read_stream(number, name, file)
            }
        });
        match read {
            Ok(Opened::Done) => false,
            Ok(Opened::Share(job)) => {
                self.plan.add(slot, [(None, Some(job)), (None, rest)]);
                true
            }
            Err(kind) => {
                self.note(number, path, kind);
                false
            }
        }
    }

    fn standard_input(&mut self, slot: SlotId, number: usize) {
        if self.collect.is_some() {
            let file = Collected { argument: number, path: None, named: true, key: None };
            return self.collected.push(file);
        }
        let name = FileName { path: None, named: true };
        if self.wants == Wants::Name {
            self.visited += 1;
            return self.visitor.name(name, &mut self.out);
        }
        let read = open_standard_input().and_then(|(file, is_whole_file)| {
            if is_whole_file {
                self.read(number, name, file, false)
            } else {
                self.read_stream(number, name, file)
            }
        });
        match read {
            Ok(Opened::Done) => {}
            Ok(Opened::Share(job)) => self.plan.add(slot, [(None, Some(job))]),
            Err(kind) => self.problems.add(&Source::new(number, None), kind),
        }
    }

    fn enter(&mut self, slot: SlotId, parent: &Directory, entry: usize) {
        self.meter.enter(Phase::Walk);
        let entry = &parent.listing.entries()[entry];
        match self.context.walk.enter(parent, entry, &mut self.scratch, &mut self.problems) {
            Ok(Some(directory)) => self.expand(slot, directory),
            Ok(None) => {}
            Err(error) => {
                let path = parent.path_of(entry);
                self.note(parent.argument, as_path(&path), ProblemKind::List(error));
            }
        }
    }

    /// Plans what is in a directory.
    fn expand(&mut self, slot: SlotId, directory: Directory) {
        let directory = Arc::new(directory);
        let entries = directory.listing.entries();
        let mut planned = Vec::new();
        let mut next = 0;
        while next < entries.len() {
            if entries[next].kind == Kind::Directory {
                planned.push((None, Some(Job::Directory(Arc::clone(&directory), next))));
                next += 1;
                continue;
            }
            let run = entries[next..].iter().take_while(|entry| entry.kind != Kind::Directory).count();
            let run = next..next + run;
            next = run.end;
            if self.collect.is_some() {
                self.collect_files(&directory, run);
            } else if self.wants == Wants::Name {
                planned.push((Some(self.names(&directory, run)), None));
            } else {
                for start in run.clone().step_by(FILES_PER_TASK) {
                    let some = start..run.end.min(start + FILES_PER_TASK);
                    planned.push((None, Some(Job::Files(Arc::clone(&directory), some))));
                }
            }
        }
        self.plan.add(slot, planned);
    }

    /// What is printed of files of which only the names are wanted.
    fn names(&mut self, directory: &Directory, run: Range<usize>) -> Chunk {
        let mut path = directory.prefix.clone();
        for entry in &directory.listing.entries()[run] {
            path.truncate(directory.prefix.len());
            path.extend_from_slice(directory.listing.name(entry));
            self.visited += 1;
            self.visitor.name(FileName { path: Some(as_path(&path)), named: false }, &mut self.out);
        }
        self.out.take()
    }

    fn collect_files(&mut self, directory: &Directory, run: Range<usize>) {
        let key = self.collect.unwrap_or_default();
        for entry in &directory.listing.entries()[run] {
            self.collected.push(Collected {
                argument: directory.argument,
                path: Some(as_path(&directory.path_of(entry)).to_owned()),
                named: false,
                key: directory.sort_key(entry, key),
            });
        }
    }

    fn files_of(&mut self, slot: SlotId, directory: &Arc<Directory>, entries: Range<usize>) {
        let mut path = directory.prefix.clone();
        let mut ahead = Ahead::new(directory, entries.clone(), self.context.walk.options.follow);
        for number in entries.clone() {
            if self.plan.is_halted() {
                return;
            }
            let entry = &directory.listing.entries()[number];
            path.truncate(directory.prefix.len());
            path.extend_from_slice(directory.listing.name(entry));
            let name = FileName { path: Some(as_path(&path)), named: false };
            self.meter.enter(Phase::Open);
            let read = ahead
                .open(self.plan.pace.is_cold())
                .map_err(ProblemKind::Open)
                .and_then(|fd| self.read(directory.argument, name, fd.into(), directory.short_read_is_end));
            match read {
                Ok(Opened::Done) => {}
                Ok(Opened::Share(job)) => {
                    let rest = Job::Files(Arc::clone(directory), number + 1..entries.end);
                    return self.plan.add(slot, [(None, Some(job)), (None, Some(rest))]);
                }
                Err(kind) => self.note(directory.argument, as_path(&path), kind),
            }
            self.out.relieve();
        }
    }

    fn note(&mut self, number: usize, path: &Path, kind: ProblemKind) {
        self.problems.add(&Source::new(number, Some(path.to_owned())), kind);
    }
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
