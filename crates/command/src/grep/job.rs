//! Searches for callers other than the command line: callers in other languages, who give the flags of `comb grep` by name, and calls of
//! `comb mcp`.

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Arg;
use finecomb_grep::{GrepOptions, Mode, Outcome, Query, grep, list};
use finecomb_scan::{FoundFile, Inputs, Problem, RecordStart, ScanOptions, Stop, Watch, Width, list_files};
use finecomb_top::RecordBegin;
use finecomb_tree_index::{FolderCount, Sought, count_by_folder};

use crate::advice::Advised;
use crate::args::named;
use crate::args::named::Named;
use crate::args::tree_index::IndexUse;
use crate::args::value::ByName;
use crate::faults::Faults;
use crate::grep::args::Arguments;
use crate::grep::run::has_files;
use crate::indexed_search::{Indexed, sought};

/// Headings of flags that decide what is found. Those under other headings have the mark [`ByName`].
const GROUPS: [&str; 3] = ["Pattern options", "File selection", "Input and line selection"];

/// Amount that each thread reads at a time by default: that of the flag.
const BLOCK_SIZE: usize = 256 << 10;

/// Maximum length of a line by default: that of the flag.
const MAX_LINE: usize = 1 << 30;

/// A search of files.
pub struct GrepJob {
    /// The inputs.
    pub inputs: Inputs,
    options: GrepOptions,
    query: Query,
    scan: ScanOptions<'static>,
    index: IndexUse,
}

/// Parses the rule that says which lines begin a record: `time`, `indent` or a regular expression.
///
/// # Errors
/// If the expression is invalid.
pub fn record_start(text: &str) -> Result<RecordStart, String> {
    let Ok(begin) = text.parse::<RecordBegin>();
    begin.start().map_err(|error| error.to_string())
}

/// Files that another process found, or a part of one.
#[derive(Clone, Debug)]
pub struct Share {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Whether these are named in the search, and not found in directories.
    pub are_named: bool,
    /// Offsets at which the lines begin that are searched; `None` for all lines.
    pub part: Option<Range<u64>>,
}

/// A search that has ended.
#[derive(Debug)]
pub struct Searched {
    /// Problems with inputs, and files on which the regex engine failed.
    pub faults: Faults,
    /// Whether no file was searched. Files without a match may be left out.
    is_empty: bool,
    /// Whether files without a match were left out.
    is_reduced: bool,
}

impl GrepJob {
    /// A search by this number of threads.
    ///
    /// # Errors
    /// If a pattern is invalid.
    pub fn new(options: GrepOptions, inputs: Inputs, width: Width, index: IndexUse) -> Result<Self, String> {
        let query = Query::new(&options).map_err(|error| error.advised())?;
        let scan = ScanOptions::default().width(width).block_size(BLOCK_SIZE).max_line(MAX_LINE);
        Ok(Self { inputs, options, query, scan, index })
    }

    /// A search that writes [`records`](finecomb_grep::records), by options such as `ignore_case`. Lines are numbered unless an option turns that
    /// off.
    ///
    /// # Errors
    /// If a pattern, an option or a value is invalid, or the option only decides how text is printed. The message is that of the command.
    pub fn named(patterns: &[String], options: &Named, paths: &[PathBuf]) -> Result<Self, String> {
        Self::of_share(patterns, options, Share { files: paths.to_vec(), are_named: true, part: None })
    }

    /// A search of a share of the files of a search with the same patterns and options. Offsets count from the beginning of the whole
    /// file; line numbers begin with 1 in a part. A NUL before a part is not seen.
    ///
    /// # Errors
    /// As for [`GrepJob::named`].
    pub fn of_share(patterns: &[String], options: &Named, share: Share) -> Result<Self, String> {
        let Share { files, are_named, part } = share;
        let patterns = patterns.iter().map(|pattern| format!("--regexp={pattern}"));
        let words = ["--line-number".to_owned()].into_iter().chain(patterns).collect();
        let arguments: Arguments = named::parse(words, options, is_option)?;
        if !arguments.has_patterns() {
            return Err("no pattern; give one, or a file of patterns by the flag 'file'".to_owned());
        }
        let paths = arguments.paths_of(files.clone())?;
        let options = arguments.grep(&paths, false)?.mode(Mode::Records).named_as_found(!are_named);
        // Without a path, the command would search the current directory.
        let inputs = Inputs { named: files, ..arguments.inputs(paths)? };
        let scan = arguments.scan().part(part);
        let job = Self::new(options, inputs, scan.width, arguments.running.index)?;
        Ok(Self { scan, ..job })
    }

    /// The files that are searched, except pipes and devices, and problems with inputs.
    pub fn files(&self) -> (Vec<FoundFile>, Vec<Problem>) {
        list_files(&self.inputs)
    }

