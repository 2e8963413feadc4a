//! Schemas of arguments in few words: clients send them to the model with every conversation.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::arguments::MAX_BYTES;

/// Removes details that no client needs to write arguments: null as a value, trivial defaults, formats of numbers.
pub(super) fn simplify(schema: &JsonObject) -> JsonObject {
    let mut schema = schema.clone();
    schema.remove("$schema");
    // Some clients refuse a tool without any.
    let properties = schema.entry("properties").or_insert_with(|| JsonObject::new().into());
    if let Value::Object(properties) = properties {
        properties.values_mut().filter_map(Value::as_object_mut).for_each(simplify_property);
    }
    schema
}

fn simplify_property(property: &mut JsonObject) {
    if let Some(Value::Array(types)) = property.get("type") {
        let without_null = types.iter().find(|name| *name != "null").cloned();
        property.insert("type".to_owned(), without_null.unwrap_or_default());
    }
    let is_obvious = |default: &Value| match default {
        Value::Bool(is_on) => !is_on,
        Value::Array(values) => values.is_empty(),
        Value::Null => true,
        // The default size of answers is the same for all tools, and instructions name it.
        _ => *default == 0 || *default == MAX_BYTES,
    };
    if property.get("default").is_some_and(is_obvious) {
        property.remove("default");
    }
    property.remove("format");
    property.remove("minimum");
}
