//! Paths and queries to answers: what the server and the CGI program have in common. It knows nothing of connections.

use std::time::Instant;

use finecomb_text_index::{Index, Pattern};
use percent_encoding::percent_decode_str;
use serde_json::json;

use crate::answer::{All, Count, Found, Part, Side};
use crate::catalog::{Catalog, Entry};
use crate::limits::Limits;
use crate::pisearch;
use crate::problem::Problem;
use crate::query::Query;

/// Symbols of context, unless a request says otherwise.
const CONTEXT: u64 = 20;
/// Positions in an answer, unless a request says otherwise.
const RESULTS: u64 = 100;
/// Symbols of text in an answer, unless a request says otherwise.
const SYMBOLS: u64 = 1000;

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Indexes,
    Search,
    Count,
    All,
    Text,
    PiQuery,
    PiDigits,
}

/// The body of an answer, which is always JSON, and what it was made from.
pub(crate) struct Answer {
    pub(crate) body: Vec<u8>,
    pub(crate) media_type: &'static str,
}

/// What a request is about.
pub(crate) struct Target<'a> {
    pub(crate) route: Route,
    /// None for what is not about one index.
    pub(crate) entry: Option<&'a Entry>,
}

impl Target<'_> {
    /// A value that is the same as long as the answer to the same request is.
    pub(crate) fn version(&self, catalog: &Catalog) -> Option<u64> {
        match self.route {
            // The answers have the time in them that they took.
            Route::PiQuery | Route::PiDigits => None,
            Route::Indexes => Some(
                catalog
                    .entries()
                    .iter()
                    .fold(0, |all: u64, entry| all.rotate_left(1) ^ entry.index().version()),
            ),
            _ => self.entry.map(|entry| entry.index().version()),
        }
    }
}

/// Which answer a path asks for.
///
/// # Errors
///
/// If there is no such index, or nothing of that name.
pub(crate) fn target<'a>(catalog: &'a Catalog, path: &str) -> Result<Target<'a>, Problem> {
    let nothing =
        || Problem::not_found("There is nothing at this address; /openapi.json tells what there is.");
    let rest = match path {
        "/api/v1/indexes" => return Ok(Target { route: Route::Indexes, entry: None }),
        "/piquery" | "/pidigits" => {
            let entry = catalog.first_of_digits();
            let entry = entry.ok_or_else(|| Problem::not_found("No index of digits is served here."))?;
            let route = if path == "/piquery" { Route::PiQuery } else { Route::PiDigits };
            return Ok(Target { route, entry: Some(entry) });
        }
        path => path.strip_prefix("/api/v1/").ok_or_else(nothing)?,
    };
    let (name, what) = rest.split_once('/').unwrap_or((rest, ""));
    let route = match what {
        "search" => Route::Search,
        "count" => Route::Count,
        "all" => Route::All,
        "text" => Route::Text,
        _ => return Err(nothing()),
    };
    // A name may be percent-encoded in a path, though none needs to be.
    let name = percent_decode_str(name).decode_utf8_lossy();
    let entry = catalog.by_name(&name);
    let entry = entry
        .ok_or_else(|| Problem::not_found("There is no index of that name; /api/v1/indexes lists them."))?;
    Ok(Target { route, entry: Some(entry) })
}

/// Answers a request.
///
/// # Errors
///
/// If there is something wrong with the query, the index is out of order, or the time is up.
pub(crate) fn answer(
    catalog: &Catalog,
    target: &Target<'_>,
    query: &str,
    limits: &Limits,
    start: Instant,
) -> Result<Answer, Problem> {
    let query = Query::parse(query)?;
    let Some(entry) = target.entry else { return json(&indexes(catalog)) };
    let index = &**entry.index();
    let asked = Asked { name: &entry.name, index, query: &query, limits, start };
    match target.route {
        Route::Indexes => json(&indexes(catalog)),
        Route::Search => json(&asked.search()?),
        Route::Count => json(&asked.count()?),
        Route::All => json(&asked.all()?),
        Route::Text => json(&asked.text()?),
        Route::PiQuery => Ok(pisearch::query(index, &query, limits, start)),
        Route::PiDigits => Ok(pisearch::digits(index, &query, limits, start)),
    }
}

