//! A cheap test of whether a name can match any of the globs in a rule file.
//!
//! Matching the globs takes about a microsecond per name, and most names match none. Each glob implies a prefix, a
//! suffix or an infix of the names that it can match. Searching for those literals is much cheaper.

use memchr::memmem;

/// Literals. A name must contain at least one of them to match any of the globs.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// Set if some glob implies no literal.
    matches_any: bool,
    /// Prefixes by their first bytes.
    prefixes: Affixes,
    /// Suffixes by their last bytes.
    suffixes: Affixes,
    infixes: Vec<Infix>,
}

/// A literal within a name, and the pairs of bytes in it.
#[derive(Debug)]
struct Infix {
    pairs: u64,
    finder: memmem::Finder<'static>,
}

/// A name in the form in which it is compared, computed once for all rule files.
#[derive(Clone, Copy)]
pub(crate) struct NameKey<'n> {
    name: &'n [u8],
    head: u64,
    tail: u64,
    pairs: u64,
}

impl<'n> NameKey<'n> {
    /// The key of a name.
    pub(crate) fn of(name: &'n [u8]) -> Self {
        Self { name, head: head(name), tail: tail(name), pairs: pairs(name) }
    }
}

/// The set of the pairs of adjacent bytes, by a hash of six bits.
fn pairs(text: &[u8]) -> u64 {
    let hash = |pair: &[u8]| (pair[0].wrapping_mul(7) ^ pair[1].wrapping_mul(29)) & 63;
    text.windows(2).fold(0, |set, pair| set | 1 << hash(pair))
}

/// Prefixes or suffixes, by the byte at the end of the name.
#[derive(Debug)]
struct Affixes {
    /// Number of the group for each byte.
    groups: [u8; 256],
    affixes: Vec<Vec<Affix>>,
}

impl Default for Affixes {
    fn default() -> Self {
        // The first group is for bytes without any.
        Self { groups: [0; 256], affixes: vec![Vec::new()] }
    }
}

impl Affixes {
    /// Adds an affix with this byte at the end of the name.
    fn add(&mut self, byte: u8, affix: Affix) {
        let group = &mut self.groups[usize::from(byte)];
        if *group == 0 {
            // No name holds a NUL, so there are at most 255 others.
            *group = u8::try_from(self.affixes.len()).unwrap_or(u8::MAX);
            self.affixes.push(Vec::new());
        }
        self.affixes[usize::from(*group)].push(affix);
    }

    fn any(&self, byte: u8, bytes: u64) -> bool {
        self.affixes[usize::from(self.groups[usize::from(byte)])].iter().any(|affix| affix.is_in(bytes))
    }

    fn is_empty(&self) -> bool {
        self.affixes.len() == 1
    }
}

/// Up to eight bytes at an end of a name, as a number, and a mask of the bits to compare. A comparison takes a nanosecond; a call
/// to compare the bytes took a tenth of a walk.
#[derive(Debug)]
struct Affix {
    mask: u64,
    bytes: u64,
}

impl Affix {
    /// The beginning of a literal.
    fn prefix(text: &[u8]) -> Self {
        let unused = 8 * 8_usize.saturating_sub(text.len());
        Self { mask: u64::MAX.checked_shr(unused as u32).unwrap_or_default(), bytes: head(text) }
    }

    /// The end of a literal.
    fn suffix(text: &[u8]) -> Self {
        let unused = 8 * 8_usize.saturating_sub(text.len());
        Self { mask: u64::MAX.checked_shl(unused as u32).unwrap_or_default(), bytes: tail(text) }
    }

    fn is_in(&self, bytes: u64) -> bool {
        bytes & self.mask == self.bytes
    }
}

/// The first eight bytes of a name, the first one lowest; a shorter name is padded with zeros.
fn head(name: &[u8]) -> u64 {
    match name.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => name.iter().rev().fold(0, |bytes, &byte| bytes << 8 | u64::from(byte)),
    }
}

/// The last eight bytes of a name, the last one highest; zeros before a shorter one.
fn tail(name: &[u8]) -> u64 {
    match name.last_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => name.iter().fold(0, |bytes, &byte| bytes >> 8 | u64::from(byte) << 56),
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
                self.prefixes.add(text[0], Affix::prefix(&text));
            }
            Some(Literal::Suffix(text)) => {
                self.suffixes.add(text[text.len() - 1], Affix::suffix(&text));
            }
            Some(Literal::Infix(text)) => {
                let finder = memmem::Finder::new(&text).into_owned();
                self.infixes.push(Infix { pairs: pairs(&text), finder });
            }
        }
    }

    /// Returns `true` if no line with a glob was added.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { matches_any, prefixes, suffixes, infixes, .. } = self;
        !matches_any && prefixes.is_empty() && suffixes.is_empty() && infixes.is_empty()
    }

    /// Returns `false` if no glob matches a path whose last component is this name.
    pub(crate) fn may_match(&self, NameKey { name, head, tail, pairs }: NameKey<'_>) -> bool {
        let (Some(&first), Some(&last)) = (name.first(), name.last()) else { return true };
        let holds = |infix: &Infix| pairs & infix.pairs == infix.pairs && infix.finder.find(name).is_some();
        self.matches_any
            || self.prefixes.any(first, head)
            || self.suffixes.any(last, tail)
            || self.infixes.iter().any(holds)
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
        // Brackets and braces may contain slashes that do not separate components. Only the literal after the last special
        // character of such a glob is used.
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

    #[test]
    fn a_name_has_the_affixes_that_it_begins_or_ends_with_up_to_eight_bytes() {
        let names = ["a", "ab", "abcdefg", "abcdefgh", "abcdefghi", "xabcdefghi", "bc", "c"];
        for name in names.map(str::as_bytes) {
            for text in names.map(str::as_bytes) {
                let is_prefix = Affix::prefix(text).is_in(head(name));
                let is_suffix = Affix::suffix(text).is_in(tail(name));
                assert_eq!(is_prefix, name.starts_with(&text[..text.len().min(8)]), "{name:?} {text:?}");
                assert_eq!(
                    is_suffix,
                    name.ends_with(&text[text.len().saturating_sub(8)..]),
                    "{name:?} {text:?}"
                );
            }
        }
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
                prop_assert!(hints.may_match(NameKey::of(name.as_bytes())), "{lines:?} {path:?}");
            }
        }
    }
}
