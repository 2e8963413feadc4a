//! Reading of files and selection of lines.

use std::ffi::OsString;

use clap::{ArgAction, Args};
use clap_complete::ArgValueCandidates;
use finecomb_grep::{Binary, GrepOptions, LineEnd};
use finecomb_scan::{Encoding, Preprocessor, RecordStart};

use crate::args::selection;
use crate::args::selection::{Globs, UsageError};
use crate::grep::args::order::{Off, Order};
use crate::grep::args::value;
use crate::grep::job::record_start;
use crate::shell::candidates;

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "Input and line selection")]
pub(crate) struct Matching {
    /// Treat binary files as text
    #[arg(short = 'a', long, overrides_with = "binary", add = Off(&["no-binary", "no-text"]))]
    text: bool,

    /// Search binary files in directories, but report only whether they match
    #[arg(long, alias = "search-binary", add = Off(&["no-binary", "no-text"]))]
    binary: bool,

    /// Text encoding of files: auto, none, or a label such as utf-16le or latin1
    ///
    /// auto decodes UTF-16 in files with a byte order mark, and leaves all others unchanged. none never decodes.
    #[arg(short = 'E', long, value_name = "ENCODING", value_parser = selection::encoding, add = Off(&["no-encoding"]))]
    pub(super) encoding: Option<Encoding>,

    /// Search compressed files
    #[arg(short = 'z', long)]
    search_zip: bool,

    /// Search the output of COMMAND instead of each file; COMMAND is run with the path as its argument, and the file as its input
    ///
    /// A command that fails is reported, and what it printed before is searched. Turns off -z.
    #[arg(long, value_name = "COMMAND", hide_short_help = true, action = ArgAction::Append)]
    pre: Vec<OsString>,

    /// Run the command of --pre only for files that match GLOB, or not for these if GLOB begins with !; repeatable
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true, hide_short_help = true)]
    pre_glob: Vec<String>,

    /// Treat \r\n as a line ending like \n, so that $ matches before both
    #[arg(long, overrides_with = "null_data", add = Off(&["no-crlf"]))]
    crlf: bool,

    /// Use NUL instead of \n as the line ending
    #[arg(long)]
    null_data: bool,

    /// Select whole records of several lines: they begin with lines that begin with a time, that are not indented, or that match REGEX
    ///
    /// A record matches if one of its lines does, or, with -U, if there is a match in the record. -v, -c, -m, -A, -B, -C, --and, --not,
    /// --limit and --json then apply to records instead of lines. 'indent' also keeps 'Caused by:', '... 12 more' and tracebacks of
    /// Python with the lines above them. The first line of a matching record has ':' after its number, the others '-'. -o prints the matches alone.
    #[arg(long, value_name = "time|indent|REGEX", value_parser = record_start, add = ArgValueCandidates::new(candidates::records))]
    record: Option<RecordStart>,

    /// Select lines that do not match
    #[arg(short = 'v', long, add = Off(&["no-invert-match"]))]
    pub(super) invert_match: bool,

    /// Stop after COUNT matching lines per file
    #[arg(short = 'm', long, value_name = "COUNT", value_parser = value::number, allow_hyphen_values = true)]
    max_count: Option<u64>,

    /// Print at most COUNT results over all files: matching lines, or paths with -l, -c and --files
    ///
    /// The results are the first ones of the whole output, with their context. The search ends there, except with --compact, --stats and
    /// --json, which count the others, and with --totals.
    #[arg(long, value_name = "COUNT", value_parser = value::number, allow_hyphen_values = true)]
    limit: Option<u64>,

    /// Stop searching a file at the first non-matching line after a match
    #[arg(long, hide_short_help = true)]
    stop_on_nonmatch: bool,
}

impl Matching {
    /// Sets the options of these flags.
    pub(super) fn apply(&self, order: &Order, options: &mut GrepOptions) {
        options.line_end = self.line_end();
        options.binary = self.binary(order);
        options.record = self.record.clone();
        options.invert = self.invert_match;
        options.max_count = self.max_count;
        options.limit = self.limit;
        options.stop_on_nonmatch = self.stop_on_nonmatch;
    }

    /// Checks that flags about single lines are not given with `--record`.
    ///
    /// # Errors
    /// If one of them is.
    pub(super) fn check(options: &GrepOptions) -> Result<(), UsageError> {
        let flags = [
            ("--ackmate", options.ackmate),
            ("--enclosing", options.enclosing.is_some()),
            ("--null-data", options.line_end == LineEnd::Nul),
            ("--vimgrep", options.vimgrep),
        ];
        match flags.into_iter().find(|&(_, is_given)| is_given && options.record.is_some()) {
            Some((flag, _)) => {
                Err(UsageError(format!("{flag}: omit it with --record, which selects records")))
            }
            None => Ok(()),
        }
    }

    /// Whether compressed files are searched.
    pub(super) fn search_zip(&self, order: &Order) -> bool {
        let flag = order.last("search_zip");
        // An empty COMMAND only takes back an earlier one.
        let mut programs = self.pre.iter().enumerate().filter(|(_, program)| !program.is_empty());
        let is_off = programs.any(|(number, _)| order.nth("pre", number) > flag);
        self.search_zip && flag > order.last("no-search-zip") && !is_off
    }

    /// The preprocessor of the files, if there is one.
    pub(super) fn preprocessor(&self, order: &Order) -> Result<Option<Preprocessor>, UsageError> {
        let last = self.pre.last().filter(|program| !program.is_empty());
        let off = order.last("no-pre").max(order.last("search_zip"));
        let Some(program) = last.filter(|_| order.last("pre") > off) else { return Ok(None) };
        let globs = Globs { flag: "--pre-glob", globs: &self.pre_glob, ignore_case: false };
        Ok(Some(Preprocessor { program: program.into(), globs: selection::globs(&[globs])? }))
    }

    fn line_end(&self) -> LineEnd {
        if self.crlf {
            LineEnd::Crlf
        } else if self.null_data {
            LineEnd::Nul
        } else {
            LineEnd::Lf
        }
    }

    /// `-uuu` counts as `--binary` at the position of its third u.
    fn binary(&self, order: &Order) -> Binary {
        let other = order.last("text").max(order.last("no-binary"));
        let more = order.nth("unrestricted", 2).max(order.last("all_types"));
        if self.binary || more > other {
            Binary::Suppress
        } else if self.text {
            Binary::Text
        } else {
            Binary::Auto
        }
    }
}
