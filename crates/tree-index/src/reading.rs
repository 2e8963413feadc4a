//! Reading files: their trigrams become a segment.

use std::io;
use std::mem::take;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use finecomb_scan::{Distrust, Examine, Examined, FileAt, SpillFile, examine};
use memchr::{memchr, memchr_iter};

use crate::build::{BuildOptions, Stage};
use crate::catalog::{CatalogFile, IndexedPart, NO_STAMP, SegmentInfo};
use crate::error::Error;
use crate::folder::Writing;
use crate::segment::SegmentWriter;
use crate::segment::runs::{PAIRS, PairSorter, Runs};
use crate::starts::{self, Start};
use crate::trigram::Trigrams;

/// Maximum size of a file whose trigrams are indexed, in bytes. Larger ones are searched at every query: they are few,
/// and would need as much memory per thread.
pub const MAX_FILE: usize = 64 << 20;

/// Maximum number of different trigrams of a file that is indexed. Source files of 1 MB have 20,000; random data of 16
/// MiB has ten million.
const MAX_TRIGRAMS: usize = 1 << 19;

/// Size from which a text is divided into several documents, in bytes. A large file holds most trigrams of a literal
/// somewhere, a part of it does not, and only parts that may match are read. With 64, 16 and 8 KiB, `-i pm_resume` reads 84, 36
/// and 20 MB of Linux in 80, 74 and 73 ms, and the index has 7, 9 and 11 % of the text.
const DOCUMENT: usize = 16 << 10;

/// Reads files, and writes a segment with the trigrams of their documents, unless they have none. Documents are numbered
/// from `base`.
pub(crate) fn read_files(
    places: &[FileAt<'_>],
    base: u32,
    folder: &Writing,
    options: &BuildOptions<'_>,
) -> Result<(Vec<CatalogFile>, Option<SegmentInfo>), Error> {
    let failed = |error| Error::io(folder.path())(error);
    let runs = Runs::new(SpillFile::create(folder.path()).map_err(failed)?);
    let width = options.width.max(1);
    let batch_size = (places.len() / (16 * width)).clamp(64, 4096);
    let files_read = options.files_read;
    let make = || Indexer {
        trigrams: Trigrams::default(),
        pairs: PairSorter::new(&runs, PAIRS / width),
        documents: 0,
        batches: Vec::new(),
        files: Vec::new(),
        starts: Vec::new(),
        files_read,
    };
    let indexers = examine(places, batch_size, MAX_FILE, width, make).map_err(failed)?;
    let too_many = || failed(io::ErrorKind::FileTooLarge.into());
    let Numbered { mut files, starts, first, documents } =
        Numbered::of(indexers, batch_size).ok_or_else(too_many)?;
    base.checked_add(documents).ok_or_else(too_many)?;
    files.iter_mut().for_each(|file| file.document += base);
    (options.on_stage)(Stage::Write);
    if documents == 0 {
        return Ok((files, None));
    }
    let (id, file) = (folder.new_id(), folder.new_file()?);
    let write = || {
        let mut segment = SegmentWriter::new(file.reopen()?, documents);
        runs.merge(&first, &mut segment)?;
        let mut bytes = Vec::new();
        starts.iter().for_each(|start| starts::write(start, &mut bytes));
        Ok((segment.finish(&bytes)?, file.as_file().metadata()?.len()))
    };
    let (checksum, bytes) = write().map_err(failed)?;
    folder.add_segment(id, file)?;
    Ok((files, Some(SegmentInfo { id, documents, bytes, checksum })))
}

/// The files of a segment, whose documents are numbered from 0, in the order of the files.
struct Numbered {
    files: Vec<CatalogFile>,
    starts: Vec<Start>,
    /// The number of the first document of each batch.
    first: Vec<u32>,
    /// Number of documents.
    documents: u32,
}

impl Numbered {
    /// Numbers the documents of all batches; `None` if there are too many.
    fn of(indexers: Vec<Indexer<'_>>, batch_size: usize) -> Option<Self> {
        let mut batches: Vec<(usize, u32)> =
            indexers.iter().flat_map(|indexer| indexer.batches.iter().copied()).collect();
        batches.sort_unstable();
        let (mut first, mut documents) = (Vec::with_capacity(batches.len()), 0_u32);
        for (_, in_batch) in batches {
            first.push(documents);
            documents = documents.checked_add(in_batch)?;
        }
        let (mut files, mut starts) = (Vec::new(), Vec::new());
        for indexer in indexers {
            files.extend(indexer.files);
            starts.extend(
                indexer
                    .starts
                    .into_iter()
                    .map(|(batch, start)| Start { document: first[batch] + start.document, ..start }),
            );
        }
        files.sort_unstable_by_key(|&(number, _)| number);
        starts.sort_unstable();
        let number = |(number, file): (u32, CatalogFile)| CatalogFile {
            document: first[number as usize / batch_size] + file.document,
            ..file
        };
        Some(Self { files: files.into_iter().map(number).collect(), starts, first, documents })
    }
}

/// Indexes the files of one thread.
struct Indexer<'r> {
    trigrams: Trigrams,
    pairs: PairSorter<'r>,
    /// Documents of the present batch so far.
    documents: u32,
    /// Number of each batch, and of its documents.
    batches: Vec<(usize, u32)>,
    /// Files with their numbers. Their documents are numbered within their batch.
    files: Vec<(u32, CatalogFile)>,
    /// Where documents begin that are not the first ones of their files, with the numbers of their batches.
    starts: Vec<(usize, Start)>,
    /// Counts the files of all indexers.
    files_read: Option<&'r AtomicUsize>,
}

