//! Sites: the addresses of a server and their answers.

use std::time::Instant;

use hyper::Response;
use hyper::http::request::Parts;

use crate::compression::Coding;
use crate::permit::Body;
use crate::problem::Problem;
use crate::route::Route;
use crate::service::Service;

/// Addresses of a server and their answers. The [`Service`] does what is common to all sites.
pub(crate) trait Site: Send + Sync + Sized + 'static {
    /// Handler of a route.
    type Handler: Sync + 'static;

    /// All routes.
    fn routes() -> &'static [Route<Self::Handler>];

    /// Problem with a path that has no route.
    fn no_route() -> Problem;

    /// Responds to a GET or HEAD request whose path has a route.
    fn respond(
        service: &Service<Self>,
        asked: &Asked<'_, Self::Handler>,
    ) -> impl Future<Output = Response<Body>> + Send;
}

/// Request with its route.
pub(crate) struct Asked<'a, H: 'static> {
    pub(crate) handler: &'static H,
    /// Name of the index in the path, if the route has one.
    pub(crate) index: Option<&'a str>,
    pub(crate) request: &'a Parts,
    /// Content coding that the client prefers.
    pub(crate) coding: Coding,
    /// Time at which the request arrived.
    pub(crate) start: Instant,
}
