//! Answers requests: applies limits, hosts and methods, and has the site answer the rest.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};

use crate::access_log::AccessLog;
use crate::compression::Coding;
use crate::cors::Cors;
use crate::hosts::Hosts;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::permit::{Body, Permit};
use crate::problem::Problem;
use crate::route::{self, Found};
use crate::site::{Asked, Site};

/// Header that prevents pages of other origins from embedding answers, which would load them into the process of those pages.
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// State for answering requests to a site, shared by all threads.
pub(crate) struct Service<S> {
    pub(crate) site: S,
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) access_log: Option<AccessLog>,
    pub(crate) cors: Option<Cors>,
    pub(crate) hosts: Hosts,
}

impl<S: Site> Service<S> {
    /// Answers a request, or refuses it if too many are in flight.
    pub(crate) async fn limit_requests<B>(&self, request: Request<B>, peer: IpAddr) -> Response<Body> {
        let start = Instant::now();
        let (request, _) = request.into_parts();
        let route = route::find(S::routes(), request.uri.path());
        let response = match Permit::take(&self.metrics, self.limits.in_flight) {
            Some(permit) => {
                let response = self.respond(&request, route, start).await;
                response.map(|body| body.with_permit(permit))
            }
            None => self.problem(Problem::unavailable("Too many requests in flight; try again later.")),
        };
        self.record(Some(&request), route, peer, start, response)
    }

    /// Refuses a request on a connection beyond the limits.
    pub(crate) fn refuse<B>(&self, request: Request<B>, peer: IpAddr, problem: Problem) -> Response<Body> {
        let start = Instant::now();
        let (request, _) = request.into_parts();
        let route = route::find(S::routes(), request.uri.path());
        self.record(Some(&request), route, peer, start, self.problem(problem))
    }

    /// Answers a request that the HTTP parser rejected with `status`.
    pub(crate) fn reject(&self, peer: IpAddr, status: StatusCode) -> Response<Body> {
        self.record(None, None, peer, Instant::now(), self.problem(Problem::not_a_request(status)))
    }

    /// Response with a problem, readable by the allowed origin.
    fn problem(&self, problem: Problem) -> Response<Body> {
        self.add_cors_headers(problem.into_response())
    }

    /// Adds the headers that let the allowed origin read a response.
    fn add_cors_headers(&self, mut response: Response<Body>) -> Response<Body> {
        if let Some(cors) = &self.cors {
            cors.expose(response.headers_mut());
        }
        response
    }

