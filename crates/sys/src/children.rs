//! Child processes.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// Sends SIGTERM to all child processes. Does nothing where the system does not list them (only Linux does).
pub fn terminate() {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return };
    // A child is listed under the thread that started it.
    let lists =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    for child in lists.flat_map(|list| pids(&list)) {
        // A child that has just ended needs no signal.
        let _ = kill_process(child, Signal::TERM);
    }
}

fn pids(list: &str) -> Vec<Pid> {
    list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::path::Path;
    use std::process::Command;

    use super::*;

    #[test]
    fn children_of_all_threads_end() {
        if !Path::new("/proc/self/task").exists() {
            return;
        }
        let start = || Command::new("sleep").arg("60").spawn().expect("a child");
        let mut children =
            [start(), std::thread::scope(|scope| scope.spawn(start).join().expect("a thread"))];
        terminate();
        for child in &mut children {
            assert_eq!(child.wait().expect("its end").signal(), Some(15));
        }
    }
}
