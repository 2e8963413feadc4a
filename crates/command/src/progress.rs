//! Progress bar of long jobs, on standard error if that is a terminal.

use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use finecomb_scan::{Progress, Watch};
use finecomb_sys::threads::spawn_detached;
use finecomb_sys::units::{Bytes, Clock};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::terminal;

/// Time before the bar appears; shorter jobs show none.
const AFTER: Duration = Duration::from_secs(1);
/// Time between updates of the bar.
const EVERY: Duration = Duration::from_millis(100);

/// Minimum number of columns of a terminal to show a bar.
const NARROW: usize = 64;

const WITH_TOTAL: &str = "{wide_bar} {msg}";
const WITHOUT_TOTAL: &str = "{spinner} {wide_msg}";

/// Redraws a bar until it is finished, so that its times and its spinner move between two steps of the job. Without memory for a
/// thread it moves with the steps only.
pub fn keep_moving(bar: &ProgressBar) {
    if !bar.is_hidden() {
        let bar = bar.downgrade();
        // `enable_steady_tick` would panic if the system refused a thread.
        spawn_detached(move || {
            while let Some(bar) = bar.upgrade().filter(|bar| !bar.is_finished()) {
                bar.tick();
                drop(bar);
                thread::sleep(EVERY);
            }
        });
    }
}

/// Runs a job, and shows its progress on a terminal.
pub(crate) fn with_bar<T>(job: impl FnOnce(Option<Watch<'_>>) -> T) -> T {
    if !stderr().is_terminal() {
        return job(None);
    }
    let bar = OnceLock::new();
    let show = |progress: Progress| {
        let bar = bar.get_or_init(|| create(progress.total));
        bar.set_message(message(&progress));
        bar.set_position(progress.done);
    };
    let result = job(Some(Watch::new(EVERY, &show).after(AFTER)));
    if let Some(bar) = bar.get() {
        bar.finish_and_clear();
    }
    result
}

fn create(total: Option<u64>) -> ProgressBar {
    let is_narrow = terminal::width(stderr()).is_some_and(|columns| columns < NARROW);
    let template = if total.is_some() && !is_narrow { WITH_TOTAL } else { WITHOUT_TOTAL };
    ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr()).with_style(style(template))
}

/// Makes a style from a template. Its `{elapsed}` and `{eta}` are [`Clock`]s.
pub fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let clock = |time: fn(&ProgressState) -> Duration| {
        move |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", Clock(time(state)));
        }
    };
    style.with_key("elapsed", clock(ProgressState::elapsed)).with_key("eta", clock(ProgressState::eta))
}

/// Bytes done, throughput, and the remaining time, or the elapsed time without a total. The throughput is the average
/// since the start of the job, as the first reads may come from the page cache.
fn message(progress: &Progress) -> String {
    let Progress { done, total, elapsed, .. } = *progress;
    let speed = done as f64 / elapsed.as_secs_f64().max(1e-9);
    let (of, time) = match total {
        Some(total) => {
            let left = Duration::from_secs_f64(total.saturating_sub(done) as f64 / speed.max(1.0));
            (format!(" of {}", Bytes(total)), format!("{} left", Clock(left)))
        }
        None => (String::new(), Clock(elapsed).to_string()),
    };
    format!("{}{of}, {}/s, {time}", Bytes(done), Bytes(speed as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_valid() {
        for template in [WITH_TOTAL, WITHOUT_TOTAL] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }

    #[test]
    fn the_throughput_is_the_average_since_the_start() {
        let message = |done, total, seconds| {
            message(&Progress { done, total, elapsed: Duration::from_secs(seconds), ..Progress::default() })
        };
        assert_eq!(
            message(3_000_000_000, Some(12_000_000_000), 2),
            "3.00 GB of 12.0 GB, 1.50 GB/s, 6 s left"
        );
        assert_eq!(message(1_000_000, Some(1_024_000_000), 1), "1.00 MB of 1.02 GB, 1.00 MB/s, 17:03 left");
        assert_eq!(message(5_000_000, None, 7205), "5.00 MB, 693 B/s, 2:00:05");
        assert_eq!(message(0, Some(10), 1), "0 B of 10 B, 0 B/s, 10 s left");
        let longest = message(999_000_000_000, Some(999_000_000_000), 1).len();
        assert!(longest < NARROW, "{longest}");
    }
}
