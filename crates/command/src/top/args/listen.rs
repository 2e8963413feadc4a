//! Flags of the page that shows the counts while a job runs.

use std::net::SocketAddr;

use clap::Args;

use crate::args::address;

/// Page that shows the counts.
#[derive(Args, Clone)]
pub(crate) struct Listen {
    /// Show the counts in a browser while the job runs: serve a page at this address; port 0 is any free port
    ///
    /// The address of the page is printed on standard error. The page also shows the buckets of --every and the activity of the
    /// threads, and at the end the result. The server ends with the job.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address::parse, conflicts_with = "sample", help_heading = "Machine")]
    pub(crate) listen: Option<SocketAddr>,

    /// With --listen, answer requests for the host NAME; repeatable
    ///
    /// A page that only this machine can reach is always served to localhost and IP addresses. Any other page is served to all
    /// hosts, or only to those given by this flag. This keeps pages of other sites from reading the counts by DNS rebinding.
    #[arg(long = "allow-host", value_name = "NAME", requires = "listen", help_heading = "Machine")]
    pub(crate) allowed_hosts: Vec<String>,
}
