//! The flags of `comb serve` and `comb cgi`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use finecomb_serve::{Limits, LogTarget, default_name};

use super::threads::Threads;

const EXAMPLES: &str = "\
Examples:
  A page to search the digits of pi, at http://127.0.0.1:1415/:
      comb serve pi.comb

  Several indexes, one under another name, for all the network, with a log:
      comb serve pi.comb access=logs/access.log.comb --listen 0.0.0.0:8080 --access-log access.log

  A question, and the document that tells what can be asked:
      curl 'http://127.0.0.1:1415/api/v1/pi/search?q=14159'
      curl http://127.0.0.1:1415/openapi.json

Signals:
  SIGTERM, SIGINT  stop; requests that are under way are answered
  SIGHUP           open the indexes again, after they were rebuilt, and the access log, after it was rotated; no request fails";

/// Serve indexes over HTTP, with a page that searches as you type
///
/// The page is at /, the interface at /api/v1/, its description at /openapi.json; /healthz and /metrics are for those who run
/// it. For indexes of digits, /piquery and /pidigits answer as the Pi Searcher's own server does.
#[derive(Args)]
#[command(after_help = "Try 'comb serve --help' for examples.", after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The indexes, made by 'comb index build'. Without a name, an index has that of its file
    #[arg(value_name = "[NAME=]INDEX", required = true, value_parser = parse_named)]
    pub(crate) indexes: Vec<(String, PathBuf)>,

    /// Where to listen: this machine only, unless told otherwise; with port 0, at any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:1415")]
    pub(crate) listen: SocketAddr,

    /// Let pages of this origin ask, such as https://example.org; '*' for those of all
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) cors: Option<String>,

    /// Log requests in the Combined Log Format to this file, or to standard output if it is -
    #[arg(long, value_name = "FILE", value_parser = parse_log)]
    pub(crate) access_log: Option<LogTarget>,

    #[command(flatten)]
    pub(crate) threads: Threads,

    #[command(flatten, next_help_heading = "Limits")]
    limits: LimitArguments,
}

#[derive(Args)]
struct LimitArguments {
    /// Bytes of a pattern
    #[arg(long, value_name = "N", default_value = "1000")]
    max_pattern: usize,

    /// Positions in an answer
    #[arg(long, value_name = "N", default_value = "1000")]
    max_results: u64,

    /// Symbols before and after an occurrence
    #[arg(long, value_name = "N", default_value = "1000")]
    max_context: u64,

    /// Symbols of text in an answer
    #[arg(long, value_name = "N", default_value = "100000")]
    max_text: u64,

    /// Seconds that an answer may take to be found
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = parse_seconds)]
    timeout: Duration,

    /// Seconds that a client may be silent
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    silence: Duration,

    /// Connections at a time
    #[arg(long, value_name = "N", default_value = "1000")]
    max_connections: usize,

    /// Connections at a time of one address; behind a proxy, all come from one
    #[arg(long, value_name = "N", default_value = "250")]
    max_connections_per_address: usize,

    /// Requests that are being answered at a time
    #[arg(long, value_name = "N", default_value = "250")]
    max_in_flight: usize,

    /// Seconds that requests under way have to finish when the server stops
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    grace: Duration,
}

impl Arguments {
    pub(crate) fn limits(&self) -> Limits {
        let limits = &self.limits;
        Limits {
            pattern: limits.max_pattern,
            results: limits.max_results,
            context: limits.max_context,
            text: limits.max_text,
            time: limits.timeout,
            silence: limits.silence,
            connections: limits.max_connections,
            connections_of_one: limits.max_connections_per_address,
            in_flight: limits.max_in_flight,
            grace: limits.grace,
            ..Limits::default()
        }
    }
}

/// Answer one request as a CGI program (RFC 3875)
///
/// A web server starts it for each request, with the request in its environment: PATH_INFO is an address of the interface, such
/// as /api/v1/pi/search; without one, QUERY_STRING is that of a search in the first index. It is there to be compared with
/// 'comb serve', which answers a hundred times as many.
#[derive(Args)]
pub(crate) struct CgiArguments {
    /// The indexes, made by 'comb index build'
    #[arg(value_name = "[NAME=]INDEX", required = true, value_parser = parse_named)]
    pub(crate) indexes: Vec<(String, PathBuf)>,
}

fn parse_named(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        // A path may have a '=' in it; a name has no '/'.
        Some((name, path)) if !name.contains('/') && !path.is_empty() => {
            Ok((name.to_owned(), PathBuf::from(path)))
        }
        _ => Ok((default_name(text.as_ref()), PathBuf::from(text))),
    }
}

fn parse_log(text: &str) -> Result<LogTarget, String> {
    Ok(if text == "-" { LogTarget::Output } else { LogTarget::File(PathBuf::from(text)) })
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let bounded =
        seconds.filter(|seconds| (Duration::from_millis(1)..=Duration::from_secs(86_400)).contains(seconds));
    bounded.ok_or_else(|| "it is a number of seconds from 0.001 to 86400".to_owned())
}
