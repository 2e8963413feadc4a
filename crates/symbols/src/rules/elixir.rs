//! Elixir, whose definitions are calls of macros.

use std::ops::Range;

use tree_sitter::Node;

use super::{NamedRule, Rule, child, field};
use crate::definition::Definition;
use crate::extract::Extraction;
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] =
    &[("call", Rule::Call(call)), ("unary_operator", Rule::Call(attribute))];

/// Attributes that define nothing.
const NO_CONSTANTS: [&[u8]; 21] = [
    b"after_compile",
    b"after_verify",
    b"before_compile",
    b"behaviour",
    b"compile",
    b"deprecated",
    b"derive",
    b"dialyzer",
    b"doc",
    b"enforce_keys",
    b"external_resource",
    b"file",
    b"impl",
    b"moduledoc",
    b"nifs",
    b"on_definition",
    b"on_load",
    b"optional_callbacks",
    b"spec",
    b"typedoc",
    b"vsn",
];

fn call(found: &mut Extraction<'_>, node: Node<'_>) {
    let (Some(target), Some(argument)) = (field(node, "target"), first_argument(node)) else { return };
    let body = child(node, &["do_block"]).map_or(node.end_byte(), |body| body.start_byte());
    match found.bytes(target) {
        b"defmodule" => {
            found.scope(Definition::new(Kind::Module, argument.byte_range(), node).with_head(body))
        }
        b"defprotocol" => {
            found.scope(Definition::new(Kind::Interface, argument.byte_range(), node).with_head(body))
        }
        b"defimpl" => found.extend(argument.byte_range()),
        b"def" | b"defp" | b"defdelegate" | b"defn" | b"defnp" => {
            function(found, node, argument, Kind::Function)
        }
        b"defmacro" | b"defmacrop" | b"defguard" | b"defguardp" => {
            function(found, node, argument, Kind::Macro)
        }
        b"defstruct" | b"defexception" => fields(found, argument),
        b"test" if argument.kind() == "string" => {
            found.scope(Definition::new(Kind::Function, argument.byte_range(), node).with_head(body));
        }
        _ => (),
    }
}

fn first_argument(call: Node<'_>) -> Option<Node<'_>> {
    child(call, &["arguments"])?.named_child(0)
}

/// Name and parameters of what `name(a)`, `name`, `a + b` and `-a` define, with a condition or a type after it.
fn signature<'t>(found: &Extraction<'_>, mut node: Node<'t>) -> Option<(Range<usize>, Option<Range<usize>>)> {
    loop {
        match node.kind() {
            "call" => {
                let parameters = child(node, &["arguments"]).map(|parameters| parameters.byte_range());
                return Some((field(node, "target")?, parameters));
            }
            "identifier" => return Some((node.byte_range(), None)),
            "unary_operator" => return Some((field(node, "operator")?, None)),
            "binary_operator" => {
                let operator = field(node, "operator")?;
                if !matches!(found.bytes(operator.clone()), b"when" | b"::" | b"\\\\") {
                    return Some((operator, None));
                }
                node = node.child_by_field_name("left")?;
            }
            _ => return None,
        }
    }
}

/// Functions and macros, each clause of them.
fn function(found: &mut Extraction<'_>, node: Node<'_>, argument: Node<'_>, kind: Kind) {
    let Some((name, parameters)) = signature(found, argument) else { return };
    // A short body is one of the keywords: `def f, do: 1`.
    let keywords = child(node, &["arguments"]).and_then(|arguments| child(arguments, &["keywords"]));
    let body = child(node, &["do_block"]).or(keywords).map_or(node.end_byte(), |body| body.start_byte());
    let mut definition = Definition::new(kind, name, node).with_head(body);
    definition.parameters = parameters;
    found.scope(definition);
}

/// Fields of the structure that a module is: `[:a, b: 1]` and `a: 1`.
fn fields(found: &mut Extraction<'_>, argument: Node<'_>) {
    let mut cursor = argument.walk();
    for item in argument.named_children(&mut cursor) {
        match item.kind() {
            "atom" => {
                let name = item.start_byte() + 1..item.end_byte();
                found.add(Definition::new(Kind::Field, name, item));
            }
            "keywords" => fields(found, item),
            _ => {
                let Some(key) = field(item, "key") else { continue };
                let length =
                    found.bytes(key.clone()).iter().position(|&byte| byte == b':').unwrap_or(key.len());
                found.add(Definition::new(Kind::Field, key.start..key.start + length, item));
            }
        }
    }
}

/// Types, callbacks and constants: `@type t :: term`, `@callback init(term) :: term`, `@limit 5`.
fn attribute(found: &mut Extraction<'_>, node: Node<'_>) {
    let is_attribute = field(node, "operator").is_some_and(|operator| found.bytes(operator) == b"@");
    let operand =
        node.child_by_field_name("operand").filter(|operand| is_attribute && operand.kind() == "call");
    let Some((target, argument)) =
        operand.and_then(|call| Some((field(call, "target")?, first_argument(call)?)))
    else {
        return;
    };
    let kind = match found.bytes(target.clone()) {
        b"type" | b"typep" | b"opaque" => Kind::Typedef,
        b"callback" | b"macrocallback" => Kind::Method,
        name if NO_CONSTANTS.contains(&name) || found.is_local() => return,
        _ => return found.add_once(Definition::new(Kind::Constant, target, node)),
    };
    if let Some((name, parameters)) = signature(found, argument) {
        let mut definition = Definition::new(kind, name, node);
        definition.parameters = parameters;
        found.add(definition);
    }
}
