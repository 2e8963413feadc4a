//! The part of a query that is about fields with names, conditions and measures.

use std::ops::Range;
use std::slice;

use finecomb_scan::{MemberPath, RecordStart};

use crate::cells::ColumnOrigin;
use crate::key::expression::Case;
use crate::measure::column::MeasureKind;
use crate::measure::reader::{NumberFormat, NumberReader, TimeUnit};
use crate::query::condition::Condition;
use crate::query::field::{Field, Step};
use crate::query::input_format::{FormatError, InputFormat};
use crate::query::options::{Measure, QueryError, QueryOptions, Splitter};
use crate::query::record_begin::RecordBegin;
use crate::records::extract::{Each, KeyPattern};
use crate::time::{Buckets, TimeForm, Zone};

/// Maximum number of fields by position that form a key. Each is a column.
const MAX_KEY_FIELDS: u64 = 1000;

/// How keys and values are made of records with a format, a condition or measures.
#[derive(Debug)]
pub(crate) struct RowQuery {
    pub(crate) input: InputFormat,
    /// Says which lines begin a record, if not all do.
    pub(crate) start: Option<RecordStart>,
    /// Array in documents of JSON whose elements are records.
    pub(crate) array: Option<MemberPath>,
    /// Says which text of a record is one of its own, unless none is.
    pub(crate) unwrap: Option<UnwrapQuery>,
    /// Separator of the fields of plain lines.
    pub(crate) splitter: Splitter,
    /// Delimiter of CSV.
    pub(crate) delimiter: u8,
    /// Whether files with CSV or TSV begin with a header.
    pub(crate) has_header: bool,
    pub(crate) condition: Option<Condition>,
    pub(crate) pattern: Option<KeyPattern>,
    /// The part of the query about the times of records.
    pub(crate) time: Option<TimeQuery>,
    /// The columns of the condition, one for each of its fields.
    pub(crate) condition_columns: Columns,
    /// The columns of the key and of the measures.
    pub(crate) value_columns: Columns,
    pub(crate) key: KeySource,
    /// The field whose values are columns of the answer, and its column.
    pub(crate) pivot: Option<(String, usize)>,
    /// Counts records without a field of the key, with this in its place.
    pub(crate) missing: Option<Vec<u8>>,
    /// Measures, each with the index of its field among the columns. The shares have columns after those of all fields.
    pub(crate) measures: Vec<(MeasureKind, usize)>,
    /// The conditions of shares.
    pub(crate) shares: Vec<ShareCondition>,
    /// Whether all fields of the records are described.
    pub(crate) is_overview: bool,
    /// Whether all fields of records are listed.
    pub(crate) lists_fields: bool,
    /// The units of numbers without one, each with the index of its field among the columns.
    units: Vec<(usize, TimeUnit)>,
    number_format: Option<NumberFormat>,
}

/// The condition of a share.
#[derive(Debug)]
pub(crate) struct ShareCondition {
    /// The condition on the columns of the key and of the measures.
    pub(crate) condition: Condition,
    /// The columns of its fields.
    pub(crate) columns: Vec<usize>,
}

/// A field whose text is the record.
#[derive(Debug)]
pub(crate) struct UnwrapQuery {
    /// The field, if it is not that of a named format.
    field: Option<Field>,
    /// Format of its text.
    pub(crate) format: InputFormat,
}

/// Origin of the key of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeySource {
    /// The first columns, this many.
    Columns(usize),
    /// The whole record.
    Record,
    /// Nothing: all records have the same key.
    Nothing,
}

/// Wanted fields of the format, and wanted groups of the expression for keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    /// The origin of each column.
    pub(crate) origins: Vec<ColumnOrigin>,
    /// The fields that are extracted by the format.
    pub(crate) fields: Vec<Field>,
}

/// The part of a query about the times of records.
#[derive(Debug)]
pub(crate) struct TimeQuery {
    /// The column with the time, or the columns with its date and its time of day. `None` if it is found for each file.
    pub(crate) columns: Option<Columns>,
    /// Whether records without a time are counted as well, and files without times.
    pub(crate) is_optional: bool,
    pub(crate) form: TimeForm,
    pub(crate) zone: Zone,
    /// The instants that are counted.
    pub(crate) window: Range<i64>,
    /// The instants within these that are not counted, if the windows before and after them are compared.
    pub(crate) gap: Range<i64>,
    pub(crate) buckets: Option<Buckets>,
    /// Slices of time in which counts are forgotten, unless that is done by buckets.
    pub(crate) slices: Option<Buckets>,
}

