//! Visitors: people with browsers, and crawlers.

use std::io::{self, Write};

use crate::chance::{Chance, Weighted};
use crate::words::{scramble, word};

const PEOPLE: u64 = 700_000;

/// Crawlers: share of all requests in thousandths, host, and user agent.
const CRAWLERS: [(u64, &str, &str); 12] = [
    (
        38,
        "crawl-66-249-66-{}.googlebot.com",
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    ),
    (
        24,
        "40.77.167.{}",
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36",
    ),
    (6, "199.16.157.{}", "Twitterbot/1.0"),
    (14, "54.36.148.{}", "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"),
    (12, "185.191.171.{}", "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)"),
    (9, "5.255.253.{}", "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)"),
    (
        8,
        "17.241.75.{}",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)",
    ),
    (
        7,
        "216.244.66.{}",
        "Mozilla/5.0 (compatible; DotBot/1.2; +https://opensiteexplorer.org/dotbot; help@moz.com)",
    ),
    (
        6,
        "114.119.134.{}",
        "Mozilla/5.0 (Linux; Android 7.0;) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; PetalBot;+https://webmaster.petalsearch.com/site/petalbot)",
    ),
    (5, "69.171.230.{}", "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"),
    (4, "157.55.39.{}", "Feedbin feed-id:1373711 - 57 subscribers"),
    (3, "203.0.113.{}", "curl/8.5.0"),
];

const SYSTEMS: [&str; 10] = [
    "Windows NT 10.0; Win64; x64",
    "Windows NT 10.0; Win64; x64",
    "Windows NT 10.0; WOW64",
    "Macintosh; Intel Mac OS X 10_15_7",
    "Macintosh; Intel Mac OS X 10_15_7",
    "X11; Linux x86_64",
    "Linux; Android 14; Pixel 8",
    "Linux; Android 13; SM-S918B",
    "iPhone; CPU iPhone OS 17_5 like Mac OS X",
    "iPad; CPU OS 16_7 like Mac OS X",
];

/// The visitor of a request.
pub(crate) enum Visitor {
    Person { number: u64 },
    Crawler { index: usize, address: u64 },
}

/// Random visitors: crawlers by share, people by a Zipf-like distribution.
pub(crate) struct Visitors {
    kinds: Weighted,
    people: Weighted,
}

impl Visitors {
    pub(crate) fn new() -> Self {
        let crawling: u64 = CRAWLERS.iter().map(|&(share, ..)| share).sum();
        let shares = CRAWLERS.iter().map(|&(share, ..)| share);
        Self { kinds: Weighted::new(shares.chain([1000 - crawling])), people: Weighted::zipf(PEOPLE, 60) }
    }

    pub(crate) fn draw(&self, chance: &mut Chance) -> Visitor {
        match self.kinds.draw(chance) {
            index if index < CRAWLERS.len() => {
                Visitor::Crawler { index, address: 1 + chance.below(address_count(index)) }
            }
            _ => Visitor::Person { number: scramble(self.people.draw(chance) as u64) },
        }
    }
}

/// Number of addresses of a crawler: many for large ones, few for small ones.
fn address_count(index: usize) -> u64 {
    if index < 4 { 200 } else { 24 }
}

impl Visitor {
    pub(crate) fn is_person(&self) -> bool {
        matches!(self, Self::Person { .. })
    }

    /// Writes the first field: an address, or for some visitors a host name.
    pub(crate) fn write_host(&self, out: &mut impl Write) -> io::Result<()> {
        match *self {
            Self::Crawler { index, address } => {
                let (before, after) = CRAWLERS[index].1.split_once("{}").unwrap_or_default();
                write!(out, "{before}{address}{after}")
            }
            Self::Person { number } => {
                let [a, b, c, d, e, ..] = number.to_le_bytes();
                match e {
                    0..16 => write!(out, "2001:db8:{a:x}{b:02x}:{c:x}::{d:x}"),
                    16..40 => write!(out, "{}-{a}-{b}-{c}-{d}.example.net", word(number, 6)),
                    _ => write!(out, "{}.{b}.{c}.{d}", 11 + a % 200),
                }
            }
        }
    }

    /// Writes the last field, the user agent, without quotes.
    pub(crate) fn write_agent(&self, out: &mut impl Write) -> io::Result<()> {
        let number = match *self {
            Self::Crawler { index, .. } => return out.write_all(CRAWLERS[index].2.as_bytes()),
            Self::Person { number } => scramble(number),
        };
        let system = SYSTEMS[(number % 10) as usize];
        let release = 110 + (number >> 8) % 18;
        let build = (number >> 16) % 6500;
        match (number >> 32) % 10 {
            0..6 => write!(
                out,
                "Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{release}.0.{build}.{} Safari/537.36",
                build % 180
            ),
            6..8 => write!(
                out,
                "Mozilla/5.0 ({system}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.{} Mobile/15E148 Safari/604.1",
                build % 6
            ),
            8 => write!(out, "Mozilla/5.0 ({system}; rv:{release}.0) Gecko/20100101 Firefox/{release}.0"),
            _ => write!(
                out,
                "Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{release}.0.{build}.0 Safari/537.36 Edg/{release}.0.{}.{}",
                build % 2400,
                build % 90
            ),
        }
    }
}
