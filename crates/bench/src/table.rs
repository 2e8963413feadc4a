//! A table of text and numbers, for terminals and for Markdown.

use std::fmt::{self, Display, Formatter};

use finecomb_sys::display;

/// A table: columns with names, and rows of cells. Numbers are right-aligned, text is left-aligned.
///
/// `Display` prints plain text, in columns two spaces apart. Each line ends with a line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultTable {
    /// Cells; the first row holds the names of the columns.
    rows: Vec<Vec<String>>,
    /// Whether a column is text.
    is_text: Vec<bool>,
}

/// Space between two columns.
const GAP: &str = "  ";

/// Name of a column, and function for its cell in the row of an item.
type TableColumn<'a, R> = (&'a str, &'a dyn Fn(&R) -> String);

impl ResultTable {
    /// A table without rows, with columns of numbers of these names.
    pub fn new<const N: usize>(names: [&str; N]) -> Self {
        Self { rows: vec![names.map(str::to_owned).into()], is_text: vec![false; N] }
    }

    /// A table with one row per item, and columns of numbers.
    pub(crate) fn of<R, const N: usize>(
        items: impl IntoIterator<Item = R>,
        columns: [TableColumn<'_, R>; N],
    ) -> Self {
        let mut table = Self::new(columns.map(|(name, _)| name));
        items.into_iter().for_each(|item| table.push(columns.map(|(_, cell)| cell(&item))));
        table
    }

    /// Marks columns, by index, as text.
    pub fn with_text<const N: usize>(mut self, columns: [usize; N]) -> Self {
        columns.into_iter().for_each(|column| self.is_text[column] = true);
        self
    }

    /// Adds a row. Missing cells are empty, and those beyond the last column are dropped.
    pub fn push<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.is_text.len(), String::new());
        self.rows.push(row);
    }

    /// The table in GitHub-flavoured Markdown. Each line ends with a line feed.
    pub fn markdown(&self) -> String {
        let escaped = |cell: &String| cell.replace('|', "\\|").replace('\n', " ");
        let rows = self.rows.iter().map(|row| row.iter().map(escaped).collect::<Vec<_>>().join(" | "));
        let mut lines: Vec<String> = rows.map(|row| format!("| {row} |\n")).collect();
        let rules = self.is_text.iter().map(|&is_text| if is_text { " --- |" } else { " ---: |" });
        lines.insert(1, format!("|{}\n", rules.collect::<String>()));
        lines.concat()
    }
}

impl ResultTable {
    /// The table as plain text in lines of at most `width` characters, unless a single column is wider. Columns that do not fit
    /// follow in a further table below, after the key columns: those up to the last text column, and at least the first.
    pub fn within(&self, width: usize) -> String {
        let widths = self.widths();
        let keys = self.is_text.iter().rposition(|&is_text| is_text).map_or(1, |last| last + 1);
        let taken =
            |columns: &[usize]| columns.iter().map(|&column| widths[column] + GAP.len()).sum::<usize>();
        let mut parts = vec![(0..keys.min(widths.len())).collect::<Vec<_>>()];
        for (column, &own) in widths.iter().enumerate().skip(keys) {
            let part = parts.last_mut().expect("at least one part");
            if part.len() > keys && taken(part) + own > width {
                parts.push((0..keys).chain([column]).collect());
            } else {
                part.push(column);
            }
        }
        parts.iter().map(|columns| self.columns(columns, &widths)).collect::<Vec<_>>().join("\n")
    }

    /// The width of each column on a terminal.
    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| self.rows.iter().map(|row| display::width(&row[column])).max();
        (0..self.is_text.len()).filter_map(widest).collect()
    }

    /// Some of the columns as plain text.
    fn columns(&self, columns: &[usize], widths: &[usize]) -> String {
        let cell = |row: &Vec<String>, column: usize| {
            let cell = &row[column];
            let blanks = " ".repeat(widths[column] - display::width(cell));
            if self.is_text[column] { format!("{cell}{blanks}") } else { format!("{blanks}{cell}") }
        };
        let line = |row| columns.iter().map(|&column| cell(row, column)).collect::<Vec<_>>().join(GAP);
        self.rows.iter().map(|row| line(row).trim_end().to_owned() + "\n").collect()
    }
}

impl Display for ResultTable {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.within(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> ResultTable {
        let mut table = ResultTable::new(["width", "how", "spread"]).with_text([1]);
        table.push(["1", "a|b", "0.1 %"]);
        table.push(["auto", "größer", "12 %"]);
        table
    }

    #[test]
    fn numbers_are_right_aligned_and_text_is_left_aligned() {
        let expected = "width  how     spread\n    1  a|b      0.1 %\n auto  größer    12 %\n";
        assert_eq!(table().to_string(), expected);
    }

    #[test]
    fn columns_have_the_width_that_a_terminal_shows() {
        let mut table = ResultTable::new(["file", "runs"]).with_text([0]);
        table.push(["日本", "1"]);
        table.push(["e\u{301}", "20"]);
        assert_eq!(table.to_string(), "file  runs\n日本     1\ne\u{301}       20\n");
    }

    #[test]
    fn columns_that_do_not_fit_follow_below() {
        assert_eq!(table().within(1), table().to_string(), "one column follows the key columns");
        let numbers = ResultTable::of(
            [(10, 20), (3, 4)],
            [
                ("a", &|row: &(i32, i32)| row.0.to_string()),
                ("b", &|row: &(i32, i32)| row.1.to_string()),
                ("c", &|row: &(i32, i32)| (row.0 + row.1).to_string()),
            ],
        );
        assert_eq!(numbers.within(10), numbers.to_string());
        assert_eq!(numbers.within(9), " a   b\n10  20\n 3   4\n\n a   c\n10  30\n 3   7\n");
        assert_eq!(numbers.within(1), numbers.within(9));
    }

    #[test]
    fn a_table_has_one_row_per_item() {
        let ways = [("a pool", 9.5), ("one thread", 12.0)];
        let name = |(name, _): &(&str, f64)| name.to_string();
        let seconds = |(_, seconds): &(&str, f64)| format!("{seconds:.1}");
        let table = ResultTable::of(ways, [("how", &name), ("seconds", &seconds)]).with_text([0]);
        assert_eq!(table.to_string(), "how         seconds\na pool          9.5\none thread     12.0\n");
    }

    #[test]
    fn markdown_has_alignment_and_escaped_bars() {
        let rows = "| 1 | a\\|b | 0.1 % |\n| auto | größer | 12 % |\n";
        let head = "| width | how | spread |\n| ---: | --- | ---: |\n";
        assert_eq!(table().markdown(), format!("{head}{rows}"));
    }

    #[test]
    fn rows_have_as_many_cells_as_there_are_columns() {
        let mut table = ResultTable::new(["a", "b"]).with_text([0, 1]);
        table.push(["1"]);
        table.push(["2", "3", "4"]);
        assert_eq!(table.to_string(), "a  b\n1\n2  3\n");
        assert_eq!(table.markdown().lines().last(), Some("| 2 | 3 |"));
    }
}
