//! What the server counts, as Prometheus reads it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Answered {
    route: &'static str,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Routed {
    route: &'static str,
}

/// What is counted.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    seconds: Family<Routed, Histogram, fn() -> Histogram>,
    pub(crate) connections: Gauge,
    pub(crate) in_flight: Gauge,
    pub(crate) refused: Counter,
    pub(crate) reopened: Counter,
}

/// The media type of [`Metrics::text`].
pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

impl Metrics {
    pub(crate) fn new() -> Arc<Self> {
        // From 10 µs to 2.6 s.
        let histogram: fn() -> Histogram = || Histogram::new(exponential_buckets(1e-5, 4.0, 10));
        let seconds = Family::new_with_constructor(histogram);
        let mut metrics = Self {
            registry: Registry::with_prefix("comb"),
            requests: Family::default(),
            seconds,
            connections: Gauge::default(),
            in_flight: Gauge::default(),
            refused: Counter::<u64, AtomicU64>::default(),
            reopened: Counter::default(),
        };
        let Self { registry, requests, seconds, connections, in_flight, refused, reopened } = &mut metrics;
        registry.register("requests", "Requests that were answered", requests.clone());
        registry.register_with_unit(
            "request",
            "Time from a request's head to its answer's",
            Unit::Seconds,
            seconds.clone(),
        );
        registry.register("connections", "Connections that are open", connections.clone());
        registry.register("requests_in_flight", "Requests that are being answered", in_flight.clone());
        registry.register("connections_refused", "Connections that were one too many", refused.clone());
        registry.register("indexes_reopened", "Times that the indexes were opened again", reopened.clone());
        Arc::new(metrics)
    }

    /// Counts an answer.
    pub(crate) fn answered(&self, route: &'static str, status: u16, time: Duration) {
        self.requests.get_or_create(&Answered { route, status }).inc();
        self.seconds.get_or_create(&Routed { route }).observe(time.as_secs_f64());
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // A string takes whatever is written to it.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
