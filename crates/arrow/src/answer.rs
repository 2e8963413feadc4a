//! Answers of `top`.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Decimal128Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema};
use finecomb_top::{Answer, KeyCount, Quantity};

/// Digits of an Arrow decimal of 128 bits.
const DIGITS: u8 = 38;

/// The rows of an answer: the columns of the key as text, the key as bytes, the count, its error if counts are approximate, and the
/// measures. A measure of more than 38 digits is null.
///
/// # Errors
/// If the columns are too large for Arrow.
pub fn answer_batch(answer: &Answer) -> Result<RecordBatch, ArrowError> {
    let rows = &answer.top;
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (number, name) in answer.key_names.iter().enumerate() {
        let column = rows.iter().map(|row| row.columns().nth(number).map(String::from_utf8_lossy));
        columns.push((name.clone(), Arc::new(column.collect::<StringArray>())));
    }
    let keys = rows.iter().map(|row| Some(row.key.as_slice()));
    columns.push(("key_bytes".to_owned(), Arc::new(keys.collect::<BinaryArray>())));
    let numbers = |number: fn(&KeyCount) -> u64| Arc::new(rows.iter().map(number).collect::<UInt64Array>());
    columns.push(("count".to_owned(), numbers(|row| row.count)));
    if answer.approximation.is_some() {
        columns.push(("error".to_owned(), numbers(|row| row.error)));
        let certain = rows.iter().map(|row| Some(!row.is_uncertain));
        columns.push(("certain".to_owned(), Arc::new(certain.collect::<BooleanArray>())));
    }
    for (number, name) in answer.measure_names.iter().enumerate() {
        let values: Vec<Option<&Quantity>> = rows.iter().map(|row| row.values.get(number)).collect();
        columns.push((name.clone(), Arc::new(decimals(&values)?)));
    }
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(name, column.data_type().clone(), true)).collect();
    RecordBatch::try_new(
        Arc::new(Schema::new(fields)),
        columns.into_iter().map(|(_, column)| column).collect(),
    )
}

/// Numbers with the places that the most precise of them needs. One of more than 38 digits is null.
fn decimals(values: &[Option<&Quantity>]) -> Result<Decimal128Array, ArrowError> {
    let parts = |value: &Option<&Quantity>| value.and_then(Quantity::to_decimal);
    let places = values.iter().filter_map(parts).map(|(_, places)| places).max().unwrap_or(0);
    let limit = 10_u128.pow(DIGITS.into());
    let units = values.iter().map(|value| {
        let (units, own) = parts(value)?;
        let factor = 10_i128.pow((places - own).into());
        units.checked_mul(factor).filter(|units| units.unsigned_abs() < limit)
    });
    units.collect::<Decimal128Array>().with_precision_and_scale(DIGITS, places as i8)
}
