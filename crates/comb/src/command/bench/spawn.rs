//! `comb bench spawn`: a thread for each file, and other ways to search a tree.

use finecomb_bench::spawn::spawn;

use super::conclude;
use crate::args::bench::spawn::Arguments;
use crate::command::Exit;

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Exit {
    conclude(&arguments.output, |progress| {
        spawn(&arguments.options(progress)).map_err(|error| error.to_string())
    })
}
