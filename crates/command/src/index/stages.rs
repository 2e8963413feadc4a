//! Stages of a long build: shown while it runs, and with their times at the end.

use std::cell::RefCell;
use std::io::{IsTerminal, stderr};
use std::time::Instant;

use finecomb_sys::units::Time;
use indicatif::ProgressBar;

use crate::progress;

/// Runs a build and shows its stages, by their names, on a terminal. Returns the result of the build, and a text with its total
/// time and the time of each stage.
///
/// # Errors
/// The errors of the build.
pub(super) fn with_stages<S: Copy, T, E>(
    name: fn(S) -> &'static str,
    build: impl FnOnce(&dyn Fn(S)) -> Result<T, E>,
) -> Result<(T, String), E> {
    let start = Instant::now();
    let bar = if stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
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
