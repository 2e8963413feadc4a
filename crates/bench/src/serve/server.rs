//! A server process for the duration of the measurement.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;

use super::questions::NAME;
use crate::error::{Error, Result};

/// A running `comb serve` on the loopback address. It is killed on drop, and if this process ends in any way.
pub(super) struct ServerProcess {
    supervisor: Child,
    address: SocketAddr,
}

/// Shell script that starts the server, and kills it at the end of its own standard input. Only this process holds the other
/// end, so that no server remains even if this process is killed. Standard error is closed in the shell, so that it ends
/// with the server.
const SUPERVISOR: &str = "\"$@\" & exec 2>&-; read _; kill -9 $!; wait";

/// Message of a ready server, before its address.
const READY: &str = "comb: listening on http://";

impl ServerProcess {
    /// Starts a server on a free port. Fails with the last message of a server that exits.
    pub(super) fn start(comb: &Path, index: &Path) -> Result<Self> {
        let failed = |error| Error::Start { command: "comb serve".to_owned(), error };
        let mut supervisor = Command::new("/bin/sh")
            .args(["-c", SUPERVISOR, "sh"])
            .arg(comb)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .arg(index_argument(index))
            .env("NO_COLOR", "1")
            .env_remove("CLICOLOR_FORCE")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let messages = supervisor.stderr.take();
        // From here on, an error drops the server and so kills it.
        let mut server = Self { supervisor, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        let mut messages = BufReader::new(messages.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?);
        server.address = address(&mut messages).map_err(failed)??;
        // Further messages are drained, so that the server does not block on a full pipe.
        thread::spawn(move || io::copy(&mut messages, &mut io::sink()));
        Ok(server)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        // Cannot fail: the process has not been reaped.
        let _ = self.supervisor.wait();
    }
}

/// Reads messages of a server until it is ready, and returns its address. If it exits first, its last line is the error.
fn address(messages: &mut BufReader<ChildStderr>) -> io::Result<Result<SocketAddr>> {
    /// Maximum length of a line; comb prints no longer ones.
    const LONGEST_LINE: u64 = 64 << 10;
    let mut message = Vec::new();
    loop {
        let mut line = Vec::new();
        if messages.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(Err(Error::Other(reason(&String::from_utf8_lossy(&message)))));
        }
        let text = String::from_utf8_lossy(&line);
        match text.trim().strip_prefix(READY).and_then(|address| address.parse().ok()) {
            Some(address) => return Ok(Ok(address)),
            None => message = line,
        }
    }
}

/// Argument of `comb serve` and `comb cgi` for an index, with the name that queries use.
pub(super) fn index_argument(index: &Path) -> OsString {
    let mut argument = OsString::from(format!("{NAME}="));
    argument.push(index);
    argument
}

/// A message without the name of the program.
fn reason(message: &str) -> String {
    match message.trim().trim_start_matches("comb: ") {
        "" => "'comb serve' exited without a message".to_owned(),
        reason => reason.replace(|char: char| char.is_control(), "\u{FFFD}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Result of starting a shell script instead of a server.
    fn started(script: &str, directory: &Path) -> Result<ServerProcess> {
        let program = directory.join("program");
        // Written by another process: a file that this one had open for writing might fail to execute (ETXTBSY), as a child
        // process of another test could have inherited the descriptor.
        let write = format!("cat > '{0}' && chmod +x '{0}'", program.display());
        let mut shell =
            Command::new("sh").args(["-c", &write]).stdin(Stdio::piped()).spawn().expect("a shell");
        io::Write::write_all(&mut shell.stdin.take().expect("its input"), script.as_bytes())
            .expect("written");
        assert!(shell.wait().expect("its end").success());
        ServerProcess::start(&program, Path::new("/no/index"))
    }

    #[test]
    fn a_server_ends_with_its_owner() {
        let directory = tempfile::tempdir().expect("a directory");
        let pid = directory.path().join("pid");
        let script = format!(
            "#!/bin/sh\necho $$ \"$@\" > '{}'\necho 'comb: a note' >&2\necho '{READY}127.0.0.1:9' >&2\n\
             exec sleep 60\n",
            pid.display()
        );
        let server = started(&script, directory.path()).expect("a server");
        assert_eq!(server.address(), SocketAddr::from(([127, 0, 0, 1], 9)));
        let written = fs::read_to_string(&pid).expect("a number");
        let (pid, arguments) = written.trim().split_once(' ').expect("arguments");
        assert_eq!(arguments, "serve --listen 127.0.0.1:0 asked=/no/index");
        let process = format!("/proc/{pid}");
        assert!(Path::new(&process).exists());
        drop(server);
        assert!(!Path::new(&process).exists());
    }

    #[test]
    fn the_last_message_of_a_server_that_exits_is_the_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let message = |script: &str| started(script, directory.path()).err().map(|error| error.to_string());
        assert_eq!(message("#!/bin/sh\nexit 1\n").as_deref(), Some("'comb serve' exited without a message"));
        let last = "#!/bin/sh\necho note >&2\necho 'comb: pi.txt: is no index' >&2\n";
        assert_eq!(message(last).as_deref(), Some("pi.txt: is no index"));
    }
}
