//! A chart of who ran when: a row for each thread, a bar where it ran.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::Slices;
use super::coverage::{coverage, runs};
use crate::chart::draw::{BELOW, COLOURS, LABEL, document, px, set_style, text_style};

/// Pixels for the bars, and of the labels beside them.
const WIDTH: i32 = 1000;
const LEFT: i32 = 150;
/// Pixels of a row. Above a number of threads, rows are thinner.
const ROW: i32 = 28;
const THIN_ROW: i32 = 14;
const MANY: usize = 24;

/// Shades of columns in which a thread ran for a part of the time.
const SHADES: u32 = 8;

/// The chart as an SVG document. Its size is bounded by its number of pixels, however many slices there are.
pub(super) fn svg(slices: &Slices) -> String {
    let threads = slices.threads.len();
    let (row, label) = if threads > MANY { (THIN_ROW, LABEL * 5 / 8) } else { (ROW, LABEL) };
    let subtitle = format!("{}; {}", slices.subject(), slices.machine);
    let size = (LEFT + WIDTH, row * threads as i32 + BELOW);
    document("Who ran when", &subtitle, size, |area| {
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
            .x_desc("time since all began [ms]")
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
                Rectangle::new(places, COLOURS[0].mix(f64::from(shade) / f64::from(SHADES)).filled())
            }))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
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
    fn a_picture_stays_small_however_many_slices_there_are() {
        let slices: Vec<[u64; 2]> =
            (0..20_000).map(|number| [number * 5_000, number * 5_000 + 2_500]).collect();
        let svg = chart(64, &slices, 100_000_000);
        assert!(svg.len() < 100_000, "{}", svg.len());
        // Half of the time, all over.
        assert_eq!(bars(&svg).iter().filter(|bar| bar.1 == 1000).count(), 64);
        assert_eq!(svg.matches("opacity=\"0.5\" fill=\"#0072B2\"").count(), 64);
    }

    #[test]
    fn nothing_is_a_picture_too() {
        assert!(chart(0, &[], 0).trim_end().ends_with("</svg>"));
        assert!(chart(1, &[], 0).contains("0.0 %"));
    }
}
