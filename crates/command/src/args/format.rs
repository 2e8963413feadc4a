//! Output format flags.

use clap::{Args, ValueEnum};

use crate::tables::TableKind;

/// Output formats of a command. One of them is JSON.
pub trait Formats: ValueEnum + Clone + Copy + Send + Sync + 'static {
    /// Default format, for people.
    const TEXT: Self;
    /// Format selected by `--json`.
    const JSON: Self;
}

/// `--format` and its short form `--json`; the last one takes precedence.
#[derive(Args, Clone)]
#[group(skip)]
pub struct FormatFlags<F: Formats> {
    /// Output format [default: text]
    #[arg(long, value_enum, value_name = "FORMAT", overrides_with = "json")]
    format: Option<F>,

    /// Short for --format json
    #[arg(long, overrides_with = "format")]
    json: bool,
}

impl<F: Formats> FormatFlags<F> {
    /// The selected format.
    pub fn choice(&self) -> F {
        if self.json { F::JSON } else { self.format.unwrap_or(F::TEXT) }
    }
}

/// Text or JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// Plain text
    Text,
    /// One JSON object per line
    Json,
}

impl Formats for TextOrJson {
    const TEXT: Self = Self::Text;
    const JSON: Self = Self::Json;
}

/// Formats of lines that are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LineFormat {
    /// Plain text
    Text,
    /// JSON Lines, as --json
    Json,
    /// Stream in Arrow's IPC format, in builds with the feature 'arrow'
    Arrow,
    /// Parquet file, in builds with the feature 'parquet'
    Parquet,
}

impl LineFormat {
    /// The format of a table, if it is one.
    pub(crate) fn table(self) -> Option<TableKind> {
        match self {
            Self::Arrow => Some(TableKind::Arrow),
            Self::Parquet => Some(TableKind::Parquet),
            Self::Text | Self::Json => None,
        }
    }
}
