//! Text for people.

use std::io::{self, Write};

use anstyle::Style;
use finecomb_sys::units::{Count, counted};

use super::Format;
use super::columns::{Columns, Layout, Value};
use crate::answer::Answer;

/// A line for each key: the count, a space, and the unchanged bytes of the key, except that a line feed in it is written
/// `\n`. With more columns, they are aligned below a header. A partial answer ends with a line that begins with `#`, and so
/// do the totals; no other line does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Text {
    /// Style of counts and of the header. Default: plain.
    pub count: Style,
    /// Additional columns.
    pub layout: Layout,
    /// Width of a bar for the largest count, in characters; 0 for no bars.
    pub bars: usize,
}

impl Format for Text {
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        let columns = Columns::new(answer, self.layout);
        if columns.is_plain() && columns.key_columns() > 0 && self.bars == 0 {
            self.write_plain(answer, out)?;
        } else if !answer.top.is_empty() {
            self.write_table(answer, &columns, out)?;
        }
        if self.layout.totals {
            writeln!(
                out,
                "# {}, {}, {} shown",
                counted(answer.records, "record"),
                counted(answer.distinct, "distinct key"),
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
        for key in &answer.top {
            write!(out, "{}{}{:#} ", self.count, key.count, self.count)?;
            write_key(&key.key, out)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn write_table(&self, answer: &Answer, columns: &Columns<'_>, out: &mut dyn Write) -> io::Result<()> {
        let names = columns.names();
        let numbers = names.len() - columns.key_columns();
        let rows: Vec<Vec<Value<'_>>> = columns.rows().collect();
        let widths: Vec<usize> = names
            .iter()
            .enumerate()
            .map(|(index, name)| {
                let widest =
                    rows.iter().map(|row| width(row[index])).fold(characters(name.as_bytes()), usize::max);
                if index < numbers { widest } else { widest.min(MAX_WIDTH) }
            })
            .collect();
        let most = answer.top.iter().map(|key| key.count).max().unwrap_or(0);
        let bar_gap = if self.bars > 0 { self.bars + 2 } else { 0 };
        for (index, name) in names.iter().enumerate() {
            let gap = if index == 0 { 0 } else { 2 } + if index == numbers { bar_gap } else { 0 };
            let fill = widths[index].saturating_sub(characters(name.as_bytes()));
            let (before, behind) = if index < numbers { (fill, 0) } else { (0, fill) };
            let behind = if index + 1 == names.len() { 0 } else { behind };
            pad(gap + before, out)?;
            write!(out, "{}{name}{:#}", self.count, self.count)?;
            pad(behind, out)?;
        }
        out.write_all(b"\n")?;
        for row in &rows {
            for (index, &value) in row.iter().enumerate() {
                out.write_all(if index == 0 { b"" } else { b"  " })?;
                match (value, value.number("-")) {
                    (Value::Key(key), _) => {
                        if index == numbers && self.bars > 0 {
                            let Value::Count(count) = row[0] else { continue };
                            write!(out, "{}  ", bar(count, most, self.bars))?;
                        }
                        write_key(key, out)?;
                        let fill = if index + 1 == row.len() {
                            0
                        } else {
                            widths[index].saturating_sub(width(value))
                        };
                        pad(fill, out)?;
                    }
                    (_, number) => {
                        let number = number.unwrap_or_default();
                        let fill = widths[index] - number.len();
                        pad(fill, out)?;
                        write!(out, "{}{number}{:#}", self.count, self.count)?;
                    }
                }
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// Maximum width of an aligned column: longer keys move what follows to the right.
const MAX_WIDTH: usize = 100;

/// Writes blanks. The width of a format argument must be below 2^16.
fn pad(width: usize, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&b" ".repeat(width))
}

/// Width of a value in characters.
fn width(value: Value<'_>) -> usize {
    match (value, value.number("-")) {
        (Value::Key(key), _) => characters(key) + key.iter().filter(|&&byte| byte == b'\n').count(),
        (_, number) => number.map_or(0, |number| number.len()),
    }
}

/// Number of characters of a text, with 1 for each invalid part.
fn characters(text: &[u8]) -> usize {
    text.utf8_chunks()
        .map(|chunk| chunk.valid().chars().count() + usize::from(!chunk.invalid().is_empty()))
        .sum()
}

/// A bar of up to `width` characters, in eighths, filled with blanks to that width.
fn bar(count: u64, most: u64, width: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (u128::from(count) * 8 * width as u128 / u128::from(most.max(1))) as usize;
    let mut bar: String = std::iter::repeat_n('█', eighths / 8).collect();
    if eighths / 8 < width {
        bar.push(EIGHTHS[eighths % 8]);
        bar.extend(std::iter::repeat_n(' ', width - eighths / 8 - 1));
    }
    bar
}

fn write_key(key: &[u8], out: &mut dyn Write) -> io::Result<()> {
    for (index, line) in key.split(|&byte| byte == b'\n').enumerate() {
        out.write_all(if index > 0 { b"\\n" } else { b"" })?;
        out.write_all(line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::KeyCount;
    use crate::output::tests::{several, written};

    #[test]
    fn a_line_has_a_count_and_a_key() {
        let shown = written(&Text::default(), &[(b"/a b", 12), (b"", 3), (b"\xFF", 1), (b"a\nb", 1)], false);
        assert_eq!(shown, "12 /a b\n3 \n1 ?\n1 a\\nb\n");
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

    #[test]
    fn bars_are_proportional_to_counts() {
        assert_eq!(bar(8, 8, 3), "███");
        assert_eq!(bar(4, 8, 3), "█▌ ");
        assert_eq!(bar(0, 8, 3), "   ");
        assert_eq!(bar(u64::MAX, u64::MAX, 2), "██");
    }
}
