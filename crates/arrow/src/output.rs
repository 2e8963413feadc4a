//! Batches as files: a stream in Arrow's IPC format, or Parquet.

use std::collections::HashMap;
use std::io::{self, Write};

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};
#[cfg(feature = "parquet")]
use parquet::{
    arrow::ArrowWriter, basic::Compression, errors::ParquetError, file::properties::WriterProperties,
};

use crate::batches::Batches;

/// Bytes of records that make a batch.
const BATCH: usize = 1 << 20;

/// Formats of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// A stream in Arrow's IPC format. Each batch can be read as soon as it is written.
    Arrow,
    /// A Parquet file. Its parts are compressed with Snappy, and their index is at its end.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Writes batches to a file.
pub struct BatchWriter<W: Write + Send>(FormatWriter<W>);

enum FormatWriter<W: Write + Send> {
    Arrow(Box<StreamWriter<W>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ArrowWriter<W>>),
}

impl<W: Write + Send> BatchWriter<W> {
    /// Begins a file with these columns.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(format: FileFormat, schema: &SchemaRef, out: W) -> io::Result<Self> {
        Ok(Self(match format {
            FileFormat::Arrow => {
                FormatWriter::Arrow(Box::new(StreamWriter::try_new(out, schema).map_err(of_arrow)?))
            }
            #[cfg(feature = "parquet")]
            FileFormat::Parquet => {
                let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let writer = ArrowWriter::try_new(out, SchemaRef::clone(schema), Some(properties));
                FormatWriter::Parquet(Box::new(writer.map_err(of_parquet)?))
            }
        }))
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        match &mut self.0 {
            FormatWriter::Arrow(writer) => {
                writer.write(batch).and_then(|()| writer.flush()).map_err(of_arrow)
            }
            #[cfg(feature = "parquet")]
            FormatWriter::Parquet(writer) => writer.write(batch).map_err(of_parquet),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            FormatWriter::Arrow(mut writer) => {
                writer.finish().and_then(|()| writer.flush()).map_err(of_arrow)
            }
            #[cfg(feature = "parquet")]
            FormatWriter::Parquet(writer) => writer.into_inner().map_err(of_parquet)?.flush(),
        }
    }
}

/// Writer for a job that writes records, such as a search with [`Mode::Records`](finecomb_grep::Mode::Records): it writes them as batches.
pub struct RecordWriter<B: Batches, W: Write + Send> {
    /// Records that do not make a batch yet.
    pending: Vec<u8>,
    batches: B,
    writer: BatchWriter<W>,
    has_failed: bool,
}

impl<B: Batches, W: Write + Send> RecordWriter<B, W> {
    /// Begins a file.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(format: FileFormat, out: W) -> io::Result<Self> {
        let writer = BatchWriter::new(format, &B::schema(), out)?;
        Ok(Self { pending: Vec::new(), batches: B::new(HashMap::new()), writer, has_failed: false })
    }

    /// Ends the file, and returns the notices on files that were read. After a failed write, the file stays without an end.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> io::Result<Vec<String>> {
        if self.has_failed {
            return Ok(Vec::new());
        }
        self.write_batch()?;
        self.writer.finish()?;
        Ok(self.batches.take_notices())
    }

    fn write_batch(&mut self) -> io::Result<()> {
        let batch = self.batches.batch(std::mem::take(&mut self.pending)).map_err(of_arrow)?;
        if batch.num_rows() > 0 { self.writer.write(&batch) } else { Ok(()) }
    }
}

impl<B: Batches, W: Write + Send> Write for RecordWriter<B, W> {
    fn write(&mut self, records: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(records);
        if self.pending.len() >= BATCH {
            self.write_batch().inspect_err(|_| self.has_failed = true)?;
        }
        Ok(records.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The error of a write, as the command reports it.
fn of_arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(feature = "parquet")]
fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
