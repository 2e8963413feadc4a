//! Accepts and limits connections, and closes them without a failed request.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::{poll_fn, ready};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Request, header};
use finecomb_sys::io_reason;
use finecomb_sys::locks::lock;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::TokioTimer;
use tokio::net::{TcpListener, TcpStream};
use tokio::select;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::app::App;
use crate::exchange::{Exchange, ExchangeStream};
use crate::metrics::Metrics;
use crate::problem::Problem;

/// Pause after a failed accept, for example without free file descriptors. Connections wait in the system's queue.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Maximum number of refused connections that get an answer at the same time; others are closed at once.
const MAX_REFUSALS: usize = 64;

/// Time-out for a refused connection to send its request.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(5);

/// Minimum size of hyper's buffer for the head of a request.
const MIN_HEAD: usize = 8192;

/// Number of connections by IP address.
pub(crate) type Peers = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// Lifecycle stage of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerStage {
    /// Accepting connections.
    Serving,
    /// Finishing the requests in flight.
    Finishing,
    /// Closing all connections at once.
    Ending,
}

/// Acceptor of connections on one thread.
pub(crate) struct Acceptor {
    app: Arc<App>,
    builder: http1::Builder,
    /// Notifies the connections that the server stops, and detects when the last one has ended.
    connections: watch::Sender<()>,
    peers: Peers,
    /// Its reference count is the number of refusals in progress.
    refusals: Arc<()>,
    has_failed: bool,
    on_message: fn(&str),
}

impl Acceptor {
    pub(crate) fn new(app: Arc<App>, peers: Peers, on_message: fn(&str)) -> Self {
        let limits = &app.limits;
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(limits.idle_timeout)
            .max_buf_size(limits.head.max(MIN_HEAD));
        let (connections, refusals) = Default::default();
        Self { app, builder, connections, peers, refusals, has_failed: false, on_message }
    }

    /// Accepts connections while the server is serving, and then lets them finish.
    pub(crate) async fn run(
        mut self,
        listener: StdListener,
        mut stage: watch::Receiver<ServerStage>,
    ) -> io::Result<()> {
        let listener = TcpListener::from_std(listener)?;
        loop {
            select! {
                biased;
                _ = stage.changed() => break,
                accepted = listener.accept() => self.handle_accepted(accepted).await,
            }
        }
        drop(listener);
        self.finish(stage).await;
        Ok(())
    }

    /// Serves an accepted connection, or pauses if the system refused it.
    async fn handle_accepted(&mut self, accepted: io::Result<(TcpStream, SocketAddr)>) {
        match accepted {
            Ok((stream, peer)) => {
                self.has_failed = false;
                self.serve_connection(stream, peer.ip());
            }
            // The client has already disconnected.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                if !self.has_failed {
                    (self.on_message)(&format!(
                        "cannot accept connections: {}; trying again",
                        io_reason(&error)
                    ));
                }
                self.has_failed = true;
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }

    /// Serves a connection, if it is within the limits.
    fn serve_connection(&mut self, stream: TcpStream, peer: IpAddr) {
        let App { limits, metrics, .. } = &*self.app;
        let (connection, all, from_peer) = Connection::count(metrics, &self.peers, peer);
        if all > limits.max_connections {
            return self
                .refuse(stream, peer, || Problem::unavailable("Too many connections; try again later."));
        }
        if from_peer > limits.max_connections_per_ip {
            return self.refuse(stream, peer, || {
                Problem::too_many("Too many connections from this IP address; close some first.")
            });
        }
        let (app, exchange) = (Arc::clone(&self.app), Arc::<Exchange>::default());
        let stream = ExchangeStream::new(stream, &exchange, &app, peer);
        let exchange_of_requests = Arc::clone(&exchange);
        let answer = service_fn(move |request: Request<Incoming>| {
            let (app, exchange) = (Arc::clone(&app), Arc::clone(&exchange_of_requests));
            exchange.begin();
            async move {
                let response = app.answer(request, peer).await;
                if response.body().size_hint().exact().is_none() {
                    exchange.begin_stream();
                }
                Ok::<_, Infallible>(response)
            }
        });
        let served = self.builder.serve_connection(stream, answer);
        let stopped = self.connections.subscribe();
        tokio::spawn(async move {
            serve_until_stopped(served, &exchange, stopped).await;
            drop(connection);
        });
    }

    /// Answers the first request of a connection with a problem, and closes it.
    fn refuse(&self, stream: TcpStream, peer: IpAddr, problem: fn() -> Problem) {
        self.app.metrics.refused.inc();
        let refusal = Arc::clone(&self.refusals);
        if Arc::strong_count(&refusal) > MAX_REFUSALS {
            return;
        }
        let (app, exchange) = (Arc::clone(&self.app), Arc::<Exchange>::default());
        let stream = ExchangeStream::new(stream, &exchange, &app, peer);
        let answer = service_fn(move |request: Request<Incoming>| {
            exchange.begin();
            let mut response = app.refuse(request, peer, problem());
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            ready(Ok::<_, Infallible>(response))
        });
        let served = self.builder.serve_connection(stream, answer);
        tokio::spawn(async move {
            let _ = timeout(REFUSAL_TIMEOUT, served).await;
            drop(refusal);
        });
    }

    /// Lets connections finish their requests, until the shutdown time-out or the stage [`ServerStage::Ending`].
    async fn finish(self, mut stage: watch::Receiver<ServerStage>) {
        let limit = self.app.limits.shutdown_timeout;
        // An error only means that no connections are open.
        let _ = self.connections.send(());
        select! {
            biased;
            () = self.connections.closed() => {}
            _ = stage.wait_for(|stage| *stage == ServerStage::Ending) => {
                (self.on_message)("stopped with requests in flight");
            }
            () = sleep(limit) => {
                let seconds = limit.as_secs();
                (self.on_message)(&format!("stopped with requests in flight after {seconds} s"));
            }
        }
    }
}

/// Serves a connection to its end. When the server stops, it ends after the requests whose heads are complete.
async fn serve_until_stopped<S>(
    connection: http1::Connection<ExchangeStream, S>,
    exchange: &Exchange,
    mut stopped: watch::Receiver<()>,
) where
    S: HttpService<Incoming, ResBody = Body, Error = Infallible>,
{
    let mut connection = pin!(connection);
    select! {
        biased;
        // The result is ignored: a client may disconnect, be idle, or not speak HTTP.
        _ = connection.as_mut() => return,
        _ = stopped.changed() => connection.as_mut().graceful_shutdown(),
    }
    // hyper closes idle connections itself, but waits for the rest of an incomplete first head.
    poll_fn(|context| {
        let has_ended = connection.as_mut().poll(context).is_ready();
        if has_ended || !exchange.has_request() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Guard that counts a connection until it is dropped.
struct Connection {
    metrics: Arc<Metrics>,
    peers: Peers,
    peer: IpAddr,
}

impl Connection {
    /// Counts a connection. Returns the total number of connections and the number from its IP address.
    fn count(metrics: &Arc<Metrics>, peers: &Peers, peer: IpAddr) -> (Self, usize, usize) {
        let all = metrics.connections.inc() as usize + 1;
        let mut counts = lock(peers);
        let from_peer = counts.entry(peer).or_default();
        *from_peer += 1;
        let from_peer = *from_peer;
        drop(counts);
        (Self { metrics: Arc::clone(metrics), peers: Arc::clone(peers), peer }, all, from_peer)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.metrics.connections.dec();
        let mut counts = lock(&self.peers);
        if let Some(count) = counts.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.peer);
            }
        }
    }
}
