//! How a file is read, and which of its lines are taken.

use clap::Args;
use finecomb_grep::{Binary, GrepOptions, LineEnd};
use finecomb_scan::Encoding;

use super::order::Order;
use super::value;
use crate::args::selection;

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "How files are read")]
pub(crate) struct Matching {
    /// Take all files as text, also those with NUL bytes
    #[arg(short = 'a', long, overrides_with = "binary")]
    text: bool,

    /// Search also files with NUL bytes that were found below a directory, and say only that they match
    #[arg(long, alias = "search-binary")]
    binary: bool,

    /// Which encoding files are in: auto, none, or a name such as utf-16le or latin1
    ///
    /// With auto, a byte order mark shows that a file is in UTF-16, and all others are taken as they stand. With none, this
    /// is also true of those that have such a mark.
    #[arg(short = 'E', long, value_name = "ENCODING", value_parser = selection::encoding)]
    pub(super) encoding: Option<Encoding>,

    /// Search in compressed files
    #[arg(short = 'z', long)]
    pub(crate) search_zip: bool,

    /// Let lines end with \r\n as well as with \n, so that $ matches before both
    #[arg(long, overrides_with = "null_data")]
    crlf: bool,

    /// Let lines end with a NUL byte
    #[arg(long)]
    null_data: bool,

    /// Take the lines that do not match
    #[arg(short = 'v', long)]
    pub(super) invert_match: bool,

    /// Take at most so many lines of a file
    #[arg(short = 'm', long, value_name = "COUNT", value_parser = value::number, allow_hyphen_values = true)]
    max_count: Option<u64>,

    /// End with a file at the first line that does not match after one that does
    #[arg(long, hide_short_help = true)]
    stop_on_nonmatch: bool,
}

impl Matching {
    /// Sets what these flags are about.
    pub(super) fn apply(&self, order: &Order, options: &mut GrepOptions) {
        options.line_end = self.line_end();
        options.binary = self.binary(order);
        options.invert = self.invert_match;
        options.max_count = self.max_count;
        options.stop_on_nonmatch = self.stop_on_nonmatch;
    }

    fn line_end(&self) -> LineEnd {
        match () {
            () if self.crlf => LineEnd::Crlf,
            () if self.null_data => LineEnd::Nul,
            () => LineEnd::Lf,
        }
    }

    /// -uuu counts as --binary at the place of its third u.
    fn binary(&self, order: &Order) -> Binary {
        let other = order.last("text").max(order.last("no-binary"));
        let more = order.nth("unrestricted", 2).max(order.last("all_types"));
        match () {
            () if self.binary || more > other => Binary::Suppress,
            () if self.text => Binary::Text,
            () => Binary::Auto,
        }
    }
}
