//! Document starts: the offsets in divided files at which their documents start. A search reads only the documents that may hold a
//! match.

use crate::pages::u32_at;

/// Bytes of a record.
const START: usize = 12;

/// The start of a document that is not the first one of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Start {
    /// Number in its segment.
    pub(crate) document: u32,
    /// Offset in the file.
    pub(crate) offset: u32,
    /// Number of lines before it.
    pub(crate) lines: u32,
}

/// The document starts of a segment, in the order of the documents.
#[derive(Debug, Default)]
pub(crate) struct Starts(Vec<Start>);

impl Starts {
    /// Reads records; `None` if the bytes are not records in order.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        bytes.len().is_multiple_of(START).then_some(())?;
        let start = |at| {
            let number = |offset| u32_at(bytes, at + offset);
            Some(Start { document: number(0)?, offset: number(4)?, lines: number(8)? })
        };
        let starts: Vec<Start> = (0..bytes.len()).step_by(START).map(start).collect::<Option<_>>()?;
        starts.is_sorted().then_some(Self(starts))
    }

    /// The start of a document, if it is not the first one of its file.
    pub(crate) fn of(&self, document: u32) -> Option<Start> {
        let place = self.0.binary_search_by_key(&document, |start| start.document).ok()?;
        self.0.get(place).copied()
    }
}

/// Appends the record of a document start.
pub(crate) fn write(start: &Start, out: &mut Vec<u8>) {
    for number in [start.document, start.offset, start.lines] {
        out.extend(number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_found_as_they_were_written() {
        let starts = [3, 4, 9].map(|document| Start { document, offset: 10 * document, lines: document + 1 });
        let mut bytes = Vec::new();
        starts.iter().for_each(|start| write(start, &mut bytes));
        let read = Starts::parse(&bytes).expect("records");
        let found: Vec<Start> = (0..12).filter_map(|document| read.of(document)).collect();
        assert_eq!(found, starts);
        assert!(Starts::parse(&bytes[..13]).is_none());
        bytes.rotate_left(START);
        assert!(Starts::parse(&bytes).is_none());
    }
}
