//! A table of text and numbers, for terminals and for Markdown.

use std::fmt::{self, Display, Formatter, Write};

/// A table: columns with names, and rows of cells. Columns of numbers are aligned at the right, columns of text at the left.
///
/// It is displayed as plain text, in columns two spaces apart. Each line ends with a line feed.
///
/// ```
/// use finecomb_bench::table::Table;
///
/// let mut table = Table::new(["how", "seconds"]).with_text([0]);
/// table.push(["a pool", "9.5"]);
/// table.push(["one thread", "12.0"]);
/// assert_eq!(table.to_string(), "\
/// how         seconds
/// a pool          9.5
/// one thread     12.0
/// ");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    name: String,
    is_text: bool,
}

impl Table {
    /// A table without rows, with columns of numbers that have these names.
    pub fn new<const N: usize>(names: [&str; N]) -> Self {
        let column = |name: &str| Column { name: name.to_owned(), is_text: false };
        Self { columns: names.map(column).into(), rows: Vec::new() }
    }

    /// The table with some columns, by their index, as text.
    pub fn with_text<const N: usize>(mut self, columns: [usize; N]) -> Self {
        columns.into_iter().for_each(|column| self.columns[column].is_text = true);
        self
    }

    /// Adds a row. Cells that are missing are empty, and those beyond the last column are left out.
    pub fn push<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    /// The table in Markdown, as GitHub and others understand it. Each line ends with a line feed.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let names = self.columns.iter().map(|column| escaped(&column.name));
        let rules = self.columns.iter().map(|column| if column.is_text { "---" } else { "---:" }.to_owned());
        markdown_row(&mut text, names);
        markdown_row(&mut text, rules);
        for row in &self.rows {
            markdown_row(&mut text, row.iter().map(|cell| escaped(cell)));
        }
        text
    }

    /// Characters in the widest cell of each column.
    fn widths(&self) -> Vec<usize> {
        let widest = |(index, column): (usize, &Column)| {
            let cells = self.rows.iter().map(|row| row[index].chars().count());
            cells.chain([column.name.chars().count()]).max().unwrap_or(0)
        };
        self.columns.iter().enumerate().map(widest).collect()
    }
}

impl Display for Table {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        for row in [&names].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for ((cell, column), &width) in row.iter().zip(&self.columns).zip(&widths) {
                if column.is_text {
                    write!(line, "{cell:<width$}  ")?
                } else {
                    write!(line, "{cell:>width$}  ")?
                }
            }
            writeln!(formatter, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

fn markdown_row(text: &mut String, cells: impl Iterator<Item = String>) {
    text.push('|');
    for cell in cells {
        text.push(' ');
        text.push_str(&cell);
        text.push_str(" |");
    }
    text.push('\n');
}

fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["width", "how", "spread"]).with_text([1]);
        table.push(["1", "a|b", "0.1 %"]);
        table.push(["auto", "größer", "12 %"]);
        table
    }

    #[test]
    fn numbers_are_aligned_at_the_right_and_words_at_the_left() {
        assert_eq!(
            table().to_string(),
            "\
width  how     spread
    1  a|b      0.1 %
 auto  größer    12 %
"
        );
    }

    #[test]
    fn markdown_has_alignment_and_no_stray_bars() {
        assert_eq!(
            table().markdown(),
            "\
| width | how | spread |
| ---: | --- | ---: |
| 1 | a\\|b | 0.1 % |
| auto | größer | 12 % |
"
        );
    }

    #[test]
    fn rows_have_as_many_cells_as_there_are_columns() {
        let mut table = Table::new(["a", "b"]).with_text([0, 1]);
        table.push(["1"]);
        table.push(["2", "3", "4"]);
        assert_eq!(table.to_string(), "a  b\n1\n2  3\n");
        assert_eq!(table.markdown().lines().last(), Some("| 2 | 3 |"));
    }
}
