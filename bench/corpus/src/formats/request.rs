//! Requests of a shop: the same for all formats of request logs.

use std::ops::Range;

use crate::chance::{Chance, Weighted};
use crate::clock::Clock;
use crate::visitors::Visitor;
use crate::words::{scramble, word};

const CLIENTS: u64 = 4000;
const ITEMS: u64 = 9000;

/// Longest duration in microseconds, after which a request is answered with status 504.
const TIMEOUT: u64 = 9_000_000;

/// A kind of request. `{}` in its path is the number of an item, `{words}` the title of an article.
struct Route {
    method: &'static str,
    host: &'static str,
    path: &'static str,
    /// Typical duration in microseconds.
    micros: u64,
    /// Server errors in thousandths of its requests.
    errors: u64,
}

/// The most frequent first.
const ROUTES: [Route; 16] = [
    route("GET", "www.example.com", "/", 2_000, 2),
    route("GET", "api.example.com", "/api/items/{}", 4_000, 6),
    route("GET", "static.example.net", "/static/app.js", 700, 0),
    route("GET", "static.example.net", "/images/{}.jpg", 900, 0),
    route("GET", "www.example.com", "/search", 28_000, 8),
    route("GET", "www.example.com", "/articles/{words}", 3_000, 2),
    route("GET", "shop.example.org", "/cart", 6_000, 6),
    route("POST", "shop.example.org", "/login", 45_000, 4),
    route("POST", "shop.example.org", "/cart/items", 9_000, 10),
    route("GET", "api.example.com", "/api/users/{}", 5_000, 4),
    route("POST", "api.example.com", "/api/orders", 120_000, 30),
    route("GET", "www.example.com", "/old/page-{}", 600, 0),
    route("GET", "api.example.com", "/api/reports/monthly", 900_000, 160),
    route("DELETE", "shop.example.org", "/cart/items/{}", 7_000, 6),
    route("PUT", "api.example.com", "/api/users/{}", 11_000, 8),
    route("GET", "api.example.com", "/health", 300, 0),
];

/// Requests that one client repeats without a pause while they fail.
const REPEATED: &Route = &ROUTES[10];
const REPEATING_CLIENT: &str = "198.51.100.66";

const fn route(
    method: &'static str,
    host: &'static str,
    path: &'static str,
    micros: u64,
    errors: u64,
) -> Route {
    Route { method, host, path, micros, errors }
}

/// The requests of a log: by Zipf-like frequency, with a burst of failures from one client.
pub(super) struct Requests {
    /// Time of the current request.
    pub(super) clock: Clock,
    number: u64,
    burst: Range<u64>,
    /// Number of the first request to the second version of the service, which has more errors.
    release: u64,
    routes: Weighted,
    clients: Weighted,
    items: Weighted,
}

/// A request and its response.
pub(super) struct Request {
    /// Address of the client.
    pub(super) address: String,
    pub(super) user: Option<String>,
    pub(super) method: &'static str,
    pub(super) host: &'static str,
    pub(super) path: String,
    /// Text searched for.
    pub(super) search: Option<String>,
    pub(super) status: u64,
    pub(super) bytes: u64,
    /// Duration in microseconds, at most 9 seconds.
    pub(super) micros: u64,
    pub(super) agent: String,
    /// Version of the service.
    pub(super) version: &'static str,
}

impl Requests {
    pub(super) fn new(requests: u64) -> Self {
        let start = requests / 8 * 5;
        Self {
            clock: Clock::new(requests),
            number: 0,
            burst: start..start + requests / 50,
            release: requests / 2,
            routes: Weighted::zipf(ROUTES.len() as u64, 2),
            clients: Weighted::zipf(CLIENTS, 8),
            items: Weighted::zipf(ITEMS, 3),
        }
    }

    /// Advances the clock to the next request.
    pub(super) fn draw(&mut self, chance: &mut Chance) -> Request {
        let is_repeated = self.burst.contains(&self.number);
        let is_released = self.number >= self.release;
        self.number += 1;
        if is_repeated {
            self.clock.tick_within(chance, 400_000);
            repeated(chance)
        } else {
            self.clock.tick(chance);
            self.usual(is_released, chance)
        }
    }

    fn usual(&self, is_released: bool, chance: &mut Chance) -> Request {
        let route = &ROUTES[self.routes.draw(chance)];
        let client = self.clients.draw(chance) as u64;
        let status = status(route, is_released, chance);
        let is_search = route.path == "/search";
        Request {
            address: address(client),
            user: user(client),
            method: route.method,
            host: route.host,
            path: path(route, self.items.draw(chance) as u64, chance),
            search: is_search.then(|| search(chance)),
            status,
            bytes: bytes(status, chance),
            micros: if status == 504 { TIMEOUT } else { duration(route, self.clock.hour(), chance) },
            agent: agent(client),
            version: if is_released { "2.5.0" } else { "2.4.1" },
        }
    }
}

