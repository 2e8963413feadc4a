//! Limits on requests and connections.

use std::time::Duration;

/// Limits on what a server does for its clients.
#[derive(Clone, Debug, Hash)]
pub struct Limits {
    /// Bytes in a pattern.
    pub pattern: usize,
    /// Positions in an answer.
    pub results: u64,
    /// Symbols before and after an occurrence.
    pub context: u64,
    /// Symbols of text in an answer.
    pub text: u64,
    /// Time that computing an answer may take.
    pub request_timeout: Duration,
    /// Bytes in the head of a request.
    pub head: usize,
    /// Time that a connection may be idle, and that the head of a request may take to arrive.
    pub idle_timeout: Duration,
    /// Concurrent connections.
    pub max_connections: usize,
    /// Concurrent connections from one IP address.
    pub max_connections_per_ip: usize,
    /// Requests in flight, each until its last byte is sent.
    pub in_flight: usize,
    /// Time that requests in flight have to finish when the server stops.
    pub shutdown_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pattern: 1000,
            results: 1000,
            context: 1000,
            text: 100_000,
            request_timeout: Duration::from_secs(2),
            head: 16 << 10,
            idle_timeout: Duration::from_secs(30),
            max_connections: 1000,
            max_connections_per_ip: 250,
            in_flight: 250,
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}
