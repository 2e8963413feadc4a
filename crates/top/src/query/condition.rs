//! Conditions on the fields of records: `status >= 500 && path ~ "^/api" && request_time > 1s`.
//!
//! ```text
//! condition  = all { ("||" | "or") all }
//! all        = not { ("&&" | "and") not }
//! not        = { "!" | "not" } ( "(" condition ")" | test )
//! test       = field
//!            | operand relation operand               at least one operand is a field
//!            | field ("~" | "=~" | "!~") string       a regular expression
//! relation   = "==" | "=" | "!=" | "<" | "<=" | ">" | ">="
//! operand    = field | number | string | "true" | "false"
//! field      = [ "." ] step { "." step | "[" digits "]" } | "$" [ "-" ] digits
//! step       = "`" any characters, with "``" for a backquote "`"
//!            | letters, digits and _ @ - : /          the first step begins with a letter, _ or @
//! number     = [ "+" | "-" ] digits with an optional point [ ("e" | "E") [ "+" | "-" ] digits ] [ unit ]
//! unit       = "ns" | "us" | "µs" | "ms" | "s" | "m" | "h" | "d"
//!            | "B" | "k" | "kB" | "KB" | "M" | "MB" | "G" | "GB" | "TB" | "KiB" | "MiB" | "GiB" | "TiB"
//! string     = '"' characters '"' | "'" characters "'"
//! ```
//!
//! In a string, `\"`, `\'`, `\\`, `\n` and `\t` are escapes, and any other backslash is literal. `true` and `false` are
//! strings.
//!
//! - A field alone holds if the record has it.
//! - A number is compared with the number in the field, exactly; both may have units. A value that is not a number
//!   differs from every number, and no other relation holds for it.
//! - A string is compared byte by byte, and a regular expression is searched in the value.
//! - Two fields are compared as numbers if both are numbers, and byte by byte otherwise.
//! - No comparison holds if the record lacks a field, not even `!=` and `!~`.
//!
//! A condition is evaluated column by column. Each test narrows a list of records, so that the right side of `&&` only
//! looks at the records that its left side selects.

mod comparison;
mod error;
mod number;
mod parse;
#[cfg(test)]
mod tests;
mod token;
mod typed;

use comparison::{NumberTest, Test};
pub use error::ConditionError;
use number::{Number, small_integer};
pub use typed::field_start;

use crate::cells::{Cell, Cells};
use crate::key::expression::{Case, Expression, ExpressionCache};
use crate::measure::number::parse_plain;
use crate::query::field::Field;

/// A compiled condition.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    root: Formula,
    fields: Vec<Field>,
    patterns: Vec<Expression>,
    case: Case,
}

/// Scratch memory of a condition.
#[derive(Debug)]
pub(crate) struct ConditionCache {
    patterns: Vec<ExpressionCache>,
    /// Buffers for both sides of a comparison that ignores case.
    lower: [Vec<u8>; 2],
    /// Lists of records that are not in use.
    spare: Vec<Vec<u32>>,
}

/// A part of a condition.
#[derive(Clone, Debug)]
enum Formula {
    All(Vec<Formula>),
    Any(Vec<Formula>),
    Not(Box<Formula>),
    Test(Test),
}

impl Formula {
    /// Visits the columns of all tests.
    fn for_each_column(&mut self, visit: &mut impl FnMut(&mut usize)) {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                parts.iter_mut().for_each(|part| part.for_each_column(visit));
            }
            Self::Not(part) => part.for_each_column(visit),
            Self::Test(test) => test.columns_mut().into_iter().flatten().for_each(visit),
        }
    }

    /// All tests, in the order of the condition.
    fn tests(&self) -> Vec<&Test> {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::tests).collect(),
            Self::Not(part) => part.tests(),
            Self::Test(test) => vec![test],
        }
    }
}

impl Condition {
    /// Compiles a condition.
    ///
    /// # Errors
    /// Returns an error with its place if the text is not a condition, or if a regular expression is invalid.
    pub(crate) fn new(text: &str, case: Case) -> Result<Self, ConditionError> {
        let parse::Parsed { root, fields, patterns } = parse::parse(text, case)?;
        Ok(Self { root, fields, patterns, case })
    }

    /// The fields of the condition without duplicates, in the order of their first use. There is at least one.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Whether a field may be a text that lacks its quotes: it is only compared with fields before it, as in
    /// `level == error`.
    pub(crate) fn may_be_text(&self, column: usize) -> bool {
        matches!(&self.fields[column], field @ Field::Named(_) if !field.is_input())
            && self.root.tests().iter().all(|test| match test {
                Test::Present(other) => *other != column,
                Test::Number(test) => test.column != column,
                Test::Text(test) => test.column != column,
                Test::Match(test) => test.column != column,
                Test::Fields { left, .. } => *left != column,
            })
    }

