//! Names the pattern that produced a match.

use grep_matcher::{Match, Matcher};
use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, ClassSetItem, Visitor, visit};

use crate::any_matcher::AnyMatcher;
use crate::matcher::Error;
use crate::options::{Case, Engine, GrepOptions, Mode, PatternOptions};

/// Patterns, each compiled by itself.
#[derive(Clone, Debug)]
pub(crate) struct Which {
    patterns: Vec<(String, AnyMatcher)>,
}

impl Which {
    /// Compiles the patterns of a query for which `matcher` is compiled; `None` if it is not wanted.
    ///
    /// # Errors
    /// If a pattern is too large.
    pub(crate) fn new(options: &GrepOptions, matcher: &AnyMatcher) -> Result<Option<Self>, Error> {
        if !options.which_pattern || options.mode != Mode::Json {
            return Ok(None);
        }
        let pattern = &options.pattern;
        let case = match pattern.case {
            Case::Smart if ignores_case(pattern, matcher.is_rust()) => Case::Insensitive,
            Case::Smart => Case::Sensitive,
            case => case,
        };
        let engine = if matcher.is_rust() { Engine::Rust } else { Engine::Pcre2 };
        let compile = |text: &String| {
            let (and, not, file_and, file_not) = Default::default();
            let patterns = [text.clone()].into();
            let pattern =
                PatternOptions { patterns, and, not, file_and, file_not, case, engine, ..pattern.clone() };
            let matcher = AnyMatcher::new(&GrepOptions { pattern, ..options.clone() })?;
            Ok((text.clone(), matcher))
        };
        let patterns = pattern.patterns.iter().map(compile).collect::<Result<_, Error>>()?;
        Ok(Some(Self { patterns }))
    }

    /// The first pattern that matches where the match begins, which is the one that an alternation takes. `None` if it matches
    /// only in a longer text than `text`.
    pub(crate) fn of(&self, text: &[u8], found: Match) -> Option<&str> {
        let matches =
            |matcher: &AnyMatcher| matcher.find_at(text, found.start()).ok().flatten() == Some(found);
        self.patterns.iter().find(|(_, matcher)| matches(matcher)).map(|(pattern, _)| pattern.as_str())
    }
}

/// Whether smart case ignores case: some pattern has a literal, and no pattern has one in upper case. For PCRE2, a literal is any
/// character that no backslash precedes.
fn ignores_case(options: &PatternOptions, is_rust: bool) -> bool {
    if !is_rust {
        let mut is_escaped = false;
        return !options.patterns.iter().flat_map(|pattern| pattern.chars()).any(|char| {
            let is_literal = !is_escaped;
            is_escaped = char == '\\' && is_literal && !options.fixed_strings;
            is_literal && char.is_uppercase()
        });
    }
    let mut literals = Literals::default();
    for pattern in options.patterns.iter() {
        let parsed = Parser::new().parse(pattern).ok().filter(|_| !options.fixed_strings);
        match parsed {
            Some(expression) => {
                let Ok(()) = visit(&expression, &mut literals);
            }
            None => pattern.chars().for_each(|char| literals.add(char)),
        }
    }
    literals.any && !literals.any_upper
}

/// Literals in patterns.
#[derive(Default)]
struct Literals {
    any: bool,
    any_upper: bool,
}

impl Literals {
    fn add(&mut self, char: char) {
        self.any = true;
        self.any_upper |= char.is_uppercase();
    }
}

impl Visitor for &mut Literals {
    type Output = ();
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<(), Self::Err> {
        Ok(())
    }

    fn visit_pre(&mut self, expression: &Ast) -> Result<(), Self::Err> {
        if let Ast::Literal(literal) = expression {
            self.add(literal.c);
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Self::Err> {
        match item {
            ClassSetItem::Literal(literal) => self.add(literal.c),
            ClassSetItem::Range(range) => {
                [range.start.c, range.end.c].into_iter().for_each(|char| self.add(char))
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn which(patterns: &[&str], change: impl Fn(&mut PatternOptions), text: &str) -> Vec<Option<String>> {
        let mut pattern = PatternOptions {
            patterns: patterns.iter().map(|pattern| pattern.to_string()).collect(),
            ..PatternOptions::default()
        };
        change(&mut pattern);
        let options =
            GrepOptions { pattern, mode: Mode::Json, which_pattern: true, ..GrepOptions::default() };
        let matcher = AnyMatcher::new(&options).unwrap();
        let which = Which::new(&options, &matcher).unwrap().unwrap();
        let (mut at, mut found) = (0, Vec::new());
        while let Ok(Some(next)) = matcher.find_at(text.as_bytes(), at) {
            found.push(which.of(text.as_bytes(), next).map(str::to_owned));
            at = next.end().max(next.start() + 1);
        }
        found
    }

    fn names(names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|name| Some(name.to_string())).collect()
    }

    #[test]
    fn the_first_pattern_that_matches_is_named() {
        let same = |_: &mut PatternOptions| {};
        assert_eq!(which(&["foo", "b."], same, "foo bar foo"), names(&["foo", "b.", "foo"]));
        assert_eq!(which(&["fo", "foo"], same, "foo"), names(&["fo"]));
        assert_eq!(which(&["foo", "fo"], same, "foo fo"), names(&["foo", "fo"]));
        let words = |pattern: &mut PatternOptions| pattern.boundary = Some(crate::Boundary::Word);
        assert_eq!(which(&["fo", "foo"], words, "foo"), names(&["foo"]));
        let literal = |pattern: &mut PatternOptions| pattern.fixed_strings = true;
        assert_eq!(which(&["b.", "a"], literal, "ba b."), names(&["a", "b."]));
    }

    #[test]
    fn smart_case_is_that_of_all_patterns() {
        let smart = |pattern: &mut PatternOptions| pattern.case = Case::Smart;
        assert_eq!(which(&["foo", "FOO"], smart, "FOO foo"), names(&["FOO", "foo"]));
        assert_eq!(which(&["foo", ".oo"], smart, "Foo boo"), names(&["foo", ".oo"]));
        assert_eq!(which(&[r"\W", "[a-z]o"], smart, "FO-"), names(&["[a-z]o", r"\W"]));
        assert_eq!(which(&["[A-C]", "c"], smart, "cC"), names(&["c", "[A-C]"]));
    }

    #[cfg(feature = "pcre2")]
    #[test]
    fn smart_case_is_that_of_pcre2() {
        let smart =
            |pattern: &mut PatternOptions| (pattern.case, pattern.engine) = (Case::Smart, Engine::Pcre2);
        assert_eq!(which(&[r"(?<=x)\Wfoo", "zzz"], smart, "x-FOO"), names(&[r"(?<=x)\Wfoo"]));
        assert_eq!(which(&["foo", "B"], smart, "foo FOO"), names(&["foo"]));
    }
}
