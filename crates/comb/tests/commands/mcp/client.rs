//! The client of the SDK, with a server as its child.

use std::path::Path;
use std::process::Stdio;

use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject, Tool};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::support::COMB;

/// A client and its server, which runs in a directory.
pub(super) struct Client {
    runtime: Runtime,
    session: RunningService<RoleClient, ()>,
}

impl Client {
    pub(super) fn start(directory: &Path, arguments: &[&str]) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut command = tokio::process::Command::new(COMB);
        command.arg("mcp").args(arguments).current_dir(directory).env("HOME", "/nowhere");
        let session = runtime.block_on(async {
            let (transport, _) =
                TokioChildProcess::builder(command).stderr(Stdio::inherit()).spawn().expect("a process");
            ().serve(transport).await.expect("a session")
        });
        Self { runtime, session }
    }

    pub(super) fn tools(&mut self) -> Vec<Tool> {
        self.runtime.block_on(self.session.list_all_tools()).expect("tools")
    }

    /// Calls a tool. An error is that of the protocol.
    pub(super) fn call(&mut self, name: &str, arguments: &Value) -> Result<CallToolResult, String> {
        let arguments: JsonObject = arguments.as_object().expect("arguments").clone();
        let request = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        self.runtime.block_on(self.session.call_tool(request)).map_err(|error| error.to_string())
    }

    /// The text of an answer.
    pub(super) fn text(&mut self, name: &str, arguments: &Value) -> String {
        let result = self.call(name, arguments).expect("an answer");
        assert_ne!(result.is_error, Some(true), "{arguments}: {}", text(&result));
        text(&result)
    }

    /// The reason why a call failed.
    pub(super) fn error(&mut self, name: &str, arguments: &Value) -> String {
        let result = self.call(name, arguments).expect("an answer");
        assert_eq!(result.is_error, Some(true), "{arguments}: {}", text(&result));
        text(&result)
    }
}

fn text(result: &CallToolResult) -> String {
    result.content.iter().filter_map(|block| Some(block.as_text()?.text.as_str())).collect()
}