fn json(value: &impl serde::Serialize) -> Result<Answer, Problem> {
    // Strings, numbers and lists of them: there is nothing in it that could not be written.
    let body = serde_json::to_vec(value).map_err(|error| Problem::unavailable(error.to_string()))?;
    Ok(Answer { body, media_type: "application/json" })
}

fn indexes(catalog: &Catalog) -> serde_json::Value {
    let describe = |entry: &Entry| {
        let index = entry.index();
        json!({
            "name": entry.name,
            "alphabet": index.alphabet().name(),
            "symbols": index.symbols(),
            "first_position": index.alphabet().first_position(),
            "bytes": index.size(),
            "version": format!("{:016x}", index.version()),
        })
    };
    json!({ "indexes": catalog.entries().iter().map(describe).collect::<Vec<_>>() })
}

/// A question to one index.
struct Asked<'a> {
    name: &'a str,
    index: &'a Index,
    query: &'a Query<'a>,
    limits: &'a Limits,
    start: Instant,
}

impl Asked<'_> {
    fn pattern(&self) -> Result<Pattern, Problem> {
        let pattern = self.query.required("q")?;
        if pattern.len() > self.limits.pattern {
            return Err(Problem::bad_request(format!(
                "The pattern has {} bytes; {} are allowed.",
                pattern.len(),
                self.limits.pattern
            )));
        }
        Ok(self.index.pattern(pattern)?)
    }

    /// A number of the query that has a limit; beyond that is an error, as less than what was asked for would go unnoticed.
    fn limited(&self, name: &str, default: u64, most: u64) -> Result<u64, Problem> {
        match self.query.number(name)? {
            None => Ok(default.min(most)),
            Some(number) if number <= most => Ok(number),
            Some(_) => Err(Problem::bad_request(format!("The parameter {name} may be {most} at most."))),
        }
    }

    fn search(&self) -> Result<Found, Problem> {
        self.query.only(&["q", "from", "before", "context"])?;
        let pattern = self.pattern()?;
        let context = self.limited("context", CONTEXT, self.limits.context)?;
        let side = match (self.query.number("from")?, self.query.number("before")?) {
            (None, Some(before)) => Side::Before(before),
            (from, None) => Side::From(from.unwrap_or_else(|| self.index.alphabet().first_position())),
            (Some(_), Some(_)) => {
                return Err(Problem::bad_request("Of the parameters from and before, one may be there."));
            }
        };
        let occurrences = self.index.occurrences(&pattern)?;
        let found = side.find(self.index, &occurrences)?;
        let passage =
            found.map(|offset| self.index.passage(offset, pattern.len() as u64, context)).transpose()?;
        Ok(Found::new(Some(self.name), &pattern, side, occurrences.count(), passage.as_ref()))
    }

    fn count(&self) -> Result<Count, Problem> {
        self.query.only(&["q"])?;
        let pattern = self.pattern()?;
        Ok(Count::new(Some(self.name), &pattern, self.index.occurrences(&pattern)?.count()))
    }

    fn all(&self) -> Result<All, Problem> {
        self.query.only(&["q", "limit", "cursor"])?;
        let pattern = self.pattern()?;
        let limit = self.limited("limit", RESULTS, self.limits.results)? as usize;
        let first = self.index.alphabet().first_position();
        let from = self.query.number("cursor")?.unwrap_or(first);
        let occurrences = self.index.occurrences(&pattern)?;
        let mut positions = Vec::with_capacity(limit.min(occurrences.count() as usize));
        let mut next_cursor = None;
        for offset in occurrences.positions_from(self.index.offset(from)?) {
            let position = offset? + first;
            if positions.len() == limit {
                next_cursor = Some(position.to_string());
                break;
            }
            positions.push(position);
            self.check_time()?;
        }
        Ok(All { count: Count::new(Some(self.name), &pattern, occurrences.count()), positions, next_cursor })
    }

    fn text(&self) -> Result<Part, Problem> {
        self.query.only(&["start", "count"])?;
        let first = self.index.alphabet().first_position();
        let start = self.query.number("start")?.unwrap_or(first);
        let count = self.limited("count", SYMBOLS, self.limits.text)?;
        let offset = self.index.offset(start)?;
        Ok(Part::new(self.name, start, &self.index.text(offset, offset + count)?))
    }

    fn check_time(&self) -> Result<(), Problem> {
        if self.start.elapsed() < self.limits.time {
            return Ok(());
        }
        Err(Problem::unavailable("Answering this takes too long; a lower limit makes it quicker."))
    }
}
