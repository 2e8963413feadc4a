//! `comb-lab`: the commands of `comb` that measure and generate, `comb bench` and `comb pi`.

mod bench;
mod options;
mod pi;

use std::process::ExitCode;

use finecomb_command::{LabCommand, run_lab};
use finecomb_sys::out_of_memory::ExitingAllocator;
use finecomb_version::VERSION;

finecomb_sys::startup!();

fn main() -> ExitCode {
    ExitingAllocator::keep_reserve();
    run_lab(VERSION, |command| match command {
        LabCommand::Bench(arguments) => bench::run(&arguments),
        LabCommand::Pi(arguments) => pi::run(&arguments),
    })
}
