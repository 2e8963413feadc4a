//! Text that every match of a PCRE2 pattern holds, derived from the pattern's literals.
//!
//! Only the characters outside of all groups count, and only in patterns without an alternation there. That is enough for an index
//! to narrow a search, and simple enough to be right: a part that is not understood for certain requires nothing.

/// Any text.
const ANYTHING: &str = "(?s-u:.*)";

/// A regular expression, for the other engine, that matches every match of a PCRE2 pattern, and more. With `ignores_case`,
/// it is meant to be compiled without regard to case.
pub(crate) fn superset(pattern: &str, is_fixed: bool, ignores_case: bool) -> String {
    let runs = if is_fixed { Some(vec![pattern.to_owned()]) } else { Literals::of(pattern) };
    let mut expression = ANYTHING.to_owned();
    for run in runs.unwrap_or_default() {
        // Tables of other versions of Unicode may know more pairs of letters.
        let parts = run.split(|letter: char| ignores_case && !letter.is_ascii());
        for part in parts.filter(|part| !part.is_empty()) {
            expression += &regex_syntax::escape(part);
            expression += ANYTHING;
        }
    }
    expression
}

/// Finds the literals of a pattern.
struct Literals<'p> {
    rest: &'p str,
    /// The runs of characters that are in every match, in their order.
    runs: Vec<String>,
    /// The run that is being read.
    run: String,
}

impl<'p> Literals<'p> {
    /// The runs of literal characters; `None` if the pattern is not understood.
    fn of(pattern: &'p str) -> Option<Vec<String>> {
        let mut literals = Self { rest: pattern, runs: Vec::new(), run: String::new() };
        while let Some(next) = literals.next() {
            match next {
                '\\' => literals.escape()?,
                '[' => literals.skip_class()?,
                '(' => literals.skip_group()?,
                '*' | '?' => literals.end_optional(),
                '{' => literals.end_counted(),
                '|' | ')' => return None,
                '+' | '.' | '^' | '$' => literals.end_run(),
                literal => literals.run.push(literal),
            }
        }
        literals.end_run();
        Some(literals.runs)
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if !run.is_empty() {
            self.runs.push(run);
        }
    }

    /// Ends the run before its last character, which may be missing.
    fn end_optional(&mut self) {
        self.run.pop();
        self.end_run();
    }

    /// Skips the rest of a number of repetitions. Without one, the brace is a literal, which is left out.
    fn end_counted(&mut self) {
        self.end_optional();
        if let Some((count, rest)) = self.rest.split_once('}')
            && count.chars().all(|letter| letter.is_ascii_digit() || " \t,".contains(letter))
        {
            self.rest = rest;
        }
    }

    fn escape(&mut self) -> Option<()> {
        let next = self.next()?;
        if next.is_ascii_alphanumeric() {
            self.end_run();
            return self.end_escape(next);
        }
        next.is_ascii().then(|| self.run.push(next))
    }

    /// Skips the rest of an escape sequence that stands for no certain character.
    fn end_escape(&mut self, next: char) -> Option<()> {
        match next {
            'b' | 'B' | 'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'h' | 'H' | 'v' | 'V' | 'R' | 'A' | 'Z' | 'z'
            | 'G' | 'K' | 'n' | 'r' | 't' | 'f' | 'e' | 'a' => Some(()),
            'p' | 'P' if self.rest.starts_with('{') => {
                self.rest = self.rest.split_once('}')?.1;
                Some(())
            }
            'p' | 'P' => self.next().map(drop),
            _ => None,
        }
    }

    fn skip_class(&mut self) -> Option<()> {
        self.end_run();
        self.rest = self.rest.strip_prefix('^').unwrap_or(self.rest);
        self.rest = self.rest.strip_prefix(']').unwrap_or(self.rest);
        loop {
            match self.next()? {
                ']' => return Some(()),
                '\\' => self.skip_escape()?,
                '[' if self.rest.starts_with([':', '.', '=']) => return None,
                _ => {}
            }
        }
    }

    fn skip_escape(&mut self) -> Option<()> {
        let next = self.next()?;
        if next.is_ascii_alphanumeric() { self.end_escape(next) } else { Some(()) }
    }

