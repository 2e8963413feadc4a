//! `comb serve` and `comb cgi`: indexes over HTTP.

use std::env;
use std::io::stdout;

use finecomb_command::advice::Advised;
use finecomb_command::exit::{Exit, Failure};
use finecomb_command::serve::{CgiArguments, NamedIndex, ServeArguments, ServeLimits as LimitFlags};
use finecomb_command::{message, version};
use finecomb_serve::{
    Catalog, CatalogError, CgiRequest, Limits, LogTarget, ServeOptions, default_name, respond, serve,
};

/// Runs `comb serve`.
pub(crate) fn run(arguments: ServeArguments) -> Result<Exit, Failure> {
    let threads = arguments.threads.count().get();
    let ServeArguments { indexes, listen, cors, allowed_hosts, access_log, limits, .. } = arguments;
    let catalog = open(indexes)?;
    let limits = limits_of(&limits);
    let access_log = access_log.map(|path| match path.to_str() {
        Some("-") => LogTarget::Output,
        _ => LogTarget::File(path),
    });
    let (version, on_message) = (version::short(), message::note_without_waiting);
    let options =
        ServeOptions { listen, limits, cors, allowed_hosts, access_log, threads, version, on_message };
    serve(catalog, &options).map_err(|error| error.to_string())?;
    Ok(Exit::Found)
}

/// Runs `comb cgi`.
pub(crate) fn cgi(arguments: CgiArguments) -> Result<Exit, Failure> {
    let Some(request) = CgiRequest::from_environment(|name| env::var(name).ok()) else {
        return Err("no CGI request in the environment; let a web server start 'comb cgi'".into());
    };
    respond(&open(arguments.indexes)?, &request, &mut stdout().lock())?;
    Ok(Exit::Found)
}

/// Opens indexes, by default under the names of their files.
fn open(indexes: Vec<NamedIndex>) -> Result<Catalog, String> {
    let named = indexes.into_iter().map(|(name, path)| (name.unwrap_or_else(|| default_name(&path)), path));
    Catalog::open(named.collect()).map_err(|error| match &error {
        CatalogError::Index(error) => error.advised(),
        _ => error.to_string(),
    })
}

fn limits_of(flags: &LimitFlags) -> Limits {
    Limits {
        pattern: flags.max_pattern,
        results: flags.max_results,
        context: flags.max_context,
        text: flags.max_text,
        request_timeout: flags.request_timeout,
        idle_timeout: flags.idle_timeout,
        max_connections: flags.max_connections,
        max_connections_per_ip: flags.max_connections_per_ip,
        in_flight: flags.max_in_flight,
        shutdown_timeout: flags.shutdown_timeout,
        ..Limits::default()
    }
}
