//! Output as tables for other programs, in the formats of Arrow and Parquet. A build has them by the features `arrow` and `parquet`.

use std::fmt;
use std::io::{self, IsTerminal, Write, stdout};

use finecomb_top::{Answer, output};

#[cfg(not(feature = "arrow"))]
pub(crate) use self::absent::TableFormat;
#[cfg(feature = "arrow")]
pub(crate) use self::present::TableFormat;

/// Formats of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Arrow,
    Parquet,
}

impl Table {
    /// The format for standard output.
    ///
    /// # Errors
    /// If this build does not have it, or standard output is a terminal.
    pub(crate) fn format(self) -> Result<TableFormat, String> {
        let format = TableFormat::new(self)
            .ok_or_else(|| format!("--format {self}: not in this build; build with the feature '{self}'"))?;
        if stdout().is_terminal() {
            return Err(format!("--format {self}: binary data; redirect output to a file or a pipe"));
        }
        Ok(format)
    }
}

/// The answer as a table.
impl output::Format for Table {
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        self.format().map_err(io::Error::other)?.write(answer, out)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arrow => "arrow",
            Self::Parquet => "parquet",
        })
    }
}

#[cfg(feature = "arrow")]
mod present {
    use std::io::{self, Write, stdout};

    use finecomb_arrow::{BatchWriter, FileFormat, FoundWriter, answer_batch};
    use finecomb_grep::Outcome;
    use finecomb_top::Answer;

    use super::Table;

    /// A format that this build has.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct TableFormat(FileFormat);

    impl TableFormat {
        pub(super) fn new(table: Table) -> Option<Self> {
            match table {
                Table::Arrow => Some(Self(FileFormat::Arrow)),
                #[cfg(feature = "parquet")]
                Table::Parquet => Some(Self(FileFormat::Parquet)),
                #[cfg(not(feature = "parquet"))]
                Table::Parquet => None,
            }
        }

        /// Writes what a search finds to standard output. Returns its outcome and the notices on binary files.
        ///
        /// # Errors
        /// If the beginning cannot be written. Later errors are in the outcome.
        pub(crate) fn search(
            self,
            search: impl FnOnce(&mut (dyn Write + Send)) -> Outcome,
        ) -> io::Result<(Outcome, Vec<String>)> {
            let mut writer = FoundWriter::new(self.0, stdout())?;
            let mut outcome = search(&mut writer);
            if outcome.output_error.is_some() {
                return Ok((outcome, Vec::new()));
            }
            let notices = writer.finish().unwrap_or_else(|error| {
                outcome.output_error = Some(error);
                Vec::new()
            });
            Ok((outcome, notices))
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

    use finecomb_grep::Outcome;
    use finecomb_top::Answer;

    use super::Table;

    /// No format: this build has none.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum TableFormat {}

    impl TableFormat {
        pub(super) fn new(_table: Table) -> Option<Self> {
            None
        }

        pub(crate) fn search(
            self,
            _search: impl FnOnce(&mut (dyn Write + Send)) -> Outcome,
        ) -> io::Result<(Outcome, Vec<String>)> {
            match self {}
        }

        pub(super) fn write(self, _answer: &Answer, _out: &mut dyn Write) -> io::Result<()> {
            match self {}
        }
    }
}
