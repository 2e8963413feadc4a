//! Where indexes of directories are, and whether searches use them.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Deserialize;

use crate::args::selection::UsageError;
use crate::args::value::{self, ByName};

/// Environment variable with the default of `--index`.
const USE: &str = "COMB_INDEX";

/// Environment variable with the default of `--index-dir`.
const HOME: &str = "COMB_INDEX_DIR";

/// The directory of all indexes.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[group(skip)]
#[allow(missing_docs, reason = "a comment would be a help text")]
pub struct IndexHome {
    /// Directory of the indexes of directories [default: $COMB_INDEX_DIR, or finecomb in $XDG_CACHE_HOME or ~/.cache]
    #[arg(long, value_name = "DIR", hide_short_help = true, add = ByName)]
    #[serde(deserialize_with = "value::maybe")]
    pub index_dir: Option<PathBuf>,
}

impl IndexHome {
    /// The directory; `None` if there is no home directory.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        index_home(self.index_dir.as_deref())
    }

    /// The directory.
    ///
    /// # Errors
    /// If there is no home directory.
    pub(crate) fn required(&self) -> Result<PathBuf, String> {
        let advice = "no place for indexes: set HOME, or name a directory by --index-dir";
        self.path().ok_or_else(|| advice.to_owned())
    }
}

/// The directory of all indexes, which may be given; `None` if there is no home directory.
pub(crate) fn index_home(given: Option<&Path>) -> Option<PathBuf> {
    let from = |variable| env::var_os(variable).filter(|path: &OsString| !path.is_empty()).map(PathBuf::from);
    let cache = || {
        // A relative path is to be ignored, says the XDG Base Directory Specification.
        let cache = from("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        Some(cache.or_else(|| Some(from("HOME")?.join(".cache")))?.join("finecomb"))
    };
    given.map(Path::to_owned).or_else(|| from(HOME)).or_else(cache)
}

/// Whether to use indexes of directories.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[group(skip)]
#[allow(missing_docs, reason = "a comment would be a help text")]
pub struct IndexUse {
    /// Whether to use the index of a directory, which 'comb index build DIR' creates [default: $COMB_INDEX, or auto]
    ///
    /// The output is the same with an index and without: files that have changed since it was built are searched as
    /// they are.
    #[arg(long, value_enum, value_name = "WHEN", add = ByName)]
    #[serde(deserialize_with = "value::maybe")]
    pub index: Option<WhenIndexed>,

    #[command(flatten)]
    #[serde(flatten)]
    pub home: IndexHome,
}

/// Whether to update the indexes that were used.
#[derive(Args)]
#[group(skip)]
pub(crate) struct IndexUpdate {
    /// Update the index after the search, if files have changed
    ///
    /// As 'comb index update DIR' does, for each index that was used. 'comb symbols' also stores the definitions and names of a full list
    /// for later ones. An update that fails is reported, and does not change the exit status.
    #[arg(long, hide_short_help = true)]
    pub(crate) index_update: bool,
}

/// When to use an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhenIndexed {
    /// If there is one
    Auto,
    /// Never
    Never,
    /// If there is one; otherwise say why not, and exit with status 2
    Require,
}

impl IndexUse {
    /// When to use an index.
    ///
    /// # Errors
    /// If the environment variable has another value.
    pub(crate) fn when(&self) -> Result<WhenIndexed, UsageError> {
        if let Some(when) = self.index {
            return Ok(when);
        }
        let Some(value) = env::var_os(USE).filter(|value| !value.is_empty()) else {
            return Ok(WhenIndexed::Auto);
        };
        let when = value.to_str().and_then(|value| WhenIndexed::from_str(value, false).ok());
        when.ok_or_else(|| {
            UsageError(format!("{USE}={}: expected auto, never or require", value.to_string_lossy()))
        })
    }
}
