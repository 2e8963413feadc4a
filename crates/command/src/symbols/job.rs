//! Lists of definitions for callers other than the command line: callers in other languages, who give the flags of `comb symbols` by
//! name, and calls of `comb mcp`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use finecomb_scan::{Inputs, Stop, Watch};
use finecomb_symbols::{SymbolsFormat, SymbolsOptions, SymbolsOutcome, SymbolsQuery, symbols};
use finecomb_tree_index::{FilesWithTerms, SoughtTerms, files_with_terms};

use crate::args::named;
use crate::args::named::Named;
use crate::faults::Faults;
use crate::indexed_search::Indexed;
use crate::symbols::args::SymbolsArguments;
use crate::symbols::notes::on_syntax_errors;
use crate::symbols::options::SymbolOptions;
use crate::symbols::run::{Prepared, parsed_files, prepare};

/// A list that is done.
#[derive(Debug)]
pub struct SymbolsDone {
    /// Faults with inputs.
    pub faults: Faults,
    /// Time in which threads parsed texts whose definitions could have been stored, of all threads together.
    pub parsing: Duration,
}

/// A list of definitions or uses.
pub struct SymbolsJob {
    options: SymbolOptions,
    /// The inputs.
    pub inputs: Inputs,
    query: SymbolsQuery,
}

impl SymbolsJob {
    /// A list that writes [`records`](finecomb_symbols::records), by options such as `kind`.
    ///
    /// # Errors
    /// If a name, an option or a value is invalid, or the option only decides how text is printed. The message is that of the command.
    pub fn named(options: Named, paths: &[PathBuf]) -> Result<Self, String> {
        Self::new(named::options::<SymbolsArguments, _>(options)?, paths, SymbolsFormat::Records)
    }

    /// A list in a format.
    ///
    /// # Errors
    /// If a name, a glob or a type of files is invalid.
    pub fn new(options: SymbolOptions, paths: &[PathBuf], format: SymbolsFormat) -> Result<Self, String> {
        let list = options.symbols().format(format);
        Self::of(options, paths, &list)
    }

    /// A list in JSON, with at most this many bytes of each definition as it is written.
    ///
    /// # Errors
    /// If a name, a glob or a type of files is invalid.
    pub fn with_bodies(options: SymbolOptions, paths: &[PathBuf], bodies: usize) -> Result<Self, String> {
        let list = options.symbols().format(SymbolsFormat::Json).bodies(bodies);
        Self::of(options, paths, &list)
    }

    fn of(options: SymbolOptions, paths: &[PathBuf], list: &SymbolsOptions) -> Result<Self, String> {
        let inputs = options.inputs(Vec::new()).map_err(|error| error.to_string())?;
        // Without a path, there is nothing to list.
        let inputs = Inputs { named: paths.to_vec(), ..inputs };
        let query = SymbolsQuery::new(list).map_err(|error| error.to_string())?;
        Ok(Self { options, inputs, query })
    }

    /// Whether definitions are stored of some inputs, so that few of their files are parsed.
    ///
    /// # Errors
    /// If the place of indexes is not known, and they are required.
    pub fn is_stored(&self, named: &[PathBuf]) -> Result<bool, String> {
        Ok(self.sought_terms(named)?.is_some())
    }

    /// The files in the tree of a directory that may define the name or use it, as stored definitions say; `None` if there are none, or this process
    /// does not watch the tree.
    ///
    /// # Errors
    /// If the place of indexes is not known, and they are required.
    pub fn files_with_name(&self, directory: &Path) -> Result<Option<Box<dyn FilesWithTerms>>, String> {
        let home = Indexed::home(&self.options.index).map_err(|error| error.to_string())?;
        let sought = self.sought_terms(&[directory.to_owned()])?;
        Ok(home.zip(sought).and_then(|(home, sought)| files_with_terms(&home, directory, &sought)))
    }

    /// The terms to search for in some inputs, if they were derived for one of them.
    fn sought_terms(&self, named: &[PathBuf]) -> Result<Option<SoughtTerms>, String> {
        let inputs = Inputs { named: named.to_vec(), ..self.inputs.clone() };
        let parsed = parsed_files(&self.options, false, &inputs)?;
        Ok(parsed.and_then(|parsed| parsed.sought_terms(self.query.terms()?)))
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
    ) -> Result<SymbolsDone, String> {
        let Self { options, inputs, query } = self;
        let scan = options.scan().stop(Some(Arc::clone(stop))).watch(watch);
        let Prepared { query, indexes, .. } = prepare(options, false, query.clone(), inputs, &scan)?;
        let SymbolsOutcome { problems, failures, syntax_errors, parsing, .. } =
            symbols(inputs, &indexes.scan(scan), &query, out);
        let missing_indexes = indexes.missing(&indexes.take_opened().failures);
        let notes = on_syntax_errors(&syntax_errors);
        Ok(SymbolsDone { faults: Faults { problems, failures, missing_indexes, notes }, parsing })
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, FromArgMatches};
    use finecomb_symbols::records::{SymbolRecord, SymbolRecords};
    use serde_json::{Map, Value, json};

