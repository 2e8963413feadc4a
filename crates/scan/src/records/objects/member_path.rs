//! The path to an array in a document.

use std::fmt;

/// Maximum length of the keys of a path, in bytes, with one more byte for each.
const MAX_LENGTH: usize = 127;

/// The keys that lead from a document to the array whose elements are records. Without any, documents are records, and the
/// elements of documents that are arrays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MemberPath {
    /// Each key with its length before it.
    bytes: [u8; MAX_LENGTH],
    keys: u8,
}

impl Default for MemberPath {
    fn default() -> Self {
        Self { bytes: [0; MAX_LENGTH], keys: 0 }
    }
}

impl fmt::Debug for MemberPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = (0..self.len()).map(|number| String::from_utf8_lossy(self.key(number)));
        f.debug_list().entries(keys).finish()
    }
}

impl MemberPath {
    /// A path of keys; `None` if they have more than 127 bytes, with one more for each.
    pub fn new<'k>(keys: impl IntoIterator<Item = &'k str>) -> Option<Self> {
        let (mut path, mut length) = (Self::default(), 0);
        for key in keys {
            let place = path.bytes.get_mut(length..length + 1 + key.len())?;
            place[0] = u8::try_from(key.len()).ok()?;
            place[1..].copy_from_slice(key.as_bytes());
            length += 1 + key.len();
            path.keys += 1;
        }
        Some(path)
    }

    /// Number of keys.
    pub(super) fn len(&self) -> usize {
        self.keys.into()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// The key with this number, from 0.
    pub(super) fn key(&self, number: usize) -> &[u8] {
        let mut rest = &self.bytes[..];
        let mut found = &rest[..0];
        for _ in 0..=number {
            let length = usize::from(rest[0]);
            (found, rest) = rest[1..].split_at(length);
        }
        found
    }
}
