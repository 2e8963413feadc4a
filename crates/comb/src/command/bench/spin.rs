//! `comb bench spin`: greedy threads.

use finecomb_bench::slices::slices;
use finecomb_bench::spin::spin;

use super::conclude;
use crate::args::bench::spin::Arguments;
use crate::command::Exit;

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Exit {
    if arguments.slices {
        return conclude(&arguments.output, |_| {
            slices(&arguments.slices_options()?).map_err(|error| error.to_string())
        });
    }
    conclude(&arguments.output, |progress| {
        spin(&arguments.options(progress)?).map_err(|error| error.to_string())
    })
}
