//! Pieces of files, and the open files to read them from.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use finecomb_scan::FoundFile;
use finecomb_sys::advice;
use finecomb_sys::locks::lock;

/// Bytes per read.
pub(super) const PIECE: u64 = 128 << 10;

/// A part of a file. Boundaries are at fixed offsets, so that the result does not depend on the thread: a word across a
/// boundary counts as two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Index of its file.
    pub(super) file: usize,
    /// Its offset in that file.
    pub(super) offset: u64,
    /// Its length in bytes, from 1 to [`PIECE`].
    pub(super) length: u64,
}

/// All pieces of all files, in order.
pub(super) fn split(files: &[FoundFile]) -> Vec<Piece> {
    let of = |(file, found): (usize, &FoundFile)| {
        let size = found.size;
        let piece = move |number| {
            let offset = number * PIECE;
            Piece { file, offset, length: PIECE.min(size - offset) }
        };
        (0..size.div_ceil(PIECE)).map(piece)
    };
    files.iter().enumerate().flat_map(of).collect()
}

/// Files, opened before their first piece is read and closed after the last.
pub(super) struct OpenFiles<'a> {
    files: &'a [FoundFile],
    states: Vec<Mutex<OpenState>>,
    /// Unread pieces of each file.
    remaining: Vec<AtomicU64>,
    /// Whether the kernel is advised of sequential access.
    advises: bool,
}

enum OpenState {
    Unopened,
    Open(Arc<File>),
    /// Closed, or could not be opened.
    Closed,
}

impl<'a> OpenFiles<'a> {
    pub(super) fn new(files: &'a [FoundFile], advises: bool) -> Self {
        let states = files.iter().map(|_| Mutex::new(OpenState::Unopened)).collect();
        let remaining = files.iter().map(|file| AtomicU64::new(file.size.div_ceil(PIECE))).collect();
        Self { files, states, remaining, advises }
    }

    /// Reads a piece into the beginning of a buffer, at most once per piece. Returns fewer bytes than the length of the piece
    /// if the file has shrunk, and `None` on errors.
    pub(super) fn read<'b>(&self, piece: &Piece, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        let length = usize::try_from(piece.length).ok()?;
        let buffer = &mut buffer[..length];
        let file = self.open(piece.file);
        let read = file.and_then(|file| read_at(&file, buffer, piece.offset).ok());
        if self.remaining[piece.file].fetch_sub(1, Ordering::AcqRel) == 1 {
            *self.state(piece.file) = OpenState::Closed;
        }
        read.map(|length| &buffer[..length])
    }

    /// Advises the kernel to prefetch a range of a file.
    pub(super) fn prefetch(&self, file: usize, offset: u64, length: u64) {
        if let Some(file) = self.open(file) {
            advice::prefetch(&file, offset, length);
        }
    }

    /// The file, opened on first use; `None` if that fails, or all of it has been read.
    fn open(&self, number: usize) -> Option<Arc<File>> {
        let mut state = self.state(number);
        if matches!(*state, OpenState::Unopened) {
            let FoundFile { path, size, .. } = &self.files[number];
            *state = match File::open(path) {
                Ok(file) => {
                    if self.advises && *size > PIECE {
                        advice::read_in_order(&file, 0);
                    }
                    OpenState::Open(Arc::new(file))
                }
                Err(_) => OpenState::Closed,
            };
        }
        match &*state {
            OpenState::Open(file) => Some(Arc::clone(file)),
            OpenState::Unopened | OpenState::Closed => None,
        }
    }

    fn state(&self, number: usize) -> MutexGuard<'_, OpenState> {
        lock(&self.states[number])
    }
}

/// Reads until the buffer is full or the file ends.
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn found(sizes: &[u64]) -> Vec<FoundFile> {
        sizes
            .iter()
            .map(|&size| FoundFile { path: PathBuf::from("/nowhere"), size, is_named: true })
            .collect()
    }

    #[test]
    fn pieces_cover_every_byte_once() {
        let piece = |file, offset, length| Piece { file, offset, length };
        let files = found(&[1, 0, PIECE, 2 * PIECE + 5]);
        let expected = [
            piece(0, 0, 1),
            piece(2, 0, PIECE),
            piece(3, 0, PIECE),
            piece(3, PIECE, PIECE),
            piece(3, 2 * PIECE, 5),
        ];
        assert_eq!(split(&files), expected);
    }

    #[test]
    fn files_are_closed_after_their_last_piece() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        let bytes: Vec<u8> = (0..2 * PIECE + 5).map(|at| at as u8 ^ (at >> 8) as u8).collect();
        std::fs::write(&path, &bytes).expect("a file");
        let files = [FoundFile { path, size: bytes.len() as u64, is_named: true }];
        let open = OpenFiles::new(&files, true);
        open.prefetch(0, 0, 1);
        let mut buffer = vec![0; PIECE as usize];
        let mut read = Vec::new();
        for piece in split(&files) {
            assert!(matches!(*open.state(0), OpenState::Open(_)));
            read.extend_from_slice(open.read(&piece, &mut buffer).expect("bytes"));
        }
        assert_eq!(read, bytes);
        open.prefetch(0, 0, 1);
        assert!(matches!(*open.state(0), OpenState::Closed));
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_not_read() {
        let files = found(&[3]);
        let open = OpenFiles::new(&files, false);
        assert_eq!(open.read(&Piece { file: 0, offset: 0, length: 3 }, &mut [0; 3]), None);
    }
}
