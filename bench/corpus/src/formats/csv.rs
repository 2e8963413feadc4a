//! Orders of a shop as CSV: names with commas, quotes, notes with line feeds, empty values.

use std::io::{self, Write};

use crate::chance::{Chance, Weighted};
use crate::clock::Clock;
use crate::words::{scramble, word};

const PRODUCTS: [(&str, u64); 8] = [
    ("pencil", 120),
    (r#""notebook, ruled""#, 450),
    (r#""ruler 12"" steel""#, 899),
    ("eraser", 95),
    (r#""ink, blue""#, 1_250),
    ("desk lamp", 4_999),
    (r#""paper, A4, 500 sheets""#, 749),
    ("stapler", 1_599),
];

const COUNTRIES: [&str; 8] = ["DE", "FR", "US", "GB", "JP", "BR", "IN", "CA"];

const NOTES: [&str; 5] = [
    "gift",
    r#""ring twice, please""#,
    "\"leave at the door\nthe dog is friendly\"",
    r#""invoice to ""Accounts""""#,
    "call before delivery",
];

const STATES: [&str; 4] = ["shipped", "paid", "open", "returned"];

pub(super) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    let countries = Weighted::zipf(COUNTRIES.len() as u64, 1);
    let customers = Weighted::zipf(lines / 4 + 10, 5);
    let mut clock = Clock::new(lines);
    writeln!(out, "order_id,date,customer,country,product,quantity,price,discount,status,note")?;
    for order in 0..lines {
        clock.tick(&mut chance);
        let customer = customers.draw(&mut chance) as u64;
        let number = scramble(customer);
        let &(product, cents) = chance.pick(&PRODUCTS);
        let discount = if chance.in_1000(200) { "0.05" } else { "" };
        let note = if chance.in_1000(120) { *chance.pick(&NOTES) } else { "" };
        writeln!(
            out,
            "{},{},\"{}, {}\",{},{product},{},{}.{:02},{discount},{},{note}",
            100_001 + order,
            clock.day(),
            word(number, 0),
            word(number, 1),
            COUNTRIES[countries.draw(&mut chance)],
            1 + chance.below(9),
            cents / 100,
            cents % 100,
            chance.pick(&STATES)
        )?;
    }
    Ok(())
}
