//! The server: its listener, its threads and its signals.

use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use finecomb_sys::threads;
use rustix::net::sockopt::{set_tcp_nodelay, set_tcp_user_timeout};
use thiserror::Error;
use tokio::runtime::{self, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::interval;

use crate::access_log::{AccessLog, LogTarget};
use crate::catalog::Catalog;
use crate::connections::{Acceptor, Peers};
use crate::cors::Cors;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::route::{self, ROUTES};
use crate::service::Service;

/// Options of [`serve`].
pub struct ServeOptions {
    /// Address to listen on. Port 0 is any free port.
    pub listen: SocketAddr,
    /// Limits on requests and connections.
    pub limits: Limits,
    /// Origin whose pages may read answers; `*` for all.
    pub cors: Option<String>,
    /// Destination of the access log.
    pub access_log: Option<LogTarget>,
    /// Number of threads that answer requests. If the system refuses some, the others answer.
    pub threads: usize,
    /// Receives messages for the operator, one line each.
    pub on_message: fn(&str),
}

/// Why the server could not start.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// The access log cannot be opened.
    #[error("cannot open the access log: {0}")]
    Log(io::Error),
    /// The value of `cors` is not an origin.
    #[error("invalid origin '{0}'; use one like https://example.org")]
    Origin(String),
    /// Event loops or signal handlers could not be set up.
    #[error("cannot start: {0}")]
    Start(io::Error),
}

/// Length of the queue of connections that have not been accepted.
const BACKLOG: i32 = 1024;

/// Time between flushes of the access log.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// Serves indexes until SIGTERM or SIGINT, and then finishes the requests in flight.
///
/// Every thread accepts connections from the same queue and answers them itself, so that no request moves between cores.
///
/// # Errors
///
/// If it cannot start.
pub fn serve(catalog: Catalog, options: &ServeOptions) -> Result<(), ServeError> {
    let service = Arc::new(service(catalog, options)?);
    let listener = listen(options)?;
    let address = listener.local_addr().map_err(|error| ServeError::Listen(options.listen, error))?;
    let peers = Peers::default();
    let (stop, stopped) = watch::channel(());
    let accept = || {
        let acceptor = Acceptor::new(Arc::clone(&service), Arc::clone(&peers), options.on_message);
        listener.try_clone().map(|listener| acceptor.run(listener, stopped.clone()))
    };
    let control = event_loop().map_err(ServeError::Start)?;
    let served = thread::scope(|scope| {
        let mut workers = Vec::new();
        while workers.len() < options.threads {
            let (event_loop, accept) = (event_loop()?, accept()?);
            let Some(worker) = threads::spawn(scope, move || event_loop.block_on(accept)) else { break };
            workers.push(worker);
        }
        report_missing(workers.len(), options);
        // Without any other thread, this one answers.
        let here = if workers.is_empty() { Some(control.spawn(accept()?)) } else { None };
        control.block_on(wait_for_stop(&service, address, options.on_message))?;
        drop(stop);
        here.map_or(Ok(()), |here| control.block_on(here)?)?;
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    served.map_err(ServeError::Start)?;
    flush(&service, options.on_message);
    Ok(())
}

/// Reports threads that the system refused.
fn report_missing(started: usize, options: &ServeOptions) {
    let ServeOptions { threads, on_message, .. } = options;
    if started < *threads {
        let answering = started.max(1);
        on_message(&format!("cannot start {threads} threads; answering requests on {answering}"));
    }
}

fn service(catalog: Catalog, options: &ServeOptions) -> Result<Service, ServeError> {
    let parse = |origin: &str| Cors::parse(origin).ok_or_else(|| ServeError::Origin(origin.to_owned()));
    let labels = ROUTES.iter().map(|route| route.label).chain([route::NO_ROUTE]);
    Ok(Service {
        catalog,
        limits: options.limits.clone(),
        metrics: Metrics::new(labels),
        access_log: options.access_log.clone().map(AccessLog::open).transpose().map_err(ServeError::Log)?,
        cors: options.cors.as_deref().map(parse).transpose()?,
    })
}

fn event_loop() -> io::Result<Runtime> {
    runtime::Builder::new_current_thread().enable_all().build()
}

/// Listens. Connections inherit the socket options that are set here.
fn listen(options: &ServeOptions) -> Result<StdListener, ServeError> {
    let failed = |error| ServeError::Listen(options.listen, error);
    let listener = StdListener::bind(options.listen).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    // The standard library's queue is too short for bursts of connections.
    rustix::net::listen(&listener, BACKLOG).map_err(|error| failed(error.into()))?;
    // Answers are sent without delay, and a client that acknowledges nothing for the idle time-out is disconnected.
    let idle_timeout = options.limits.idle_timeout.as_millis().try_into().unwrap_or(u32::MAX);
    set_tcp_nodelay(&listener, true).map_err(|error| failed(error.into()))?;
    set_tcp_user_timeout(&listener, idle_timeout).map_err(|error| failed(error.into()))?;
    Ok(listener)
}

/// Handles signals until one of them stops the server.
async fn wait_for_stop(service: &Service, address: SocketAddr, on_message: fn(&str)) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut flush_due = interval(FLUSH_INTERVAL);
    on_message(&format!("listening on http://{address}"));
    poll_fn(|context| {
        if terminate.poll_recv(context).is_ready() || interrupt.poll_recv(context).is_ready() {
            return Poll::Ready(());
        }
        while hangup.poll_recv(context).is_ready() {
            reopen(service, on_message);
        }
        while flush_due.poll_tick(context).is_ready() {
            flush(service, on_message);
        }
        Poll::Pending
    })
    .await;
    Ok(())
}

/// Opens all indexes again, and the access log. Requests in flight keep the indexes that they have.
fn reopen(service: &Service, on_message: fn(&str)) {
    for (path, reopened) in service.catalog.reopen() {
        if let Err(error) = reopened {
            on_message(&format!("{error}; still serving the previous {}", path.display()));
        }
    }
    service.metrics.reopened.increment();
    if let Some(Err(error)) = service.access_log.as_ref().map(AccessLog::reopen) {
        on_message(&format!("cannot reopen the access log: {error}; still writing to the previous one"));
    }
}

fn flush(service: &Service, on_message: fn(&str)) {
    if let Some(Err(error)) = service.access_log.as_ref().map(AccessLog::flush) {
        on_message(&format!("cannot write the access log: {error}"));
    }
}
