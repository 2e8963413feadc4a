//! Which names can match any of the globs in a rule file at all.
//!
//! Asking the globs costs about a microsecond a name, and most names match none. Each glob says something of the
//! names that it can match: how they begin, how they end, or what they contain. To look for that is much cheaper.

use memchr::memmem;

/// What names must have to match any of some globs.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// Some glob says nothing of the names that it matches.
    anything: bool,
    /// Beginnings, in order, and the bytes that they begin with.
    beginnings: Vec<Vec<u8>>,
    first: ByteSet,
    /// Ends, in order of their last bytes, and those.
    ends: Vec<Vec<u8>>,
    last: ByteSet,
    parts: Vec<Vec<u8>>,
}

#[derive(Debug, Default)]
struct ByteSet([u64; 4]);

impl ByteSet {
    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }
}

impl Hints {
    /// Takes in a line of a rule file.
    pub(crate) fn add(&mut self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return;
        }
        let glob = line.strip_prefix('!').unwrap_or(line);
        let glob = glob.strip_suffix('/').unwrap_or(glob);
        match Literal::of(glob) {
            None => self.anything = true,
            Some(Literal::Beginning(text)) => {
                self.first.add(text[0]);
                self.beginnings.push(text);
            }
            Some(Literal::End(text)) => {
                self.last.add(text[text.len() - 1]);
                self.ends.push(text);
            }
            Some(Literal::Part(text)) => self.parts.push(text),
        }
    }

    /// Whether a name, the last part of a path, may match. If not, no glob matches the path.
    pub(crate) fn may_match(&self, name: &[u8]) -> bool {
        let (Some(&first), Some(&last)) = (name.first(), name.last()) else { return true };
        self.anything
            || self.first.has(first) && self.beginnings.iter().any(|text| name.starts_with(text))
            || self.last.has(last) && self.ends.iter().any(|text| name.ends_with(text))
            || self.parts.iter().any(|text| memmem::find(name, text).is_some())
    }
}

/// Text that is in every name that a glob matches.
#[derive(Debug, PartialEq, Eq)]
enum Literal {
    Beginning(Vec<u8>),
    End(Vec<u8>),
    Part(Vec<u8>),
}

impl Literal {
    /// The longest text that is known; none if there is no such text.
    fn of(glob: &str) -> Option<Self> {
        // What is in brackets and braces may hold slashes, which then end no directory: of such globs only what is behind
        // all of it is taken.
        let has_groups = glob.contains(['[', '{', '\\']);
        let name = glob.rsplit('/').next().unwrap_or(glob).as_bytes();
        let is_special = |byte: &u8| b"*?[]{}\\".contains(byte);
        let end = name.iter().rposition(is_special).map_or(0, |last| last + 1);
        let end = Some(&name[end..]).filter(|text| !text.is_empty()).map(|text| Self::End(text.to_vec()));
        if has_groups && glob.contains('/') || name.contains(&b'{') {
            return end;
        }
        let mut best = end;
        let mut at = 0;
        while at < name.len() {
            let length = name[at..].iter().position(is_special).unwrap_or(name.len() - at);
            if length > best.as_ref().map_or(0, Self::length) {
                let text = name[at..at + length].to_vec();
                best = Some(if at == 0 { Self::Beginning(text) } else { Self::Part(text) });
            }
            at += length;
            at += match name.get(at) {
                // The first byte in brackets may be a closing one, also behind a mark of negation.
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
                // The byte behind it is a literal one, and a text of its own.
                Some(b'\\') => 2,
                _ => 1,
            };
        }
        best
    }

    fn length(&self) -> usize {
        match self {
            Self::Beginning(text) | Self::End(text) | Self::Part(text) => text.len(),
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
        assert_eq!((0..=255).filter(|&byte| set.has(byte)).collect::<Vec<u8>>(), bytes);
    }

    #[test]
    fn what_globs_say_of_names() {
        let end = |text: &str| Some(Literal::End(text.into()));
        let beginning = |text: &str| Some(Literal::Beginning(text.into()));
        assert_eq!(Literal::of("*.o"), end(".o"));
        assert_eq!(Literal::of(".*"), beginning("."));
        assert_eq!(Literal::of("vmlinux"), end("vmlinux"));
        assert_eq!(Literal::of("/include/config"), end("config"));
        assert_eq!(Literal::of("*.c.[012]*.*"), Some(Literal::Part(".c.".into())));
        assert_eq!(Literal::of("*.asn1.[ch]"), Some(Literal::Part(".asn1.".into())));
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
        fn whatever_matches_may_match(
            lines in prop::collection::vec(r"!?/?[ab.*?/\\ \[\]!\^{},-]{0,8}/?", 1..4),
            path in r"[ab.]{1,4}(/[ab.\\*\]\[{}! -]{1,5}){0,2}",
            is_dir: bool,
        ) {
            let mut builder = GitignoreBuilder::new("");
            let mut hints = Hints::default();
            for line in &lines {
                // One that is wrong is left out, and hints for it do no harm.
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
