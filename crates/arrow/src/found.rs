//! Lines that `grep` finds.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryViewArray, ListArray, RecordBatch, StringViewArray, StructArray, UInt32Array, UInt64Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use finecomb_grep::records::{FoundText, Record, Records, binary_notice};

use crate::batches::Batches;
use crate::text::{Lossy, Paths, exact};

fn span_field() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Struct(ends()), false))
}

fn ends() -> Fields {
    ["start", "end"].map(|name| Field::new(name, DataType::UInt32, false)).to_vec().into()
}

/// Converts the records of a search to batches. Their columns are `path`, `line_number` (null without numbers), `offset`, `text`
/// (with U+FFFD for bytes that are not UTF-8), `line` (the exact bytes), and `spans` (the matches in `line`, null in lines of
/// context).
#[derive(Debug)]
pub struct FoundBatches {
    schema: SchemaRef,
    paths: Paths,
    /// Notices on binary files, each with its path.
    notices: Vec<String>,
}

impl Batches for FoundBatches {
    fn schema() -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("path", DataType::Utf8View, false),
            Field::new("line_number", DataType::UInt64, true),
            Field::new("offset", DataType::UInt64, false),
            Field::new("text", DataType::Utf8View, false),
            Field::new("line", DataType::BinaryView, false),
            Field::new("spans", DataType::List(span_field()), true),
        ]))
    }

    fn new(names: HashMap<Vec<u8>, String>) -> Self {
        Self { schema: Self::schema(), paths: Paths::new(names), notices: Vec::new() }
    }

    fn batch(&mut self, records: Vec<u8>) -> Result<RecordBatch, ArrowError> {
        let mut columns = LineColumns::default();
        for record in Records::new(&records) {
            match record {
                Record::Path(path) => self.paths.set(path),
                Record::Line(line) => {
                    self.paths.push();
                    columns.push(&line);
                }
                Record::Binary { offset, is_end } => {
                    let notice = format!("{}: {}", self.paths.current(), binary_notice(offset, is_end));
                    self.notices.push(notice);
                }
            }
        }
        columns.into_batch(self.paths.take_column()?, records, &self.schema)
    }

    /// Takes the notices on binary files whose matches were not all listed.
    fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }
}

/// Columns under construction, except for that of paths.
#[derive(Default)]
struct LineColumns {
    numbers: Vec<Option<u64>>,
    offsets: Vec<u64>,
    texts: Vec<u128>,
    lines: Vec<u128>,
    span_counts: Vec<usize>,
    has_spans: Vec<bool>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    lossy: Lossy,
}

impl LineColumns {
    fn push(&mut self, line: &FoundText<'_>) {
        self.numbers.push(line.number);
        self.offsets.push(line.offset);
        self.texts.push(self.lossy.view(line.text, line.position));
        self.lines.push(exact(line.text, line.position));
        let before = self.starts.len();
        for span in line.spans.clone().into_iter().flatten() {
            self.starts.push(span.start);
            self.ends.push(span.end);
        }
        self.span_counts.push(self.starts.len() - before);
        self.has_spans.push(line.spans.is_some());
    }

    fn into_batch(
        self,
        paths: ArrayRef,
        records: Vec<u8>,
        schema: &SchemaRef,
    ) -> Result<RecordBatch, ArrowError> {
        let buffers = self.lossy.into_buffers(records)?;
        let lines = BinaryViewArray::try_new(self.lines.into(), vec![buffers[0].clone()], None)?;
        let texts = StringViewArray::try_new(self.texts.into(), buffers, None)?;
        let ends = |ends: Vec<u32>| Arc::new(UInt32Array::new(ScalarBuffer::from(ends), None)) as ArrayRef;
        let spans = StructArray::try_new(self::ends(), vec![ends(self.starts), ends(self.ends)], None)?;
        let offsets = OffsetBuffer::from_lengths(self.span_counts);
        let nulls = NullBuffer::from(self.has_spans);
        let spans = ListArray::try_new(span_field(), offsets, Arc::new(spans), Some(nulls))?;
        let columns: Vec<ArrayRef> = vec![
            paths,
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
    use crate::writes::Writes;

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
            let pattern = PatternOptions::default().patterns(["a".to_owned()].into());
            let options = GrepOptions::default().pattern(pattern).mode(Mode::Records).line_number(line_number).before_context(context).after_context(context);
            let inputs = finecomb_scan::Inputs::new([directory.path()]);
            let scan = finecomb_scan::ScanOptions::default().block_size(block_size).into();
            let mut out = Writes::default();
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
        let pattern = PatternOptions::default().patterns(["a".to_owned()].into());
        let query = Query::new(&GrepOptions::default().pattern(pattern).mode(Mode::Records)).unwrap();
        let mut out = Vec::new();
        grep(&finecomb_scan::Inputs::new([text.path()]), &Default::default(), &query, &mut out);
        let batch = batches.batch(out).unwrap();
        let notice =
            format!("{}: binary file matches (found \"\\0\" byte around offset 2)", text.path().display());
        assert_eq!((batch.num_rows(), batches.take_notices()), (0, vec![notice]));
        assert_eq!(batches.take_notices(), [] as [String; 0]);
    }
}
