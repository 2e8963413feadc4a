//! Lines above and below the rows of the screen: the command, rates and progress, and the keys of the terminal.

use anstyle::{AnsiColor, Color, Style};
use finecomb_scan::Progress;
use finecomb_sys::display;
use finecomb_sys::units::{Bytes, Clock, Count, counted};

use crate::top::live::controls::{Controls, Mode};
use crate::top::live::line::LiveLine;
use crate::top::live::rates::Rates;

/// The keys of the terminal, and what they do.
const HELP: [(&str, &str); 9] = [
    ("q, Ctrl-C", "stop and print the result"),
    ("s", "sort by the next column"),
    ("p", "pause the screen, or go on"),
    ("/", "show the keys with a text"),
    ("Up, Down", "select a row"),
    ("Enter", "show the times and the latest records of a row"),
    ("Escape", "undo a choice, or stop"),
    ("t", "show or hide the threads"),
    ("?", "this help; any key leaves it"),
];

/// Progress of a job. On a narrow terminal, parts are omitted, but not the number of records.
pub(super) fn progress(progress: &Progress, records: u64, rates: &Rates, columns: usize) -> LiveLine {
    let Progress { done, total, elapsed, .. } = *progress;
    let of = total.map(|total| format!(" of {}", Bytes(total))).unwrap_or_default();
    let speed = (done as f64 / elapsed.as_secs_f64().max(1e-9)) as u64;
    let mut parts = vec![
        counted(records, "record"),
        format!("{}/s now", rate(rates.now())),
        format!("{}/s mean", rate(rates.mean())),
        format!("{}{of}", Bytes(done)),
        format!("{}/s", Bytes(speed)),
        Clock(elapsed).to_string(),
    ];
    // Least important parts first.
    for part in [4, 4, 3, 2, 1] {
        if parts.join(", ").len() > columns {
            parts.remove(part);
        }
    }
    LiveLine::new(Style::new(), parts.join(", "))
}

/// A number of records per second for people.
pub(super) fn rate(rate: f64) -> String {
    if rate > 0.0 && rate < 9.95 { format!("{rate:.1}") } else { Count(rate.round() as u64).to_string() }
}

/// Progress bar with the percentage in the middle.
pub(super) fn gauge(progress: &Progress, columns: usize, has_colors: bool) -> LiveLine {
    let Some(total) = progress.total.filter(|&total| total > 0) else { return LiveLine::default() };
    let share = (progress.done as f64 / total as f64).min(1.0);
    let text = format!("{:^columns$}", format!("{:.0}%", share * 100.0));
    let filled = (share * columns as f64).round() as usize;
    let blue = Color::from(AnsiColor::Blue);
    let (left, right) = text.split_at(filled.min(text.len()));
    let done = Style::new().bg_color(Some(blue)).fg_color(Some(AnsiColor::Black.into()));
    let mut line = LiveLine::new(if has_colors { done } else { Style::new().invert() }, left);
    line.add(Style::new().fg_color(Some(blue)), right);
    line
}

/// The last line: the typed text, or what was chosen, and the most important keys that fit.
pub(super) fn hints(controls: &Controls, sorted_by: &str, has_keys: bool, columns: usize) -> LiveLine {
    let mut line = LiveLine::default();
    if controls.mode == Mode::Filter {
        line.add(Style::new().bold(), format!("/{}", typed(&controls.filter, columns / 2)));
        line.add(Style::new().invert(), " ");
        line.add(Style::new().dimmed(), "  Enter keeps, Escape clears");
        return line;
    }
    let mut left = columns;
    if controls.is_paused {
        line.add(Style::new().invert(), "paused");
        line.add(Style::new(), "  ");
        left = left.saturating_sub("paused  ".len());
    }
    if !controls.filter.is_empty() {
        let text = format!("/{}  ", typed(&controls.filter, columns / 3));
        left = left.saturating_sub(display::width(&text));
        line.add(Style::new().bold(), text);
    }
    let sort = format!("s sort: {sorted_by}");
    let keys = if has_keys { "/ text" } else { "" };
    let of_rows = ["q stop and print", "? help", &sort, "p pause", keys, "↑↓ select", "Enter open"];
    let of_row = ["Escape all rows", "q stop and print", "? help", "p pause", "↑↓ other rows"];
    let hints = if controls.is_open { &of_row[..] } else { &of_rows };
    let mut shown = Vec::new();
    for &hint in hints.iter().filter(|hint| !hint.is_empty()) {
        let width = display::width(hint) + 2;
        if width > left + 2 {
            break;
        }
        left = left.saturating_sub(width);
        shown.push(hint);
    }
    line.add(Style::new().dimmed(), shown.join("  "));
    line
}

/// The end of a typed text, without characters that a terminal obeys.
fn typed(text: &str, columns: usize) -> String {
    let text = display::escaped_bytes(text.as_bytes());
    display::ending(&text, columns).to_owned()
}

/// The help.
pub(super) fn help() -> impl Iterator<Item = LiveLine> {
    HELP.into_iter().map(|(key, meaning)| {
        let mut line = LiveLine::new(Style::new().bold(), format!("{key:<9}  "));
        line.add(Style::new(), meaning);
        line
    })
}
