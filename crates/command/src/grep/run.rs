//! `comb grep`: searches files for lines that match.

use std::io::{self, IsTerminal, Write, stdout};
use std::sync::Arc;
use std::time::Instant;

use finecomb_grep::{GrepOptions, Mode, Outcome, Query, Stats, grep, list};
use finecomb_scan::{Inputs, Omitted, Ordered, OrderedOptions, Problem, ProblemKind, ScanOptions};
use finecomb_sys::io_reason;
use finecomb_sys::units::{Count, counted};
use finecomb_tree_index::Error;

use crate::exit::{Ending, Exit, Failure, check_output};
use crate::grep::args::{Arguments, Job, Paths, UsageError};
use crate::indexed_search as indexed;
use crate::indexed_search::{Indexed, sought};
use crate::message;
use crate::pager::Pager;
use crate::profile;
use crate::program::Program;

/// Runs the command.
pub(crate) fn run(arguments: Arguments, start: Instant) -> Result<Exit, Failure> {
    arguments.color().apply();
    check_output()?;
    match arguments.job() {
        Job::Search => search(&arguments, start),
        Job::Files => files(&arguments, start),
        Job::TypeList => types(&arguments),
    }
}

fn search(arguments: &Arguments, start: Instant) -> Result<Exit, Failure> {
    let started = Instant::now();
    let paths = arguments.paths()?;
    let implicit = paths.implicit;
    let options = arguments.grep(&paths, stdout().is_terminal())?;
    let inputs = inputs(arguments, paths)?;
    // A table has columns, even if it has no rows.
    let table = arguments.table()?.filter(|_| !options.quiet);
    if table.is_none() && (options.max_count == Some(0) || options.prints_no_results()) {
        // Returns before the pattern is parsed.
        return Ok(Exit::NotFound);
    }
    let query = Query::new(&options)?;
    if table.is_none() && !query.can_match() {
        return Ok(Exit::NotFound);
    }
    profile::check(arguments.profile(), &inputs.named)?;
    let scan = arguments.scan();
    let sought = sought(&inputs, &scan, &query);
    let indexes = Indexed::new(
        arguments.index(),
        arguments.updates_index(),
        arguments.messages(),
        sought.as_ref(),
        scan.width,
    )?;
    let pager = pager(arguments, &options)?;
    let scan = indexes.scan(with_pager(scan, pager.as_ref()));
    let run = |out: &mut (dyn Write + Send)| grep(&inputs, &scan, &query, out);
    let (mut outcome, end) = match table.map(|table| table.lines(stdout(), run)) {
        None => (run(&mut stdout()), Ok(Vec::new())),
        Some(done) => done?,
    };
    if is_interrupted(&scan) {
        return Ok(Exit::Interrupted);
    }
    let notices = end.unwrap_or_else(|error| {
        outcome.output_error.get_or_insert(error);
        Vec::new()
    });
    let opened = indexes.take_opened();
    if outcome.output_error.is_none() && table.is_none() {
        let summary = summary(arguments, &options, &outcome, &opened.failures, started);
        outcome.output_error = stdout().write_all(&summary).err();
    }
    let index_failed = indexes.report(&opened.failures);
    // Without a PATH, a search of no files at all is probably a mistake. To ag, it is not.
    let no_files = outcome.files == 0
        && implicit
        && Program::current() != Program::Ag
        && !(opened.is_reduced && has_files(&inputs, arguments.scan(), &options));
    if arguments.messages() {
        report(&outcome.problems, arguments.rule_messages());
        message::failures(&outcome.failures);
        notices.iter().for_each(message::note);
        if no_files {
            message::error(no_files_searched());
        }
    }
    if arguments.debug() {
        indexed::explain(&opened, outcome.checks);
    }
    let profiled = profile::show(outcome.report, arguments.profile(), &inputs.named, start);
    indexes.update(&opened, outcome.checks);
    let failed =
        no_files || index_failed || outcome.problems.iter().any(affects_exit) || !outcome.failures.is_empty();
    let Outcome { output_error, any, .. } = outcome;
    Ok(Ending { output_error, profiled, any, failed, quiet: options.quiet }.exit())
}

fn files(arguments: &Arguments, start: Instant) -> Result<Exit, Failure> {
    let paths = arguments.paths()?;
    let options = arguments.grep(&paths, stdout().is_terminal())?;
    let inputs = inputs(arguments, paths)?;
    if options.prints_no_results() {
        return Ok(Exit::NotFound);
    }
    profile::check(arguments.profile(), &inputs.named)?;
    let scan = arguments.scan();
    let indexes =
        Indexed::new(arguments.index(), arguments.updates_index(), arguments.messages(), None, scan.width)?;
    let pager = pager(arguments, &options)?;
    let scan = indexes.scan(with_pager(scan, pager.as_ref()));
    let mut done = list(&inputs, &scan, &options, &mut stdout());
    if is_interrupted(&scan) {
        return Ok(Exit::Interrupted);
    }
    if done.output_error.is_none() && !options.quiet {
        let summary = files_summary(arguments, &options, &done);
        done.output_error = stdout().write_all(summary.as_bytes()).err();
    }
    let opened = indexes.take_opened();
    let index_failed = indexes.report(&opened.failures);
    if arguments.messages() {
        report(&done.problems, arguments.rule_messages());
    }
    if arguments.debug() {
        indexed::explain(&opened, None);
    }
    let profiled = profile::show(done.report, arguments.profile(), &inputs.named, start);
    indexes.update(&opened, None);
    let failed = index_failed || done.problems.iter().any(affects_exit);
    let (output_error, any) = (done.output_error, done.files > 0);
    Ok(Ending { output_error, profiled, any, failed, quiet: options.quiet }.exit())
}

