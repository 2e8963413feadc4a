//! Arguments that several tools have, and the forms in which models write them.

use finecomb_scan::{Inputs, RuleFiles, WalkOptions};
use rmcp::model::JsonObject;
use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Deserializer, de};

use super::roots::Roots;
use finecomb_command::args::selection::{Globs, globs, named_types};
use finecomb_command::args::tips::nearest;

/// Names that models write for an argument of ours. Only those of lists may also be written in the singular.
const OTHER_NAMES: [(&str, &[&str]); 14] = [
    ("paths", &["file", "files", "dir", "directory", "folder", "root", "cwd"]),
    ("path", &["file", "filename", "file_path", "paths"]),
    ("pattern", &["query", "search", "string", "text", "q"]),
    ("regex", &["fixed_strings", "literal", "fixed", "is_regex", "regexp", "use_regex"]),
    ("case", &["ignore_case", "case_sensitive", "case_insensitive"]),
    ("word", &["whole_word", "words"]),
    ("context", &["context_lines", "before", "after", "lines"]),
    ("globs", &["include", "exclude", "file_pattern"]),
    ("types", &["language", "languages", "lang", "extension"]),
    ("limit", &["max_results", "head_limit", "max_count", "max", "n", "number", "count"]),
    ("max_bytes", &["max_output", "max_tokens", "max_chars", "size"]),
    ("cursor", &["page", "offset", "next"]),
    ("name", &["symbol", "query", "pattern", "identifier"]),
    ("fields", &["field", "key", "by", "group_by"]),
];

/// Arguments by their known names: a list may be named in the singular, as `path` for `paths`.
///
/// # Errors
/// If an argument is unknown, with the one that may be meant.
pub(super) fn by_known_names(arguments: JsonObject, known: &[&str]) -> Result<JsonObject, String> {
    let mut named = JsonObject::new();
    for (name, value) in arguments {
        // Models write null for what they leave out.
        if value.is_null() {
            continue;
        }
        let plural = format!("{name}s");
        let name = match known.contains(&&*name) {
            true => name,
            false if known.contains(&&*plural) && !named.contains_key(&plural) => plural,
            false => return Err(unknown(&name, known)),
        };
        if named.insert(name.clone(), value).is_some() {
            return Err(format!("'{name}' is given twice"));
        }
    }
    Ok(named)
}

fn unknown(name: &str, known: &[&str]) -> String {
    let others = OTHER_NAMES.iter().filter(|(ours, others)| known.contains(ours) && others.contains(&name));
    let meant = others.map(|(ours, _)| *ours).next().or_else(|| nearest(name, known.iter().copied()));
    let tip = meant.map_or_else(|| "known".to_owned(), |meant| format!("did you mean '{meant}'? Known"));
    format!("unknown argument '{name}'; {tip} ones are {}", known.join(", "))
}

/// Size of an answer by default: a few thousand tokens.
pub(super) const MAX_BYTES: u64 = 16_000;

/// Minimum size of an answer that can be asked for: it has room for a result and a cursor.
const MIN_BYTES: u64 = 500;

// Doc comments of arguments are for models, so where a name says enough there is none.

/// The page of a call.
#[derive(Deserialize, JsonSchema)]
pub(super) struct PageWanted {
    pub(super) cursor: Option<String>,
    #[serde(default = "max_bytes", deserialize_with = "bytes")]
    pub(super) max_bytes: u64,
}

/// The default of `max_bytes`.
pub(super) fn max_bytes() -> u64 {
    MAX_BYTES
}

/// Reads the maximum size of an answer.
pub(super) fn bytes<'d, D: Deserializer<'d>>(deserializer: D) -> Result<u64, D::Error> {
    match number(deserializer)? {
        bytes @ MIN_BYTES.. => Ok(bytes),
        _ => Err(de::Error::custom(format!("expected at least {MIN_BYTES}"))),
    }
}

/// Files of a call.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Selection {
    #[serde(default, deserialize_with = "one_or_many")]
    pub(super) paths: Vec<String>,
    /// *.rs, !tests/**
    #[serde(default, deserialize_with = "one_or_many")]
    pub(super) globs: Vec<String>,
    /// rust, py, js, c, cpp, …
    #[serde(default, deserialize_with = "one_or_many")]
    pub(super) types: Vec<String>,
    #[serde(default)]
    pub(super) hidden: bool,
    #[serde(default)]
    pub(super) no_ignore: bool,
}

impl Selection {
    /// Whether the call has all files below its paths that a search without flags has.
    pub(super) fn takes_all(&self) -> bool {
        self.globs.is_empty() && self.types.is_empty() && !self.hidden && !self.no_ignore
    }

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

/// Reads the number of a line, if there is one.
pub(super) fn optional_line<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    limit(deserializer).map(Some)
}

/// Reads a number, if there is one.
pub(super) fn optional_number<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    number(deserializer).map(Some)
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
