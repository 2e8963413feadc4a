//! The counts of keys by bucket of time: a matrix, or a sparkline for each key.

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::Style;
use finecomb_sys::display;

use super::fit::{MIN_CUT, cut_all, narrowed, shown, width};
use super::table::{GAP, NumberColumn, number_columns, pad};
use super::{Decimals, Text};
use crate::count::answer::{Answer, Series};
use crate::print::columns::{AnswerTable, Value};

/// Minimum width of a cut name of a column: there may be many.
const MIN_NAME: usize = 5;

/// Numbers by bucket: a row for each bucket and a column for each key, below a header.
pub(super) struct Matrix<'a> {
    series: &'a Series,
    style: Style,
    names: Vec<Cow<'a, [u8]>>,
    widths: Vec<usize>,
    /// Width of the column of the times.
    time: usize,
}

impl<'a> Matrix<'a> {
    /// The matrix of a series. On a terminal, names of columns are cut if there is no room for them.
    pub(super) fn new(series: &'a Series, text: &Text) -> Self {
        let is_terminal = text.terminal.is_some();
        let mut names: Vec<_> = series.keys.iter().map(|key| shown(&key.key, is_terminal)).collect();
        let time = series.buckets.iter().map(String::len).max().unwrap_or(0).max("time".len());
        if let Some(terminal) = text.terminal {
            let natural: Vec<_> = names.iter().map(|name| (width(name), MIN_NAME)).collect();
            let widths = narrowed(&natural, terminal.saturating_sub(time + GAP * names.len()));
            if let Some(widest) = widths.iter().copied().max() {
                cut_all(&mut names, widest);
            }
        }
        let mut widths: Vec<usize> = names.iter().map(|name| width(name)).collect();
        for known in &series.counts {
            widths[known.key] = widths[known.key].max(Decimals::of(known.count).digits().len());
        }
        Self { series, style: text.count, names, widths, time }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { series, style, time, .. } = *self;
        write!(out, "{style}{:time$}{style:#}", "time")?;
        for (name, column) in self.names.iter().zip(&self.widths) {
            pad(GAP + column - width(name), out)?;
            write!(out, "{style}")?;
            out.write_all(name)?;
            write!(out, "{style:#}")?;
        }
        out.write_all(b"\n")?;
        let (before, after) = (style.to_string(), format!("{style:#}"));
        let mut known = series.counts.iter().peekable();
        let mut line = Vec::new();
        for (bucket, label) in series.buckets.iter().enumerate() {
            line.clear();
            line.extend_from_slice(label.as_bytes());
            line.resize(line.len().max(time), b' ');
            for (key, &width) in self.widths.iter().enumerate() {
                let count = known.next_if(|known| (known.bucket, known.key) == (bucket, key));
                let count = Decimals::of(count.map_or(0, |known| known.count));
                line.resize(line.len() + GAP + width - count.digits().len(), b' ');
                line.extend_from_slice(before.as_bytes());
                line.extend_from_slice(count.digits());
                line.extend_from_slice(after.as_bytes());
            }
            line.push(b'\n');
            out.write_all(&line)?;
        }
        Ok(())
    }
}

/// Width of the longest sparkline where there is no terminal.
const WIDTH: usize = 40;

/// Maximum width of the longest sparkline on a terminal, and the minimum beside long keys and on a narrow terminal.
const WIDTHS: [usize; 3] = [60, 20, 5];

/// A sparkline for each key, with its numbers, the maximum of its counts and the time of that, below the span of the buckets. Each has its own
/// scale, so that a rare key shows its changes beside a frequent one.
pub(super) struct Sparklines<'a> {
    series: &'a Series,
    style: Style,
    name: Cow<'a, [u8]>,
    keys: Vec<Cow<'a, [u8]>>,
    /// The columns of numbers, and their values by key.
    numbers: Vec<NumberColumn>,
    rows: Vec<Vec<Value<'a>>>,
    peaks: Vec<Peak>,
    /// The times of the buckets, without the parts that are the same in all.
    times: Vec<&'a str>,
    /// Widths of the columns of maxima, times and sparklines.
    widths: [usize; 3],
    /// Number of buckets that a character stands for: it shows the highest one, so that a short peak is not averaged out.
    merged: usize,
}

/// The highest count of a key in a bucket, and the first bucket that has it.
#[derive(Clone, Copy, Default)]
struct Peak {
    count: u64,
    bucket: usize,
}

/// Names of the columns.
const MAX: &str = "max";
const AT: &str = "at";

