//! The flags of the profiler.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use finecomb_scan::Detail;

/// Format and destination of the profile.
#[derive(Args, Clone)]
#[group(skip)]
pub(crate) struct Profile {
    /// Report the time that each thread spent in each phase [default: text, on standard error]
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text"
    )]
    profile: Option<ProfileFormat>,

    /// Write the profile to FILE; an existing file is replaced only if it is empty or a profile
    #[arg(long, value_name = "FILE", requires = "profile")]
    profile_output: Option<PathBuf>,
}

/// Formats of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileFormat {
    /// Bar for each thread, and a table
    Text,
    /// One object, described by docs/profile.schema.json
    Json,
    /// HTML page with a timeline and a pie chart for each thread, by default in comb-profile.html
    Html,
    /// Events for Perfetto and chrome://tracing, by default in comb-trace.json
    Trace,
}

impl Profile {
    /// Level of detail to measure.
    pub(crate) fn detail(&self) -> Detail {
        match self.profile {
            None => Detail::Nothing,
            Some(ProfileFormat::Text | ProfileFormat::Json) => Detail::Sums,
            Some(ProfileFormat::Html | ProfileFormat::Trace) => Detail::Spans,
        }
    }

    /// The format; `None` without a profile.
    pub(crate) fn format(&self) -> Option<ProfileFormat> {
        self.profile
    }

    /// The output file; `None` for standard error.
    pub(crate) fn file(&self) -> Option<&Path> {
        let default = match self.profile? {
            ProfileFormat::Text | ProfileFormat::Json => None,
            ProfileFormat::Html => Some(Path::new("comb-profile.html")),
            ProfileFormat::Trace => Some(Path::new("comb-trace.json")),
        };
        self.profile_output.as_deref().or(default)
    }
}
