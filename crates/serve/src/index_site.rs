//! The site of indexes: the search page, the API, and the addresses for monitoring.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse};
use axum::routing::get;

use crate::api::{self, IndexSite};
use crate::catalog::hash;
use crate::conditional::validators;
use crate::metrics::MEDIA_TYPE;
use crate::page::{OPENAPI, PAGE_HEADERS, SCRIPT, STYLE};
use crate::page_html;
use crate::pi_searcher;
use crate::site::Route;

/// Routes that a CGI program answers as well.
pub(crate) static API: [Route<Arc<IndexSite>>; 7] = [
    ("/piquery", "piquery", || get(pi_searcher::query)),
    ("/pidigits", "pidigits", || get(pi_searcher::digits)),
    ("/api/v1/indexes", "indexes", || get(api::indexes)),
    ("/api/v1/{index}/search", "search", || get(api::search)),
    ("/api/v1/{index}/count", "count", || get(api::count)),
    ("/api/v1/{index}/all", "all", || get(api::all_positions)),
    ("/api/v1/{index}/text", "text", || get(api::text)),
];

/// The other routes.
static PAGES: [Route<Arc<IndexSite>>; 6] = [
    ("/", "page", || get(page)),
    ("/style.css", "page", || get(&STYLE)),
    ("/app.js", "page", || get(&SCRIPT)),
    ("/openapi.json", "page", || get(&OPENAPI)),
    ("/healthz", "healthz", || get(health)),
    ("/metrics", "metrics", || get(metrics)),
];

/// All routes.
pub(crate) fn routes() -> impl Iterator<Item = &'static Route<Arc<IndexSite>>> {
    PAGES.iter().chain(&API)
}

/// Responds with the page, including the answer for browsers without scripts.
async fn page(State(site): State<Arc<IndexSite>>, RawQuery(query): RawQuery) -> impl IntoResponse {
    let page = page_html::render(&site, query.as_deref().unwrap_or_default());
    (validators(hash(&page)), PAGE_HEADERS, Html(page))
}

/// Responds with 200 if every index can be read, and with 503 otherwise.
async fn health(State(site): State<Arc<IndexSite>>) -> impl IntoResponse {
    let damaged = site.catalog.entries().iter().find(|entry| entry.index().text(0, 1).is_err());
    let (status, text) = match damaged {
        None => (StatusCode::OK, "ok\n".to_owned()),
        Some(entry) => {
            (StatusCode::SERVICE_UNAVAILABLE, format!("index {} unavailable or corrupt\n", entry.name))
        }
    };
    (status, [(header::CACHE_CONTROL, "no-store")], text)
}

