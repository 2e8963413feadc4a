//! Conditions on fields: `status >= 500 && path ~ "^/api" && request_time > 1s`.
//!
//! A condition is compiled before the scan and evaluated column by column: each comparison narrows a list of records, so
//! that the right side of `&&` looks only at records that the left side selects.
//!
//! The syntax, from the weakest to the strongest binding:
//!
//! ```text
//! condition  = and { ("||" | "or") and }
//! and        = not { ("&&" | "and") not }
//! not        = { "!" | "not" } ( "(" condition ")" | test )
//! test       = operand [ ("==" | "=" | "!=" | "<=" | "<" | ">=" | ">" | "~" | "!~") operand ]
//! operand    = field | number [ unit ] | string
//! field      = name | "`" any name "`" | "$" position
//! ```
//!
//! - With a number on one side, both are compared as decimal numbers, exactly as far as
//!   [`Decimal`] goes. A value that is no number differs from every number, and no other comparison holds for it.
//! - With a string, bytes are compared, or searched by a regular expression.
//! - Two fields are compared as numbers if both are numbers, and otherwise as bytes.
//! - No comparison holds if the record lacks a field, not even `!=`. A field alone holds if the record has it.

mod parse;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

use thiserror::Error;

use crate::cells::{Cell, Cells};
use crate::field::Field;
use crate::lower_case::append_lower_case;
use crate::number::{Decimal, NoNumber, parse_span};
use crate::pattern::{Case, PatternError};
use crate::text_regex::{TextCache, TextRegex};

/// A compiled condition.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    root: Node,
    fields: Vec<Field>,
    patterns: Vec<TextRegex>,
    case: Case,
}

/// Scratch memory of a condition: a cache for each regular expression.
#[derive(Debug)]
pub(crate) struct ConditionCache(Vec<TextCache>);

/// An invalid condition.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub struct ConditionError {
    text: String,
    /// Offset of the error in the text, in bytes.
    offset: usize,
    message: String,
}

/// A part of a condition. Fields and regular expressions are indexes.
#[derive(Clone, Debug)]
enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Test(Test),
}

/// A part of a condition that looks at values.
#[derive(Clone, Debug)]
enum Test {
    /// The record has the field.
    Present(usize),
    Number {
        field: usize,
        comparison: Comparison,
        number: Decimal,
    },
    Text {
        field: usize,
        comparison: Comparison,
        text: Vec<u8>,
    },
    Fields {
        left: usize,
        comparison: Comparison,
        right: usize,
    },
    /// The field matches the pattern, or does not.
    Match {
        field: usize,
        pattern: usize,
        wanted: bool,
    },
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }

    /// The comparison with its sides exchanged.
    fn mirrored(self) -> Self {
        match self {
            Self::Equal | Self::NotEqual => self,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }
}

impl Condition {
    /// Compiles a condition.
    ///
    /// # Errors
    /// Returns an error with its place if the text is not a condition, or if a regular expression is invalid.
    pub(crate) fn new(text: &str, case: Case) -> Result<Self, ConditionError> {
        let parsed = parse::parse(text)?;
        let mut patterns = Vec::with_capacity(parsed.patterns.len());
        for (offset, pattern) in &parsed.patterns {
            let error = |error: PatternError| ConditionError::new(text, *offset, error.to_string());
            patterns.push(TextRegex::with_case(pattern, case).map_err(error)?);
        }
        Ok(Self { root: parsed.root, fields: parsed.fields, patterns, case })
    }

