//! From requests to answers: routes, and what all answers have in common.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use tokio::task::spawn_blocking;
use tower::Service;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::SizeAbove;
use tower_http::cors::CorsLayer;

use crate::access_log::{self, AccessLog};
use crate::api::{self, Route, Target};
use crate::catalog::Catalog;
use crate::limits::Limits;
use crate::metrics::{self, Metrics};
use crate::page::{self, Asset};
use crate::problem::{self, Problem};

/// Answers that are smaller are not compressed: they fit a packet as they are.
const COMPRESSED_FROM: u64 = 1024;

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) catalog: Catalog,
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) access_log: Option<AccessLog>,
    pub(crate) in_flight: Arc<AtomicUsize>,
}

/// The address that a request came from.
#[derive(Clone, Copy)]
struct Peer(IpAddr);

/// What answers requests: axum's router, and before it a short way for most of them.
#[derive(Clone)]
pub(crate) struct Answerer {
    shared: Arc<Shared>,
    router: Router,
    /// Whether answers depend on the origin of the page that asks.
    has_cors: bool,
}

impl Answerer {
    pub(crate) fn new(shared: Arc<Shared>, cors: Option<CorsLayer>) -> Self {
        let has_cors = cors.is_some();
        Self { router: router(Arc::clone(&shared), cors), shared, has_cors }
    }

    /// Answers a request that came from an address.
    pub(crate) async fn answer(
        self,
        mut request: Request<Incoming>,
        peer: IpAddr,
    ) -> Result<Response, Infallible> {
        if let Some(response) = self.answer_at_once(&request, peer) {
            return Ok(response);
        }
        request.extensions_mut().insert(Peer(peer));
        self.router.clone().call(request).await
    }

    /// The answer to a plain GET of the interface that takes microseconds. It is the one that the router gives: a profile showed that
    /// its layers take longer than the search.
    fn answer_at_once(&self, request: &Request<Incoming>, peer: IpAddr) -> Option<Response> {
        let start = Instant::now();
        let is_plain = request.method() == Method::GET && !self.has_cors;
        let target = api::target(&self.shared.catalog, request.uri().path()).ok();
        let target = target.filter(|target| is_plain && target.route != Route::All)?;
        let permit = Permit::take(&self.shared)?;
        let response = ask_now(&self.shared, &target, request.uri(), request.headers(), start);
        let response = response.unwrap_or_else(IntoResponse::into_response);
        let is_small = response.body().size_hint().exact().is_some_and(|size| size < COMPRESSED_FROM);
        if !is_small && request.headers().contains_key(header::ACCEPT_ENCODING) {
            return None;
        }
        let logged = self.shared.access_log.as_ref().map(|_| logged(request, peer));
        Some(finished(&self.shared, request.uri().path(), logged, permit, start, response))
    }
}

fn router(shared: Arc<Shared>, cors: Option<CorsLayer>) -> Router {
    let router = Router::new()
        .route("/", get(|headers: HeaderMap| async move { asset(&page::PAGE, &headers) }))
        .route("/style.css", get(|headers: HeaderMap| async move { asset(&page::STYLE, &headers) }))
        .route("/app.js", get(|headers: HeaderMap| async move { asset(&page::SCRIPT, &headers) }))
        .route("/openapi.json", get(|headers: HeaderMap| async move { asset(&page::OPENAPI, &headers) }))
        .route("/healthz", get(health))
        .route("/metrics", get(measured))
        .fallback(get(ask).fallback(|| async { Problem::method() }))
        .method_not_allowed_fallback(|| async { Problem::method() })
        .layer(CompressionLayer::new().compress_when(SizeAbove::new(COMPRESSED_FROM)));
    let router = match cors {
        Some(cors) => router.layer(cors),
        None => router,
    };
    router.layer(middleware::from_fn_with_state(Arc::clone(&shared), attended)).with_state(shared)
}

/// The answer of the interface, or that there is nothing at this address.
async fn ask(State(shared): State<Arc<Shared>>, uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    let start = Instant::now();
    let target = api::target(&shared.catalog, uri.path())?;
    if target.route != Route::All {
        return ask_now(&shared, &target, &uri, &headers, start);
    }
    // The one that may take long must not keep others from being answered.
    let task = {
        let shared = Arc::clone(&shared);
        spawn_blocking(move || {
            let target = api::target(&shared.catalog, uri.path())?;
            ask_now(&shared, &target, &uri, &headers, start)
        })
    };
    task.await.map_err(|_| Problem::unavailable("The server is stopping."))?
}

fn ask_now(
    shared: &Shared,
    target: &Target<'_>,
    uri: &Uri,
    headers: &HeaderMap,
    start: Instant,
) -> Result<Response, Problem> {
    let tag = target.version(&shared.catalog).map(entity_tag);
    if let Some(tag) = tag.as_ref().filter(|tag| is_known(headers, tag)) {
        return Ok(not_modified(tag));
    }
    let answer = api::answer(&shared.catalog, target, uri.query().unwrap_or(""), &shared.limits, start)?;
    let mut response = Response::new(Body::from(answer.body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.media_type));
    match tag {
        Some(tag) => cached(headers, tag),
        None => drop(headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))),
    }
    Ok(response)
}

