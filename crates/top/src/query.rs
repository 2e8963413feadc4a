//! The definition of a count.

pub(crate) mod compare;
pub(crate) mod condition;
pub(crate) mod field;
pub(crate) mod fields;
pub(crate) mod format_error;
pub(crate) mod input_format;
pub(crate) mod near_names;
pub(crate) mod options;
pub(crate) mod record_begin;
pub(crate) mod row_query;
pub(crate) mod unwrap;

use std::ops::Range;
use std::sync::Arc;

use finecomb_scan::{Recognize, Records, ScanOptions};

use crate::key::between_fields::Joint;
use crate::key::edit::Edit;
use crate::key::expression::Case;
use crate::key::hash::Hasher;
use crate::key::normalize::Normalizer;
use crate::key::pattern::RecordPattern;
use crate::query::compare::Compare;
use crate::query::fields::FieldList;
use crate::query::input_format::InputFormat;
use crate::query::options::{Measure, MemoryLimit, QueryError, QueryOptions, SortBy, Splitter};
use crate::query::row_query::{KeySource, RowQuery};
use crate::records::layout::{Plan, Recognizer};
use crate::time::{Bound, Buckets, Last, Slack, Zone};

/// Name of the column of a key that has no name of its own.
const KEY: &str = "key";

/// Number of keys in a table from which on new keys may be deferred. A table of twice as many fills a huge page, and fits in the
/// L2 cache.
const DEFER_FROM: usize = 1 << 14;

/// Filter of records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// Patterns, each with whether a record must match it or must not. Those that must match come first.
    pub(crate) patterns: Vec<(RecordPattern, bool)>,
}

/// The keys of an answer and their order. Keys that are equal by the criterion are ordered by their bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) by: SortBy,
    /// Whether the order of the criterion is reversed.
    pub(crate) reverse: bool,
    /// Maximum number of keys.
    pub(crate) number: usize,
    /// Minimum count of a key.
    pub(crate) min_count: u64,
}

/// A compiled query. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Query {
    pub(crate) order: Order,
    pub(crate) fields: FieldList,
    pub(crate) splitter: Splitter,
    pub(crate) filter: Filter,
    pub(crate) edits: Vec<Edit>,
    pub(crate) normalizer: Option<Normalizer>,
    pub(crate) ignore_case: bool,
    /// How the fields of a key of several fields are joined.
    pub(crate) joint: Joint,
    /// Formats, conditions and measures, if there are any.
    pub(crate) rows: Option<Arc<RowQuery>>,
    /// The plan of all files, if there are rows and it does not depend on the file.
    pub(crate) plan: Option<Arc<Plan>>,
    /// Restricts what is read of files that are in the order of time.
    pub(crate) sorted: Option<Arc<SortedWindow>>,
    /// Names of the fields that form the key; empty if they have only numbers.
    pub(crate) key_fields: Vec<String>,
    /// Names of the columns of the key; empty if all records have the same, or that of their bucket of time.
    pub(crate) key_names: Vec<String>,
    pub(crate) measure_names: Vec<String>,
    /// The parts of the records that are compared.
    pub(crate) compare: Option<Compare>,
    /// While inputs are followed, older records are forgotten.
    pub(crate) last: Option<Last>,
    /// Memory of approximate counts, if counts need not be exact.
    pub(crate) approximate: Option<usize>,
    /// Bound of the memory of exact counts.
    pub(crate) memory: Option<MemoryLimit>,
    /// Whether the keys of an approximate answer are counted again.
    pub(crate) recount: bool,
    /// Hash function of all workers.
    pub(crate) hasher: Hasher,
    /// Number of keys of a table from which on new keys may be deferred.
    pub(crate) defer_from: usize,
}

