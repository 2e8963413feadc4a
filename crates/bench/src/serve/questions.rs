//! Queries for substrings of the indexed text, at positions from a seeded random generator.

use std::io;
use std::net::SocketAddr;

use hyper::StatusCode;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::Deserialize;

use super::client::Client;

/// Number of distinct queries.
const COUNT: usize = 1000;
/// Maximum number of positions to try per query, as not every text can be a query.
const TRIALS: usize = 10;
/// Minimum and maximum pattern length in symbols: in digits of pi, from a year to a date of birth.
const LENGTHS: (u64, u64) = (4, 8);
/// Fixed seed, so that the queries are always the same.
const SEED: u64 = 1415;

/// Name of the index on the server.
pub(super) const NAME: &str = "asked";

/// All but the unreserved characters of RFC 3986.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// URL path for queries.
pub(super) fn path() -> String {
    format!("/api/v1/{NAME}/search")
}

/// URL query for a pattern.
fn query(pattern: &str) -> String {
    format!("q={}", utf8_percent_encode(pattern, ESCAPED))
}

#[derive(Deserialize)]
struct Indexes {
    indexes: Vec<Described>,
}

#[derive(Deserialize)]
struct Described {
    symbols: u64,
    first_position: u64,
}

#[derive(Deserialize)]
struct ServedText {
    text: String,
    /// Present if `text` is not lossless.
    text_base64: Option<String>,
}

/// Queries for substrings of the text on a server. Fails if the server does not answer, or the text is empty.
pub(super) fn sample(server: SocketAddr) -> io::Result<Vec<String>> {
    let mut client = Client::new(server)?;
    let Indexes { indexes } = get_json(&mut client, "/api/v1/indexes")?;
    let no_text = || io::Error::other("the index has no text to query");
    let Described { symbols, first_position } = indexes.into_iter().next().ok_or_else(no_text)?;
    let (mut queries, mut random) = (Vec::with_capacity(COUNT), ChaCha8Rng::seed_from_u64(SEED));
    for _ in 0..COUNT * TRIALS {
        if queries.len() == COUNT || symbols == 0 {
            break;
        }
        let length = below(&mut random, LENGTHS.1 - LENGTHS.0 + 1) + LENGTHS.0;
        let start = below(&mut random, symbols.saturating_sub(length) + 1) + first_position;
        let target = format!("/api/v1/{NAME}/text?start={start}&count={}", length.min(symbols));
        let ServedText { text, text_base64 } = get_json(&mut client, &target)?;
        if text_base64.is_none() {
            queries.push(query(&text));
        }
    }
    if queries.is_empty() { Err(no_text()) } else { Ok(queries) }
}

fn get_json<T: for<'a> Deserialize<'a>>(client: &mut Client, target: &str) -> io::Result<T> {
    let (status, body) = client.get(target, false)?;
    if status != StatusCode::OK {
        return Err(io::Error::other(format!("the answer to {target} has status {}", status.as_u16())));
    }
    serde_json::from_slice(&body)
        .map_err(|error| io::Error::other(format!("the answer to {target} is invalid: {error}")))
}

/// Random number below `bound`, uniform for practical purposes.
fn below(random: &mut impl Rng, bound: u64) -> u64 {
    let scaled = (u128::from(random.next_u64()) * u128::from(bound)) >> 64;
    // Less than `bound`, as the random factor is less than 2^64.
    scaled as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_encoded() {
        assert_eq!(query("14~9"), "q=14~9");
        assert_eq!(query("a b+ä&\n"), "q=a%20b%2B%C3%A4%26%0A");
    }

    #[test]
    fn random_numbers_cover_the_range_below_their_bound() {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut counts = [0; 5];
        (0..500).for_each(|_| counts[below(&mut random, 5) as usize] += 1);
        assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
        assert_eq!(below(&mut random, 1), 0);
    }
}