impl TimeQuery {
    /// `None` if the query does not depend on times.
    pub(crate) fn new(
        options: &QueryOptions,
        pattern: Option<&KeyPattern>,
    ) -> Result<Option<Self>, QueryError> {
        let QueryOptions { time, time_form, zone, since, until, every, last, .. } = options;
        let is_used = since.is_some() || until.is_some() || every.is_some() || last.is_some();
        if !is_used && !options.overview {
            return if time.is_empty() { Ok(None) } else { Err(QueryError::UnusedTime) };
        }
        let columns = (!time.is_empty()).then(|| Columns::of_fields(time, pattern));
        Ok(Some(Self {
            columns,
            is_optional: !is_used,
            form: time_form.clone(),
            zone: zone.clone(),
            window: options.window(),
            gap: options.gap(),
            buckets: every.map(|every| Buckets::new(every, zone.clone())),
            slices: last.filter(|_| every.is_none()).map(|last| Buckets::new(last.slice(), Zone::UTC)),
        }))
    }
}

impl Columns {
    /// A column for each of these fields.
    pub(crate) fn of_fields(fields: &[Field], pattern: Option<&KeyPattern>) -> Self {
        let mut columns = Self::default();
        fields.iter().for_each(|field| columns.push(field, pattern));
        columns
    }

    /// Adds a column, even if the field has one.
    fn push(&mut self, field: &Field, pattern: Option<&KeyPattern>) {
        let origin = self.origin(field, pattern);
        self.origins.push(origin);
    }

    /// Adds a column if the field has none, and returns its column.
    fn add(&mut self, field: &Field, pattern: Option<&KeyPattern>) -> usize {
        let origin = self.origin(field, pattern);
        let known = self.origins.iter().position(|&known| known == origin);
        known.unwrap_or_else(|| {
            self.origins.push(origin);
            self.origins.len() - 1
        })
    }

    /// The origin of a field, which is a group if there is one with its name or number.
    fn origin(&mut self, field: &Field, pattern: Option<&KeyPattern>) -> ColumnOrigin {
        if field.is_input() {
            return ColumnOrigin::Input;
        }
        let group = pattern.and_then(|pattern| pattern.column(field));
        group.map(ColumnOrigin::Group).unwrap_or_else(|| {
            let known = self.fields.iter().position(|known| known == field);
            ColumnOrigin::Format(known.unwrap_or_else(|| {
                self.fields.push(field.clone());
                self.fields.len() - 1
            }))
        })
    }

    /// Number of columns.
    pub(crate) fn len(&self) -> usize {
        self.origins.len()
    }

    fn has_names(&self) -> bool {
        self.fields.iter().any(|field| matches!(field, Field::Named(_)))
    }
}

impl RowQuery {
    /// Whether a count needs rows. All others count keys of lines by position.
    pub(crate) fn is_needed(options: &QueryOptions) -> bool {
        !matches!(options.input, None | Some(InputFormat::Lines))
            || options.record.is_some()
            || options.records.is_some()
            || options.unwrap.is_some()
            || !options.names.is_empty()
            || !options.extract.is_empty()
            || options.condition.is_some()
            || options.overview
            || options.explain && options.fields.is_whole_record()
            || options.missing.is_some()
            || options.columns.is_some()
            || !options.measures.is_empty()
            || !options.units.is_empty()
            || !options.time.is_empty()
            || options.since.is_some()
            || options.until.is_some()
            || options.sorted.is_some()
            || options.every.is_some()
            || options.last.is_some()
    }

