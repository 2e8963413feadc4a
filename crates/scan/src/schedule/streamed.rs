//! The files of a job that were opened as streams.

use crate::block::FileIdentity;

/// Files that were opened as streams. Reading one twice at the same time would tear its lines.
#[derive(Default)]
pub(super) struct Streamed(Vec<FileIdentity>);

impl Streamed {
    /// Returns `true` for the first stream with this identity, and for every stream without one.
    pub(super) fn add(&mut self, identity: Option<FileIdentity>) -> bool {
        let Some(identity) = identity else { return true };
        let is_new = !self.0.contains(&identity);
        if is_new {
            self.0.push(identity);
        }
        is_new
    }
}
