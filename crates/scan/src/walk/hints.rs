//! A cheap test of whether a name can match any of the globs in a rule file.
//!
//! Matching the globs takes about a microsecond per name, and most names match none. Each glob implies a prefix, a
//! suffix or an infix of the names that it can match. Searching for those literals is much cheaper.

use memchr::memmem;

/// Literals of which a name must contain at least one to match any of the globs.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// Set if some glob implies no literal.
    matches_any: bool,
    /// Prefixes, and the set of their first bytes.
    prefixes: Vec<Vec<u8>>,
    first: ByteSet,
    /// Suffixes, and the set of their last bytes.
    suffixes: Vec<Vec<u8>>,
    last: ByteSet,
    infixes: Vec<Vec<u8>>,
}

#[derive(Debug, Default)]
struct ByteSet([u64; 4]);

impl ByteSet {
    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }
}

impl Hints {
    /// Adds a line of a rule file.
    pub(crate) fn add(&mut self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return;
        }
        let glob = line.strip_prefix('!').unwrap_or(line);
        let glob = glob.strip_suffix('/').unwrap_or(glob);
        match Literal::of(glob) {
            None => self.matches_any = true,
            Some(Literal::Prefix(text)) => {
                self.first.add(text[0]);
                self.prefixes.push(text);
            }
            Some(Literal::Suffix(text)) => {
                self.last.add(text[text.len() - 1]);
                self.suffixes.push(text);
            }
            Some(Literal::Infix(text)) => self.infixes.push(text),
        }
    }

    /// Returns `false` if no glob matches a path whose last component is `name`.
    pub(crate) fn may_match(&self, name: &[u8]) -> bool {
        let (Some(&first), Some(&last)) = (name.first(), name.last()) else { return true };
        self.matches_any
            || self.first.contains(first) && self.prefixes.iter().any(|text| name.starts_with(text))
            || self.last.contains(last) && self.suffixes.iter().any(|text| name.ends_with(text))
            || self.infixes.iter().any(|text| memmem::find(name, text).is_some())
    }
}

/// A literal contained in every name that a glob matches.
#[derive(Debug, PartialEq, Eq)]
enum Literal {
    Prefix(Vec<u8>),
    Suffix(Vec<u8>),
    Infix(Vec<u8>),
}

impl Literal {
    /// Returns the longest literal of a glob; `None` if it contains none.
    fn of(glob: &str) -> Option<Self> {
        // Brackets and braces may contain slashes that do not separate components. Of such globs only the literal after
        // the last special character is used.
        let has_groups = glob.contains(['[', '{', '\\']);
        let name = glob.rsplit('/').next().unwrap_or(glob).as_bytes();
        let is_special = |byte: &u8| b"*?[]{}\\".contains(byte);
        let end = name.iter().rposition(is_special).map_or(0, |last| last + 1);
        let end = Some(&name[end..]).filter(|text| !text.is_empty()).map(|text| Self::Suffix(text.to_vec()));
        if has_groups && glob.contains('/') || name.contains(&b'{') {
            return end;
        }
        let mut best = end;
        let mut at = 0;
        while at < name.len() {
            let length = name[at..].iter().position(is_special).unwrap_or(name.len() - at);
            if length > best.as_ref().map_or(0, Self::length) {
                let text = name[at..at + length].to_vec();
                best = Some(if at == 0 { Self::Prefix(text) } else { Self::Infix(text) });
            }
            at += length;
            at += match name.get(at) {
                // The first byte in brackets may be a closing bracket, also after a negation.
                Some(b'[') => {
                    let inner =
                        at + 1 + name[at + 1..].iter().take_while(|byte| b"!^".contains(byte)).count();
                    let close =
                        name.get(inner + 1..).and_then(|rest| rest.iter().position(|&byte| byte == b']'));
                    match close {
                        Some(close) => inner + 1 + close + 1 - at,
                        None => return best,
                    }
                }
                // The byte after it is a literal of its own.
                Some(b'\\') => 2,
                _ => 1,
            };
        }
        best
    }

    fn length(&self) -> usize {
        match self {
            Self::Prefix(text) | Self::Suffix(text) | Self::Infix(text) => text.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ignore::gitignore::GitignoreBuilder;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_set_has_the_bytes_that_were_added() {
        let mut set = ByteSet::default();
        let bytes = [0, 1, 63, 64, 65, 130, 255];
        bytes.into_iter().for_each(|byte| set.add(byte));
        assert_eq!((0..=255).filter(|&byte| set.contains(byte)).collect::<Vec<u8>>(), bytes);
    }

    #[test]
    fn literals_of_globs() {
        let end = |text: &str| Some(Literal::Suffix(text.into()));
        let prefix = |text: &str| Some(Literal::Prefix(text.into()));
        assert_eq!(Literal::of("*.o"), end(".o"));
        assert_eq!(Literal::of(".*"), prefix("."));
        assert_eq!(Literal::of("vmlinux"), end("vmlinux"));
        assert_eq!(Literal::of("/include/config"), end("config"));
        assert_eq!(Literal::of("*.c.[012]*.*"), Some(Literal::Infix(".c.".into())));
        assert_eq!(Literal::of("*.asn1.[ch]"), Some(Literal::Infix(".asn1.".into())));
        assert_eq!(Literal::of("*"), None);
        assert_eq!(Literal::of("build/**"), None);
        assert_eq!(Literal::of("[a/b]c"), end("c"));
        assert_eq!(Literal::of("[a][b]x"), end("x"));
        assert_eq!(Literal::of("[!]a]foo"), end("foo"));
        assert_eq!(Literal::of("{a,b/c}*"), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(80 * ProptestConfig::default().cases))]

        #[test]
        fn hints_accept_every_name_that_a_glob_matches(
            lines in prop::collection::vec(r"!?/?[ab.*?/\\ \[\]!\^{},-]{0,8}/?", 1..4),
            path in r"[ab.]{1,4}(/[ab.\\*\]\[{}! -]{1,5}){0,2}",
            is_dir: bool,
        ) {
            let mut builder = GitignoreBuilder::new("");
            let mut hints = Hints::default();
            for line in &lines {
                // An invalid line is left out, and hints for it do no harm.
                let _ = builder.add_line(None, line);
                hints.add(line);
            }
            let Ok(rules) = builder.build() else { return Ok(()) };
            let name = path.rsplit('/').next().unwrap();
            if !rules.matched(Path::new(&path), is_dir).is_none() {
                prop_assert!(hints.may_match(name.as_bytes()), "{lines:?} {path:?}");
            }
        }
    }
}
