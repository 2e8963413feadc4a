//! Output as tables for other programs, in the formats of Arrow and Parquet. A build has them by the features `arrow` and `parquet`.

use std::fmt;
use std::io::{self, IsTerminal, Write, stdout};

use finecomb_top::{Answer, print};

#[cfg(not(feature = "arrow"))]
pub(crate) use self::absent::TableFormat;
#[cfg(feature = "arrow")]
pub(crate) use self::present::TableFormat;

/// Formats of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableKind {
    Arrow,
    Parquet,
}

impl TableKind {
    /// The format.
    ///
    /// # Errors
    /// If this build does not have it.
    pub(crate) fn format(self) -> Result<TableFormat, String> {
        TableFormat::new(self)
            .ok_or_else(|| format!("--format {self}: not in this build; build with the feature '{self}'"))
    }

    /// The format for standard output.
    ///
    /// # Errors
    /// If this build does not have it, or standard output is a terminal.
    pub(crate) fn printed(self) -> Result<TableFormat, String> {
        let format = self.format()?;
        if stdout().is_terminal() {
            return Err(format!("--format {self}: binary data; redirect output to a file or a pipe"));
        }
        Ok(format)
    }
}

/// Where a job writes records.
type Out<'o> = &'o mut (dyn Write + Send);

/// The outcome of a job, and the notices on files that were read, or why the end of the table could not be written.
type Done<O> = io::Result<(O, io::Result<Vec<String>>)>;

/// The answer as a table.
impl print::Format for TableKind {
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        self.format().map_err(io::Error::other)?.write(answer, out)
    }
}

impl fmt::Display for TableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arrow => "arrow",
            Self::Parquet => "parquet",
        })
    }
}

#[cfg(feature = "arrow")]
mod present {
    use std::io::{self, Write};

    #[cfg(feature = "symbols")]
    use finecomb_arrow::SymbolBatches;
    use finecomb_arrow::{BatchWriter, Batches, FileFormat, FoundBatches, RecordWriter, answer_batch};
    use finecomb_top::Answer;

    use super::{Done, Out, TableKind};

    /// A format that this build has.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct TableFormat(FileFormat);

    impl TableFormat {
        pub(super) fn new(table: TableKind) -> Option<Self> {
            match table {
                TableKind::Arrow => Some(Self(FileFormat::Arrow)),
                #[cfg(feature = "parquet")]
                TableKind::Parquet => Some(Self(FileFormat::Parquet)),
                #[cfg(not(feature = "parquet"))]
                TableKind::Parquet => None,
            }
        }

        /// Writes the lines that a search finds. Also returns the notices on binary files, or why the end could not be written.
        ///
        /// # Errors
        /// If the beginning cannot be written.
        pub(crate) fn lines<O>(self, out: impl Write + Send, search: impl FnOnce(Out<'_>) -> O) -> Done<O> {
            self.records::<FoundBatches, O>(out, search)
        }

        /// Writes the definitions and uses that a list has. Otherwise like [`TableFormat::lines`].
        #[cfg(feature = "symbols")]
        pub(crate) fn symbols<O>(self, out: impl Write + Send, list: impl FnOnce(Out<'_>) -> O) -> Done<O> {
            self.records::<SymbolBatches, O>(out, list)
        }

        fn records<B: Batches + Send, O>(
            self,
            out: impl Write + Send,
            job: impl FnOnce(Out<'_>) -> O,
        ) -> Done<O> {
            let mut writer = RecordWriter::<B, _>::new(self.0, out)?;
            let outcome = job(&mut writer);
            Ok((outcome, writer.finish()))
        }

        /// Writes an answer.
        ///
        /// # Errors
        /// If writing fails.
        pub(super) fn write(self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
            let batch = answer_batch(answer).map_err(io::Error::other)?;
            let mut bytes = Vec::new();
            let mut writer = BatchWriter::new(self.0, &batch.schema(), &mut bytes)?;
            writer.write(&batch)?;
            writer.finish()?;
            out.write_all(&bytes)
        }
    }
}

#[cfg(not(feature = "arrow"))]
mod absent {
    use std::io::{self, Write};

    use finecomb_top::Answer;

    use super::{Done, Out, TableKind};

    /// No format: this build has none.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum TableFormat {}

    impl TableFormat {
        pub(super) fn new(_table: TableKind) -> Option<Self> {
            None
        }

        pub(crate) fn lines<O>(self, _out: impl Write + Send, _search: impl FnOnce(Out<'_>) -> O) -> Done<O> {
            match self {}
        }

        #[cfg(feature = "symbols")]
        pub(crate) fn symbols<O>(self, _out: impl Write + Send, _list: impl FnOnce(Out<'_>) -> O) -> Done<O> {
            match self {}
        }

        pub(super) fn write(self, _answer: &Answer, _out: &mut dyn Write) -> io::Result<()> {
            match self {}
        }
    }
}
