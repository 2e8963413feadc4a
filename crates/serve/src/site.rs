//! Sites: routers that know the label of each route in metrics.

use axum::Router;
use axum::routing::MethodRouter;

use crate::problem::Problem;

/// Label of requests without a route.
pub(crate) const NO_ROUTE: &str = "other";

/// Path of a route, its label and its handler.
pub(crate) type Route<S> = (&'static str, &'static str, fn() -> MethodRouter<S>);

/// Router of a site.
pub(crate) struct Site {
    pub(crate) router: Router,
    labels: matchit::Router<&'static str>,
}

impl Site {
    /// Makes the router of these routes. Other paths are answered with the problem `no_route`.
    pub(crate) fn new<S: Clone + Send + Sync + 'static>(
        routes: impl IntoIterator<Item = &'static Route<S>>,
        no_route: fn() -> Problem,
        state: S,
    ) -> Self {
        let (mut router, mut labels) = (Router::new(), matchit::Router::new());
        for &(path, label, handler) in routes {
            router = router.route(path, handler());
            // The router has checked the path.
            let _ = labels.insert(path, label);
        }
        Self { router: router.fallback(async move || no_route()).with_state(state), labels }
    }

    /// Label of the route of a path.
    pub(crate) fn label(&self, path: &str) -> &'static str {
        self.labels.at(path).map_or(NO_ROUTE, |route| route.value)
    }
}
