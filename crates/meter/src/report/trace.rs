//! The profile as a trace for Perfetto and `chrome://tracing` ("Trace Event Format", JSON object form, with complete
//! events).

use serde_json::{Value, json};

use super::Report;
use crate::spans::Span;

/// Number of the only process.
const PROCESS: u32 = 1;

/// First line of a trace.
pub(super) const HEAD: &str = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";

impl Report {
    /// Formats the profile as a trace with an event for each span. Times are in microseconds from the start of the job.
    /// Unless spans were recorded, the trace has only the names of threads.
    pub fn trace(&self) -> String {
        let mut trace = HEAD.to_owned();
        let name = if self.command.is_empty() { "comb" } else { &self.command };
        trace.push_str(&metadata("process_name", 0, &json!({ "name": name })).to_string());
        for (number, thread) in (1..).zip(&self.threads) {
            let label = json!({ "name": format!("thread {number}") });
            let order = json!({ "sort_index": number });
            for event in
                [metadata("thread_name", number, &label), metadata("thread_sort_index", number, &order)]
            {
                trace.push_str(",\n");
                trace.push_str(&event.to_string());
            }
            for span in thread.spans.iter().flat_map(|spans| spans.as_slice()) {
                trace.push_str(",\n");
                trace.push_str(&complete(number, span).to_string());
            }
        }
        trace.push_str("\n]}\n");
        trace
    }
}

fn metadata(name: &str, thread: u32, arguments: &Value) -> Value {
    json!({ "ph": "M", "name": name, "pid": PROCESS, "tid": thread, "args": arguments })
}

/// Makes a complete event. It is a nanosecond short: viewers add start and duration as floating-point numbers, and take
/// an event that ends after its successor begins for the parent.
fn complete(thread: u32, span: &Span) -> Value {
    let nanos = (span.end - span.start).as_nanos().saturating_sub(1);
    json!({
        "ph": "X",
        "name": span.phase.name(),
        "cat": "phase",
        "pid": PROCESS,
        "tid": thread,
        "ts": span.start.as_nanos() as f64 / 1e3,
        "dur": nanos as f64 / 1e3,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::example;

    #[test]
    fn a_thread_has_an_event_for_each_span() {
        let trace: Value = serde_json::from_str(&example().trace()).expect("the trace is JSON");
        let events = trace["traceEvents"].as_array().expect("there are events");
        let spans: Vec<_> = events
            .iter()
            .filter(|event| event["ph"] == "X")
            .map(|event| format!("{} {} {} {}", event["tid"], event["name"], event["ts"], event["dur"]))
            .collect();
        assert_eq!(
            spans,
            [
                "1 \"read\" 0.0 1499.999",
                "1 \"count\" 1500.0 4499.999",
                "1 \"wait\" 6000.0 99.999",
                "2 \"start\" 0.0 3999.999",
                "2 \"read\" 4000.0 1999.999",
                "2 \"wait\" 6000.0 99.999",
            ]
        );
        let named =
            |thread: u32| events.iter().any(|event| event["name"] == "thread_name" && event["tid"] == thread);
        assert!(named(1) && named(2));
        assert_eq!(events[0]["args"]["name"], "comb top -f 7 \"a <b>.log\"");
    }
}
