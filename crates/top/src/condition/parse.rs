//! The parser of conditions.

use winnow::combinator::{alt, cut_err, delimited, opt, peek, preceded, repeat};
use winnow::error::{ErrMode, FromExternalError, ParserError};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location, Stateful, Stream};
use winnow::token::{any, one_of, take_while};

use super::{Comparison, ConditionError, Node, Test};
use crate::field::Field;
use crate::number::Decimal;

/// Maximum depth of parentheses.
const MAX_DEPTH: usize = 100;

/// A parsed condition.
pub(super) struct Parsed {
    pub(super) root: Node,
    /// All fields, without duplicates.
    pub(super) fields: Vec<Field>,
    /// All regular expressions, each with its offset in the condition.
    pub(super) patterns: Vec<(usize, String)>,
}

/// State of the parser.
#[derive(Clone, Debug, Default)]
struct State {
    fields: Vec<Field>,
    patterns: Vec<(usize, String)>,
    depth: usize,
}

type Input<'t> = Stateful<LocatingSlice<&'t str>, State>;
type Result<T> = winnow::ModalResult<T, Expected>;

/// Description of the text expected at the place of an error.
#[derive(Clone, Debug)]
struct Expected(String);

impl ParserError<Input<'_>> for Expected {
    type Inner = Self;

    fn from_input(_: &Input<'_>) -> Self {
        Self(String::new())
    }

    fn into_inner(self) -> std::result::Result<Self, Self> {
        Ok(self)
    }
}

impl<E> FromExternalError<Input<'_>, E> for Expected
where
    E: ToString,
{
    fn from_external_error(_: &Input<'_>, error: E) -> Self {
        Self(error.to_string())
    }
}

/// A side of a comparison, before it is known what it is compared with.
#[derive(Clone, Debug)]
enum Operand {
    Field(usize),
    Number(Decimal),
    Text(String),
}

/// An operator of a test.
#[derive(Clone, Copy, Debug)]
enum Operator {
    Compare(Comparison),
    /// `~`, or `!~` if a match is not wanted.
    Match(bool),
}

/// Parses a condition.
pub(super) fn parse(text: &str) -> std::result::Result<Parsed, ConditionError> {
    let mut input = Stateful { input: LocatingSlice::new(text), state: State::default() };
    let outcome = condition(&mut input).and_then(|root| match input.is_empty() {
        true => Ok(root),
        false => expected("an operator such as ==, && or ||"),
    });
    match outcome {
        Ok(root) => {
            let State { fields, patterns, .. } = input.state;
            Ok(Parsed { root, fields, patterns })
        }
        Err(ErrMode::Backtrack(Expected(message)) | ErrMode::Cut(Expected(message))) => {
            Err(ConditionError::new(text, input.current_token_start(), message))
        }
        Err(ErrMode::Incomplete(_)) => Err(ConditionError::new(text, text.len(), "unexpected end")),
    }
}

/// Fails for good: no other reading of the condition is tried.
fn expected<T>(what: &str) -> Result<T> {
    Err(ErrMode::Cut(Expected(format!("expected {what}"))))
}

fn fail<T>(message: impl Into<String>) -> Result<T> {
    Err(ErrMode::Cut(Expected(message.into())))
}

fn blanks(input: &mut Input<'_>) -> Result<()> {
    take_while(0.., char::is_whitespace).void().parse_next(input)
}

/// A symbol, and the blanks behind it.
fn symbol<'t>(symbol: &'static str) -> impl Parser<Input<'t>, (), ErrMode<Expected>> {
    (symbol, blanks).void()
}

/// A word that is an operator, and the blanks behind it.
fn word<'t>(word: &'static str) -> impl Parser<Input<'t>, (), ErrMode<Expected>> {
    (word, winnow::combinator::not(one_of(is_inner)), blanks).void()
}

fn condition(input: &mut Input<'_>) -> Result<Node> {
    blanks(input)?;
    let first = all(input)?;
    let or = alt((symbol("||"), word("or")));
    let mut parts: Vec<Node> = repeat(0.., preceded(or, all)).parse_next(input)?;
    parts.insert(0, first);
    Ok(joined(parts, Node::Any))
}

fn all(input: &mut Input<'_>) -> Result<Node> {
    let first = negated(input)?;
    let and = alt((symbol("&&"), word("and")));
    let mut parts: Vec<Node> = repeat(0.., preceded(and, negated)).parse_next(input)?;
    parts.insert(0, first);
    Ok(joined(parts, Node::All))
}

fn joined(mut parts: Vec<Node>, join: impl FnOnce(Vec<Node>) -> Node) -> Node {
    match parts.len() {
        1 => parts.remove(0),
        _ => join(parts),
    }
}

