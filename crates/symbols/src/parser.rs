//! Parsing one file: skim, parse, extract.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::iter::once;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use finecomb_scan::Stop;
use finecomb_sys::with_c_locale;
use tree_sitter::{ParseOptions, ParseState, Tree};

use crate::definition::{Definition, Parsed};
use crate::extract::{Holds, definitions};
use crate::kind::Kind;
use crate::language::{Language, Syntax};
use crate::lines::Lexed;
use crate::mend::{broken_parts, without};
use crate::mixed::Split;
use crate::query::SymbolsQuery;
use crate::recovery::{Budget, Mended, first_error, is_better};
use crate::reference::PossibleUses;
use crate::rules::GrammarRules;
use crate::skim::{self, LexedDefinition, Skimmed};

/// Maximum number of steps of the parser for a byte of a text. Code takes 0.1 to 3; the limit is on input that makes the parser try many
/// alternatives. Unlike a limit on time, it gives the same result on every machine.
pub(crate) const MAX_STEPS_PER_BYTE: usize = 8;

/// Further steps that a text may take, so that small texts never reach the limit.
const FREE_STEPS: usize = 1_000_000;

/// Number of bytes that the lexer of a grammar takes in the time of a step. It takes bytes again where the parser tries an alternative,
/// and all of the rest where a comment or a string begins that does not end.
const LEXED_PER_STEP: usize = 64;

/// Largest part of a text that the lexer gets at once, in bytes, so that they can be counted.
const CHUNK: usize = 4096;

/// Number of steps between two calls of the parser's callback.
const STEPS_PER_CALL: usize = 100;

/// Parser of one thread. Grammars are loaded as they are needed.
#[derive(Default)]
pub(crate) struct Parser {
    grammars: Grammars,
    skimmed: Skimmed,
}

impl Parser {
    /// A parser that gives a text up once the stop is raised.
    pub(crate) fn until(stop: Option<Arc<Stop>>) -> Self {
        let skimmed = Skimmed::until(stop.clone());
        Self { grammars: Grammars { stop, ..Grammars::default() }, skimmed }
    }

