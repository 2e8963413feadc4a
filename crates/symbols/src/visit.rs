//! Files to printed definitions, in path order.

use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memchr::memchr_iter;

use finecomb_scan::{Absent, Block, Meter, Output, Print, Search, Select, Source, Stop, Wants};

use crate::definition::Parsed;
use crate::extract::MAX_SCOPES;
use crate::kind::Kind;
use crate::language::{Language, not_in_this_build};
use crate::parser::{MAX_STEPS_PER_BYTE, Parser};
use crate::print::{ListedFile, Tags};
use crate::query::{SymbolsFormat, SymbolsQuery};
use crate::stats::{Stats, Sums, SyntaxError};
use crate::stored::encode;
use crate::symbol::{Symbol, add_end_lines, symbols, uses};

/// Reason of a [failure](crate::SymbolsOutcome::failures): nothing says the language of a named file.
pub const UNKNOWN_LANGUAGE: &str = "unknown language";

/// Largest file that is parsed, in bytes.
pub(crate) const SIZE_LIMIT: usize = 64 << 20;

/// Worker that parses and prints files.
pub(crate) struct Lister<'q> {
    query: &'q SymbolsQuery,
    parser: Parser,
    pub(crate) results: ListerResults,
}

/// Definitions and uses in a file.
pub(crate) struct Found {
    language: Language,
    has_errors: bool,
    symbols: Vec<Symbol>,
}

/// Results of a worker over all its files.
#[derive(Debug, Default)]
pub(crate) struct ListerResults {
    pub(crate) stats: Stats,
    /// Path and reason of each file that was not parsed as a whole.
    pub(crate) failures: Vec<(String, String)>,
    /// First syntax error of each file that has one.
    pub(crate) syntax_errors: Vec<SyntaxError>,
    /// Lines of a tags file.
    pub(crate) tags: Tags,
    /// Printed values of files, which follow the types and functions of all files.
    values: Vec<(Source, Vec<u8>)>,
    /// Files whose lines in an older tags file are kept.
    pub(crate) unchanged: HashSet<Vec<u8>>,
    /// Time to parse texts that were not stored.
    pub(crate) parsing: Duration,
}

impl ListerResults {
    pub(crate) fn add(&mut self, other: Self) {
        self.stats.merge(other.stats);
        self.failures.extend(other.failures);
        self.syntax_errors.extend(other.syntax_errors);
        self.tags.add(other.tags);
        self.values.extend(other.values);
        self.unchanged.extend(other.unchanged);
        self.parsing += other.parsing;
    }

    /// Writes the values of all files, in path order.
    pub(crate) fn write_values(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.values.sort_by(|(a, _), (b, _)| a.cmp(b));
        self.values.iter().try_for_each(|(_, printed)| out.write_all(printed))
    }
}

impl<'q> Lister<'q> {
    pub(crate) fn new(query: &'q SymbolsQuery, stop: Option<Arc<Stop>>) -> Self {
        Self { query, parser: Parser::until(stop), results: ListerResults::default() }
    }

    /// Keeps the lines of a file in a tags file that is updated. Returns `false` if the file has to be listed.
    fn keep_unchanged(&mut self, source: &Source) -> bool {
        let (Some(old), Some(path)) = (self.query.old_tags(), source.file_path()) else { return false };
        let printed = source.display_path().as_os_str().as_bytes();
        let is_unchanged = old.is_unchanged(path, printed);
        if is_unchanged {
            self.results.unchanged.insert(printed.to_owned());
        }
        is_unchanged
    }

    fn fail(&mut self, source: &Source, reason: String) {
        self.results.failures.push((source.to_string(), reason));
    }

