//! The page and what belongs to it, embedded in the program.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// A file that is served as it stands.
pub(crate) struct Asset {
    pub(crate) media_type: &'static str,
    pub(crate) content: &'static str,
    /// Changes when the content does.
    pub(crate) version: LazyLock<u64>,
}

macro_rules! asset {
    ($file:literal, $media_type:literal) => {
        Asset {
            media_type: $media_type,
            content: include_str!($file),
            version: LazyLock::new(|| version(include_str!($file))),
        }
    };
}

fn version(content: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

pub(crate) static PAGE: Asset = asset!("page/index.html", "text/html; charset=utf-8");
pub(crate) static STYLE: Asset = asset!("page/style.css", "text/css; charset=utf-8");
pub(crate) static SCRIPT: Asset = asset!("page/app.js", "text/javascript; charset=utf-8");
pub(crate) static OPENAPI: Asset = asset!("openapi.json", "application/json");

/// What the page may load and ask: nothing but what this server has.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