    /// Counts and logs a response, and adds the headers common to all responses.
    fn record(
        &self,
        request: Option<&Parts>,
        route: Found<'_, S::Handler>,
        peer: IpAddr,
        start: Instant,
        mut response: Response<Body>,
    ) -> Response<Body> {
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(CROSS_ORIGIN_RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
        let label = route.map_or(route::NO_ROUTE, |(route, _)| route.label);
        self.metrics.record(label, response.status(), start.elapsed());
        if let Some(log) = &self.access_log {
            log.write(peer, request, response.status(), response.body().len());
        }
        response
    }

    /// Checks the host of a request and responds, with cross-origin headers.
    async fn respond(&self, request: &Parts, route: Found<'_, S::Handler>, start: Instant) -> Response<Body> {
        if let Err(problem) = self.hosts.check(request) {
            return self.problem(problem);
        }
        match &self.cors {
            Some(cors) if request.method == Method::OPTIONS => cors.preflight(),
            _ => self.add_cors_headers(self.negotiate(request, route, start).await),
        }
    }

    /// Responds to a request in the content coding that the client prefers.
    async fn negotiate(
        &self,
        request: &Parts,
        route: Found<'_, S::Handler>,
        start: Instant,
    ) -> Response<Body> {
        let Some(coding) = Coding::preferred(&request.headers) else {
            let mut response = Problem::not_acceptable().into_response();
            response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
            return response;
        };
        if !matches!(request.method, Method::GET | Method::HEAD) {
            return Problem::method_not_allowed().into_response();
        }
        let Some((route, index)) = route else {
            return coding.encode(S::no_route().into_response());
        };
        let asked = Asked { handler: &route.handler, index, request, coding, start };
        S::respond(self, &asked).await
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::num::NonZeroUsize;
    use std::path::Path;
    use std::pin::pin;
    use std::sync::LazyLock;
    use std::task::{Context, Poll, Waker};

    use finecomb_text_index::{BuildOptions, Text};
    use flate2::read::GzDecoder;
    use proptest::prelude::*;

    use super::*;
    use crate::catalog::Catalog;
    use crate::cgi::{CgiRequest, respond};
    use crate::index_site::IndexSite;
    use crate::page;
    use crate::route::ROUTES;

    /// Services without and with cross-origin requests, each over an index of digits and an index of a text.
    static SERVICES: LazyLock<[Service<IndexSite>; 2]> =
        LazyLock::new(|| [None, Some("https://example.org")].map(service));

    fn service(origin: Option<&str>) -> Service<IndexSite> {
        let directory = tempfile::tempdir().expect("a directory");
        let digits = "14159265358979323846264338327950288".repeat(40);
        let named = [("pi", &*digits), ("text", "one fish\ntwo <fish>\nred \u{e4}")].map(|(name, text)| {
            let path = directory.path().join(name);
            let text = Text::new(Path::new(name), text.into(), None).expect("a text");
            let options = BuildOptions::default().threads(NonZeroUsize::MIN);
            text.build(&path, &options).expect("an index");
            (name.to_owned(), path)
        });
        Service {
            site: IndexSite { catalog: Catalog::open(named.into()).expect("indexes"), version: 1 },
            limits: Limits::default(),
            metrics: Metrics::new(ROUTES.iter().map(|route| route.label).chain([route::NO_ROUTE])),
            access_log: None,
            cors: origin.map(|origin| Cors::parse(origin).expect("an origin")),
            hosts: Hosts::new(IpAddr::from([127, 0, 0, 1]), &[]).expect("hosts"),
        }
    }

    fn answer(
        service: &Service<IndexSite>,
        method: &Method,
        target: &str,
        fields: &[(&str, &str)],
    ) -> Response<Body> {
        let mut request = Request::builder().method(method).uri(target).header("host", "localhost");
        for &(name, value) in fields {
            request = request.header(name, value);
        }
        let request = request.body(()).expect("a request");
        let mut answered = pin!(service.limit_requests(request, IpAddr::from([127, 0, 0, 1])));
        loop {
            let polled = answered.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            if let Poll::Ready(response) = polled {
                return response;
            }
        }
    }

    /// Body of a response, decompressed and without times.
    fn body(response: &Response<Body>) -> String {
        let mut text = String::new();
        match response.headers().get(header::CONTENT_ENCODING) {
            Some(_) => GzDecoder::new(response.body().bytes()).read_to_string(&mut text).expect("gzip"),
            None => response.body().bytes().read_to_string(&mut text).expect("UTF-8"),
        };
        let Some((before, time)) = text.split_once("\"et\":") else { return text };
        format!("{before}{}", time.trim_start_matches(|char: char| char.is_ascii_digit()))
    }

    /// Returns `true` if the OpenAPI document lists the status, or does not list the address.
    fn is_documented(target: &str, status: StatusCode) -> bool {
        static DOCUMENT: LazyLock<serde_json::Value> =
            LazyLock::new(|| serde_json::from_str(page::OPENAPI.content).expect("JSON"));
        let path = target.split('?').next().unwrap_or(target);
        let Some((route, _)) = route::find(&ROUTES, path) else { return true };
        let responses = &DOCUMENT["paths"][route.documented_path()]["get"]["responses"];
        responses.is_null() || responses.get(status.as_str()).is_some()
    }

    fn targets() -> impl Strategy<Value = String> {
        let path = prop_oneof![
            6 => ("(pi|text|te%78t|nix)", "(search|count|all|text|nix)").prop_map(|(index, end)| format!("/api/v1/{index}/{end}")),
            2 => "/(piquery|pidigits|style[.]css|app[.]js|openapi[.]json|healthz|api/v1/indexes)?",
            1 => "/[a-z/]{0,9}",
        ];
        let value = "([0-9]{1,4}|14159|fish|%3C|%E4|-1|)";
        let parameter = ("(q|q|from|before|context|limit|cursor|start|count|qs|x)", value);
        let query = prop::collection::vec(parameter, 0..4);
        (path, query).prop_map(|(path, query)| {
            let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{path}?{}", query.join("&"))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

        /// The answer does not depend on the method (GET or HEAD), compression or the origin, and the tag of the answer gives 304.
        #[test]
        fn all_kinds_of_requests_get_the_same_answer(target in targets()) {
            let [plain, cross_origin] = &*SERVICES;
            let get = |service, fields: &[_]| answer(service, &Method::GET, &target, fields);
            let expected = get(plain, &[]);
            prop_assert_eq!(&expected.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
            prop_assert_eq!(&expected.headers()[CROSS_ORIGIN_RESOURCE_POLICY], "same-origin");
            prop_assert!(is_documented(&target, expected.status()), "{} {}", target, expected.status());

            let head = answer(plain, &Method::HEAD, &target, &[]);
            prop_assert_eq!((head.status(), head.headers()), (expected.status(), expected.headers()));
            prop_assert_eq!(body(&head), body(&expected));

            let mut gzip = get(plain, &[("accept-encoding", "gzip")]);
            prop_assert_eq!((gzip.status(), body(&gzip)), (expected.status(), body(&expected)));
            let is_large = expected.body().len() >= crate::compression::MIN_SIZE;
            prop_assert_eq!(gzip.headers().contains_key(header::CONTENT_ENCODING), is_large);
            prop_assert_eq!(gzip.headers().contains_key(header::VARY), is_large);
            gzip.headers_mut().remove(header::CONTENT_ENCODING);
            prop_assert_eq!(gzip.headers(), expected.headers());

            let mut crossed = get(cross_origin, &[("origin", "https://example.org")]);
            prop_assert_eq!((crossed.status(), body(&crossed)), (expected.status(), body(&expected)));
            prop_assert_eq!(&crossed.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], "https://example.org");
            for name in [header::ACCESS_CONTROL_ALLOW_ORIGIN, header::ACCESS_CONTROL_EXPOSE_HEADERS, header::VARY] {
                crossed.headers_mut().remove(name);
            }
            let mut headers = expected.headers().clone();
            headers.remove(header::VARY);
            prop_assert_eq!(crossed.headers(), &headers);

            let any = get(plain, &[("if-none-match", "*")]).status();
            let is_cached = expected.headers().contains_key(header::ETAG);
            prop_assert_eq!(any, if is_cached { StatusCode::NOT_MODIFIED } else { expected.status() });

            if let Some(tag) = expected.headers().get(header::ETAG) {
                let again = get(plain, &[("if-none-match", tag.to_str().expect("a tag"))]);
                prop_assert_eq!((again.status(), again.body().len()), (StatusCode::NOT_MODIFIED, 0));
                prop_assert_eq!(again.headers().get(header::ETAG), Some(tag));
            }
        }

        #[test]
        fn the_cgi_program_gives_the_same_answer(
            index in "(pi|text|nix)", end in "(search|count|all|text|nix)", query in "(q=[0-9a-f]{1,3})?(&from=[0-9])?",
        ) {
            let [plain, _] = &*SERVICES;
            let path = format!("/api/v1/{index}/{end}");
            let expected = answer(plain, &Method::GET, &format!("{path}?{query}"), &[]);
            let mut printed = Vec::new();
            let request = CgiRequest { method: "GET".to_owned(), path, query };
            respond(&plain.site.catalog, &request, &mut printed).expect("writing to memory");
            let printed = String::from_utf8(printed).expect("UTF-8");
            let (head, printed) = printed.split_once("\r\n\r\n").expect("a head");
            let status = format!("Status: {}\r\n", expected.status().as_u16());
            prop_assert!(head.starts_with(&status), "{}", head);
            prop_assert_eq!(printed, body(&expected));
        }
    }

    fn tag(service: &Service<IndexSite>, target: &str) -> HeaderValue {
        answer(service, &Method::GET, target, &[]).headers()[header::ETAG].clone()
    }

    #[test]
    fn tags_depend_on_the_version_of_the_program() {
        let [plain, _] = &*SERVICES;
        let mut other = service(None);
        other.site.version = 2;
        let target = "/api/v1/pi/count?q=1";
        assert_ne!(tag(plain, target), tag(&other, target));
    }

    #[test]
    fn indexes_have_different_tags_whatever_the_version_of_the_program() {
        for version in [0, u64::MAX] {
            let mut service = service(None);
            service.site.version = version;
            assert_ne!(tag(&service, "/api/v1/pi/count?q=1"), tag(&service, "/api/v1/text/count?q=1"));
        }
    }

    #[test]
    fn each_bit_of_the_version_of_an_index_depends_on_its_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("text");
        let text = Text::new(Path::new("text"), b"text".into(), None).expect("a text");
        let options = BuildOptions::default().threads(NonZeroUsize::MIN);
        text.build(&path, &options).expect("an index");
        let catalog = Catalog::open((0..64).map(|name| (name.to_string(), path.clone())).collect());
        let catalog = catalog.expect("indexes");
        let mut versions = catalog.entries().iter().map(|entry| entry.version(&entry.index()));
        let first = versions.next().expect("an index");
        assert_eq!(versions.fold(0, |differing, version| differing | (first ^ version)), u64::MAX);
    }

    #[test]
    fn each_file_of_the_page_has_a_tag_of_its_own() {
        let [plain, _] = &*SERVICES;
        let [style, script, document] =
            ["/style.css", "/app.js", "/openapi.json"].map(|target| tag(plain, target));
        assert!(style != script && script != document && document != style);
    }

    #[test]
    fn the_files_of_the_page_are_the_same_when_compressed() {
        let [plain, _] = &*SERVICES;
        for target in ["/style.css", "/app.js", "/openapi.json"] {
            let [identity, gzip] = ["identity", "gzip"]
                .map(|coding| answer(plain, &Method::GET, target, &[("accept-encoding", coding)]));
            assert_eq!(gzip.headers()[header::CONTENT_ENCODING], "gzip", "{target}");
            assert_eq!(body(&gzip), body(&identity), "{target}");
        }
    }

    #[test]
    fn a_preflight_request_is_told_the_origin_and_the_methods() {
        let [_, cross_origin] = &*SERVICES;
        let response = answer(cross_origin, &Method::OPTIONS, "/api/v1/pi/count?q=1", &[]);
        let headers = response.headers();
        assert_eq!(&headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], "https://example.org");
        assert_eq!(&headers[header::ACCESS_CONTROL_ALLOW_METHODS], "GET,HEAD");
        assert!(headers.contains_key(header::VARY));
    }

    #[test]
    fn requests_beyond_the_limits_and_other_methods_are_refused() {
        let [plain, cross_origin] = &*SERVICES;
        let status = |service, method, fields: &[_]| answer(service, method, "/healthz", fields).status();
        assert_eq!(status(plain, &Method::POST, &[]), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(status(plain, &Method::OPTIONS, &[]), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(status(cross_origin, &Method::OPTIONS, &[]), StatusCode::OK);
        let refused = [("accept-encoding", "identity;q=0")];
        assert_eq!(status(plain, &Method::GET, &refused), StatusCode::NOT_ACCEPTABLE);
        let full = Service { limits: Limits { in_flight: 1, ..Limits::default() }, ..service(None) };
        let held = answer(&full, &Method::GET, "/healthz", &[]);
        assert_eq!(status(&full, &Method::GET, &[]), StatusCode::SERVICE_UNAVAILABLE);
        let refused = answer(cross_origin, &Method::GET, "/healthz", &[("host", "evil.example")]);
        assert_eq!(refused.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], "https://example.org");
        drop(held);
        assert_eq!(status(&full, &Method::GET, &[]), StatusCode::OK);
    }
}