    /// The language of a file, if it is one that is asked for, and the file parsed if it is a candidate: by an earlier run or by
    /// this one.
    fn parse(
        &mut self,
        source: &Source,
        text: &[u8],
        is_candidate: bool,
    ) -> Option<(Language, Option<Parsed>)> {
        let query = self.query;
        let path = source.display_path();
        let stored = query.store().and_then(|store| query.decode(&store.get(source, text)?, text));
        let stored_language = stored.as_ref().map(|(language, _)| *language);
        // With an extension, the language depends on nothing that the store does not know.
        let known =
            stored_language.filter(|_| path.extension().is_some()).or_else(|| Language::of(path, text));
        // The language of other files comes from --lang, which is not part of the key.
        let store = query.store().filter(|_| known.is_some());
        let is_same = |(language, parsed): &(Language, Parsed)| {
            Some(*language) == known && query.may_take(*language, parsed)
        };
        if let Some((language, parsed)) = stored.filter(is_same) {
            if !query.wants_language(language) {
                return None;
            }
            let parsed = is_candidate.then(|| self.parser.add_uses(language, text, query, parsed));
            return Some((language, parsed));
        }
        let language =
            known.or_else(|| query.assumed(source)).filter(|&language| query.wants_language(language));
        let Some(language) = language else {
            // Other files have been refused by their names.
            let is_undecided = Language::knows(path) || path.extension().is_none();
            if source.is_named() && is_undecided && known.is_none() {
                self.fail(source, UNKNOWN_LANGUAGE.to_owned());
            }
            return None;
        };
        let start = Instant::now();
        let parsed = is_candidate.then(|| self.parser.parse(language, text, query));
        if known.is_some() && stored_language.is_none() {
            self.results.parsing += start.elapsed();
        }
        let is_whole = query.lists_all() && !self.parser.is_stopped();
        if let (Some(store), Some(parsed)) = (store.filter(|_| is_whole), &parsed) {
            store.put(source, text, &|| encode(language, text, parsed));
        }
        Some((language, parsed))
    }

    /// Definitions and uses in a file that the query asks for.
    fn list(&mut self, source: &Source, language: Language, text: &[u8], parsed: &Parsed) -> Vec<Symbol> {
        if parsed.gave_up && !self.parser.is_stopped() {
            let reason = format!("took more than {MAX_STEPS_PER_BYTE} parser steps per byte; skipped");
            self.fail(source, reason);
        }
        if parsed.too_deep {
            let reason =
                format!("scopes nested more than {MAX_SCOPES} deep; those within are listed in the last");
            self.fail(source, reason);
        }
        let definitions = &parsed.definitions;
        let mut found = symbols(text, language, definitions, |kind, name| self.query.wants(kind, name));
        found.retain(|symbol| self.query.wants_in(&symbol.scope, &text[symbol.name.clone()], language));
        if !parsed.references.is_empty() {
            let mut uses = uses(text, language, definitions, &parsed.references);
            let name = self.query.reference();
            uses.retain(|Symbol { name: place, scope, .. }| {
                name.is_none_or(|name| name.is_use(text, place.start, language, Some(scope)))
            });
            found.extend(uses);
            found.sort_by_key(|symbol| symbol.name.start);
        }
        if self.query.options.format.has_end_lines() {
            add_end_lines(text, &mut found);
        }
        if let Some(error) = parsed.error {
            let line = 1 + memchr_iter(b'\n', &text[..error]).count();
            self.results.syntax_errors.push(SyntaxError { path: source.to_string(), line });
        }
        found
    }
}

impl Select for Lister<'_> {
    fn wants(&self) -> Wants {
        Wants::Whole(SIZE_LIMIT)
    }
}

impl Search for Lister<'_> {
    /// The file, if it is in a language that is asked for.
    type Found = Option<Found>;
    /// The file is not wanted.
    type State = bool;

    fn begin(&mut self, source: &Source, start: &[u8]) -> bool {
        // The first line decides, and is known now only if the file is larger than its first block.
        let is_undecided = start.is_empty() && source.display_path().extension().is_none();
        let is_known = is_undecided || self.query.may_know(source, start);
        if !is_known && source.is_named() {
            let other = Language::of_other_build(source.display_path());
            self.fail(source, other.map_or_else(|| UNKNOWN_LANGUAGE.to_owned(), not_in_this_build));
        }
        !is_known
    }

    fn is_over(&self, unwanted: &bool) -> bool {
        *unwanted
    }

    fn search(&mut self, block: &mut Block<'_>) -> Self::Found {
        if self.keep_unchanged(block.source) {
            return None;
        }
        let text: &[u8] = block.bytes;
        // The name is searched for first: few files have it, and the language of a header takes a look at all of it.
        let is_candidate =
            self.query.may_be_in(text) && self.query.may_be_in_code(block.source.display_path(), text);
        if !is_candidate && !self.query.options.stats {
            return None;
        }
        let (language, parsed) = self.parse(block.source, text, is_candidate)?;
        let (symbols, has_errors) = match parsed {
            Some(parsed) => (self.list(block.source, language, text, &parsed), parsed.error.is_some()),
            None => (Vec::new(), false),
        };
        let (bytes, count) = (text.len() as u64, symbols.len() as u64);
        let sums = Sums { files: 1, bytes, symbols: count, files_with_errors: u64::from(has_errors) };
        self.results.stats.add(language, sums);
        Some(Found { language, has_errors, symbols })
    }
}

