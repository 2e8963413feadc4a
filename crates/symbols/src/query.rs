//! Query: the definitions to list, the files to read, and the output format.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use finecomb_sys::setters;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_syntax::hir::{Capture, Hir, HirKind, Look, Repetition};

use crate::kind::Kind;
use crate::language::Language;
use crate::skim;
use crate::stored::ParseStore;
use crate::update::OldTags;

/// Form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SymbolsFormat {
    /// A line for each definition.
    #[default]
    Text,
    /// Definitions of each file as a tree, with columns for people.
    Outline,
    /// The same in fewer characters, with the last line of each definition, for programs.
    Compact,
    /// A JSON object for each definition.
    Json,
    /// A sorted tags file, as Universal Ctags writes it.
    Ctags,
    /// A TAGS file, as Emacs reads it.
    Etags,
    /// A record for each definition, for programs in memory: see [`records`](crate::records).
    Records,
}

impl SymbolsFormat {
    /// Returns `true` if the last lines of definitions are printed.
    pub(crate) fn has_end_lines(self) -> bool {
        matches!(self, Self::Json | Self::Ctags | Self::Compact | Self::Records)
    }
}

/// Options of a list of definitions.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SymbolsOptions {
    /// Kinds to list; all if empty.
    pub kinds: Vec<Kind>,
    /// Languages to list; all if empty. A single one is assumed for files with an unknown extension.
    pub languages: Vec<Language>,
    /// Name to find the definitions of: exactly this name if it consists of letters, digits and underscores, else a regular
    /// expression.
    pub name: Option<String>,
    /// Name to find the uses of, as `name`. Definitions are listed only if `name` is given, too.
    pub reference: Option<String>,
    /// Parse every byte.
    pub thorough: bool,
    /// Count files and bytes, too, of each language.
    pub stats: bool,
    /// Print nothing.
    pub quiet: bool,
    /// Form of the output.
    pub format: SymbolsFormat,
    /// Colour text and outlines.
    pub color: bool,
}

setters! {
    SymbolsOptions {
        kinds: Vec<Kind>,
        languages: Vec<Language>,
        name: Option<String>,
        reference: Option<String>,
        thorough: bool,
        stats: bool,
        quiet: bool,
        format: SymbolsFormat,
        color: bool,
    }
}

/// Invalid name to search for.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidName(String);

/// Compiled query. The default asks for all definitions.
#[derive(Clone, Debug, Default)]
pub struct SymbolsQuery {
    pub(crate) options: SymbolsOptions,
    name: Option<Name>,
    reference: Option<Name>,
    old_tags: Option<OldTags>,
    store: Option<Arc<dyn ParseStore>>,
}

/// Name that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    /// Matches names.
    name: Regex,
    /// Matches every text in which a name may match.
    text: Regex,
    /// The same before it was compiled.
    expression: Hir,
}

impl SymbolsQuery {
    /// Compiles the name.
    ///
    /// # Errors
    /// If it is no valid regular expression.
    pub fn new(options: &SymbolsOptions) -> Result<Self, InvalidName> {
        let compiled = |name: &Option<String>| name.as_deref().map(Name::new).transpose();
        let (name, reference) = (compiled(&options.name)?, compiled(&options.reference)?);
        Ok(Self { options: options.clone(), name, reference, old_tags: None, store: None })
    }

    /// Updates a tags file: lines of files that did not change, or are not below the inputs, are taken from it.
    pub fn updating(self, old: OldTags) -> Self {
        Self { old_tags: Some(old), ..self }
    }

    /// Takes parsed definitions from a store, and stores newly parsed ones.
    pub fn storing(self, store: Arc<dyn ParseStore>) -> Self {
        Self { store: Some(store), ..self }
    }

    /// The store, if all definitions are asked for: others depend on the name as well.
    pub(crate) fn store(&self) -> Option<&dyn ParseStore> {
        let lists_all = self.names().next().is_none() && !self.options.thorough;
        self.store.as_deref().filter(|_| lists_all)
    }

    pub(crate) fn old_tags(&self) -> Option<&OldTags> {
        self.old_tags.as_ref()
    }

