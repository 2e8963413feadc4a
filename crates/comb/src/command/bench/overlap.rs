//! `comb bench overlap`: reading ahead.

use finecomb_bench::overlap::overlap;
use finecomb_sys::memory;

use super::conclude;
use crate::args::bench::overlap::Arguments;
use crate::command::Exit;

/// What is taken for available where the system does not say.
const MEMORY: u64 = 1 << 30;

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Exit {
    // The files must also fit into what the system keeps of them, and something should be left for others.
    let memory = memory::available().unwrap_or(MEMORY) / 4;
    conclude(&arguments.output, |progress| {
        overlap(&arguments.options(memory, progress)).map_err(|error| error.to_string())
    })
}
