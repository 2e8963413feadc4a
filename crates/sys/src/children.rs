//! Child processes.

use rustix::process::{Signal, kill_process};

use crate::process::children;

/// Sends SIGTERM to all child processes.
pub fn terminate() {
    for child in children() {
        // A child that has just ended needs no signal.
        let _ = kill_process(child, Signal::TERM);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn children_of_all_threads_end() {
        if !crate::IS_LINUX && Command::new("ps").output().is_err() {
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
