//! The flags of `comb serve` and `comb cgi`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use finecomb_serve::{Limits, LogTarget, default_name};

use super::threads::Threads;

const EXAMPLES: &str = "\
Examples:
  Search the digits of pi in a browser, at http://127.0.0.1:1415/:
      comb serve pi.comb

  Serve two indexes to the network, one under another name, with an access log:
      comb serve pi.comb access=logs/access.log.comb --listen 0.0.0.0:8080 --access-log access.log

  Search from a script; read the description of the interface:
      curl 'http://127.0.0.1:1415/api/v1/pi/search?q=14159'
      curl http://127.0.0.1:1415/openapi.json

Signals:
  SIGTERM, SIGINT  finish the requests in flight and stop; a second one stops at once
  SIGHUP           reopen the indexes (after a rebuild) and the access log (after a rotation); no request fails";

/// Serve indexes over HTTP, with a page that searches as you type
///
/// The page is at /, the interface at /api/v1/, its description at /openapi.json; /healthz and /metrics are for monitoring.
/// For indexes of digits, /piquery and /pidigits answer as the Pi Searcher's own server does.
#[derive(Args)]
#[command(after_help = "Try 'comb serve --help' for examples.", after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Indexes built by 'comb index build'. The default name is that of the file
    #[arg(value_name = "[NAME=]INDEX", required = true, value_parser = parse_named)]
    pub(crate) indexes: Vec<(String, PathBuf)>,

    /// Address to listen on; the default is reachable from this machine only. Port 0 is any free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:1415")]
    pub(crate) listen: SocketAddr,

    /// Allow cross-origin requests from ORIGIN, such as https://example.org; '*' for all
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) cors: Option<String>,

    /// Answer requests for the host NAME, too; repeatable. By default, a server that only this machine can reach answers for
    /// localhost and IP addresses, any other for all hosts, but only for those listed here if there are any. Keeps pages of other
    /// sites from reading answers by DNS rebinding
    #[arg(long = "allow-host", value_name = "NAME")]
    pub(crate) allowed_hosts: Vec<String>,

    /// Log requests in the Combined Log Format to FILE; - is standard output. Lines that it does not take in time
    /// are dropped and counted
    #[arg(long, value_name = "FILE", value_parser = parse_log)]
    pub(crate) access_log: Option<LogTarget>,

    #[command(flatten)]
    pub(crate) threads: Threads,

    #[command(flatten, next_help_heading = "Limits")]
    limits: LimitArguments,
}

#[derive(Args)]
struct LimitArguments {
    /// Limit on the bytes of a pattern
    #[arg(long, value_name = "N", default_value = "1000")]
    max_pattern: usize,

    /// Limit on the positions in an answer
    #[arg(long, value_name = "N", default_value = "1000")]
    max_results: u64,

    /// Limit on the symbols before and after an occurrence
    #[arg(long, value_name = "N", default_value = "1000")]
    max_context: u64,

    /// Limit on the symbols of text in an answer
    #[arg(long, value_name = "N", default_value = "100000")]
    max_text: u64,

    /// Time-out for computing an answer
    #[arg(long, alias = "timeout", value_name = "SECONDS", default_value = "2", value_parser = parse_seconds)]
    request_timeout: Duration,

    /// Time-out for idle connections
    #[arg(long, alias = "silence", value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    idle_timeout: Duration,

    /// Limit on concurrent connections
    #[arg(long, value_name = "N", default_value = "1000")]
    max_connections: usize,

    /// Limit on concurrent connections from one IP address; behind a proxy, all come from one
    #[arg(long, alias = "max-connections-per-address", value_name = "N", default_value = "250")]
    max_connections_per_ip: usize,

    /// Limit on requests in flight
    #[arg(long, value_name = "N", default_value = "250")]
    max_in_flight: usize,

    /// Time-out for requests in flight when the server stops
    #[arg(long, alias = "grace", value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    shutdown_timeout: Duration,
}

impl Arguments {
    pub(crate) fn limits(&self) -> Limits {
        let limits = &self.limits;
        Limits {
            pattern: limits.max_pattern,
            results: limits.max_results,
            context: limits.max_context,
            text: limits.max_text,
            request_timeout: limits.request_timeout,
            idle_timeout: limits.idle_timeout,
            max_connections: limits.max_connections,
            max_connections_per_ip: limits.max_connections_per_ip,
            in_flight: limits.max_in_flight,
            shutdown_timeout: limits.shutdown_timeout,
            ..Limits::default()
        }
    }
}

/// Answer one request as a CGI program (RFC 3875)
///
/// A web server starts it for each request and passes the request in the environment: PATH_INFO is an address of the interface,
/// such as /api/v1/pi/search; if it is empty, QUERY_STRING is a search in the first index. For comparison: 'comb serve' has 100×
/// the throughput.
#[derive(Args)]
pub(crate) struct CgiArguments {
    /// Indexes built by 'comb index build'
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
    bounded.ok_or_else(|| "expected seconds from 0.001 to 86400".to_owned())
}
