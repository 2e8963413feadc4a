//! Searches with results in the order of relevance.
//!
//! If there are few results, all are found before the first one is listed. The files that define a frequent word come first; then whole words and
//! then others, each in source files first, and in the order of paths, until the page is full.

mod definitions;
mod gathered;

use std::collections::BTreeSet;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::Path;
use std::sync::Arc;

use finecomb_grep::GrepOptions;
use finecomb_scan::{Inputs, Stop};
use finecomb_sys::units::counted;

use self::definitions::SoughtName;
use self::gathered::{Gathered, MostFound, found_line};
use super::{Line, Output, Search};
use crate::mcp::answer::Answer;
use crate::mcp::context::{Context, notes_on_faults};
use crate::mcp::cursor::Cursor;
use crate::mcp::digest::{digest, of_files};
use crate::mcp::page::{Found, Page};
use crate::mcp::relevance::{
    Definitions, FileKind, FoundFile, FoundLine, Worth, after, as_path, name_in, sort,
};
use crate::mcp::roots::PathKey;
use crate::mcp::sink::Sink;

/// Number of files with results up to which, in a watched tree, all are found before any is listed. If there are more, only the first ones are read,
/// which takes about the same time.
const FEW_FILES: usize = 64;

/// Tiers: of all results, if these are sorted; of the files that define a frequent word; and then of the kinds of files, with whole words and
/// with others.
const SORTED: usize = 0;
const DEFINING: usize = 1;
const LAST: usize = DEFINING + 2 * FileKind::ALL.len();

/// Number that is added to tiers of an order in which stored definitions come first: the next page has the same order.
const STORED: usize = 10;
const _: () = assert!(LAST < STORED);

/// Results of a file by default.
const PER_FILE: u64 = 5;

impl Search {
    /// The answer in the order of relevance. `page` has the results after a cursor; `notes` follow them.
    pub(super) fn answer_by_relevance(
        &self,
        context: &Context,
        stop: &Arc<Stop>,
        page: Page<'_>,
        mut notes: Vec<String>,
    ) -> Result<Answer, String> {
        let inputs = self.selection.inputs(&context.roots)?;
        let are_files = !self.selection.paths.is_empty() && inputs.named.iter().all(|path| path.is_file());
        let per_file = self.most_of_file(if are_files { 0 } else { PER_FILE });
        let cursor = self.page.cursor.as_deref().map(Cursor::parse).transpose()?;
        let name = name_in(&self.pattern).filter(|_| self.output == Output::Lines);
        let sought = name.map(|name| SoughtName::new(context, stop, name, &self.selection));
        let sought = sought.transpose()?.flatten();
        let is_stored = sought.as_ref().is_some_and(SoughtName::is_stored);
        let base = match &cursor {
            Some(cursor) => cursor.tier / STORED * STORED,
            None if is_stored => STORED,
            None => 0,
        };
        if base > 0 && !is_stored {
            notes.push("results may have moved: stored definitions are not known any more".to_owned());
        }
        Ranked {
            search: self,
            context,
            stop,
            inputs,
            per_file,
            cursor,
            name,
            sought,
            base,
            page,
            is_cut: false,
            notes,
        }
        .answer()
    }
}

/// A search whose results are listed.
struct Ranked<'a> {
    search: &'a Search,
    context: &'a Context,
    stop: &'a Arc<Stop>,
    inputs: Inputs,
    per_file: Option<u64>,
    /// The end of the page before.
    cursor: Option<Cursor>,
    /// The name that is searched for, if it is one.
    name: Option<&'a str>,
    /// The name, if it may be defined.
    sought: Option<SoughtName<'a>>,
    /// Number that is added to tiers: [`STORED`] or 0.
    base: usize,
    page: Page<'a>,
    /// Whether lines of a file were left out.
    is_cut: bool,
    notes: Vec<String>,
}

/// A part of the results of a frequent word.
#[derive(Clone, Copy)]
struct Part {
    tier: usize,
    /// Whether lines with the name as a word are taken, or those without it; `None` for all.
    is_word: Option<bool>,
    kind: FileKind,
}

