//! `comb index` for directories.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use finecomb_scan::{Distrust, Stop};
use finecomb_sys::units::{Bytes, Clock, Count, counted};
use finecomb_sys::{IS_LINUX, io_reason};
use finecomb_tree_index::{
    BuildOptions, Built, Error, IndexedPart, Info, Stage, WatchInfo, WatchOptions, build as build_index,
    drop_index, update as update_index, verify as verify_index, watch as watch_tree,
};
use serde_json::json;

use crate::args::format::TextOrJson;
use crate::exit::{Exit, Failure, fail, print};
use crate::index::args::{Build, Drop, IndexList, IndexedDirectory, Info as InfoArguments};
use crate::index::stages::with_stages;
use crate::message;

/// Builds the index of a directory.
pub(crate) fn build(arguments: &Build) -> Result<(), Failure> {
    let root = root(&arguments.file)?;
    let home = arguments.home.required()?;
    let width = arguments.threads.count().get();
    let (built, took) = with_progress(width, |options| build_index(&home, &root, options))?;
    message::problems(&built.problems);
    if !IS_LINUX {
        let root = root.display();
        message::note(format_args!("{root}: searches use an index only on Linux; here they read all files"));
    }
    let info = Info::of_tree(&home, &root)?;
    message::note(format_args!(
        "{}: {} of {}, an index of {}; {took}",
        root.display(),
        counted(info.files.values().sum(), "file"),
        Bytes(info.text),
        Bytes(info.bytes),
    ));
    Ok(())
}

/// Updates the index of a directory.
pub(crate) fn update(arguments: &IndexedDirectory) -> Result<(), Failure> {
    let root = root(&arguments.directory)?;
    let home = arguments.home.required()?;
    let width = arguments.threads.count().get();
    let (Built { problems, files, read, is_new }, took) =
        with_progress(width, |options| update_index(&home, &root, options))?;
    message::problems(&problems);
    let what = if is_new { "read" } else { "read, nothing has changed" };
    let (read, files) = (Count(read as u64), counted(files as u64, "file"));
    message::note(format_args!("{}: {read} of {files} {what}; {took}", root.display()));
    Ok(())
}

/// The part of a build in which files are read. Their lists are written in the rest.
const READING: f64 = 0.9;

/// Runs a build or an update, and shows how many of its files have been read.
fn with_progress(
    width: usize,
    build: impl FnOnce(&BuildOptions<'_>) -> Result<Built, Error>,
) -> Result<(Built, String), Error> {
    let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let shown = Arc::clone(&counts);
    let done = move |_: Duration| {
        let [read, all] = [0, 1].map(|count: usize| shown[count].load(Ordering::Relaxed));
        (all > 0).then(|| READING * read as f64 / all as f64)
    };
    let [read, all] = &*counts;
    with_stages(stage_name, Arc::new(done), |on_stage| {
        let on_stage = |stage| {
            if let Stage::Read(files) = stage {
                all.store(files, Ordering::Relaxed);
            }
            on_stage(stage);
        };
        build(&options(width, &on_stage).files_read(Some(read)))
    })
}

/// Watches a directory.
pub(crate) fn watch(arguments: &IndexedDirectory) -> Result<(), Failure> {
    let root = root(&arguments.directory)?;
    let home = arguments.home.required()?;
    let build = options(arguments.threads.count().get(), &|_| {});
    let stop = Stop::on_signals().map_err(|error| format!("signals: {}", io_reason(&error)))?;
    let start = Instant::now();
    message::note(format_args!(
        "{}: comparing all files with the index; until then, searches do so themselves",
        root.display()
    ));
    let on_state = |info: &WatchInfo| {
        let WatchInfo { watches, compared, .. } = info;
        let (watches, compared) = (Count(*watches as u64), Count(*compared as u64));
        match info.is_at_limit {
            false => message::note(format_args!(
                "{}: ready after {}, watching {watches} files and directories",
                root.display(),
                Clock(start.elapsed())
            )),
            true => message::error(format_args!(
                "{}: the system allows {watches} watches; {compared} files and directories are compared at each search; \
                 raise fs.inotify.max_user_watches",
                root.display()
            )),
        }
    };
    Ok(watch_tree(&home, &root, &WatchOptions::new(&build, &stop).on_state(&on_state))?)
}

/// Updates the index of a tree, and shows nothing.
///
/// # Errors
/// The errors of the update.
pub(crate) fn update_quietly(home: &Path, root: &Path, width: usize) -> Result<(), Error> {
    update_index(home, root, &options(width, &|_| {})).map(std::mem::drop)
}

/// Options for the files that a search without flags would read.
fn options(width: usize, on_stage: &dyn Fn(Stage)) -> BuildOptions<'_> {
    BuildOptions::default().width(width).on_stage(on_stage)
}

/// The absolute path of a directory, without links.
fn root(directory: &Path) -> Result<PathBuf, String> {
    let path = fs::canonicalize(directory);
    path.map_err(|error| format!("{}: {}", directory.display(), io_reason(&error)))
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::List => "listing",
        Stage::Check => "comparing",
        Stage::Read(_) => "reading",
        Stage::Write => "writing",
    }
}

