//! Matcher of lines: a regular expression, or a list of words that are looked up. For some expressions, a literal in the middle is
//! searched for.

use std::sync::Arc;

use finecomb_words::{InnerLiteral, InnerMatch, Options, WordList, WordPlace};
use grep_matcher::{Captures, LineMatchKind, LineTerminator, Match, Matcher, NoError};
use grep_regex::{RegexCaptures, RegexMatcher};
use memchr::memchr2;
use regex_syntax::ParserBuilder;

use crate::options::{Boundary, Case, GrepOptions, LineEnd, PatternOptions};

/// Minimum number of words that are looked up. The engine searches for fewer at least as fast.
const MIN_WORDS: usize = 2000;
/// The same if case is ignored.
const MIN_WORDS_IN_ANY_CASE: usize = 256;
/// Minimum number of whole words and of whole lines.
const MIN_WHOLE: usize = 128;

/// Matcher for the patterns of a query. One type for both kinds, so that a search is compiled once.
#[derive(Clone, Debug)]
pub(crate) enum LineMatcher {
    Regex(RegexMatcher),
    /// With the literal that is searched for instead of the whole expression.
    Inner(RegexMatcher, Box<InnerLiteral>),
    Words(Words),
}

/// Long list of literal words, with the matches that an expression would have.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    list: Arc<WordList>,
    terminator: LineTerminator,
}

impl Words {
    /// Makes a list if the patterns are many literal words, and the list is known to match as the engine does.
    pub(crate) fn new(options: &GrepOptions) -> Option<Self> {
        let pattern = &options.pattern;
        let min = match pattern.case {
            _ if pattern.boundary.is_some() => MIN_WHOLE,
            Case::Insensitive => MIN_WORDS_IN_ANY_CASE,
            Case::Sensitive | Case::Smart => MIN_WORDS,
        };
        if pattern.patterns.len() < min { None } else { Self::of_any_length(options) }
    }

    fn of_any_length(options: &GrepOptions) -> Option<Self> {
        let GrepOptions { pattern, line_end, .. } = options;
        let place = match pattern.boundary {
            None => WordPlace::Anywhere,
            Some(Boundary::Word) => WordPlace::Words,
            Some(Boundary::Line) => WordPlace::Lines,
        };
        let is_simple = match line_end {
            LineEnd::Lf => true,
            // The end of a line is before a carriage return.
            LineEnd::Crlf => place != WordPlace::Lines,
            // `^` and `$` are at line feeds all the same.
            LineEnd::Nul => false,
        };
        // A list does not count towards the limits of the engine.
        let is_limited = pattern.regex_size_limit.is_some() || pattern.dfa_size_limit.is_some();
        if !is_simple || is_limited || pattern.multiline || !are_literal(pattern) {
            return None;
        }
        let list_options = Options::default()
            .place(place)
            .ignore_case(ignores_case(pattern))
            .unicode(pattern.unicode)
            .only_lines(!options.needs_matches());
        let list = WordList::new(Arc::clone(&pattern.patterns), list_options)?;
        Some(Self { list: Arc::new(list), terminator: line_end.terminator() })
    }
}

/// The literal that is searched for in the place of the expression, if it has one and is a single pattern whose matches do not depend on
/// other settings.
pub(crate) fn inner_literal(options: &GrepOptions) -> Option<InnerLiteral> {
    let GrepOptions { pattern, line_end, .. } = options;
    let PatternOptions { fixed_strings, multiline, unicode, .. } = *pattern;
    let is_simple =
        pattern.case == Case::Sensitive && pattern.boundary.is_none() && !fixed_strings && !multiline;
    let [expression] = &pattern.patterns[..] else { return None };
    if !is_simple || *line_end != LineEnd::Lf {
        return None;
    }
    let mut parser = ParserBuilder::new();
    parser.utf8(false).multi_line(true).unicode(unicode);
    InnerLiteral::new(&parser.build().parse(expression).ok()?)
}