    /// Whether texts are given up because the job was asked to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.skimmed.is_stopped()
    }

    /// Parses a text. It is skimmed first, and the parser gets the rest, a piece at a time, unless `query` asks for all.
    /// Definitions by macros, which no grammar knows, come from the skimming in any case.
    pub(crate) fn parse(&mut self, language: Language, source: &[u8], query: &SymbolsQuery) -> Parsed {
        let gave_up = Parsed { gave_up: true, ..Parsed::default() };
        self.try_parse(language, source, query).unwrap_or(gave_up)
    }

    /// Adds the uses of a name to the definitions of a text, which are known.
    pub(crate) fn add_uses(
        &mut self,
        language: Language,
        source: &[u8],
        query: &SymbolsQuery,
        mut parsed: Parsed,
    ) -> Parsed {
        if parsed.error.is_some() && !Sought::of(query, source, language).is_possible() {
            // Its error would not have been found.
            return Parsed::default();
        }
        let Some(name) = query.reference() else { return parsed };
        if !matches!(language.syntax(), Syntax::Grammar(_)) {
            return self.parse(language, source, query);
        }
        let candidates = PossibleUses::new(source, language, name);
        let in_tree = || Some(candidates.in_tree(&self.tree(language, source, None)?));
        let Some(references) = candidates.in_code().or_else(in_tree) else {
            return Parsed { gave_up: true, ..Parsed::default() };
        };
        parsed.references = references;
        candidates.leave_out_names(&mut parsed.references, &parsed.definitions);
        parsed
    }

    /// As [`Self::parse`]; `None` if the parser takes too many steps.
    fn try_parse(&mut self, language: Language, source: &[u8], query: &SymbolsQuery) -> Option<Parsed> {
        match language.syntax() {
            Syntax::Grammar(_) => (),
            Syntax::Lexer(lex) => return Some(lexed(language, lex(source), source, query)),
            Syntax::Mixed(other, split) => return self.mixed(other, split(source), source, query),
        }
        let sought = Sought::of(query, source, language);
        if !sought.is_possible() {
            return Some(Parsed::default());
        }
        let Sought { ref candidates, words, has_uses, .. } = sought;
        let (thorough, candidates) = (query.options.thorough, candidates.as_ref());
        let needs_scopes = |candidates: &PossibleUses<'_>| {
            has_uses && (query.shows_scopes_of_uses() || candidates.need_scopes(words.as_deref()))
        };
        let needs_all = query.lists_all() || candidates.is_some_and(needs_scopes);
        let about = Some(query).filter(|_| !needs_all);
        let (mut parsed, tree) = self.definitions(language, source, about, thorough)?;
        if let Some(candidates) = candidates.filter(|_| has_uses) {
            parsed.references = match words {
                Some(words) => words,
                None => candidates.in_tree(&self.tree(language, source, tree)?),
            };
            candidates.leave_out_names(&mut parsed.references, &parsed.definitions);
        }
        Some(parsed)
    }

    /// Parses what is in another language. The lexer of that one, if there is one, knows the code in all of the source.
    fn mixed(
        &mut self,
        other: Language,
        split: Split,
        source: &[u8],
        query: &SymbolsQuery,
    ) -> Option<Parsed> {
        let mut parsed = self.try_parse(other, &split.text, query)?;
        parsed.append(split.lexed.definitions);
        parsed.error = parsed.error.into_iter().chain(split.lexed.error).min();
        if let Some(name) = query.reference() {
            let candidates = PossibleUses::new(source, other, name);
            parsed.references = candidates.in_code().unwrap_or(parsed.references);
            candidates.leave_out_names(&mut parsed.references, &parsed.definitions);
        }
        Some(parsed)
    }

    /// Definitions by the lexer and the parser, and the syntax tree if all of the source was parsed. With a query, definitions and pieces
    /// that have nothing to do with it are left out.
    fn definitions(
        &mut self,
        language: Language,
        source: &[u8],
        query: Option<&SymbolsQuery>,
        thorough: bool,
    ) -> Option<(Parsed, Option<Tree>)> {
        self.skimmed.clear();
        // A thorough parse takes definitions by macros from the lexer, and what is outside of the grammar.
        let is_lexed = !thorough || skim::prepares(language);
        let is_complete = is_lexed && skim::skim(language, source, &mut self.skimmed);
        let has_lexer = !thorough && skim::has_lexer(language);
        let may_be_mended = has_lexer && !is_complete;
        // No grammar knows the macros of a file: most of its errors are none. Brackets that do not balance are.
        let are_errors = !(skim::has_preprocessor(language) && is_complete);
        let mode = Mode { is_skimmed: is_complete && !thorough, recovers: are_errors && !may_be_mended };
        let query = query.filter(|_| !may_be_mended);
        let (mut parsed, tree) = self.list(language, source, query, mode)?;
        if may_be_mended && parsed.error.is_some() {
            self.mend(language, source, &mut parsed)?;
        }
        parsed.error = parsed.error.filter(|_| are_errors);
        Some((parsed, tree))
    }

    /// Definitions of a text that was skimmed, by the parser and by the lexer.
    fn list(
        &mut self,
        language: Language,
        source: &[u8],
        query: Option<&SymbolsQuery>,
        mode: Mode,
    ) -> Option<(Parsed, Option<Tree>)> {
        let mut lexed = std::mem::take(&mut self.skimmed.by_macros);
        if mode.is_skimmed {
            lexed.append(&mut self.skimmed.plain);
        }
        // Those that have nothing to do with the query may be scopes of those that have.
        if let Some(query) = query {
            self.skimmed.has_inner &= lexed.iter().any(|lexed| query.is_about(&source[lexed.name.clone()]));
        }
        let (mut parsed, tree) = self.parse_pieces(language, source, query, mode)?;
        merge(source, &mut parsed.definitions, lexed);
        if !mode.is_skimmed {
            end_macros(language, source, &mut parsed.definitions);
        }
        Some((parsed, tree))
    }

    /// Finds more definitions of a text with syntax errors whose brackets do not balance: the lexer skims it without the parts that it does
    /// not understand, which are parsed one by one. Which definitions are taken depends on all of them, not on a name.
    fn mend(&mut self, language: Language, source: &[u8], parsed: &mut Parsed) -> Option<()> {
        let skimmed = &mut self.skimmed;
        let is_sound = |part: &[u8]| {
            skimmed.clear();
            (!skimmed.is_stopped()).then(|| skim::skim(language, part, skimmed))
        };
        let broken = broken_parts(source, |_| true, is_sound).unwrap_or_default();
        let whole = without(source, &broken);
        self.skimmed.clear();
        if broken.is_empty() || !skim::skim(language, &whole, &mut self.skimmed) {
            self.skimmed.clear();
            skim::skim(language, source, &mut self.skimmed);
            *parsed = self.list(language, source, None, Mode { is_skimmed: false, recovers: true })?.0;
            return Some(());
        }
        let mode = Mode { is_skimmed: true, recovers: !skim::has_preprocessor(language) };
        let (rest, _) = self.list(language, &whole, None, mode)?;
        let error = rest.error.filter(|_| !skim::has_preprocessor(language));
        let mut mended = Mended { definitions: rest.definitions, error, too_deep: rest.too_deep };
        let grammar = self.grammars.get(language);
        let all = grammar.add_parts(source, &broken, &mut mended, &mut Budget::new(source));
        // The parser alone takes macros for definitions, so the number says little.
        let broken_length: usize = broken.iter().map(|part| part.range.len()).sum();
        let is_taken =
            broken_length < source.len() / 4 || is_better(source, &mended.definitions, &parsed.definitions);
        parsed.error = mended.error.or(parsed.error);
        if all.is_some() && is_taken {
            parsed.definitions = mended.definitions;
            parsed.too_deep = mended.too_deep;
        }
        Some(())
    }

    /// Parses the skimmed text, or all of the source, whose syntax tree is returned, too. With a query, pieces that have nothing to do
    /// with it are left out.
    fn parse_pieces(
        &mut self,
        language: Language,
        source: &[u8],
        query: Option<&SymbolsQuery>,
        mode: Mode,
    ) -> Option<(Parsed, Option<Tree>)> {
        let is_skimmed = mode.is_skimmed;
        let whole_text =
            if is_skimmed { Cow::Borrowed(source) } else { self.skimmed.without_left_out(source) };
        let (text, pieces): (_, Vec<Range<usize>>) = match is_skimmed {
            true => (self.skimmed.text(), self.skimmed.pieces().collect()),
            false => (&*whole_text, once(0..source.len()).collect()),
        };
        let (mut parsed, mut whole) = (Parsed::default(), None);
        let (mut left, mut budget) = (max_steps(text), Budget::new(text));
        for piece in pieces {
            let Range { start, end } = piece;
            let text = &text[start..end];
            // Calls are in bodies: few texts that name a function have its definition.
            let may_define = |query: &SymbolsQuery| query.may_be_defined_in(language, text);
            let is_blank = is_skimmed && text.trim_ascii().is_empty();
            if is_blank || is_skimmed && !self.skimmed.has_inner && !query.is_none_or(may_define) {
                continue;
            }
            let grammar = self.grammars.get(language);
            let text = ended(text);
            let tree = grammar.parse(&text, &mut left)?;
            let (found, too_deep) = grammar.definitions(&tree, &text)?;
            let mut found = Mended { definitions: found, error: first_error(&tree), too_deep };
            if let Some(error) = found.error.filter(|_| mode.recovers) {
                found = grammar.recover(&text, error, &tree, found, &mut budget);
            }
            if let Some(error) = found.error {
                let error = (start + error).min(end);
                let error = if is_skimmed { self.skimmed.source_range(error..error).start } else { error };
                parsed.error.get_or_insert(error);
            }
            parsed.too_deep |= found.too_deep;
            parsed.append(found.definitions.into_iter().map(|mut definition| {
                definition.map(|range| {
                    let range = (start + range.start).min(end)..(start + range.end).min(end);
                    if is_skimmed { self.skimmed.source_range(range) } else { range }
                });
                if is_skimmed && definition.head.end < definition.extent.end {
                    definition.head.end = self.skimmed.head_end(source, definition.head.end);
                }
                definition
            }));
            // Uses may be in what was left out.
            whole = (!is_skimmed && matches!(whole_text, Cow::Borrowed(_))).then_some(tree);
        }
        Some((parsed, whole))
    }

    /// The syntax tree of the source, which may have been made before. `None` if that takes too many steps.
    fn tree(&mut self, language: Language, source: &[u8], tree: Option<Tree>) -> Option<Tree> {
        tree.or_else(|| self.grammars.get(language).parse(&ended(source), &mut max_steps(source)))
    }
}

