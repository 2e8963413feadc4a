//! The words of conditions: names, numbers, strings and symbols, each with the blanks after it.

use winnow::combinator::{alt, not, opt, peek};
use winnow::error::ErrMode;
use winnow::prelude::*;
use winnow::stream::Location;
use winnow::token::{any, one_of, take_till, take_while};

use super::number::{Number, UNITS};
use super::parse::{Mistake, ParseResult, ParserInput, fail};
use crate::query::field::{Field, Name, Step};

/// A string literal.
pub(super) struct Literal {
    pub(super) text: String,
    /// Offset of the first character in the condition.
    start: usize,
    /// Positions in `text` of the characters written as escapes of two bytes.
    escapes: Vec<usize>,
}

impl Literal {
    /// Maps a position in the text to the condition.
    pub(super) fn origin(&self, at: usize) -> usize {
        self.start + at + self.escapes.partition_point(|&escape| escape < at)
    }
}

pub(super) fn blanks(input: &mut ParserInput<'_>) -> ParseResult<()> {
    take_while(0.., char::is_whitespace).void().parse_next(input)
}

/// A symbol.
pub(super) fn symbol<'t>(name: &'static str) -> impl Parser<ParserInput<'t>, &'static str, ErrMode<Mistake>> {
    (name, blanks).value(name)
}

/// A word that is an operator.
pub(super) fn word<'t>(name: &'static str) -> impl Parser<ParserInput<'t>, &'static str, ErrMode<Mistake>> {
    (name, not(one_of(continues_name)), blanks).value(name)
}

fn is_digit(char: char) -> bool {
    char.is_ascii_digit()
}

pub(super) fn starts_step(char: char) -> bool {
    char.is_alphabetic() || matches!(char, '_' | '@')
}

pub(super) fn is_in_step(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '@' | '-' | ':' | '/')
}

/// Words that are operators. As names, they are in backquotes.
pub(super) const WORD_OPERATORS: [&str; 3] = ["and", "or", "not"];

/// Words that are strings. As names, they are in backquotes.
pub(super) const WORD_STRINGS: [&str; 2] = ["true", "false"];

/// Whether a character after a word makes it a longer name.
fn continues_name(char: char) -> bool {
    is_in_step(char) || matches!(char, '.' | '[')
}

/// A name as written, and its field.
pub(super) fn name<'t>(input: &mut ParserInput<'t>) -> ParseResult<Option<(&'t str, Field)>> {
    let starts = (opt('.'), alt((one_of(starts_step), '`')));
    if opt(peek(starts)).parse_next(input)?.is_none() {
        return Ok(None);
    }
    let (name, written) = path.with_taken().parse_next(input)?;
    blanks(input)?;
    let field = if written == Field::INPUT { Field::input() } else { Field::Named(name) };
    Ok(Some((written, field)))
}

fn path(input: &mut ParserInput<'_>) -> ParseResult<Name> {
    let _: Option<char> = opt('.').parse_next(input)?;
    let mut name = Name { text: String::new(), path: Vec::new() };
    loop {
        let key = step(input)?;
        name.text.push_str(&key);
        name.path.push(Step::Key(key));
        while let Some((index, written)) = opt(index.with_taken()).parse_next(input)? {
            name.text.push_str(written);
            name.path.push(Step::Index(index));
        }
        if opt('.').parse_next(input)?.is_none() {
            return Ok(name);
        }
        name.text.push('.');
    }
}

/// A key: a name, or any characters in backquotes.
fn step(input: &mut ParserInput<'_>) -> ParseResult<String> {
    let offset = input.current_token_start();
    if opt('`').parse_next(input)?.is_none() {
        let key: &str = take_while(0.., is_in_step).parse_next(input)?;
        return if key.is_empty() { fail(offset, "expected a name after '.'") } else { Ok(key.to_owned()) };
    }
    let mut key = String::new();
    loop {
        let part: &str = take_till(0.., '`').parse_next(input)?;
        key.push_str(part);
        match opt(alt(("``", "`"))).parse_next(input)? {
            Some("``") => key.push('`'),
            Some(_) if key.is_empty() => return fail(offset, "expected a name in the backquotes"),
            Some(_) => return Ok(key),
            None => return fail(offset, "unclosed backquote"),
        }
    }
}

