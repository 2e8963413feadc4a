//! Arguments that several tools have, and the forms in which models write them.

use finecomb_scan::{Inputs, RuleFiles, WalkOptions};
use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Deserializer, de};

use super::roots::Roots;
use finecomb_command::args::selection::{Globs, globs, named_types};

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
    /// The files of the call.
    ///
    /// # Errors
    /// If a path is outside of the roots, or a glob or a type is invalid.
    pub(super) fn inputs(&self, roots: &Roots) -> Result<Inputs, String> {
        let named = roots.inputs(&self.paths)?;
        let walk = WalkOptions::default()
            .skip_hidden(!self.hidden)
            .rules(if self.no_ignore { RuleFiles::NONE } else { RuleFiles::ALL })
            .globs(globs(&[Globs { flag: "--glob", globs: &self.globs, ignore_case: false }])?)
            .types(named_types(&self.types)?);
        Ok(Inputs { walk, strip_dot: true, decompress: false, ..Inputs::new(named) })
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

/// Reads a number of results.
pub(super) fn limit<'d, D: Deserializer<'d>>(deserializer: D) -> Result<u64, D::Error> {
    match number(deserializer)? {
        0 => Err(de::Error::custom("expected at least 1")),
        limit => Ok(limit),
    }
}

/// Reads a number, or a string of digits.
pub(super) fn number<'d, D: Deserializer<'d>>(deserializer: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a whole number")]
    enum NumberOrDigits {
        Number(u64),
        Digits(String),
    }
    match NumberOrDigits::deserialize(deserializer)? {
        NumberOrDigits::Number(number) => Ok(number),
        NumberOrDigits::Digits(digits) => {
            digits.trim().parse().map_err(|_| de::Error::custom("expected a whole number"))
        }
    }
}
