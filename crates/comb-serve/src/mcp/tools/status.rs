//! The tool `status`: the roots and their indexes.

use std::sync::Arc;

use finecomb_scan::Stop;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::json;

use super::Tool;
use crate::mcp::answer::Answer;
use crate::mcp::context::Context;

/// Arguments of a call: none.
#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Status {}

impl Tool for Status {
    const NAME: &'static str = "status";
    const TITLE: &'static str = "State of the server";
    const DESCRIPTION: &'static str = "The roots and their indexes";
    const HAS_PAGES: bool = false;

    fn answer(self, context: &Context, _: &Arc<Stop>) -> Result<Answer, String> {
        let text = context.indexes.in_words().join("\n") + "\n";
        let structured = context.is_structured.then(|| json!({ "text": text }));
        Ok(Answer { text, structured })
    }
}