    /// Compiles this part of a query.
    ///
    /// # Errors
    /// Returns an error if an expression is invalid, or if the format does not have a field.
    pub(crate) fn new(options: &QueryOptions, splitter: Splitter, case: Case) -> Result<Self, QueryError> {
        check_in_records(options)?;
        let condition = options.condition.as_deref();
        let condition = condition.map(|text| Condition::new(text, case)).transpose()?;
        let pattern = match &options.extract[..] {
            [] => None,
            patterns => {
                let of = |error| QueryError::Pattern { option: "extract", error };
                let each = if options.each { Each::Match } else { Each::Record };
                Some(KeyPattern::new(patterns, case, each).map_err(of)?)
            }
        };
        let time = TimeQuery::new(options, pattern.as_ref())?;
        let mut condition_columns = Columns::default();
        for field in condition.iter().flat_map(Condition::fields) {
            condition_columns.push(field, pattern.as_ref());
        }
        let mut value_columns = Columns::default();
        let key = key_source(options, pattern.as_ref(), &mut value_columns)?;
        let mut column = |field: &Field| value_columns.add(field, pattern.as_ref());
        let pivot = options.columns.as_ref().map(|field| (field.to_string(), column(field)));
        let measured: Vec<Option<usize>> =
            options.measures.iter().map(|measure| measure.field().map(&mut column)).collect();
        let is_measured =
            |wanted: &Field| options.measures.iter().any(|measure| measure.field() == Some(wanted));
        if let Some((unused, _)) = options.units.iter().find(|(field, _)| !is_measured(field)) {
            return Err(QueryError::UnusedUnit(unused.to_string()));
        }
        let units = options.units.iter().map(|(field, unit)| (column(field), *unit)).collect();
        let mut shares = Vec::new();
        for measure in &options.measures {
            let Measure::Share(text) = measure else { continue };
            let condition = Condition::new(text, case)?;
            let columns: Vec<usize> = condition.fields().iter().map(&mut column).collect();
            shares.push(ShareCondition { condition: condition.in_columns(&columns), columns });
        }
        let mut share_columns = value_columns.len()..;
        let measured = measured.into_iter().filter_map(|column| column.or_else(|| share_columns.next()));
        let measures = options.measures.iter().map(|measure| measure.kind().clone()).zip(measured).collect();
        let array = options.records.as_ref().map(|path| array(path, options.input.as_ref())).transpose()?;
        let by_fields = || {
            let time_columns = time.iter().flat_map(|time| &time.columns);
            let mut columns = [&condition_columns, &value_columns].into_iter().chain(time_columns);
            let has_names = columns.any(Columns::has_names);
            // The time of JSON is in a field, even if no other is named.
            let has_time_only = time.is_some() && options.fields.is_whole_record();
            let has_nothing = options.explain && options.fields.is_whole_record() && pattern.is_none();
            if has_names || has_time_only || has_nothing { InputFormat::Auto } else { InputFormat::Lines }
        };
        let of_files = || if options.unwrap.is_some() { InputFormat::Auto } else { by_fields() };
        let input = options.input.clone().unwrap_or_else(of_files);
        // The order of times is that of the records around the text.
        let unwraps = !options.overview && options.sorted.is_none();
        let unwrap = unwraps.then(|| {
            let (field, format) = options.unwrap.clone().map(|unwrap| (unwrap.field, unwrap.format)).unzip();
            UnwrapQuery { field, format: format.flatten().unwrap_or_else(by_fields) }
        });
        let begin = options.record.as_ref().or_else(|| input.record());
        let start = begin.map(RecordBegin::start).transpose();
        let start = start.map_err(|error| QueryError::Pattern { option: "record", error })?;
        if start.is_some() && input.needs_header() {
            let format = input.name().to_owned();
            return Err(QueryError::Input { error: FormatError::OwnRecords(format.clone()), format });
        }
        Ok(Self {
            input: if array.is_some() { InputFormat::Json } else { input },
            start,
            array,
            unwrap,
            splitter,
            delimiter: options.delimiter,
            has_header: options.has_header,
            condition,
            pattern,
            time,
            condition_columns,
            value_columns,
            key,
            pivot,
            missing: options.missing.clone().map(String::into_bytes),
            measures,
            shares,
            is_overview: options.overview,
            lists_fields: options.overview || options.explain,
            units,
            number_format: options.number_format.clone(),
        })
    }

    /// Field with the records if they are in one of files of a format.
    pub(crate) fn unwrapped_field<'q>(&'q self, format: &'q InputFormat) -> Option<&'q Field> {
        self.unwrap.as_ref()?.field.as_ref().or_else(|| format.unwrap())
    }

    /// The columns of the fields of a measure, which is in this column.
    pub(crate) fn columns_of_measure<'a>(&'a self, column: &'a usize) -> &'a [usize] {
        match column.checked_sub(self.value_columns.len()) {
            Some(share) => &self.shares[share].columns,
            None => slice::from_ref(column),
        }
    }

    /// How the numbers of a column are read.
    pub(crate) fn number_reader(&self, column: usize) -> NumberReader {
        let unit = self.units.iter().rfind(|(known, _)| *known == column);
        NumberReader { unit: unit.map(|(_, unit)| *unit), format: self.number_format.clone() }
    }

    /// Names of the fields or groups that form the key. Empty if some have only numbers: these are one text, as they are
    /// in plain lines.
    pub(crate) fn key_fields(&self) -> Vec<String> {
        let KeySource::Columns(count) = self.key else { return Vec::new() };
        let is_named = |origin: &ColumnOrigin| match *origin {
            ColumnOrigin::Format(field) => matches!(self.value_columns.fields[field], Field::Named(_)),
            ColumnOrigin::Group(group) => count > 1 || matches!(self.group(group), Some(Field::Named(_))),
            ColumnOrigin::Input => true,
        };
        let all_named = self.value_columns.origins[..count].iter().all(is_named);
        let names = (0..count).map(|column| self.name_of(&self.value_columns, column));
        if all_named { names.collect() } else { Vec::new() }
    }

