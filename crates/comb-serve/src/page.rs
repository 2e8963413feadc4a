//! The page of `comb top --listen`. The job, which starts this process, sends its states over standard input.

use std::env;
use std::io::{self, ErrorKind, Write, stdin, stdout};
use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use finecomb_command::exit::Exit;
use finecomb_command::message;
use finecomb_command::top::listen::wire::{COMMAND, Clients, FAILED, LISTENING, StateMessage};
use finecomb_serve::{LiveOptions, LiveServer, ServeError, Update as Published};
use finecomb_sys::threads::spawn;

/// Time between two looks at the clients.
const EVERY: Duration = Duration::from_millis(20);

/// Serves the page of a job, if the first argument asks for it.
pub(crate) fn run_if_asked() -> Option<Exit> {
    let mut arguments = env::args_os().skip(1);
    if arguments.next()? != COMMAND {
        return None;
    }
    let words: Option<Vec<String>> = arguments.map(|word| word.into_string().ok()).collect();
    let address = words.as_deref().and_then(|words| words.first()?.parse().ok());
    let (Some(words), Some(listen)) = (words, address) else {
        return Some(finecomb_command::exit::fail(format_args!("{COMMAND}: this is for comb top --listen")));
    };
    // The job reads only what is said on standard output.
    Some(serve(listen, words[1..].to_vec()).map_or(Exit::Error, |()| Exit::Found))
}

fn serve(listen: SocketAddr, allowed_hosts: Vec<String>) -> io::Result<()> {
    let options = LiveOptions { listen, allowed_hosts, on_message: message::note_without_waiting };
    let server = match LiveServer::start(&options) {
        Ok(server) => server,
        Err(error) => return say(format!("{FAILED}{}\n", reason(&error))),
    };
    say(format!("{LISTENING}{}\n", server.address()))?;
    let (is_running, ended) = mpsc::channel();
    thread::scope(|scope| {
        let server = &server;
        spawn(scope, move || tell_of_clients(server, &ended)).ok_or(ErrorKind::WouldBlock)?;
        let mut input = stdin().lock();
        while let Ok(StateMessage { state, answer, is_last }) = StateMessage::read(&mut input) {
            let update = Published { state, answer };
            if is_last { server.publish_last(update) } else { server.publish(update) }
        }
        drop(is_running);
        Ok(())
    })
}

/// Notifies the job when clients arrive or the last one leaves, until the job has ended.
fn tell_of_clients(server: &LiveServer, ended: &Receiver<()>) {
    let mut were_there = false;
    while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
        let clients = Clients { are_there: server.has_clients(), has_new: server.take_new_client() };
        let is_news = clients.has_new || clients.are_there != were_there;
        if is_news && say([clients.to_byte()]).is_err() {
            return;
        }
        were_there = clients.are_there;
    }
}

fn say(bytes: impl AsRef<[u8]>) -> io::Result<()> {
    stdout().write_all(bytes.as_ref())?;
    stdout().flush()
}

/// Why the server did not start, and what to do.
fn reason(error: &ServeError) -> String {
    match error {
        ServeError::Listen(_, cause) if cause.kind() == ErrorKind::AddrInUse => {
            format!("--listen: {error}; choose another port, or 0 for any free port")
        }
        ServeError::Host(_) => format!("--allow-host: {error}"),
        _ => format!("--listen: {error}"),
    }
}
