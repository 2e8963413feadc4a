//! The server: its listener, its threads and its signals.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::os::unix::net::UnixStream;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use finecomb_sys::socket::limit_unacknowledged;
use finecomb_sys::{io_reason, threads};
use rustix::net::sockopt::set_tcp_nodelay;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use thiserror::Error;
use tokio::runtime::{self, Runtime};
use tokio::select;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::interval;

use crate::access_log::{AccessLog, LogTarget};
use crate::api::IndexSite;
use crate::app::App;
use crate::catalog::Catalog;
use crate::connections::{Acceptor, Peers, ServerStage};
use crate::cors::Cors;
use crate::hosts::Hosts;
use crate::index_site::routes;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::site::{NO_ROUTE, Site};

/// Options of [`serve`].
pub struct ServeOptions {
    /// Address to listen on. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// Limits on requests and connections.
    pub limits: Limits,
    /// Origin whose pages may read answers; `*` for all.
    pub cors: Option<String>,
    /// Hosts that requests may name. On a loopback address, `localhost` and IP addresses are allowed as well; on other addresses,
    /// an empty list allows any host.
    pub allowed_hosts: Vec<String>,
    /// Destination of the access log.
    pub access_log: Option<LogTarget>,
    /// Number of threads that answer requests. If the system refuses some, the others answer.
    pub threads: usize,
    /// Version of the program, on which answers may depend.
    pub version: &'static str,
    /// Receives messages for the operator, one line each. Requests wait for it to return.
    pub on_message: fn(&str),
}

/// Error that prevented the server from starting.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {}: {}", .0, io_reason(.1))]
    Listen(SocketAddr, io::Error),
    /// The access log cannot be opened.
    #[error("{}: cannot open the access log: {}", .0, io_reason(.1))]
    Log(LogTarget, io::Error),
    /// The origin can never match, as no page has it.
    #[error("invalid origin '{origin}'; use {instead}")]
    Origin {
        /// The value of `cors`.
        origin: String,
        /// The value to use instead.
        instead: String,
    },
    /// An allowed host is not a valid host.
    #[error("invalid host '{0}'; use a name such as comb.example.org or an address, without scheme and port")]
    Host(String),
    /// Event loops or signal handlers could not be set up.
    #[error("cannot start: {}", io_reason(.0))]
    Start(io::Error),
}

/// Length of the queue of connections that are not accepted yet.
const BACKLOG: i32 = 1024;

/// Time between two writes of the access log, if the system refused to start a thread for it.
const LOG_INTERVAL: Duration = Duration::from_secs(1);

/// Time-out for writing the last lines to a blocked access log.
const LOG_CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves indexes until SIGTERM or SIGINT, and then finishes the requests in flight. A second signal stops it at once.
///
/// Every thread accepts connections from the same queue and answers them itself, so that no request moves between cores.
///
/// # Errors
///
/// If it cannot start.
pub fn serve(catalog: Catalog, options: &ServeOptions) -> Result<(), ServeError> {
    raise_file_limit();
    let served = served(catalog, options)?;
    let listener = listen(options.listen, &options.limits)?;
    let address = listener.local_addr().map_err(|error| ServeError::Listen(options.listen, error))?;
    let peers = Peers::default();
    let stage = watch::Sender::new(ServerStage::Serving);
    let accept = |listener: StdListener| {
        let acceptor = Acceptor::new(Arc::clone(&served.app), Arc::clone(&peers), options.on_message);
        acceptor.run(listener, stage.subscribe())
    };
    let control = probe_descriptors().and_then(|()| event_loop()).map_err(ServeError::Start)?;
    let is_immediate = thread::scope(|scope| {
        let mut workers = Vec::new();
        while workers.len() < options.threads {
            // Without descriptors or memory for another worker, the existing ones answer.
            let (Ok(event_loop), Ok(listener)) = (event_loop(), listener.try_clone()) else { break };
            let accept = accept(listener);
            let Some(worker) = threads::spawn(scope, move || event_loop.block_on(accept)) else { break };
            workers.push(worker);
        }
        report_missing(workers.len(), options);
        // Without any worker, this thread answers. Otherwise it closes its listener, so that none is open when the workers stop.
        let here = if workers.is_empty() {
            Some(control.spawn(accept(listener)))
        } else {
            drop(listener);
            None
        };
        let handled = control.block_on(handle_signals(&served, address, &stage, options.on_message));
        // Needed even if signals cannot be handled.
        stage.send_replace(ServerStage::Ending);
        here.map_or(Ok(()), |here| control.block_on(here)?)?;
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))?;
        handled
    });
    let is_immediate = is_immediate.map_err(ServeError::Start)?;
    if let Some(log) = &served.app.access_log {
        log.close(if is_immediate { Duration::ZERO } else { LOG_CLOSE_TIMEOUT });
    }
    Ok(())
}

/// Raises the limit on open files to the maximum that the system allows, because every connection is an open file. A failure is not
/// reported, because connections beyond the limit wait.
pub(crate) fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Reports threads that the system refused to start.
fn report_missing(started: usize, options: &ServeOptions) {
    let ServeOptions { threads, on_message, .. } = options;
    if started < *threads {
        let answering = started.max(1);
        on_message(&format!("cannot start {threads} threads; answering requests on {answering}"));
    }
}

