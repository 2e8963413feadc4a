//! Definitions that `comb symbols` has parsed, stored in the indexes of the trees that it lists.

use std::env;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use finecomb_scan::Source;
use finecomb_symbols::{Language, ParseStore, terms};
use finecomb_sys::process::program;
use finecomb_tree_index::{DeriveTerms, Error, SoughtTerms, Values};

use crate::door::{Other, find};
use crate::program::Program;
use crate::version;

/// Stored definitions of texts, by the numbers of the inputs.
#[derive(Debug)]
pub(crate) struct ParsedFiles(Values);

impl ParsedFiles {
    /// Opens what earlier runs have stored; `None` if there is nothing, and nothing is to be stored.
    pub(crate) fn open(home: &Path, inputs: &[PathBuf], are_kept: bool) -> Option<Self> {
        // Without the file of the program, earlier values cannot be attributed to it.
        let values = Values::open(home, inputs, are_kept, definer).ok()?;
        (!values.is_empty()).then_some(Self(values))
    }

    /// Stores what this run has parsed, and which files have which names, on some threads. Returns the errors.
    pub(crate) fn save(&self, width: usize) -> Vec<Error> {
        let mut errors = self.0.save();
        errors.append(&mut self.0.save_terms(&NameTerms, width));
        errors
    }

    /// Terms to search for, if they were derived for some of the inputs.
    pub(crate) fn sought_terms(&self, terms: Vec<u64>) -> Option<SoughtTerms> {
        self.0.sought_terms(terms)
    }
}

impl ParseStore for ParsedFiles {
    fn get(&self, source: &Source, text: &[u8]) -> Option<Vec<u8>> {
        self.0.get(source.argument(), &context(source.display_path()), text)
    }

    fn put(&self, source: &Source, text: &[u8], parsed: &dyn Fn() -> Vec<u8>) {
        self.0.put(source.argument(), &context(source.display_path()), text, parsed);
    }
}

/// The file of the program whose definitions are stored. `comb-serve` uses those of the `comb` of its installation; the [context] has
/// the version of both.
fn definer() -> io::Result<File> {
    let own = env::current_exe().unwrap_or_default();
    let is_server = own.file_name().is_some_and(|name| name == Other::Serve.name());
    find(Program::Comb.name()).filter(|_| is_server).map_or_else(program, File::open)
}

/// Derives terms from texts and their definitions.
struct NameTerms;

impl DeriveTerms for NameTerms {
    fn context(&self, name: &Path) -> Option<Vec<u8>> {
        // Without an extension, the text decides.
        (Language::knows(name) || name.extension().is_none()).then(|| context(name))
    }

    fn has_none(&self, name: &Path, text: &[u8]) -> bool {
        Language::is_never(name, text)
    }

    fn terms(&self, text: &[u8], value: &[u8]) -> Option<Vec<u64>> {
        terms(text, value)
    }
}

/// Everything except the text that definitions depend on: the part of the path that determines the language, and the version,
/// because the file of the program may be a loader that was called by its name.
fn context(path: &Path) -> Vec<u8> {
    [Language::part_of_path(path).as_bytes(), b"\0", version::short().as_bytes()].concat()
}
