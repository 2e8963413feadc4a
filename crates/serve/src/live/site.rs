//! The site of a running job: its page, its events and its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Response};
use tokio::sync::watch;
use tokio::time::timeout;

use super::{Events, Published};
use crate::page::{Asset, LIVE_PAGE, LIVE_SCRIPT, LIVE_STYLE};
use crate::permit::Body;
use crate::problem::Problem;
use crate::response::{forbid_caching, respond_coded_asset, respond_health};
use crate::route::{Route, RoutePath};
use crate::service::Service;
use crate::site::{Asked, Site};

/// Time-out for a new state. A job publishes one every 200 ms, unless it is about to end.
const REFRESH: Duration = Duration::from_millis(500);

/// Header that keeps nginx from buffering a response.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Handler of a route.
pub(crate) enum Handler {
    /// A file embedded in the program.
    Asset(&'static Asset),
    /// The stream of events.
    Events,
    /// The answer so far.
    Answer,
    /// The health check.
    Health,
}

/// All routes.
pub(super) static ROUTES: [Route<Handler>; 6] = [
    Route { path: RoutePath::Exact("/"), label: "page", handler: Handler::Asset(&LIVE_PAGE) },
    Route { path: RoutePath::Exact("/style.css"), label: "page", handler: Handler::Asset(&LIVE_STYLE) },
    Route { path: RoutePath::Exact("/app.js"), label: "page", handler: Handler::Asset(&LIVE_SCRIPT) },
    Route { path: RoutePath::Exact("/events"), label: "events", handler: Handler::Events },
    Route { path: RoutePath::Exact("/answer.json"), label: "answer", handler: Handler::Answer },
    Route { path: RoutePath::Exact("/healthz"), label: "healthz", handler: Handler::Health },
];

/// A running job.
pub(super) struct LiveSite {
    pub(super) published: watch::Sender<Published>,
    pub(super) has_new_client: Arc<AtomicBool>,
    /// Maximum number of concurrent streams of events.
    pub(super) max_streams: usize,
}

impl Site for LiveSite {
    type Handler = Handler;

    fn routes() -> &'static [Route<Handler>] {
        &ROUTES
    }

    fn no_route() -> Problem {
        Problem::not_found("No such address; the page is at /, the counts at /events and /answer.json.")
    }

    async fn respond(service: &Service<Self>, asked: &Asked<'_, Handler>) -> Response<Body> {
        let &Asked { handler, request, coding, .. } = asked;
        match handler {
            Handler::Asset(asset) => respond_coded_asset(asset, request, coding),
            Handler::Events => {
                let events = service.site.events(&request.method);
                events.map_or_else(Problem::into_response, respond_events)
            }
            Handler::Answer => {
                coding.encode(service.site.answer().await.unwrap_or_else(Problem::into_response))
            }
            Handler::Health => respond_health("ok\n".to_owned()),
        }
    }
}

impl LiveSite {
    /// The stream of events. The answer to HEAD has none.
    fn events(&self, method: &Method) -> Result<Body, Problem> {
        if method == Method::HEAD {
            return Ok(Body::default());
        }
        if self.published.receiver_count() >= self.max_streams {
            return Err(Problem::unavailable("Too many pages are open; close some, or try again later."));
        }
        Ok(Events::new(self.subscribe()).into())
    }

    /// Receives the next state. Without clients, none is published, so that the last one may be old.
    fn subscribe(&self) -> watch::Receiver<Published> {
        let published = self.published.subscribe();
        self.has_new_client.store(true, Ordering::Relaxed);
        published
    }

    /// The answer so far.
    async fn answer(&self) -> Result<Response<Body>, Problem> {
        let mut published = self.subscribe();
        let is_last = published.borrow().is_last;
        if !is_last {
            let _ = timeout(REFRESH, published.changed()).await;
        }
        let Published { number, answer, .. } = published.borrow().clone();
        if number == 0 {
            return Err(Problem::unavailable("There are no counts yet; try again later."));
        }
        let mut response = Response::new(Body::from(answer));
        let media_type = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, media_type);
        Ok(forbid_caching(response))
    }
}

fn respond_events(events: Body) -> Response<Body> {
    let mut response = Response::new(events);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    forbid_caching(response)
}
