//! Limits on requests and connections.

use std::time::Duration;

/// Limits on requests and connections.
#[derive(Clone, Debug, Hash)]
pub struct Limits {
    /// Maximum number of bytes in a pattern.
    pub pattern: usize,
    /// Maximum number of positions in an answer.
    pub results: u64,
    /// Maximum number of symbols before and after an occurrence.
    pub context: u64,
    /// Maximum number of symbols of text in an answer.
    pub text: u64,
    /// Maximum time for computing an answer.
    pub request_timeout: Duration,
    /// Maximum number of bytes in the head of a request.
    pub head: usize,
    /// Maximum time that a connection may be idle, and that the head of a request may take to arrive.
    pub idle_timeout: Duration,
    /// Maximum number of concurrent connections.
    pub max_connections: usize,
    /// Maximum number of concurrent connections from one IP address.
    pub max_connections_per_ip: usize,
    /// Maximum number of requests in flight; each counts until its last byte is sent.
    pub in_flight: usize,
    /// Maximum time for requests in flight to finish when the server stops.
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
