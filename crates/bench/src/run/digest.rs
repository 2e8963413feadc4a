//! Hash of the output of a run.

use std::io::{self, Read};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

/// Bytes read at a time.
const BUFFER: usize = 128 << 10;

/// Standard output of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// Number of bytes.
    pub bytes: u64,
    /// Their hash, XXH3 with 128 bits, in hexadecimal digits.
    pub xxh3_128: String,
}

impl Digest {
    /// Digest of all bytes of a source.
    pub(super) fn of(mut source: impl Read) -> io::Result<Self> {
        let (mut hash, mut bytes) = (Xxh3Default::new(), 0);
        let mut buffer = vec![0; BUFFER];
        loop {
            match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    hash.update(&buffer[..read]);
                    bytes += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { bytes, xxh3_128: format!("{:032x}", hash.digest128()) })
    }
}
