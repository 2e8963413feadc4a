//! `comb`: searches and counts code, logs and text on all cores, with a built-in profiler.

mod startup;

use std::process::ExitCode;
use std::time::Instant;

use finecomb_sys::out_of_memory::ExitingAllocator;
use finecomb_version::VERSION;

fn main() -> ExitCode {
    let start = Instant::now();
    ExitingAllocator::keep_reserve();
    finecomb_command::run(VERSION, start)
}
