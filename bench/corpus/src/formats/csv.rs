//! Orders of a shop as CSV: names with commas, doubled quotes, notes with line feeds, empty values.

use std::io::{self, Write};

use crate::chance::{Chance, Weighted};
use crate::clock::Clock;
use crate::words::{scramble, word};

/// Products in quotes where CSV needs them, and prices in cents. The most frequent first.
const PRODUCTS: [(&str, u64); 24] = [
    (r#""notebook, ruled""#, 450),
    ("pencil", 120),
    (r#""paper, A4, 500 sheets""#, 749),
    ("eraser", 95),
    (r#""ruler 12"" steel""#, 899),
    ("stapler", 1_599),
    (r#""ink, blue""#, 1_250),
    ("desk lamp", 4_999),
    ("café table", 18_900),
    (r#""monitor 27""""#, 23_950),
    ("envelopes", 385),
    ("hole punch", 1_149),
    (r#""notebook, plain""#, 430),
    ("scissors", 675),
    ("glue stick", 210),
    (r#""ink, black""#, 1_195),
    ("whiteboard", 8_400),
    (r#""folder, set of 10""#, 990),
    ("desk chair", 21_900),
    ("calculator", 2_490),
    (r#""screen cloth, 8"" x 8""""#, 349),
    ("fountain pen", 6_750),
    ("bookshelf", 12_900),
    ("globe", 5_480),
];

const COUNTRIES: [&str; 14] =
    ["DE", "FR", "US", "GB", "JP", "BR", "IN", "CA", "NL", "PL", "ES", "KE", "NZ", "IS"];

/// Notes in quotes where CSV needs them.
const NOTES: [&str; 8] = [
    "gift",
    r#""ring twice, please""#,
    "\"leave at the door\nthe dog is friendly\"",
    r#""invoice to ""Accounts""""#,
    "call before delivery",
    "\"two parcels:\n1. books\n2. \"\"the rest\"\"\"",
    "\"gift, no invoice\"",
    "déjà vu",
];

const DISCOUNTS: [&str; 8] = ["", "", "", "", "", "0.05", "0.10", "0.25"];

const STATES: [&str; 10] =
    ["shipped", "shipped", "shipped", "shipped", "shipped", "paid", "paid", "open", "returned", "declined"];

pub(super) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    let products = Weighted::zipf(PRODUCTS.len() as u64, 1);
    let countries = Weighted::zipf(COUNTRIES.len() as u64, 1);
    let customers = Weighted::zipf(lines / 4 + 10, 5);
    let mut clock = Clock::new(lines);
    // One customer tries a card again and again.
    let burst = lines / 8 * 5..lines / 8 * 5 + lines / 50;
    writeln!(out, "order_id,date,customer,country,product,quantity,price,discount,status,note")?;
    for order in 0..lines {
        let (id, quantity) = (100_001 + order, 1 + chance.below(9) * chance.below(9) / 8);
        if burst.contains(&order) {
            clock.tick_within(&mut chance, 9_000_000);
            writeln!(out, "{id},{},Larch & Larch,US,globe,{quantity},54.80,,declined,", clock.day())?;
            continue;
        }
        clock.tick(&mut chance);
        write!(out, "{id},{},", clock.day())?;
        write_customer(out, scramble(customers.draw(&mut chance) as u64))?;
        let (product, cents) = PRODUCTS[products.draw(&mut chance)];
        let country = COUNTRIES[countries.draw(&mut chance)];
        write!(out, ",{country},{product},{quantity},{}.{:02}", cents / 100, cents % 100)?;
        let note = if chance.in_1000(150) { *chance.pick(&NOTES) } else { "" };
        writeln!(out, ",{},{},{note}", chance.pick(&DISCOUNTS), chance.pick(&STATES))?;
    }
    Ok(())
}

/// Writes the name of a customer: two words with a comma, a firm, a name with a nickname, or nothing for a guest.
fn write_customer(out: &mut impl Write, number: u64) -> io::Result<()> {
    let (family, given) = (capital(word(number, 0)), capital(word(number, 1)));
    match number >> 50 & 15 {
        0 => Ok(()),
        1..4 => write!(out, "{family} Trading"),
        4..6 => write!(out, "\"{family}, {given} & Co.\""),
        6..8 => write!(out, "\"{family}, {given} \"\"{}\"\"\"", capital(word(number, 2))),
        _ => write!(out, "\"{family}, {given}\""),
    }
}

/// A word with a capital letter.
fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_ascii_uppercase() + rest
}
