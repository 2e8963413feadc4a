//! Lines about the records, and a table of the fields.

use std::io::{self, Write};

use finecomb_sys::units::{Count, counted};

use super::{OverviewFormat, duration, percent, records, span};
use crate::overview::answer::{FieldOverview, Overview, ValueCount};
use crate::print::Markdown;
use crate::print::markdown::escaped;

impl OverviewFormat for Markdown {
    fn write_overview(&self, overview: &Overview, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", escaped(&records(overview)))?;
        if let Some(times) = &overview.times {
            writeln!(out, "\n{}", escaped(&span(times)))?;
            for gap in &times.gaps {
                writeln!(out, "\nNo record for {} after {}", duration(gap.nanoseconds), gap.after)?;
            }
        }
        writeln!(out, "\n| field | values | distinct | most frequent | min | median | p95 | max |")?;
        writeln!(out, "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |")?;
        for field in &overview.fields {
            write_row(field, out)?;
        }
        if overview.fields_left_out > 0 {
            let fields = counted(overview.fields_left_out, "more field");
            writeln!(out, "\nLeft out {fields}; those nested least and first by name are shown.")?;
        }
        Ok(())
    }
}

fn write_row(field: &FieldOverview, out: &mut dyn Write) -> io::Result<()> {
    let about = if field.is_exact { "" } else { "≈" };
    let value = |value: &ValueCount| {
        let text = escaped(&String::from_utf8_lossy(&value.value));
        format!("{text}{} {about}{}", if value.is_cut { "…" } else { "" }, percent(value.count, field.values))
    };
    let top: Vec<String> = field.top.iter().map(value).collect();
    let extremes: [String; 4] = match (&field.times, &field.numbers) {
        (Some(times), _) => [times.first.clone(), String::new(), String::new(), times.last.clone()],
        (None, Some(numbers)) => {
            [numbers.min, numbers.median, numbers.p95, numbers.max].map(|number| number.to_string())
        }
        (None, None) => Default::default(),
    };
    let (name, values, distinct) = (escaped(&field.name), Count(field.values), Count(field.distinct));
    let (top, extremes) = (top.join("<br>"), extremes.join(" | "));
    writeln!(out, "| {name} | {values} | {about}{distinct} | {top} | {extremes} |")
}
