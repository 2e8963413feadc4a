//! `comb mcp`: a server of the Model Context Protocol on standard input and output.
//!
//! [`transport`] reads and writes messages, the SDK keeps the session, and [`server`] answers its requests. A call runs on a thread
//! of its own ([`calls`]): a [tool](tools) makes the options of its command, and puts the results into a [`page`].

mod answer;
mod arguments;
mod calls;
mod context;
mod cursor;
mod definitions;
mod digest;
mod excerpt;
mod indexes;
mod page;
mod relevance;
mod roots;
mod schema;
mod server;
mod sink;
mod tools;
mod transport;

use std::io::{Write, stdout};

use finecomb_command::exit::{Exit, Failure, check_output};
use finecomb_command::mcp::McpArguments;
use finecomb_command::message;
use finecomb_command::terminal::When;
use finecomb_sys::io_reason;
use finecomb_sys::memory::limit_parts;
use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::runtime::Builder;

use self::context::Context;
use self::server::McpServer;
use self::transport::MessageLines;

/// Runs `comb mcp`.
pub(crate) fn run(arguments: &McpArguments) -> Result<Exit, Failure> {
    check_output()?;
    if let Some(client) = arguments.install {
        stdout().write_all(client.entry(&arguments.roots).as_bytes())?;
        message::note(client.place());
        return Ok(Exit::Found);
    }
    // Each call has threads of its own: with a part for each of the last sixteen, a process grew to 200 MB that used 58.
    limit_parts(2 * arguments.threads());
    // Answers are text for a model, at any setting of colours.
    When::Never.apply();
    serve(arguments)?;
    Ok(Exit::Found)
}

/// Serves the client until it closes the connection.
///
/// # Errors
/// If a root is not a directory, or the session fails.
fn serve(arguments: &McpArguments) -> Result<(), String> {
    let context = Context::new(arguments)?;
    let started = MessageLines::start(arguments.limits().max_request);
    let (lines, last_answers) = started.map_err(|error| error.to_string())?;
    let runtime = Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| io_reason(&error))?;
    runtime.block_on(async {
        let ended = session(McpServer::new(context), lines).await;
        // Also those to a client that has closed the connection before the session began.
        last_answers.written().await;
        ended
    })
}

async fn session(server: McpServer, lines: MessageLines) -> Result<(), String> {
    let running = match server.serve(lines).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(format!("cannot start the session: {error}")),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(format!("the session failed: {error}")),
        Ok(_) => Ok(()),
    }
}
