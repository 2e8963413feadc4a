//! A chart of who ran when: a row for each thread, a bar where it ran.

use std::fmt::Write;

use super::Slices;
use super::coverage::{coverage, runs};

/// Pixels of the part in which the bars are, and how many columns each is cut into: for screens with fine
/// pixels, and for print.
const WIDTH: usize = 1000;
const FINENESS: usize = 2;
/// Pixels beside it: for the names of the threads, and for how long they ran.
const LEFT: usize = 90;
const RIGHT: usize = 80;
/// Pixels above it, for the heading, and below it, for the axis.
const ABOVE: usize = 92;
const BELOW: usize = 56;
/// Pixels of a row and of the bar in it, where there are few of them.
const ROW: usize = 28;
const BAR: usize = 18;
/// Where there are more threads than this, rows are thinner.
const MANY: usize = 24;

/// A column in which a thread ran for a part of the time is drawn in one of so many shades.
const SHADES: u32 = 8;

/// The colours of text, of the axis and its lines, and of the bars (the first of Okabe and Ito's that the
/// other charts use).
const INK: &str = "#222222";
const AXIS: &str = "#6e6e6e";
const GRID: &str = "#e1e1e1";
const BARS: &str = "#0072b2";

/// The chart as an SVG document. It is as large as its number of pixels allows, however many slices there
/// are.
pub(super) fn svg(slices: &Slices) -> String {
    let (row, bar) = if slices.threads.len() > MANY { (ROW / 2, ROW / 2 - 3) } else { (ROW, BAR) };
    let bottom = ABOVE + row * slices.threads.len();
    let (width, height) = (LEFT + WIDTH + RIGHT, bottom + BELOW);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"{}\" fill=\"{INK}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"16\" y=\"30\" font-size=\"20\" font-weight=\"bold\">Who ran when</text>\n\
         <text x=\"16\" y=\"52\" font-size=\"14\">{}</text>\n\
         <text x=\"16\" y=\"72\" font-size=\"14\">{}</text>\n",
        if row == ROW { 13 } else { 10 },
        slices.subject(),
        printable(&slices.machine.to_string())
    );
    // Writing into a string cannot fail.
    let _ = axis(&mut svg, slices.time, bottom);
    for number in 0..slices.threads.len() {
        let _ = one_row(&mut svg, slices, number, ABOVE + row * number, row, bar);
    }
    svg.push_str("</svg>\n");
    svg
}

/// A text as XML can hold it: what a machine calls itself may have anything in it.
fn printable(text: &str) -> String {
    let harmless = text.replace(|char: char| char.is_control(), "\u{FFFD}");
    harmless.replace('&', "&amp;").replace('<', "&lt;")
}

/// Lines at round times, with what they stand for.
fn axis(svg: &mut String, time: u64, bottom: usize) -> std::fmt::Result {
    let milliseconds = time as f64 / 1e6;
    let step = step(milliseconds);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let lines = if milliseconds > 0.0 { (milliseconds / step) as u32 } else { 0 };
    for at in (0..=lines).map(|line| f64::from(line) * step) {
        let x = LEFT as f64 + at / milliseconds.max(f64::MIN_POSITIVE) * WIDTH as f64;
        write!(svg, "<path d=\"M{x:.1} {ABOVE}V{bottom}\" stroke=\"{GRID}\"/>")?;
        let label = bottom + 20;
        writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{label}\" font-size=\"13\" text-anchor=\"middle\">{at:.digits$}</text>"
        )?;
    }
    writeln!(svg, "<path d=\"M{LEFT} {bottom}h{WIDTH}\" stroke=\"{AXIS}\"/>")?;
    let (middle, label) = (LEFT + WIDTH / 2, bottom + 42);
    writeln!(
        svg,
        "<text x=\"{middle}\" y=\"{label}\" font-size=\"13\" text-anchor=\"middle\">\
         time since all began [ms]</text>"
    )
}

