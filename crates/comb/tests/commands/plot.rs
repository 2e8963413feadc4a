//! Tests of `comb top --plot`.

use crate::support::{Place, directory_with};

const LOG: &str = "2026-03-01T06:00:07 in 1\n2026-03-01T06:00:09 in 3\n2026-03-01T06:00:30 <script> 2\n\
                   2026-03-01T06:02:00 a\x1b[31m 9\n2026-03-01T06:02:01 in 1\n";

/// Draws a log with these flags; returns the picture.
fn drawn(flags: &str) -> String {
    let directory = directory_with(&[("app.log", LOG)]);
    let comb = format!("comb top --every 1m --tz UTC app.log {flags}");
    let (printed, _, code) = directory.run(&comb);
    assert_eq!(code, Some(0));
    directory.prints(&format!("{comb} --plot counts.svg"), &printed);
    directory.read("counts.svg")
}

fn has_text(svg: &str, text: &str) -> bool {
    svg.contains(&format!(">{text}<"))
}

#[test]
fn a_plot_of_buckets_has_bars_and_says_what_it_shows() {
    let svg = drawn("");
    // The empty bucket between the two has no bar.
    assert_eq!(svg.matches("<polygon ").count(), 2);
    for text in ["app.log", "records every 1m, UTC; 5 records", "records", "06:00", "06:01", "2026-03-01"] {
        assert!(has_text(&svg, text), "{text}");
    }
}

#[test]
fn a_plot_of_keys_has_a_line_and_a_name_for_each_and_what_is_in_logs_is_escaped() {
    let svg = drawn("-f 2");
    assert_eq!(svg.matches("<polygon ").count(), 0);
    for text in ["in", "&lt;script&gt;", "a\\u{1b}[31m"] {
        assert!(has_text(&svg, text), "{text}: {svg}");
    }
    let svg = drawn("-f 2 -n 1");
    assert!(has_text(&svg, "in") && !svg.contains("script"));
}

#[test]
fn a_plot_shows_the_measure_that_sort_names() {
    let svg = drawn("--max 3 --sort max");
    assert!(has_text(&svg, "max(3)") && has_text(&svg, "max(3) every 1m, UTC; 5 records"));
    // Two values that are not neighbours.
    assert_eq!(svg.matches("<circle ").count(), 2);
}

#[test]
fn a_plot_replaces_only_another_picture() {
    let directory =
        directory_with(&[("app.log", LOG), ("notes.svg", "notes"), ("old.svg", "<?xml?><svg></svg>")]);
    let plot = |file: &str, input: &str| format!("comb top --every 1m --plot {file} {input}");
    assert_eq!(directory.run(&plot("old.svg", "app.log")).2, Some(0));
    for (file, input, message) in [
        ("notes.svg", "app.log", "notes.svg: file exists and is not an SVG; use another output"),
        ("none/a.svg", "app.log", "none: no such directory"),
        ("old.svg", "old.svg", "old.svg: same file as the input old.svg; use another output"),
    ] {
        directory.answers(&plot(file, input), "", &format!("comb: {message}\n"), 2);
    }
    assert_eq!(directory.read("notes.svg"), "notes");
}

#[test]
fn a_plot_needs_buckets_and_the_name_of_an_svg() {
    let directory = directory_with(&[("app.log", LOG)]);
    for (flags, reason) in [
        ("--plot a.svg", "--every <WIDTH>"),
        ("--every 1m --plot a.png", "a PNG cannot be drawn; use a name that ends with .svg"),
        ("--every 1m --plot a", "expected a name that ends with .svg"),
        ("--every 1m --plot a.svg --sample", "cannot be used with"),
    ] {
        directory.refuses(&format!("comb top app.log {flags}"), reason);
    }
}
