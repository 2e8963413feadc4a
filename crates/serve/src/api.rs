//! The API: answers requests to an index. The server and the CGI program share it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::Guard;
use axum::extract::{FromRequestParts, Path, RawQuery, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use finecomb_text_index::{
    CountAnswer, Direction, Index, Pattern, PositionsAnswer, SearchAnswer, TextAnswer,
};
use serde::Serialize;
use serde_json::json;
use tokio::task::yield_now;

use crate::catalog::{Catalog, CatalogEntry, hash};
use crate::conditional::validators;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::query::{UrlQuery, parse_number};

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

/// Indexes that are searched, and everything else that answers depend on.
pub(crate) struct IndexSite {
    pub(crate) catalog: Catalog,
    pub(crate) limits: Limits,
    /// Hash of the version of the program and the limits.
    pub(crate) version: u64,
    pub(crate) metrics: Arc<Metrics>,
}

impl IndexSite {
    pub(crate) fn new(catalog: Catalog, limits: Limits, program: &str, metrics: Arc<Metrics>) -> Self {
        Self { version: hash((program, &limits)), catalog, limits, metrics }
    }
}

/// Answers with the list of indexes.
pub(crate) async fn indexes(
    State(site): State<Arc<IndexSite>>,
    RawQuery(query): RawQuery,
) -> Result<impl IntoResponse, Problem> {
    UrlQuery::parse(query.as_deref().unwrap_or_default())?;
    let describe = |entry: &Arc<CatalogEntry>| {
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
    let entries = site.catalog.entries();
    let list = json!({ "indexes": entries.iter().map(describe).collect::<Vec<_>>() });
    let versions = entries.iter().map(|entry| entry.version(&entry.index()));
    json(&list, site.version ^ versions.fold(0, |all: u64, version| all.rotate_left(1) ^ version))
}

/// Response with a value as JSON, of a version that changes whenever it may change.
fn json(value: &impl Serialize, version: u64) -> Result<Response, Problem> {
    // Serialization cannot fail: values are strings, numbers and lists of these.
    let mut body = Vec::with_capacity(ANSWER_SIZE);
    serde_json::to_writer(&mut body, value).map_err(|error| Problem::unavailable(error.to_string()))?;
    Ok((validators(version), [(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// Request to one index.
pub(crate) struct IndexRequest {
    pub(crate) site: Arc<IndexSite>,
    pub(crate) entry: Arc<CatalogEntry>,
    /// The current index, looked up once, so that the version belongs to the answer.
    pub(crate) index: Guard<Arc<Index>>,
    pub(crate) query: UrlQuery,
    pub(crate) start: Instant,
}

/// The request to the index that the path names.
impl FromRequestParts<Arc<IndexSite>> for IndexRequest {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<IndexSite>) -> Result<Self, Problem> {
        // A name that is not UTF-8 is of no index, either.
        let name = Path::<String>::from_request_parts(parts, site).await.ok();
        let entry = name.and_then(|Path(name)| site.catalog.by_name(&name)).ok_or_else(|| {
            Problem::not_found("No index has this name; /api/v1/indexes lists all indexes.")
        })?;
        Ok(Self::new(site, entry, UrlQuery::parse(parts.uri.query().unwrap_or_default())?))
    }
}

/// Request to the first index of digits.
pub(crate) struct DigitsRequest(pub(crate) IndexRequest);

impl FromRequestParts<Arc<IndexSite>> for DigitsRequest {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<IndexSite>) -> Result<Self, Problem> {
        let entry = site.catalog.first_of_digits();
        let entry = entry.ok_or_else(|| Problem::not_found("No index of digits is served."))?;
        let query = UrlQuery::parse(parts.uri.query().unwrap_or_default())?;
        Ok(Self(IndexRequest::new(site, entry, query)))
    }
}

impl IndexRequest {
    pub(crate) fn new(site: &Arc<IndexSite>, entry: &Arc<CatalogEntry>, query: UrlQuery) -> Self {
        let (site, entry, index) = (Arc::clone(site), Arc::clone(entry), entry.index());
        Self { site, entry, index, query, start: Instant::now() }
    }

    /// Response with an answer from the index.
    fn json(&self, answer: &impl Serialize) -> Result<Response, Problem> {
        json(answer, self.entry.version(&self.index) ^ self.site.version)
    }

    fn pattern(&self) -> Result<Pattern, Problem> {
        let pattern = self.query.required("q")?;
        let (length, limit) = (pattern.len(), self.site.limits.pattern);
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

    /// The first occurrence at or after a position, or the last before one, with `context` symbols before and after it.
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
        let found = direction.find(&self.index, &occurrences)?;
        let passage =
            found.map(|offset| self.index.passage(offset, pattern.len() as u64, context)).transpose()?;
        let count = occurrences.count();
        Ok(SearchAnswer::new(Some(&self.entry.name), &pattern, direction, count, passage.as_ref()))
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
}

/// Answers a search: the first occurrence at or after a position, or the last before one.
pub(crate) async fn search(request: IndexRequest) -> Result<Response, Problem> {
    request.query.only(&["q", "from", "before", "context"])?;
    let context = request.limited("context", CONTEXT, request.site.limits.context)?;
    request.json(&request.occurrence(context)?)
}

/// Answers with the number of occurrences.
pub(crate) async fn count(request: IndexRequest) -> Result<Response, Problem> {
    request.query.only(&["q"])?;
    let pattern = request.pattern()?;
    let count = request.index.occurrences(&pattern)?.count();
    request.json(&CountAnswer::new(Some(&request.entry.name), &pattern, count))
}

/// Answers with the positions of the occurrences at or after a position, up to a limit. Yields to other requests meanwhile.
pub(crate) async fn all_positions(request: IndexRequest) -> Result<Response, Problem> {
    request.query.only(&["q", "limit", "cursor"])?;
    let IndexRequest { site, entry, index, start, .. } = &request;
    let pattern = request.pattern()?;
    let limit = request.limited("limit", RESULTS, site.limits.results)? as usize;
    let first = index.alphabet().first_position();
    let from = request.cursor()?.unwrap_or(first);
    let occurrences = index.occurrences(&pattern)?;
    let mut positions = Vec::with_capacity(limit.min(occurrences.count() as usize));
    let mut next_cursor = None;
    let mut yielded = *start;
    for offset in occurrences.positions_from(index.offset(from)?) {
        let position = offset? + first;
        if positions.len() == limit {
            next_cursor = Some(format!("{position}-{:016x}", index.version()));
            break;
        }
        positions.push(position);
        let now = Instant::now();
        if now - *start >= site.limits.request_timeout {
            return Err(Problem::unavailable("The request took too long; lower the limit."));
        }
        if now - yielded >= SLICE {
            yield_now().await;
            yielded = Instant::now();
        }
    }
    let count = CountAnswer::new(Some(&entry.name), &pattern, occurrences.count());
    request.json(&PositionsAnswer { count, positions, next_cursor })
}

/// Answers with a part of the text.
pub(crate) async fn text(request: IndexRequest) -> Result<Response, Problem> {
    request.query.only(&["start", "count"])?;
    let IndexRequest { site, entry, index, query, .. } = &request;
    let start = query.number("start")?.unwrap_or_else(|| index.alphabet().first_position());
    let count = request.limited("count", SYMBOLS, site.limits.text)?;
    let offset = index.offset(start)?;
    let text = index.text(offset, offset.saturating_add(count))?;
    request.json(&TextAnswer::new(&entry.name, start, &text))
}
