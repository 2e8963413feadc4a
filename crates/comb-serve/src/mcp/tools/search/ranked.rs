//! Searches with results in the order of relevance.
//!
//! If there are few results, all are found before the first one is listed. The files that define a frequent word come first; then whole words and
//! then others, each in source files first, and in the order of paths, until the page is full.

mod definitions;

use std::collections::BTreeSet;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use finecomb_grep::GrepOptions;
use finecomb_scan::{Inputs, Stop};

use self::definitions::SoughtName;
use super::{Line, Output, Search};
use crate::mcp::answer::Answer;
use crate::mcp::context::{Context, notes_on_faults};
use crate::mcp::cursor::Cursor;
use crate::mcp::page::{Found, Page};
use crate::mcp::relevance::{
    Defines, Definitions, FileKind, FoundFile, FoundLine, Worth, after, as_path, defines_macro, name_in, sort,
};
use crate::mcp::roots::PathKey;
use crate::mcp::sink::Sink;

/// Number of results up to which all are found before any is listed.
const FEW: usize = 300;

/// The same, if the page is not full with the first results of a frequent word.
const MANY: usize = 20_000;

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
        let ranked =
            Ranked { search: self, context, stop, inputs, per_file, cursor, name, sought, base, page, notes };
        ranked.answer()
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
    notes: Vec<String>,
}

/// A part of the results of a frequent word.
#[derive(Clone, Copy)]
struct Part {
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

/// Results that were found.
#[derive(Default)]
struct Gathered {
    files: Vec<FoundFile>,
    results: usize,
    /// Set if there are more.
    is_full: bool,
}

impl Ranked<'_> {
    fn answer(mut self) -> Result<Answer, String> {
        match self.cursor.as_ref().map(|cursor| cursor.tier - self.base) {
            None => self.list_first()?,
            Some(SORTED) => drop(self.list_all(usize::MAX)?),
            Some(tier) => self.list_by_parts(tier..=LAST)?,
        }
        self.notes.extend(self.context.cut_off(self.stop));
        Ok(self.page.finish(self.notes, self.stop.is_raised()))
    }

    /// Lists the first page: of all results, if they are few, or else the first results of a frequent word, if they fill it. If they do not, all are
    /// found if they are not too many.
    fn list_first(&mut self) -> Result<(), String> {
        // Reserved words are frequent.
        let is_reserved = self.name.is_some() && self.sought.is_none();
        // Where nothing is watched, each search takes long.
        let is_watched = self.context.indexes.are_ready();
        if !is_reserved && self.list_all(if is_watched { FEW } else { MANY })? {
            return Ok(());
        }
        if is_watched || is_reserved {
            self.list_by_parts(DEFINING..=DEFINING + 1)?;
            if self.page.is_full() || self.stop.is_raised() {
                return Ok(());
            }
            self.page.clear();
            if self.list_all(MANY)? {
                return Ok(());
            }
        }
        self.list_by_parts(DEFINING..=LAST)
    }