/// The indexes, and the application that answers requests to them.
struct Served {
    indexes: Arc<IndexSite>,
    app: Arc<App>,
}

fn served(catalog: Catalog, options: &ServeOptions) -> Result<Served, ServeError> {
    let ServeOptions { listen, limits, cors, allowed_hosts, access_log, version, on_message, .. } = options;
    let parse = |origin: &String| {
        Cors::parse(origin).map_err(|instead| ServeError::Origin { origin: origin.clone(), instead })
    };
    let metrics = Metrics::new(routes().map(|(_, label, _)| *label).chain([NO_ROUTE]));
    let open = |target: &LogTarget| {
        AccessLog::open(target.clone(), metrics.log_lines_dropped.clone(), *on_message)
            .map_err(|error| ServeError::Log(target.clone(), error))
    };
    let indexes = Arc::new(IndexSite::new(catalog, limits.clone(), version, Arc::clone(&metrics)));
    let app = App {
        site: Site::new(routes(), Problem::no_route, Arc::clone(&indexes)),
        cors: cors.as_ref().map(parse).transpose()?,
        hosts: Hosts::new(listen.ip(), allowed_hosts).map_err(ServeError::Host)?,
        access_log: access_log.as_ref().map(open).transpose()?,
        limits: limits.clone(),
        metrics,
    };
    Ok(Served { indexes, app: Arc::new(app) })
}

impl Served {
    /// Reopens all indexes and the access log. Requests in flight keep the previous indexes.
    fn reopen(&self, on_message: fn(&str)) {
        for (path, reopened) in self.indexes.catalog.reopen() {
            if let Err(error) = reopened {
                on_message(&format!("{error}; still serving the previous {}", path.display()));
            }
        }
        self.app.metrics.reopened.inc();
        self.app.access_log.iter().for_each(AccessLog::reopen);
    }
}

/// Fails if there are not enough file descriptors for an event loop and for signals. tokio panics if none are left for signals,
/// which it sets up with the first event loop.
pub(crate) fn probe_descriptors() -> io::Result<()> {
    let pairs = [UnixStream::pair, UnixStream::pair, UnixStream::pair, UnixStream::pair];
    pairs.map(|pair| pair()).into_iter().collect::<io::Result<Vec<_>>>().map(drop)
}

/// Makes the event loop of a thread.
pub(crate) fn event_loop() -> io::Result<Runtime> {
    runtime::Builder::new_current_thread().enable_all().build()
}

/// Creates the listener. Connections inherit the socket options that are set here.
pub(crate) fn listen(address: SocketAddr, limits: &Limits) -> Result<StdListener, ServeError> {
    let failed = |error| ServeError::Listen(address, error);
    let listener = StdListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    // The standard library's backlog is too short for bursts of connections.
    rustix::net::listen(&listener, BACKLOG).map_err(|error| failed(error.into()))?;
    // Answers are sent without delay, and a client that acknowledges nothing for the idle time-out is disconnected.
    let idle_timeout = limits.idle_timeout.as_millis().try_into().unwrap_or(u32::MAX);
    set_tcp_nodelay(&listener, true).map_err(|error| failed(error.into()))?;
    limit_unacknowledged(&listener, idle_timeout).map_err(failed)?;
    Ok(listener)
}

/// Handles signals until the server has stopped. Returns `true` if a second signal stopped it at once.
async fn handle_signals(
    served: &Served,
    address: SocketAddr,
    stage: &watch::Sender<ServerStage>,
    on_message: fn(&str),
) -> io::Result<bool> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut log_due = interval(LOG_INTERVAL);
    on_message(&format!("listening on http://{address}"));
    let mut stop = async || loop {
        select! {
            _ = hangup.recv() => served.reopen(on_message),
            _ = log_due.tick() => served.app.access_log.iter().for_each(AccessLog::write_inline),
            _ = terminate.recv() => return,
            _ = interrupt.recv() => return,
        }
    };
    stop().await;
    stage.send_replace(ServerStage::Finishing);
    select! {
        biased;
        () = stage.closed() => Ok(false),
        () = stop() => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::net::Ipv4Addr;

    use super::*;

    thread_local! {
        static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    #[test]
    fn threads_that_the_system_refuses_are_reported() {
        let options = ServeOptions {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            limits: Limits::default(),
            cors: None,
            allowed_hosts: Vec::new(),
            access_log: None,
            threads: 4,
            version: "",
            on_message: |message| SAID.with_borrow_mut(|said| said.push(message.to_owned())),
        };
        let said = |started| {
            report_missing(started, &options);
            SAID.take()
        };
        assert!(said(4).is_empty());
        assert_eq!(said(3), ["cannot start 4 threads; answering requests on 3"]);
        // The main thread answers if there is no other.
        assert_eq!(said(0), ["cannot start 4 threads; answering requests on 1"]);
    }
}