/// The part of a query that a text may fulfil.
struct Sought<'s> {
    candidates: Option<PossibleUses<'s>>,
    /// The uses, if the lexer knows them.
    words: Option<Vec<Range<usize>>>,
    has_uses: bool,
    may_define: bool,
}

impl<'s> Sought<'s> {
    fn of(query: &'s SymbolsQuery, source: &'s [u8], language: Language) -> Self {
        let candidates = query.reference().map(|name| PossibleUses::new(source, language, name));
        let words = candidates.as_ref().filter(|_| !query.options.thorough).and_then(PossibleUses::in_code);
        let has_uses = candidates.is_some() && words.as_ref().is_none_or(|words| !words.is_empty());
        let may_define = query.wants_definitions() && query.may_be_defined_in(language, source);
        Self { candidates, words, has_uses, may_define }
    }

    fn is_possible(&self) -> bool {
        self.has_uses || self.may_define
    }
}

/// Result of a lexer that finds all definitions, with the uses of a name.
fn lexed(language: Language, lexed: Lexed, source: &[u8], query: &SymbolsQuery) -> Parsed {
    let uses = |name| {
        let candidates = PossibleUses::new(source, language, name);
        let mut places = candidates.words_of_code(false, lexed.code());
        candidates.leave_out_names(&mut places, &lexed.definitions);
        places
    };
    let references = query.reference().map(uses).unwrap_or_default();
    let Lexed { definitions, error, .. } = lexed;
    Parsed { definitions, references, error, ..Parsed::default() }
}

