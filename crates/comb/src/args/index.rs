//! The flags of `comb index`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use finecomb_text_index::Alphabet;

use super::threads::Threads;

const EXAMPLES: &str = "\
Examples:
  The first million digits of pi, and where a date is in them:
      comb pi 1000000 -o pi.txt
      comb index build pi.txt -o pi.comb
      comb find pi.comb 140379

  A log that is asked often:
      comb index build access.log
      comb find access.log.comb '\" 500 ' --all";

/// Make, look at, check and convert text indexes
///
/// An index is one file with a text and the sorted array of its suffixes. 'comb find' and 'comb serve' answer from it in
/// microseconds, however long the text is.
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
/// Says first how much memory, disk and time it will take, and stops there if there is not enough. The index is written
/// beside its place and put there when it is all on the disk.
#[derive(Args)]
pub(crate) struct Build {
    /// The text; a regular file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Where to put the index [default: FILE.comb]
    #[arg(short, long, value_name = "INDEX")]
    pub(crate) output: Option<PathBuf>,

    /// What the text is made of: digits take 4 bits each, DNA (A, C, G, T) takes 2, bytes take 8; auto is the narrowest that
    /// fits. Of digits and DNA a final line end does not count
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

/// Show what an index holds
#[derive(Args)]
pub(crate) struct Info {
    /// The index
    #[arg(value_name = "INDEX")]
    pub(crate) index: PathBuf,

    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Read all of an index and check it
///
/// Compares the checksums of all parts, and the order of 100,000 pairs of neighbouring suffixes.
#[derive(Args)]
pub(crate) struct Verify {
    /// The index
    #[arg(value_name = "INDEX")]
    pub(crate) index: PathBuf,

    /// Check also that the array has every position once and all of them in order, and every entry of the tables; takes memory of nine
    /// times the text's symbols
    #[arg(long)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) threads: Threads,
}

/// Write an index of digits as the files of the Pi Searcher
#[derive(Args)]
pub(crate) struct Export {
    /// The index
    #[arg(value_name = "INDEX")]
    pub(crate) index: PathBuf,

    /// Write BASE.4.bin (two digits a byte) and BASE.4.idx (the suffix array, 32 bits, little-endian)
    #[arg(long, value_name = "BASE", required = true)]
    pub(crate) pisearch: PathBuf,
}

/// Make an index of the files of the Pi Searcher
#[derive(Args)]
pub(crate) struct Import {
    /// Read BASE.4.bin and BASE.4.idx
    #[arg(long, value_name = "BASE", required = true)]
    pub(crate) pisearch: PathBuf,

    /// Where to put the index [default: BASE.comb]
    #[arg(short, long, value_name = "INDEX")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) threads: Threads,
}
