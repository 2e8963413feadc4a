//! Contents of inputs: formats, times, and for each field its distinct, most frequent and extreme values.
//!
//! One pass reads the records, in bounded memory. Each worker has a [`FieldSet`] and a timeline. Both are functions of
//! the set of the records, with their places, so that the answer depends neither on the order of the blocks nor on the number of
//! workers. The values of a field are in [`values`], exact up to a bound and in sketches beyond.
//!
//! A format for which [`named_fields`](crate::records::named_fields) has names needs nothing here. Names that are found while records are
//! read are in `members`; `source` decides which it is.

pub(crate) mod answer;
mod fields;
mod members;
mod numbers;
pub(crate) mod print;
mod sample;
pub(crate) mod source;
mod texts;
pub(crate) mod time_reader;
mod timeline;
mod values;
mod worker;

use finecomb_scan::{Folded, Inputs, ScanOptions};

use crate::count::fold_for;
use crate::overview::answer::{Overview, OverviewOutcome};
use crate::overview::worker::{Contents, Describer};
use crate::query::Query;

/// Describes the records of `inputs` that the query selects, whose [`overview`](crate::QueryOptions::overview) is set.
///
/// The answer does not depend on the number of workers or the size of blocks. Problems with an input are reported in
/// [`OverviewOutcome::problems`]; the other inputs are still described.
pub fn overview(inputs: &Inputs, options: &ScanOptions<'_>, query: &Query) -> OverviewOutcome {
    let now = time_reader::now();
    let Folded { joined, problems, bytes, report } =
        fold_for(query, inputs, options, || Describer::new(query, now));
    let partial = options.stop.as_ref().is_some_and(|stop| stop.is_raised());
    let contents = joined.into_iter().next();
    let overview = contents.map_or_else(Overview::default, Contents::into_overview);
    OverviewOutcome { overview: Overview { partial, ..overview }, problems, bytes, report }
}
