//! The flags of `comb symbols`.

use std::io::{IsTerminal, stdout};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use finecomb_scan::{Inputs, MAX_LINE_LIMIT, RuleFiles, ScanOptions, WalkOptions};
use finecomb_symbols::{Format as Output, Kind, Language, OldTags, Query, SymbolsOptions};
use finecomb_sys::io_reason;
use ignore::types::{Types, TypesBuilder};

use crate::args::format::{FormatFlags, Formats};
use crate::args::profile::Profile;
use crate::args::selection::{Globs, UsageError, globs, named_types, types};
use crate::args::threads::Threads;
use crate::args::tree_index::IndexUse;
use crate::tables::{Table, TableFormat};
use crate::terminal;

const LONG_ABOUT: &str = "\
List definitions in source code

Examples:
  All definitions below the current directory:
      comb symbols
  Definition of a name:
      comb symbols -d ext4_map_blocks fs
  Uses of a name, and its definition:
      comb symbols -r kfree -d kfree mm
  Outline of a file:
      comb symbols --outline src/main.rs
  Functions and structs only:
      comb symbols --kind function,struct src
  Tags for vim, and for Emacs:
      comb symbols --format ctags -o tags
      comb symbols --format etags -o TAGS
  Tags of changed files only:
      comb symbols --format ctags -o tags --append
  From an index, without reading files that do not have the name:
      comb index build .
      comb symbols -d ext4_map_blocks
  From an index, parsing only changed files:
      comb symbols --index-update -q
      comb symbols --kind struct

Prints PATH:LINE:COLUMN, kind, qualified name and signature of every definition, separated by tabs, in path order. Files below \
directories are selected as in 'comb grep': ignored and hidden files are skipped. A .h file is C++ if it has declarations \
that only C++ has, else C.

In C, C++, Go, Java, Python and Rust, bodies of functions are skipped before a file is parsed; --thorough parses every byte. In C and \
C++, macros whose names contain DEFINE define what they name.";

const EXIT_STATUS: &str = "\
Exit status:
  0    definition or use found, or kept by --append
  1    nothing found
  2    error";

/// List definitions in source code
#[derive(Args)]
#[command(
    long_about = LONG_ABOUT,
    after_help = "Try 'comb symbols --help' for examples.",
    after_long_help = EXIT_STATUS,
)]
pub(crate) struct Arguments {
    /// Files or directories [default: the current directory]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// List only definitions of NAME: exactly this name if it is a word, else a regular expression
    #[arg(short, long, value_name = "NAME", allow_hyphen_values = true)]
    definition: Option<String>,

    /// List the uses of NAME in the code, not in strings and comments; with -d its definitions, too
    #[arg(short, long, value_name = "NAME", allow_hyphen_values = true, conflicts_with = "outline")]
    reference: Option<String>,

    /// List only definitions of these kinds, separated by commas
    ///
    /// Kinds are class, constant, enum, enumerator, field, function, interface, macro, method, module, namespace, property, struct,
    /// trait, typedef, union and variable.
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    kind: Vec<Kind>,

    /// List only files in these languages, separated by commas; a single one is assumed for files with an unknown extension
    #[arg(long, value_name = "LANGUAGES", value_delimiter = ',')]
    lang: Vec<Language>,

    /// Print the definitions of each file as a tree: aligned on a terminal, compact in a pipe
    #[arg(long, conflicts_with_all = ["format", "json"])]
    outline: bool,

    /// Parse every byte, bodies of functions included
    #[arg(long)]
    thorough: bool,

    /// Print sums for each language at the end: files, bytes, definitions, files with syntax errors
    #[arg(long)]
    pub(crate) stats: bool,

    /// Print nothing but the sums of --stats
    #[arg(short, long, conflicts_with = "output")]
    pub(crate) quiet: bool,

    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Update the tags file of -o: parse only files that changed, keep the tags of files outside of PATH
    #[arg(long, visible_alias = "update", requires = "output", conflicts_with = "definition")]
    append: bool,

    /// Select files by glob, or skip them with a leading '!'; repeatable
    #[arg(short, long, value_name = "GLOB", allow_hyphen_values = true)]
    glob: Vec<String>,

    /// Select files by type, as listed by 'comb grep --type-list'; repeatable
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    types: Vec<String>,

    /// Do not respect ignore files
    #[arg(long)]
    no_ignore: bool,

    /// Read hidden files and directories
    #[arg(short = '.', long)]
    hidden: bool,

    /// List the members of archives, as ARCHIVE!PATH: zip, and tar, also compressed
    ///
    /// Archives are recognised by their first bytes, and only one level deep. Globs, types and the filter of hidden files apply to members as to files below a directory.
    #[arg(long)]
    archives: bool,

    /// Follow symbolic links
    #[arg(short = 'L', long)]
    follow: bool,

    /// Descend at most N directories
    #[arg(long, value_name = "N")]
    max_depth: Option<usize>,

    /// Replace any file with -o, not only tags files and tables of the same format
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    format: FormatFlags<Format>,

    #[command(flatten)]
    pub(crate) index: IndexUse,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    profile: Profile,
}

/// How definitions are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A line for each: place, kind, qualified name, signature
    Text,
    /// An object for each; docs/symbols.schema.json describes it
    Json,
    /// A sorted tags file, for vim and others
    Ctags,
    /// A TAGS file, for Emacs
    Etags,
    /// Stream in Arrow's IPC format, in builds with the feature 'arrow'
    Arrow,
    /// Parquet file, in builds with the feature 'parquet'
    Parquet,
}

