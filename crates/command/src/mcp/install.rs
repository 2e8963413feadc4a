//! Entries for the configuration of clients of `comb mcp`.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::command_line::quoted;

/// Name of the server in the configuration of clients.
const NAME: &str = "comb";

/// A client of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum McpClient {
    /// Claude Code
    Claude,
    /// Cursor
    Cursor,
    /// Codex
    Codex,
    /// Visual Studio Code
    Vscode,
    /// Zed
    Zed,
}

impl McpClient {
    /// Where the entry belongs.
    pub fn place(self) -> &'static str {
        match self {
            Self::Claude => "a command to run in the project",
            Self::Cursor => "for .cursor/mcp.json in the project, or ~/.cursor/mcp.json",
            Self::Codex => "for ~/.codex/config.toml, or .codex/config.toml in a trusted project",
            Self::Vscode => "for .vscode/mcp.json in the project",
            Self::Zed => "for Zed's settings.json",
        }
    }

    /// The entry of a server with these roots. Without any, it is that of the project.
    pub fn entry(self, roots: &[PathBuf]) -> String {
        let project = match self {
            Self::Cursor | Self::Vscode => "${workspaceFolder}",
            Self::Claude | Self::Codex | Self::Zed => ".",
        };
        let mut arguments = vec!["mcp".to_owned()];
        arguments.extend(roots.iter().map(|root| root.to_string_lossy().into_owned()));
        if roots.is_empty() {
            arguments.push(project.to_owned());
        }
        let server = json!({ "command": NAME, "args": arguments });
        match self {
            Self::Claude => {
                let arguments: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
                format!("claude mcp add {NAME} -- {NAME} {}\n", arguments.join(" "))
            }
            // A list of strings in TOML is written as in JSON.
            Self::Codex => {
                format!("[mcp_servers.{NAME}]\ncommand = {}\nargs = {}\n", server["command"], server["args"])
            }
            Self::Cursor => pretty(&json!({ "mcpServers": { NAME: server } })),
            Self::Vscode => pretty(&json!({ "servers": { NAME: server } })),
            Self::Zed => pretty(&json!({ "context_servers": { NAME: server } })),
        }
    }
}

fn pretty(entry: &Value) -> String {
    format!("{entry:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_the_roots_or_the_project() {
        let roots = [PathBuf::from("a b"), PathBuf::from("q\"x")];
        for (client, project, several) in [
            (McpClient::Claude, "comb mcp .\n", "comb mcp 'a b' 'q\"x'\n"),
            (McpClient::Codex, "args = [\"mcp\",\".\"]\n", "args = [\"mcp\",\"a b\",\"q\\\"x\"]\n"),
        ] {
            assert!(client.entry(&[]).ends_with(project), "{client:?}");
            assert!(client.entry(&roots).ends_with(several), "{client:?}");
        }
        for (client, servers, project) in [
            (McpClient::Cursor, "mcpServers", "${workspaceFolder}"),
            (McpClient::Vscode, "servers", "${workspaceFolder}"),
            (McpClient::Zed, "context_servers", "."),
        ] {
            let entry =
                |roots: &[PathBuf]| -> Value { serde_json::from_str(&client.entry(roots)).expect("JSON") };
            assert_eq!(
                entry(&[]),
                json!({ servers: { "comb": { "command": "comb", "args": ["mcp", project] } } })
            );
            assert_eq!(entry(&roots)[servers]["comb"]["args"], json!(["mcp", "a b", "q\"x"]));
        }
    }
}
