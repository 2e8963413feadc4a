//! Definitions and uses that `symbols` finds.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryViewArray, BooleanArray, RecordBatch, StringViewArray, UInt64Array};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use finecomb_symbols::Kind;
use finecomb_symbols::records::{FoundSymbol, RecordText, SymbolRecord, SymbolRecords};

use crate::batches::Batches;
use crate::text::{Lossy, Paths, exact};

/// Converts the records of a list of symbols to batches. Their columns are the members of the objects of `comb symbols --json`, and
/// `name_bytes`, the exact name. U+FFFD is in the place of bytes that are not UTF-8 in other columns.
#[derive(Debug)]
pub struct SymbolBatches {
    schema: SchemaRef,
    paths: Paths,
}

impl Batches for SymbolBatches {
    fn schema() -> SchemaRef {
        let text = |name, is_nullable| Field::new(name, DataType::Utf8View, is_nullable);
        let number = |name| Field::new(name, DataType::UInt64, false);
        Arc::new(Schema::new(vec![
            text("path", false),
            text("language", false),
            text("kind", false),
            text("name", false),
            Field::new("name_bytes", DataType::BinaryView, false),
            text("scope", true),
            text("scope_kind", true),
            number("line"),
            number("column"),
            number("end_line"),
            number("start_byte"),
            number("end_byte"),
            text("signature", false),
            text("parameters", true),
            Field::new("has_errors", DataType::Boolean, false),
        ]))
    }

    fn new(names: HashMap<Vec<u8>, String>) -> Self {
        Self { schema: Self::schema(), paths: Paths::new(names) }
    }

    fn batch(&mut self, records: Vec<u8>) -> Result<RecordBatch, ArrowError> {
        let mut columns = SymbolColumns::default();
        for record in SymbolRecords::new(&records) {
            match record {
                SymbolRecord::Path(path) => self.paths.set(path),
                SymbolRecord::Symbol(symbol) => {
                    self.paths.push();
                    columns.push(&symbol);
                }
            }
        }
        columns.into_batch(self.paths.take_column()?, records, &self.schema)
    }

