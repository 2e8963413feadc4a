//! Text for people.

mod bars;
pub(crate) mod fit;
pub(crate) mod series;
mod table;

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::Style;
use finecomb_sys::units::{Count, counted};

pub use self::fit::fitted;
use self::fit::{MIN_CUT, shown};
pub use self::series::level;
use self::series::{Matrix, Sparklines};
use self::table::AlignedTable;
use super::columns::{AnswerTable, Format, Layout};
use crate::count::answer::{Answer, Changes, KeyCount};

/// A line for each key: the count, a space, and the unchanged bytes of the key, except that a line feed in it is written
/// `\n`. With more columns, they are aligned below a header, and the numbers of a column have the same number of decimal
/// places. A partial answer ends with a line that begins with `#`, and so do the totals; no other line does.
///
/// On a terminal, lines fit its width: bars are narrowed or left out, then titles of numbers and keys are cut, so that different ones
/// look different.
/// Counts are aligned, control characters and invalid UTF-8 are escaped, and bytes have units.
#[derive(Clone, Copy, Debug, Default)]
pub struct Text {
    /// Style of counts and of the header. Default: plain.
    pub count: Style,
    /// Additional columns.
    pub layout: Layout,
    /// Number of columns of the terminal that shows the text, if one does.
    pub terminal: Option<usize>,
    /// Width of the longest bar, in characters; 0 for no bars. Bars are drawn for the column that the keys are sorted by,
    /// or for the count if that is the key.
    pub bars: usize,
    /// Whether bars stay beside long keys, which are cut first then, if there is room for both.
    pub keeps_bars: bool,
    /// Whether keys that are counted by buckets of time have sparklines, instead of the numbers as a matrix.
    pub sparklines: bool,
}

impl Format for Text {
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        let columns = AnswerTable::new(answer, self.layout);
        // While a count runs, it has no rows by bucket.
        let has_sparklines = self.sparklines && (columns.is_plain() || answer.top.is_empty());
        if let Some(series) = answer.series.as_ref().filter(|_| has_sparklines || columns.is_plain()) {
            match has_sparklines {
                true => Sparklines::new(answer, series, self).write(out)?,
                false => Matrix::new(series, self).write(out)?,
            }
        } else if columns.is_plain() && columns.key_columns() > 0 && self.bars == 0 {
            self.write_plain(answer, out)?;
        } else if !answer.top.is_empty() {
            AlignedTable::new(&columns, self).write(out)?;
        }
        if self.layout.totals {
            let before = answer.changes.map(|changes| format!("{} -> ", Count(changes.before)));
            let after = answer.records - answer.changes.map_or(0, |changes| changes.before);
            let new = answer
                .changes
                .map(|Changes { new, gone, .. }| format!(", {} new, {} gone", Count(new), Count(gone)));
            writeln!(
                out,
                "# {}{}, {}{}, {} shown",
                before.unwrap_or_default(),
                counted(after, "record"),
                answer.distinct_keys(),
                new.unwrap_or_default(),
                Count(answer.top.len() as u64)
            )?;
        }
        if answer.partial {
            writeln!(out, "# partial: interrupted after {}", counted(answer.records, "record"))?;
        }
        Ok(())
    }
}

impl Text {
    fn write_plain(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        let (before, after) = (self.count.to_string(), format!("{:#}", self.count));
        let (indent, keys) = self.plain_keys(answer);
        for (row, key) in answer.top.iter().enumerate() {
            let count = Decimals::of(key.count);
            out.write_all(&b" ".repeat(indent.saturating_sub(length(key))))?;
            out.write_all(before.as_bytes())?;
            out.write_all(count.digits())?;
            out.write_all(after.as_bytes())?;
            if key.error > 0 {
                write!(out, "+{}", key.error)?;
            }
            out.write_all(if key.is_uncertain { b"? " } else { b" " })?;
            out.write_all(&keys.get(row).map_or_else(|| shown(&key.key, false), |key| key[..].into()))?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// On a terminal, the width of the counts and the keys as they fit beside them.
    fn plain_keys<'a>(&self, answer: &'a Answer) -> (usize, Vec<Cow<'a, [u8]>>) {
        let Some(terminal) = self.terminal else { return (0, Vec::new()) };
        let indent = answer.top.iter().map(length).max().unwrap_or(0);
        let mut keys: Vec<_> = answer.top.iter().map(|key| shown(&key.key, true)).collect();
        fit::cut_all(&mut keys, terminal.saturating_sub(indent + 1).max(MIN_CUT));
        (indent, keys)
    }
}

/// Length of a count, with its error and the mark of an uncertain key.
fn length(key: &KeyCount) -> usize {
    let error = if key.error > 0 { 1 + Decimals::of(key.error).digits().len() } else { 0 };
    Decimals::of(key.count).digits().len() + error + usize::from(key.is_uncertain)
}

/// The decimal digits of a number: formatting macros take several times as long, and there may be many rows.
struct Decimals {
    bytes: [u8; 20],
    start: usize,
}

impl Decimals {
    fn of(mut number: u64) -> Self {
        let mut decimals = Self { bytes: [0; 20], start: 20 };
        loop {
            decimals.start -= 1;
            decimals.bytes[decimals.start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return decimals;
            }
        }
    }

