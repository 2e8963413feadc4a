//! The file of values: the values, a table of their keys, and a description.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use finecomb_sys::out_of_memory::try_reserve_exact;
use finecomb_sys::varint;

use super::{Program, ValueKey};
use crate::catalog::{stamp_at, write_stamp};
use crate::error::Error;
use crate::folder::Writing;
use crate::pages::{PageWriter, Pages, u32_at, u64_at};

/// First bytes of the description; the last one is the version of the format.
const MAGIC: [u8; 8] = *b"FCvalue\x01";

/// Bytes of the description: magic number, seed, checksum and stamp of the program, number of values, offset of the table.
const DESCRIPTION: usize = 88;

/// Bytes of an entry of the table.
const ENTRY: usize = 32;

/// Level of compression: the default of zstd.
const LEVEL: i32 = 3;

/// Size from which a value is compressed, in bytes.
const MIN_COMPRESSED: usize = 64;

/// Maximum size of a value, in bytes.
const MAX_VALUE: usize = 1 << 30;

/// A file of values that is open.
#[derive(Debug)]
pub(crate) struct ValueFile {
    pages: Pages,
    /// In the order of their keys.
    entries: Vec<ValueEntry>,
    pub(super) seed: u64,
    pub(super) program: Program,
}

/// Place and age of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueEntry {
    pub(super) key: ValueKey,
    pub(super) offset: u64,
    pub(super) length: u32,
    /// Number of saves by runs that used most values, but not this one.
    pub(super) age: u32,
}

impl ValueFile {
    /// Opens a file of values.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or of another version.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let pages = Pages::open(path)?;
        let damaged = || pages.damaged("description");
        let start = pages.len().checked_sub(DESCRIPTION as u64).ok_or_else(damaged)?;
        let description = pages.read(start..pages.len())?;
        if description.get(..8) != Some(&MAGIC) {
            return Err(Error::Version(path.to_owned()));
        }
        let number = |at| u64_at(&description, at).ok_or_else(damaged);
        let (seed, checksum, table) = (number(8)?, number(16)?, number(80)?);
        let stamp = stamp_at(&description[24..]).ok_or_else(damaged)?;
        let table = pages.read(table..start)?;
        let entries: Option<Vec<ValueEntry>> = table.chunks(ENTRY).map(ValueEntry::parse).collect();
        let entries =
            entries.filter(|entries| entries.is_sorted_by_key(|entry| entry.key)).ok_or_else(damaged)?;
        if entries.len() as u64 != number(72)? {
            return Err(damaged());
        }
        Ok(Self { entries, seed, program: Program { stamp, checksum }, pages })
    }

    /// The places of all values, in the order of their keys.
    pub(super) fn entries(&self) -> &[ValueEntry] {
        &self.entries
    }

    /// Number of values.
    pub(crate) fn count(&self) -> usize {
        self.entries.len()
    }

    /// Size of the file in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.pages.size()
    }

    /// Verifies the checksums of all data.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        self.pages.verify()
    }

    /// The value with a key; `None` if there is none, or it cannot be read.
    pub(super) fn get(&self, key: ValueKey) -> Option<Vec<u8>> {
        let place = self.entries.binary_search_by_key(&key, |entry| entry.key).ok()?;
        unpacked(&self.read(self.entries.get(place)?).ok()?)
    }

    /// The packed value of an entry.
    fn read(&self, entry: &ValueEntry) -> Result<Vec<u8>, Error> {
        self.pages.read(entry.offset..entry.offset.saturating_add(entry.length.into()))
    }
}

impl ValueEntry {
    fn parse(record: &[u8]) -> Option<Self> {
        let key = u128::from(u64_at(record, 0)?) | u128::from(u64_at(record, 8)?) << 64;
        let (length, age) = (u32_at(record, 24)?, u32_at(record, 28)?);
        Some(Self { key, offset: u64_at(record, 16)?, length, age })
    }
}

/// A value as it is in a file: its length and, in the lowest bit, whether it is compressed.
pub(super) fn packed(value: &[u8]) -> Vec<u8> {
    let head = |is_compressed| {
        let mut head = Vec::new();
        varint::put(&mut head, (value.len() as u64) << 1 | u64::from(is_compressed));
        head
    };
    if value.len() >= MIN_COMPRESSED {
        let mut compressed = Vec::with_capacity(zstd_safe::compress_bound(value.len()));
        if zstd_safe::compress(&mut compressed, value, LEVEL).is_ok() && compressed.len() < value.len() {
            return [head(true), compressed].concat();
        }
    }
    [&head(false), value].concat()
}

/// The value; `None` if the bytes are invalid.
fn unpacked(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let head = varint::take(&mut bytes)?;
    let length = usize::try_from(head >> 1).ok().filter(|&length| length <= MAX_VALUE)?;
    if head & 1 == 0 {
        return (bytes.len() == length).then(|| bytes.to_vec());
    }
    let mut value = Vec::new();
    try_reserve_exact(&mut value, length).ok()?;
    let got = zstd_safe::decompress(&mut value, bytes).ok()?;
    (got == length).then_some(value)
}

/// Writes a file of values: the readable values of `kept` from `earlier`, and the values of `added`, as [`packed`].
///
/// # Errors
/// If that fails.
pub(super) fn write(
    folder: &Writing,
    path: &Path,
    (program, seed): (Program, u64),
    earlier: Option<&ValueFile>,
    kept: Vec<ValueEntry>,
    added: HashMap<ValueKey, Vec<u8>>,
) -> Result<(), Error> {
    let file = folder.new_file()?;
    let mut pages = PageWriter::new(file.reopen().map_err(Error::io(path))?);
    let kept = kept.into_iter().filter_map(|entry| Some((entry.key, entry.age, earlier?.read(&entry).ok()?)));
    let added = added.into_iter().map(|(key, value)| (key, 0, value));
    let mut entries = Vec::new();
    for (key, age, value) in kept.chain(added) {
        let Ok(length) = u32::try_from(value.len()) else { continue };
        entries.push(ValueEntry { key, offset: pages.len(), length, age });
        pages.write_all(&value).map_err(Error::io(path))?;
    }
    entries.sort_unstable_by_key(|entry| entry.key);
    let finish = |mut pages: PageWriter| {
        let table = pages.len();
        for ValueEntry { key, offset, length, age } in &entries {
            pages.write_all(&key.to_le_bytes())?;
            pages.write_all(&offset.to_le_bytes())?;
            pages.write_all(&length.to_le_bytes())?;
            pages.write_all(&age.to_le_bytes())?;
        }
        pages.write_all(&MAGIC)?;
        pages.write_all(&seed.to_le_bytes())?;
        pages.write_all(&program.checksum.to_le_bytes())?;
        write_stamp(program.stamp, &mut pages)?;
        pages.write_all(&(entries.len() as u64).to_le_bytes())?;
        pages.write_all(&table.to_le_bytes())?;
        pages.finish().map(drop)
    };
    finish(pages).map_err(Error::io(path))?;
    file.persist(path).map_err(|error| Error::io(path)(error.error)).map(drop)
}
