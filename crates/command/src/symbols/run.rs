//! `comb symbols`: definitions in source code, and uses of names.

use std::fs::File;
use std::io::{self, Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use finecomb_scan::{Inputs, Problem, ScanOptions};
use finecomb_symbols::{ParseStore, Stats, Sums, SymbolsOutcome, SymbolsQuery, symbols};
use finecomb_sys::io_reason;
use finecomb_sys::stdio::is_stream;
use finecomb_sys::units::{Bytes, Count};
use finecomb_tree_index::Sought;
use serde::Serialize;

use crate::advice::Advised;
use crate::exit::{Ending, Exit, Failure, check_output};
use crate::indexed_search::Indexed;
use crate::message;
use crate::missing_inputs::MissingInputs;
use crate::output::{FileKind, OutputFile, write};
use crate::profile;
use crate::symbols::args::{ListFormat, SymbolsArguments};
use crate::symbols::notes::on_syntax_errors;
use crate::symbols::options::SymbolOptions;
use crate::symbols::parsed_files::ParsedFiles;
use crate::tables::TableFormat;

/// Kind of file that may be replaced by a tags file of vim.
const CTAGS: FileKind = FileKind { name: "a tags file", is_this: |head| head.starts_with(b"!_TAG_") };

/// Kind of file that may be replaced by a stream of Arrow.
const ARROW: FileKind = FileKind { name: "a stream of Arrow", is_this: |head| head.starts_with(&[0xFF; 4]) };

/// Kind of file that may be replaced by a Parquet file.
const PARQUET: FileKind = FileKind { name: "a Parquet file", is_this: |head| head.starts_with(b"PAR1") };

/// Kind of file that may be replaced by output in any other format.
const ETAGS: FileKind =
    FileKind { name: "a TAGS file of Emacs", is_this: |head| head.starts_with(b"\x0c\n") };

/// Runs the command.
pub(crate) fn run(arguments: &SymbolsArguments, start: Instant) -> Result<Exit, Failure> {
    if arguments.output.is_none() || arguments.stats {
        check_output()?;
    }
    let listed = list(arguments)?;
    Ok(listed.finish(arguments, start))
}

/// A list that is done.
struct Listed {
    outcome: SymbolsOutcome,
    /// The named inputs.
    inputs: Vec<PathBuf>,
    missing: MissingInputs,
    indexes: Indexed,
    parsed: Option<Arc<ParsedFiles>>,
    /// All definitions were listed.
    is_full: bool,
}

/// A list that can begin.
pub(crate) struct Prepared {
    pub(crate) query: SymbolsQuery,
    pub(crate) indexes: Indexed,
    parsed: Option<Arc<ParsedFiles>>,
}

/// Opens the indexes of the inputs, and lets the query use what they have stored.
///
/// # Errors
/// If the place of indexes is not known, and they are required.
pub(crate) fn prepare(
    options: &SymbolOptions,
    is_updated: bool,
    mut query: SymbolsQuery,
    inputs: &Inputs,
    scan: &ScanOptions<'_>,
) -> Result<Prepared, String> {
    let parsed = parsed_files(options, is_updated, inputs)?.map(Arc::new);
    let terms = parsed.as_ref().and_then(|parsed| parsed.sought_terms(query.terms()?));
    // An index does not know the members of archives.
    let sought = sought(&query).filter(|_| !options.archives).map(|sought| sought.terms(terms));
    let indexes = Indexed::new(&options.index, is_updated, true, sought.as_ref(), scan.width);
    let indexes = indexes.map_err(|error| error.to_string())?;
    if let Some(parsed) = &parsed {
        query = query.storing(Arc::clone(parsed) as Arc<dyn ParseStore>);
    }
    Ok(Prepared { query, indexes, parsed })
}

/// Opens what earlier runs have stored of the inputs; `None` if there is nothing, and nothing is to be stored.
///
/// # Errors
/// If the place of indexes is not known, and they are required.
pub(crate) fn parsed_files(
    options: &SymbolOptions,
    is_updated: bool,
    inputs: &Inputs,
) -> Result<Option<ParsedFiles>, String> {
    let home = Indexed::home(&options.index).map_err(|error| error.to_string())?;
    Ok(home.and_then(|home| ParsedFiles::open(&home, &inputs.named, is_updated)))
}

/// Lists what is asked for.
fn list(arguments: &SymbolsArguments) -> Result<Listed, Failure> {
    let inputs = arguments.inputs()?;
    let table = arguments.table()?.filter(|_| !arguments.quiet);
    profile::check(arguments.profile(), &inputs.named)?;
    let scan = arguments.scan();
    let SymbolsArguments { options, update, .. } = arguments;
    let Prepared { query, indexes, parsed } =
        prepare(options, update.index_update, arguments.query()?, &inputs, &scan)?;
    let (scan, is_full) = (indexes.scan(scan), query.lists_all());
    let missing = MissingInputs::report(&inputs.named, |word| {
        format!("'-d {word}' lists the definitions of a name, '-r {word}' its uses")
    });
    let run = |out: &mut (dyn Write + Send)| list_to(out, table, |out| symbols(&inputs, &scan, &query, out));
    let Some(path) = &arguments.output else {
        let outcome = run(&mut stdout());
        return Ok(Listed { outcome, inputs: inputs.named, missing, indexes, parsed, is_full });
    };
    let kind = match arguments.format() {
        ListFormat::Ctags => &CTAGS,
        ListFormat::Arrow => &ARROW,
        ListFormat::Parquet => &PARQUET,
        ListFormat::Text | ListFormat::Json | ListFormat::Etags => &ETAGS,
    };
    OutputFile { path, sources: &[], force: arguments.force }.check(Some(kind))?;
    let begun = SystemTime::now();
    let mut bytes = Vec::new();
    let outcome = run(&mut bytes);
    write(path, &bytes)?;
    if arguments.is_ctags() && !is_stream(path) {
        set_time(path, begun)
            .map_err(|error| format!("{}: cannot set its time: {}", path.display(), io_reason(&error)))?;
    }
    Ok(Listed { outcome, inputs: inputs.named, missing, indexes, parsed, is_full })
}

/// Lists to `out`, as a table if it is to be one.
fn list_to(
    out: &mut (dyn Write + Send),
    table: Option<TableFormat>,
    list: impl FnOnce(&mut (dyn Write + Send)) -> SymbolsOutcome,
) -> SymbolsOutcome {
    let Some(table) = table else { return list(out) };
    match table.symbols(out, list) {
        Ok((mut outcome, end)) => {
            outcome.output_error = outcome.output_error.or(end.err());
            outcome
        }
        Err(error) => {
            let mut outcome = SymbolsOutcome::default();
            outcome.output_error = Some(error);
            outcome
        }
    }
}

/// Expressions that restrict the list to files with a match of one of them; `None` if every file is read.
fn sought(query: &SymbolsQuery) -> Option<Sought> {
    let patterns = query.expressions()?;
    Some(Sought::new(patterns).across_lines(query.may_span_lines()).reads(query.known_names()))
}

/// Gives a tags file the time at which it was begun: files that changed later are listed anew when it is updated.
fn set_time(path: &Path, begun: SystemTime) -> io::Result<()> {
    File::options().append(true).open(path)?.set_modified(begun)
}

impl Listed {
    /// Prints what follows the list, and updates the indexes.
    fn finish(self, arguments: &SymbolsArguments, start: Instant) -> Exit {
        let Self { outcome, inputs, missing, indexes, parsed, is_full } = self;
        let mut output_error = outcome.output_error;
        if arguments.stats && output_error.is_none() {
            let text =
                if arguments.is_json() { json(&outcome.stats) } else { table(&outcome.stats, arguments) };
            output_error = stdout().write_all(text.as_bytes()).err();
        }
        let opened = indexes.take_opened();
        let index_failed = indexes.report(&opened.failures);
        opened.left_alone.iter().for_each(|error| message::note(error.advised()));
        message::problems(missing.others(&outcome.problems));
        message::failures(&outcome.failures);
        if !arguments.quiet {
            on_syntax_errors(&outcome.syntax_errors).into_iter().for_each(message::note);
        }
        let profiled = profile::show(outcome.report, arguments.profile(), &inputs, start);
        indexes.update(&opened, outcome.checks);
        let width = arguments.options.threads.count().get();
        let saved = parsed.iter().filter(|_| is_full).flat_map(|parsed| parsed.save(width));
        saved.for_each(|error| message::error(error.advised()));
        let is_harmful = |problem: &Problem| !problem.is_harmless();
        let failed = index_failed || !outcome.failures.is_empty() || outcome.problems.iter().any(is_harmful);
        let any = outcome.stats.total().symbols > 0 || outcome.unchanged > 0;
        Ending { output_error, profiled, any, failed, quiet: arguments.quiet }.exit()
    }
}

/// Sums of a language, or of all.
#[derive(Serialize)]
struct StatsRow<'r> {
    language: &'r str,
    #[serde(flatten)]
    sums: Sums,
}

