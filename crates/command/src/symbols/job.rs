//! Lists of definitions for callers other than the command line: callers in other languages, who give the flags of `comb symbols` by
//! name, and calls of `comb mcp`.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use finecomb_scan::{Inputs, Stop, Watch};
use finecomb_symbols::{Format, Outcome, Query, symbols};

use crate::args::allowed::Allowed;
use crate::args::words::Words;
use crate::faults::Faults;
use crate::symbols::args::Arguments;
use crate::symbols::run::{Prepared, prepare};

/// Flags that decide what is found.
const FLAGS: Allowed = Allowed {
    groups: &[],
    others: &[
        "definition",
        "reference",
        "kind",
        "lang",
        "thorough",
        "glob",
        "type",
        "no-ignore",
        "hidden",
        "archives",
        "follow",
        "max-depth",
        "threads",
        "index",
        "index-dir",
    ],
    excluded: &[],
};

/// A list as flags of `comb symbols` describe it.
pub struct SymbolsJob {
    arguments: Arguments,
    /// The inputs.
    pub inputs: Inputs,
    query: Query,
}

impl SymbolsJob {
    /// A list that writes [`records`](finecomb_symbols::records). `flags` are words such as `--kind=function`.
    ///
    /// # Errors
    /// If a name, a flag or a value is invalid, or the flag only decides how text is printed. The message is that of the command.
    pub fn new(flags: Vec<OsString>, paths: &[PathBuf]) -> Result<Self, String> {
        FLAGS.check::<Arguments>(&flags)?;
        let job = Self::parse(Words::new(flags), paths, Some(Format::Records))?;
        // Without a path, the command would list the current directory.
        Ok(Self { inputs: Inputs { named: paths.to_vec(), ..job.inputs }, ..job })
    }

    /// A list with the options of a command line, in the format of the flags or in another one.
    ///
    /// # Errors
    /// If a name, a flag or a value is invalid.
    pub fn parse(words: Words, paths: &[PathBuf], format: Option<Format>) -> Result<Self, String> {
        let arguments: Arguments = words.parse(paths)?;
        let inputs = arguments.inputs().map_err(|error| error.to_string())?;
        let query = arguments.query(format)?;
        Ok(Self { arguments, inputs, query })
    }

    /// Lists and writes to `out` until it fails, or `stop` is raised. `watch` receives the progress.
    ///
    /// # Errors
    /// If the place of indexes is not known, and they are required.
    pub fn run(
        &self,
        stop: &Arc<Stop>,
        watch: Option<Watch<'_>>,
        out: &mut (dyn Write + Send),
    ) -> Result<Faults, String> {
        let Self { arguments, inputs, query } = self;
        let scan = arguments.scan().stop(Some(Arc::clone(stop))).watch(watch);
        let Prepared { query, indexes, .. } = prepare(arguments, query.clone(), inputs, &scan)?;
        let Outcome { problems, failures, .. } = symbols(inputs, &indexes.scan(scan), &query, out);
        let missing_indexes = indexes.missing(&indexes.take_opened().failures);
        Ok(Faults { problems, failures, missing_indexes })
    }
}

#[cfg(test)]
mod tests {
    use finecomb_symbols::records::{Record, Records};

    use super::*;

    fn job(flags: &[&str], paths: &[PathBuf]) -> Result<SymbolsJob, String> {
        SymbolsJob::new(flags.iter().map(OsString::from).collect(), paths)
    }

    #[test]
    fn flags_are_those_of_the_command() {
        FLAGS.check_names::<Arguments>();
    }

    #[test]
    fn flags_of_printed_text_are_refused() {
        let reason = |flag: &str| job(&[flag], &[]).err();
        let refused = [
            "json",
            "format",
            "outline",
            "stats",
            "quiet",
            "output",
            "append",
            "force",
            "index-update",
            "profile",
            "help",
        ];
        for flag in refused {
            let expected = format!("--{flag}: only the command has this flag");
            assert_eq!(reason(&format!("--{flag}=x")), Some(expected));
        }
        assert_eq!(reason("--update"), Some("--append: only the command has this flag".to_owned()));
        assert_eq!(reason("--kind=function"), None);
        assert_eq!(reason("--width=2"), None);
        let unknown = reason("--no-such").unwrap();
        assert!(unknown.starts_with("unexpected argument '--no-such'"), "{unknown}");
    }

    #[test]
    fn no_paths_are_no_files() {
        let mut out = Vec::new();
        let stop = Arc::new(Stop::new().unwrap());
        let faults = job(&[], &[]).unwrap().run(&stop, None, &mut out).unwrap();
        assert!(faults.messages().is_empty());
        assert_eq!(out, b"");
    }

    #[test]
    fn a_job_writes_records_each_time_it_runs() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.rs"), "fn one() {}\nfn two() {}\n").unwrap();
        let missing = directory.path().join("none");
        let job = job(&["--definition=two"], &[directory.path().to_owned(), missing.clone()]).unwrap();
        for _ in 0..2 {
            let mut out = Vec::new();
            let faults = job.run(&Arc::new(Stop::new().unwrap()), None, &mut out).unwrap();
            let Some(Record::Symbol(symbol)) = Records::new(&out).nth(1) else { panic!("{out:?}") };
            assert_eq!((symbol.name.bytes, symbol.line), (&b"two"[..], 2));
            assert_eq!(faults.messages(), [format!("{}: no such file or directory", missing.display())]);
        }
    }
}
