//! Connections: accepting them, bounding them, and stopping without a failed request.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use rustix::net::sockopt::{set_tcp_nodelay, set_tcp_user_timeout};
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::access_log::{AccessLog, LogTarget};
use crate::catalog::Catalog;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::router::{Answerer, ROUTE_NAMES, Shared};

/// How to serve.
pub struct ServeOptions<'a> {
    /// Where to listen. Port 0 is any that is free.
    pub listen: SocketAddr,
    /// How much may be asked for.
    pub limits: Limits,
    /// An origin whose pages may ask, or `*` for all.
    pub cors: Option<String>,
    /// Where requests are logged.
    pub access_log: Option<LogTarget>,
    /// How many threads work.
    pub threads: usize,
    /// Told what an operator should know, a line each.
    pub say: &'a (dyn Fn(&str) + Sync),
}

/// Why serving came to its end.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// The access log cannot be opened.
    #[error("cannot open the access log: {0}")]
    Log(io::Error),
    /// What `cors` says is no origin.
    #[error("'{0}' is not an origin; one is like https://example.org")]
    Origin(String),
    /// Threads or signal handlers could not be set up.
    #[error("cannot start: {0}")]
    Start(io::Error),
}

/// Connections that wait to be taken.
const BACKLOG: i32 = 1024;

/// How long to wait when there are no file descriptors left; meanwhile connections wait in the system's queue.
const BREATHER: Duration = Duration::from_millis(50);

/// How often the access log is written out.
const LOG_EVERY: Duration = Duration::from_secs(1);

/// Connections beyond the limits that may be told so at a time; others are closed.
const MOST_REFUSALS: usize = 64;

/// Serves indexes until SIGTERM or SIGINT. What is under way then is finished.
///
/// Every thread takes connections from the same queue and answers them itself, so that no request goes from one core to another.
///
/// # Errors
///
/// If it cannot begin.
pub fn serve(catalog: Catalog, options: &ServeOptions<'_>) -> Result<(), ServeError> {
    let cors = options.cors.as_deref().map(cors_layer).transpose()?;
    let access_log = options.access_log.clone().map(AccessLog::open).transpose().map_err(ServeError::Log)?;
    let shared = Arc::new(Shared {
        catalog,
        limits: options.limits.clone(),
        metrics: Metrics::new(&ROUTE_NAMES),
        access_log,
        in_flight: Arc::default(),
    });
    let listener = listen(options)?;
    let address = listener.local_addr().map_err(|error| ServeError::Listen(options.listen, error))?;
    let answerer = Answerer::new(Arc::clone(&shared), cors);
    let peers = Peers::default();
    let (stop, stopped) = watch::channel(());
    let worker = |listener: StdListener, stopped: watch::Receiver<()>| {
        let acceptor = Acceptor::new(Arc::clone(&shared), answerer.clone(), Arc::clone(&peers));
        runtime()?.block_on(acceptor.run(listener, stopped, options)).map_err(ServeError::Start)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..options.threads.max(1))
            .map(|_| {
                let (listener, stopped) = (listener.try_clone().map_err(ServeError::Start)?, stopped.clone());
                Ok(scope.spawn(move || worker(listener, stopped)))
            })
            .collect::<Result<_, ServeError>>()?;
        drop(listener);
        runtime()?.block_on(attend(&shared, address, options))?;
        drop(stop);
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })?;
    flush(&shared, options.say);
    Ok(())
}

fn runtime() -> Result<Runtime, ServeError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Start)
}

/// Listens. What is set here holds for every connection, as they take it from the listener.
fn listen(options: &ServeOptions<'_>) -> Result<StdListener, ServeError> {
    let failed = |error| ServeError::Listen(options.listen, error);
    let listener = StdListener::bind(options.listen).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    // A longer queue than the standard library's, for clients that come all at once.
    rustix::net::listen(&listener, BACKLOG).map_err(|error| failed(error.into()))?;
    // An answer goes out at once, and a client that takes none of it for so long is gone.
    let silence = options.limits.silence.as_millis().try_into().unwrap_or(u32::MAX);
    set_tcp_nodelay(&listener, true).map_err(|error| failed(error.into()))?;
    set_tcp_user_timeout(&listener, silence).map_err(|error| failed(error.into()))?;
    Ok(listener)
}

/// Waits for signals, until one of them says to stop.
async fn attend(shared: &Shared, address: SocketAddr, options: &ServeOptions<'_>) -> Result<(), ServeError> {
    let handler = |kind| signal(kind).map_err(ServeError::Start);
    let (mut terminate, mut interrupt) =
        (handler(SignalKind::terminate())?, handler(SignalKind::interrupt())?);
    let mut hangup = handler(SignalKind::hangup())?;
    (options.say)(&format!("listening on http://{address}"));
    let mut log_due = tokio::time::interval(LOG_EVERY);
    loop {
        tokio::select! {
            _ = hangup.recv() => reopen(shared, options.say),
            _ = log_due.tick() => flush(shared, options.say),
            _ = terminate.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
        }
    }
}

fn cors_layer(origin: &str) -> Result<CorsLayer, ServeError> {
    let allowed = match origin {
        "*" => AllowOrigin::any(),
        origin => {
            let is_origin = origin
                .split_once("://")
                .is_some_and(|(scheme, host)| !scheme.is_empty() && !host.is_empty() && !host.contains('/'));
            let value = HeaderValue::from_str(origin).ok().filter(|_| is_origin);
            AllowOrigin::exact(value.ok_or_else(|| ServeError::Origin(origin.to_owned()))?)
        }
    };
    let exposed: [HeaderName; 2] = [header::ETAG, header::RETRY_AFTER];
    Ok(CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::HEAD])
        .expose_headers(exposed))
}

