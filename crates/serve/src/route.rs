//! Routes: map the path of a request to its handler. One entry has all data of a route.

use crate::api::Endpoint;
use crate::page::{self, Asset};
use crate::pi_searcher;

/// Route of a path, with its handler of type `H`.
pub(crate) struct Route<H> {
    pub(crate) path: RoutePath,
    /// Label of the route's metrics.
    pub(crate) label: &'static str,
    pub(crate) handler: H,
}

/// Path of a route.
pub(crate) enum RoutePath {
    /// Exactly this path.
    Exact(&'static str),
    /// [`INDEXES`], followed by the name of an index and this suffix.
    OfIndex(&'static str),
}

/// Handler of a route of [`ROUTES`].
pub(crate) enum Handler {
    /// The page.
    Page,
    /// A file embedded in the program.
    Asset(&'static Asset),
    /// The health check of the indexes.
    Health,
    /// The metrics of the server.
    Metrics,
    /// An endpoint of the API.
    Api(Endpoint),
}

/// Prefix of the paths of indexes.
const INDEXES: &str = "/api/v1/";

/// Label of requests without a route.
pub(crate) const NO_ROUTE: &str = "other";

/// All routes of a server of indexes.
pub(crate) static ROUTES: [Route<Handler>; 13] = [
    Route { path: RoutePath::Exact("/"), label: "page", handler: Handler::Page },
    Route { path: RoutePath::Exact("/style.css"), label: "page", handler: Handler::Asset(&page::STYLE) },
    Route { path: RoutePath::Exact("/app.js"), label: "page", handler: Handler::Asset(&page::SCRIPT) },
    Route { path: RoutePath::Exact("/openapi.json"), label: "page", handler: Handler::Asset(&page::OPENAPI) },
    Route { path: RoutePath::Exact("/healthz"), label: "healthz", handler: Handler::Health },
    Route { path: RoutePath::Exact("/metrics"), label: "metrics", handler: Handler::Metrics },
    Route {
        path: RoutePath::Exact("/piquery"),
        label: "piquery",
        handler: Handler::Api(Endpoint::Digits(pi_searcher::query)),
    },
    Route {
        path: RoutePath::Exact("/pidigits"),
        label: "pidigits",
        handler: Handler::Api(Endpoint::Digits(pi_searcher::digits)),
    },
    Route {
        path: RoutePath::Exact("/api/v1/indexes"),
        label: "indexes",
        handler: Handler::Api(Endpoint::Indexes),
    },
    Route {
        path: RoutePath::OfIndex("/search"),
        label: "search",
        handler: Handler::Api(Endpoint::Index(|request| request.search())),
    },
    Route {
        path: RoutePath::OfIndex("/count"),
        label: "count",
        handler: Handler::Api(Endpoint::Index(|request| request.count())),
    },
    Route { path: RoutePath::OfIndex("/all"), label: "all", handler: Handler::Api(Endpoint::AllPositions) },
    Route {
        path: RoutePath::OfIndex("/text"),
        label: "text",
        handler: Handler::Api(Endpoint::Index(|request| request.text())),
    },
];

/// Route of a path, if any, with the name of the index in the path.
pub(crate) type Found<'a, H> = Option<(&'static Route<H>, Option<&'a str>)>;

/// Finds the route of a path.
pub(crate) fn find<'a, H>(routes: &'static [Route<H>], path: &'a str) -> Found<'a, H> {
    routes.iter().find_map(|route| Some((route, route.matches(path)?)))
}

impl<H> Route<H> {
    /// Matches a path. Returns the name of the index in it, if the route has one, or `None` if the path does not match.
    fn matches<'a>(&self, path: &'a str) -> Option<Option<&'a str>> {
        match self.path {
            RoutePath::Exact(exact) => (exact == path).then_some(None),
            RoutePath::OfIndex(end) => {
                let name = path.strip_prefix(INDEXES)?.strip_suffix(end)?;
                (!name.contains('/')).then_some(Some(name))
            }
        }
    }

    /// Path in the syntax of the OpenAPI document.
    #[cfg(test)]
    pub(crate) fn documented_path(&self) -> String {
        match self.path {
            RoutePath::Exact(path) => path.to_owned(),
            RoutePath::OfIndex(end) => format!("{INDEXES}{{index}}{end}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_their_routes() {
        let found = |path: &'static str| find(&ROUTES, path).map(|(route, index)| (route.label, index));
        assert_eq!(found("/"), Some(("page", None)));
        assert_eq!(found("/api/v1/indexes"), Some(("indexes", None)));
        assert_eq!(found("/api/v1/pi/search"), Some(("search", Some("pi"))));
        assert_eq!(found("/api/v1//count"), Some(("count", Some(""))));
        assert_eq!(found("/api/v1/%70i/all"), Some(("all", Some("%70i"))));
        for path in ["", "//", "/healthz/", "/api/v1/", "/api/v1/pi", "/api/v1/a/b/text", "/api/v1/search"] {
            assert_eq!(found(path), None, "{path}");
        }
    }

    #[test]
    fn the_openapi_document_has_every_route() {
        let document: serde_json::Value = serde_json::from_str(page::OPENAPI.content).expect("JSON");
        let documented = document["paths"].as_object().expect("paths");
        let is_listed = |path: &str| ROUTES.iter().any(|route| route.documented_path() == path);
        assert!(documented.keys().all(|path| is_listed(path)), "{:?}", documented.keys());
        let is_documented = |route: &&Route<Handler>| documented.contains_key(&route.documented_path());
        let undocumented: Vec<_> =
            ROUTES.iter().filter(|route| !is_documented(route)).map(Route::documented_path).collect();
        assert_eq!(undocumented, ["/", "/style.css", "/app.js", "/openapi.json"]);
        let mut operations: Vec<_> =
            documented.values().map(|path| path["get"]["operationId"].as_str()).collect();
        operations.sort_unstable();
        operations.dedup();
        assert!(operations.len() == documented.len() && operations[0].is_some(), "{operations:?}");
    }
}
