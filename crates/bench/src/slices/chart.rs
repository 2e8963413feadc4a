//! Timeline of the time slices: a row per thread, a bar per slice.

use finecomb_plot::LABEL;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::Slices;
use crate::drawing::{BELOW, colour, picture, px, set_style, text_style};

/// Width in pixels of the bars, and of the labels to their left.
const WIDTH: i32 = 1000;
const LEFT: i32 = 150;
/// Height of a row in pixels. Rows are thinner for more than `MANY` threads.
const ROW: i32 = 28;
const THIN_ROW: i32 = 14;
const MANY: usize = 24;

/// Number of shades for columns in which a thread ran part of the time.
const SHADES: u32 = 8;

/// The chart as an SVG document. Its size is bounded by the number of pixels, for any number of slices.
pub(super) fn svg(slices: &Slices) -> String {
    let threads = slices.threads.len();
    let (row, label) = if threads > MANY { (THIN_ROW, LABEL * 5 / 8) } else { (ROW, LABEL) };
    let subtitle = format!("{}; {}", slices.subject(), slices.machine);
    let size = (LEFT + WIDTH, row * threads as i32 + BELOW);
    picture("Time slices", &subtitle, size, |area| {
        let milliseconds = |column: usize| column as f64 / f64::from(WIDTH) * slices.time as f64 / 1e6;
        let end = milliseconds(WIDTH as usize).max(f64::MIN_POSITIVE);
        let mut axes = ChartBuilder::on(area)
            .margin_right(px(20))
            .x_label_area_size(px(BELOW))
            .y_label_area_size(px(LEFT - 20))
            .build_cartesian_2d(0.0..end, threads.max(1) as f64..0.0)?;
        let milliseconds_label = |milliseconds: &f64| ((milliseconds * 1e6).round() / 1e6).to_string();
        let mut mesh = axes.configure_mesh();
        mesh.disable_y_mesh()
            .disable_y_axis()
            .x_desc("time since start [ms]")
            .x_label_formatter(&milliseconds_label);
        set_style(&mut mesh);
        mesh.draw()?;
        let label = text_style(label, FontStyle::Normal).pos(Pos::new(HPos::Right, VPos::Center));
        for (number, thread) in slices.threads.iter().enumerate() {
            let ran = 100.0 * thread.ran as f64 / slices.time.max(1) as f64;
            let place = (px(LEFT - 28), px(row * number as i32 + row / 2));
            area.draw_text(&format!("thread {}: {ran:.1} %", number + 1), &label, place)?;
            let (top, bottom) = (number as f64 + 0.2, number as f64 + 0.8);
            let bars = runs(&coverage(&thread.slices, slices.time, WIDTH as usize), SHADES);
            axes.draw_series(bars.into_iter().map(|(start, length, shade)| {
                let places = [(milliseconds(start), top), (milliseconds(start + length), bottom)];
                Rectangle::new(places, colour(0).mix(f64::from(shade) / f64::from(SHADES)).filled())
            }))?;
        }
        Ok(())
    })
}

/// Divides a time into `columns` equal parts, and returns the share of each that is covered by slices, from 0 to 1. Clips slices
/// that overlap the one before or reach beyond the end.
fn coverage(slices: &[[u64; 2]], time: u64, columns: usize) -> Vec<f64> {
    let mut shares = vec![0.0; columns];
    let mut covered = 0;
    for &[from, to] in slices {
        let (from, to) = (from.max(covered), to.min(time));
        if from >= to {
            continue;
        }
        covered = to;
        let place = |at: u64| at as f64 / time as f64 * columns as f64;
        let (from, to) = (place(from), place(to));
        let last = (to.ceil() as usize).min(columns);
        for (column, share) in shares.iter_mut().enumerate().take(last).skip(from as usize) {
            let (left, right) = (column as f64, column as f64 + 1.0);
            *share += (to.min(right) - from.max(left)).max(0.0);
        }
    }
    shares
}