/// Whether every index can be read.
async fn health(State(shared): State<Arc<Shared>>) -> Response {
    let damaged = shared.catalog.entries().iter().find(|entry| entry.index().text(0, 1).is_err());
    let (status, text) = match damaged {
        None => (StatusCode::OK, "ok\n".to_owned()),
        Some(entry) => {
            (StatusCode::SERVICE_UNAVAILABLE, format!("the index {} is out of order\n", entry.name))
        }
    };
    (status, [(header::CACHE_CONTROL, "no-store")], text).into_response()
}

async fn measured(State(shared): State<Arc<Shared>>) -> Response {
    ([(header::CONTENT_TYPE, metrics::MEDIA_TYPE)], shared.metrics.text()).into_response()
}

fn asset(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let tag = entity_tag(*asset.version);
    if is_known(headers, &tag) {
        return not_modified(&tag);
    }
    let mut response = Response::new(Body::from(asset.content));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(page::CONTENT_SECURITY_POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    cached(headers, tag);
    response
}

/// A weak one, as the same answer may be compressed or not.
fn entity_tag(version: u64) -> HeaderValue {
    // Quotes and hexadecimal digits are all that it has.
    HeaderValue::try_from(format!("W/\"{version:016x}\"")).unwrap_or(HeaderValue::from_static("W/\"0\""))
}

fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let Ok(tag) = tag.to_str() else { return false };
    // Weak or strong makes no difference to what is compared here.
    let opaque = |tag: &'_ str| tag.trim().trim_start_matches("W/").to_owned();
    let mut known =
        headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).peekable();
    known.peek().is_some()
        && known
            .flat_map(|value| value.split(','))
            .any(|known| known.trim() == "*" || opaque(known) == opaque(tag))
}

fn cached(headers: &mut HeaderMap, tag: HeaderValue) {
    headers.insert(header::ETAG, tag);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
}

fn not_modified(tag: &HeaderValue) -> Response {
    let mut response = StatusCode::NOT_MODIFIED.into_response();
    cached(response.headers_mut(), tag.clone());
    response
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, self.json()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(problem::MEDIA_TYPE));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(after) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(after.as_secs()));
        }
        if self.status == 405 {
            headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        response
    }
}

/// What is done around every request: it is refused if there are too many, counted, and logged.
async fn attended(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let path = request.uri().path().to_owned();
    let peer = request.extensions().get().map_or(IpAddr::from([0, 0, 0, 0]), |Peer(peer)| *peer);
    let logged = shared.access_log.as_ref().map(|_| logged(&request, peer));
    match Permit::take(&shared) {
        Some(permit) => {
            let response = next.run(request).await;
            finished(&shared, &path, logged, permit, start, response)
        }
        None => {
            let problem = Problem::unavailable("There are too many requests under way.").into_response();
            noted(&shared, &path, logged, start, problem)
        }
    }
}

/// An answer that holds its permit until its last byte has been taken.
fn finished(
    shared: &Shared,
    path: &str,
    logged: Option<access_log::Request>,
    permit: Permit,
    start: Instant,
    response: Response,
) -> Response {
    noted(shared, path, logged, start, response.map(|body| Body::new(Guarded { body, permit })))
}

/// An answer that has been counted and logged.
fn noted(
    shared: &Shared,
    path: &str,
    logged: Option<access_log::Request>,
    start: Instant,
    mut response: Response,
) -> Response {
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    shared.metrics.answered(route_name(path), response.status().as_u16(), start.elapsed());
    if let (Some(log), Some(logged)) = (&shared.access_log, logged) {
        let bytes = response.body().size_hint().exact();
        // A log that cannot be written is no reason not to answer; flushing says so.
        let _ = log.write(&logged, response.status(), bytes);
    }
    response
}

fn logged<B>(request: &Request<B>, peer: IpAddr) -> access_log::Request {
    access_log::Request {
        address: peer,
        method: request.method().clone(),
        uri: request.uri().clone(),
        version: request.version(),
        headers: request.headers().clone(),
    }
}

/// All that [`route_name`] gives.
pub(crate) const ROUTE_NAMES: [&str; 11] = [
    "page", "healthz", "metrics", "piquery", "pidigits", "indexes", "search", "count", "all", "text", "other",
];

/// What a route is called in the metrics; one name for whatever there is not.
fn route_name(path: &str) -> &'static str {
    match path {
        "/" | "/style.css" | "/app.js" | "/openapi.json" => "page",
        "/healthz" => "healthz",
        "/metrics" => "metrics",
        "/piquery" => "piquery",
        "/pidigits" => "pidigits",
        "/api/v1/indexes" => "indexes",
        path if path.starts_with("/api/v1/") => match path.rsplit('/').next() {
            Some("search") => "search",
            Some("count") => "count",
            Some("all") => "all",
            Some("text") => "text",
            _ => "other",
        },
        _ => "other",
    }
}

/// That a request may be answered. It is given back when the last byte of the answer has been taken.
struct Permit {
    in_flight: Arc<AtomicUsize>,
    metrics: Arc<Metrics>,
}

impl Permit {
    fn take(shared: &Shared) -> Option<Self> {
        let permit = Self { in_flight: Arc::clone(&shared.in_flight), metrics: Arc::clone(&shared.metrics) };
        permit.metrics.in_flight.inc();
        let before = permit.in_flight.fetch_add(1, Ordering::Relaxed);
        (before < shared.limits.in_flight).then_some(permit)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.metrics.in_flight.dec();
    }
}

/// A body that holds a permit.
struct Guarded {
    body: Body,
    #[expect(dead_code, reason = "dropping it is what it is for")]
    permit: Permit,
}

impl HttpBody for Guarded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        HttpBody::size_hint(&self.body)
    }
}
