//! Keys that probably occur once: their hashes and places in a file, rather than their bytes.
//!
//! If nearly all keys of a large file are distinct, a table of them costs several times the memory bandwidth of reading the file: the
//! first touch of fresh memory, the copies of keys, and the cache misses of a large table. So once most keys are new, a worker adds no
//! more of them to its table. It keeps 16 bytes for each: the hash, and where the key is in the file. In the end, keys whose hash
//! occurs once are distinct. All others are read again, and are counted by their bytes. If many keys repeat after all, the workers read
//! the files again from the beginning, and count the deferred keys in their tables. Two million distinct lines of 250 bytes take 0.4 of the
//! time that way, and 62 MB instead of 672.
//!
//! The bytes of a key that occurs once are never needed: a key is deferred only if the table has as many smaller keys as are wanted,
//! and those come before it in the answer. That holds for descending counts, and for no other order.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use finecomb_scan::{Block, RereadFile, Source};
use finecomb_sys::ReadBuffer;
use finecomb_sys::locks::lock;
use finecomb_sys::memory::FixedVec;

use crate::cells::{Span, bytes_of};
use crate::count::order::Entry;
use crate::count::slot::Head;
use crate::count::table::{SHARDS, Table, Visitor, bit_of, high, shard_of};
use crate::key::hash::Hasher;
use crate::query::Order;

/// Keys are deferred once fewer than one in this many repeat.
const REPEATED: usize = 10;

/// No more keys are deferred once more than one in this many repeat. Up to there it costs less to read them again in the end, each by
/// a system call, than to count all deferred keys in the table.
const REPEATED_LATER: usize = 5;

/// Number of slots for hashes of recent keys. A key that occurs again while it is there is added to the table, so that a frequent
/// key is deferred only a few times.
const RECENT: usize = 1 << 11;

/// One in this many hashes is remembered, to estimate how many keys repeat.
const SAMPLED: u64 = 32;

/// Number of keys of the sample after which a worker looks at how many of them repeat.
const WINDOW: usize = 512;

/// Bytes of a file that are read again at a time.
const READ: u64 = 1 << 20;

/// Maximum number of files with deferred keys: these files remain open.
const MAX_FILES: usize = 64;

/// A place is the position of a key in all blocks of a worker, and its length in this many bits.
const LENGTH_BITS: u32 = 24;

/// Keys in a chunk of a list.
const CHUNK: usize = 256;

/// Keys in a slab of chunks: a huge page.
const SLAB: usize = 1 << 17;

/// Bits for each key in the search for equal hashes.
const BITS_PER_KEY: usize = 32;

/// A key that was deferred.
#[derive(Clone, Copy, Debug, Default)]
struct DeferredKey {
    hash: u64,
    place: u64,
}

impl DeferredKey {
    fn position(self) -> u64 {
        self.place >> LENGTH_BITS
    }

    fn length(self) -> usize {
        (self.place & ((1 << LENGTH_BITS) - 1)) as usize
    }
}

/// Keys that a worker has deferred, and its decision whether to defer more.
#[derive(Debug)]
pub(crate) struct Deferred {
    hasher: Hasher,
    /// Number of keys that the table needs at least.
    from: usize,
    /// Number of keys of the answer.
    number: usize,
    decision: Decision,
    /// A key that is not greater than this one is not deferred.
    least: Vec<u8>,
    least_start: u64,
    /// Number of keys in the table when the least key was chosen.
    chosen_at: usize,
    recent: Vec<u64>,
    sample: Arc<HashSample>,
    /// Number of keys since the last look at the sample, and of keys among them that had occurred before.
    sampled: usize,
    repeated: usize,
    lists: Lists,
    stretches: Vec<Stretch>,
    files: Vec<(RereadFile, Source)>,
    /// Position of the present block, and its end.
    position: u64,
    end: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    /// This many keys were counted in the last blocks, and nearly all were new.
    Waiting(usize),
    Deferring,
    /// Too many keys occur again, or are smaller than the least one.
    Over,
}

