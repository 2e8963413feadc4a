//! The fields that the time of a record is in.

use std::fmt;

use finecomb_top::Field;

/// Value of `--time`: the field with the time, or those with its date and its time of day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeFields(pub(super) Vec<Field>);

impl TimeFields {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let fields = Field::parse_list(text).map_err(|error| error.to_string())?;
        if fields.len() > 2 {
            return Err("expected a field, or those with the date and the time of day".to_owned());
        }
        Ok(Self(fields))
    }
}

/// The text that [`TimeFields::parse`] reads.
impl fmt::Display for TimeFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(Field::written).collect::<Vec<_>>().join(","))
    }
}
