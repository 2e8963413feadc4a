//! Definitions and uses that are found, as data for programs.
//!
//! With [`SymbolsFormat::Records`](crate::SymbolsFormat::Records) a list is written as records instead of text: the same symbols in
//! the same order. Each write to the output consists of whole records, which [`SymbolRecords`] reads. Their form in memory is not a
//! format for files.

use std::ops::Range;

use finecomb_sys::ByteReader;

use crate::kind::{Kind, label};
use crate::language::Language;
use crate::print::ListedFile;
use crate::symbol::{Symbol, collapse};

/// Kinds of records, in their first byte.
const PATH: u8 = 0;
const SYMBOL: u8 = 1;
/// Symbol of a file with syntax errors.
const SYMBOL_BESIDE_ERRORS: u8 = 2;

/// Number in the place of a kind that is missing.
const NO_KIND: u8 = u8::MAX;

/// Length of a missing text. Texts are at most 64 MiB long, and the names of all scopes of a symbol at most 65 times that.
const NO_TEXT: u64 = u64::MAX;

/// A symbol, or the path of the file that the next symbols are in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymbolRecord<'b> {
    /// The path of the file of the records that follow.
    Path(&'b [u8]),
    /// A definition or a use.
    Symbol(FoundSymbol<'b>),
}

/// A definition, or the use of a name. `docs/symbols.schema.json` describes the members.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct FoundSymbol<'b> {
    pub language: Language,
    /// Kind of the definition; `None` for a use.
    pub kind: Option<Kind>,
    pub scope_kind: Option<Kind>,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub start_byte: u32,
    pub end_byte: u32,
    pub name: RecordText<'b>,
    pub scope: Option<RecordText<'b>>,
    pub signature: RecordText<'b>,
    pub parameters: Option<RecordText<'b>>,
    pub has_errors: bool,
}

impl FoundSymbol<'_> {
    /// Name of the kind, or `reference`.
    pub fn label(&self) -> &'static str {
        label(self.kind)
    }
}

/// A text in the records, which need not be valid UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordText<'b> {
    /// The text.
    pub bytes: &'b [u8],
    /// Its position in the records, in bytes.
    pub position: usize,
}

/// Reads records.
#[derive(Clone, Debug)]
pub struct SymbolRecords<'b>(ByteReader<'b>);

impl<'b> SymbolRecords<'b> {
    /// The records in the output of a list.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self(ByteReader::new(bytes))
    }

    /// Number of bytes of the records that were read.
    pub fn position(&self) -> usize {
        self.0.position()
    }

    fn kind(&mut self) -> Option<Option<Kind>> {
        Some(Kind::ALL.get(usize::from(self.0.byte()?)).copied())
    }

    fn text(&mut self) -> Option<Option<RecordText<'b>>> {
        let length = self.0.long()?;
        if length == NO_TEXT {
            return Some(None);
        }
        let position = self.0.position();
        let bytes = self.0.take(usize::try_from(length).ok()?)?;
        Some(Some(RecordText { bytes, position }))
    }

    fn symbol(&mut self, has_errors: bool) -> Option<FoundSymbol<'b>> {
        Some(FoundSymbol {
            language: *Language::ALL.get(usize::from(self.0.byte()?))?,
            kind: self.kind()?,
            scope_kind: self.kind()?,
            line: self.0.short()?,
            column: self.0.short()?,
            end_line: self.0.short()?,
            start_byte: self.0.short()?,
            end_byte: self.0.short()?,
            name: self.text()??,
            scope: self.text()?,
            signature: self.text()??,
            parameters: self.text()?,
            has_errors,
        })
    }
}

impl<'b> Iterator for SymbolRecords<'b> {
    type Item = SymbolRecord<'b>;

    fn next(&mut self) -> Option<SymbolRecord<'b>> {
        match self.0.byte()? {
            PATH => self.text()?.map(|path| SymbolRecord::Path(path.bytes)),
            kind => self.symbol(kind == SYMBOL_BESIDE_ERRORS).map(SymbolRecord::Symbol),
        }
    }
}

/// Appends the path of the file of the records that follow.
pub(crate) fn put_path(path: &[u8], out: &mut Vec<u8>) {
    out.push(PATH);
    put_text(path, out);
}

