//! Imports and exports the file format of the Pi Searcher (David G. Andersen): `BASE.4.bin`, two digits per byte, the first in
//! the high half, and `BASE.4.idx`, the suffix array as little-endian integers of 32 bits. The number of digits is even: twice
//! the size of the first file.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use finecomb_sys::units::{Count, counted};

use crate::alphabet::Alphabet;
use crate::build::{BuildOptions, LoadedText, Stage};
use crate::entries::EntryWidth;
use crate::error::Error;
use crate::format::Section;
use crate::index::Index;
use crate::sort::Sorted;
use crate::verify::is_suffix_array;
use crate::write::write_atomically;

/// Paths of the two files.
pub fn pisearch_files(base: &Path) -> [PathBuf; 2] {
    [".4.bin", ".4.idx"].map(|ending| {
        let mut name = OsString::from(base);
        name.push(ending);
        PathBuf::from(name)
    })
}

impl Index {
    /// Writes the two files, and returns their paths.
    ///
    /// # Errors
    ///
    /// If the index does not have an even number of digits below 4 Gi, or a file cannot be written.
    pub fn export_pisearch(&self, base: &Path) -> Result<[PathBuf; 2], Error> {
        let refused =
            |reason: &str| Err(Error::Format { path: self.path().to_owned(), reason: reason.to_owned() });
        if self.alphabet() != Alphabet::Digits {
            return refused("the Pi Searcher's format requires an index of digits");
        }
        if !self.symbols().is_multiple_of(2) {
            return refused(
                "the Pi Searcher's format requires an even number of digits; build the index with one digit less",
            );
        }
        if self.header().width != EntryWidth::Bits32 {
            return refused(
                "the Pi Searcher's format is limited to 4294967295 digits; build the index with fewer",
            );
        }
        let names = pisearch_files(base);
        let text = &self.section(Section::Text)[..(self.symbols() / 2) as usize];
        for (name, bytes) in names.iter().zip([text, self.section(Section::Suffixes)]) {
            let failed = |error| Error::Io { path: name.clone(), doing: "cannot write: ", error };
            write_atomically(name, bytes).map_err(failed)?;
        }
        self.checked(names)
    }
}

/// Builds an index from the two files, and verifies the suffix array.
///
/// # Errors
///
/// If a file cannot be read or is invalid.
pub fn import_pisearch(base: &Path, output: &Path, options: &BuildOptions<'_>) -> Result<(), Error> {
    let [text_name, suffixes_name] = pisearch_files(base);
    (options.on_stage)(Stage::Read);
    let read =
        |name: &Path| fs::read(name).map_err(|error| Error::Io { path: name.to_owned(), doing: "", error });
    let (packed, suffixes) = (read(&text_name)?, read(&suffixes_name)?);
    if suffixes.len() != packed.len() * 8 {
        let reason = format!(
            "{} instead of {} for {} digits",
            counted(suffixes.len() as u64, "byte"),
            Count(packed.len() as u64 * 8),
            Count(packed.len() as u64 * 2)
        );
        return Err(Error::Format { path: suffixes_name, reason });
    }
    if let Some(at) = packed.iter().position(|byte| byte >> 4 > 9 || byte & 15 > 9) {
        let reason = format!("byte {at} (0x{:02x}) is not two digits", packed[at]);
        return Err(Error::Format { path: text_name, reason });
    }
    let digits = packed.iter().flat_map(|byte| [b'0' + (byte >> 4), b'0' + (byte & 15)]).collect();
    let text = LoadedText::new(&text_name, digits, Some(Alphabet::Digits))?;
    let (entries, _) = suffixes.as_chunks();
    let sorted = Sorted::Narrow(entries.iter().map(|&entry| u32::from_le_bytes(entry)).collect());
    is_suffix_array(text.bytes(), |range| sorted.iter(range), options.threads.get())
        .map_err(|damage| Error::Damaged { path: suffixes_name, damage })?;
    text.build_with(sorted, output, options)
}
