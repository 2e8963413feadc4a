//! Activity of the threads, and its legend.

use std::time::Duration;

use anstyle::Style;
use finecomb_scan::{Activity, Phase, Progress};

use crate::top::live::line::LiveLine;

/// Width of the label of a thread.
const LABEL: usize = 12;

/// Activity of the threads between two moments.
pub(super) struct ThreadsActivity<'a> {
    pub(super) progress: &'a Progress,
    pub(super) before: &'a Progress,
}

impl ThreadsActivity<'_> {
    /// At most `rows` lines: the threads, and their legend.
    pub(super) fn lines(&self, rows: usize, columns: usize) -> Vec<LiveLine> {
        let legend = self.legend(columns);
        let threads = self.progress.threads.len().min(rows.saturating_sub(legend.len()));
        let mut lines: Vec<LiveLine> = (0..threads).map(|thread| self.thread(thread, columns)).collect();
        lines.extend(legend);
        lines.truncate(rows);
        lines
    }

    /// Phases of a thread since the last update, each in proportion to its share of the time.
    fn thread(&self, number: usize, columns: usize) -> LiveLine {
        let mut line = LiveLine::default();
        line.add(Style::new(), format!("{:<LABEL$}", format!("thread {}", number + 1)));
        let before = self.before.threads.get(number);
        let spent = Phase::ALL.map(|phase| {
            let before = before.map_or(Duration::ZERO, |before: &Activity| before.spent(phase));
            self.progress.threads[number].spent(phase).saturating_sub(before).as_secs_f64()
        });
        let all: f64 = spent.iter().sum();
        let width = columns.saturating_sub(LABEL) as f64;
        let (mut sum, mut drawn) = (0.0, 0);
        for (phase, spent) in Phase::ALL.into_iter().zip(spent) {
            sum += spent;
            let end = (width * sum / all.max(1e-9)).round() as usize;
            line.add_mark(phase, end - drawn);
            drawn = end;
        }
        line
    }

    /// Legend of the phases so far, except `Start`, which is over when the page is drawn.
    fn legend(&self, columns: usize) -> Vec<LiveLine> {
        let is_there = |phase| self.progress.threads.iter().any(|thread| !thread.spent(phase).is_zero());
        legend(Phase::ALL.into_iter().filter(|&phase| phase != Phase::Start && is_there(phase)), columns)
    }
}

/// Legend of phases, wrapped to `columns`.
fn legend(phases: impl Iterator<Item = Phase>, columns: usize) -> Vec<LiveLine> {
    let mut lines: Vec<LiveLine> = Vec::new();
    let mut width = columns;
    for phase in phases {
        // Mark, space and name.
        let own = 2 + phase.name().len();
        if width + own > columns {
            lines.push(LiveLine::new(Style::new(), " ".repeat(LABEL)));
            width = LABEL;
        }
        if let Some(line) = lines.last_mut() {
            line.add_mark(phase, 1);
            line.add(Style::new(), format!(" {phase}  "));
        }
        width += own + 2;
    }
    lines
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    fn text(line: LiveLine, columns: usize) -> String {
        strip_str(&line.drawn(columns, true)).to_string()
    }

    #[test]
    fn the_legend_fits_narrow_terminals() {
        for columns in [40, 50, 80, 120] {
            let lines: Vec<_> =
                legend(Phase::ALL.into_iter(), columns).into_iter().map(|line| text(line, columns)).collect();
            for phase in Phase::ALL {
                let meaning = format!("{} {phase}", phase.mark());
                assert!(lines.iter().any(|line| line.contains(&meaning)), "{columns}: {phase} in {lines:?}");
            }
        }
    }

    #[test]
    fn the_legend_is_kept_where_there_is_no_room_for_all_threads() {
        let progress = Progress { threads: vec![Activity::default(); 9], ..Progress::default() };
        let activity = ThreadsActivity { progress: &progress, before: &Progress::default() };
        let lines: Vec<_> = activity.lines(2, 30).into_iter().map(|line| text(line, 30)).collect();
        assert_eq!(lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>(), ["thread 1", "thread 2"]);
    }
}