/// A request of the client that repeats what fails.
fn repeated(chance: &mut Chance) -> Request {
    Request {
        address: REPEATING_CLIENT.to_owned(),
        user: Some("order-sync".to_owned()),
        method: REPEATED.method,
        host: REPEATED.host,
        path: REPEATED.path.to_owned(),
        search: None,
        status: *chance.pick(&[503, 503, 503, 429]),
        bytes: 98,
        micros: 1_000 + chance.below(4_000),
        agent: "ExampleSync/0.9".to_owned(),
        version: "2.5.0",
    }
}

/// Address of a client, one of those reserved for documentation: IPv4 if `client % 8` is below 6, IPv6 otherwise.
pub(super) fn address(client: u64) -> String {
    let host = 1 + client * 37 % 254;
    match client % 8 {
        0..3 => format!("192.0.2.{host}"),
        3..5 => format!("198.51.100.{host}"),
        5 => format!("203.0.113.{host}"),
        _ => format!("2001:db8:{:x}::{host:x}", 0x100 + scramble(client) % 0xF00),
    }
}

/// Name of a client's user. Two of five clients are anonymous.
fn user(client: u64) -> Option<String> {
    let number = scramble(client);
    (client % 5 < 3).then(|| format!("{}{}", word(number, 0), number >> 32 & 0x3F))
}

/// User agent of a client: a browser, an app, a tool or a crawler.
fn agent(client: u64) -> String {
    let number = scramble(client + CLIENTS);
    match number % 10 {
        0..6 => {
            let mut agent = Vec::new();
            let written = Visitor::Person { number }.write_agent(&mut agent);
            debug_assert!(written.is_ok(), "memory takes every byte");
            String::from_utf8_lossy(&agent).into_owned()
        }
        6..8 => {
            format!("ExampleShop/4.{}.0 (Android 14; build {})", number >> 8 & 7, 4000 + (number >> 11 & 63))
        }
        8 => "curl/8.5.0".to_owned(),
        _ => "ExampleBot/2.1 (+https://www.example.net/bot)".to_owned(),
    }
}

fn path(route: &Route, rank: u64, chance: &mut Chance) -> String {
    if route.path.ends_with("{words}") {
        let number = scramble(rank);
        return format!("/articles/{}-{}-{}", word(number, 0), word(number, 1), word(number, 2));
    }
    let mut path = route.path.replace("{}", &item(rank).to_string());
    if route.path == "/" && chance.in_1000(80) {
        path += "?utm_source=";
        path += word(chance.below(8), 0);
    }
    path
}

/// Number of the item with a rank: different for each of the ranks, 7919 being prime.
fn item(rank: u64) -> u64 {
    1000 + rank * 7919 % ITEMS
}

fn search(chance: &mut Chance) -> String {
    let number = chance.bits();
    let (first, second) = (word(number % 12, 0), word(number, 2));
    match chance.below(10) {
        0..4 => first.to_owned(),
        4..8 => format!("{first} {second}"),
        _ => format!("\"{first} {second}\""),
    }
}

fn status(route: &Route, is_released: bool, chance: &mut Chance) -> u64 {
    let errors = if is_released { 2 * route.errors } else { route.errors };
    let drawn = chance.below(100);
    match (route.method, route.path, drawn) {
        _ if chance.in_1000(errors) => *chance.pick(&[500, 500, 500, 502, 504]),
        (_, "/old/page-{}", 0..85) => 404,
        (_, "/old/page-{}", _) => 301,
        (_, "/login", 0..25) => 401,
        (_, "/api/items/{}", 0..3) => 404,
        (_, _, 99) if chance.in_1000(300) => 403,
        ("GET", "/static/app.js" | "/images/{}.jpg", 0..35) | ("GET", "/", 0..6) => 304,
        ("POST", "/api/orders" | "/cart/items", _) => 201,
        ("DELETE", ..) => 204,
        _ => 200,
    }
}

fn bytes(status: u64, chance: &mut Chance) -> u64 {
    match status {
        204 | 304 => 0,
        400.. => 90 + chance.below(400),
        _ => {
            let magnitude = chance.below(7);
            180 + chance.below(900 << magnitude)
        }
    }
}

/// Duration in microseconds. Some requests take much longer, and all of them while the backup runs at three in the morning.
fn duration(route: &Route, hour: u64, chance: &mut Chance) -> u64 {
    let usual = route.micros / 2 + chance.below(route.micros);
    let slowed = match chance.below(1000) {
        0..6 => usual * (20 + chance.below(80)),
        6..40 => usual * 4,
        _ => usual,
    };
    (if hour == 3 { 3 * slowed } else { slowed }).min(TIMEOUT)
}
