//! The flags that ask where the time went.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use finecomb_scan::Detail;

/// Whether, how and where to say what each thread did.
#[derive(Args)]
#[group(skip)]
pub(crate) struct Profile {
    /// Say which thread spent how long in which phase [default: text, on standard error]
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text"
    )]
    profile: Option<Format>,

    /// Write the profile to a file
    #[arg(long, value_name = "FILE", requires = "profile")]
    profile_output: Option<PathBuf>,
}

/// How a profile is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A bar for each thread, and a table
    Text,
    /// One object; docs/profile.schema.json describes it
    Json,
    /// A page with a timeline and a pie for each thread, in comb-profile.html if no file is named
    Html,
    /// Events for Perfetto and chrome://tracing, in comb-trace.json if no file is named
    Trace,
}

impl Profile {
    /// What has to be measured.
    pub(crate) fn detail(&self) -> Detail {
        match self.profile {
            None => Detail::Nothing,
            Some(Format::Text | Format::Json) => Detail::Sums,
            Some(Format::Html | Format::Trace) => Detail::Spans,
        }
    }

    /// In which form it is written, if at all.
    pub(crate) fn format(&self) -> Option<Format> {
        self.profile
    }

    /// The file that it is written to; none for standard error.
    pub(crate) fn file(&self) -> Option<&Path> {
        let usual = match self.profile? {
            Format::Text | Format::Json => None,
            Format::Html => Some(Path::new("comb-profile.html")),
            Format::Trace => Some(Path::new("comb-trace.json")),
        };
        self.profile_output.as_deref().or(usual)
    }
}
