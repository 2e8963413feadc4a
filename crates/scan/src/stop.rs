//! Ending a job early with the results so far.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGINT, SIGTERM};

/// A request to end a job early. Workers check it between blocks. It wakes reads that wait for a stream.
#[derive(Debug)]
pub struct Stop {
    raised: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
    woken: UnixStream,
    wake: UnixStream,
}

impl Stop {
    /// A request that only [`Stop::raise`] raises.
    ///
    /// # Errors
    /// If the process has no file descriptors left.
    pub fn new() -> io::Result<Self> {
        let (woken, wake) = UnixStream::pair()?;
        Ok(Self { raised: Arc::default(), terminated: Arc::default(), woken, wake })
    }

    /// A request raised by SIGINT (Ctrl-C) and SIGTERM. A second signal ends the process at once.
    ///
    /// # Errors
    /// If the process has no file descriptors left, or the signal cannot be handled.
    pub fn on_signals() -> io::Result<Self> {
        let stop = Self::new()?;
        signal_hook::flag::register(SIGTERM, Arc::clone(&stop.terminated))?;
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop.raised))?;
            signal_hook::flag::register(signal, Arc::clone(&stop.raised))?;
            signal_hook::low_level::pipe::register(signal, stop.wake.try_clone()?)?;
        }
        Ok(stop)
    }

    /// A request raised by SIGINT (Ctrl-C), which never ends the process then.
    ///
    /// # Errors
    /// If the process has no file descriptors left, or the signal cannot be handled.
    pub fn on_interrupts() -> io::Result<Self> {
        let stop = Self::new()?;
        signal_hook::flag::register(SIGINT, Arc::clone(&stop.raised))?;
        signal_hook::low_level::pipe::register(SIGINT, stop.wake.try_clone()?)?;
        Ok(stop)
    }

    /// Returns `true` if SIGTERM raised the request.
    pub fn is_terminated(&self) -> bool {
        self.terminated.load(Ordering::Relaxed)
    }

    /// Asks the job to end.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Ends all waits without asking the job to end: it has ended for another reason.
    pub(crate) fn wake(&self) {
        // One byte wakes every waiting read, because none of them consumes it. A write fails only if the buffer is
        // already full of such bytes.
        let _ = (&self.wake).write(&[0]);
    }

    /// Returns `true` if the job has been asked to end.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// Readable once the job has been asked to end.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }

    /// Waits until `input` is readable or the job has been asked to end. Returns `true` in the latter case.
    pub(crate) fn wait_for(&self, input: impl AsFd) -> bool {
        let mut waiting = [PollFd::new(&input, PollFlags::IN), PollFd::new(&self.woken, PollFlags::IN)];
        // A failed poll does not end the job: the read that follows reports the error.
        let polled = poll(&mut waiting, None);
        self.is_raised() || (polled.is_ok() && !waiting[1].revents().is_empty())
    }
}

/// Waits until `input` is readable or `stop`, if given, is raised. Returns `true` in the latter case.
pub(crate) fn wait_for(stop: Option<&Stop>, input: impl AsFd) -> bool {
    if let Some(stop) = stop {
        return stop.wait_for(input);
    }
    let _ = poll(&mut [PollFd::new(&input, PollFlags::IN)], None);
    false
}
