//! Stages of a long build: shown while it runs, and with their times at the end.

use std::cell::RefCell;
use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use finecomb_sys::units::{Clock, Time};
use indicatif::{ProgressBar, ProgressState};

use crate::progress;

/// The part of a build that is done after some time, up to 1. `None` if it is not known yet.
pub(super) type DoneShare = Arc<dyn Fn(Duration) -> Option<f64> + Send + Sync>;

/// The part of a build that is shown at most: the last part may take longer than expected.
const MOST: f64 = 0.99;

/// Runs a build and shows its stages, by their names, on a terminal. Returns the result of the build, and a text with its total
/// time and the time of each stage.
///
/// # Errors
/// The errors of the build.
pub(super) fn with_stages<S: Copy, T, E>(
    name: fn(S) -> &'static str,
    done: DoneShare,
    build: impl FnOnce(&dyn Fn(S)) -> Result<T, E>,
) -> Result<(T, String), E> {
    let start = Instant::now();
    let bar = if stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    let left = move |state: &ProgressState, out: &mut dyn Write| {
        let elapsed = state.elapsed();
        let _ = out.write_str(&left(elapsed, done(elapsed)));
    };
    bar.set_style(progress::style("{spinner} {msg}{left}").with_key("left", left));
    progress::keep_moving(&bar);
    let stages = RefCell::new(Vec::<(S, Instant)>::new());
    let result = build(&|stage| {
        stages.borrow_mut().push((stage, Instant::now()));
        bar.set_message(name(stage));
    });
    bar.finish_and_clear();
    let (built, stages, end) = (result?, stages.into_inner(), Instant::now());
    let ends = stages.iter().skip(1).map(|&(_, started)| started).chain([end]);
    let parts: Vec<String> = stages
        .iter()
        .zip(ends)
        .map(|(&(stage, started), ended)| format!("{} {}", name(stage), Time(ended - started)))
        .collect();
    Ok((built, format!("took {}: {}", Time(end - start), parts.join(", "))))
}

/// The part that is done in percent, and the time that is left if the rest is as fast.
fn left(elapsed: Duration, done: Option<f64>) -> String {
    let Some(done) = done.filter(|done| *done > 0.0).map(|done| done.min(MOST)) else { return String::new() };
    let left = Duration::from_secs_f64(elapsed.as_secs_f64() * (1.0 - done) / done);
    format!(", {:.0} %, about {} left", 100.0 * done, Clock(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_as_fast_as_what_is_done() {
        let left = |seconds, done| left(Duration::from_secs(seconds), done);
        assert_eq!(left(3, Some(0.25)), ", 25 %, about 9 s left");
        assert_eq!(left(99, Some(1.5)), ", 99 %, about 1 s left");
        assert_eq!(left(3, Some(0.0)), "");
        assert_eq!(left(3, None), "");
    }
}
