//! The profile as JSON, for programs. `docs/profile.schema.json` describes it.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Report;
use crate::clock::ThreadTimes;
use crate::phase::Phase;
use finecomb_sys::Usage;

/// Version of the format. It changes when the meaning of a member changes or a member is removed, not when one is
/// added.
const VERSION: u32 = 1;

impl Report {
    /// Formats the profile as JSON. Times are in seconds.
    pub fn json(&self) -> String {
        let threads: Vec<_> =
            (1..).zip(&self.threads).map(|(number, thread)| self.thread(number, thread)).collect();
        let mut profile = json!({
            "version": VERSION,
            "command": self.command,
            "wall_seconds": seconds(self.wall),
            "threads": threads,
            "sum": self.sums(),
        });
        if let Some(process) = &self.process {
            let mut members = usage_members(&process.usage);
            members.insert("wall_seconds".into(), json!(seconds(process.wall)));
            profile["process"] = members.into();
        }
        format!("{profile:#}\n")
    }

    fn thread(&self, number: usize, thread: &ThreadTimes) -> Value {
        let mut members = usage_members(&thread.usage);
        members.insert("thread".into(), json!(number));
        members.insert("began_seconds".into(), json!(seconds(thread.began)));
        members.insert("total_seconds".into(), json!(seconds(thread.total())));
        members.insert("phases".into(), phases(|phase| thread.spent(phase)));
        members.insert("bytes".into(), json!(thread.bytes));
        members.insert("records".into(), json!(thread.records));
        members.insert("files".into(), json!(thread.files));
        members.into()
    }

    fn sums(&self) -> Value {
        let mut members = usage_members(&self.usage());
        let total: Duration = self.threads.iter().map(ThreadTimes::total).sum();
        members.insert("total_seconds".into(), json!(seconds(total)));
        members.insert("phases".into(), phases(|phase| self.of_phase(phase)));
        members.insert("bytes".into(), json!(self.sum(|thread| thread.bytes)));
        members.insert("records".into(), json!(self.sum(|thread| thread.records)));
        members.insert("files".into(), json!(self.sum(|thread| thread.files)));
        members.into()
    }
}

/// Times of all phases, even if zero, so that a reader need not know which phases exist.
fn phases(spent: impl Fn(Phase) -> Duration) -> Value {
    let members = Phase::ALL.into_iter().map(|phase| (phase.name().to_owned(), json!(seconds(spent(phase)))));
    Value::Object(members.collect())
}

fn usage_members(usage: &Usage) -> Map<String, Value> {
    let members = [
        ("user_seconds", json!(seconds(usage.user))),
        ("system_seconds", json!(seconds(usage.system))),
        ("voluntary_switches", json!(usage.voluntary_switches)),
        ("involuntary_switches", json!(usage.involuntary_switches)),
        ("minor_faults", json!(usage.minor_faults)),
        ("major_faults", json!(usage.major_faults)),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::example;
    use std::time::Instant;

    #[test]
    fn the_profile_conforms_to_its_schema() {
        let schema = include_str!("../../../../docs/profile.schema.json");
        let schema = serde_json::from_str(schema).expect("the schema is JSON");
        let validator = jsonschema::validator_for(&schema).expect("it is a schema");
        for report in [example(), example().of_process(Instant::now())] {
            let profile = serde_json::from_str(&report.json()).expect("the profile is JSON");
            let errors: Vec<_> = validator.iter_errors(&profile).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:?}");
        }
        assert!(!validator.is_valid(&json!({ "version": 1 })));
    }

    #[test]
    fn times_are_in_seconds() {
        let profile: Value = serde_json::from_str(&example().json()).expect("the profile is JSON");
        assert_eq!(profile["wall_seconds"], 0.0061);
        assert_eq!(profile["threads"][0]["phases"]["count"], 0.0045);
        assert_eq!(profile["threads"][1]["total_seconds"], profile["wall_seconds"]);
        assert_eq!(profile["threads"][1]["phases"]["wait"], 0.0001);
        assert_eq!(profile["sum"]["phases"]["read"], 0.0035);
        assert_eq!(profile["sum"]["bytes"], 3_000_000);
        assert_eq!(profile["threads"][0]["phases"]["walk"], 0.0);
    }
}
