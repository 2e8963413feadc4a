//! Explains the effect of a query on the first records: which are selected or rejected and why, and how keys are
//! edited.

mod fields;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;

use finecomb_scan::{
    Accumulate, Block, Detail, Folded, Heading, Inputs, LineEnds, Meter, Place, Problem, ScanOptions, Source,
    Width, fold, last_heading,
};

use finecomb_sys::display::excerpt;
use memchr::memchr_iter;

use crate::cells::bytes_of;
use crate::key::editor::{Change, Editor};
use crate::key::keys::Keys;
use crate::overview::time_reader::{TimeReader, now};
use crate::query::Query;
use crate::records::filter::{FilterCache, Verdict};
use crate::records::format::w3c;
use crate::records::plain::{KeyMaker, NoKey};
use crate::records::row_time::ShownTime;
use crate::records::rows::RowMaker;
use crate::records::split::split_records;
use crate::sample::fields::{all_values, kind};

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
    let options = query.scan(options).width(Width::Fixed(1)).profile(Detail::Nothing);
    let Folded { joined, problems, .. } = fold(inputs, &options.into(), || Explainer::new(query, count));
    let (text, records) = joined.into_iter().next().unwrap_or_default();
    Sample { text, records, problems }
}

struct Explainer<'q> {
    query: &'q Query,
    filter: FilterCache,
    maker: KeyMaker<'q>,
    rows: Option<RowMaker<'q>>,
    reader: TimeReader,
    editor: Editor<'q>,
    /// The source whose format was shown last.
    shown: Option<Source>,
    wanted: usize,
    seen: usize,
    /// The last line before the record that names columns.
    heading: Option<Heading>,
    /// The text of a field of the record, if it is the record itself.
    inner: Option<Vec<u8>>,
    /// A position up to which lines have been counted, with the number of the line there.
    counted: Option<Place>,
    out: Vec<u8>,
}

impl<'q> Explainer<'q> {
    fn new(query: &'q Query, wanted: usize) -> Self {
        Self {
            query,
            filter: query.filter.cache(),
            maker: KeyMaker::new(query),
            rows: query.rows.as_deref().map(|rows| RowMaker::new(query, rows)),
            reader: TimeReader::of(query, now()),
            editor: Editor::new(query),
            shown: None,
            wanted,
            seen: 0,
            heading: None,
            inner: None,
            counted: None,
            out: Vec::new(),
        }
    }

    fn explain(&mut self, place: &Place, block: &Block<'_>, record: &[u8]) {
        let mut head = place.source.to_string();
        if let Some(line) = place.line {
            let _ = write!(head, ":{line}");
        }
        let inner =
            self.rows.as_ref().and_then(|rows| rows.inner_record(block.source, (record, &self.heading)));
        let lacks_inner = matches!(inner, Some(None));
        self.inner = inner.flatten();
        let filtered = self.inner.as_deref().unwrap_or(record);
        let verdict = self.query.filter.judge(&mut self.filter, filtered);
        match verdict {
            _ if lacks_inner => self.explain_selected(&head, (block, place.offset), record),
            Verdict::Selected => self.explain_selected(&head, (block, place.offset), record),
            Verdict::NotMatched(pattern) => {
                let reason = format!("rejected: -g '{}' does not match", pattern.text());
                self.show_record(&head, &reason, record);
            }
            Verdict::Excluded(pattern, found) => {
                let reason = format!("rejected: -v '{}' matches", pattern.text());
                let found = bytes_of(filtered, found).to_vec();
                self.show_record(&head, &reason, record);
                self.show("  match   ", &found);
            }
        }
    }

