//! Counts the values of a field of log files, and prints the most frequent ones:
//!
//!     cargo run --release -p finecomb-top --example count_log -- 7 samples/access.log

use std::env;
use std::error::Error;

use finecomb_scan::{Inputs, ScanOptions};
use finecomb_top::{Query, QueryOptions, top};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let field = arguments.next().ok_or("usage: count_log FIELD FILE...")?;
    let query = Query::new(&QueryOptions::default().fields(field.parse()?))?;
    let outcome = top(&Inputs::new(arguments), &ScanOptions::default(), &query);
    for row in &outcome.answer.top {
        println!("{:>8} {}", row.count, String::from_utf8_lossy(&row.key));
    }
    println!("{:>8} records", outcome.answer.records);
    for problem in &outcome.problems {
        eprintln!("{problem}");
    }
    Ok(())
}
