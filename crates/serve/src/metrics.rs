//! Metrics of the server, in the OpenMetrics text format. The series of a metric are in no particular order.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use tower_http::metrics::in_flight_requests::InFlightRequestsCounter;

/// Media type of [`Metrics::text`].
pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Labels of a number of responses.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Answered {
    route: &'static str,
    status: u16,
}

/// Label of a histogram of response times.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Routed {
    route: &'static str,
}

/// Metrics of the server.
pub(crate) struct Metrics {
    registry: Registry,
    answers: Family<Answered, Counter>,
    times: Family<Routed, Histogram>,
    /// Number of open connections.
    pub(crate) connections: Gauge,
    /// Number of requests in flight, as counted and as last printed.
    pub(crate) in_flight: InFlightRequestsCounter,
    printed_in_flight: Gauge,
    /// Number of connections refused because of the limits.
    pub(crate) refused: Counter,
    /// Number of times that the indexes were reopened.
    pub(crate) reopened: Counter,
    /// Number of lines missing from the access log.
    pub(crate) log_lines_dropped: Counter,
}

impl Metrics {
    /// Makes the metrics of routes with these labels.
    pub(crate) fn new(labels: impl IntoIterator<Item = &'static str>) -> Arc<Self> {
        // From 10 µs to 2.6 s.
        let times = || Histogram::new(exponential_buckets(1e-5, 4.0, 10));
        let mut metrics = Self {
            registry: Registry::with_prefix("comb"),
            answers: Family::default(),
            times: Family::new_with_constructor(times),
            connections: Gauge::default(),
            in_flight: InFlightRequestsCounter::new(),
            printed_in_flight: Gauge::default(),
            refused: Counter::default(),
            reopened: Counter::default(),
            log_lines_dropped: Counter::default(),
        };
        // Listed even if there are none yet, so that their rate can be computed from the start.
        for route in labels {
            drop(metrics.answers.get_or_create(&Answered { route, status: 200 }));
            drop(metrics.times.get_or_create(&Routed { route }));
        }
        let Self {
            registry,
            answers,
            times,
            connections,
            printed_in_flight,
            refused,
            reopened,
            log_lines_dropped,
            ..
        } = &mut metrics;
        registry.register("requests", "Requests that were answered", answers.clone());
        let help = "Time from a request's head to its answer's";
        registry.register_with_unit("request", help, Unit::Seconds, times.clone());
        registry.register("connections", "Connections that are open", connections.clone());
        registry.register(
            "requests_in_flight",
            "Requests that are being answered",
            printed_in_flight.clone(),
        );
        registry.register("connections_refused", "Connections that were one too many", refused.clone());
        registry.register("indexes_reopened", "Times that the indexes were opened again", reopened.clone());
        let help = "Lines that the access log lacks, as it was blocked or could not be written";
        registry.register("access_log_lines_dropped", help, log_lines_dropped.clone());
        Arc::new(metrics)
    }

    /// Records a response of a route.
    pub(crate) fn record(&self, route: &'static str, status: StatusCode, time: Duration) {
        self.answers.get_or_create(&Answered { route, status: status.as_u16() }).inc();
        self.times.get_or_create(&Routed { route }).observe(time.as_secs_f64());
    }

    /// The metrics as text.
    pub(crate) fn text(&self) -> String {
        self.printed_in_flight.set(self.in_flight.get() as i64);
        let mut text = String::new();
        // Writing to a string never fails.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn response_times_are_counted_within_each_bound() {
        let metrics = Metrics::new(["search", "count", "search"]);
        for microseconds in [0, 10, 11, 640, 3_000_000] {
            metrics.record("search", StatusCode::OK, Duration::from_micros(microseconds));
        }
        let text = metrics.text();
        let head = "# TYPE comb_request_seconds histogram\n# UNIT comb_request_seconds seconds\n";
        assert!(text.contains(head), "{text}");
        let values = |name: &str, labels: &str| -> Vec<&str> {
            let (start, end) = (format!("comb_request_seconds_{name}{{"), format!("{labels}}} "));
            text.lines()
                .filter(|line| line.starts_with(&start))
                .filter_map(|line| line.split_once(&end).map(|(_, value)| value))
                .collect()
        };
        assert_eq!(values("sum", "route=\"search\""), ["3.000661"]);
        assert_eq!(values("count", "route=\"search\""), ["5"]);
        let within = ["2", "3", "3", "4", "4", "4", "4", "4", "4", "4", "5"];
        assert_eq!(values("bucket", "route=\"search\""), within);
        assert_eq!(values("bucket", "le=\"0.00064\",route=\"search\""), ["4"]);
        assert_eq!(values("bucket", "le=\"+Inf\",route=\"search\""), ["5"]);
        assert_eq!(values("bucket", "route=\"count\""), ["0"; 11]);
    }

    #[test]
    fn failures_are_listed_once_they_have_happened() {
        let metrics = Metrics::new(["search"]);
        let listed = || {
            let text = metrics.text();
            let lines = text.lines().filter_map(|line| line.strip_prefix("comb_requests_total"));
            lines.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        };
        let none = r#"{route="search",status="200"} 0"#;
        assert_eq!(listed(), [none]);
        metrics.record("search", StatusCode::NOT_FOUND, Duration::ZERO);
        assert_eq!(listed(), [none, r#"{route="search",status="404"} 1"#]);
    }
}
