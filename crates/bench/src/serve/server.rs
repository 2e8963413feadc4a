//! A server of its own, for as long as it is asked.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;

use super::questions::NAME;
use crate::error::{Error, Result};

/// A running `comb serve` on this machine's own address. It ends when this is dropped, and also when this
/// process ends in any other way.
pub(super) struct Server {
    keeper: Child,
    address: SocketAddr,
}

/// A shell that starts the server, and kills it when its own standard input comes to an end. As the other end
/// of that is held by this process only, no server stays behind even if this process is killed. The standard
/// error is the server's alone, so that it ends with it.
const KEEPER: &str = "\"$@\" & exec 2>&-; read _; kill -9 $!; wait";

/// Message of a server that is ready, before its address.
const READY: &str = "comb: listening on http://";

impl Server {
    /// Starts one, at a port that is free. Fails with the last message of a server that ends at once.
    pub(super) fn start(comb: &Path, index: &Path) -> Result<Self> {
        let failed = |error| Error::Start { command: "comb serve".to_owned(), error };
        let mut keeper = Command::new("/bin/sh")
            .args(["-c", KEEPER, "sh"])
            .arg(comb)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .arg(named(index))
            .env("NO_COLOR", "1")
            .env_remove("CLICOLOR_FORCE")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let messages = keeper.stderr.take();
        // From here on an error ends it.
        let mut server = Self { keeper, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        let mut messages = BufReader::new(messages.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?);
        server.address = address(&mut messages).map_err(failed)??;
        // It must not wait for somebody to read what else it says.
        thread::spawn(move || io::copy(&mut messages, &mut io::sink()));
        Ok(server)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // It is known by its number and has not been waited for: this cannot fail.
        let _ = self.keeper.wait();
    }
}

/// Reads what a server says until it is ready. If it ends before that, its last line is the reason.
fn address(messages: &mut BufReader<ChildStderr>) -> io::Result<Result<SocketAddr>> {
    /// A line that is longer is none of comb's.
    const LONGEST_LINE: u64 = 64 << 10;
    let mut said = Vec::new();
    loop {
        let mut line = Vec::new();
        if messages.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(Err(Error::Other(reason(&String::from_utf8_lossy(&said)))));
        }
        let text = String::from_utf8_lossy(&line);
        match text.trim().strip_prefix(READY).and_then(|address| address.parse().ok()) {
            Some(address) => return Ok(Ok(address)),
            None => said = line,
        }
    }
}

/// The argument that serves an index under the name that questions use.
pub(super) fn named(index: &Path) -> OsString {
    let mut argument = OsString::from(format!("{NAME}="));
    argument.push(index);
    argument
}

/// Reason in a message, without the name of the program.
fn reason(said: &str) -> String {
    match said.trim().trim_start_matches("comb: ") {
        "" => "'comb serve' ended without a message".to_owned(),
        reason => reason.replace(|char: char| char.is_control(), "\u{FFFD}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Result of starting a program that does this instead of serving.
    fn started(script: &str, directory: &Path) -> Result<Server> {
        let program = directory.join("program");
        // A file that this process had open for writing could not always be executed, as other tests start
        // processes, too.
        let write = format!("cat > '{0}' && chmod +x '{0}'", program.display());
        let mut shell =
            Command::new("sh").args(["-c", &write]).stdin(Stdio::piped()).spawn().expect("a shell");
        io::Write::write_all(&mut shell.stdin.take().expect("its input"), script.as_bytes())
            .expect("written");
        assert!(shell.wait().expect("its end").success());
        Server::start(&program, Path::new("/no/index"))
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
    fn what_a_server_says_when_it_ends_is_the_reason() {
        let directory = tempfile::tempdir().expect("a directory");
        let said = |script: &str| started(script, directory.path()).err().map(|error| error.to_string());
        assert_eq!(said("#!/bin/sh\nexit 1\n").as_deref(), Some("'comb serve' ended without a message"));
        let last = "#!/bin/sh\necho note >&2\necho 'comb: pi.txt: is no index' >&2\n";
        assert_eq!(said(last).as_deref(), Some("pi.txt: is no index"));
    }
}