/// Opens all indexes again, and the access log. Requests that are under way go on with what they have.
fn reopen(shared: &Shared, say: &dyn Fn(&str)) {
    for (path, reopened) in shared.catalog.reopen() {
        if let Err(error) = reopened {
            say(&format!("{error}; going on with what {} was", path.display()));
        }
    }
    shared.metrics.reopened.inc();
    if let Some(Err(error)) = shared.access_log.as_ref().map(AccessLog::reopen) {
        say(&format!("cannot open the access log again: {error}; going on with the old one"));
    }
}

fn flush(shared: &Shared, say: &dyn Fn(&str)) {
    if let Some(Err(error)) = shared.access_log.as_ref().map(AccessLog::flush) {
        say(&format!("cannot write the access log: {error}"));
    }
}

/// Connections by the address that they come from.
type Peers = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// What takes connections, one for each thread.
struct Acceptor {
    shared: Arc<Shared>,
    answerer: Answerer,
    builder: http1::Builder,
    graceful: GracefulShutdown,
    peers: Peers,
    refusals: Arc<()>,
    is_short_of_descriptors: bool,
}

impl Acceptor {
    fn new(shared: Arc<Shared>, answerer: Answerer, peers: Peers) -> Self {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(shared.limits.silence)
            .max_buf_size(shared.limits.head.max(8192));
        Self {
            shared,
            answerer,
            builder,
            graceful: GracefulShutdown::new(),
            peers,
            refusals: Arc::default(),
            is_short_of_descriptors: false,
        }
    }

    /// Takes connections until it is told to stop, and then lets them finish.
    async fn run(
        mut self,
        listener: StdListener,
        mut stopped: watch::Receiver<()>,
        options: &ServeOptions<'_>,
    ) -> io::Result<()> {
        let listener = TcpListener::from_std(listener)?;
        loop {
            tokio::select! {
                accepted = listener.accept() => self.take(accepted, options.say).await,
                // Nothing is ever sent: the other end is dropped.
                _ = stopped.changed() => break,
            }
        }
        drop(listener);
        self.stop(options).await;
        Ok(())
    }

    /// Takes a connection, or waits a little if the system has no room for another.
    async fn take(&mut self, accepted: io::Result<(TcpStream, SocketAddr)>, say: &(dyn Fn(&str) + Sync)) {
        match accepted {
            Ok((stream, peer)) => {
                self.is_short_of_descriptors = false;
                self.connect(stream, peer.ip());
            }
            // The client has gone away again.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                if !self.is_short_of_descriptors {
                    say(&format!("cannot accept connections for now: {error}"));
                }
                self.is_short_of_descriptors = true;
                sleep(BREATHER).await;
            }
        }
    }

    fn connect(&mut self, stream: TcpStream, peer: IpAddr) {
        let limits = &self.shared.limits;
        let (connection, all, of_one) = Connection::count(&self.shared.metrics, &self.peers, peer);
        if all > limits.connections {
            return self.refuse(stream, || Problem::unavailable("There are too many connections."));
        }
        if of_one > limits.connections_of_one {
            return self
                .refuse(stream, || Problem::too_many("There are too many connections from this address."));
        }
        let answerer = self.answerer.clone();
        let service = service_fn(move |request| answerer.clone().answer(request, peer));
        let served = self.graceful.watch(self.builder.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // How a connection ends is the client's matter: it goes away, is silent, or talks something else.
            let _ = served.await;
            drop(connection);
        });
    }

    /// Answers the first request of a connection with a problem, and closes it.
    fn refuse(&self, stream: TcpStream, problem: fn() -> Problem) {
        self.shared.metrics.refused.inc();
        let refusal = Arc::clone(&self.refusals);
        if Arc::strong_count(&refusal) > MOST_REFUSALS {
            return;
        }
        let service = service_fn(move |_: Request<Incoming>| async move {
            let mut response = problem().into_response();
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            Ok::<axum::http::Response<Body>, io::Error>(response)
        });
        let served = self.builder.serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move {
            let _ = timeout(Duration::from_secs(5), served).await;
            drop(refusal);
        });
    }

    /// Closes the connections that are idle, and lets the others finish what they are at.
    async fn stop(self, options: &ServeOptions<'_>) {
        let grace = options.limits.grace;
        if timeout(grace, self.graceful.shutdown()).await.is_err() {
            (options.say)(&format!("stopped after {} s with requests under way", grace.as_secs()));
        }
    }
}

/// A connection that is counted as long as it is there.
struct Connection {
    metrics: Arc<Metrics>,
    peers: Peers,
    peer: IpAddr,
}

impl Connection {
    /// Counts it; and how many there are now, in all and of its address.
    fn count(metrics: &Arc<Metrics>, peers: &Peers, peer: IpAddr) -> (Self, usize, usize) {
        let before = metrics.connections.inc();
        let mut counts = peers.lock().unwrap_or_else(PoisonError::into_inner);
        let of_one = counts.entry(peer).or_default();
        *of_one += 1;
        let counted = (before as usize + 1, *of_one);
        drop(counts);
        let connection = Self { metrics: Arc::clone(metrics), peers: Arc::clone(peers), peer };
        (connection, counted.0, counted.1)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.metrics.connections.dec();
        let mut counts = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.peer);
            }
        }
    }
}