/// Whether all patterns stand for themselves. With a NUL or the end of a line, the engine may reject them.
fn are_literal(options: &PatternOptions) -> bool {
    let is_literal = |pattern: &String| {
        memchr2(0, b'\r', pattern.as_bytes()).is_none()
            && (options.fixed_strings || !pattern.chars().any(regex_syntax::is_meta_character))
    };
    options.patterns.iter().all(is_literal)
}

/// Whether case is ignored for literal patterns.
fn ignores_case(options: &PatternOptions) -> bool {
    let mut chars = options.patterns.iter().flat_map(|pattern| pattern.chars()).peekable();
    match options.case {
        Case::Sensitive => false,
        Case::Insensitive => true,
        Case::Smart => chars.peek().is_some() && !chars.any(char::is_uppercase),
    }
}

/// Groups of a match. Words have none but the match itself.
#[derive(Clone, Debug)]
pub(crate) enum LineCaptures {
    Regex(RegexCaptures),
    Word(Option<Match>),
}

impl Captures for LineCaptures {
    fn len(&self) -> usize {
        match self {
            Self::Regex(captures) => captures.len(),
            Self::Word(_) => 1,
        }
    }

    fn get(&self, index: usize) -> Option<Match> {
        match self {
            Self::Regex(captures) => captures.get(index),
            Self::Word(found) => found.filter(|_| index == 0),
        }
    }
}

impl Matcher for LineMatcher {
    type Captures = LineCaptures;
    type Error = NoError;

