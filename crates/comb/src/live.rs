//! A long count while it runs: the answer so far, and what each thread does. Drawn on standard error, so that standard
//! output has the answer alone.

use std::io::{self, Stderr, stderr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use finecomb_scan::{Activity, Phase, Progress, ScanOptions, Stop, Watch};
use finecomb_sys::io_reason;
use finecomb_top::{KeyCount, Live};
use indicatif::{HumanBytes, HumanCount};
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::{Constraint, Layout};
use ratatui::prelude::CrosstermBackend;
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Gauge, Paragraph};
use ratatui::{Frame, Terminal};

use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::message;

/// A job that is done sooner shows nothing.
const AFTER: Duration = Duration::from_millis(150);

/// How often the screen is drawn, and how long a key may wait for its effect.
const EVERY: Duration = Duration::from_millis(150);

/// Runs a job with the screen that shows it. What can end it must be among its options.
pub(crate) fn shown<T>(
    options: &ScanOptions<'_>,
    number: usize,
    job: impl FnOnce(&ScanOptions<'_>, &Live) -> T,
) -> T {
    let live = Live::new(number);
    let screen = Mutex::new(Screen {
        terminal: None,
        stop: options.stop.clone(),
        before: Progress::default(),
        has_failed: false,
    });
    let show = |progress: Progress| {
        screen.lock().unwrap_or_else(PoisonError::into_inner).show(progress, &live);
    };
    let watch = Watch { after: AFTER, every: EVERY, threads: true, show: &show };
    let done = job(&ScanOptions { watch: Some(watch), ..options.clone() }, &live);
    screen.into_inner().unwrap_or_else(PoisonError::into_inner).close();
    done
}

/// The terminal, once there is something to show on it.
struct Screen {
    terminal: Option<Terminal<CrosstermBackend<Stderr>>>,
    stop: Option<Arc<Stop>>,
    /// What was shown last.
    before: Progress,
    has_failed: bool,
}

impl Screen {
    /// Draws. A terminal that cannot be drawn on costs the screen, not
    /// the job.
    fn show(&mut self, progress: Progress, live: &Live) {
        if self.has_failed {
            return;
        }
        live.ask();
        if let Err(error) = self.draw(progress, live) {
            self.has_failed = true;
            self.close();
            message::note(format_args!("--live: {}; the job goes on without it", io_reason(&error)));
        }
    }

    fn draw(&mut self, progress: Progress, live: &Live) -> io::Result<()> {
        let terminal = match &mut self.terminal {
            Some(terminal) => terminal,
            none => none.insert(open(self.stop.clone())?),
        };
        let (keys, records) = live.answer();
        let page = Page { progress: &progress, before: &self.before, keys: &keys, records };
        terminal.draw(|frame| page.draw(frame))?;
        self.before = progress;
        Ok(())
    }

    fn close(&mut self) {
        if self.terminal.take().is_some() {
            restore();
        }
    }
}

fn open(stop: Option<Arc<Stop>>) -> io::Result<Terminal<CrosstermBackend<Stderr>>> {
    let mut signals = Signals::new([SIGHUP, SIGQUIT, SIGTERM])?;
    enable_raw_mode()?;
    execute!(stderr(), EnterAlternateScreen)?;
    // These threads end with the process. That of the keys cannot be waited for: half of a key, such as a lone escape
    // character and a bracket, keeps it reading.
    thread::Builder::new().spawn(move || obey_keys(stop.as_deref()))?;
    thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            restore();
            // Ends the process, as these signals do.
            let _ = emulate_default_handler(signal);
        }
    })?;
    Terminal::new(CrosstermBackend::new(stderr()))
}

