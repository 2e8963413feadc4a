//! Definitions of the name that a search is for: which files may have some, and in which lines.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use finecomb_command::symbols::job::SymbolsJob;
use finecomb_command::symbols::options::SymbolOptions;
use finecomb_grep::{Boundary, GrepOptions, Mode};
use finecomb_scan::{Inputs, Stop};
use finecomb_symbols::{Kind as SymbolKind, SymbolsFormat};
use finecomb_tree_index::FilesWithTerms;
use serde::Deserialize;

use crate::mcp::arguments::Selection;
use crate::mcp::context::Context;
use crate::mcp::relevance::{
    Defines, Definition, Definitions, FileKind, FoundFile, Worth, as_path, may_be_defined,
};
use crate::mcp::roots::{PathKey, Roots};
use crate::mcp::sink::{Sink, by_line, by_nul};

/// Maximum number of files that are asked for definitions if these are stored: a file may also have another name with the same hash.
const ASKED: usize = 32;

/// Maximum number of files with the name that are parsed for definitions if these are not stored.
const PARSED: usize = 500;

/// Maximum size of a file that is parsed although definitions of others are stored: its own could not be, as they have errors or are new.
const SMALL: u64 = 32 << 10;

/// A name that may be defined.
pub(super) struct SoughtName<'a> {
    context: &'a Context,
    stop: &'a Arc<Stop>,
    job: SymbolsJob,
    /// The files that may define it, in each root in which that is stored.
    stored: Vec<Box<dyn FilesWithTerms>>,
}

impl<'a> SoughtName<'a> {
    /// A name that is searched for in selected files; `None` if it cannot be defined.
    pub(super) fn new(
        context: &'a Context,
        stop: &'a Arc<Stop>,
        name: &str,
        selection: &Selection,
    ) -> Result<Option<Self>, String> {
        if !may_be_defined(name) {
            return Ok(None);
        }
        let options =
            SymbolOptions { definition: Some(name.to_owned()), ..context.symbol_options(selection) };
        let mut job = SymbolsJob::new(options, &[], SymbolsFormat::Json)?;
        job.inputs.strip_dot = true;
        let roots = context.roots.all().iter();
        let stored = roots.filter_map(|root| job.files_with_name(root).transpose());
        let stored = stored.collect::<Result<_, _>>()?;
        Ok(Some(Self { context, stop, job, stored }))
    }

    /// Whether stored definitions are known to this process, which watches the tree.
    pub(super) fn is_stored(&self) -> bool {
        !self.stored.is_empty()
    }

    /// The definitions in files with results: in those that may have some, if the order `is_stored`, or else in all. `None` if these are too many.
    pub(super) fn in_files(
        &mut self,
        files: &[FoundFile],
        inputs: &Inputs,
        is_stored: bool,
    ) -> Result<Option<Definitions>, String> {
        let roots = &self.context.roots;
        let is_open = |worth: Worth| worth.is_word && worth.defines == Defines::Nothing;
        let with_word = files.iter().filter(|file| is_open(file.worth()));
        let mut keys: Vec<PathKey> = with_word.map(|file| roots.key(as_path(&file.path))).collect();
        sort_by_kind(&mut keys, roots);
        if !is_stored && keys.len() > PARSED {
            return self.in_tree(inputs);
        }
        let is_small = |path: &Path| path.metadata().is_ok_and(|file| file.len() <= SMALL);
        keys.retain(|key| {
            let path = roots.absolute(key);
            let is_known = self.stored.iter().find_map(|stored| stored.may_have(&path));
            is_known.unwrap_or_else(|| !is_stored || is_small(&path))
        });
        if is_stored {
            keys.truncate(ASKED);
        }
        self.of(&keys).map(Some)
    }

