//! Asking for some time, on some connections at once, each of which asks again as soon as it is answered.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::client::Connection;
use super::latency::Latencies;
use super::program;
use super::questions::Question;
use crate::error::{Error, Result};
use crate::gate::together;
use finecomb_sys::io_reason;

/// A way to have questions answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// A server, over connections that stay open.
    KeptConnections,
    /// A server, over a new connection for each request.
    NewConnections,
    /// A CGI program: a new process for each request.
    NewProcesses,
}

impl Way {
    /// All of them, the quickest first.
    pub const ALL: [Self; 3] = [Self::KeptConnections, Self::NewConnections, Self::NewProcesses];
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

/// What is asked, and of whom.
pub(super) struct Asker<'a> {
    pub(super) comb: &'a Path,
    pub(super) index: &'a Path,
    pub(super) server: SocketAddr,
    questions: &'a [Question],
    /// The first answer to each question. All others must be the same.
    bodies: Vec<OnceLock<Vec<u8>>>,
}

/// What came of asking for some time.
pub(super) struct Asked {
    pub(super) latencies: Latencies,
    /// From the first question to the last answer.
    pub(super) took: Duration,
}

/// How long to wait for one of the ports that connections are made from, when all are taken by connections
/// that were closed just now, and how often. The system keeps them for a minute at most.
const PAUSE: Duration = Duration::from_millis(1);
const MOST_PAUSES: u32 = 60_000;

impl<'a> Asker<'a> {
    pub(super) fn new(
        comb: &'a Path,
        index: &'a Path,
        server: SocketAddr,
        questions: &'a [Question],
    ) -> Self {
        Self { comb, index, server, questions, bodies: vec![OnceLock::new(); questions.len()] }
    }

    /// Asks the first `count` questions in every way, one after another, and compares the answers.
    ///
    /// # Errors
    ///
    /// As [`Asker::keep_asking`].
    pub(super) fn compare(&self, count: usize) -> Result<()> {
        for way in Way::ALL {
            let mut connection = None;
            for number in 0..count.min(self.questions.len()) {
                self.ask(way, number, &mut connection).map_err(|error| failed(way, &error))?;
            }
        }
        Ok(())
    }

    /// Asks for so long, from so many threads.
    ///
    /// # Errors
    ///
    /// [`Error::Asking`] if a question is not answered, or not as it was before.
    pub(super) fn keep_asking(&self, way: Way, connections: usize, time: Duration) -> Result<Asked> {
        let (next, gave_up) = (AtomicUsize::new(0), AtomicBool::new(false));
        let results = together(connections, |opened| {
            let mine = next.fetch_add(1, Ordering::Relaxed);
            let first = mine * self.questions.len() / connections;
            let (mut latencies, mut connection) = (Latencies::new(), None);
            // Each asks at least once, so that there is a latency however short the time is.
            for number in (0..self.questions.len()).cycle().skip(first) {
                match self.ask(way, number, &mut connection) {
                    Ok(latency) => latencies.push(latency),
                    Err(error) => {
                        gave_up.store(true, Ordering::Relaxed);
                        return Err(failed(way, &error));
                    }
                }
                if opened.elapsed() >= time || gave_up.load(Ordering::Relaxed) {
                    break;
                }
            }
            Ok((latencies, opened.elapsed()))
        })?;
        let mut asked = Asked { latencies: Latencies::new(), took: Duration::ZERO };
        for result in results {
            let (latencies, took) = result?;
            asked.latencies.merge(&latencies);
            asked.took = asked.took.max(took);
        }
        Ok(asked)
    }

    /// How long the answer to a question took, with the connection if there is a new one for each.
    fn ask(&self, way: Way, number: usize, connection: &mut Option<Connection>) -> io::Result<Duration> {
        let question = &self.questions[number];
        if way == Way::NewProcesses {
            let start = Instant::now();
            let (status, body) = program::ask(self.comb, self.index, question)?;
            let latency = start.elapsed();
            return self.check(number, status, &body).map(|()| latency);
        }
        let target = format!("{}?{}", Question::path(), question.query);
        let is_new = way == Way::NewConnections;
        let kept = connection.take().filter(|_| !is_new);
        let (mut open, connected) = kept.map_or_else(|| self.connect(), |kept| Ok((kept, Instant::now())))?;
        let start = if is_new { connected } else { Instant::now() };
        let answer = open.get(&target, is_new)?;
        let latency = start.elapsed();
        self.check(number, answer.status, answer.body)?;
        *connection = Some(open);
        Ok(latency)
    }

    /// A connection, and when it was begun.
    fn connect(&self) -> io::Result<(Connection, Instant)> {
        let mut pauses = 0;
        loop {
            let start = Instant::now();
            match Connection::open(self.server) {
                Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable && pauses < MOST_PAUSES => {
                    pauses += 1;
                    sleep(PAUSE);
                }
                opened => return opened.map(|connection| (connection, start)),
            }
        }
    }

    fn check(&self, number: usize, status: u16, body: &[u8]) -> io::Result<()> {
        let query = &self.questions[number].query;
        if status != 200 {
            return Err(io::Error::other(format!("the answer to '{query}' has status {status}")));
        }
        if self.bodies[number].get_or_init(|| body.to_vec()) != body {
            return Err(io::Error::other(format!(
                "the answer to '{query}' is not the one that was given before"
            )));
        }
        Ok(())
    }
}

fn failed(way: Way, error: &io::Error) -> Error {
    Error::Asking { way, reason: io_reason(error) }
}
