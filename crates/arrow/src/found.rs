//! Lines that `grep` finds.

use std::borrow::Cow;
use std::collections::HashMap;
use std::iter;
use std::sync::Arc;

use arrow_array::builder::make_view;
use arrow_array::{
    ArrayRef, BinaryViewArray, ListArray, RecordBatch, StringViewArray, StructArray, UInt32Array, UInt64Array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use finecomb_grep::records::{FoundText, Record, Records, binary_notice};

/// The columns of lines that are found: `path`, `line_number` (null without numbers), `offset`, `text` (with U+FFFD in the place of
/// bytes that are not UTF-8), `line` (the exact bytes), and `spans` (the matches in `line`, null in lines of context).
pub fn found_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("path", DataType::Utf8View, false),
        Field::new("line_number", DataType::UInt64, true),
        Field::new("offset", DataType::UInt64, false),
        Field::new("text", DataType::Utf8View, false),
        Field::new("line", DataType::BinaryView, false),
        Field::new("spans", DataType::List(span_field()), true),
    ]))
}

fn span_field() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Struct(ends()), false))
}

fn ends() -> Fields {
    ["start", "end"].map(|name| Field::new(name, DataType::UInt32, false)).to_vec().into()
}

/// Converts what a search writes to batches.
#[derive(Debug)]
pub struct FoundBatches {
    schema: SchemaRef,
    names: HashMap<Vec<u8>, String>,
    /// Path of the last record.
    path: String,
    /// Notices on binary files, each with its path.
    notices: Vec<String>,
}

impl FoundBatches {
    /// No records so far. `names` are shown in the place of some paths.
    pub fn new(names: HashMap<Vec<u8>, String>) -> Self {
        Self { schema: found_schema(), names, path: String::new(), notices: Vec::new() }
    }

    /// The lines in the records that follow those of the call before. Their text is not copied.
    ///
    /// # Errors
    /// If a line is longer than the 2 GiB that Arrow allows.
    pub fn batch(&mut self, records: Vec<u8>) -> Result<RecordBatch, ArrowError> {
        let mut columns = Columns::default();
        let mut path = columns.path(&self.path);
        for record in Records::new(&records) {
            match record {
                Record::Path(bytes) => {
                    let name = self.names.get(bytes).map(|name| Cow::Borrowed(&**name));
                    let text = name.unwrap_or_else(|| String::from_utf8_lossy(bytes));
                    if text != self.path {
                        self.path = text.into_owned();
                        path = columns.path(&self.path);
                    }
                }
                Record::Line(line) => columns.push(path, &line),
                Record::Binary { offset, is_end } => {
                    self.notices.push(format!("{}: {}", self.path, binary_notice(offset, is_end)));
                }
            }
        }
        columns.into_batch(records, &self.schema)
    }

    /// Takes the notices on files of which not all lines were found, as they are binary.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }
}

/// Index of the buffer with the records, of texts and lines.
const RECORDS: u32 = 0;

/// Index of the buffer with text that is not UTF-8 in the records.
const LOSSY: u32 = 1;

/// Columns under construction.
#[derive(Default)]
struct Columns {
    paths: Vec<u128>,
    /// The paths, each once. They have a buffer of their own, as a writer of Arrow's files writes all buffers of a column.
    path_text: Vec<u8>,
    numbers: Vec<Option<u64>>,
    offsets: Vec<u64>,
    texts: Vec<u128>,
    lines: Vec<u128>,
    span_counts: Vec<usize>,
    has_spans: Vec<bool>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    /// Text of lines that are not UTF-8.
    lossy: Vec<u8>,
}

impl Columns {
    /// The view of a path.
    fn path(&mut self, path: &str) -> u128 {
        let at = self.path_text.len();
        self.path_text.extend_from_slice(path.as_bytes());
        make_view(path.as_bytes(), 0, at as u32)
    }

    fn push(&mut self, path: u128, line: &FoundText<'_>) {
        let view = make_view(line.text, RECORDS, line.position as u32);
        let text = match String::from_utf8_lossy(line.text) {
            Cow::Borrowed(_) => view,
            Cow::Owned(text) => {
                let at = self.lossy.len();
                self.lossy.extend_from_slice(text.as_bytes());
                make_view(text.as_bytes(), LOSSY, at as u32)
            }
        };
        self.paths.push(path);
        self.numbers.push(line.number);
        self.offsets.push(line.offset);
        self.texts.push(text);
        self.lines.push(view);
        let before = self.starts.len();
        for span in line.spans.clone().into_iter().flatten() {
            self.starts.push(span.start);
            self.ends.push(span.end);
        }
        self.span_counts.push(self.starts.len() - before);
        self.has_spans.push(line.spans.is_some());
    }

