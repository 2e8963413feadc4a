//! Visiting a file, block by block.

use std::fs::File;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use finecomb_meter::Phase;
use finecomb_sys::GuardedMap;
use finecomb_sys::locks::unpoisoned;
use memchr::memchr;

use super::job::{Shared, Streamed, Unshared, VisitTask};
use super::mapped::{Mapped, WholeText};
use super::visit::Print;
use super::worker::{FILE_WORK, Visitor};
use crate::block::{Block, KnownNul, Lookahead, Source};
use crate::problem::ProblemKind;
use crate::schedule::sequencer::SlotId;
use crate::snapshot::TextPart;
use crate::source::bounds::{Bounds, NulEnds};
use crate::source::chunks::ChunkedFile;
use crate::source::cut::{BlockPart, add_lines, parts_of_records, slices};
use crate::source::reader::InputReader;
use crate::source::shared::Chunks;
use crate::source::{HEAD_SIZE, TextBlock};

impl<V: Print> Visitor<'_, V> {
    /// Records processed bytes.
    pub(super) fn record_bytes(&mut self, bytes: usize) {
        self.reader.meter.add_bytes(bytes as u64);
        self.sequencer.pool.add_work(bytes as u64);
        if let Some(done) = self.done {
            done.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    fn begin_file(&mut self, source: &Source) {
        self.out.begin_file(source);
        self.visited += 1;
        self.reader.meter.add_file();
        self.sequencer.pool.add_work(FILE_WORK);
    }

    /// Visits the parts of a file of this size that may hold a match.
    pub(super) fn visit_parts(&mut self, source: &Source, file: &File, size: u64, parts: &[TextPart]) {
        self.begin_file(source);
        let mut buffer = mem::take(&mut self.reader.buffer);
        let (start, state) = (0, self.visit.begin(source, &[]));
        let mut unshared = Unshared { start, state, tally: V::Tally::default() };
        let ends = self.visit.nul_ends(source);
        let visited = parts.iter().try_for_each(|part| {
            self.visit.skip_to(&mut unshared.state, part.start, part.lines_before);
            let bytes = self.reader.read_part(source, file, part, &mut buffer);
            self.visit_next(Block::new(source, part.start, bytes), 0, ends, &mut unshared)
        });
        if let (ControlFlow::Continue(()), Some(last)) = (visited, parts.last()) {
            // No later line is numbered, so the number of lines may be too small.
            self.visit.skip_to(&mut unshared.state, size, last.lines_before);
        }
        self.reader.buffer = buffer;
        self.end_file(source, unshared);
    }

    /// Visits a file that is entirely in the buffer, or a part of it.
    pub(super) fn visit_whole(&mut self, source: &Source, text: &WholeText) {
        let mut buffer = mem::take(&mut self.reader.buffer);
        self.record_bytes(text.range.len());
        self.visit_bytes(source, &mut buffer[text.range.clone()], text);
        self.reader.buffer = buffer;
    }

    /// Visits the bytes of a text.
    pub(super) fn visit_bytes(&mut self, source: &Source, bytes: &mut [u8], text: &WholeText) {
        let &WholeText { ref range, start, text_start, is_whole } = text;
        self.begin_file(source);
        let bounds = self.reader.context.bounds_for(source);
        // Its blocks are those around lines that are too long: it is searched as a file that is larger than its first block.
        let may_divide = is_whole && bytes.len() > bounds.max_line;
        let known = if may_divide { &bytes[..bytes.len().min(HEAD_SIZE)] } else { &[] };
        let state = self.visit.begin(source, known);
        let unclosed = bounds.unclosed_in(bytes);
        let is_start = start == range.start as u64 && !self.reader.begins_late();
        let first_line = is_start.then_some(1);
        let offset = start - text_start;
        let nul = if may_divide { memchr(0, bytes) } else { None };
        let first_nul = KnownNul(nul.map(|at| offset + at as u64));
        let mut unshared = Unshared { start: text_start, state, tally: V::Tally::default() };
        let _ = if may_divide && self.visit.is_over(&unshared.state) {
            ControlFlow::Break(())
        } else if bytes.is_empty() {
            // Elsewhere an empty block carries no information, but an empty file must have one block.
            let mut block = Block { is_whole, text_start, ..Block::new(source, offset, bytes) };
            self.search_and_print(&mut block, &mut unshared)
        } else {
            let ends = self.visit.nul_ends(source);
            let lookahead = Lookahead::in_file(&first_nul);
            let block = Block { is_whole, first_line, lookahead, ..Block::new(source, offset, bytes) };
            self.visit_divided(block, unclosed, ends, &mut unshared)
        };
        self.end_file(source, unshared);
    }

    /// Visits a mapped file, or returns the task if its parts are searched first.
    pub(super) fn begin_mapped(
        &mut self,
        source: &Source,
        mut map: GuardedMap,
        text: WholeText,
    ) -> Option<VisitTask<V>> {
        // What is found in parts has its place in the whole text, not in the blocks around lines that are too long.
        let may_divide = text.range.len() > self.reader.context.bounds_for(source).max_line;
        if self.visit.searches_parts() && !may_divide {
            let file = Mapped::new(source.clone(), map, text, self.reader.context.mapped_part());
            return Some(VisitTask::Mapped(Arc::new(file), 0));
        }
        self.record_bytes(text.range.len());
        self.visit_mapped(source, &mut map, text);
        None
    }

    /// Searches a part of a mapped file.
    pub(super) fn visit_part(&mut self, file: &Mapped<V>, number: usize) {
        self.reader.meter.enter(Phase::Search);
        let part = file.part(number);
        self.record_bytes(part.len());
        let found = {
            let map = unpoisoned(file.map.read());
            self.visit.search_part(&map[file.text.range.clone()], part)
        };
        file.record(number, found);
    }

    /// Visits a mapped file whose parts have been claimed.
    pub(super) fn visit_searched(&mut self, file: &Mapped<V>) {
        self.reader.meter.enter(Phase::Wait);
        let found = file.await_parts();
        self.visit.receive_parts(found);
        let mut map = unpoisoned(file.map.write());
        self.visit_mapped(&file.source, &mut map, file.text.clone());
    }

    fn visit_mapped(&mut self, source: &Source, map: &mut GuardedMap, text: WholeText) {
        let expected = map.len() as u64;
        match map.bytes_mut() {
            Ok(bytes) => self.visit_bytes(source, &mut bytes[text.range.clone()], &text),
            Err(error) => {
                let kind = ProblemKind::Read { offset: text.start, error };
                return self.reader.problems.add(source, kind);
            }
        }
        if map.is_damaged() {
            let found = source.file_path().and_then(|path| path.metadata().ok());
            let found = found.map_or(0, |metadata| metadata.len()).min(expected);
            self.reader.problems.add(source, ProblemKind::Shrank { expected, found });
        }
    }

    /// Visits a file chunk by chunk. Chunks without matches are skipped, which saves counting their lines; once there
    /// is a match, the skipped chunks are read again.
    pub(super) fn visit_unshared(&mut self, shared: &Shared<V>, file: &ChunkedFile) {
        let source = &shared.source;
        let mut buffer = mem::take(&mut self.reader.buffer);
        let (start, state) = (shared.start, shared.chain.state());
        let mut unshared = Unshared { start, state, tally: V::Tally::default() };
        let mut skipped = Vec::new();
        let mut is_skippable = true;
        while let Some(chunk) = file.claim().filter(|_| !shared.chain.is_over()) {
            skipped.push(chunk);
            if is_skippable {
                self.reader.meter.enter(Phase::Read);
                let TextBlock { range, in_long_line, .. } =
                    file.read(chunk, &mut buffer, &mut self.reader.problems);
                let bytes = &mut buffer[range];
                self.reader.meter.enter(Phase::Search);
                let fits = bytes.len() <= self.reader.context.bounds.max_line;
                let block = Block { in_long_line, ..Block::new(source, 0, bytes) };
                is_skippable = fits && self.visit.is_skippable(&block);
                file.check(&buffer, &mut self.reader.problems);
                if is_skippable {
                    continue;
                }
            }
            let wanted = skipped.drain(..).try_for_each(|chunk| {
                self.reader.meter.enter(Phase::Read);
                let TextBlock { range, offset, in_long_line, .. } =
                    file.read(chunk, &mut buffer, &mut self.reader.problems);
                let block = Block::new(source, offset - shared.start, &mut buffer[range]);
                let block = Block { in_long_line, lookahead: Lookahead::in_file(file), ..block };
                let more = self.visit_next(block, 0, shared.nul_ends, &mut unshared);
                file.check(&buffer, &mut self.reader.problems);
                more
            });
            if wanted.is_break() {
                break;
            }
        }
        self.reader.buffer = buffer;
        self.end_file(source, unshared);
    }

    /// Visits the next block of a file that only this worker visits. Its last `unclosed` bytes are a record with a quote
    /// that is not closed.
    pub(super) fn visit_next(
        &mut self,
        block: Block<'_>,
        unclosed: usize,
        ends: NulEnds,
        unshared: &mut Unshared<V>,
    ) -> ControlFlow<()> {
        self.record_bytes(block.bytes.len());
        self.visit_divided(block, unclosed, ends, unshared)
    }

    /// Visits the parts that a block is divided into.
    fn visit_divided(
        &mut self,
        block: Block<'_>,
        unclosed: usize,
        ends: NulEnds,
        unshared: &mut Unshared<V>,
    ) -> ControlFlow<()> {
        let Block { source, bytes, lookahead, mut first_line, .. } = block;
        let total = bytes.len();
        let bounds = self.reader.context.bounds_for(source).with_ends(ends);
        let divides = self.visit.divides_large_blocks();
        for part in divided(bytes, unclosed, block.in_long_line, &bounds, divides) {
            let before = first_line;
            add_lines(first_line.as_mut().filter(|_| part.bytes.len() < total), part.bytes, &bounds);
            let offset = block.offset + part.start as u64;
            if part.too_long.is_some() {
                self.reader.problems.add_long_line(source, unshared.start + offset, &bounds);
                self.visit.skip_line(&mut unshared.state, part.bytes);
                continue;
            }
            let is_whole = block.is_whole && part.bytes.len() == total;
            let BlockPart { bytes, records, in_long_line, .. } = part;
            let block = Block { is_whole, in_long_line, lookahead, ..Block::new(source, offset, bytes) };
            let mut block = Block { text_start: unshared.start, first_line: before, records, ..block };
            self.search_and_print(&mut block, unshared)?;
        }
        ControlFlow::Continue(())
    }

    /// Takes a block of a file that only this worker visits through all three steps.
    fn search_and_print(&mut self, block: &mut Block<'_>, unshared: &mut Unshared<V>) -> ControlFlow<()> {
        self.reader.meter.enter(Phase::Search);
        let found = self.visit.search(block);
        let before = unshared.state.clone();
        let more = self.visit.advance(block, &found, &mut unshared.state);
        self.reader.meter.enter(Phase::Print);
        let (out, meter) = (&mut self.out, &mut self.reader.meter);
        self.visit.print(block, found, &before, &mut unshared.tally, out, meter);
        more
    }

    pub(super) fn end_file(&mut self, source: &Source, unshared: Unshared<V>) {
        self.reader.meter.enter(Phase::Print);
        if self.visit.end(source, unshared.state, unshared.tally, &mut self.out).is_break() {
            self.sequencer.halt();
        }
    }

    /// Visits a chunk of a shared file.
    pub(super) fn visit_chunk(&mut self, shared: &Shared<V>, file: &Chunks, chunk: u64, block: u64) {
        let mut buffer = mem::take(&mut self.reader.buffer);
        let InputReader { meter, problems, .. } = &mut self.reader;
        let TextBlock { range, offset, in_long_line, first_line, unclosed, .. } =
            file.read(chunk, &mut buffer, meter, problems);
        let read = Block::new(&shared.source, offset - shared.start, &mut buffer[range]);
        let read = Block { in_long_line, first_line, lookahead: file.lookahead(), ..read };
        self.visit_block(shared, block, read, unclosed);
        file.check(&buffer, &mut self.reader.problems);
        self.reader.buffer = buffer;
    }

    /// Reads a block of a stream, releases the stream to other workers, and visits the block.
    pub(super) fn visit_stream(&mut self, slot: SlotId, mut streamed: Box<Streamed<V>>) {
        self.reader.meter.enter(streamed.stream.phase());
        let shared = Arc::clone(&streamed.shared);
        let number = streamed.blocks;
        let mut buffer = mem::take(&mut self.reader.buffer);
        let read = match shared.chain.is_over() {
            true => None,
            false => streamed.stream.read(&mut buffer, true, &mut self.reader.problems),
        };
        match read {
            Some(TextBlock { range, offset, in_long_line, first_line, unclosed, .. }) => {
                streamed.blocks += 1;
                self.sequencer.put_back(slot, VisitTask::Stream(streamed));
                let read = Block::new(&shared.source, offset - shared.start, &mut buffer[range]);
                self.visit_block(&shared, number, Block { in_long_line, first_line, ..read }, unclosed);
            }
            None => self.end_shared(&shared, number),
        }
        self.reader.buffer = buffer;
    }

    /// Visits a block of a shared file: searches it, waits for its turn, and prints it. Its last `unclosed` bytes are a record
    /// with a quote that is not closed.
    fn visit_block(&mut self, shared: &Shared<V>, number: u64, read: Block<'_>, unclosed: usize) {
        let Block { source, bytes, lookahead, offset, in_long_line, mut first_line, .. } = read;
        self.reader.meter.enter(Phase::Search);
        self.record_bytes(bytes.len());
        let total = bytes.len();
        let bounds = self.reader.context.bounds_for(source).with_ends(shared.nul_ends);
        let divides = self.visit.divides_large_blocks();
        let mut searched: Vec<_> = divided(bytes, unclosed, in_long_line, &bounds, divides)
            .map(|BlockPart { start, bytes, too_long, in_long_line, records }| {
                let before = first_line;
                add_lines(first_line.as_mut().filter(|_| bytes.len() < total), bytes, &bounds);
                let block =
                    Block { text_start: shared.start, ..Block::new(source, offset + start as u64, bytes) };
                let mut block = Block { in_long_line, lookahead, first_line: before, records, ..block };
                let wanted = too_long.is_none() && !shared.chain.is_over();
                let found = wanted.then(|| self.visit.search(&mut block));
                SearchedPart { block, too_long, found, before: None }
            })
            .collect();
        self.reader.meter.enter(Phase::Wait);
        self.advance(shared, number, &mut searched);
        self.reader.meter.enter(Phase::Print);
        let mut tally = V::Tally::default();
        for SearchedPart { block, found, before, .. } in searched {
            match (found, before) {
                (Some(found), Some(before)) => {
                    let (out, meter) = (&mut self.out, &mut self.reader.meter);
                    self.visit.print(&block, found, &before, &mut tally, out, meter);
                }
                (None, Some(_)) => {
                    let offset = shared.start + block.offset;
                    self.reader.problems.add_long_line(&shared.source, offset, &bounds);
                }
                (_, None) => break,
            }
        }
        shared.chain.printed(|sum| V::add(sum, tally));
    }

    /// Advances the state of a shared file past a block in its turn, and records the state before each part.
    fn advance(&mut self, shared: &Shared<V>, number: u64, searched: &mut [SearchedPart<'_, V>]) {
        let mut status = shared.chain.await_turn(number);
        self.reader.meter.enter(Phase::Search);
        let status = &mut *status;
        for part in searched {
            if status.over {
                break;
            }
            part.before = Some(status.file.clone());
            match (part.too_long, &part.found) {
                (Some(_), _) => self.visit.skip_line(&mut status.file, part.block.bytes),
                (None, Some(found)) => {
                    status.over = self.visit.advance(&part.block, found, &mut status.file).is_break();
                    if let Some(stop) = shared.stop.as_ref().filter(|_| status.over) {
                        stop.raise();
                    }
                }
                // It was not searched because nothing more was wanted; that does not change.
                (None, None) => {}
            }
        }
    }

    /// Ends a shared file with this number of blocks.
    pub(super) fn end_shared(&mut self, shared: &Shared<V>, blocks: u64) {
        self.reader.meter.enter(Phase::Wait);
        let (state, tally) = shared.chain.await_all(blocks);
        self.end_file(&shared.source, Unshared { start: shared.start, state, tally });
    }
}

/// Divides a block into the parts that are handed out: at overlong records, and into slices of about the block size if `divides` is set.
fn divided<'a>(
    bytes: &'a mut [u8],
    unclosed: usize,
    in_long_line: bool,
    bounds: &Bounds,
    divides: bool,
) -> impl Iterator<Item = BlockPart<'a>> + use<'a> {
    let slice = if divides { bounds.block_size } else { usize::MAX };
    let parts = parts_of_records(bytes, unclosed, in_long_line, bounds);
    let bounds = Bounds { block_size: slice, ..bounds.clone() };
    parts.flat_map(move |part| slices(part, &bounds))
}

/// A searched part of a block.
struct SearchedPart<'a, V: Print> {
    block: Block<'a>,
    too_long: Option<usize>,
    found: Option<V::Found>,
    /// The state of the file before it; `None` if nothing more was wanted.
    before: Option<V::State>,
}
