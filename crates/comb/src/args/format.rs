//! The flags for the format of an answer.

use clap::{Args, ValueEnum};

/// A choice of formats, of which one is JSON.
pub(crate) trait Formats: ValueEnum + Clone + Copy + Send + Sync + 'static {
    /// For people: the default.
    const TEXT: Self;
    /// The one that `--json` stands for.
    const JSON: Self;
}

/// `--format` and its short form `--json`; of several the last one counts.
#[derive(Args)]
#[group(skip)]
pub(crate) struct FormatFlags<F: Formats> {
    /// How to print the answer [default: text]
    #[arg(long, value_enum, value_name = "FORMAT", overrides_with = "json")]
    format: Option<F>,

    /// The same as --format json
    #[arg(long, overrides_with = "format")]
    json: bool,
}

impl<F: Formats> FormatFlags<F> {
    /// The format that is asked for.
    pub(crate) fn choice(&self) -> F {
        if self.json { F::JSON } else { self.format.unwrap_or(F::TEXT) }
    }
}

/// Text or JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// For people
    Text,
    /// For programs: one object a line
    Json,
}

impl Formats for TextOrJson {
    const TEXT: Self = Self::Text;
    const JSON: Self = Self::Json;
}
