//! The files of the page, embedded in the program.

use std::sync::LazyLock;

use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};

use crate::catalog::hash;
use crate::compression::{Compressed, gzip};
use crate::conditional::validators;

/// File that is served unchanged.
pub(crate) struct Asset {
    media_type: &'static str,
    content: &'static str,
    /// Hash of the content.
    version: LazyLock<u64>,
    /// The content in gzip format, compressed once.
    gzip: LazyLock<Option<Vec<u8>>>,
}

impl IntoResponse for &'static Asset {
    fn into_response(self) -> Response {
        let media_type = [(header::CONTENT_TYPE, self.media_type)];
        let mut response =
            (validators(*self.version), PAGE_HEADERS, media_type, self.content).into_response();
        if let Some(gzip) = &*self.gzip {
            response.extensions_mut().insert(Compressed(gzip));
        }
        response
    }
}

/// An asset of one or several files, which are joined.
macro_rules! asset {
    ($media_type:literal, $($file:literal),+) => {
        Asset {
            media_type: $media_type,
            content: concat!($(include_str!($file)),+),
            version: LazyLock::new(|| hash(concat!($(include_str!($file)),+))),
            gzip: LazyLock::new(|| gzip(concat!($(include_str!($file)),+).as_bytes())),
        }
    };
}

// The page of `comb serve`, whose HTML is a template.
pub(crate) static STYLE: Asset = asset!("text/css; charset=utf-8", "page/base.css", "page/style.css");
pub(crate) static SCRIPT: Asset = asset!("text/javascript; charset=utf-8", "page/app.js");
pub(crate) static OPENAPI: Asset = asset!("application/json", "openapi.json");

// The page of a running job.
pub(crate) static LIVE_PAGE: Asset =
    asset!("text/html; charset=utf-8", "page/head.html", "live/page/index.html");
pub(crate) static LIVE_STYLE: Asset =
    asset!("text/css; charset=utf-8", "page/base.css", "live/page/style.css");
pub(crate) static LIVE_SCRIPT: Asset = asset!("text/javascript; charset=utf-8", "live/page/app.js");

/// Headers of a page and its files. A page loads and requests resources of this server only.
pub(crate) const PAGE_HEADERS: [(HeaderName, &str); 2] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    (header::REFERRER_POLICY, "same-origin"),
];
