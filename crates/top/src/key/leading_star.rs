//! Faster search for expressions with a leading `.*`, such as `.*(Firefox/\d+).*`.
//!
//! Such a match begins where the search begins, and `.*` extends to the last place where the rest of the expression
//! matches. A search with capture groups would run to the end of the text for `.*`, then step back and remember each
//! step. This one finds the last place by a reverse search, and searches for the groups of the rest there only.
//!
//! No other match follows in the text: it would have a later place of the rest.

use memchr::memchr;
use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::meta::{self, Regex};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input, Match};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Dot, Hir, HirKind, Look, Repetition};

use crate::key::expression::build;

/// An expression with a leading `.*`.
#[derive(Clone, Debug)]
pub(crate) struct LeadingStar {
    /// Reverse DFA of the rest followed by any text.
    backwards: DFA,
    /// The expression without the leading and the trailing `.*`.
    rest: Regex,
    /// Whether the expression begins with `^`.
    from_start: bool,
    /// Whether the expression ends with `.*`.
    to_end: bool,
    /// Whether a `.*` of the expression stops at line feeds.
    stops_at_lines: bool,
}

/// Scratch memory of a search.
#[derive(Debug)]
pub(crate) struct LeadingStarCache {
    backwards: dfa::Cache,
    rest: meta::Cache,
}

impl LeadingStar {
    /// Returns `None` if the expression has another form or does not support a reverse search.
    pub(crate) fn new(hir: &Hir) -> Option<Self> {
        let HirKind::Concat(parts) = hir.kind() else { return None };
        let from_start = matches!(parts[0].kind(), HirKind::Look(Look::Start));
        let (star, mut rest) = parts[usize::from(from_start)..].split_first()?;
        let mut stops_at_lines = star_stops_at_lines(star)?;
        if let [before @ .., last] = rest
            && matches!(last.kind(), HirKind::Look(Look::End))
            && before.last().is_some_and(|star| star_stops_at_lines(star).is_some())
        {
            rest = before;
        }
        let mut to_end = false;
        if let [before @ .., last] = rest
            && let Some(stops) = star_stops_at_lines(last)
        {
            (rest, to_end) = (before, true);
            stops_at_lines |= stops;
        }
        let rest = Hir::concat(rest.to_vec());
        // An empty match could lie within a character.
        if !rest.properties().is_utf8() || rest.properties().minimum_len()? == 0 {
            return None;
        }
        let backwards = backwards(&rest)?;
        Some(Self { backwards, rest: build(&rest).ok()?, from_start, to_end, stops_at_lines })
    }

    pub(crate) fn cache(&self) -> LeadingStarCache {
        LeadingStarCache { backwards: self.backwards.create_cache(), rest: self.rest.create_cache() }
    }

    /// Whether this search is valid for a text.
    pub(crate) fn supports(&self, text: &[u8]) -> bool {
        !self.stops_at_lines || memchr(b'\n', text).is_none()
    }

    /// Returns the first match in a text that is UTF-8 and [supported](Self::supports), and stores its groups in
    /// `captures`, except group 0. Fails if the reverse search gives up.
    pub(crate) fn find(
        &self,
        cache: &mut LeadingStarCache,
        input: &Input<'_>,
        captures: &mut Captures,
    ) -> Result<Option<Match>, GaveUp> {
        if self.from_start && input.start() > 0 {
            return Ok(None);
        }
        let from_here = input.clone().anchored(Anchored::Yes);
        let last = self.backwards.try_search_rev(&mut cache.backwards, &from_here.clone().earliest(true));
        let Some(last) = last.map_err(|_| GaveUp)? else { return Ok(None) };
        let from_last = from_here.range(last.offset()..input.end());
        self.rest.search_captures_with(&mut cache.rest, &from_last, captures);
        let rest = captures.get_match().ok_or(GaveUp)?;
        let end = if self.to_end { input.end() } else { rest.end() };
        Ok(Some(Match::new(rest.pattern(), input.start()..end)))
    }
}

/// The reverse search gave up; the caller must search in another way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GaveUp;

/// Whether a part of an expression, if it is `.*` over all characters, stops at line feeds. `None` for any other part.
fn star_stops_at_lines(part: &Hir) -> Option<bool> {
    let HirKind::Repetition(Repetition { min: 0, max: None, greedy: true, sub }) = part.kind() else {
        return None;
    };
    let HirKind::Class(Class::Unicode(class)) = sub.kind() else { return None };
    let all = [ClassUnicodeRange::new('\0', char::MAX)];
    if class.ranges() == all {
        return Some(false);
    }
    let mut class = class.clone();
    class.union(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
    (class.ranges() == all).then_some(true)
}

/// Makes a reverse DFA for `rest` followed by any text. Returns `None` if a DFA does not support `rest`.
fn backwards(rest: &Hir) -> Option<DFA> {
    let anything = Repetition { min: 0, max: None, greedy: true, sub: Box::new(Hir::dot(Dot::AnyByte)) };
    let whole = Hir::concat(vec![rest.clone(), Hir::repetition(anything)]);
    let config = thompson::Config::new()
        .reverse(true)
        .utf8(false)
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(10 << 20));
    let nfa = thompson::Compiler::new().configure(config).build_from_hir(&whole).ok()?;
    // It gives up at a boundary of words next to a character that is not ASCII.
    DFA::builder().configure(DFA::config().unicode_word_boundary(true)).build_from_nfa(nfa).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::key::expression::{Case, parse};

    proptest! {
        #[test]
        fn no_match_follows_the_first(
            pattern in prop::sample::select(
                &[".*(a|ab)", ".*b(a*?)(b|$)", r".*\b(a)b?", r".*(?-u:\b)(a)b?", r".*(\Ba)", ".*(.)(a)", ".*(aba)", ".*(b+)(a)?.*"][..]),
            key in "[ab \u{e9}]{0,12}",
        ) {
            let search = LeadingStar::new(&parse(pattern, Case::Distinct).expect("a valid pattern"));
            let search = search.expect("a supported pattern");
            let (mut cache, mut captures) = (search.cache(), search.rest.create_captures());
            let mut find = |start| search.find(&mut cache, &Input::new(&key).range(start..), &mut captures);
            if let Ok(Some(first)) = find(0) {
                prop_assert!(matches!(find(first.end()), Ok(None)));
            }
        }
    }

    #[test]
    fn only_a_leading_greedy_star_over_all_characters_is_supported() {
        let is_supported = |pattern: &str| {
            LeadingStar::new(&parse(pattern, Case::Distinct).expect("a valid pattern")).is_some()
        };
        for pattern in [r".*(Firefox/\d+).*", "^.*(a)", "(?s).*(a).*$", ".*a", r".*\b(a)b?"] {
            assert!(is_supported(pattern), "{pattern}");
        }
        for pattern in
            ["a", "(.*)a", ".*?a", ".+a", "[^b]*a", ".*(a?)", "a.*", ".*", r"(?-u).*\xFF", "(?m)^.*a"]
        {
            assert!(!is_supported(pattern), "{pattern}");
        }
    }
}
