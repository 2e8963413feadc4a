//! Any bytes as an index file: opening it is an index or an error, and asking it never panics.
//!
//! Checksums would keep the fuzzer out of what is behind them, so what it gives is made a file with right ones, too.
#![no_main]

use std::path::Path;

use finecomb_text_index::Index;
use libfuzzer_sys::fuzz_target;

fn ask(index: &Index) {
    for pattern in [&b"1"[..], b"00", b"314159265", b"ACGT", b"a\n"] {
        let Ok(pattern) = index.pattern(pattern) else { continue };
        let Ok(occurrences) = index.occurrences(&pattern) else { continue };
        let _ = (occurrences.first_from(0), occurrences.first_from(77), occurrences.last_before(u64::MAX));
        occurrences.positions_from(3).take(10_000).for_each(drop);
    }
    let _ = (index.text(0, 1000), index.place(5), index.passage(1, 2, 3), index.verify(1));
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(index) = Index::from_bytes(Path::new("fuzzed"), bytes.to_vec()) {
        ask(&index);
    }
    if let Ok(index) = Index::from_bytes(Path::new("fuzzed"), finecomb_text_index::with_checksums(bytes)) {
        ask(&index);
    }
});
