//! Text for people, in 80 columns or those of a narrower terminal.

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::Style;
use finecomb_sys::display;
use finecomb_sys::units::counted;

use super::{OverviewFormat, distinct, duration, interval, is_each_once, percent, records, span};
use crate::overview::answer::{Bars, FieldOverview, Overview, Times, ValueCount};
use crate::print::Text;
use crate::print::text::fit::cut_all;
use crate::print::text::level;

/// Width of a line, and the minimum on a narrow terminal.
const WIDTH: usize = 80;
const MIN_WIDTH: usize = 20;

/// Maximum width of the column with the names of fields.
const NAME: usize = 24;

impl OverviewFormat for Text {
    fn write_overview(&self, overview: &Overview, out: &mut dyn Write) -> io::Result<()> {
        let style = self.count;
        let line = self.terminal.map_or(WIDTH, |terminal| terminal.clamp(MIN_WIDTH, WIDTH));
        writeln!(out, "{style}{}{style:#}", shortened(&records(overview), line))?;
        if let Some(times) = &overview.times {
            writeln!(out, "{}", span(times))?;
            write_bars(&times.bars, "", out)?;
            for gap in &times.gaps {
                writeln!(out, "no record for {} after {}", duration(gap.nanoseconds), gap.after)?;
            }
        }
        let (fields, empty): (Vec<_>, Vec<_>) = overview.fields.iter().partition(|field| field.values > 0);
        let width = fields.iter().map(|field| display::width(&display::escaped(field.name.chars())));
        let width = width.max().unwrap_or(0).min(NAME);
        for field in fields {
            writeln!(out)?;
            FieldText { field, overview, style, width, line }.write(out)?;
        }
        if !empty.is_empty() {
            let names: Vec<&str> = empty.iter().map(|field| field.name.as_str()).collect();
            writeln!(out)?;
            write_wrapped(&format!("no value: {}", names.join(", ")), line, out)?;
        }
        if overview.fields_left_out > 0 {
            let fields = counted(overview.fields_left_out, "more field");
            writeln!(out, "# left out {fields}; those nested least and first by name are shown")?;
        }
        if overview.partial {
            writeln!(out, "# partial: interrupted after {}", counted(overview.records, "record"))?;
        }
        Ok(())
    }
}

/// A field, as text.
struct FieldText<'a> {
    field: &'a FieldOverview,
    overview: &'a Overview,
    style: Style,
    /// Width of the column with the names.
    width: usize,
    /// Width of a line.
    line: usize,
}

impl FieldText<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { field, style, .. } = *self;
        let name = shortened(&field.name, NAME);
        let fill = " ".repeat(self.width.saturating_sub(display::width(&name)));
        let mut facts = distinct(field);
        if field.values < self.overview.records {
            facts.push_str(&format!(", in {} of records", percent(field.values, self.overview.records)));
        }
        if is_each_once(field) {
            facts.push_str(", each once");
        }
        writeln!(out, "{style}{name}{style:#}{fill}  {facts}")?;
        match (&field.times, &field.numbers) {
            _ if field.is_time => writeln!(out, "  the times of the records"),
            (Some(times), _) => write_times(times, out),
            (None, numbers) => {
                if let Some(numbers) = numbers {
                    let line = format!(
                        "  min {}  median {}  p95 {}  max {}",
                        numbers.min, numbers.median, numbers.p95, numbers.max
                    );
                    let others = match numbers.others {
                        0 => String::new(),
                        others => format!("  not numbers: {others}"),
                    };
                    writeln!(out, "{line}{others}")?;
                }
                match &field.top[..] {
                    _ if !is_each_once(field) => self.write_top(out),
                    [first, ..] if numbers.is_none() => {
                        writeln!(out, "  such as {}", shortened(&text(first), self.line - 10))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// Writes the most frequent values: on one line if there is room.
    fn write_top(&self, out: &mut dyn Write) -> io::Result<()> {
        let field = self.field;
        if field.top.is_empty() {
            return writeln!(out, "  no value in 1 % of them");
        }
        let about = if field.is_exact { "" } else { "≈" };
        let share = |value: &ValueCount| format!("{about}{}", percent(value.count, field.values));
        let shares: Vec<String> = field.top.iter().map(share).collect();
        let texts: Vec<String> = field.top.iter().map(text).collect();
        let together: Vec<String> =
            texts.iter().zip(&shares).map(|(text, share)| format!("{text} {share}")).collect();
        let line = format!("  {}", together.join("   "));
        let is_plain = field.top.iter().all(|value| !value.is_cut && !value.value.contains(&b' '));
        if is_plain && display::width(&line) <= self.line {
            return writeln!(out, "{line}");
        }
        let mut texts: Vec<Cow<'_, [u8]>> = texts.iter().map(|text| text.as_bytes().into()).collect();
        cut_all(&mut texts, self.line - 11);
        for (text, share) in texts.iter().zip(&shares) {
            writeln!(out, "  {share:>7}  {}", String::from_utf8_lossy(text))?;
        }
        Ok(())
    }
}

/// A value, on one line.
fn text(value: &ValueCount) -> String {
    let mut text = display::escaped_bytes(&value.value);
    if value.is_cut {
        text.push('…');
    }
    text
}

/// A text that takes at most this many columns, with an ellipsis for the rest.
fn shortened(text: &str, width: usize) -> String {
    let text = display::escaped(text.chars());
    if display::width(&text) <= width {
        return text;
    }
    format!("{}…", display::beginning(&text, width - 1))
}

fn write_times(times: &Times, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {}", span(times))?;
    write_bars(&times.bars, "  ", out)
}

/// Writes a row of bars and their width.
fn write_bars(bars: &Bars, indent: &str, out: &mut dyn Write) -> io::Result<()> {
    if bars.counts.len() < 2 {
        return Ok(());
    }
    let most = bars.counts.iter().copied().max().unwrap_or(0);
    let row: String = bars.counts.iter().map(|&count| level(count, most)).collect();
    writeln!(out, "{indent}{row}  bar: {}", interval(bars.seconds))
}

/// Writes words in lines that fit, unless a word does not.
fn write_wrapped(text: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::new();
    for word in text.split(' ') {
        let word = shortened(word, width - 2);
        if !line.is_empty() && display::width(&line) + 1 + display::width(&word) > width {
            writeln!(out, "{line}")?;
            line = format!("  {word}");
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    writeln!(out, "{line}")
}
