//! From a file to blocks of whole lines: open it, look at its first bytes, then read it at once, in chunks, or as a stream.
//!
//! Every scanning command reads through this module, so that a compression or an encoding that one of them knows is known to
//! all of them.

pub(crate) mod chunks;
pub(crate) mod cut;
mod decode;
mod decompress;
pub(crate) mod prefetch;
pub(crate) mod reader;
pub(crate) mod stream;

pub use decode::Encoding;
