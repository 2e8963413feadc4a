//! The two files of the Pi Searcher (David G. Andersen): `BASE.4.bin`, two digits a byte, the first in the high half, and `BASE.4.idx`,
//! the suffix array in 32 bits, the lowest byte first. The number of digits is twice the length of the first file, so it is even.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::alphabet::Alphabet;
use crate::build::{BuildOptions, Text};
use crate::entries::Width;
use crate::error::Error;
use crate::format::Section;
use crate::index::Index;
use crate::sort::Sorted;
use crate::verify::is_suffix_array;
use crate::write::write_beside;

/// The two files' names.
fn names(base: &Path) -> [PathBuf; 2] {
    [".4.bin", ".4.idx"].map(|ending| {
        let mut name = OsString::from(base);
        name.push(ending);
        PathBuf::from(name)
    })
}

impl Index {
    /// Writes the two files, and returns their names.
    ///
    /// # Errors
    ///
    /// If the index is not one of an even number of digits below 4 Gi, or a file cannot be written.
    pub fn export_pisearch(&self, base: &Path) -> Result<[PathBuf; 2], Error> {
        let refused =
            |reason: &str| Err(Error::Format { path: self.path().to_owned(), reason: reason.to_owned() });
        if self.alphabet() != Alphabet::Digits {
            return refused("the Pi Searcher's format is for digits, and this index is not");
        }
        if !self.symbols().is_multiple_of(2) {
            return refused(
                "the Pi Searcher's format has an even number of digits, and this index an odd one; build it with one digit less",
            );
        }
        if self.header().width != Width::Bits32 {
            return refused("the Pi Searcher's format has no more than 4294967295 digits");
        }
        let names = names(base);
        let text = &self.section(Section::Text)[..(self.symbols() / 2) as usize];
        for (name, bytes) in names.iter().zip([text, self.section(Section::Suffixes)]) {
            let failed = |error| Error::Io { path: name.clone(), doing: "cannot write: ", error };
            write_beside(name, bytes).map_err(failed)?;
        }
        self.checked(names)
    }
}

/// Makes an index of the two files, whose suffix array is checked.
///
/// # Errors
///
/// If a file cannot be read, or they are not what they should be.
pub fn import_pisearch(base: &Path, output: &Path, options: &BuildOptions<'_>) -> Result<(), Error> {
    let [text_name, suffixes_name] = names(base);
    let read =
        |name: &Path| fs::read(name).map_err(|error| Error::Io { path: name.to_owned(), doing: "", error });
    let (packed, suffixes) = (read(&text_name)?, read(&suffixes_name)?);
    if suffixes.len() != packed.len() * 8 {
        let reason = format!(
            "has {} bytes; for {} digits it should have {}",
            suffixes.len(),
            packed.len() * 2,
            packed.len() * 8
        );
        return Err(Error::Format { path: suffixes_name, reason });
    }
    if let Some(at) = packed.iter().position(|byte| byte >> 4 > 9 || byte & 15 > 9) {
        let reason = format!("byte {at} is 0x{:02x}, which is not two digits", packed[at]);
        return Err(Error::Format { path: text_name, reason });
    }
    let digits = packed.iter().flat_map(|byte| [b'0' + (byte >> 4), b'0' + (byte & 15)]).collect();
    let text = Text::new(&text_name, digits, Some(Alphabet::Digits))?;
    let (entries, _) = suffixes.as_chunks();
    let sorted = Sorted::Narrow(entries.iter().map(|&entry| u32::from_le_bytes(entry)).collect());
    is_suffix_array(text.bytes(), |range| sorted.iter(range), options.threads.get())
        .map_err(|damage| Error::Damaged { path: suffixes_name, damage })?;
    text.build_with(sorted, output, options)
}
