//! A followed input: a file that grows, or a pipe.

use std::fs::{File, Metadata};
use std::mem;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use finecomb_sys::ReadBuffer;

use crate::block::{FileIdentity, Medium, Source};
use crate::heading::last_heading;
use crate::narrow::{LinesAt, Narrowed};
use crate::problem::{ProblemKind, Problems};
use crate::recognize::MAX_HEAD;
use crate::source::cut::FileFrom;
use crate::source::reader::{Context, Sniffed};
use crate::source::stream::{ByteSource, Pausing, Stream};

/// Time after which an input is recognised by less than would be examined: whole records that have arrived are counted
/// then, also if few follow.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// Time after which an input is recognised again: the result may depend on the time of its last change, such as the year of times
/// without one.
const AGAIN: Duration = if cfg!(test) { Duration::from_millis(20) } else { Duration::from_secs(3600) };

/// Bytes at the beginning of a file by which its contents are recognised.
const HEAD: usize = 4096;

/// Number of bytes before the unread part by which a copy is recognised.
const BEFORE: usize = 256;

/// Bytes of two files that are compared before one of them counts as a copy of the other.
const COMPARED: u64 = 64 << 10;

/// A followed input.
pub(super) struct FollowedInput {
    /// `None` while it is being read, and once it has ended.
    pub(super) stream: Option<Stream>,
    pub(super) source: Source,
    /// The file; `None` for a pipe.
    pub(super) file: Option<FollowedFile>,
    preparation: Preparation,
    /// Since when whole records wait until the input is recognised.
    waiting_since: Option<Instant>,
    /// Since when a record waits for a line that begins the next one.
    record_waits_since: Option<Instant>,
    /// When it was recognised, and for a pipe by which bytes.
    recognized: Option<(Instant, Vec<u8>)>,
}

/// Knowledge about an input before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Preparation {
    /// Nothing.
    New,
    /// It is text.
    Sniffed,
    Ready,
}

/// Result of a preparation.
pub(super) enum Prepared {
    Ready,
    /// More must arrive first.
    Waits,
    /// It is compressed or in another encoding, so that it can be read only once.
    Decoded,
}

/// A file that grows.
pub(super) struct FollowedFile {
    pub(super) identity: FileIdentity,
    pub(super) file: Arc<File>,
    /// State of the reading of its contents.
    read: ReadSoFar,
    /// State of the reading before the file was last truncated, until a copy of those contents is found.
    former: Option<ReadSoFar>,
    /// Size and time of the last change when it was looked at.
    seen: Option<(u64, SystemTime)>,
    /// Where to begin once it is recognised, if that is not its beginning.
    pub(super) begin_at: Option<u64>,
    /// The file whose contents it has so far.
    pub(super) held_back_for: Option<FileIdentity>,
    /// Size up to which it was compared with that file.
    held_size: u64,
    /// Whether it was found after the files that were there at the beginning: then it may be a copy.
    pub(super) is_later: bool,
    /// Since when it has no name.
    pub(super) nameless_since: Option<Instant>,
    /// Whether its contents are watched under any name.
    pub(super) is_watched: bool,
}

/// State of the reading of the contents of a file, with some of its bytes, by which a copy is recognised.
#[derive(Clone, Default)]
pub(super) struct ReadSoFar {
    /// The first bytes.
    head: Vec<u8>,
    /// Bytes before the offset `before_end`.
    before: Vec<u8>,
    before_end: u64,
    /// Offset after the records that were read. It is beyond `before_end` if the file was truncated while it was read.
    consumed: u64,
}

/// A file that was truncated, as it was before.
pub(super) struct Truncated {
    pub(super) identity: FileIdentity,
    read: ReadSoFar,
}

impl FollowedInput {
    /// Follows a file from its beginning.
    pub(super) fn of_file(
        number: usize,
        source: Source,
        identity: FileIdentity,
        file: File,
        context: Context<'_>,
    ) -> Self {
        let file = FollowedFile {
            identity,
            file: Arc::new(file),
            read: ReadSoFar::default(),
            former: None,
            seen: None,
            begin_at: None,
            held_back_for: None,
            held_size: 0,
            is_later: false,
            nameless_since: None,
            is_watched: false,
        };
        let stream = file.stream(number, source.clone(), 0, context);
        Self::new(stream, source, Some(file))
    }