/// Hashes of a part of the deferred keys of all workers, from which they learn how many keys repeat.
#[derive(Debug, Default)]
pub(crate) struct HashSample {
    hashes: [Mutex<HashSet<u64>>; 32],
    /// Whether too many do.
    is_over: AtomicBool,
}

impl HashSample {
    /// Adds a hash. Returns `false` if it was there.
    #[inline(never)]
    fn insert(&self, hash: u64) -> bool {
        let hashes = &self.hashes[(hash >> 59) as usize];
        lock(hashes).insert(hash)
    }
}

/// Bytes of a file that follow each other, in the positions of a worker.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    position: u64,
    file: usize,
    offset: u64,
}

impl Deferred {
    /// No keys. `None` if the answer needs the bytes of all keys.
    pub(crate) fn for_order(
        order: &Order,
        hasher: Hasher,
        from: usize,
        sample: &Arc<HashSample>,
    ) -> Option<Self> {
        order.is_by_descending_count().then(|| Self {
            hasher,
            from: from.max(order.number.saturating_mul(4)),
            number: order.number,
            decision: Decision::Waiting(0),
            least: Vec::new(),
            least_start: 0,
            chosen_at: 0,
            recent: Vec::new(),
            sample: Arc::clone(sample),
            sampled: 0,
            repeated: 0,
            lists: Lists::default(),
            stretches: Vec::new(),
            files: Vec::new(),
            position: 0,
            end: 0,
        })
    }

    /// Begins a block, whose keys are spans of it. `None` if none of them can be deferred.
    pub(crate) fn begin(&mut self, block: &Block<'_>) -> Option<&mut Self> {
        let file = block.file.as_ref().filter(|_| self.decision != Decision::Over)?;
        if self.decision != Decision::Deferring {
            return Some(self);
        }
        let number = match self.files.iter().rposition(|(known, _)| known.is(file)) {
            Some(number) => number,
            None if self.files.len() == MAX_FILES => return None,
            None => {
                self.files.push((file.clone(), block.source.clone()));
                self.files.len() - 1
            }
        };
        self.position = self.end;
        self.end += block.bytes.len() as u64;
        let continues = |last: &Stretch| {
            last.file == number && last.offset + (self.position - last.position) == block.offset
        };
        if !self.stretches.last().is_some_and(continues) {
            self.stretches.push(Stretch { position: self.position, file: number, offset: block.offset });
        }
        (self.end < 1 << (u64::BITS - LENGTH_BITS)).then_some(self)
    }

    /// Counts `keys`, which are spans of `text`, in the table, unless new ones are deferred.
    pub(crate) fn count(&mut self, table: &mut Table, text: &[u8], keys: &[Span]) {
        let before = table.len();
        if self.decision == Decision::Deferring {
            table.visit(text, keys, &mut *self);
        } else {
            table.count(text, keys);
        }
        self.decide(table, keys.len(), before);
    }

    /// Decides whether to defer keys of the next blocks. `keys` were counted, and the table had `before` keys before.
    fn decide(&mut self, table: &mut Table, keys: usize, before: usize) {
        let known = table.len();
        match self.decision {
            Decision::Waiting(_) if known < self.from => {}
            Decision::Waiting(so_far) => {
                let repeated = keys - (known - before);
                let so_far = if repeated * REPEATED < keys { so_far + keys } else { 0 };
                self.decision = Decision::Waiting(so_far);
                if so_far >= self.from / 4 {
                    self.recent = vec![0; RECENT];
                    self.choose_least(table);
                    self.decision = Decision::Deferring;
                }
            }
            Decision::Deferring => {
                if self.sampled >= WINDOW {
                    if self.repeated * REPEATED_LATER > self.sampled {
                        self.sample.is_over.store(true, Ordering::Relaxed);
                    }
                    (self.sampled, self.repeated) = (0, 0);
                }
                if self.sample.is_over.load(Ordering::Relaxed) {
                    self.decision = Decision::Over;
                    self.count_again(table);
                } else if known >= 2 * self.chosen_at {
                    // Keys in descending order would all be smaller than another least one, too.
                    if self.lists.total() < known {
                        self.decision = Decision::Over;
                    } else {
                        self.choose_least(table);
                    }
                }
            }
            Decision::Over => {}
        }
    }

