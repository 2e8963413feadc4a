//! Flags for inputs that grow.

use clap::Args;

const TAIL: &str = "\
Count what is there, then follow the inputs as they grow, like tail -F; Ctrl-C ends and prints

Files are followed under any name: a log that is rotated by renaming is counted once, with records that are still written to the old \
file, and new files in directories are followed from their beginning. A truncated file is reported and read again.

With --every, a row is printed for each bucket once a record of a later bucket was seen and a second has passed. Records of a bucket \
that come later than that are in a further row for it. With --json, an object per line is printed: for each bucket, or every second in \
which something was counted. With --live or --listen, the counts are shown as they change. The rest is printed at the end.";

/// Inputs that grow.
#[derive(Args, Clone)]
#[command(next_help_heading = "Input")]
pub(crate) struct TailFlags {
    /// Count what is there, then follow the inputs as they grow, like tail -F; Ctrl-C ends and prints
    #[arg(long, long_help = TAIL, conflicts_with_all = ["approx", "sample"])]
    pub(crate) tail: bool,
}
