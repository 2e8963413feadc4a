//! `comb bench scale`: a job of comb at many widths.

use finecomb_bench::scale::scale;
use finecomb_sys::io_reason;

use super::conclude;
use crate::args::bench::scale::Arguments;
use crate::command::Exit;

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Exit {
    conclude(&arguments.output, |progress| {
        let options = arguments.options(progress);
        let options = options.map_err(|error| format!("cannot find this program: {}", io_reason(&error)))?;
        scale(&options).map_err(|error| error.to_string())
    })
}
