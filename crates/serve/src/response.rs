//! Responses made of answers, files and problems, with their headers.

use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};

use crate::api::Answer;
use crate::compression::Coding;
use crate::conditional::{entity_tag, is_current, not_modified, set_tag};
use crate::page::{self, Asset};
use crate::permit::Body;
use crate::problem::{ALLOWED_METHODS, Problem};

/// Response with an answer of the API, or like one.
pub(crate) fn respond_answer(answer: Answer) -> Response<Body> {
    let mut response = Response::new(Body::from(answer.body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.media_type));
    response
}

/// Response with a file of a page, or 304 if the client has it.
fn respond_asset(asset: &'static Asset, request: &Parts) -> Response<Body> {
    let tag = entity_tag(asset.version());
    if is_current(&request.headers, &tag) {
        return not_modified(tag);
    }
    let mut response = Response::new(Body::from(asset.content.as_bytes()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    with_page_headers(response, tag)
}

/// The same in the content coding that the client prefers.
pub(crate) fn respond_coded_asset(asset: &'static Asset, request: &Parts, coding: Coding) -> Response<Body> {
    coding.encode_with(respond_asset(asset, request), |_| Some(Body::from(asset.gzip()?)))
}

/// Response of a health check, for people.
pub(crate) fn respond_health(text: String) -> Response<Body> {
    let answer = Answer { body: text.into_bytes(), media_type: "text/plain; charset=utf-8" };
    forbid_caching(respond_answer(answer))
}

/// Adds the headers of the page and its files.
pub(crate) fn with_page_headers(mut response: Response<Body>, tag: HeaderValue) -> Response<Body> {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(page::CONTENT_SECURITY_POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    set_tag(headers, tag);
    response
}

/// Keeps a response out of all caches.
pub(crate) fn forbid_caching(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl Problem {
    /// Response with the problem document.
    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response = forbid_caching(respond_answer(self.answer()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if let Some(after) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(after.as_secs()));
        }
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(header::ALLOW, HeaderValue::from_static(ALLOWED_METHODS));
        }
        response
    }
}
