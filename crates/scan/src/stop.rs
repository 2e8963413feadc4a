//! Ending a job early, with what it has so far.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGINT, SIGTERM};

/// A request to end a job early. Workers look at it between blocks, and a read of a stream that waits is woken.
#[derive(Debug)]
pub struct Stop {
    raised: Arc<AtomicBool>,
    terminated: Arc<AtomicBool>,
    woken: UnixStream,
    wake: UnixStream,
}

impl Stop {
    /// A request that nothing raises but [`Stop::raise`].
    ///
    /// # Errors
    /// When the process has no file descriptors left.
    pub fn new() -> io::Result<Self> {
        let (woken, wake) = UnixStream::pair()?;
        Ok(Self { raised: Arc::default(), terminated: Arc::default(), woken, wake })
    }

    /// A request that the signals to interrupt (Ctrl-C) and to terminate raise. A second one ends the process at once.
    ///
    /// # Errors
    /// When the process has no file descriptors left, or the signal cannot be handled.
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

    /// Whether it was the signal to terminate that asked.
    pub fn is_terminated(&self) -> bool {
        self.terminated.load(Ordering::Relaxed)
    }

    /// Asks the job to end.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Relaxed);
        // One byte wakes every waiting read, as nobody takes it out. That it cannot be written means that the
        // buffer is full of such bytes.
        let _ = (&self.wake).write(&[0]);
    }

    /// Whether the job has been asked to end.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// Waits until `input` can be read or the job has been asked to end. True in the latter case.
    pub(crate) fn wait_for(&self, input: impl AsFd) -> bool {
        let mut waiting = [PollFd::new(&input, PollFlags::IN), PollFd::new(&self.woken, PollFlags::IN)];
        // A failed poll is no reason to stop: the read that follows will say what is wrong.
        let polled = poll(&mut waiting, None);
        self.is_raised() || (polled.is_ok() && !waiting[1].revents().is_empty())
    }
}

/// Waits until `input` can be read, or the job has been asked to end if there is a way to ask. True in the latter case.
pub(crate) fn wait_for(stop: Option<&Stop>, input: impl AsFd) -> bool {
    if let Some(stop) = stop {
        return stop.wait_for(input);
    }
    let _ = poll(&mut [PollFd::new(&input, PollFlags::IN)], None);
    false
}
