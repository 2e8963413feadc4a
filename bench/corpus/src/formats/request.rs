//! Requests of a service.

use crate::chance::{Chance, Weighted};
use crate::words::{scramble, word};

/// Paths of the interface, the most frequent first. `{}` is a number.
const PATHS: [&str; 12] = [
    "/",
    "/api/items",
    "/api/items/{}",
    "/api/search",
    "/login",
    "/api/cart",
    "/static/app.js",
    "/api/users/{}",
    "/api/orders",
    "/api/reports/monthly",
    "/old/page-{}",
    "/health",
];

const HOSTS: [&str; 4] = ["www.example.com", "api.example.com", "shop.example.org", "static.example.net"];

const AGENTS: [&str; 4] = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Safari/537.36",
    "curl/8.5.0",
    "ExampleBot/2.1 (+https://www.example.net/bot)",
];

/// Draws requests.
pub(super) struct Requests {
    paths: Weighted,
    clients: Weighted,
}

/// A request and its response.
pub(super) struct Request {
    /// Address of the client.
    pub(super) address: String,
    pub(super) user: Option<&'static str>,
    pub(super) method: &'static str,
    pub(super) host: &'static str,
    pub(super) path: String,
    pub(super) status: u64,
    pub(super) bytes: u64,
    /// Duration in microseconds.
    pub(super) micros: u64,
    pub(super) agent: &'static str,
}

impl Requests {
    pub(super) fn new() -> Self {
        Self { paths: Weighted::zipf(PATHS.len() as u64, 1), clients: Weighted::zipf(200, 2) }
    }

    pub(super) fn draw(&self, chance: &mut Chance) -> Request {
        let path = self.paths.draw(chance);
        let client = self.clients.draw(chance);
        let status = match (path, chance.below(100)) {
            (10, _) => 404,
            (4, 0..30) => 401,
            (_, 0..2) => 404,
            (9, 2..22) | (_, 2..4) => 500,
            (_, 4..10) => 304,
            _ => 200,
        };
        // Reports are slow, and so are some other requests.
        let slow = if path == 9 {
            400_000
        } else if chance.in_1000(20) {
            90_000
        } else {
            3_000
        };
        let magnitude = chance.below(6);
        Request {
            address: address(client as u64),
            user: (!client.is_multiple_of(3)).then(|| word(scramble(client as u64), 0)),
            method: if matches!(path, 4 | 5 | 8) { "POST" } else { "GET" },
            host: HOSTS[if path == 6 { 3 } else { client % 3 }],
            path: PATHS[path].replace("{}", &(1 + chance.below(40)).to_string()),
            status,
            bytes: if status == 304 { 0 } else { 180 + chance.below(900 << magnitude) },
            micros: slow / 3 + chance.below(slow << (magnitude / 2)),
            agent: chance.pick::<&str>(&AGENTS),
        }
    }
}

/// An address of a client, of those reserved for documentation.
pub(super) fn address(client: u64) -> String {
    match client % 7 {
        6 => format!("2001:db8::{:x}", 0x10 + client),
        5 => format!("203.0.113.{}", 1 + client % 250),
        3 | 4 => format!("198.51.100.{}", 1 + client % 250),
        _ => format!("192.0.2.{}", 1 + client % 250),
    }
}