/// Lines after the paths of `--files`.
fn files_summary(arguments: &Arguments, options: &GrepOptions, done: &Ordered<()>) -> String {
    let mut text = if options.compact { more(done.omitted, false) } else { String::new() };
    if arguments.totals() {
        text += &format!("{}\n", counted(done.files, "file"));
    }
    text
}

/// Starts the pager, if one is wanted and there is output, which goes to a terminal.
fn pager(arguments: &Arguments, options: &GrepOptions) -> Result<Option<Pager>, String> {
    let command = arguments.pager().filter(|_| !options.quiet && stdout().is_terminal());
    let pager = command.map(Pager::start).transpose();
    pager.map_err(|error| format!("--pager: {}", io_reason(&error)))
}

/// The options of a job that Ctrl-C stops while there is a pager.
fn with_pager<'a>(scan: ScanOptions<'a>, pager: Option<&Pager>) -> ScanOptions<'a> {
    match pager {
        Some(pager) => scan.stop(Some(Arc::clone(pager.interrupt()))),
        None => scan,
    }
}

fn is_interrupted(options: &OrderedOptions<'_>) -> bool {
    options.scan.stop.as_ref().is_some_and(|stop| stop.is_raised())
}

/// The message that nothing was searched. Programs may look for the words of ripgrep.
fn no_files_searched() -> &'static str {
    match Program::current() {
        Program::Rg => {
            "No files were searched, which means ripgrep probably applied a filter you didn't expect.\n\
             Running with --debug will show why files are being skipped."
        }
        _ => {
            "no files were searched; use --files to list the selected files, -uu to include ignored and hidden files"
        }
    }
}

/// Whether a search would read any file at all.
pub(crate) fn has_files(inputs: &Inputs, scan: ScanOptions<'_>, options: &GrepOptions) -> bool {
    let first = options.clone().quiet(true);
    list(inputs, &scan.into(), &first, &mut io::sink()).files > 0
}

/// Prints the file types.
fn types(arguments: &Arguments) -> Result<Exit, Failure> {
    let types = arguments.types()?;
    let mut out = String::new();
    for definition in types.definitions() {
        out.push_str(&format!("{}: {}\n", definition.name(), definition.globs().join(", ")));
    }
    stdout().write_all(out.as_bytes())?;
    Ok(if types.definitions().is_empty() { Exit::NotFound } else { Exit::Found })
}

/// The inputs of a search.
///
/// # Errors
/// If a glob, a type or another selection of files is invalid.
pub(crate) fn inputs(arguments: &Arguments, paths: Paths) -> Result<Inputs, UsageError> {
    Ok(Inputs {
        named: paths.paths,
        strip_dot: paths.implicit,
        walk: arguments.walk()?,
        encoding: arguments.encoding(),
        decompress: arguments.search_zip(),
        preprocessor: arguments.preprocessor()?,
    })
}

/// Lines after the results.
fn summary(
    arguments: &Arguments,
    options: &GrepOptions,
    outcome: &Outcome,
    index_failures: &[Error],
    started: Instant,
) -> Vec<u8> {
    let elapsed = started.elapsed();
    if options.mode == Mode::Json {
        return outcome.json_summary(elapsed, options);
    }
    let mut text = String::new();
    if options.compact && !options.quiet {
        text += &more(outcome.omitted, options.mode == Mode::Lines);
    }
    if arguments.stats() {
        text += &statistics(&outcome.stats, elapsed.as_secs_f64());
        let Omitted { results, files } = outcome.omitted;
        if results > 0 {
            let (results, files) = (counted(results, "result"), counted(files, "file"));
            text += &format!("{results} in {files} omitted by --limit\n");
        }
        text += &indexed::statistics(outcome, index_failures);
    }
    if arguments.totals() {
        text += &totals(&outcome.stats);
    }
    text.into_bytes()
}

/// The line with the number of results that a limit left out, if it did.
fn more(Omitted { results, files }: Omitted, are_lines: bool) -> String {
    match results {
        0 => String::new(),
        _ if are_lines => format!("[{} in {}]\n", counted(results, "more line"), counted(files, "file")),
        _ => format!("[{}]\n", counted(results, "more file")),
    }
}

/// The line of `--totals`.
fn totals(stats: &Stats) -> String {
    let lines = counted(stats.matched_lines(), "line");
    let matches = if stats.matches() == 1 {
        "1 match".to_owned()
    } else {
        format!("{} matches", Count(stats.matches()))
    };
    let files = counted(stats.searches(), "file");
    format!("{lines} with {matches} in {} of {files}\n", Count(stats.searches_with_match()))
}

fn statistics(stats: &Stats, total: f64) -> String {
    format!(
        "\n{} matches\n{} matched lines\n{} files contained matches\n{} files searched\n{} bytes printed\n{} bytes searched\n\
         {:0.6} seconds spent searching\n{total:0.6} seconds total\n",
        stats.matches(),
        stats.matched_lines(),
        stats.searches_with_match(),
        stats.searches(),
        stats.bytes_printed(),
        stats.bytes_searched(),
        stats.elapsed().as_secs_f64(),
    )
}

/// Whether a problem changes the exit status. As in ripgrep, an invalid rule in a parent of a named directory does.
fn affects_exit(problem: &Problem) -> bool {
    !problem.is_harmless() || matches!(problem.kind, ProblemKind::RuleAbove(_))
}

fn report(problems: &[Problem], rules: bool) {
    message::problems(problems.iter().filter(|problem| rules || affects_exit(problem)));
}