/// Runs of columns of the same shade: start, length, and shade from 1 to `shades` (full). Omits columns in which the thread did
/// not run.
fn runs(shares: &[f64], shades: u32) -> Vec<(usize, usize, u32)> {
    let shade = |share: f64| {
        let shade = (share * f64::from(shades)).round() as u32;
        // Any time on the CPU is visible.
        if share > 0.0 { shade.clamp(1, shades) } else { 0 }
    };
    let mut runs: Vec<(usize, usize, u32)> = Vec::new();
    for (column, &share) in shares.iter().enumerate() {
        match (shade(share), runs.last_mut()) {
            (0, _) => {}
            (shade, Some((start, length, same))) if *same == shade && *start + *length == column => {
                *length += 1
            }
            (shade, _) => runs.push((column, 1, shade)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Slices, Thread};
    use super::*;
    use crate::machine::Machine;

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
        svg(&Slices { machine: Machine::example(1), time, gap: 100_000, threads: vec![thread; threads] })
    }

    /// Left edge and width of each bar, in pixels of the picture.
    fn bars(svg: &str) -> Vec<(i32, i32)> {
        let number = |bar: &str, name: &str| -> i32 {
            let value = bar.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split('"').next());
            value.expect("an attribute").parse().expect("a number")
        };
        let bars = svg.split("<rect").filter(|rect| rect.contains("fill=\"#0072B2\""));
        bars.map(|bar| ((number(bar, "x") + 4) / 8, (number(bar, "width") + 4) / 8)).collect()
    }

    #[test]
    fn bars_are_where_a_thread_ran() {
        let svg = chart(1, &[[0, 25_000_000], [50_000_000, 60_000_000]], 100_000_000);
        let bars = bars(&svg);
        assert_eq!((bars[0].1, bars[1].0 - bars[0].0, bars[1].1), (250, 500, 100), "{svg}");
        assert!(svg.contains("\nthread 1: 35.0 %\n") && svg.contains("\n100\n"), "{svg}");
    }

    #[test]
    fn the_size_of_a_picture_is_bounded() {
        let slices: Vec<[u64; 2]> =
            (0..20_000).map(|number| [number * 5_000, number * 5_000 + 2_500]).collect();
        let svg = chart(64, &slices, 100_000_000);
        assert!(svg.len() < 100_000, "{}", svg.len());
        // Every column is covered for half of its time.
        assert_eq!(bars(&svg).iter().filter(|bar| bar.1 == 1000).count(), 64);
        assert_eq!(svg.matches("opacity=\"0.5\" fill=\"#0072B2\"").count(), 64);
    }

    #[test]
    fn an_empty_chart_is_valid() {
        assert!(chart(0, &[], 0).trim_end().ends_with("</svg>"));
        assert!(chart(1, &[], 0).contains("0.0 %"));
    }

    #[test]
    fn slices_thinner_than_a_column_add_up() {
        assert_eq!(coverage(&[[0, 16], [24, 48], [50, 51], [52, 53]], 64, 4), [1.0, 0.5, 1.0, 0.125]);
        assert_eq!(coverage(&[[5, 900]], 40, 2), [0.75, 1.0]);
        assert_eq!(coverage(&[[9, 3], [0, 0]], 40, 2), [0.0, 0.0]);
        assert_eq!(coverage(&[[0, 5]], 0, 2), [0.0, 0.0]);
    }

    #[test]
    fn columns_of_the_same_shade_are_joined() {
        assert_eq!(runs(&[1.0, 1.0, 0.0, 0.5, 0.01, 1.0], 4), [(0, 2, 4), (3, 1, 2), (4, 1, 1), (5, 1, 4)]);
        assert_eq!(runs(&[0.0; 3], 4), []);
    }

    proptest! {
        #[test]
        fn coverage_preserves_the_total_time(cuts in prop::collection::btree_set(0_u64..=1000, 0..20), columns in 1_usize..50) {
            let cuts: Vec<u64> = cuts.into_iter().collect();
            let slices: Vec<[u64; 2]> = cuts.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
            let ran: u64 = slices.iter().map(|[from, to]| to - from).sum();
            let shares = coverage(&slices, 1000, columns);
            prop_assert!(shares.iter().all(|share| (0.0..=1.000_001).contains(share)));
            let drawn = shares.iter().sum::<f64>() / columns as f64 * 1000.0;
            prop_assert!((drawn - ran as f64).abs() < 1e-6);
        }
    }
}
