//! Answers to calls.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::{Value, json};

/// The answer of a tool.
pub(super) struct Answer {
    /// Text for the model.
    pub(super) text: String,
    /// The same as JSON, if it is wanted.
    pub(super) structured: Option<Value>,
}

impl From<Answer> for CallToolResult {
    fn from(answer: Answer) -> Self {
        let mut result = Self::success(vec![ContentBlock::text(answer.text)]);
        result.structured_content = answer.structured;
        result
    }
}

/// JSON Schema of the structured answers of the tools with pages.
pub(super) fn page_schema() -> JsonObject {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let result = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "line": { "type": "integer", "description": "line number, or the position in a text index" },
            "end_line": { "type": "integer" },
            "context": { "type": "boolean", "description": "a line around a match" },
            "text": { "type": "string" },
            "count": { "type": "integer" },
        },
        "required": ["path"],
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "results": { "type": "array", "items": result },
            "cursor": { "type": ["string", "null"], "description": "for the next page" },
            "notes": { "type": "array", "items": text("about the answer as a whole") },
        },
        "required": ["results", "cursor", "notes"],
    });
    object(schema)
}

/// JSON Schema of the structured answers of `top`.
pub(super) fn text_schema() -> JsonObject {
    let properties = json!({ "text": { "type": "string" } });
    object(json!({ "type": "object", "properties": properties, "required": ["text"] }))
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}
