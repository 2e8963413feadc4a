//! `comb-serve`: the commands of `comb` that answer over a connection, `comb serve`, `comb cgi` and `comb mcp`,
//! and the page of `comb top --listen`.

mod mcp;
mod page;
mod serve;

use std::process::{ExitCode, Termination};

use finecomb_command::{ServeCommand, run_serve};
use finecomb_sys::out_of_memory::ExitingAllocator;
use finecomb_version::VERSION;

finecomb_sys::startup!();

fn main() -> ExitCode {
    ExitingAllocator::keep_reserve();
    if let Some(exit) = page::run_if_asked() {
        return exit.report();
    }
    run_serve(VERSION, |command| match command {
        ServeCommand::Serve(arguments) => serve::run(arguments),
        ServeCommand::Cgi(arguments) => serve::cgi(arguments),
        ServeCommand::Mcp(arguments) => mcp::run(&arguments),
    })
}
