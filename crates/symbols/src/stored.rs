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

/// Number of definitions that can be decoded by themselves. A text with more of them is divided: a generated header has a hundred thousand.
const CHUNK: usize = 256;

/// The definitions of a text, all of them, and its language.
pub(crate) fn encode(language: Language, text: &[u8], parsed: &Parsed) -> Vec<u8> {
    let number = Language::ALL.iter().position(|&known| known == language).unwrap_or_default();
    let flags = flag(parsed.error.is_some(), HAS_ERRORS)
        | flag(parsed.too_deep, TOO_DEEP)
        | flag(parsed.gave_up, GAVE_UP);
    let mut out = Encoder(Vec::new());
    out.number(flags);
    parsed.error.iter().for_each(|&error| out.offset(error, 0));
    out.number(number as u64);
    out.number(parsed.definitions.len() as u64);
    if parsed.definitions.len() <= CHUNK {
        out.definitions(&parsed.definitions, 0, 0);
        return out.0;
    }
    for (chunk, first) in parsed.definitions.chunks(CHUNK).zip((0..).step_by(CHUNK)) {
        let names = around_names(text, chunk);
        let mut encoded = Encoder(Vec::new());
        encoded.definitions(chunk, first, names.start);
        out.range(&names, 0);
        varint::put_bytes(&mut out.0, &encoded.0);
    }
    out.0
}

fn flag(is_set: bool, bit: u64) -> u64 {
    if is_set { bit } else { 0 }
}

/// A range that has the names of some definitions in it.
fn around_names(text: &[u8], definitions: &[Definition]) -> Range<usize> {
    let names = || definitions.iter().map(|definition| &definition.name);
    // A caller may ask for such a name without the white space, and so in a form that the text does not have.
    if names().any(|name| text[name.clone()].iter().any(u8::is_ascii_whitespace)) {
        return 0..text.len();
    }
    let start = names().map(|name| name.start).min().unwrap_or_default();
    start..names().map(|name| name.end).max().unwrap_or(start)
}

/// The language and the definitions of a text of this length; `None` if the bytes are invalid.
pub(crate) fn decode(bytes: &[u8], length: usize) -> Option<(Language, Parsed)> {
    decode_near(bytes, length, |_| true)
}

/// The language of a text of this length and its definitions, but perhaps not those whose names are in a range that is not near; `None` if the bytes are
/// invalid. The scopes of definitions are among them.
pub(crate) fn decode_near(
    bytes: &[u8],
    length: usize,
    is_near: impl Fn(&Range<usize>) -> bool,
) -> Option<(Language, Parsed)> {
    let mut bytes = Decoder { bytes, length };
    let flags = bytes.number()?;
    let error = if flags & HAS_ERRORS != 0 { Some(bytes.offset(0)?) } else { None };
    let language = *Language::ALL.get(bytes.size()?)?;
    let count = bytes.size()?;
    let definitions = if count <= CHUNK {
        let definitions = bytes.definitions(0..count, 0)?;
        bytes.bytes.is_empty().then_some(definitions)?
    } else {
        bytes.chunks(count, is_near)?
    };
    let (too_deep, gave_up) = (flags & TOO_DEEP != 0, flags & GAVE_UP != 0);
    Some((language, Parsed { definitions, error, too_deep, gave_up, ..Parsed::default() }))
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

    /// Definitions, numbered from `first` on. The first offset is the distance from `before`.
    fn definitions(&mut self, definitions: &[Definition], first: usize, mut before: usize) {
        for (index, definition) in (first..).zip(definitions) {
            let Definition { kind, name, extent, head, parameters, qualifier, scope } = definition;
            let kind = Kind::ALL.iter().position(|known| known == kind).unwrap_or_default() as u64;
            let parts = flag(parameters.is_some(), HAS_PARAMETERS)
                | flag(qualifier.is_some(), HAS_QUALIFIER)
                | flag(scope.is_some(), HAS_SCOPE);
            self.number(kind | parts);
            self.range(extent, before);
            self.range(name, extent.start);
            self.range(head, extent.start);
            parameters.iter().for_each(|parameters| self.range(parameters, name.end));
            qualifier.iter().for_each(|qualifier| self.range(qualifier, name.start));
            scope.iter().for_each(|&scope| self.number(index.wrapping_sub(scope) as u64));
            before = extent.end;
        }
    }
}

struct Decoder<'b> {
    bytes: &'b [u8],
    /// Length of the text.
    length: usize,
}

impl<'b> Decoder<'b> {
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

    /// The definitions with these numbers. The first offset is the distance from `before`.
    fn definitions(&mut self, numbers: Range<usize>, mut before: usize) -> Option<Vec<Definition>> {
        let mut definitions = Vec::new();
        for index in numbers {
            let first = self.number()?;
            let kind = *Kind::ALL.get((first % KINDS) as usize)?;
            let extent = self.range(before)?;
            let name = self.range(extent.start)?;
            let head = self.range(extent.start)?;
            let has = |bit| first & bit != 0;
            let parameters = if has(HAS_PARAMETERS) { Some(self.range(name.end)?) } else { None };
            let qualifier = if has(HAS_QUALIFIER) { Some(self.range(name.start)?) } else { None };
            // Scopes come before what is in them, so that none is in itself.
            let scope = if has(HAS_SCOPE) {
                Some(index.checked_sub(self.size().filter(|&distance| distance > 0)?)?)
            } else {
                None
            };
            before = extent.end;
            definitions.push(Definition { kind, name, extent, head, parameters, qualifier, scope });
        }
        Some(definitions)
    }

