//! Checks the samples of named formats.

use std::sync::Arc;

use finecomb_scan::{Block, Meter, Recognize, Recognized, Source};

use crate::key::keys::Keys;
use crate::query::Query;
use crate::query::input_format::InputFormat;
use crate::query::near_names::quoted;
use crate::query::options::QueryOptions;
use crate::records::format::named::{FormatSample, NamedFormat};
use crate::records::layout::Recognizer;
use crate::records::rows::RowMaker;

/// Returns a message about each sample of a format that does not give its fields.
pub fn sample_faults(format: &Arc<NamedFormat>) -> Vec<String> {
    let faults = format.samples().iter().zip(1..).filter_map(|(sample, number)| {
        let fault = check(format, sample).err()?;
        Some(format!("sample {number}: {fault}"))
    });
    faults.collect()
}

/// Extracts the fields of a sample and compares them.
fn check(format: &Arc<NamedFormat>, sample: &FormatSample) -> Result<(), String> {
    let names = sample.fields.iter().map(|(field, _)| field.clone()).collect();
    let options = QueryOptions::default().input(Some(InputFormat::Named(Arc::clone(format)))).names(names);
    // Its fields are those of the format alone.
    let mut query = Query::new(&options).map_err(|error| error.to_string())?.of_outer_records();
    let Some(rows) = query.rows.clone() else { return Ok(()) };
    let (source, mut text) = (Source::named(0, None), sample.line.clone().into_bytes());
    let recognized = Recognizer(Arc::clone(&rows)).recognize(&source, &text, true);
    let Some(Recognized { records, details, .. }) = recognized.map_err(|error| error.to_string())? else {
        return Err("it has no record".to_owned());
    };
    query.plan = details.downcast().ok();
    let mut maker = RowMaker::new(&query, &rows);
    let block = Block { records, ..Block::new(&source, 0, &mut text) };
    maker.make(&block, &mut Meter::off(), &mut Keys::default());
    if let Some((_, malformed)) = maker.malformed.first() {
        return Err(format!("malformed at column {}: {}", malformed.at + 1, malformed.reason));
    }
    let values = maker.values(&block);
    if values.is_empty() {
        return Err("it has no record".to_owned());
    }
    for ((name, value), (_, expected)) in values.iter().zip(&sample.fields) {
        match value.as_deref().map(String::from_utf8_lossy) {
            Some(value) if value == **expected => {}
            Some(value) => {
                return Err(format!("{name} is {} instead of {}", quoted(&value), quoted(expected)));
            }
            None => return Err(format!("{name} is missing instead of {}", quoted(expected))),
        }
    }
    Ok(())
}
