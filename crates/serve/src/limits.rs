//! How much may be asked for.

use std::time::Duration;

/// Bounds on what a server does for its clients.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a pattern.
    pub pattern: usize,
    /// Positions in an answer.
    pub results: u64,
    /// Symbols before and after an occurrence.
    pub context: u64,
    /// Symbols of text in an answer.
    pub text: u64,
    /// How long an answer may take to be found.
    pub time: Duration,
    /// Bytes of a request's head.
    pub head: usize,
    /// How long the head of a request may take to come, and a connection may be silent.
    pub silence: Duration,
    /// Connections at a time.
    pub connections: usize,
    /// Connections at a time of one address.
    pub connections_of_one: usize,
    /// Requests that are being answered at a time, until their last byte is on its way.
    pub in_flight: usize,
    /// How long requests that are under way have to finish when the server stops.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pattern: 1000,
            results: 1000,
            context: 1000,
            text: 100_000,
            time: Duration::from_secs(2),
            head: 16 << 10,
            silence: Duration::from_secs(30),
            connections: 1000,
            connections_of_one: 250,
            in_flight: 250,
            grace: Duration::from_secs(30),
        }
    }
}
