//! Recognition of a file by its beginning.

use std::any::Any;
use std::error::Error;
use std::sync::Arc;

use crate::block::Source;
use crate::pieces::Pieces;
use crate::problem::ProblemKind;
use crate::records::Records;

/// Maximum length of the beginning of a text that [`Recognize`] examines, in bytes.
pub const MAX_HEAD: usize = 128 << 10;

/// Reason why a job cannot use a file. It is kept as it is, so that the caller can downcast it.
pub type Reason = Box<dyn Error + Send + Sync>;

/// Recognises files by the beginnings of their texts.
///
/// It is asked about each file before its first block is taken: about a regular file once, about a pipe again whenever
/// more has arrived.
pub trait Recognize: Send + Sync {
    /// Examines the beginning of a text, after decompression and decoding, without a byte order mark. Returns `None` if
    /// more is needed to decide. `is_all` says that there is no more, since `head` is the whole text, or has
    /// [`MAX_HEAD`] bytes, or the job has been asked to end; without a decision then, the file counts as lines.
    ///
    /// A decision must hold for all longer beginnings of the same text, because a pipe delivers any number of bytes at a time. So
    /// decide by the shortest beginning that suffices, for example its first line, and ignore the rest.
    ///
    /// # Errors
    /// Returns the reason why the job cannot use the file. It is reported as
    /// [`ProblemKind::Unusable`](crate::ProblemKind::Unusable), and the file is skipped.
    fn recognize(&self, source: &Source, head: &[u8], is_all: bool) -> Result<Option<Recognized>, Reason>;

    /// Examines the whole text of a recognised file before its first block is taken. `pieces` is `None` if the text can be read only
    /// once, or its records may span lines. Returns a problem to be reported about the file. Default: examines nothing.
    fn examine(&self, _source: &Source, _pieces: Option<Pieces<'_>>) -> Option<ProblemKind> {
        None
    }
}

/// Result of [`Recognize`].
#[derive(Clone, Debug)]
pub struct Recognized {
    /// How the text is divided into records.
    pub records: Records,
    /// Beginning of the lines that hold for those after them: see [`Block::heading`](crate::Block::heading). Only for
    /// [`Records::Lines`].
    pub heading: Option<&'static [u8]>,
    /// Attached to the source of every block of the file: see [`Source::details`].
    pub details: Arc<dyn Any + Send + Sync>,
}