    /// Lists all results, if there are at most this many. Otherwise returns `false`.
    fn list_all(&mut self, most: usize) -> Result<bool, String> {
        let gathered = self.gather(self.inputs.clone(), most)?;
        if gathered.is_full {
            return Ok(false);
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
        if is_cut {
            self.note_cut();
        }
    }

    /// Lists some tiers of the results of a frequent word, until the page is full: first files that define it, and then its parts.
    fn list_by_parts(&mut self, tiers: RangeInclusive<usize>) -> Result<(), String> {
        let definers = match &mut self.sought {
            Some(sought) => sought.of_frequent(&self.search.options()?, &self.inputs, self.base > 0)?,
            None => Some(Definitions::new()),
        };
        let definers = self.noted(definers);
        let listed: BTreeSet<PathKey> = definers.keys().cloned().collect();
        if tiers.contains(&DEFINING) && !definers.is_empty() {
            let named = listed.iter().map(|key| self.context.roots.named(key)).collect();
            let inputs = Inputs { named, ..self.inputs.clone() };
            let gathered = self.gather(inputs, usize::MAX)?;
            self.list(DEFINING, gathered.files, &definers);
        }
        // Lines around results would be those of results that are in another part.
        let are_divided = self.name.is_some() && !self.search.word && self.search.context == 0;
        let words: &[_] = if are_divided { &[Some(true), Some(false)] } else { &[None] };
        let parts = words.iter().flat_map(|&is_word| FileKind::ALL.map(|kind| Part { is_word, kind }));
        for (tier, part) in (DEFINING + 1..).zip(parts).filter(|(tier, _)| tiers.contains(tier)) {
            if self.page.is_full() || self.stop.is_raised() {
                break;
            }
            self.page.set_tier(self.base + tier);
            self.list_part(part, &listed)?;
        }
        Ok(())
    }

    /// Lists a part of the results in the order of paths, without files that are listed.
    fn list_part(&mut self, part: Part, listed: &BTreeSet<PathKey>) -> Result<(), String> {
        let (name, columns) = (self.name.unwrap_or_default().as_bytes(), self.context.limits.max_columns);
        let mut inputs = self.inputs.clone();
        inputs.walk.takes = Some(part.kind.taking());
        // Files that are named are read in any case.
        inputs.named.retain(|path| !path.is_file() || FileKind::of_file(path) == part.kind);
        let job = self.context.grep_job(self.options_of(part)?, inputs)?;
        let (output, most) = (self.search.output, self.per_file.unwrap_or(u64::MAX));
        let (page, roots) = (&mut self.page, &self.context.roots);
        let mut file = ListedFile::default();
        let mut is_cut = self.search.context > 0;
        let mut sink = Sink::new(self.stop, output.split(), |record: &[u8]| {
            let Some(line) = Line::of(record, output) else { return ControlFlow::Continue(()) };
            if file.path != line.path {
                let is_listed = !listed.is_empty() && listed.contains(&roots.key(as_path(line.path)));
                file = ListedFile { path: line.path.to_owned(), is_listed, results: 0 };
            }
            let is_of_part = part.is_word.is_none_or(|is_word| Worth::of(line.text, name).is_word == is_word);
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
        self.add_notes(notes_on_faults(searched.faults));
        if is_cut {
            self.note_cut();
        }
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
    fn gather(&mut self, inputs: Inputs, most: usize) -> Result<Gathered, String> {
        let name = self.name.unwrap_or_default().as_bytes();
        let (output, columns) = (self.search.output, self.context.limits.max_columns);
        let job = self.context.grep_job(self.search.options()?, inputs)?;
        let mut gathered = Gathered::default();
        let mut sink = Sink::new(self.stop, output.split(), |record: &[u8]| {
            let Some(line) = Line::of(record, output) else { return ControlFlow::Continue(()) };
            let mut worth = if name.is_empty() { Worth::default() } else { Worth::of(line.text, name) };
            if worth.is_word && defines_macro(as_path(line.path), line.text, name) {
                worth.defines = Defines::Name;
            }
            let text = line.shown(columns);
            let found = FoundLine { number: line.number, is_context: line.is_context, text, worth };
            gathered.add(line.path, found, most)
        });
        let searched = job.run(self.stop, None, &mut sink)?;
        if !self.stop.is_raised() && job.had_no_files(&searched) {
            self.add_notes(vec![super::NOTHING_SEARCHED.to_owned()]);
        }
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

    fn note_cut(&mut self) {
        if let Some(most) = self.per_file {
            self.add_notes(vec![format!("at most {most} lines of a file are listed; per_file=0 lists all")]);
        }
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

impl Gathered {
    fn add(&mut self, path: &[u8], line: FoundLine, most: usize) -> ControlFlow<()> {
        if !line.is_context {
            if self.results == most {
                self.is_full = true;
                return ControlFlow::Break(());
            }
            self.results += 1;
        }
        match self.files.last_mut() {
            Some(file) if file.path == path => file.lines.push(line),
            _ => self.files.push(FoundFile { path: path.to_owned(), lines: vec![line], is_cut: false }),
        }
        ControlFlow::Continue(())
    }
}