impl Format {
    /// The format of a table, if it is one.
    fn table(self) -> Option<Table> {
        match self {
            Self::Arrow => Some(Table::Arrow),
            Self::Parquet => Some(Table::Parquet),
            Self::Text | Self::Json | Self::Ctags | Self::Etags => None,
        }
    }
}

impl Formats for Format {
    const TEXT: Self = Self::Text;
    const JSON: Self = Self::Json;
}

impl Arguments {
    /// The question, with an answer in the format of the flags or in another one.
    ///
    /// # Errors
    ///
    /// If flags do not go together, the name is no expression, or the tags file to update cannot be read.
    pub(crate) fn query(&self, format: Option<Output>) -> Result<Query, String> {
        let mut options = self.options();
        options.format = format.unwrap_or(options.format);
        let is_tags = matches!(options.format, Output::Ctags | Output::Etags);
        match () {
            () if self.append && options.format != Output::Ctags => {
                return Err("--append updates a tags file; use it with --format ctags".to_owned());
            }
            () if is_tags && self.reference.is_some() => {
                return Err("tags files have no references; use --format text or json with -r".to_owned());
            }
            () => {}
        }
        let file = if is_tags { Some("tags file") } else { self.format().table().map(|_| "table") };
        if let Some(file) = file.filter(|_| self.stats && self.output.is_none()) {
            return Err(format!("--stats would end up in the {file}; use -o to write that to a file"));
        }
        let query = Query::new(&options).map_err(|error| error.to_string())?;
        let Some(path) = self.output.as_deref().filter(|_| self.append) else { return Ok(query) };
        let old =
            OldTags::read(path).map_err(|error| format!("{}: {}", path.display(), io_reason(&error)))?;
        Ok(query.updating(old))
    }

    /// Whether members of archives are listed.
    pub(crate) fn reads_archives(&self) -> bool {
        self.archives
    }

    /// The format of the output.
    pub(crate) fn format(&self) -> Format {
        self.format.choice()
    }

    /// Whether the output is a tags file.
    pub(crate) fn is_ctags(&self) -> bool {
        self.format() == Format::Ctags
    }

    /// The format of a table, if that is the output.
    ///
    /// # Errors
    ///
    /// If this build does not have it, or the table would be printed on a terminal.
    pub(crate) fn table(&self) -> Result<Option<TableFormat>, String> {
        let Some(table) = self.format().table() else { return Ok(None) };
        if self.output.is_some() { table.format() } else { table.printed() }.map(Some)
    }

    /// Whether uses are listed.
    pub(crate) fn has_references(&self) -> bool {
        self.reference.is_some()
    }

    /// Whether sums are printed as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.format() == Format::Json
    }

    fn options(&self) -> SymbolsOptions {
        let format = match self.format() {
            _ if self.outline && self.output.is_none() && stdout().is_terminal() => Output::Outline,
            _ if self.outline => Output::Compact,
            Format::Text => Output::Text,
            Format::Json => Output::Json,
            Format::Ctags => Output::Ctags,
            Format::Etags => Output::Etags,
            Format::Arrow | Format::Parquet => Output::Records,
        };
        SymbolsOptions::default()
            .kinds(self.kind.clone())
            .languages(self.lang.clone())
            .name(self.definition.clone())
            .reference(self.reference.clone())
            .thorough(self.thorough)
            .stats(self.stats)
            .quiet(self.quiet)
            .format(format)
            .color(self.output.is_none() && terminal::output_has_colors())
    }

    pub(crate) fn inputs(&self) -> Result<Inputs, UsageError> {
        let implicit = self.paths.is_empty();
        let named = if implicit { vec![PathBuf::from(".")] } else { self.paths.clone() };
        Ok(Inputs { strip_dot: implicit, walk: self.walk()?, ..Inputs::new(named) })
    }

    fn walk(&self) -> Result<WalkOptions, UsageError> {
        Ok(WalkOptions::default()
            .skip_hidden(!self.hidden)
            .rules(if self.no_ignore { RuleFiles::NONE } else { RuleFiles::ALL })
            .globs(globs(&[Globs { flag: "--glob", globs: &self.glob, ignore_case: false }])?)
            .types(self.types()?)
            .follow(self.follow)
            .archives(self.archives)
            .max_depth(self.max_depth))
    }

    /// The types that are named, or else files that may be in one of the languages.
    fn types(&self) -> Result<Types, UsageError> {
        if !self.types.is_empty() {
            return named_types(&self.types);
        }
        let mut builder = TypesBuilder::new();
        let languages = if self.lang.is_empty() { Language::ALL } else { &self.lang[..] };
        for extension in languages.iter().flat_map(|language| language.extensions()) {
            let added = builder.add("source", &format!("*.{extension}"));
            added.map_err(|error| UsageError(format!("cannot select files: {error}")))?;
        }
        builder.select("source");
        types(&builder)
    }

    pub(crate) fn scan(&self) -> ScanOptions<'static> {
        ScanOptions::default()
            .width(self.threads.width())
            .profile(self.profile.detail())
            .max_line(MAX_LINE_LIMIT)
    }

    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }
}