    fn digits(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::answer::BucketRows;
    use crate::measure::number::Decimal;
    use crate::measure::quantity::Quantity;
    use crate::measure::wide::WideDecimal;
    use crate::print::tests::{several, shown, written};
    use crate::print::{Csv, Json, Markdown};
    use crate::query::options::SortBy;

    #[test]
    fn a_line_has_a_count_and_a_key() {
        let shown = written(&Text::default(), &[(b"/a b", 12), (b"", 3), (b"\xFF", 1), (b"a\nb", 1)], false);
        assert_eq!(shown, "12 /a b\n3 \n1 ?\n1 a\\nb\n");
    }

    #[test]
    fn counts_have_all_their_digits() {
        for count in [0, 7, 10, 1_234_567_890, u64::MAX] {
            assert_eq!(written(&Text::default(), &[(b"a", count)], false), format!("{count} a\n"));
        }
    }

    #[test]
    fn partial_answers_are_marked() {
        assert_eq!(
            written(&Text::default(), &[(b"a", 2)], true),
            "2 a\n# partial: interrupted after 2 records\n"
        );
        assert_eq!(
            written(&Text::default(), &[(b"a", 1)], true),
            "1 a\n# partial: interrupted after 1 record\n"
        );
    }

    #[test]
    fn counts_have_their_style() {
        let text = Text { count: Style::new().bold(), ..Text::default() };
        assert_eq!(written(&text, &[(b"a", 2)], false), "\x1b[1m2\x1b[0m a\n");
    }

    #[test]
    fn several_columns_are_aligned_below_a_header() {
        let layout = Layout { percent: true, totals: true, ..Layout::default() };
        assert_eq!(
            several(&Text { layout, ..Text::default() }),
            "count  percent  path  user agent\n\
             \x20   3    75.00  /a b  x,|y\n\
             \x20   1    25.00        line\\nfeed\n\
             # 4 records, 2 distinct keys, 2 shown\n"
        );
    }

    #[test]
    fn shares_and_sums_of_keys_by_bucket_are_those_within_the_bucket() {
        let row = |time: &str, key: &str, count| KeyCount {
            fields: [time, key].map(|field| field.as_bytes().to_vec()).to_vec(),
            ..KeyCount::new(Vec::new(), count)
        };
        let answer = Answer {
            top: vec![row("1", "a", 3), row("1", "b", 1), row("2", "a", 1)],
            key_names: vec!["time".to_owned(), "key".to_owned()],
            records: 9,
            bucket_rows: [(2, 8), (1, 1)].map(|(rows, records)| BucketRows { rows, records }).to_vec(),
            ..Answer::default()
        };
        let layout = Layout { percent: true, cumulative: true, ..Layout::default() };
        assert_eq!(
            shown(&Text { layout, ..Text::default() }, &answer),
            "count  percent  cumulative  cumulative_percent  time  key\n\
             \x20   3    37.50           3               37.50  1     a\n\
             \x20   1    12.50           4               50.00  1     b\n\
             \x20   1   100.00           1              100.00  2     a\n"
        );
    }

    #[test]
    fn estimates_are_marked_above_their_column_and_have_no_digits_that_are_not_known() {
        let estimate = |units, places| Quantity::Estimate(Decimal::new(units, places));
        let answer = measured(
            &["p99(t)", "distinct(u)"],
            &[
                ("a", 9000, &[estimate(168_000, 3), estimate(5021, 0)]),
                ("b", 20, &[number(12_345, 3), number(7, 0)]),
                ("c", 9000, &[estimate(4_560, 3), number(8, 0)]),
            ],
        );
        let text = "count  ≈p99(t)  ≈distinct(u)  key\n\
                    \x209000  168              5021  a\n\
                    \x20  20   12.345             7  b\n\
                    \x209000    4.56              8  c\n";
        let written = |format: &dyn Format, answer: &Answer| {
            let mut out = Vec::new();
            format.write(answer, &mut out).expect("writing to memory");
            String::from_utf8(out).expect("UTF-8")
        };
        assert_eq!(written(&Text::default(), &answer), text);
        let markdown = written(&Markdown::default(), &answer);
        assert!(markdown.starts_with("| count | ≈p99(t) | ≈distinct(u) | key |\n"), "{markdown}");
        assert!(
            written(&Csv::default(), &answer).starts_with("count,p99(t),distinct(u),key\n9000,168,5021,a\n")
        );
        assert!(written(&Json::default(), &answer).contains("\"p99(t)\": 168,"));
    }

    #[test]
    fn a_key_of_any_length_is_in_a_column() {
        let key = |field: String| KeyCount {
            fields: vec![field.into_bytes(), b"b".to_vec()],
            ..KeyCount::new(Vec::new(), 1)
        };
        let answer = Answer {
            top: vec![key("x".repeat(70_000)), key("y".to_owned())],
            key_names: vec!["a".to_owned(), "b".to_owned()],
            ..Answer::default()
        };
        let mut out = Vec::new();
        let layout = Layout { percent: true, ..Layout::default() };
        Text { layout, ..Text::default() }.write(&answer, &mut out).expect("writing to memory");
        let lines: Vec<usize> = out.split(|&byte| byte == b'\n').map(<[u8]>::len).collect();
        assert_eq!(lines, [119, 70_019, 119, 0]);
    }

    /// An answer with a measure of each key.
    fn measured(names: &[&str], keys: &[(&str, u64, &[Quantity])]) -> Answer {
        let key = |&(key, count, values): &(&str, u64, &[Quantity])| KeyCount {
            values: values.to_vec(),
            ..KeyCount::new(key.as_bytes().to_vec(), count)
        };
        Answer {
            top: keys.iter().map(key).collect(),
            key_names: vec!["key".to_owned()],
            measure_names: names.iter().map(|&name| name.to_owned()).collect(),
            ..Answer::default()
        }
    }

    fn number(units: i128, places: u8) -> Quantity {
        Quantity::Number(Decimal::new(units, places))
    }

    #[test]
    fn the_numbers_of_a_column_have_their_points_below_each_other() {
        let rows: [(&str, u64, &[Quantity]); 4] = [
            ("a", 4, &[number(12_500, 3), number(7, 0)]),
            ("b", 3, &[number(-325, 3), number(1_234, 0)]),
            ("c", 2, &[number(1_000_000, 3), Quantity::None]),
            ("d", 1, &[Quantity::None, Quantity::Wide(WideDecimal { high: 1 << 64, low: 0, places: 0 })]),
        ];
        let shown = shown(&Text::default(), &measured(&["mean(x)", "sum(y)"], &rows));
        assert_eq!(
            shown,
            "count   mean(x)                                   sum(y)  key\n\
             \x20   4    12.500                                        7  a\n\
             \x20   3    -0.325                                     1234  b\n\
             \x20   2  1000.000                                        -  c\n\
             \x20   1         -  340282366920938463463374607431768211456  d\n"
        );
    }

    #[test]
    fn means_are_rounded_where_their_places_say_nothing() {
        let column = |name, numbers: [Quantity; 3]| {
            let rows = numbers.map(|number| [number]);
            let rows = [("a", 1, &rows[0][..]), ("b", 1, &rows[1]), ("c", 1, &rows[2])];
            let shown = shown(&Text::default(), &measured(&[name], &rows));
            shown
                .lines()
                .skip(1)
                .map(|line| line.split_whitespace().nth(1).unwrap_or("").to_owned())
                .collect::<Vec<_>>()
        };
        let long = [number(1_234_567_890_123, 12), number(-25_000_000_000_000, 12), number(0, 12)];
        assert_eq!(column("mean(x)", long), ["1.234568", "-25.000000", "0.000000"]);
        assert_eq!(column("sum(x)", long), ["1.234567890123", "-25.000000000000", "0.000000000000"]);
        let small = [number(1_234_567, 12), Quantity::None, number(2, 0)];
        assert_eq!(column("mean(x)", small), ["0.000001235", "-", "2.000000000"]);
        assert_eq!(
            column("mean(x)", [number(12_345, 4), number(2, 0), number(5, 1)]),
            ["1.2345", "2.0000", "0.5000"]
        );
    }

    #[test]
    fn bars_follow_the_column_that_the_keys_are_sorted_by() {
        let rows: [(&str, u64, &[Quantity]); 2] =
            [("a", 1, &[number(15, 1), number(80, 0)]), ("b", 9, &[Quantity::None, number(20, 0)])];
        let mut answer = measured(&["min(x)", "sum(yy)"], &rows);
        let text = Text { bars: 4, layout: Layout { percent: true, ..Layout::default() }, ..Text::default() };
        let line = |answer: &Answer, line| {
            let mut out = Vec::new();
            text.write(answer, &mut out).expect("writing to memory");
            String::from_utf8(out).expect("UTF-8").lines().nth(line).unwrap_or_default().to_owned()
        };
        answer.records = 10;
        answer.sort_by = SortBy::Measure(1);
        assert_eq!(line(&answer, 0), "count  percent  min(x)  sum(yy)  sum(yy)  key");
        assert_eq!(line(&answer, 1), "    1    10.00     1.5       80  ████     a");
        assert_eq!(line(&answer, 2), "    9    90.00       -       20  █        b");
        answer.sort_by = SortBy::Key;
        assert_eq!(line(&answer, 0), "count  percent  min(x)  sum(yy)        key");
        assert_eq!(line(&answer, 1), "    1    10.00     1.5       80  ▍     a");
        assert_eq!(line(&answer, 2), "    9    90.00       -       20  ████  b");
    }

    #[test]
    fn bars_stay_beside_long_keys_where_both_have_room() {
        let answer = measured(&[], &[("/a/long/path/to/a/page/index.html", 2, &[]), ("b", 1, &[])]);
        for (columns, keeps_bars, expected) in [
            (40, true, "    2  ██████████  /a/long/pa…index.html\n"),
            (36, true, "    2  /a/long/path/t…age/index.html\n"),
            (40, false, "    2  /a/long/path/to/a/page/index.html\n"),
        ] {
            let text = Text { bars: 20, keeps_bars, terminal: Some(columns), ..Text::default() };
            let mut out = Vec::new();
            text.write(&answer, &mut out).expect("writing to memory");
            let shown = String::from_utf8(out).expect("UTF-8");
            assert!(shown.contains(expected), "{columns}: {shown}");
        }
    }

    #[test]
    fn bars_of_the_only_column_of_numbers_have_no_title() {
        let answer = measured(&[], &[("a", 2, &[]), ("b", 1, &[])]);
        let mut out = Vec::new();
        Text { bars: 4, ..Text::default() }.write(&answer, &mut out).expect("writing to memory");
        let shown = String::from_utf8(out).expect("UTF-8");
        assert_eq!(shown, "count        key\n    2  ████  a\n    1  ██    b\n");
    }

    /// An answer with keys of several fields, and on a terminal of this many columns.
    fn on_terminal(terminal: usize, keys: &[(u64, &[&str])]) -> String {
        let key = |&(count, fields): &(u64, &[&str])| KeyCount {
            fields: fields.iter().map(|field| field.as_bytes().to_vec()).collect(),
            ..KeyCount::new(fields.join(" ").into_bytes(), count)
        };
        let key_names = ["method", "path", "user\x1bagent"].iter().take(keys[0].1.len());
        let answer = Answer {
            top: keys.iter().map(key).collect(),
            key_names: key_names.map(|&name| name.to_owned()).collect(),
            records: 200,
            ..Answer::default()
        };
        let mut out = Vec::new();
        let layout = Layout { percent: true, ..Layout::default() };
        let text = Text { terminal: Some(terminal), bars: 20, layout, ..Text::default() };
        text.write(&answer, &mut out).expect("writing to memory");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn bars_are_narrowed_and_left_out_before_keys_are_cut() {
        let keys: [(u64, &[&str]); 2] = [(100, &["/reports/2026/march.html"]), (50, &["/"])];
        let lines = |terminal| on_terminal(terminal, &keys);
        let table = |bars: [&str; 3], path| {
            let [title, full, half] = bars;
            format!("count  percent  {title}method\n  100    50.00  {full}{path}\n   50    25.00  {half}/\n")
        };
        let path = "/reports/2026/march.html";
        assert_eq!(lines(52), table([&" ".repeat(12), "██████████  ", "█████       "], path));
        assert_eq!(lines(47), table([&" ".repeat(7), "█████  ", "██▌    "], path));
        assert_eq!(lines(46), table([""; 3], path));
        assert_eq!(lines(40), table([""; 3], path));
        assert_eq!(lines(36), table([""; 3], "/reports/2…arch.html"));
        assert_eq!(lines(1), table([""; 3], "/repor….html"));
    }

    #[test]
    fn titles_of_measures_are_cut_to_the_width_of_a_terminal() {
        let rows: [(&str, u64, &[Quantity]); 2] = [
            ("/reports/2026/march.html", 10, &[number(1_234, 2), number(1, 0), number(10_i128.pow(20), 0)]),
            ("/", 5, &[number(5, 0), number(2, 0), number(3, 0)]),
        ];
        let [one, other] = ["500", "503"].map(|status| format!("share(status >= 500 && status != {status})"));
        let mut answer = measured(&[&one, &other, "sum(a_long_name_of_a_field)"], &rows);
        answer.sort_by = SortBy::Measure(0);
        let lines = |terminal, bars| {
            let mut out = Vec::new();
            let text = Text { terminal: Some(terminal), bars, ..Text::default() };
            text.write(&answer, &mut out).expect("writing to memory");
            String::from_utf8(out).expect("UTF-8").lines().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(lines(200, 0)[0], format!("count  {one}  {other}  sum(a_long_name_of_a_field)  key"));
        assert_eq!(
            lines(80, 0),
            [
                "count  share(…= 500)  share(…= 503)          sum(a_…field)  key",
                "   10          12.34              1  100000000000000000000  /reports/2…arch.html",
                "    5           5.00              2                      3  /",
            ]
        );
        assert_eq!(
            lines(1, 20)[..2],
            [
                "count  share(… 500)  share(… 503)           sum(a_…ield)  key",
                "   10         12.34             1  100000000000000000000  /repor….html",
            ]
        );
        assert_eq!(
            lines(120, 20)[..2],
            [
                "count  share(stat…us != 500)  share(stat…us != 503)  sum(a_long…f_a_field)  share(stat…s != 500)  key",
                "   10                  12.34                      1  100000000000000000000  ████████████████████  /reports/2…march.html",
            ]
        );
    }

    #[test]
    fn the_widest_fields_of_a_key_are_cut_and_escaped() {
        let agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36";
        let other = "Mozilla/5.0 (X11; Linux arm64) AppleWebKit/537.36";
        let keys: [(u64, &[&str]); 2] = [
            (100, &["GET", "/\x1b[2J/very/long/path/index.html", agent]),
            (50, &["GET", "/日本/\u{202e}", other]),
        ];
        assert_eq!(
            on_terminal(66, &keys),
            "count  percent  method  path                  user\\u{1b}agent\n\
             \x20 100    50.00  GET     /\\u{1b}[2J…ndex.html  Mozill…x x86_…537.36\n\
             \x20  50    25.00  GET     /日本/\\u{202e}        Mozill…x arm6…537.36\n"
        );
    }

    #[test]
    fn counts_are_aligned_and_keys_escaped_on_a_terminal() {
        let keys: [(&[u8], u64); 3] = [(b"/a\n\x1b[31m", 1200), (b"\xFF\xFE", 31), ("\u{9b}é".as_bytes(), 4)];
        let text = Text { terminal: Some(20), ..Text::default() };
        assert_eq!(written(&text, &keys, false), "1200 /a\\n\\u{1b}[31m\n  31 \\xff\\xfe\n   4 \\u{9b}??\n");
    }

    #[test]
    fn bytes_have_units_on_a_terminal_only() {
        let rows: [(&str, u64, &[Quantity]); 3] = [
            ("a", 2, &[number(1_234_567, 0), number(617_283_512, 3), number(2, 0)]),
            ("b", 1, &[number(-12_345, 0), number(125, 1), number(1, 0)]),
            ("c", 1, &[Quantity::None, number(i128::from(u64::MAX) * 100, 0), number(1, 0)]),
        ];
        let answer = measured(&["sum(bytes)", "mean(.bodyBytes)", "distinct(bytes)"], &rows);
        assert_eq!(
            shown(&Text { terminal: Some(100), ..Text::default() }, &answer),
            "count  sum(bytes)        mean(.bodyBytes)  distinct(bytes)  key\n\
             \x20   2     1.23 MB                  617 kB                2  a\n\
             \x20   1    -12.3 kB                  12.5 B                1  b\n\
             \x20   1           -  1844674407370955161500                1  c\n"
        );
        assert!(shown(&Text::default(), &answer).contains(" 1234567 "));
    }
}
