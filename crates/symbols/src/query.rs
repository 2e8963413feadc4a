//! Query: the definitions to list, the files to read, and the output format.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use finecomb_scan::Source;
use finecomb_sys::setters;
use regex_syntax::hir::Hir;

use crate::definition::Parsed;
use crate::kind::Kind;
use crate::language::Language;
use crate::name::{InvalidName, Name};
use crate::skim;
use crate::stored::{ParseStore, decode, decode_near};
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
    /// Name to find the definitions of. Words and separators (`Foo::new`, `My.App`, `A#b`, `a/b`) are the end of a qualified name,
    /// with any separator; anything else is a regular expression, without the scope.
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
    /// Maximum number of bytes of a definition that JSON has as they are written, in whole lines; 0 for none.
    pub bodies: usize,
    /// Escape control characters and invalid UTF-8 in text and outlines, which a terminal would obey.
    pub escape: bool,
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
        bodies: usize,
        escape: bool,
    }
}

/// Compiled query. The default asks for all definitions.
#[derive(Clone, Debug, Default)]
pub struct SymbolsQuery {
    pub(crate) options: SymbolsOptions,
    name: Option<Name>,
    reference: Option<Name>,
    old_tags: Option<OldTags>,
    store: Option<Arc<dyn ParseStore>>,
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

    /// The store, unless a thorough list is asked for, which has other definitions.
    pub(crate) fn store(&self) -> Option<&dyn ParseStore> {
        self.store.as_deref().filter(|_| !self.options.thorough)
    }

    /// Returns `true` if definitions of all names are asked for.
    pub fn lists_all(&self) -> bool {
        self.names().next().is_none()
    }

    pub(crate) fn old_tags(&self) -> Option<&OldTags> {
        self.old_tags.as_ref()
    }

    /// Returns `true` if a definition is asked for, unless its scope is another one.
    pub(crate) fn wants(&self, kind: Kind, name: &[u8]) -> bool {
        (self.options.kinds.is_empty() || self.options.kinds.contains(&kind))
            && match &self.name {
                Some(wanted) => wanted.is_match(name),
                None => self.reference.is_none(),
            }
    }

    /// Returns `true` if a definition that is [wanted](Self::wants) is in a scope that is asked for.
    pub(crate) fn wants_in(&self, scope: &[u8], name: &[u8], language: Language) -> bool {
        self.name.as_ref().is_none_or(|wanted| wanted.is_match_in(scope, name, language))
    }

    /// Returns `true` if all that was parsed of a text has the same list as its part that has to do with a name, which alone would be
    /// parsed otherwise: no more is reported or counted. A text with an error that is always parsed as a whole has no such part.
    pub(crate) fn may_take(&self, language: Language, parsed: &Parsed) -> bool {
        let has_parts = parsed.error.is_some() && !skim::has_preprocessor(language);
        self.lists_all() || !(has_parts || parsed.too_deep || parsed.gave_up)
    }

    /// Decodes what was [stored](crate::ParseStore) of a text: all definitions that matter for the list, and those around them.
    pub(crate) fn decode(&self, stored: &[u8], text: &[u8]) -> Option<(Language, Parsed)> {
        let word = self.name.as_ref().filter(|name| self.reference.is_none() && name.word().is_some());
        let Some(word) = word else { return decode(stored, text.len()) };
        let places: Vec<Range<usize>> = word.places(text).collect();
        decode_near(stored, text.len(), |names| {
            let next = places.partition_point(|place| place.end <= names.start);
            places.get(next).is_some_and(|place| place.start < names.end)
        })
    }

    /// The name whose definitions are asked for.
    pub(crate) fn definition(&self) -> Option<&Name> {
        self.name.as_ref()
    }

    /// The name whose uses are asked for.
    pub(crate) fn reference(&self) -> Option<&Name> {
        self.reference.as_ref()
    }

    /// Returns expressions that restrict the list to files with a match of one of them; `None` if other files matter as well.
    pub fn expressions(&self) -> Option<Vec<Hir>> {
        let defined = self.name.iter().map(Name::in_definition);
        let expressions: Vec<Hir> = defined.chain(self.reference.iter().map(Name::in_text)).collect();
        (!expressions.is_empty() && !self.options.stats && self.old_tags.is_none()).then_some(expressions)
    }

