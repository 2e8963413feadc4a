//! The tools, each named after a command.

mod files;
mod find;
mod search;
mod symbols;
mod top;

use std::sync::Arc;

use finecomb_scan::Stop;
use rmcp::handler::server::common::schema_for_input;
use rmcp::model::{JsonObject, Tool as Description, ToolAnnotations};
use rmcp::schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::{Answer, page_schema, text_schema};
use super::context::Context;
use super::schema::simplify;

/// A tool: its value holds the arguments of a call.
pub(super) trait Tool: DeserializeOwned + JsonSchema + 'static {
    /// Name.
    const NAME: &'static str;
    /// Name for people.
    const TITLE: &'static str;
    /// Description for models: when to use it.
    const DESCRIPTION: &'static str;
    /// Whether its answers are pages.
    const HAS_PAGES: bool = true;

    /// Does the work. An error is told to the model.
    fn answer(self, context: &Context, stop: &Arc<Stop>) -> Result<Answer, String>;
}

/// A tool of any type.
#[derive(Clone, Copy)]
pub(super) struct AnyTool {
    pub(super) name: &'static str,
    pub(super) describe: fn(bool) -> Description,
    pub(super) call: fn(JsonObject, &Context, &Arc<Stop>) -> Result<Answer, String>,
}

/// All tools.
pub(super) const ALL: &[AnyTool] = &[
    any::<search::Search>(),
    any::<files::Files>(),
    any::<symbols::Symbols>(),
    any::<find::Find>(),
    any::<top::Top>(),
];

const fn any<T: Tool>() -> AnyTool {
    AnyTool { name: T::NAME, describe: describe::<T>, call: call::<T> }
}

fn describe<T: Tool>(is_structured: bool) -> Description {
    // The arguments of every tool are a structure, so their schema is one of an object.
    let schema = schema_for_input::<T>().map(|schema| simplify(&schema)).unwrap_or_default();
    let annotations = ToolAnnotations::with_title(T::TITLE).read_only(true).open_world(false);
    let mut tool = Description::new(T::NAME, T::DESCRIPTION, Arc::new(schema));
    tool.title = Some(T::TITLE.to_owned());
    tool.annotations = Some(annotations);
    let output = if T::HAS_PAGES { page_schema } else { text_schema };
    tool.output_schema = is_structured.then(|| Arc::new(output()));
    tool
}

fn call<T: Tool>(mut arguments: JsonObject, context: &Context, stop: &Arc<Stop>) -> Result<Answer, String> {
    // Models write null for what they leave out.
    arguments.retain(|_, value| !value.is_null());
    let schema = schema_for_input::<T>()?;
    let known = schema.get("properties").and_then(Value::as_object);
    let is_known = |name: &String| known.is_none_or(|known| known.contains_key(name));
    if let Some(name) = arguments.keys().find(|name| !is_known(name)) {
        let names: Vec<&str> = known.iter().flat_map(|known| known.keys().map(String::as_str)).collect();
        return Err(format!("unknown argument '{name}'; known ones are {}", names.join(", ")));
    }
    let tool: T = parse(&arguments)?;
    tool.answer(context, stop)
}

/// Parses the arguments of a tool. An error names the argument that is wrong.
fn parse<T: Tool>(arguments: &JsonObject) -> Result<T, String> {
    let parse = |arguments: &JsonObject| {
        T::deserialize(Value::Object(arguments.clone())).map_err(|error| error.to_string())
    };
    parse(arguments).map_err(|error| {
        // Without it, there is no error or another one.
        let is_wrong = |name: &&String| {
            let mut others = arguments.clone();
            others.remove(*name);
            parse(&others).err().as_ref() != Some(&error)
        };
        arguments.keys().find(is_wrong).map_or_else(|| error.clone(), |name| format!("{name}: {error}"))
    })
}
