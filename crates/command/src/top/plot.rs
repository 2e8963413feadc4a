//! The picture of `comb top --plot`: an answer by bucket of time as an SVG file.

use finecomb_sys::display::excerpt;
use std::path::{Path, PathBuf};

use finecomb_plot::{Curve, Tick, Timeline};
use finecomb_sys::units::counted;
use finecomb_top::{Answer, Query, SortBy, TimeAxis};

use crate::exit::Failure;
use crate::output::{FileKind, check_new, write};

/// Kind of file that a plot may replace.
const SVG: FileKind =
    FileKind { name: "an SVG", is_this: |head| head.windows(4).any(|window| window == b"<svg") };

/// Maximum number of named inputs in a title.
const MAX_NAMES: usize = 3;

/// A picture to draw.
pub(crate) struct Plot<'a> {
    pub(crate) file: &'a Path,
    /// Files that are counted; none for standard input.
    pub(crate) inputs: &'a [PathBuf],
    /// Width and zone of the buckets, for people.
    pub(crate) buckets: String,
}

impl Plot<'_> {
    /// Checks, before a job, that its picture replaces neither an input nor a file of another kind.
    ///
    /// # Errors
    ///
    /// If it would. The message gives the reason and the fix.
    pub(crate) fn check(&self) -> Result<(), String> {
        check_new(self.file, self.inputs, &SVG)
    }

    /// Writes the picture of an answer.
    ///
    /// # Errors
    ///
    /// If [`Plot::check`] refuses the file, which may have changed during the job, or it cannot be written.
    pub(crate) fn write(&self, answer: &Answer, query: &Query) -> Result<(), Failure> {
        self.check()?;
        let Some(axis) = TimeAxis::new(query, &answer.starts) else { return Ok(()) };
        write(self.file, self.timeline(answer, axis).svg().as_bytes())
    }

    fn timeline(&self, answer: &Answer, axis: TimeAxis) -> Timeline {
        let value = match answer.sort_by {
            SortBy::Measure(measure) => answer.measure_names[measure].clone(),
            SortBy::Count | SortBy::Key => "records".to_owned(),
        };
        let ticks = axis.ticks.iter().map(|tick| Tick {
            at: tick.at,
            label: tick.label.clone(),
            context: tick.context.clone(),
        });
        Timeline {
            title: self.title(),
            subtitle: self.subtitle(answer, &value, axis.starts.len()),
            value: excerpt(value.as_bytes()),
            buckets: axis.starts.len(),
            ticks: ticks.collect(),
            has_bars: answer.series.is_none() && !matches!(answer.sort_by, SortBy::Measure(_)),
            curves: curves(answer, &axis),
            breaks: axis.breaks,
        }
    }

    fn title(&self) -> String {
        let names = self.inputs.iter().take(MAX_NAMES).map(|path| match path.to_str() {
            Some("-") => "standard input".to_owned(),
            _ => excerpt(path.as_os_str().as_encoded_bytes()),
        });
        let names = names.collect::<Vec<_>>().join(", ");
        match self.inputs.len() {
            0 => "standard input".to_owned(),
            count if count > MAX_NAMES => {
                format!("{names} and {}", counted((count - MAX_NAMES) as u64, "other"))
            }
            _ => names,
        }
    }

    fn subtitle(&self, answer: &Answer, value: &str, buckets: usize) -> String {
        let Answer { records, series, long_gaps, partial, key_names, .. } = answer;
        let by_key = match series {
            Some(_) => format!(" by {}", key_names.get(1..).unwrap_or_default().join(", ")),
            None => String::new(),
        };
        let mut parts = vec![format!("{value}{by_key} every {}", self.buckets), counted(*records, "record")];
        if let Some(count) = series.as_ref().map(|series| series.keys.len())
            && count > Timeline::MAX_CURVES
        {
            parts.push(format!("the first {} of {count} keys", Timeline::MAX_CURVES));
        }
        if buckets > Timeline::MAX_BUCKETS {
            let several = buckets.div_ceil(Timeline::MAX_BUCKETS);
            parts.push(format!("the highest of each {several} buckets"));
        }
        if *long_gaps > 0 {
            parts.push(format!("{} left out", counted(*long_gaps, "long gap")));
        }
        if *partial {
            parts.push("partial".to_owned());
        }
        parts.join("; ")
    }
}

/// The counts of each key by bucket, or the counts or measures of the buckets.
fn curves(answer: &Answer, axis: &TimeAxis) -> Vec<Curve> {
    let places = answer.starts.iter().map(|start| axis.starts.binary_search(start).ok());
    if let Some(series) = &answer.series {
        let counts = series.counts_of_first(Timeline::MAX_CURVES);
        return series
            .keys
            .iter()
            .zip(counts)
            .map(|(key, counts)| {
                let mut values = vec![Some(0.0); axis.starts.len()];
                for (place, count) in places.clone().zip(counts) {
                    if let Some(place) = place {
                        values[place] = Some(count as f64);
                    }
                }
                Curve { name: excerpt(&key.key), values }
            })
            .collect();
    }
    let none = if matches!(answer.sort_by, SortBy::Measure(_)) { None } else { Some(0.0) };
    let mut values = vec![none; axis.starts.len()];
    for (place, row) in places.zip(&answer.top) {
        let value = match answer.sort_by {
            SortBy::Measure(measure) => row.values[measure].to_f64(),
            SortBy::Count | SortBy::Key => Some(row.count as f64),
        };
        if let Some(place) = place {
            values[place] = value;
        }
    }
    vec![Curve { name: String::new(), values }]
}