/// A distance between lines that gives five to ten of them: 1, 2 or 5 times a power of ten.
fn step(milliseconds: f64) -> f64 {
    let least = (milliseconds / 10.0).max(1e-6);
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|factor| factor * power);
    steps.into_iter().find(|&step| step >= least).unwrap_or(10.0 * power)
}

fn one_row(
    svg: &mut String,
    slices: &Slices,
    number: usize,
    top: usize,
    row: usize,
    bar: usize,
) -> std::fmt::Result {
    let thread = &slices.threads[number];
    let (middle, top) = (top + row / 2, top + (row - bar) / 2);
    let share = 100.0 * thread.ran as f64 / slices.time.max(1) as f64;
    let line = |x: usize, anchor: &str, text: String| {
        format!("<text x=\"{x}\" y=\"{middle}\" dy=\"0.35em\" text-anchor=\"{anchor}\">{text}</text>\n")
    };
    svg.push_str(&line(LEFT - 10, "end", format!("thread {}", number + 1)));
    svg.push_str(&line(LEFT + WIDTH + 10, "start", format!("{share:.1} %")));
    let runs = runs(&coverage(&thread.slices, slices.time, WIDTH * FINENESS), SHADES);
    // All bars of a shade are one path: a chart of many short slices would be several times as large
    // otherwise.
    for shade in 1..=SHADES {
        let mut path = String::new();
        for (start, length, _) in runs.iter().filter(|run| run.2 == shade) {
            write!(path, "M{start} {top}h{length}v{bar}h-{length}z")?;
        }
        if !path.is_empty() {
            let opacity = f64::from(shade) / f64::from(SHADES);
            let place = format!("translate({LEFT} 0) scale({} 1)", 1.0 / FINENESS as f64);
            writeln!(
                svg,
                "<path d=\"{path}\" fill=\"{BARS}\" fill-opacity=\"{opacity}\" transform=\"{place}\"/>"
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Slices, Thread};
    use super::*;
    use crate::experiment::tests::machine;

    fn chart(threads: usize, slices: &[[u64; 2]], time: u64) -> String {
        let thread = Thread {
            slices: slices.to_vec(),
            dropped: 0,
            ran: slices.iter().map(|[from, to]| to - from).sum(),
            gaps: 0,
            longest_gap: 0,
            involuntary_switches: None,
            cpu: None,
        };
        svg(&Slices { machine: machine(1), time, gap: 100_000, threads: vec![thread; threads] })
    }

    #[test]
    fn bars_are_where_a_thread_ran() {
        let svg = chart(1, &[[0, 25_000_000], [50_000_000, 60_000_000]], 100_000_000);
        let y = ABOVE + (ROW - BAR) / 2;
        assert!(svg.contains(&format!("M0 {y}h500v18h-500zM1000 {y}h200v18h-200z")), "{svg}");
        assert!(
            svg.contains(">thread 1<") && svg.contains(">35.0 %<") && svg.contains(">100</text>"),
            "{svg}"
        );
    }

    #[test]
    fn a_picture_stays_small_however_many_slices_there_are() {
        let slices: Vec<[u64; 2]> =
            (0..20_000).map(|number| [number * 5_000, number * 5_000 + 2_500]).collect();
        let svg = chart(64, &slices, 100_000_000);
        assert!(svg.len() < 100_000, "{}", svg.len());
        // Half of the time, all over.
        assert!(svg.contains("h2000v11h-2000z\" fill=\"#0072b2\" fill-opacity=\"0.5\""));
    }

    #[test]
    fn nothing_is_a_picture_too() {
        assert!(chart(0, &[], 0).ends_with("</svg>\n"));
        assert!(chart(1, &[], 0).contains("0.0 %"));
    }

    #[test]
    fn lines_are_at_round_times() {
        assert_eq!([1000.0, 30.0, 2500.0, 0.7].map(step), [100.0, 5.0, 500.0, 0.1]);
    }
}
