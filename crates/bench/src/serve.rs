//! The persistent server against a process for each request.
//!
//! Everything runs on one machine: the clients take CPU time from those who answer, in all three ways alike. Each client asks
//! its next question when the one before is answered, so that the latencies are those of a server that is busy and not of one
//! that is overrun.

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

use self::ask::{Asker, Latencies, Way};
use self::server::Server;
use crate::effort::seconds;
use crate::experiment::Experiment;
use crate::machine::Machine;
use crate::rounds::{Progress, in_turns};
use crate::table::Table;
use crate::units::Unit;
use crate::{Error, Result};
use finecomb_sys::io_reason;

/// Options of the experiment.
pub struct ServeOptions {
    /// The program `comb`.
    pub comb: PathBuf,
    /// An index that 'comb index build' has made.
    pub index: PathBuf,
    /// Number of concurrent clients; [`MAX_CONNECTIONS`] at most.
    pub connections: NonZeroUsize,
    /// Time for each way.
    pub time: Duration,
}

/// More connections at the same time than this, and the server would refuse some: it allows 250 of one
/// address, and those that are just being closed count, too.
pub const MAX_CONNECTIONS: usize = 100;

/// The time is cut into stretches of about a second, in which the ways take turns.
const STRETCH: Duration = Duration::from_secs(1);

/// Questions that are asked in all three ways, and whose answers are compared, before anything is timed.
const COMPARED: usize = 20;

/// Result of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Serve {
    index: String,
    /// Machine of clients and server, and time.
    machine: Machine,
    connections: usize,
    /// Different questions.
    questions: usize,
    ways: Vec<Measured>,
}

/// Measurements of a way to have questions answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Measured {
    way: Way,
    /// Requests that were answered.
    requests: u64,
    /// Wall time in seconds.
    seconds: f64,
    /// The latency, in seconds, that half of the requests did not exceed; off by less than 1 %.
    median: f64,
    /// The latency, in seconds, that 99 of 100 did not exceed; off by less than 1 %.
    percentile_99: f64,
    /// The longest, in seconds.
    longest: f64,
}

/// Starts a server on this machine's own address, and asks it and the CGI program. The server is ended in any
/// case.
///
/// # Errors
///
/// If the index cannot be served, or anything is answered with another status than 200, or in different ways
/// differently.
pub fn serve(options: &ServeOptions, progress: Progress<'_>) -> Result<Serve> {
    let ServeOptions { comb, index, .. } = options;
    let machine = Machine::here();
    let server = Server::start(comb, index)?;
    let questions = questions::gathered(server.address())
        .map_err(|error| Error::File { path: index.clone(), reason: io_reason(&error) })?;
    let asker = Asker::new(comb, index, server.address(), &questions);
    asker.compare(COMPARED)?;
    let stretches = (options.time.as_secs_f64() / STRETCH.as_secs_f64()).round().max(1.0) as u32;
    let stretch = options.time / stretches;
    let rounds = NonZeroUsize::new(stretches as usize).unwrap_or(NonZeroUsize::MIN);
    let asked = in_turns(&Way::ALL, rounds, Way::to_string, progress, |&way| {
        asker.keep_asking(way, options.connections.get().min(MAX_CONNECTIONS), stretch)
    })?;
    Ok(Serve {
        index: index.display().to_string(),
        machine,
        connections: options.connections.get().min(MAX_CONNECTIONS),
        questions: questions.len(),
        ways: Way::ALL.into_iter().zip(&asked).map(|(way, asked)| Measured::new(way, asked)).collect(),
    })
}

impl Measured {
    fn new(way: Way, stretches: &[Latencies]) -> Self {
        let mut latencies = Latencies::new();
        stretches.iter().for_each(|stretch| latencies.merge(stretch));
        Self {
            way,
            requests: latencies.nanoseconds.len(),
            seconds: seconds(stretches.iter().map(|stretch| stretch.took).sum()),
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
            "{} different searches in {}, asked for by {} at a time; {}",
            Count(self.questions as u64),
            self.index,
            self.connections,
            self.machine
        )
    }

    fn table(&self) -> Table {
        let process = self.ways.iter().find(|measured| measured.way == Way::NewProcesses);
        let process = process.map_or(f64::NAN, Measured::per_second);
        let milliseconds = |seconds: f64| format!("{:.3}", Unit::MILLISECONDS.scaled(seconds));
        let finite = |number: f64, shown: fn(f64) -> String| {
            if number.is_finite() { shown(number) } else { "–".to_owned() }
        };
        let table = Table::of(
            &self.ways,
            [
                ("way", &|measured| measured.way.to_string()),
                ("requests", &|measured| Count(measured.requests).to_string()),
                ("requests/s", &|measured| {
                    finite(measured.per_second(), |rate| Count(rate.round() as u64).to_string())
                }),
                ("median [ms]", &|measured| milliseconds(measured.median)),
                ("99 % [ms]", &|measured| milliseconds(measured.percentile_99)),
                ("longest [ms]", &|measured| milliseconds(measured.longest)),
                ("factor", &|measured| {
                    finite(measured.per_second() / process, |factor| format!("{factor:.1}"))
                }),
            ],
        );
        table.with_text([0])
    }

    fn notes(&self) -> Vec<String> {
        vec![
            "Each asks its next question as soon as the one before is answered. Those who ask and those who \
             answer share the cores."
                .to_owned(),
            "The factor is in requests/s, over a process for each request.".to_owned(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::survives_its_file;

    fn example() -> Serve {
        let measured = |way, requests, median| Measured {
            way,
            requests,
            seconds: 3.0,
            median,
            percentile_99: 2.0 * median,
            longest: 0.0125,
        };
        let ways = vec![
            measured(Way::KeptConnections, 150_000, 0.000_125),
            measured(Way::NewConnections, 30_000, 0.0005),
            measured(Way::NewProcesses, 1500, 0.008),
        ];
        Serve {
            index: "pi.comb".to_owned(),
            machine: Machine::example(2),
            connections: 8,
            questions: 1000,
            ways,
        }
    }

    #[test]
    fn the_table_compares_with_a_process_for_each_request() {
        let expected = "\
1,000 different searches in pi.comb, asked for by 8 at a time; 2 cores, Some CPU, Linux 6.1, \
2025-01-31T12:00:00Z

way                                      requests  requests/s  median [ms]  99 % [ms]  longest [ms]  factor
a server, connections kept                150,000      50,000        0.125      0.250        12.500   100.0
a server, a connection for each request    30,000      10,000        0.500      1.000        12.500    20.0
a process for each request                  1,500         500        8.000     16.000        12.500     1.0

Each asks its next question as soon as the one before is answered. Those who ask and those who \
answer share the cores.
The factor is in requests/s, over a process for each request.
";
        assert_eq!(example().text(), expected);
        survives_its_file(&example());
    }

    #[test]
    fn what_was_not_asked_is_shown_without_a_panic() {
        let mut serve = example();
        serve.ways.truncate(1);
        assert!(serve.text().contains("0.125"));
    }
}
