//! The work of a job with ordered output, as its visitors define it.

use std::ops::{ControlFlow, Range};

use finecomb_meter::Meter;

use super::output::Output;
use crate::block::{Block, Source};
use crate::snapshot::Absent;
use crate::source::bounds::NulEnds;

/// Selects the part of each file that a job reads, and how it is divided.
pub trait Select: Send {
    /// The part of a file that is wanted. Default: blocks.
    fn wants(&self) -> Wants {
        Wants::Blocks
    }

    /// Returns the size up to which a file is wanted at once, in bytes, at any size of blocks. Default: 0.
    fn whole_size(&self, _source: &Source) -> usize {
        0
    }

    /// Whether blocks of more than twice the usual size are divided into slices of whole records, so that the memory for the
    /// results of a block is bounded. Default: `false`.
    fn divides_large_blocks(&self) -> bool {
        false
    }

    /// Returns the NULs that end lines of a file. Default: none.
    fn nul_ends(&self, _source: &Source) -> NulEnds {
        NulEnds::Never
    }

    /// Whether the parts of a large file that is wanted as a whole are searched first, each by any worker. Default: `false`.
    fn searches_parts(&self) -> bool {
        false
    }

    /// Whether parts of a file without a match may be skipped; [`Search::skip_to`] then advances the state past them. Default: `false`.
    fn allows_gaps(&self) -> bool {
        false
    }
}

/// The search of files, block by block, and what is carried from block to block.
pub trait Search: Select {
    /// Result of the search of a block.
    type Found: Send;
    /// Per-file state that advances from block to block.
    type State: Clone + Default + Send;

    /// Returns the state before the first block of a file. `start` holds the first [`HEAD_SIZE`](crate::HEAD_SIZE)
    /// bytes of a file that is larger than its first block, or fewer for a pipe. Default: that of the type.
    fn begin(&mut self, _source: &Source, _start: &[u8]) -> Self::State {
        Self::State::default()
    }

    /// Returns `true` if nothing of a file is wanted, given the state before its first block. Default: `false`.
    fn is_over(&self, _state: &Self::State) -> bool {
        false
    }

    /// Searches a block without knowing the preceding part of the file. The bytes may be changed; later steps see the
    /// changed bytes.
    fn search(&mut self, block: &mut Block<'_>) -> Self::Found;

    /// Searches a part of a text that is wanted as a whole. The text is not changed.
    fn search_part(&mut self, _text: &[u8], _part: Range<usize>) -> Option<Self::Found> {
        None
    }

    /// Receives what was found in the parts of a text, in their order, before the whole of it is searched.
    fn receive_parts(&mut self, _found: Vec<Option<Self::Found>>) {}

    /// Returns `true` if a block has no match and changes the state only by its length. Such blocks are skipped until
    /// another block of the file is different. Default: `false`.
    fn is_skippable(&mut self, _block: &Block<'_>) -> bool {
        false
    }

    /// Advances the state of the file past a block. Returns [`ControlFlow::Break`] if nothing more of the file is
    /// wanted. Default: the state stays, and all of the file is wanted.
    fn advance(
        &mut self,
        _block: &Block<'_>,
        _found: &Self::Found,
        _state: &mut Self::State,
    ) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Advances the state past an overlong line or record that begins with these bytes. In a stream it may continue after them; the next
    /// block has the [number of its first line](Block::first_line).
    fn skip_line(&mut self, _state: &mut Self::State, _bytes: &[u8]) {}

    /// Advances the state to an offset with this number of lines before it. The skipped text holds no match and no NUL.
    fn skip_to(&mut self, _state: &mut Self::State, _offset: u64, _lines: u64) {}
}

/// The output of a file: its name, its blocks and its end. Each worker of a job has a value of its own.
pub trait Print: Search {
    /// Totals of a file, accumulated while its blocks are printed in any order.
    type Tally: Default + Send;

    /// Processes a file when only its name is wanted.
    fn name(&mut self, _source: &Source, _out: &mut Output<'_>) {}

    /// Processes a file that is known to hold no match, as its stamp of a moment ago proves, instead of reading it. The
    /// result is that of [`Print::end`]; `None` if the file is to be read all the same. Default: `None`.
    fn absent(
        &mut self,
        _source: &Source,
        _absent: &Absent,
        _out: &mut Output<'_>,
    ) -> Option<ControlFlow<()>> {
        None
    }

    /// Prints the result of a block, given the state before it, and enters the phases of its work. Default: nothing.
    fn print(
        &mut self,
        _block: &Block<'_>,
        _found: Self::Found,
        _state: &Self::State,
        _tally: &mut Self::Tally,
        _out: &mut Output<'_>,
        _meter: &mut Meter,
    ) {
    }

    /// Adds the totals of other blocks.
    fn add(_tally: &mut Self::Tally, _other: Self::Tally) {}

    /// Ends a file, given the state after its last block and its totals. [`ControlFlow::Break`] ends the job at once.
    /// Then output that is not yet written is dropped, here and of all files before: only a job that prints nothing, such
    /// as a search for whether there is a match, may be ended this way. What is written remains whole and in order.
    fn end(
        &mut self,
        _source: &Source,
        _state: Self::State,
        _tally: Self::Tally,
        _out: &mut Output<'_>,
    ) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The part of a file that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Its name only: the file is not opened.
    Name,
    /// The whole file at once. A file of more than this many bytes is reported and skipped.
    Whole(usize),
    /// Blocks of whole lines; a small file at once.
    Blocks,
}
