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
    routes: Vec<RouteMetrics>,
    pub(crate) connections: Gauge,
    pub(crate) in_flight: Gauge,
    pub(crate) refused: Counter,
    pub(crate) reopened: Counter,
}

/// What is counted of one route; found once, as finding it costs more than counting.
struct RouteMetrics {
    route: &'static str,
    good: Counter,
    seconds: Histogram,
}

/// The media type of [`Metrics::text`].
pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

impl Metrics {
    /// Counters for routes of these names.
    pub(crate) fn new(routes: &[&'static str]) -> Arc<Self> {
        // From 10 µs to 2.6 s.
        let histogram: fn() -> Histogram = || Histogram::new(exponential_buckets(1e-5, 4.0, 10));
        let seconds = Family::<Routed, Histogram, _>::new_with_constructor(histogram);
        let requests = Family::<Answered, Counter>::default();
        let of_route = |&route: &&'static str| RouteMetrics {
            route,
            good: requests.get_or_create(&Answered { route, status: 200 }).clone(),
            seconds: seconds.get_or_create(&Routed { route }).clone(),
        };
        let mut metrics = Self {
            registry: Registry::with_prefix("comb"),
            routes: routes.iter().map(of_route).collect(),
            requests,
            connections: Gauge::default(),
            in_flight: Gauge::default(),
            refused: Counter::<u64, AtomicU64>::default(),
            reopened: Counter::default(),
        };
        let Self { registry, requests, connections, in_flight, refused, reopened, .. } = &mut metrics;
        registry.register("requests", "Requests that were answered", requests.clone());
        registry.register_with_unit(
            "request",
            "Time from a request's head to its answer's",
            Unit::Seconds,
            seconds,
        );
        registry.register("connections", "Connections that are open", connections.clone());
        registry.register("requests_in_flight", "Requests that are being answered", in_flight.clone());
        registry.register("connections_refused", "Connections that were one too many", refused.clone());
        registry.register("indexes_reopened", "Times that the indexes were opened again", reopened.clone());
        Arc::new(metrics)
    }

    /// Counts an answer of one of the routes.
    pub(crate) fn answered(&self, route: &'static str, status: u16, time: Duration) {
        let Some(metrics) = self.routes.iter().find(|metrics| metrics.route == route) else { return };
        match status {
            200 => metrics.good.inc(),
            status => self.requests.get_or_create(&Answered { route, status }).inc(),
        };
        metrics.seconds.observe(time.as_secs_f64());
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // A string takes whatever is written to it.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
