//! A persistent server against CGI, with a process per request.
//!
//! Everything runs on one machine: the clients compete with the server for CPU time, in all three modes alike. The load is a closed
//! loop: each client sends its next query when the last one is answered. So the latencies are measured on a busy server, not on an
//! overloaded one.

mod ask;
mod cgi;
mod client;
mod questions;
mod server;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use finecomb_sys::units::Count;
use serde::{Deserialize, Serialize};

use self::ask::{Latencies, Load, ServeMode};
use self::server::ServerProcess;
use crate::effort::seconds;
use crate::experiment::Experiment;
use crate::machine::Machine;
use crate::rounds::{Progress, interleaved};
use crate::table::ResultTable;
use crate::units::TimeUnit;
use crate::{Error, Result};
use finecomb_sys::io_reason;

/// Options of the experiment.
pub struct ServeOptions {
    /// Path of comb.
    pub comb: PathBuf,
    /// An index made by 'comb index build'.
    pub index: PathBuf,
    /// Number of concurrent clients, at most [`MAX_CONNECTIONS`].
    pub connections: NonZeroUsize,
    /// Duration of the load in each mode.
    pub time: Duration,
}

/// Maximum number of concurrent clients. The server accepts 250 connections from one address, including those being closed.
pub const MAX_CONNECTIONS: usize = 100;

/// Approximate duration of a round. The modes take turns in each round.
const ROUND: Duration = Duration::from_secs(1);

/// Number of queries whose answers are compared between the three modes before anything is timed.
const COMPARED: usize = 20;

/// Result of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Serve {
    index: String,
    /// Machine of clients and server, and date.
    machine: Machine,
    connections: usize,
    /// Number of distinct queries.
    #[serde(rename = "questions")]
    queries: usize,
    #[serde(rename = "ways")]
    modes: Vec<ModeTimes>,
}

/// Measurements in a mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ModeTimes {
    #[serde(rename = "way")]
    mode: ServeMode,
    /// Number of answered requests.
    requests: u64,
    /// Wall time in seconds.
    seconds: f64,
    /// Median latency in seconds, with an error below 1 %.
    median: f64,
    /// 99th percentile of the latency in seconds, with an error below 1 %.
    percentile_99: f64,
    /// Maximum latency in seconds.
    longest: f64,
}

/// Starts a server on the loopback address, and sends queries to it and to the CGI program. Stops the server in any case.
///
/// # Errors
///
/// If the index cannot be served, if an answer has a status other than 200, or if answers differ between modes.
pub fn serve(options: &ServeOptions, progress: Progress<'_>) -> Result<Serve> {
    let ServeOptions { comb, index, .. } = options;
    let machine = Machine::here();
    let server = ServerProcess::start(comb, index)?;
    let queries = questions::sample(server.address())
        .map_err(|error| Error::File { path: index.clone(), reason: io_reason(&error) })?;
    let load = Load::new(comb, index, server.address(), &queries);
    load.compare(COMPARED)?;
    let rounds = (options.time.as_secs_f64() / ROUND.as_secs_f64()).round().max(1.0) as u32;
    let time = options.time / rounds;
    let rounds = NonZeroUsize::new(rounds as usize).unwrap_or(NonZeroUsize::MIN);
    let latencies = interleaved(&ServeMode::ALL, rounds, ServeMode::to_string, progress, |&mode| {
        load.run(mode, options.connections.get().min(MAX_CONNECTIONS), time)
    })?;
    Ok(Serve {
        index: index.display().to_string(),
        machine,
        connections: options.connections.get().min(MAX_CONNECTIONS),
        queries: queries.len(),
        modes: ServeMode::ALL
            .into_iter()
            .zip(&latencies)
            .map(|(mode, rounds)| ModeTimes::new(mode, rounds))
            .collect(),
    })
}