    /// Chooses the key up to which the table has as many keys as are wanted.
    fn choose_least(&mut self, table: &Table) {
        let mut entries = table.entries();
        self.chosen_at = entries.len();
        self.least.clear();
        if let Some(last) = self.number.checked_sub(1) {
            let (_, least, _) = entries.select_nth_unstable_by(last, |one, other| one.key.cmp(other.key));
            self.least.extend_from_slice(least.key);
        }
        self.least_start = beginning(&self.least);
    }

    /// Adds the deferred keys to the table, for which it reads their part of the file again from the beginning to the end. Keys that
    /// cannot be read remain deferred.
    fn count_again(&mut self, table: &mut Table) {
        let lists = std::mem::take(&mut self.lists);
        table.reserve(lists.total());
        let mut keys: Vec<_> = (0..SHARDS).map(|shard| lists.keys(shard).peekable()).collect();
        let (mut bytes, mut chosen, mut spans) = (ReadBuffer::new(), Vec::<&DeferredKey>::new(), Vec::new());
        for (number, stretch) in self.stretches.iter().enumerate() {
            let end = self.stretches.get(number + 1).map_or(self.end, |next| next.position);
            let mut position = stretch.position;
            while position < end {
                let window_end = end.min(position + READ);
                chosen.clear();
                for keys in &mut keys {
                    chosen.extend(std::iter::from_fn(|| keys.next_if(|key| key.position() < window_end)));
                }
                let last =
                    chosen.iter().map(|key| key.position() + key.length() as u64).max().unwrap_or(position);
                let length = (last - position) as usize;
                let offset = stretch.offset + (position - stretch.position);
                let is_read = self.files[stretch.file].0.read(offset, length, &mut bytes).is_ok();
                spans.clear();
                for (key, shard) in chosen.iter().map(|key| (**key, shard_of(high(key.hash)))) {
                    let start = (key.position() - position) as usize;
                    let span = (start, start + key.length());
                    if is_read && self.hasher.hash_of(bytes_of(&bytes, span)) == key.hash {
                        spans.push(span);
                    } else {
                        self.lists.push(shard, key);
                    }
                }
                table.count(&bytes, &spans);
                position = window_end;
            }
        }
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        self.lists.slabs.iter().map(|slab| slab.capacity() * size_of::<DeferredKey>()).sum()
    }

    /// Reads a key again. `None` if the file has changed.
    fn read<'b>(&self, key: DeferredKey, buffer: &'b mut ReadBuffer) -> Option<&'b [u8]> {
        let stretch = self.stretch(key);
        let (file, _) = self.files.get(stretch.file)?;
        let offset = stretch.offset + (key.position() - stretch.position);
        file.read(offset, key.length(), buffer).ok()?;
        let bytes = &buffer[..key.length()];
        (self.hasher.hash_of(bytes) == key.hash).then_some(bytes)
    }

    fn stretch(&self, key: DeferredKey) -> Stretch {
        let later = self.stretches.partition_point(|stretch| stretch.position <= key.position());
        self.stretches[later - 1]
    }

    fn source(&self, key: DeferredKey) -> &Source {
        &self.files[self.stretch(key).file].1
    }
}

/// Increments the count in the slot. New keys may be deferred.
impl Visitor for &mut Deferred {
    #[inline(always)]
    fn visit(&mut self, head: &mut Head) {
        head.count += 1;
    }

    #[inline(always)]
    fn new_key(&mut self) -> u64 {
        1
    }

