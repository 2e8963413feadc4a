//! The parser of conditions.

use winnow::combinator::{alt, opt};
use winnow::error::{ErrMode, ParserError};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location, Stateful};

use super::Formula;
use super::comparison::{MatchTest, NumberTest, Relation, Test, TextTest};
use super::error::ConditionError;
use super::number::Number;
use super::token::{
    Literal, WORD_OPERATORS, WORD_STRINGS, blanks, name, number, position, string, symbol, word,
};
use crate::key::expression::{Case, Expression};
use crate::key::lower_case::append_lower_case;
use crate::query::field::Field;

/// Maximum depth of parentheses.
const MAX_DEPTH: usize = 100;

/// A parsed condition.
pub(super) struct Parsed {
    pub(super) root: Formula,
    /// All fields, without duplicates.
    pub(super) fields: Vec<Field>,
    /// The regular expressions.
    pub(super) patterns: Vec<Expression>,
}

/// State of the parser.
#[derive(Debug)]
pub(super) struct ParserState {
    fields: Vec<Field>,
    patterns: Vec<Expression>,
    depth: usize,
    case: Case,
}

pub(super) type ParserInput<'t> = Stateful<LocatingSlice<&'t str>, ParserState>;
pub(super) type ParseResult<T> = winnow::ModalResult<T, Mistake>;

/// An error with its byte offset.
#[derive(Debug)]
pub(super) struct Mistake {
    offset: usize,
    message: String,
}

impl<'t> ParserError<ParserInput<'t>> for Mistake {
    type Inner = Self;

    fn from_input(input: &ParserInput<'t>) -> Self {
        Self { offset: input.current_token_start(), message: String::new() }
    }

    fn into_inner(self) -> Result<Self, Self> {
        Ok(self)
    }
}

/// Fails without trying another reading.
pub(super) fn fail<T>(offset: usize, message: impl Into<String>) -> ParseResult<T> {
    Err(ErrMode::Cut(Mistake { offset, message: message.into() }))
}

/// A side of a comparison.
enum Operand {
    /// The index of a field.
    Field(usize),
    Number(Number),
    Text(String),
}

/// An operator between two operands.
#[derive(Clone, Copy)]
pub(super) enum Operator {
    Compare(Relation),
    /// Whether a match is wanted.
    Match(bool),
}

/// All operators. One that starts with another comes before it.
pub(super) const OPERATORS: [(&str, Operator); 10] = [
    ("==", Operator::Compare(Relation::EQUAL)),
    ("=~", Operator::Match(true)),
    ("=", Operator::Compare(Relation::EQUAL)),
    ("!=", Operator::Compare(Relation::NOT_EQUAL)),
    ("!~", Operator::Match(false)),
    ("~", Operator::Match(true)),
    ("<=", Operator::Compare(Relation::LESS_OR_EQUAL)),
    ("<", Operator::Compare(Relation::LESS)),
    (">=", Operator::Compare(Relation::GREATER_OR_EQUAL)),
    (">", Operator::Compare(Relation::GREATER)),
];

/// Parses a condition.
pub(super) fn parse(text: &str, case: Case) -> Result<Parsed, ConditionError> {
    let state = ParserState { fields: Vec::new(), patterns: Vec::new(), depth: 0, case };
    let mut input = Stateful { input: LocatingSlice::new(text), state };
    match whole(&mut input) {
        Ok(root) => {
            let ParserState { fields, patterns, .. } = input.state;
            Ok(Parsed { root, fields, patterns })
        }
        Err(ErrMode::Cut(Mistake { offset, message }) | ErrMode::Backtrack(Mistake { offset, message })) => {
            Err(ConditionError::new(text, offset, message))
        }
        Err(ErrMode::Incomplete(_)) => {
            Err(ConditionError::new(text, text.len(), "unexpected end".to_owned()))
        }
    }
}

fn whole(input: &mut ParserInput<'_>) -> ParseResult<Formula> {
    blanks(input)?;
    let root = condition(input, "")?;
    if input.input.is_empty() { Ok(root) } else { fail_after_test(input) }
}

/// Fails at a text that cannot follow a complete test.
fn fail_after_test<T>(input: &mut ParserInput<'_>) -> ParseResult<T> {
    let offset = input.current_token_start();
    if let Some((name, _)) = operator(input)? {
        return fail(offset, format!("'{name}' after a complete comparison; join comparisons by '&&'"));
    }
    match input.input.starts_with(')') {
        true => fail(offset, "')' without '('"),
        false => fail(offset, "expected a comparison, '&&' or '||'"),
    }
}

/// Any number of parts joined by "or". `after` is the operator before them, for messages.
fn condition(input: &mut ParserInput<'_>, after: &'static str) -> ParseResult<Formula> {
    let mut parts = vec![all(input, after)?];
    while let Some(name) = opt(alt((symbol("||"), word("or")))).parse_next(input)? {
        parts.push(all(input, name)?);
    }
    Ok(joined(parts, Formula::Any))
}

/// Any number of parts joined by "and".
fn all(input: &mut ParserInput<'_>, after: &'static str) -> ParseResult<Formula> {
    let mut parts = vec![negated(input, after)?];
    while let Some(name) = opt(alt((symbol("&&"), word("and")))).parse_next(input)? {
        parts.push(negated(input, name)?);
    }
    Ok(joined(parts, Formula::All))
}

fn joined(mut parts: Vec<Formula>, join: impl FnOnce(Vec<Formula>) -> Formula) -> Formula {
    if parts.len() == 1 { parts.remove(0) } else { join(parts) }
}

