//! Connections: accepting them, limiting them, and closing them without a failed request.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::service::Service;

/// Pause after the system refused a connection, as when file descriptors have run out; connections wait in the system's queue.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Limit on connections that are told that they are refused; more are closed at once.
const MAX_REFUSALS: usize = 64;

/// Time that a refused connection has to send its request.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(5);

/// Smallest buffer that hyper accepts for the head of a request.
const MIN_HEAD: usize = 8192;

/// Number of connections by IP address.
pub(crate) type Peers = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// Accepts connections on one thread.
pub(crate) struct Acceptor {
    service: Arc<Service>,
    builder: http1::Builder,
    graceful: GracefulShutdown,
    peers: Peers,
    /// Counts the refusals in progress, by its references.
    refusals: Arc<()>,
    has_failed: bool,
    on_message: fn(&str),
}

impl Acceptor {
    pub(crate) fn new(service: Arc<Service>, peers: Peers, on_message: fn(&str)) -> Self {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(service.limits.idle_timeout)
            .max_buf_size(service.limits.head.max(MIN_HEAD));
        Self {
            service,
            builder,
            graceful: GracefulShutdown::new(),
            peers,
            refusals: Arc::default(),
            has_failed: false,
            on_message,
        }
    }

    /// Accepts connections until the sender of `stopped` is dropped, and then lets them finish.
    pub(crate) async fn run(
        mut self,
        listener: StdListener,
        mut stopped: watch::Receiver<()>,
    ) -> io::Result<()> {
        let listener = TcpListener::from_std(listener)?;
        let mut stopped = pin!(stopped.changed());
        let mut next = async || {
            poll_fn(|context| match stopped.as_mut().poll(context) {
                Poll::Ready(_) => Poll::Ready(None),
                Poll::Pending => listener.poll_accept(context).map(Some),
            })
            .await
        };
        while let Some(accepted) = next().await {
            self.take(accepted).await;
        }
        drop(listener);
        self.stop().await;
        Ok(())
    }

    /// Serves an accepted connection, or pauses if the system refused it.
    async fn take(&mut self, accepted: io::Result<(TcpStream, SocketAddr)>) {
        match accepted {
            Ok((stream, peer)) => {
                self.has_failed = false;
                self.connect(stream, peer.ip());
            }
            // The client has gone away already.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                if !self.has_failed {
                    (self.on_message)(&format!("cannot accept connections for now: {error}"));
                }
                self.has_failed = true;
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }

    /// Serves a connection, if it is within the limits.
    fn connect(&mut self, stream: TcpStream, peer: IpAddr) {
        let limits = &self.service.limits;
        let (connection, all, from_peer) = Connection::count(&self.service.metrics, &self.peers, peer);
        if all > limits.max_connections {
            return self.refuse(stream, || Problem::unavailable("Too many connections; try again later."));
        }
        if from_peer > limits.max_connections_per_ip {
            return self.refuse(stream, || {
                Problem::too_many("Too many connections from this IP address; close some first.")
            });
        }
        let service = Arc::clone(&self.service);
        let answer = service_fn(move |request| {
            let service = Arc::clone(&service);
            async move { Ok::<_, Infallible>(service.limit_requests(request, peer).await) }
        });
        let served = self.graceful.watch(self.builder.serve_connection(TokioIo::new(stream), answer));
        tokio::spawn(async move {
            // A connection may end in any way: the client leaves, is idle, or does not speak HTTP.
            let _ = served.await;
            drop(connection);
        });
    }

    /// Answers the first request of a connection with a problem, and closes it.
    fn refuse(&self, stream: TcpStream, problem: fn() -> Problem) {
        self.service.metrics.refused.increment();
        let refusal = Arc::clone(&self.refusals);
        if Arc::strong_count(&refusal) > MAX_REFUSALS {
            return;
        }
        let answer = service_fn(move |_: Request<Incoming>| async move {
            let mut response = problem().into_response();
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            Ok::<_, Infallible>(response)
        });
        let served = self.builder.serve_connection(TokioIo::new(stream), answer);
        tokio::spawn(async move {
            let _ = timeout(REFUSAL_TIMEOUT, served).await;
            drop(refusal);
        });
    }

    /// Closes idle connections, and lets the others finish their requests.
    async fn stop(self) {
        let limit = self.service.limits.shutdown_timeout;
        if timeout(limit, self.graceful.shutdown()).await.is_err() {
            let seconds = limit.as_secs();
            (self.on_message)(&format!("stopped with requests in flight after waiting {seconds} s"));
        }
    }
}

/// Counts a connection until it is dropped.
struct Connection {
    metrics: Arc<Metrics>,
    peers: Peers,
    peer: IpAddr,
}

impl Connection {
    /// Counts a connection, and returns the number of connections in all and from its IP address.
    fn count(metrics: &Arc<Metrics>, peers: &Peers, peer: IpAddr) -> (Self, usize, usize) {
        let all = metrics.connections.increment() + 1;
        let mut counts = peers.lock().unwrap_or_else(PoisonError::into_inner);
        let from_peer = counts.entry(peer).or_default();
        *from_peer += 1;
        let from_peer = *from_peer;
        drop(counts);
        (Self { metrics: Arc::clone(metrics), peers: Arc::clone(peers), peer }, all, from_peer)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.metrics.connections.decrement();
        let mut counts = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.peer);
            }
        }
    }
}