/// Shape of a count.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CountShape<'q> {
    /// Keys, in slices of time if counts are forgotten. Without a field of the key, all records have the same.
    Keys(Option<&'q Buckets>),
    /// Buckets of time.
    Buckets(&'q Buckets),
    /// Keys by buckets of time.
    Series(&'q Buckets),
    /// Keys by the values of this field.
    Pivot(&'q str),
    /// Keys by the parts of the records that are compared.
    Changes,
}

impl Query {
    /// References of replacements to groups that do not exist, each with its expression. They are replaced by nothing
    /// or are literal text.
    pub fn unknown_groups(&self) -> impl Iterator<Item = (&str, &str)> {
        self.edits
            .iter()
            .flat_map(|edit| edit.unknown_groups().iter().map(move |group| (group.as_str(), edit.pattern())))
    }

    /// Options of a scan with those of the query.
    pub(crate) fn scan<'o>(&self, options: &ScanOptions<'o>) -> ScanOptions<'o> {
        options.clone().recognize(self.recognizer()).records(self.records())
    }

    /// Recognises the format of files, if that is needed.
    fn recognizer(&self) -> Option<Arc<dyn Recognize>> {
        let rows = self.rows.as_ref()?;
        // Records of CSV and JSON may span lines.
        let is_needed =
            self.plan.is_none() || matches!(rows.input.plain(), InputFormat::Csv | InputFormat::Json);
        is_needed.then(|| Arc::new(Recognizer(Arc::clone(rows))) as Arc<dyn Recognize>)
    }

    /// How texts are divided into records, unless they are recognised.
    pub(crate) fn records(&self) -> Records {
        let start = self.rows.as_ref().and_then(|rows| rows.start.clone());
        start.map_or(Records::Lines, Records::Started)
    }

    /// Whether the time of a record is in a group of the expression for keys.
    fn has_time_in_group(&self) -> bool {
        let columns = self.rows.as_ref().and_then(|rows| rows.time.as_ref()?.columns.as_ref());
        columns.is_some_and(|columns| columns.fields.is_empty())
    }

    /// Format of the records: the given one, or else chosen by the fields.
    pub fn input(&self) -> &InputFormat {
        self.rows.as_ref().map_or(&InputFormat::Lines, |rows| &rows.input)
    }

    /// The same query for the records themselves, not those in a field of them.
    pub(crate) fn of_outer_records(mut self) -> Self {
        if let Some(rows) = self.rows.as_mut().and_then(Arc::get_mut) {
            rows.unwrap = None;
        }
        self
    }

    /// Whether a field of a record is selected by number.
    pub fn has_positions(&self) -> bool {
        match &self.rows {
            Some(rows) => rows.has_positions(),
            None => !self.fields.is_whole_record(),
        }
    }

    /// The shape of the count.
    pub(crate) fn shape(&self) -> CountShape<'_> {
        if self.compare.is_some() {
            return CountShape::Changes;
        }
        if let Some((field, _)) = self.rows.as_ref().and_then(|rows| rows.pivot.as_ref()) {
            return CountShape::Pivot(field);
        }
        let time = self.rows.as_ref().and_then(|rows| rows.time.as_ref());
        match time.and_then(|time| time.buckets.as_ref()) {
            Some(buckets) if self.key_names.is_empty() => CountShape::Buckets(buckets),
            Some(buckets) => CountShape::Series(buckets),
            None => CountShape::Keys(time.and_then(|time| time.slices.as_ref())),
        }
    }

    /// The buckets of time.
    pub(crate) fn buckets(&self) -> Option<&Buckets> {
        match self.shape() {
            CountShape::Keys(_) | CountShape::Pivot(_) | CountShape::Changes => None,
            CountShape::Buckets(buckets) | CountShape::Series(buckets) => Some(buckets),
        }
    }

    /// The column of the field by whose values keys are counted.
    pub(crate) fn pivot_column(&self) -> Option<usize> {
        self.rows.as_ref()?.pivot.as_ref().map(|&(_, column)| column)
    }

    /// The buckets or slices with which keys begin while they are counted.
    pub(crate) fn prefixes(&self) -> Option<&Buckets> {
        match self.shape() {
            CountShape::Keys(slices) => slices,
            CountShape::Pivot(_) | CountShape::Changes => None,
            CountShape::Buckets(buckets) | CountShape::Series(buckets) => Some(buckets),
        }
    }

    /// The order of what is counted: of pairs of buckets and keys, all are needed.
    pub(crate) fn order_of_entries(&self) -> Order {
        match self.shape() {
            CountShape::Series(_) | CountShape::Pivot(_) | CountShape::Changes => {
                Order { by: SortBy::Key, reverse: false, number: usize::MAX, min_count: 0 }
            }
            CountShape::Keys(_) | CountShape::Buckets(_) => self.order,
        }
    }

    /// Compiles a query.
    ///
    /// # Errors
    /// Returns an error if a regular expression or the condition is invalid or too large, or if the format lacks a field.
    pub fn new(options: &QueryOptions) -> Result<Self, QueryError> {
        check_pivot(options)?;
        check_compare(options)?;
        let case = if options.ignore_case { Case::Ignored } else { Case::Distinct };
        let of = |option| move |error| QueryError::Pattern { option, error };
        let pattern = |text: &String, option, must_match| {
            Ok((RecordPattern::new(text, case).map_err(of(option))?, must_match))
        };
        let edits = options
            .sed
            .iter()
            .map(|(text, replacement)| Edit::new(text, replacement, case).map_err(of("sed")));
        let edits = edits.collect::<Result<Vec<_>, _>>()?;
        let splitter = options.separator.compile().map_err(of("separator"))?;
        let rows = RowQuery::is_needed(options)
            .then(|| RowQuery::new(options, splitter.clone(), case))
            .transpose()?;
        let plan = match &rows {
            Some(rows) => Plan::of_all_files(rows)
                .map_err(|error| QueryError::Input { format: rows.input.name().to_owned(), error })?,
            None => None,
        };
        let grep = options.grep.iter().map(|text| pattern(text, "grep", true));
        let vgrep = options.vgrep.iter().map(|text| pattern(text, "vgrep", false));
        let key_fields = rows.as_ref().map(RowQuery::key_fields).unwrap_or_default();
        let has_several = key_fields.len() > 1;
        Ok(Self {
            order: Order {
                by: options.sort_by,
                reverse: options.reverse,
                number: options.number,
                min_count: options.min_count,
            },
            fields: options.fields.clone(),
            splitter,
            filter: Filter { patterns: grep.chain(vgrep).collect::<Result<_, QueryError>>()? },
            normalizer: options.normalize,
            ignore_case: options.ignore_case,
            joint: if has_several && edits.is_empty() { Joint::Separator } else { Joint::Space },
            key_names: key_names(rows.as_ref(), &key_fields, !edits.is_empty()),
            key_fields,
            measure_names: options.measures.iter().map(Measure::to_string).collect(),
            edits,
            rows: rows.map(Arc::new),
            plan: plan.map(Arc::new),
            sorted: SortedWindow::new(options)?.map(Arc::new),
            compare: options.compare,
            last: options.last,
            approximate: options.approximate,
            memory: options.memory.clone(),
            recount: options.recount,
            hasher: Hasher::random(),
            defer_from: DEFER_FROM,
        })
    }
}

