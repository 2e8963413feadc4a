//! The programs beside `comb` that run some of its commands: `comb-lab` measures and generates, and `comb-serve` answers over a connection.
//! These have the dependencies that nothing else needs, and the first build does not build them.
//!
//! `comb` becomes the other program, with the same arguments, so exit status, signals and standard streams come from the command
//! itself.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use finecomb_sys::{io_reason, stdio};

use crate::exit::Failure;
use crate::program::Program;

/// A program beside `comb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// `comb-lab`.
    Lab,
    /// `comb-serve`.
    Serve,
}

impl Other {
    /// Name of the program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lab => "comb-lab",
            Self::Serve => "comb-serve",
        }
    }

    /// Says how to get it.
    pub(crate) fn missing(self) -> String {
        format!(
            "{0} does this, and is not installed; try: cargo install --locked --path crates/{0}",
            self.name()
        )
    }

    /// Names of its commands.
    pub fn commands(self) -> &'static [&'static str] {
        match self {
            Self::Lab => &["bench", "pi"],
            Self::Serve => &["serve", "cgi", "mcp"],
        }
    }

    fn of_command(name: &OsStr) -> Option<Self> {
        [Self::Lab, Self::Serve].into_iter().find(|other| other.commands().iter().any(|known| name == *known))
    }
}

/// Becomes the other program if the first argument is a command of one that is installed. Returns if not, or if it cannot be run.
pub(crate) fn enter_by_first_argument() -> Option<Failure> {
    let command = env::args_os().nth(1)?;
    let other = Other::of_command(&command).filter(|_| Program::current() == Program::Comb)?;
    match become_other(other) {
        // The help of the command is known without the program.
        error if error.kind() == ErrorKind::NotFound => None,
        error => Some(cannot_run(other, &error)),
    }
}

/// Becomes the other program. Returns if it cannot be run.
pub(crate) fn enter(other: Other) -> Failure {
    match become_other(other) {
        error if error.kind() == ErrorKind::NotFound => other.missing().into(),
        error => cannot_run(other, &error),
    }
}

fn cannot_run(other: Other, error: &io::Error) -> Failure {
    format!("cannot run {}: {}", other.name(), io_reason(error)).into()
}

fn become_other(other: Other) -> io::Error {
    let Some(path) = find(other.name()) else { return ErrorKind::NotFound.into() };
    let mut arguments = env::args_os();
    stdio::close_again_on_exec();
    let name = arguments.next().unwrap_or_else(|| OsString::from(Program::Comb.name()));
    Command::new(path).arg0(name).args(arguments).exec()
}

/// The path of a program of this installation: beside this one, in `../libexec/finecomb`, or in `PATH`.
pub fn find(name: &str) -> Option<PathBuf> {
    let own = env::current_exe().ok();
    let directory = own.as_deref().and_then(Path::parent);
    let near = directory.into_iter().flat_map(|directory| {
        // A program of libexec/finecomb is beside the others of that directory, but comb itself is in bin.
        [directory.to_owned(), directory.join("../libexec/finecomb"), directory.join("../../bin")]
    });
    let path = env::var_os("PATH").unwrap_or_default();
    let all: Vec<PathBuf> = near.chain(env::split_paths(&path).filter(|path| path.is_absolute())).collect();
    all.into_iter().map(|directory| directory.join(name)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_one_program() {
        for other in [Other::Lab, Other::Serve] {
            for command in other.commands() {
                assert_eq!(Other::of_command(OsStr::new(command)), Some(other));
            }
        }
        for own in ["top", "grep", "--help", ""] {
            assert_eq!(Other::of_command(OsStr::new(own)), None, "{own}");
        }
    }
}
