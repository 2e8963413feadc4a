//! Arguments that several tools have, and the forms in which models write them.

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Deserializer};

use finecomb_command::args::words::Words;

/// Files of a call.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Selection {
    /// Files or directories below the roots [default: all roots]
    #[serde(default, deserialize_with = "one_or_many")]
    pub(super) paths: Vec<String>,
    /// Only files that match one of these globs, as in .gitignore; '!GLOB' leaves files out. Examples: *.rs, !tests/**
    #[serde(default, deserialize_with = "one_or_many")]
    pub(super) globs: Vec<String>,
    /// Only files of these types, such as rust, py, js, c, cpp, go, java, md
    #[serde(default, deserialize_with = "one_or_many")]
    pub(super) types: Vec<String>,
    /// Also hidden files
    #[serde(default)]
    pub(super) hidden: bool,
    /// Also files that .gitignore and similar files exclude
    #[serde(default)]
    pub(super) no_ignore: bool,
}

impl Selection {
    /// Adds the flags for everything but the paths.
    pub(super) fn add_to(&self, words: &mut Words) {
        words.values("--glob", &self.globs);
        words.values("--type", &self.types);
        words.switch("--hidden", self.hidden);
        words.switch("--no-ignore", self.no_ignore);
    }
}

/// Reads a list of strings, or a single one.
pub(super) fn one_or_many<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a list of strings")]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}
