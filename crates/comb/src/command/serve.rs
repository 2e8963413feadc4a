//! `comb serve` and `comb cgi`: indexes over HTTP.

use std::env;
use std::io::stdout;

use finecomb_serve::{Catalog, CgiRequest, ServeOptions, respond, serve};

use super::{Exit, fail, output_failed};
use crate::advice::Advised;
use crate::args::serve::{Arguments, CgiArguments};
use crate::{message, version};

/// Runs `comb serve`.
pub(crate) fn run(arguments: Arguments) -> Exit {
    let (limits, threads) = (arguments.limits(), arguments.threads.count().get());
    let Arguments { indexes, listen, cors, allowed_hosts, access_log, .. } = arguments;
    let catalog = match Catalog::open(indexes) {
        Ok(catalog) => catalog,
        Err(error) => return fail(error.advised()),
    };
    let (version, on_message) = (version::SHORT, message::note_without_waiting);
    let options =
        ServeOptions { listen, limits, cors, allowed_hosts, access_log, threads, version, on_message };
    match serve(catalog, &options) {
        Ok(()) => Exit::Found,
        Err(error) => fail(error),
    }
}

/// Runs `comb cgi`.
pub(crate) fn cgi(arguments: CgiArguments) -> Exit {
    let Some(request) = CgiRequest::from_environment(|name| env::var(name).ok()) else {
        return fail("no CGI request in the environment; let a web server start 'comb cgi'");
    };
    let catalog = match Catalog::open(arguments.indexes) {
        Ok(catalog) => catalog,
        Err(error) => return fail(error.advised()),
    };
    match respond(&catalog, &request, &mut stdout().lock()) {
        Ok(()) => Exit::Found,
        Err(error) => output_failed(&error),
    }
}
