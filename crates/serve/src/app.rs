//! Answers requests: applies limits, hosts and methods, has the router of the site answer the rest, and applies conditions, the content
//! coding and cross-origin headers to its answers.
//!
//! These rules stand before the router: as layers around its routes they would take a fifth more CPU time for a request.
//! tower's limits release a request when its response begins; here it counts until its last byte is sent.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{self, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tower::{ServiceExt, service_fn};
use tower_http::metrics::InFlightRequests;

use crate::access_log::AccessLog;
use crate::compression::Coding;
use crate::conditional::KnownTags;
use crate::cors::Cors;
use crate::hosts::Hosts;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::site::{NO_ROUTE, Site};

/// Header that prevents pages of other origins from embedding answers, which would load them into the process of those pages.
pub(crate) const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");

/// A site within the rules for all requests, shared by all threads.
pub(crate) struct App {
    pub(crate) site: Site,
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) access_log: Option<AccessLog>,
    pub(crate) cors: Option<Cors>,
    pub(crate) hosts: Hosts,
}

impl App {
    /// Answers a request, or refuses it if too many are in flight. The body of the request is not read.
    pub(crate) async fn answer<B>(&self, request: http::Request<B>, peer: IpAddr) -> Response {
        let start = Instant::now();
        let (head, _) = request.into_parts();
        let label = self.site.label(head.uri.path());
        let logged = self.access_log.as_ref().map(|_| head.clone());
        // A refused request takes no place, however slowly its client reads. Threads that look at the same time may let one more in each.
        if self.metrics.in_flight.get() >= self.limits.in_flight {
            let problem = Problem::unavailable("Too many requests in flight; try again later.");
            return self.record(logged.as_ref(), label, peer, start, self.problem(problem));
        }
        let respond = service_fn(async |request| Ok::<_, Infallible>(self.respond(request).await));
        let respond = InFlightRequests::new(respond, self.metrics.in_flight.clone());
        let Ok(response) = respond.oneshot(Request::from_parts(head, Body::empty())).await;
        self.record(logged.as_ref(), label, peer, start, response.map(Body::new))
    }

    /// Refuses a request on a connection beyond the limits.
    pub(crate) fn refuse<B>(&self, request: http::Request<B>, peer: IpAddr, problem: Problem) -> Response {
        let start = Instant::now();
        let (head, _) = request.into_parts();
        let label = self.site.label(head.uri.path());
        self.record(Some(&head), label, peer, start, self.problem(problem))
    }

    /// Answers a request that the HTTP parser rejected with `status`.
    pub(crate) fn reject(&self, peer: IpAddr, status: StatusCode) -> Response {
        self.record(None, NO_ROUTE, peer, Instant::now(), self.problem(Problem::not_a_request(status)))
    }

    /// Response with a problem, readable by the allowed origin.
    fn problem(&self, problem: Problem) -> Response {
        self.add_cors_headers(problem.into_response())
    }

    /// Adds the headers that let the allowed origin read a response.
    fn add_cors_headers(&self, mut response: Response) -> Response {
        if let Some(cors) = &self.cors {
            cors.expose(response.headers_mut());
        }
        response
    }

    /// Counts and logs a response, and adds the headers common to all responses.
    fn record(
        &self,
        request: Option<&Parts>,
        label: &'static str,
        peer: IpAddr,
        start: Instant,
        mut response: Response,
    ) -> Response {
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(CROSS_ORIGIN_RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
        self.metrics.record(label, response.status(), start.elapsed());
        if let Some(log) = &self.access_log {
            // A stream of events has no length.
            let bytes = response.body().size_hint().exact().unwrap_or(0);
            log.write(peer, request, response.status(), bytes);
        }
        response
    }

    /// Checks the host of a request and responds, with cross-origin headers.
    async fn respond(&self, request: Request) -> Response {
        let (head, _) = request.into_parts();
        if let Err(problem) = self.hosts.check(&head) {
            return self.problem(problem);
        }
        match &self.cors {
            Some(cors) if head.method == Method::OPTIONS => cors.preflight(),
            _ => self.add_cors_headers(self.negotiate(head).await.into_response()),
        }
    }

    /// Responds to a request in the content coding that the client prefers, or with 304 if it has the content.
    async fn negotiate(&self, mut head: Parts) -> Result<Response, Problem> {
        let coding = Coding::preferred(&head.headers).ok_or_else(Problem::not_acceptable)?;
        if !matches!(head.method, Method::GET | Method::HEAD) {
            return Err(Problem::method_not_allowed());
        }
        // The response to HEAD has the same fields. hyper omits the body.
        head.method = Method::GET;
        let known = KnownTags::of(&head.headers);
        let Ok(response) = self.site.router.clone().oneshot(Request::from_parts(head, Body::empty())).await;
        Ok(coding.encode(known.omit_known(response)).await)
    }
}

/// Collects the body of a response, which is in memory.
pub(crate) async fn collect(response: Response) -> http::Response<Bytes> {
    let (head, body) = response.into_parts();
    http::Response::from_parts(head, to_bytes(body, usize::MAX).await.unwrap_or_default())
}

/// Runs a future that may yield, but never waits, to completion.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return result;
        }
    }
}
