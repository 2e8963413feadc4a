//! The server of a page, which is a process of `comb-serve`. The job never waits for it: it sends the latest state when it can take one,
//! and skips those before.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use finecomb_sys::locks::{lock, unpoisoned};
use finecomb_sys::{io_reason, threads};

use crate::door::{Other, find};
use crate::top::listen::wire::{COMMAND, Clients, FAILED, LISTENING, StateMessage};

/// Time for clients to receive the last state when the job ends. The server stops by itself after half of it.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// A running server.
pub(super) struct PageServer {
    address: String,
    clients: Arc<ClientState>,
    outbox: Arc<Outbox>,
    /// Disconnects when the server has ended.
    ended: Mutex<Receiver<()>>,
    process: Child,
}

/// State of the clients, as the server last reported it.
#[derive(Default)]
struct ClientState {
    are_there: AtomicBool,
    has_new: AtomicBool,
}

/// The next update to send.
#[derive(Default)]
struct Outbox {
    state: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    update: Option<StateMessage>,
    is_over: bool,
}

impl PageServer {
    /// Starts a server. It writes messages for the operator to standard error, unless `is_silent`.
    ///
    /// # Errors
    /// If it is not installed or cannot listen. The message names the flag.
    pub(super) fn start(listen: SocketAddr, hosts: &[String], is_silent: bool) -> Result<Self, String> {
        let cannot = |reason: String| format!("--listen: cannot run {}: {reason}", Other::Serve.name());
        let path =
            find(Other::Serve.name()).ok_or_else(|| format!("--listen: {}", Other::Serve.missing()))?;
        let mut command = Command::new(path);
        command.arg(COMMAND).arg(listen.to_string()).args(hosts.iter().map(OsString::from));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        if is_silent {
            command.stderr(Stdio::null());
        }
        // An interrupt ends the job, whose last state the server still has to serve.
        let mut process = command.process_group(0).spawn().map_err(|error| cannot(io_reason(&error)))?;
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(cannot("no pipe".to_owned()));
        };
        let mut said = BufReader::new(stdout);
        let mut line = String::new();
        let read = said.read_line(&mut line).map_err(|error| cannot(io_reason(&error)));
        let line = line.trim_end();
        let address = match read.map(|_| line.strip_prefix(LISTENING)) {
            Ok(Some(address)) => address.to_owned(),
            failed => {
                let _ = process.wait();
                let reason = line.strip_prefix(FAILED).map(str::to_owned);
                return Err(reason.or(failed.err()).unwrap_or_else(|| cannot("it ended".to_owned())));
            }
        };
        let (clients, outbox) = (Arc::<ClientState>::default(), Arc::<Outbox>::default());
        let (running, ended) = mpsc::channel::<()>();
        let (seen, sent) = (Arc::clone(&clients), Arc::clone(&outbox));
        let are_started = threads::spawn_detached(move || {
            seen.follow(said);
            drop(running);
        }) && threads::spawn_detached(move || sent.send_to(stdin));
        if !are_started {
            let _ = process.kill();
            return Err(cannot("the system refused a thread".to_owned()));
        }
        Ok(Self { address, clients, outbox, ended: Mutex::new(ended), process })
    }

    /// Address of the page, without a scheme.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Whether states have a reader.
    pub(super) fn has_clients(&self) -> bool {
        self.clients.are_there.load(Ordering::Relaxed)
    }

    /// Returns `true` once if a client has come since the last call. It waits for the next state, also if nothing has changed.
    pub(super) fn take_new_client(&self) -> bool {
        self.clients.has_new.swap(false, Ordering::Relaxed)
    }

    /// Publishes a state, in place of one that was not sent so far.
    pub(super) fn publish(&self, update: StateMessage) {
        lock(&self.outbox.state).update = Some(update);
        self.outbox.changed.notify_all();
    }
}

/// Stops the server. Clients that have not received the last state get a second to do so.
impl Drop for PageServer {
    fn drop(&mut self) {
        lock(&self.outbox.state).is_over = true;
        self.outbox.changed.notify_all();
        let ended = unpoisoned(self.ended.get_mut());
        let _ = ended.recv_timeout(SHUTDOWN_TIMEOUT);
        // It has ended, or does not run.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl ClientState {
    /// Follows what the server says until it ends.
    fn follow(&self, mut said: BufReader<ChildStdout>) {
        let mut byte = [0];
        while said.read_exact(&mut byte).is_ok() {
            let Clients { are_there, has_new } = Clients::of_byte(byte[0]);
            self.are_there.store(are_there, Ordering::Relaxed);
            self.has_new.fetch_or(has_new, Ordering::Relaxed);
        }
        self.are_there.store(false, Ordering::Relaxed);
    }
}

impl Outbox {
    /// Sends updates until the job is over, or the server has ended. Then closes the pipe.
    fn send_to(&self, mut pipe: ChildStdin) {
        loop {
            let mut waiting = lock(&self.state);
            let update = loop {
                match waiting.update.take() {
                    Some(update) => break update,
                    None if waiting.is_over => return,
                    None => waiting = unpoisoned(self.changed.wait(waiting)),
                }
            };
            drop(waiting);
            if update.write(&mut pipe).is_err() {
                return;
            }
        }
    }
}
