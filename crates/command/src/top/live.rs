//! The screen of `--live`: the counts so far, the rate, and on demand the activity of each thread. It is drawn on standard error, so
//! that standard output contains only the result. Keys choose what is shown.

mod controls;
mod head;
mod keys;
mod line;
mod opened;
mod page;
mod rates;
mod screen;
mod table;
mod threads;

use std::io;
use std::mem;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use finecomb_scan::{Progress, ScanOptions, Stop, Watch};
use finecomb_sys::io_reason;
use finecomb_sys::locks::lock;
use finecomb_top::{Answer, Live, LiveRows, OpenedRow, Query};
use signal_hook::consts::{SIGHUP, SIGQUIT};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use self::controls::{Action, Controls};
use self::keys::Key;
use self::opened::Seconds;
use self::page::LivePage;
use self::rates::Rates;
use self::screen::{Keyboard, Screen};
use self::table::LiveTable;
use crate::command_line::command_line;
use crate::message;

/// Time before the screen appears; shorter jobs show none.
const AFTER: Duration = Duration::from_millis(150);

/// Maximum number of keys on the screen: no terminal has more lines.
const MAX_KEYS: usize = 1000;

/// Time between updates of the screen.
const EVERY: Duration = Duration::from_millis(150);

/// Runs a job with the screen. Its options must have a stop signal, which is raised by keys.
pub(crate) fn with_screen<T>(
    options: &ScanOptions<'_>,
    query: &Query,
    job: impl FnOnce(&ScanOptions<'_>, &Live) -> T,
) -> T {
    let live = Arc::new(Live::new(query, MAX_KEYS));
    let display = Arc::new(Mutex::new(Display::new(Arc::clone(&live), options.stop.clone())));
    let show = |progress: Progress| {
        lock(&display).show(progress, &display);
    };
    let watch = Watch::new(EVERY, &show).after(AFTER).threads(true);
    let done = job(&options.clone().watch(Some(watch)), &live);
    lock(&display).is_over = true;
    screen::restore();
    done
}

/// State of the display.
struct Display {
    /// The screen; `None` before the first update.
    screen: Option<Screen>,
    live: Arc<Live>,
    stop: Option<Arc<Stop>>,
    command: String,
    has_colors: bool,
    controls: Controls,
    rates: Rates,
    /// Numbers of records of the opened row.
    seconds: Seconds,
    frame: Frame,
    /// Set when nothing is drawn any more, as the job has ended or drawing failed.
    is_over: bool,
}

/// Contents of the screen.
struct Frame {
    progress: Progress,
    /// The progress before.
    before: Progress,
    answer: Answer,
    rows: LiveRows,
    /// The opened row.
    opened: OpenedRow,
}

impl Display {
    fn new(live: Arc<Live>, stop: Option<Arc<Stop>>) -> Self {
        let (progress, before, answer, opened) = Default::default();
        Self {
            screen: None,
            stop,
            command: command_line(),
            has_colors: AutoStream::choice(&io::stderr()) != ColorChoice::Never,
            controls: Controls::default(),
            rates: Rates::default(),
            seconds: Seconds::default(),
            frame: Frame { progress, before, answer, rows: live.rows(), opened },
            live,
            is_over: false,
        }
    }

    /// Draws the counts so far. The first time, it opens the screen, whose keys change this display.
    fn show(&mut self, progress: Progress, display: &Arc<Mutex<Self>>) {
        if self.is_over {
            return;
        }
        let live = &self.live;
        live.ask();
        self.rates.add(progress.elapsed, live.counted(), live.is_following());
        let opened = live.opened();
        self.seconds.add(progress.elapsed, opened.seen);
        if !self.controls.is_paused {
            let before = mem::replace(&mut self.frame.progress, progress);
            (self.frame.before, self.frame.rows, self.frame.answer) = (before, live.rows(), live.answer());
            self.frame.opened = opened;
        }
        let opened = match self.screen {
            Some(_) => Ok(()),
            None => open(display).map(|screen| self.screen = Some(screen)),
        };
        let drawn = opened.and_then(|()| self.draw());
        self.report(drawn);
    }

    /// If drawing has failed, the job continues without the screen.
    fn report(&mut self, drawn: io::Result<()>) {
        if let Err(error) = drawn {
            self.is_over = true;
            screen::restore();
            message::note(format_args!("--live: {}; continuing without it", io_reason(&error)));
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        let Some(screen) = &mut self.screen else { return Ok(()) };
        let (rows, columns) = screen.size();
        let page = LivePage {
            command: &self.command,
            progress: &self.frame.progress,
            before: &self.frame.before,
            rates: &self.rates,
            answer: &self.frame.answer,
            rows: self.frame.rows,
            opened: &self.frame.opened,
            seconds: &self.seconds,
            controls: &self.controls,
            has_keys: self.live.has_keys(),
            has_colors: self.has_colors,
        };
        screen.draw(page.lines(rows, columns))
    }

    /// Does what a key asks for.
    fn press(&mut self, key: Key) {
        let table = LiveTable { answer: &self.frame.answer, rows: self.frame.rows };
        let keys = table.keys();
        match self.controls.press(key, &keys, self.live.has_keys()) {
            // Also when nothing is drawn.
            Some(Action::Stop) => self.stop.iter().for_each(|stop| stop.raise()),
            Some(Action::Sort) => {
                let criteria = self.live.sort_criteria();
                let now = criteria.iter().position(|&by| by == self.live.sorted_by());
                self.live.sort_by(criteria[now.map_or(0, |now| (now + 1) % criteria.len())]);
            }
            Some(Action::Filter) => self.live.show_containing(&self.controls.filter),
            Some(Action::Open) => {
                if let Some(place) = self.controls.position(&keys) {
                    self.live.open(&self.frame.answer, place);
                }
                self.seconds = Seconds::since(self.frame.progress.elapsed);
                self.frame.opened = self.live.opened();
            }
            Some(Action::Close) => self.live.close(),
            None => {}
        }
        if !self.is_over {
            let drawn = self.draw();
            self.report(drawn);
        }
    }
}

/// Opens the screen. Its keys change the display.
fn open(display: &Arc<Mutex<Display>>) -> io::Result<Screen> {
    let mut signals = Signals::new([SIGHUP, SIGQUIT])?;
    let keyboard = Keyboard::open()?;
    let screen = Screen::open()?;
    let display = Arc::clone(display);
    // These threads end with the process. The thread that reads keys cannot be joined, as it blocks in a read.
    thread::Builder::new().spawn(move || keys::watch(keyboard, |key| lock(&display).press(key)))?;
    thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            screen::restore();
            // Ends the process, as these signals do by default.
            let _ = emulate_default_handler(signal);
        }
    })?;
    Ok(screen)
}