    /// Writes the paths of the files that are searched to `out`, as `comb grep --files` does, until it fails, or `stop` is raised.
    ///
    /// # Errors
    /// If the place of indexes is not known, and they are required.
    pub fn list(&self, stop: &Arc<Stop>, out: &mut (dyn Write + Send)) -> Result<Faults, String> {
        let indexes = Indexed::new(&self.index, false, false, None, self.scan.width)?;
        let scan = self.scan.clone().stop(Some(Arc::clone(stop)));
        let done = list(&self.inputs, &indexes.scan(scan), &self.options, out);
        let missing_indexes = indexes.missing(&indexes.take_opened().failures);
        Ok(Faults { problems: done.problems, failures: Vec::new(), missing_indexes, notes: Vec::new() })
    }

    /// Searches and writes to `out` until it fails, or `stop` is raised. `watch` receives the progress.
    ///
    /// # Errors
    /// If the place of indexes is not known, and they are required.
    pub fn run(
        &self,
        stop: &Arc<Stop>,
        watch: Option<Watch<'_>>,
        out: &mut (dyn Write + Send),
    ) -> Result<Searched, String> {
        let Self { inputs, query, scan, index, .. } = self;
        let sought = sought(inputs, scan, query);
        let indexes = Indexed::new(index, false, false, sought.as_ref(), scan.width)?;
        let watched = scan.clone().watch(watch).stop(Some(Arc::clone(stop)));
        let Outcome { files, problems, failures, .. } = grep(inputs, &indexes.scan(watched), query, out);
        let opened = indexes.take_opened();
        let missing_indexes = indexes.missing(&opened.failures);
        let faults = Faults { problems, failures, missing_indexes, notes: Vec::new() };
        Ok(Searched { faults, is_empty: files == 0, is_reduced: opened.is_reduced })
    }

    /// The number of files that may have a match, in each folder of the directory that is searched, as the index knows them. `None` if this process does not
    /// watch it. Globs, types and flags that select files are not considered.
    pub fn candidates_by_folder(&self) -> Option<Vec<FolderCount>> {
        self.count_by_folder(Some(&sought(&self.inputs, &self.scan, &self.query)?))
    }

    /// The number of all files in each folder of the directory that is searched, as [`candidates_by_folder`](Self::candidates_by_folder).
    pub fn files_by_folder(&self) -> Option<Vec<FolderCount>> {
        self.count_by_folder(None)
    }

    fn count_by_folder(&self, sought: Option<&Sought>) -> Option<Vec<FolderCount>> {
        let [directory] = &self.inputs.named[..] else { return None };
        count_by_folder(&Indexed::home(&self.index).ok()??, &directory.canonicalize().ok()?, sought)
    }

    /// Whether there was no file to search in a search that was not stopped.
    pub fn had_no_files(&self, searched: &Searched) -> bool {
        let Self { inputs, scan, options, .. } = self;
        searched.is_empty && !(searched.is_reduced && has_files(inputs, scan.clone(), options))
    }
}

/// Whether a flag decides what is found. Patterns are not options.
fn is_option(flag: &Arg) -> bool {
    let is_in_group = flag.get_help_heading().is_some_and(|heading| GROUPS.contains(&heading));
    (is_in_group || flag.get::<ByName>().is_some()) && flag.get_long() != Some("regexp")
}

/// The long name of a flag with the name or alias `name`. `None` if the command does not know it.
pub fn long_name(name: &str) -> Option<String> {
    named::long_name::<Arguments>(name)
}

#[cfg(test)]
mod tests {
    use finecomb_grep::records::{Record, Records};

    use super::*;

    fn named(options: &[(&str, &str)]) -> Named {
        options.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect()
    }

    fn job(options: &[(&str, &str)], paths: &[PathBuf]) -> Result<GrepJob, String> {
        GrepJob::named(&["a".to_owned()], &named(options), paths)
    }

    #[test]
    fn groups_and_flags_are_those_of_the_command() {
        let command = named::definition::<Arguments>();
        let has = |is: &dyn Fn(&Arg) -> bool| command.get_arguments().any(is);
        for group in GROUPS {
            assert!(has(&|flag| flag.get_help_heading() == Some(group)), "{group}");
        }
        let by_name = "line-number no-line-number after-context before-context context passthru threads index index-dir max-line block-size";
        for flag in by_name.split(' ') {
            assert!(named::find(&command, flag).is_some_and(is_option), "{flag}");
        }
        assert!(["heading", "json"].iter().all(|flag| !named::find(&command, flag).is_some_and(is_option)));
    }

    #[test]
    fn flags_of_printed_text_are_refused() {
        let reason = |name: &str, value: &str| job(&[(name, value)], &[]).err();
        for flag in ["json", "count", "color", "regexp", "pager", "column", "help"] {
            let expected = format!("--{flag}: only the command has this flag");
            assert_eq!(reason(flag, "x"), Some(expected));
        }
        let ignore_case = vec![("ignore_case".to_owned(), true.into())];
        assert!(GrepJob::named(&["a".to_owned()], &ignore_case, &[]).is_ok());
        assert_eq!(reason("context", "2"), None);
        let unknown = reason("no_such", "x").unwrap();
        assert!(unknown.starts_with("unexpected argument '--no-such'"), "{unknown}");
    }

