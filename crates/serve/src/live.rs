//! A page that shows a job while it runs.
//!
//! The server runs on one thread of its own. The job publishes its state, and never waits: a client is sent the latest state when
//! it can take one, and skips those before.

mod site;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::response::sse::Event;
use finecomb_sys::locks::unpoisoned;
use finecomb_sys::threads;
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_send_buffer_size;
use tokio::sync::watch;

use self::site::{LiveSite, ROUTES, no_route};
use crate::app::App;
use crate::connections::{Acceptor, Peers, ServerStage};
use crate::hosts::Hosts;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::server::{ServeError, event_loop, listen, probe_descriptors, raise_file_limit};
use crate::site::Site;

/// Maximum number of bytes that the system holds for a client that does not read.
const SEND_BUFFER: usize = 64 << 10;

/// Time for clients to receive the last state when the job ends.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum number of concurrent connections. Files that the job reads need descriptors, too.
const MAX_CONNECTIONS: usize = 200;

/// The same from one IP address.
const MAX_CONNECTIONS_PER_IP: usize = 100;

/// Maximum number of concurrent streams of events. The other connections stay free for the page and its files.
const MAX_STREAMS: usize = 80;

/// Options of a [`LiveServer`].
#[derive(Clone, Debug)]
pub struct LiveOptions {
    /// Address to listen on. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// Hosts that requests may name, as in [`ServeOptions`](crate::ServeOptions).
    pub allowed_hosts: Vec<String>,
    /// Receives messages for the operator, one line each. Requests wait for it to return.
    pub on_message: fn(&str),
}

/// State of a job, as JSON without line feeds.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// State that the page shows.
    pub state: Vec<u8>,
    /// The answer so far, for other programs.
    pub answer: Vec<u8>,
}

/// Last published state.
#[derive(Clone, Debug, Default)]
struct Published {
    /// Number of states published so far.
    number: u64,
    /// The state as an event.
    event: Event,
    answer: Bytes,
    /// Whether no state follows.
    is_last: bool,
}

/// Server of a page that shows a job.
#[derive(Debug)]
pub struct LiveServer {
    address: SocketAddr,
    published: watch::Sender<Published>,
    has_new_client: Arc<AtomicBool>,
    stage: watch::Sender<ServerStage>,
    /// Disconnects when the server has stopped.
    stopped: Mutex<Receiver<()>>,
}

impl LiveServer {
    /// Starts a server on a thread of its own.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on, a host is invalid, or the system refuses a thread or file descriptors.
    pub fn start(options: &LiveOptions) -> Result<Self, ServeError> {
        raise_file_limit();
        let hosts = Hosts::new(options.listen.ip(), &options.allowed_hosts).map_err(ServeError::Host)?;
        let limits = limits();
        let listener = listen(options.listen, &limits)?;
        let failed = |error| ServeError::Listen(options.listen, error);
        set_socket_send_buffer_size(&listener, SEND_BUFFER).map_err(|error| failed(error.into()))?;
        let address = listener.local_addr().map_err(failed)?;
        let event_loop = probe_descriptors().and_then(|()| event_loop()).map_err(ServeError::Start)?;
        let (published, has_new_client) = (watch::Sender::default(), Arc::<AtomicBool>::default());
        let site = LiveSite {
            published: published.clone(),
            has_new_client: Arc::clone(&has_new_client),
            max_streams: MAX_STREAMS,
        };
        let app = App {
            site: Site::new(&ROUTES, no_route, Arc::new(site)),
            limits,
            metrics: Metrics::new([]),
            access_log: None,
            cors: None,
            hosts,
        };
        let stage = watch::Sender::new(ServerStage::Serving);
        let acceptor = Acceptor::new(app.into(), Peers::default(), options.on_message);
        let (on_message, changes) = (options.on_message, stage.subscribe());
        let (running, stopped) = mpsc::channel::<()>();
        let is_started = threads::spawn_detached(move || {
            if let Err(error) = event_loop.block_on(acceptor.run(listener, changes)) {
                on_message(&ServeError::Start(error).to_string());
            }
            drop(running);
        });
        if !is_started {
            return Err(ServeError::Start(Errno::AGAIN.into()));
        }
        Ok(Self { address, published, has_new_client, stage, stopped: Mutex::new(stopped) })
    }

    /// Address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether states have a reader.
    pub fn has_clients(&self) -> bool {
        self.published.receiver_count() > 0
    }

    /// Returns `true` once if a client has come since the last call. It waits for the next state, also if nothing has changed.
    pub fn take_new_client(&self) -> bool {
        self.has_new_client.swap(false, Ordering::Relaxed)
    }

    /// Publishes a state. Never waits for a client.
    pub fn publish(&self, update: Update) {
        self.send(&update, "update", false);
    }

    /// Publishes the last state, after which streams of events end.
    pub fn publish_last(&self, update: Update) {
        self.send(&update, "end", true);
    }

    fn send(&self, update: &Update, name: &str, is_last: bool) {
        let event = Event::default().event(name).data(String::from_utf8_lossy(&update.state));
        let answer = update.answer.clone().into();
        self.published.send_modify(|published| {
            *published = Published { number: published.number + 1, event, answer, is_last };
        });
    }
}

/// Stops the server. Clients that have not received the last state get a second to do so.
impl Drop for LiveServer {
    fn drop(&mut self) {
        self.published.send_modify(|published| published.is_last = true);
        self.stage.send_replace(ServerStage::Finishing);
        // The server stops by itself after the same time; this is for a system on which its thread does not run.
        let stopped = unpoisoned(self.stopped.get_mut());
        let _ = stopped.recv_timeout(2 * SHUTDOWN_TIMEOUT);
    }
}

fn limits() -> Limits {
    Limits {
        max_connections: MAX_CONNECTIONS,
        max_connections_per_ip: MAX_CONNECTIONS_PER_IP,
        shutdown_timeout: SHUTDOWN_TIMEOUT,
        ..Limits::default()
    }
}
