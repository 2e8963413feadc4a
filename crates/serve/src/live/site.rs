//! The site of a running job: its page, its events and its answer.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::StreamExt;
use futures_util::stream::{Stream, once, unfold};
use tokio::sync::watch;
use tokio::time::timeout;

use super::Published;
use crate::page::{LIVE_PAGE, LIVE_SCRIPT, LIVE_STYLE};
use crate::problem::Problem;
use crate::site::Route;

/// Time-out for a new state. A job publishes one every 200 ms, unless it is about to end.
const REFRESH: Duration = Duration::from_millis(500);

/// Time after which a browser that loses the connection tries again.
const RETRY: Duration = Duration::from_secs(1);

/// Time without an event after which a comment is sent, so that proxies keep the connection, and clients notice its loss.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Header that keeps nginx from buffering a response.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// All routes.
pub(super) static ROUTES: [Route<Arc<LiveSite>>; 6] = [
    ("/", "page", || get(&LIVE_PAGE)),
    ("/style.css", "page", || get(&LIVE_STYLE)),
    ("/app.js", "page", || get(&LIVE_SCRIPT)),
    ("/events", "events", || get(events)),
    ("/answer.json", "answer", || get(answer)),
    ("/healthz", "healthz", || get(([(header::CACHE_CONTROL, "no-store")], "ok\n"))),
];

/// Problem with a path that has no route.
pub(super) fn no_route() -> Problem {
    Problem::not_found("No such address; the page is at /, the counts at /events and /answer.json.")
}

/// A running job.
pub(super) struct LiveSite {
    pub(super) published: watch::Sender<Published>,
    pub(super) has_new_client: Arc<AtomicBool>,
    /// Maximum number of concurrent streams of events.
    pub(super) max_streams: usize,
}

impl LiveSite {
    /// Receives the next state. Without clients, none is published, so that the last one may be old.
    fn subscribe(&self) -> watch::Receiver<Published> {
        let published = self.published.subscribe();
        self.has_new_client.store(true, Ordering::Relaxed);
        published
    }
}

/// Responds with a stream of events, after which the connection ends.
async fn events(State(site): State<Arc<LiveSite>>) -> Result<impl IntoResponse, Problem> {
    if site.published.receiver_count() >= site.max_streams {
        return Err(Problem::unavailable("Too many pages are open; close some, or try again later."));
    }
    let retry = once(ready(Ok(Event::default().retry(RETRY))));
    let events = Sse::new(retry.chain(states(site.subscribe())));
    let events = events.keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response();
    let headers =
        [(header::CACHE_CONTROL, "no-store"), (header::CONNECTION, "close"), (X_ACCEL_BUFFERING, "no")];
    Ok((headers, events))
}

/// The next state and those after it, or the last one if none follows. Each is the latest when the client can take one.
fn states(published: watch::Receiver<Published>) -> impl Stream<Item = Result<Event, Infallible>> {
    let last = published.borrow();
    let sent = if last.is_last { 0 } else { last.number };
    drop(last);
    unfold((published, sent), async |(mut published, sent)| {
        let next = published.wait_for(|next| next.number > sent || next.is_last).await.ok()?;
        let (number, event) = (next.number, next.event.clone());
        drop(next);
        (number > sent).then_some((Ok(event), (published, number)))
    })
}

/// Responds with the answer so far.
async fn answer(State(site): State<Arc<LiveSite>>) -> Result<Response, Problem> {
    let mut published = site.subscribe();
    let is_last = published.borrow().is_last;
    if !is_last {
        let _ = timeout(REFRESH, published.changed()).await;
    }
    let Published { number, answer, .. } = published.borrow().clone();
    if number == 0 {
        return Err(Problem::unavailable("There are no counts yet; try again later."));
    }
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, answer).into_response())
}