    #[inline(always)]
    fn defer(&mut self, hash: u64, text: &[u8], key: Span) -> bool {
        let (start, length) = (key.0, key.1 - key.0);
        let first = beginning(bytes_of(text, key));
        if length >> LENGTH_BITS > 0
            || first < self.least_start
            || first == self.least_start && *bytes_of(text, key) <= *self.least
        {
            return false;
        }
        let Some(recent) = self.recent.get_mut(hash as usize % RECENT) else { return false };
        if *recent == hash {
            return false;
        }
        *recent = hash;
        if (hash / RECENT as u64).is_multiple_of(SAMPLED) {
            self.sampled += 1;
            self.repeated += usize::from(!self.sample.insert(hash));
        }
        let place = (self.position + start as u64) << LENGTH_BITS | length as u64;
        self.lists.push(shard_of(high(hash)), DeferredKey { hash, place });
        true
    }
}

/// The first eight bytes, padded with zeros, as a number in the order of the keys.
#[inline(always)]
fn beginning(key: &[u8]) -> u64 {
    match key.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            key.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
                << (8 * (8 - key.len() as u32).min(7))
        }
    }
}

/// A list of keys for each shard, in chunks of large slabs.
#[derive(Debug, Default)]
struct Lists {
    slabs: Vec<FixedVec<DeferredKey>>,
    lists: Vec<ShardList>,
}

#[derive(Clone, Debug, Default)]
struct ShardList {
    /// Slabs and positions of its chunks.
    chunks: Vec<(usize, usize)>,
    /// Place of the next key, and the end of the last chunk.
    slab: usize,
    next: usize,
    end: usize,
}

impl Lists {
    #[inline(always)]
    fn push(&mut self, shard: usize, key: DeferredKey) {
        if self.lists.get(shard).is_none_or(|list| list.next == list.end) {
            self.add_chunk(shard);
        }
        let Some(list) = self.lists.get_mut(shard) else { return };
        if let Some(place) = self.slabs.get_mut(list.slab).and_then(|slab| slab.get_mut(list.next)) {
            *place = key;
        }
        list.next += 1;
    }

    #[cold]
    fn add_chunk(&mut self, shard: usize) {
        self.lists.resize(SHARDS, ShardList::default());
        if self.slabs.last().is_none_or(|slab| slab.len() == slab.capacity()) {
            self.slabs.push(FixedVec::with_capacity(SLAB));
        }
        let number = self.slabs.len() - 1;
        let (start, end) = (self.slabs[number].len(), self.slabs[number].len() + CHUNK);
        self.slabs[number].fill_up(DeferredKey::default(), end);
        let list = &mut self.lists[shard];
        list.chunks.push((number, start));
        (list.slab, list.next, list.end) = (number, start, end);
    }

    fn len(&self, shard: usize) -> usize {
        self.lists.get(shard).map_or(0, |list| list.chunks.len() * CHUNK - (list.end - list.next))
    }

    fn total(&self) -> usize {
        (0..self.lists.len()).map(|shard| self.len(shard)).sum()
    }

    fn keys(&self, shard: usize) -> impl Iterator<Item = &DeferredKey> {
        let chunks = self.lists.get(shard).map_or(&[][..], |list| &list.chunks);
        let keys = chunks.iter().flat_map(|&(slab, start)| &self.slabs[slab][start..start + CHUNK]);
        keys.take(self.len(shard))
    }
}

/// The deferred keys of a shard of all workers.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// Number of keys that occur once, and in no table.
    pub(crate) single: u64,
    /// Hashes and bytes of the others.
    pub(crate) others: Vec<(u32, Vec<u8>)>,
    /// Files in which a key is no longer where it was.
    pub(crate) changed: Vec<Source>,
}