    /// Explains a record that the filter selects.
    fn explain_selected(&mut self, head: &str, (block, offset): (&Block<'_>, u64), record: &[u8]) {
        match self.rows.take() {
            Some(mut rows) => {
                self.explain_row(&mut rows, head, (block, offset), record);
                self.rows = Some(rows);
            }
            None => self.explain_key(head, record),
        }
    }

    /// Explains a record with a format, a condition or measures, by making its keys as if it were a block.
    fn explain_row(
        &mut self,
        rows: &mut RowMaker<'q>,
        head: &str,
        (block, offset): (&Block<'_>, u64),
        record: &[u8],
    ) {
        let mut text = record.to_vec();
        let one = Block {
            records: block.records.of_one(),
            heading: self.heading.clone(),
            ..Block::new(block.source, offset, &mut text)
        };
        let fields = rows.condition_values(&one);
        let time = rows.time(&one);
        let mut keys = Keys::default();
        let all = self.all_values(rows, &one);
        rows.make(&one, &mut Meter::off(), &mut keys);
        let reason = match rows.malformed.first() {
            Some((span, malformed)) => {
                let at = (malformed.at as usize).saturating_sub(span.0);
                Some(format!("skipped: malformed at column {}: {}", at + 1, malformed.reason))
            }
            None if rows.unmatched.count > 0 => Some("rejected: -e does not match".to_owned()),
            None if let Some(reason) = time.as_ref().and_then(|(time, _)| time.rejected) => {
                Some(reason.to_owned())
            }
            None if rows.records.is_empty() => Some("rejected: --where does not hold".to_owned()),
            None if keys.spans.is_empty() => Some("skipped: a field of the key is missing".to_owned()),
            None => None,
        };
        self.show_record(head, reason.as_deref().unwrap_or("taken"), record);
        if let Some((time, name)) = time.filter(|_| rows.malformed.is_empty()) {
            self.explain_time(&time, &name);
        }
        let values = fields.into_iter().chain(if reason.is_none() { rows.values(&one) } else { Vec::new() });
        let has_fields = self.explain_values(all, values);
        if !rows.records.is_empty() {
            self.explain_repeated_keys(&rows.repeated_keys(&one));
        }
        // Without a key, all have the same.
        let has_keys = reason.is_none() && !self.query.key_names.is_empty();
        // A whole record is shown already.
        let has_keys = has_keys && !(has_fields && rows.has_whole_records() && self.query.edits.is_empty());
        let spans = if has_keys { &keys.spans[..] } else { &[] };
        for &span in spans {
            let key = bytes_of(keys.text(one.bytes), span).to_vec();
            self.explain_changes(&key);
        }
    }

    /// All fields of the only record of a block.
    fn all_values(&self, rows: &RowMaker<'_>, one: &Block<'_>) -> Vec<(String, Vec<u8>)> {
        let text = self.inner.as_deref().unwrap_or(one.bytes);
        let plan = rows.plan(one.source);
        plan.map_or_else(Vec::new, |plan| all_values(&plan, (text, &one.heading)))
    }

    /// Shows the fields of a record, and those that the query uses. Returns whether there are any of the record.
    fn explain_values(
        &mut self,
        all: Vec<(String, Vec<u8>)>,
        used: impl Iterator<Item = (String, Option<Vec<u8>>)>,
    ) -> bool {
        let has_fields = !all.is_empty();
        let all = all.into_iter().map(|(name, value)| (name, Some(value)));
        let mut shown = HashSet::new();
        for (name, value) in all.chain(used).filter(|(name, _)| shown.insert(name.clone())) {
            match value {
                Some(value) => {
                    let kind = kind(&value, &mut self.reader);
                    self.show(&format!("  field   {} ({kind}): ", excerpt(name.as_bytes())), &value);
                }
                None => self.show(&format!("  no field {}", excerpt(name.as_bytes())), b""),
            }
        }
        has_fields
    }

    /// Says that of members with equal keys, the first count.
    fn explain_repeated_keys(&mut self, keys: &[String]) {
        if !keys.is_empty() {
            let text = format!("{}: the first value counts, other programs take the last", keys.join(", "));
            self.show("  again   ", text.as_bytes());
        }
    }

    /// Shows how the time of a record is written, in a field with this name or in the line, and what it means.
    fn explain_time(&mut self, time: &ShownTime, name: &str) {
        let label = if time.understood.is_some() { "  time    " } else { "  no time " };
        match (&time.written, time.is_field) {
            (Some(written), true) => self.show(&format!("{label}{name}: "), written),
            (Some(written), false) => self.show(&format!("{label}first in the line: "), written),
            (None, true) => self.show(&format!("  no field {name}"), b""),
            (None, false) => self.show("  no time in the line", b""),
        }
        for (label, text) in [("  means   ", &time.understood), ("  bucket  ", &time.bucket)] {
            if let Some(text) = text {
                self.show(label, text.as_bytes());
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
        self.explain_changes(&key);
    }

    /// Shows a key and its changes.
    fn explain_changes(&mut self, key: &[u8]) {
        self.show("  key     ", &self.query.joint.readable(key));
        let mut steps = Vec::new();
        let edits = &self.query.edits;
        self.editor.change_one(key, |change, before, after| {
            let by = match change {
                Change::Normalize => "--normalize".to_owned(),
                Change::Edit(number) => {
                    let edit = &edits[number];
                    format!("-s '{}' '{}'", edit.pattern(), edit.replacement())
                }
                Change::LowerCase => "-i".to_owned(),
            };
            steps.push((before != after, by, after.to_vec()));
        });
        for (changed, by, after) in steps {
            let label = if changed { "  edited  " } else { "  as is   " };
            self.out.extend_from_slice(label.as_bytes());
            self.out.extend_from_slice(&self.query.joint.readable(&after));
            self.out.extend_from_slice(format!("    by {by}\n").as_bytes());
        }
    }

    /// Shows the format of a file once.
    fn show_format(&mut self, source: &Source) {
        let Some(rows) = self.rows.as_ref().filter(|_| self.shown.as_ref() != Some(source)) else { return };
        let format = match rows.plan(source) {
            Some(plan) => plan.format.clone(),
            None => "lines".to_owned(),
        };
        self.out.extend_from_slice(format!("{source}: format: {format}\n").as_bytes());
        self.shown = Some(source.clone());
    }

    fn show_record(&mut self, head: &str, verdict: &str, record: &[u8]) {
        self.out.extend_from_slice(format!("{head}: {verdict}\n").as_bytes());
        self.show("  record  ", record);
        if let Some(inner) = self.inner.take() {
            self.show("  text    ", &inner);
        }
    }

    fn show(&mut self, label: &str, text: &[u8]) {
        self.out.extend_from_slice(label.as_bytes());
        self.out.extend_from_slice(text);
        self.out.push(b'\n');
    }

    /// The place of a position of a block, with the number of its line: blocks come in the order of their file.
    fn place(&mut self, block: &Block<'_>, position: usize) -> Place {
        let mut place = Place { line: None, ..block.place(0) };
        let known =
            self.counted.take().filter(|known| known.source == place.source && known.offset >= place.offset);
        let (from, line) = match known {
            Some(known) => ((known.offset - place.offset) as usize, known.line),
            None => (0, (block.offset == 0).then_some(1)),
        };
        let passed = block.bytes.get(from..position).unwrap_or_default();
        place.offset += position as u64;
        place.line = line.map(|line| line + memchr_iter(b'\n', passed).count() as u64);
        self.counted = Some(place.clone());
        place
    }
}

impl Accumulate for Explainer<'_> {
    type Part = (Vec<u8>, usize);
    type Joined = (Vec<u8>, usize);

    fn take(&mut self, block: &Block<'_>, _meter: &mut Meter) -> ControlFlow<()> {
        let mut records = Vec::new();
        match &mut self.rows {
            Some(rows) => rows.split(block, &mut records),
            None => split_records(block.bytes, &mut LineEnds::default(), &mut records),
        }
        self.show_format(block.source);
        for record in records {
            if self.seen == self.wanted {
                return ControlFlow::Break(());
            }
            let place = self.place(block, record.0);
            let heading = last_heading(&block.bytes[..record.0], w3c::FIELDS, usize::MAX);
            self.heading = heading.or_else(|| block.heading.clone());
            self.explain(&place, block, bytes_of(block.bytes, record));
            self.seen += 1;
        }
        self.place(block, block.bytes.len());
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
    use crate::query::field::Field;
    use crate::query::input_format::InputFormat;
    use crate::query::options::QueryOptions;

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
            let options = ScanOptions::default().block_size(block_size);
            let Sample { text, records, problems } = sample(&Inputs::new([&path]), &options, &query, 30);
            assert_eq!(String::from_utf8(text).expect("UTF-8"), wanted, "blocks of {block_size} bytes");
            assert_eq!((records, problems.len()), (30, 0));
        }
    }

    #[test]
    fn lines_are_counted_past_a_header_and_records_of_several_lines() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("table.csv");
        fs::write(&path, "a,b\n1,\"x\ny\"\n\n2,z\n").expect("a file");
        let options = QueryOptions::default().names(vec![Field::named("a")]).input(Some(InputFormat::Csv));
        let query = Query::new(&options).expect("a field");
        for block_size in [1, 7, 64, 1 << 17] {
            let options = ScanOptions::default().block_size(block_size);
            let Sample { text, .. } = sample(&Inputs::new([&path]), &options, &query, 30);
            let text = String::from_utf8(text).expect("UTF-8");
            let taken = text.lines().filter(|line| line.ends_with(": taken"));
            let lines: Vec<&str> = taken.filter_map(|line| line.rsplit(':').nth(1)).collect();
            assert_eq!(lines, ["2", "5"], "blocks of {block_size} bytes: {text}");
        }
    }
}