    /// The group of the expression for keys with this index.
    fn group(&self, index: usize) -> Option<&Field> {
        self.pattern.as_ref()?.fields().get(index)
    }

    /// Name of a column: that of its field or group, or the number of a group without a name.
    pub(crate) fn name_of(&self, columns: &Columns, column: usize) -> String {
        match columns.origins[column] {
            ColumnOrigin::Format(field) => columns.fields[field].to_string(),
            ColumnOrigin::Group(group) => self.group(group).map(Field::to_string).unwrap_or_default(),
            ColumnOrigin::Input => Field::INPUT.to_owned(),
        }
    }

    /// Whether a field is selected by number.
    pub(crate) fn has_positions(&self) -> bool {
        self.is_overview || self.fields().any(|field| matches!(field, Field::Position(_)))
    }

    /// Names of the fields of the format.
    pub(crate) fn field_names(&self) -> Vec<&str> {
        let names = self.fields().filter_map(|field| match field {
            Field::Named(name) => Some(&name.text[..]),
            Field::Position(_) => None,
        });
        names.collect()
    }

    /// Whether nothing but the times is extracted from the records.
    pub(crate) fn has_only_times(&self) -> bool {
        !self.is_overview && self.fields().next().is_none()
    }

    /// The fields that are extracted by the format.
    fn fields(&self) -> impl Iterator<Item = &Field> {
        let time = self.time.iter().flat_map(|time| &time.columns);
        let columns = [&self.condition_columns, &self.value_columns].into_iter().chain(time);
        columns.flat_map(|columns| &columns.fields)
    }
}

/// Checks that fields whose texts are times or records are in records.
fn check_in_records(options: &QueryOptions) -> Result<(), QueryError> {
    let unwrapped = options.unwrap.as_ref().map(|unwrap| &unwrap.field);
    let fields = [("records", options.records.as_ref()), ("unwrap", unwrapped)];
    let times = options.time.iter().map(|time| ("time", Some(time)));
    match fields.into_iter().chain(times).find(|(_, field)| field.is_some_and(Field::is_input)) {
        Some((option, _)) => Err(QueryError::NotInRecord { option }),
        None => Ok(()),
    }
}

/// The path of an array in documents.
fn array(path: &Field, input: Option<&InputFormat>) -> Result<MemberPath, QueryError> {
    let refused = |reason: &str| QueryError::Records { path: path.to_string(), reason: reason.to_owned() };
    if !matches!(input, None | Some(InputFormat::Auto | InputFormat::Json)) {
        return Err(refused("only json has arrays of records"));
    }
    let Field::Named(name) = path else { return Err(refused("expected a path such as .Records")) };
    let keys = name.path.iter().map(|step| match step {
        Step::Key(key) => Ok(key.as_str()),
        Step::Index(_) => Err(refused("the path leads through objects only, not through elements of arrays")),
    });
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    MemberPath::new(keys).ok_or_else(|| refused("the path is longer than 127 bytes"))
}

/// Adds the columns of the key, which come first.
fn key_source(
    options: &QueryOptions,
    pattern: Option<&KeyPattern>,
    columns: &mut Columns,
) -> Result<KeySource, QueryError> {
    let mut fields = options.names.clone();
    if !options.fields.is_whole_record() {
        if options.fields.len() > MAX_KEY_FIELDS {
            let reason = format!(
                "{MAX_KEY_FIELDS} fields at most form a key of records with a format, a condition or measures"
            );
            return Err(QueryError::Fields { fields: options.fields.to_string(), reason });
        }
        let positions = options.fields.positions().ok_or_else(|| {
            let reason =
                "a range that counts from both ends needs plain lines without a condition or measures";
            QueryError::Fields { fields: options.fields.to_string(), reason: reason.to_owned() }
        })?;
        fields.extend(positions.into_iter().map(Field::Position));
    }
    match pattern {
        _ if !fields.is_empty() => {
            // A field that is given twice is twice in the key.
            for field in &fields {
                columns.push(field, pattern);
            }
        }
        Some(pattern) => columns.origins.extend((0..pattern.fields().len()).map(ColumnOrigin::Group)),
        None if options.measures.is_empty() && options.every.is_none() && options.columns.is_none() => {
            return Ok(KeySource::Record);
        }
        None => return Ok(KeySource::Nothing),
    }
    Ok(KeySource::Columns(columns.len()))
}
