//! A long count while it runs: the answer so far, and what each thread does. Drawn on standard error, so that standard
//! output has the answer alone.

mod keys;
mod page;
mod screen;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use finecomb_scan::{Progress, ScanOptions, Stop, Watch};
use finecomb_sys::io_reason;
use finecomb_top::Live;
use signal_hook::consts::{SIGHUP, SIGQUIT};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use self::page::Page;
use self::screen::{Keyboard, Screen};
use crate::message;

/// Time before the screen appears: a job that is done sooner shows nothing.
const AFTER: Duration = Duration::from_millis(150);

/// Limit on the keys that are shown: no screen has more lines.
const MOST_KEYS: usize = 1000;

/// Time between two drawings of the screen.
const EVERY: Duration = Duration::from_millis(150);

/// Runs a job with the screen that shows it. Its options must have what can stop it.
pub(crate) fn shown<T>(
    options: &ScanOptions<'_>,
    number: usize,
    job: impl FnOnce(&ScanOptions<'_>, &Live) -> T,
) -> T {
    let live = Live::new(number.min(MOST_KEYS));
    let display = Mutex::new(Display {
        screen: None,
        stop: options.stop.clone(),
        before: Progress::default(),
        has_failed: false,
    });
    let show = |progress: Progress| {
        display.lock().unwrap_or_else(PoisonError::into_inner).show(progress, &live);
    };
    let watch = Watch { after: AFTER, every: EVERY, threads: true, show: &show };
    let done = job(&ScanOptions { watch: Some(watch), ..options.clone() }, &live);
    screen::restore();
    done
}

/// The screen, once there is something to show on it.
struct Display {
    screen: Option<Screen>,
    stop: Option<Arc<Stop>>,
    /// The progress that was shown last.
    before: Progress,
    has_failed: bool,
}

impl Display {
    /// Draws. A terminal that cannot be drawn on costs the screen, not the job.
    fn show(&mut self, progress: Progress, live: &Live) {
        if self.has_failed {
            return;
        }
        live.ask();
        if let Err(error) = self.draw(progress, live) {
            self.has_failed = true;
            screen::restore();
            message::note(format_args!("--live: {}; the job goes on without it", io_reason(&error)));
        }
    }

    fn draw(&mut self, progress: Progress, live: &Live) -> io::Result<()> {
        let screen = match &mut self.screen {
            Some(screen) => screen,
            none => none.insert(open(self.stop.clone())?),
        };
        let (keys, records) = live.answer();
        let (rows, columns) = screen.size()?;
        let page = Page { progress: &progress, before: &self.before, keys: &keys, records };
        screen.draw(page.lines(rows, columns))?;
        self.before = progress;
        Ok(())
    }
}

fn open(stop: Option<Arc<Stop>>) -> io::Result<Screen> {
    let mut signals = Signals::new([SIGHUP, SIGQUIT])?;
    let keyboard = Keyboard::open()?;
    let screen = Screen::open()?;
    // These threads end with the process. That of the keys cannot be waited for: it is in the middle of a read.
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
            // Ends the process, as these signals do.
            let _ = emulate_default_handler(signal);
        }
    })?;
    Ok(screen)
}
