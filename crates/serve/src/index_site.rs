//! The site of indexes: the search page, the API, and the addresses for monitoring.

use std::time::Instant;

use hyper::http::request::Parts;
use hyper::{Response, StatusCode};

use crate::api::{Answer, Endpoint};
use crate::catalog::{Catalog, hash};
use crate::conditional::{entity_tag, is_current, not_modified, set_tag};
use crate::metrics;
use crate::page_html;
use crate::permit::Body;
use crate::problem::Problem;
use crate::response::{
    forbid_caching, respond_answer, respond_coded_asset, respond_health, with_page_headers,
};
use crate::route::{Handler, ROUTES, Route};
use crate::service::Service;
use crate::site::{Asked, Site};

/// Indexes that are searched.
pub(crate) struct IndexSite {
    pub(crate) catalog: Catalog,
    /// Hash of everything besides the indexes that answers depend on: the version of the program and the limits.
    pub(crate) version: u64,
}

impl Site for IndexSite {
    type Handler = Handler;

    fn routes() -> &'static [Route<Handler>] {
        &ROUTES
    }

    fn no_route() -> Problem {
        Problem::no_route()
    }

    async fn respond(service: &Service<Self>, asked: &Asked<'_, Handler>) -> Response<Body> {
        let &Asked { handler, index, request, coding, start } = asked;
        match handler {
            Handler::Page => coding.encode(service.page(request, start)),
            Handler::Asset(asset) => respond_coded_asset(asset, request, coding),
            Handler::Health => service.health(),
            Handler::Metrics => coding.encode(forbid_caching(respond_answer(service.metrics()))),
            Handler::Api(endpoint) => {
                let answered = service.answer(endpoint, index, request, start).await;
                coding.encode(answered.unwrap_or_else(Problem::into_response))
            }
        }
    }
}

impl Service<IndexSite> {
    /// Responds with the page, including the answer for browsers without scripts.
    fn page(&self, request: &Parts, start: Instant) -> Response<Body> {
        let answer =
            page_html::render(&self.site.catalog, request.uri.query().unwrap_or(""), &self.limits, start);
        let tag = entity_tag(hash(&answer.body));
        if is_current(&request.headers, &tag) {
            return not_modified(tag);
        }
        with_page_headers(respond_answer(answer), tag)
    }

    /// Responds with the answer of an endpoint, or with 304 if the client has it.
    async fn answer(
        &self,
        endpoint: &'static Endpoint,
        index: Option<&str>,
        request: &Parts,
        start: Instant,
    ) -> Result<Response<Body>, Problem> {
        let target = endpoint.target(&self.site.catalog, index)?;
        let query = request.uri.query().unwrap_or("");
        // The answer is computed first: a condition only applies to a request that would succeed (RFC 9110, section 13.2.1).
        let mut response = respond_answer(target.answer(query, &self.limits, start).await?);
        let Some(version) = target.version() else { return Ok(forbid_caching(response)) };
        let tag = entity_tag(version ^ self.site.version);
        if is_current(&request.headers, &tag) {
            return Ok(not_modified(tag));
        }
        set_tag(response.headers_mut(), tag);
        Ok(response)
    }

    /// Responds with 200 if every index can be read, and with 503 otherwise.
    fn health(&self) -> Response<Body> {
        let damaged = self.site.catalog.entries().iter().find(|entry| entry.index().text(0, 1).is_err());
        let text = match damaged {
            None => "ok\n".to_owned(),
            Some(entry) => format!("index {} unavailable or corrupt\n", entry.name),
        };
        let mut response = respond_health(text);
        if damaged.is_some() {
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        }
        response
    }

    fn metrics(&self) -> Answer {
        Answer { body: self.metrics.text().into_bytes(), media_type: metrics::MEDIA_TYPE }
    }
}