    /// Returns `true` if a match of one of the [expressions](Self::expressions) may span lines.
    pub fn may_span_lines(&self) -> bool {
        self.names().any(Name::may_span_lines)
    }

    /// Returns which files may be of a language that is asked for, by their names; `None` if any may.
    pub fn known_names(&self) -> Option<fn(&Path) -> bool> {
        let may_be_known = |path: &Path| path.extension().is_none() || Language::knows(path);
        (self.options.languages.len() != 1).then_some(may_be_known)
    }

    fn names(&self) -> impl Iterator<Item = &Name> {
        self.name.iter().chain(&self.reference)
    }

    /// Returns `false` if a text has neither a definition nor a use that is asked for.
    pub(crate) fn may_be_in(&self, text: &[u8]) -> bool {
        self.lists_all()
            || self.name.as_ref().is_some_and(|name| name.has_qualifier(text) && name.may_be_in(text))
            || self.reference.as_ref().is_some_and(|name| name.may_be_in(text))
    }

    /// Returns `false` if a part of a text neither defines what is asked for nor anything whose uses are.
    pub(crate) fn may_be_defined_in(&self, language: Language, text: &[u8]) -> bool {
        let has_name = |name: &Name| name.places(text).any(|place| skim::may_define(language, text, &place));
        // A definition of that name is not a use, in any scope.
        self.lists_all()
            || self.name.as_ref().is_some_and(|name| name.has_qualifier(text) && has_name(name))
            || self.reference.as_ref().is_some_and(has_name)
    }

    /// Returns `false` if the names are in comments and literals of a text only. A thorough parse does not depend on a lexer.
    pub(crate) fn may_be_in_code(&self, path: &Path, text: &[u8]) -> bool {
        let language = Language::by_extension(path).filter(|_| !self.lists_all() && !self.options.thorough);
        // Where nothing can be defined, as after '=', no lexer has to look.
        let may_be_defined_in_code = |language, name: &Name| {
            let places = name.places(text).filter(|place| skim::may_define(language, text, place));
            skim::may_be_code(language, text, places)
        };
        let may_be_used = |language, name: &Name| skim::may_be_code(language, text, name.places(text));
        let may_be_code = |language| {
            self.name.as_ref().is_some_and(|name| may_be_defined_in_code(language, name))
                || self.reference.as_ref().is_some_and(|name| may_be_used(language, name))
        };
        let may_be_defined = |name: &Name| skim::may_name_definition(text, name.places(text));
        language.is_none_or(may_be_code) || self.name.as_ref().is_some_and(may_be_defined)
    }

    /// Returns `true` if a definition of this name matters for the list.
    pub(crate) fn is_about(&self, name: &[u8]) -> bool {
        self.lists_all() || self.names().any(|wanted| wanted.is_match(name))
    }

    /// Returns `true` if definitions are asked for, and not only uses.
    pub(crate) fn wants_definitions(&self) -> bool {
        self.name.is_some() || self.reference.is_none()
    }

    /// Returns `true` if types and functions are listed before values: where definitions of a name are asked for, and the form of the
    /// output does not join all that is in a file.
    pub(crate) fn lists_values_last(&self) -> bool {
        let has_lines =
            matches!(self.options.format, SymbolsFormat::Text | SymbolsFormat::Json | SymbolsFormat::Records);
        has_lines && self.name.is_some() && self.reference.is_none()
    }

    /// Returns `true` if the list says which definition a use is in.
    pub(crate) fn shows_scopes_of_uses(&self) -> bool {
        matches!(self.options.format, SymbolsFormat::Json | SymbolsFormat::Records)
    }

    /// Returns `false` if a file with this beginning is of no language that is asked for, with any text after it.
    pub(crate) fn may_know(&self, source: &Source, start: &[u8]) -> bool {
        let path = source.display_path();
        Language::knows(path) || self.assumed(source).or_else(|| Language::of(path, start)).is_some()
    }

    /// The language that is assumed for a file of unknown language: a single `--lang`. Below a directory, most files without an
    /// extension are in no language.
    pub(crate) fn assumed(&self, source: &Source) -> Option<Language> {
        let [language] = self.options.languages[..] else { return None };
        (source.is_named() || source.display_path().extension().is_some()).then_some(language)
    }

    /// Returns `true` for a language that is asked for.
    pub(crate) fn wants_language(&self, language: Language) -> bool {
        self.options.languages.is_empty() || self.options.languages.contains(&language)
    }
}
