//! Definitions that `comb symbols` has parsed, stored in the indexes of the trees that it lists.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use finecomb_scan::Source;
use finecomb_symbols::{Language, ParseStore};
use finecomb_sys::process::program;
use finecomb_tree_index::{Error, Values};

use crate::version;

/// Stored definitions of texts, by the numbers of the inputs.
#[derive(Debug)]
pub(crate) struct ParsedFiles(Values);

impl ParsedFiles {
    /// Opens what earlier runs have stored; `None` if there is nothing, and nothing is to be stored.
    pub(crate) fn open(home: &Path, inputs: &[PathBuf], are_kept: bool) -> Option<Self> {
        // Without the file of the program, earlier values cannot be attributed to it.
        let values = Values::open(home, inputs, are_kept, program).ok()?;
        (!values.is_empty()).then_some(Self(values))
    }

    /// Stores what this run has parsed, and returns the errors.
    pub(crate) fn save(&self) -> Vec<Error> {
        self.0.save()
    }
}

impl ParseStore for ParsedFiles {
    fn get(&self, source: &Source, text: &[u8]) -> Option<Vec<u8>> {
        self.0.get(source.argument(), &context(source), text)
    }

    fn put(&self, source: &Source, text: &[u8], parsed: &dyn Fn() -> Vec<u8>) {
        self.0.put(source.argument(), &context(source), text, parsed);
    }
}

/// Everything except the text that definitions depend on: the part of the path that determines the language, and the version,
/// because the file of the program may be a loader that was called by its name.
fn context(source: &Source) -> Vec<u8> {
    let part = Language::part_of_path(source.display_path());
    [part.as_bytes(), b"\0", version::short().as_bytes()].concat()
}
