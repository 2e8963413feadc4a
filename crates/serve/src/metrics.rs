//! Metrics of the server, in the OpenMetrics text format.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use hyper::StatusCode;

/// Media type of [`Metrics::text`].
pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Statuses of responses.
const STATUSES: [StatusCode; 11] = [
    StatusCode::OK,
    StatusCode::NOT_MODIFIED,
    StatusCode::BAD_REQUEST,
    StatusCode::FORBIDDEN,
    StatusCode::NOT_FOUND,
    StatusCode::METHOD_NOT_ALLOWED,
    StatusCode::NOT_ACCEPTABLE,
    StatusCode::URI_TOO_LONG,
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
    StatusCode::SERVICE_UNAVAILABLE,
];

/// Upper bounds of the histogram's buckets in seconds, as printed. Each is four times the previous one.
const BOUNDS: [&str; 10] = [
    "0.00001", "0.00004", "0.00016", "0.00064", "0.00256", "0.01024", "0.04096", "0.16384", "0.65536",
    "2.62144",
];

/// The first of [`BOUNDS`], in nanoseconds.
const FIRST_BOUND: u64 = 10_000;

/// Number that only grows.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn increment(&self) {
        self.add(1);
    }

    pub(crate) fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Number that grows and shrinks.
#[derive(Default)]
pub(crate) struct Gauge(AtomicUsize);

impl Gauge {
    /// Adds one. Returns the previous number.
    pub(crate) fn increment(&self) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn decrement(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed) as u64
    }
}

/// Histogram of response times, with their sum.
#[derive(Default)]
struct Histogram {
    /// Number of times above the previous bound and within this one; the last bucket is above all bounds.
    buckets: [Counter; BOUNDS.len() + 1],
    nanoseconds: Counter,
}

impl Histogram {
    fn observe(&self, time: Duration) {
        let nanoseconds = time.as_nanos() as u64;
        let bucket = (0..BOUNDS.len()).find(|&bound| nanoseconds <= FIRST_BOUND << (2 * bound));
        self.buckets[bucket.unwrap_or(BOUNDS.len())].increment();
        self.nanoseconds.add(nanoseconds);
    }
}

/// Metrics of one route.
struct RouteMetrics {
    label: &'static str,
    /// Number of responses by status, in the order of [`STATUSES`].
    answers: [Counter; STATUSES.len()],
    times: Histogram,
}

/// Metrics of the server.
pub(crate) struct Metrics {
    routes: Vec<RouteMetrics>,
    /// Number of open connections.
    pub(crate) connections: Gauge,
    /// Number of requests in flight.
    pub(crate) in_flight: Gauge,
    /// Number of connections refused because of the limits.
    pub(crate) refused: Counter,
    /// Number of times that the indexes were reopened.
    pub(crate) reopened: Counter,
    /// Number of lines missing from the access log.
    pub(crate) log_lines_dropped: Arc<Counter>,
}

impl Metrics {
    /// Makes the metrics of routes with these labels. A label shared by several routes is listed once.
    pub(crate) fn new(labels: impl IntoIterator<Item = &'static str>) -> Arc<Self> {
        let mut routes: Vec<RouteMetrics> = Vec::new();
        for label in labels {
            if routes.iter().all(|route| route.label != label) {
                routes.push(RouteMetrics { label, answers: Default::default(), times: Histogram::default() });
            }
        }
        Arc::new(Self {
            routes,
            connections: Gauge::default(),
            in_flight: Gauge::default(),
            refused: Counter::default(),
            reopened: Counter::default(),
            log_lines_dropped: Arc::default(),
        })
    }

    /// Records a response of the route with this label.
    pub(crate) fn record(&self, label: &'static str, status: StatusCode, time: Duration) {
        let route = self.routes.iter().find(|route| route.label == label);
        let answers = STATUSES.iter().position(|&known| known == status);
        debug_assert!(route.is_some() && answers.is_some(), "{label} {status} has no metric");
        if let (Some(route), Some(answers)) = (route, answers) {
            route.answers[answers].increment();
            route.times.observe(time);
        }
    }

    /// Formats all metrics.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string never fails.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        self.write_answers(out)?;
        self.write_times(out)?;
        let Self { connections, in_flight, refused, reopened, log_lines_dropped, .. } = self;
        write_single(out, "connections", "gauge", "Connections that are open", connections.get())?;
        write_single(
            out,
            "requests_in_flight",
            "gauge",
            "Requests that are being answered",
            in_flight.get(),
        )?;
        write_single(
            out,
            "connections_refused",
            "counter",
            "Connections that were one too many",
            refused.get(),
        )?;
        write_single(
            out,
            "indexes_reopened",
            "counter",
            "Times that the indexes were opened again",
            reopened.get(),
        )?;
        write_single(
            out,
            "access_log_lines_dropped",
            "counter",
            "Lines that the access log lacks, as it was blocked or could not be written",
            log_lines_dropped.get(),
        )?;
        out.write_str("# EOF\n")
    }

    fn write_answers(&self, out: &mut String) -> std::fmt::Result {
        write_head(out, "requests", "counter", "Requests that were answered")?;
        for RouteMetrics { label, answers, .. } in &self.routes {
            for (status, count) in STATUSES.iter().zip(answers) {
                // Successes are listed even if there are none yet, so that their rate can be computed from the start.
                if *status == StatusCode::OK || count.get() > 0 {
                    let (status, count) = (status.as_u16(), count.get());
                    writeln!(out, "comb_requests_total{{route=\"{label}\",status=\"{status}\"}} {count}")?;
                }
            }
        }
        Ok(())
    }

    fn write_times(&self, out: &mut String) -> std::fmt::Result {
        write_head(out, "request_seconds", "histogram", "Time from a request's head to its answer's")?;
        writeln!(out, "# UNIT comb_request_seconds seconds")?;
        for RouteMetrics { label, times, .. } in &self.routes {
            let bounds = BOUNDS.into_iter().chain(["+Inf"]);
            let mut count = 0;
            let cumulative: Vec<u64> = times
                .buckets
                .iter()
                .map(|bucket| {
                    count += bucket.get();
                    count
                })
                .collect();
            let seconds = Duration::from_nanos(times.nanoseconds.get()).as_secs_f64();
            writeln!(out, "comb_request_seconds_sum{{route=\"{label}\"}} {seconds:?}")?;
            writeln!(out, "comb_request_seconds_count{{route=\"{label}\"}} {count}")?;
            for (bound, count) in bounds.zip(cumulative) {
                writeln!(out, "comb_request_seconds_bucket{{le=\"{bound}\",route=\"{label}\"}} {count}")?;
            }
        }
        Ok(())
    }
}

fn write_head(out: &mut String, name: &str, kind: &str, help: &str) -> std::fmt::Result {
    writeln!(out, "# HELP comb_{name} {help}.\n# TYPE comb_{name} {kind}")
}

/// Writes a metric with a single value.
fn write_single(out: &mut String, name: &str, kind: &str, help: &str, value: u64) -> std::fmt::Result {
    write_head(out, name, kind, help)?;
    let suffix = if kind == "counter" { "_total" } else { "" };
    writeln!(out, "comb_{name}{suffix} {value}")
}

#[cfg(test)]
mod tests {
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
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let none = r#"{route="search",status="200"} 0"#;
        assert_eq!(listed(), [none]);
        metrics.record("search", StatusCode::NOT_FOUND, Duration::ZERO);
        assert_eq!(listed(), [none, r#"{route="search",status="404"} 1"#]);
    }
}
