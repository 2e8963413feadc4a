//! Terminal in raw mode, with lines drawn on its alternate screen.
//!
//! Uses termios and escape sequences of ECMA-48 and xterm, which all current terminals support. A page that is redrawn
//! a few times per second needs no widget library.

use std::fs::File;
use std::io::{self, Read, Write, stderr, stdin};
use std::os::fd::{AsFd, BorrowedFd};
use std::panic;
use std::sync::{Mutex, Once};

use finecomb_sys::locks::lock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr};

/// Alternate screen, no cursor, no wrapping: the terminal truncates lines that are too wide, such as lines of wide characters.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &[u8] = b"\x1b[?7h\x1b[?25h\x1b[?1049l";

/// Rows and columns of a terminal of unknown size.
const DEFAULT_SIZE: (usize, usize) = (24, 80);

/// The terminal and its original mode. A global, as [`restore`] may be called by the thread that draws, by the signal
/// handler thread and by the panic hook.
static ORIGINAL: Mutex<Option<(Keyboard, Termios)>> = Mutex::new(None);

/// The alternate screen and its current lines.
pub(super) struct Screen {
    size: (usize, usize),
    /// The lines that the terminal shows; `None` if it is to be cleared.
    lines: Option<Vec<String>>,
}

impl Screen {
    /// Switches to the alternate screen and to raw mode, in which every key, including Ctrl-C, is delivered immediately.
    pub(super) fn open() -> io::Result<Self> {
        let keyboard = Keyboard::open()?;
        let before = tcgetattr(keyboard.as_fd())?;
        let mut raw = before.clone();
        raw.make_raw();
        static RESTORE_ON_PANIC: Once = Once::new();
        RESTORE_ON_PANIC.call_once(|| {
            let report = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                restore();
                report(panic);
            }));
        });
        let mut original = lock(&ORIGINAL);
        tcsetattr(keyboard.as_fd(), OptionalActions::Now, &raw)?;
        *original = Some((keyboard, before));
        drop(original);
        write(ENTER)?;
        Ok(Self { size: (0, 0), lines: None })
    }

    /// Rows and columns. If the size has changed, the terminal is cleared for a full redraw.
    pub(super) fn size(&mut self) -> (usize, usize) {
        let size = match tcgetwinsize(stderr()) {
            Ok(size) if size.ws_row > 0 && size.ws_col > 0 => (size.ws_row.into(), size.ws_col.into()),
            _ => DEFAULT_SIZE,
        };
        if size != self.size {
            self.size = size;
            self.lines = None;
        }
        size
    }

    /// Draws the lines that have changed since the last call, in one write to prevent flicker.
    pub(super) fn draw(&mut self, lines: Vec<String>) -> io::Result<()> {
        let out = changes(self.lines.as_deref(), &lines);
        self.lines = Some(lines);
        // A signal handler may have restored the terminal.
        if out.is_empty() || lock(&ORIGINAL).is_none() {
            return Ok(());
        }
        write(out.as_bytes())
    }
}

/// Output that makes a terminal with the lines `before` show `lines`. Each line erases what is right of it.
fn changes(before: Option<&[String]>, lines: &[String]) -> String {
    let mut out = String::new();
    if before.is_none() {
        out.push_str("\x1b[2J");
    }
    for (row, line) in lines.iter().enumerate() {
        if before.and_then(|before| before.get(row)) != Some(line) {
            out.push_str(&format!("\x1b[{};1H{line}", row + 1));
        }
    }
    out
}

/// Restores the terminal. Further calls have no effect. Errors are ignored, as the terminal may be gone.
pub(super) fn restore() {
    let original = lock(&ORIGINAL).take();
    if let Some((keyboard, before)) = original {
        let _ = write(LEAVE);
        let _ = tcsetattr(keyboard.as_fd(), OptionalActions::Now, &before);
    }
}

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = stderr().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Source of keys: standard input, or the controlling terminal when that is something else.
pub(super) enum Keyboard {
    Stdin,
    Terminal(File),
}

impl Keyboard {
    pub(super) fn open() -> io::Result<Self> {
        if isatty(stdin()) {
            return Ok(Self::Stdin);
        }
        File::options().read(true).write(true).open("/dev/tty").map(Self::Terminal)
    }

    /// Reads typed bytes into the buffer. Blocks until there are some.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            // Bypasses the buffer of `Stdin`, which could hold a key that `is_idle_for` would not see.
            Self::Stdin => loop {
                match rustix::io::read(stdin(), &mut *buffer) {
                    Err(Errno::INTR) => {}
                    read => return Ok(read?),
                }
            },
            Self::Terminal(terminal) => terminal.read(buffer),
        }
    }

    /// Returns `true` if nothing is typed within `time`, or if polling fails.
    pub(super) fn is_idle_for(&self, time: Timespec) -> bool {
        let mut polled = [PollFd::from_borrowed_fd(self.as_fd(), PollFlags::IN)];
        !matches!(poll(&mut polled, Some(&time)), Ok(1..))
    }
}

impl AsFd for Keyboard {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Stdin => rustix::stdio::stdin(),
            Self::Terminal(terminal) => terminal.as_fd(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_lines_are_drawn() {
        let lines = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
        let before = lines(&["a", "b", "c"]);
        for (before, after, expected) in [
            (None, &["a", "b"][..], "\x1b[2J\x1b[1;1Ha\x1b[2;1Hb"),
            (Some(&before[..]), &["a", "b", "c"], ""),
            (Some(&before), &["a", "x", "c"], "\x1b[2;1Hx"),
        ] {
            assert_eq!(changes(before, &lines(after)), expected);
        }
    }
}