/// How a text is parsed.
#[derive(Clone, Copy)]
struct Mode {
    /// The parser gets what the lexer left, in pieces; else all of the source.
    is_skimmed: bool,
    /// Errors are mended.
    recovers: bool,
}

/// Grammars that were needed so far.
#[derive(Default)]
struct Grammars {
    known: Vec<Grammar>,
    stop: Option<Arc<Stop>>,
}

/// Parser of a language, and the rules for its trees.
pub(crate) struct Grammar {
    pub(crate) language: Language,
    pub(crate) parser: tree_sitter::Parser,
    pub(crate) rules: GrammarRules,
    stop: Option<Arc<Stop>>,
}

impl Grammars {
    fn get(&mut self, language: Language) -> &mut Grammar {
        let known = self.known.iter().position(|grammar| grammar.language == language);
        let index = known.unwrap_or_else(|| {
            self.known.push(Grammar::new(language, self.stop.clone()));
            self.known.len() - 1
        });
        &mut self.known[index]
    }
}

impl Grammar {
    fn new(language: Language, stop: Option<Arc<Stop>>) -> Self {
        let grammar = language.grammar().expect("a language with a grammar");
        let mut parser = tree_sitter::Parser::new();
        // Grammars and parser are of one build; a test loads all of them.
        parser.set_language(&grammar).expect("a grammar for this version of tree-sitter");
        Self { language, parser, rules: GrammarRules::new(language, &grammar), stop }
    }

