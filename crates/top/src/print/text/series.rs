//! The counts of keys by bucket of time: a matrix, or on a terminal a sparkline for each key.

use std::io::{self, Write};

use anstyle::Style;
use finecomb_sys::display;

use super::{Decimals, write_key};
use crate::count::answer::Series;

/// Writes a row for each bucket and a column for each key, below a header.
pub(super) fn write_matrix(series: &Series, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<String> = series.keys.iter().map(|key| name(&key.key)).collect();
    let mut widths: Vec<usize> = names.iter().map(|name| display::width(name)).collect();
    for known in &series.counts {
        widths[known.key] = widths[known.key].max(Decimals::of(known.count).digits().len());
    }
    let time = series.buckets.iter().map(String::len).max().unwrap_or(0).max("time".len());
    write!(out, "{style}{:time$}{style:#}", "time")?;
    for (name, &width) in names.iter().zip(&widths) {
        let fill = width - display::width(name);
        write!(out, "  {}{style}{name}{style:#}", " ".repeat(fill))?;
    }
    out.write_all(b"\n")?;
    let (before, after) = (style.to_string(), format!("{style:#}"));
    let mut known = series.counts.iter().peekable();
    let mut line = Vec::new();
    for (bucket, label) in series.buckets.iter().enumerate() {
        line.clear();
        line.extend_from_slice(label.as_bytes());
        line.resize(line.len().max(time), b' ');
        for (key, &width) in widths.iter().enumerate() {
            let count = known.next_if(|known| (known.bucket, known.key) == (bucket, key));
            let count = Decimals::of(count.map_or(0, |known| known.count));
            line.resize(line.len() + 2 + width - count.digits().len(), b' ');
            line.extend_from_slice(before.as_bytes());
            line.extend_from_slice(count.digits());
            line.extend_from_slice(after.as_bytes());
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

/// The text of a key on one line.
fn name(key: &[u8]) -> String {
    String::from_utf8_lossy(key).replace('\n', "\\n")
}

/// Writes the count, a sparkline and the name of each key, below the span of the buckets. Sparklines have at most `width`
/// characters, each for the same number of buckets, and the same scale.
pub(super) fn write_sparklines(
    series: &Series,
    style: Style,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (Some(first), Some(last)) = (series.buckets.first(), series.buckets.last()) else { return Ok(()) };
    let size = series.buckets.len().div_ceil(width.max(1)).max(1);
    let mut sums = vec![vec![0; series.buckets.len().div_ceil(size)]; series.keys.len()];
    for known in &series.counts {
        sums[known.key][known.bucket / size] += known.count;
    }
    let most = sums.iter().flatten().copied().max().unwrap_or(0);
    let counts: Vec<String> = series.keys.iter().map(|key| key.count.to_string()).collect();
    let digits = counts.iter().map(String::len).max().unwrap_or(0);
    writeln!(out, "{:digits$}  {style}{first} to {last}{style:#}", "")?;
    for ((key, count), sums) in series.keys.iter().zip(&counts).zip(&sums) {
        let line: String = sums.iter().map(|&sum| level(sum, most)).collect();
        write!(out, "{}{style}{count}{style:#}  {line}  ", " ".repeat(digits - count.len()))?;
        write_key(&key.key, out)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// A column of up to eight eighths: a blank for nothing, and at least one eighth for anything else.
pub(crate) fn level(sum: u64, most: u64) -> char {
    const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let eighths = (u128::from(sum) * 8).div_ceil(u128::from(most.max(1)));
    LEVELS.get(eighths as usize).copied().unwrap_or('█')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::answer::{KeyCount, SeriesCount};

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

    fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("writing to memory");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn a_matrix_has_a_row_for_each_bucket_and_a_column_for_each_key() {
        let series = series(&[("/", &[1200, 0]), ("/a\nb", &[3, 40])]);
        let shown = text(|out| write_matrix(&series, Style::new(), out));
        assert_eq!(shown, "time           /  /a\\nb\n2026-03-01  1200      3\n2026-03-02     0     40\n");
    }

    #[test]
    fn wide_names_of_columns_are_aligned() {
        let series = series(&[("日本", &[1]), ("e\u{301}", &[20])]);
        let shown = text(|out| write_matrix(&series, Style::new(), out));
        assert_eq!(shown, "time        日本   e\u{301}\n2026-03-01     1  20\n");
    }

    #[test]
    fn sparklines_have_one_scale_and_never_hide_a_record() {
        let series = series(&[("a", &[0, 1, 500, 1000]), ("b", &[1, 0, 0, 250])]);
        let shown = text(|out| write_sparklines(&series, Style::new(), 10, out));
        assert_eq!(shown, "      2026-03-01 to 2026-03-04\n1501   ▁▄█  a\n 251  ▁  ▂  b\n");
        let shown = text(|out| write_sparklines(&series, Style::new(), 2, out));
        assert_eq!(shown, "      2026-03-01 to 2026-03-04\n1501  ▁█  a\n 251  ▁▂  b\n");
    }
}
