//! Sums over files, by language.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::language::Language;

/// Sums over the files of a language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sums {
    /// Number of files read.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Number of definitions and uses listed.
    pub symbols: u64,
    /// Number of files that were parsed and do not follow their grammar everywhere.
    pub files_with_errors: u64,
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.symbols += other.symbols;
        self.files_with_errors += other.files_with_errors;
    }
}

/// First place at which a file does not follow its grammar. Definitions near it may be missing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SyntaxError {
    /// Path of the file.
    pub path: String,
    /// Line, counted from 1.
    pub line: usize,
}

/// Sums over all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Sums by language.
    pub languages: BTreeMap<Language, Sums>,
}

impl Stats {
    /// Sums over all languages.
    pub fn total(&self) -> Sums {
        let mut total = Sums::default();
        self.languages.values().for_each(|sums| total.add(*sums));
        total
    }

    /// Adds the sums of a language.
    pub(crate) fn add(&mut self, language: Language, sums: Sums) {
        self.languages.entry(language).or_default().add(sums);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        other.languages.into_iter().for_each(|(language, sums)| self.add(language, sums));
    }
}