    /// The fields that the condition needs, without duplicates.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    pub(crate) fn cache(&self) -> ConditionCache {
        ConditionCache(self.patterns.iter().map(TextRegex::cache).collect())
    }

    /// Stores the indexes of the records for which the condition holds, in order. Column `i` of `cells` belongs to field
    /// `i`, and there are `records` records.
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
        Selection { condition: self, cache, text, cells }.narrow(&self.root, selected);
    }

    /// Whether the condition holds for a record whose fields have these values: the reference implementation of
    /// [`Condition::select`].
    #[cfg(test)]
    fn holds<'v>(&self, cache: &mut ConditionCache, value: &impl Fn(usize) -> Option<&'v [u8]>) -> bool {
        fn holds<'v>(
            condition: &Condition,
            node: &Node,
            cache: &mut ConditionCache,
            value: &impl Fn(usize) -> Option<&'v [u8]>,
        ) -> bool {
            match node {
                Node::All(parts) => parts.iter().all(|part| holds(condition, part, cache, value)),
                Node::Any(parts) => parts.iter().any(|part| holds(condition, part, cache, value)),
                Node::Not(part) => !holds(condition, part, cache, value),
                Node::Test(test) => condition.test(test, cache, value),
            }
        }
        holds(self, &self.root, cache, value)
    }

    /// Whether a test holds for a record.
    #[inline(always)]
    fn test<'v>(
        &self,
        test: &Test,
        cache: &mut ConditionCache,
        value: impl Fn(usize) -> Option<&'v [u8]>,
    ) -> bool {
        match test {
            Test::Present(field) => value(*field).is_some(),
            Test::Number { field, comparison, number } => {
                value(*field).is_some_and(|value| comparison.holds_for_number(Decimal::parse(value), number))
            }
            Test::Text { field, comparison, text } => {
                value(*field).is_some_and(|value| self.compare_texts(value, *comparison, text))
            }
            Test::Fields { left, comparison, right } => match (value(*left), value(*right)) {
                (Some(left), Some(right)) => self.compare_values(left, *comparison, right),
                _ => false,
            },
            Test::Match { field, pattern, wanted } => value(*field).is_some_and(|value| {
                self.patterns[*pattern].is_match(&mut cache.0[*pattern], value) == *wanted
            }),
        }
    }

    fn compare_values(&self, left: &[u8], comparison: Comparison, right: &[u8]) -> bool {
        match (Decimal::parse(left), Decimal::parse(right)) {
            (Ok(left), Ok(right)) => comparison.holds(left.cmp(&right)),
            _ => self.compare_texts(left, comparison, right),
        }
    }

    fn compare_texts(&self, left: &[u8], comparison: Comparison, right: &[u8]) -> bool {
        if self.case == Case::Ignored {
            let folded = |text| {
                let mut folded = Vec::new();
                append_lower_case(text, &mut folded);
                folded
            };
            return comparison.holds(folded(left).cmp(&folded(right)));
        }
        match comparison {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            _ => comparison.holds(left.cmp(right)),
        }
    }
}

impl Comparison {
    /// Whether a value compares with a number. A text that is no number only differs from it.
    #[inline(always)]
    fn holds_for_number(self, value: Result<Decimal, NoNumber>, number: &Decimal) -> bool {
        match value {
            Ok(value) => self.holds(value.cmp(number)),
            Err(_) => self == Self::NotEqual,
        }
    }
}

/// A selection of records by a condition.
struct Selection<'a> {
    condition: &'a Condition,
    cache: &'a mut ConditionCache,
    text: &'a [u8],
    cells: &'a Cells,
}

impl Selection<'_> {
    /// Keeps the records for which a part of the condition holds.
    fn narrow(&mut self, node: &Node, records: &mut Vec<u32>) {
        match node {
            Node::Test(Test::Number { field, comparison, number }) => {
                let (text, column) = (self.text, self.cells.column(*field));
                records.retain(|&record| match column[record as usize] {
                    Cell::Raw(start, end) => {
                        comparison.holds_for_number(parse_span(text, start as usize, end as usize), number)
                    }
                    cell => self
                        .cells
                        .bytes(text, cell)
                        .is_some_and(|value| comparison.holds_for_number(Decimal::parse(value), number)),
                });
            }
            Node::Test(test) => {
                let Self { condition, cache, text, cells } = self;
                records.retain(|&record| {
                    condition
                        .test(test, cache, |field| cells.bytes(text, cells.column(field)[record as usize]))
                });
            }
            Node::All(parts) => parts.iter().for_each(|part| self.narrow(part, records)),
            Node::Any(parts) => {
                // Each part sees only the records that none before it selects.
                let mut rest = records.clone();
                for part in parts {
                    let mut selected = rest.clone();
                    self.narrow(part, &mut selected);
                    subtract(&mut rest, &selected);
                }
                subtract(records, &rest);
            }
            Node::Not(part) => {
                let mut selected = records.clone();
                self.narrow(part, &mut selected);
                subtract(records, &selected);
            }
        }
    }
}

/// Removes numbers from a list. Both are in ascending order.
fn subtract(from: &mut Vec<u32>, others: &[u32]) {
    let mut others = others.iter().peekable();
    from.retain(|number| {
        while others.next_if(|other| *other < number).is_some() {}
        others.peek() != Some(&number)
    });
}

impl ConditionError {
    fn new(text: &str, offset: usize, message: impl Into<String>) -> Self {
        Self { text: text.to_owned(), offset, message: message.into() }
    }
}

/// The message, and the condition with a caret below the place of the error.
impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.text.get(..self.offset).unwrap_or(&self.text).chars().count();
        let shown = |char: char| if char.is_control() { ' ' } else { char };
        let text: String = self.text.chars().map(shown).collect();
        write!(f, "column {}: {}\n  {text}\n  {:before$}^", before + 1, self.message, "")
    }
}
