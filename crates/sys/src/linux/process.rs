//! This process, its children and its limits.

use std::env::current_exe;
use std::fs::{self, File};
use std::io;

use rustix::process::Pid;

/// The processes that this one has started and not waited for.
pub fn children() -> Vec<Pid> {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    // A child is listed under the thread that started it.
    let lists =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| pids(&list)).collect()
}

fn pids(list: &str) -> Vec<Pid> {
    list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// The file of this program, which may have been replaced since it was started.
///
/// # Errors
/// If it cannot be opened.
pub fn program() -> io::Result<File> {
    File::open("/proc/self/exe").or_else(|_| File::open(current_exe()?))
}

/// Maximum number of memory maps; `None` if unknown.
pub fn max_maps() -> Option<usize> {
    fs::read_to_string("/proc/sys/vm/max_map_count").ok()?.trim().parse().ok()
}