impl ModeTimes {
    fn new(mode: ServeMode, rounds: &[Latencies]) -> Self {
        let mut latencies = Latencies::new();
        rounds.iter().for_each(|round| latencies.merge(round));
        Self {
            mode,
            requests: latencies.nanoseconds.len(),
            seconds: seconds(rounds.iter().map(|round| round.took).sum()),
            median: latencies.quantile(0.5),
            percentile_99: latencies.quantile(0.99),
            longest: seconds(latencies.longest),
        }
    }

    fn per_second(&self) -> f64 {
        self.requests as f64 / self.seconds
    }
}

impl Experiment for Serve {
    const NAME: &'static str = "serve";

    fn heading(&self) -> String {
        format!(
            "{} distinct queries on {}, {} concurrent clients; {}",
            Count(self.queries as u64),
            self.index,
            self.connections,
            self.machine
        )
    }

    fn table(&self) -> ResultTable {
        let cgi = self.modes.iter().find(|measured| measured.mode == ServeMode::NewProcesses);
        let cgi = cgi.map_or(f64::NAN, ModeTimes::per_second);
        let milliseconds = |seconds: f64| format!("{:.3}", TimeUnit::MILLISECONDS.scaled(seconds));
        let finite = |number: f64, shown: fn(f64) -> String| {
            if number.is_finite() { shown(number) } else { "–".to_owned() }
        };
        let table = ResultTable::of(
            &self.modes,
            [
                ("mode", &|measured| measured.mode.to_string()),
                ("requests", &|measured| Count(measured.requests).to_string()),
                ("requests/s", &|measured| {
                    finite(measured.per_second(), |rate| Count(rate.round() as u64).to_string())
                }),
                ("median [ms]", &|measured| milliseconds(measured.median)),
                ("p99 [ms]", &|measured| milliseconds(measured.percentile_99)),
                ("max [ms]", &|measured| milliseconds(measured.longest)),
                ("vs. CGI", &|measured| finite(measured.per_second() / cgi, |factor| format!("{factor:.1}"))),
            ],
        );
        table.with_text([0])
    }

    fn notes(&self) -> Vec<String> {
        vec![
            "Each client sends its next query as soon as the last one is answered. Clients and server share the cores."
                .to_owned(),
            "Median, p99 (99th percentile) and max are latencies; vs. CGI is throughput relative to CGI.".to_owned(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::round_trips_through_its_file;

    fn example() -> Serve {
        let measured = |mode, requests, median| ModeTimes {
            mode,
            requests,
            seconds: 3.0,
            median,
            percentile_99: 2.0 * median,
            longest: 0.0125,
        };
        let modes = vec![
            measured(ServeMode::KeptConnections, 150_000, 0.000_125),
            measured(ServeMode::NewConnections, 30_000, 0.0005),
            measured(ServeMode::NewProcesses, 1500, 0.008),
        ];
        Serve {
            index: "pi.comb".to_owned(),
            machine: Machine::example(2),
            connections: 8,
            queries: 1000,
            modes,
        }
    }

    #[test]
    fn the_table_compares_with_cgi() {
        let expected = "\
1,000 distinct queries on pi.comb, 8 concurrent clients; 2 cores, Some CPU, Linux 6.1, 2025-01-31T12:00:00Z

mode                            requests  requests/s  median [ms]  p99 [ms]  max [ms]  vs. CGI
server, persistent connections   150,000      50,000        0.125     0.250    12.500    100.0
server, connection per request    30,000      10,000        0.500     1.000    12.500     20.0
CGI, process per request           1,500         500        8.000    16.000    12.500      1.0

Each client sends its next query as soon as the last one is answered. Clients and server share the cores.
Median, p99 (99th percentile) and max are latencies; vs. CGI is throughput relative to CGI.
";
        assert_eq!(example().text(&example().notes()), expected);
        round_trips_through_its_file(&example());
    }

    #[test]
    fn a_file_without_some_modes_is_shown() {
        let mut serve = example();
        serve.modes.truncate(1);
        assert!(serve.text(&serve.notes()).contains("0.125"));
    }
}