impl Examine for Indexer<'_> {
    fn take(
        &mut self,
        batch: usize,
        file: usize,
        examined: Result<Examined<'_>, Distrust>,
    ) -> io::Result<()> {
        let document = self.documents;
        let (state, stamp) = match examined {
            Ok(examined) => (self.add(batch, examined)?, examined.stamp),
            Err(distrust) => (IndexedPart::Distrusted(distrust), NO_STAMP),
        };
        let documents = self.documents - document;
        self.files.push((file as u32, CatalogFile { state, stamp, document, documents }));
        if let Some(count) = self.files_read {
            count.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn end_batch(&mut self, batch: usize) -> io::Result<()> {
        self.batches.push((batch, take(&mut self.documents)));
        self.pairs.end_batch(batch)
    }
}

impl Indexer<'_> {
    /// Adds the documents of a file.
    fn add(
        &mut self,
        batch: usize,
        Examined { bytes, text_start, .. }: Examined<'_>,
    ) -> io::Result<IndexedPart> {
        let Some(text_start) = text_start else { return Ok(IndexedPart::Encoded) };
        let nul = memchr(0, bytes);
        let text = &bytes[..nul.unwrap_or(bytes.len())];
        // If a file has too many trigrams, the documents that were already added for it stay, but no file refers to them.
        let mut lines = 0;
        for part in parts(text) {
            let Some(trigrams) = self.trigrams.of(with_rest(text, part.clone()), MAX_TRIGRAMS) else {
                return Ok(IndexedPart::Varied);
            };
            self.pairs.add(batch, self.documents, trigrams)?;
            if part.start > 0 {
                let start = Start { document: self.documents, offset: part.start as u32, lines };
                self.starts.push((batch, start));
            }
            if part.end < text.len() {
                lines += memchr_iter(b'\n', &text[part]).count() as u32;
            }
            self.documents += 1;
        }
        Ok(if nul.is_none() && text_start == 0 { IndexedPart::Plain } else { IndexedPart::UpToNul })
    }
}

/// A part of a text, and two more bytes: so each trigram of the text is in the part where it begins, also if a line feed is in
/// the middle of it.
fn with_rest(text: &[u8], part: Range<usize>) -> &[u8] {
    &text[part.start..text.len().min(part.end + 2)]
}

/// Divides a text into parts of whole lines; each but the last has at least the size of a document.
fn parts(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = (next < text.len()).then_some(next)?;
        let line_end = text.get(start + DOCUMENT..).and_then(|rest| memchr(b'\n', rest));
        next = line_end.map_or(text.len(), |end| start + DOCUMENT + end + 1);
        Some(start..next)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_trigram_of_a_text_is_in_a_part_of_it() {
        let mut state = 1_u32;
        let mut byte = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b"ab\ncdefgh"[(state >> 20) as usize % 9]
        };
        for length in [0, 1, DOCUMENT, DOCUMENT + 1, 5 * DOCUMENT + 17] {
            let text: Vec<u8> = (0..length).map(&mut byte).collect();
            let mut trigrams = Trigrams::default();
            let mut of = |text: &[u8]| -> BTreeSet<u32> {
                trigrams.of(text, usize::MAX).expect("no limit").iter().copied().collect()
            };
            let all = of(&text);
            let of_parts: BTreeSet<u32> = parts(&text).flat_map(|part| of(with_rest(&text, part))).collect();
            assert!(of_parts.is_superset(&all), "{length}");
            assert_eq!(parts(&text).count(), length.div_ceil(DOCUMENT + 20).max(usize::from(length > 0)));
        }
    }
}
