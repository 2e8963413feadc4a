//! The flags of `comb symbols`.

use std::io::{IsTerminal, stdout};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use finecomb_scan::{Inputs, ScanOptions};
use finecomb_symbols::{OldTags, SymbolsFormat as Output, SymbolsOptions, SymbolsQuery};
use finecomb_sys::io_reason;
use finecomb_sys::stdio::is_stream;

use crate::args::format::{FormatFlags, Formats};
use crate::args::profile::Profile;
use crate::args::selection::UsageError;
use crate::args::tree_index::IndexUpdate;
use crate::shell::facts;
use crate::symbols::options::SymbolOptions;
use crate::tables::{TableFormat, TableKind};
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
    add = facts::SYMBOLS,
    after_help = "Try 'comb symbols --help' for examples.",
    after_long_help = EXIT_STATUS,
)]
pub(crate) struct SymbolsArguments {
    /// Files or directories [default: the current directory]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) options: SymbolOptions,

    /// Print the definitions of each file as a tree: aligned on a terminal, compact in a pipe
    #[arg(long, conflicts_with_all = ["format", "json"])]
    outline: bool,

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

    /// Replace any file with -o, not only tags files and tables of the same format
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    format: FormatFlags<ListFormat>,

    #[command(flatten)]
    pub(crate) update: IndexUpdate,

    #[command(flatten)]
    profile: Profile,
}

/// How definitions are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// A line for each: place, kind, qualified name, signature
    Text,
    /// An object for each; docs/symbols.schema.json describes it
    Json,
    /// A sorted tags file, for vim and others
    Ctags,
    /// A TAGS file, for Emacs
    Etags,
    /// Stream in Arrow's IPC format
    #[value(hide = cfg!(not(feature = "arrow")))]
    Arrow,
    /// Parquet file
    #[value(hide = cfg!(not(feature = "parquet")))]
    Parquet,
}

impl ListFormat {
    /// The format of a table, if it is one.
    fn table(self) -> Option<TableKind> {
        match self {
            Self::Arrow => Some(TableKind::Arrow),
            Self::Parquet => Some(TableKind::Parquet),
            Self::Text | Self::Json | Self::Ctags | Self::Etags => None,
        }
    }
}

impl Formats for ListFormat {
    const TEXT: Self = Self::Text;
    const JSON: Self = Self::Json;
}

impl SymbolsArguments {
    /// The question.
    ///
    /// # Errors
    ///
    /// If flags do not go together, the name is no expression, or the tags file to update cannot be read.
    pub(crate) fn query(&self) -> Result<SymbolsQuery, String> {
        let options = self.output_options();
        let is_tags = matches!(options.format, Output::Ctags | Output::Etags);
        if self.append && options.format != Output::Ctags {
            return Err("--append updates a tags file; use it with --format ctags".to_owned());
        }
        if is_tags && self.options.reference.is_some() {
            return Err("tags files have no references; use --format text or json with -r".to_owned());
        }
        let file = if is_tags { Some("tags file") } else { self.format().table().map(|_| "table") };
        if let Some(file) = file.filter(|_| self.stats && self.output.is_none()) {
            return Err(format!("--stats would end up in the {file}; use -o to write that to a file"));
        }
        let query = SymbolsQuery::new(&options).map_err(|error| error.to_string())?;
        let Some(path) = self.output.as_deref().filter(|path| self.append && !is_stream(path)) else {
            return Ok(query);
        };
        let old =
            OldTags::read(path).map_err(|error| format!("{}: {}", path.display(), io_reason(&error)))?;
        Ok(query.updating(old))
    }

    /// The format of the output.
    pub(crate) fn format(&self) -> ListFormat {
        self.format.choice()
    }

    /// Whether the output is a tags file.
    pub(crate) fn is_ctags(&self) -> bool {
        self.format() == ListFormat::Ctags
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

    /// Whether sums are printed as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.format() == ListFormat::Json
    }

    fn output_options(&self) -> SymbolsOptions {
        let format = match self.format() {
            _ if self.outline && self.output.is_none() && stdout().is_terminal() => Output::Outline,
            _ if self.outline => Output::Compact,
            ListFormat::Text => Output::Text,
            ListFormat::Json => Output::Json,
            ListFormat::Ctags => Output::Ctags,
            ListFormat::Etags => Output::Etags,
            ListFormat::Arrow | ListFormat::Parquet => Output::Records,
        };
        self.options
            .symbols()
            .stats(self.stats)
            .quiet(self.quiet)
            .format(format)
            .color(self.output.is_none() && terminal::output_has_colors())
            .escape(self.output.is_none() && stdout().is_terminal())
    }

    pub(crate) fn inputs(&self) -> Result<Inputs, UsageError> {
        let implicit = self.paths.is_empty();
        let named = if implicit { vec![PathBuf::from(".")] } else { self.paths.clone() };
        Ok(Inputs { strip_dot: implicit, ..self.options.inputs(named)? })
    }

    pub(crate) fn scan(&self) -> ScanOptions<'static> {
        self.options.scan().profile(self.profile.detail())
    }

    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }
}
