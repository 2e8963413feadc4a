//! The tools, each named after a command.

mod files;
mod find;
mod read;
mod search;
mod status;
mod symbols;
mod top;

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use finecomb_scan::Stop;
use rmcp::handler::server::common::schema_for_input;
use rmcp::model::{JsonObject, Tool as Description, ToolAnnotations};
use rmcp::schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::{Answer, page_schema, text_schema};
use super::arguments::by_known_names;
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
    /// Whether an index of the root makes it faster.
    const USES_INDEX: bool = false;

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
    any::<read::Read>(),
    any::<find::Find>(),
    any::<top::Top>(),
    any::<status::Status>(),
];

const fn any<T: Tool>() -> AnyTool {
    AnyTool { name: T::NAME, describe: describe::<T>, call: call::<T> }
}

fn describe<T: Tool>(is_structured: bool) -> Description {
    // The arguments of every tool are a structure, so their schema is one of an object.
    let schema = schema_for_input::<T>().map(|schema| simplify(&schema)).unwrap_or_default();
    let annotations = ToolAnnotations::new().read_only(true);
    let mut tool = Description::new(T::NAME, T::DESCRIPTION, Arc::new(schema));
    tool.title = Some(T::TITLE.to_owned());
    tool.annotations = Some(annotations);
    let output = if T::HAS_PAGES { page_schema } else { text_schema };
    tool.output_schema = is_structured.then(|| Arc::new(output()));
    tool
}

fn call<T: Tool>(arguments: JsonObject, context: &Context, stop: &Arc<Stop>) -> Result<Answer, String> {
    let known: Vec<&str> = known_arguments(T::NAME).iter().map(String::as_str).collect();
    let tool: T = parse(&by_known_names(arguments, &known)?)?;
    let start = Instant::now();
    let answer = tool.answer(context, stop);
    if T::USES_INDEX {
        context.indexes.note_call(start.elapsed());
    }
    answer
}

/// The names of the arguments of a tool.
fn known_arguments(name: &str) -> &'static [String] {
    // A schema takes longer to make than many a call.
    static KNOWN: OnceLock<Vec<(&str, Vec<String>)>> = OnceLock::new();
    let known =
        KNOWN.get_or_init(|| ALL.iter().map(|tool| (tool.name, names(&(tool.describe)(false)))).collect());
    known.iter().find(|(known, _)| *known == name).map(|(_, names)| &names[..]).unwrap_or_default()
}

fn names(tool: &Description) -> Vec<String> {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.clone()).collect()
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