impl Resolved {
    /// Finds the keys of a shard that may be in a table or among the deferred keys again, and reads them. The others occur once.
    pub(crate) fn of(deferred: &[&Deferred], tables: &[&Table], shard: usize) -> Self {
        let count: usize = deferred.iter().map(|deferred| deferred.lists.len(shard)).sum();
        if count == 0 {
            return Self::default();
        }
        let mut bits = HashBits::for_keys(count);
        for table in tables {
            table.visit_shard(shard, |Entry { hash, .. }| bits.set(hash));
        }
        for deferred in deferred {
            deferred.lists.keys(shard).for_each(|key| bits.set(high(key.hash)));
        }
        let mut hashes = Vec::new();
        for table in tables {
            table.visit_shard(shard, |Entry { hash, .. }| {
                if bits.is_set_twice(hash) {
                    hashes.push(hash);
                }
            });
        }
        hashes.sort_unstable();
        let mut candidates: Vec<(DeferredKey, usize)> = Vec::new();
        for (worker, deferred) in deferred.iter().enumerate() {
            let keys = deferred.lists.keys(shard).filter(|key| bits.is_set_twice(high(key.hash)));
            candidates.extend(keys.map(|&key| (key, worker)));
        }
        candidates.sort_unstable_by_key(|(key, _)| key.hash);
        let mut resolved = Self { single: count as u64, ..Self::default() };
        let mut buffer = ReadBuffer::new();
        for equal in candidates.chunk_by(|(one, _), (other, _)| one.hash == other.hash) {
            let hash = high(equal[0].0.hash);
            if equal.len() == 1 && hashes.binary_search(&hash).is_err() {
                continue;
            }
            for &(key, worker) in equal {
                match deferred[worker].read(key, &mut buffer) {
                    Some(bytes) => {
                        resolved.single -= 1;
                        resolved.others.push((hash, bytes.to_vec()));
                    }
                    None => resolved.changed.push(deferred[worker].source(key).clone()),
                }
            }
        }
        resolved
    }
}

/// Bits of hashes that occur, and of hashes that occur twice.
struct HashBits {
    once: Vec<u64>,
    twice: Vec<u64>,
}

impl HashBits {
    fn for_keys(count: usize) -> Self {
        let words = (count * BITS_PER_KEY / 64).next_power_of_two();
        Self { once: vec![0; words], twice: vec![0; words] }
    }

    #[inline(always)]
    fn place(&self, hash: u32) -> (usize, u64) {
        let bit = bit_of(hash, 64 * self.once.len());
        (bit / 64, 1 << (bit % 64))
    }

    #[inline(always)]
    fn set(&mut self, hash: u32) {
        let (word, bit) = self.place(hash);
        if let (Some(once), Some(twice)) = (self.once.get_mut(word), self.twice.get_mut(word)) {
            *twice |= *once & bit;
            *once |= bit;
        }
    }

    #[inline(always)]
    fn is_set_twice(&self, hash: u32) -> bool {
        let (word, bit) = self.place(hash);
        self.twice.get(word).is_some_and(|twice| twice & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use finecomb_scan::{Inputs, ScanOptions, Width};
    use proptest::prelude::*;

    use super::*;
    use crate::query::options::SortBy;
    use crate::{FieldList, KeyCount, Outcome, Query, QueryOptions, top};

    fn order(number: usize) -> Order {
        Order { by: SortBy::Count, reverse: false, number, min_count: 1 }
    }

    /// Lines that hardly repeat, some with the same beginning, and short lines that repeat.
    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            20 => any::<u32>().prop_map(|number| format!("{number:x}")),
            20 => (0..4_000_u32).prop_map(|number| format!("one beginning {number}")),
            2 => (0..20_u32).prop_map(|number| format!("{number} {}", "x".repeat(100))),
            1 => "[a-c\\x00]{0,3}",
        ];
        let order = prop::sample::select(vec![None, Some(false), Some(true)]);
        (prop::collection::vec(line, 1..2_000), order, any::<bool>()).prop_map(
            |(mut lines, order, is_twice)| {
                if let Some(is_descending) = order {
                    lines.sort_by(|one, other| if is_descending { other.cmp(one) } else { one.cmp(other) });
                }
                let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
                if is_twice { text.repeat(2) } else { text }
            },
        )
    }