/// Any number of negations, and what they negate.
fn negated(input: &mut Input<'_>) -> Result<Node> {
    let negation = alt((symbol("!"), word("not")));
    let negations: usize = repeat(0.., negation).parse_next(input)?;
    let node = match opt(peek('(')).parse_next(input)? {
        Some(_) => parenthesised(input)?,
        None => Node::Test(test(input)?),
    };
    Ok(if negations % 2 == 1 { Node::Not(Box::new(node)) } else { node })
}

fn parenthesised(input: &mut Input<'_>) -> Result<Node> {
    if input.state.depth == MAX_DEPTH {
        return fail(format!("parentheses are nested more than {MAX_DEPTH} deep"));
    }
    symbol("(").parse_next(input)?;
    input.state.depth += 1;
    let node = condition(input)?;
    input.state.depth -= 1;
    match opt(symbol(")")).parse_next(input)? {
        Some(()) => Ok(node),
        None => expected("an operator or ')'"),
    }
}

fn test(input: &mut Input<'_>) -> Result<Test> {
    let start = input.checkpoint();
    let left = operand(input, "a field")?;
    let at_operator = input.checkpoint();
    let Some(operator) = opt(operator).parse_next(input)? else {
        return match left {
            Operand::Field(field) => Ok(Test::Present(field)),
            _ => expected("an operator such as == or <"),
        };
    };
    let (at_right, offset) = (input.checkpoint(), input.current_token_start());
    let right = operand(input, "a field, a number or a string")?;
    match (left, operator, right) {
        (Operand::Field(field), Operator::Match(wanted), Operand::Text(pattern)) => {
            input.state.patterns.push((offset, pattern));
            Ok(Test::Match { field, pattern: input.state.patterns.len() - 1, wanted })
        }
        (Operand::Field(_), Operator::Match(_), _) => {
            input.reset(&at_right);
            expected("a regular expression in quotes")
        }
        (_, Operator::Match(_), _) => {
            input.reset(&start);
            expected("a field before a regular expression")
        }
        (Operand::Field(left), Operator::Compare(comparison), Operand::Field(right)) => {
            Ok(Test::Fields { left, comparison, right })
        }
        (Operand::Field(field), Operator::Compare(comparison), literal) => {
            Ok(compare(field, comparison, literal))
        }
        (literal, Operator::Compare(comparison), Operand::Field(field)) => {
            Ok(compare(field, comparison.mirrored(), literal))
        }
        _ => {
            input.reset(&at_operator);
            fail("there is no field on either side")
        }
    }
}

/// Compares a field with a literal.
fn compare(field: usize, comparison: Comparison, literal: Operand) -> Test {
    match literal {
        Operand::Number(number) => Test::Number { field, comparison, number },
        Operand::Text(text) => Test::Text { field, comparison, text: text.into_bytes() },
        Operand::Field(right) => Test::Fields { left: field, comparison, right },
    }
}

/// All operators. One that begins like another comes first.
const OPERATORS: [(&str, Operator); 10] = [
    ("==", Operator::Compare(Comparison::Equal)),
    ("=~", Operator::Match(true)),
    ("=", Operator::Compare(Comparison::Equal)),
    ("!=", Operator::Compare(Comparison::NotEqual)),
    ("!~", Operator::Match(false)),
    ("~", Operator::Match(true)),
    ("<=", Operator::Compare(Comparison::LessOrEqual)),
    ("<", Operator::Compare(Comparison::Less)),
    (">=", Operator::Compare(Comparison::GreaterOrEqual)),
    (">", Operator::Compare(Comparison::Greater)),
];

fn operator(input: &mut Input<'_>) -> Result<Operator> {
    for (text, operator) in OPERATORS {
        if opt(symbol(text)).parse_next(input)?.is_some() {
            return Ok(operator);
        }
    }
    Err(ErrMode::Backtrack(Expected("expected an operator".to_owned())))
}

fn operand(input: &mut Input<'_>, wanted: &str) -> Result<Operand> {
    let next: Option<char> = opt(peek(any)).parse_next(input)?;
    let operand = match next {
        Some('"' | '\'') => string(input).map(Operand::Text)?,
        Some('0'..='9' | '-' | '+') => number(input).map(Operand::Number)?,
        Some('`') => quoted_field(input)?,
        Some('$') => position(input)?,
        Some(char) if is_first(char) => field(input)?,
        _ => return expected(wanted),
    };
    blanks(input)?;
    Ok(operand)
}

