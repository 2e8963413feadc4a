//! The two addresses of the Pi Searcher's own server (David G. Andersen), so that its clients can ask this one.
//!
//! The names of the fields, the order in which they come, and what they hold are that server's: `st` is the position as it was
//! asked for, `p` the one found, counted from 1, or 0; `c` the count, or 0 if nothing was found; `et` nanoseconds. `start`
//! of `/pidigits` is counted from 0. Two of its slips are not repeated: `qs` holds for every `q` alike, and the last digit can be had.

use std::time::Instant;

use finecomb_text_index::{Error, Index};
use serde::Serialize;

use crate::api::Answer;
use crate::limits::Limits;
use crate::query::{Query, number};

/// Patterns in a request.
const MOST_QUERIES: usize = 20;
/// Digits shown on either side.
const CONTEXT: u64 = 20;

/// An answer. Its fields come in the order of their names.
#[derive(Default, Serialize)]
struct Response {
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digits: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
    et: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    r: Option<Vec<Searched>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    status: &'static str,
}

#[derive(Serialize)]
struct Searched {
    k: String,
    st: u64,
    status: &'static str,
    p: u64,
    db: String,
    da: String,
    c: u64,
}

/// What is wrong with a request, in that server's words.
type Failure = &'static str;

/// `/piquery?q=…&qs=…`: up to twenty patterns.
pub(crate) fn query(index: &Index, query: &Query<'_>, limits: &Limits, start: Instant) -> Answer {
    let found = searched(index, query, limits);
    respond(start, found.map(|found| Response { r: Some(found), status: "OK", ..Response::default() }))
}

/// `/pidigits?start=…&count=…`: digits from one on.
pub(crate) fn digits(index: &Index, query: &Query<'_>, limits: &Limits, start: Instant) -> Answer {
    respond(start, part(index, query, limits))
}

fn respond(start: Instant, result: Result<Response, Failure>) -> Answer {
    let failed = |failure| Response { error: Some(failure), status: "FAILED", ..Response::default() };
    let mut response = result.unwrap_or_else(failed);
    response.et = start.elapsed().as_nanos().try_into().unwrap_or(u64::MAX);
    let body = serde_json::to_vec(&response).unwrap_or_default();
    Answer { body: harmless(body), media_type: "text/javascript" }
}

/// As that server writes JSON: what could be taken for HTML is escaped. Outside strings none of it occurs.
fn harmless(json: Vec<u8>) -> Vec<u8> {
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

fn searched(index: &Index, query: &Query<'_>, limits: &Limits) -> Result<Vec<Searched>, Failure> {
    let patterns: Vec<&[u8]> = query.all("q").collect();
    if patterns.is_empty() {
        return Err("Missing query");
    }
    if patterns.len() > MOST_QUERIES {
        return Err("Too many queries");
    }
    if patterns.iter().any(|pattern| pattern.len() > limits.pattern) {
        return Err("Query too long");
    }
    let from = query.all("qs").next().map_or(Ok(0), |from| number(from).ok_or("Bad start position"))?;
    patterns
        .into_iter()
        .map(|pattern| search(index, pattern, from).map_err(|_| "Index out of order"))
        .collect()
}

fn search(index: &Index, text: &[u8], from: u64) -> Result<Searched, Error> {
    let nothing = Searched {
        k: String::from_utf8_lossy(text).into_owned(),
        st: from,
        status: "notfound",
        p: 0,
        db: String::new(),
        da: String::new(),
        c: 0,
    };
    // What is no pattern of digits is not found.
    let Ok(pattern) = index.pattern(text) else { return Ok(nothing) };
    let occurrences = index.occurrences(&pattern)?;
    let Some(offset) = occurrences.first_from(from.saturating_sub(1))? else { return Ok(nothing) };
    let passage = index.passage(offset, text.len() as u64, CONTEXT)?;
    let digits = |digits: Vec<u8>| String::from_utf8_lossy(&digits).into_owned();
    Ok(Searched {
        status: "found",
        p: passage.position,
        db: digits(passage.before),
        da: digits(passage.after),
        c: occurrences.count(),
        ..nothing
    })
}

fn part(index: &Index, query: &Query<'_>, limits: &Limits) -> Result<Response, Failure> {
    let (Some(start), Some(count)) = (query.all("start").next(), query.all("count").next()) else {
        return Err("Missing query parameters");
    };
    let start = number(start).ok_or("Bad start position")?;
    let count = number(count).filter(|&count| count <= limits.text).ok_or("Bad count")?;
    let digits = index.text(start, start.saturating_add(count)).map_err(|_| "Index out of order")?;
    let digits = String::from_utf8_lossy(&digits).into_owned();
    Ok(Response {
        start: Some(start),
        count: Some(count),
        digits: Some(digits),
        status: "success",
        ..Response::default()
    })
}
