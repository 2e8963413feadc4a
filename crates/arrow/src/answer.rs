//! Answers of `top`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{ArrowError, Field, Schema};
use finecomb_top::{Answer, KeyCount, Quantity, Zone};

/// Digits of an Arrow decimal of 128 bits.
const DIGITS: u8 = 38;

/// Digits of the decimals of a column if these suffice: products and sums of them have room in those of 128 bits.
const FEW_DIGITS: u8 = 18;

/// Microseconds of a second, the unit of times.
const SECOND: i64 = 1_000_000;

/// The rows of an answer: the columns of the key, the key as bytes, the count, its error if counts are approximate, and the measures.
/// Buckets are times in their zone, other columns of the key are text. Measures are whole numbers or decimals where these hold all of
/// their values; means, shares, and columns with numbers of more than 38 digits are floating-point numbers.
///
/// # Errors
/// If the columns are too large for Arrow.
pub fn answer_batch(answer: &Answer) -> Result<RecordBatch, ArrowError> {
    let rows = &answer.top;
    let mut columns: Vec<ArrayRef> = Vec::new();
    for number in 0..answer.key_names.len() {
        columns.push(match &answer.bucket_zone {
            Some(zone) if number == 0 => Arc::new(times(&answer.row_starts(), zone)),
            _ => {
                let column = rows.iter().map(|row| row.columns().nth(number).map(String::from_utf8_lossy));
                Arc::new(texts(column)?)
            }
        });
    }
    columns.push(Arc::new(exact_keys(rows)?));
    // Counts are at most 2^56.
    let numbers = |number: fn(&KeyCount) -> u64| {
        Arc::new(rows.iter().map(|row| i64::try_from(number(row)).ok()).collect::<Int64Array>())
    };
    columns.push(numbers(|row| row.count));
    if answer.approximation.is_some() {
        columns.push(numbers(|row| row.error));
        let certain = rows.iter().map(|row| Some(!row.is_uncertain));
        columns.push(Arc::new(certain.collect::<BooleanArray>()));
    }
    for (number, name) in answer.measure_names.iter().enumerate() {
        let values: Vec<Option<&Quantity>> = rows.iter().map(|row| row.values.get(number)).collect();
        let of_pivot = answer.pivot.as_ref().map(|pivot| pivot.measure.as_deref().unwrap_or("count"));
        columns.push(measure(of_pivot.unwrap_or(name), &values)?);
    }
    of_columns(column_names(answer).into_iter().zip(columns).collect())
}

/// Names of the columns of an answer, each once: a column of the key begins with `key_` if its name is taken.
pub fn column_names(answer: &Answer) -> Vec<String> {
    let mut others = vec!["key_bytes", "count"];
    others.extend(answer.approximation.iter().flat_map(|_| ["error", "certain"]));
    others.extend(answer.measure_names.iter().map(String::as_str));
    let mut names: Vec<String> = Vec::new();
    for name in &answer.key_names {
        let mut name = name.clone();
        while names.contains(&name) || others.contains(&name.as_str()) {
            name.insert_str(0, "key_");
        }
        names.push(name);
    }
    names.extend(others.into_iter().map(str::to_owned));
    names
}

/// The rows of an answer with types that do not depend on the rows, and numbers of values that have too many digits for their column, by
/// measure. These are null.
#[derive(Clone, Debug)]
pub struct FixedBatch {
    /// The columns key, text, count and the measures.
    pub batch: RecordBatch,
    /// Numbers of values, by measure; none of 0.
    pub unfit: BTreeMap<String, u64>,
}

/// The rows of an answer with measures of this number of decimal places.
///
/// # Errors
/// If the columns are too large for Arrow, or there are more than 38 places.
pub fn fixed_batch(answer: &Answer, places: u8) -> Result<FixedBatch, ArrowError> {
    let rows = &answer.top;
    if places > DIGITS {
        return Err(ArrowError::InvalidArgumentError(format!("{places} places: at most {DIGITS}")));
    }
    let shown = texts(rows.iter().map(|row| Some(String::from_utf8_lossy(&row.key))))?;
    // Counts are at most 2^56.
    let counts: Int64Array = rows.iter().map(|row| i64::try_from(row.count).ok()).collect();
    let mut columns: Vec<(String, ArrayRef)> = vec![
        ("key".to_owned(), Arc::new(exact_keys(rows)?)),
        ("text".to_owned(), Arc::new(shown)),
        ("count".to_owned(), Arc::new(counts)),
    ];
    let mut unfit = BTreeMap::new();
    for (number, name) in answer.measure_names.iter().enumerate() {
        let mut lost = 0;
        let units = rows.iter().map(|row| {
            let value = row.values.get(number)?;
            let units = units(value, places);
            lost += u64::from(units.is_none() && *value != Quantity::None);
            units
        });
        let column: Decimal128Array = units.collect();
        columns.push((name.clone(), Arc::new(column.with_precision_and_scale(DIGITS, places as i8)?)));
        if lost > 0 {
            unfit.insert(name.clone(), lost);
        }
    }
    Ok(FixedBatch { batch: of_columns(columns)?, unfit })
}