impl Print for Lister<'_> {
    type Tally = ();

    fn absent(&mut self, _: &Source, absent: &Absent, _: &mut Output<'_>) -> Option<ControlFlow<()>> {
        absent.is_plain.then_some(ControlFlow::Continue(()))
    }

    fn print(
        &mut self,
        block: &Block<'_>,
        found: Self::Found,
        _: &bool,
        _: &mut (),
        out: &mut Output<'_>,
        _: &mut Meter,
    ) {
        let Some(found) = found.filter(|found| !found.symbols.is_empty()) else { return };
        if self.query.options.quiet {
            return;
        }
        let Found { language, has_errors, symbols } = found;
        let is_last = |symbol: &Symbol| symbol.kind.is_some_and(Kind::is_value);
        let (values, symbols): (Vec<Symbol>, Vec<Symbol>) = match self.query.lists_values_last() {
            true => symbols.into_iter().partition(is_last),
            false => (Vec::new(), symbols),
        };
        let path = block.source.display_path();
        let file = ListedFile { path, text: block.bytes, language, has_errors, symbols: &symbols };
        if self.query.options.format == SymbolsFormat::Ctags {
            return self.results.tags.add_file(&file);
        }
        if !symbols.is_empty() {
            out.begin_group();
            file.print(self.query, out);
            out.flush_if_full();
        }
        if !values.is_empty() {
            let mut printed = Output::default();
            ListedFile { symbols: &values, ..file }.print(self.query, &mut printed);
            self.results.values.push((block.source.clone(), std::mem::take(printed.bytes())));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::fs;
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use finecomb_scan::{Inputs, OrderedOptions, Source};
    use proptest::prelude::*;

    use super::*;
    use crate::query::SymbolsOptions;
    use crate::stored::ParseStore;
    use crate::{SymbolsOutcome, symbols};

    /// A store in memory.
    #[derive(Debug, Default)]
    struct Memory(Mutex<StoredTexts>);

    #[derive(Debug, Default)]
    struct StoredTexts {
        values: HashMap<Vec<u8>, Vec<u8>>,
        /// Number of texts that were put into it.
        puts: usize,
    }

    impl ParseStore for Memory {
        fn get(&self, _: &Source, text: &[u8]) -> Option<Vec<u8>> {
            self.0.lock().expect("no panic").values.get(text).cloned()
        }

        fn put(&self, _: &Source, text: &[u8], parsed: &dyn Fn() -> Vec<u8>) {
            let mut contents = self.0.lock().expect("no panic");
            contents.values.insert(text.to_vec(), parsed());
            contents.puts += 1;
        }
    }

    /// The list of a directory, with a store or without.
    fn listed(
        directory: &Path,
        options: &SymbolsOptions,
        store: Option<&Arc<Memory>>,
    ) -> (String, SymbolsOutcome) {
        let query = SymbolsQuery::new(options).expect("valid");
        let query = match store {
            Some(store) => query.storing(Arc::clone(store) as Arc<dyn ParseStore>),
            None => query,
        };
        let mut out = Vec::new();
        let outcome = symbols(&Inputs::new([directory]), &OrderedOptions::default(), &query, &mut out);
        (String::from_utf8(out).expect("UTF-8"), outcome)
    }

    #[test]
    #[cfg(all(feature = "c", feature = "objc"))]
    fn what_was_parsed_in_a_language_that_is_only_assumed_is_not_stored() {
        let directory = tempfile::tempdir().expect("success");
        let files = [("a.m", "% f\nint f(void) {}\n"), ("b.c", "int g(void) {}\n")];
        for (name, text) in files {
            fs::write(directory.path().join(name), text).expect("success");
        }
        let store = Arc::new(Memory::default());
        let list = |languages: &[Language]| {
            let options = SymbolsOptions { languages: languages.to_vec(), ..SymbolsOptions::default() };
            let (out, _) = listed(directory.path(), &options, Some(&store));
            out.lines().filter_map(|line| line.split('\t').nth(2)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(list(&[Language::ObjC]), "f");
        assert_eq!((list(&[]).as_str(), store.0.lock().expect("no panic").puts), ("g", 1));
    }

    #[test]
    fn a_text_is_parsed_once() {
        let directory = tempfile::tempdir().expect("success");
        let texts =
            [("a.c", "int one(void) {}\n"), ("b.rs", "mod m { fn two() {} }\n"), ("c.py", "def broken(:\n")];
        for (name, text) in texts {
            fs::write(directory.path().join(name), text).expect("success");
        }
        let store = Arc::new(Memory::default());
        let list = |options: &SymbolsOptions, is_stored: bool| {
            let (out, outcome) = listed(directory.path(), options, is_stored.then_some(&store));
            (out, outcome.stats.total())
        };
        let all = SymbolsOptions { stats: true, ..SymbolsOptions::default() };
        let kinds = vec!["function".parse().expect("a kind")];
        let functions = SymbolsOptions { kinds, ..all.clone() };
        for options in [&all, &all, &functions] {
            assert_eq!(list(options, true), list(options, false));
            assert_eq!(store.0.lock().expect("no panic").puts, 3);
        }
        // What is there is taken as it is, unless it is damaged.
        let mut kept = store.0.lock().expect("no panic");
        kept.values.insert(texts[0].1.as_bytes().to_vec(), b"damaged".to_vec());
        kept.values.insert(texts[1].1.as_bytes().to_vec(), encode(Language::Rust, b"", &Parsed::default()));
        drop(kept);
        let (out, _) = list(&all, true);
        assert!(out.contains("one") && !out.contains("two"), "{out}");
        // Definitions of a name are taken from there as well, but not put there; --thorough finds others.
        let of = |name: &str| SymbolsOptions { name: Some(name.to_owned()), ..all.clone() };
        assert!(list(&of("two"), true).0.is_empty() && list(&of("one"), true).0.contains("one"));
        let thorough = SymbolsOptions { thorough: true, ..all.clone() };
        assert!(list(&thorough, true).0.contains("two"));
        assert_eq!(store.0.lock().expect("no panic").puts, 4);
    }

    /// Lines of C, among them such that brackets do not balance.
    const LINES: [&str; 12] = [
        "int one(int two) {\n",
        "}\n",
        "#if ONE\n",
        "#else\n",
        "#endif\n",
        "int two(void) { return one(3); }\n",
        "struct one { int two; };\n",
        "#define one two\n",
        "/* one */ \"two\";\n",
        "  two(one) (\n",
        "DEFINE(one, two)\n",
        "one: two = (one){ 1 };\n",
    ];

    proptest! {
        #[test]
        #[cfg(feature = "c")]
        fn the_list_for_a_name_is_the_same_from_a_store(lines in prop::collection::vec(0..LINES.len(), 1..14), name in 0..3_usize, reference in 0..3_usize) {
            let directory = tempfile::tempdir().expect("success");
            let text: String = lines.into_iter().map(|line| LINES[line]).collect();
            fs::write(directory.path().join("a.c"), text).expect("success");
            let store = Arc::new(Memory::default());
            let list = |options: &SymbolsOptions, is_stored: bool| {
                let (out, outcome) = listed(directory.path(), options, is_stored.then_some(&store));
                let errors: Vec<usize> = outcome.syntax_errors.iter().map(|error| error.line).collect();
                (out, outcome.stats.total(), errors)
            };
            list(&SymbolsOptions::default(), true);
            let names = [None, Some("one".to_owned()), Some("two".to_owned())];
            let format = SymbolsFormat::Json;
            let options = SymbolsOptions { name: names[name].clone(), reference: names[reference].clone(), format, ..SymbolsOptions::default() };
            prop_assert_eq!(list(&options, true), list(&options, false));
        }
    }
}