/// Describes the index of a directory.
pub(crate) fn info(arguments: &InfoArguments) -> Result<Exit, Failure> {
    let home = arguments.home.required()?;
    let info = Info::of_tree(&home, &root(&arguments.index)?)?;
    let text = match arguments.format.choice() {
        TextOrJson::Json => format!("{}\n", json_of(&info)),
        TextOrJson::Text => text_of(&info),
    };
    Ok(print(text.as_bytes()))
}

/// Lists all indexes.
pub(crate) fn list(arguments: &IndexList) -> Result<Exit, Failure> {
    let all = Info::of_all(&arguments.home.required()?)?;
    let is_json = arguments.format.choice() == TextOrJson::Json;
    let (mut out, mut exit) = (String::new(), Exit::Found);
    for info in &all {
        match info {
            Ok(info) if is_json => out.push_str(&format!("{}\n", json_of(info))),
            Ok(info) => {
                let (bytes, files) =
                    (Bytes(info.bytes).to_string(), counted(info.files.values().sum(), "file"));
                out.push_str(&format!("{bytes:>8}  {files:>16}  {}\n", info.root.display()));
            }
            Err(error) => exit = fail(error),
        }
    }
    Ok(print(out.as_bytes()).or(exit))
}

/// Verifies the index of a directory.
pub(crate) fn verify(home: &Path, directory: &Path) -> Result<(), Failure> {
    let root = root(directory)?;
    verify_index(home, &root)?;
    message::note(format_args!("{}: checksums match", root.display()));
    Ok(())
}

/// Removes the index of a directory, which may be gone.
pub(crate) fn drop(arguments: &Drop) -> Result<(), Failure> {
    let home = arguments.home.required()?;
    let root = root(&arguments.directory).or_else(|reason| {
        if arguments.directory.is_absolute() { Ok(arguments.directory.clone()) } else { Err(reason) }
    })?;
    Ok(drop_index(&home, &root)?)
}

fn text_of(info: &Info) -> String {
    let mut lines = vec![
        ("root", info.root.display().to_string()),
        ("index", info.folder.display().to_string()),
        ("size", Bytes(info.bytes).to_string()),
        ("segments", Count(info.segments as u64).to_string()),
        ("trigrams", Count(info.trigrams).to_string()),
        ("directories", Count(info.directories.into()).to_string()),
        ("  always listed", Count(info.unlisted.into()).to_string()),
        ("files", Count(info.files.values().sum()).to_string()),
    ];
    let reasons = info.files.iter().map(|(&state, &files)| (name_of(state), Count(files).to_string()));
    lines.extend(reasons);
    if info.parsed > 0 {
        lines.push(("texts parsed", Count(info.parsed as u64).to_string()));
    }
    lines.extend(info.watch.iter().flat_map(lines_of_watch));
    if !info.has_same_credentials {
        lines.push(("not used", "built by another user, or with other groups".to_owned()));
    }
    lines.into_iter().map(|(name, value)| format!("{name:<28} {value}\n")).collect()
}

/// Name of the part of a file that is indexed, or of the reason why it is searched at every query.
fn name_of(state: IndexedPart) -> &'static str {
    match state {
        IndexedPart::Plain => "  indexed",
        IndexedPart::UpToNul => "  indexed up to a NUL",
        IndexedPart::Encoded => "  compressed or encoded",
        IndexedPart::Varied => "  too many trigrams",
        IndexedPart::Distrusted(Distrust::FileSystem) => "  file system not trusted",
        IndexedPart::Distrusted(Distrust::Fresh) => "  changed while indexed",
        IndexedPart::Distrusted(Distrust::Writer) => "  open for writing",
        IndexedPart::Distrusted(Distrust::Unreadable) => "  unreadable",
        IndexedPart::Distrusted(Distrust::Large) => "  too large",
    }
}

fn lines_of_watch(watch: &WatchInfo) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("watched by process", watch.process.to_string()),
        ("  watches", Count(watch.watches as u64).to_string()),
        ("  compared at each search", Count(watch.compared as u64).to_string()),
        ("  searches answered", Count(watch.answers).to_string()),
        ("  updates", Count(watch.updates).to_string()),
    ];
    lines.extend(watch.failure.iter().map(|failure| ("  last update failed", failure.clone())));
    if watch.overflows > 0 {
        lines.push(("  events lost", counted(watch.overflows, "time")));
    }
    if watch.is_at_limit {
        lines.push(("  limit reached", "fs.inotify.max_user_watches".to_owned()));
    }
    lines
}

fn json_of(info: &Info) -> serde_json::Value {
    let files: serde_json::Map<_, _> = info
        .files
        .iter()
        .map(|(&state, &files)| (name_of(state).trim().replace(' ', "_"), json!(files)))
        .collect();
    json!({
        "watch": info.watch,
        "root": info.root.to_string_lossy(),
        "index": info.folder.to_string_lossy(),
        "bytes": info.bytes,
        "built": info.built.seconds,
        "segments": info.segments,
        "trigrams": info.trigrams,
        "texts_parsed": info.parsed,
        "directories": info.directories,
        "directories_always_listed": info.unlisted,
        "files": files,
        "used": info.has_same_credentials,
    })
}