    /// There are none: files that were not parsed as a whole are reported at the end.
    fn take_notices(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// Columns under construction, except for that of paths.
#[derive(Default)]
struct SymbolColumns {
    languages: Labels,
    kinds: Labels,
    names: Vec<u128>,
    exact_names: Vec<u128>,
    scopes: Texts,
    scope_kinds: Labels,
    lines: Vec<u64>,
    columns: Vec<u64>,
    end_lines: Vec<u64>,
    start_bytes: Vec<u64>,
    end_bytes: Vec<u64>,
    signatures: Texts,
    parameters: Texts,
    have_errors: Vec<bool>,
    lossy: Lossy,
}

/// Views on texts; some texts may be missing.
#[derive(Default)]
struct Texts {
    views: Vec<u128>,
    are_there: Vec<bool>,
}

impl Texts {
    fn push(&mut self, text: Option<RecordText<'_>>, lossy: &mut Lossy) {
        self.views.push(text.map_or(0, |text| lossy.view(text.bytes, text.position)));
        self.are_there.push(text.is_some());
    }

    fn into_column(self, buffers: &[Buffer]) -> Result<ArrayRef, ArrowError> {
        let nulls = Some(NullBuffer::from(self.are_there)).filter(|nulls| nulls.null_count() > 0);
        Ok(Arc::new(StringViewArray::try_new(self.views.into(), buffers.to_vec(), nulls)?))
    }
}

/// Names of kinds and languages.
type Labels = Vec<Option<&'static str>>;

fn label_column(labels: Labels) -> ArrayRef {
    Arc::new(labels.into_iter().collect::<StringViewArray>())
}

fn number_column(numbers: Vec<u64>) -> ArrayRef {
    Arc::new(UInt64Array::from(numbers))
}

impl SymbolColumns {
    fn push(&mut self, symbol: &FoundSymbol<'_>) {
        self.languages.push(Some(symbol.language.name()));
        self.kinds.push(Some(symbol.label()));
        self.names.push(self.lossy.view(symbol.name.bytes, symbol.name.position));
        self.exact_names.push(exact(symbol.name.bytes, symbol.name.position));
        self.scopes.push(symbol.scope, &mut self.lossy);
        self.scope_kinds.push(symbol.scope_kind.map(Kind::name));
        self.lines.push(symbol.line.into());
        self.columns.push(symbol.column.into());
        self.end_lines.push(symbol.end_line.into());
        self.start_bytes.push(symbol.start_byte.into());
        self.end_bytes.push(symbol.end_byte.into());
        self.signatures.push(Some(symbol.signature), &mut self.lossy);
        self.parameters.push(symbol.parameters, &mut self.lossy);
        self.have_errors.push(symbol.has_errors);
    }

    fn into_batch(
        self,
        paths: ArrayRef,
        records: Vec<u8>,
        schema: &SchemaRef,
    ) -> Result<RecordBatch, ArrowError> {
        let buffers = self.lossy.into_buffers(records)?;
        let exact_names = BinaryViewArray::try_new(self.exact_names.into(), buffers[..1].to_vec(), None)?;
        let columns: Vec<ArrayRef> = vec![
            paths,
            label_column(self.languages),
            label_column(self.kinds),
            Arc::new(StringViewArray::try_new(self.names.into(), buffers.clone(), None)?),
            Arc::new(exact_names),
            self.scopes.into_column(&buffers)?,
            label_column(self.scope_kinds),
            number_column(self.lines),
            number_column(self.columns),
            number_column(self.end_lines),
            number_column(self.start_bytes),
            number_column(self.end_bytes),
            self.signatures.into_column(&buffers)?,
            self.parameters.into_column(&buffers)?,
            Arc::new(BooleanArray::from(self.have_errors)),
        ];
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;
    use finecomb_scan::{Inputs, OrderedOptions};
    use finecomb_symbols::{SymbolsFormat, SymbolsOptions, SymbolsQuery, symbols};

    use super::*;
    use crate::writes::Writes;

    /// A row of a batch: its texts in the order of the columns, and its numbers.
    type Row = (Vec<Option<String>>, Vec<u8>, Vec<u64>);

    fn rows(batch: &RecordBatch) -> Vec<Row> {
        let row = |row| {
            let texts = batch.columns().iter().filter_map(|column| column.as_string_view_opt());
            let text = |texts: &StringViewArray| (!texts.is_null(row)).then(|| texts.value(row).to_owned());
            let numbers = batch.columns().iter().filter_map(|column| column.as_primitive_opt::<UInt64Type>());
            let exact = batch.column_by_name("name_bytes").expect("a column").as_binary_view();
            let numbers = numbers.map(|numbers| numbers.value(row)).collect();
            (texts.map(text).collect(), exact.value(row).to_vec(), numbers)
        };
        (0..batch.num_rows()).map(row).collect()
    }

    /// The same rows from the records, one by one.
    fn expected(records: &[u8]) -> Vec<Row> {
        let (mut path, mut rows) = (String::new(), Vec::new());
        for record in SymbolRecords::new(records) {
            match record {
                SymbolRecord::Path(bytes) => path = String::from_utf8_lossy(bytes).into_owned(),
                SymbolRecord::Symbol(symbol) => rows.push(expected_row(&path, &symbol)),
            }
        }
        rows
    }

    fn expected_row(path: &str, symbol: &FoundSymbol<'_>) -> Row {
        let lossy = |text: RecordText<'_>| String::from_utf8_lossy(text.bytes).into_owned();
        let texts = vec![
            Some(path.to_owned()),
            Some(symbol.language.name().to_owned()),
            Some(symbol.label().to_owned()),
            Some(lossy(symbol.name)),
            symbol.scope.map(lossy),
            symbol.scope_kind.map(|kind| kind.name().to_owned()),
            Some(lossy(symbol.signature)),
            symbol.parameters.map(lossy),
        ];
        let FoundSymbol { line, column, end_line, start_byte, end_byte, .. } = *symbol;
        let numbers = [line, column, end_line, start_byte, end_byte].map(u64::from).to_vec();
        (texts, symbol.name.bytes.to_vec(), numbers)
    }

    /// The writes of a list of some files.
    fn written(directory: &std::path::Path, options: &SymbolsOptions) -> Vec<Vec<u8>> {
        let options = options.clone().format(SymbolsFormat::Records);
        let mut out = Writes::default();
        let query = SymbolsQuery::new(&options).expect("a valid expression");
        symbols(&Inputs::new([directory]), &OrderedOptions::default(), &query, &mut out);
        out.0
    }

    #[test]
    fn batches_are_the_records_however_these_are_divided() {
        let directory = tempfile::tempdir().expect("a directory");
        let members: String = (0..3000)
            .map(|number| format!("  int method_number_{number}(int a, char *\u{e9}) {{ return a; }}\n"))
            .collect();
        let class = format!("namespace n {{ class A {{\n{members}}}; }}\n");
        std::fs::write(directory.path().join("a.cc"), class).expect("a file");
        let latin = b"class \xE9t\xE9_with_a_long_name:\n  def f(\xE9): pass\n\nx = 1\n";
        std::fs::write(directory.path().join("b.py"), latin).expect("a file");
        let all = SymbolsOptions::default();
        let uses = all.clone().reference(Some("a".to_owned()));
        for options in [all, uses] {
            let writes = written(directory.path(), &options);
            let (mut batches, mut found) = (SymbolBatches::new(HashMap::new()), Vec::new());
            for records in &writes {
                found.extend(rows(&batches.batch(records.clone()).expect("a batch")));
            }
            assert!(found.len() >= 3000, "{}", found.len());
            assert_eq!(found, expected(&writes.concat()));
            let whole = SymbolBatches::new(HashMap::new()).batch(writes.concat()).expect("a batch");
            assert_eq!(rows(&whole), found);
        }
    }

    #[test]
    fn data_in_memory_has_its_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.py");
        std::fs::write(&path, "x = 1\n").expect("a file");
        let names = HashMap::from([(path.as_os_str().as_encoded_bytes().to_vec(), "bytes".to_owned())]);
        let records = written(directory.path(), &SymbolsOptions::default()).concat();
        let batch = SymbolBatches::new(names).batch(records).expect("a batch");
        assert_eq!(batch.column(0).as_string_view().value(0), "bytes");
    }
}
