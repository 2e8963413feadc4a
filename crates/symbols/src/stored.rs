//! The definitions of a text as bytes, so that it need not be parsed again.
//!
//! All numbers are of variable length. Offsets are differences from the nearest one before: most take one byte.

use std::fmt::Debug;
use std::ops::Range;

use finecomb_scan::Source;
use finecomb_sys::varint;

use crate::definition::{Definition, Parsed};
use crate::kind::Kind;
use crate::language::Language;

/// Stores what was parsed, for later runs of the same program.
pub trait ParseStore: Debug + Send + Sync {
    /// Returns what was stored of a file with the same extension and the same text.
    fn get(&self, source: &Source, text: &[u8]) -> Option<Vec<u8>>;

    /// Stores what was parsed of a file. Calls `parsed` only if it is stored.
    fn put(&self, source: &Source, text: &[u8], parsed: &dyn Fn() -> Vec<u8>);
}

/// Bits of the first number of a text.
const HAS_ERRORS: u64 = 1;
const TOO_DEEP: u64 = 1 << 1;
const GAVE_UP: u64 = 1 << 2;

/// Bits of the first number of a definition, above its kind.
const KINDS: u64 = 1 << 5;
const _: () = assert!(Kind::ALL.len() <= KINDS as usize);
const HAS_PARAMETERS: u64 = 1 << 5;
const HAS_QUALIFIER: u64 = 1 << 6;
const HAS_SCOPE: u64 = 1 << 7;

/// The definitions of a text, all of them, and its language.
pub(crate) fn encode(language: Language, parsed: &Parsed) -> Vec<u8> {
    let number = Language::ALL.iter().position(|&known| known == language).unwrap_or_default();
    let flag = |is_set, bit| if is_set { bit } else { 0 };
    let flags = flag(parsed.error.is_some(), HAS_ERRORS)
        | flag(parsed.too_deep, TOO_DEEP)
        | flag(parsed.gave_up, GAVE_UP);
    let mut out = Encoder(Vec::new());
    out.number(flags);
    parsed.error.iter().for_each(|&error| out.offset(error, 0));
    out.number(number as u64);
    out.number(parsed.definitions.len() as u64);
    let mut before = 0;
    for (index, definition) in parsed.definitions.iter().enumerate() {
        let Definition { kind, name, extent, head, parameters, qualifier, scope } = definition;
        let kind = Kind::ALL.iter().position(|known| known == kind).unwrap_or_default() as u64;
        let parts = flag(parameters.is_some(), HAS_PARAMETERS)
            | flag(qualifier.is_some(), HAS_QUALIFIER)
            | flag(scope.is_some(), HAS_SCOPE);
        out.number(kind | parts);
        out.range(extent, before);
        out.range(name, extent.start);
        out.range(head, extent.start);
        parameters.iter().for_each(|parameters| out.range(parameters, name.end));
        qualifier.iter().for_each(|qualifier| out.range(qualifier, name.start));
        scope.iter().for_each(|&scope| out.number(index.wrapping_sub(scope) as u64));
        before = extent.end;
    }
    out.0
}

/// The language and the definitions of a text of this length; `None` if the bytes are invalid.
pub(crate) fn decode(bytes: &[u8], length: usize) -> Option<(Language, Parsed)> {
    let mut bytes = Decoder { bytes, length };
    let flags = bytes.number()?;
    let error = if flags & HAS_ERRORS != 0 { Some(bytes.offset(0)?) } else { None };
    let language = *Language::ALL.get(bytes.size()?)?;
    let count = bytes.size()?;
    let mut parsed =
        Parsed { error, too_deep: flags & TOO_DEEP != 0, gave_up: flags & GAVE_UP != 0, ..Parsed::default() };
    let mut before = 0;
    for index in 0..count {
        let first = bytes.number()?;
        let kind = *Kind::ALL.get((first % KINDS) as usize)?;
        let extent = bytes.range(before)?;
        let name = bytes.range(extent.start)?;
        let head = bytes.range(extent.start)?;
        let has = |bit| first & bit != 0;
        let parameters = if has(HAS_PARAMETERS) { Some(bytes.range(name.end)?) } else { None };
        let qualifier = if has(HAS_QUALIFIER) { Some(bytes.range(name.start)?) } else { None };
        // Scopes come before what is in them, so that none is in itself.
        let scope = if has(HAS_SCOPE) {
            Some(index.checked_sub(bytes.size().filter(|&distance| distance > 0)?)?)
        } else {
            None
        };
        before = extent.end;
        parsed.definitions.push(Definition { kind, name, extent, head, parameters, qualifier, scope });
    }
    bytes.bytes.is_empty().then_some((language, parsed))
}

struct Encoder(Vec<u8>);

impl Encoder {
    fn number(&mut self, number: u64) {
        varint::put(&mut self.0, number);
    }

    /// An offset in the text by its distance from another one.
    fn offset(&mut self, offset: usize, from: usize) {
        varint::put_signed(&mut self.0, offset as i128 - from as i128);
    }

    fn range(&mut self, range: &Range<usize>, from: usize) {
        self.offset(range.start, from);
        self.offset(range.end, range.start);
    }
}

struct Decoder<'b> {
    bytes: &'b [u8],
    /// Length of the text.
    length: usize,
}

impl Decoder<'_> {
    fn number(&mut self) -> Option<u64> {
        varint::take(&mut self.bytes)
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    fn offset(&mut self, from: usize) -> Option<usize> {
        let offset = varint::take_signed(&mut self.bytes)?.checked_add(from as i128)?;
        usize::try_from(offset).ok().filter(|&offset| offset <= self.length)
    }

    fn range(&mut self, from: usize) -> Option<Range<usize>> {
        let start = self.offset(from)?;
        let end = self.offset(start)?;
        (start <= end).then_some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use proptest::prelude::*;

    use super::*;
    use crate::parser::Parser;
    use crate::query::SymbolsQuery;

    /// The samples of all languages.
    fn samples() -> Vec<(Language, Vec<u8>)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages");
        let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let sample = |path: PathBuf| {
            let text = fs::read(&path).ok()?;
            Some((Language::of(&path, &text)?, text))
        };
        files.filter_map(sample).collect()
    }

    #[test]
    fn texts_of_all_languages_are_decoded_as_they_were_parsed() {
        let (mut parser, mut count) = (Parser::default(), 0);
        for (language, sample) in samples() {
            for cut in 0..10 {
                // Without a tenth of it, most texts have errors.
                let (start, end) = (sample.len() * cut / 10, sample.len() * (cut + 1) / 10);
                let text = [&sample[..start], &sample[end..]].concat();
                let parsed = parser.parse(language, &text, &SymbolsQuery::default());
                let bytes = encode(language, &parsed);
                let (same_language, same) = decode(&bytes, text.len()).expect("decoded");
                assert_eq!((same_language, &same.definitions), (language, &parsed.definitions));
                assert_eq!((same.error, same.too_deep), (parsed.error, parsed.too_deep));
                assert!(decode(&bytes[..bytes.len() - 1], text.len()).is_none());
                count += same.definitions.len();
            }
        }
        assert!(count > 1000, "{count}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_definitions_within_the_text_or_none(bytes in prop::collection::vec(any::<u8>(), 0..60), length in 0..300_usize) {
            if let Some((_, parsed)) = decode(&bytes, length) {
                for (index, definition) in parsed.definitions.iter().enumerate() {
                    prop_assert!(definition.extent.end <= length && definition.name.start <= definition.name.end);
                    prop_assert!(definition.scope.is_none_or(|scope| scope < index));
                }
            }
        }
    }
}