    /// The definitions of the chunks that are near, and of those with their scopes.
    fn chunks(&mut self, count: usize, is_near: impl Fn(&Range<usize>) -> bool) -> Option<Vec<Definition>> {
        let mut chunks: Vec<(Range<usize>, &'b [u8])> = Vec::new();
        while chunks.len() < count.div_ceil(CHUNK) {
            chunks.push((self.range(0)?, varint::take_bytes(&mut self.bytes)?));
        }
        let mut is_needed: Vec<bool> = chunks.iter().map(|(names, _)| is_near(names)).collect();
        let mut decoded = vec![Vec::new(); chunks.len()];
        // A scope is in an earlier chunk or in the same one.
        for (chunk, (names, bytes)) in chunks.iter().enumerate().rev() {
            if !is_needed[chunk] {
                continue;
            }
            let first = chunk * CHUNK;
            let mut bytes = Decoder { bytes, length: self.length };
            decoded[chunk] = bytes.definitions(first..count.min(first + CHUNK), names.start)?;
            bytes.bytes.is_empty().then_some(())?;
            let scopes = decoded[chunk].iter().filter_map(|definition| definition.scope);
            scopes.for_each(|scope| is_needed[scope / CHUNK] = true);
        }
        let before = |next: &mut usize, chunk: &Vec<Definition>| {
            let start = *next;
            *next += chunk.len();
            Some(start)
        };
        let starts: Vec<usize> = decoded.iter().scan(0, before).collect();
        let mut definitions = decoded.concat();
        let moved = |scope: usize| starts[scope / CHUNK] + scope % CHUNK;
        definitions.iter_mut().for_each(|definition| definition.scope = definition.scope.map(moved));
        self.bytes.is_empty().then_some(definitions)
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
                let bytes = encode(language, &text, &parsed);
                let (same_language, same) = decode(&bytes, text.len()).expect("decoded");
                assert_eq!((same_language, &same.definitions), (language, &parsed.definitions));
                assert_eq!((same.error, same.too_deep), (parsed.error, parsed.too_deep));
                assert!(decode(&bytes[..bytes.len() - 1], text.len()).is_none());
                count += same.definitions.len();
            }
        }
        assert!(count > 1000, "{count}");
    }

    /// The name of a definition, and those of the scopes around it.
    fn path_of<'t>(text: &'t str, definitions: &[Definition], definition: &Definition) -> Vec<&'t str> {
        let around = std::iter::successors(Some(definition), |inner| Some(&definitions[inner.scope?]));
        around.map(|definition| &text[definition.name.clone()]).collect()
    }

    /// Modules with functions, every other one of them within the one before it.
    #[cfg(feature = "rust")]
    fn modules(functions: &[usize]) -> String {
        let (mut text, mut depth) = (String::new(), 0);
        for (module, &count) in functions.iter().enumerate() {
            text += &format!("mod m{module} {{\n");
            (0..count).for_each(|number| text += &format!("fn f{number}() {{}}\n"));
            depth += 1;
            if module % 2 == 1 {
                text += "}\n";
                depth -= 1;
            }
        }
        text + &"}\n".repeat(depth)
    }

    #[test]
    #[cfg(feature = "markdown")]
    fn names_with_white_space_are_anywhere() {
        let text = "# one\n# two\n# three words here\n# four\n";
        let parsed = Parser::default().parse(Language::Markdown, text.as_bytes(), &SymbolsQuery::default());
        let around = |range| around_names(text.as_bytes(), &parsed.definitions[range]);
        assert_eq!((around(0..2), around(1..3), around(3..4)), (2..11, 0..text.len(), 33..37));
    }

    proptest! {
        #[test]
        #[cfg(feature = "rust")]
        fn definitions_of_a_name_are_decoded_without_most_others(
            functions in prop::collection::vec(0..200_usize, 1..12),
            names in prop::collection::vec(0..250_usize, 0..4),
        ) {
            let text = modules(&functions);
            let parsed = Parser::default().parse(Language::Rust, text.as_bytes(), &SymbolsQuery::default());
            let bytes = encode(Language::Rust, text.as_bytes(), &parsed);
            let names: Vec<String> = names.into_iter().map(|number| format!("f{number}")).collect();
            let is_wanted = |definition: &&Definition| names.iter().any(|name| *name == text[definition.name.clone()]);
            let wanted = |definitions: &[Definition]| {
                let wanted = definitions.iter().filter(is_wanted);
                wanted.map(|found| (found.extent.clone(), path_of(&text, definitions, found).join(" "))).collect::<Vec<_>>()
            };
            let places: Vec<usize> = parsed.definitions.iter().filter(is_wanted).map(|definition| definition.name.start).collect();
            let is_near = |around: &Range<usize>| places.iter().any(|place| around.contains(place));
            let (_, near) = decode_near(&bytes, text.len(), is_near).expect("decoded");
            prop_assert_eq!(wanted(&near.definitions), wanted(&parsed.definitions));
            let count = parsed.definitions.len();
            if places.is_empty() && count > CHUNK {
                prop_assert!(near.definitions.is_empty());
            }
            let (_, all) = decode(&bytes, text.len()).expect("decoded");
            prop_assert_eq!(all.definitions, parsed.definitions);
            prop_assert!(decode(&bytes[..bytes.len() - 1], text.len()).is_none());
        }

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
