//! The files of the page, embedded in the program.

use std::sync::LazyLock;

use crate::catalog::hash;
use crate::compression::gzip;

/// File that is served unchanged.
pub(crate) struct Asset {
    pub(crate) media_type: &'static str,
    pub(crate) content: &'static str,
    version: LazyLock<u64>,
    gzip: LazyLock<Option<Vec<u8>>>,
}

impl Asset {
    /// Version that changes with the content.
    pub(crate) fn version(&self) -> u64 {
        *self.version
    }

    /// Content in gzip format, compressed once.
    pub(crate) fn gzip(&self) -> Option<&[u8]> {
        self.gzip.as_deref()
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

/// Content security policy of the page, which loads and requests resources of this server only.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
