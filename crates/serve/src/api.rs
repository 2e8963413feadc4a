//! The API: computes the answer to a query at an endpoint. It is independent of HTTP; the server and the CGI program share it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::Guard;
use finecomb_text_index::{Index, Pattern};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde_json::json;
use tokio::task::yield_now;

use crate::catalog::{Catalog, CatalogEntry};
use crate::limits::Limits;
use crate::problem::Problem;
use crate::query::{Query, parse_number};
use finecomb_text_index::{CountAnswer, Direction, PositionsAnswer, SearchAnswer, TextAnswer};

/// Default number of symbols of context.
const CONTEXT: u64 = 20;
/// Default number of positions in an answer.
const RESULTS: u64 = 100;
/// Default number of symbols of text in an answer.
const SYMBOLS: u64 = 1000;

/// Initial capacity in bytes, in which most answers fit without reallocation.
const ANSWER_SIZE: usize = 512;

/// Time slice after which computing a long answer yields to other requests.
const SLICE: Duration = Duration::from_millis(1);

/// Endpoint of the API.
pub(crate) enum Endpoint {
    /// The list of indexes.
    Indexes,
    /// A function of the index named in the path.
    Index(fn(&IndexRequest<'_>) -> Result<Answer, Problem>),
    /// All positions in the index named in the path: the only answer that may take long.
    AllPositions,
    /// A function of the first index of digits. It is not cacheable, as the answer contains the time that it took.
    Digits(fn(&IndexRequest<'_>) -> Result<Answer, Problem>),
}

/// Body of an answer.
pub(crate) struct Answer {
    pub(crate) body: Vec<u8>,
    pub(crate) media_type: &'static str,
}

/// Endpoint, with the index that it searches.
pub(crate) struct Target<'a> {
    endpoint: &'static Endpoint,
    catalog: &'a Catalog,
    /// Index and its entry, looked up once, so that the version belongs to the answer; `None` for the list of indexes.
    index: Option<(&'a CatalogEntry, Guard<Arc<Index>>)>,
}

impl Endpoint {
    /// Looks up the index.
    ///
    /// # Errors
    ///
    /// If there is no such index.
    pub(crate) fn target<'a>(
        &'static self,
        catalog: &'a Catalog,
        name: Option<&str>,
    ) -> Result<Target<'a>, Problem> {
        let entry = match self {
            Self::Indexes => None,
            Self::Digits(_) => {
                let entry = catalog.first_of_digits();
                Some(entry.ok_or_else(|| Problem::not_found("No index of digits is served."))?)
            }
            Self::Index(_) | Self::AllPositions => {
                // A name may be percent-encoded, although no valid name requires it.
                let entry = catalog.by_name(&percent_decode_str(name.unwrap_or("")).decode_utf8_lossy());
                Some(entry.ok_or_else(|| {
                    Problem::not_found("No index has this name; /api/v1/indexes lists all indexes.")
                })?)
            }
        };
        let index = entry.map(|entry| (entry, entry.index()));
        Ok(Target { endpoint: self, catalog, index })
    }
}

impl Target<'_> {
    /// Version that changes whenever answers may change; `None` if answers must not be cached.
    pub(crate) fn version(&self) -> Option<u64> {
        match (self.endpoint, &self.index) {
            (Endpoint::Digits(_), _) => None,
            (_, Some((entry, index))) => Some(entry.version(index)),
            (_, None) => {
                let versions = self.catalog.entries().iter().map(|entry| entry.version(&entry.index()));
                Some(versions.fold(0, |all: u64, version| all.rotate_left(1) ^ version))
            }
        }
    }

    /// Answers a request.
    ///
    /// # Errors
    ///
    /// If the query is invalid, the index is unavailable or corrupt, or the request times out.
    pub(crate) async fn answer(
        &self,
        query: &str,
        limits: &Limits,
        start: Instant,
    ) -> Result<Answer, Problem> {
        let query = Query::parse(query)?;
        let Some((entry, index)) = &self.index else { return json(&indexes(self.catalog)) };
        let request = IndexRequest { name: &entry.name, index, query: &query, limits, start };
        match self.endpoint {
            Endpoint::Index(answer) | Endpoint::Digits(answer) => answer(&request),
            // Boxed, so that the futures of the other endpoints stay small.
            Endpoint::AllPositions => Box::pin(request.all_positions()).await,
            Endpoint::Indexes => json(&indexes(self.catalog)),
        }
    }
}

fn json(value: &impl Serialize) -> Result<Answer, Problem> {
    // Serialization cannot fail: values are strings, numbers and lists of these.
    let mut body = Vec::with_capacity(ANSWER_SIZE);
    serde_json::to_writer(&mut body, value).map_err(|error| Problem::unavailable(error.to_string()))?;
    Ok(Answer { body, media_type: "application/json" })
}

fn indexes(catalog: &Catalog) -> serde_json::Value {
    let describe = |entry: &CatalogEntry| {
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

/// Request to one index.
pub(crate) struct IndexRequest<'a> {
    pub(crate) name: &'a str,
    pub(crate) index: &'a Index,
    pub(crate) query: &'a Query<'a>,
    pub(crate) limits: &'a Limits,
    pub(crate) start: Instant,
}

impl IndexRequest<'_> {
    fn pattern(&self) -> Result<Pattern, Problem> {
        let pattern = self.query.required("q")?;
        let (length, limit) = (pattern.len(), self.limits.pattern);
        if length > limit {
            return Err(Problem::bad_request(format!(
                "The pattern is {length} bytes long; the limit is {limit}."
            )));
        }
        Ok(self.index.pattern(pattern)?)
    }

    /// Parses a number of the query that has a limit. A number above the limit is an error, as silently reducing it would go
    /// unnoticed.
    fn limited(&self, name: &str, default: u64, limit: u64) -> Result<u64, Problem> {
        match self.query.number(name)? {
            None => Ok(default.min(limit)),
            Some(number) if number <= limit => Ok(number),
            Some(_) => Err(Problem::bad_request(format!("The parameter {name} must be at most {limit}."))),
        }
    }

    /// Answers a search: the first occurrence at or after a position, or the last before one.
    pub(crate) fn search(&self) -> Result<Answer, Problem> {
        self.query.only(&["q", "from", "before", "context"])?;
        json(&self.occurrence(self.limited("context", CONTEXT, self.limits.context)?)?)
    }

    /// Answers a search, with `context` symbols before and after the occurrence.
    pub(crate) fn occurrence(&self, context: u64) -> Result<SearchAnswer, Problem> {
        let pattern = self.pattern()?;
        let direction = match (self.query.number("from")?, self.query.number("before")?) {
            (None, Some(before)) => Direction::LastBefore(before),
            (from, None) => {
                Direction::FirstFrom(from.unwrap_or_else(|| self.index.alphabet().first_position()))
            }
            (Some(_), Some(_)) => {
                return Err(Problem::bad_request("The parameters from and before exclude each other."));
            }
        };
        let occurrences = self.index.occurrences(&pattern)?;
        let found = direction.find(self.index, &occurrences)?;
        let passage =
            found.map(|offset| self.index.passage(offset, pattern.len() as u64, context)).transpose()?;
        let count = occurrences.count();
        Ok(SearchAnswer::new(Some(self.name), &pattern, direction, count, passage.as_ref()))
    }

    /// Answers with the number of occurrences.
    pub(crate) fn count(&self) -> Result<Answer, Problem> {
        self.query.only(&["q"])?;
        let pattern = self.pattern()?;
        json(&CountAnswer::new(Some(self.name), &pattern, self.index.occurrences(&pattern)?.count()))
    }

    /// Position of a cursor, which consists of the position and the version of the index.
    fn cursor(&self) -> Result<Option<u64>, Problem> {
        let Some(cursor) = self.query.one("cursor")? else { return Ok(None) };
        let parts = str::from_utf8(cursor).ok().and_then(|cursor| cursor.split_once('-'));
        let position = parts.and_then(|(position, _)| parse_number(position.as_bytes()));
        let version = parts.and_then(|(_, version)| u64::from_str_radix(version, 16).ok());
        match (position, version) {
            (Some(_), Some(version)) if version == self.index.version() => Ok(position),
            (Some(_), Some(_)) => Err(Problem::bad_request(
                "The cursor is of another index, or of this one before it was rebuilt; start again without a cursor.",
            )),
            _ => Err(Problem::bad_request("The cursor is invalid; use next_cursor of an answer, or none.")),
        }
    }

    /// Answers with the positions of the occurrences at or after a position, up to a limit. Yields to other requests meanwhile.
    async fn all_positions(&self) -> Result<Answer, Problem> {
        self.query.only(&["q", "limit", "cursor"])?;
        let pattern = self.pattern()?;
        let limit = self.limited("limit", RESULTS, self.limits.results)? as usize;
        let first = self.index.alphabet().first_position();
        let from = self.cursor()?.unwrap_or(first);
        let occurrences = self.index.occurrences(&pattern)?;
        let mut positions = Vec::with_capacity(limit.min(occurrences.count() as usize));
        let mut next_cursor = None;
        let mut yielded = self.start;
        for offset in occurrences.positions_from(self.index.offset(from)?) {
            let position = offset? + first;
            if positions.len() == limit {
                next_cursor = Some(format!("{position}-{:016x}", self.index.version()));
                break;
            }
            positions.push(position);
            let now = Instant::now();
            if now - self.start >= self.limits.request_timeout {
                return Err(Problem::unavailable("The request took too long; lower the limit."));
            }
            if now - yielded >= SLICE {
                yield_now().await;
                yielded = Instant::now();
            }
        }
        let count = CountAnswer::new(Some(self.name), &pattern, occurrences.count());
        json(&PositionsAnswer { count, positions, next_cursor })
    }

    /// Answers with a part of the text.
    pub(crate) fn text(&self) -> Result<Answer, Problem> {
        self.query.only(&["start", "count"])?;
        let first = self.index.alphabet().first_position();
        let start = self.query.number("start")?.unwrap_or(first);
        let count = self.limited("count", SYMBOLS, self.limits.text)?;
        let offset = self.index.offset(start)?;
        json(&TextAnswer::new(self.name, start, &self.index.text(offset, offset.saturating_add(count))?))
    }
}
