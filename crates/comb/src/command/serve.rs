//! `comb serve` and `comb cgi`: indexes over HTTP.

use std::env;
use std::io::stdout;

use finecomb_serve::{Catalog, CgiRequest, ServeOptions, respond, serve};

use super::{Exit, output_failed, trouble};
use crate::args::serve::{Arguments, CgiArguments};
use crate::message;

/// Runs `comb serve`.
pub(crate) fn run(arguments: Arguments) -> Exit {
    let (limits, threads) = (arguments.limits(), arguments.threads.count().get());
    let Arguments { indexes, listen, cors, access_log, .. } = arguments;
    let catalog = match Catalog::open(indexes) {
        Ok(catalog) => catalog,
        Err(error) => return trouble(error),
    };
    let on_message = |line: &str| message::note(line);
    let options = ServeOptions { listen, limits, cors, access_log, threads, on_message };
    match serve(catalog, &options) {
        Ok(()) => Exit::Found,
        Err(error) => trouble(error),
    }
}

/// Runs `comb cgi`.
pub(crate) fn cgi(arguments: CgiArguments) -> Exit {
    let Some(request) = CgiRequest::from_environment(|name| env::var(name).ok()) else {
        return trouble("no request in the environment; let a web server start 'comb cgi' as a CGI program");
    };
    let catalog = match Catalog::open(arguments.indexes) {
        Ok(catalog) => catalog,
        Err(error) => return trouble(error),
    };
    match respond(&catalog, &request, &mut stdout().lock()) {
        Ok(()) => Exit::Found,
        Err(error) => output_failed(&error),
    }
}
