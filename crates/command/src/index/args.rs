//! The flags of `comb index`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use finecomb_text_index::Alphabet;

use crate::args::format::{FormatFlags, TextOrJson};
use crate::args::threads::Threads;
use crate::args::tree_index::IndexHome;
use crate::shell::candidates;
use crate::shell::facts;
use crate::shell::line::completer;

const LONG_ABOUT: &str = "\
Build, describe and verify indexes of texts and directories

Examples:
  Search a source tree repeatedly:
      comb index build linux
      comb grep -n PM_RESUME linux
  Search a log repeatedly:
      comb index build access.log
      comb find access.log.comb '\" 500 ' --all
  Search the first million digits of pi for a date:
      comb pi 1M -o pi.txt
      comb index build pi.txt -o pi.comb
      comb find pi.comb 140379

The index of a text is one file with the text and its suffix array. 'comb find' and 'comb serve' search it in microseconds, \
independent of the length of the text.

The index of a directory is kept outside of it. 'comb grep' uses it by itself, and prints what it would print without: files that \
have changed since are searched as they are.";

/// Build, describe and verify indexes of texts and directories
#[derive(Args)]
#[command(long_about = LONG_ABOUT, add = facts::INDEX)]
pub(crate) struct IndexArguments {
    #[command(subcommand)]
    pub(crate) action: Action,
}

#[derive(Subcommand)]
pub(crate) enum Action {
    Build(Build),
    /// Update the index of a directory
    #[command(long_about = UPDATE_LONG_ABOUT, add = facts::INDEX_UPDATE)]
    Update(IndexedDirectory),
    /// Watch a directory, so that searches need not compare it with its index
    #[command(long_about = WATCH_LONG_ABOUT, add = facts::INDEX_WATCH)]
    Watch(IndexedDirectory),
    Info(Info),
    Verify(Verify),
    Export(Export),
    Import(Import),
    List(IndexList),
    Drop(Drop),
}

const BUILD_LONG_ABOUT: &str = "\
Build the index of a text or a directory

Examples:
  Index a source tree for 'comb grep':
      comb index build linux
  Index a log as access.log.comb:
      comb index build access.log
  Index a file of digits under another name, with 4 threads:
      comb index build pi.txt -o pi.comb -j 4

For a text, prints an estimate of memory, disk space and time first, and stops if there is not enough memory. The index is written \
atomically. An existing index is replaced; any other file only with --force.

The index of a directory has the files that 'comb grep' reads without flags. It lies in --index-dir, which only its owner may read.";

/// Build the index of a text or a directory
#[derive(Args)]
#[command(long_about = BUILD_LONG_ABOUT, add = facts::INDEX_BUILD)]
pub(crate) struct Build {
    /// Text to index, a regular file, or directory to index
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) file: PathBuf,

    /// Path of the index of a text [default: PATH.comb]
    #[arg(short, long, value_name = "INDEX")]
    pub(crate) output: Option<PathBuf>,

    /// Replace an existing file that is not an index
    #[arg(long)]
    pub(crate) force: bool,

    /// Alphabet of the text
    ///
    /// A final line ending after digits or DNA is ignored.
    #[arg(long, value_enum, value_name = "ALPHABET", default_value = "auto")]
    pub(crate) alphabet: AlphabetChoice,

    #[command(flatten)]
    pub(crate) home: IndexHome,

    #[command(flatten)]
    pub(crate) threads: Threads,
}

const UPDATE_LONG_ABOUT: &str = "\
Update the index of a directory

Examples:
  Index what has changed since the build:
      comb index update linux
  Update after each checkout, in .git/hooks/post-checkout:
      comb index update .

Files that have changed are read, and others only from time to time, so that the index stays small and fast. Searches use the index \
before until the update is done.";

const WATCH_LONG_ABOUT: &str = "\
Watch a directory, so that searches need not compare it with its index

Examples:
  Watch a source tree while it is worked on:
      comb index watch linux
  Show how many files searches still compare themselves:
      comb index info linux

Builds the index if there is none, and updates it when the directory has been quiet for a moment. Searches ask this process what they \
must look at themselves; without it, they compare all files with the index. The output is the same. 'comb index info DIR' shows its \
state. Ends on SIGINT and SIGTERM. docs/comb-watch@.service is a unit of systemd that watches from login to logout.";

