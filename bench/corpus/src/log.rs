//! Lines of the log.

use std::io::{self, Write};

use crate::chance::{Chance, Weighted};
use crate::clock::Clock;
use crate::visitors::{Visitor, Visitors};
use crate::words::{scramble, word};

const PAGES: u64 = 90_000;

/// Resources of every page, the most frequent paths.
const FREQUENT: [&str; 10] = [
    "/",
    "/favicon.ico",
    "/style/main.css",
    "/script/site.js",
    "/images/logo.png",
    "/feed.atom",
    "/robots.txt",
    "/index.html",
    "/images/background.jpg",
    "/sitemap.xml",
];

/// Invalid requests, as sent by vulnerability scanners.
const NOISE: [&str; 4] = [
    r#""-" 408 - "-" "-""#,
    r#""\x16\x03\x01\x01\xfc\x01" 400 226 "-" "-""#,
    r#""GET /cgi-bin/luci/;stok=/locale?form=country\"id\" HTTP/1.1" 404 196 "-" "-""#,
    r#""CONNECT mail.example.org:25 HTTP/1.0" 405 224 "-" "-""#,
];

/// Writes `lines` lines, which depend only on `seed`.
pub(crate) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    let visitors = Visitors::new();
    let pages = Weighted::zipf(PAGES, 4);
    let mut clock = Clock::new(lines);
    for _ in 0..lines {
        clock.tick(&mut chance);
        let visitor = visitors.draw(&mut chance);
        visitor.write_host(out)?;
        let user = if chance.in_1000(4) { word(chance.below(64), 0) } else { "-" };
        write!(out, " - {user} [{clock}] ")?;
        if chance.in_1000(2) {
            writeln!(out, "{}", chance.pick(&NOISE))?;
        } else {
            let page = pages.draw(&mut chance);
            write_request(out, &mut chance, &visitor, page)?;
        }
    }
    Ok(())
}

fn write_request(
    out: &mut impl Write,
    chance: &mut Chance,
    visitor: &Visitor,
    page: usize,
) -> io::Result<()> {
    let method = *chance.pick(&["GET", "GET", "GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "POST"]);
    write!(out, "\"{method} ")?;
    write_path(out, page)?;
    write_query(out, chance)?;
    let status = match chance.below(100) {
        0..82 => 200,
        82..90 => 304,
        90..94 => 301,
        94..98 => 404,
        98 => 403,
        _ => 500,
    };
    let magnitude = 6 + chance.below(12);
    let bytes = if status == 304 { 0 } else { 300 + chance.below(1 << magnitude) };
    write!(out, " HTTP/{}\" {status} {bytes} \"", chance.pick(&["1.1", "1.1", "2.0"]))?;
    write_referrer(out, chance, visitor)?;
    write!(out, "\" \"")?;
    visitor.write_agent(out)?;
    writeln!(out, "\"")
}

/// Writes the path of a page: the frequent ones first, then articles and pictures.
fn write_path(out: &mut impl Write, page: usize) -> io::Result<()> {
    if let Some(path) = FREQUENT.get(page) {
        return out.write_all(path.as_bytes());
    }
    let number = scramble(page as u64);
    let (first, second, third) = (word(number, 0), word(number, 1), word(number, 2));
    let (year, month) = (2003 + (number >> 40) % 23, 1 + (number >> 48) % 12);
    match (number >> 56) % 8 {
        0..4 => write!(out, "/articles/{year}/{month:02}/{first}-{second}-{third}"),
        4 => write!(out, "/articles/{year}/{month:02}/{first}-{second}.html"),
        5 => write!(out, "/images/{year}/{first}/{second}-{}.jpg", number % 10_000),
        6 => write!(out, "/downloads/{first}-{}.{}.tar.gz", number % 9, number % 70),
        _ => write!(out, "/tags/{first}+{second}/page/{}", 1 + number % 40),
    }
}

fn write_query(out: &mut impl Write, chance: &mut Chance) -> io::Result<()> {
    match chance.below(1000) {
        0..30 => write!(out, "?utm_source={}&utm_medium=feed", word(chance.below(16), 0)),
        30..36 => {
            let number = chance.below(u64::MAX);
            write!(out, "?q={}+{}&session={:08x}", word(number, 0), word(number, 1), number >> 32)
        }
        _ => Ok(()),
    }
}

fn write_referrer(out: &mut impl Write, chance: &mut Chance, visitor: &Visitor) -> io::Result<()> {
    if !visitor.is_person() {
        return out.write_all(b"-");
    }
    match chance.below(10) {
        0..2 => out.write_all(b"-"),
        2..7 => {
            out.write_all(b"https://www.example.org")?;
            write_path(out, chance.below(2000) as usize)
        }
        7..9 => {
            let number = chance.below(u64::MAX);
            write!(
                out,
                "https://www.google.com/search?q={}+{}+{}&ie=utf-8&oe=utf-8&client={}",
                word(number, 0),
                word(number, 1),
                word(number, 2),
                word(number, 3)
            )
        }
        _ => write!(out, "https://news.example.com/item?id={}", 1_000_000 + chance.below(400_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(lines: u64, seed: u64) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out, lines, seed).expect("writing to memory");
        out
    }

    /// The sample in the repository is the output for the default seed.
    #[test]
    fn the_sample_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/access.log");
        let sample = std::fs::read(path).expect("the sample log");
        assert!(sample == made(10_000, 1), "samples/access.log: make it again, see CONTRIBUTING.md");
    }

    #[test]
    fn the_log_has_the_given_number_of_lines() {
        for lines in [0, 1, 1000] {
            let log = made(lines, 9);
            assert_eq!(log.iter().filter(|&&byte| byte == b'\n').count() as u64, lines);
            assert!(log.is_empty() || log.ends_with(b"\n"));
        }
    }

    #[test]
    fn the_share_of_crawlers_is_as_specified() {
        let log = String::from_utf8(made(50_000, 2)).expect("ASCII");
        let share = log.lines().filter(|line| line.contains("bingbot")).count();
        assert!((1000..1450).contains(&share), "{share} of 50,000 lines, not about 1,200");
    }
}
