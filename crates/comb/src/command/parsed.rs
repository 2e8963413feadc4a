//! What `comb symbols` has parsed, kept in the indexes of the trees that it lists.

use std::env::current_exe;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use finecomb_scan::Source;
use finecomb_symbols::ParseStore;
use finecomb_tree_index::{Error, Values};

/// Definitions of texts, by the numbers of the inputs.
#[derive(Debug)]
pub(super) struct ParsedFiles(Values);

impl ParsedFiles {
    /// Opens what earlier runs have kept; `None` if there is nothing, and nothing is to be kept.
    pub(super) fn open(home: &Path, inputs: &[PathBuf], are_kept: bool) -> Option<Self> {
        // Without the file of the program, it cannot be told what an earlier run of it was.
        let values = Values::open(home, inputs, are_kept, program).ok()?;
        (!values.is_empty()).then_some(Self(values))
    }

    /// Keeps what this run has parsed, and returns the errors.
    pub(super) fn save(&self) -> Vec<Error> {
        self.0.save()
    }
}

impl ParseStore for ParsedFiles {
    fn get(&self, source: &Source, text: &[u8]) -> Option<Vec<u8>> {
        self.0.get(source.argument(), extension(source), text)
    }

    fn put(&self, source: &Source, text: &[u8], parsed: &dyn Fn() -> Vec<u8>) {
        self.0.put(source.argument(), extension(source), text, parsed);
    }
}

/// The part of a path that the language depends on.
fn extension(source: &Source) -> &[u8] {
    source.display_path().extension().unwrap_or_default().as_bytes()
}

/// The file of this program, which may have been replaced since it was started.
fn program() -> io::Result<File> {
    File::open("/proc/self/exe").or_else(|_| File::open(current_exe()?))
}
