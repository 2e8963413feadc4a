//! `comb serve` and `comb cgi`: indexes over HTTP.

use std::env;
use std::io::{stderr, stdout};

use finecomb_serve::{Catalog, CgiRequest, ServeOptions, respond, serve};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{Exit, fail, output_failed};
use crate::args::serve::{Arguments, CgiArguments};
use crate::{message, version};

/// Runs `comb serve`.
pub(crate) fn run(arguments: Arguments) -> Exit {
    let (limits, threads) = (arguments.limits(), arguments.threads.count().get());
    let Arguments { indexes, listen, cors, allowed_hosts, access_log, .. } = arguments;
    let catalog = match Catalog::open(indexes) {
        Ok(catalog) => catalog,
        Err(error) => return fail(error),
    };
    let (version, on_message) = (version::SHORT, note_without_waiting);
    let options =
        ServeOptions { listen, limits, cors, allowed_hosts, access_log, threads, version, on_message };
    match serve(catalog, &options) {
        Ok(()) => Exit::Found,
        Err(error) => fail(error),
    }
}

/// Prints a note, unless standard error is a full pipe: requests must not wait for its reader.
fn note_without_waiting(line: &str) {
    let stderr = stderr();
    let is_ready = poll(&mut [PollFd::new(&stderr, PollFlags::OUT)], Some(&Timespec::default()));
    if is_ready.is_ok_and(|ready| ready > 0) {
        message::note(line);
    }
}

/// Runs `comb cgi`.
pub(crate) fn cgi(arguments: CgiArguments) -> Exit {
    let Some(request) = CgiRequest::from_environment(|name| env::var(name).ok()) else {
        return fail("no CGI request in the environment; let a web server start 'comb cgi'");
    };
    let catalog = match Catalog::open(arguments.indexes) {
        Ok(catalog) => catalog,
        Err(error) => return fail(error),
    };
    match respond(&catalog, &request, &mut stdout().lock()) {
        Ok(()) => Exit::Found,
        Err(error) => output_failed(&error),
    }
}