    #[inline]
    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        match self {
            Self::Regex(matcher) | Self::Inner(matcher, _) => matcher.find_at(text, at),
            Self::Words(words) => {
                Ok(words.list.find_at(text, at).map(|found| Match::new(found.start, found.end)))
            }
        }
    }

    fn new_captures(&self) -> Result<LineCaptures, NoError> {
        match self {
            Self::Regex(matcher) | Self::Inner(matcher, _) => matcher.new_captures().map(LineCaptures::Regex),
            Self::Words(_) => Ok(LineCaptures::Word(None)),
        }
    }

    fn capture_count(&self) -> usize {
        match self {
            Self::Regex(matcher) | Self::Inner(matcher, _) => matcher.capture_count(),
            Self::Words(_) => 1,
        }
    }

    fn capture_index(&self, name: &str) -> Option<usize> {
        match self {
            Self::Regex(matcher) | Self::Inner(matcher, _) => matcher.capture_index(name),
            Self::Words(_) => None,
        }
    }

    #[inline]
    fn try_find_iter<F, E>(&self, text: &[u8], mut matched: F) -> Result<Result<(), E>, NoError>
    where
        F: FnMut(Match) -> Result<bool, E>,
    {
        match self {
            Self::Regex(matcher) | Self::Inner(matcher, _) => matcher.try_find_iter(text, matched),
            Self::Words(_) => self.try_find_iter_at(text, 0, &mut matched),
        }
    }

    fn captures_at(&self, text: &[u8], at: usize, captures: &mut LineCaptures) -> Result<bool, NoError> {
        match (self, captures) {
            (Self::Regex(matcher) | Self::Inner(matcher, _), LineCaptures::Regex(captures)) => {
                matcher.captures_at(text, at, captures)
            }
            (_, captures) => {
                let found = self.find_at(text, at)?;
                *captures = LineCaptures::Word(found);
                Ok(found.is_some())
            }
        }
    }

    #[inline]
    fn is_match_at(&self, text: &[u8], at: usize) -> Result<bool, NoError> {
        match self {
            Self::Regex(matcher) | Self::Inner(matcher, _) => matcher.is_match_at(text, at),
            Self::Words(words) if at == 0 => Ok(words.list.find_line(text).is_some()),
            Self::Words(words) => Ok(words.list.find_at(text, at).is_some()),
        }
    }

    #[inline]
    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, NoError> {
        match self {
            Self::Regex(matcher) | Self::Inner(matcher, _) => matcher.shortest_match_at(text, at),
            Self::Words(words) => Ok(words.list.find_at(text, at).map(|found| found.end)),
        }
    }

    #[inline]
    fn non_matching_bytes(&self) -> Option<&grep_matcher::ByteSet> {
        match self {
            Self::Regex(matcher) | Self::Inner(matcher, _) => matcher.non_matching_bytes(),
            Self::Words(_) => None,
        }
    }

    #[inline]
    fn line_terminator(&self) -> Option<LineTerminator> {
        match self {
            Self::Regex(matcher) | Self::Inner(matcher, _) => matcher.line_terminator(),
            Self::Words(words) => Some(words.terminator),
        }
    }

    #[inline]
    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, NoError> {
        match self {
            Self::Regex(matcher) => matcher.find_candidate_line(text),
            Self::Inner(_, literal) => Ok(literal.find_line(text, 0).map(|found| match found {
                InnerMatch::Confirmed(at) => LineMatchKind::Confirmed(at),
                InnerMatch::Candidate(at) => LineMatchKind::Candidate(at),
            })),
            Self::Words(words) => Ok(words.list.find_line(text).map(LineMatchKind::Confirmed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use super::*;
    use crate::find::Finder;
    use crate::matcher::regex;

    fn lines<M: Matcher>(matcher: M, terminator: LineTerminator, text: &[u8]) -> Vec<std::ops::Range<usize>> {
        let mut lines = Vec::new();
        let searched = Finder::new(matcher, terminator, false).lines(text, |line| {
            lines.push(line);
            ControlFlow::Continue(())
        });
        assert!(searched.is_ok());
        lines
    }

    fn options(patterns: &[&str]) -> GrepOptions {
        let patterns = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let pattern = PatternOptions { patterns, fixed_strings: true, ..PatternOptions::default() };
        GrepOptions { pattern, ..GrepOptions::default() }
    }

    #[test]
    fn patterns_that_the_engine_may_reject_are_left_to_it() {
        let is_list = |change: &dyn Fn(&mut GrepOptions)| {
            let mut options = options(&["a", "b"]);
            change(&mut options);
            Words::of_any_length(&options).is_some()
        };
        assert!(is_list(&|_| {}));
        assert!(is_list(&|options| options.pattern.fixed_strings = false));
        assert!(is_list(&|options| options.line_end = LineEnd::Crlf));
        for patterns in [["a\0", "b"], ["a\n", "b"], ["a\r", "b"]] {
            assert!(!is_list(&|options| options.pattern.patterns = patterns.map(str::to_owned).into()));
        }
        assert!(!is_list(&|options| {
            options.pattern.patterns = ["a.".to_owned()].into();
            options.pattern.fixed_strings = false;
        }));
        assert!(!is_list(&|options| options.pattern.multiline = true));
        assert!(!is_list(&|options| options.pattern.regex_size_limit = Some(100)));
        assert!(!is_list(&|options| options.line_end = LineEnd::Nul));
        assert!(!is_list(&|options| {
            options.line_end = LineEnd::Crlf;
            options.pattern.boundary = Some(Boundary::Line);
        }));
    }

    #[test]
    fn groups_are_those_of_an_expression_without_any() {
        let options = options(&["b", "bc"]);
        let matcher = LineMatcher::Words(Words::of_any_length(&options).expect("a list"));
        let mut captures = matcher.new_captures().expect("no error");
        assert!(matcher.captures_at(b"abc", 0, &mut captures).expect("no error"));
        assert_eq!((captures.len(), captures.get(0), captures.get(1)), (1, Some(Match::new(1, 2)), None));
        assert!(!matcher.captures_at(b"abc", 2, &mut captures).expect("no error"));
        let expression = regex(&options).expect("valid patterns");
        assert_eq!(matcher.capture_count(), expression.capture_count());
        assert_eq!(matcher.line_terminator(), expression.line_terminator());
    }

    #[test]
    fn a_literal_is_searched_for_where_nothing_else_decides() {
        let has_literal = |pattern: &str, change: &dyn Fn(&mut PatternOptions)| {
            let mut options = options(&[pattern]);
            options.pattern.fixed_strings = false;
            change(&mut options.pattern);
            inner_literal(&options).is_some()
        };
        assert!(has_literal("[a-z]+bot", &|_| {}));
        assert!(!has_literal("[a-z]+bot", &|pattern| pattern.case = Case::Insensitive));
        assert!(!has_literal("[a-z]+bot", &|pattern| pattern.boundary = Some(Boundary::Word)));
        assert!(!has_literal("[a-z]+bot", &|pattern| pattern.multiline = true));
        assert!(!has_literal("[a-z]+bot", &|pattern| pattern.fixed_strings = true));
        assert!(has_literal(r"\b[a-z]+bot", &|_| {}));
        assert!(has_literal(r"\b[a-z]+bot", &|pattern| pattern.unicode = false));
    }

    proptest! {
        #[test]
        fn lines_with_an_inner_literal_are_those_of_the_expression(
            pattern in prop::sample::select(vec![
                "[a-z]+bot", r"\w+bot\d", r"^\w*bot$", r"\W+bot", r"[^a]bot[^b]*bot", "(?:[a-z]bot){2}x|y", r"\w+bot\s*$", r"(?-u:\xFF)bot",
                r"\b[a-z]+bot", r"\w+bot\b", r"\w\Bbot\b|y",
            ]),
            text in prop::collection::vec(prop::sample::select(vec![
                &b"a"[..], b"bot", b"bot", b"1", b"-", b"\n", b"\n", b"\r", "é".as_bytes(), b"\x80", b"\xFF", b"\0",
            ]), 0..40),
            unicode: bool,
        ) {
            let mut options = options(&[pattern]);
            (options.pattern.fixed_strings, options.pattern.unicode) = (false, unicode);
            let expression = regex(&options).expect("a valid pattern");
            let literal = inner_literal(&options);
            let matcher = literal.map(|literal| LineMatcher::Inner(expression.clone(), Box::new(literal)));
            let (text, terminator) = (text.concat(), options.line_end.terminator());
            if let Some(matcher) = matcher {
                prop_assert_eq!(lines(matcher, terminator, &text), lines(expression, terminator, &text));
            }
        }

        #[test]
        fn lines_and_matches_are_those_of_an_expression(
            patterns in prop::collection::vec("[abAé_-]{1,4}", 1..8),
            text in prop::collection::vec(prop::sample::select(b"abAB_- \n\r\xC3\xA9\xE9\0".as_slice()), 0..80),
            case in prop::sample::select(vec![Case::Sensitive, Case::Insensitive, Case::Smart]),
            boundary in prop::sample::select(vec![None, Some(Boundary::Word), Some(Boundary::Line)]),
            crlf: bool,
            unicode: bool,
        ) {
            let mut options = options(&[]);
            options.line_end = if crlf && boundary.is_none() { LineEnd::Crlf } else { LineEnd::Lf };
            options.pattern = PatternOptions { patterns: patterns.into(), case, boundary, unicode, ..options.pattern };
            let words = LineMatcher::Words(Words::of_any_length(&options).expect("a list"));
            let expression = regex(&options).expect("valid patterns");
            let terminator = options.line_end.terminator();
            prop_assert_eq!(lines(words.clone(), terminator, &text), lines(expression.clone(), terminator, &text));
            for line in crate::find::lines(&text, terminator) {
                let line = crate::find::without_terminator(&text[line], terminator);
                let mut found = (Vec::new(), Vec::new());
                let _ = words.find_iter(line, |here| { found.0.push(here); true });
                let _ = expression.find_iter(line, |here| { found.1.push(here); true });
                prop_assert_eq!(found.0, found.1);
            }
        }
    }
}