/// A column of the keys.
fn exact_keys(rows: &[KeyCount]) -> Result<BinaryArray, ArrowError> {
    let mut bytes = 0;
    for row in rows {
        grow(&mut bytes, row.key.len())?;
    }
    Ok(rows.iter().map(|row| Some(row.key.as_slice())).collect())
}

/// A column of texts.
fn texts<'t>(texts: impl Iterator<Item = Option<Cow<'t, str>>>) -> Result<StringArray, ArrowError> {
    let (mut builder, mut bytes) = (StringBuilder::new(), 0);
    for text in texts {
        grow(&mut bytes, text.as_ref().map_or(0, |text| text.len()))?;
        builder.append_option(text);
    }
    Ok(builder.finish())
}

/// Adds to the length of a column, which an offset of 32 bits must reach. The builders panic beyond.
fn grow(bytes: &mut usize, more: usize) -> Result<(), ArrowError> {
    *bytes += more;
    match i32::try_from(*bytes) {
        Ok(_) => Ok(()),
        Err(_) => Err(ArrowError::InvalidArgumentError("keys of more than 2 GiB in all".to_owned())),
    }
}

/// A batch of columns with names.
fn of_columns(columns: Vec<(String, ArrayRef)>) -> Result<RecordBatch, ArrowError> {
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(name, column.data_type().clone(), true)).collect();
    RecordBatch::try_new(
        Arc::new(Schema::new(fields)),
        columns.into_iter().map(|(_, column)| column).collect(),
    )
}

/// The name of the zone of a column of times. A zone of the system may have none: then it is UTC. That of many machines is another name of
/// UTC.
pub fn zone_name(zone: &Zone) -> String {
    zone.name().filter(|name| name != "Etc/UTC").unwrap_or_else(|| "UTC".to_owned())
}

/// Whether the measure with this name is a quotient, so that no decimal of it is exact.
pub fn is_quotient(measure: &str) -> bool {
    measure.starts_with("mean(") || measure.starts_with("share(")
}

/// A column of buckets, which begin at these seconds since 1970.
fn times(starts: &[i64], zone: &Zone) -> TimestampMicrosecondArray {
    let instants = starts.iter().map(|start| start.checked_mul(SECOND));
    instants.collect::<TimestampMicrosecondArray>().with_timezone(zone_name(zone))
}

/// A column of a measure.
fn measure(name: &str, values: &[Option<&Quantity>]) -> Result<ArrayRef, ArrowError> {
    if !is_quotient(name) {
        if let Some(column) = integers(values) {
            return Ok(Arc::new(column));
        }
        if let Some(column) = decimals(values) {
            return Ok(Arc::new(column?));
        }
    }
    Ok(Arc::new(values.iter().map(|value| value.and_then(Quantity::to_f64)).collect::<Float64Array>()))
}

/// Whole numbers. `None` if a value is none, or has more than 64 bits.
fn integers(values: &[Option<&Quantity>]) -> Option<Int64Array> {
    let integer = |units: i128| i64::try_from(units).ok();
    scaled(values, 0, integer).map(Int64Array::from)
}

/// Numbers with the places that the most precise of them needs. `None` if one has more than 38 digits then.
fn decimals(values: &[Option<&Quantity>]) -> Option<Result<Decimal128Array, ArrowError>> {
    let parts = |value: &Option<&Quantity>| value.and_then(Quantity::to_decimal);
    let places = values.iter().filter_map(parts).map(|parts| reduced(parts).1).max().unwrap_or(0);
    let units = scaled(values, places, Some)?;
    let few = 10_u128.pow(FEW_DIGITS.into());
    let is_few = places <= FEW_DIGITS && units.iter().flatten().all(|units| units.unsigned_abs() < few);
    let digits = if is_few { FEW_DIGITS } else { DIGITS };
    Some(Decimal128Array::from(units).with_precision_and_scale(digits, places as i8))
}

/// The units of all values with this number of places, as `number` has them. `None` if it has not those of a value.
fn scaled<T>(
    values: &[Option<&Quantity>],
    places: u8,
    number: impl Fn(i128) -> Option<T>,
) -> Option<Vec<Option<T>>> {
    let value = |value: &Option<&Quantity>| match value {
        None | Some(Quantity::None) => Some(None),
        Some(value) => units(value, places).and_then(&number).map(Some),
    };
    values.iter().map(value).collect()
}

/// Units and decimal places without zeros at the end.
fn reduced((mut units, mut places): (i128, u8)) -> (i128, u8) {
    while places > 0 && units % 10 == 0 {
        (units, places) = (units / 10, places - 1);
    }
    (units, places)
}

/// The units of a number with this number of places. `None` if there is none, it has more places, or it has too many digits.
fn units(value: &Quantity, places: u8) -> Option<i128> {
    let (units, own) = reduced(value.to_decimal()?);
    let factor = 10_i128.checked_pow(places.checked_sub(own)?.into())?;
    units.checked_mul(factor).filter(|units| units.unsigned_abs() < 10_u128.pow(DIGITS.into()))
}
