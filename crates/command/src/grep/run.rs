//! `comb grep`: searches files for lines that match.

use std::io::{self, IsTerminal, Write, stdout};
use std::sync::Arc;
use std::time::Instant;

use finecomb_grep::{GrepOptions, Mode, Outcome, Query, Stats, grep, list};
use finecomb_scan::{Inputs, Omitted, OrderedOptions, Problem, ProblemKind, ScanOptions};
use finecomb_sys::io_reason;
use finecomb_sys::units::{Count, counted};
use finecomb_tree_index::Error;

use crate::exit::{Ending, Exit, Failure, check_output};
use crate::grep::args::{Arguments, Job, Running};
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
    if arguments.job() == Job::TypeList { types(&arguments) } else { search(&arguments, start) }
}

/// Searches, or prints the files that would be searched.
fn search(arguments: &Arguments, start: Instant) -> Result<Exit, Failure> {
    let started = Instant::now();
    let is_search = arguments.job() == Job::Search;
    let paths = arguments.paths()?;
    let implicit = paths.implicit;
    let options = arguments.grep(&paths, stdout().is_terminal())?;
    let inputs = arguments.inputs(paths)?;
    // A table has columns, even if it has no rows.
    let table = if is_search { arguments.table()?.filter(|_| !options.quiet) } else { None };
    if table.is_none() && (is_search && options.max_count == Some(0) || options.prints_no_results()) {
        // Returns before the pattern is parsed.
        return Ok(Exit::NotFound);
    }
    let query = if is_search { Some(Query::new(&options)?) } else { None };
    if table.is_none() && query.as_ref().is_some_and(|query| !query.can_match()) {
        return Ok(Exit::NotFound);
    }
    let Running { index, update, profile, debug, .. } = &arguments.running;
    profile::check(profile, &inputs.named)?;
    let scan = arguments.scan();
    let sought = query.as_ref().and_then(|query| sought(&inputs, &scan, query));
    let indexes =
        Indexed::new(index, update.index_update, arguments.messages(), sought.as_ref(), scan.width)?;
    let pager = pager(arguments, &options)?;
    let scan = indexes.scan(with_pager(scan, pager.as_ref()));
    let run = |out: &mut (dyn Write + Send)| match &query {
        Some(query) => grep(&inputs, &scan, query, out),
        None => list(&inputs, &scan, &options, out),
    };
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
        let summary = if is_search {
            summary(arguments, &options, &outcome, &opened.failures, started)
        } else {
            files_summary(arguments, &options, &outcome)
        };
        outcome.output_error = stdout().write_all(&summary).err();
    }
    let index_failed = indexes.report(&opened.failures);
    // Without a PATH, a search of no files at all is probably a mistake. To ag, it is not.
    let no_files = is_search
        && outcome.files == 0
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
    // A list compares no files.
    let checks = outcome.checks.filter(|_| is_search);
    if *debug {
        indexed::explain(&opened, checks);
    }
    let profiled = profile::show(outcome.report, profile, &inputs.named, start);
    indexes.update(&opened, checks);
    let failed =
        no_files || index_failed || outcome.problems.iter().any(affects_exit) || !outcome.failures.is_empty();
    let Outcome { output_error, any, .. } = outcome;
    Ok(Ending { output_error, profiled, any, failed, quiet: options.quiet }.exit())
}

/// Lines after the paths of `--files`.
fn files_summary(arguments: &Arguments, options: &GrepOptions, outcome: &Outcome) -> Vec<u8> {
    if options.quiet {
        return Vec::new();
    }
    let mut text = if options.compact { more(outcome.omitted, None) } else { String::new() };
    if arguments.modes.totals {
        text += &format!("{}\n", counted(outcome.files, "file"));
    }
    text.into_bytes()
}

/// Starts the pager, if one is wanted and there is output, which goes to a terminal.
fn pager(arguments: &Arguments, options: &GrepOptions) -> Result<Option<Pager>, String> {
    let command = arguments.running.pager.as_deref().filter(|_| !options.quiet && stdout().is_terminal());
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
        let unit = if options.record.is_some() { "more record" } else { "more line" };
        text += &more(outcome.omitted, (options.mode == Mode::Lines).then_some(unit));
    }
    if arguments.modes.stats() {
        text += &statistics(&outcome.stats, options, elapsed.as_secs_f64());
        let Omitted { results, files } = outcome.omitted;
        if results > 0 {
            let (results, files) = (counted(results, "result"), counted(files, "file"));
            text += &format!("{results} in {files} omitted by --limit\n");
        }
        text += &indexed::statistics(outcome, index_failures);
    }
    if arguments.modes.totals {
        text += &totals(&outcome.stats, options);
    }
    text.into_bytes()
}

/// The line with the number of results that a limit left out, if it did. These are files unless they have a name.
fn more(Omitted { results, files }: Omitted, unit: Option<&str>) -> String {
    match (results, unit) {
        (0, _) => String::new(),
        (_, Some(unit)) => format!("[{} in {}]\n", counted(results, unit), counted(files, "file")),
        (_, None) => format!("[{}]\n", counted(results, "more file")),
    }
}

/// The line of `--totals`.
fn totals(stats: &Stats, options: &GrepOptions) -> String {
    let lines = counted(stats.matched_lines(), if options.record.is_some() { "record" } else { "line" });
    let matches = if stats.matches() == 1 {
        "1 match".to_owned()
    } else {
        format!("{} matches", Count(stats.matches()))
    };
    let files = counted(stats.searches(), "file");
    format!("{lines} with {matches} in {} of {files}\n", Count(stats.searches_with_match()))
}

fn statistics(stats: &Stats, options: &GrepOptions, total: f64) -> String {
    let units = if options.record.is_some() { "records" } else { "lines" };
    format!(
        "\n{} matches\n{} matched {units}\n{} files contained matches\n{} files searched\n{} bytes printed\n{} bytes searched\n\
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
