//! Verifies whole indexes.
//!
//! Searches do not read checksums: reading the whole file would take longer than a thousand of them. They check what they read instead: see
//! [`consistency`](crate::consistency).

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use finecomb_sys::threads::map;

use crate::alphabet::Alphabet;
use crate::error::{Damage, Error};
use crate::format::{Section, checksum, piece_hash};
use crate::front::{self, WRONG_FRONT};
use crate::index::{INVALID_TEXT, Index, WRONG_LINES};
use crate::lines;
use crate::presence;
use crate::write::map_pieces;

/// Number of sampled pairs of adjacent suffixes.
const SAMPLES: u64 = 100_000;

/// Maximum number of symbols compared per pair. In a repetitive text, a full comparison takes too long.
const MAX_COMPARED: u64 = 1 << 14;

impl Index {
    /// Verifies the checksums of the whole file and the order of 100,000 pairs of suffixes.
    ///
    /// # Errors
    ///
    /// If the index is corrupt or cannot be read.
    pub fn verify(&self, threads: usize) -> Result<(), Error> {
        for section in Section::ALL {
            let bytes = self.section(section);
            let hashes = map_pieces(bytes.len(), threads, |range| Ok::<_, Error>(piece_hash(&bytes[range])))?;
            if checksum(hashes) != self.header().checksums[section as usize] {
                return Err(self.damaged(Damage::Checksum(section.name())));
            }
        }
        if Section::ALL.into_iter().any(|section| self.gap(section).iter().any(|&byte| byte != 0)) {
            return Err(self.damaged(Damage::Inconsistent("bytes between the sections are not zero")));
        }
        if !self.packed().has_zero_padding() {
            return Err(self.damaged(Damage::Inconsistent("bytes after the text are not zero")));
        }
        if !self.samples_are_in_order() {
            return Err(self.damaged(NOT_SORTED));
        }
        self.checked(())
    }

    /// Does everything that [`verify`](Self::verify) does, and checks all sections against the text: that the suffix array
    /// contains every position once and is sorted, and every entry of the tables. Takes 9 bytes of memory per symbol.
    ///
    /// # Errors
    ///
    /// If the index is corrupt or cannot be read.
    pub fn verify_fully(&self, threads: usize) -> Result<(), Error> {
        self.verify(threads)?;
        let symbols = self.symbols();
        let mut codes = Vec::new();
        self.packed().codes(0, symbols, &mut codes);
        self.check_codes(&codes)?;
        let part = |range: Range<u64>| self.suffixes().range(range.start, range.end).iter();
        is_suffix_array(&codes, part, threads).map_err(|damage| self.damaged(damage))?;
        let header = self.header();
        let front = front::build(&codes, header.depth, &header.ranks(), header.width, threads);
        let tables = [
            (Section::Front, front),
            (Section::Presence, presence::build(part, header.shape(), threads)),
            (
                Section::Lines,
                if self.alphabet() == Alphabet::Bytes { lines::build(&codes) } else { Vec::new() },
            ),
        ];
        for (section, table) in tables {
            if table != self.section(section) {
                return Err(self.damaged(match section {
                    Section::Front => WRONG_FRONT,
                    Section::Lines => WRONG_LINES,
                    _ => Damage::Inconsistent("the bitmaps do not match the suffix array"),
                }));
            }
        }
        self.checked(())
    }

    /// Checks that all codes of the text are symbols, and that the header's set of occurring bytes is correct.
    fn check_codes(&self, codes: &[u8]) -> Result<(), Error> {
        let mut occurs = [false; 256];
        codes.iter().for_each(|&code| occurs[usize::from(code)] = true);
        if let Some(symbols) = self.alphabet().codes() {
            if (0..=u8::MAX).any(|code| occurs[usize::from(code)] && symbols.byte(code).is_none()) {
                return Err(self.damaged(INVALID_TEXT));
            }
            occurs = [false; 256];
        }
        if occurs != self.header().occurs {
            return Err(
                self.damaged(Damage::Inconsistent("the set of bytes that occur does not match the text"))
            );
        }
        Ok(())
    }

    fn samples_are_in_order(&self) -> bool {
        let (text, suffixes) = (self.packed(), self.suffixes());
        let pairs = self.symbols().saturating_sub(1);
        // Multiples of the golden ratio spread evenly over any range (Knuth, The Art of Computer Programming 3, 6.4).
        let sample = |number: u64| {
            ((u128::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) * u128::from(pairs)) >> 64) as u64
        };
        let is_in_order = |at: u64| {
            let (left, right) = (suffixes.get(at), suffixes.get(at + 1));
            left < self.symbols()
                && right < self.symbols()
                && text.compare_suffixes(left, right, MAX_COMPARED).is_none_or(std::cmp::Ordering::is_lt)
        };
        if pairs <= SAMPLES { (0..pairs).all(is_in_order) } else { (0..SAMPLES).map(sample).all(is_in_order) }
    }
}

const NOT_SORTED: Damage = Damage::Inconsistent("the suffixes are not sorted");

/// Checks in linear time that an array is the suffix array of a text. The first of two adjacent suffixes must have the smaller
/// first symbol, or the same first symbol and the smaller rest (Burkhardt and Kärkkäinen: Fast Lightweight Suffix Array
/// Construction and Checking, 2003).
pub(crate) fn is_suffix_array<P>(
    codes: &[u8],
    positions: impl Fn(Range<u64>) -> P + Sync,
    threads: usize,
) -> Result<(), Damage>
where
    P: Iterator<Item = u64>,
{
    let symbols = codes.len() as u64;
    // Ranks start at 1. Rank 0 is the empty suffix, which is smaller than all others.
    let ranks: Vec<AtomicU64> = (0..=symbols).map(|_| AtomicU64::new(0)).collect();
    let each = symbols.div_ceil(threads.max(1) as u64).max(1);
    let parts = || (0..symbols).step_by(each as usize).map(|start| start..(start + each).min(symbols));
    let invert = |range: Range<u64>| {
        (range.start + 1..).zip(positions(range)).all(|(rank, position)| match ranks.get(position as usize) {
            Some(slot) if position < symbols => slot.swap(rank, Ordering::Relaxed) == 0,
            _ => false,
        })
    };
    let all_hold = |holds: Vec<bool>| holds.into_iter().all(|holds| holds);
    if !all_hold(map(threads, parts(), invert)) {
        return Err(Damage::Inconsistent("the suffix array is not a permutation of the positions"));
    }
    let key =
        |position: u64| (codes[position as usize], ranks[position as usize + 1].load(Ordering::Relaxed));
    // Each part starts with the last position of the previous part.
    let is_in_order = |range: Range<u64>| {
        let mut before = None;
        positions(range.start.saturating_sub(1)..range.end).all(|position| {
            let key = key(position);
            before.replace(key).is_none_or(|before| before < key)
        })
    };
    if all_hold(map(threads, parts(), is_in_order)) { Ok(()) } else { Err(NOT_SORTED) }
}