    /// Follows a pipe or another input that can only be read sequentially.
    pub(super) fn of_pipe(number: usize, source: &Source, pipe: File, context: Context<'_>) -> Self {
        let source = source.with_medium(Medium::Pipe);
        let mut stream =
            Stream::new(source.clone(), ByteSource::File(pipe), Vec::new(), 0, context.bounds.clone(), None);
        stream.number = number;
        stream.set_pausing(Pausing::WhenIdle);
        Self::new(stream, source, None)
    }

    fn new(stream: Stream, source: Source, file: Option<FollowedFile>) -> Self {
        let preparation = Preparation::New;
        let (waiting_since, record_waits_since, recognized) = Default::default();
        Self {
            stream: Some(stream),
            source,
            file,
            preparation,
            waiting_since,
            record_waits_since,
            recognized,
        }
    }

    /// Takes its stream if there is something to be read, up to the present end of the file. `is_final` says that nothing
    /// more is waited for.
    pub(super) fn backlog(&mut self, is_final: bool) -> Option<Stream> {
        let Self { stream, file, .. } = self;
        let present = stream.as_mut()?;
        let (pausing, has_more) = match file {
            None => (Pausing::WhenIdle, present.has_stopped() || !present.is_idle()),
            Some(file) if file.held_back_for.is_some() => return None,
            Some(_) if present.has_stopped() => return stream.take(),
            Some(file) => {
                let size = file.seen.map_or(0, |(size, _)| size);
                (Pausing::At(size), size > present.position())
            }
        };
        let is_unprepared = self.preparation != Preparation::Ready && !present.rest().is_empty();
        let is_late = self.waiting_since.is_some_and(|since| since.elapsed() >= PATIENCE);
        let record_waits =
            self.record_waits_since.is_some_and(|since| is_final || since.elapsed() >= PATIENCE);
        if !has_more && !record_waits && !(is_unprepared && (is_late || is_final)) {
            return None;
        }
        present.set_pausing(pausing);
        if is_final || record_waits && !has_more {
            present.end_record_at_pause();
        }
        stream.take()
    }

    /// Determines the properties that reading the stream requires. `is_final` says that no more input is waited for.
    ///
    /// # Errors
    /// Returns the problem that makes the input unusable.
    pub(super) fn prepare(
        &mut self,
        stream: &mut Stream,
        context: Context<'_>,
        is_final: bool,
        problems: &mut Problems,
    ) -> Result<Prepared, ProblemKind> {
        if self.preparation == Preparation::Ready {
            self.recognize_again(stream, context);
            return Ok(Prepared::Ready);
        }
        stream.beginning(problems);
        if self.preparation == Preparation::New {
            let head = stream.rest();
            if Sniffed::needs_more(context.inputs, head) && !stream.has_stopped() && !is_final {
                return Ok(Prepared::Waits);
            }
            match Sniffed::of(context.inputs, &self.source, head) {
                Sniffed::Plain(mark) => stream.skip_mark(mark),
                Sniffed::Compressed(_) | Sniffed::Encoded => return Ok(Prepared::Decoded),
            }
            self.preparation = Preparation::Sniffed;
        }
        if !self.recognize(stream, context, is_final)? {
            return Ok(Prepared::Waits);
        }
        self.preparation = Preparation::Ready;
        self.narrow(stream, context, problems);
        Ok(Prepared::Ready)
    }