/// Appends a symbol of a file.
pub(crate) fn put_symbol(file: &ListedFile<'_>, symbol: &Symbol, out: &mut Vec<u8>) {
    let &ListedFile { text, language, has_errors, .. } = file;
    let record = if has_errors { SYMBOL_BESIDE_ERRORS } else { SYMBOL };
    out.extend([record, language as u8, number(symbol.kind), number(symbol.scope_kind)]);
    // Files are at most 64 MiB long, so all of these fit in 32 bits.
    for number in [symbol.line, symbol.column, symbol.end_line, symbol.extent.start, symbol.extent.end] {
        out.extend_from_slice(&(number as u32).to_le_bytes());
    }
    put_text(&text[symbol.name.clone()], out);
    match &symbol.scope[..] {
        b"" => put_length(NO_TEXT, out),
        scope => put_text(scope, out),
    }
    put_collapsed(&text[symbol.head.clone()], out);
    match &symbol.parameters {
        Some(parameters) => put_collapsed(&text[parameters.clone()], out),
        None => put_length(NO_TEXT, out),
    }
}

fn number(kind: Option<Kind>) -> u8 {
    kind.map_or(NO_KIND, |kind| kind as u8)
}

fn put_length(length: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&length.to_le_bytes());
}

fn put_text(text: &[u8], out: &mut Vec<u8>) {
    put_length(text.len() as u64, out);
    out.extend_from_slice(text);
}

/// Appends a text on one line. Its length becomes known afterwards.
fn put_collapsed(text: &[u8], out: &mut Vec<u8>) {
    let place: Range<usize> = out.len()..out.len() + size_of::<u64>();
    put_length(0, out);
    collapse(text, out);
    let length = (out.len() - place.end) as u64;
    out[place].copy_from_slice(&length.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn symbol() -> Symbol {
        Symbol {
            kind: Some(Kind::Variable),
            name: 4..5,
            scope: b"a::\xFF".to_vec(),
            scope_kind: Some(Kind::Class),
            depth: 1,
            extent: 0..8,
            line: 3,
            column: 5,
            end_line: 4,
            head: 0..5,
            parameters: Some(5..5),
        }
    }

    fn file(has_errors: bool) -> ListedFile<'static> {
        let (text, language) = (b"int\nx()\n", Language::ALL[0]);
        ListedFile { path: Path::new("a/b"), text, language, has_errors, symbols: &[] }
    }

    #[test]
    fn numbers_of_kinds_and_languages_are_their_places() {
        assert!(Kind::ALL.iter().enumerate().all(|(number, &kind)| kind as usize == number));
        assert!(Language::ALL.iter().enumerate().all(|(number, &language)| language as usize == number));
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let language = Language::ALL[0];
        let mut out = Vec::new();
        put_path(b"a/b", &mut out);
        put_symbol(&file(true), &symbol(), &mut out);
        let other = Symbol { kind: None, scope: Vec::new(), scope_kind: None, parameters: None, ..symbol() };
        put_symbol(&file(false), &other, &mut out);
        let mut records = SymbolRecords::new(&out);
        assert_eq!(records.next(), Some(SymbolRecord::Path(b"a/b")));
        let Some(SymbolRecord::Symbol(found)) = records.next() else { panic!("a symbol") };
        let numbers = [found.line, found.column, found.end_line, found.start_byte, found.end_byte];
        assert_eq!((found.language, found.label(), numbers), (language, "variable", [3, 5, 4, 0, 8]));
        assert_eq!((found.scope_kind, found.has_errors), (Some(Kind::Class), true));
        let texts = [Some(found.name), found.scope, Some(found.signature), found.parameters];
        let is_at = |text: RecordText<'_>| out[text.position..].starts_with(text.bytes);
        assert!(texts.iter().all(|text| text.is_some_and(is_at)));
        let expected: [&[u8]; 4] = [b"x", b"a::\xFF", b"int x", b""];
        assert_eq!(texts.map(|text| text.map(|text| text.bytes)), expected.map(Some));
        let Some(SymbolRecord::Symbol(found)) = records.next() else { panic!("a symbol") };
        assert_eq!((found.label(), found.scope_kind), ("reference", None));
        assert_eq!((found.scope, found.parameters, found.has_errors), (None, None, false));
        assert_eq!((records.next(), records.position()), (None, out.len()));
    }

    #[test]
    fn a_record_whose_end_is_missing_is_left_out() {
        let mut out = Vec::new();
        put_path(b"a", &mut out);
        let first = out.len();
        put_symbol(&file(false), &symbol(), &mut out);
        for length in first..out.len() {
            assert_eq!(SymbolRecords::new(&out[..length]).count(), 1);
        }
    }
}
