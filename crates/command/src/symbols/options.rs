//! Options of a list of definitions and uses. The flags, the keywords of Python and the calls of agents make them.

use std::path::PathBuf;
use std::sync::OnceLock;

use clap::Args;
use clap_complete::ArgValueCandidates;
use finecomb_scan::{Inputs, MAX_LINE_LIMIT, RuleFiles, ScanOptions, WalkOptions};
use finecomb_symbols::{Kind, Language, SymbolsOptions};
use ignore::types::{Types, TypesBuilder};
use serde::Deserialize;

use crate::args::selection::{Globs, UsageError, globs, named_types, types};
use crate::args::threads::Threads;
use crate::args::tree_index::IndexUse;
use crate::args::value;
use crate::shell::candidates;
use crate::shell::line::completer;

/// Definitions or uses to list, and the files to read.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[group(skip)]
#[allow(missing_docs, reason = "a comment would be a help text")]
pub struct SymbolOptions {
    /// List only definitions of NAME: a name such as 'parse', 'Foo::new' or 'My.App', else a regular expression
    ///
    /// Words and separators ('::', '.', '#', '/') are the end of a qualified name, with any of them. Forms such as 'operator==', '~Foo' and 'empty?' are names, too. '::' at the beginning means that nothing is around the name. Anything else, such as '^parse_', is a regular expression for names without their scope.
    #[arg(short, long, value_name = "NAME", allow_hyphen_values = true)]
    #[serde(deserialize_with = "value::maybe")]
    pub definition: Option<String>,

    /// List the uses of NAME in the code, not in strings and comments; with -d its definitions, too
    ///
    /// Uses of 'Foo::new' are those of 'new', except after another qualifier such as 'Bar::'.
    #[arg(short, long, value_name = "NAME", allow_hyphen_values = true, conflicts_with = "outline")]
    #[serde(deserialize_with = "value::maybe")]
    pub reference: Option<String>,

    /// List only definitions of these kinds, separated by commas
    ///
    /// Kinds are class, constant, enum, enumerator, field, function, heading, index, interface, macro, method, module, namespace,
    /// property, struct, table, target, trait, trigger, typedef, union, variable and view.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', add = ArgValueCandidates::new(candidates::kinds))]
    #[serde(deserialize_with = "value::with_commas")]
    pub kind: Vec<Kind>,

    /// List only files in these languages, separated by commas; a single one is assumed for files with an unknown extension
    #[arg(long, value_name = "LANGUAGES", value_delimiter = ',', add = ArgValueCandidates::new(candidates::languages))]
    #[serde(deserialize_with = "value::with_commas")]
    pub lang: Vec<Language>,

    /// Parse every byte, bodies of functions included
    #[arg(long)]
    pub thorough: bool,

    /// Select files by glob, or skip them with a leading '!'; repeatable
    #[arg(short, long, value_name = "GLOB", allow_hyphen_values = true)]
    #[serde(deserialize_with = "value::many")]
    pub glob: Vec<String>,

    /// Select files by type, as listed by 'comb grep --type-list'; repeatable
    #[arg(short = 't', long = "type", value_name = "TYPE", add = completer(candidates::types))]
    #[serde(deserialize_with = "value::many")]
    pub types: Vec<String>,

    /// Do not respect ignore files
    #[arg(long)]
    pub no_ignore: bool,

    /// Read hidden files and directories
    #[arg(short = '.', long)]
    pub hidden: bool,

    /// List the members of archives, as ARCHIVE!PATH: zip, and tar, also compressed
    ///
    /// Archives are recognised by their first bytes, and only one level deep. Globs, types and the filter of hidden files apply to members as to files below a directory.
    #[arg(long)]
    pub archives: bool,

    /// Follow symbolic links
    #[arg(short = 'L', long)]
    pub follow: bool,

    /// Descend at most N directories
    #[arg(long, value_name = "N")]
    #[serde(deserialize_with = "value::maybe")]
    pub max_depth: Option<usize>,

    #[command(flatten)]
    #[serde(flatten)]
    pub index: IndexUse,

    #[command(flatten)]
    #[serde(flatten)]
    pub threads: Threads,
}

impl SymbolOptions {
    /// Options of the list in the default format.
    pub(crate) fn symbols(&self) -> SymbolsOptions {
        SymbolsOptions::default()
            .kinds(self.kind.clone())
            .languages(self.lang.clone())
            .name(self.definition.clone())
            .reference(self.reference.clone())
            .thorough(self.thorough)
    }

    /// The inputs at these paths.
    pub(crate) fn inputs(&self, named: Vec<PathBuf>) -> Result<Inputs, UsageError> {
        Ok(Inputs { walk: self.walk()?, ..Inputs::new(named) })
    }

    /// Scan options, without progress display and stop signal.
    pub(crate) fn scan(&self) -> ScanOptions<'static> {
        ScanOptions::default().width(self.threads.width()).max_line(MAX_LINE_LIMIT)
    }

    fn walk(&self) -> Result<WalkOptions, UsageError> {
        Ok(WalkOptions::default()
            .skip_hidden(!self.hidden)
            .rules(if self.no_ignore { RuleFiles::NONE } else { RuleFiles::ALL })
            .globs(globs(&[Globs { flag: "--glob", globs: &self.glob, ignore_case: false }])?)
            .types(self.types()?)
            .types_only_leave_out(self.types.is_empty())
            .follow(self.follow)
            .archives(self.archives)
            .max_depth(self.max_depth))
    }

    /// The types that are named, or else files that may be in one of the languages.
    fn types(&self) -> Result<Types, UsageError> {
        static OF_ALL_LANGUAGES: OnceLock<Types> = OnceLock::new();
        if !self.types.is_empty() {
            return named_types(&self.types);
        }
        if !self.lang.is_empty() {
            return types_of(&self.lang);
        }
        if let Some(types) = OF_ALL_LANGUAGES.get() {
            return Ok(types.clone());
        }
        let types = types_of(Language::ALL)?;
        Ok(OF_ALL_LANGUAGES.get_or_init(|| types).clone())
    }
}

/// Files that may be in one of some languages.
fn types_of(languages: &[Language]) -> Result<Types, UsageError> {
    let mut builder = TypesBuilder::new();
    let extensions = languages.iter().flat_map(|language| language.possible_extensions());
    let names = languages.iter().flat_map(|language| language.file_names());
    let globs = extensions.map(|extension| format!("*.{extension}"));
    for glob in globs.chain(names.flat_map(|name| [name.to_string(), format!("{name}.*")])) {
        let added = builder.add("source", &glob);
        added.map_err(|error| UsageError(format!("cannot select files: {error}")))?;
    }
    builder.select("source");
    types(&builder)
}
