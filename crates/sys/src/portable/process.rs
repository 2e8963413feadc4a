//! This process, its children and its limits.

use std::env::current_exe;
use std::fs::File;
use std::io::{self, Read};
use std::process::{Command, Stdio, id};

use rustix::process::Pid;

/// The processes that this one has started and not waited for, as `ps` lists them; none without it.
pub fn children() -> Vec<Pid> {
    let list = || {
        let mut command = Command::new("ps");
        command.args(["-A", "-o", "ppid=", "-o", "pid="]).stdin(Stdio::null()).stderr(Stdio::null());
        let mut ps = command.stdout(Stdio::piped()).spawn()?;
        let mut list = String::new();
        let read = ps.stdout.take().map(|mut output| output.read_to_string(&mut list));
        ps.wait()?;
        read.transpose().map(|_| children_in(&list, id(), ps.id()))
    };
    list().unwrap_or_default()
}

/// The children of a process in a list of parents and children, except one.
fn children_in(list: &str, parent: u32, except: u32) -> Vec<Pid> {
    let pair = |line: &str| {
        let mut numbers = line.split_whitespace().map(str::parse::<u32>);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    let children = list.lines().filter_map(pair).filter(|&(of, child)| of == parent && child != except);
    children.filter_map(|(_, child)| Pid::from_raw(child.try_into().ok()?)).collect()
}

/// The file of this program, or the one that has taken its place.
///
/// # Errors
/// If it cannot be opened.
pub fn program() -> io::Result<File> {
    File::open(current_exe()?)
}

/// Returns `None`: no portable call returns a limit of maps.
pub fn max_maps() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_those_of_a_parent() {
        let list = "    0     1\n    1  17\n   17 100\n 17   101\n 17 102\n 171 103\nnone\n 17\n";
        let children: Vec<i32> =
            children_in(list, 17, 101).into_iter().map(|pid| pid.as_raw_nonzero().get()).collect();
        assert_eq!(children, [100, 102]);
    }
}
