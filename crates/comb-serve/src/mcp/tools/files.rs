//! The tool `files`: `comb grep --files`.

use std::sync::Arc;

use finecomb_grep::GrepOptions;
use finecomb_scan::Stop;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use super::Tool;
use crate::mcp::answer::Answer;
use crate::mcp::arguments::{PageWanted, Selection, limit};
use crate::mcp::context::{Context, Wanted, notes_on_faults};
use crate::mcp::digest::of_files;
use crate::mcp::page::{Found, Kind};
use crate::mcp::sink::{Sink, by_nul};
use finecomb_command::args::selection::path_regex;

/// Arguments of a call.
#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Files {
    /// Regular expression on the path: test.*\.py$
    name: Option<String>,
    #[serde(flatten)]
    selection: Selection,
    #[serde(default = "default_limit", deserialize_with = "limit")]
    limit: u64,
    #[serde(flatten)]
    page: PageWanted,
}

fn default_limit() -> u64 {
    500
}

impl Tool for Files {
    const NAME: &'static str = "files";
    const TITLE: &'static str = "List files";
    const USES_INDEX: bool = true;
    const DESCRIPTION: &'static str = "Paths of the files that 'search' reads, by glob, type or name";

    fn answer(self, context: &Context, stop: &Arc<Stop>) -> Result<Answer, String> {
        let wanted = Wanted { kind: Kind::Paths, limit: self.limit, after_context: 0, page: &self.page };
        let (mut page, mut notes) = context.page(&wanted)?;
        let mut inputs = self.selection.inputs(&context.roots)?;
        let name = self.name.as_deref().map(path_regex).transpose();
        inputs.walk.file_regex = name.map_err(|reason| format!("name: {reason}"))?;
        let job = context.grep_job(GrepOptions::default().null_after_path(true), inputs)?;
        let mut sink = Sink::new(stop, by_nul, |record: &[u8]| {
            let path = record.strip_suffix(b"\0").unwrap_or(record);
            page.add(&Found { path, line: 0, end: None, is_context: false }, String::new)
        });
        notes.extend(notes_on_faults(job.list(stop, &mut sink)?));
        if self.page.cursor.is_none() && page.is_full() && self.name.is_none() && self.selection.takes_all() {
            page.set_digest(job.files_by_folder().and_then(|counts| of_files("by the index", counts)));
        }
        notes.extend(context.cut_off(stop));
        Ok(page.finish(notes, stop.is_raised()))
    }
}
