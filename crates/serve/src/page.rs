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

macro_rules! asset {
    ($file:literal, $media_type:literal) => {
        Asset {
            media_type: $media_type,
            content: include_str!($file),
            version: LazyLock::new(|| hash(include_str!($file))),
            gzip: LazyLock::new(|| gzip(include_str!($file).as_bytes())),
        }
    };
}

pub(crate) static STYLE: Asset = asset!("page/style.css", "text/css; charset=utf-8");
pub(crate) static SCRIPT: Asset = asset!("page/app.js", "text/javascript; charset=utf-8");
pub(crate) static OPENAPI: Asset = asset!("openapi.json", "application/json");

/// Content security policy of the page, which loads and requests resources of this server only.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
