//! The part of a query that is about fields with names, conditions and measures.

use std::sync::Arc;

use crate::cells::Origin;
use crate::count::answer::{AbsentField, QueryPart};
use crate::key::extract::{Each, KeyPattern};
use crate::key::pattern::Case;
use crate::measure::MeasureKind;
use crate::query::condition::Condition;
use crate::query::field::Field;
use crate::query::input_format::InputFormat;
use crate::query::options::{Measure, QueryError, QueryOptions};
use crate::records::absent_fields::Presence;
use crate::records::layout::Plan;
use crate::records::split::Splitter;
use crate::time::row_time::TimeQuery;

/// Maximum number of fields by position that form a key. Each is a column.
const MAX_KEY_FIELDS: u64 = 1000;

/// How keys and values are made of records with a format, a condition or measures.
#[derive(Debug)]
pub(crate) struct RowQuery {
    pub(crate) input: InputFormat,
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
    /// Counts records without a field of the key, with this in its place.
    pub(crate) missing: Option<Vec<u8>>,
    /// Measures, each with the index of its field among the columns.
    pub(crate) measures: Vec<(MeasureKind, usize)>,
    /// The plan of all files, if it does not depend on the file.
    pub(crate) plan: Option<Arc<Plan>>,
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
    pub(crate) origins: Vec<Origin>,
    /// The fields that are extracted by the format.
    pub(crate) fields: Vec<Field>,
}

impl Columns {
    /// A single column.
    pub(crate) fn of_one(field: &Field, pattern: Option<&KeyPattern>) -> Self {
        let mut columns = Self::default();
        columns.push(field, pattern);
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
    fn origin(&mut self, field: &Field, pattern: Option<&KeyPattern>) -> Origin {
        let group = pattern.and_then(|pattern| pattern.column(field));
        group.map(Origin::Group).unwrap_or_else(|| {
            let known = self.fields.iter().position(|known| known == field);
            Origin::Format(known.unwrap_or_else(|| {
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
            || !options.names.is_empty()
            || !options.extract.is_empty()
            || options.condition.is_some()
            || options.missing.is_some()
            || !options.measures.is_empty()
            || options.time.is_some()
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
        let measures = options.measures.iter();
        let measures = measures
            .map(|Measure { kind, field }| (kind.clone(), value_columns.add(field, pattern.as_ref())));
        let measures = measures.collect();
        let input = options.input.clone().unwrap_or_else(|| {
            let time_columns = time.iter().flat_map(|time| &time.columns);
            let mut columns = [&condition_columns, &value_columns].into_iter().chain(time_columns);
            let has_names = columns.any(Columns::has_names);
            // The time of JSON is in a field, even if no other is named.
            let has_time_only = time.is_some() && options.fields.is_whole_record();
            if has_names || has_time_only { InputFormat::Auto } else { InputFormat::Lines }
        });
        let mut query = Self {
            input,
            splitter,
            delimiter: options.delimiter,
            has_header: options.has_header,
            condition,
            pattern,
            time,
            condition_columns,
            value_columns,
            key,
            missing: options.missing.clone().map(String::into_bytes),
            measures,
            plan: None,
        };
        let plan = Plan::of_all_files(&query)
            .map_err(|error| QueryError::Input { format: query.input.name().to_owned(), error });
        query.plan = plan?.map(Arc::new);
        Ok(query)
    }

    /// Names of the fields or groups that form the key. Empty if some have only numbers: these are one text, as they are
    /// in plain lines.
    pub(crate) fn key_fields(&self) -> Vec<String> {
        let KeySource::Columns(count) = self.key else { return Vec::new() };
        let is_named = |origin: &Origin| match *origin {
            Origin::Format(field) => matches!(self.value_columns.fields[field], Field::Named(_)),
            Origin::Group(group) => count > 1 || matches!(self.group(group), Some(Field::Named(_))),
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
            Origin::Format(field) => columns.fields[field].to_string(),
            Origin::Group(group) => self.group(group).map(Field::to_string).unwrap_or_default(),
        }
    }

    /// The fields that no record has, by the presence of the fields of the condition, and of the fields of the key and the
    /// measures.
    pub(crate) fn absent(&self, condition: &Presence, values: &Presence) -> Vec<AbsentField> {
        let of_condition = self.condition.iter().flat_map(|parsed| {
            let fields = parsed.fields().iter().enumerate();
            fields.filter(|&(column, _)| condition.lacks(column)).map(|(column, field)| AbsentField {
                field: match field {
                    Field::Position(number) => format!("${number}"),
                    Field::Named(name) => name.text.clone(),
                },
                part: QueryPart::Condition { may_be_text: parsed.may_be_text(column) },
            })
        });
        let name = |column: usize| self.name_of(&self.value_columns, column);
        // Records without a field of the key are skipped and reported, unless a text takes its place.
        let key_columns = match self.key {
            KeySource::Columns(count) if self.missing.is_some() => count,
            _ => 0,
        };
        let origins = &self.value_columns.origins;
        let is_named_once = |column: usize| {
            let origin = origins[column];
            matches!(origin, Origin::Format(_)) && !origins[..column].contains(&origin)
        };
        let of_key = (0..key_columns).filter(|&column| values.lacks(column) && is_named_once(column));
        let of_key = of_key.map(|column| AbsentField { field: name(column), part: QueryPart::Key });
        let is_first = |at: usize, column: usize| self.measures[..at].iter().all(|other| other.1 != column);
        let measured = self.measures.iter().enumerate().map(|(at, &(_, column))| (at, column));
        let of_measures = measured
            .filter(|&(at, column)| values.lacks(column) && is_first(at, column))
            .map(|(at, column)| AbsentField { field: name(column), part: QueryPart::Measure(at) });
        of_condition.chain(of_key).chain(of_measures).collect()
    }

    /// Whether a field is selected by number.
    pub(crate) fn has_positions(&self) -> bool {
        let fields = self.condition_columns.fields.iter().chain(&self.value_columns.fields);
        let time = self.time.iter().flat_map(|time| &time.columns).flat_map(|columns| &columns.fields);
        fields.chain(time).any(|field| matches!(field, Field::Position(_)))
    }

    /// Names of the fields of the format.
    pub(crate) fn field_names(&self) -> Vec<&str> {
        let time = self.time.iter().flat_map(|time| &time.columns);
        let columns = [&self.condition_columns, &self.value_columns].into_iter().chain(time);
        columns
            .flat_map(|columns| &columns.fields)
            .filter_map(|field| match field {
                Field::Named(name) => Some(&name.text[..]),
                Field::Position(_) => None,
            })
            .collect()
    }

    /// Whether the plan depends on the beginning of a file, or records may span lines.
    pub(crate) fn needs_recognition(&self) -> bool {
        self.plan.is_none() || matches!(self.input, InputFormat::Csv)
    }
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
        Some(pattern) => columns.origins.extend((0..pattern.fields().len()).map(Origin::Group)),
        None if options.measures.is_empty() && options.every.is_none() => return Ok(KeySource::Record),
        None => return Ok(KeySource::Nothing),
    }
    Ok(KeySource::Columns(columns.len()))
}
