//! The flags of `comb index`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use finecomb_text_index::Alphabet;

use super::format::{FormatFlags, TextOrJson};
use super::threads::Threads;

const EXAMPLES: &str = "\
Examples:
  Search the first million digits of pi for a date:
      comb pi 1000000 -o pi.txt
      comb index build pi.txt -o pi.comb
      comb find pi.comb 140379

  Search a log repeatedly:
      comb index build access.log
      comb find access.log.comb '\" 500 ' --all";

/// Build, describe, verify and convert text indexes
///
/// An index is one file with a text and its suffix array. 'comb find' and 'comb serve' answer from it in microseconds,
/// whatever the length of the text.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) action: Action,
}

#[derive(Subcommand)]
pub(crate) enum Action {
    Build(Build),
    Info(Info),
    Verify(Verify),
    Export(Export),
    Import(Import),
}

/// Build the index of a text
///
/// Prints the memory, disk space and time it will take, and stops if there is not enough memory. The index is written
/// atomically. An existing index is replaced; any other file only with --force.
#[derive(Args)]
pub(crate) struct Build {
    /// Text to index; a regular file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Path of the index [default: FILE.comb]
    #[arg(short, long, value_name = "INDEX")]
    pub(crate) output: Option<PathBuf>,

    /// Replace a file that is not an index
    #[arg(long)]
    pub(crate) force: bool,

    /// Alphabet of the text: digits (4 bits per symbol), dna (A, C, G, T; 2 bits) or bytes (8 bits); auto is the narrowest that
    /// fits. A final line end of digits or DNA is ignored
    #[arg(long, value_enum, value_name = "ALPHABET", default_value = "auto")]
    pub(crate) alphabet: AlphabetChoice,

    #[command(flatten)]
    pub(crate) threads: Threads,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AlphabetChoice {
    Auto,
    Digits,
    Dna,
    Bytes,
}

impl AlphabetChoice {
    pub(crate) fn alphabet(self) -> Option<Alphabet> {
        match self {
            Self::Auto => None,
            Self::Digits => Some(Alphabet::Digits),
            Self::Dna => Some(Alphabet::Dna),
            Self::Bytes => Some(Alphabet::Bytes),
        }
    }
}

/// Describe an index
#[derive(Args)]
pub(crate) struct Info {
    /// Index file
    #[arg(value_name = "INDEX")]
    pub(crate) index: PathBuf,

    #[command(flatten)]
    pub(crate) format: FormatFlags<TextOrJson>,
}

/// Verify an index
///
/// Compares the checksums of all sections, and the order of 100,000 pairs of adjacent suffixes.
#[derive(Args)]
pub(crate) struct Verify {
    /// Index file
    #[arg(value_name = "INDEX")]
    pub(crate) index: PathBuf,

    /// Also verify the whole suffix array and every entry of the tables; takes 9 bytes of memory per symbol
    #[arg(long)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) threads: Threads,
}

/// Export an index of digits to the file format of the Pi Searcher
#[derive(Args)]
pub(crate) struct Export {
    /// Index file
    #[arg(value_name = "INDEX")]
    pub(crate) index: PathBuf,

    /// Write BASE.4.bin (two digits a byte) and BASE.4.idx (the suffix array, 32 bits, little-endian)
    #[arg(long, value_name = "BASE", required = true)]
    pub(crate) pisearch: PathBuf,

    /// Replace existing files
    #[arg(long)]
    pub(crate) force: bool,
}

/// Import an index from the file format of the Pi Searcher
#[derive(Args)]
pub(crate) struct Import {
    /// Read BASE.4.bin and BASE.4.idx
    #[arg(long, value_name = "BASE", required = true)]
    pub(crate) pisearch: PathBuf,

    /// Path of the index [default: BASE.comb]
    #[arg(short, long, value_name = "INDEX")]
    pub(crate) output: Option<PathBuf>,

    /// Replace a file that is not an index
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) threads: Threads,
}