    /// The definitions of a frequent name in some inputs: in files that have some, if the order `is_stored`, or else in all with the name. `None` if these
    /// are too many. `search` finds lines with the name.
    pub(super) fn of_frequent(
        &mut self,
        search: &GrepOptions,
        inputs: &Inputs,
        is_stored: bool,
    ) -> Result<Option<Definitions>, String> {
        if !is_stored {
            return match self.files_with_word(search, inputs)? {
                Some(keys) => self.of(&keys).map(Some),
                None => self.in_tree(inputs),
            };
        }
        let (roots, walk) = (&self.context.roots, &inputs.walk);
        let named: Vec<PathKey> = inputs.named.iter().map(|path| roots.key(path)).collect();
        let is_selected = |key: &PathKey| {
            let path = roots.named(key);
            named.iter().any(|named| key.is_below(named))
                && !walk.globs.matched(&path, false).is_ignore()
                && !walk.types.matched(&path, false).is_ignore()
        };
        let files = self.stored.iter().flat_map(|stored| stored.files());
        let mut keys: Vec<PathKey> = files.map(|path| roots.key(&path)).filter(is_selected).collect();
        sort_by_kind(&mut keys, roots);
        keys.truncate(ASKED);
        self.of(&keys).map(Some)
    }

    /// The files with the name as a whole word; `None` if they are too many.
    fn files_with_word(&self, search: &GrepOptions, inputs: &Inputs) -> Result<Option<Vec<PathKey>>, String> {
        let pattern = search.pattern.clone().boundary(Some(Boundary::Word));
        let options = search.clone().pattern(pattern).mode(Mode::FilesWithMatches);
        let job = self.context.grep_job(options, inputs.clone())?;
        let (roots, mut keys) = (&self.context.roots, Vec::new());
        let mut sink = Sink::new(self.stop, by_nul, |record: &[u8]| {
            keys.push(roots.key(as_path(record.strip_suffix(b"\0").unwrap_or(record))));
            if keys.len() > PARSED { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        // Problems are reported by the search for lines.
        job.run(self.stop, None, &mut sink)?;
        Ok((keys.len() <= PARSED).then_some(keys))
    }

    /// The definitions in all files; `None` unless they are stored. It compares the tree with the index, as it is not watched yet.
    fn in_tree(&mut self, inputs: &Inputs) -> Result<Option<Definitions>, String> {
        if !self.job.is_stored(&inputs.named)? {
            return Ok(None);
        }
        let mut found = self.among(inputs.named.clone())?;
        let mut keys: Vec<PathKey> = found.keys().cloned().collect();
        sort_by_kind(&mut keys, &self.context.roots);
        keys.iter().skip(PARSED).for_each(|key| drop(found.remove(key)));
        Ok(Some(found))
    }

    /// The definitions in some files.
    fn of(&mut self, keys: &[PathKey]) -> Result<Definitions, String> {
        let named: Vec<PathBuf> = keys.iter().map(|key| self.context.roots.named(key)).collect();
        // Without a file, there is nothing to parse.
        if named.is_empty() { Ok(Definitions::new()) } else { self.among(named) }
    }

    /// The definitions in some inputs.
    fn among(&mut self, named: Vec<PathBuf>) -> Result<Definitions, String> {
        #[derive(Deserialize)]
        struct Printed {
            path: String,
            kind: String,
            line: u64,
            end_line: u64,
        }
        let (roots, mut found) = (&self.context.roots, Definitions::new());
        self.job.inputs.named = named;
        let mut sink = Sink::new(self.stop, by_line, |record: &[u8]| {
            if let Ok(Printed { path, kind, line, end_line }) = serde_json::from_slice(record) {
                let is_value = kind.parse().is_ok_and(SymbolKind::is_value);
                let definition = Definition::new((line, end_line), is_value);
                found.entry(roots.key(path.as_ref())).or_default().push(definition);
            }
            ControlFlow::Continue(())
        });
        // The search reports what cannot be read.
        let done = self.job.run(self.stop, None, &mut sink)?;
        self.context.indexes.note_parsing(done.parsing);
        Ok(found)
    }
}

/// Sorts files by their kinds, and then by their paths.
fn sort_by_kind(keys: &mut [PathKey], roots: &Roots) {
    keys.sort_by_cached_key(|key| (FileKind::of_file(&roots.named(key)), key.clone()));
}
