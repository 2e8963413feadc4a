//! Prefetching of the next pieces while the workers are busy.

use std::sync::Mutex;

use super::pieces::{OpenFiles, PIECE, Piece};

/// Pieces prefetched beyond the last one taken: 8 MiB of full pieces. Also bounds the number of open files.
const WINDOW: usize = (8 << 20) / PIECE as usize;

/// Minimum number of pieces of a large file per prefetch: one call per piece would split disk requests into small ones.
const STRIDE: usize = WINDOW / 2;

/// Prefetches pieces in their order.
#[derive(Debug, Default)]
pub(super) struct Prefetcher {
    /// The first piece that has not been prefetched.
    next: Mutex<usize>,
}

impl Prefetcher {
    /// Prefetches the pieces after the one being taken, unless another worker is doing so.
    pub(super) fn advance(&self, taken: usize, pieces: &[Piece], files: &OpenFiles<'_>) {
        let Ok(mut next) = self.next.try_lock() else { return };
        *next = (*next).max(taken + 1);
        while let Some(run) = next_run(*next, taken, pieces) {
            if let [first, ..] = run {
                files.prefetch(first.file, first.offset, run.iter().map(|piece| piece.length).sum());
            }
            *next += run.len();
        }
    }
}

/// The pieces of one file, from `next` on, to prefetch while `taken` is read; `None` if it is too early.
fn next_run(next: usize, taken: usize, pieces: &[Piece]) -> Option<&[Piece]> {
    let window = pieces.get(next..pieces.len().min(taken + 1 + WINDOW))?;
    let first = window.first()?;
    let run = window.iter().take_while(|piece| piece.file == first.file).count();
    let is_rest = pieces.get(next + run).is_none_or(|piece| piece.file != first.file);
    (is_rest || run >= STRIDE).then(|| &window[..run])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of files with these numbers of pieces.
    fn pieces(files: &[usize]) -> Vec<Piece> {
        let of = |(file, &count): (usize, &usize)| {
            (0..count as u64).map(move |number| Piece { file, offset: number * PIECE, length: PIECE })
        };
        files.iter().enumerate().flat_map(of).collect()
    }

    #[test]
    fn small_files_are_prefetched_one_by_one_up_to_the_window() {
        let pieces = pieces(&[1; 100]);
        assert_eq!(next_run(1, 0, &pieces), Some(&pieces[1..2]));
        assert_eq!(next_run(WINDOW, 0, &pieces), Some(&pieces[WINDOW..WINDOW + 1]));
        assert_eq!(next_run(WINDOW + 1, 0, &pieces), None);
        assert_eq!(next_run(100, 99, &pieces), None);
    }

    #[test]
    fn a_large_file_is_prefetched_in_strides() {
        let pieces = pieces(&[200, 1]);
        assert_eq!(next_run(1, 0, &pieces), Some(&pieces[1..=WINDOW]));
        let next = WINDOW + 1;
        assert_eq!(next_run(next, STRIDE - 1, &pieces), None);
        assert_eq!(next_run(next, STRIDE, &pieces), Some(&pieces[next..next + STRIDE]));
        // The end of the file is a shorter stride, and the next file is prefetched separately.
        assert_eq!(next_run(195, 150, &pieces), Some(&pieces[195..200]));
        assert_eq!(next_run(200, 150, &pieces), Some(&pieces[200..]));
    }
}