    /// Returns `true` if a definition is asked for.
    pub(crate) fn wants(&self, kind: Kind, name: &[u8]) -> bool {
        (self.options.kinds.is_empty() || self.options.kinds.contains(&kind))
            && match &self.name {
                Some(wanted) => wanted.name.is_match(name),
                None => self.reference.is_none(),
            }
    }

    /// The name whose uses are asked for.
    pub(crate) fn reference(&self) -> Option<&Name> {
        self.reference.as_ref()
    }

    /// Returns expressions that restrict the list to files with a match of one of them; `None` if other files matter as well.
    pub fn expressions(&self) -> Option<Vec<Hir>> {
        let names: Vec<Hir> = self.names().map(|name| name.expression.clone()).collect();
        (!names.is_empty() && !self.options.stats && self.old_tags.is_none()).then_some(names)
    }

    fn names(&self) -> impl Iterator<Item = &Name> {
        self.name.iter().chain(&self.reference)
    }

    /// Returns `false` if a text has neither a definition nor a use that is asked for.
    pub(crate) fn may_be_in(&self, text: &[u8]) -> bool {
        let mut names = self.names().peekable();
        names.peek().is_none() || names.any(|wanted| wanted.text.is_match(text))
    }

    /// Returns `false` if no uses are wanted and the name occurs only where nothing can be defined, such as after `=`.
    pub(crate) fn may_be_listed_in(&self, language: Language, text: &[u8]) -> bool {
        match &self.name {
            Some(name) if self.reference.is_none() => {
                name.places(text).any(|place| skim::may_define(language, text, place))
            }
            _ => true,
        }
    }

    /// Returns `false` if a file with this path and beginning is of no language that is asked for, with any text after it.
    pub(crate) fn may_know(&self, path: &Path, start: &[u8]) -> bool {
        Language::knows(path) || self.options.languages.len() == 1 || Language::of(path, start).is_some()
    }

    /// Language of a file, if it is one that is asked for.
    pub(crate) fn language_of(&self, path: &Path, text: &[u8]) -> Option<Language> {
        match Language::of(path, text) {
            Some(language) => self.wants_language(language).then_some(language),
            None if self.options.languages.len() == 1 => Some(self.options.languages[0]),
            None => None,
        }
    }

    /// Returns `true` for a language that is asked for.
    pub(crate) fn wants_language(&self, language: Language) -> bool {
        self.options.languages.is_empty() || self.options.languages.contains(&language)
    }
}

impl Name {
    /// Returns `true` for a name that is asked for.
    pub(crate) fn is_match(&self, name: &[u8]) -> bool {
        self.name.is_match(name)
    }

    /// Places in a text at which such a name may be, or a part of one.
    pub(crate) fn places<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = Range<usize>> + 't {
        self.text.find_iter(text).map(|found| found.range())
    }

    fn new(name: &str) -> Result<Self, InvalidName> {
        let is_plain =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.is_empty();
        let expression = if is_plain { format!("^(?:{name})$") } else { name.to_owned() };
        let failed = |error: String| InvalidName(format!("invalid expression '{name}': {error}"));
        let config = syntax::Config::new().utf8(false);
        let hir = syntax::parse_with(&expression, &config).map_err(|error| failed(error.to_string()))?;
        let build =
            |hir: &Hir| Regex::builder().build_from_hir(hir).map_err(|error| failed(error.to_string()));
        let expression = in_text(&hir);
        Ok(Self { name: build(&hir)?, text: build(&expression)?, expression })
    }
}

/// The expression for a text in which it is somewhere: a name neither begins nor ends between two characters of a word.
fn in_text(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Look(Look::Start | Look::End) => {
            Hir::alternation(vec![Hir::look(Look::WordStartHalfAscii), Hir::look(Look::WordEndHalfAscii)])
        }
        HirKind::Repetition(repetition) => {
            let sub = Box::new(in_text(&repetition.sub));
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
        HirKind::Capture(capture) => {
            Hir::capture(Capture { sub: Box::new(in_text(&capture.sub)), ..capture.clone() })
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(in_text).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(in_text).collect()),
        _ => hir.clone(),
    }
}
