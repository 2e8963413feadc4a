//! The screen of `--live`: the counts so far and the activity of each thread. It is drawn on standard error, so that
//! standard output contains only the result.

mod keys;
mod page;
mod screen;
mod table;

use std::io;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use finecomb_scan::{Progress, ScanOptions, Stop, Watch};
use finecomb_sys::io_reason;
use finecomb_sys::locks::lock;
use finecomb_top::{Live, Query};
use signal_hook::consts::{SIGHUP, SIGQUIT};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use self::page::LivePage;
use self::screen::{Keyboard, Screen};
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
    let live = Live::new(query, MAX_KEYS);
    let display = Mutex::new(Display {
        screen: None,
        stop: options.stop.clone(),
        before: Progress::default(),
        has_failed: false,
    });
    let show = |progress: Progress| {
        lock(&display).show(progress, &live);
    };
    let watch = Watch::new(EVERY, &show).after(AFTER).threads(true);
    let done = job(&options.clone().watch(Some(watch)), &live);
    screen::restore();
    done
}

/// State of the display.
struct Display {
    /// The screen; `None` before the first update.
    screen: Option<Screen>,
    stop: Option<Arc<Stop>>,
    /// The last progress shown.
    before: Progress,
    has_failed: bool,
}

impl Display {
    /// Draws the screen. If drawing fails, the job continues without the screen.
    fn show(&mut self, progress: Progress, live: &Live) {
        if self.has_failed {
            return;
        }
        live.ask();
        if let Err(error) = self.draw(progress, live) {
            self.has_failed = true;
            screen::restore();
            message::note(format_args!("--live: {}; continuing without it", io_reason(&error)));
        }
    }

    fn draw(&mut self, progress: Progress, live: &Live) -> io::Result<()> {
        let screen = match &mut self.screen {
            Some(screen) => screen,
            none => none.insert(open(self.stop.clone())?),
        };
        let (rows, columns) = screen.size()?;
        let page =
            LivePage { progress: &progress, before: &self.before, answer: &live.answer(), rows: live.rows() };
        screen.draw(page.lines(rows, columns))?;
        self.before = progress;
        Ok(())
    }
}

fn open(stop: Option<Arc<Stop>>) -> io::Result<Screen> {
    let mut signals = Signals::new([SIGHUP, SIGQUIT])?;
    let keyboard = Keyboard::open()?;
    let screen = Screen::open()?;
    // These threads end with the process. The thread that reads keys cannot be joined, as it blocks in a read.
    thread::Builder::new().spawn(move || {
        keys::watch(keyboard, || {
            if let Some(stop) = &stop {
                stop.raise();
            }
        });
    })?;
    thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            screen::restore();
            // Ends the process, as these signals do by default.
            let _ = emulate_default_handler(signal);
        }
    })?;
    Ok(screen)
}