/// Checks that the other options do not contradict a count by the values of a field.
fn check_pivot(options: &QueryOptions) -> Result<(), QueryError> {
    if options.columns.is_none() {
        return Ok(());
    }
    let reason = if options.every.is_some() || options.last.is_some() {
        "buckets of time are rows already, and the fields of the key their columns"
    } else if options.approximate.is_some() {
        "approximate counts have no columns"
    } else if options.measures.len() > 1 {
        "one measure at most is in the columns"
    } else if matches!(options.sort_by, SortBy::Measure(_)) {
        "the rows are in the order of the count or the key"
    } else {
        return Ok(());
    };
    Err(QueryError::Columns(reason))
}

/// Checks that the other options do not contradict a comparison.
fn check_compare(options: &QueryOptions) -> Result<(), QueryError> {
    let Some(compare) = options.compare else { return Ok(()) };
    let reason = if options.every.is_some() || options.last.is_some() {
        "counts by bucket of time are not compared"
    } else if options.columns.is_some() {
        "counts with a column for each value are not compared"
    } else if options.approximate.is_some() {
        "approximate counts are not compared"
    } else if !options.measures.is_empty() {
        "only counts are compared, not measures"
    } else if compare == Compare::Inputs {
        return Ok(());
    } else if options.since.is_none() {
        return Err(QueryError::ComparedWithoutBeginning);
    } else if options.gap().start > options.gap().end {
        "the windows of time overlap"
    } else {
        return Ok(());
    };
    Err(QueryError::Compare(reason))
}

/// The search for the window of a query.
#[derive(Debug)]
pub(crate) struct SortedWindow {
    /// Finds the times of all records, also of those that the query does not count.
    pub(crate) times: Query,
    pub(crate) window: Range<i64>,
    pub(crate) slack: i64,
    pub(crate) zone: Zone,
}

impl SortedWindow {
    /// `None` if the query does not say that files are in the order of time.
    fn new(options: &QueryOptions) -> Result<Option<Self>, QueryError> {
        let Some(Slack { nanoseconds: slack }) = options.sorted else { return Ok(None) };
        if options.since.is_none() && options.until.is_none() {
            return Err(QueryError::SortedWithoutWindow);
        }
        if options.unwrap.is_some() {
            return Err(QueryError::SortedUnwrapped);
        }
        let of_times =
            |extract: &[String]| Query::new(&options_of_times(options, extract)).map(Query::of_outer_records);
        let mut times = of_times(&options.extract)?;
        if !times.has_time_in_group() {
            times = of_times(&[])?;
        } else if options.each {
            return Err(QueryError::SortedByGroup);
        }
        Ok(Some(Self { times, window: options.window(), slack, zone: options.zone.clone() }))
    }
}

/// The options of a query that counts all records that have a time, and match an expression if there is one.
fn options_of_times(options: &QueryOptions, extract: &[String]) -> QueryOptions {
    QueryOptions {
        input: options.input.clone(),
        delimiter: options.delimiter,
        has_header: options.has_header,
        separator: options.separator.clone(),
        record: options.record.clone(),
        records: options.records.clone(),
        extract: extract.to_vec(),
        ignore_case: options.ignore_case,
        time: options.time.clone(),
        time_form: options.time_form.clone(),
        zone: options.zone.clone(),
        since: Some(Bound { nanoseconds: i64::MIN }),
        ..QueryOptions::default()
    }
}

/// Names of the columns of a key of these fields. Edits make one text of several fields.
fn key_names(rows: Option<&RowQuery>, fields: &[String], is_edited: bool) -> Vec<String> {
    match fields {
        _ if rows.is_some_and(|rows| rows.key == KeySource::Nothing) => Vec::new(),
        [] => vec![KEY.to_owned()],
        [_, _, ..] if is_edited => vec![KEY.to_owned()],
        fields => fields.to_vec(),
    }
}
