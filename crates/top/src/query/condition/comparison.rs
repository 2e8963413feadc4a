//! The comparisons of a condition: of a field with a literal, a regular expression or another field.

use std::cmp::Ordering;

use super::number::{Number, SmallRange};
use super::{Condition, ConditionCache};
use crate::key::expression::Case;
use crate::key::lower_case::append_lower_case;

/// A part of a condition that looks at the values of one or two columns.
#[derive(Clone, Debug)]
pub(super) enum Test {
    /// The record has the field.
    Present(usize),
    Number(NumberTest),
    Text(TextTest),
    Match(MatchTest),
    Fields {
        left: usize,
        relation: Relation,
        right: usize,
    },
}

/// The comparison of a field with a number.
#[derive(Clone, Debug)]
pub(super) struct NumberTest {
    pub(super) column: usize,
    pub(super) relation: Relation,
    pub(super) number: Number,
    /// The small integers for which the comparison holds.
    pub(super) range: SmallRange,
}

/// The comparison of a field with a text.
#[derive(Clone, Debug)]
pub(super) struct TextTest {
    pub(super) column: usize,
    pub(super) relation: Relation,
    /// In lower case if case is ignored.
    pub(super) text: Vec<u8>,
}

/// The search of a field for a regular expression.
#[derive(Clone, Debug)]
pub(super) struct MatchTest {
    pub(super) column: usize,
    /// Index of the regular expression.
    pub(super) pattern: usize,
    /// Whether a match is wanted: `~` rather than `!~`.
    pub(super) wanted: bool,
}

/// The orders of two values for which a comparison holds: a bit each for less, equal and greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Relation(u8);

impl Relation {
    pub(super) const LESS: Self = Self(0b001);
    pub(super) const LESS_OR_EQUAL: Self = Self(0b011);
    pub(super) const EQUAL: Self = Self(0b010);
    pub(super) const NOT_EQUAL: Self = Self(0b101);
    pub(super) const GREATER_OR_EQUAL: Self = Self(0b110);
    pub(super) const GREATER: Self = Self(0b100);

    #[inline(always)]
    pub(super) fn holds(self, order: Ordering) -> bool {
        self.0 >> (order as i8 + 1) & 1 != 0
    }

    /// The relation with its sides exchanged.
    pub(super) fn mirrored(self) -> Self {
        Self(self.0 & 0b010 | (self.0 & 0b001) << 2 | self.0 >> 2)
    }

    /// Whether it holds for two texts.
    #[inline(always)]
    pub(super) fn holds_for(self, left: &[u8], right: &[u8]) -> bool {
        match self {
            // Most texts have different lengths, which decides these two.
            Self::EQUAL => left == right,
            Self::NOT_EQUAL => left != right,
            _ => self.holds(left.cmp(right)),
        }
    }
}

impl Test {
    /// The columns that the test looks at, one or two.
    pub(super) fn columns_mut(&mut self) -> [Option<&mut usize>; 2] {
        match self {
            Self::Present(column) => [Some(column), None],
            Self::Number(test) => [Some(&mut test.column), None],
            Self::Text(test) => [Some(&mut test.column), None],
            Self::Match(test) => [Some(&mut test.column), None],
            Self::Fields { left, right, .. } => [Some(left), Some(right)],
        }
    }

    /// Whether the test holds for the values of a record.
    pub(super) fn holds<'v>(
        &self,
        condition: &Condition,
        cache: &mut ConditionCache,
        value: impl Fn(usize) -> Option<&'v [u8]>,
    ) -> bool {
        match self {
            Self::Present(column) => value(*column).is_some(),
            Self::Number(test) => value(test.column).is_some_and(|value| test.holds(value)),
            Self::Text(test) => value(test.column).is_some_and(|value| test.holds(condition, cache, value)),
            Self::Match(test) => value(test.column).is_some_and(|value| test.holds(condition, cache, value)),
            Self::Fields { left, relation, right } => match (value(*left), value(*right)) {
                (Some(left), Some(right)) => condition.compare_values(cache, left, *relation, right),
                _ => false,
            },
        }
    }
}

impl NumberTest {
    pub(super) fn new(column: usize, relation: Relation, number: Number) -> Self {
        let range = SmallRange::new(&number, |order| relation.holds(order));
        Self { column, relation, number, range }
    }

    /// Whether the test holds for a value. A value that is not a number only differs from all numbers.
    pub(super) fn holds(&self, value: &[u8]) -> bool {
        match Number::parse(value) {
            Some(value) => self.relation.holds(value.compare(&self.number)),
            None => self.relation == Relation::NOT_EQUAL,
        }
    }
}

impl TextTest {
    fn holds(&self, condition: &Condition, cache: &mut ConditionCache, value: &[u8]) -> bool {
        match condition.case {
            Case::Distinct => self.relation.holds_for(value, &self.text),
            Case::Ignored => self.relation.holds_for(lower_case(value, &mut cache.lower[0]), &self.text),
        }
    }
}

impl MatchTest {
    #[inline]
    pub(super) fn holds(&self, condition: &Condition, cache: &mut ConditionCache, value: &[u8]) -> bool {
        let regex = &condition.patterns[self.pattern];
        regex.is_match(&mut cache.patterns[self.pattern], value) == self.wanted
    }
}

impl Condition {
    /// Compares two values as numbers if both are numbers, and as texts otherwise.
    fn compare_values(
        &self,
        cache: &mut ConditionCache,
        left: &[u8],
        relation: Relation,
        right: &[u8],
    ) -> bool {
        if let Some(left) = Number::parse(left)
            && let Some(right) = Number::parse(right)
        {
            return relation.holds(left.compare(&right));
        }
        match self.case {
            Case::Distinct => relation.holds_for(left, right),
            Case::Ignored => {
                let [lower_left, lower_right] = &mut cache.lower;
                relation.holds_for(lower_case(left, lower_left), lower_case(right, lower_right))
            }
        }
    }
}

fn lower_case<'b>(text: &[u8], buffer: &'b mut Vec<u8>) -> &'b [u8] {
    buffer.clear();
    append_lower_case(text, buffer);
    buffer
}
