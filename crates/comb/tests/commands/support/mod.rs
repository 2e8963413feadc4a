//! Helpers of the tests: running comb, input files, waiting.

pub(crate) mod server;

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir};

/// The program under test.
pub(crate) const COMB: &str = env!("CARGO_BIN_EXE_comb");

/// The program to run for it: `tests/with-index` has one that builds an index first.
pub(crate) fn tested() -> PathBuf {
    env::var_os("COMB_TEST_PROGRAM").map_or_else(|| COMB.into(), PathBuf::from)
}

/// Standard output, standard error and exit status; no status if the program was killed by a signal.
pub(crate) type Answer = (String, String, Option<i32>);

/// An expected answer.
pub(crate) fn answer(out: &str, err: &str, code: i32) -> Answer {
    (out.to_owned(), err.to_owned(), Some(code))
}

/// Runs a command and waits for its end.
pub(crate) fn run(command: &mut Command) -> Answer {
    text(command.output().expect("running a command"))
}

/// Output of a finished command as text.
pub(crate) fn text(Output { stdout, stderr, status }: Output) -> Answer {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(stdout), text(stderr), status.code())
}

/// A program in a directory, with empty standard input and without the configuration of the user.
pub(crate) fn program(name: &str, directory: &Path) -> Command {
    let mut command = if name == COMB { Command::new(tested()) } else { Command::new(name) };
    command.current_dir(directory).stdin(Stdio::null()).env("HOME", "/nowhere").env("LC_ALL", "C");
    for variable in ["COMB_CONFIG", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "XDG_CONFIG_HOME"] {
        command.env_remove(variable);
    }
    command
}

/// The program under test, which signals interrupt even if the tests were started in the background of a script.
pub(crate) fn interruptible(directory: &Path) -> Command {
    let mut command = program("env", directory);
    command.args(["--default-signal=INT", COMB]);
    command
}

/// Copies the program under test into a directory where any user may run it.
///
/// Another process writes the copy: a file that this process has open for writing could be inherited by a process that
/// another test starts at that moment, and a program that is open for writing cannot be run.
pub(crate) fn copy_of_comb(directory: &TempDir, name: &str) -> PathBuf {
    copy_of(Path::new(COMB), directory, name)
}

/// The same for another program.
pub(crate) fn copy_of(program: &Path, directory: &TempDir, name: &str) -> PathBuf {
    let copy = directory.path().join(name);
    let copied = Command::new("cp").arg(program).arg(&copy).status().expect("cp");
    assert!(copied.success());
    copy
}

/// A program beside the one under test.
pub(crate) fn beside_comb(name: &str) -> PathBuf {
    Path::new(COMB).with_file_name(name)
}

/// A shell command in which `comb` is the program under test.
pub(crate) fn shell(directory: &TempDir, script: &str) -> Command {
    let mut command = program("bash", directory.path());
    let comb = tested();
    command.arg("-c").arg(format!("set -o pipefail; comb() {{ '{}' \"$@\"; }}; {script}", comb.display()));
    command
}

/// Runs a script as an unprivileged user: root may read everything.
pub(crate) fn unprivileged(directory: &TempDir, script: &str) -> Answer {
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).expect("setting permissions");
    copy_of_comb(directory, ".comb");
    let is_root = rustix::process::geteuid().is_root();
    let user = if is_root { "setpriv --reuid=65534 --regid=65534 --clear-groups" } else { "" };
    directory.run(&format!("comb() {{ {user} ./.comb \"$@\"; }}; {script}"))
}

/// A directory with the given files, and their parent directories.
pub(crate) fn directory_with(files: &[(&str, &str)]) -> TempDir {
    let directory = tempdir().expect("a directory");
    for (name, content) in files {
        write(&directory, name, content);
    }
    directory
}

/// A directory as the place where scripts run, in which `comb` is the program under test.
pub(crate) trait Place {
    /// Where a name is in it.
    fn at(&self, name: &str) -> PathBuf;

    /// The text of a file.
    fn read(&self, name: &str) -> String;

    /// Runs a script.
    fn run(&self, script: &str) -> Answer;

    /// Checks the answer of a script.
    fn answers(&self, script: &str, out: &str, err: &str, code: i32);

    /// Checks what a script prints that succeeds without a message.
    fn prints(&self, script: &str, out: &str);

    /// Checks that a script prints nothing and fails with a message that contains `reason`. Returns the message.
    fn refuses(&self, script: &str, reason: &str) -> String;
}

impl Place for TempDir {
    fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    #[track_caller]
    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn run(&self, script: &str) -> Answer {
        run(&mut shell(self, script))
    }

    #[track_caller]
    fn answers(&self, script: &str, out: &str, err: &str, code: i32) {
        assert_eq!(self.run(script), answer(out, err, code), "{script}");
    }

    #[track_caller]
    fn prints(&self, script: &str, out: &str) {
        self.answers(script, out, "", 0);
    }

    #[track_caller]
    fn refuses(&self, script: &str, reason: &str) -> String {
        let (out, err, code) = self.run(script);
        assert_eq!((out.as_str(), code), ("", Some(2)), "{script}: {err}");
        assert!(err.contains(reason), "{script}: {err}");
        err
    }
}

/// Writes a file, and creates its parent directories.
pub(crate) fn write(directory: &TempDir, name: &str, content: impl AsRef<[u8]>) {
    let path = directory.path().join(name);
    fs::create_dir_all(path.parent().expect("a directory above")).expect("a directory");
    fs::write(path, content).expect("a file");
}

/// Waits at most ten seconds for a condition.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(10), "time-out: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}