    /// Lets the beginning be recognised. Returns `false` if more of it is needed.
    fn recognize(
        &mut self,
        stream: &mut Stream,
        context: Context<'_>,
        is_final: bool,
    ) -> Result<bool, ProblemKind> {
        let Some(by) = context.recognize else { return Ok(true) };
        let head = stream.rest();
        let whole = memchr::memrchr(context.bounds.line_end, head).map_or(0, |end| end + 1);
        if whole > 0 {
            self.waiting_since.get_or_insert_with(Instant::now);
        }
        let is_late = self.waiting_since.is_some_and(|since| since.elapsed() >= PATIENCE);
        let is_all = stream.has_stopped() || head.len() >= MAX_HEAD || is_final || is_late;
        // The last record may be incomplete.
        let may_go_on = is_all && !stream.has_stopped() && head.len() < MAX_HEAD;
        let shown = if may_go_on { &head[..whole] } else { head };
        let recognized = by.recognize(&self.source, shown, is_all).map_err(ProblemKind::Unusable)?;
        let is_decided = recognized.is_some() || is_all;
        if let Some(recognized) = recognized {
            let bytes = if self.file.is_none() { shown.to_vec() } else { Vec::new() };
            self.recognized = Some((Instant::now(), bytes));
            stream.set_recognized(recognized);
            self.source = stream.source.clone();
        }
        Ok(is_decided)
    }

    /// Lets the beginning be recognised again if that was long ago.
    fn recognize_again(&mut self, stream: &mut Stream, context: Context<'_>) {
        let (Some(by), Some((at, bytes))) = (context.recognize, &mut self.recognized) else { return };
        if at.elapsed() < AGAIN {
            return;
        }
        *at = Instant::now();
        let start = self.source.text_start();
        let mut head = match &self.file {
            Some(file) => file.bytes(start, MAX_HEAD),
            None => bytes.clone(),
        };
        head.truncate(memchr::memrchr(context.bounds.line_end, &head).map_or(0, |end| end + 1));
        if let Ok(Some(recognized)) = by.recognize(&self.source, &head, true) {
            stream.source.set_recognized(recognized, start);
            self.source = stream.source.clone();
        }
    }

    /// Skips the beginning of a file that is not wanted.
    fn narrow(&mut self, stream: &mut Stream, context: Context<'_>, problems: &mut Problems) {
        if let Some(by) = context.recognize.filter(|_| self.source.details().is_some()) {
            // More will be added to the text.
            by.examine(&self.source, None).into_iter().for_each(|kind| problems.add(&self.source, kind));
        }
        let Some(file) = &mut self.file else { return };
        let size = file.seen.map_or(0, |(size, _)| size);
        let begin_at = match (file.begin_at.take(), context.narrow) {
            (Some(offset), _) => Some(offset),
            (None, Some(by)) if !stream.bounds.may_span_lines() && self.source.heading().is_none() => {
                let lines = LinesAt::new(&file.file, stream.offset..size, stream.bounds.clone());
                let Narrowed { range, problem } = by.narrow(&self.source, &lines);
                problem.into_iter().for_each(|kind| problems.add(&self.source, kind));
                Some(range.start)
            }
            (None, _) => None,
        };
        if let Some(offset) = begin_at.filter(|&offset| offset > stream.offset) {
            let bounds = stream.bounds.clone();
            pass_headings(file, &self.source, stream.offset..offset, bounds.max_line);
            *stream = file.stream(stream.number, self.source.clone(), offset, context);
            stream.bounds = bounds;
            stream.set_pausing(Pausing::At(size));
        }
    }

    /// When waiting ends for its recognition, or for the end of a record.
    pub(super) fn patience_ends(&self) -> Option<Instant> {
        let recognition = self.waiting_since.filter(|_| self.preparation != Preparation::Ready);
        recognition.into_iter().chain(self.record_waits_since).min().map(|since| since + PATIENCE)
    }

    /// Bytes of a file that are to be read.
    pub(super) fn unread(&self, stream: &Stream) -> u64 {
        let seen = self.file.as_ref().and_then(|file| file.seen);
        seen.map_or(0, |(size, _)| size.saturating_sub(stream.offset))
    }

    /// Whether all of a file was read, by its size when it was last examined.
    pub(super) fn is_read_to_end(&self) -> bool {
        let Some(FollowedFile { seen, held_back_for: None, .. }) = &self.file else { return false };
        let is_read = |stream: &Stream| seen.is_some_and(|(size, _)| size <= stream.position());
        self.stream.as_ref().is_some_and(is_read)
    }