/// Puts the terminal back. What cannot be put back cannot be helped.
fn restore() {
    let _ = execute!(stderr(), Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

/// Ends the job when a key asks for it. In raw mode Ctrl-C is a key like any other.
fn obey_keys(stop: Option<&Stop>) {
    while let Ok(event) = event::read() {
        let Event::Key(key) = event else { continue };
        let is_stop = match key.code {
            KeyCode::Char('q') | KeyCode::Esc => true,
            KeyCode::Char('c') => key.modifiers.contains(KeyModifiers::CONTROL),
            _ => false,
        };
        if is_stop
            && key.kind == KeyEventKind::Press
            && let Some(stop) = stop
        {
            stop.raise();
        }
    }
}

/// What is drawn.
struct Page<'a> {
    progress: &'a Progress,
    before: &'a Progress,
    keys: &'a [KeyCount],
    records: u64,
}

impl Page<'_> {
    fn draw(&self, frame: &mut Frame<'_>) {
        let threads = self.progress.threads.len().min(usize::from(frame.area().height) / 2);
        let [head, gauge, keys, threads, legend] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Min(1),
            Constraint::Length(u16::try_from(threads).unwrap_or(u16::MAX)),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        frame.render_widget(self.head(), head);
        if let Some(share) = self.share() {
            frame.render_widget(Gauge::default().ratio(share).gauge_style(Style::new().blue()), gauge);
        }
        frame.render_widget(self.answer(), keys);
        frame.render_widget(self.bars(threads.width), threads);
        frame.render_widget(self.legend(), legend);
    }

    fn head(&self) -> Line<'static> {
        let Progress { done, total, elapsed, .. } = *self.progress;
        let of = total.map(|total| format!(" of {}", HumanBytes(total))).unwrap_or_default();
        let speed = (done as f64 / elapsed.as_secs_f64().max(1e-9)) as u64;
        Line::from(vec![
            Span::raw(format!(
                "{}{of}, {}/s, {:.1} s, about {} records   ",
                HumanBytes(done),
                HumanBytes(speed),
                elapsed.as_secs_f64(),
                HumanCount(self.records)
            )),
            Span::raw("q stops and prints").dim(),
        ])
    }

    fn share(&self) -> Option<f64> {
        let total = self.progress.total.filter(|&total| total > 0)?;
        Some((self.progress.done as f64 / total as f64).min(1.0))
    }

    fn answer(&self) -> Paragraph<'static> {
        let lines = self.keys.iter().map(|key| {
            let count = Span::raw(format!("{:>12} ", key.count)).bold();
            Line::from(vec![count, Span::raw(message::excerpt(&key.key))])
        });
        Paragraph::new(lines.collect::<Vec<_>>())
    }

    /// What each thread did since the last time.
    fn bars(&self, width: u16) -> Paragraph<'static> {
        let width = usize::from(width).saturating_sub(LABEL);
        let nothing = Activity::default();
        let lines = self.progress.threads.iter().enumerate().map(|(number, now)| {
            let before = self.before.threads.get(number).unwrap_or(&nothing);
            let mut spans = vec![Span::raw(format!("{:<LABEL$}", format!("thread {}", number + 1)))];
            spans.extend(bar(before, now, width));
            Line::from(spans)
        });
        Paragraph::new(lines.collect::<Vec<_>>())
    }

    fn legend(&self) -> Line<'static> {
        let was_in =
            |phase: &Phase| self.progress.threads.iter().any(|thread| !thread.spent(*phase).is_zero());
        let mut spans = vec![Span::raw(" ".repeat(LABEL))];
        for phase in Phase::ALL.into_iter().filter(was_in) {
            spans.push(painted(phase, 1));
            spans.push(Span::raw(format!(" {phase}  ")));
        }
        Line::from(spans)
    }
}

/// How wide the name of a thread is.
const LABEL: usize = 12;

/// The phases of a thread between two times, each as wide as its share.
fn bar(before: &Activity, now: &Activity, width: usize) -> Vec<Span<'static>> {
    let spent = Phase::ALL.map(|phase| now.spent(phase).saturating_sub(before.spent(phase)));
    let all: f64 = spent.iter().map(Duration::as_secs_f64).sum();
    let mut spans = Vec::new();
    let (mut sum, mut drawn) = (0.0, 0);
    for (phase, spent) in Phase::ALL.into_iter().zip(spent) {
        sum += spent.as_secs_f64();
        let end = (width as f64 * sum / all.max(1e-9)).round() as usize;
        if end > drawn {
            spans.push(painted(phase, end - drawn));
            drawn = end;
        }
    }
    spans
}

fn painted(phase: Phase, times: usize) -> Span<'static> {
    let (red, green, blue) = phase.color();
    let style = Style::new().bg(Color::Rgb(red, green, blue)).fg(Color::Black);
    Span::styled(String::from(phase.mark()).repeat(times), style)
}

#[cfg(test)]
mod tests {
    use ratatui::backend::TestBackend;

    use super::*;

    #[test]
    fn the_page_has_the_counts_and_a_bar_for_each_thread() {
        let keys = [
            KeyCount { key: b"/index.html".to_vec(), count: 1234 },
            KeyCount { key: b"\x1b[31m".to_vec(), count: 7 },
        ];
        let progress = Progress {
            done: 1 << 20,
            total: Some(4 << 20),
            elapsed: Duration::from_secs(2),
            threads: vec![Activity::default(); 2],
        };
        let page = Page { progress: &progress, before: &Progress::default(), keys: &keys, records: 9999 };
        let mut terminal = Terminal::new(TestBackend::new(90, 10)).expect("a terminal");
        terminal.draw(|frame| page.draw(frame)).expect("a page");
        let shown = terminal.backend().to_string();
        assert!(shown.contains("1.00 MiB of 4.00 MiB, 512.00 KiB/s, 2.0 s, about 9,999 records"), "{shown}");
        assert!(shown.contains("        1234 /index.html"), "{shown}");
        assert!(shown.contains("           7 \\u{1b}[31m"), "{shown}");
        assert!(shown.contains("thread 1") && shown.contains("thread 2"), "{shown}");
        assert!(shown.contains("25%"), "{shown}");
    }

    #[test]
    fn a_small_terminal_is_no_trouble() {
        let progress = Progress { threads: vec![Activity::default(); 40], ..Progress::default() };
        let page = Page { progress: &progress, before: &Progress::default(), keys: &[], records: 0 };
        for (width, height) in [(1, 1), (5, 3), (20, 2)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
            terminal.draw(|frame| page.draw(frame)).expect("a page");
        }
    }
}