    fn into_batch(self, records: Vec<u8>, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let sizes = [records.len(), self.lossy.len(), self.path_text.len()];
        if let Some(size) = sizes.into_iter().find(|&size| i32::try_from(size).is_err()) {
            let reason = format!("a line of about {size} bytes is too long for Arrow");
            return Err(ArrowError::InvalidArgumentError(reason));
        }
        let records = Buffer::from_vec(records);
        let lines = BinaryViewArray::try_new(self.lines.into(), vec![records.clone()], None)?;
        let lossy = Some(self.lossy).filter(|lossy| !lossy.is_empty()).map(Buffer::from_vec);
        let buffers: Vec<Buffer> = iter::once(records).chain(lossy).collect();
        let texts = StringViewArray::try_new(self.texts.into(), buffers, None)?;
        let paths =
            StringViewArray::try_new(self.paths.into(), vec![Buffer::from_vec(self.path_text)], None)?;
        let ends = |ends: Vec<u32>| Arc::new(UInt32Array::new(ScalarBuffer::from(ends), None)) as ArrayRef;
        let spans = StructArray::try_new(self::ends(), vec![ends(self.starts), ends(self.ends)], None)?;
        let offsets = OffsetBuffer::from_lengths(self.span_counts);
        let nulls = NullBuffer::from(self.has_spans);
        let spans = ListArray::try_new(span_field(), offsets, Arc::new(spans), Some(nulls))?;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(paths),
            Arc::new(self.numbers.into_iter().collect::<UInt64Array>()),
            Arc::new(UInt64Array::from(self.offsets)),
            Arc::new(texts),
            Arc::new(lines),
            Arc::new(spans),
        ];
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{UInt32Type, UInt64Type};
    use finecomb_grep::{GrepOptions, Mode, PatternOptions, Query, grep};
    use proptest::prelude::*;

    use super::*;

    /// A row of a batch, taken from its columns.
    type Row = (String, Option<u64>, u64, String, Vec<u8>, Option<Vec<(u32, u32)>>);

    fn rows(batch: &RecordBatch) -> Vec<Row> {
        let texts = |name| batch.column_by_name(name).unwrap().as_string_view();
        let numbers = |name| batch.column_by_name(name).unwrap().as_primitive::<UInt64Type>();
        let lines = batch.column_by_name("line").unwrap().as_binary_view();
        let spans = batch.column_by_name("spans").unwrap().as_list::<i32>();
        let spans_of = |row: usize| {
            let spans = spans.value(row);
            let end =
                |column| spans.as_struct().column(column).as_primitive::<UInt32Type>().values().to_vec();
            end(0).into_iter().zip(end(1)).collect()
        };
        let row = |row| {
            let number = numbers("line_number");
            (
                texts("path").value(row).to_owned(),
                (!number.is_null(row)).then(|| number.value(row)),
                numbers("offset").value(row),
                texts("text").value(row).to_owned(),
                lines.value(row).to_vec(),
                (!spans.is_null(row)).then(|| spans_of(row)),
            )
        };
        (0..batch.num_rows()).map(row).collect()
    }

    /// The same rows from the records, one by one.
    fn expected(records: &[u8]) -> Vec<Row> {
        let (mut path, mut rows) = (String::new(), Vec::new());
        for record in Records::new(records) {
            match record {
                Record::Path(bytes) => path = String::from_utf8_lossy(bytes).into_owned(),
                Record::Line(FoundText { number, offset, text, spans, .. }) => {
                    let spans = spans.map(|spans| spans.map(|span| (span.start, span.end)).collect());
                    let lossy = String::from_utf8_lossy(text).into_owned();
                    rows.push((path.clone(), number, offset, lossy, text.to_vec(), spans));
                }
                Record::Binary { .. } => {}
            }
        }
        rows
    }

    /// Collects each write.
    struct Writes(Vec<Vec<u8>>);

    impl std::io::Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn batches_are_the_records_however_these_are_divided(
            texts in prop::collection::vec(prop::collection::vec(prop::sample::select(
                vec![&b"a"[..], b"bb", "\u{e9}".as_bytes(), b"\xFF", b"\n", b"\n", b"a line that does not fit in a view"]
            ), 0..30), 1..5),
            line_number: bool,
            context in 0_usize..3,
            block_size in 1_usize..100,
        ) {
            let directory = tempfile::tempdir().unwrap();
            for (number, text) in texts.iter().enumerate() {
                std::fs::write(directory.path().join(number.to_string()), text.concat()).unwrap();
            }
            let pattern = PatternOptions { patterns: vec!["a".to_owned()], ..PatternOptions::default() };
            let options = GrepOptions {
                pattern, mode: Mode::Records, line_number, before_context: context, after_context: context,
                ..GrepOptions::default()
            };
            let inputs = finecomb_scan::Inputs::new([directory.path()]);
            let scan = finecomb_scan::ScanOptions { block_size, ..Default::default() };
            let mut out = Writes(Vec::new());
            grep(&inputs, &scan, &Query::new(&options).unwrap(), &mut out);
            let (mut batches, mut found) = (FoundBatches::new(HashMap::new()), Vec::new());
            for written in &out.0 {
                found.extend(rows(&batches.batch(written.clone()).unwrap()));
            }
            prop_assert_eq!(found, expected(&out.0.concat()));
        }
    }

    #[test]
    fn a_binary_file_is_a_notice() {
        let mut batches = FoundBatches::new(HashMap::new());
        let text = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(text.path(), b"a\n\0\na\n").unwrap();
        let pattern = PatternOptions { patterns: vec!["a".to_owned()], ..PatternOptions::default() };
        let query =
            Query::new(&GrepOptions { pattern, mode: Mode::Records, ..GrepOptions::default() }).unwrap();
        let mut out = Vec::new();
        grep(&finecomb_scan::Inputs::new([text.path()]), &Default::default(), &query, &mut out);
        let batch = batches.batch(out).unwrap();
        let notice =
            format!("{}: binary file matches (found \"\\0\" byte around offset 2)", text.path().display());
        assert_eq!((batch.num_rows(), batches.take_notices()), (0, vec![notice]));
        assert_eq!(batches.take_notices(), [] as [String; 0]);
    }
}
