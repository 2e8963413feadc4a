//! Output format flags.

use clap::{Args, ValueEnum};

/// Output formats of a command, of which one is JSON.
pub(crate) trait Formats: ValueEnum + Clone + Copy + Send + Sync + 'static {
    /// Default format, for people.
    const TEXT: Self;
    /// Format selected by `--json`.
    const JSON: Self;
}

/// `--format` and its short form `--json`; the last one takes precedence.
#[derive(Args, Clone)]
#[group(skip)]
pub(crate) struct FormatFlags<F: Formats> {
    /// Output format [default: text]
    #[arg(long, value_enum, value_name = "FORMAT", overrides_with = "json")]
    format: Option<F>,

    /// Short for --format json
    #[arg(long, overrides_with = "format")]
    json: bool,
}

impl<F: Formats> FormatFlags<F> {
    /// The selected format.
    pub(crate) fn choice(&self) -> F {
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