    fn counted(outcome: &Outcome) -> (u64, u64, &[KeyCount]) {
        assert!(outcome.problems.is_empty() && outcome.failure.is_none());
        (outcome.answer.records, outcome.answer.distinct, &outcome.answer.top)
    }

    proptest! {
        #[test]
        fn deferred_keys_are_counted_as_all_others(
            texts in prop::collection::vec(text(), 1..3),
            number in prop::sample::select(vec![0, 1, 3, 10, usize::MAX]),
            reverse in prop::bool::weighted(0.1),
            min_count in 0..3_u64,
            of_field: bool,
            from in prop::sample::select(vec![1, 20, 300]),
            width in prop::sample::select(vec![1, 2, 3, 8]),
            block_size in prop::sample::select(vec![100, 1_000, 10_000]),
        ) {
            let directory = tempfile::tempdir().expect("a directory");
            let paths: Vec<_> = (0..texts.len()).map(|number| directory.path().join(number.to_string())).collect();
            for (path, text) in paths.iter().zip(&texts) {
                fs::write(path, text).expect("room");
            }
            let mut options = QueryOptions::default().number(number).reverse(reverse).min_count(min_count);
            if of_field {
                options = options.fields("-1".parse::<FieldList>().expect("a field"));
            }
            let mut query = Query::new(&options).expect("a query");
            let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
            query.defer_from = from;
            let deferring = top(&Inputs::new(&paths), &scan, &query);
            query.defer_from = usize::MAX;
            let plain = top(&Inputs::new(&paths), &scan, &query);
            prop_assert_eq!(counted(&deferring), counted(&plain));
        }
    }

    /// A file whose blocks are counted by hand.
    struct Counting {
        file: RereadFile,
        source: Source,
        table: Table,
        deferred: Deferred,
        offset: u64,
        _directory: tempfile::TempDir,
    }

    impl Counting {
        /// Writes the blocks to a file, and counts the first ones.
        fn of(blocks: &[String], counted: usize) -> Self {
            let directory = tempfile::tempdir().expect("a directory");
            let path = directory.path().join("log");
            fs::write(&path, blocks.concat()).expect("room");
            let hasher = Hasher::random();
            let mut counting = Self {
                file: RereadFile::new(Arc::new(File::open(&path).expect("a file"))),
                source: Source::named(0, Some(path)),
                table: Table::new(hasher),
                deferred: Deferred::for_order(&order(3), hasher, 1000, &Arc::default()).expect("this order"),
                offset: 0,
                _directory: directory,
            };
            blocks[..counted].iter().for_each(|block| counting.count(block));
            counting
        }

        /// Replaces the contents of the file.
        fn rewrite(&self, text: &str) {
            fs::write(self.source.display_path(), text).expect("room");
        }

        /// Counts the lines of the next block.
        fn count(&mut self, text: &str) {
            let mut bytes = text.as_bytes().to_vec();
            let mut block = Block::new(&self.source, self.offset, &mut bytes);
            block.file = Some(self.file.clone());
            let mut start = 0;
            let spans = text.lines().map(|line| {
                start += line.len() + 1;
                (start - line.len() - 1, start - 1)
            });
            let spans: Vec<Span> = spans.collect();
            match self.deferred.begin(&block) {
                Some(deferred) => deferred.count(&mut self.table, block.bytes, &spans),
                None => self.table.count(block.bytes, &spans),
            }
            self.offset += text.len() as u64;
        }

        fn resolved(&self) -> (u64, usize, Vec<Source>) {
            let shards = (0..SHARDS).map(|shard| Resolved::of(&[&self.deferred], &[&self.table], shard));
            shards.fold((0, 0, Vec::new()), |(single, others, changed), shard| {
                (single + shard.single, others + shard.others.len(), [changed, shard.changed].concat())
            })
        }
    }