impl<'a> Sparklines<'a> {
    /// The sparklines of a series. The names of the columns of the key follow that of the time.
    pub(super) fn new(answer: &'a Answer, series: &'a Series, text: &Text) -> Self {
        let is_terminal = text.terminal.is_some();
        let columns = AnswerTable::of_series(answer, series, text.layout);
        let rows: Vec<_> = columns.rows().collect();
        let mut peaks = vec![Peak::default(); series.keys.len()];
        for known in series.counts.iter().filter(|known| known.count > 0) {
            if known.count > peaks[known.key].count {
                peaks[known.key] = Peak { count: known.count, bucket: known.bucket };
            }
        }
        let times = without_common_parts(&series.buckets);
        let name = answer.key_names.iter().skip(1).map(String::as_str).collect::<Vec<_>>().join(" ");
        let mut lines = Self {
            series,
            style: text.count,
            name: Cow::Owned(shown(name.as_bytes(), is_terminal).into_owned()),
            keys: series.keys.iter().map(|key| shown(&key.key, is_terminal)).collect(),
            numbers: number_columns(&columns, &rows, is_terminal),
            rows,
            widths: [0; 3],
            merged: 1,
            times,
            peaks,
        };
        lines.arrange(text.terminal);
        lines
    }

    /// Sets the widths of the columns. On a terminal, the sparklines use what keys leave, and keys are cut if that is too little.
    fn arrange(&mut self, terminal: Option<usize>) {
        let Self { series, peaks, times, .. } = self;
        let digits = |count: u64| Decimals::of(count).digits().len();
        let numbers: usize = self.numbers.iter().map(|column| column.width + GAP).sum();
        let max = peaks.iter().map(|peak| digits(peak.count)).fold(MAX.len(), usize::max);
        let at = peaks.iter().filter_map(|peak| times.get(peak.bucket));
        let at = at.map(|time| time.len()).fold(AT.len(), usize::max);
        let buckets = series.buckets.len();
        let left = terminal.map(|terminal| terminal.saturating_sub(numbers + max + at + 3 * GAP));
        let key = self.keys.iter().chain([&self.name]).map(|key| width(key)).max().unwrap_or(0);
        let room = left.map_or(WIDTH, |left| {
            let [most, least, narrow] = WIDTHS;
            let least = left.saturating_sub(MIN_CUT).clamp(narrow, least);
            left.saturating_sub(key).clamp(least, most)
        });
        self.merged = buckets.div_ceil(room).max(1);
        self.widths = [max, at, buckets.div_ceil(self.merged)];
        if let Some(left) = left {
            let key = left.saturating_sub(self.widths[2]).max(MIN_CUT);
            cut_all(&mut self.keys, key);
            cut_all(std::slice::from_mut(&mut self.name), key);
        }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { series, style, .. } = *self;
        let [Some(first), Some(last)] = [series.buckets.first(), series.buckets.last()] else {
            return Ok(());
        };
        write!(out, "{style}{first} to {last}{style:#}")?;
        if self.merged > 1 {
            write!(out, "; bar: max of {} buckets", self.merged)?;
        }
        out.write_all(b"\n")?;
        self.write_header(out)?;
        let mut highest = vec![vec![0; self.widths[2]]; series.keys.len()];
        for known in &series.counts {
            let bar = &mut highest[known.key][known.bucket / self.merged];
            *bar = known.count.max(*bar);
        }
        highest.iter().enumerate().try_for_each(|(row, bars)| self.write_row(row, bars, out))
    }

    fn write_header(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { style, widths: [max, at, bars], .. } = *self;
        write!(out, "{style}")?;
        for column in &self.numbers {
            pad(column.width - display::width(&column.name), out)?;
            write!(out, "{}", column.name)?;
            pad(GAP, out)?;
        }
        write!(out, "{MAX:>max$}  {AT:at$}  {:bars$}  ", "")?;
        out.write_all(&self.name)?;
        writeln!(out, "{style:#}")
    }

    fn write_row(&self, row: usize, bars: &[u64], out: &mut dyn Write) -> io::Result<()> {
        let Self { style, widths: [max, at, _], .. } = *self;
        let peak = self.peaks[row];
        for (column, &value) in self.numbers.iter().zip(&self.rows[row]) {
            write!(out, "{style}{:>width$}{style:#}", column.text(value), width = column.width)?;
            pad(GAP, out)?;
        }
        let time = self.times.get(peak.bucket).copied().unwrap_or_default();
        let bars: String = bars.iter().map(|&bar| level(bar, peak.count)).collect();
        write!(out, "{:>max$}  {time:at$}  {bars}  ", peak.count)?;
        out.write_all(&self.keys[row])?;
        out.write_all(b"\n")
    }
}

/// Times without their date and their zone where these are the same in all.
fn without_common_parts(times: &[String]) -> Vec<&str> {
    let parts = |time: &str| {
        let Some(date) = time.find('T') else { return (0, time.len()) };
        let zone = time[date..].find(['Z', '+', '-']).map_or(time.len(), |zone| date + zone);
        (date + 1, zone)
    };
    let Some(first) = times.first() else { return Vec::new() };
    let (clock, zone) = parts(first);
    let has_same_date = times.iter().all(|time| time.starts_with(&first[..clock]));
    let has_same_zone = times.iter().all(|time| time[parts(time).1..] == first[zone..]);
    let shown = |time: &String| {
        let (clock, zone) = parts(time);
        (if has_same_date { clock } else { 0 })..(if has_same_zone { zone } else { time.len() })
    };
    times.iter().map(|time| &time[shown(time)]).collect()
}

