//! The flags of `comb serve` and `comb cgi`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::address;
use crate::args::threads::Threads;
use crate::shell::candidates;
use crate::shell::facts;
use crate::shell::line::completer;

const LONG_ABOUT: &str = "\
Serve indexes over HTTP, with a search page

Examples:
  Search the digits of pi in a browser, at http://127.0.0.1:1415/:
      comb serve pi.comb
  Serve two indexes to the network, one of them under another name:
      comb serve pi.comb web=access.log.comb --listen 0.0.0.0:8080
  Write an access log:
      comb serve pi.comb --access-log access.log
  Search from a script:
      curl 'http://127.0.0.1:1415/api/v1/pi/search?q=14159'

The search page is at /, the API at /api/v1/ and its description at /openapi.json; /healthz and /metrics are for monitoring. \
For indexes of digits, /piquery and /pidigits answer like the Pi Searcher's own server.";

const SIGNALS: &str = "\
Signals:
  SIGTERM, SIGINT  finish requests in flight and stop; a second one stops at once
  SIGHUP           reopen the indexes and the access log; no request fails";

/// Serve indexes over HTTP, with a search page
#[derive(Args)]
#[command(
    long_about = LONG_ABOUT,
    add = facts::SERVE,
    after_help = "Try 'comb serve --help' for examples.",
    after_long_help = SIGNALS,
)]
pub struct ServeArguments {
    /// Indexes built by 'comb index build', by default under the name of the file
    #[arg(value_name = "[NAME=]INDEX", required = true, value_parser = parse_named, add = completer(candidates::named_index_files))]
    pub indexes: Vec<NamedIndex>,

    /// Address to listen on; port 0 is any free port
    ///
    /// The default is reachable from this machine only.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:1415", value_parser = address::parse)]
    pub listen: SocketAddr,

    /// Allow cross-origin requests from ORIGIN, such as https://example.org; '*' for all
    #[arg(long, value_name = "ORIGIN")]
    pub cors: Option<String>,

    /// Answer requests for the host NAME; repeatable
    ///
    /// A server that only this machine can reach always answers for localhost and IP addresses. Any other server answers for
    /// all hosts, or only for those given by this flag. This keeps pages of other sites from reading answers by DNS rebinding.
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allowed_hosts: Vec<String>,

    /// Log requests to FILE, or to standard output if FILE is -
    ///
    /// Lines have the Combined Log Format. If FILE is too slow, lines are dropped and counted.
    #[arg(long, value_name = "FILE")]
    pub access_log: Option<PathBuf>,

    #[command(flatten)]
    pub threads: Threads,

    #[command(flatten, next_help_heading = "Limits")]
    pub limits: ServeLimits,
}

/// Limits on requests, answers and connections.
#[derive(Args)]
#[group(skip)]
pub struct ServeLimits {
    /// Maximum length of a pattern, in bytes
    #[arg(long, value_name = "N", default_value = "1000")]
    pub max_pattern: usize,

    /// Maximum number of positions in an answer
    #[arg(long, value_name = "N", default_value = "1000")]
    pub max_results: u64,

    /// Maximum number of symbols before and after an occurrence
    #[arg(long, value_name = "N", default_value = "1000")]
    pub max_context: u64,

    /// Maximum number of symbols of text in an answer
    #[arg(long, value_name = "N", default_value = "100000")]
    pub max_text: u64,

    /// Time-out for computing an answer
    #[arg(long, alias = "timeout", value_name = "SECONDS", default_value = "2", value_parser = parse_seconds)]
    pub request_timeout: Duration,

    /// Time-out for idle connections
    #[arg(long, alias = "silence", value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    pub idle_timeout: Duration,

    /// Maximum number of concurrent connections
    #[arg(long, value_name = "N", default_value = "1000")]
    pub max_connections: usize,

    /// Maximum number of concurrent connections from one IP address; behind a proxy, all come from one
    #[arg(long, alias = "max-connections-per-address", value_name = "N", default_value = "250")]
    pub max_connections_per_ip: usize,

    /// Maximum number of requests in flight
    #[arg(long, value_name = "N", default_value = "250")]
    pub max_in_flight: usize,

    /// Time-out for requests in flight when the server stops
    #[arg(long, alias = "grace", value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    pub shutdown_timeout: Duration,
}

const CGI_LONG_ABOUT: &str = "\
Answer one request as a CGI program (RFC 3875)

Examples:
  CGI program for a web server, to be made executable:
      printf '#!/bin/sh\\nexec comb cgi /srv/pi.comb\\n' > cgi-bin/pi
  Answer a request from the command line:
      REQUEST_METHOD=GET QUERY_STRING='q=14159' comb cgi pi.comb
      REQUEST_METHOD=GET PATH_INFO=/api/v1/indexes comb cgi pi.comb

A web server starts the program for each request and passes the request in the environment: PATH_INFO is a path of the API, \
such as /api/v1/pi/search; if it is empty, QUERY_STRING is a search in the first index. 'comb serve' has 100× the throughput.";

/// Answer one request as a CGI program (RFC 3875)
#[derive(Args)]
#[command(long_about = CGI_LONG_ABOUT, add = facts::CGI)]
pub struct CgiArguments {
    /// Indexes built by 'comb index build'
    #[arg(value_name = "[NAME=]INDEX", required = true, value_parser = parse_named, add = completer(candidates::named_index_files))]
    pub indexes: Vec<NamedIndex>,
}

/// An index, and its name if one is given.
pub type NamedIndex = (Option<String>, PathBuf);

fn parse_named(text: &str) -> Result<NamedIndex, String> {
    match text.split_once('=') {
        // A path may contain '='; a name contains no '/'.
        Some((name, path)) if !name.contains('/') && !path.is_empty() => {
            Ok((Some(name.to_owned()), PathBuf::from(path)))
        }
        _ => Ok((None, PathBuf::from(text))),
    }
}

/// Parses a time-out.
pub(super) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let bounded =
        seconds.filter(|seconds| (Duration::from_millis(1)..=Duration::from_secs(86_400)).contains(seconds));
    bounded.ok_or_else(|| "expected seconds from 0.001 to 86400".to_owned())
}
