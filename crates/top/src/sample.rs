//! Explains the effect of a query on the first records: which are selected or rejected and why, and how keys are
//! edited.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use finecomb_scan::{
    Accumulate, Block, Detail, Folded, Inputs, LineEnds, Meter, Place, Problem, ScanOptions, Width, fold,
};

use crate::filter::{FilterCache, Verdict, split_records};
use crate::key::{KeyMaker, NoKey};
use crate::query::Query;
use crate::{Span, bytes_of};

/// Explanation of the first records.
#[derive(Debug)]
pub struct Sample {
    /// Explanation of each record, in order, as text for people. The bytes of records are unchanged.
    pub text: Vec<u8>,
    /// Number of records explained.
    pub records: usize,
    /// Problems with inputs.
    pub problems: Vec<Problem>,
}

/// Explains the effect of `query` on the first `count` records of `inputs`, in their order.
pub fn sample(inputs: &Inputs, options: &ScanOptions<'_>, query: &Query, count: usize) -> Sample {
    let options = ScanOptions { width: Width::Fixed(1), profile: Detail::Nothing, ..options.clone() };
    let Folded { joined, problems, .. } = fold(inputs, &options, || Explainer::new(query, count));
    let (text, records) = joined.into_iter().next().unwrap_or_default();
    Sample { text, records, problems }
}

struct Explainer<'q> {
    query: &'q Query,
    filter: FilterCache,
    maker: KeyMaker<'q>,
    wanted: usize,
    seen: usize,
    /// Start of the line after the last record, with its number if known.
    next: Option<Place>,
    out: Vec<u8>,
}

impl<'q> Explainer<'q> {
    fn new(query: &'q Query, wanted: usize) -> Self {
        Self {
            query,
            filter: query.filter.cache(),
            maker: KeyMaker::new(query),
            wanted,
            seen: 0,
            next: None,
            out: Vec::new(),
        }
    }

    fn explain(&mut self, place: &Place, record: &[u8]) {
        let mut head = place.source.to_string();
        if let Some(line) = place.line {
            let _ = write!(head, ":{line}");
        }
        match self.query.filter.judge(&mut self.filter, record) {
            Verdict::Selected => self.explain_key(&head, record),
            Verdict::NotMatched(pattern) => {
                let reason = format!("rejected: -g '{}' does not match", pattern.text());
                self.show_record(&head, &reason, record);
            }
            Verdict::Excluded(pattern, found) => {
                let reason = format!("rejected: -v '{}' matches", pattern.text());
                self.show_record(&head, &reason, record);
                self.show("  match   ", bytes_of(record, found));
            }
        }
    }

    fn explain_key(&mut self, head: &str, record: &[u8]) {
        let mut key = Vec::new();
        if let Err(reason) = self.maker.append_key(record, &mut key) {
            let reason = match reason {
                NoKey::TooFew(count) => {
                    let fields = if count == 1 { "field" } else { "fields" };
                    format!("{count} {fields}, and -f {} needs more", self.query.fields)
                }
                NoKey::OpenQuote => "unclosed quote".to_owned(),
            };
            return self.show_record(head, &format!("skipped: {reason}"), record);
        }
        self.show_record(head, "taken", record);
        self.show("  key     ", &key);
        let mut steps = Vec::new();
        let edits = &self.query.edits;
        self.maker.edit_one(&key, |number, before, after| {
            let edit = &edits[number];
            let changed = before != after;
            steps.push((
                changed,
                format!("-s '{}' '{}'", edit.pattern(), edit.replacement()),
                after.to_vec(),
            ));
        });
        for (changed, edit, after) in steps {
            let label = if changed { "  edited  " } else { "  as is   " };
            self.out.extend_from_slice(label.as_bytes());
            self.out.extend_from_slice(&after);
            self.out.extend_from_slice(format!("    by {edit}\n").as_bytes());
        }
    }

    fn show_record(&mut self, head: &str, verdict: &str, record: &[u8]) {
        self.out.extend_from_slice(format!("{head}: {verdict}\n").as_bytes());
        self.show("  record  ", record);
    }

    fn show(&mut self, label: &str, text: &[u8]) {
        self.out.extend_from_slice(label.as_bytes());
        self.out.extend_from_slice(text);
        self.out.push(b'\n');
    }

    /// Returns the place of a record. If the record follows the last one, its line number is the next one.
    fn place(&self, block: &Block<'_>, (start, _): Span) -> Place {
        let mut place = block.place(start);
        let follows = self.next.as_ref().filter(|next| **next == place);
        place.line = place.line.or(follows.and_then(|next| next.line)).or((place.offset == 0).then_some(1));
        place
    }
}

impl Accumulate for Explainer<'_> {
    type Part = (Vec<u8>, usize);
    type Joined = (Vec<u8>, usize);

    fn take(&mut self, block: &Block<'_>, _meter: &mut Meter) -> ControlFlow<()> {
        let mut records = Vec::new();
        split_records(block.bytes, &mut LineEnds::default(), &mut records);
        let starts =
            records.iter().skip(1).map(|record| record.0).chain([block.bytes.len()]).collect::<Vec<_>>();
        for (record, next) in records.into_iter().zip(starts) {
            if self.seen == self.wanted {
                return ControlFlow::Break(());
            }
            let place = self.place(block, record);
            self.explain(&place, bytes_of(block.bytes, record));
            let line = place.line.map(|line| line + 1);
            self.next = Some(Place { offset: block.offset + next as u64, line, ..place });
            self.seen += 1;
        }
        if self.seen == self.wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn into_parts(self) -> Vec<Self::Part> {
        vec![(self.out, self.seen)]
    }

    fn join(parts: Vec<Self::Part>) -> Self::Joined {
        // There is one worker, so there is one part.
        parts.into_iter().next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::query::QueryOptions;

    #[test]
    fn every_record_is_shown_with_its_line_at_any_block_size() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("text.log");
        let lines: String = (1..=40).map(|line| format!("{line} {}\n", "x".repeat(line % 7))).collect();
        fs::write(&path, &lines).expect("a file");
        let query = Query::new(&QueryOptions::default()).expect("no patterns");
        let wanted: String = (1..)
            .zip(lines.lines())
            .take(30)
            .map(|(line, text)| {
                format!("{}:{line}: taken\n  record  {text}\n  key     {text}\n", path.display())
            })
            .collect();
        for block_size in [1, 10, 64, 1 << 17] {
            let options = ScanOptions { block_size, ..ScanOptions::default() };
            let Sample { text, records, problems } = sample(&Inputs::new([&path]), &options, &query, 30);
            assert_eq!(String::from_utf8(text).expect("UTF-8"), wanted, "blocks of {block_size} bytes");
            assert_eq!((records, problems.len()), (30, 0));
        }
    }
}