/// A column of up to eight eighths: a blank for nothing, and at least one eighth for anything else.
pub fn level(sum: u64, most: u64) -> char {
    const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let eighths = (u128::from(sum) * 8).div_ceil(u128::from(most.max(1)));
    LEVELS.get(eighths as usize).copied().unwrap_or('█')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::answer::{Answer, KeyCount, SeriesCount};
    use crate::print::Format;

    fn series(counts: &[(&str, &[u64])]) -> Series {
        let buckets = counts.first().map_or(0, |(_, counts)| counts.len());
        Series {
            buckets: (1..=buckets).map(|day| format!("2026-03-{day:02}")).collect(),
            keys: counts
                .iter()
                .map(|(key, counts)| KeyCount::new(key.as_bytes().to_vec(), counts.iter().sum()))
                .collect(),
            counts: (0..buckets)
                .flat_map(|bucket| {
                    let of_bucket = counts.iter().enumerate().map(move |(key, (_, counts))| SeriesCount {
                        bucket,
                        key,
                        count: counts[bucket],
                    });
                    of_bucket.filter(|known| known.count > 0)
                })
                .collect(),
        }
    }

    fn text(series: &Series, text: &Text) -> String {
        let key_names = vec!["time".to_owned(), "path".to_owned()];
        let answer = Answer { series: Some(series.clone()), key_names, ..Answer::default() };
        let mut out = Vec::new();
        text.write(&answer, &mut out).expect("writing to memory");
        String::from_utf8(out).expect("UTF-8")
    }

    fn matrix(series: &Series, terminal: Option<usize>) -> String {
        text(series, &Text { terminal, ..Text::default() })
    }

    fn sparklines(series: &Series, terminal: Option<usize>) -> String {
        text(series, &Text { terminal, sparklines: true, ..Text::default() })
    }

    #[test]
    fn a_matrix_has_a_row_for_each_bucket_and_a_column_for_each_key() {
        let series = series(&[("/", &[1200, 0]), ("/a\nb", &[3, 40])]);
        let shown = "time           /  /a\\nb\n2026-03-01  1200      3\n2026-03-02     0     40\n";
        assert_eq!(matrix(&series, None), shown);
        assert_eq!(matrix(&series, Some(80)), shown);
    }

    #[test]
    fn wide_names_of_columns_are_aligned() {
        let series = series(&[("日本", &[1]), ("e\u{301}", &[20])]);
        assert_eq!(matrix(&series, None), "time        日本   e\u{301}\n2026-03-01     1  20\n");
    }

    #[test]
    fn names_of_columns_are_cut_on_a_narrow_terminal() {
        let series = series(&[("/reports/annual/index.html", &[1]), ("\u{1b}", &[20])]);
        assert_eq!(
            matrix(&series, Some(40)),
            "time        /reports/a…ndex.html  \\u{1b}\n2026-03-01                     1      20\n"
        );
    }

    #[test]
    fn sparklines_have_their_own_scales_and_never_hide_a_record() {
        let series = series(&[("a", &[0, 1, 500, 1000]), ("b", &[1, 0, 0, 250])]);
        let expected = "2026-03-01 to 2026-03-04\n\
                        count   max  at                path\n\
                        \x201501  1000  2026-03-04   ▁▄█  a\n\
                        \x20 251   250  2026-03-04  ▁  █  b\n";
        assert_eq!(sparklines(&series, None), expected);
        assert_eq!(sparklines(&series, Some(80)), expected);
    }

    #[test]
    fn a_short_peak_is_seen_where_buckets_are_merged() {
        let mut counts = [6; 90];
        counts[44] = 96;
        let series = series(&[("/a/very/long/path/of/a/page/index.html", &counts), ("/", &[96; 90])]);
        let bars = |low: &str, at: usize| format!("{}█{}", low.repeat(at), low.repeat(17 - at));
        let expected = format!(
            "2026-03-01 to 2026-03-90; bar: max of 5 buckets\n\
             count  max  at          {:18}  path\n\
             \x20 630   96  2026-03-45  {}  /a/very/lon…index.html\n\
             \x208640   96  2026-03-01  {}  /\n",
            "",
            bars("▁", 8),
            bars("█", 8)
        );
        assert_eq!(sparklines(&series, Some(66)), expected);
    }

    #[test]
    fn times_have_only_the_parts_that_differ() {
        for (times, expected) in [
            (["2026-03-01T06:20Z", "2026-03-01T06:21Z"], ["06:20", "06:21"]),
            (["2026-03-01T06:20+01:00", "2026-03-02T06:21+01:00"], ["2026-03-01T06:20", "2026-03-02T06:21"]),
            (["2026-03-29T01:59-05:00", "2026-03-29T03:00-04:00"], ["01:59-05:00", "03:00-04:00"]),
            (["2026-03-01", "2026-04-01"], ["2026-03-01", "2026-04-01"]),
        ] {
            assert_eq!(without_common_parts(&times.map(str::to_owned)), expected);
        }
    }
}