fn rows(stats: &Stats) -> impl Iterator<Item = StatsRow<'static>> {
    stats.languages.iter().map(|(language, &sums)| StatsRow { language: language.name(), sums })
}

/// The sums as a JSON object; `docs/symbols.schema.json` describes it.
fn json(stats: &Stats) -> String {
    let rows: Vec<StatsRow> = rows(stats).collect();
    format!("{}\n", serde_json::json!({ "stats": rows }))
}

/// The sums as a table, with an empty line before it unless it is all that is printed.
fn table(stats: &Stats, arguments: &SymbolsArguments) -> String {
    let mut text = String::new();
    let follows = arguments.output.is_none() && !arguments.quiet && stats.total().symbols > 0;
    if follows {
        text.push('\n');
    }
    let listed = if arguments.options.reference.is_some() { "symbols" } else { "definitions" };
    text += &format!("{:<12}{:>9}{:>10}{listed:>13}{:>13}\n", "language", "files", "bytes", "with errors");
    for StatsRow { language, sums } in
        rows(stats).chain([StatsRow { language: "total", sums: stats.total() }])
    {
        let Sums { files, bytes, symbols, files_with_errors } = sums;
        let (files, bytes, symbols) =
            (Count(files).to_string(), Bytes(bytes).to_string(), Count(symbols).to_string());
        let with_errors = Count(files_with_errors).to_string();
        text += &format!("{language:<12}{files:>9}{bytes:>10}{symbols:>13}{with_errors:>13}\n");
    }
    text
}