    /// Parses a text that ends with a line feed, unless it takes more steps than are left.
    fn parse(&mut self, text: &[u8], left: &mut usize) -> Option<Tree> {
        let (tree, steps) = self.parse_in(text, *left);
        *left = left.saturating_sub(steps);
        tree
    }

    /// The definitions in a tree, and whether a scope was left out. `None` if the stop is raised.
    pub(crate) fn definitions(&self, tree: &Tree, text: &[u8]) -> Option<(Vec<Definition>, bool)> {
        definitions(tree, text, &self.rules, || is_raised(self.stop.as_ref()))
    }

    /// Parses a text, unless that takes more than a number of steps, or the stop is raised. Returns how many it took, too.
    pub(crate) fn parse_in(&mut self, text: &[u8], max_steps: usize) -> (Option<Tree>, usize) {
        let steps = Cell::new(0_usize);
        let stop = self.stop.as_ref();
        let is_over = |more| {
            // No steps are left for other texts if the job was asked to end.
            let more = if is_raised(stop) { usize::MAX } else { more };
            steps.set(steps.get().saturating_add(more));
            steps.get() > max_steps
        };
        let mut progress = |_: &ParseState| match is_over(STEPS_PER_CALL) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let mut end = 0;
        let mut chunk = |at: usize, _| {
            let rest = text.get(at..).unwrap_or_default();
            let chunk = &rest[..rest.len().min(CHUNK)];
            // All of the last chunk was read if this one is next to it. Else the lexer may have read a token only, which is a step.
            let is_next = at == std::mem::replace(&mut end, at + chunk.len());
            if is_next && is_over(chunk.len() / LEXED_PER_STEP) { &[] } else { chunk }
        };
        // The C code of grammars asks the C library what a letter is.
        let tree = with_c_locale(|| self.parser.parse_with_options(&mut chunk, None, Some(options)));
        let tree = tree.filter(|_| !is_over(0));
        if tree.is_none() {
            self.parser.reset();
        }
        (tree, steps.get())
    }
}

/// A text with a line feed at its end, which is no part of any definition if it is added. The scanners of some grammars wait for white
/// space and do not look for the end of the text: that of Kotlin would wait forever after an `@`.
pub(crate) fn ended(text: &[u8]) -> Cow<'_, [u8]> {
    if text.ends_with(b"\n") { Cow::Borrowed(text) } else { Cow::Owned([text, b"\n"].concat()) }
}

/// Maximum number of steps of the parser for a text and all its pieces.
pub(crate) fn max_steps(text: &[u8]) -> usize {
    FREE_STEPS + MAX_STEPS_PER_BYTE * text.len()
}

fn is_raised(stop: Option<&Arc<Stop>>) -> bool {
    stop.is_some_and(|stop| stop.is_raised())
}