/// Whether a character begins the name of a field.
fn is_first(char: char) -> bool {
    char.is_alphabetic() || matches!(char, '_' | '.' | '@')
}

/// Whether a character continues the name of a field.
fn is_inner(char: char) -> bool {
    is_first(char) || char.is_ascii_digit() || matches!(char, '-' | '[' | ']' | ':' | '/')
}

fn field(input: &mut Input<'_>) -> Result<Operand> {
    let start = input.checkpoint();
    let name: &str = take_while(1.., is_inner).parse_next(input)?;
    match Field::parse(name) {
        Ok(field) => Ok(known(input, field)),
        Err(error) => {
            input.reset(&start);
            fail(error.to_string())
        }
    }
}

fn quoted_field(input: &mut Input<'_>) -> Result<Operand> {
    let start = input.checkpoint();
    let name: Option<&str> =
        opt(delimited('`', take_while(1.., |char| char != '`'), '`')).parse_next(input)?;
    match name {
        Some(name) => Ok(known(input, Field::named(name))),
        None => {
            input.reset(&start);
            expected("a name between backquotes")
        }
    }
}

fn position(input: &mut Input<'_>) -> Result<Operand> {
    let start = input.checkpoint();
    let digits = take_while(1.., |char: char| char.is_ascii_digit());
    let number: Option<&str> = opt(preceded('$', (opt('-'), digits).take())).parse_next(input)?;
    match number.map(Field::parse) {
        Some(Ok(field @ Field::Position(_))) => Ok(known(input, field)),
        Some(Err(error)) => {
            input.reset(&start);
            fail(error.to_string())
        }
        _ => {
            input.reset(&start);
            expected("the number of a field after '$'")
        }
    }
}

/// The index of a field.
fn known(input: &mut Input<'_>, field: Field) -> Operand {
    let fields = &mut input.state.fields;
    Operand::Field(fields.iter().position(|known| *known == field).unwrap_or_else(|| {
        fields.push(field);
        fields.len() - 1
    }))
}

/// Units of sizes, in bytes. Those of times are part of a [`Decimal`].
const SIZES: [(&str, i128); 14] = [
    ("B", 1),
    ("k", 1000),
    ("K", 1000),
    ("kB", 1000),
    ("KB", 1000),
    ("M", 1_000_000),
    ("MB", 1_000_000),
    ("G", 1_000_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

fn number(input: &mut Input<'_>) -> Result<Decimal> {
    let start = input.checkpoint();
    let sign = opt(one_of(['-', '+']));
    let part = |char: char| char.is_alphanumeric() || char == '.';
    // A sign belongs to a number only in an exponent.
    let exponent =
        (one_of(['e', 'E']), one_of(['-', '+']), take_while(1.., |char: char| char.is_ascii_digit()));
    let digits = take_while(1.., |char: char| char.is_ascii_digit() || char == '.');
    let text: &str = alt((
        (sign, digits, exponent, take_while(0.., part)).take(),
        (opt(one_of(['-', '+'])), take_while(1.., part)).take(),
    ))
    .parse_next(input)
    .map_err(|_: ErrMode<Expected>| ErrMode::Cut(Expected("expected a number".to_owned())))?;
    match parse_number(text) {
        Some(number) => Ok(number),
        None => {
            input.reset(&start);
            fail(format!("expected a number, or one with a unit such as 1.5s or 10MB; found '{text}'"))
        }
    }
}

fn parse_number(text: &str) -> Option<Decimal> {
    if let Ok(number) = Decimal::parse(text.as_bytes()) {
        return Some(number);
    }
    let unit = text.trim_start_matches(|char: char| !char.is_alphabetic());
    let (_, factor) = SIZES.iter().find(|(name, _)| *name == unit)?;
    let number = Decimal::parse(text.strip_suffix(unit)?.as_bytes()).ok()?;
    Some(Decimal { units: number.units.checked_mul(*factor)?, ..number })
}

/// A text in quotes. A backslash that precedes neither a quote, a backslash, `n` nor `t` is part of it, so that regular
/// expressions can be written as usual.
fn string(input: &mut Input<'_>) -> Result<String> {
    let start = input.checkpoint();
    let quote = cut_err(any).parse_next(input)?;
    let mut text = String::new();
    loop {
        match opt(any).parse_next(input)? {
            Some(char) if char == quote => return Ok(text),
            Some('\\') => match opt(any).parse_next(input)? {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(char) if char == quote || char == '\\' => text.push(char),
                other => {
                    text.push('\\');
                    text.extend(other);
                }
            },
            Some(char) => text.push(char),
            None => {
                input.reset(&start);
                return fail("unclosed quote");
            }
        }
    }
}
