//! Which documents of a segment fulfil a condition.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;

use super::{GROUP, OFFSET_BITS, Segment};
use crate::documents::Documents;
use crate::error::Error;
use crate::list;
use crate::needs::Needs;
use crate::trigram::{Trigram, trigram};

/// Bytes of lists that are read for each document that is left. A file takes 15 µs to search, and these 0.4 µs to read: so a
/// condition pays off if it leaves out one document of 40. The first condition of most expressions leaves out nearly all that any does.
const BYTES_PER_DOCUMENT: u64 = 64;

/// Maximum size of the sets of documents that are kept, in bytes: the alternatives of an expression share most of their trigrams.
const MAX_KEPT: usize = 16 << 20;

impl Segment {
    /// The documents that fulfil a condition on their trigrams, and perhaps some more: a condition that takes longer to
    /// check than the files that it would leave out take to search is not checked.
    ///
    /// `united` are the documents of files in which a match may span several of them: a trigram of one of them counts
    /// for all.
    ///
    /// # Errors
    /// If the segment cannot be read or is damaged.
    pub(crate) fn find(&self, needs: &Needs, united: Vec<Range<u32>>) -> Result<Documents, Error> {
        let united = UnitedFiles::new(united, self.documents);
        let found = Lookup { segment: self, united, kept: HashMap::new() }.find(needs)?;
        Ok(Rc::unwrap_or_clone(found))
    }
}

struct Lookup<'l> {
    segment: &'l Segment,
    united: UnitedFiles,
    /// The documents that hold one of some trigrams, as found so far.
    kept: HashMap<&'l [Trigram], Rc<Documents>>,
}

/// Files whose documents count as one.
struct UnitedFiles {
    documents: Vec<Range<u32>>,
    /// For each document of the segment: one more than the number of its file, or 0.
    files: Vec<u32>,
}

impl UnitedFiles {
    fn new(documents: Vec<Range<u32>>, all: u32) -> Self {
        let mut files = vec![0; if documents.is_empty() { 0 } else { all as usize }];
        for (file, number) in documents.iter().zip(1..) {
            if let Some(slots) = files.get_mut(file.start as usize..file.end as usize) {
                slots.fill(number);
            }
        }
        Self { documents, files }
    }

    /// Adds the other documents of each file with a document that was found.
    fn unite(&self, found: &mut Documents) {
        if self.documents.is_empty() {
            return;
        }
        let file_of = |document: u32| self.files.get(document as usize).and_then(|file| file.checked_sub(1));
        let mut files: Vec<u32> = found.iter().filter_map(file_of).collect();
        files.dedup();
        let added = files.into_iter().flat_map(|file| self.documents[file as usize].clone());
        added.for_each(|document| found.add(document));
    }
}

impl<'l> Lookup<'l> {
    fn find(&mut self, needs: &'l Needs) -> Result<Rc<Documents>, Error> {
        match needs {
            Needs::All(parts) => self.find_all(parts).map(Rc::new),
            Needs::Any(parts) => {
                let mut found = Documents::none(self.segment.documents);
                for part in parts {
                    found.add_all(&*self.find(part)?);
                }
                Ok(Rc::new(found))
            }
            Needs::OneOf(trigrams) => self.find_one_of(trigrams),
            &Needs::Pair(pair) => self.find_any([beginning_with(pair)]).map(Rc::new),
        }
    }

    fn find_one_of(&mut self, trigrams: &'l [Trigram]) -> Result<Rc<Documents>, Error> {
        if let Some(found) = self.kept.get(trigrams) {
            return Ok(Rc::clone(found));
        }
        let found = Rc::new(self.find_any(trigrams.iter().map(|&trigram| trigram..=trigram))?);
        if self.kept.len() * (self.segment.documents as usize / 8) < MAX_KEPT {
            self.kept.insert(trigrams, Rc::clone(&found));
        }
        Ok(found)
    }

