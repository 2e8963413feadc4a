//! Counts in files: `comb top --save-counts` and `--merge`.

use std::fs;
use std::io::{self, IsTerminal, Read, Write, stdin, stdout};
use std::mem;
use std::path::{Path, PathBuf};

use finecomb_sys::io_reason;
use finecomb_top::{Counts, Query, StoredCounts};

use crate::advice::Advised;
use crate::exit::Failure;
use crate::message;
use crate::output::{FileKind, check_new, write};
use crate::top::args::TopArguments;
use crate::top::options::definition::StoredDefinition;

/// Kind of file that `--save-counts` may replace.
const COUNTS: FileKind = FileKind { name: "a file of counts", is_this: StoredCounts::is_beginning };

/// Name of the standard streams.
const STANDARD: &str = "-";

/// Where counts are written to, and what they count.
pub(super) struct CountsToSave<'a> {
    file: &'a Path,
    definition: StoredDefinition,
}

impl<'a> CountsToSave<'a> {
    /// The file of `--save-counts`, if it is given, and the definition.
    ///
    /// # Errors
    /// If the file must not be written, or the definition cannot be stored.
    pub(super) fn new(arguments: &'a TopArguments) -> Result<Option<Self>, String> {
        let Some(file) = arguments.saved.save_counts.as_deref() else { return Ok(None) };
        if file != STANDARD {
            check_new(file, &arguments.files, &COUNTS)?;
        } else if stdout().is_terminal() {
            return Err("--save-counts -: standard output is a terminal; name a file".to_owned());
        }
        let definition = StoredDefinition::new(&arguments.options.definition);
        Ok(Some(Self { file, definition }))
    }

    /// Whether the counts take the place of the table.
    pub(super) fn is_output(&self) -> bool {
        self.file == STANDARD
    }

    /// Writes the counts.
    pub(super) fn write(&self, counts: &Counts) -> Result<(), Failure> {
        let bytes = counts.store(&self.definition.to_bytes());
        if !self.is_output() {
            return write(self.file, &bytes);
        }
        let mut out = stdout().lock();
        out.write_all(&bytes)?;
        Ok(out.flush()?)
    }
}

/// The sum of the counts in files.
pub(super) struct Sum {
    /// The first file, and the definition of all.
    first: PathBuf,
    definition: StoredDefinition,
    pub(super) query: Query,
    pub(super) counts: Counts,
    /// The counts that they are compared with, if they are.
    pub(super) before: Option<Counts>,
    /// Whether a file could not be added.
    pub(super) had_errors: bool,
}

/// Adds up the counts in the files that the arguments name, which get the definition of the counts. Files that cannot be added are
/// reported. `None` if no file could be added.
pub(super) fn merge(arguments: &mut TopArguments) -> Option<Sum> {
    if arguments.files.is_empty() {
        arguments.files.push(STANDARD.into());
    }
    let (mut sum, mut had_errors) = (None, false);
    for file in arguments.files.clone() {
        if let Err(reason) = add(&file, arguments, &mut sum) {
            message::error(format_args!("{}: {reason}", file.display()));
            had_errors = true;
        }
        if let Some(sum) = sum.as_mut().filter(|_| arguments.options.diff.is_some()) {
            let counts = || Counts::new(&sum.query);
            sum.before.get_or_insert_with(|| mem::replace(&mut sum.counts, counts()));
        }
    }
    // Without one of them, all keys would be new or gone.
    let is_whole = !had_errors || arguments.options.diff.is_none();
    sum.filter(|_| is_whole).map(|sum| Sum { had_errors, ..sum })
}

fn add(file: &Path, arguments: &mut TopArguments, sum: &mut Option<Sum>) -> Result<(), String> {
    let bytes = read(file).map_err(|error| io_reason(&error).to_string())?;
    let stored = StoredCounts::new(&bytes).map_err(|error| error.advised())?;
    let definition = StoredDefinition::from_bytes(stored.definition())?;
    if let Some(sum) = sum {
        if definition != sum.definition {
            let first = sum.first.display();
            return Err(format!("counts of {definition}, but those of {first} are of {}", sum.definition));
        }
        sum.counts.merge(&counts(&stored, &sum.query)?);
        return Ok(());
    }
    arguments.options.definition = definition.definition()?;
    let options = arguments.query().map_err(|error| error.to_string())?;
    let query = Query::new(&options).map_err(|error| error.advised())?;
    let counts = counts(&stored, &query)?;
    *sum = Some(Sum { first: file.to_owned(), definition, query, counts, before: None, had_errors: false });
    Ok(())
}

/// The counts in a file. They are read as a whole before they are added to others, so that damage does not change these.
fn counts(stored: &StoredCounts<'_>, query: &Query) -> Result<Counts, String> {
    let mut counts = Counts::new(query);
    stored.add_to(&mut counts).map_err(|error| error.advised())?;
    Ok(counts)
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    if file != STANDARD {
        return fs::read(file);
    }
    let mut bytes = Vec::new();
    stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}
