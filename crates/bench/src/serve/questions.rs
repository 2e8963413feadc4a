//! Questions for pieces of the index's own text, at places that a seeded generator chooses.

use std::io;
use std::net::SocketAddr;

use hyper::StatusCode;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::Deserialize;

use super::client::Client;

/// Different questions.
const COUNT: usize = 1000;
/// Places of the text that are tried for each, as not every one has what can be asked for.
const TRIALS: usize = 10;
/// The shortest and the longest pattern, in symbols: what people look for in the digits of pi, a year to a
/// birthday.
const LENGTHS: (u64, u64) = (4, 8);
/// Seed: the same questions each time.
const SEED: u64 = 1415;

/// The name under which the index is served.
pub(super) const NAME: &str = "asked";

/// All but the unreserved characters of RFC 3986.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The path of a URL that questions are asked of.
pub(super) fn path() -> String {
    format!("/api/v1/{NAME}/search")
}

/// A question for a pattern, as the query of a URL.
fn question(pattern: &str) -> String {
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
struct Part {
    text: String,
    /// There if the text is not all of it.
    text_base64: Option<String>,
}

/// Questions for parts of the text that a server serves. Fails if it does not answer, or there is no text.
pub(super) fn gathered(server: SocketAddr) -> io::Result<Vec<String>> {
    let mut client = Client::new(server)?;
    let Indexes { indexes } = asked(&mut client, "/api/v1/indexes")?;
    let no_text = || io::Error::other("no text to search for");
    let Described { symbols, first_position } = indexes.into_iter().next().ok_or_else(no_text)?;
    let (mut questions, mut random) = (Vec::with_capacity(COUNT), ChaCha8Rng::seed_from_u64(SEED));
    for _ in 0..COUNT * TRIALS {
        if questions.len() == COUNT || symbols == 0 {
            break;
        }
        let length = below(&mut random, LENGTHS.1 - LENGTHS.0 + 1) + LENGTHS.0;
        let start = below(&mut random, symbols.saturating_sub(length) + 1) + first_position;
        let target = format!("/api/v1/{NAME}/text?start={start}&count={}", length.min(symbols));
        let Part { text, text_base64 } = asked(&mut client, &target)?;
        if text_base64.is_none() {
            questions.push(question(&text));
        }
    }
    if questions.is_empty() { Err(no_text()) } else { Ok(questions) }
}

fn asked<T: for<'a> Deserialize<'a>>(client: &mut Client, target: &str) -> io::Result<T> {
    let (status, body) = client.get(target, false)?;
    if status != StatusCode::OK {
        return Err(io::Error::other(format!("the answer to {target} has status {}", status.as_u16())));
    }
    serde_json::from_slice(&body)
        .map_err(|error| io::Error::other(format!("invalid answer to {target}: {error}")))
}

/// A number below `bound`, all as likely as makes no difference here.
fn below(random: &mut impl Rng, bound: u64) -> u64 {
    let scaled = (u128::from(random.next_u64()) * u128::from(bound)) >> 64;
    // Less than the bound, as what was multiplied is less than 2^64.
    scaled as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_encoded() {
        assert_eq!(question("14~9"), "q=14~9");
        assert_eq!(question("a b+ä&\n"), "q=a%20b%2B%C3%A4%26%0A");
    }

    #[test]
    fn numbers_are_below_their_bound_and_reach_all_of_it() {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut counts = [0; 5];
        (0..500).for_each(|_| counts[below(&mut random, 5) as usize] += 1);
        assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
        assert_eq!(below(&mut random, 1), 0);
    }
}
