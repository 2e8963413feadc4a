//! The server: its description, its tools and their calls.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};

use super::calls::Calls;
use super::context::Context;
use super::tools;

/// Advice for the model.
const INSTRUCTIONS: &str = "Fast searches on all cores. Use 'symbols' for names of code, 'search' for \
    other text, 'read' for lines of a file, 'files' for paths, 'top' to count the records of logs and tables, and 'find' for text indexes (*.comb). Answers \
    are short (max_bytes=16000): if there is more, their last lines have a cursor for the next page; a narrower pattern, path, glob or type is often better.";

/// The server of a client.
pub(super) struct McpServer {
    context: Arc<Context>,
    calls: Calls,
}

impl McpServer {
    pub(super) fn new(context: Context) -> Self {
        let calls = Calls::new(&context.limits);
        Self { context: Arc::new(context), calls }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let instructions = format!("{INSTRUCTIONS} Roots: {}", self.context.roots.names());
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("finecomb", env!("CARGO_PKG_VERSION")))
            .with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if let Some(cursor) = request.and_then(|request| request.cursor) {
            let text = format!("cursor '{cursor}': the list of tools has one page and no cursors");
            return Err(ErrorData::invalid_params(text, None));
        }
        let tools = tools::ALL.iter().map(|tool| (tool.describe)(self.context.is_structured));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = tools::ALL.iter().find(|tool| tool.name == name)?;
        Some((tool.describe)(self.context.is_structured))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name;
        let Some(&tool) = tools::ALL.iter().find(|tool| tool.name == name) else {
            let names: Vec<&str> = tools::ALL.iter().map(|tool| tool.name).collect();
            let text = format!("unknown tool '{name}'; the tools are {}", names.join(", "));
            return Err(ErrorData::invalid_params(text, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let settings = Arc::clone(&self.context);
        let work = move |stop: &Arc<_>| (tool.call)(arguments, &settings, stop);
        let answer = self.calls.run(context.ct.cancelled(), work).await?;
        let result = match answer {
            Ok(answer) => answer.into(),
            Err(reason) => CallToolResult::error(vec![ContentBlock::text(reason)]),
        };
        Ok(result.into())
    }
}