/// Responds with the metrics of the server.
async fn metrics(State(site): State<Arc<IndexSite>>) -> impl IntoResponse {
    let headers = [(header::CONTENT_TYPE, MEDIA_TYPE), (header::CACHE_CONTROL, "no-store")];
    (headers, site.metrics.text())
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::IpAddr;
    use std::num::NonZeroUsize;
    use std::path::Path;
    use std::sync::LazyLock;

    use axum::body::Bytes;
    use axum::http::{HeaderMap, HeaderValue, Method, Request};
    use axum::response::Response;
    use finecomb_text_index::{BuildOptions, LoadedText};
    use flate2::read::GzDecoder;
    use proptest::prelude::*;

    use super::*;
    use crate::app::{App, CROSS_ORIGIN_RESOURCE_POLICY, collect, run};
    use crate::catalog::Catalog;
    use crate::cgi::{CgiRequest, respond};
    use crate::cors::Cors;
    use crate::hosts::Hosts;
    use crate::limits::Limits;
    use crate::metrics::Metrics;
    use crate::problem::Problem;
    use crate::site::Site;

    /// Applications without and with cross-origin requests, each over an index of digits and an index of a text.
    static APPS: LazyLock<[App; 2]> = LazyLock::new(|| {
        [None, Some("https://example.org")].map(|origin| app(origin, site(1), Limits::default()))
    });

    static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
        let directory = tempfile::tempdir().expect("a directory");
        let digits = "14159265358979323846264338327950288".repeat(40);
        let named = [("pi", &*digits), ("text", "one fish\ntwo <fish>\nred \u{e4}")].map(|(name, text)| {
            let path = directory.path().join(name);
            let text = LoadedText::new(Path::new(name), text.into(), None).expect("a text");
            let options = BuildOptions::default().threads(NonZeroUsize::MIN);
            text.build(&path, &options).expect("an index");
            (name.to_owned(), path)
        });
        Catalog::open(named.into()).expect("indexes")
    });

    fn site(version: u64) -> IndexSite {
        IndexSite { catalog: CATALOG.clone(), limits: Limits::default(), version, metrics: Metrics::new([]) }
    }

    fn app(origin: Option<&str>, site: IndexSite, limits: Limits) -> App {
        App {
            metrics: Arc::clone(&site.metrics),
            site: Site::new(routes(), Problem::no_route, Arc::new(site)),
            limits,
            access_log: None,
            cors: origin.map(|origin| Cors::parse(origin).expect("an origin")),
            hosts: Hosts::new(IpAddr::from([127, 0, 0, 1]), &[]).expect("hosts"),
        }
    }

    /// Response whose body is not read yet.
    fn begin_answer(app: &App, method: &Method, target: &str, fields: &[(&str, &str)]) -> Response {
        let mut request = Request::builder().method(method).uri(target).header("host", "localhost");
        for &(name, value) in fields {
            request = request.header(name, value);
        }
        let request = request.body(()).expect("a request");
        run(app.answer(request, IpAddr::from([127, 0, 0, 1])))
    }

    fn answer(app: &App, method: &Method, target: &str, fields: &[(&str, &str)]) -> Response<Bytes> {
        run(collect(begin_answer(app, method, target, fields)))
    }

    /// Body of a response, decompressed and without times.
    fn body(response: &Response<Bytes>) -> String {
        let mut text = String::new();
        match response.headers().get(header::CONTENT_ENCODING) {
            Some(_) => GzDecoder::new(&**response.body()).read_to_string(&mut text).expect("gzip"),
            None => (&**response.body()).read_to_string(&mut text).expect("UTF-8"),
        };
        let Some((before, time)) = text.split_once("\"et\":") else { return text };
        format!("{before}{}", time.trim_start_matches(|char: char| char.is_ascii_digit()))
    }

    /// Header fields without the length, which depends on the coding and on times.
    fn fields(response: &Response<Bytes>) -> HeaderMap {
        let mut fields = response.headers().clone();
        fields.remove(header::CONTENT_LENGTH);
        fields
    }

    static DOCUMENT: LazyLock<serde_json::Value> = LazyLock::new(|| {
        let [plain, _] = &*APPS;
        serde_json::from_slice(answer(plain, &Method::GET, "/openapi.json", &[]).body()).expect("JSON")
    });

    /// Returns `true` if the OpenAPI document lists the status, or does not list the address.
    fn is_documented(target: &str, status: StatusCode) -> bool {
        let path = target.split('?').next().unwrap_or(target);
        let path = match path.split('/').collect::<Vec<_>>()[..] {
            ["", "api", "v1", _, end] => format!("/api/v1/{{index}}/{end}"),
            _ => path.to_owned(),
        };
        let responses = &DOCUMENT["paths"][&path]["get"]["responses"];
        responses.is_null() || responses.get(status.as_str()).is_some()
    }

    #[test]
    fn paths_have_their_routes() {
        let [plain, _] = &*APPS;
        let found = |path| plain.site.label(path);
        assert_eq!(found("/"), "page");
        assert_eq!(found("/api/v1/indexes"), "indexes");
        assert_eq!(found("/api/v1/pi/search"), "search");
        assert_eq!(found("/api/v1//count"), "count");
        assert_eq!(found("/api/v1/%70i/all"), "all");
        for path in ["", "//", "/healthz/", "/api/v1/", "/api/v1/pi", "/api/v1/a/b/text", "/api/v1/search"] {
            assert_eq!(found(path), "other", "{path}");
        }
        let answer = |target| body(&answer(plain, &Method::GET, target, &[]));
        assert_eq!(answer("/api/v1/%70i/count?q=1"), answer("/api/v1/pi/count?q=1"));
        assert!(answer("/api/v1/%ff/count?q=1").contains("No index has this name"));
        assert!(answer("/api/v1/count").contains("No such address"));
    }

    #[test]
    fn the_openapi_document_has_every_route() {
        let documented = DOCUMENT["paths"].as_object().expect("paths");
        let is_listed = |path: &str| routes().any(|(listed, ..)| *listed == path);
        assert!(documented.keys().all(|path| is_listed(path)), "{:?}", documented.keys());
        let undocumented: Vec<_> =
            routes().map(|(path, ..)| *path).filter(|&path| !documented.contains_key(path)).collect();
        assert_eq!(undocumented, ["/", "/style.css", "/app.js", "/openapi.json"]);
        let mut operations: Vec<_> =
            documented.values().map(|path| path["get"]["operationId"].as_str()).collect();
        operations.sort_unstable();
        operations.dedup();
        assert!(operations.len() == documented.len() && operations[0].is_some(), "{operations:?}");
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
            let [plain, cross_origin] = &*APPS;
            let get = |service, fields: &[_]| answer(service, &Method::GET, &target, fields);
            let expected = get(plain, &[]);
            prop_assert_eq!(&expected.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
            prop_assert_eq!(&expected.headers()[CROSS_ORIGIN_RESOURCE_POLICY], "same-origin");
            prop_assert!(is_documented(&target, expected.status()), "{} {}", target, expected.status());

            let head = answer(plain, &Method::HEAD, &target, &[]);
            prop_assert_eq!((head.status(), fields(&head)), (expected.status(), fields(&expected)));
            prop_assert_eq!(body(&head), body(&expected));

            let mut gzip = get(plain, &[("accept-encoding", "gzip")]);
            prop_assert_eq!((gzip.status(), body(&gzip)), (expected.status(), body(&expected)));
            let is_large = expected.body().len() as u64 >= crate::compression::MIN_SIZE;
            prop_assert_eq!(gzip.headers().contains_key(header::CONTENT_ENCODING), is_large);
            prop_assert_eq!(gzip.headers().contains_key(header::VARY), is_large);
            gzip.headers_mut().remove(header::CONTENT_ENCODING);
            prop_assert_eq!(fields(&gzip), fields(&expected));

            let mut crossed = get(cross_origin, &[("origin", "https://example.org")]);
            prop_assert_eq!((crossed.status(), body(&crossed)), (expected.status(), body(&expected)));
            prop_assert_eq!(&crossed.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], "https://example.org");
            for name in [header::ACCESS_CONTROL_ALLOW_ORIGIN, header::ACCESS_CONTROL_EXPOSE_HEADERS, header::VARY] {
                crossed.headers_mut().remove(name);
            }
            let mut headers = fields(&expected);
            headers.remove(header::VARY);
            prop_assert_eq!(fields(&crossed), headers);

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
            let [plain, _] = &*APPS;
            let path = format!("/api/v1/{index}/{end}");
            let expected = answer(plain, &Method::GET, &format!("{path}?{query}"), &[]);
            let mut printed = Vec::new();
            let request = CgiRequest { method: "GET".to_owned(), path, query };
            respond(&CATALOG, &request, &mut printed).expect("writing to memory");
            let printed = String::from_utf8(printed).expect("UTF-8");
            let (head, printed) = printed.split_once("\r\n\r\n").expect("a head");
            let status = format!("Status: {}\r\n", expected.status().as_u16());
            prop_assert!(head.starts_with(&status), "{}", head);
            prop_assert_eq!(printed, body(&expected));
        }
    }

    fn tag(app: &App, target: &str) -> HeaderValue {
        answer(app, &Method::GET, target, &[]).headers()[header::ETAG].clone()
    }

    #[test]
    fn tags_depend_on_the_version_of_the_program() {
        let [plain, _] = &*APPS;
        let other = app(None, site(2), Limits::default());
        let target = "/api/v1/pi/count?q=1";
        assert_ne!(tag(plain, target), tag(&other, target));
    }

    #[test]
    fn indexes_have_different_tags_whatever_the_version_of_the_program() {
        for version in [0, u64::MAX] {
            let app = app(None, site(version), Limits::default());
            assert_ne!(tag(&app, "/api/v1/pi/count?q=1"), tag(&app, "/api/v1/text/count?q=1"));
        }
    }

    #[test]
    fn each_bit_of_the_version_of_an_index_depends_on_its_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("text");
        let text = LoadedText::new(Path::new("text"), b"text".into(), None).expect("a text");
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
        let [plain, _] = &*APPS;
        let [style, script, document] =
            ["/style.css", "/app.js", "/openapi.json"].map(|target| tag(plain, target));
        assert!(style != script && script != document && document != style);
    }

    #[test]
    fn the_files_of_the_page_are_the_same_when_compressed() {
        let [plain, _] = &*APPS;
        for target in ["/style.css", "/app.js", "/openapi.json"] {
            let [identity, gzip] = ["identity", "gzip"]
                .map(|coding| answer(plain, &Method::GET, target, &[("accept-encoding", coding)]));
            assert_eq!(gzip.headers()[header::CONTENT_ENCODING], "gzip", "{target}");
            assert_eq!(body(&gzip), body(&identity), "{target}");
        }
    }

    #[test]
    fn a_preflight_request_is_told_the_origin_and_the_methods() {
        let [_, cross_origin] = &*APPS;
        let response = answer(cross_origin, &Method::OPTIONS, "/api/v1/pi/count?q=1", &[]);
        let headers = response.headers();
        assert_eq!(&headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], "https://example.org");
        assert_eq!(&headers[header::ACCESS_CONTROL_ALLOW_METHODS], "GET,HEAD");
        assert!(headers.contains_key(header::VARY));
    }

    #[test]
    fn requests_beyond_the_limits_and_other_methods_are_refused() {
        let [plain, cross_origin] = &*APPS;
        let status = |app, method, fields: &[_]| answer(app, method, "/healthz", fields).status();
        assert_eq!(status(plain, &Method::POST, &[]), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(status(plain, &Method::OPTIONS, &[]), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(status(cross_origin, &Method::OPTIONS, &[]), StatusCode::OK);
        let refused = [("accept-encoding", "identity;q=0")];
        assert_eq!(status(plain, &Method::GET, &refused), StatusCode::NOT_ACCEPTABLE);
        let full = app(None, site(1), Limits { in_flight: 1, ..Limits::default() });
        let held = begin_answer(&full, &Method::GET, "/healthz", &[]);
        let unread = begin_answer(&full, &Method::GET, "/healthz", &[]);
        assert_eq!(unread.status(), StatusCode::SERVICE_UNAVAILABLE);
        let refused = answer(cross_origin, &Method::GET, "/healthz", &[("host", "evil.example")]);
        assert_eq!(refused.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], "https://example.org");
        drop(held);
        assert_eq!(status(&full, &Method::GET, &[]), StatusCode::OK, "a refused request takes no place");
        drop(unread);
    }
}
