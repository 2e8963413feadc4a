//! Concurrent clients that send queries in a closed loop for a given time.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use finecomb_sys::io_reason;
use hdrhistogram::Histogram;
use hyper::StatusCode;
use hyper::body::Bytes;
use serde::{Deserialize, Serialize};

use super::cgi;
use super::client::Client;
use super::questions::path;
use crate::error::{Error, Result};
use crate::threads::start_together;

/// A way to serve requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ServeMode {
    /// A server, over persistent connections.
    KeptConnections,
    /// A server, over a new connection for each request.
    NewConnections,
    /// A CGI program: a new process for each request.
    NewProcesses,
}

impl ServeMode {
    /// All modes, the fastest first.
    pub(super) const ALL: [Self; 3] = [Self::KeptConnections, Self::NewConnections, Self::NewProcesses];
}

impl Display for ServeMode {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::KeptConnections => "server, persistent connections",
            Self::NewConnections => "server, connection per request",
            Self::NewProcesses => "CGI, process per request",
        })
    }
}

/// Server, CGI program and queries.
pub(super) struct Load<'a> {
    comb: &'a Path,
    index: &'a Path,
    server: SocketAddr,
    queries: &'a [String],
    /// First answer to each query. All others must be equal.
    bodies: Vec<OnceLock<Bytes>>,
}

/// Latencies of many requests.
#[derive(Clone)]
pub(super) struct Latencies {
    /// Nanoseconds, with an error below 1 %.
    pub(super) nanoseconds: Histogram<u64>,
    /// Maximum, exact.
    pub(super) longest: Duration,
    /// Time from the first query to the last answer.
    pub(super) took: Duration,
}

/// Significant digits of latencies.
const DIGITS: u8 = 2;

/// Pause before a retry when all local ports are taken by closed connections, and maximum number of pauses. The kernel keeps
/// such a port (TIME_WAIT) for at most a minute.
const PAUSE: Duration = Duration::from_millis(1);
const MAX_PAUSES: u32 = 60_000;

impl<'a> Load<'a> {
    pub(super) fn new(comb: &'a Path, index: &'a Path, server: SocketAddr, queries: &'a [String]) -> Self {
        Self { comb, index, server, queries, bodies: vec![OnceLock::new(); queries.len()] }
    }

