//! Concurrent clients that ask for some time, each its next question as soon as the one before is answered.

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
use crate::threads::together;

/// A way to have questions answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Way {
    /// A server, over connections that stay open.
    KeptConnections,
    /// A server, over a new connection for each request.
    NewConnections,
    /// A CGI program: a new process for each request.
    NewProcesses,
}

impl Way {
    /// All of them, the fastest first.
    pub(super) const ALL: [Self; 3] = [Self::KeptConnections, Self::NewConnections, Self::NewProcesses];
}

impl Display for Way {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::KeptConnections => "a server, connections kept",
            Self::NewConnections => "a server, a connection for each request",
            Self::NewProcesses => "a process for each request",
        })
    }
}

/// Server, CGI program and questions.
pub(super) struct Asker<'a> {
    comb: &'a Path,
    index: &'a Path,
    server: SocketAddr,
    questions: &'a [String],
    /// The first answer to each question. All others must be the same.
    bodies: Vec<OnceLock<Bytes>>,
}

/// Latencies of many requests.
#[derive(Clone)]
pub(super) struct Latencies {
    /// Nanoseconds, off by less than 1 %.
    pub(super) nanoseconds: Histogram<u64>,
    /// The longest, exact.
    pub(super) longest: Duration,
    /// Time from the first question to the last answer.
    pub(super) took: Duration,
}

/// Significant digits of latencies.
const DIGITS: u8 = 2;

/// Pause before another try when all ports for connections are taken by connections that were just closed, and the largest
/// number of pauses. The system keeps such a port for a minute at most.
const PAUSE: Duration = Duration::from_millis(1);
const MAX_PAUSES: u32 = 60_000;

impl<'a> Asker<'a> {
    pub(super) fn new(comb: &'a Path, index: &'a Path, server: SocketAddr, questions: &'a [String]) -> Self {
        Self { comb, index, server, questions, bodies: vec![OnceLock::new(); questions.len()] }
    }

    /// Asks the first `count` questions in every way, one after another, and compares the answers.
    pub(super) fn compare(&self, count: usize) -> Result<()> {
        for way in Way::ALL {
            let failed = |error| failed(way, &error);
            let mut client = Client::new(self.server).map_err(failed)?;
            for number in 0..count.min(self.questions.len()) {
                self.ask(way, number, &mut client).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Asks for some time, from concurrent clients. Fails if a question is not answered, or not as it was
    /// before.
    pub(super) fn keep_asking(&self, way: Way, clients: usize, time: Duration) -> Result<Latencies> {
        let (next, gave_up) = (AtomicUsize::new(0), AtomicBool::new(false));
        let results = together(clients, |opened| {
            let result = self.ask_until(way, clients, next.fetch_add(1, Ordering::Relaxed), || {
                opened.elapsed() >= time || gave_up.load(Ordering::Relaxed)
            });
            gave_up.fetch_or(result.is_err(), Ordering::Relaxed);
            result.map(|latencies| Latencies { took: opened.elapsed(), ..latencies })
        })?;
        let mut all = Latencies::new();
        for result in results {
            let latencies = result.map_err(|error| failed(way, &error))?;
            all.merge(&latencies);
            all.took = all.took.max(latencies.took);
        }
        Ok(all)
    }

    /// Asks as one of the clients, at least once, so that there is a latency however short the time is.
    fn ask_until(
        &self,
        way: Way,
        clients: usize,
        client: usize,
        is_over: impl Fn() -> bool,
    ) -> io::Result<Latencies> {
        let first = client * self.questions.len() / clients;
        let (mut latencies, mut client) = (Latencies::new(), Client::new(self.server)?);
        for number in (0..self.questions.len()).cycle().skip(first) {
            latencies.record(self.ask(way, number, &mut client)?);
            if is_over() {
                break;
            }
        }
        Ok(latencies)
    }

    /// Latency of the answer to a question, with the connection if there is a new one for each.
    fn ask(&self, way: Way, number: usize, client: &mut Client) -> io::Result<Duration> {
        let question = &self.questions[number];
        let target = format!("{}?{question}", path());
        for _ in 0..MAX_PAUSES {
            let start = Instant::now();
            let answer = match way {
                Way::KeptConnections => client.get(&target, false),
                Way::NewConnections => client.get(&target, true),
                Way::NewProcesses => cgi::ask(self.comb, self.index, question),
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
        let query = &self.questions[number];
        if status != StatusCode::OK {
            let status = status.as_u16();
            return Err(io::Error::other(format!("the answer to '{query}' has status {status}")));
        }
        if *self.bodies[number].get_or_init(|| body.clone()) != body {
            let reason = format!("the answer to '{query}' differs from an earlier answer");
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

    /// The latency in seconds that a share of all (from 0 to 1) does not exceed; not a number if there are none.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        if self.nanoseconds.is_empty() {
            return f64::NAN;
        }
        let nanoseconds = self.nanoseconds.value_at_quantile(share);
        Duration::from_nanos(nanoseconds).min(self.longest).as_nanos() as f64 / 1e9
    }
}

fn failed(way: Way, error: &io::Error) -> Error {
    Error::Other(format!("{way}: {}", io_reason(error)))
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
        fn what_is_read_out_is_less_than_one_percent_off(nanoseconds in 1_u64..1 << 50) {
            let mut latencies = all(&[nanoseconds]);
            latencies.longest = Duration::MAX;
            prop_assert!((latencies.quantile(0.5) * 1e9 / nanoseconds as f64 - 1.0).abs() < 0.01);
        }
    }
}
