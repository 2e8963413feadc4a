use super::*;
use crate::cache::tests::cold;
use crate::experiment::tests::{nonzero, round_trips_through_its_file};
use crate::run::Measured;

fn fixed(width: usize) -> Width {
    Width::Fixed(nonzero(width))
}

/// A run with these times, in seconds.
fn run(wall: f64, cpu: f64) -> Measured {
    Measured { wall, user: cpu, system: 0.0, voluntary_switches: 1, involuntary_switches: 2, major_faults: 0 }
}

fn record(cores: usize, cases: &[(Width, &[(f64, f64)])]) -> ScaleRecord {
    let cases = cases.iter().map(|&(width, runs)| WidthRuns {
        width,
        runs: runs.iter().map(|&(wall, cpu)| run(wall, cpu)).collect(),
    });
    ScaleRecord {
        job: "comb top -f 7 access.log".to_owned(),
        machine: Machine::example(cores),
        cold: None,
        output: Digest { bytes: 1234, xxh3_128: "0".to_owned() },
        cases: cases.collect(),
    }
}

/// A job with a serial fraction of a tenth, on four cores; more threads gain nothing.
fn example() -> ScaleRecord {
    record(
        4,
        &[
            (fixed(1), &[(1.0, 0.99), (1.0, 1.0), (1.02, 1.0)]),
            (fixed(2), &[(0.55, 1.0), (0.55, 1.0), (0.56, 1.01)]),
            (fixed(4), &[(0.325, 1.0), (0.325, 1.0), (0.33, 1.01)]),
            (fixed(8), &[(0.32, 1.02), (0.33, 1.02), (0.33, 1.02)]),
            (Width::Auto, &[(0.34, 1.0), (0.33, 1.0), (0.35, 1.0)]),
        ],
    )
}

fn shown(record: ScaleRecord) -> String {
    let scale = Scale::new(record);
    scale.text(&scale.notes())
}

#[test]
fn the_text_is_the_expected_one() {
    assert_eq!(shown(example()), include_str!("tests/example.txt"));
}

#[test]
fn findings_are_at_most_five_lines_and_name_what_is_doubtful() {
    let findings = |record| Scale::new(record).findings();
    let found = findings(example());
    assert!(found.len() <= 5 && found[0].starts_with("More than 4 threads do not pay"), "{found:#?}");
    assert!(found.iter().any(|line| line.starts_with("Amdahl's law: 9.9 %")), "{found:#?}");
    let two = findings(record(2, &[(fixed(1), &[(1.0, 1.0)]), (fixed(2), &[(0.6, 1.0)])]));
    assert!(two.iter().any(|line| line.ends_with(" (too few widths to test the law).")), "{two:#?}");
}

#[test]
fn measurements_round_trip_through_their_files() {
    round_trips_through_its_file(&Scale::new(example()));
    round_trips_through_its_file(&Scale::new(record(1, &[(Width::Auto, &[(0.1, 0.1)])])));
}

#[test]
fn a_file_gives_the_same_report() {
    let scale = Scale::new(example());
    let json = serde_json::to_string(&scale).expect("text");
    let read: Scale = serde_json::from_str(&json).expect("a measurement");
    assert_eq!(read.text(&read.notes()), scale.text(&scale.notes()));
    assert_eq!(read.markdown(), scale.markdown());
    assert_eq!(read.picture(), scale.picture());
    let value: serde_json::Value = serde_json::from_str(&json).expect("json");
    assert_eq!(value["cases"][2]["runs"][1]["wall"], 0.325);
    assert_eq!(value["summary"]["pays_up_to"], 4);
    assert_eq!(value["summary"]["amdahl"]["fitted_to"], serde_json::json!([1, 2, 4]));
}

#[test]
fn output_must_be_the_same_at_every_width() {
    let job = Scalable::new("comb".into(), &["top".into(), "log".into()], None).expect("a job");
    let widths = [fixed(1), fixed(2), fixed(4), Width::Auto];
    let digests = |hashes: &str| {
        hashes.chars().map(|hash| Digest { bytes: 1, xxh3_128: hash.to_string() }).collect::<Vec<_>>()
    };
    assert_eq!(same_output(&job, &widths, digests("aaaa")).expect("the same").xxh3_128, "a");
    assert_eq!(
        same_output(&job, &widths, digests("aaba")).expect_err("another").to_string(),
        "comb top log: output at width 4 differs from output at width 1, 2 and auto"
    );
    assert!(same_output(&job, &widths, digests("abcb")).is_err());
}

