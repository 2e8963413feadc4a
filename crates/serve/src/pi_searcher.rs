//! The two addresses of the original Pi Searcher server (David G. Andersen), for its clients.
//!
//! Names, order and meaning of the fields are the original's: `st` is the requested position; `p` the position found, counted from
//! 1, or 0; `c` the count, or 0 if nothing was found; `et` the elapsed time in nanoseconds. `start` of `/pidigits` is counted from
//! 0. Two of its bugs are fixed: `qs` applies to every `q`, and the last digit can be requested.

use std::time::Instant;

use axum::http::header;
use axum::response::IntoResponse;
use finecomb_text_index::{Error, Index};
use serde::Serialize;

use crate::api::{DigitsRequest, IndexRequest};
use crate::query::parse_number;

/// Maximum number of patterns in a request.
const MAX_QUERIES: usize = 20;
/// Number of digits shown on each side.
const CONTEXT: u64 = 20;

/// Answer, with its fields in alphabetical order.
#[derive(Default, Serialize)]
struct PiAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digits: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorText>,
    et: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    r: Option<Vec<PiOccurrence>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    status: &'static str,
}

#[derive(Serialize)]
struct PiOccurrence {
    k: String,
    st: u64,
    status: &'static str,
    p: u64,
    db: String,
    da: String,
    c: u64,
}

/// Error message in the original's words.
type ErrorText = &'static str;

/// Answers `/piquery?q=…&qs=…`: up to twenty patterns.
pub(crate) async fn query(DigitsRequest(request): DigitsRequest) -> impl IntoResponse {
    let found = search_all(&request);
    let answer = found.map(|found| PiAnswer { r: Some(found), status: "OK", ..PiAnswer::default() });
    respond(request.start, answer)
}

/// Answers `/pidigits?start=…&count=…`: a run of digits.
pub(crate) async fn digits(DigitsRequest(request): DigitsRequest) -> impl IntoResponse {
    respond(request.start, run_of_digits(&request))
}

/// Response that is not cached, as it contains the time that it took.
fn respond(start: Instant, result: Result<PiAnswer, ErrorText>) -> impl IntoResponse {
    let failed = |failure| PiAnswer { error: Some(failure), status: "FAILED", ..PiAnswer::default() };
    let mut answer = result.unwrap_or_else(failed);
    answer.et = start.elapsed().as_nanos().try_into().unwrap_or(u64::MAX);
    let body = escape_html(serde_json::to_vec(&answer).unwrap_or_default());
    ([(header::CONTENT_TYPE, "text/javascript"), (header::CACHE_CONTROL, "no-store")], body)
}

/// Escapes the special characters of HTML, as the original does. They occur only in strings.
fn escape_html(json: Vec<u8>) -> Vec<u8> {
    if !json.iter().any(|byte| matches!(byte, b'<' | b'>' | b'&')) {
        return json;
    }
    json.iter().fold(Vec::with_capacity(json.len() + 64), |mut escaped, &byte| {
        match byte {
            b'<' | b'>' | b'&' => escaped.extend(format!("\\u{byte:04x}").bytes()),
            byte => escaped.push(byte),
        }
        escaped
    })
}

fn search_all(request: &IndexRequest) -> Result<Vec<PiOccurrence>, ErrorText> {
    let IndexRequest { site, index, query, .. } = request;
    let patterns: Vec<&[u8]> = query.all("q").collect();
    if patterns.is_empty() {
        return Err("Missing query");
    }
    if patterns.len() > MAX_QUERIES {
        return Err("Too many queries");
    }
    if patterns.iter().any(|pattern| pattern.len() > site.limits.pattern) {
        return Err("Query too long");
    }
    let from = query.all("qs").next().map_or(Ok(0), |from| parse_number(from).ok_or("Bad start position"))?;
    patterns
        .into_iter()
        .map(|pattern| search(index, pattern, from).map_err(|_| "Index unavailable or corrupt"))
        .collect()
}

fn search(index: &Index, text: &[u8], from: u64) -> Result<PiOccurrence, Error> {
    let nothing = PiOccurrence {
        k: String::from_utf8_lossy(text).into_owned(),
        st: from,
        status: "notfound",
        p: 0,
        db: String::new(),
        da: String::new(),
        c: 0,
    };
    // An invalid pattern is reported as not found.
    let Ok(pattern) = index.pattern(text) else { return Ok(nothing) };
    let occurrences = index.occurrences(&pattern)?;
    let Some(offset) = occurrences.first_from(from.saturating_sub(1))? else { return Ok(nothing) };
    let passage = index.passage(offset, text.len() as u64, CONTEXT)?;
    let digits = |digits: Vec<u8>| String::from_utf8_lossy(&digits).into_owned();
    Ok(PiOccurrence {
        status: "found",
        p: passage.position,
        db: digits(passage.before),
        da: digits(passage.after),
        c: occurrences.count(),
        ..nothing
    })
}

fn run_of_digits(request: &IndexRequest) -> Result<PiAnswer, ErrorText> {
    let IndexRequest { site, index, query, .. } = request;
    let (Some(start), Some(count)) = (query.all("start").next(), query.all("count").next()) else {
        return Err("Missing query parameters");
    };
    let start = parse_number(start).ok_or("Bad start position")?;
    let count = parse_number(count).filter(|&count| count <= site.limits.text).ok_or("Bad count")?;
    let digits =
        index.text(start, start.saturating_add(count)).map_err(|_| "Index unavailable or corrupt")?;
    let digits = String::from_utf8_lossy(&digits).into_owned();
    Ok(PiAnswer {
        start: Some(start),
        count: Some(count),
        digits: Some(digits),
        status: "success",
        ..PiAnswer::default()
    })
}