    /// The file, to be read as one that does not grow.
    pub(super) fn file_to_read_once(&self) -> Option<File> {
        self.file.as_ref()?.file.try_clone().ok()
    }

    /// Takes the stream back after it was read.
    pub(super) fn put_back(&mut self, stream: Stream) {
        if let Some(file) = &mut self.file {
            file.remember(&stream);
        }
        self.record_waits_since = stream.has_waiting_lines().then(Instant::now);
        self.stream = Some(stream);
    }

    /// Offset of a last record that has no end.
    pub(super) fn unfinished(&self) -> Option<u64> {
        let is_held_back = self.file.as_ref().is_some_and(|file| file.held_back_for.is_some());
        let stream = self.stream.as_ref().filter(|stream| !stream.rest().is_empty() && !is_held_back)?;
        Some(stream.offset)
    }

    /// Examines the file. If it was truncated or overwritten, it is followed from its beginning again, and its previous state is
    /// returned. The second value is whether it has changed since it was last examined.
    pub(super) fn look(&mut self, number: usize, context: Context<'_>) -> (Option<Truncated>, bool) {
        let (Some(file), Some(stream)) = (&mut self.file, &self.stream) else { return (None, false) };
        let Ok(metadata) = file.file.metadata() else { return (None, false) };
        let now = (metadata.len(), metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        if file.seen.replace(now) == Some(now) {
            return (None, false);
        }
        if metadata.len() >= stream.position() && file.begins_as_before() {
            return (None, true);
        }
        let truncated = Truncated { identity: file.identity, read: mem::take(&mut file.read) };
        file.former = Some(truncated.read.clone());
        self.source = self.source.without_details();
        self.stream = Some(file.stream(number, self.source.clone(), 0, context));
        (self.preparation, self.waiting_since, self.recognized) = (Preparation::New, None, None);
        self.record_waits_since = None;
        (Some(truncated), true)
    }
}

/// Finds the last heading in a part of a file that is not read.
fn pass_headings(file: &FollowedFile, source: &Source, part: Range<u64>, max_line: usize) {
    let Some(prefix) = source.heading() else { return };
    let mut window = MAX_HEAD as u64;
    loop {
        let start = part.end.saturating_sub(window).max(part.start);
        let bytes = file.bytes(start, usize::try_from(part.end - start).unwrap_or(usize::MAX));
        let begin = if start > part.start {
            memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |end| end + 1)
        } else {
            0
        };
        if start == part.start || last_heading(&bytes[begin..], prefix, max_line).is_some() {
            source.pass_heading(&bytes[begin..], max_line);
            return;
        }
        window = window.saturating_mul(4);
    }
}

impl FollowedFile {
    /// The stream of its contents from an offset on.
    fn stream(&self, number: usize, source: Source, offset: u64, context: Context<'_>) -> Stream {
        let bytes = FileFrom { file: Arc::clone(&self.file), offset };
        let mut stream =
            Stream::new(source, ByteSource::Growing(bytes), Vec::new(), offset, context.bounds.clone(), None);
        stream.number = number;
        stream.set_pausing(Pausing::At(offset));
        stream
    }

    /// Remembers some of the bytes read, to recognise the contents.
    fn remember(&mut self, stream: &Stream) {
        let (position, offset) = (stream.position(), stream.offset);
        let end = usize::try_from(position).unwrap_or(HEAD).min(HEAD);
        let length = offset.min(BEFORE as u64);
        let head = (self.read.head.len() < end).then(|| self.bytes(0, end));
        let before = (self.read.consumed != offset).then(|| self.bytes(offset - length, length as usize));
        self.read.consumed = offset;
        // If it was truncated meanwhile, these are no longer the bytes that were read.
        if (head.is_some() || before.is_some()) && self.size() >= position {
            self.read.head = head.unwrap_or_else(|| mem::take(&mut self.read.head));
            if let Some(before) = before {
                (self.read.before, self.read.before_end) = (before, offset);
            }
        }
    }

    /// Reads up to `length` bytes; fewer if that fails.
    fn bytes(&self, offset: u64, length: usize) -> Vec<u8> {
        ReadBuffer::of_file(&self.file, offset, length).map(|bytes| bytes.to_vec()).unwrap_or_default()
    }