    use super::*;

    fn job(options: &[(&str, &str)], paths: &[PathBuf]) -> Result<SymbolsJob, String> {
        let named = options.iter().map(|&(name, value)| (name.to_owned(), value.into()));
        SymbolsJob::named(named.collect(), paths)
    }

    #[test]
    fn flags_of_printed_text_are_refused() {
        let reason = |name: &str, value: &str| job(&[(name, value)], &[]).err();
        let refused = "json format outline stats quiet output append force index-update profile help";
        for flag in refused.split(' ') {
            let expected = format!("--{flag}: only the command has this flag");
            assert_eq!(reason(flag, "x"), Some(expected));
        }
        assert_eq!(reason("update", "x"), Some("--append: only the command has this flag".to_owned()));
        assert_eq!(reason("kind", "function"), None);
        assert_eq!(reason("width", "2"), None);
        assert_eq!(reason("none_such", "x"), Some("unexpected argument '--none-such' found".to_owned()));
    }

    #[test]
    fn values_are_those_of_the_flags() {
        let options = |value: Value| {
            named::options::<SymbolsArguments, SymbolOptions>(
                serde_json::from_value::<Map<String, Value>>(value).unwrap().into_iter().collect(),
            )
        };
        let lists = json!({"kind": "function,struct", "glob": ["*.rs", "!b.rs"], "type": "rust", "index": "never", "max_depth": 2, "hidden": true, "follow": false, "lang": null});
        let read = options(lists).unwrap();
        let flags = "--kind=function,struct --glob=*.rs --glob=!b.rs --type=rust --index=never --max-depth=2 --hidden";
        let mut parsed = SymbolOptions::augment_args(clap::Command::new(""))
            .no_binary_name(true)
            .get_matches_from(flags.split(' '));
        let parsed = SymbolOptions::from_arg_matches_mut(&mut parsed).unwrap();
        assert_eq!(format!("{read:?}"), format!("{parsed:?}"));
        let reason = |value| options(value).unwrap_err();
        for (value, expected) in [
            (json!({"glob": "a", "kind": "verb"}), "invalid value 'verb' for '--kind <KINDS>'"),
            (json!({"max_depth": {}}), "--max-depth: "),
            (json!({"hidden": "yes"}), "unexpected value 'yes' for '--hidden' found; no more were expected"),
            (json!({"type": [[]]}), "--type: "),
        ] {
            let reason = reason(value);
            assert!(reason.starts_with(expected), "{reason}");
        }
    }

    #[test]
    fn defaults_are_those_of_the_flags() {
        let mut parsed = SymbolOptions::augment_args(clap::Command::new(""))
            .no_binary_name(true)
            .get_matches_from([""; 0]);
        let parsed = SymbolOptions::from_arg_matches_mut(&mut parsed).unwrap();
        assert_eq!(format!("{parsed:?}"), format!("{:?}", SymbolOptions::default()));
    }

    #[test]
    fn no_paths_are_no_files() {
        let mut out = Vec::new();
        let stop = Arc::new(Stop::new().unwrap());
        let faults = job(&[], &[]).unwrap().run(&stop, None, &mut out).unwrap().faults;
        assert!(faults.messages().is_empty());
        assert_eq!(out, b"");
    }

    #[test]
    fn a_job_writes_records_each_time_it_runs() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.rs"), "fn one() {}\nfn two() {}\n").unwrap();
        let missing = directory.path().join("none");
        let job = job(&[("definition", "two")], &[directory.path().to_owned(), missing.clone()]).unwrap();
        for _ in 0..2 {
            let mut out = Vec::new();
            let faults = job.run(&Arc::new(Stop::new().unwrap()), None, &mut out).unwrap().faults;
            let Some(SymbolRecord::Symbol(symbol)) = SymbolRecords::new(&out).nth(1) else {
                panic!("{out:?}")
            };
            assert_eq!((symbol.name.bytes, symbol.line), (&b"two"[..], 2));
            assert_eq!(faults.messages(), [format!("{}: no such file or directory", missing.display())]);
        }
    }
}