/// The file of the last result that was listed.
#[derive(Default)]
struct ListedFile {
    path: Vec<u8>,
    /// Whether it is in an earlier tier.
    is_listed: bool,
    results: u64,
}

impl Ranked<'_> {
    fn answer(mut self) -> Result<Answer, String> {
        match self.cursor.as_ref().map(|cursor| cursor.tier - self.base) {
            None => self.list_first()?,
            Some(SORTED) => drop(self.list_all(MostFound::ALL)?),
            Some(tier) => self.list_by_parts(tier..=LAST)?,
        }
        if let Some(most) = self.per_file.filter(|_| self.is_cut) {
            self.notes.push(format!("at most {most} lines of a file are listed; per_file=0 lists all"));
        }
        self.notes.extend(self.context.cut_off(self.stop));
        Ok(self.search.finish(self.page, self.notes, self.stop))
    }

    /// Lists the first page: of all results, if they are few, or else the first results of a frequent word, if they fill it. If they do not, all are
    /// found if they are not too many.
    fn list_first(&mut self) -> Result<(), String> {
        // Reserved words are frequent.
        let is_reserved = self.name.is_some() && self.sought.is_none();
        // Where nothing is watched, each search takes long.
        let is_watched = self.context.indexes.are_ready();
        let files = if is_watched { FEW_FILES } else { usize::MAX };
        if !is_reserved && self.list_all(MostFound { files, ..MostFound::SORTABLE })? {
            return Ok(());
        }
        if (is_watched || is_reserved) && self.list_frequent()? {
            return Ok(());
        }
        self.list_by_parts(DEFINING..=LAST)
    }

    /// Lists the first results of a frequent word, if they fill the page, or else all results, if they are not too many. Otherwise returns `false`.
    fn list_frequent(&mut self) -> Result<bool, String> {
        let definers = self.definers()?;
        self.list_definers(&definers)?;
        let mut found = Gathered::default();
        if !self.is_done() {
            self.list_part(self.parts()[0], &definers.into_keys().collect(), Some(&mut found))?;
        }
        if self.is_done() {
            self.page.set_digest(self.digest_of_candidates()?);
            return Ok(true);
        }
        self.page.clear();
        self.is_cut = false;
        found.add_all(self.gather(self.inputs_of(FileKind::takes_others), MostFound::SORTABLE)?);
        self.list_found(found)
    }

    /// The number of results in each folder of the directory that is searched, if it is one.
    fn digest_of(&self, found: &Gathered) -> Option<String> {
        let [directory] = &self.inputs.named[..] else { return None };
        let (roots, directory) = (&self.context.roots, self.context.roots.key(directory));
        let folder = |file: &FoundFile| roots.key(as_path(&file.path)).folder_below(&directory);
        let files = counted(found.files.len() as u64, "file");
        let all = match self.search.output {
            Output::Lines => format!("{} in {files}", counted(found.results as u64, "line")),
            Output::Files | Output::Count => files,
        };
        digest(&all, found.files.iter().map(|file| (folder(file), file.results().count() as u64)))
    }

    /// The number of files in each folder that may have results of a frequent word, if all files are searched that the index has.
    fn digest_of_candidates(&self) -> Result<Option<String>, String> {
        if !self.search.selection.takes_all() {
            return Ok(None);
        }
        let job = self.context.grep_job(self.search.options()?, self.inputs.clone())?;
        let counts = job.candidates_by_folder();
        Ok(counts.and_then(|counts| of_files("may have it, by the index", counts)))
    }

    /// Whether the page is full, or the call has to end.
    fn is_done(&self) -> bool {
        self.page.is_full() || self.stop.is_raised()
    }

    /// Lists all results, if there are at most this many. Otherwise returns `false`.
    fn list_all(&mut self, most: MostFound) -> Result<bool, String> {
        let gathered = self.gather(self.inputs.clone(), most)?;
        self.list_found(gathered)
    }

    /// Lists all results, if they are all. Otherwise returns `false`.
    fn list_found(&mut self, gathered: Gathered) -> Result<bool, String> {
        if gathered.is_full {
            return Ok(false);
        }
        if gathered.had_no_files && !self.stop.is_raised() {
            self.add_notes(vec![super::NOTHING_SEARCHED.to_owned()]);
        }
        if self.cursor.is_none() {
            self.page.set_digest(self.digest_of(&gathered));
        }
        let definitions = match &mut self.sought {
            Some(sought) => sought.in_files(&gathered.files, &self.inputs, self.base > 0)?,
            None => Some(Definitions::new()),
        };
        let definitions = self.noted(definitions);
        self.list(SORTED, gathered.files, &definitions);
        Ok(true)
    }

    /// Lists the files of a tier by relevance, after the end of the page before.
    fn list(&mut self, tier: usize, mut files: Vec<FoundFile>, definitions: &Definitions) {
        let roots = &self.context.roots;
        for file in &mut files {
            let key = roots.key(as_path(&file.path));
            file.mark(definitions.get(&key).map_or(&[], Vec::as_slice));
        }
        sort(&mut files, roots);
        if let Some(most) = self.per_file {
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            files.iter_mut().for_each(|file| file.keep_best(most, self.search.context));
        }
        // Lines around results stay with them.
        if self.search.context == 0 {
            files.iter_mut().for_each(FoundFile::sort);
        }
        if let Some(cursor) = self.cursor.as_ref().filter(|cursor| cursor.tier == self.base + tier) {
            files = after(files, cursor, roots);
        }
        self.page.forget_before();
        self.page.set_tier(self.base + tier);
        let (page, mut is_cut) = (&mut self.page, false);
        // The rest is for the next page.
        let _ = files.into_iter().try_for_each(|file| {
            for FoundLine { number, is_context, text, .. } in file.lines {
                page.add(&Found { path: &file.path, line: number, end: None, is_context }, || text)?;
            }
            is_cut |= file.is_cut;
            ControlFlow::Continue(())
        });
        self.is_cut |= is_cut;
    }

    /// Lists some tiers of the results of a frequent word, until the page is full: first files that define it, and then its parts.
    fn list_by_parts(&mut self, tiers: RangeInclusive<usize>) -> Result<(), String> {
        let definers = self.definers()?;
        if tiers.contains(&DEFINING) {
            self.list_definers(&definers)?;
        }
        let listed: BTreeSet<PathKey> = definers.into_keys().collect();
        for part in self.parts().into_iter().filter(|part| tiers.contains(&part.tier)) {
            if self.is_done() {
                break;
            }
            self.list_part(part, &listed, None)?;
        }
        Ok(())
    }

    /// The files that define a frequent word.
    fn definers(&mut self) -> Result<Definitions, String> {
        let definers = match &mut self.sought {
            Some(sought) => sought.of_frequent(&self.search.options()?, &self.inputs, self.base > 0)?,
            None => Some(Definitions::new()),
        };
        Ok(self.noted(definers))
    }

    fn list_definers(&mut self, definers: &Definitions) -> Result<(), String> {
        if definers.is_empty() {
            return Ok(());
        }
        let named = definers.keys().map(|key| self.context.roots.named(key)).collect();
        let inputs = Inputs { named, ..self.inputs.clone() };
        let gathered = self.gather(inputs, MostFound::ALL)?;
        self.list(DEFINING, gathered.files, definers);
        Ok(())
    }

    /// The parts of the results of a frequent word, source files first.
    fn parts(&self) -> Vec<Part> {
        // Lines around results would be those of results that are in another part.
        let are_divided = self.name.is_some() && !self.search.word && self.search.context == 0;
        let words: &[_] = if are_divided { &[Some(true), Some(false)] } else { &[None] };
        let parts = words.iter().flat_map(|&is_word| FileKind::ALL.map(|kind| (is_word, kind)));
        (DEFINING + 1..).zip(parts).map(|(tier, (is_word, kind))| Part { tier, is_word, kind }).collect()
    }

    /// The inputs of some kinds.
    fn inputs_of(&self, takes: fn(&Path, bool) -> bool) -> Inputs {
        let mut inputs = self.inputs.clone();
        inputs.walk.takes = Some(takes);
        // Files that are named are read in any case.
        inputs.named.retain(|path| !path.is_file() || takes(path, false));
        inputs
    }

    /// Lists a part of the results in the order of paths, without files that are listed. Adds all results of its kind of files to `found`, until the page
    /// is full.
    fn list_part(
        &mut self,
        part: Part,
        listed: &BTreeSet<PathKey>,
        mut found: Option<&mut Gathered>,
    ) -> Result<(), String> {
        self.page.set_tier(self.base + part.tier);
        let (name, columns) = (self.name.unwrap_or_default().as_bytes(), self.context.limits.max_columns);
        let options = if found.is_some() { self.search.options()? } else { self.options_of(part)? };
        let job = self.context.grep_job(options, self.inputs_of(part.kind.taking()))?;
        let (output, most) = (self.search.output, self.per_file.unwrap_or(u64::MAX));
        let (page, roots) = (&mut self.page, &self.context.roots);
        let mut file = ListedFile::default();
        let mut is_cut = self.search.context > 0;
        let mut sink = Sink::new(self.stop, output.split(), |record: &[u8]| {
            let Some(line) = Line::of(record, output) else { return ControlFlow::Continue(()) };
            let was_word = found.as_mut().map(|found| {
                let line_found = found_line(&line, name, columns);
                let is_word = line_found.worth.is_word;
                // If there are too many, the page may be full all the same.
                let _ = found.add(line.path, line_found, MostFound::SORTABLE);
                is_word
            });
            if file.path != line.path {
                let is_listed = !listed.is_empty() && listed.contains(&roots.key(as_path(line.path)));
                file = ListedFile { path: line.path.to_owned(), is_listed, results: 0 };
            }
            let has_word = || was_word.unwrap_or_else(|| Worth::of(line.text, name).is_word);
            let is_of_part = part.is_word.is_none_or(|is_word| has_word() == is_word);
            if file.is_listed || !is_of_part {
                return ControlFlow::Continue(());
            }
            file.results += u64::from(!line.is_context);
            if file.results > most {
                is_cut = true;
                return ControlFlow::Continue(());
            }
            page.add(&line.found(), || line.shown(columns))
        });
        let searched = job.run(self.stop, None, &mut sink)?;
        if let Some(found) = found {
            found.had_no_files = job.had_no_files(&searched);
        }
        self.add_notes(notes_on_faults(searched.faults));
        self.is_cut |= is_cut;
        Ok(())
    }

    /// The options with which a part is searched.
    fn options_of(&self, part: Part) -> Result<GrepOptions, String> {
        // One more shows that there are more. Lines around it would be without it.
        let more = u64::from(self.search.context == 0);
        let most = self.per_file.filter(|_| part.is_word.is_none()).map(|most| most.saturating_add(more));
        Ok(self.search.options()?.max_count(most))
    }

    /// Finds the results in some inputs, up to a limit.
    fn gather(&mut self, inputs: Inputs, most: MostFound) -> Result<Gathered, String> {
        let name = self.name.unwrap_or_default().as_bytes();
        let (output, columns) = (self.search.output, self.context.limits.max_columns);
        let job = self.context.grep_job(self.search.options()?, inputs)?;
        let mut gathered = Gathered::default();
        let mut sink = Sink::new(self.stop, output.split(), |record: &[u8]| {
            let Some(line) = Line::of(record, output) else { return ControlFlow::Continue(()) };
            gathered.add(line.path, found_line(&line, name, columns), most)
        });
        let searched = job.run(self.stop, None, &mut sink)?;
        gathered.had_no_files = job.had_no_files(&searched);
        self.add_notes(notes_on_faults(searched.faults));
        Ok(gathered)
    }

    /// Definitions, with a note if there are none because they are not stored yet.
    fn noted(&mut self, definitions: Option<Definitions>) -> Definitions {
        if definitions.is_none() && self.context.indexes.are_used() {
            self.add_notes(vec!["definitions are not stored yet, so they are not first".to_owned()]);
        }
        definitions.unwrap_or_default()
    }

    /// Adds notes that are not there.
    fn add_notes(&mut self, notes: Vec<String>) {
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}