    fn begins_as_before(&self) -> bool {
        self.bytes(0, self.read.head.len()) == self.read.head
    }

    /// Whether the contents are the present or earlier contents of another file, by all that can still be compared.
    pub(super) fn is_copy_of(&self, other: &Self) -> bool {
        let size = self.size();
        // Later than that of the copy, which is never longer.
        let original_size = other.size();
        if !self.begins_alike(&other.read) || size >= other.read.before_end && !self.continues(&other.read) {
            return false;
        }
        if original_size < other.read.consumed || !other.begins_as_before() {
            // It has been truncated meanwhile, and cannot be compared any more.
            return true;
        }
        if size > original_size {
            return false;
        }
        let is_same = |start: u64, length: u64| {
            self.bytes(start, length as usize) == other.bytes(start, length as usize)
        };
        let compared = size.min(COMPARED);
        is_same(0, compared) && is_same(size - compared, compared)
    }

    fn size(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }

    /// Whether nothing of it was read so far, but there is something to be read.
    pub(super) fn is_unread(&self, stream: Option<&Stream>) -> bool {
        stream.is_some_and(|stream| stream.position() == 0) && self.begin_at.is_none() && self.size() > 0
    }

    /// Holds the file back, because its contents are a copy of another file's.
    pub(super) fn hold_back(&mut self, original: FileIdentity) {
        self.held_back_for = Some(original);
        self.held_size = self.size();
    }

    /// Releases a file that was held back, without its contents at that time: its original is no longer followed.
    pub(super) fn release_rest(&mut self) {
        self.held_back_for = None;
        self.begin_at = Some(self.held_size);
    }

    /// Whether it was empty when it was last examined.
    pub(super) fn is_empty(&self) -> bool {
        self.seen.is_none_or(|(size, _)| size == 0)
    }

    /// Offset after the records that were read.
    pub(super) fn consumed(&self) -> u64 {
        self.read.consumed
    }

    /// Whether it begins with the first bytes of other contents, or is a beginning of them.
    fn begins_alike(&self, other: &ReadSoFar) -> bool {
        let common = other.head.len().min(usize::try_from(self.size()).unwrap_or(usize::MAX));
        common > 0 && self.bytes(0, common) == other.head[..common]
    }

    /// Whether it has the last known bytes of other contents at the same place.
    fn continues(&self, other: &ReadSoFar) -> bool {
        let ReadSoFar { before, before_end, .. } = other;
        self.bytes(before_end - before.len() as u64, before.len()) == *before
    }

    /// Whether it is a copy of what another file had before it was truncated. Little text may begin alike without being a copy.
    pub(super) fn is_copy_of_former(&self, other: &Self) -> bool {
        let Some(former) = &other.former else { return false };
        let is_long = former.head.len() == HEAD && self.size() >= HEAD as u64;
        let is_same = if self.size() >= former.before_end { self.continues(former) } else { is_long };
        self.begins_alike(former) && is_same
    }

    /// Takes the state before it was truncated, for its copy: no other file is one.
    pub(super) fn take_former(&mut self) -> Option<ReadSoFar> {
        self.former.take()
    }

    /// Lets a copy of what was read before a truncation be read from there on.
    pub(super) fn read_after(&mut self, former: &ReadSoFar) {
        self.begin_at = Some(former.consumed.min(self.size()));
        self.is_later = false;
    }

    /// Lets a file that was held back be read: from where its original was read to before it was truncated, or from the
    /// beginning if it is no copy. Returns `true` if it is.
    pub(super) fn release(&mut self, original: Option<&Truncated>) -> bool {
        self.held_back_for = None;
        let size = self.size();
        self.begin_at = original.and_then(|original| {
            let is_copy = size < original.read.before_end || self.continues(&original.read);
            is_copy.then_some(original.read.consumed.min(size))
        });
        self.begin_at.is_some()
    }

    /// Whether some name leads to the file.
    pub(super) fn has_name(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata: Metadata| metadata.nlink() > 0)
    }
}
