//! `comb bench serve`: a server against a process for each request.

use finecomb_bench::serve::serve;
use finecomb_sys::io_reason;

use super::conclude;
use crate::args::bench::serve::Arguments;
use crate::command::Exit;

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Exit {
    conclude(&arguments.output(), |progress| {
        let options = arguments.options(progress);
        let options = options.map_err(|error| format!("cannot find this program: {}", io_reason(&error)))?;
        serve(&options).map_err(|error| error.to_string())
    })
}