/// A directory with an index, which is to be written.
#[derive(Args)]
pub(crate) struct IndexedDirectory {
    /// Directory that is indexed
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, add = completer(candidates::indexed_trees))]
    pub(crate) directory: PathBuf,

    #[command(flatten)]
    pub(crate) home: IndexHome,

    #[command(flatten)]
    pub(crate) threads: Threads,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AlphabetChoice {
    /// Narrowest alphabet that fits the text
    Auto,
    /// Decimal digits, 4 bits per symbol
    Digits,
    /// A, C, G and T, 2 bits per symbol
    Dna,
    /// Any bytes, 8 bits per symbol
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

const INFO_LONG_ABOUT: &str = "\
Describe an index

Examples:
  Print alphabet, length and sections of an index:
      comb index info pi.comb
  Print the number of symbols for a script:
      comb index info pi.comb --json | jq .symbols
  Print which files of a directory are indexed:
      comb index info linux";

/// Describe an index
#[derive(Args)]
#[command(long_about = INFO_LONG_ABOUT, add = facts::INDEX_INFO)]
pub(crate) struct Info {
    /// Index file, or directory with an index
    #[arg(value_name = "INDEX", add = completer(candidates::indexes))]
    pub(crate) index: PathBuf,

    #[command(flatten)]
    pub(crate) home: IndexHome,

    #[command(flatten)]
    pub(crate) format: FormatFlags<TextOrJson>,
}

const VERIFY_LONG_ABOUT: &str = "\
Verify an index

Examples:
  Check the checksums, after a copy for example:
      comb index verify pi.comb
  Check the whole suffix array:
      comb index verify --full pi.comb
  Check the index of a directory:
      comb index verify linux

Compares the checksums of all sections and, for a text, the order of 100,000 pairs of adjacent suffixes.";

/// Verify an index
#[derive(Args)]
#[command(long_about = VERIFY_LONG_ABOUT, add = facts::INDEX_INFO)]
pub(crate) struct Verify {
    /// Index file, or directory with an index
    #[arg(value_name = "INDEX", add = completer(candidates::indexes))]
    pub(crate) index: PathBuf,

    #[command(flatten)]
    pub(crate) home: IndexHome,

    /// Also verify the whole suffix array and all tables; takes 9 bytes of memory per symbol
    #[arg(long)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) threads: Threads,
}

const EXPORT_LONG_ABOUT: &str = "\
Export an index of digits to the file format of the Pi Searcher

Examples:
  Write pi.4.bin and pi.4.idx:
      comb index export pi.comb --pisearch pi
  Replace files that exist:
      comb index export pi.comb --pisearch pi --force";

/// Export an index of digits to the file format of the Pi Searcher
#[derive(Args)]
#[command(long_about = EXPORT_LONG_ABOUT, add = facts::INDEX_EXPORT)]
pub(crate) struct Export {
    /// Index file
    #[arg(value_name = "INDEX", add = completer(candidates::index_files))]
    pub(crate) index: PathBuf,

    /// Write BASE.4.bin (two digits per byte) and BASE.4.idx (the suffix array, 32 bits, little-endian)
    #[arg(long, value_name = "BASE", required = true)]
    pub(crate) pisearch: PathBuf,

    /// Replace existing files
    #[arg(long)]
    pub(crate) force: bool,
}

const IMPORT_LONG_ABOUT: &str = "\
Import an index from the file format of the Pi Searcher

Examples:
  Read pi.4.bin and pi.4.idx, and write pi.comb:
      comb index import --pisearch pi
  Write the index under another name:
      comb index import --pisearch pi -o digits.comb";

/// Import an index from the file format of the Pi Searcher
#[derive(Args)]
#[command(long_about = IMPORT_LONG_ABOUT, add = facts::INDEX_EXPORT)]
pub(crate) struct Import {
    /// Read BASE.4.bin and BASE.4.idx
    #[arg(long, value_name = "BASE", required = true)]
    pub(crate) pisearch: PathBuf,

    /// Path of the index [default: BASE.comb]
    #[arg(short, long, value_name = "INDEX")]
    pub(crate) output: Option<PathBuf>,

    /// Replace an existing file that is not an index
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) threads: Threads,
}

const LIST_LONG_ABOUT: &str = "\
List the indexes of directories

Examples:
  Print size, number of files and directory of each index:
      comb index list
  The same for a script:
      comb index list --json | jq .root";

/// List the indexes of directories
#[derive(Args)]
#[command(long_about = LIST_LONG_ABOUT, add = facts::INDEX_LIST)]
pub(crate) struct IndexList {
    #[command(flatten)]
    pub(crate) home: IndexHome,

    #[command(flatten)]
    pub(crate) format: FormatFlags<TextOrJson>,
}

const DROP_LONG_ABOUT: &str = "\
Remove the index of a directory

Examples:
  Remove the index of a source tree, which itself is left as it is:
      comb index drop linux
  Remove the index of a directory that is gone:
      comb index drop /src/linux-6.0";

/// Remove the index of a directory
#[derive(Args)]
#[command(long_about = DROP_LONG_ABOUT, add = facts::INDEX_LIST)]
pub(crate) struct Drop {
    /// Directory with an index; may have been removed if its path is absolute
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, add = completer(candidates::indexed_trees))]
    pub(crate) directory: PathBuf,

    #[command(flatten)]
    pub(crate) home: IndexHome,
}
