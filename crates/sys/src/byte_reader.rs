//! Reading consecutive numbers and bytes from memory.

/// Reads from the beginning of some bytes. Numbers are little-endian.
#[derive(Clone, Debug)]
pub struct ByteReader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> ByteReader<'b> {
    /// A reader at the beginning.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Number of bytes that were read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next bytes. `None`, here and below, if there are fewer.
    pub fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// The next number of four bytes.
    pub fn short(&mut self) -> Option<u32> {
        self.take(size_of::<u32>())?.try_into().ok().map(u32::from_le_bytes)
    }

    /// The next number of eight bytes.
    pub fn long(&mut self) -> Option<u64> {
        self.take(size_of::<u64>())?.try_into().ok().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bytes_are_read_until_one_is_not_whole() {
        let mut reader = ByteReader::new(&[7, 1, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, b'a', b'b']);
        assert_eq!((reader.byte(), reader.short(), reader.long()), (Some(7), Some(257), Some((1 << 56) + 2)));
        assert_eq!((reader.short(), reader.take(3), reader.take(usize::MAX)), (None, None, None));
        assert_eq!((reader.take(2), reader.position()), (Some(&b"ab"[..]), 15));
        assert_eq!((reader.byte(), reader.take(0)), (None, Some(&b""[..])));
    }
}
