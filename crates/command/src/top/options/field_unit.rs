//! The unit of the numbers without one in a measured field.

use std::fmt;

use finecomb_top::{Field, FieldError, TimeUnit, TimeUnitError};

/// Value of `--unit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldUnit {
    pub(super) field: Field,
    pub(super) unit: TimeUnit,
}

impl FieldUnit {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (field, unit) = text.rsplit_once('=').ok_or("expected FIELD=UNIT, such as took=ms")?;
        let unit = unit.parse().map_err(|error: TimeUnitError| error.to_string())?;
        let field = Field::parse(field).map_err(|error: FieldError| error.to_string())?;
        Ok(Self { field, unit })
    }
}

/// The text that [`FieldUnit::parse`] reads.
impl fmt::Display for FieldUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.field.written(), self.unit)
    }
}