    /// The same condition for cells in which the column of field `i` is `columns[i]`.
    pub(crate) fn in_columns(mut self, columns: &[usize]) -> Self {
        self.root.for_each_column(&mut |column| *column = columns[*column]);
        self
    }

    pub(crate) fn cache(&self) -> ConditionCache {
        ConditionCache {
            patterns: self.patterns.iter().map(Expression::cache).collect(),
            lower: Default::default(),
            spare: Vec::new(),
        }
    }

    /// Stores the indexes of the records for which the condition holds, in order. Column `i` of `cells` belongs to field
    /// `i`, and there are `records` records. The condition may hold for a record without any value.
    pub(crate) fn select(
        &self,
        cache: &mut ConditionCache,
        text: &[u8],
        cells: &Cells,
        records: usize,
        selected: &mut Vec<u32>,
    ) {
        selected.clear();
        selected.extend(0..records as u32);
        Narrowing { condition: self, cache, text, cells }.narrow(&self.root, true, selected);
    }
}

/// The evaluation of a condition for the records of a block.
struct Narrowing<'a> {
    condition: &'a Condition,
    cache: &'a mut ConditionCache,
    text: &'a [u8],
    cells: &'a Cells,
}

impl Narrowing<'_> {
    /// Keeps the records for which a part of the condition is `wanted`.
    fn narrow(&mut self, part: &Formula, wanted: bool, records: &mut Vec<u32>) {
        match (part, wanted) {
            (Formula::Test(test), _) => self.narrow_by_test(test, wanted, records),
            (Formula::Not(part), _) => self.narrow(part, !wanted, records),
            (Formula::All(parts), true) | (Formula::Any(parts), false) => {
                parts.iter().for_each(|part| self.narrow(part, wanted, records));
            }
            (Formula::Any(parts), true) | (Formula::All(parts), false) => {
                // Each part only looks at the records that none of the parts before it selects.
                let mut rest = self.cache.spare.pop().unwrap_or_default();
                rest.clone_from(records);
                parts.iter().for_each(|part| self.narrow(part, !wanted, &mut rest));
                subtract(records, &rest);
                self.cache.spare.push(rest);
            }
        }
    }

    fn narrow_by_test(&mut self, test: &Test, wanted: bool, records: &mut Vec<u32>) {
        let Self { condition, cache, text, cells } = self;
        match test {
            Test::Present(column) => {
                let column = cells.column(*column);
                keep(records, |record| (column[record] != Cell::Missing) == wanted);
            }
            Test::Number(test) => self.narrow_by_number(test, wanted, records),
            Test::Text(test) if condition.case == Case::Distinct => {
                let column = cells.column(test.column);
                keep(records, |record| {
                    let value = cells.bytes(text, column[record]);
                    value.is_some_and(|value| test.relation.holds_for(value, &test.text)) == wanted
                });
            }
            Test::Match(test) => {
                let column = cells.column(test.column);
                keep(records, |record| {
                    let value = cells.bytes(text, column[record]);
                    value.is_some_and(|value| test.holds(condition, cache, value)) == wanted
                });
            }
            _ => keep(records, |record| {
                let value = |column| cells.bytes(text, cells.column(column)[record]);
                test.holds(condition, cache, value) == wanted
            }),
        }
    }

    fn narrow_by_number(&self, test: &NumberTest, wanted: bool, records: &mut Vec<u32>) {
        let column = self.cells.column(test.column);
        keep(records, |record| {
            let cell = column[record];
            let holds = match cell {
                Cell::Raw(start, end) if let Some(integer) = small_integer(self.text, start, end) => {
                    test.range.contains(integer)
                }
                _ => self.number_holds(test, cell),
            };
            holds == wanted
        });
    }

    /// Whether a comparison holds for a value that may be anything but a small integer.
    #[inline(never)]
    fn number_holds(&self, test: &NumberTest, cell: Cell) -> bool {
        if let Cell::Raw(start, end) = cell
            && let Some((units, places)) = parse_plain(self.text, start as usize, end as usize)
        {
            return test.relation.holds(Number::small(units, places).compare(&test.number));
        }
        self.cells.bytes(self.text, cell).is_some_and(|value| test.holds(value))
    }
}

/// Keeps the records for which `holds`, without a branch that depends on it.
#[inline(always)]
fn keep(records: &mut Vec<u32>, mut holds: impl FnMut(usize) -> bool) {
    let mut kept = 0;
    for at in 0..records.len() {
        let record = records[at];
        records[kept] = record;
        kept += usize::from(holds(record as usize));
    }
    records.truncate(kept);
}

/// Removes `others`, which are some of the records in the same order.
fn subtract(records: &mut Vec<u32>, others: &[u32]) {
    let mut removed = 0;
    keep(records, |record| {
        let is_removed = others.get(removed).is_some_and(|&other| other as usize == record);
        removed += usize::from(is_removed);
        !is_removed
    });
}
