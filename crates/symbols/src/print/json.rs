//! A JSON object for each definition or use. `docs/symbols.schema.json` describes it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::{ListedFile, bytes};

/// An object. Text that is not valid UTF-8 has its exact bytes in a second member.
#[derive(Serialize)]
struct Object<'s> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<String>,
    language: &'s str,
    kind: &'s str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_base64: Option<String>,
    scope: Option<String>,
    scope_kind: Option<&'s str>,
    line: usize,
    column: usize,
    end_line: usize,
    start_byte: usize,
    end_byte: usize,
    signature: String,
    parameters: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_errors: bool,
}

pub(super) fn print(file: &ListedFile<'_>, out: &mut Vec<u8>) {
    for symbol in file.symbols {
        let name = file.name(symbol);
        let object = Object {
            path: lossy(bytes(file.path)),
            path_base64: exact(bytes(file.path)),
            language: file.language.name(),
            kind: symbol.label(),
            name: lossy(name),
            name_base64: exact(name),
            scope: (!symbol.scope.is_empty()).then(|| lossy(&symbol.scope)),
            scope_kind: symbol.scope_kind.map(|kind| kind.name()),
            line: symbol.line,
            column: symbol.column,
            end_line: symbol.end_line,
            start_byte: symbol.extent.start,
            end_byte: symbol.extent.end,
            signature: lossy(&file.collapsed(&symbol.head)),
            parameters: symbol.parameters.as_ref().map(|parameters| lossy(&file.collapsed(parameters))),
            has_errors: file.has_errors,
        };
        // Strings and numbers can always be written, and so can memory.
        let _ = serde_json::to_writer(&mut *out, &object);
        out.push(b'\n');
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn exact(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).is_err().then(|| STANDARD.encode(bytes))
}