    /// Sends the first `count` queries in every mode, one after another, and compares the answers.
    pub(super) fn compare(&self, count: usize) -> Result<()> {
        for mode in ServeMode::ALL {
            let failed = |error| failed(mode, &error);
            let mut client = Client::new(self.server).map_err(failed)?;
            for number in 0..count.min(self.queries.len()) {
                self.send(mode, number, &mut client).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Sends queries from concurrent clients for some time. Fails if a query is not answered, or not as before.
    pub(super) fn run(&self, mode: ServeMode, clients: usize, time: Duration) -> Result<Latencies> {
        let (next, failed_early) = (AtomicUsize::new(0), AtomicBool::new(false));
        let results = start_together(clients, |opened| {
            let result = self.run_client(mode, clients, next.fetch_add(1, Ordering::Relaxed), || {
                opened.elapsed() >= time || failed_early.load(Ordering::Relaxed)
            });
            failed_early.fetch_or(result.is_err(), Ordering::Relaxed);
            result.map(|latencies| Latencies { took: opened.elapsed(), ..latencies })
        })?;
        let mut all = Latencies::new();
        for result in results {
            let latencies = result.map_err(|error| failed(mode, &error))?;
            all.merge(&latencies);
            all.took = all.took.max(latencies.took);
        }
        Ok(all)
    }

    /// Sends queries as one of the clients, at least one, so that there is always a latency.
    fn run_client(
        &self,
        mode: ServeMode,
        clients: usize,
        client: usize,
        is_over: impl Fn() -> bool,
    ) -> io::Result<Latencies> {
        let first = client * self.queries.len() / clients;
        let (mut latencies, mut client) = (Latencies::new(), Client::new(self.server)?);
        for number in (0..self.queries.len()).cycle().skip(first) {
            latencies.record(self.send(mode, number, &mut client)?);
            if is_over() {
                break;
            }
        }
        Ok(latencies)
    }

    /// Latency of a request, including the connection if it is new.
    fn send(&self, mode: ServeMode, number: usize, client: &mut Client) -> io::Result<Duration> {
        let query = &self.queries[number];
        let target = format!("{}?{query}", path());
        for _ in 0..MAX_PAUSES {
            let start = Instant::now();
            let answer = match mode {
                ServeMode::KeptConnections => client.get(&target, false),
                ServeMode::NewConnections => client.get(&target, true),
                ServeMode::NewProcesses => cgi::run(self.comb, self.index, query),
            };
            let latency = start.elapsed();
            match answer {
                Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => sleep(PAUSE),
                answer => return self.check(number, answer?).map(|()| latency),
            }
        }
        Err(io::ErrorKind::AddrNotAvailable.into())
    }

    fn check(&self, number: usize, (status, body): (StatusCode, Bytes)) -> io::Result<()> {
        let query = &self.queries[number];
        if status != StatusCode::OK {
            let status = status.as_u16();
            return Err(io::Error::other(format!("the answer to '{query}' has status {status}")));
        }
        if *self.bodies[number].get_or_init(|| body.clone()) != body {
            let reason = format!("the answer to '{query}' differs from an earlier one");
            return Err(io::Error::other(reason));
        }
        Ok(())
    }
}

impl Latencies {
    pub(super) fn new() -> Self {
        let nanoseconds = Histogram::new(DIGITS).expect("few digits");
        Self { nanoseconds, longest: Duration::ZERO, took: Duration::ZERO }
    }

    fn record(&mut self, latency: Duration) {
        self.nanoseconds += u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.longest = self.longest.max(latency);
    }

    /// Adds other latencies.
    pub(super) fn merge(&mut self, other: &Self) {
        self.nanoseconds += &other.nanoseconds;
        self.longest = self.longest.max(other.longest);
    }

    /// Quantile of the latencies in seconds, at `share` from 0 to 1; NaN if there are none.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        if self.nanoseconds.is_empty() {
            return f64::NAN;
        }
        let nanoseconds = self.nanoseconds.value_at_quantile(share);
        Duration::from_nanos(nanoseconds).min(self.longest).as_nanos() as f64 / 1e9
    }
}

fn failed(mode: ServeMode, error: &io::Error) -> Error {
    Error::Other(format!("{mode}: {}", io_reason(error)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(nanoseconds: &[u64]) -> Latencies {
        let mut latencies = Latencies::new();
        nanoseconds.iter().for_each(|&latency| latencies.record(Duration::from_nanos(latency)));
        latencies
    }

    #[test]
    fn quantiles_are_by_nearest_rank() {
        let mut latencies = all(&Vec::from_iter(1..=50));
        latencies.merge(&all(&Vec::from_iter(51..=100)));
        let nanoseconds = [0.0, 0.01, 0.5, 0.99, 1.0].map(|share| (latencies.quantile(share) * 1e9).round());
        assert_eq!(nanoseconds, [1.0, 1.0, 50.0, 99.0, 100.0]);
        assert_eq!((latencies.nanoseconds.len(), latencies.longest), (100, Duration::from_nanos(100)));
        assert!(Latencies::new().quantile(0.5).is_nan());
    }

    proptest! {
        #[test]
        fn quantiles_have_an_error_below_one_percent(nanoseconds in 1_u64..1 << 50) {
            let mut latencies = all(&[nanoseconds]);
            latencies.longest = Duration::MAX;
            prop_assert!((latencies.quantile(0.5) * 1e9 / nanoseconds as f64 - 1.0).abs() < 0.01);
        }
    }
}
