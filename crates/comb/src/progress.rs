//! How far a long job is, on standard error if that is a terminal.

use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;
use std::time::Duration;

use finecomb_scan::{Progress, Watch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A job that is done sooner shows nothing.
const AFTER: Duration = Duration::from_secs(1);
const EVERY: Duration = Duration::from_millis(100);

const WITH_TOTAL: &str = "{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
const WITHOUT_TOTAL: &str = "{spinner} {bytes}, {bytes_per_sec}, {elapsed}";

/// Runs a job that may be watched, and shows its progress if there is a terminal to show it on.
pub(crate) fn shown<T>(job: impl FnOnce(Option<Watch<'_>>) -> T) -> T {
    if !stderr().is_terminal() {
        return job(None);
    }
    let bar = OnceLock::new();
    let show = |progress: Progress| bar.get_or_init(|| begin(progress.total)).set_position(progress.done);
    let result = job(Some(Watch { after: AFTER, every: EVERY, threads: false, show: &show }));
    if let Some(bar) = bar.get() {
        bar.finish_and_clear();
    }
    result
}

fn begin(total: Option<u64>) -> ProgressBar {
    let template = if total.is_some() { WITH_TOTAL } else { WITHOUT_TOTAL };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr()).with_style(style).with_elapsed(AFTER)
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
}