#[test]
fn impossible_measurements_are_refused() {
    let refused = |change: fn(&mut ScaleRecord)| {
        let mut record = example();
        change(&mut record);
        Scale::try_from(record).expect_err("impossible")
    };
    assert_eq!(refused(|record| record.cases.clear()), "no cases");
    assert_eq!(refused(|record| record.cases.swap(0, 1)), "widths are not in ascending order");
    assert_eq!(refused(|record| record.cases[1].runs.clear()), "no runs at width 2");
    assert_eq!(refused(|record| record.cases[0].runs[0].wall = 0.0), "invalid time of a run at width 1");
    assert_eq!(refused(|record| record.cases[4].runs[0].user = -1.0), "invalid time of a run at width auto");
}

#[test]
fn the_largest_width_that_pays_is_found() {
    let pays = |walls: &[f64]| {
        let runs: Vec<[(f64, f64); 1]> = walls.iter().map(|&wall| [(wall, wall)]).collect();
        let cases: Vec<(Width, &[(f64, f64)])> =
            runs.iter().enumerate().map(|(power, runs)| (fixed(1 << power), &runs[..])).collect();
        Analysis::new(&record(8, &cases)).pays_up_to
    };
    assert_eq!(pays(&[1.0, 0.5, 0.25]), Some(4));
    assert_eq!(pays(&[1.0, 0.5, 0.48, 0.6]), Some(2));
    // Four threads gain nothing over two, but eight do.
    assert_eq!(pays(&[1.0, 0.5, 0.6, 0.4]), Some(8));
    assert_eq!(pays(&[0.5, 1.0, 2.0]), Some(1));
    assert_eq!(pays(&[]), None);
}

#[test]
fn a_job_that_is_not_cpu_bound_is_fitted_to_all_widths() {
    let runs = [(1, [(8.0, 0.8); 2]), (2, [(4.2, 0.8); 2]), (4, [(2.3, 0.8); 2]), (8, [(1.4, 0.8); 2])];
    let waiting: Vec<(Width, &[_])> = runs.iter().map(|(width, runs)| (fixed(*width), &runs[..])).collect();
    let scale = Scale::new(record(2, &waiting));
    assert_eq!(scale.analysis.amdahl.as_ref().expect("a fit").widths, [1, 2, 4, 8]);
    let text = scale.text(&scale.notes());
    assert!(
        text.contains("All widths are included because the job is not CPU-bound but waits, for example for storage: at width 2 the cores that it can use are busy 9.5 % of the time."),
        "{text}"
    );
}

#[test]
fn a_large_serial_part_is_still_cpu_bound() {
    let serial: &[(Width, &[(f64, f64)])] =
        &[(fixed(1), &[(1.0, 0.99)]), (fixed(4), &[(0.7, 1.0)]), (fixed(16), &[(0.7, 1.0)])];
    let scale = Scale::new(record(4, serial));
    assert_eq!(scale.analysis.amdahl.as_ref().expect("a fit").widths, [1, 4]);
    assert!(
        scale.text(&scale.notes()).contains("at width 1 the cores that it can use are busy"),
        "{}",
        scale.text(&scale.notes())
    );
}

#[test]
fn laws_that_need_more_widths_are_not_fitted() {
    let scale = Scale::new(record(1, &[(fixed(1), &[(1.0, 1.0)]), (fixed(2), &[(1.0, 1.0)])]));
    let text = scale.text(&scale.notes());
    for needed in [
        "Amdahl's law cannot be fitted: it needs 2 different widths, and there is 1.",
        "The Universal Scalability Law cannot be fitted: it needs 3 different widths, and there are 2.",
    ] {
        assert!(text.contains(needed), "{text}");
    }
    assert!(scale.picture().is_some_and(|svg| svg.contains("measured")));
    assert!(shown(record(1, &[(Width::Auto, &[(1.0, 1.0)])])).contains("auto     1.000"));
}

#[test]
fn runs_are_reported_as_cold_only_if_they_were() {
    let report = |in_memory| {
        let scale = Scale::new(ScaleRecord { cold: Some(cold(Some(in_memory))), ..example() });
        (scale.heading(), scale.notes().join("\n"))
    };
    for (in_memory, title, note) in [
        (3, "3 runs, cold cache; 4 cores", "before each cold run by the kernel (drop_caches)"),
        (64, "warm cache (could not be dropped);", "so the cache was warm"),
    ] {
        let (heading, notes) = report(in_memory);
        assert!(heading.contains(title) && notes.contains(note), "{heading} {notes}");
    }
}
