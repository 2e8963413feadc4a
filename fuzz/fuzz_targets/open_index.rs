//! Damaged index files: opening one returns an index or an error, and queries and verification never panic.
//!
//! Random bytes would never pass the header check. The input instead describes damage to a valid index, and whether to recompute
//! the checksums.
#![no_main]

use std::env::temp_dir;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process;
use std::sync::LazyLock;

use finecomb_text_index::{Alphabet, BuildOptions, Index, LoadedText, recompute_checksums};
use libfuzzer_sys::fuzz_target;

/// An index of each alphabet, and of an empty text.
static INDEXES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let digits = "31415926535897932384626433832795".repeat(40);
    let lines = "one fish\ntwo fish\r\nred fish\nblue fish\n\n".repeat(30);
    let texts = [
        (Alphabet::Digits, digits.as_str()),
        (Alphabet::Dna, "ACGTACGGTTAACC"),
        (Alphabet::Bytes, lines.as_str()),
        (Alphabet::Bytes, ""),
    ];
    texts.map(|(alphabet, text)| build(text.as_bytes(), alphabet)).to_vec()
});

fn build(text: &[u8], alphabet: Alphabet) -> Vec<u8> {
    let path = temp_dir().join(format!("finecomb-fuzz-{}.comb", process::id()));
    let options = BuildOptions::default().threads(NonZeroUsize::MIN);
    let text = LoadedText::new(Path::new("text"), text.to_vec(), Some(alphabet)).expect("a text");
    text.build(&path, &options).expect("an index");
    let index = fs::read(&path).expect("an index");
    fs::remove_file(&path).expect("a file");
    index
}

fn query(index: &Index) {
    for pattern in [&b"1"[..], b"00", b"314159265", b"ACGT", b"fish\n"] {
        let Ok(pattern) = index.pattern(pattern) else { continue };
        let Ok(occurrences) = index.occurrences(&pattern) else { continue };
        let _ = (occurrences.first_from(0), occurrences.first_from(77), occurrences.last_before(u64::MAX));
        occurrences.positions_from(3).take(10_000).for_each(drop);
    }
    let _ = (index.text(0, 1000), index.place(5), index.passage(1, 2, 3));
    let _ = (index.verify(1), index.verify_fully(1));
}

/// Number of the index, whether to recompute checksums, length to truncate to, and bytes to write: each near the beginning of the
/// header or anywhere, with its offset and value.
type Damage = (u8, bool, Option<u16>, Vec<(bool, u16, u8)>);

fuzz_target!(|damage: Damage| {
    let (number, recomputes_checksums, length, changes) = damage;
    let mut file = INDEXES[usize::from(number) % INDEXES.len()].clone();
    for (in_header, offset, byte) in changes {
        let range = if in_header { 256 } else { file.len() };
        file[usize::from(offset) % range] = byte;
    }
    file.truncate(length.map_or(usize::MAX, usize::from));
    if recomputes_checksums {
        recompute_checksums(&mut file);
    }
    if let Ok(index) = Index::from_bytes(Path::new("fuzzed"), file) {
        query(&index);
    }
});