/// A test, or a condition in parentheses, after any number of negations.
fn negated(input: &mut ParserInput<'_>, mut after: &'static str) -> ParseResult<Formula> {
    let mut is_negated = false;
    while let Some(name) = opt(alt((symbol("!"), word("not")))).parse_next(input)? {
        is_negated = !is_negated;
        after = name;
    }
    let offset = input.current_token_start();
    let node = match opt(symbol("(")).parse_next(input)? {
        Some(_) => parenthesised(input, offset)?,
        None => Formula::Test(test(input, after)?),
    };
    Ok(if is_negated { Formula::Not(Box::new(node)) } else { node })
}

/// The rest of a condition in parentheses; the opening one is at `opening`.
fn parenthesised(input: &mut ParserInput<'_>, opening: usize) -> ParseResult<Formula> {
    if input.state.depth == MAX_DEPTH {
        return fail(opening, format!("parentheses are nested more than {MAX_DEPTH} deep"));
    }
    input.state.depth += 1;
    let node = condition(input, "(")?;
    input.state.depth -= 1;
    match opt(symbol(")")).parse_next(input)? {
        Some(_) => Ok(node),
        None if input.input.is_empty() => fail(opening, "unclosed '('"),
        None => fail_after_test(input),
    }
}

/// A field alone, or a comparison.
fn test(input: &mut ParserInput<'_>, after: &str) -> ParseResult<Test> {
    let start = input.current_token_start();
    let left = operand(input, "a condition", after)?;
    let offset = input.current_token_start();
    let Some((name, operator)) = operator(input)? else {
        return match left {
            Operand::Field(field) => Ok(Test::Present(field)),
            _ => fail(offset, "expected a comparison with a field"),
        };
    };
    match (operator, left) {
        (Operator::Compare(relation), left) => {
            let right = operand(input, "a number, a string or a field", name)?;
            match comparison(input.state.case, left, relation, right) {
                Some(test) => Ok(test),
                None => fail(start, format!("expected a field before or after '{name}'")),
            }
        }
        (Operator::Match(wanted), Operand::Field(column)) => {
            let pattern = pattern(input, name)?;
            Ok(Test::Match(MatchTest { column, pattern, wanted }))
        }
        (Operator::Match(_), _) => fail(start, format!("expected a field before '{name}'")),
    }
}

/// Returns a comparison; `None` if neither side is a field.
fn comparison(case: Case, left: Operand, relation: Relation, right: Operand) -> Option<Test> {
    Some(match (left, right) {
        (Operand::Field(left), Operand::Field(right)) => Test::Fields { left, relation, right },
        (Operand::Field(column), Operand::Number(number)) => {
            Test::Number(NumberTest::new(column, relation, number))
        }
        (Operand::Field(column), Operand::Text(text)) => {
            let mut text = text.into_bytes();
            if case == Case::Ignored {
                let given = std::mem::take(&mut text);
                append_lower_case(&given, &mut text);
            }
            Test::Text(TextTest { column, relation, text })
        }
        (literal, field @ Operand::Field(_)) => return comparison(case, field, relation.mirrored(), literal),
        _ => return None,
    })
}

/// Compiles the regular expression after the operator `name`, and returns its index.
fn pattern(input: &mut ParserInput<'_>, name: &str) -> ParseResult<usize> {
    let offset = input.current_token_start();
    let Some(literal) = string(input)? else {
        return fail(offset, format!("expected a regular expression in quotes after '{name}'"));
    };
    let regex = Expression::new(&literal.text, input.state.case).or_else(|error| match error.place() {
        Some((at, reason)) => fail(literal.origin(at), format!("invalid regular expression: {reason}")),
        None => fail(offset, error.to_string()),
    })?;
    input.state.patterns.push(regex);
    Ok(input.state.patterns.len() - 1)
}

fn operator(input: &mut ParserInput<'_>) -> ParseResult<Option<(&'static str, Operator)>> {
    for (name, operator) in OPERATORS {
        if opt(symbol(name)).parse_next(input)?.is_some() {
            return Ok(Some((name, operator)));
        }
    }
    Ok(None)
}

/// A field, a number or a string. `wanted` and the operator before it, `after`, are for messages.
fn operand(input: &mut ParserInput<'_>, wanted: &str, after: &str) -> ParseResult<Operand> {
    let offset = input.current_token_start();
    if let Some(Literal { text, .. }) = string(input)? {
        return Ok(Operand::Text(text));
    }
    if let Some(number) = number(input)? {
        return Ok(Operand::Number(number));
    }
    if let Some(field) = position(input)? {
        return Ok(known(input, field));
    }
    let place = if after.is_empty() { String::new() } else { format!(" after '{after}'") };
    match name(input)? {
        Some((word, _)) if WORD_STRINGS.contains(&word) => Ok(Operand::Text(word.to_owned())),
        Some((word, _)) if WORD_OPERATORS.contains(&word) => {
            fail(offset, format!("expected {wanted}{place}; a field named {word} is written `{word}`"))
        }
        Some((_, field)) => Ok(known(input, field)),
        None => fail(offset, format!("expected {wanted}{place}")),
    }
}

/// Returns the index of a field.
fn known(input: &mut ParserInput<'_>, field: Field) -> Operand {
    let fields = &mut input.state.fields;
    let index = fields.iter().position(|known| *known == field).unwrap_or_else(|| {
        fields.push(field);
        fields.len() - 1
    });
    Operand::Field(index)
}