    /// The documents that hold a trigram of one of these ranges.
    fn find_any(
        &mut self,
        ranges: impl IntoIterator<Item = RangeInclusive<Trigram>>,
    ) -> Result<Documents, Error> {
        let mut lists = Vec::new();
        for trigrams in ranges {
            self.each_list(trigrams, |list| lists.push(list))?;
        }
        let mut found = Documents::none(self.segment.documents);
        for range in lists {
            let bytes = self.segment.pages.read(range)?;
            list::add_to(&mut found, &bytes).ok_or_else(|| self.segment.pages.damaged("list"))?;
        }
        self.united.unite(&mut found);
        Ok(found)
    }

    /// The documents that fulfil all conditions; the one with the shortest lists first.
    fn find_all(&mut self, parts: &'l [Needs]) -> Result<Documents, Error> {
        let costs: Result<Vec<u64>, Error> = parts.iter().map(|part| self.cost(part)).collect();
        let mut order: Vec<(u64, &'l Needs)> = costs?.into_iter().zip(parts).collect();
        order.sort_by_key(|&(cost, _)| cost);
        let mut found = Documents::all(self.segment.documents);
        for (cost, part) in order {
            if cost > found.count() * BYTES_PER_DOCUMENT {
                break;
            }
            found.retain(&*self.find(part)?);
        }
        Ok(found)
    }

    /// Bytes of the lists of a condition.
    fn cost(&self, needs: &Needs) -> Result<u64, Error> {
        let mut cost = 0;
        match needs {
            Needs::All(parts) => {
                cost = u64::MAX;
                for part in parts {
                    cost = cost.min(self.cost(part)?);
                }
            }
            Needs::Any(parts) => {
                for part in parts {
                    cost = self.cost(part)?.saturating_add(cost);
                }
            }
            Needs::OneOf(trigrams) => {
                for &trigram in trigrams {
                    self.each_list(trigram..=trigram, |list| cost += list.end - list.start)?;
                }
            }
            &Needs::Pair(pair) => {
                self.each_list(beginning_with(pair), |list| cost += list.end - list.start)?;
            }
        }
        Ok(cost)
    }

    /// Calls `take` with the range of each list of these trigrams.
    fn each_list(
        &self,
        trigrams: RangeInclusive<Trigram>,
        mut take: impl FnMut(Range<u64>),
    ) -> Result<(), Error> {
        let first = &self.segment.first;
        let start = first.partition_point(|first| first <= trigrams.start()).saturating_sub(1);
        let end = first.partition_point(|first| first <= trigrams.end());
        for group in start..end {
            let entries = self.segment.group(group)?;
            let trigram = |entry: &u64| (entry >> OFFSET_BITS) as Trigram;
            // The last entry only marks the end of the list before it.
            let listed = &entries[..entries.len().saturating_sub(1).min(GROUP)];
            let from = listed.partition_point(|entry| trigram(entry) < *trigrams.start());
            let inside = listed[from..].iter().take_while(|entry| trigrams.contains(&trigram(entry)));
            for number in from..from + inside.count() {
                let offset = |number: usize| entries[number] & ((1 << OFFSET_BITS) - 1);
                take(offset(number)..offset(number + 1));
            }
        }
        Ok(())
    }
}

/// The trigrams with these first two bytes.
fn beginning_with([first, second]: [u8; 2]) -> RangeInclusive<Trigram> {
    trigram([first, second, 0])..=trigram([first, second, 255])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_document_that_is_found_stands_for_its_file(
            files in prop::collection::vec((0..4_u32, 2..5_u32), 0..12),
            found in prop::collection::vec(0..90_u32, 0..20),
            all in 84..90_u32,
        ) {
            // Files of one document are between the others.
            let mut end = 0;
            let united: Vec<Range<u32>> = files
                .into_iter()
                .map(|(between, documents)| {
                    let start = end + between;
                    end = start + documents;
                    start..end
                })
                .collect();
            let mut documents = Documents::none(all);
            found.into_iter().for_each(|document| documents.add(document));
            let mut expected = documents.clone();
            for file in &united {
                if file.clone().any(|document| documents.contains(document)) {
                    file.clone().for_each(|document| expected.add(document));
                }
            }
            UnitedFiles::new(united, all).unite(&mut documents);
            prop_assert_eq!(documents, expected);
        }
    }
}