/// Adds the definitions of the lexer that the parser did not find. A definition in a scope that the parser knows belongs to it.
fn merge(source: &[u8], found: &mut Vec<Definition>, mut lexed: Vec<LexedDefinition>) {
    if lexed.is_empty() {
        return;
    }
    let names: HashSet<usize> = found.iter().map(|definition| definition.name.start).collect();
    let is_name = |name: &Range<usize>| !source[name.clone()].iter().any(u8::is_ascii_control);
    lexed.retain(|lexed| !names.contains(&lexed.name.start) && is_name(&lexed.name));
    lexed.sort_by_key(|lexed| lexed.extent.start);
    let may_be_scope =
        |kind| !matches!(kind, Kind::Field | Kind::Variable | Kind::Typedef | Kind::Macro | Kind::Constant);
    let mut scopes: Vec<usize> = (0..found.len()).filter(|&index| may_be_scope(found[index].kind)).collect();
    scopes.sort_by_key(|&index| found[index].extent.start);
    let mut scopes = scopes.into_iter().peekable();
    // Only macros are defined in functions.
    let (mut functions, mut others) = (Vec::<usize>::new(), Vec::<usize>::new());
    for LexedDefinition { kind, name, head, extent, parameters, qualifier } in lexed {
        let at = extent.start;
        while let Some(scope) = scopes.next_if(|&index| found[index].extent.start <= at) {
            let is_function = Holds::of(found[scope].kind) == Holds::Locals;
            if is_function { &mut functions } else { &mut others }.push(scope);
        }
        for around in [&mut functions, &mut others] {
            while around.pop_if(|index| found[*index].extent.end <= at).is_some() {}
        }
        let other = others.last().copied();
        let function = functions.last().copied().filter(|_| kind == Kind::Macro);
        let scope = function.into_iter().chain(other).max_by_key(|&index| found[index].extent.start);
        let is_member =
            qualifier.is_some() || scope.is_some_and(|index| Holds::of(found[index].kind) == Holds::Members);
        let kind = if is_member { kind.in_type() } else { kind };
        if Holds::of(kind) == Holds::Locals {
            functions.push(found.len());
        }
        found.push(Definition { kind, name, extent, head, parameters, qualifier, scope });
    }
}

/// Extends macros to the ends of their lines: the lexer leaves out the replacement list, and the grammar counts the line feed.
fn end_macros(language: Language, source: &[u8], definitions: &mut [Definition]) {
    // The end of a comment that never ends is searched for once.
    let mut done = 0;
    for definition in definitions.iter_mut().filter(|definition| definition.kind == Kind::Macro) {
        if let Some(end) = skim::macro_end(language, source, definition.extent.start.max(done)) {
            definition.extent.end = end;
            done = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parser_that_gave_up_parses_the_next_text() {
        let mut grammar = Grammar::new(Language::ALL[0], None);
        let text = "a = (b)\n".repeat(1000).into_bytes();
        assert!(grammar.parse_in(&text, 200).0.is_none());
        assert_eq!(grammar.parse(b"a", &mut 200).map(|tree| tree.root_node().byte_range()), Some(0..1));
    }

    /// A function in a function, in languages whose parser gets bodies.
    const NESTED: [(&str, &str, &str); 11] = [
        ("bash", "f() {\n", "}\n"),
        ("c", "void f(void) {\n", "}\n"),
        ("csharp", "void f() {\n", "}\n"),
        ("d", "void f() {\n", "}\n"),
        ("javascript", "function f() {\n", "}\n"),
        ("kotlin", "fun f() {\n", "}\n"),
        ("lua", "function f()\n", "end\n"),
        ("ruby", "def f\n", "end\n"),
        ("rust", "fn f() {\n", "}\n"),
        ("swift", "func f() {\n", "}\n"),
        ("typescript", "function f() {\n", "}\n"),
    ];

    #[test]
    fn the_work_of_the_parser_grows_with_the_depth_of_nested_functions() {
        for &language in Language::ALL {
            let Some((_, open, close)) = NESTED.iter().find(|(name, ..)| *name == language.name()) else {
                continue;
            };
            let mut grammar = Grammar::new(language, None);
            let mut steps = |depth| {
                let text = [open.repeat(depth), close.repeat(depth)].concat();
                grammar.parse_in(text.as_bytes(), usize::MAX).1
            };
            let [once, twice] = [1000, 2000].map(&mut steps);
            assert!(
                twice <= 2 * once + once / 4,
                "{}: {once} steps, {twice} at twice the depth",
                language.name()
            );
        }
    }

    #[test]
    #[cfg(feature = "javascript")]
    fn comments_that_do_not_end_are_read_a_limited_number_of_times() {
        let mut grammar = Grammar::new(Language::JavaScript, None);
        let text = "/* ".repeat(20_000).into_bytes();
        let max_steps = MAX_STEPS_PER_BYTE * text.len();
        let (tree, steps) = grammar.parse_in(&text, max_steps);
        assert!(tree.is_none() && steps < max_steps + max_steps / 10, "{steps} steps");
    }
}