    #[test]
    fn a_pattern_is_needed_and_no_path_is_taken_for_it() {
        let job =
            |options: &[(&str, &str)]| GrepJob::named(&[], &named(options), &["src".into()]).map(|_| ());
        let expected = "no pattern; give one, or a file of patterns by the flag 'file'";
        assert_eq!(job(&[]), Err(expected.to_owned()));
        assert_eq!(job(&[("file_not", "a")]), Err(expected.to_owned()));
        assert_eq!(job(&[("file", "/dev/null")]), Ok(()));
    }

    #[test]
    fn blocks_and_lines_are_those_of_the_flags() {
        let scan = named::parse::<Arguments>(Vec::new(), &Vec::new(), is_option).unwrap().scan();
        assert_eq!((scan.block_size, scan.max_line), (BLOCK_SIZE, MAX_LINE));
    }

    #[test]
    fn aliases_of_flags_have_a_long_name() {
        assert_eq!(long_name("after"), Some("after-context".to_owned()));
        assert_eq!(long_name("max-count"), Some("max-count".to_owned()));
        assert_eq!(long_name("no-such"), None);
    }

    #[test]
    fn no_paths_are_no_files() {
        let mut out = Vec::new();
        let stop = Arc::new(Stop::new().unwrap());
        let job = job(&[], &[]).unwrap();
        let searched = job.run(&stop, None, &mut out).unwrap();
        assert!(job.had_no_files(&searched) && searched.faults.messages().is_empty());
        assert_eq!(out, b"");
    }

    /// Offsets of the lines with an `a` that a share of a file has.
    fn offsets(path: &std::path::Path, are_named: bool, part: Option<Range<u64>>) -> Vec<u64> {
        let share = Share { files: vec![path.to_owned()], are_named, part };
        let mut out = Vec::new();
        let stop = Arc::new(Stop::new().unwrap());
        let job = GrepJob::of_share(&["a".to_owned()], &named(&[("block_size", "7")]), share).unwrap();
        assert!(job.run(&stop, None, &mut out).unwrap().faults.problems.is_empty());
        let line = |record| if let Record::Line(line) = record { Some(line.offset) } else { None };
        Records::new(&out).filter_map(line).collect()
    }

    #[test]
    fn lines_of_a_part_are_those_that_begin_in_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        for mark in ["", "\u{FEFF}"] {
            for (lines, count) in [("a\nb\n\naa", 3), ("a\n", 40), ("xxxxxxxxxxxxxxxxxxxxa\n", 9)] {
                std::fs::write(&path, mark.to_owned() + &lines.repeat(count)).unwrap();
                let whole = offsets(&path, true, None);
                for border in 1..(lines.len() * count + mark.len()) as u64 {
                    let (before, after) = (Some(0..border), Some(border..u64::MAX));
                    let parts = [offsets(&path, true, before), offsets(&path, true, after)];
                    assert_eq!(parts.concat(), whole, "{border}");
                    let begins = |&&at: &&u64| at + (mark.len() as u64) < border;
                    assert_eq!(parts[0].len(), whole.iter().filter(begins).count(), "{border}");
                }
            }
        }
    }

    #[test]
    fn files_are_searched_as_named_or_as_found() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        std::fs::write(&path, "a\n\0\n").unwrap();
        assert_eq!((offsets(&path, true, None), offsets(&path, false, None)), (vec![], vec![]));
        std::fs::write(&path, "a\n".repeat(50_000) + "\0\n" + &"a\n".repeat(50_000)).unwrap();
        let (named, found) = (offsets(&path, true, None), offsets(&path, false, None));
        assert!(found.len() < 50_000 && found.len() < named.len(), "{} and {}", found.len(), named.len());
        let paths = [path.clone(), directory.path().to_owned()];
        let (listed, ..) = GrepJob::named(&[".".to_owned()], &Vec::new(), &paths).unwrap().files();
        assert_eq!(listed.iter().map(|file| file.is_named).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn records_have_line_numbers_unless_a_flag_turns_them_off() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        std::fs::write(&path, "b\na\n").unwrap();
        let number = |options: &Named| {
            let mut out = Vec::new();
            let stop = Arc::new(Stop::new().unwrap());
            let job = GrepJob::named(&["a".to_owned()], options, std::slice::from_ref(&path)).unwrap();
            job.run(&stop, None, &mut out).unwrap();
            let Some(Record::Line(line)) = Records::new(&out).nth(1) else { panic!("{out:?}") };
            line.number
        };
        assert_eq!(number(&Vec::new()), Some(2));
        assert_eq!(number(&vec![("no_line_number".to_owned(), true.into())]), None);
    }
}
