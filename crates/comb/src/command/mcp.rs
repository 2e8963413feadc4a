//! `comb mcp`: serves searches to a coding agent.

use super::{Exit, check_output, fail};
use crate::args::mcp::Arguments;
use crate::mcp::serve;
use crate::terminal::When;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Exit {
    if let Err(exit) = check_output() {
        return exit;
    }
    // Answers are text for a model, at any setting of colours.
    When::Never.apply();
    match serve(arguments) {
        Ok(()) => Exit::Found,
        Err(reason) => fail(reason),
    }
}