    /// Skips a group. What stands in it may change the meaning of the rest only in ways that are not understood.
    fn skip_group(&mut self) -> Option<()> {
        self.end_run();
        if self.rest.starts_with('*') {
            return None;
        }
        if let Some(rest) = self.rest.strip_prefix('?') {
            let kind =
                [":", "=", "!", ">", "|", "<=", "<!"].into_iter().find(|kind| rest.starts_with(kind))?;
            self.rest = &rest[kind.len()..];
        }
        loop {
            match self.next()? {
                ')' => return Some(()),
                '\\' => self.skip_escape()?,
                '[' => self.skip_class()?,
                '(' => self.skip_group()?,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use grep_matcher::Matcher;
    use proptest::prelude::*;
    use regex_automata::meta::Regex;

    use super::*;

    #[test]
    fn literals_outside_of_groups_are_required() {
        let found = [
            ("foo(?=bar)baz", &["foo", "baz"][..]),
            ("colou?r", &["colo", "r"]),
            ("ab+c", &["ab", "c"]),
            ("ab{0,2}c{x}", &["a", "x}"]),
            (r"\bpm_(resume|suspend)\b", &["pm_"]),
            (r"a\.b\dc", &["a.b", "c"]),
            ("x[]a)(]y[^]]z", &["x", "y", "z"]),
            (r"(a(b\)c)d)e", &["e"]),
            ("é*f", &["f"]),
            ("", &[]),
        ];
        for (pattern, literals) in found {
            assert_eq!(
                Literals::of(pattern).as_deref(),
                Some(&literals.iter().map(|&one| one.into()).collect::<Vec<_>>()[..])
            );
        }
        let unknown = r"a|b  (?i)a  (?x: a b)  a(*ACCEPT)b  \Qa|b\E  (?<n>a)b  a\x41  a(?#|)b  [[:alpha:]]a";
        for pattern in unknown.split("  ") {
            assert_eq!(Literals::of(pattern), None, "{pattern}");
        }
    }

    /// Parts of patterns, with two spaces between them.
    const PARTS: &str = concat!(
        r"a  b  k  é  K  ab  .  a?  b*  k+  a{2}  b{0,1}  {,1}  {  }  [ab]  [^a]  []a]  [a\]b]  (a|b)  (?:ab)?  (?=a)  (?!b)  ",
        r"(?<=a)  (?<!k)  (?i)  (?>a+)  |  \b  \w  \.  \(  \K  \Qa|b\E  (  )  ^  $  *+  ??  \1  (?i:k)  (?x: a )  #  ",
        r"(?#a)  \x61  (?|a|b)  (*ACCEPT)  \p{L}  \pL  \n  \R  \Ba",
    );

    /// Patterns. Most are valid.
    fn pattern() -> impl Strategy<Value = String> {
        let parts: Vec<&str> = PARTS.split("  ").chain([" "]).collect();
        prop::collection::vec(prop::sample::select(parts), 1..8).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, max_global_rejects: 1_000_000, ..ProptestConfig::default() })]

        #[test]
        fn every_match_holds_them(
            pattern in pattern(),
            texts in prop::collection::vec("[abkKAéÉſs.(){ }#|,1\u{212a}]{0,9}", 1..9),
            caseless: bool,
            is_fixed: bool,
        ) {
            let mut builder = grep_pcre2::RegexMatcherBuilder::new();
            builder.utf(true).ucp(true).caseless(caseless).fixed_strings(is_fixed);
            let built = builder.build(&pattern);
            prop_assume!(built.is_ok());
            let matcher = built.expect("a matcher");
            let flag = if caseless { "(?i)" } else { "" };
            let superset = superset(&pattern, is_fixed, caseless);
            let superset = Regex::builder()
                .syntax(regex_automata::util::syntax::Config::new().utf8(false))
                .build(&format!("{flag}{superset}"))
                .expect("an expression");
            for text in texts {
                if matcher.is_match(text.as_bytes()).unwrap_or(false) {
                    prop_assert!(superset.is_match(&text), "{pattern:?} in {text:?}");
                }
            }
        }
    }
}