fn index(input: &mut ParserInput<'_>) -> ParseResult<usize> {
    let offset = input.current_token_start();
    let _: char = '['.parse_next(input)?;
    let digits: &str = take_while(0.., is_digit).parse_next(input)?;
    match (digits.parse(), opt(']').parse_next(input)?) {
        (Ok(index), Some(_)) => Ok(index),
        _ => fail(offset, "expected an array index such as [0]"),
    }
}

/// The position of a field, such as `$7`.
pub(super) fn position(input: &mut ParserInput<'_>) -> ParseResult<Option<Field>> {
    let offset = input.current_token_start();
    if opt('$').parse_next(input)?.is_none() {
        return Ok(None);
    }
    let digits: &str = (opt('-'), take_while(0.., is_digit)).take().parse_next(input)?;
    if opt(peek(one_of(continues_name))).parse_next(input)?.is_some() {
        return fail(offset, "expected a position such as $7 or $-1; names have no '$'");
    }
    blanks(input)?;
    match digits.parse() {
        Ok(0) => fail(offset, "fields are numbered from 1; found 0"),
        Ok(position) => Ok(Some(Field::Position(position))),
        Err(_) => fail(offset, "expected a position such as $7 or $-1"),
    }
}

/// A number with an optional unit.
pub(super) fn number(input: &mut ParserInput<'_>) -> ParseResult<Option<Number>> {
    let offset = input.current_token_start();
    let sign = || opt(one_of(['+', '-']));
    let starts = alt((one_of(is_digit).void(), one_of(['+', '-']).void(), ('.', one_of(is_digit)).void()));
    if opt(peek(starts)).parse_next(input)?.is_none() {
        return Ok(None);
    }
    let digits = || take_while(0.., is_digit);
    let exponent = (one_of(['e', 'E']), sign(), take_while(1.., is_digit));
    let tail = take_while(0.., continues_name);
    let written = (sign(), digits(), opt(('.', digits())), opt(exponent), tail).take().parse_next(input)?;
    blanks(input)?;
    match Number::parse(written.as_bytes()) {
        Some(number) => Ok(Some(number)),
        None if written.len() == 1 => fail(offset, format!("expected a number after '{written}'")),
        None => {
            fail(offset, format!("'{written}' is not a number; units are {UNITS}, and texts are in quotes"))
        }
    }
}

/// A string in double or single quotes.
pub(super) fn string(input: &mut ParserInput<'_>) -> ParseResult<Option<Literal>> {
    let offset = input.current_token_start();
    let Some(quote) = opt(one_of(['"', '\''])).parse_next(input)? else { return Ok(None) };
    let mut literal =
        Literal { text: String::new(), start: input.current_token_start(), escapes: Vec::new() };
    loop {
        let part: &str = take_till(0.., [quote, '\\']).parse_next(input)?;
        literal.text.push_str(part);
        match opt(any).parse_next(input)? {
            None => return fail(offset, format!("unclosed {quote}")),
            Some('\\') => escape(input, &mut literal)?,
            Some(_) => break,
        }
    }
    blanks(input)?;
    Ok(Some(literal))
}

/// The rest of an escape after its backslash. A backslash that escapes nothing is literal.
fn escape(input: &mut ParserInput<'_>, literal: &mut Literal) -> ParseResult<()> {
    match opt(one_of(['"', '\'', '\\', 'n', 't'])).parse_next(input)? {
        None => literal.text.push('\\'),
        Some(char) => {
            literal.escapes.push(literal.text.len());
            literal.text.push(match char {
                'n' => '\n',
                't' => '\t',
                other => other,
            });
        }
    }
    Ok(())
}
