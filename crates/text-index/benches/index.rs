//! Benchmarks a build against libsais alone, and lookups against a plain binary search: `cargo bench -p finecomb-text-index`.
//!
//! Prints two tables. The digits are pseudo-random, which makes no difference to an index.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use finecomb_text_index::{Alphabet, BuildOptions, Index, LoadedText, Occurrences};
use libsais::{SuffixArrayConstruction, ThreadCount};

/// Default number of digits in the text; an argument overrides it.
const DIGITS: usize = 100_000_000;

/// Steele, Lea and Flood's SplitMix64.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        number ^ (number >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

fn main() {
    let length = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(DIGITS);
    let mut numbers = SplitMix64(1);
    let text: Vec<u8> = (0..length).map(|_| b'0' + numbers.below(10) as u8).collect();
    let directory = tempfile::tempdir().expect("a directory");
    let output = directory.path().join("digits.comb");
    build(&text, &output);
    let index = Index::open(&output).expect("an index");
    // Reads every page once, for a warm page cache as in a server that has run for a while.
    index.verify(1).expect("a right index");
    lookups(&index, &mut numbers);
}

/// Compares a build with libsais alone. The runs are interleaved, so that a slow phase of the machine affects both.
fn build(text: &[u8], output: &Path) {
    println!(
        "| {} digits | libsais alone | all of the build | ratio |\n| --- | ---: | ---: | ---: |",
        text.len()
    );
    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    for round in 1..=3 {
        let start = Instant::now();
        let count = ThreadCount::fixed(threads.get() as u16);
        let sorted = SuffixArrayConstruction::for_text(text).in_owned_buffer32().multi_threaded(count).run();
        let alone = start.elapsed().as_secs_f64();
        drop(black_box(sorted.expect("sorted")));
        let copy = text.to_vec();
        let start = Instant::now();
        let text = LoadedText::new(Path::new("digits"), copy, Some(Alphabet::Digits)).expect("digits");
        text.build(output, &BuildOptions::default().threads(threads)).expect("an index");
        let built = start.elapsed().as_secs_f64();
        println!("| round {round} | {alone:.2} s | {built:.2} s | {:.2} |", built / alone);
    }
}

fn lookups(index: &Index, numbers: &mut SplitMix64) {
    println!("\n| lookup | rounds | median | 99 % | longest | plain: median | 99 % | ratio of medians |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let symbols = index.symbols();
    for (name, length, is_anywhere, rounds) in [
        ("7 digits, first", 7, false, 20_000),
        ("9 digits, first", 9, false, 20_000),
        ("4 digits, from anywhere", 4, true, 4000),
        ("3 digits, from anywhere", 3, true, 1000),
        ("2 digits, from anywhere", 2, true, 200),
        ("1 digit, from anywhere", 1, true, 50),
        ("100 digits, first", 100, false, 20_000),
    ] {
        let mut ours = Vec::new();
        let mut plain = Vec::new();
        for _ in 0..rounds {
            let from = if is_anywhere { numbers.below(symbols) } else { 0 };
            let pattern: Vec<u8> = match length {
                100 => part(index, numbers, 100),
                length => (0..length).map(|_| b'0' + numbers.below(10) as u8).collect(),
            };
            let (answer, time) = timed(|| {
                let pattern = index.pattern(&pattern).expect("digits");
                index.occurrences(&pattern).expect("an answer").first_from(from).expect("an answer")
            });
            ours.push(time);
            let (wanted, time) = timed(|| {
                let pattern = index.pattern(&pattern).expect("digits");
                lowest(index, &index.occurrences_by_binary_search(&pattern).expect("an answer"), from)
            });
            plain.push(time);
            assert_eq!(answer, wanted);
        }
        ours.sort_unstable();
        plain.sort_unstable();
        let (median, plain_median) = (percentile(&ours, 0.5), percentile(&plain, 0.5));
        println!(
            "| {name} | {rounds} | {} | {} | {} | {} | {} | {:.1} |",
            shown(median),
            shown(percentile(&ours, 0.99)),
            shown(percentile(&ours, 1.0)),
            shown(plain_median),
            shown(percentile(&plain, 0.99)),
            plain_median.as_secs_f64() / median.as_secs_f64()
        );
    }
}

fn part(index: &Index, numbers: &mut SplitMix64, length: u64) -> Vec<u8> {
    let start = numbers.below(index.symbols() - length);
    index.text(start, start + length).expect("a text")
}

/// Earliest occurrence at or after a position, by a scan of all occurrences.
fn lowest(index: &Index, occurrences: &Occurrences<'_>, from: u64) -> Option<u64> {
    index.positions_in_suffix_order(occurrences).filter(|&position| position >= from).min()
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = black_box(work());
    (result, start.elapsed())
}

/// Percentile of sorted times.
fn percentile(sorted: &[Duration], share: f64) -> Duration {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

fn shown(time: Duration) -> String {
    match time.as_secs_f64() * 1e6 {
        micros if micros < 10.0 => format!("{micros:.2} µs"),
        micros if micros < 1000.0 => format!("{micros:.0} µs"),
        micros => format!("{:.1} ms", micros / 1000.0),
    }
}
