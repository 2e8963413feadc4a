//! `comb index`: builds, describes, verifies and converts text indexes. `tree_index.rs` handles indexes of directories.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use finecomb_sys::io_reason;
use finecomb_sys::units::{Bytes, Clock, Count};
use finecomb_text_index::{
    Alphabet, BuildOptions, Error, Index, LoadedText, Stage, import_pisearch, is_index, max_index_size,
    memory, pisearch_files,
};
use serde_json::json;

use crate::args::format::TextOrJson;
use crate::exit::{Exit, Failure, fits_memory, print};
use crate::index::args::{Action, Build, Export, Import, IndexArguments, Info, Verify};
use crate::index::stages::with_stages;
use crate::index::tree_index;
use crate::message;
use crate::output::{FileKind, OutputFile};

/// Runs the command.
pub(crate) fn run(arguments: &IndexArguments) -> Result<Exit, Failure> {
    match &arguments.action {
        Action::Build(arguments) => build(arguments),
        Action::Update(arguments) => tree_index::update(arguments),
        Action::Watch(arguments) => tree_index::watch(arguments),
        Action::Info(arguments) => return info(arguments),
        Action::Verify(arguments) => verify(arguments),
        Action::Export(arguments) => export(arguments),
        Action::Import(arguments) => import(arguments),
        Action::List(arguments) => return tree_index::list(arguments),
        Action::Drop(arguments) => tree_index::drop(arguments),
    }?;
    Ok(Exit::Found)
}

/// Seconds per symbol to sort, write and sync with one thread; measured on texts of 20 to 500 million symbols on an
/// Intel Xeon at 2.5 GHz.
const SECONDS_PER_SYMBOL: f64 = 120e-9;
/// Serial fraction of a build.
const SERIAL: f64 = 0.3;

fn predicted_time(symbols: u64, threads: usize) -> Duration {
    let one_thread = symbols as f64 * SECONDS_PER_SYMBOL;
    Duration::from_secs_f64(one_thread * (SERIAL + (1.0 - SERIAL) / threads as f64))
}

/// Kind of file that a build may replace.
const INDEX: FileKind = FileKind { name: "a comb index", is_this: is_index };

fn build(arguments: &Build) -> Result<(), Failure> {
    let Build { file, force, .. } = arguments;
    if file.is_dir() {
        return tree_index::build(arguments);
    }
    let metadata =
        fs::metadata(file).map_err(|error| format!("{}: {}", file.display(), io_reason(&error)))?;
    let length = metadata.len();
    fits_memory(format_args!("{}: building the index takes", file.display()), memory(length))?;
    let output = arguments.output.clone().unwrap_or_else(|| with_ending(file, ".comb"));
    OutputFile { path: &output, sources: &[file], force: *force }.check(Some(&INDEX))?;
    let threads = arguments.threads.count();
    let alphabet = arguments.alphabet.alphabet();
    // Printed before the text is read, which may take long.
    if metadata.is_file() {
        message::note(format_args!(
            "{}: {}; the build takes {} of memory, at most {} of disk and about {}",
            file.display(),
            Bytes(length),
            Bytes(memory(length)),
            Bytes(max_index_size(length, alphabet)),
            Clock(predicted_time(length, threads.get()))
        ));
    }
    report(Some(predicted_time(length, threads.get())), |on_stage| {
        on_stage(Stage::Read);
        let text = LoadedText::read(file, alphabet)?;
        let (symbols, alphabet) = (text.symbols(), text.alphabet());
        let name = if alphabet == Alphabet::Dna { "bases of DNA" } else { alphabet.name() };
        text.build(&output, &BuildOptions::default().threads(threads).on_stage(on_stage))?;
        Ok(format!("{}: {} {name}", output.display(), Count(symbols)))
    })
}

/// Runs a build that takes about as long as expected, and prints the text that it returns and the time of each stage.
fn report(
    expected: Option<Duration>,
    build: impl FnOnce(&dyn Fn(Stage)) -> Result<String, Error>,
) -> Result<(), Failure> {
    let done = move |elapsed: Duration| Some(elapsed.as_secs_f64() / expected?.as_secs_f64());
    let (built, took) = with_stages(stage_name, Arc::new(done), build)?;
    message::note(format_args!("{built}; {took}"));
    Ok(())
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Read => "reading",
        Stage::Pack => "packing",
        Stage::Sort => "sorting",
        Stage::Write => "writing",
        Stage::Sync => "waiting for the disk",
    }
}

fn info(arguments: &Info) -> Result<Exit, Failure> {
    if arguments.index.is_dir() {
        return tree_index::info(arguments);
    }
    let index = Index::open(&arguments.index)?;
    let text = if arguments.format.choice() == TextOrJson::Json {
        json_description(&index)
    } else {
        text_description(&index)
    };
    Ok(print(text.as_bytes()))
}

fn text_description(index: &Index) -> String {
    let mut lines = vec![
        ("alphabet", index.alphabet().to_string()),
        ("symbols", Count(index.symbols()).to_string()),
        ("size", Bytes(index.size()).to_string()),
        ("version", format!("{:016x}", index.version())),
        ("entry bits", index.entry_bits().to_string()),
        ("front symbols", index.front_symbols().to_string()),
    ];
    lines.extend(index.sections().map(|(name, bytes)| (name, Bytes(bytes).to_string())));
    lines.into_iter().map(|(name, value)| format!("{name:<14} {value}\n")).collect()
}

fn json_description(index: &Index) -> String {
    let sections: serde_json::Map<_, _> =
        index.sections().map(|(name, bytes)| (name.replace(' ', "_"), json!(bytes))).collect();
    let object = json!({
        "path": index.path().to_string_lossy(),
        "alphabet": index.alphabet().name(),
        "symbols": index.symbols(),
        "bytes": index.size(),
        "version": format!("{:016x}", index.version()),
        "entry_bits": index.entry_bits(),
        "front_symbols": index.front_symbols(),
        "first_position": index.alphabet().first_position(),
        "sections": sections,
    });
    format!("{object}\n")
}

fn verify(arguments: &Verify) -> Result<(), Failure> {
    if arguments.index.is_dir() {
        return tree_index::verify(&arguments.home.required()?, &arguments.index);
    }
    let index = Index::open(&arguments.index)?;
    let threads = arguments.threads.count().get();
    let what = if arguments.full {
        index.verify_fully(threads)?;
        "index valid"
    } else {
        index.verify(threads)?;
        "checksums match"
    };
    message::note(format_args!("{}: {what}", arguments.index.display()));
    Ok(())
}

fn export(arguments: &Export) -> Result<(), Failure> {
    let index = Index::open(&arguments.index)?;
    let Export { force, .. } = *arguments;
    for path in &pisearch_files(&arguments.pisearch) {
        OutputFile { path, sources: &[&arguments.index], force }.check(None)?;
    }
    let [text, suffixes] = index.export_pisearch(&arguments.pisearch)?;
    message::note(format_args!("wrote {} and {}", text.display(), suffixes.display()));
    Ok(())
}

fn import(arguments: &Import) -> Result<(), Failure> {
    let Import { pisearch, force, .. } = arguments;
    let output = arguments.output.clone().unwrap_or_else(|| with_ending(pisearch, ".comb"));
    let [text, suffixes] = pisearch_files(pisearch);
    OutputFile { path: &output, sources: &[&text, &suffixes], force: *force }.check(Some(&INDEX))?;
    let threads = arguments.threads.count();
    report(None, |on_stage| {
        import_pisearch(pisearch, &output, &BuildOptions::default().threads(threads).on_stage(on_stage))?;
        Ok(output.display().to_string())
    })
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}