    fn numbers(range: std::ops::Range<u32>) -> String {
        range.map(|number| format!("line {number:06}\n")).collect()
    }

    #[test]
    fn distinct_keys_are_deferred_and_a_changed_file_is_noticed() {
        let blocks = [numbers(0..1000), numbers(1000..3000), numbers(2000..2010)];
        let counting = Counting::of(&blocks, blocks.len());
        assert!(counting.deferred.memory() > 0);
        // Some of the repeated ones are recent, and in the table for that.
        let recent = counting.table.len() - 1000;
        assert_eq!(counting.resolved(), (1990, 20 - recent, Vec::new()));
        counting.rewrite(&blocks.concat().to_uppercase());
        assert_eq!(
            counting.resolved(),
            (2010 - recent as u64, 0, vec![counting.source.clone(); 20 - recent])
        );
    }

    #[test]
    fn a_frequent_key_is_deferred_only_once() {
        let blocks = [numbers(0..1000), "line x\n".repeat(1000)];
        let counting = Counting::of(&blocks, blocks.len());
        assert_eq!(counting.table.len(), 1001);
        assert_eq!(counting.resolved(), (0, 1, Vec::new()));
    }

    /// The table then has the keys of the first blocks, too, except the changed ones.
    #[test]
    fn no_more_keys_are_deferred_once_many_repeat() {
        for is_changed in [false, true] {
            let blocks =
                [numbers(0..1000), numbers(1000..80_000), numbers(1000..80_000), numbers(90_000..91_000)];
            let mut counting = Counting::of(&blocks, 2);
            let (in_table, deferred) = (counting.table.len(), counting.deferred.lists.total());
            assert_eq!((in_table, deferred), (1000, 79_000));
            if is_changed {
                counting.rewrite(&blocks.concat().replace("line 002000", "Line 002000"));
            }
            blocks[2..].iter().for_each(|block| counting.count(block));
            assert_eq!(counting.deferred.decision, Decision::Over);
            let lost = usize::from(is_changed);
            // A recent key was deferred once, and is in the table by then.
            assert_eq!(counting.table.len(), 81_000 - lost);
            let counts: u64 = counting.table.entries().iter().map(|entry| entry.count).sum();
            let left = counting.deferred.lists.total();
            assert_eq!(counts as usize + left, 160_000);
            assert_eq!((left, counting.resolved().2.len()), if is_changed { (2, 2) } else { (0, 0) });
        }
    }

    #[test]
    fn keys_in_descending_order_are_not_deferred() {
        let text = |range: std::ops::Range<u32>| -> String {
            range.rev().map(|number| format!("line {number:06}\n")).collect()
        };
        let blocks = [text(9000..10_000), text(7000..9000), text(5000..7000)];
        let counting = Counting::of(&blocks, blocks.len());
        assert_eq!((counting.table.len(), counting.deferred.decision), (5000, Decision::Over));
    }

    #[test]
    fn the_least_key_is_chosen_again_if_the_table_grows() {
        let blocks =
            [numbers(10_000..11_000), numbers(20_000..30_000), numbers(5000..6000), numbers(7000..7010)];
        let counting = Counting::of(&blocks, blocks.len());
        assert_eq!(counting.deferred.least, b"line 005002");
        assert_eq!((counting.table.len(), counting.resolved().0), (2000, 10_010));
    }

    #[test]
    fn beginnings_are_in_the_order_of_the_keys() {
        let keys: [&[u8]; 8] = [b"", b"\0", b"a", b"a\0", b"ab", b"abcdefg", b"abcdefgh", b"abcdefgi"];
        assert!(keys.is_sorted_by_key(|key| beginning(key)));
        assert_eq!(beginning(b"ab"), 0x6162_0000_0000_0000);
        assert_eq!([beginning(b""), beginning(b"a")], [0, 0x61 << 56]);
    }
}
