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
    #[serde(skip_serializing_if = "Option::is_none")]
    body_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

pub(super) fn print(file: &ListedFile<'_>, bodies: usize, out: &mut Vec<u8>) {
    for symbol in file.symbols {
        let body = (bodies > 0).then(|| file.body(symbol, bodies));
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
            body_line: body.map(|(line, _)| line),
            body: body.map(|(_, text)| lossy(text)),
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

#[cfg(test)]
mod tests {
    use std::fs;

    use finecomb_scan::{Inputs, OrderedOptions};
    use proptest::prelude::*;
    use serde_json::Value;

    use crate::{SymbolsFormat, SymbolsOptions, SymbolsQuery, symbols};

    proptest! {
        #[test]
        #[cfg(feature = "c")]
        fn bodies_are_whole_lines_up_to_a_limit(
            functions in prop::collection::vec((any::<bool>(), 0..5_usize), 0..6),
            bodies in 1..120_usize,
        ) {
            let mut text = String::new();
            for (is_divided, statements) in functions {
                text += if is_divided { "static int\n" } else { "  static int " };
                text += "one(void) {\n";
                text += &"\treturn \u{fc};\n".repeat(statements);
                text += "}\n/* two */\n";
            }
            let directory = tempfile::tempdir().expect("success");
            fs::write(directory.path().join("a.c"), &text).expect("success");
            let list = |bodies| {
                let options = SymbolsOptions::default().format(SymbolsFormat::Json).bodies(bodies);
                let (mut out, query) = (Vec::new(), SymbolsQuery::new(&options).expect("valid"));
                symbols(&Inputs::new([directory.path()]), &OrderedOptions::default(), &query, &mut out);
                String::from_utf8(out).expect("UTF-8")
            };
            prop_assert!(!list(0).contains("body"));
            let lines: Vec<&str> = text.lines().collect();
            for found in list(bodies).lines() {
                let found: Value = serde_json::from_str(found).expect("JSON");
                let number = |name: &str| found[name].as_u64().expect("a number") as usize;
                let (first, last) = (number("body_line"), number("end_line"));
                let whole = lines[first - 1..last].join("\n");
                let body = found["body"].as_str().expect("a text");
                prop_assert!(text[..number("start_byte")].matches('\n').count() + 1 == first);
                if whole.len() <= bodies {
                    prop_assert_eq!(body, whole);
                } else if lines[first - 1].len() <= bodies {
                    let is_start = whole.starts_with(&format!("{body}\n"));
                    prop_assert!(is_start && body.len() <= bodies);
                } else {
                    prop_assert!(whole.starts_with(body) && body.len() == bodies);
                }
            }
        }
    }
}
